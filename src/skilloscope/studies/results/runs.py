"""A run over results: what `Periods` made of a table, of kept ratings or of a stream, beside what was left out.

In: Results, or sorted Parquet files. Out: Rated. The mathematics is in `ratings`; what is sent is in `results`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from skilloscope.core.errors import InputError, OptionError, Tally
from skilloscope.ratings.periods.additions import with_further_games
from skilloscope.ratings.periods.histories import History
from skilloscope.ratings.periods.kept import Kept
from skilloscope.ratings.periods.periods import Periods
from skilloscope.ratings.periods.smoothing import smoothed_history
from skilloscope.ratings.periods.states import State
from skilloscope.ratings.periods.variances import FEWEST_TO_FIT
from skilloscope.results.calendar import GIVEN, Calendar
from skilloscope.results.period_games import PeriodGames
from skilloscope.results.reading import Reading
from skilloscope.results.streaming import ReadShards, ResultStream
from skilloscope.results.table import Results

BEFORE = "before the period that was rewound to"


@dataclass(frozen=True)
class Rated:
    """What a run over results gave: the ratings at its end, everybody's history, and what was left out."""

    results: Results
    games: PeriodGames
    calendar: Calendar
    state: State
    history: History
    warnings: tuple[str, ...] = ()
    """What must be said beside the numbers."""
    entry: Mapping[str, float] = field(default_factory=dict)
    """Where some players enter, in place of the mean."""
    every: Results | None = None
    """All games that led to the state; None where they were not kept."""

    @property
    def latest(self) -> int:
        """The number of the latest period."""
        return self.games.first + self.games.n_periods - 1


@dataclass(frozen=True)
class Adding:
    """What is to be known about further games of kept ratings."""

    aliases: Mapping[str, str] = field(default_factory=dict)
    corrected: bool = False
    again: bool = False


def rate_results(
    results: Results,
    period: str | None = None,
    *,
    sigma0: float | None = None,
    nu: float | None = None,
    mean: float = 1500.0,
    advantage: float | str | None = None,
    drift: float | str | None = None,
    entry: Mapping[str, float] | None = None,
    kept: Kept | None = None,
    rewind: str | None = None,
    adding: Adding | None = None,
) -> Rated:
    """Rate everybody; σ0 and ν are fitted unless given. With `kept` ratings only the new games are played on them.

    `advantage` in Elo goes to the first player: none without it, `"fit"` fits it, `"auto"` fits it where the games are
    many; `drift`, how much higher newcomers enter with each period, likewise. `entry` gives some new players a mean of
    their own to enter with.

    With `rewind` the kept ratings go back to before that period, and the table holds all games from there on. Without,
    late games find their period, and repeats are refused; `adding` says more about them.
    """
    if kept is not None:
        _check_agreement(kept.state, period, {"sigma0": sigma0, "nu": nu, "advantage": advantage, "drift": drift})
        period = kept.state.period
    own = results.for_period(period)
    calendar = own.calendar(period)
    if rewind is not None and kept is None:
        raise InputError("there are no kept ratings to rewind", hint="--from needs a --state that exists")
    every = own
    if kept is not None and rewind is not None:
        kept, own, every = _rewound(kept, own, int(calendar.number(rewind)))
    elif kept is not None and kept.games is not None:
        added = with_further_games(kept, own, **vars(adding or Adding()))
        kept, own, every = added.kept, added.to_play, added.games
    model = Periods(
        period=str(calendar),
        sigma0=sigma0,
        nu=nu,
        mean=mean,
        smoothing=None,
        entry=entry,
        advantage=elo_given(advantage, len(own)),
        drift=elo_given(drift, len(own)),
    ).fit(own, kept)
    return Rated(
        own,
        model.games_,
        calendar,
        model.state_,
        model.filtered_,
        warnings=model.warnings_,
        entry=entry or {},
        every=every if kept is None or kept.games is not None else None,
    )


