"""The statistics of a move at a rating: values of all legal moves, their probabilities, and what was played.

In: moves with all legal alternatives, and the rating of each player. Out: statistics, all of them larger for better
play. With an engine's answers, under the joint model: `index` (how much likelier the moves are if one in five is an
engine's: a good move that people of that rating seldom find counts most), `match`, `loss` (on the scaled axis,
negative) and `blunders` (negative). Without, under the human model alone: `stronger` (the log-likelihood ratio of
200 Elo more), `usual` (the move that people of that rating play most) and `likelihood`.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skilloscope.core.columns import Array, Bools, Ints
from skilloscope.models.joint import (
    ORIGIN,
    UNIT,
    HumanChoices,
    JointChoices,
    JointWeights,
    elo_basis,
    log_alternatives,
    weighted_parts,
)
from skilloscope.studies.screen.saddlepoint import Draws

WITH_ENGINE = ("index", "match", "loss", "blunders")
WITHOUT_ENGINE = ("stronger", "usual", "likelihood")
"""The first of each determines the order of the players."""
PERCENT = ("match", "blunders", "usual")
"""Shown as percentages."""
MEANINGS = {
    "index": "index: log-likelihood ratio, per move, of one move in five being an engine's; it determines the order",
    "match": "match: the engine's first choice was played",
    "loss": "loss: on the scaled axis, in which a pawn matters less the more decided the game is",
    "blunders": "blunders: a scaled loss of at least a pawn from an even position",
    "stronger": "stronger: log-likelihood ratio, per move, of people 200 Elo stronger; it determines the order",
    "usual": "usual: the move that people of that rating play most",
    "likelihood": "likelihood: log-probability, how usual the moves are for people of that rating",
}
SHARE = 0.2
"""The share of moves that the alternative of `index` takes to be the engine's."""
BLUNDER = float(np.log(2.0))
"""A scaled loss of a pawn from an even position."""
RARE = "blunders"
"""The statistic that counts rare events."""
_ENGINE_LIKE = 8.0  # of 3, 5 and 8 the one that best detected moves of other depths, on other people than reported
_MOST = 1.0  # cap of a single move: without it a few moves decide, and detection does not improve
_STRONGER = 200.0
_RAREST = -4.0  # log p: a move that fewer than one in 55 play counts as one that so many play
_STEP = 25.0  # Elo, of the slope
_LEAST_VARIANCE = 0.6  # of a count
_COLUMNS = ("actual", "assisted", "slope", "by_weights")


@dataclass(frozen=True, eq=False)
class Statistic:
    """One statistic of many moves: the possible draws, what was played, and what an assistant would have played."""

    draws: Draws
    actual: Array
    assisted: Array  # the value of an assistant's move, another engine's first choice; NaN without an engine
    slope: Array  # how the expected value changes with the rating, a point of Elo
    by_weights: Array
    """How it changes with the weights of the joint model: a column for each weight at ORIGIN, then their slopes."""

    def take(self, wanted: Bools) -> "Statistic":
        """Return some of the moves."""
        counts = np.diff(self.draws.offsets)
        inside = np.repeat(wanted, counts)
        offsets = np.concatenate([[0], np.cumsum(counts[wanted])])
        draws = Draws(offsets, self.draws.p[inside], self.draws.x[inside])
        return Statistic(draws, *(getattr(self, name)[wanted] for name in _COLUMNS))

    @classmethod
    def concat(cls, parts: "list[Statistic]") -> "Statistic":
        """Return the moves of several parts as one."""
        sizes = np.cumsum([0, *(len(part.draws.p) for part in parts)])
        offsets = [np.zeros(1, dtype=np.int64)]
        offsets += [part.draws.offsets[1:] + size for part, size in zip(parts, sizes, strict=False)]
        p, x = (np.concatenate([getattr(part.draws, name) for part in parts]) for name in ("p", "x"))
        columns = (np.concatenate([getattr(part, name) for part in parts]) for name in _COLUMNS)
        return cls(Draws(np.concatenate(offsets), p, x), *columns)


