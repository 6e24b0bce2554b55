"""How well σ0, ν and strengths are recovered from simulated populations. [GLI99 sect. 5, table 2]"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

from skilloscope.ratings.periods.states import State
from skilloscope.ratings.periods.variances import fit_variances
from skilloscope.simulate.populations import Population, simulate_results

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Replications:
    """One row per replication: fitted σ0 and ν, and the shares of players whom nominal 50 % and 95 % intervals hold."""

    columns: Floats

    @property
    def mean(self) -> Floats:
        """The averages: σ0, ν, coverage of 50 %, coverage of 95 %."""
        return np.asarray(self.columns.mean(axis=0))

    @property
    def sd(self) -> Floats:
        """The standard deviations between replications."""
        return np.asarray(self.columns.std(axis=0, ddof=1))

    def __len__(self) -> int:
        return len(self.columns)


def replicate(population: Population, times: int, *, method: str = "quick", rng: np.random.Generator) -> Replications:
    """Simulate, fit and rate so many times; coverage is that of the true strengths in the last period.

    Estimates and truth are centred on the same mean in each replication, since a drift of all players cannot be seen.
    """
    return Replications(np.array([_once(population, method, rng) for _ in range(times)]))


def _once(population: Population, method: str, rng: np.random.Generator) -> tuple[float, float, float, float]:
    simulated = simulate_results(population, rng=rng)
    games = simulated.results.by_period()
    fit = fit_variances(games, method=method)
    state, _ = State.empty(sigma0=fit.sigma0, nu=fit.nu).play(games)
    mean, variance = state.moments()
    played = np.isfinite(mean)
    truth = simulated.strength[played, -1]
    distance = np.abs((mean[played] - mean[played].mean()) - (truth - truth.mean())) / np.sqrt(variance[played])
    inner, outer = (float(np.mean(distance <= norm.ppf(0.5 + mass / 2))) for mass in (0.5, 0.95))
    return fit.sigma0, fit.nu, inner, outer
