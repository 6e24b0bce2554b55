"""Fair competitors of our forecasts: a published rating, Elo, Glicko-2 and TrueSkill, fitted on the same past.

Each predicts a game from the periods before its own, with parameters that predict the games before the held-out ones
best. Slope and constant of each are fitted again every year to the year before. Glicko-2: Glickman (2012); TrueSkill:
Herbrich, Minka, Graepel (2006), two players with draws.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from skilloscope.core.columns import Array, Bools
from skilloscope.core.compiled import njit
from skilloscope.core.errors import InputError, OptionError
from skilloscope.models.paired_comparison import Q
from skilloscope.results.periods import PeriodGames

COMPETITORS = ("rating", "elo", "glicko2", "trueskill")
_NEW = 30  # games with Elo's larger K
_TAU2 = 0.25  # Glicko-2's constraint on the volatility, squared
_PASSES = 80


@dataclass(frozen=True)
class Competitor:
    """How a competitor predicted, and how much larger its log-loss is than ours (standard error over periods)."""

    name: str
    games: int
    log_loss: float
    brier: float
    slope: float  # of the scores on the predicted logits: 1 is calibrated, below 1 overconfident
    behind: float
    standard_error: float


def compete(name: str, games: PeriodGames, early: int, years: float, ours: Array) -> Competitor:
    """Return how a competitor predicts the games from number `early` on; `ours` are our probabilities of those."""
    if name not in COMPETITORS:
        raise OptionError(f"no competitor is called {name!r}", hint=", ".join(COMPETITORS))
    logit, known = fitted_logits(name, games, early)
    when = np.asarray((games.first + games.period) * years, dtype=np.float64)
    logit = recalibrated(logit, games.score, when, known, early)
    held = np.flatnonzero(known[early:])
    if not len(held):
        raise InputError(f"no held-out game can be predicted by {name}", hint="--known-ratings names the columns")
    x, s, period = logit[early:][held], games.score[early:][held], games.period[early:][held]
    other = np.log(ours[held]) - np.log1p(-ours[held])
    p, (own, mine) = expit(x), (_losses(logits, s) for logits in (x, other))
    more = own - mine
    spread = np.bincount(period, more - more.mean())
    error = float(np.sqrt(np.sum(spread**2))) / len(held)
    brier = float(np.mean((s - p) ** 2))
    slope, behind = _line(x, s)[1], float(more.mean())
    return Competitor(name, len(held), float(own.mean()), brier, slope, behind=behind, standard_error=error)


def calibration_slope(probability: Array, score: Array) -> float:
    """Return the slope of the scores on predicted logits: 1 is calibrated, below 1 overconfident."""
    return _line(np.log(probability) - np.log1p(-probability), score)[1]


def fitted_logits(name: str, games: PeriodGames, early: int) -> tuple[Array, Bools]:
    """Return a competitor's logit of every game, its parameters fitted to the first `early`, and where it has one."""
    if name == "rating":
        if games.ratings is None:
            raise InputError("the table has no ratings to compete with", hint="--known-ratings names the columns")
        one, two = games.ratings
        return Q * (one - two), (one > 0) & (two > 0)
    start, unit, kernel = _MODELS[name]
    about = (games.player_1, games.player_2, games.score, games.offsets, games.n_players)

    def predicted(point: Array) -> Array:
        return np.asarray(kernel(*about, *np.exp(point[:-1]), float(point[-1])))

    def cost(point: Array) -> float:
        return float(_losses(predicted(point)[:early], games.score[:early]).mean())

    simplex = np.vstack([start, start + np.diag([0.4] * (len(start) - 1) + [unit])])
    found = minimize(cost, start, method="Nelder-Mead", options={"initial_simplex": simplex, "maxfev": _PASSES})
    return predicted(found.x), np.ones(len(games), dtype=bool)


def recalibrated(logit: Array, score: Array, when: Array, known: Bools, early: int) -> Array:
    """Return logits with slope and constant fitted for each year from game `early` on, to the games of a year before.

    >>> logit, score = np.array([1.0, 1.0, -1.0, -1.0, 2.0]), np.array([1, 0, 0, 1, 1.0])
    >>> recalibrated(logit, score, np.array([0, 0, 0, 0, 1.0]), np.ones(5, dtype=bool), 4).round(2)[4:]
    array([0.])
    """
    out, start = logit.copy(), when[early]
    for year in range(int(when[-1] - start) + 1):
        block = (when >= start + year) & (when < start + year + 1)
        past = (when < start + year) & known
        recent = past & (when >= start + year - 1)
        before = recent if recent.any() else past
        if before.any():
            constant, slope = _line(logit[before], score[before])
            out[block] = constant + slope * logit[block]
    return out


def _line(x: Array, score: Array) -> tuple[float, float]:
    """Return constant and slope of a logistic regression, with a prior of a thousandth of a game on the identity."""
    design, line = np.stack([np.ones_like(x), x], axis=1), np.array([0.0, 1.0])
    for _ in range(12):
        p = expit(design @ line)
        hessian = (design * (p * (1 - p))[:, None]).T @ design + 1e-3 * np.eye(2)
        line = line + np.linalg.solve(hessian, design.T @ (score - p) - 1e-3 * (line - [0.0, 1.0]))
    return float(line[0]), float(line[1])


def _losses(logit: Array, score: Array) -> Array:
    return np.asarray(np.logaddexp(0.0, logit) - score * logit)


