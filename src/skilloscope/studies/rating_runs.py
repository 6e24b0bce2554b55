"""A run over results: rated from the start, on kept ratings, or from a stream; smoothed if wanted.

In: Results, or sorted Parquet files. Out: Rated. The mathematics is in `ratings`; what is sent is in `results`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from skilloscope.errors import InputError, Tally
from skilloscope.models.comparison_kernels import ROW
from skilloscope.ratings.histories import History
from skilloscope.ratings.smoothing import joint, smooth
from skilloscope.ratings.states import State
from skilloscope.ratings.variances import VarianceFit, fit_variances
from skilloscope.results.calendar import GIVEN, Calendar
from skilloscope.results.period_games import PeriodGames
from skilloscope.results.streaming import ResultStream
from skilloscope.results.table import Results
from skilloscope.studies.continued import Kept, joined_history

__all__ = ["BEFORE", "Rated", "as_rated", "rate_results", "rate_stream", "smoothed"]

BEFORE = "before the period that was rewound to"


@dataclass(frozen=True)
class Rated:
    """What a run over results gave: the ratings at its end, everybody's history, and what was left out."""

    results: Results
    games: PeriodGames
    calendar: Calendar
    state: State
    history: History
    fit: VarianceFit | None = None
    """The fit, where σ0 or ν was not given."""
    notes: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What must be said beside the numbers."""
        return (*(self.fit.warnings if self.fit else ()), *self.notes)

    @property
    def latest(self) -> int:
        """The number of the latest period."""
        return self.games.first + self.games.n_periods - 1


def rate_results(
    results: Results,
    period: str | None = None,
    *,
    sigma0: float | None = None,
    nu: float | None = None,
    mean: float = 1500.0,
    kept: Kept | None = None,
    rewind: str | None = None,
) -> Rated:
    """Rate everybody; σ0 and ν are fitted unless given. With `kept` ratings only the new games are played on them.

    With `rewind` the kept ratings go back to before that period, and all games of the table from there on are played:
    for results that came late or were corrected.
    """
    if kept is not None:
        return _continued(results, kept, period, rewind, sigma0, nu)
    if rewind is not None:
        raise InputError("there are no kept ratings to rewind", hint="--from needs a --state that exists")
    own = results.for_period(period)
    games, calendar = own.by_period(period), own.calendar(period)
    fit = None if sigma0 is not None and nu is not None else fit_variances(games, sigma0=sigma0, nu=nu, mean=mean)
    start = State.empty(
        sigma0=fit.sigma0 if fit else float(sigma0 or 0),
        nu=fit.nu if fit else float(nu or 0),
        mean=mean,
        period=str(calendar),
    )
    state, rows = start.play(games, history=True)
    assert rows is not None
    return Rated(own, games, calendar, state, History.from_rows(rows, state), fit)


def _continued(
    results: Results, kept: Kept, period: str | None, rewind: str | None, sigma0: float | None, nu: float | None
) -> Rated:
    """Play new games on kept ratings, or all games from a period on where they are rewound."""
    state, history = kept.state, kept.history
    for name, asked, has in (("sigma0", sigma0, state.sigma0), ("nu", nu, state.nu)):
        if asked is not None and asked != has:
            raise InputError(f"the kept ratings have {name} = {has:g}, not {asked:g}", hint="start a new state")
    if period is not None and str(Calendar.from_text(period)) != state.period:
        raise InputError(f"the kept ratings have periods of {state.period}, not {period}", hint="leave --period out")
    own = results.for_period(state.period)
    calendar = own.calendar(state.period)
    if rewind is not None:
        number = int(calendar.number(rewind))
        state, history = history.state_before(number), kept.before(number)
        early = own.numbers(state.period) < number
        own = replace(own.select(~early), tally=own.tally + Tally({BEFORE: int(early.sum())} if early.any() else {}))
    games = own.by_period(state.period)
    state, rows = state.play(games, history=True)
    assert rows is not None
    return Rated(own, games, calendar, state, joined_history(history, History.from_rows(rows, state)))


def as_rated(kept: Kept) -> Rated:
    """Return kept ratings as a run that played nothing new."""
    state, nothing = kept.state, np.zeros(0, dtype=np.int32)
    if state.latest is None:
        raise InputError("the kept ratings hold no game")
    about = Results((), nothing, nothing, np.zeros(0), np.zeros(0, dtype="datetime64[D]"))
    offsets = np.zeros(2, dtype=np.int64)
    label = [state.label(state.latest)]
    games = PeriodGames(nothing, nothing, np.zeros(0), offsets, 0, label, (), state.latest)
    return Rated(about, games, Calendar.from_text(state.period), state, kept.history)


def smoothed(rated: Rated, method: str = "rts", *, from_last_active: bool = False) -> Rated:
    """Return the same with its history smoothed backwards by `rts`, `eq14` or `joint`."""
    if method == "joint":
        history, ended = joint(rated.history, rated.games)
        said = f"after {ended.sweeps} sweeps a strength still moved by {ended.moved:.1f} Elo: not converged"
        return replace(rated, history=history, notes=() if ended.converged else (said,))
    return replace(rated, history=smooth(rated.history, method, from_last_active=from_last_active))


def rate_stream(
    paths: Sequence[Path],
    period: str | None = None,
    *,
    sigma0: float | None,
    nu: float | None,
    mean: float = 1500.0,
    columns: Mapping[str, str] | None = None,
) -> Rated:
    """Rate everybody from sorted Parquet files, read period by period; σ0 and ν must be given, no history is kept."""
    if sigma0 is None or nu is None:
        raise InputError("a stream is read once: it cannot be fitted", hint="give --sigma0 and --nu, fitted to a part")
    stream = ResultStream(paths, period, columns=columns)
    state, games = State.empty(sigma0=sigma0, nu=nu, mean=mean), None
    for games in stream:
        state, _ = state.play(games)
    if games is None:
        raise InputError("no games to rate", hint=f"skipped: {stream.tally}")
    calendar = Calendar.from_text(period or "1M") if stream.dated else Calendar.from_text(GIVEN)
    nothing = np.zeros(0, dtype=np.int32)
    about = Results(
        (), nothing, nothing, np.zeros(0), np.zeros(0, dtype="datetime64[D]"), tally=stream.tally, noted=stream.noted
    )
    state = replace(state, period=str(calendar))
    return Rated(about, games, calendar, state, History.from_rows(np.empty(0, dtype=ROW), state))
