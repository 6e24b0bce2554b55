"""Ratings from results: the one place where results are read and rated with their defaults, and the leaderboard.

In: tables of results, PGN files or Results, with RatingOptions. Out: Rated, a run with everybody's ratings and history,
and the Leaderboard that `results rate` and `results smooth` show. The command line, Python (`results`) and the web
all rate here. The mathematics is in `ratings.periods`.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from skilloscope.core.errors import InputError, OptionError, Tally
from skilloscope.inputs.results import read_entry, read_files
from skilloscope.ratings.periods.histories import History, Ranked, components, leaderboard, past_leaderboard, peaks
from skilloscope.ratings.periods.periods import Periods
from skilloscope.ratings.periods.saved import SavedRatings, with_further_games
from skilloscope.ratings.periods.smoothing import smoothed_history
from skilloscope.ratings.periods.states import State
from skilloscope.ratings.periods.variances import FEWEST_TO_FIT, VarianceFit, added_variance, fit_variances
from skilloscope.report.charts import Chart, Figure
from skilloscope.report.page import Section
from skilloscope.report.study import Study
from skilloscope.report.table import Column, Table, number, plural
from skilloscope.results.periods import GIVEN, Calendar, PeriodGames
from skilloscope.results.reading import Reading, ReadShards, ResultStream
from skilloscope.results.table import Results

BEFORE = "before the period that was rewound to"
CAVEATS = (
    "Ratings compare players within this table; results cannot show whether all players have become stronger.",
    "Players whose intervals overlap may be equally strong; the order of neighbours in the list is often chance.",
    "Players with no chain of games between them cannot be compared.",
    "A prediction uses strengths and their uncertainty only, not form, stakes or injuries.",
)
_SEEN_LOSS, _MOST_LOSS = 0.05, 0.2  # shares of the rows that cannot be used: above the first it is said
_LINES = 8  # players in the figure
_LISTED = 500  # players in a page or a notebook
_MANY_GAMES, _SURE = 20, 100  # what a reader of the page may filter by

Source = Results | str | Path | Sequence[str | Path]


@dataclass(frozen=True, kw_only=True)
class RatingOptions:
    """How results are read and rated; the defaults are those of the command line, of Python and of the web."""

    period: str | None = None
    """Length of a rating period, such as 1M; None is the shortest that the dates allow, or a month if `nu` is given."""
    sigma0: float | None = None  # standard deviation of new players' strength; None fits it
    nu: float | None = None  # standard deviation of the change of strength in a period; None fits it
    advantage: float | str = "auto"
    """The first player's advantage in Elo; `fit` fits it, `auto` does so from 500 games up and is 0 below."""
    drift: float | str = "auto"  # how much higher newcomers enter with each period, given or fitted as the advantage is
    entry: Path | Mapping[str, float] | None = None  # first ratings of new players, or a table player,rating of them
    reading: Reading = field(default_factory=Reading)
    aliases: Mapping[str, str] = field(default_factory=dict)
    allow_loss: bool = False  # whether to go on if more than a fifth of the rows cannot be used
    link: bool = True  # whether predictions learn their slope and the bias of strengths from past games; not GLI99 (16)

    def length(self, results: Results) -> str:
        """Return the length of a period: the one that was given, or that of the dates."""
        return self.period or (results.finest if self.nu is None or results.finest != "1D" else "1M")

    def read(self, source: Source) -> Results:
        """Return the results of tables and PGN files; raise if too many rows cannot be used."""
        if isinstance(source, Results):
            return source
        paths = [source] if isinstance(source, str | Path) else source
        results = read_files([Path(path) for path in paths], self.reading, self.aliases)
        self.loss(results)
        return results

    def loss(self, results: Results) -> str:
        """Return how many rows cannot be used, nothing if that is few; raise if it is more than a fifth of them."""
        own = results.for_period(self.length(results))
        if own.share_lost <= _SEEN_LOSS:
            return ""
        said = f"{own.share_lost:.0%} of the rows cannot be used: {own.lost}"
        if own.share_lost > _MOST_LOSS and not self.allow_loss:
            raise InputError(said, hint="correct the table, or use --allow-loss to rate the rest")
        return said

    def entering(self) -> tuple[Mapping[str, float], Tally]:
        """Return the first ratings of new players, and what was left out of their table."""
        return read_entry(self.entry) if isinstance(self.entry, Path) else (self.entry or {}, Tally())

    def parameters(self, games: int) -> dict[str, Any]:
        """Return the parameters for so many games, None for what is to be fitted to them."""
        advantage, drift = elo_given(self.advantage, games), elo_given(self.drift, games)
        return {"sigma0": self.sigma0, "nu": self.nu, "advantage": advantage, "drift": drift}

    def fit(self, games: PeriodGames, entry: Mapping[str, float], method: str = "quick") -> VarianceFit:
        """Fit to these games what is not given."""
        return fit_variances(games, **self.parameters(len(games)), entry=entry or None, method=method)


