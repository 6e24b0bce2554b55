"""Ratings from results as the dicts that `skilloscope results fit|rate|smooth|predict --json` send."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.special import ndtri

from skilloscope.core.errors import InputError
from skilloscope.models.comparison import davidson, win_probability
from skilloscope.ratings.periods.histories import History
from skilloscope.ratings.periods.leaderboards import components, leaderboard, peaks
from skilloscope.ratings.periods.period_length import choose_period
from skilloscope.ratings.periods.prediction import fit_draws, foretold, win_probabilities
from skilloscope.ratings.periods.smoothing import whole as weighed_whole
from skilloscope.ratings.periods.variance_intervals import FitEach, simulated_intervals
from skilloscope.ratings.periods.variance_posterior import VariancePosterior, variance_posterior
from skilloscope.ratings.periods.variances import fit_variances
from skilloscope.ratings.periods.whole import few_opponents, gap_variances, precision_of
from skilloscope.results.table import Results
from skilloscope.studies.results.runs import Rated, elo_given

SCHEMA = 1


def fit_report(
    results: Results,
    period: str | None = None,
    *,
    sigma0: float | None = None,
    nu: float | None = None,
    advantage: float | str | None = None,
    drift: float | str | None = None,
    entry: Mapping[str, float] | None = None,
    method: str = "quick",
    intervals: bool = False,
    lengths: Sequence[str] = (),
    mass: float = 0.95,
    each: FitEach = map,
) -> dict[str, Any]:
    """Fit σ0 and ν to results and return what `results fit --json` sends.

    With `intervals` it says where the true spread of strengths and of their changes lies (`each` may do those fits
    elsewhere), with `lengths` how well other periods foretell.
    """
    own = results.for_period(period)
    first, later = (elo_given(asked, len(own)) for asked in (advantage, drift))
    fit = fit_variances(
        own.by_period(period), sigma0=sigma0, nu=nu, advantage=first, drift=later, entry=entry, method=method
    )
    more: dict[str, Any] = {}
    if intervals:
        found = simulated_intervals(own.by_period(period), fit, rng=np.random.default_rng(1), level=mass, each=each)
        more["intervals"] = {name: list(ends) for name, ends in found.items()}
    if lengths:
        more |= _lengths(results, lengths, first, later, entry)
    return {
        "schema": SCHEMA,
        "sigma0": fit.sigma0,
        "nu": fit.nu,
        "advantage": fit.advantage,
        "drift": fit.drift,
        "published": None if fit.published is None else fit.published._asdict(),
        "entered": sum(name in (entry or {}) for name in own.players),
        "discrepancy": fit.discrepancy,
        "games": fit.games,
        "players": fit.players,
        "periods": fit.periods,
        "period": str(own.calendar(period)),
        "games_per_player_and_period": fit.games_per_player_and_period,
        "fitted": list(fit.fitted),
        **more,
        "warnings": list(fit.warnings),
        "skipped": own.tally.as_dict(),
        "noted": own.noted.as_dict(),
    }


def fit_posterior(
    results: Results,
    period: str | None = None,
    *,
    advantage: float | str | None = None,
    drift: float | str | None = None,
    entry: Mapping[str, float] | None = None,
) -> VariancePosterior:
    """Return the joint posterior of σ0 and ν about their fit. [GLI99 figure 1]"""
    games = results.by_period(period)
    fit = fit_variances(
        games, advantage=elo_given(advantage, len(games)), drift=elo_given(drift, len(games)), entry=entry
    )
    return variance_posterior(games, fit, entry=entry)


def _lengths(
    results: Results,
    lengths: Sequence[str],
    advantage: float | None,
    drift: float | None,
    entry: Mapping[str, float] | None,
) -> dict[str, Any]:
    """Return how well periods of other lengths foretell the same games, all looking equally far ahead."""
    choice = choose_period(results, tuple(lengths), advantage=advantage, drift=drift, entry=entry)
    rows = [
        {
            "period": length,
            "loss": choice.losses[length],
            "games": fit.games,
            "games_per_player_and_period": fit.games_per_player_and_period,
            "best": length == choice.best,
            "comparable": length not in choice.incomparable,
        }
        for length, fit in choice.fits.items()
    ]
    return {"lengths": rows, "horizon": choice.horizon}


def ratings_report(
    rated: Rated,
    *,
    at: str | None = None,
    active: int | str | None = None,
    mass: float = 0.95,
    players: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Return what `results rate --json` and `smooth --json` send, strongest first.

    `at` adds the passage of time until that date's period to every `rd`; in a smoothed history it is a moment of the
    past or the future, and who had not played by then is left out. `active` keeps those who played in the last so many
    periods, or in the last 6M. `players` are shown alone, each at his place.
    """
    number = None if at is None else int(rated.calendar.number(at, last=True))
    within = None if active is None else rated.calendar.periods_in(str(active))
    if rated.history.method == "filter":
        rows, left_out = _filtered_rows(rated, number, within, mass)
    else:
        rows, left_out = _smoothed_rows(rated, number, within, mass)
    rows = _only([{**row, "place": place} for place, row in enumerate(rows, 1)], players)
    groups = _components(rated)
    apart = _component_warning(groups)
    return {
        "schema": SCHEMA,
        "sigma0": rated.state.sigma0,
        "nu": rated.state.nu,
        "advantage": rated.state.advantage,
        "drift": rated.state.drift,
        "published": None if rated.state.published is None else rated.state.published._asdict(),
        "entered": sum(name in rated.entry for name in rated.state.players),
        "period": str(rated.calendar),
        "method": rated.history.method,
        "mass": mass,
        "at": None if number is None else rated.calendar.label(number),
        "active": active,
        "left_out": left_out,
        "games": rated.state.games,
        "components": max(groups.values()) + 1 if groups else None,
        "players": [{**row, "component": groups[row["player"]]} if apart else row for row in rows],
        "warnings": [*rated.warnings, *apart],
        "skipped": rated.results.tally.as_dict(),
        "noted": rated.results.noted.as_dict(),
    }