@njit(cache=True)
def _elo(one, two, score, offsets, players, k_new, k, advantage):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return the logits of Elo with one K for the first games and one for later ones."""
    rating, games, out = np.zeros(players), np.zeros(players), np.empty(len(score))
    for t in range(len(offsets) - 1):
        for n in range(offsets[t], offsets[t + 1]):
            out[n] = Q * (rating[one[n]] - rating[two[n]] + advantage)
        for n in range(offsets[t], offsets[t + 1]):
            i, j = one[n], two[n]
            surprise = score[n] - 1.0 / (1.0 + math.exp(-Q * (rating[i] - rating[j] + advantage)))
            rating[i] += (k_new if games[i] < _NEW else k) * surprise
            rating[j] -= (k_new if games[j] < _NEW else k) * surprise
            games[i] += 1
            games[j] += 1
    return out


@njit(cache=True)
def _volatility(phi2, v, delta2, a):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return log σ′² of Glicko-2's step 5, by bisection of its monotone part around log σ²."""
    low, high = a - 8.0, a + 8.0
    for _ in range(40):
        x = 0.5 * (low + high)
        e = math.exp(x)
        d = phi2 + v + e
        if e * (delta2 - d) / (2.0 * d * d) - (x - a) / _TAU2 > 0.0:
            low = x
        else:
            high = x
    return 0.5 * (low + high)


@njit(cache=True)
def _glicko2(one, two, score, offsets, players, deviation, volatility, advantage):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return the logits of Glicko-2, with the deviations of both players; `deviation` is that of a new one."""
    mu, phi2, log_var = np.zeros(players), np.full(players, deviation**2), np.full(players, 2 * math.log(volatility))
    last, gain, info = np.full(players, -1), np.zeros(players), np.zeros(players)
    touched, out = np.empty(players, np.int64), np.empty(len(score))
    for t in range(len(offsets) - 1):
        count = 0
        for n in range(offsets[t], offsets[t + 1]):
            for i in (one[n], two[n]):
                if last[i] != t:
                    if last[i] >= 0:
                        phi2[i] = min(phi2[i] + (t - last[i]) * math.exp(log_var[i]), deviation**2)
                    last[i], gain[i], info[i], touched[count] = t, 0.0, 0.0, i
                    count += 1
        for n in range(offsets[t], offsets[t + 1]):
            i, j = one[n], two[n]
            x = mu[i] - mu[j] + advantage
            out[n] = x / math.sqrt(1 + 3 * (phi2[i] + phi2[j]) / math.pi**2)
            for me, other, gap, s in ((i, j, x, score[n]), (j, i, -x, 1 - score[n])):
                g = 1 / math.sqrt(1 + 3 * phi2[other] / math.pi**2)
                e = 1 / (1 + math.exp(-g * gap))
                gain[me] += g * (s - e)
                info[me] += g * g * e * (1 - e)
        for at in range(count):
            i = touched[at]
            if info[i] > 0:
                v = 1 / info[i]
                log_var[i] = _volatility(phi2[i], v, (v * gain[i]) ** 2, log_var[i])
                phi2[i] = 1 / (1 / phi2[i] + info[i])
                mu[i] += phi2[i] * gain[i]
    return out


@njit(cache=True)
def _below(x):  # type: ignore[no-untyped-def] # pragma: no cover
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


@njit(cache=True)
def _density(x):  # type: ignore[no-untyped-def] # pragma: no cover
    return math.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)


@njit(cache=True)
def _trueskill(one, two, score, offsets, players, beta, tau, margin, advantage):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return the logits of TrueSkill's expected score; new players are N(0, 1), `margin` is that of a draw."""
    mu, s2, last = np.zeros(players), np.ones(players), np.full(players, -1)
    out = np.empty(len(score))
    for t in range(len(offsets) - 1):
        for n in range(offsets[t], offsets[t + 1]):
            for i in (one[n], two[n]):
                if last[i] != t:
                    s2[i] += 0.0 if last[i] < 0 else (t - last[i]) * tau * tau
                    last[i] = t
        for n in range(offsets[t], offsets[t + 1]):
            c = math.sqrt(2 * beta * beta + s2[one[n]] + s2[two[n]])
            x, e = (mu[one[n]] - mu[two[n]] + advantage) / c, margin / c
            won, lost = _below(x - e) + _below(x + e), _below(-x - e) + _below(e - x)
            out[n] = math.log(max(won, 1e-300)) - math.log(max(lost, 1e-300))
        for n in range(offsets[t], offsets[t + 1]):
            i, j = one[n], two[n]
            c2 = 2 * beta * beta + s2[i] + s2[j]
            c = math.sqrt(c2)
            sign = 1.0 if score[n] >= 0.5 else -1.0
            x, e = sign * (mu[i] - mu[j] + advantage) / c, margin / c
            if score[n] == 0.5:
                mass = max(_below(e - x) - _below(-e - x), 1e-12)
                v = (_density(-e - x) - _density(e - x)) / mass
                w = v * v + ((e - x) * _density(e - x) + (e + x) * _density(e + x)) / mass
            else:
                mass = _below(x - e)
                v = _density(x - e) / mass if mass > 1e-12 else e - x
                w = v * (v + x - e)
            w = min(max(w, 0.0), 0.999)
            mu[i] += sign * s2[i] / c * v
            mu[j] -= sign * s2[j] / c * v
            s2[i] *= 1 - s2[i] / c2 * w
            s2[j] *= 1 - s2[j] / c2 * w
    return out


_MODELS: dict[str, tuple[Array, float, Callable[..., Any]]] = {
    "elo": (np.array([math.log(40.0), math.log(15.0), 30.0]), 15.0, _elo),
    "glicko2": (np.array([math.log(1.2), math.log(0.02), 0.2]), 0.1, _glicko2),
    "trueskill": (np.array([math.log(0.7), math.log(0.02), math.log(0.3), 0.15]), 0.1, _trueskill),
}
"""Where the search starts: logarithms, and last the first player's advantage on the model's own scale; its step."""