def joint_statistics(
    choices: JointChoices, preferred: Ints, elo: Array, weights: JointWeights, helper: Ints | None = None
) -> dict[str, Statistic]:
    """Return the statistics of moves with an engine's answers; `helper` is what an assistant would have played."""
    p, above, below = (
        np.exp(log_alternatives(choices, weights, e, elo_basis(e))) for e in (elo, elo + _STEP, elo - _STEP)
    )
    tilt = (above - below) / (2 * _STEP)
    first = choices.offsets[:-1]
    loss = choices.roots[:, -1].astype(float) ** 2
    is_first = np.zeros(len(p))
    is_first[first + preferred] = 1.0
    values = {
        "index": np.minimum(np.log1p(SHARE * (_engine_like(choices) / p - 1.0)), _MOST),
        "match": is_first,
        "loss": -loss,
        "blunders": -(loss >= BLUNDER).astype(float),
    }
    shared = _Moves(
        choices.offsets,
        p,
        tilt,
        chosen=first + choices.chosen,
        assisted=first + (preferred if helper is None else helper),
        features=weighted_parts(choices, elo_basis(elo)),
        x=(elo - ORIGIN) / UNIT,
    )
    return {name: shared.statistic(value) for name, value in values.items()}


def human_statistics(choices: HumanChoices, chosen: Ints, elo: Array) -> dict[str, Statistic]:
    """Return the statistics of moves by the human model alone."""
    logs = {shift: _own_logs(choices, np.clip(elo + shift, 700.0, 3000.0)) for shift in (0.0, _STEP, -_STEP, _STRONGER)}
    p, tilt = np.exp(logs[0.0]), (np.exp(logs[_STEP]) - np.exp(logs[-_STEP])) / (2 * _STEP)
    first, owner = choices.offsets[:-1], np.repeat(np.arange(len(choices)), np.diff(choices.offsets))
    likeliest = np.flatnonzero(logs[0.0] >= np.maximum.reduceat(logs[0.0], first)[owner])
    is_usual = np.zeros(len(p))
    is_usual[likeliest[np.unique(owner[likeliest], return_index=True)[1]]] = 1.0  # the first of equal ones
    values = {"stronger": logs[_STRONGER] - logs[0.0], "usual": is_usual, "likelihood": np.maximum(logs[0.0], _RAREST)}
    shared = _Moves(choices.offsets, p, tilt, chosen=first + chosen)
    return {name: shared.statistic(value) for name, value in values.items()}


def too_rare(name: str, variance: npt.ArrayLike) -> Bools:
    """Return where so few blunders are expected that one more or less has no normal score; variances of sums."""
    return np.asarray((name == RARE) & (np.asarray(variance) < _LEAST_VARIANCE))


@dataclass(frozen=True, eq=False)
class _Moves:
    """What all statistics of the same moves share."""

    offsets: Ints
    p: Array
    tilt: Array  # how p changes with the rating
    chosen: Ints
    assisted: Ints | None = None
    features: Array | None = None  # what the weights of the joint model multiply
    x: Array | None = None  # the rating in the units of the weights

    def statistic(self, value: Array) -> Statistic:
        """Return the statistic of which every legal move has this value."""
        first, draws = self.offsets[:-1], Draws(self.offsets, self.p, value)
        slope = np.add.reduceat(self.tilt * value, first)
        moved = np.zeros((len(first), 0))
        if self.features is not None and self.x is not None:
            apart = self.p * (value - draws.mean[draws.owner])
            at_origin = np.add.reduceat(apart[:, None] * self.features, first, axis=0)
            moved = np.concatenate([at_origin, self.x[:, None] * at_origin], axis=1)
        assisted = np.full(len(first), np.nan) if self.assisted is None else value[self.assisted]
        return Statistic(draws, value[self.chosen], assisted, slope, moved)


def _engine_like(choices: JointChoices) -> Array:
    """Return how likely an engine's first choice is to be each move: exp(−8√δ) of the listed moves, in shares."""
    likely = np.where(choices.listed, np.exp(-_ENGINE_LIKE * choices.roots[:, -1].astype(float)), 0.0)
    return np.asarray(likely / np.add.reduceat(likely, choices.offsets[:-1])[choices.owner])


def _own_logs(choices: HumanChoices, elo: Array) -> Array:
    """Return log p of every legal move at the rating of its own mover."""
    owner, first = np.repeat(np.arange(len(choices)), np.diff(choices.offsets)), choices.offsets[:-1]
    logits = (choices.coefficients.astype(float) * elo_basis(elo)[owner]).sum(axis=1)
    top = np.maximum.reduceat(logits, first)
    total = np.add.reduceat(np.exp(logits - top[owner]), first)
    return np.asarray(logits - (top + np.log(total))[owner])
