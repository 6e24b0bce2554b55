"""Tables and lines of parts on the Elo axis, as every study of parts shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skilloscope.reports.sheet import Sheet, number
from skilloscope.reports.words import elo_interval, skipped_line
from skilloscope.studies.rate.elo_tables import axis_lines
from skilloscope.studies.rate.parts import EVERYBODY

SHARED_NOTE = (
    "the parts share what a model says of the person's style: a difference is surer than two such levels taken apart"
)


def parts_sheet(report: Mapping[str, Any], part: str, *, change: str, said: Sequence[str], title: str = "") -> Sheet:
    """Return one row for each player's part (a group, a period): Elo, difference, games, moves, header rating."""
    parts = f"{part}s"
    several = any(one["change"] for player in report["players"] for one in player[parts])
    columns = ["player", report["by"], f"Elo ({100 * report['mass']:g} % interval)", *([change] if several else [])]
    rows = [
        [
            player["player"],
            one[part],
            elo_interval(one),
            *([change_text(one["change"])] if several else []),
            f"{one['games']:,}",
            f"{one['decisions']:,}",
            number(one["header_elo"], 0),
        ]
        for player in report["players"]
        for one in player[parts]
    ]
    shown = [one for player in report["players"] for one in player[parts]]
    moves = sum(one["decisions"] for one in shown)
    notes = [skipped_line(moves, report["skipped"], what="moves"), *axis_lines(report, shown), *said]
    heading = f"{report['scale']['axis']}{f'; {title}' if title else ''}"
    return Sheet(heading, [*columns, "games", "moves", "header"], rows, notes, left=2)


def change_text(change: Mapping[str, float] | None) -> str:
    """Return a difference of Elo with its interval, e.g. `+41 (−12 to +95)`."""
    if change is None:
        return "–"
    return f"{change['difference']:+.0f} ({change['low']:+.0f} to {change['high']:+.0f})"


def spread_line(report: Mapping[str, Any], what: str) -> list[str]:
    """Return the fitted sd in words; nothing where there was none to fit."""
    fit = report["spread"]
    if fit is None:
        return []
    high = "anything" if fit["spread_high"] is None else f"{fit['spread_high']:.0f}"
    interval = f"{100 * report['mass']:g} % interval {fit['spread_low']:.0f} to {high}"
    believed = f"before the games: about {fit['believed_median']:.0f}, {fit['believed_source']}"
    together = [player["player"] for player in report["players"]] == [EVERYBODY]
    shared = "everybody's style counts as new in every group: so differences look less sure than they are"
    shared = shared if together else SHARED_NOTE
    return [f"{what}: sd {fit['spread_sd']:.0f} Elo ({interval}; {believed})", shared]
