"""The tables of sensitivity: what each setting makes of everybody, and of each group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from skilloscope.reports.sheet import number
from skilloscope.reports.terminal import framed
from skilloscope.reports.words import skipped_line

GROUP_NOTE = "c ± sd of each group; a c belongs to its setting: compare down a column, never along a row"


def sensitivity_tables(report: Mapping[str, Any]) -> list[Group]:
    """Return the table of settings and the table of groups."""
    settings = _table(setting_columns(report), setting_rows(report))
    base = report["settings"][0]
    notes = [
        skipped_line(base["decisions"], base["skipped"]) + " (base)",
        *_reasons(report),
        f"gain: held-out log-likelihood per decision against the base, same choices among the same alternatives; "
        f"{100 * report['mass']:g} % intervals resample {report['clusters_by']}s",
    ]
    groups = _table(group_columns(report), group_rows(report))
    n = len(report["settings"])
    title = f"the same decisions under {n} settings" if n > 1 else "the base alone: name what is to be varied"
    return [framed(title, settings, notes), framed(f"by {report['by']}", groups, [GROUP_NOTE])]


def setting_columns(report: Mapping[str, Any]) -> list[str]:
    """Return the columns of the table of settings."""
    labelled = any(row["rank_with_label"] is not None for row in report["settings"])
    with_label = [f"rank with {report['by']}"] if labelled else []
    return ["setting", "decisions", "c ± sd", "rank with base", *with_label, "gain (interval)", "compared"]


def setting_rows(report: Mapping[str, Any]) -> list[list[str]]:
    """Return the rows of the table of settings."""
    labelled = any(row["rank_with_label"] is not None for row in report["settings"])
    return [
        [
            row["setting"],
            f"{row['decisions']:,}",
            f"{row['c']:.3f} ± {row['sd']:.3f}",
            number(row["rank_correlation"], 3),
            *([number(row["rank_with_label"], 3)] if labelled else []),
            _gain(row),
            f"{row['compared']:,}" if row["compared"] else "–",
        ]
        for row in report["settings"]
    ]


def group_columns(report: Mapping[str, Any]) -> list[str]:
    """Return the columns of the table of groups: the settings by number, for their names are long."""
    return [report["by"], "decisions", *(_short(row) for row in report["settings"])]


def group_rows(report: Mapping[str, Any]) -> list[list[str]]:
    """Return one row a group: its decisions under the base, and c under each setting."""
    return [
        [
            group["group"],
            f"{group['under'][0]['decisions']:,}",
            *("–" if cell["c"] is None else f"{cell['c']:.2f} ± {cell['sd']:.2f}" for cell in group["under"]),
        ]
        for group in report["groups"]
    ]


def _short(row: Mapping[str, Any]) -> str:
    return "base" if row["kind"] == "base" else str(row["setting"]).replace("list cut to", "cut to")


def _gain(row: Mapping[str, Any]) -> str:
    if row["gain"] is None:
        return "–"
    return f"{row['gain']:+.4f} ({row['gain_low']:+.4f} to {row['gain_high']:+.4f})"


def _reasons(report: Mapping[str, Any]) -> list[str]:
    """Return why some settings cannot be compared, each reason once."""
    reasons: dict[str, list[str]] = {}
    for row in report["settings"]:
        if row["not_comparable"]:
            reasons.setdefault(row["not_comparable"], []).append(row["setting"])
    return [f"{', '.join(names)}: not comparable by likelihood ({reason})" for reason, names in reasons.items()]


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table()
    for at, name in enumerate(columns):
        table.add_column(name, justify="left" if at == 0 else "right")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table