def elo_given(asked: float | str, games: int = 0) -> float | None:
    """Return an advantage or a drift in Elo, None if it is to be fitted.

    >>> elo_given("35"), elo_given("fit"), elo_given("auto", games=20), elo_given("auto", games=2000)
    (35.0, None, 0.0, None)
    """
    if asked == "auto":
        return None if games >= FEWEST_TO_FIT else 0.0
    if asked == "fit":
        return None
    try:
        value = float(asked)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise OptionError(f"{asked!r} is not an Elo", hint="a number, or `fit`")
    return value


def advantage_text(found: State | VarianceFit) -> str:
    """Return the first player's advantage in words, nothing where there is none."""
    return f", the first player's advantage {found.advantage:.1f}" if found.advantage else ""


def parameters_text(found: State | VarianceFit) -> str:
    """Return what ratings from results depend on, given or fitted."""
    drift = f", newcomers' drift {found.drift:.3g} a period" if found.drift else ""
    return f"σ0 = {found.sigma0:.2f}, ν = {found.nu:.2f}{advantage_text(found)}{drift}"


@dataclass(frozen=True)
class Rated:
    """A run over results: the ratings at its end, everybody's history, and what was left out."""

    games: PeriodGames
    calendar: Calendar
    state: State
    history: History
    tally: Tally = field(default_factory=Tally)
    noted: Tally = field(default_factory=Tally)
    warnings: tuple[str, ...] = ()
    entry: Mapping[str, float] = field(default_factory=dict)  # the first ratings of some players
    every: Results | None = None  # all games that led to the state; None where they were not kept
    fit: VarianceFit | None = None  # the fit behind the ratings; None where nothing was fitted

    @classmethod
    def from_kept(cls, kept: SavedRatings, options: RatingOptions) -> "Rated":
        """Return kept ratings as a run without new games."""
        state, (entry, tally) = kept.state, options.entering()
        if state.latest is None:
            raise InputError("the saved ratings hold no game")
        games = PeriodGames.build([], [], [], [], players=(), first=state.latest, labels=[state.label(state.latest)])
        calendar = Calendar.from_text(state.period)
        return cls(games, calendar, state, kept.history, tally, entry=entry, every=kept.games)

    @property
    def latest(self) -> int:
        """The number of the latest period."""
        return self.games.first + self.games.n_periods - 1

    @property
    def period(self) -> str:
        """The length of a period."""
        return str(self.calendar)

    @property
    def entered(self) -> int:
        """How many players had a first rating of their own."""
        return sum(name in self.entry for name in self.state.players)

    @cached_property
    def groups(self) -> Mapping[str, int]:
        """The group of players linked by games to which each belongs; empty if not all games are at hand."""
        if self.state.games != len(self.games):
            return {}
        numbers = components(self.games).tolist()
        return {name: n for name, n in zip(self.games.players, numbers, strict=True) if n >= 0}

    @property
    def components(self) -> int | None:
        """How many groups of players never met; None if not all games are at hand."""
        return max(self.groups.values()) + 1 if self.groups else None

    def smoothed(self, method: str = "rts", *, from_last_active: bool = False) -> "Rated":
        """Return the same with its history smoothed by `rts`, `eq14` or `whole`."""
        history, sweeps = smoothed_history(self.history, self.games, method, from_last_active=from_last_active)
        return replace(self, history=history, warnings=self.warnings + (sweeps.warnings if sweeps else ()))


