"""What is counted of a move at a rating: values of all legal moves, their probabilities, and what was played.

In: moves with all legal ones beside them, and the rating of who made each. Out: statistics. All of them are larger for
better play. With an engine's answers, under the joint model: `index` (how much likelier the moves are where one in five
is an engine's: a good move that people of that rating seldom find counts most), `match`, `loss` (on the scaled axis,
negative) and `blunders` (negative). Without, under the model of people alone: `stronger` (the
log-likelihood ratio of 200 Elo more), `usual` (the move that people of that rating play most) and `likelihood`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skilloscope.chess.human.model import HumanChoices, elo_basis
from skilloscope.models.joint import ORIGIN, UNIT, JointChoices, JointWeights, log_alternatives, weighted_parts
from skilloscope.studies.screen.saddlepoint import Draws

WITH_ENGINE = ("index", "match", "loss", "blunders")
WITHOUT_ENGINE = ("stronger", "usual", "likelihood")
"""The first of each is the one that everybody is ordered by."""
SHARE = 0.2
"""The share of moves that the alternative of `index` takes to be the engine's."""
BLUNDER = float(np.log(2.0))
"""A scaled loss of a pawn from an even position."""
RARE = "blunders"
"""The statistic that counts what is rare."""
_ENGINE_LIKE = 8.0  # of 3, 5 and 8 the one that told moves of other depths best, on other people than reported
_MOST = 1.0  # no single move counts for more: without the cap a few decide, and nothing more is told
_STRONGER = 200.0
_RAREST = -4.0  # log p: a move that fewer than one in 55 play counts as one that so many play
_STEP = 25.0  # Elo, of the slope
_LEAST_VARIANCE = 0.6  # of a count

Array = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Statistic:
    """One statistic of many moves: what might have been drawn, what was, and what an assistant would have given."""

    draws: Draws
    actual: Array
    assisted: Array
    """The value of what an assistant would have played: another engine's first choice; without an engine nothing."""
    slope: Array
    """How the expected value changes with the rating, a point of Elo."""
    by_weights: Array
    """How it changes with the weights of the joint model: a column for each weight at ORIGIN, then their slopes."""

    def take(self, wanted: npt.NDArray[np.bool_]) -> Statistic:
        """Return some of the moves."""
        counts = np.diff(self.draws.offsets)
        inside = np.repeat(wanted, counts)
        offsets = np.concatenate([[0], np.cumsum(counts[wanted])])
        return Statistic(
            Draws(offsets, self.draws.p[inside], self.draws.x[inside]),
            self.actual[wanted],
            self.assisted[wanted],
            self.slope[wanted],
            self.by_weights[wanted],
        )

    @classmethod
    def concat(cls, parts: list[Statistic]) -> Statistic:
        """Return the moves of several parts as one."""
        sizes = np.cumsum([0, *(len(part.draws.p) for part in parts)])
        offsets = [np.zeros(1, dtype=np.int64)]
        offsets += [part.draws.offsets[1:] + size for part, size in zip(parts, sizes, strict=False)]
        draws = Draws(
            np.concatenate(offsets),
            np.concatenate([part.draws.p for part in parts]),
            np.concatenate([part.draws.x for part in parts]),
        )
        names = ("actual", "assisted", "slope", "by_weights")
        return cls(draws, *(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def joint_statistics(
    choices: JointChoices, preferred: Places, elo: Array, weights: JointWeights, helper: Places | None = None
) -> dict[str, Statistic]:
    """Return the statistics of moves that an engine judged; `helper` is what an assistant would have played."""
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


def human_statistics(choices: HumanChoices, chosen: Places, elo: Array) -> dict[str, Statistic]:
    """Return the statistics of moves by what people play alone."""
    logs = {shift: _own_logs(choices, np.clip(elo + shift, 700.0, 3000.0)) for shift in (0.0, _STEP, -_STEP, _STRONGER)}
    p, tilt = np.exp(logs[0.0]), (np.exp(logs[_STEP]) - np.exp(logs[-_STEP])) / (2 * _STEP)
    first, owner = choices.offsets[:-1], np.repeat(np.arange(len(choices)), np.diff(choices.offsets))
    top = np.maximum.reduceat(logs[0.0], first)
    usual = _first_true(logs[0.0] >= top[owner], first, owner)
    is_usual = np.zeros(len(p))
    is_usual[first + usual] = 1.0
    values = {"stronger": logs[_STRONGER] - logs[0.0], "usual": is_usual, "likelihood": np.maximum(logs[0.0], _RAREST)}
    shared = _Moves(choices.offsets, p, tilt, chosen=first + chosen)
    return {name: shared.statistic(value) for name, value in values.items()}


def too_rare(name: str, variance: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Return where so few blunders are to be expected that one more or less has no normal score; variances of sums."""
    return np.asarray((name == RARE) & (np.asarray(variance) < _LEAST_VARIANCE))


@dataclass(frozen=True, eq=False)
class _Moves:
    """What all statistics of the same moves share."""

    offsets: Places
    p: Array
    tilt: Array
    """How p changes with the rating."""
    chosen: Places
    assisted: Places | None = None
    features: Array | None = None
    """What the weights of the joint model multiply."""
    x: Array | None = None
    """The rating in the units of the weights."""

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


def _first_true(flags: npt.NDArray[np.bool_], first: Places, owner: Places) -> Places:
    """Return the place of the first flag of each decision."""
    places = np.flatnonzero(flags)
    rows = owner[places]
    keep = np.append(True, rows[1:] != rows[:-1])
    return np.asarray(places[keep] - first)
