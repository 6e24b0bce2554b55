"""How good the closed forms (9)–(10) are against the marginal posterior (8) itself, by weighted bootstrap.

In: how many opponents, how many data sets. Out: for each data set the share of draws from (8) that lie within the
nominal intervals of (9)–(10) [GLI99 sect. 3.4, table 1].

The paper evaluates the marginal likelihood at each of 10,000 draws of θ. It is a smooth function of θ: here its
logarithm is evaluated at 257 points over the draws' range and read between them by a cubic spline, which changes it by
less than the average over 50 draws of an opponent does.

The text draws 500 of the 10,000 without replacement, which takes too few where the posterior is high: with 50 opponents
it covers 0.483. The printed 0.4873, and the wider spread between data sets, are what drawing with replacement gives
(0.488), as in Smith and Gelfand's weighted bootstrap. Both are here; `replace` is the default.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.interpolate import CubicSpline
from scipy.stats import norm

from skilloscope.models.comparison import Q, update

Floats = npt.NDArray[np.float64]

_PRIOR = (1500.0, 100.0)
_POINTS = 257


def coverage_shares(opponents: int, data_sets: int, *, replace: bool = True, rng: np.random.Generator) -> Floats:
    """Return for each data set the shares of draws within the nominal 50 % and 95 % intervals: two columns."""
    return np.array([bootstrap_coverage(opponents, replace=replace, rng=rng) for _ in range(data_sets)])


def bootstrap_coverage(
    opponents: int,
    *,
    draws: int = 10_000,
    kept: int = 500,
    each: int = 50,
    replace: bool = True,
    rng: np.random.Generator,
) -> tuple[float, float]:
    """Return the shares of one simulated data set: outcomes drawn, (9)–(10) computed, (8) drawn from. [GLI99 3.4]"""
    means = rng.normal(*_PRIOR, opponents)
    sds = 400.0 / rng.chisquare(10, opponents)  # scaled inverse χ² on 10 degrees of freedom, mean 400/(10 − 2) = 50
    strength, others = rng.normal(*_PRIOR), rng.normal(means, sds)
    score = (rng.random(opponents) < 1 / (1 + np.exp(-Q * (strength - others)))).astype(float)
    theta = rng.normal(*_PRIOR, draws)
    at = np.linspace(theta.min(), theta.max(), _POINTS)
    sampled = rng.normal(means, sds, (each, opponents))
    log_weight = CubicSpline(at, log_marginal_likelihood(at, sampled, score))(theta)
    posterior = theta[_drawn(log_weight, kept, replace=replace, rng=rng)]
    mean, variance = update(_PRIOR[0], _PRIOR[1] ** 2, means, sds**2, score)
    distance = np.abs(posterior - mean) / np.sqrt(variance)
    inner, outer = (float(np.mean(distance <= norm.ppf(0.5 + mass / 2))) for mass in (0.5, 0.95))
    return inner, outer


def log_marginal_likelihood(theta: Floats, sampled: Floats, score: Floats) -> Floats:
    """Σ_j log(mean over draws of θ_j of p(s_j | θ, θ_j)): (8) without its prior, one game per opponent. [GLI99 (8)]

    `sampled` has a row per draw and a column per opponent.
    """
    sign = np.where(score > 0.5, 1.0, -1.0)
    x = Q * (theta[:, None, None] - sampled[None]) * sign
    return np.asarray(np.log(np.mean(1 / (1 + np.exp(-x)), axis=1)).sum(axis=1))


def _drawn(log_weight: Floats, kept: int, *, replace: bool, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Return which draws are kept, each with a probability proportional to its weight."""
    if not replace:  # the largest of log weight + Gumbel: one after another, each from those that are left
        return np.argpartition(log_weight + rng.gumbel(size=len(log_weight)), -kept)[-kept:]
    weight = np.exp(log_weight - log_weight.max())
    return rng.choice(len(weight), kept, p=weight / weight.sum())
