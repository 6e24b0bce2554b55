"""Facts of chess that need no engine: a move's name, the phase of a position, the speed of a game.

In: what PGN and FEN say. Out: words for people, and classes for tables.

The phase is told by what is left on the board: the value of all pieces but kings and pawns, both sides together, which
is 62 at the start with queen 9, rook 5, bishop and knight 3. More than 52 is a full board (at most three minor pieces
gone), 26 or less is an endgame (two rooks and a minor piece each, or less), the rest is middlegame. The move number
plays no part.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.chess.chess960 import board_of_fen, make_move
from skilloscope.core.errors import InputError

PHASES = ("full board", "middlegame", "endgame")

CLOCKS = {"under 30 s": 0.0, "30 s to 1 min": 30.0, "1 to 5 min": 60.0, "5 to 15 min": 300.0, "15 min or more": 900.0}
"""Classes of the time that is left, by the seconds from which they begin."""
SPENT = {"under 10 s": 0.0, "10 to 30 s": 10.0, "30 s to 2 min": 30.0, "2 to 10 min": 120.0, "10 min or more": 600.0}
"""Classes of the time that a move took."""

PIECE_VALUES = {"q": 9, "r": 5, "b": 3, "n": 3}
_MIDDLEGAME, _ENDGAME = 52, 26  # at most
_CLASSICAL_SECONDS = 3600  # FIDE: an hour or more for sixty moves, increments included
_SPEEDS = {"classical": _CLASSICAL_SECONDS, "rapid": 601, "blitz": 180}
_DAILY = re.compile(r"\d++/\d{5,9}+")  # 86400 seconds, a day, and more
_STAGE = re.compile(r"(?:\d++/)?(\d{1,9}+)(?:\+(\d{1,9}+))?")


def time_classes(seconds: npt.NDArray[np.floating[Any]], classes: Mapping[str, float]) -> list[str | None]:
    """Return the class of each time; None where it is not known. Less than nothing counts as nothing.

    >>> time_classes(np.array([12.0, np.nan, 900.0]), CLOCKS)
    ['under 30 s', None, '15 min or more']
    """
    names = list(classes)
    place = np.searchsorted(list(classes.values()), np.maximum(np.nan_to_num(seconds), 0.0), side="right") - 1
    return [None if np.isnan(t) else names[at] for t, at in zip(seconds, place.tolist(), strict=True)]


def san(fen: str, move: str) -> str:
    """Return a move in standard algebraic notation.

    >>> san("4k3/8/8/8/8/8/8/R4K1R w HA - 0 1", "f1h1")
    'O-O'
    """
    board = board_of_fen(fen)
    try:
        return board.san(board.parse_uci(move))
    except ValueError as error:
        raise InputError(f"{move!r} is no move in {fen}") from error


def piece_value(fen: str) -> int:
    """Return the value of all pieces but kings and pawns in a position, both sides together.

    >>> piece_value("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")
    62
    """
    board = fen.split(" ", 1)[0].lower()
    return sum(value * board.count(piece) for piece, value in PIECE_VALUES.items())


def phases_of(fens: Sequence[str | None]) -> npt.NDArray[np.object_]:
    """Return the phase of each position, None where the position is not known.

    >>> phases_of(["8/5k2/8/8/8/2R5/4K3/8 w - - 0 60", None]).tolist()
    ['endgame', None]
    """
    found = np.empty(len(fens), dtype=object)
    for row, fen in enumerate(fens):
        if fen:
            found[row] = phase_of(piece_value(fen))
    return found


def sans(start: str | None, moves: Sequence[str]) -> list[str]:
    """Return the moves of a game in standard algebraic notation.

    >>> sans(None, ["g1f3", "d7d5"])
    ['Nf3', 'd5']
    """
    board, written = board_of_fen(start), []
    for move in moves:
        found = board.parse_uci(move)
        written.append(board.san(found))
        make_move(board, found)
    return written


def phase_of(value: int) -> str:
    """Return the phase of a position by the value of its pieces.

    >>> [phase_of(value) for value in (62, 52, 26)]
    ['full board', 'middlegame', 'endgame']
    """
    return PHASES[0] if value > _MIDDLEGAME else PHASES[1] if value > _ENDGAME else PHASES[2]


def time_class(time_control: str | None) -> str | None:
    """Return the class of PGN's TimeControl by the time it gives for sixty moves; None where it does not say.

    FIDE's bounds: blitz up to ten minutes, rapid less than an hour, then classical; bullet is less than three minutes,
    and a day or more for a move is correspondence.

    >>> [time_class(text) for text in ("60+0", "180+2", "900+10", "5400+30", "1/259200", "-")]
    ['bullet', 'blitz', 'rapid', 'classical', 'correspondence', None]
    """
    seconds = _sixty_moves(time_control)
    if seconds is None:
        return None
    if _DAILY.fullmatch(time_control or ""):
        return "correspondence"
    return next((name for name, least in _SPEEDS.items() if seconds >= least), "bullet")


def is_classical(time_control: str | None) -> bool | None:
    """Return whether PGN's TimeControl gives an hour or more for sixty moves; None where it does not say.

    >>> [is_classical(text) for text in ("5400+30", "600+0", "40/7200:1800", "-", None)]
    [True, False, True, None, None]
    """
    seconds = _sixty_moves(time_control)
    return None if seconds is None else seconds >= _CLASSICAL_SECONDS


def _sixty_moves(time_control: str | None) -> int | None:
    """Return the seconds that a time control gives for sixty moves, increments included."""
    stages = [_STAGE.fullmatch(stage) for stage in (time_control or "").split(":")]
    if not stages or None in stages:
        return None
    return sum(int(stage[1]) + 60 * int(stage[2] or 0) for stage in stages if stage)
