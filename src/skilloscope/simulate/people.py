"""Simulated people: the probability of each move of a position at an Elo, by one of several styles.

In: positions, an Elo for each, and the engine's answers where the style needs them. Out: log p of the moves, or a move
drawn from them.

`human` is what people play, without an engine; `joint` combines that with the engine's evaluation, as far as people of
that Elo see it; `agent` and `curves` are the reference agent and the curves of RH11, which choose from its list.

In whole games people see what an engine sees, as the joint model says for their Elo. A move that is not listed is worth
no more than the worst that is; where one is drawn it is searched too, so nobody hangs a queen because ten other moves
fill the list.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.human.played import joint_choices, listed_values
from skilloscope.chess.moves import MATE_CAP, value_pawns
from skilloscope.chess.pgn.facts import piece_value
from skilloscope.core.columns import Array, Ints, ragged_take
from skilloscope.evidence.scales import Scale
from skilloscope.models import joint as joint_model
from skilloscope.models.agent import scaled_losses
from skilloscope.models.curves import CurveModel, curve, probabilities
from skilloscope.models.joint import MOST_LOSS, ORIGIN, UNIT, HumanChoices, JointWeights, elo_basis, log_alternatives

STYLES = ("joint", "human", "agent", "curves")
_LEAST_C = 0.05  # far below every Elo that the scales know


@dataclass(frozen=True, eq=False)
class MoveChances:
    """Moves that may be played and log p of each: position i owns offsets[i]:offsets[i + 1]."""

    offsets: Ints
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
    level = np.broadcast_to(np.asarray(elo, dtype=float), len(choices))
    return MoveChances(choices.offsets, choices.moves, choices.own_log_probabilities(level))


def joint_chances(choices: HumanChoices, analyses: Analyses, elo: npt.ArrayLike, weights: JointWeights) -> MoveChances:
    """Return what people of these Elos play by the joint model; the analyses answer the same positions, in order."""
    level = np.broadcast_to(np.asarray(elo, dtype=float), len(choices))
    log_p = log_alternatives(joint_of(choices, analyses, weights), weights, level, elo_basis(level))
    return MoveChances(choices.offsets, choices.moves, log_p)


def drawn_place(log_p: Array, start: int, end: int, rng: np.random.Generator) -> int:
    """Return a place from start to end, drawn by log p: the largest of log p + Gumbel noise is a draw from p."""
    return start + int(np.argmax(log_p[start:end] + rng.gumbel(size=end - start)))


def joint_of(choices: HumanChoices, analyses: Analyses, weights: JointWeights) -> joint_model.JointChoices:
    """Return the choices with the losses that the engine sees; nobody has chosen yet."""
    first = choices.moves[choices.offsets[:-1]]  # the model wants a choice; it is not used
    fens = analyses.positions.fen.to_pylist()
    number, pieces = [int(fen.rsplit(" ", 1)[1]) for fen in fens], [piece_value(fen) for fen in fens]
    rows = np.arange(len(choices))
    return joint_choices(choices, first, analyses, rows, len(weights.depths), number=number, pieces=pieces)


def agent_chances(analyses: Analyses, elo: npt.ArrayLike, scale: Scale) -> MoveChances:
    """Return what the reference agent of these Elos plays among the listed moves. [DFH13 (6)]"""
    offsets, moves, values = _listed(analyses)
    counts = np.diff(offsets)
    best = np.repeat(np.maximum.reduceat(values, offsets[:-1]), counts)
    c = np.broadcast_to(np.maximum(scale.parameter(elo), 0.0), len(counts))
    k = float(scale.model["k"])
    logits = -np.repeat(c, counts) * scaled_losses(best - values, k=k)
    return MoveChances(offsets, moves, logits - np.repeat(joint_model.log_sums(logits, offsets), counts))


def curve_chances(analyses: Analyses, elo: npt.ArrayLike, scale: Scale) -> MoveChances:
    """Return what players of these Elos play among the listed moves by the curves. [RH11 sect. 3, 4]"""
    model = CurveModel.from_about(scale.model)
    offsets, moves, values = _listed(analyses)
    at = {name: np.broadcast_to(value, len(offsets) - 1) for name, value in scale.parameters(elo).items()}
    log_p = np.empty(len(values))
    for i, (a, b) in enumerate(pairwise(offsets.tolist())):
        losses = joint_model.scaled_loss(values[a:b].max(), values[a:b], model.scaling)
        log_g = curve(model.curve).log_g(losses, float(at["s"][i]), max(float(at["c"][i]), _LEAST_C))
        with np.errstate(divide="ignore"):  # a move that is never played has log p = −∞
            log_p[a:b] = np.log(probabilities(log_g, model.mapping))
    return MoveChances(offsets, moves, log_p)


def _listed(analyses: Analyses) -> tuple[Ints, npt.NDArray[np.uint16], Array]:
    """Return the moves on the last list of every position with their values in pawns."""
    offsets, entries = ragged_take(analyses.offsets, analyses.row)
    lines, owner = analyses.lines[entries], np.repeat(np.arange(len(analyses)), np.diff(offsets))
    last = lines["depth"] == analyses.last_depths[analyses.row][owner]
    lines, counts = lines[last], np.bincount(owner[last], minlength=len(analyses))
    return np.append(0, np.cumsum(counts)), lines["move"], value_pawns(lines["mate"], lines["score"], MATE_CAP)


UNLISTED = (0.50, 0.10)
"""What log P of a move beyond the list gains before its own loss counts in place of the worst on the list, so that
people play as many of them as they do: at ORIGIN, and its slope by Elo. From tools/fit_unlisted.py."""

Valuing = Callable[[Sequence[tuple[int, int]]], Sequence[float]]
"""What moves (position, code) are worth to who makes them, in pawns."""


def drawn_depth_limited(
    choices: HumanChoices,
    analyses: Analyses,
    elo: Array,
    weights: JointWeights,
    rngs: Sequence[np.random.Generator],
    valued: Valuing,
) -> tuple[npt.NDArray[np.uint16], Array]:
    """Return a move for each position, drawn with a generator of its own, and the moves' values.

    Where a move that is not listed is drawn, `valued` says what it is worth, and it is played with the share of its
    chance that is left; otherwise there is another draw. The analyses answer the same positions, in order.
    """
    joint = joint_of(choices, analyses, weights)
    values = listed_values(choices, analyses, np.arange(len(choices)), len(weights.depths))[0][:, -1]
    best, known = np.fmax.reduceat(values, choices.offsets[:-1]), joint.listed.copy()
    log_p = log_alternatives(joint, weights, elo, elo_basis(elo))
    log_p += np.where(known, 0.0, unlisted_gain(elo)[joint.owner])
    share = (weights.lines(joint)[0] * joint_model.elo_terms(elo)).sum(axis=2)
    places, undecided = np.zeros(len(choices), dtype=np.int64), list(range(len(choices)))
    while undecided:
        for row in undecided:
            places[row] = drawn_place(log_p, choices.offsets[row], choices.offsets[row + 1], rngs[row])
        unlisted = [row for row in undecided if not known[places[row]]]
        if not unlisted:
            break
        at = places[unlisted]
        values[at] = valued([(row, int(choices.moves[places[row]])) for row in unlisted])
        roots = joint.roots[at, -1].astype(float), joint_model.scaled_roots(best[unlisted], values[at])
        less = log_less(*roots, weights, share[:, unlisted], elo[unlisted])
        known[at], log_p[at] = True, log_p[at] + less
        undecided = [row for row, fall in zip(unlisted, less, strict=True) if np.log(rngs[row].random()) >= fall]
    return choices.moves[places], values[places]


def unlisted_gain(elo: npt.ArrayLike) -> Array:
    """Return what log P of a move beyond the list gains at these Elos."""
    return UNLISTED[0] + UNLISTED[1] * (np.asarray(elo, dtype=float) - ORIGIN) / UNIT


def log_less(before: Array, after: Array, weights: JointWeights, share: Array, elo: Array) -> Array:
    """Return by how much log P falls where √δ is larger than it was taken for, at all depths alike."""
    level, slope = np.sum(weights.losses, axis=0)
    by_root = (level + slope * (elo - ORIGIN) / UNIT + share[1]) * (before - after)
    by_loss = share[2] * (np.minimum(before**2, MOST_LOSS) - np.minimum(after**2, MOST_LOSS))
    return np.asarray(np.minimum(by_root + by_loss, 0.0))
