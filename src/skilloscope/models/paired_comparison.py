"""Paired comparison with strengths that change over time, one function for each equation of GLI99.

Strengths are on the Elo scale: `mean` is the paper's μ, `variance` its σ². Everything broadcasts, so one player, one
period or a whole table is the same call. The fast twins, for whole histories, are in `kernels`.
"""

import math

import numpy as np
import numpy.typing as npt
from scipy.special import expit, xlog1py, xlogy

from skilloscope.core.columns import Array

Floats = npt.ArrayLike
Moments = tuple[Array, Array]

Q = math.log(10) / 400  # [GLI99 sect. 3.3] 0.0057565: one Elo point in natural logarithms of odds

FURTHEST = 800.0
"""Elo from the opponents at which a performance is cut: all points or none say nothing of how far."""


def game_probability(theta: Floats, opponent: Floats, score: Floats) -> Array:
    """10^(s(θ − θ_j)/400) / (1 + 10^((θ − θ_j)/400)) [GLI99 (1), (5)]; a tie is s = ½, the root of p(1 − p)."""
    x = Q * (_f(theta) - _f(opponent))
    return np.asarray(np.exp(_f(score) * x - np.logaddexp(0.0, x)))


def passage_of_time(variance: Floats, nu: float, periods: Floats = 1) -> Array:
    """σ² + ν²·t [GLI99 (7)]: a gap of t periods adds t·ν², the mean stays."""
    return np.asarray(_f(variance) + nu * nu * _f(periods))


def g(variance: Floats) -> Array:
    """1 / √(1 + 3q²σ²/π²) [GLI99 (19)]: how much an uncertain opponent counts.

    >>> round(float(g(30**2)), 4)
    0.9955
    """
    return np.asarray(1 / np.sqrt(1 + 3 * Q * Q * _f(variance) / math.pi**2))


def expected_against(mean: Floats, opponent_mean: Floats, opponent_variance: Floats) -> Array:
    """1 / (1 + 10^(−g(σ_j²)(μ − μ_j)/400)) [GLI99 (20)]: the score to expect against an uncertain opponent."""
    return np.asarray(expit(g(opponent_variance) * Q * (_f(mean) - _f(opponent_mean))))


def inverse_delta2(mean: Floats, opponent_mean: Floats, opponent_variance: Floats) -> float:
    """1/δ² = q²·Σ_j g(σ_j²)²·E(1 − E) [GLI99 (23)]: the information of a player's games of one period."""
    e = expected_against(mean, opponent_mean, opponent_variance)
    return float(Q * Q * np.sum(g(opponent_variance) ** 2 * e * (1 - e)))


def update(
    mean: float, variance: float, opponent_mean: Floats, opponent_variance: Floats, score: Floats
) -> tuple[float, float]:
    """μ′ = μ + q/(1/σ² + 1/δ²)·Σ g(σ_j²)(s − E), σ′² = 1/(1/σ² + 1/δ²) [GLI99 (9), (10)], one player's whole period.

    >>> mean, variance = update(1500, 200**2, [1400, 1550, 1700], [30**2, 100**2, 300**2], [1, 0, 0])
    >>> round(mean, 3), round(variance**0.5, 3)
    (1464.106, 151.399)
    """
    surprise = g(opponent_variance) * (_f(score) - expected_against(mean, opponent_mean, opponent_variance))
    posterior = 1 / (1 / variance + inverse_delta2(mean, opponent_mean, opponent_variance))
    return mean + posterior * Q * float(np.sum(surprise)), posterior


def elo_expected(rating: Floats, opponent: Floats) -> Array:
    """1 / (1 + 10^(−(θ − θ_j)/400)) [GLI99 (12)]."""
    return np.asarray(expit(Q * (_f(rating) - _f(opponent))))


def performance_rating(opponents: Floats, points: float) -> float:
    """R̄ + 400·log₁₀(p/(1 − p)), p the share of the points against opponents of mean rating R̄; ±800 at most.

    >>> round(performance_rating([2000, 2100], 1.5)), performance_rating([2000, 2100], 2)
    (2241, 2850.0)
    """
    ratings = _f(opponents)
    p = points / ratings.size
    distance = float(np.log(p / (1 - p)) / Q) if 0 < p < 1 else math.copysign(math.inf, p - 0.5)
    return float(ratings.mean() + np.clip(distance, -FURTHEST, FURTHEST))


def elo_update(rating: float, opponent: Floats, score: Floats, *, k: float) -> float:
    """θ′ = θ + K·Σ(s − We(θ, θ_j)) [GLI99 (11)]."""
    return rating + k * float(np.sum(_f(score) - elo_expected(rating, opponent)))


def elo_k(variance: float, inverse_delta2: float) -> float:
    """K = q / (1/δ² + 1/σ²) [GLI99 (13)]: with this K, Elo is (9) against opponents known without error."""
    return Q / (inverse_delta2 + 1 / variance)