def rated(
    source: Source,
    options: RatingOptions | None = None,
    *,
    kept: SavedRatings | None = None,
    rewind: str | None = None,
    corrected: bool = False,
    again: bool = False,
) -> Rated:
    """Rate everybody. With `kept` ratings only the new games are played on them, under their parameters.

    `rewind` goes back to before that period, and the source holds all games from there on; else late games are put into
    their period. Games played already are refused unless `corrected` (they replace kept ones) or to count `again`.
    """
    options = options or RatingOptions()
    results, (entry, left_out) = options.read(source), options.entering()
    period = options.length(results)
    if kept is not None:
        _check_agreement(kept.state, options)
        period = kept.state.period
    own = results.for_period(period)
    every, calendar = own, own.calendar(period)
    if rewind is not None and kept is None:
        raise InputError("there are no saved ratings to rewind", hint="--from needs a --state that exists")
    if kept is not None and rewind is not None:
        kept, own, every = _rewound(kept, own, int(calendar.number(rewind)))
    elif kept is not None and kept.games is not None:
        added = with_further_games(kept, own, aliases=options.aliases, corrected=corrected, again=again)
        kept, own, every = added.kept, added.to_play, added.games
    model = Periods(**options.parameters(len(own)), smoothing=None, entry=entry, period=str(calendar)).fit(own, kept)
    run = Rated(model.games_, calendar, model.state_, model.filtered_, own.tally + left_out, own.noted)
    known = every if kept is None or kept.games is not None else None
    return replace(run, warnings=model.warnings_, entry=entry, every=known, fit=model.variances_)


def rated_stream(paths: Sequence[Path], options: RatingOptions, read: ReadShards | None = None) -> Rated:
    """Rate from sorted Parquet files period by period, given σ0 and ν; `read` may have shards read elsewhere."""
    stream = ResultStream(paths, options.period, how=options.reading, read=read, aliases=options.aliases)
    entry, left_out = options.entering()
    advantage = elo_given(options.advantage)
    model = Periods(sigma0=options.sigma0, nu=options.nu, advantage=advantage, entry=entry, smoothing=None)
    model.fit_stream(stream)
    calendar = Calendar.from_text((options.period or "1M") if stream.dated else GIVEN)
    state = replace(model.state_, period=str(calendar))
    history, tally = replace(model.history_, state=state), stream.tally + left_out
    return Rated(model.games_, calendar, state, history, tally, stream.noted, warnings=model.warnings_, entry=entry)


def _rewound(kept: SavedRatings, own: Results, number: int) -> tuple[SavedRatings, Results, Results]:
    """Return kept ratings from before a period, the games to play on them, and all games, as far as they are kept."""
    period = kept.state.period
    early = own.numbers(period) < number
    own = replace(own.select(~early), tally=own.tally + Tally({BEFORE: int(early.sum())} if early.any() else {}))
    kept = kept.rewound(number)
    if kept.games is None:
        return kept, own, own
    before = kept.games.select(kept.games.numbers(period) < number)
    return replace(kept, games=before), own, Results.concat([before, own])


def _check_agreement(state: State, options: RatingOptions) -> None:
    """Raise where a parameter or a period is asked for that is not that of the kept ratings."""
    for name in ("sigma0", "nu", "advantage", "drift"):
        asked, has = getattr(options, name), getattr(state, name)
        if asked not in (None, "auto") and (asked == "fit" or elo_given(asked) != has):
            raise InputError(f"the saved ratings have {name} = {has:g}, not {asked}", hint="start a new state")
    if options.period is not None and str(Calendar.from_text(options.period)) != state.period:
        said = f"the saved ratings have periods of {state.period}, not {options.period}"
        raise InputError(said, hint="leave --period out")


@dataclass(frozen=True, eq=False, kw_only=True)
class ResultsStudy(Study):
    """The base of the studies of results."""

    noted: Tally = field(default_factory=Tally)
    """What was noticed in the tables although the rows are used, such as games listed twice."""

    @property
    def rows_notes(self) -> list[str]:
        """What was left out and what was noticed, as notes below a table."""
        notes = [f"skipped: {self.tally}" if self.tally.counts else "nothing skipped"]
        if self.noted.counts:
            notes.append(f"noted: {', '.join(f'{n:,} × {what}' for what, n in self.noted.as_dict().items())}")
        return notes


