"""How well results are foretold that the fit has not seen: the last periods, or stretches of time one after another.

In: Results. Out: the dicts that `results predict --holdout` and `--folds` send. Every game is foretold from the periods
before its own, and what is fitted sees only games before the stretch: time has one direction, so folds do too.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.core.errors import InputError
from skilloscope.ratings.periods.prediction import evaluate, fit_draws, forecast, outcome_log_loss
from skilloscope.ratings.periods.states import State
from skilloscope.ratings.periods.variances import VarianceFit, fit_variances
from skilloscope.results.calendar import Calendar
from skilloscope.results.period_games import PeriodGames
from skilloscope.results.table import Results
from skilloscope.studies.results.results import SCHEMA
from skilloscope.studies.results.runs import elo_given


@dataclass(frozen=True)
class FitOptions:
    """What is held in a fit; what is None or `fit` is fitted, an advantage and a drift under `auto` to many games."""

    sigma0: float | None = None
    nu: float | None = None
    advantage: float | str | None = None
    drift: float | str | None = None
    entry: Mapping[str, float] = field(default_factory=dict)

    def fit(self, games: PeriodGames) -> VarianceFit:
        """Fit what is not held to these games."""
        first, later = (elo_given(asked, len(games)) for asked in (self.advantage, self.drift))
        return fit_variances(
            games, sigma0=self.sigma0, nu=self.nu, advantage=first, drift=later, entry=self.entry or None
        )


def holdout_report(
    results: Results,
    held_out: int | str,
    period: str | None = None,
    *,
    fit: FitOptions | None = None,
    draws: bool = False,
) -> dict[str, Any]:
    """Return how well the last periods are foretold, each from those before it; what is fitted sees only the earlier.

    `held_out` is how many, or the date of the first of them.

    With `draws` it says too how well win, draw and loss are foretold as three outcomes.
    """
    own = results.for_period(period)
    games = own.by_period(period)
    periods = _held_out(held_out, games, own.calendar(period))
    if not 0 < periods < games.n_periods:
        raise InputError(
            f"{periods} of {games.n_periods} periods cannot be held out", hint="hold out fewer, or since a date between"
        )
    found = _stretch(games, games.n_periods - periods, games.n_periods, fit or FitOptions())
    known, more = found.known, dict[str, Any]()
    if draws:
        kappa, _, other = fit_draws(found.probability[:known], games.score[:known])
        loss = outcome_log_loss(found.probability[known:], games.score[known:], kappa)
        more = {"kappa": kappa, "outcome_log_loss": loss}
        own = replace(own, noted=own.noted + other)
    return {
        "schema": SCHEMA,
        **_parameters(found.fit),
        "published": None if found.fit.published is None else found.fit.published._asdict(),
        "period": str(own.calendar(period)),
        "periods_held_out": periods,
        **evaluate(found.probability[known:], games.score[known:]).as_dict(),
        **more,
        "warnings": list(found.fit.warnings),
        "skipped": own.tally.as_dict(),
        "noted": own.noted.as_dict(),
    }


def folds_report(
    results: Results, folds: int, period: str | None = None, *, fit: FitOptions | None = None
) -> dict[str, Any]:
    """Return how well stretches of time are foretold one after another, everything fitted anew before each.

    The games are cut by time into one stretch more than `folds`, of about as many games each; the first is only
    learnt from.
    """
    own = results.for_period(period)
    games = own.by_period(period)
    edges = fold_edges(games, folds)
    rows, warnings = list[dict[str, Any]](), dict[str, None]()
    foretold, came = list[npt.NDArray[np.float64]](), list[npt.NDArray[np.float64]]()
    for start, stop in itertools.pairwise(edges):
        found = _stretch(games, start, stop, fit or FitOptions())
        p, score = found.probability[found.known :], games.score[found.known : found.known + found.games]
        went = evaluate(p, score)
        said = {"games": went.games, "log_loss": went.log_loss, "brier": went.brier}
        rows.append({"from": games.labels[start], "to": games.labels[stop - 1], **said, **_parameters(found.fit)})
        foretold.append(p)
        came.append(score)
        warnings |= dict.fromkeys(found.fit.warnings)
    return {
        "schema": SCHEMA,
        "period": str(own.calendar(period)),
        "folds": rows,
        **evaluate(np.concatenate(foretold), np.concatenate(came)).as_dict(),
        "warnings": list(warnings),
        "skipped": own.tally.as_dict(),
        "noted": own.noted.as_dict(),
    }


def fold_edges(games: PeriodGames, folds: int) -> list[int]:
    """Return the periods at which stretches begin, and where the last ends: whole periods, as even as they can be.

    >>> games = PeriodGames.build([0] * 6, [1] * 6, [1.0] * 6, [0, 1, 1, 2, 3, 4], players=["a", "b"])
    >>> fold_edges(games, 2)
    [2, 3, 5]
    """
    wanted = np.arange(1, folds + 1) * len(games) / (folds + 1)
    edges = [*np.searchsorted(games.offsets, wanted).tolist(), games.n_periods]
    if folds < 1 or len(set(edges)) < len(edges) or edges[0] < 1:
        raise InputError(
            f"{games.n_periods} periods of {len(games):,} games cannot be cut into {folds} stretches and one before",
            hint="take fewer, or a shorter --period",
        )
    return edges


@dataclass(frozen=True)
class _Stretch:
    """Some periods foretold: all games up to their end, how many come before them, and what was fitted to those."""

    probability: npt.NDArray[np.float64]
    known: int
    fit: VarianceFit

    @property
    def games(self) -> int:
        return len(self.probability) - self.known


def _stretch(games: PeriodGames, start: int, stop: int, options: FitOptions) -> _Stretch:
    """Foretell the periods start..stop − 1; what is fitted sees those before."""
    early = games.between(0, start)
    fit = options.fit(early)
    probability, _ = forecast(games.between(0, stop), State.empty(**fit.parameters()), entry=options.entry or None)
    return _Stretch(probability, len(early), fit)


def _parameters(fit: VarianceFit) -> dict[str, float]:
    return {name: getattr(fit, name) for name in ("sigma0", "nu", "advantage", "drift")}


def _held_out(asked: int | str, games: PeriodGames, calendar: Calendar) -> int:
    """Return how many periods are held out: so many, or all from that of a date on."""
    if str(asked).isdigit() and int(asked) < games.n_periods:
        return int(asked)
    return games.first + games.n_periods - int(calendar.number(str(asked)))
