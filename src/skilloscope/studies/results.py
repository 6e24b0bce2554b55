"""Ratings from results as the dicts that `skilloscope results fit|rate|smooth|predict --json` send."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from skilloscope.errors import InputError
from skilloscope.ratings.leaderboards import components, leaderboard, peaks
from skilloscope.ratings.period_length import choose_period
from skilloscope.ratings.prediction import held_out, win_probabilities
from skilloscope.ratings.states import State
from skilloscope.ratings.variance_posterior import VariancePosterior, variance_posterior
from skilloscope.ratings.variances import fit_variances
from skilloscope.results.table import Results
from skilloscope.studies.rating_runs import Rated

__all__ = [
    "SCHEMA",
    "fit_posterior",
    "fit_report",
    "history_table",
    "holdout_report",
    "predictions",
    "ratings_report",
]

SCHEMA = 1
_RIM = 0.01  # of the posterior on the rim of its grid, from which on an interval is cut short


def fit_report(
    results: Results,
    period: str | None = None,
    *,
    sigma0: float | None = None,
    nu: float | None = None,
    method: str = "quick",
    posterior: VariancePosterior | None = None,
    lengths: Sequence[str] = (),
) -> dict[str, Any]:
    """Fit σ0 and ν to results and return what `results fit --json` sends.

    With a `posterior` (of `fit_posterior`) it holds intervals, with `lengths` how well other periods foretell.
    """
    own = results.for_period(period)
    fit = fit_variances(own.by_period(period), sigma0=sigma0, nu=nu, method=method)
    more: dict[str, Any] = {}
    beyond: list[str] = []
    if posterior is not None:
        if posterior.at_edge > _RIM:
            beyond = [
                f"{posterior.at_edge:.0%} of the posterior lies on the rim of its grid: the intervals are too short"
            ]
        more["intervals"] = {name: list(posterior.interval(name)) for name in ("sigma0", "nu")}
    if lengths:
        more["lengths"] = _lengths(results, lengths)
    return {
        "schema": SCHEMA,
        "sigma0": fit.sigma0,
        "nu": fit.nu,
        "discrepancy": fit.discrepancy,
        "games": fit.games,
        "players": fit.players,
        "periods": fit.periods,
        "period": str(own.calendar(period)),
        "games_per_player_and_period": fit.games_per_player_and_period,
        "fitted": list(fit.fitted),
        **more,
        "warnings": [*fit.warnings, *beyond],
        "skipped": own.tally.as_dict(),
        "noted": own.noted.as_dict(),
    }


def fit_posterior(results: Results, period: str | None = None) -> VariancePosterior:
    """Return the joint posterior of σ0 and ν about their fit. [GLI99 figure 1]"""
    games = results.by_period(period)
    return variance_posterior(games, fit_variances(games))


def _lengths(results: Results, lengths: Sequence[str]) -> list[dict[str, Any]]:
    """Return how well periods of other lengths foretell the same games; others than most of them is not comparable."""
    choice = choose_period(results, tuple(lengths))
    return [
        {
            "period": length,
            "discrepancy": fit.discrepancy,
            "games": fit.games,
            "games_per_player_and_period": fit.games_per_player_and_period,
            "best": length == choice.best,
            "comparable": length not in choice.incomparable,
        }
        for length, fit in choice.fits.items()
    ]


def ratings_report(rated: Rated, *, at: str | None = None, active: int | None = None) -> dict[str, Any]:
    """Return what `results rate --json` and `smooth --json` send, strongest first.

    `at` adds the passage of time until that date's period to every `rd`; in a smoothed history it is a moment of the
    past or the future, and who had not played by then is left out. `active` keeps those who played in the last so many
    periods.
    """
    number = None if at is None else int(rated.calendar.number(at))
    if rated.history.method == "filter":
        rows, left_out = _filtered_rows(rated, number, active)
    else:
        rows, left_out = _smoothed_rows(rated, number, active)
    groups = _components(rated)
    apart = _component_warning(groups)
    return {
        "schema": SCHEMA,
        "sigma0": rated.state.sigma0,
        "nu": rated.state.nu,
        "period": str(rated.calendar),
        "method": rated.history.method,
        "at": None if number is None else rated.calendar.label(number),
        "active": active,
        "left_out": left_out,
        "games": rated.state.games,
        "players": [{**row, "component": groups[row["player"]]} if apart else row for row in rows],
        "warnings": [*rated.warnings, *apart],
        "skipped": rated.results.tally.as_dict(),
        "noted": rated.results.noted.as_dict(),
    }


def _filtered_rows(rated: Rated, number: int | None, active: int | None) -> tuple[list[dict[str, Any]], int]:
    latest = rated.state.latest
    if number is not None and latest is not None and number < latest:
        raise InputError(
            f"there are games after {rated.calendar.label(number)}",
            hint="`rate --at` looks ahead; `smooth --at` tells what is now known of the past",
        )
    board = leaderboard(rated.state, active_within=active, at=number)
    return board.rows(), board.left_out


def _smoothed_rows(rated: Rated, number: int | None, active: int | None) -> tuple[list[dict[str, Any]], int]:
    """Return everybody's smoothed strength in his last period, or in period `number`, with his peak. [GLI99 table 3]"""
    history = rated.history
    board, periods = peaks(history)
    peak = {
        row["player"]: {"peak_rating": row["rating"], "peak_rd": row["rd"], "peak_period": period}
        for row, period in zip(board.rows(), periods, strict=True)
    }
    end = rated.latest if number is None else number
    rows, left_out = [], 0
    for i in np.flatnonzero(np.diff(history.offsets)).tolist():
        part = slice(int(history.offsets[i]), int(history.offsets[i + 1]))
        times = history.period[part]
        early = times <= end
        if not early.any() or (active is not None and times[early][-1] <= end - active):
            left_out += 1
            continue
        name = history.players[i]
        if number is None:
            mean, variance = history.mean[part][-1:], history.variance[part][-1:]
        else:
            mean, variance = history.at(name, [number])
        row = _row(name, float(mean[0]), float(np.sqrt(variance[0])), int(history.games[part].sum()))
        ends = {"first_period": rated.state.label(times[0]), "last_period": rated.state.label(times[-1])}
        rows.append({**row, **ends, **peak[name]})
    return sorted(rows, key=lambda row: (-row["rating"], row["player"])), left_out