@dataclass(frozen=True, eq=False)
class OverTime(Chart):
    """The strengths of some players over time, with bands of one standard deviation. [GLI99 figure 2]"""

    history: History
    names: Sequence[str]
    bands: bool = True

    def draw(self, axes: Any) -> None:
        """Draw the lines."""
        self.history.draw(axes, self.names, bands=self.bands)


@dataclass(frozen=True)
class BoardPlayer:
    """A player on the leaderboard."""

    row: Ranked
    place: int
    peak_rating: float | None = None  # the best of a smoothed history
    peak_rd: float | None = None
    peak_period: str | None = None
    component: int | None = None  # the group of players linked by games, where there are several
    group_place: int = 0  # players of different groups never met, so each group has its own order

    FIELDS: ClassVar = ("*row", "?peak_rating", "?peak_rd", "?peak_period", "place", "?component")


@dataclass(frozen=True, eq=False)
class Leaderboard(ResultsStudy):
    """Everybody's rating with its interval, strongest first."""

    rated: Rated
    mass: float
    at: str | None  # the period up to which time passes, or whose strengths these are
    active: int | str | None
    left_out: int
    players: Sequence[BoardPlayer]

    FIELDS: ClassVar = (
        "rated.state.sigma0", "rated.state.nu", "rated.state.advantage", "rated.state.drift", "rated.state.published",
        "rated.entered", "rated.period", "rated.history.method", "mass", "at", "active", "left_out",
        "rated.state.games", "rated.components", "players", "warnings", "skipped", "noted",
    )  # fmt: skip
    ROWS: ClassVar = "players"
    title = "Ratings from results"
    caveats = CAVEATS

    def tables(self, top: int | None = None) -> Sequence[Table]:
        """Return the strongest players with their intervals, and their peaks in a smoothed history."""
        shown = self.players[: top or _LISTED]
        columns: list[Column[BoardPlayer]] = [
            Column("", lambda one: f"{one.group_place or one.place}"),
            Column("player", lambda one: one.row.player, label=True),
            Column(
                f"rating ({100 * self.mass:g} % interval)",
                lambda one: f"{one.row.rating:.0f} ({one.row.low:.0f} to {one.row.high:.0f})",
            ),
            Column("rd", lambda one: f"{one.row.rd:.0f}"),
            Column("games", lambda one: f"{one.row.games:,}"),
            Column("first", lambda one: one.row.first_period),
            Column("last", lambda one: one.row.last_period),
        ]
        if (self.rated.components or 1) > 1:
            columns.append(Column("group", lambda one: f"{one.component}"))
        method = self.rated.history.method
        if method != "filter":
            columns += [
                Column("peak", lambda one: number(one.peak_rating, 0)),
                Column("rd at peak", lambda one: number(one.peak_rd, 0)),
                Column("peak period", lambda one: one.peak_period or ""),
            ]
        notes = [
            "ratings are relative to the mean of these players; results alone cannot fix its level",
            "" if self.rated.groups else "groups who never met are not known, as earlier games were not kept",
            *self.rows_notes,
        ]
        how = "ratings" if method == "filter" else f"smoothed ({method})"
        when = f", in {self.at}" if self.at else ""
        about = f"periods of {self.rated.period}, {parameters_text(self.rated.state)}{when}"
        title = f"{how} from {plural(self.rated.state.games, 'game')}, {about}"
        counted = plural(len(self.players), "player")
        counted = f"the first {len(shown)} of {counted}" if len(shown) < len(self.players) else counted
        if self.left_out or self.active:
            why = "not active" if self.active else f"not having played by {self.at}"
            counted += f"; {self.left_out:,} left out as {why}"
        return [Table.of(title, shown, columns, notes=[counted, *notes])]

    def figures(self) -> Sequence[Figure]:
        """Return the first players over time."""
        names = [one.row.player for one in self.players[:_LINES]]
        if not names or not len(self.rated.history):
            return []
        caption = f"The first {len(names)} of the leaderboard; bands: one standard deviation."
        return [Figure("Over time", OverTime(self.rated.history, names), caption)]

    def sections(self) -> Sequence[Section]:
        """Return the leaderboard, which a reader may filter, and the figure."""
        (table,) = self.tables()
        players, calendar = self.players[:_LISTED], self.rated.calendar
        filters = {
            f"{_MANY_GAMES} games or more": [at for at, one in enumerate(players) if one.row.games < _MANY_GAMES],
            f"rd at most {_SURE}": [at for at, one in enumerate(players) if one.row.rd > _SURE],
        }
        if calendar.unit:
            since = self.rated.latest - calendar.periods_in("1Y")
            ended = (int(calendar.number(one.row.last_period)) for one in players)
            filters["played in the last year"] = [at for at, last in enumerate(ended) if last <= since]
        useful = {name: rows for name, rows in filters.items() if 0 < len(rows) < len(players)}
        return [Section.from_table(table, filters=useful), *map(Section.from_figure, self.figures())]


