"""Simulated people: how likely somebody of an Elo is to play each move of a position, by one of several styles.

In: positions, an Elo for each, and the engine's answers where the style asks for them. Out: log p of the moves.

`human` is what people play, without an engine; `joint` the same with what an engine sees beside it, as people of that
Elo see it; `agent` and `curves` are the reference agent and the curves of RH11, which choose by its list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.engine.lines import MATE_CAP, value_pawns
from skilloscope.chess.human.joint import joint_choices
from skilloscope.chess.human.model import HumanChoices, elo_basis
from skilloscope.core.columns import ragged_take
from skilloscope.models.agent import scaled_losses
from skilloscope.models.curve_model import CurveModel
from skilloscope.models.curves import curve
from skilloscope.models.joint import JointChoices, JointWeights, log_alternatives
from skilloscope.models.mappings import probabilities
from skilloscope.models.scaling import scaled_loss
from skilloscope.ratings.scale import Scale

Array = npt.NDArray[np.float64]

STYLES = ("joint", "human", "agent", "curves")
_LEAST_C = 0.05  # far below every Elo that the scales know


@dataclass(frozen=True, eq=False)
class MoveChances:
    """Moves that may be played and log p of each: position i owns offsets[i]:offsets[i + 1]."""

    offsets: npt.NDArray[np.int64]
    moves: npt.NDArray[np.uint16]
    log_p: Array

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def drawn(self, rngs: Sequence[np.random.Generator]) -> npt.NDArray[np.uint16]:
        """Return a move for each position, drawn with a generator of its own."""
        spans = zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True)
        found = [drawn_place(self.log_p, a, b, rng) for (a, b), rng in zip(spans, rngs, strict=True)]
        return np.asarray(self.moves[found])


def human_chances(choices: HumanChoices, elo: npt.ArrayLike) -> MoveChances:
    """Return what people of these Elos (one a position) play."""
    owner = np.repeat(np.arange(len(choices)), np.diff(choices.offsets))
    basis = elo_basis(np.broadcast_to(np.asarray(elo, dtype=float), len(choices)))
    logits = (choices.coefficients.astype(float) * basis[owner]).sum(axis=1)
    return _normalised(choices.offsets, choices.moves, logits)


def joint_chances(choices: HumanChoices, analyses: Analyses, elo: npt.ArrayLike, weights: JointWeights) -> MoveChances:
    """Return what people of these Elos play by the joint model; the analyses answer the same positions, in order."""
    level = np.broadcast_to(np.asarray(elo, dtype=float), len(choices))
    log_p = log_alternatives(joint_of(choices, analyses, weights), weights, level, elo_basis(level))
    return MoveChances(choices.offsets, choices.moves, log_p)


def drawn_place(log_p: Array, start: int, end: int, rng: np.random.Generator) -> int:
    """Return a place from start to end, drawn by log p: the largest of log p + Gumbel noise is a draw from p."""
    return start + int(np.argmax(log_p[start:end] + rng.gumbel(size=end - start)))


def joint_of(choices: HumanChoices, analyses: Analyses, weights: JointWeights) -> JointChoices:
    """Return the choices with the losses that the engine sees; nobody has chosen yet."""
    first = choices.moves[choices.offsets[:-1]]  # the model wants a choice; it is not used
    return joint_choices(choices, first, analyses, np.arange(len(choices)), len(weights.depths))


def agent_chances(analyses: Analyses, elo: npt.ArrayLike, scale: Scale) -> MoveChances:
    """Return what the reference agent of these Elos plays among the listed moves. [DFH13 (6)]"""
    offsets, moves, values = _listed(analyses)
    counts = np.diff(offsets)
    best = np.repeat(np.maximum.reduceat(values, offsets[:-1]), counts)
    c = np.broadcast_to(np.maximum(scale.parameter(elo), 0.0), len(counts))
    k = float(scale.model["k"])
    return _normalised(offsets, moves, -np.repeat(c, counts) * scaled_losses(best - values, k=k))


def curve_chances(analyses: Analyses, elo: npt.ArrayLike, scale: Scale) -> MoveChances:
    """Return what players of these Elos play among the listed moves by the curves. [RH11 sect. 3, 4]"""
    model = CurveModel.from_about(scale.model)
    offsets, moves, values = _listed(analyses)
    at = {name: np.broadcast_to(value, len(offsets) - 1) for name, value in scale.parameters(elo).items()}
    log_p = np.empty(len(values))
    for i, (a, b) in enumerate(pairwise(offsets.tolist())):
        losses = scaled_loss(values[a:b].max(), values[a:b], model.scaling)
        log_g = curve(model.curve).log_g(losses, float(at["s"][i]), max(float(at["c"][i]), _LEAST_C))
        with np.errstate(divide="ignore"):  # a move that is never played has log p = −∞
            log_p[a:b] = np.log(probabilities(log_g, model.mapping))
    return MoveChances(offsets, moves, log_p)


def _listed(analyses: Analyses) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint16], Array]:
    """Return the moves on the last list of every position with their values in pawns."""
    offsets, entries = ragged_take(analyses.offsets, analyses.row)
    lines, owner = analyses.lines[entries], np.repeat(np.arange(len(analyses)), np.diff(offsets))
    last = lines["depth"] == analyses.last_depths[analyses.row][owner]
    lines, counts = lines[last], np.bincount(owner[last], minlength=len(analyses))
    return np.append(0, np.cumsum(counts)), lines["move"], value_pawns(lines["mate"], lines["score"], MATE_CAP)


def _normalised(offsets: npt.NDArray[np.int64], moves: npt.NDArray[np.uint16], logits: Array) -> MoveChances:
    first, counts = offsets[:-1], np.diff(offsets)
    top = np.maximum.reduceat(logits, first)
    total = np.add.reduceat(np.exp(logits - np.repeat(top, counts)), first)
    return MoveChances(offsets, moves, logits - np.repeat(top + np.log(total), counts))
