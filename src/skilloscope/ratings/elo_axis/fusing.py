"""Moves and results in one posterior of Elo.

Results say by GLI99 what somebody's Elo may be: against opponents of N(μ_j, σ_j²) a score is as likely as

    log L(θ) = Σ_j s_j·log E_j(θ) + (1 − s_j)·log(1 − E_j(θ)),     E_j(θ) = 1 / (1 + 10^(−g(σ_j²)(θ − μ_j)/400))

[GLI99 (17)–(20)]. The paper goes on to the Gaussian of mode and curvature; on a grid the curve itself can be kept,
which matters for somebody who has won or lost everything.

Moves and results of the same games are not independent: a lost game has its blunder in the moves. So beside each other
both curves are tempered, by two numbers that are fitted as the effects are: to the ratings of people.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from skilloscope.core.errors import InputError
from skilloscope.inference import Posterior, Prior
from skilloscope.inference.posterior import posterior_from_log_density
from skilloscope.models.comparison import discrepancy, expected_against
from skilloscope.ratings.elo_axis.effects import ELO
from skilloscope.ratings.elo_axis.pool import log_scores

Array = npt.NDArray[np.float64]

_MOST_TEMPER = 3.0


@dataclass(frozen=True)
class Beside:
    """How far moves and results of the same games count beside each other: what their curves are multiplied by."""

    moves: float
    results: float


def result_curve(mean: npt.ArrayLike, sd: npt.ArrayLike, score: npt.ArrayLike, elo: npt.ArrayLike = ELO) -> Array:
    """Σ_j s_j·log E_j + (1 − s_j)·log(1 − E_j) on `elo`, opponents being N(mean, sd²) [GLI99 (17)–(20)].

    >>> curve = result_curve([1700, 1900], [50, 50], [1, 0])
    >>> float(ELO[curve.argmax()])
    1800.0
    """
    opponents, scores = np.asarray(mean, dtype=float), np.asarray(score, dtype=float)
    if opponents.shape != scores.shape:
        raise InputError(f"{opponents.size} opponents for {scores.size} scores")
    variance = np.broadcast_to(np.asarray(sd, dtype=float) ** 2, opponents.shape)
    expected = expected_against(np.asarray(elo, dtype=float)[:, None], opponents, variance)
    return np.asarray(-discrepancy(expected, scores).sum(axis=1))


def fused_posterior(moves: Posterior, prior: Prior, results: npt.ArrayLike, beside: Beside) -> Posterior:
    """p(θ)·L_moves(θ)^a·L_results(θ)^b, normalised: a posterior from moves under its prior, and results on ELO."""
    curve = beside.results * np.asarray(results, dtype=float)

    def log_density(at: Array) -> Array:
        with np.errstate(divide="ignore"):  # beyond its grid the posterior is nothing
            known = np.log(np.interp(at, moves.at, moves.density, left=0.0, right=0.0))
        before = prior.log_density(at)
        return np.asarray(before + beside.moves * (known - before) + np.interp(at, ELO, curve))

    # Only where the posterior has its mass: a coarse look at the whole range could miss a narrow one.
    found = posterior_from_log_density(log_density, float(moves.at[0]), float(moves.at[-1]), prior=moves.prior)
    return replace(found, low=moves.low, high=moves.high)


def fit_beside(prior: Array, moves: Array, results: Array, elo: Array) -> Beside:
    """Return the tempers under which the ratings `elo` were foretold best.

    `prior` is a log-density, `moves` and `results` are curves, all on POOL_ELO with a row for each person.
    """

    def cost(free: Array) -> float:
        return -float(log_scores(prior + free[0] * moves + free[1] * results, elo).mean())

    found = minimize(cost, np.ones(2), method="L-BFGS-B", bounds=[(0.0, _MOST_TEMPER)] * 2).x
    return Beside(float(found[0]), float(found[1]))
