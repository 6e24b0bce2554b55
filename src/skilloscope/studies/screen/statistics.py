"""The statistics of a move at a rating: values of all legal moves, their probabilities, and what was played.

In: moves with all legal alternatives, and the rating of each player. Out: statistics, all of them larger for better
play. The first is `stronger`, the log-likelihood ratio of 200 Elo more than the rating. With an engine's answers, under
the joint model, follow `match`, `loss` (on the scaled axis, negative) and `blunders` (negative). Without, under the
human model alone: `usual` (the move that people of that rating play most) and `likelihood`.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skilloscope.core.columns import Array, Bools, Ints
from skilloscope.models.joint import ELO_RANGE, HumanChoices, JointChoices, JointWeights, elo_basis, log_alternatives
from skilloscope.studies.screen.saddlepoint import Draws

WITH_ENGINE = ("stronger", "match", "loss", "blunders")
WITHOUT_ENGINE = ("stronger", "usual", "likelihood")
STRONGER, ENGINE = "stronger", "engine"
"""The two numbers: stronger than the rating, and more like an engine than people of any strength (see own.py)."""
PERCENT = ("match", "blunders", "usual")
"""Shown as percentages."""
MEANINGS = {
    "stronger": "stronger: log-likelihood ratio, per move, of people 200 Elo stronger",
    "engine": "engine: agreement with the engine beyond what people of the player's own strength show",
    "match": "match: the engine's first choice was played",
    "loss": "loss: on the scaled axis, in which a pawn matters less the more decided the game is",
    "blunders": "blunders: a scaled loss of at least a pawn from an even position",
    "usual": "usual: the move that people of that rating play most",
    "likelihood": "likelihood: log-probability, how usual the moves are for people of that rating",
}
SHARE = 0.2
"""The share of moves that `index_values` takes to be the engine's."""
BLUNDER = float(np.log(2.0))
"""A scaled loss of a pawn from an even position."""
RARE = "blunders"
"""The statistic that counts rare events."""
_ENGINE_LIKE = 4.6  # where a search four plies deeper finds its first choice: fitted to 500 positions of 84 people
_SHALLOWER = 0.5  # so much less counts each depth than the next
_MOST = 1.0  # cap of a single move: without it a few moves decide, and detection does not improve
_STRONGER = 200.0
_RAREST = -4.0  # log p: a move that fewer than one in 55 play counts as one that so many play
_STEP = 25.0  # Elo, of the slope
_LEAST_VARIANCE = 0.6  # of a count
_COLUMNS = ("actual", "slope")


@dataclass(frozen=True, eq=False)
class Statistic:
    """One statistic of many moves: the possible draws, and what was played."""

    draws: Draws
    actual: Array
    slope: Array  # how the expected value changes with the rating, a point of Elo

    @property
    def beyond(self) -> Array:
        """What each move adds beyond its expectation."""
        return self.actual - self.draws.mean

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


def joint_statistics(choices: JointChoices, preferred: Ints, elo: Array, weights: JointWeights) -> dict[str, Statistic]:
    """Return the statistics of moves with an engine's answers; `preferred` is the engine's first choice."""
    _, p, tilt, stronger = _at_rating(lambda at: log_alternatives(choices, weights, at, elo_basis(at)), elo)
    first = choices.offsets[:-1]
    loss = choices.roots[:, -1].astype(float) ** 2
    is_first = np.zeros(len(p))
    is_first[first + preferred] = 1.0
    values = {
        "stronger": stronger,
        "match": is_first,
        "loss": -loss,
        "blunders": -(loss >= BLUNDER).astype(float),
    }
    return {name: _statistic(choices.offsets, p, tilt, choices.chosen, value) for name, value in values.items()}


def index_values(choices: JointChoices, p: Array) -> Array:
    """Return log of 1 + SHARE·(Q/P − 1), capped, of every legal move: Q is the engine's choice, P that of people."""
    return np.minimum(np.log1p(SHARE * (engine_share(choices) / p - 1.0)), _MOST)


def human_statistics(choices: HumanChoices, chosen: Ints, elo: Array) -> dict[str, Statistic]:
    """Return the statistics of moves by the human model alone."""
    logs, p, tilt, stronger = _at_rating(lambda at: _own_logs(choices, at), elo)
    first, owner = choices.offsets[:-1], np.repeat(np.arange(len(choices)), np.diff(choices.offsets))
    likeliest = np.flatnonzero(logs >= np.maximum.reduceat(logs, first)[owner])
    is_usual = np.zeros(len(p))
    is_usual[likeliest[np.unique(owner[likeliest], return_index=True)[1]]] = 1.0  # the first of equal ones
    values = {"stronger": stronger, "usual": is_usual, "likelihood": np.maximum(logs, _RAREST)}
    return {name: _statistic(choices.offsets, p, tilt, chosen, value) for name, value in values.items()}


def too_rare(name: str, variance: npt.ArrayLike) -> Bools:
    """Return where so few blunders are expected that one more or less has no normal score; variances of sums."""
    return np.asarray((name == RARE) & (np.asarray(variance) < _LEAST_VARIANCE))


def _at_rating(log_p: Callable[[Array], Array], elo: Array) -> tuple[Array, Array, Array, Array]:
    """Return log p and p of every legal move at the ratings, the change of p per point, and log p₊₂₀₀ − log p."""
    logs, above, below, far = (log_p(np.clip(elo + by, *ELO_RANGE)) for by in (0.0, _STEP, -_STEP, _STRONGER))
    p = np.exp(logs)
    return logs, p, (np.exp(above) - np.exp(below)) / (2 * _STEP), far - logs


def _statistic(offsets: Ints, p: Array, tilt: Array, chosen: Ints, value: Array) -> Statistic:
    """Return the statistic of which every legal move has this value; `tilt` says how p changes with the rating."""
    first = offsets[:-1]
    return Statistic(Draws(offsets, p, value), value[first + chosen], np.add.reduceat(tilt * value, first))


def engine_share(choices: JointChoices) -> Array:
    """Return how likely each move is to be an engine's: exp(−Σ a_d·√δ_d) of the listed moves, in shares."""
    depths = choices.roots.shape[1]
    weights = _ENGINE_LIKE * _SHALLOWER ** np.arange(depths)[::-1]
    likely = np.where(choices.listed, np.exp(-choices.roots.astype(float) @ weights), 0.0)
    return np.asarray(likely / np.add.reduceat(likely, choices.offsets[:-1])[choices.owner])


def _own_logs(choices: HumanChoices, elo: Array) -> Array:
    """Return log p of every legal move at the rating of its own mover."""
    owner, first = np.repeat(np.arange(len(choices)), np.diff(choices.offsets)), choices.offsets[:-1]
    logits = (choices.coefficients.astype(float) * elo_basis(elo)[owner]).sum(axis=1)
    top = np.maximum.reduceat(logits, first)
    total = np.add.reduceat(np.exp(logits - top[owner]), first)
    return np.asarray(logits - (top + np.log(total))[owner])