def _rewound(kept: Kept, own: Results, number: int) -> tuple[Kept, Results, Results]:
    """Return kept ratings from before a period, the games to play on them, and all games, as far as they are kept."""
    period = kept.state.period
    early = own.numbers(period) < number
    own = replace(own.select(~early), tally=own.tally + Tally({BEFORE: int(early.sum())} if early.any() else {}))
    kept = kept.rewound(number)
    if kept.games is None:
        return kept, own, own
    before = kept.games.select(kept.games.numbers(period) < number)
    return replace(kept, games=before), own, Results.concat([before, own])


def elo_given(asked: float | str | None, games: int = 0) -> float | None:
    """Return an advantage or a drift in Elo: 0 where it was not asked for, None where it is to be fitted.

    >>> elo_given(None), elo_given("35"), elo_given("fit"), elo_given("auto", games=20), elo_given("auto", games=2000)
    (0.0, 35.0, None, 0.0, None)
    """
    if asked == "auto":
        return None if games >= FEWEST_TO_FIT else 0.0
    if asked == "fit":
        return None
    try:
        value = float(asked or 0.0)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise OptionError(f"{asked!r} is no number of Elo", hint="a number, or `fit`")
    return value


def _check_agreement(state: State, period: str | None, given: Mapping[str, float | str | None]) -> None:
    """Raise where a parameter or a period is asked for that is not that of the kept ratings."""
    for name, asked in given.items():
        has = getattr(state, name)
        if asked not in (None, "auto") and (asked == "fit" or elo_given(asked) != has):
            raise InputError(f"the kept ratings have {name} = {has:g}, not {asked}", hint="start a new state")
    if period is not None and str(Calendar.from_text(period)) != state.period:
        raise InputError(f"the kept ratings have periods of {state.period}, not {period}", hint="leave --period out")


def as_rated(kept: Kept) -> Rated:
    """Return kept ratings as a run that played nothing new."""
    state = kept.state
    if state.latest is None:
        raise InputError("the kept ratings hold no game")
    games = PeriodGames.build([], [], [], [], players=(), first=state.latest, labels=[state.label(state.latest)])
    return Rated(_no_results(), games, Calendar.from_text(state.period), state, kept.history, every=kept.games)


def smoothed(rated: Rated, method: str = "rts", *, from_last_active: bool = False) -> Rated:
    """Return the same with its history smoothed backwards by `rts`, `eq14` or `whole`."""
    history, sweeps = smoothed_history(rated.history, rated.games, method, from_last_active=from_last_active)
    return replace(rated, history=history, warnings=rated.warnings + (sweeps.warnings if sweeps else ()))


def rate_stream(
    paths: Sequence[Path],
    period: str | None = None,
    *,
    sigma0: float | None,
    nu: float | None,
    mean: float = 1500.0,
    advantage: float | str | None = None,
    entry: Mapping[str, float] | None = None,
    how: Reading | None = None,
    read: ReadShards | None = None,
    aliases: Mapping[str, str] | None = None,
) -> Rated:
    """Rate everybody from sorted Parquet files, read period by period; σ0 and ν must be given, no history is kept.

    `read` may have the shards of the files read elsewhere, as the workers of a cluster do.
    """
    stream = ResultStream(paths, period, how=how, read=read, aliases=aliases)
    first = elo_given(advantage)
    model = Periods(sigma0=sigma0, nu=nu, mean=mean, entry=entry, advantage=first, smoothing=None).fit_stream(stream)
    calendar = Calendar.from_text(period or "1M") if stream.dated else Calendar.from_text(GIVEN)
    state = replace(model.state_, period=str(calendar))
    history = replace(model.history_, state=state)
    about = replace(_no_results(), tally=stream.tally, noted=stream.noted)
    return Rated(about, model.games_, calendar, state, history, warnings=model.warnings_, entry=entry or {})


def _no_results() -> Results:
    nothing = np.zeros(0, dtype=np.int32)
    return Results((), nothing, nothing, np.zeros(0), np.zeros(0, dtype="datetime64[D]"))
