"""The spread between games: how much the competence shown differs from one player-game to the next.

In: the evidence of player-games. Out: the sd of c between them, by likelihood with an interval, and by moments. The
posterior of *one* c narrows without end as decisions come in; this does not. It is what DFHR09 and DFH13 call the
"asymptotic" standard deviation, the intrinsic variability of skill.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar
from scipy.stats import chi2

from skilloscope.core.errors import InputError
from skilloscope.inference import EvidenceTable
from skilloscope.inference.many import likelihoods, means_and_sds

Array = npt.NDArray[np.float64]

_POINTS = 401
_SDS = np.concatenate([[0.02], np.geomspace(0.03, 1.5, 39)])  # of c between games, at which the likelihood is profiled


@dataclass(frozen=True)
class Spread:
    """How c differs between player-games: c_i ~ N(mean, sd²), and what plain moments of the c̄_i say."""

    mean: float
    sd: float
    low: float
    high: float
    mass: float
    moment_sd: float
    """√(variance of the c̄_i − mean of their posterior variances), 0 where that is negative."""
    observed_sd: float
    """The plain sd of the c̄_i: sampling error and spread together."""
    player_games: int
    edge: str | None = None
    """`high` where the interval, or the spread itself, leans on the end of its range: the truth may lie beyond."""

    def as_dict(self) -> Mapping[str, Any]:
        """Return the spread as reports send it."""
        return {
            "mean": self.mean,
            "sd": self.sd,
            "low": self.low,
            "high": self.high,
            "moment_sd": self.moment_sd,
            "observed_sd": self.observed_sd,
            "player_games": self.player_games,
            "edge": self.edge,
        }


def spread_log_likelihood(likelihood: Array, at: Array, mean: float, sd: float) -> float:
    """ℓ(μ, τ) = Σ_i log ∫ L_i(c)·N(c; μ, τ²) dc over player-games i, the normal cut to the range of c."""
    normal = np.exp(-0.5 * ((at - mean) / sd) ** 2)
    normal[[0, -1]] *= 0.5  # trapezes
    return float(np.log(likelihood @ (normal / normal.sum())).sum())


def moment_spread(means: Array, sds: Array) -> float:
    """τ² = Var(c̄_i) − mean(σ_i²): what is left of the scatter after the sampling variance is taken out."""
    return float(np.sqrt(max(means.var(ddof=1) - (sds**2).mean(), 0.0)))


def between_spread(table: EvidenceTable, *, mass: float = 0.95) -> Spread:
    """Return the spread between player-games, the likeliest with its profile-likelihood interval.

    Where no spread at all is within the interval its lower end is 0. Where the end of the range is within it, that is
    its upper end, and `edge` says so.
    """
    if len(table) < 3:
        raise InputError(f"a spread between games needs three of them, got {len(table)}")
    at = np.linspace(table.grid.low, table.grid.high, _POINTS)
    likelihood = likelihoods(table, at)
    profile = np.array([_profiled(likelihood, at, sd) for sd in _SDS])
    best = int(profile[:, 0].argmax())
    drop = profile[:, 0].max() - profile[:, 0] - 0.5 * chi2.ppf(mass, 1)
    below, above = np.flatnonzero(drop[:best] > 0), np.flatnonzero(drop[best:] > 0)
    low = 0.0 if not len(below) else _crossing(drop, int(below[-1]))
    high = float(_SDS[-1]) if not len(above) else _crossing(drop, best + int(above[0]) - 1)
    means, sds = means_and_sds(table)
    return Spread(
        mean=float(profile[best, 1]),
        sd=_peak(profile[:, 0], best),
        low=low,
        high=high,
        mass=mass,
        moment_sd=moment_spread(means, sds),
        observed_sd=float(means.std(ddof=1)),
        player_games=len(table),
        edge=None if len(above) else "high",
    )


def _profiled(likelihood: Array, at: Array, sd: float) -> tuple[float, float]:
    """Return the highest log-likelihood over the mean at this sd, and that mean."""
    found = minimize_scalar(
        lambda mean: -spread_log_likelihood(likelihood, at, float(mean), sd), bounds=(at[0], at[-1]), method="bounded"
    )
    return -float(found.fun), float(found.x)


def _crossing(drop: Array, i: int) -> float:
    """Return where the drop passes through zero between the sds i and i + 1, linearly in log sd."""
    share = drop[i] / (drop[i] - drop[i + 1])
    return float(np.exp(np.log(_SDS[i]) + share * np.log(_SDS[i + 1] / _SDS[i])))


def _peak(profile: Array, best: int) -> float:
    """Return the sd at the top of the parabola through the three highest points, in log sd; 0 at the lower end."""
    if best == 0:
        return 0.0
    if best == len(profile) - 1:
        return float(_SDS[-1])
    a, b, _ = np.polyfit(np.log(_SDS[best - 1 : best + 2]), profile[best - 1 : best + 2], 2)
    return float(np.exp(-b / (2 * a)))