def results(
    source: Source,
    *,
    smoothing: str | None = None,
    at: str | None = None,
    active: int | str | None = None,
    mass: float = 0.95,
    players: Sequence[str] | None = None,
    **options: Any,
) -> Leaderboard:
    """Return the leaderboard of tables of results, PGN files or Results; `options` are those of RatingOptions.

    It is what `skilloscope results rate` shows, with the same defaults; with `smoothing` (rts, eq14 or whole), what
    `results smooth` shows. See `leaderboard_study` for the others.

    >>> table = Results.from_columns(["Ann", "Bo"], ["Bo", "Cy"], [1, 0.5], date=["2024-01-31", "2024-03-01"])
    >>> print(*(one.row.player for one in results(table, sigma0=300, nu=40).players))
    Ann Cy Bo
    """
    run = rated(source, RatingOptions(**options))
    return leaderboard_study(
        run.smoothed(smoothing) if smoothing else run, at=at, active=active, mass=mass, players=players
    )


def leaderboard_study(
    run: Rated,
    *,
    at: str | None = None,
    active: int | str | None = None,
    mass: float = 0.95,
    players: Sequence[str] | None = None,
) -> Leaderboard:
    """Return the leaderboard of a run.

    `at` adds the passage of time until that date's period to every `rd`; in a smoothed history it is a moment of the
    past or the future, and players without a game by then are left out. `active` keeps those who played in the last so
    many periods, or in the last 6M. `players` are shown alone, each at its place.
    """
    number = None if at is None else int(run.calendar.number(at, last=True))
    within = None if active is None else run.calendar.periods_in(str(active))
    best: dict[str, tuple[float, float, str]] = {}
    if run.history.method == "filter":
        if number is not None and run.state.latest is not None and number < run.state.latest:
            hint = "`rate --at` looks ahead; `smooth --at` gives what is now known of the past"
            raise InputError(f"there are games after {run.calendar.label(number)}", hint=hint)
        more = added_variance(run.games, run.fit, run.state) if run.fit and not run.entry else 0.0
        board = leaderboard(run.state, active_within=within, at=number, level=mass, added=more)
    else:
        board = past_leaderboard(run.history, active_within=within, at=number, level=mass)
        tops, periods = peaks(run.history)
        best = {row.player: (row.rating, row.rd, when) for row, when in zip(tops.rows(), periods, strict=True)}
    rows, standings, ahead, several = board.rows(), [], Counter[int](), (run.components or 1) > 1
    for place, row in enumerate(rows, 1):
        own = BoardPlayer(row, place, *best.get(row.player, ()))
        if several:
            group = run.groups[row.player]
            ahead[group] += 1
            own = replace(own, component=group, group_place=ahead[group])
        standings.append(own)
    apart = []
    if several:
        others = f"{sum(group > 0 for group in run.groups.values()):,} outside the largest"
        apart = [f"{run.components:,} groups of players never met: {others} cannot be compared with it"]
    return Leaderboard(
        run,
        mass,
        None if number is None else run.calendar.label(number),
        active,
        board.left_out,
        _only(standings, players),
        warnings=[*run.warnings, *apart],
        tally=run.tally,
        noted=run.noted,
    )


def _only(standings: Sequence[BoardPlayer], players: Sequence[str] | None) -> Sequence[BoardPlayer]:
    if not players:
        return standings
    names = [one.row.player for one in standings]
    missing = [name for name in players if name not in names]
    if missing:
        near = [name for name in names if missing[0].casefold() in name.casefold()][:5]
        hint = f"similar names: {'; '.join(near)}" if near else "`skilloscope results aliases` lists spellings"
        raise InputError(f"no player on the list is called {missing[0]!r}", hint=hint)
    return [one for one in standings if one.row.player in players]
