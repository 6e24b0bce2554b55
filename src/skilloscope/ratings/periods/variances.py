"""Fitting σ0 and ν (and, beyond the paper, the first player's advantage) by how well results are foretold.

The criterion is GLI99 sect. 4: the total discrepancy (15) of all games, each foretold by (16) from what was known
before its period. `nelder-mead` is the paper's way; `quick`, the default, comes to the same minimum with fewer passes
over the games. Both search the logarithms of the two standard deviations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from skilloscope.core.errors import InputError
from skilloscope.inference.optimise import descend
from skilloscope.models.kernels.comparison import DISCREPANCY_UNIT, advance, copy_state, new_state
from skilloscope.models.kernels.counting import appearances
from skilloscope.results.period_games import PeriodGames

FIT_METHODS = ("quick", "nelder-mead")
FEWEST_GAMES = 5  # [GLI99 sect. 3.2] "perhaps at least 5-10 games per player on average" in a period
_START = {"sigma0": math.log(200.0), "nu": math.log(30.0), "advantage": 0.0}
_LOWEST, _HIGHEST = math.log(0.1), math.log(3000.0)
_ADVANTAGE_UNIT = 50.0  # Elo: makes a step in the advantage about as large as one in a logarithm

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class VarianceFit:
    """The fitted parameters, the discrepancy they leave, and what one must know to trust them."""

    sigma0: float
    nu: float
    advantage: float
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

    def as_dict(self) -> dict[str, Any]:
        """Return the fit as reports send it."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def total_discrepancy(
    games: PeriodGames,
    sigma0: float,
    nu: float,
    *,
    mean: float = 1500.0,
    advantage: float = 0.0,
    entry: Mapping[str, float] | None = None,
) -> float:
    """Σ d_ij over all games [GLI99 (15)], each foretold by (16) from the periods before its own."""
    return _criterion(games, mean, entry)({"sigma0": sigma0, "nu": nu, "advantage": advantage})


def fit_variances(
    games: PeriodGames,
    *,
    sigma0: float | None = None,
    nu: float | None = None,
    advantage: float | None = 0.0,
    mean: float = 1500.0,
    entry: Mapping[str, float] | None = None,
    method: str = "quick",
) -> VarianceFit:
    """Return the parameters that foretell the games best; those that are given are held.

    `advantage=None` fits the first player's advantage too. Nothing is printed: what casts doubt on the fit is in
    `warnings`.
    """
    if method not in FIT_METHODS:
        raise InputError(f"no way of fitting is called {method!r}", hint=" or ".join(FIT_METHODS))
    if not len(games):
        raise InputError("there are no games to fit to")
    given = {"sigma0": sigma0, "nu": nu, "advantage": advantage}
    fitted = tuple(name for name, value in given.items() if value is None)
    value_of = _criterion(games, mean, entry)
    passes = 0

    def cost(point: Array) -> float:
        nonlocal passes
        passes += 1
        return value_of(_parameters(given, fitted, point))

    start = np.array([_START[name] for name in fitted])
    point, converged = _search(cost, start, method) if fitted else (start, True)
    best = _parameters(given, fitted, point)
    players, lines = appearances(games.player_1, games.player_2, games.offsets, games.n_players)
    density = 2 * len(games) / lines
    value = cost(point)
    silent = [name for i, name in enumerate(fitted) if abs(cost(point + 0.5 * np.eye(len(fitted))[i]) - value) < 1e-6]
    return VarianceFit(
        sigma0=best["sigma0"],
        nu=best["nu"],
        advantage=best["advantage"],
        discrepancy=value,
        games=len(games),
        players=int(players),
        periods=games.n_periods,
        games_per_player_and_period=float(density),
        fitted=fitted,
        method=method,
        passes=passes,
        converged=converged,
        warnings=tuple(_warnings(density, fitted, best, converged, silent)),
    )


def density_warnings(density: float | None) -> list[str]:
    """Return what must be said where a player has few games in a period. [GLI99 sect. 3.2]"""
    if density is None or density >= FEWEST_GAMES:
        return []
    return [
        f"{density:.1f} games per active player and period: under {FEWEST_GAMES} the approximation may not be "
        "dependable; try longer periods"
    ]


def _criterion(
    games: PeriodGames, mean: float, entry: Mapping[str, float] | None
) -> Callable[[Mapping[str, float]], float]:
    """Return the total discrepancy as a function of the parameters."""
    enter = [(entry or {}).get(name, mean) for name in games.players] if entry else np.full(games.n_players, mean)
    fresh = new_state(enter)

    def value_of(parameters: Mapping[str, float]) -> float:
        units, _ = advance(
            copy_state(fresh),
            games.player_1,
            games.player_2,
            games.score,
            games.offsets,
            first=games.first,
            sigma0=parameters["sigma0"],
            nu=parameters["nu"],
            advantage=parameters["advantage"],
        )
        return sum(units) / DISCREPANCY_UNIT

    return value_of


def _parameters(given: Mapping[str, float | None], fitted: tuple[str, ...], point: Array) -> dict[str, float]:
    """Return all three parameters, the fitted ones from where the search stands."""
    values = {name: float(value) for name, value in given.items() if value is not None}
    for name, x in zip(fitted, point, strict=True):
        inside = math.exp(min(max(x, _LOWEST), _HIGHEST)) if name != "advantage" else _ADVANTAGE_UNIT * x
        values[name] = float(inside)
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


def _warnings(
    density: float, fitted: tuple[str, ...], best: Mapping[str, float], converged: bool, silent: Sequence[str]
) -> list[str]:
    """Return what casts doubt on a fit, in words."""
    said = density_warnings(density)
    for name in ("sigma0", "nu"):
        if name in silent:
            said.append(f"the games do not tell {name}: any value foretells them as well")
        elif name in fitted and not math.exp(_LOWEST) * 1.01 < best[name] < math.exp(_HIGHEST) * 0.99:
            said.append(f"{name} = {best[name]:.3g} is at the edge of what was searched")
    if not converged:
        said.append("the search ended before it converged")
    return said
