"""A run over results: rated from the start, on kept ratings, or from a stream; smoothed if wanted.

In: Results, or sorted Parquet files. Out: Rated. The mathematics is in `ratings`; what is sent is in `results`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from skilloscope.core.errors import InputError, Tally
from skilloscope.models.kernels.comparison import ROW
from skilloscope.ratings.periods.histories import History
from skilloscope.ratings.periods.smoothing import joint, smooth
from skilloscope.ratings.periods.states import State
from skilloscope.ratings.periods.variances import VarianceFit, density_warnings, fit_variances
from skilloscope.results.calendar import GIVEN, Calendar
from skilloscope.results.period_games import PeriodGames
from skilloscope.results.streaming import ResultStream
from skilloscope.results.table import Results
from skilloscope.studies.results.continued import Kept, joined_history

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
    """The fit, where σ0, ν or the advantage was not given."""
    entry: Mapping[str, float] = field(default_factory=dict)
    """Where some players enter, in place of the mean."""
    notes: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What must be said beside the numbers; in a continued run it is about all games, not only the new ones."""
        if self.fit:
            return (*self.fit.warnings, *self.notes)
        games = self.history.games.sum() / len(self.history) if len(self.history) else None
        return (*(density_warnings(games) if games is not None else ()), *self.notes)

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
    advantage: float | str | None = None,
    entry: Mapping[str, float] | None = None,
    kept: Kept | None = None,
    rewind: str | None = None,
) -> Rated:
    """Rate everybody; σ0 and ν are fitted unless given. With `kept` ratings only the new games are played on them.

    `advantage` in Elo goes to the first player: none without it, `"fit"` fits it. `entry` gives some new players a
    mean of their own to enter with.

    With `rewind` the kept ratings go back to before that period, and all games of the table from there on are played:
    for results that came late or were corrected.
    """
    if kept is not None:
        given = {"sigma0": sigma0, "nu": nu, "advantage": advantage}
        return _continued(results, kept, period, rewind, given, entry or {})
    if rewind is not None:
        raise InputError("there are no kept ratings to rewind", hint="--from needs a --state that exists")
    own = results.for_period(period)
    games, calendar = own.by_period(period), own.calendar(period)
    first = advantage_given(advantage)
    fit = None
    if sigma0 is None or nu is None or first is None:
        fit = fit_variances(games, sigma0=sigma0, nu=nu, advantage=first, mean=mean, entry=entry)
        sigma0, nu, first = fit.sigma0, fit.nu, fit.advantage
    start = State.empty(sigma0=sigma0, nu=nu, mean=mean, advantage=first, period=str(calendar))
    state, rows = start.play(games, entry=entry, history=True)
    assert rows is not None
    return Rated(own, games, calendar, state, History.from_rows(rows, state), fit, entry or {})


def advantage_given(asked: float | str | None) -> float | None:
    """Return the first player's advantage in Elo, 0 where it was not asked for, None where it is to be fitted.

    >>> advantage_given(None), advantage_given("35"), advantage_given("fit")
    (0.0, 35.0, None)
    """
    if asked == "fit":
        return None
    try:
        value = float(asked or 0.0)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"an advantage of {asked!r} is no number of Elo", hint="a number, or `fit`")
    return value


def _continued(
    results: Results,
    kept: Kept,
    period: str | None,
    rewind: str | None,
    given: Mapping[str, float | str | None],
    entry: Mapping[str, float],
) -> Rated:
    """Play new games on kept ratings, or all games from a period on where they are rewound."""
    state, history = kept.state, kept.history
    for name, asked in given.items():
        has = getattr(state, name)
        if asked is not None and (asked == "fit" or advantage_given(asked) != has):
            raise InputError(f"the kept ratings have {name} = {has:g}, not {asked}", hint="start a new state")
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
    state, rows = state.play(games, entry=entry, history=True)
    assert rows is not None
    return Rated(own, games, calendar, state, joined_history(history, History.from_rows(rows, state)), entry=entry)


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
    advantage: float | str | None = None,
    entry: Mapping[str, float] | None = None,
    columns: Mapping[str, str] | None = None,
) -> Rated:
    """Rate everybody from sorted Parquet files, read period by period; σ0 and ν must be given, no history is kept."""
    first = advantage_given(advantage)
    if sigma0 is None or nu is None or first is None:
        raise InputError("a stream is read once: it cannot be fitted", hint="give --sigma0 and --nu, fitted to a part")
    stream = ResultStream(paths, period, columns=columns)
    state, games = State.empty(sigma0=sigma0, nu=nu, mean=mean, advantage=first), None
    for games in stream:
        state, _ = state.play(games, entry=entry)
    if games is None:
        raise InputError("no games to rate", hint=f"skipped: {stream.tally}")
    calendar = Calendar.from_text(period or "1M") if stream.dated else Calendar.from_text(GIVEN)
    nothing = np.zeros(0, dtype=np.int32)
    about = Results(
        (), nothing, nothing, np.zeros(0), np.zeros(0, dtype="datetime64[D]"), tally=stream.tally, noted=stream.noted
    )
    state = replace(state, period=str(calendar))
    history = History.from_rows(np.empty(0, dtype=ROW), state)
    return Rated(about, games, calendar, state, history, entry=entry or {})
