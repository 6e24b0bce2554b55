"""What is observed at single moves, in bins: how much a move lost, how long it took.

    P(bin k | E, f) = softmax_k( f·a_k + x·(f·b_k) + x²·(f·c_k) ),   x = (E − ORIGIN) / UNIT

A loss is the scaled value before the move less the one after, with its sign: evaluations are noisy, and values below
zero measure the noise. f describes the decision (what people think of the move, how open the choice is, how the game
stands). What the alternatives are worth is not known, so this is no choice model.

A time is given as a share of an even pace: 1 where forty such moves use up base and increments. f describes the time
control, how much time both sides have left, and the number of the move, so that none of these counts as evidence.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skilloscope.core.columns import About, Array, Ints
from skilloscope.core.errors import InputError
from skilloscope.models.joint import ORIGIN, UNIT, scaled_value

LOSS_EDGES = (-0.1, -0.05, -0.02, 0.0, 0.02, 0.05, 0.1, 0.17, 0.27, 0.45, 0.8)
"""Where the bins of the scaled loss meet; the outer ones are open."""
LOSS_FEATURES = ("one", "log p", "entropy", "decided", "level", "advantage", "ply")
_LARGEST_VALUE = 3.0  # of the scaled value: the game is over
TIME_EDGES = (0.06, 0.16, 0.3, 0.5, 0.75, 1.1, 1.6, 2.5, 4.0, 7.0)
"""The same of times, as shares of an even pace."""
TIME_FEATURES = ("one", "length", "increment", "left", "little left", "nothing left", "ahead", "first moves", "ply")
_MOVES = 40  # that an even pace lasts


@dataclass(frozen=True, eq=False)
class BinWeights:
    """The weights of every bin: a row for each feature."""

    level: Array
    slope: Array
    bend: Array
    valid: tuple[float, float]  # the Elos of those it was fitted to; beyond, the curves go on level
    edges: tuple[float, ...]
    features: tuple[str, ...]

    def __post_init__(self) -> None:
        shape = len(self.features), len(self.edges) + 1
        if not np.all(np.diff(self.edges) > 0):
            raise InputError(f"edges of bins that do not rise: {self.edges}")
        if tuple(self.features) not in (LOSS_FEATURES, TIME_FEATURES):
            raise InputError(f"weights of features that are not known: {', '.join(self.features)}")
        if {self.level.shape, self.slope.shape, self.bend.shape} != {shape}:
            raise InputError(f"weights of {self.level.shape} do not fit {shape[0]} features and {shape[1]} bins")

    def as_dict(self) -> About:
        """Return the weights for JSON."""
        arrays = {name: getattr(self, name).round(4).tolist() for name in ("level", "slope", "bend")}
        return {**arrays, "valid": list(self.valid), "edges": list(self.edges), "features": list(self.features)}

    def log_probabilities(self, features: Array, elo: float | Array) -> Array:
        """Return log P of every bin, a row for each move; the Elo is one for all, or each mover's own."""
        x = np.atleast_1d((np.clip(elo, *self.valid) - ORIGIN) / UNIT)[:, None]
        logits = features @ self.level + x * (features @ self.slope) + x * x * (features @ self.bend)
        top = logits.max(axis=1, keepdims=True)
        return np.asarray(logits - top - np.log(np.exp(logits - top).sum(axis=1, keepdims=True)))


def loss_features(log_p: npt.ArrayLike, entropy: npt.ArrayLike, before: npt.ArrayLike, ply: npt.ArrayLike) -> Array:
    """Return LOSS_FEATURES of decisions: log p of the move and the entropy of the choice among people, value, ply."""
    value = np.clip(scaled_value(before, 1.0), -_LARGEST_VALUE, _LARGEST_VALUE)
    columns = (
        np.ones(len(value)),
        np.clip(log_p, -6.0, 0.0) / 2,
        np.asarray(entropy, dtype=float) - 1.5,
        np.abs(value) - 0.4,
        np.exp(-4 * np.abs(value)),
        np.clip(value, -2.0, 2.0),
        np.minimum(np.asarray(ply, dtype=float) / 40, 2.5) - 1,
    )
    return np.stack(columns, axis=1)


def paces(spent: npt.ArrayLike, base: npt.ArrayLike, increment: npt.ArrayLike) -> Array:
    """Return times of moves as shares of an even pace.

    >>> paces([3.0, 9.0], 180, 2).round(2).tolist()
    [0.46, 1.38]
    """
    return np.asarray(np.maximum(spent, 0.0) * _MOVES / (np.asarray(base) + _MOVES * np.asarray(increment)))


def time_features(
    base: npt.ArrayLike, increment: npt.ArrayLike, left: npt.ArrayLike, opponent: npt.ArrayLike, ply: npt.ArrayLike
) -> Array:
    """Return TIME_FEATURES of moves: seconds that both have left before the move, the time control in seconds, ply."""
    start, step, before, other, number = np.broadcast_arrays(*map(np.asarray, (base, increment, left, opponent, ply)))
    own, added = before / start, _MOVES * step
    columns = (
        np.ones(len(own)),
        np.log((start + added) / 180),
        added / (start + added),
        np.clip(own, 0.0, 1.2) - 0.5,
        np.exp(-12 * own),
        np.exp(-40 * own),
        np.clip(other / start - own, -0.5, 0.5),
        np.exp(-number / 10),
        np.minimum(number / 40, 2.5) - 1,
    )
    return np.stack(columns, axis=1)


def bin_curves(
    values: npt.ArrayLike, features: Array, weights: BinWeights, groups: Ints, n_groups: int, elo: Array
) -> Array:
    """Return Σ log P of each group's values at every Elo (a column)."""
    own = np.digitize(np.asarray(values, dtype=float), weights.edges)
    rows, out = np.arange(len(own)), np.zeros((n_groups, len(elo)))
    for column, at in enumerate(np.asarray(elo, dtype=float)):
        out[:, column] = np.bincount(groups, weights.log_probabilities(features, float(at))[rows, own], n_groups)
    return out
