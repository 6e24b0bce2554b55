"""The table of a comparison: both sides, the difference, and how probably the second is stronger."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from skilloscope.reports.terminal import framed
from skilloscope.reports.words import EDGE_NOTE, competence, probability_text, skipped_line


def comparison_columns(report: Mapping[str, Any]) -> list[str]:
    """Return the headings: the sides by their labels."""
    sides = [report["comparisons"][0][side]["label"] for side in ("first", "second")]
    elo = ["in Elo points"] if report["comparisons"][0]["elo"] else []
    change = f"difference ({100 * report['mass']:g} % interval)"
    return ["", *(f"c {side}" for side in sides), change, *elo, f"{sides[1]} stronger"]


def comparison_rows(report: Mapping[str, Any]) -> list[list[str]]:
    """Return one row of cells for each comparison."""
    return [
        [
            found["decider"],
            *(f"{competence(found[side])} ({found[side]['decisions']:,})" for side in ("first", "second")),
            f"{found['difference']:+.2f} ({found['low']:+.2f} to {found['high']:+.2f})",
            *([_elo(found["elo"])] if found["elo"] else []),
            probability_text(found["second_stronger"]),
        ]
        for found in report["comparisons"]
    ]


def comparison_notes(report: Mapping[str, Any]) -> list[str]:
    """Return what stands under the table before the caution."""
    sides = [found[side] for found in report["comparisons"] for side in ("first", "second")]
    notes = [skipped_line(sum(side["decisions"] for side in sides), report["skipped"])]
    if any(side["edge"] for side in sides):
        notes.append(EDGE_NOTE)
    if report["unpaired"]:
        notes.append(f"in one of the two sets only: {'; '.join(report['unpaired'])}")
    notes.append(f"prior of each c: {report['prior']}; dispersion {report['dispersion']:.2f}")
    return notes


def comparison_table(report: Mapping[str, Any]) -> Group:
    """Return the table of `compare`, and its caution."""
    table = Table()
    for place, name in enumerate(comparison_columns(report)):
        table.add_column(Text(name), justify="right" if place else "left")
    for row in comparison_rows(report):
        table.add_row(*(Text(cell) for cell in row))
    title = "competence c, decisions in brackets"
    return framed(title, table, [*comparison_notes(report), *(f"caution: {line}" for line in report["caution"])])


def _elo(elo: Mapping[str, float]) -> str:
    return f"{elo['difference']:+.0f} ({elo['low']:+.0f} to {elo['high']:+.0f})"
