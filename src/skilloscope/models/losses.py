"""How much a move loses, given who makes it: for games in which only the move that was played has a value.

    P(loss in bin k | E, f) = softmax_k( f·a_k + x·(g·b_k) + x²·(g·c_k) ),   x = (E − ORIGIN) / UNIT

The loss is the scaled value before the move less the one after, with its sign: evaluations are
noisy, and below zero they tell of the noise. f describes the decision (what people think of the move, how open the
choice is, how the game stands), g is its first three columns. What the alternatives are worth is not known, so this
is no choice model: it says how people of an Elo fare in decisions like this one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from skilloscope.core.errors import InputError
from skilloscope.models.joint import ORIGIN, UNIT
from skilloscope.models.scaling import scaled_value

Array = npt.NDArray[np.float64]

LOSS_EDGES = (-0.1, -0.05, -0.02, 0.0, 0.02, 0.05, 0.1, 0.17, 0.27, 0.45, 0.8)
"""Where the bins of the scaled loss meet; the outer ones are open."""
LOSS_FEATURES = ("one", "log p", "entropy", "decided", "level", "advantage", "ply")
_SLOPED = 3  # so many of the features have a slope and a bend in Elo
_LARGEST = 3.0  # of the scaled value: the game is over


@dataclass(frozen=True, eq=False)
class LossWeights:
    """The weights of every bin: a row for each feature."""

    level: Array
    slope: Array
    bend: Array
    valid: tuple[float, float]
    """The Elos of those it was fitted to; beyond, the curves go on level."""
    edges: tuple[float, ...] = LOSS_EDGES

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> LossWeights:
        """Return the weights that `as_dict` wrote."""
        level, slope, bend = (np.array(given[name], dtype=float) for name in ("level", "slope", "bend"))
        low, high = given["valid"]
        bins = len(given["edges"]) + 1
        if level.shape != (len(LOSS_FEATURES), bins) or not slope.shape == bend.shape == (_SLOPED, bins):
            raise InputError(f"weights of losses: {level.shape} and {slope.shape} do not fit {bins} bins")
        return cls(level, slope, bend, (float(low), float(high)), tuple(given["edges"]))

    def as_dict(self) -> dict[str, Any]:
        """Return the weights for JSON."""
        arrays = {name: getattr(self, name).round(4).tolist() for name in ("level", "slope", "bend")}
        return {**arrays, "valid": list(self.valid), "edges": list(self.edges), "features": list(LOSS_FEATURES)}

    def log_probabilities(self, features: Array, elo: float | Array) -> Array:
        """Return log P of every bin, a row for each move; the Elo is one for all, or each mover's own."""
        x = np.atleast_1d((np.clip(elo, *self.valid) - ORIGIN) / UNIT)[:, None]
        some = features[:, :_SLOPED]
        logits = features @ self.level + x * (some @ self.slope) + x * x * (some @ self.bend)
        top = logits.max(axis=1, keepdims=True)
        return np.asarray(logits - top - np.log(np.exp(logits - top).sum(axis=1, keepdims=True)))


def loss_features(log_p: npt.ArrayLike, entropy: npt.ArrayLike, before: npt.ArrayLike, ply: npt.ArrayLike) -> Array:
    """Return LOSS_FEATURES of decisions: log p of the move and the entropy of the choice among people, value, ply."""
    value = np.clip(scaled_value(before, 1.0), -_LARGEST, _LARGEST)
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


def fit_loss_weights(
    losses: npt.ArrayLike, features: Array, elo: npt.ArrayLike, *, ridge: float = 3e-5, steps: int = 120
) -> LossWeights:
    """Return the weights under which the losses of people of these Elos are likeliest, with a little ridge."""
    elos = np.asarray(elo, dtype=float)
    low, high = np.percentile(elos, [0.5, 99.5])
    x = ((np.clip(elos, low, high) - ORIGIN) / UNIT)[:, None]
    some = features[:, :_SLOPED]
    design = np.concatenate([features, x * some, x * x * some], axis=1)
    bins, n, width = len(LOSS_EDGES) + 1, len(design), design.shape[1]
    own = np.digitize(np.asarray(losses, dtype=float), LOSS_EDGES)
    rows = np.arange(n)

    def cost(w: Array) -> tuple[float, Array]:
        logits = design @ w.reshape(width, bins)
        logits -= logits.max(axis=1, keepdims=True)
        odds = np.exp(logits)
        total = odds.sum(axis=1)
        residual = -odds / total[:, None]
        residual[rows, own] += 1.0
        value = -float((logits[rows, own] - np.log(total)).mean()) + 0.5 * ridge * float(w @ w)
        return value, -(design.T @ residual).ravel() / n + ridge * w

    found = minimize(cost, np.zeros(width * bins), jac=True, method="L-BFGS-B", options={"maxiter": steps}).x
    level, slope, bend = np.split(found.reshape(width, bins), [len(LOSS_FEATURES), len(LOSS_FEATURES) + _SLOPED])
    return LossWeights(level, slope, bend, (float(low), float(high)))


def loss_curves(
    losses: npt.ArrayLike,
    features: Array,
    weights: LossWeights,
    groups: npt.NDArray[np.int64],
    n_groups: int,
    elo: Array,
) -> Array:
    """Return Σ log P of each group's losses at every Elo (a column)."""
    own = np.digitize(np.asarray(losses, dtype=float), weights.edges)
    rows, out = np.arange(len(own)), np.zeros((n_groups, len(elo)))
    for column, at in enumerate(np.asarray(elo, dtype=float)):
        out[:, column] = np.bincount(groups, weights.log_probabilities(features, float(at))[rows, own], n_groups)
    return out