def win_probability(
    mean_1: Floats, variance_1: Floats, mean_2: Floats, variance_2: Floats, *, advantage: float = 0.0
) -> Array:
    """1 / (1 + 10^(−g(σ_i² + σ_j²)(μ_i − μ_j)/400)) [GLI99 (16)]; `advantage` in Elo goes to the first player.

    >>> round(float(win_probability(1987, 51**2, 1892, 46**2)), 2)  # Sampras against Muster, table 4
    0.63
    """
    difference = _f(mean_1) - _f(mean_2) + advantage
    return np.asarray(expit(g(_f(variance_1) + _f(variance_2)) * Q * difference))


def observed(mean: Floats, variance: Floats, said: Floats, deviation: float) -> Moments:
    """μ + k(x − μ), (1 − k)σ² with k = σ²/(σ² + τ²): a strength observed as x give or take τ; beyond the paper."""
    mean, variance = _f(mean), _f(variance)
    share = variance / (variance + deviation * deviation)
    return np.asarray(mean + share * (_f(said) - mean)), np.asarray((1 - share) * variance)


def discrepancy(probability: Floats, score: Floats) -> Array:
    """−s·log(p) − (1 − s)·log(1 − p) [GLI99 (15)]; infinite where what was held impossible happened."""
    p, s = _f(probability), _f(score)
    return np.asarray(-xlogy(s, p) - xlog1py(1 - s, -p))


def rts_step(mean: Floats, variance: Floats, noise: Floats, next_mean: Floats, next_variance: Floats) -> Moments:
    """M = μ + C(M₊ − μ), V = σ² + C²(V₊ − σ² − ν²t), C = σ²/(σ² + ν²t): the Kalman smoother's step back.

    `noise` is ν²·t to the next active period. What (14) intends: the next smoothed estimate already holds the past,
    and here that part is taken out before the two are combined.
    """
    mean, variance = _f(mean), _f(variance)
    predicted = variance + _f(noise)
    c = variance / predicted
    return np.asarray(mean + c * (_f(next_mean) - mean)), np.asarray(variance + c * c * (_f(next_variance) - predicted))


def eq14_step(mean: Floats, variance: Floats, noise: Floats, next_mean: Floats, next_variance: Floats) -> Moments:
    """V = 1/(1/σ² + 1/(ν²t + V₊)), M = V(μ/σ² + M₊/(ν²t + V₊)) [GLI99 (14)], as printed: counts the past twice."""
    mean, variance = _f(mean), _f(variance)
    ahead = _f(noise) + _f(next_variance)
    v = 1 / (1 / variance + 1 / ahead)
    return np.asarray(v * (mean / variance + _f(next_mean) / ahead)), np.asarray(v)


def message(
    mean: float, variance: float, opponent_mean: float, opponent_variance: float, score: float
) -> tuple[float, float]:
    """τ = β/(1 − βσ²), τ·m = (α + βμ)/(1 − βσ²), α and −β the derivatives of log p(s) by (16) in μ: beyond the paper.

    The normal message of one game to one player, as precision and precision times mean: multiplied with N(μ, σ²) it
    gives mean μ + σ²α and variance σ² − σ⁴β.
    """
    k = Q * float(g(variance + opponent_variance))
    p = float(win_probability(mean, variance, opponent_mean, opponent_variance))
    alpha, beta = k * (score - p), k * k * p * (1 - p)
    rest = 1 - beta * variance
    return beta / rest, (alpha + beta * mean) / rest


def davidson(probability: Floats, kappa: Floats) -> tuple[Array, Array, Array]:
    """Win, draw, loss ∝ w, κ, 1/w: draws as their own outcome after Davidson (1970), not in the paper.

    w is such that a win and half a draw together have the probability that is given: the expected score stays that
    of the paper, in which a draw is half a win.

    >>> [round(float(x), 3) for x in davidson(0.5, 2.0)], [round(float(x), 3) for x in davidson(0.9, 2.0)]
    ([0.25, 0.5, 0.25], [0.81, 0.18, 0.01])
    """
    p, kappa = _f(probability), _f(kappa)
    weaker = np.minimum(p, 1 - p)
    b = kappa * (0.5 - weaker)
    spread = b + np.sqrt(b * b + 4 * weaker * (1 - weaker))
    w = np.divide(2 * weaker, spread, out=np.zeros_like(weaker), where=spread > 0)
    total = w * w + kappa * w + 1
    upset, draw, usual = w * w / total, kappa * w / total, 1 / total
    return np.where(p > 0.5, usual, upset), np.asarray(draw), np.where(p > 0.5, upset, usual)


def _f(x: Floats) -> Array:
    return np.asarray(x, dtype=float)
