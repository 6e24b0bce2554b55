"""The table of dimensions: one row per player and group, alone and pooled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skilloscope.reports.sheet import Sheet
from skilloscope.reports.words import EDGE_NOTE, competence, fitted_sd, skipped_line
from skilloscope.studies.rate.parts_tables import parts_sheet, spread_line


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


def elo_dimensions_sheet(report: Mapping[str, Any]) -> Sheet:
    """Return the table of `dimensions` on the Elo axis."""
    said = [*spread_line(report, "between groups"), *_everybody(report)]
    return parts_sheet(report, "group", change="against common", said=said)


def _everybody(report: Mapping[str, Any]) -> list[str]:
    common = [player["common"] for player in report["players"] if player["common"]]
    if len(common) != 1:
        return []
    one = common[0]
    return [f"common to the groups: {one['elo']:.0f} ({one['elo_low']:.0f} to {one['elo_high']:.0f})"]
