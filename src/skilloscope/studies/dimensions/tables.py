"""The table of dimensions: one row per player and group, alone and pooled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from skilloscope.reports.terminal import framed
from skilloscope.reports.words import EDGE_NOTE, competence, skipped_line


def dimensions_table(report: Mapping[str, Any]) -> Group:
    """Return the table of `dimensions`."""
    table = Table()
    for place, name in enumerate(dimension_columns(report)):
        table.add_column(name, justify="left" if place < 2 else "right")
    for row in dimension_rows(report):
        table.add_row(*(Text(cell) for cell in row))
    players = report["players"]
    notes = [skipped_line(sum(one["decisions"] for one in players), report["skipped"]), spread_line(report)]
    groups = [group for one in players for group in one["groups"]]
    if any(group["edge"] or group["alone"]["edge"] for group in groups):
        notes.append(EDGE_NOTE)
    model = report["model"]
    return framed(f"competence c by {report['by']} (k = {model['k']:g}, rule {model['rule']})", table, notes)


def dimension_columns(report: Mapping[str, Any]) -> list[str]:
    """Return the heads of the columns."""
    return ["player", report["by"], "decisions", "c alone", "c pooled", f"{100 * report['mass']:g} % interval"]


def dimension_rows(report: Mapping[str, Any]) -> list[list[str]]:
    """Return the cells, one row per player and group."""
    return [
        [
            player["player"],
            group["group"],
            f"{group['decisions']:,}",
            competence(group["alone"]),
            competence(group),
            f"{group['low']:.2f} to {group['high']:.2f}",
        ]
        for player in report["players"]
        for group in player["groups"]
    ]


def spread_line(report: Mapping[str, Any]) -> str:
    """Return what was found between groups, e.g. `between groups: sd 0.12 (95 % interval 0.04 to 0.41)`."""
    spread = report["spread"]
    high = "anything" if spread["spread_high"] is None else f"{spread['spread_high']:.3f}"
    interval = f"{100 * report['mass']:g} % interval {spread['spread_low']:.3f} to {high}"
    return f"between groups: sd {spread['spread_sd']:.3f} ({interval})"
