"""Fitting the parameters of the ratings, σ0, ν and some beyond the paper, by how well they predict results.

The criterion is GLI99 sect. 4: the total discrepancy (15) of all games, each predicted by (16) from what was known
before its period. `nelder-mead` is the paper's way; `quick`, the default, comes to the same minimum with fewer passes
over the games. Beyond the paper, only where asked for: the first player's advantage, the drift of newcomers' mean, and
how much weight ratings published elsewhere get.

`variance_posterior` is the joint posterior of σ0 and ν on a weighted grid, as in GLI99 figure 1. The discrepancy is a
sum of approximate forecasts, not a likelihood: the σ0 that predicts best is larger than the spread of the true
strengths, and the curvature at its minimum is far from its uncertainty. `simulated_intervals` cover: the pairings stay
as they are, strengths and scores are simulated with known variances, and the errors of the fits to them are the errors
to expect of the fit to the real games. docs/periods.md has more.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax

from skilloscope.core.columns import Array
from skilloscope.core.errors import InputError, OptionError
from skilloscope.core.optimise import descend
from skilloscope.models.kernels.histories import appearances
from skilloscope.models.kernels.paired_comparison import DISCREPANCY_UNIT, Published, advance, new_state
from skilloscope.models.paired_comparison import elo_expected
from skilloscope.ratings.periods.states import State
from skilloscope.results.periods import PeriodGames

FIT_METHODS = ("quick", "nelder-mead")
FEWEST_TO_FIT = 500  # games from which on an advantage and a drift are fitted unasked
_FEWEST_PUBLISHED = 20_000  # games from which on the weight of published ratings is fitted
_WINNERS, _FEWEST_DECIDED = 0.95, 20  # share of decided games won by the first player if the winner was put first
_SPREADS = ("sigma0", "nu", "deviation", "entry")  # searched in logarithms
ENOUGH_PLAYERS = 50
"""From so many on, intervals of ratings by fitted variances hold what they say, as simulated populations show."""
_SPREAD_PRIOR = (math.log(250.0), 1.0)  # of log σ0
_DRIFT_PRIOR = (math.log(0.35), 1.0)  # of log ν√periods/σ0
_NODES, _NODE_WEIGHTS = (-math.sqrt(3.0), 0.0, math.sqrt(3.0)), (1 / 6, 2 / 3, 1 / 6)  # Gauss–Hermite

_START = {"sigma0": 200.0, "nu": 30.0, **Published()._asdict()}
_UNIT = {"advantage": 50.0, "drift": 1.0, "mean": 50.0, "slope": 0.1, "weak": 0.5, "newcomer": 25.0, "trend": 0.25}
"""Makes a step about as large as one in a logarithm."""
_NAMES = ("sigma0", "nu")
_LOWEST, _HIGHEST = math.log(0.1), math.log(3000.0)
_FARTHEST_NODE = 2.5  # in logarithms: a factor of twelve to each side
_LARGEST_CORRECTION = math.log(2.0)  # fits at the edge of the search would correct by anything
_MOST_AT_EDGE = 0.2
_FIRST = 10  # replays that find how far off the fit is, before the others are drawn nearer to the truth


@dataclass(frozen=True)
class VarianceFit:
    """The fitted parameters, the discrepancy they leave, and what one must know to trust them."""

    sigma0: float
    nu: float
    advantage: float
    drift: float
    epoch: int
    until: int | None  # the last period of the games, where the drift was fitted to them: it is followed no further
    mean: float
    published: Published | None
    discrepancy: float
    games: int
    players: int
    periods: int
    games_per_player_and_period: float
    fitted: tuple[str, ...]
    method: str
    passes: int
    converged: bool
    warnings: tuple[str, ...] = ()

    def start(self, period: str = "") -> State:
        """Return the state before the first game under these parameters."""
        names = ("sigma0", "nu", "mean", "advantage", "drift", "epoch", "until", "published")
        return State.empty(**{name: getattr(self, name) for name in names}, period=period)


FitEach = Callable[[Callable[[PeriodGames], VarianceFit], Iterable[PeriodGames]], Iterable[VarianceFit]]
"""Does one kind of work on each of many things and returns the results in order, as `map` does."""


def total_discrepancy(
    games: PeriodGames,
    sigma0: float,
    nu: float,
    *,
    mean: float = 1500.0,
    advantage: float = 0.0,
    entry: Mapping[str, float] | None = None,
) -> float:
    """Σ d_ij over all games [GLI99 (15)], each predicted by (16) from the periods before its own."""
    values = {"sigma0": sigma0, "nu": nu, "advantage": advantage, "drift": 0.0, "mean": mean}
    return _criterion(games, 0, entry)(values)


def fit_variances(
    games: PeriodGames,
    *,
    sigma0: float | None = None,
    nu: float | None = None,
    advantage: float | None = 0.0,
    drift: float | None = 0.0,
    mean: float = 1500.0,
    published: Published | None = None,
    entry: Mapping[str, float] | None = None,
    method: str = "quick",
) -> VarianceFit:
    """Return the parameters that predict the games best; those that are given are held.

    `advantage=None` fits the first player's advantage too, `drift=None` how newcomers' mean moves. Where the games
    carry published ratings their weight is fitted, unless `published` is given or the games are few.
    Nothing is printed: what casts doubt on the fit is in `warnings`.
    """
    if method not in FIT_METHODS:
        raise OptionError(f"no way of fitting is called {method!r}", hint=" or ".join(FIT_METHODS))
    if not len(games):
        raise InputError("there are no games to fit to")
    given, said = _given(games, published, {"sigma0": sigma0, "nu": nu, "advantage": advantage, "drift": drift}, mean)
    fitted = tuple(name for name, value in given.items() if value is None)
    value_of = _criterion(games, games.first, entry)
    units = {**_UNIT, "drift": 200.0 / max(games.n_periods, 1)}
    centre = {**_START, "mean": given["origin"] or mean if games.ratings is not None else mean}
    passes = 0

    def cost(point: Array) -> float:
        nonlocal passes
        passes += 1
        return value_of(_parameters(given, fitted, point, centre, units))

    start = np.array([math.log(centre[name]) if name in _SPREADS else 0.0 for name in fitted])
    point, converged = _search(cost, start, method) if fitted else (start, True)
    best = _parameters(given, fitted, point, centre, units)
    players, lines = appearances(games.player_1, games.player_2, games.offsets, games.n_players)
    value = cost(point)
    silent = [name for i, name in enumerate(fitted) if abs(cost(point + 0.5 * np.eye(len(fitted))[i]) - value) < 1e-6]
    return VarianceFit(
        **{name: best[name] for name in ("sigma0", "nu", "advantage", "drift", "mean")},
        epoch=games.first,
        until=games.first + games.n_periods - 1 if "drift" in fitted else None,
        published=_published(best) if games.ratings is not None else None,
        discrepancy=value,
        games=len(games),
        players=int(players),
        periods=games.n_periods,
        games_per_player_and_period=float(2 * len(games) / lines),
        fitted=fitted,
        method=method,
        passes=passes,
        converged=converged,
        warnings=(*said, *_warnings(fitted, best, converged, silent, int(players))),
    )


def rating_variances(games: PeriodGames, **how: Any) -> VarianceFit:
    """Return the fit to rate by; where the games leave σ0 open it is 200, lest intervals be nothing."""
    fit = fit_variances(games, **how)
    if "sigma0" not in fit.fitted or not _at_limit(fit.sigma0):
        return fit
    usual = _START["sigma0"]
    said = f"the games do not determine sigma0 ({fit.sigma0:.3g} would predict them best); {usual:g} is used"
    held = fit_variances(games, **{**how, "sigma0": usual})
    return replace(held, warnings=(said, *held.warnings))


def added_variance(games: PeriodGames, fit: VarianceFit, state: State) -> Array:
    """Return what each player's variance lacks since σ0 and ν are fitted to few players: 0 where both were given.

    Integrates over nine nodes of the posterior of log σ0 and log ν, three along each axis of its curvature. Games of
    a period are played one after another here: each is predicted from all before it, so that their product is a
    likelihood, where (15) counts what games of one period have in common several times. Not in the paper.
    """
    if not {*_NAMES} <= {*fit.fitted} or fit.players >= ENOUGH_PLAYERS or games.ratings is not None:
        return np.zeros(len(state))
    fine, pieces = _one_by_one(games) if fit.games_per_player_and_period > 1 else (games, 1)
    root = math.sqrt(pieces)

    def minus_log(x: Array) -> float:
        ratio = x[1] + 0.5 * math.log(games.n_periods) - x[0]
        prior = ((x[0] - _SPREAD_PRIOR[0]) / _SPREAD_PRIOR[1]) ** 2 + ((ratio - _DRIFT_PRIOR[0]) / _DRIFT_PRIOR[1]) ** 2
        sigma0, nu = np.exp(np.clip(x, -3.0, 9.0)).tolist()
        loss = total_discrepancy(fine, sigma0, nu / root, mean=fit.mean, advantage=fit.advantage)
        return loss + 0.5 * float(prior)

    start = np.array([_SPREAD_PRIOR[0], _SPREAD_PRIOR[0] + _DRIFT_PRIOR[0] - 0.5 * math.log(games.n_periods)])
    mode, _ = descend(minus_log, start, highest=9.0)
    h = 0.3 * np.eye(2)
    least = minus_log(mode)
    sides = [minus_log(mode + a) + minus_log(mode - a) - 2 * least for a in (*h, h[0] + h[1])]
    both = (sides[2] - sides[0] - sides[1]) / 2
    values, axes = np.linalg.eigh(np.array([[sides[0], both], [both, sides[1]]]) / 0.3**2)
    steps = axes / np.sqrt(np.maximum(values, 0.5))
    logs, moments = [], []
    for (i, a), (j, b) in itertools.product(enumerate(_NODES), repeat=2):
        x = mode + steps @ [a, b]
        logs.append(math.log(_NODE_WEIGHTS[i] * _NODE_WEIGHTS[j]) - minus_log(x) + 0.5 * (a * a + b * b))
        sigma0, nu = np.exp(x).tolist()
        fresh = State.empty(sigma0=sigma0, nu=nu / root, mean=fit.mean, advantage=fit.advantage)
        moments.append(fresh.play(fine)[0].moments())
    weights = softmax(logs)[:, None]
    mean, variance = map(np.array, zip(*moments, strict=True))
    shown, own = state.moments()
    off = (mean - np.nanmean(mean, axis=1, keepdims=True)) - (shown - np.nanmean(shown))
    return np.asarray(np.nan_to_num(np.maximum((weights * (variance + off**2)).sum(axis=0) - own, 0.0)))


def _one_by_one(games: PeriodGames) -> tuple[PeriodGames, int]:
    """Return the same games, one in each of so many equal pieces of a period; the last pieces may be empty."""
    counts = np.diff(games.offsets)
    pieces = int(counts.max())
    ends = games.offsets[:-1, None] + np.minimum(np.arange(pieces), counts[:, None])
    offsets = np.append(ends.ravel(), games.offsets[-1]).astype(np.int64)
    labels = [str(i) for i in range(len(offsets) - 1)]
    return replace(games, offsets=offsets, labels=labels, first=0), pieces


def _at_limit(spread: float) -> bool:
    return not math.exp(_LOWEST) * 1.01 < spread < math.exp(_HIGHEST) * 0.99


def _given(
    games: PeriodGames, published: Published | None, asked: Mapping[str, float | None], mean: float
) -> tuple[dict[str, float | None], list[str]]:
    """Return every parameter with its value, None where it is to be fitted, and the warnings."""
    given, said = dict(asked), []
    decided = games.score[games.score != 0.5]
    share = float(np.mean(decided)) if len(decided) >= _FEWEST_DECIDED else 0.0
    if given["advantage"] is None and share > _WINNERS:
        given["advantage"] = 0.0
        said = [
            f"the first player won {share:.0%} of the decided games: the table seems to put the winner first, so no "
            "advantage of the first player is fitted"
        ]
    given["mean"] = mean
    if games.ratings is None:
        return given, said
    rated = np.concatenate([side[side > 0] for side in games.ratings])
    origin = float(np.mean(rated)) if len(rated) else mean
    held = published or (Published(origin=origin) if len(games) < _FEWEST_PUBLISHED else None)
    values = held._asdict() if held else {"origin": origin, **dict.fromkeys(Published._fields[1:])}
    if all(np.all(side > 0) for side in games.ratings):  # nobody enters without a rating: nothing tells where to
        given |= {"sigma0": given["sigma0"] or _START["sigma0"], "drift": given["drift"] or 0.0, "mean": origin}
    elif published is None:
        given["mean"] = None
    return {**given, **values}, said


def _published(values: Mapping[str, float]) -> Published:
    return Published(**{name: values[name] for name in Published._fields})


def _criterion(
    games: PeriodGames, epoch: int, entry: Mapping[str, float] | None
) -> Callable[[Mapping[str, float]], float]:
    own = np.array([name in (entry or {}) for name in games.players], dtype=bool)
    enter = np.array([(entry or {}).get(name, 0.0) for name in games.players]) if entry else np.zeros(games.n_players)

    def value_of(values: Mapping[str, float]) -> float:
        fresh = new_state(np.where(own, enter, values["mean"]))
        fresh["variance"] = np.where(own, values["sigma0"] ** 2, 0.0)
        published = _published(values) if "slope" in values else None
        units, _ = advance(
            fresh, games.player_1, games.player_2, games.score, games.offsets, first=games.first,
            sigma0=values["sigma0"], nu=values["nu"], advantage=values["advantage"], drift=values["drift"],
            epoch=epoch, published=published, ratings=games.ratings,
        )  # fmt: skip
        return sum(units) / DISCREPANCY_UNIT

    return value_of


def _parameters(
    given: Mapping[str, float | None],
    fitted: tuple[str, ...],
    point: Array,
    centre: Mapping[str, float],
    units: Mapping[str, float],
) -> dict[str, float]:
    values = {name: float(value) for name, value in given.items() if value is not None}
    for name, x in zip(fitted, point, strict=True):
        if name in _SPREADS:
            values[name] = math.exp(min(max(x, _LOWEST), _HIGHEST))
        else:
            values[name] = centre.get(name, 0.0) + units[name] * float(x)
    return values


def _search(cost: Callable[[Array], float], start: Array, method: str) -> tuple[Array, bool]:
    if method == "nelder-mead":
        options = {
            "initial_simplex": np.vstack([start, start + 0.5 * np.eye(len(start))]),
            "xatol": 1e-5,
            "fatol": 1e-6,
        }
        found = minimize(cost, start, method="Nelder-Mead", options=options)
        return np.asarray(found.x), bool(found.success)
    return descend(cost, start, highest=_HIGHEST)


def _warnings(
    fitted: tuple[str, ...], best: Mapping[str, float], converged: bool, silent: Sequence[str], players: int
) -> list[str]:
    said = []
    for name in _NAMES:
        if name in silent:
            said.append(f"the games do not determine {name}: every value predicts them equally well")
        elif name in fitted and _at_limit(best[name]):
            said.append(f"{name} = {best[name]:.3g} is at the edge of what was searched")
    if not converged:
        said.append("the search ended before it converged")
    if players < ENOUGH_PLAYERS and {*_NAMES} & {*fitted}:  # intervals take the fitted variances for the true ones
        held = "intervals of final ratings allow for that, those of the past and of predictions do not"
        said.append(f"variances fitted to {players} players: {held}")
    return said


@dataclass(frozen=True, eq=False)
class VariancePosterior:
    """Weights on a grid that is even in the logarithms: rows σ0, columns ν; they add to one."""

    sigma0: Array
    nu: Array
    weight: Array
    prior: str

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
    entry: Mapping[str, float] | None = None,
) -> VariancePosterior:
    """Return the posterior of (σ0, ν) on a grid about a fit; the `prior` is flat in `variance` or `sd`."""
    if prior not in ("variance", "sd"):
        raise OptionError(f"no prior is called {prior!r}", hint="variance or sd")

    def log_posterior(u: float, v: float) -> float:
        value = total_discrepancy(games, math.exp(u), math.exp(v), advantage=fit.advantage, entry=entry)
        return (2 if prior == "variance" else 1) * (u + v) - value  # the Jacobian from logarithms

    centre = (math.log(fit.sigma0), math.log(fit.nu))
    reach = [[_reach(log_posterior, centre, axis, sign) for sign in (-1, 1)] for axis in (0, 1)]
    u, v = (np.linspace(c + low, c + high, points) for c, (low, high) in zip(centre, reach, strict=True))
    height = np.array([[log_posterior(a, b) for b in v] for a in u])
    weight = np.exp(height - height.max())
    weight /= weight.sum()
    return VariancePosterior(np.exp(u), np.exp(v), weight, prior)


def _reach(log_posterior: Any, centre: tuple[float, float], axis: int, sign: int) -> float:
    """Return how far along one axis the posterior falls by e⁻⁹; the ridge is nearly along the axes in logarithms."""

    def at(distance: float) -> float:
        moved = list(centre)
        moved[axis] += sign * distance
        return float(log_posterior(*moved))

    top, step = at(0.0), 0.01
    while step < _FARTHEST_NODE and at(step) > top - 9.0:
        step *= 1.5
    return sign * min(step, _FARTHEST_NODE)


def simulated_intervals(
    games: PeriodGames,
    fit: VarianceFit,
    *,
    rng: np.random.Generator,
    replays: int = 60,
    level: float = 0.95,
    each: FitEach = map,
) -> dict[str, tuple[float, float]]:
    """Return intervals of the true σ0 and ν from replays; none where the games do not determine it."""

    def errors_about(truth: Mapping[str, float], count: int) -> dict[str, Array]:
        sigma0, nu = (math.exp(truth[name]) for name in _NAMES)  # drawn one after another, wherever they are fitted
        again = (played_again(games, sigma0, nu, fit.advantage, rng) for _ in range(count))
        fits = list(each(partial(fit_variances, advantage=fit.advantage), again))
        return {name: np.array([_log(one, name) - truth[name] for one in fits]) for name in _NAMES}

    about = {name: _log(fit, name) for name in _NAMES}
    first = errors_about(about, _FIRST)
    nearer = {
        name: about[name] - float(np.clip(np.median(first[name]), -_LARGEST_CORRECTION, _LARGEST_CORRECTION))
        for name in _NAMES
    }
    errors = errors_about(nearer, replays)
    ends = [(1 - level) / 2, (1 + level) / 2]
    found = {}
    for name in _NAMES:
        edge = [_at_edge(about[name]), *(_at_edge(nearer[name] + error) for error in errors[name])]
        if not edge[0] and np.mean(edge) < _MOST_AT_EDGE:
            low, high = (about[name] - error for error in np.quantile(errors[name], ends)[::-1])
            found[name] = (math.exp(low), math.exp(high))
    return found


def played_again(
    games: PeriodGames, sigma0: float, nu: float, advantage: float, rng: np.random.Generator
) -> PeriodGames:
    """Return the games with new scores of simulated strengths; as many are drawn as were."""
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


def _log(fit: VarianceFit, name: str) -> float:
    return math.log(max(getattr(fit, name), 0.1))
