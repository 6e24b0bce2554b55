"""Tables of the curves: deciders by s and c, and the table of RH11 section 7."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from skilloscope.reports.sheet import number
from skilloscope.reports.terminal import framed
from skilloscope.reports.words import skipped_line


def curve_deciders_table(report: Mapping[str, Any]) -> Group:
    """Return the table of `decisions rate --method curves`."""
    model, deciders = report["model"], report["deciders"]
    notes = [skipped_line(sum(decider["decisions"] for decider in deciders), report["skipped"])]
    if any(decider["edge"] for decider in deciders):
        notes.append("* at the end of its range: the truth may lie beyond")
    notes += report["warnings"]
    if report["unrated"]:
        notes.append(f"no usable decision of: {'; '.join(report['unrated'])}")
    title = (
        f"sensitivity s and competence c of {model['mapping']} with {model['curve']} "
        f"(fit {report['fit']}, rule {model['rule']}, scaling {model['scaling']:g})"
    )
    table = Table()
    table.add_column("decider")
    for name in ("decisions", "s", "c", "log-likelihood", "expected loss"):
        table.add_column(name, justify="right")
    for row in deciders:
        table.add_row(
            Text(row["decider"]),
            f"{row['decisions']:,}",
            _estimate(row, "s"),
            _estimate(row, "c"),
            number(row["log_likelihood"], 2),
            number(row["expected_loss"], 3),
        )
    return framed(title, table, notes)


def _estimate(row: Mapping[str, Any], name: str) -> str:
    sd = row[f"{name}_sd"]
    mark = " *" if row["edge"] and name in row["edge"].split(" and ") else ""
    return f"{row[name]:.3f} ± {sd:.3f}{mark}" if sd is not None else f"{row[name]:.3f}{mark}"


def milepost_rows(report: Mapping[str, Any], *, by: str = "milepost") -> Group:
    """Return the table of `intrinsic`, with the columns of RH11 section 7."""
    model, groups = report["model"], report["groups"]
    notes = [skipped_line(sum(row["decisions"] for row in groups), report["skipped"]), *report["warnings"]]
    if any(row["edge"] for row in groups):
        notes.append("* at the end of its range: the truth may lie beyond")
    notes.append("p: predicted, a: actual; mm: match with the engine's first move; ad: mean loss on the scaled axis")
    title = (
        f"s and c of {model['mapping']} with {model['curve']} "
        f"(fit {report['fit']}, rule {model['rule']}, scaling {model['scaling']:g})"
    )
    table = Table()
    table.add_column(by)
    for name in ("decisions", "s", "c", "c_fit", "s_fit", "mm p/a", "ad p/a", "S"):
        table.add_column(name, justify="right")
    for row in groups:
        table.add_row(
            Text("unknown" if row["group"] is None else str(row["group"])),
            f"{row['decisions']:,}",
            _estimate(row, "s"),
            _estimate(row, "c"),
            number(row["c_fit"], 3),
            number(row["s_fit"], 3),
            f"{100 * row['match_predicted']:.1f}/{100 * row['match_actual']:.1f}",
            f"{row['loss_predicted']:.3f}/{row['loss_actual']:.3f}",
            number(row["score"], 4),
        )
    return framed(title, table, notes)
