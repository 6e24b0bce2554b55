"""The table of dimensions: one row per player and group, alone and pooled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skilloscope.reports.sheet import Sheet
from skilloscope.reports.words import EDGE_NOTE, competence, fitted_sd, skipped_line


def dimensions_sheet(report: Mapping[str, Any]) -> Sheet:
    """Return the table of `dimensions`."""
    players, model = report["players"], report["model"]
    columns = ["player", report["by"], "decisions", "c alone", "c pooled", f"{100 * report['mass']:g} % interval"]
    rows = [
        [
            player["player"],
            group["group"],
            f"{group['decisions']:,}",
            competence(group["alone"]),
            competence(group),
            f"{group['low']:.2f} to {group['high']:.2f}",
        ]
        for player in players
        for group in player["groups"]
    ]
    notes = [
        skipped_line(sum(one["decisions"] for one in players), report["skipped"]),
        f"between groups: {fitted_sd(report['spread'], 'spread', report['mass'])}",
    ]
    if any(group["edge"] or group["alone"]["edge"] for one in players for group in one["groups"]):
        notes.append(EDGE_NOTE)
    title = f"competence c by {report['by']} (k = {model['k']:g}, rule {model['rule']})"
    return Sheet(title, columns, rows, notes, left=2)
