"""The baseline of a screening: how far honest play scatters about what the model predicts, measured on other people.

    E = Σ e_i + offset·U,   σ² = φ·Σ v_i + (person_sd·U)² + (sd·Σ s_i)² + g'Cg,   U = Σ √v_i

e_i and v_i are mean and variance of one draw. φ is the dispersion (moves of a game are not independent). What stays
with a person (style, and the usual error of a rating) is a share `person_sd` of a move's standard deviation, and so is
the `offset` of the model. s_i is the slope in Elo and sd the error of a rating where one was given beside it; g is the
gradient of E by the weights of the joint model and C their covariance. The numbers ship, fitted to other people than
anybody who is screened; what is different in a pool is read from the other players of the same games: by how much they
play better or worse than expected (`pool_shift`), and how widely they scatter (`pool_scatter`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from skilloscope.core.errors import OptionError

_FILE = "screen-default.json"
_CLIPPED = 2.0  # standard deviations: beyond, one player does not move the baseline of the others any further
_CLIPPED_SQUARE = 0.9205  # the mean of min(z², 2²) of a normal z
_SHIPPED_COUNTS = 100  # players: so much does the scatter that ships weigh beside that of a pool

Array = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class FairSpread:
    """How far one statistic scatters; the last three are shares of a move's standard deviation."""

    dispersion: float
    person_sd: float
    offset: float = 0.0
    pool_sd: float = 0.0
    """How far pools differ: a part of `person_sd`, which was measured across pools."""


@dataclass(frozen=True, eq=False)
class Baseline:
    """The spreads of the statistics of one effort, and the covariance of the joint model's weights."""

    effort: str
    spreads: Mapping[str, FairSpread]
    covariance: Array
    data: str

    def as_dict(self) -> dict[str, Any]:
        """Return what reports say of the baseline."""
        return {
            "effort": self.effort,
            "data": self.data,
            "spreads": {name: vars(spread) for name, spread in self.spreads.items()},
        }

    def weights_variance(self, gradient: Array) -> Array:
        """g'Cg of each group, a row of the gradient for each."""
        if not gradient.shape[1]:
            return np.zeros(len(gradient))
        return np.asarray(np.einsum("gi,ij,gj->g", gradient, self.covariance, gradient))


def shipped_baseline(effort: str) -> Baseline:
    """Return the baseline of an effort that ships."""
    file = resources.files("skilloscope") / "data" / "scales" / _FILE
    held = json.loads(file.read_text(encoding="utf-8"))["efforts"]
    if effort not in held:
        raise OptionError(f"no baseline for the effort {effort!r}", hint=f"efforts: {', '.join(held)}")
    given = held[effort]
    spreads = {name: FairSpread(**numbers) for name, numbers in given["spreads"].items()}
    return Baseline(effort, spreads, np.array(given["covariance"], dtype=float), str(given["data"]))


def fit_spread(difference: Array, variance: Array, unit: Array, person: Places) -> FairSpread:
    """Return dispersion, person_sd and offset by likelihood, from player-games: sums about their expectation.

    A person's games share one effect of so many `unit`s; the rest of each is normal with φ times its draws' variance.
    """
    n = int(person.max()) + 1

    def cost(free: Array) -> float:
        own, tau, rest = np.exp(free[0]) * variance, np.exp(free[1]), difference - free[2] * unit
        square = np.bincount(person, unit**2 / own, n)
        cross = np.bincount(person, unit * rest / own, n)
        inner = 1.0 + tau**2 * square
        games = np.log(own) + rest**2 / own
        return 0.5 * float(games.sum() + (np.log(inner) - tau**2 * cross**2 / inner).sum())

    options = {"xatol": 1e-4, "fatol": 1e-5, "maxfev": 2000}
    best = minimize(cost, np.array([0.1, -3.0, 0.0]), method="Nelder-Mead", options=options).x
    return FairSpread(float(np.exp(best[0])), float(np.exp(best[1])), float(best[2]))


def pool_shift(difference: Array, variance: Array, unit: Array, player: Places, pool_sd: float) -> tuple[Array, Array]:
    """Return for each group the shift of its pool, in units, and its variance: from other players' groups alone.

    The shift is N(0, pool_sd²) before anything is seen. A group far out counts as one that lies 2 σ out.
    """
    if pool_sd <= 0:
        return np.zeros(len(unit)), np.zeros(len(unit))
    sd = np.sqrt(variance)
    held = np.clip(difference, -_CLIPPED * sd, _CLIPPED * sd)
    precision = 1.0 / pool_sd**2 + np.maximum(_others(unit**2 / variance, player), 0.0)
    return _others(unit * held / variance, player) / precision, 1.0 / precision


def pool_scatter(z: Array, player: Places) -> Array:
    """Return for each group how widely other players' normal scores scatter: 1 where they do as the baseline says.

    The baseline counts as much as a hundred players, so that a few say little. A group far out counts as one that lies
    2 σ out: who had help does not hide others.

    >>> pool_scatter(np.array([0.0, 9.0, np.nan]), np.arange(3)).round(3).tolist()
    [1.016, 0.995, 1.011]
    """
    known = np.isfinite(z)
    square = np.where(known, np.minimum(np.square(z), _CLIPPED**2) / _CLIPPED_SQUARE, 0.0)
    players = _others(known.astype(float), player)
    return np.asarray(np.sqrt((_SHIPPED_COUNTS + _others(square, player)) / (_SHIPPED_COUNTS + players)))


def _others(column: Array, player: Places) -> Array:
    """Return for each group the sum over the groups of other players."""
    return np.asarray(column.sum() - np.bincount(player, column)[player])
