"""Intervals of σ0 and ν that cover: the same games played again and again with known variances, and fitted each time.

The criterion of GLI99 sect. 4 is a sum of approximate forecasts, not a likelihood. What foretells best is a σ0 larger
than the spread of the true strengths (by a third where players have some hundred games), and the curvature at its
minimum is far from saying how sure it is. So the fit is asked about games whose variances are known: who met whom and
when stays, strengths and scores are drawn. How far fits fall from the truth there says where the truth may be here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.models.comparison import elo_expected
from skilloscope.ratings.periods.variances import VarianceFit, fit_variances
from skilloscope.results.period_games import PeriodGames

Array = npt.NDArray[np.float64]

_NAMES = ("sigma0", "nu")
_FARTHEST = math.log(2.0)  # the largest correction: fits at the edge of the search would say anything
_TOLD = 0.2
_FIRST = 10  # replays that find how far off the fit is, before the others are drawn nearer to the truth


FitEach = Callable[[Callable[[tuple[PeriodGames, float]], VarianceFit], Iterable[Any]], Iterable[VarianceFit]]
"""Does one kind of work on each of many things and gives what comes of it in order, as `map` does."""


def simulated_intervals(
    games: PeriodGames,
    fit: VarianceFit,
    *,
    rng: np.random.Generator,
    replays: int = 60,
    level: float = 0.95,
    each: FitEach = map,
) -> dict[str, tuple[float, float]]:
    """Return intervals of the true σ0 and ν; each replay takes one fit, and no fit needs another (`each`).

    One that is fitted at the edge of what was searched, here or in a fifth of the replays, has none: the games do not
    tell it.
    """
    about = {name: math.log(max(getattr(fit, name), 0.1)) for name in _NAMES}
    first = _errors(_replays(games, fit, about, rng, _FIRST), about, each)
    nearer = {name: about[name] - float(np.clip(np.median(first[name]), -_FARTHEST, _FARTHEST)) for name in _NAMES}
    errors = _errors(_replays(games, fit, nearer, rng, replays), nearer, each)
    ends = [(1 - level) / 2, (1 + level) / 2]
    found = {}
    for name in _NAMES:
        edge = [_at_edge(about[name]), *(_at_edge(nearer[name] + error) for error in errors[name])]
        if not edge[0] and np.mean(edge) < _TOLD:
            low, high = (about[name] - error for error in np.quantile(errors[name], ends)[::-1])
            found[name] = (math.exp(low), math.exp(high))
    return found


def played_again(
    games: PeriodGames, sigma0: float, nu: float, advantage: float, rng: np.random.Generator
) -> PeriodGames:
    """Return the same games with new scores, of players whose strengths are drawn with these variances.

    As many are drawn as were, most of them between equals; the mean score stays that of the strengths.
    """
    span = games.n_periods + 1
    key = [side.astype(np.int64) * span + games.period for side in (games.player_1, games.player_2)]
    lines, place = np.unique(np.concatenate(key), return_inverse=True)
    player, period = lines // span, lines % span
    later = np.append(False, player[1:] == player[:-1])
    gap = np.where(later, np.diff(period, prepend=0), 0)
    step = rng.standard_normal(len(lines)) * np.where(later, nu * np.sqrt(np.maximum(gap, 0)), sigma0)
    walk = np.cumsum(step)
    start = np.maximum.accumulate(np.where(~later, np.arange(len(lines)), 0))
    strength = walk - (walk - step)[start]
    n = len(games)
    p = elo_expected(strength[place[:n]] + advantage, strength[place[n:]])
    draw = 2 * np.minimum(p, 1 - p)
    draw *= min(1.0, float(np.mean(games.score == 0.5)) / max(float(np.mean(draw)), 1e-12))
    u = rng.random(n)
    return replace(games, score=np.where(u < p - draw / 2, 1.0, np.where(u < p + draw / 2, 0.5, 0.0)), ratings=None)


def _at_edge(logarithm: float) -> bool:
    return not math.log(0.15) < logarithm < math.log(2900.0)


def _replays(
    games: PeriodGames, fit: VarianceFit, truth: Mapping[str, float], rng: np.random.Generator, count: int
) -> Iterator[tuple[PeriodGames, float]]:
    """Yield the games played again, and the advantage that is held: drawn one after another, wherever they go."""
    sigma0, nu = (math.exp(truth[name]) for name in _NAMES)
    for _ in range(count):
        yield played_again(games, sigma0, nu, fit.advantage, rng), fit.advantage


def _errors(
    replays: Iterable[tuple[PeriodGames, float]], truth: Mapping[str, float], each: FitEach
) -> dict[str, Array]:
    """Return the logarithms of the fits, less those of the truth, of some replays."""
    fits = list(each(_fit_again, replays))
    return {name: np.array([math.log(max(getattr(fit, name), 0.1)) - truth[name] for fit in fits]) for name in _NAMES}


def _fit_again(replay: tuple[PeriodGames, float]) -> VarianceFit:
    games, advantage = replay
    return fit_variances(games, advantage=advantage)
