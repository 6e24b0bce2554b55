"""Fitting what ratings stand on by how well results are foretold: σ0, ν, and beyond the paper some more.

The criterion is GLI99 sect. 4: the total discrepancy (15) of all games, each foretold by (16) from what was known
before its period. `nelder-mead` is the paper's way; `quick`, the default, comes to the same minimum with fewer passes
over the games. Both search the logarithms of standard deviations.

Beyond the paper, each only where it is asked for: the first player's advantage, the drift of newcomers' mean, and how
far ratings published elsewhere are believed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from skilloscope.core.errors import InputError, OptionError
from skilloscope.inference.optimise import descend
from skilloscope.models.kernels.comparison import DISCREPANCY_UNIT, Published, advance, new_state
from skilloscope.models.kernels.counting import appearances
from skilloscope.results.period_games import PeriodGames

FIT_METHODS = ("quick", "nelder-mead")
FEWEST_TO_FIT = 500  # games from which on an advantage and a drift are fitted unasked
_FEWEST_PUBLISHED = 20_000  # games from which on it is fitted how far published ratings are believed
_WINNERS = 0.95  # of decided games won by the first player, from which on the winner was put first
_SPREADS = ("sigma0", "nu", "deviation", "entry")  # searched in logarithms
ENOUGH_PLAYERS = 50
"""From so many on, intervals of ratings by fitted variances hold what they say, as simulated populations show."""

_START = {"sigma0": 200.0, "nu": 30.0, **Published()._asdict()}
_UNIT = {"advantage": 50.0, "drift": 1.0, "mean": 50.0, "slope": 0.1, "weak": 0.5, "newcomer": 25.0, "trend": 0.25}
"""Makes a step about as large as one in a logarithm."""
_LOWEST, _HIGHEST = math.log(0.1), math.log(3000.0)

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class VarianceFit:
    """The fitted parameters, the discrepancy they leave, and what one must know to trust them."""

    sigma0: float
    nu: float
    advantage: float
    drift: float
    epoch: int
    until: int | None
    """The last period of the games, where the drift was fitted to them: it is followed no further."""
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

    def parameters(self) -> dict[str, Any]:
        """Return what a state begins with."""
        names = ("sigma0", "nu", "mean", "advantage", "drift", "epoch", "until", "published")
        return {name: getattr(self, name) for name in names}

    def as_dict(self) -> dict[str, Any]:
        """Return the fit as reports send it."""
        told = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**told, "published": None if self.published is None else self.published._asdict()}


def total_discrepancy(
    games: PeriodGames,
    sigma0: float,
    nu: float,
    *,
    mean: float = 1500.0,
    advantage: float = 0.0,
    drift: float = 0.0,
    epoch: int = 0,
    published: Published | None = None,
    entry: Mapping[str, float] | None = None,
) -> float:
    """Σ d_ij over all games [GLI99 (15)], each foretold by (16) from the periods before its own."""
    about = {} if published is None else published._asdict()
    values = {"sigma0": sigma0, "nu": nu, "advantage": advantage, "drift": drift, "mean": mean, **about}
    return _criterion(games, epoch, entry)(values)


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
    """Return the parameters that foretell the games best; those that are given are held.

    `advantage=None` fits the first player's advantage too, `drift=None` how newcomers' mean moves. Where the games
    carry published ratings it is fitted how far they are believed, unless `published` is given or the games are few.
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
    density = 2 * len(games) / lines
    value = cost(point)
    silent = [name for i, name in enumerate(fitted) if abs(cost(point + 0.5 * np.eye(len(fitted))[i]) - value) < 1e-6]
    return VarianceFit(
        sigma0=best["sigma0"],
        nu=best["nu"],
        advantage=best["advantage"],
        drift=best["drift"],
        epoch=games.first,
        until=games.first + games.n_periods - 1 if "drift" in fitted else None,
        mean=best["mean"],
        published=_published(best) if games.ratings is not None else None,
        discrepancy=value,
        games=len(games),
        players=int(players),
        periods=games.n_periods,
        games_per_player_and_period=float(density),
        fitted=fitted,
        method=method,
        passes=passes,
        converged=converged,
        warnings=(*said, *_warnings(fitted, best, converged, silent), *_few(fitted, int(players))),
    )


