"""Which decisions a table of mileposts takes: from which move on, how decided, in which years, whose ratings.

In: decisions of chess. Out: those that are wanted, the rest counted by reason. [RH11 sect. 5]
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from skilloscope.core.errors import InputError, OptionError
from skilloscope.decision import Decisions
from skilloscope.ratings.mileposts import with_mileposts

REPETITION = "repetition (the position stood there before in the game)"
_YEARS = re.compile(r"(\d{4})(?:\s*[-–]\s*(\d{4}))?")


@dataclass(frozen=True)
class MilepostWindow:
    """The window: first move, cut-off in pawns, years, and how near a milepost the mover, or both, must be.

    The paper begins at move 9 and has both players within 10 points, in some sets 15 or 20; its cut-off is 3 pawns.
    """

    first_move: int = 13
    cut_off: float = 3.0
    years: tuple[int, int] | None = None
    within: float = 20.0
    both: bool = False

    def __post_init__(self) -> None:
        if self.first_move < 1 or not self.cut_off > 0:
            raise OptionError("the first move is 1 or later, the cut-off above 0")

    def inside(self, decisions: Decisions) -> Decisions:
        """Return the decisions in the window, without repetitions; what has no ply, date or position stays."""
        batch = decisions
        if "ply" in batch.context.column_names:
            early = _numbers(batch, "ply") // 2 + 1 < self.first_move
            batch = batch.select(~early, reason=f"before move {self.first_move}")
        decided = np.abs(batch.best.astype(float)) > self.cut_off
        batch = batch.select(~decided, reason=f"decided (best value beyond ±{self.cut_off:g} pawns)")
        if self.years is not None:
            year = _numbers(batch, "year")
            then = (year >= self.years[0]) & (year <= self.years[1])
            batch = batch.select(then, reason=f"not of {self.years[0]}–{self.years[1]}")
        return batch.select(~repeated(batch), reason=REPETITION)

    def mileposts(self, decisions: Decisions) -> Decisions:
        """Return the decisions of players near a milepost, with a column that names it."""
        whose = "both ratings" if self.both else "rating"
        reason = f"no {whose} within {self.within:g} points of a hundred"
        return with_mileposts(decisions, self.within, both=self.both, reason=reason)


def years_from_text(text: str) -> tuple[int, int]:
    """Return the years that a text like 1991-1994 names, the first and the last.

    >>> years_from_text("1991-1994"), years_from_text("2006")
    ((1991, 1994), (2006, 2006))
    """
    found = _YEARS.fullmatch(text.strip())
    if found is None or int(found[2] or found[1]) < int(found[1]):
        raise OptionError(f"no years {text!r}", hint="write 1991-1994, or one year")
    return int(found[1]), int(found[2] or found[1])


def repeated(decisions: Decisions) -> npt.NDArray[np.bool_]:
    """Return which decisions are made in a position that stood on the board before in the same game.

    Whose move it is, castling and en passant belong to the position; the counters of moves do not.
    """
    names = set(decisions.context.column_names)
    if not {"game", "fen"} <= names or not len(decisions):
        return np.zeros(len(decisions), dtype=bool)
    fens = decisions.column("fen")
    bare = pc.replace_substring_regex(fens, pattern=r" \S+ \S+$", replacement="")
    keyed = replace(decisions, context=pa.table({"game": decisions.column("game"), "position": bare}))
    _, codes = keyed.groups(["game", "position"])
    first = np.unique(codes, return_index=True)[1]
    again = np.ones(len(decisions), dtype=bool)
    again[first] = False
    return np.asarray(again & pc.is_valid(fens).to_numpy(zero_copy_only=False))


def _numbers(batch: Decisions, name: str) -> npt.NDArray[np.float64]:
    if name not in batch.context.column_names:
        raise InputError(f"the decisions have no {name}", hint="games with dates in their headers have one")
    column = pc.fill_null(batch.column(name).cast(pa.float64()), np.nan)
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
