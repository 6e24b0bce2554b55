"""The tables of sensitivity: what each setting makes of everybody, and of each group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skilloscope.reports.sheet import Sheet, number
from skilloscope.reports.words import skipped_line


def sensitivity_sheets(report: Mapping[str, Any]) -> list[Sheet]:
    """Return the table of settings and the table of groups."""
    return [settings_sheet(report), groups_sheet(report)]


def settings_sheet(report: Mapping[str, Any]) -> Sheet:
    """Return what each setting makes of everybody, and what it gains where that can be compared."""
    labelled = any(row["rank_with_label"] is not None for row in report["settings"])
    with_label = [f"rank with {report['by']}"] if labelled else []
    rows = [
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
    base = report["settings"][0]
    notes = [
        skipped_line(base["decisions"], base["skipped"]) + " (base)",
        *_reasons(report),
        f"gain: held-out log-likelihood per decision against the base, same choices among the same alternatives; "
        f"{100 * report['mass']:g} % intervals resample {report['clusters_by']}s",
    ]
    n = len(rows)
    title = f"the same decisions under {n} settings" if n > 1 else "the base alone: name what is to be varied"
    columns = ["setting", "decisions", "c ± sd", "rank with base", *with_label, "gain (interval)", "compared"]
    return Sheet(title, columns, rows, notes)


def groups_sheet(report: Mapping[str, Any]) -> Sheet:
    """Return one row a group: its decisions under the base, and c under each setting."""
    rows = [
        [
            group["group"],
            f"{group['under'][0]['decisions']:,}",
            *("–" if cell["c"] is None else f"{cell['c']:.2f} ± {cell['sd']:.2f}" for cell in group["under"]),
        ]
        for group in report["groups"]
    ]
    note = "c ± sd of each group; a c belongs to its setting: compare down a column, never along a row"
    columns = [report["by"], "decisions", *(_short(row) for row in report["settings"])]
    return Sheet(f"by {report['by']}", columns, rows, [note])


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
