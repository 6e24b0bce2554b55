"""What the moves of games can be grouped by: a label for each move, by the name of a column.

In: the moves of games. Out: a label a move, None where the games do not say. Headers are read from the mover's view;
phase, time spent and the opponent's strength are classes, so that each holds more than a few moves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from skilloscope.chess.facts import CLOCKS, PHASES, SPENT, phase_of, time_classes
from skilloscope.chess.openings import game_facts
from skilloscope.core.errors import OptionError
from skilloscope.sources.strength import PlayedMoves

HEADER_COLUMNS = (
    "player", "event", "year", "opponent", "mover", "result", "game", "date", "site", "round", "time_control",
    "termination", "file", "elo", "opponent_elo",
)  # fmt: skip
_CLASS = 200  # Elo points of a class of opponents

ORDERS = {
    "phase": ("opening", *PHASES[1:]),
    "colour": ("white", "black"),
    "spent": tuple(SPENT),
    "clock": tuple(CLOCKS),
}
"""The labels of some columns in the order in which they are told; the others come as they sort."""

Labels = list[Any]


def check_grouping(by: str) -> None:
    """Refuse what moves cannot be grouped by."""
    if by not in GROUPINGS:
        raise OptionError(f"no column {by!r}", hint=f"the columns: {', '.join(GROUPINGS)}")


def move_labels(moves: PlayedMoves, by: str, opening_moves: int) -> Labels:
    """Return the label of each move; None where it is not known."""
    check_grouping(by)
    return GROUPINGS[by](moves, by, opening_moves)


def movers_of(moves: PlayedMoves) -> Labels:
    """Return who made each move, None where the games do not name him."""
    return _header(moves, "player", 0)


def _header(moves: PlayedMoves, by: str, _: int) -> Labels:
    found: Labels = moves.games.by_mover(moves.game, moves.black.astype(np.int8))[by].to_pylist()
    return found


def _colour(moves: PlayedMoves, by: str, _: int) -> Labels:
    return ["black" if black else "white" for black in moves.black.tolist()]


def _phase(moves: PlayedMoves, by: str, opening_moves: int) -> Labels:
    """The first moves are the opening; afterwards what is left on the board decides."""
    opening = (moves.move_number <= opening_moves).tolist()
    later = [PHASES[2] if phase_of(value) == PHASES[2] else PHASES[1] for value in moves.pieces.tolist()]
    return ["opening" if first else phase for first, phase in zip(opening, later, strict=True)]


def _fact(moves: PlayedMoves, by: str, _: int) -> Labels:
    """The opening, by its group of codes or its family, or the class of the time control."""
    known = game_facts(moves.games)[by]
    return [known[game] for game in moves.game.tolist()]


def _opposition(moves: PlayedMoves, by: str, _: int) -> Labels:
    ratings = _header(moves, "opponent_elo", 0)
    floors = [None if elo is None else int(elo) // _CLASS * _CLASS for elo in ratings]
    return [None if floor is None else f"{floor} to {floor + _CLASS - 1}" for floor in floors]


def _spent(moves: PlayedMoves, by: str, _: int) -> Labels:
    """The time that the move took: the clock after one's last move less the clock after this, with the increment."""
    games, at = moves.games, moves.games.offsets[:-1][moves.game] + moves.ply
    before = np.where(moves.ply >= 2, games.clocks[np.maximum(at - 2, 0)], np.nan)
    steps = np.array([_increment(text) for text in games.headers["time_control"].to_pylist()], dtype=float)
    seconds = before - games.clocks[at] + steps[moves.game]
    return list(time_classes(seconds, SPENT))


def _clock(moves: PlayedMoves, by: str, _: int) -> Labels:
    """The time that was left after the move: what was left before it is not told by games."""
    return list(time_classes(moves.games.clocks[moves.games.offsets[:-1][moves.game] + moves.ply], CLOCKS))


def _ply(moves: PlayedMoves, by: str, _: int) -> Labels:
    return list(moves.ply.tolist())


def _increment(time_control: str | None) -> float:
    """Return the seconds that each move adds, 0 where the games do not say.

    >>> [_increment(text) for text in ("5400+30", "40/7200:1800", None)]
    [30.0, 0.0, 0.0]
    """
    _, plus, step = (time_control or "").split(":")[0].partition("+")
    return float(step) if plus and step.isdigit() else 0.0


GROUPINGS: dict[str, Callable[[PlayedMoves, str, int], Labels]] = {
    **dict.fromkeys(HEADER_COLUMNS, _header),
    "decider": lambda moves, by, first: _header(moves, "player", first),
    "colour": _colour,
    "phase": _phase,
    **dict.fromkeys(("eco", "opening", "time_class"), _fact),
    "opposition": _opposition,
    "spent": _spent,
    "clock": _clock,
    "ply": _ply,
}
"""What `rate --by` takes, and how the labels are found."""
