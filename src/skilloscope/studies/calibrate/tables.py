"""Tables of a calibration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skilloscope.reports.sheet import Sheet, number
from skilloscope.reports.words import percent


def calibration_sheets(report: Mapping[str, Any]) -> list[Sheet]:
    """Return who plays in the games, and where an axis was fitted its accuracy and its numbers."""
    counts = [[f"{report['players']:,}", f"{report['player_games']:,}", *_spread(report)]]
    notes = [f"no axis: {reason}" for reason in report["reasons"]]
    columns = ["players", "player-games", "mean rating", "sd", "lowest", "highest"]
    census = Sheet(f"rated players of {report['name']}", columns, counts, notes, left=0)
    return [census, *([_accuracy(report), _effects(report)] if report["one_game"] else [])]


def _spread(report: Mapping[str, Any]) -> list[str]:
    return [number(report[name], 0) for name in ("mean", "sd", "low", "high")]


def _accuracy(report: Mapping[str, Any]) -> Sheet:
    columns = ["evidence", "cases", "RMSE", "MAE", "posterior sd", "95 % covers", "slope", "RMSE of the mean"]
    a_year = f"all games of a year ({report['games_a_year']:.1f} on average)"
    rows = []
    for name, key in (("one game", "one_game"), (a_year, "one_year")):
        one = report[key]
        figures = [number(one[field], 0) for field in ("rmse", "mae", "sd")]
        shown = [*figures, percent(one["covers"]), number(one["slope"], 2), number(one["constant_rmse"], 0)]
        rows.append([name, f"{one['people']:,}", *shown])
    note = "each player judged by a fit to the others, under the mean and sd of the others' ratings"
    return Sheet("how well ratings of held-out players are foretold", columns, rows, [note])


def _effects(report: Mapping[str, Any]) -> Sheet:
    rows = [
        [source, *(number(one[name], digits) for name, digits in _DIGITS.items())]
        for source, one in report["effects"].items()
    ]
    low, high = report["valid"]
    note = f"fitted between {low:.0f} and {high:.0f}; rated E plays like E + shift + (stretch − 1)·(E − 2000)"
    return Sheet("how far evidence is believed", ["source", *_DIGITS], rows, [note])


_DIGITS = {"temper": 2, "game_sd": 0, "person_sd": 0, "shift": 0, "stretch": 2}