def rating_variances(games: PeriodGames, **how: Any) -> VarianceFit:
    """Return the fit to rate by: where σ0 ends at a limit of the search the games do not tell it, and 200 is taken.

    A spread of nearly nothing would give everybody an interval of nearly nothing after a few even games.
    """
    fit = fit_variances(games, **how)
    if "sigma0" not in fit.fitted or not _at_limit(fit.sigma0):
        return fit
    usual = _START["sigma0"]
    said = f"the games do not tell sigma0, {fit.sigma0:.3g} would foretell them best: {usual:g} is taken"
    held = fit_variances(games, **{**how, "sigma0": usual})
    return replace(held, warnings=(said, *held.warnings))


def _at_limit(spread: float) -> bool:
    return not math.exp(_LOWEST) * 1.01 < spread < math.exp(_HIGHEST) * 0.99


def winner_first(games: PeriodGames) -> bool:
    """Return whether the table puts the winner first: then the seats say nothing about an advantage."""
    decided = games.score[games.score != 0.5]
    return len(decided) >= 20 and float(np.mean(decided)) > _WINNERS


def _given(
    games: PeriodGames, published: Published | None, asked: Mapping[str, float | None], mean: float
) -> tuple[dict[str, float | None], list[str]]:
    """Return every parameter with its value, None where it is to be fitted, and what must be said of that."""
    given, said = dict(asked), []
    if given["advantage"] is None and winner_first(games):
        given["advantage"] = 0.0
        share = float(np.mean(games.score[games.score != 0.5]))
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
    """Return the total discrepancy as a function of the parameters."""
    own = np.array([name in (entry or {}) for name in games.players], dtype=bool)
    enter = np.array([(entry or {}).get(name, 0.0) for name in games.players]) if entry else np.zeros(games.n_players)

    def value_of(values: Mapping[str, float]) -> float:
        fresh = new_state(np.where(own, enter, values["mean"]))
        fresh["variance"] = np.where(own, values["sigma0"] ** 2, 0.0)
        units, _ = advance(
            fresh,
            games.player_1,
            games.player_2,
            games.score,
            games.offsets,
            first=games.first,
            sigma0=values["sigma0"],
            nu=values["nu"],
            advantage=values["advantage"],
            drift=values["drift"],
            epoch=epoch,
            published=_published(values) if "slope" in values else None,
            ratings=games.ratings,
        )
        return sum(units) / DISCREPANCY_UNIT

    return value_of


def _parameters(
    given: Mapping[str, float | None],
    fitted: tuple[str, ...],
    point: Array,
    centre: Mapping[str, float],
    units: Mapping[str, float],
) -> dict[str, float]:
    """Return all parameters, the fitted ones from where the search stands."""
    values = {name: float(value) for name, value in given.items() if value is not None}
    for name, x in zip(fitted, point, strict=True):
        if name in _SPREADS:
            values[name] = math.exp(min(max(x, _LOWEST), _HIGHEST))
        else:
            values[name] = centre.get(name, 0.0) + units[name] * float(x)
    return values


def _search(cost: Callable[[Array], float], start: Array, method: str) -> tuple[Array, bool]:
    """Return the minimum and whether the search converged."""
    if method == "nelder-mead":
        simplex = np.vstack([start, start + 0.5 * np.eye(len(start))])
        found = minimize(
            cost, start, method="Nelder-Mead", options={"initial_simplex": simplex, "xatol": 1e-5, "fatol": 1e-6}
        )
        return np.asarray(found.x), bool(found.success)
    return descend(cost, start, highest=_HIGHEST)


def _warnings(fitted: tuple[str, ...], best: Mapping[str, float], converged: bool, silent: Sequence[str]) -> list[str]:
    """Return what casts doubt on a fit, in words."""
    said = []
    for name in ("sigma0", "nu"):
        if name in silent:
            said.append(f"the games do not tell {name}: any value foretells them as well")
        elif name in fitted and _at_limit(best[name]):
            said.append(f"{name} = {best[name]:.3g} is at the edge of what was searched")
    if not converged:
        said.append("the search ended before it converged")
    return said


def _few(fitted: tuple[str, ...], players: int) -> list[str]:
    """Return what few players mean for intervals of ratings: they take the fitted variances for the true ones."""
    if players >= ENOUGH_PLAYERS or not {"sigma0", "nu"} & set(fitted):
        return []
    held = "95 % intervals of ratings hold some 90 % with 10 players, 92 % with 20"
    return [f"variances fitted to {players} players: {held}"]
