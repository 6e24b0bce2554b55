"""The packed form of an engine's answer: one record per line of every depth, best first, and the rule for mates.

In: what the engine printed. Out: a LINE array, its bytes for the store, and values in pawns.

What is kept is raw: centipawns, or the number of moves to mate, from the mover's point of view. Only
`value_pawns` turns that into a value, so that another cap for mates never needs another search.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import chess
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skilloscope.core.errors import InputError

LINE = np.dtype([("depth", "u1"), ("rank", "u1"), ("move", "<u2"), ("mate", "u1"), ("score", "<i4")])
"""One line: at this depth the move of this rank (1 = best) scores so many centipawns, or mates in so many moves."""

MATE_CAP = 39.0
"""The value of a mate in pawns: all the material of one side at the start [FER12 sect. 3]."""

LineArray = npt.NDArray[np.void]


class AnalysedPosition(NamedTuple):
    """A position as it was given to the engine, how many legal moves it has, and the engine's answer."""

    fen: str
    n_legal: int
    lines: LineArray


def value_pawns(mate: npt.ArrayLike, score: npt.ArrayLike, cap: float = MATE_CAP) -> npt.NDArray[np.float64]:
    """Return raw scores as pawns, mover's view: centipawns clipped to ± cap, a mate for the mover + cap, against − cap.

    A mate in 0 means that the mover is mated.

    >>> value_pawns([0, 0, 1, 1, 1], [25, -9000, 3, -2, 0])
    array([  0.25, -39.  ,  39.  , -39.  , -39.  ])
    """
    raw = np.asarray(score, dtype=np.float64)
    return np.where(np.asarray(mate, dtype=bool), np.where(raw > 0, cap, -cap), np.clip(raw / 100, -cap, cap))


def pack_lines(lines: LineArray) -> bytes:
    """Return the lines as bytes for the store, column after column: that deflates to 320 bytes where rows take 420."""
    fields = LINE.names or ()
    return zlib.compress(b"".join(np.ascontiguousarray(lines[name]).tobytes() for name in fields))


def unpack_lines(packed: bytes) -> LineArray:
    """Return the lines that `pack_lines` packed.

    >>> lines = np.array([(1, 1, code_from_uci("e2e4"), 0, 31), (1, 2, code_from_uci("f2f3"), 1, -4)], dtype=LINE)
    >>> np.array_equal(unpack_lines(pack_lines(lines)), lines)
    True
    """
    try:
        raw = zlib.decompress(packed)
    except zlib.error as error:
        raise InputError(f"packed lines are damaged: {error}") from error
    count, rest = divmod(len(raw), LINE.itemsize)
    if rest:
        raise InputError(f"packed lines are damaged: {len(raw)} bytes are no whole number of lines")
    lines = np.empty(count, dtype=LINE)
    start = 0
    for name in LINE.names or ():
        lines[name] = np.frombuffer(raw, dtype=LINE[name], count=count, offset=start)
        start += count * LINE[name].itemsize
    return lines


def sound_lines(packed: bytes) -> LineArray | None:
    """Return the lines that `pack_lines` packed; None where they are damaged, or none at all.

    >>> sound_lines(b"something else") is None
    True
    """
    try:
        lines = unpack_lines(packed)
    except InputError:
        return None
    return lines if len(lines) else None


def last_depth(lines: LineArray) -> LineArray:
    """Return the lines of the deepest depth: the judgement."""
    return lines[lines["depth"] == lines["depth"].max()] if len(lines) else lines


def value_of(lines: LineArray, move: int | None = None) -> float:
    """Return the value of the position, or of a move, by the last list, in pawns for the mover.

    A move that is not on it counts as the worst there.

    >>> listed = lines_from_lists({"1": [["e2e4", 31], ["d2d4", 12]]})
    >>> value_of(listed), value_of(listed, code_from_uci("a2a3"))
    (0.31, 0.12)
    """
    last = last_depth(lines)
    values = value_pawns(last["mate"], last["score"])
    found = np.flatnonzero(last["move"] == (last["move"][0] if move is None else move))
    return float(values[found[0]] if len(found) else values.min())


def lines_from_lists(depths: Mapping[str, Sequence[Sequence[Any]]]) -> LineArray:
    """Return lines from lists by depth, `[move, centipawns]` or `[move, "#mate"]`, best first.

    >>> lines_from_lists({"1": [["e2e4", 31], ["d2d4", "#-3"]]}).tolist()
    [(1, 1, 1804, 0, 31), (1, 2, 1739, 1, -3)]
    """
    rows = [
        (int(depth), rank, code_from_uci(move), *((1, int(score[1:])) if isinstance(score, str) else (0, int(score))))
        for depth, listed in depths.items()
        for rank, (move, score) in enumerate(listed, start=1)
    ]
    return np.array(sorted(rows), dtype=LINE)


def lines_to_lists(lines: LineArray) -> dict[str, list[list[Any]]]:
    """Return the lists that `lines_from_lists` reads, plain enough for JSON."""
    depths: dict[str, list[list[Any]]] = {}
    for depth, _, move, mate, score in lines.tolist():
        depths.setdefault(str(depth), []).append([move_uci(move), f"#{score}" if mate else score])
    return depths


def move_code(move: chess.Move) -> int:
    """Return a move as 16 bits: from | to << 6 | promotion << 12; the null move is 0."""
    return move.from_square | move.to_square << 6 | (move.promotion or 0) << 12


def move_of_code(code: int) -> chess.Move:
    """Return the move that a code stands for."""
    return chess.Move(code & 63, code >> 6 & 63, code >> 12 or None)


def move_uci(code: int | np.integer[Any]) -> str:
    """Return the code's move as an engine writes it.

    >>> move_uci(code_from_uci("e7e8q"))
    'e7e8q'
    """
    return move_of_code(int(code)).uci()


def moves_uci(codes: npt.NDArray[np.uint16]) -> pa.Array:
    """Return the moves as an engine writes them, null where none was made; each different one is written once."""
    distinct, places = np.unique(codes, return_inverse=True)
    return pa.array([move_uci(code) if code else None for code in distinct], type=pa.string()).take(pa.array(places))


@cache
def code_from_uci(uci: str) -> int:
    """Return the code of a move as an engine writes it; a king's castling goes two squares (`e1g1`)."""
    try:
        return move_code(chess.Move.from_uci(uci))
    except ValueError as error:
        raise InputError(f"{uci!r} is not a move as UCI writes it") from error
