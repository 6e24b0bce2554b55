"""The table of a profile: one row per player and period."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from skilloscope.reports.sheet import number
from skilloscope.reports.terminal import framed
from skilloscope.reports.words import EDGE_NOTE, competence, elo_interval, skipped_line

PRIOR_WORDS = {
    "carry": "each period begins with the posterior of the one before",
    "widen": "each period begins with a normal prior of twice the sd of the one before",
    "reset": "each period stands alone",
    "drift": "a random walk, smoothed over all periods",
}


def profile_table(report: Mapping[str, Any]) -> Group:
    """Return the table of `profile` and of `decisions profile`."""
    players = report["players"]
    periods = [period for player in players for period in player["periods"]]
    table = Table()
    left = 2
    for place, name in enumerate(profile_columns(report)):
        table.add_column(name, justify="left" if place < left else "right")
    for row in profile_rows(report):
        table.add_row(*(Text(cell) for cell in row))
    notes = [skipped_line(sum(player["decisions"] for player in players), report["skipped"]), drift_line(report)]
    if any(period.get("extrapolated") for period in periods):
        notes.append("* outside the range in which the scale was fitted")
    if any(period["edge"] or period.get("elo_edge") for period in periods):
        notes.append(EDGE_NOTE)
    axis = f"{report['scale']['axis']}; " if report["scale"] else ""
    return framed(f"{axis}prior {report['prior']}: {PRIOR_WORDS[report['prior']]}", table, notes)


def profile_columns(report: Mapping[str, Any]) -> list[str]:
    """Return the heads of the columns: those of Elo only where there is a scale."""
    interval = f"({100 * report['mass']:g} % interval)"
    if not report["scale"]:
        return ["decider", report["every"], "decisions", "c", interval.strip("()")]
    return ["player", report["every"], "games", "decisions", f"Elo {interval}", "c", "Elo in the games"]


def profile_rows(report: Mapping[str, Any]) -> list[list[str]]:
    """Return the cells, one row per player and period."""
    rows = []
    for player in report["players"]:
        for one in player["periods"]:
            row = [player["player"], one["period"]]
            if report["scale"]:
                row += [f"{one['games']:,}", f"{one['decisions']:,}", elo_interval(one), competence(one)]
                row += [number(one["header_elo"], 0)]
            else:
                row += [f"{one['decisions']:,}", competence(one), f"{one['low']:.2f} to {one['high']:.2f}"]
            rows.append(row)
    return rows


def drift_line(report: Mapping[str, Any]) -> str:
    """Return what was found of the drift, e.g. `drift of c: sd 0.031 in one year (95 % interval 0.012 to 0.066)`."""
    drift = report["drift"]
    if not drift:
        return ""
    high = "anything" if drift["drift_high"] is None else f"{drift['drift_high']:.3f}"
    interval = f"{100 * report['mass']:g} % interval {drift['drift_low']:.3f} to {high}"
    return f"drift of c: sd {drift['drift_sd']:.3f} in one {drift['drift_unit']} ({interval})"
