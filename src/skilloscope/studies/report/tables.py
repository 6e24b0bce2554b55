"""Tables of a report: Elo by part of the play, decisions, games with the Elo of both, the crosstable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skilloscope.reports.sheet import Sheet
from skilloscope.reports.words import elo_interval, percent, share
from skilloscope.studies.rate.elo_tables import elo_sheets
from skilloscope.studies.report.told import game_name, pawns

PART_NAMES = {
    "phase": "by phase",
    "colour": "by colour",
    "eco": "by opening (ECO family)",
    "spent": "by time spent on the move",
    "opposition": "by the opponent's rating",
    "year": "by year",
}
_MOST_GAMES = 30  # in the terminal; the page has all
MOST_ACROSS = 24
"""Players of a crosstable that fits a page."""
ONE_GAME = "a single game says little: its interval is that of one game, and the prior pulls it towards the mean"


def player_sheets(report: Mapping[str, Any]) -> list[Sheet]:
    """Return the tables of one player for the terminal."""
    sheets = elo_sheets(report["ratings"])
    sheets += [part_sheet(report, name) for name in report["parts"]]
    sheets += [decisions_sheet(report["costliest"], "The decisions that cost most for this level")]
    sheets += [decisions_sheet(report["finds"], "The best finds: moves that people of this level often miss")]
    beside = Sheet("", (), (), [beside_line(report)] if report["beside"] else [])
    return [sheet for sheet in (*sheets, beside) if sheet.rows or sheet.notes]


def event_sheets(report: Mapping[str, Any]) -> list[Sheet]:
    """Return the tables of an event for the terminal."""
    games = games_sheet(report)
    short = Sheet(games.title, games.columns, games.rows[:_MOST_GAMES], games.notes, left=games.left, words=games.words)
    sheets = [*elo_sheets(report["ratings"]), crosstable_sheet(report), short]
    sheets.append(decisions_sheet(report["turning"], "Turning points: the moves that lost most"))
    sheets.append(decisions_sheet(report["finds"], "Hard to find, and found"))
    return [sheet for sheet in sheets if sheet.rows or sheet.notes]


def part_sheet(report: Mapping[str, Any], name: str) -> Sheet:
    """Return Elo by one part of the play."""
    part = report["parts"][name]
    rows = [
        [one["player"], elo_interval(one), f"{one['games']:,}", f"{one['decisions']:,}"] for one in in_part_order(part)
    ]
    columns = [name, f"Elo ({100 * part['mass']:g} % interval)", "games", "moves"]
    return Sheet(f"Elo {PART_NAMES[name]}", columns, rows)


def in_part_order(part: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the groups of a part by their own order where they have one (years, times), else as they are."""
    by = part["by"]
    players: list[Mapping[str, Any]] = list(part["players"])
    if by in ("year", "opposition"):
        return sorted(players, key=lambda one: str(one["player"]))
    orders = {"phase": ("opening", "middlegame", "endgame")}
    order = orders.get(by, ())
    return sorted(players, key=lambda one: order.index(one["player"]) if one["player"] in order else len(order))


def decisions_sheet(moves: Sequence[Mapping[str, Any]], title: str) -> Sheet:
    """Return decisions, one a row."""
    rows = [
        [
            f"{move['number']} {move['played']}",
            "" if move["played"] == move["better"] else move["better"],
            move["player"],
            game_name(move),
            pawns(move["value"]),
            pawns(move["played_value"]),
            share(move["p_better"]),
            f"{move['loss']:.2f}",
            f"{move['expected']:.2f}",
        ]
        for move in moves
    ]
    columns = ["move", "better", "player", "game", "value", "after", "found by", "lost", "level loses"]
    notes = ["found by: so many people of the player's level; lost: scaled pawns"] if rows else []
    return Sheet(title, columns, rows, notes, words=(1, 2, 3))


def beside_line(report: Mapping[str, Any]) -> str:
    """Return how the play compares with that of others of the same Elo, in the same positions."""
    own, elo = report["beside"], _own(report)["elo"]
    return (
        f"in {own['moves']:,} judged positions: lost {own['loss']:.3f} a move where people of {elo:.0f} lose "
        f"{own['expected_loss']:.3f} (difference {own['loss'] - own['expected_loss']:+.3f} ± {own['loss_se']:.3f}); "
        f"the engine's first move {percent(own['first'])}, people of {elo:.0f} {percent(own['expected_first'])} "
        f"(± {100 * own['first_se']:.0f} points)"
    )


def games_sheet(report: Mapping[str, Any]) -> Sheet:
    """Return every game with the Elo of both players in it."""
    rows = [
        [
            _side_name(game["white"]),
            _side_name(game["black"]),
            game["result"] or "*",
            _side_elo(game["white"]),
            _side_elo(game["black"]),
            f"{game['moves']:,}",
            str(game["round"] or game["date"] or ""),
        ]
        for game in report["games"]
    ]
    columns = ["White", "Black", "result", "Elo of White in it", "Elo of Black in it", "moves", "round"]
    return Sheet("Every game", columns, rows, [ONE_GAME], left=2, words=(2,))


def crosstable_sheet(report: Mapping[str, Any]) -> Sheet:
    """Return who scored what against whom."""
    table = report["table"]
    if len(table) > MOST_ACROSS:
        return _pairings_sheet(table)
    names = [row["player"] for row in table]
    rows = []
    for place, row in enumerate(table, start=1):
        met = {one["opponent"]: one["scores"] for one in row["against"]}
        cells = [_cell(met.get(other)) for other in names]
        rows.append([f"{place} {row['player']}", *cells, f"{row['points']:g} / {row['games']}"])
    columns = ["player", *(str(place) for place in range(1, len(names) + 1)), "points"]
    return Sheet("Crosstable", columns, rows, wide=True)


def _pairings_sheet(table: Sequence[Mapping[str, Any]]) -> Sheet:
    """Return the same of so many players that a column for each fits no paper: each with those whom he met."""
    place = {row["player"]: at for at, row in enumerate(table, start=1)}
    rows = []
    for row in table:
        met = sorted((place[one["opponent"]], _cell(one["scores"])) for one in row["against"])
        against = ", ".join(f"{number}: {cell}" for number, cell in met)
        rows.append([f"{place[row['player']]} {row['player']}", against, f"{row['points']:g} / {row['games']}"])
    columns, notes = ["player", "opponent: score", "points"], ["opponents by their place in this table"]
    return Sheet("Crosstable", columns, rows, notes, words=(1,), wide=True)


def _own(report: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = next(one for one in report["ratings"]["players"] if one["player"] == report["player"])
    return found


def _cell(points: Sequence[float] | None) -> str:
    return "" if points is None else " ".join("½" if one == 0.5 else f"{one:g}" for one in points)


def _side_name(side: Mapping[str, Any]) -> str:
    rating = side["header_elo"]
    return f"{side['player'] or '?'}{'' if rating is None else f' ({rating})'}"


def _side_elo(side: Mapping[str, Any]) -> str:
    return "–" if side["elo"] is None else f"{side['elo']:.0f} ({side['elo_low']:.0f} to {side['elo_high']:.0f})"