def _row(name: str, rating: float, rd: float, games: int) -> dict[str, Any]:
    half = 1.959963984540054 * rd
    return {"player": name, "rating": rating, "rd": rd, "low": rating - half, "high": rating + half, "games": games}


def _components(rated: Rated) -> dict[str, int]:
    """Return the group of players linked by games to which each belongs; empty where not all games are at hand."""
    if rated.state.games != len(rated.games):
        return {}
    group = components(rated.games)
    return {name: int(number) for name, number in zip(rated.games.players, group, strict=True) if number >= 0}


def _component_warning(groups: Mapping[str, int]) -> list[str]:
    if not groups or max(groups.values()) == 0:
        return []
    others = sum(number > 0 for number in groups.values())
    count = max(groups.values()) + 1
    return [f"{count:,} groups of players never met: {others:,} outside the largest cannot be compared with it"]


def _unlinked_warning(rated: Rated, player_1: Sequence[str], player_2: Sequence[str]) -> list[str]:
    groups = _components(rated)
    pairs = [(groups[one], groups[two]) for one, two in zip(player_1, player_2, strict=True) if {one, two} <= {*groups}]
    apart = sum(one != two for one, two in pairs)
    said = f"{apart:,} of {len(player_1):,} pairs: no chain of games links the two, so the prior alone compares them"
    return [said] if apart else []


def history_table(rated: Rated) -> pa.Table:
    """Return everybody's history as a table: player, period, rating, rd, games."""
    return pa.table(rated.history.columns())


def predictions(
    rated: Rated, player_1: Sequence[str], player_2: Sequence[str], *, at: str | None = None
) -> dict[str, Any]:
    """Return the probability (16) that each first player wins, in the period of `at` (without it, the next one).

    A draw counts as half a win. Who has not played yet is a new player; `new` names them.
    """
    number = rated.latest + 1 if at is None else int(rated.calendar.number(at))
    if number < rated.latest:
        raise InputError(
            f"there are games after {rated.calendar.label(number)}: what they showed would foretell the past",
            hint="predict a later period, or `predict --holdout` past ones; rate fewer games to go back",
        )
    probability = win_probabilities(rated.state, player_1, player_2, at=number)
    known = {name for name, games in zip(rated.state.players, rated.state.lines["games"], strict=True) if games}
    rows = zip(player_1, player_2, probability.tolist(), strict=True)
    return {
        "schema": SCHEMA,
        "sigma0": rated.state.sigma0,
        "nu": rated.state.nu,
        "at": rated.calendar.label(number),
        "predictions": [{"player_1": one, "player_2": two, "probability": p} for one, two, p in rows],
        "new": sorted({*player_1, *player_2} - known),
        "warnings": [*rated.warnings, *_unlinked_warning(rated, player_1, player_2)],
        "skipped": rated.results.tally.as_dict(),
        "noted": rated.results.noted.as_dict(),
    }


def holdout_report(
    results: Results, periods: int, period: str | None = None, *, sigma0: float | None = None, nu: float | None = None
) -> dict[str, Any]:
    """Return how well the last periods are foretold, each from those before it; σ0 and ν see only the earlier ones."""
    own = results.for_period(period)
    games = own.by_period(period)
    if periods >= games.n_periods:
        raise InputError(f"{periods} of {games.n_periods} periods cannot be held out", hint="hold out fewer")
    fit = fit_variances(games.between(0, games.n_periods - periods), sigma0=sigma0, nu=nu)
    state = State.empty(sigma0=fit.sigma0, nu=fit.nu, period=str(own.calendar(period)))
    found = held_out(games, state, periods=periods)
    return {
        "schema": SCHEMA,
        "sigma0": fit.sigma0,
        "nu": fit.nu,
        "period": str(own.calendar(period)),
        "periods_held_out": periods,
        **found.as_dict(),
        "warnings": list(fit.warnings),
        "skipped": own.tally.as_dict(),
        "noted": own.noted.as_dict(),
    }
