"""Tables of gain: one game move by move, and the tables of a tournament as FER12 prints them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from skilloscope.reports.terminal import framed
from skilloscope.reports.words import engine_line, skipped_line

GAME_COLUMNS = ("move", "", "evaluation", "player", "gain", "p", "difference", "strength", "c")
SIDE_COLUMNS = ("player", "moves", "mean gain", "p against engine", "difference", "strength", "c")


def game_table(report: Mapping[str, Any]) -> Group:
    """Return the tables of `game`: every move, then both players."""
    drop = _empty_columns(report["moves"])
    moves = _table(GAME_COLUMNS, game_rows(report), drop)
    players = _table(SIDE_COLUMNS, side_rows(report), drop)
    game = report["game"]
    title = f"{game['white'] or 'White'} – {game['black'] or 'Black'}, {game['event'] or '?'}, {game['date'] or '?'}"
    known = sum(player["decisions"] for player in report["players"])
    notes = [values_line(report["engine"]), between_line(report), skipped_line(known, report["skipped"])]
    return Group(framed(title, moves, []), players, *(Text(note, style="dim") for note in notes if note))


def game_rows(report: Mapping[str, Any]) -> list[list[str]]:
    """Return the cells of every move."""
    rows = []
    for move in report["moves"]:
        rows.append(
            [
                f"{move['number']}{'.' if move['side'] == 'white' else '...'}",
                move["san"],
                _pawns(move["white_value_cp"]),
                move["player"],
                _pawns(move["gain_cp"]),
                _share(move["expected_score"]),
                difference(move),
                _whole(move["strength"]),
                _competence(move),
            ]
        )
    return rows


def side_rows(report: Mapping[str, Any]) -> list[list[str]]:
    """Return the cells of both players."""
    return [
        [
            player["player"],
            f"{player['decisions']:,}",
            "–" if player["mean_gain"] is None else f"{player['mean_gain']:.3f}",
            _share(player["expected_score_against_engine"]),
            difference({**player, "elo_difference": player["elo_difference_to_engine"]}),
            _whole(player["strength"]),
            _competence(player),
        ]
        for player in report["players"]
    ]


def difference(fields: Mapping[str, Any]) -> str:
    """Return an Elo difference with its sign, ±∞ where the expected score is 0 or 1, – where nothing is known."""
    if fields["infinite"]:
        return "+∞" if fields["infinite"] == "above" else "−∞"
    return "–" if fields["elo_difference"] is None else f"{fields['elo_difference']:+z.0f}"


def between_line(report: Mapping[str, Any]) -> str:
    """Return what the two distributions say of the two players, without the engine between them."""
    found = report["white_against_black"]
    if found is None:
        return ""
    p = found["expected_score"]
    return f"white against black: expected score {p:.3f} to {1 - p:.3f}, difference {difference(found)}"


def values_line(engine: Mapping[str, Any]) -> str:
    """Return whose values the gains stand on."""
    if engine.get("engine"):
        return f"values: {engine_line(engine)}"
    return f"values: {engine['source']}, mates at ±{engine['mate_cap']:g} pawns"


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]], drop: Sequence[str] = ()) -> Table:
    table = Table()
    kept = [at for at, name in enumerate(columns) if name not in drop]
    for at in kept:
        text = columns[at] in ("", "player")
        table.add_column(columns[at], justify="left" if text else "right")
    for row in rows:
        table.add_row(*(Text(row[at]) for at in kept))
    return table


def _empty_columns(moves: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the columns in which nothing is known, which the terminal need not show."""
    return [name for name in ("strength", "c") if all(move[name] is None for move in moves)]


def _pawns(centipawns: int | None) -> str:
    return "–" if centipawns is None else f"{centipawns / 100:.2f}"


def _share(p: float | None) -> str:
    return "–" if p is None else f"{p:.3f}"


def _whole(value: float | None) -> str:
    return "–" if value is None else f"{value:.0f}"


def _competence(fields: Mapping[str, Any]) -> str:
    return "–" if fields["c"] is None else f"{fields['c']:.2f}"
