"""How sure the fitted variances are: the joint posterior of (σ0, ν) on a weighted grid, as in GLI99 figure 1.

The total discrepancy is minus a log-likelihood of which every game is foretold from earlier ones alone, so
exp(−discrepancy) times the prior is the posterior. The paper's prior is flat in the variances (sect. 3.1); flat in
the standard deviations is the other choice.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.core.errors import OptionError
from skilloscope.ratings.periods.variances import VarianceFit, total_discrepancy
from skilloscope.results.period_games import PeriodGames

Array = npt.NDArray[np.float64]
_FARTHEST = 2.5  # in logarithms: a factor of twelve to each side


@dataclass(frozen=True, eq=False)
class VariancePosterior:
    """Weights on a grid that is even in the logarithms: rows σ0, columns ν; they add to one."""

    sigma0: Array
    nu: Array
    weight: Array
    prior: str
    at_edge: float
    """The weight of the grid's rim: where it is not small, the posterior goes on beyond the grid."""

    def interval(self, which: str, level: float = 0.95) -> tuple[float, float]:
        """Return the central interval of `sigma0` or `nu`."""
        nodes, weight = self._marginal(which)
        half = 0.5 * math.log(nodes[1] / nodes[0])
        edges = np.exp(np.append(np.log(nodes) - half, math.log(nodes[-1]) + half))
        cumulative = np.append(0.0, np.cumsum(weight))
        low, high = np.interp([(1 - level) / 2, (1 + level) / 2], cumulative, edges)
        return float(low), float(high)

    def mean(self, which: str) -> float:
        """Return the posterior mean of `sigma0` or `nu`."""
        nodes, weight = self._marginal(which)
        return float(nodes @ weight)

    def sample(self, rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        """Draw pairs (σ0, ν): cells by their weight, and evenly within a cell."""
        cell = rng.choice(self.weight.size, size=n, p=self.weight.ravel())
        i, j = np.unravel_index(cell, self.weight.shape)
        drawn = []
        for nodes, index in ((self.sigma0, i), (self.nu, j)):
            width = math.log(nodes[1] / nodes[0])
            drawn.append(nodes[index] * np.exp(width * (rng.random(n) - 0.5)))
        return drawn[0], drawn[1]

    def as_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Return means and intervals as reports send them."""
        said: dict[str, Any] = {"level": level, "prior": self.prior, "at_edge": self.at_edge}
        for which in ("sigma0", "nu"):
            said[which] = {"mean": self.mean(which), "interval": list(self.interval(which, level))}
        return said

    def _marginal(self, which: str) -> tuple[Array, Array]:
        if which == "sigma0":
            return self.sigma0, self.weight.sum(axis=1)
        if which == "nu":
            return self.nu, self.weight.sum(axis=0)
        raise OptionError(f"no parameter is called {which!r}", hint="sigma0 or nu")


def variance_posterior(
    games: PeriodGames,
    fit: VarianceFit,
    *,
    points: int = 25,
    prior: str = "variance",
    mean: float = 1500.0,
    entry: Mapping[str, float] | None = None,
) -> VariancePosterior:
    """Return the posterior of (σ0, ν) about a fit. It takes points² passes over the games, more if the grid must grow.

    `prior` is flat in the `variance` (the paper's) or flat in the `sd`.
    """
    if prior not in ("variance", "sd"):
        raise OptionError(f"no prior is called {prior!r}", hint="variance or sd")

    def log_posterior(u: float, v: float) -> float:
        value = total_discrepancy(games, math.exp(u), math.exp(v), mean=mean, advantage=fit.advantage, entry=entry)
        return (2 if prior == "variance" else 1) * (u + v) - value  # the Jacobian from logarithms

    centre = (math.log(fit.sigma0), math.log(fit.nu))
    reach = [[_reach(log_posterior, centre, axis, sign) for sign in (-1, 1)] for axis in (0, 1)]
    u, v = (np.linspace(c + low, c + high, points) for c, (low, high) in zip(centre, reach, strict=True))
    height = np.array([[log_posterior(a, b) for b in v] for a in u])
    weight = np.exp(height - height.max())
    weight /= weight.sum()
    rim = 1.0 - float(weight[1:-1, 1:-1].sum())
    return VariancePosterior(np.exp(u), np.exp(v), weight, prior, rim)


def _reach(log_posterior: Any, centre: tuple[float, float], axis: int, sign: int) -> float:
    """Return how far along one axis the posterior falls by e⁻⁹; the ridge is nearly along the axes in logarithms."""

    def at(distance: float) -> float:
        moved = list(centre)
        moved[axis] += sign * distance
        return float(log_posterior(*moved))

    top, step = at(0.0), 0.01
    while step < _FARTHEST and at(step) > top - 9.0:
        step *= 1.5
    return sign * min(step, _FARTHEST)
