"""The engine's lines beside what people play: the choices that the joint model reads.

In: the human model's choices of some positions, and the engine's answers to the same positions. Out: every legal move
with its scaled loss at each depth. A move that is not listed at a depth counts as the worst that is.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.engine.lines import MATE_CAP, value_pawns
from skilloscope.chess.human.model import HumanChoices
from skilloscope.core.columns import ragged_take
from skilloscope.models.joint import JointChoices, scaled_roots

_CODES = 1 << 16


def joint_choices(
    choices: HumanChoices, played: npt.NDArray[np.uint16], analyses: Analyses, rows: npt.NDArray[np.int64], depths: int
) -> JointChoices:
    """Return the choices with the losses of depths 1 to `depths`; rows[i] is the place of position i in the analyses.

    Every row must have an answer, and the move played must be legal.
    """
    values, listed = listed_values(choices, analyses, rows, depths)
    first, counts = choices.offsets[:-1], np.diff(choices.offsets)
    known = ~np.isnan(values)
    best = np.maximum.reduceat(np.where(known, values, -np.inf), first)
    worst = np.minimum.reduceat(np.where(known, values, np.inf), first)
    filled = np.where(known, values, np.repeat(worst, counts, axis=0))
    roots = scaled_roots(np.repeat(best, counts, axis=0), filled).astype(np.float32)
    return JointChoices(choices.offsets, choices.index_of(played), choices.coefficients, roots, listed)


def first_choices(
    choices: HumanChoices, analyses: Analyses, rows: npt.NDArray[np.int64], depth: int
) -> npt.NDArray[np.int64]:
    """Return the place of the engine's first choice at that depth among the legal moves of each position.

    A search that ended early, with a mate, prefers at every later depth what it preferred last.
    """
    offsets, entries = ragged_take(analyses.offsets, analyses.row[rows])
    lines, owner = analyses.lines[entries], np.repeat(np.arange(len(rows)), np.diff(offsets))
    first = np.flatnonzero((lines["rank"] == 1) & (lines["depth"] <= depth))
    order = np.lexsort((lines["depth"][first], owner[first]))
    first = first[order]
    last = first[np.append(np.diff(owner[first]) > 0, True)] if len(first) else first
    return _entries(choices, owner[last], lines["move"][last]) - choices.offsets[:-1]


def listed_values(
    choices: HumanChoices, analyses: Analyses, rows: npt.NDArray[np.int64], depths: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Return the value of each legal move at each depth (NaN where not listed), and whether the last list has it."""
    answer = analyses.row[rows]
    offsets, entries = ragged_take(analyses.offsets, answer)
    lines, owner = analyses.lines[entries], np.repeat(np.arange(len(rows)), np.diff(offsets))
    keep = lines["depth"] <= depths
    lines, owner = lines[keep], owner[keep]
    values = np.full((len(choices.moves), depths), np.nan)
    at = _entries(choices, owner, lines["move"])
    values[at, lines["depth"].astype(np.int64) - 1] = value_pawns(lines["mate"], lines["score"], MATE_CAP)
    for depth in range(1, depths):  # a search that ends early, with a mate, says at every later depth what it said last
        absent = np.logical_and.reduceat(np.isnan(values[:, depth]), choices.offsets[:-1])
        gap = np.repeat(absent, np.diff(choices.offsets))
        values[gap, depth] = values[gap, depth - 1]
    return values, ~np.isnan(values[:, -1])


def _entries(
    choices: HumanChoices, owner: npt.NDArray[np.int64], moves: npt.NDArray[np.uint16]
) -> npt.NDArray[np.int64]:
    """Return where each move stands among the choices."""
    own = np.repeat(np.arange(len(choices)), np.diff(choices.offsets)) * _CODES + choices.moves
    order = np.argsort(own)
    found = order[np.searchsorted(own, owner * _CODES + moves, sorter=order)]
    return np.asarray(found)