def _only(rows: list[dict[str, Any]], players: Sequence[str] | None) -> list[dict[str, Any]]:
    """Return the rows of these players; one who is not there is named."""
    if not players:
        return rows
    found = [row for row in rows if row["player"] in players]
    missing = [name for name in players if name not in {row["player"] for row in found}]
    if missing:
        near = [row["player"] for row in rows if missing[0].casefold() in row["player"].casefold()][:5]
        hint = f"like it: {'; '.join(near)}" if near else "`skilloscope names` lists spellings"
        raise InputError(f"no player on the list is called {missing[0]!r}", hint=hint)
    return found


def _filtered_rows(
    rated: Rated, number: int | None, active: int | None, mass: float
) -> tuple[list[dict[str, Any]], int]:
    latest = rated.state.latest
    if number is not None and latest is not None and number < latest:
        raise InputError(
            f"there are games after {rated.calendar.label(number)}",
            hint="`rate --at` looks ahead; `smooth --at` tells what is now known of the past",
        )
    board = leaderboard(rated.state, active_within=active, at=number, level=mass)
    return board.rows(), board.left_out


def _smoothed_rows(
    rated: Rated, number: int | None, active: int | None, mass: float
) -> tuple[list[dict[str, Any]], int]:
    """Return everybody's smoothed strength in his last period, or in period `number`, with his peak. [GLI99 table 3]"""
    history = rated.history
    if number is None:
        who = np.flatnonzero(np.diff(history.offsets))
        mean, variance = (column[history.offsets[who + 1] - 1] for column in (history.mean, history.variance))
    else:
        who, mean, variance = history.everybody_at(number)
    if active is not None:
        end = rated.latest if number is None else number
        recent = (history.period > end - active) & (history.period <= end)
        keep = np.bincount(history.player[recent], minlength=len(history.players))[who] > 0
        who, mean, variance = who[keep], mean[keep], variance[keep]
    order = np.argsort(-mean, kind="stable")  # names are in order, so equals stay so
    rows = _smoothed(history, who[order], mean[order], np.sqrt(variance[order]), mass)
    return rows, int(np.count_nonzero(np.diff(history.offsets))) - len(rows)


def _smoothed(history: History, who: Any, mean: Any, rd: Any, mass: float) -> list[dict[str, Any]]:
    """Return the rows of these players: strength, what he played, and his peak."""
    board, periods = peaks(history)
    peak = {
        row["player"]: {"peak_rating": row["rating"], "peak_rd": row["rd"], "peak_period": period}
        for row, period in zip(board.rows(), periods, strict=True)
    }
    games = np.bincount(history.player, weights=history.games, minlength=len(history.players)).astype(np.int64)
    first, last = history.period[history.offsets[who]], history.period[history.offsets[who + 1] - 1]
    half = float(ndtri(0.5 + mass / 2)) * rd
    return [
        {
            "player": history.players[i],
            "rating": rating,
            "rd": spread,
            "low": rating - reach,
            "high": rating + reach,
            "games": n,
            "first_period": history.state.label(start),
            "last_period": history.state.label(end),
            **peak[history.players[i]],
        }
        for i, rating, spread, reach, n, start, end in zip(
            *(column.tolist() for column in (who, mean, rd, half, games[who], first, last)), strict=True
        )
    ]


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
    return rated.history.to_arrow()


