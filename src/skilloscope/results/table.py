"""Results: who played whom, when, and how it ended, as columns. One row per game.

In: CSV, Parquet, frames, PGN headers, simulation. Out: the games of each rating period, through `by_period`.

Players are codes into their sorted names, so that the same games give the same codes in whatever order they come. The
score is that of `player_1`. A date may be known to the month or the year only; such a game counts where the periods are
no finer than that, and is left out and counted elsewhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skilloscope.core.columns import Array, Codes, Ints, Selection, selection_index
from skilloscope.core.dates import DAY, MONTH
from skilloscope.core.errors import InputError, Tally
from skilloscope.core.frames import Framed
from skilloscope.results.columns import NO_GAMES
from skilloscope.results.periods import GIVEN, Calendar, Dates, PeriodGames

_NEARLY_ALL = 0.9
_MOST_PERIODS = 5_000_000
_OPTIONAL = ("period", "precision", "rating_1", "rating_2")


@dataclass(frozen=True, eq=False, repr=False)
class Results(Framed):
    """A columnar table of results.

    >>> results = Results.from_columns(["Bo", "Ann"], ["Ann", "Cy"], [1, 0.5], date=["2024-01-31", "2024-03-01"])
    >>> results
    <Results: 2 games of 3 players; skipped: none>
    >>> results.by_period("1M").offsets, list(results.by_period("1M").labels)
    (array([0, 1, 1, 2]), ['2024-01', '2024-02', '2024-03'])
    """

    players: Sequence[str]
    player_1: Codes
    player_2: Codes
    score: Array
    date: Dates
    period: Ints | None = None  # the number of each game's period, in tables that give it in place of a date
    precision: npt.NDArray[np.uint8] | None = None
    """How exact each date is (DAY, MONTH or YEAR); None where every one is to the day."""
    rating_1: Array | None = None
    """The rating of player_1 that was published elsewhere before the game, 0 where there is none."""
    rating_2: Array | None = None
    tally: Tally = field(default_factory=Tally)  # what was left out
    noted: Tally = field(default_factory=Tally)  # what was remarked and yet used: rows out of order, games listed twice

    def __post_init__(self) -> None:
        rows = len(self.player_1)
        for name in ("player_2", "score", "date", *_OPTIONAL):
            column = getattr(self, name)
            if column is not None and len(column) != rows:
                raise InputError(f"the column {name} has {len(column):,} rows, player_1 {rows:,}")

    @classmethod
    def from_columns(
        cls,
        player_1: Sequence[str],
        player_2: Sequence[str],
        score: npt.ArrayLike,
        *,
        date: npt.ArrayLike | None = None,
        period: npt.ArrayLike | None = None,
    ) -> "Results":
        """Build a table from names, scores, and dates or period numbers; what is at fault raises."""
        if (date is None) == (period is None):
            raise InputError("results need dates or period numbers, one of the two")
        names = np.concatenate([np.asarray(player_1, dtype=object), np.asarray(player_2, dtype=object)])
        players, codes = sorted_codes(pa.array(names, type=pa.string()))
        rows, scores = len(player_1), np.asarray(score, dtype=np.float64)
        if not np.all((scores >= 0) & (scores <= 1)):
            raise InputError("a score is not between 0 and 1", hint="read the table by read_results, which counts such")
        if np.any(codes[:rows] == codes[rows:]):
            raise InputError("a player is their own opponent", hint="read the table by read_results, which counts such")
        dates = np.full(rows, "NaT", dtype="datetime64[D]") if date is None else np.asarray(date, dtype="datetime64[D]")
        numbers = None if period is None else np.asarray(period, dtype=np.int64)
        return cls(players, codes[:rows], codes[rows:], scores, dates, numbers)

    def __len__(self) -> int:
        return len(self.player_1)

    def to_arrow(self) -> pa.Table:
        """Return the columns `date` (or `period`), `player_1`, `player_2`, `score`, and the ratings, if any."""
        names = pa.array(self.players, type=pa.string())
        dates = pa.array(self.date)
        if self.precision is not None:  # texts, with as much of each date as is known
            widths = np.array([10, 7, 4])[self.precision]
            dates = pa.array([text[:n] for text, n in zip(np.datetime_as_string(self.date), widths, strict=True)])
        when = {"date": dates} if self.period is None else {"period": pa.array(self.period)}
        sides = {
            side: pa.DictionaryArray.from_arrays(pa.array(codes), names)
            for side, codes in (("player_1", self.player_1), ("player_2", self.player_2))
        }
        ratings = {name: column for name in ("rating_1", "rating_2") if (column := getattr(self, name)) is not None}
        return pa.table({**when, **sides, "score": self.score, **ratings})

    def __repr__(self) -> str:
        return f"<Results: {len(self):,} games of {len(self.players):,} players; skipped: {self.tally}>"

    @property
    def has_dates(self) -> bool:
        """Whether games have dates; otherwise they have period numbers."""
        return self.period is None

    def calendar(self, period: str | None = None) -> Calendar:
        """Return the calendar of a period's length (a month without one), or that of given numbers."""
        if self.has_dates:
            if period == GIVEN:
                raise InputError("the table has no period numbers", hint="give a length, as 1M")
            return Calendar.from_text(period or "1M")
        if period not in (None, GIVEN):
            raise InputError(
                f"the table has period numbers, not dates: it cannot be cut into periods of {period}",
                hint="leave the period out, or say `given`",
            )
        return Calendar.from_text(GIVEN)

    @property
    def finest(self) -> str:
        """The shortest of day, month and year that nearly all dates allow; `given` for numbered periods."""
        if not self.has_dates:
            return GIVEN
        exact = np.zeros(1) if self.precision is None or not len(self) else self.precision
        shares = [float(np.mean(exact <= need)) for need in (DAY, MONTH)]
        return "1D" if shares[0] >= _NEARLY_ALL else "1M" if shares[1] >= _NEARLY_ALL else "1Y"

    def numbers(self, period: str | None = None) -> Ints:
        """Return the number of each game's period."""
        return self.calendar(period).numbers(self.date if self.period is None else self.period)

    @property
    def lost(self) -> Tally:
        """What was left out although it may have been a game; byes, forfeits and the like are none."""
        return Tally({reason: n for reason, n in self.tally.counts.items() if reason not in NO_GAMES})

    @property
    def share_lost(self) -> float:
        """The share of all rows with games that were left out."""
        return self.lost.total / max(self.lost.total + len(self), 1)

    def for_period(self, period: str | None = None) -> "Results":
        """Return the games whose date determines the period; the others are left out and counted."""
        need = self.calendar(period).precision
        if self.precision is None or not self.has_dates:
            return self
        vague = self.precision > need
        if not vague.any():
            return self
        what = "date without a month" if need == MONTH else "date without a day"
        kept = self.select(~vague)
        return replace(kept, tally=kept.tally + Tally({f"{what} (period {self.calendar(period)})": int(vague.sum())}))

    def by_period(self, period: str | None = None) -> PeriodGames:
        """Return the games period by period, empty ones between included; `for_period` counts vague dates."""
        own = self.for_period(period)
        if not len(own):
            form = "; dates are written as 2024-03-31" if "impossible date" in own.tally.counts else ""
            raise InputError(
                "no games to rate", hint=f"skipped: {own.tally}{form}" if own.tally.total else "the table is empty"
            )
        calendar, numbers = own.calendar(period), own.numbers(period)
        first, last = int(numbers.min()), int(numbers.max())
        if last - first >= _MOST_PERIODS:
            raise InputError(
                f"{last - first + 1:,} periods between {calendar.label(first)} and {calendar.label(last)}",
                hint="periods are consecutive numbers (1, 2, 3 …), not dates run together",
            )
        if np.any(np.diff(numbers) < 0):
            order = np.argsort(numbers, kind="stable")
            own, numbers = own.select(order), numbers[order]
        offsets = np.searchsorted(numbers, np.arange(first, last + 2))
        return PeriodGames(
            player_1=own.player_1,
            player_2=own.player_2,
            score=own.score,
            offsets=offsets.astype(np.int64),
            n_players=len(own.players),
            labels=calendar.labels(first, last - first + 1),
            players=own.players,
            first=first,
            ratings=_by_player_and_period(own, offsets),
        )

    def select(self, selection: Selection) -> "Results":
        """Return the chosen games; players, tally and notes stay."""
        index = selection_index(selection, len(self))
        names = ("player_1", "player_2", "score", "date", *_OPTIONAL)
        return replace(self, **{name: own[index] for name in names if (own := getattr(self, name)) is not None})

    def of_players(self) -> "Results":
        """Return the same games with only those players who play in them, in order of their names."""
        used = np.zeros(len(self.players), dtype=bool)
        used[self.player_1], used[self.player_2] = True, True
        order = sorted(np.flatnonzero(used).tolist(), key=self.players.__getitem__)
        code = np.zeros(len(used), dtype=np.int32)
        code[order] = np.arange(len(order), dtype=np.int32)
        names = tuple(self.players[i] for i in order)
        return replace(self, players=names, player_1=code[self.player_1], player_2=code[self.player_2])

    @classmethod
    def concat(cls, tables: "Sequence[Results]", *, same_codes: bool = False) -> "Results":
        """Return the tables one after another; equal names are one player, or equal codes if `same_codes`."""
        if not tables:
            raise InputError("no results to put together")
        if len(tables) == 1:
            return tables[0]
        if len({table.has_dates for table in tables}) > 1:
            raise InputError("some of the tables have dates, others period numbers", hint="rate them separately")
        players, sides = tables[-1].players, [(t.player_1, t.player_2) for t in tables]
        if not same_codes:
            names = pa.array([name for table in tables for name in table.players], type=pa.string())
            players, codes = sorted_codes(names)
            starts = np.cumsum([0, *(len(table.players) for table in tables)]).tolist()
            sides = [(codes[n + one], codes[n + two]) for n, (one, two) in zip(starts, sides, strict=False)]
        one, two = (np.concatenate(side) for side in zip(*sides, strict=True))
        absent = {"period": 0, "precision": np.uint8(DAY), "rating_1": 0.0, "rating_2": 0.0}
        more = {name: _stacked(tables, name, value) for name, value in absent.items()}
        score, date = (np.concatenate([getattr(t, name) for t in tables]) for name in ("score", "date"))
        tally, noted = Tally.sum(t.tally for t in tables), Tally.sum(t.noted for t in tables)
        return cls(players, one, two, score, date, **more, tally=tally, noted=noted)