def predictions(
    rated: Rated,
    player_1: Sequence[str],
    player_2: Sequence[str],
    *,
    at: str | None = None,
    draws: bool = False,
    whole: bool = False,
) -> dict[str, Any]:
    """Return the probability (16) that each first player wins, in the period of `at` (without it, the next one).

    A draw counts as half a win; with `draws` it has a probability of its own, beside those of win and loss, with the
    κ that fits the games of the run best. Who has not played yet is a new player; `new` names them. With `whole` all
    games of all periods are weighed together, and each pair has its gap with its deviation.
    """
    number = rated.latest + 1 if at is None else int(rated.calendar.number(at, last=True))
    if number < rated.latest:
        raise InputError(
            f"there are games after {rated.calendar.label(number)}: what they showed would foretell the past",
            hint="predict a later period, or `predict --holdout` past ones; rate fewer games to go back",
        )
    gaps: dict[str, Any] = {}
    if whole:
        probability, gaps = _by_whole(rated, player_1, player_2, number)
    else:
        probability = win_probabilities(rated.state, player_1, player_2, at=number, entry=rated.entry)
    known = {name for name, games in zip(rated.state.players, rated.state.lines["games"], strict=True) if games}
    columns: dict[str, Any] = {"player_1": player_1, "player_2": player_2, "probability": probability.tolist(), **gaps}
    more: dict[str, Any] = {}
    if draws:
        more["kappa"] = kappa = _draw_rate(rated)
        win_draw_loss = davidson(probability, kappa)
        columns |= {name: p.tolist() for name, p in zip(("win", "draw", "loss"), win_draw_loss, strict=True)}
    return {
        "schema": SCHEMA,
        "sigma0": rated.state.sigma0,
        "nu": rated.state.nu,
        "advantage": rated.state.advantage,
        **more,
        "at": rated.calendar.label(number),
        "predictions": [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
        "new": sorted({*player_1, *player_2} - known),
        "from": "whole" if whole else "filter",
        "warnings": [
            *rated.warnings,
            *_unlinked_warning(rated, player_1, player_2),
            *_few_opponents_warning(rated, [*player_1, *player_2]),
        ],
        "skipped": rated.results.tally.as_dict(),
        "noted": rated.results.noted.as_dict(),
    }


def _by_whole(
    rated: Rated, player_1: Sequence[str], player_2: Sequence[str], number: int
) -> tuple[Any, dict[str, list[float]]]:
    """Return the probabilities from the joint posterior of all games, and each pair's gap with its deviation."""
    if rated.every is None:
        raise InputError("the games before these were not kept", hint="give all of them, without --state")
    games = rated.every.by_period(str(rated.calendar))
    weighed, _ = weighed_whole(rated.history, games)
    sides = [weighed.final().beliefs(names, number, entry=rated.entry) for names in (player_1, player_2)]
    last = {name: end - 1 for name, end in zip(weighed.players, weighed.offsets[1:].tolist(), strict=True)}
    both = np.array([{one, two} <= last.keys() for one, two in zip(player_1, player_2, strict=True)], dtype=bool)
    variance = sides[0][1] + sides[1][1]
    rows = [np.array([last[name] for name, known in zip(names, both, strict=True) if known], dtype=np.int64)
            for names in (player_1, player_2)]  # fmt: skip
    passed = rated.state.nu**2 * sum(number - weighed.period[side] for side in rows)
    variance[both] = gap_variances(precision_of(weighed, games), *rows) + passed
    gap = sides[0][0] - sides[1][0]
    p = win_probability(gap, variance, 0.0, 0.0, advantage=rated.state.advantage)
    return p, {"gap": gap.tolist(), "gap_sd": np.sqrt(variance).tolist()}


def _few_opponents_warning(rated: Rated, names: Sequence[str]) -> list[str]:
    few = few_opponents(rated.games, names) if rated.state.games == len(rated.games) else []
    said = f"{', '.join(few[:5])}{' …' if len(few) > 5 else ''}: met fewer than three others, so little is known beyond"
    return [f"{said} these; --whole weighs such games together"] if few else []


def _draw_rate(rated: Rated) -> float:
    """Return κ of Davidson's draws, fitted to the games of the run as they were foretold."""
    if not len(rated.games):
        raise InputError("kept ratings do not tell how often games are drawn", hint="give results too")
    return fit_draws(foretold(rated.history, rated.games), rated.games.score)[0]