def _stacked(tables: Sequence[Results], name: str, absent: Any) -> Any:
    """Return a column that tables may lack, filled where one does; None where all do."""
    columns = [getattr(table, name) for table in tables]
    if all(column is None for column in columns):
        return None
    both = zip(columns, tables, strict=True)
    return np.concatenate([np.full(len(table), absent) if column is None else column for column, table in both])


def _by_player_and_period(results: Results, offsets: Ints) -> tuple[Array, Array] | None:
    """Return the published ratings of both sides: in each period a player's rating of his first rated day in it.

    Ratings of later days may reflect the games of the period, and would leak their results. Of several on that day it
    is their mean, so that the order does not matter.
    """
    if results.rating_1 is None or results.rating_2 is None:
        return None
    period = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    both = np.concatenate([period * len(results.players) + side for side in (results.player_1, results.player_2)])
    rating = np.concatenate([results.rating_1, results.rating_2])
    day = np.tile(results.date.astype(np.int64), 2)  # without days all are one
    _, line = np.unique(both, return_inverse=True)
    rated = rating > 0
    first = np.full(int(line.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, line[rated], day[rated])
    counts = rated & (day == first[line])
    total, count = np.bincount(line, np.rint(rating) * counts), np.bincount(line, counts)  # whole numbers add exactly
    mean = (total / np.maximum(count, 1))[line]
    return mean[: len(results)], mean[len(results) :]


def sorted_codes(names: pa.Array | pa.ChunkedArray) -> tuple[tuple[str, ...], Codes]:
    """Return the distinct names in order, and the code of each entry."""
    if isinstance(names, pa.ChunkedArray):
        names = names.unify_dictionaries().combine_chunks() if len(names) else pa.array([], type=pa.string())
    encoded = names if pa.types.is_dictionary(names.type) else names.dictionary_encode()
    found = encoded.dictionary.to_pylist()
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    used = np.flatnonzero(np.bincount(codes, minlength=len(found))).tolist()
    order = sorted(used, key=found.__getitem__)
    rank = np.zeros(len(found), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return tuple(found[i] for i in order), rank[codes]


YOURSELF = "a player against himself"
