"""Rating periods: the number and the label of a date's period, and games cut into periods.

Periods are anchored in the calendar, never in the data: months and years begin on 1 January (two months:
January–February, March–April …), and weeks are counted from Monday, 1 January of the year 1. Where a table gives period
numbers instead of dates, they are used as they are.

`PeriodGames` is the one input of every algorithm that rates from results. Its periods are consecutive: one without
games is there too, since time passes in it as in any other [GLI99 sect. 3.2].
"""

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.core.columns import Array, Ints
from skilloscope.core.dates import DAY, MONTH, YEAR, read_date
from skilloscope.core.errors import InputError, OptionError

Dates = npt.NDArray[np.datetime64]

GIVEN = "given"  # the period of tables that give period numbers in place of dates

_FORM = re.compile(r"\s*(\d{1,4})\s*([DWMY])\s*", re.IGNORECASE)
_MONDAY = datetime.date(1, 1, 1)  # a Monday and a 1 January; numbers are counted from 0 on
_EPOCH_DAYS = (_MONDAY - datetime.date(1970, 1, 1)).days
_EPOCH_YEARS = 1970


@dataclass(frozen=True)
class Calendar:
    """The rating periods of one length.

    >>> two_months = Calendar.from_text("2M")
    >>> number = two_months.numbers(np.array(["1995-02-28", "1995-03-01"], dtype="datetime64[D]"))
    >>> number[1] - number[0], two_months.label(number[1]), two_months.number("1995-12-31") - number[1]
    (np.int64(1), '1995-03', np.int64(4))
    """

    count: int
    unit: str  # D, W, M or Y; empty where the periods are given as numbers

    @classmethod
    def from_text(cls, text: str) -> "Calendar":
        """Return the calendar of a length such as `1D`, `1W`, `2M` or `1Y`; `given` for numbered periods."""
        if text == GIVEN:
            return cls(1, "")
        match = _FORM.fullmatch(text)
        if not match or not int(match[1]):
            raise OptionError(f"no period {text!r}", hint="a number and D, W, M or Y, as 1D, 1W, 1M, 2M or 1Y")
        count, unit = int(match[1]), match[2].upper()
        if unit == "M" and count % 12 == 0:
            return cls(count // 12, "Y")
        if unit == "M" and 12 % count:
            raise OptionError(
                f"periods of {count} months do not begin on 1 January in every year",
                hint="take 1M, 2M, 3M, 4M, 6M or years",
            )
        return cls(count, unit)

    def __str__(self) -> str:
        return f"{self.count}{self.unit}" if self.unit else GIVEN

    @property
    def precision(self) -> int:
        """How exact a date must be to be placed: to the DAY, the MONTH or the YEAR."""
        return {"M": MONTH, "Y": YEAR}.get(self.unit, DAY)

    @property
    def years(self) -> float:
        """The length of a period in years; numbered periods count as months."""
        return self.count * {"D": 1 / 365.25, "W": 7 / 365.25, "Y": 1.0}.get(self.unit, 1 / 12)

    def periods_in(self, length: str) -> int:
        """Return how many periods of this calendar a length has, at least one; a plain number is so many periods.

        >>> Calendar.from_text("1D").periods_in("1Y"), Calendar.from_text("2M").periods_in("6M")
        (365, 3)
        """
        if length.strip().isdigit():
            return max(int(length), 1)
        other = Calendar.from_text(length)
        days = {"D": 1.0, "W": 7.0, "M": 365.25 / 12, "Y": 365.25}
        if not self.unit or not other.unit:
            raise InputError("numbered periods have no length", hint="give a number of periods")
        return max(round(other.count * days[other.unit] / (self.count * days[self.unit])), 1)

    def numbers(self, dates: Dates | Ints) -> Ints:
        """Return the number of the period of each date; given numbers stay as they are."""
        if not self.unit:
            return np.asarray(dates, dtype=np.int64)
        if self.unit == "Y":
            units = dates.astype("datetime64[Y]").astype(np.int64) + _EPOCH_YEARS
        elif self.unit == "M":
            units = dates.astype("datetime64[M]").astype(np.int64) + 12 * _EPOCH_YEARS
        else:
            units = dates.astype("datetime64[D]").astype(np.int64) - _EPOCH_DAYS
        days = 7 if self.unit == "W" else 1
        return np.asarray(units // (self.count * days), dtype=np.int64)

    def start(self, number: int | np.integer[Any]) -> datetime.date:
        """Return the first day of a period."""
        if not self.unit:
            raise InputError("numbered periods have no dates", hint="give a period's number")
        at = int(number) * self.count
        if self.unit == "Y":
            return datetime.date(at, 1, 1)
        if self.unit == "M":
            return datetime.date(at // 12, at % 12 + 1, 1)
        return _MONDAY + datetime.timedelta(days=at * (7 if self.unit == "W" else 1))

    def label(self, number: int | np.integer[Any]) -> str:
        """Return what a period is called: its first day, as short as the unit allows; given numbers as they stand."""
        if not self.unit:
            return str(int(number))
        width = {"Y": 4, "M": 7}.get(self.unit, 10)
        return str(self.start(number))[:width]

    def labels(self, first: int, count: int) -> list[str]:
        """Return the labels of so many periods from the first on."""
        return [self.label(number) for number in range(first, first + count)]

    def number(self, text: str, *, last: bool = False) -> np.int64:
        """Return the first (or last) period that a label or a date names: `2024`, `2024-03` or `2024-03-31`."""
        if not self.unit:
            try:
                return np.int64(text)
            except ValueError:
                raise OptionError(f"{text!r} is not a period's number", hint="the table has numbered periods") from None
        date = read_date(text)
        if date is None:
            raise OptionError(f"{text!r} is not a date", hint="write it as 2024-03-31, 2024-03 or 2024")
        return np.int64(self.numbers(np.array([date.last if last else date.first], dtype="datetime64[D]"))[0])


@dataclass(frozen=True, eq=False, repr=False)
class PeriodGames:
    """Games sorted by period: those of period t are offsets[t]:offsets[t + 1]. Scores are those of player_1.

    `first` is the absolute number of the first period, by which a state kept from earlier games is continued.

    >>> games = PeriodGames.build([0, 1, 0], [1, 2, 2], [1.0, 0.5, 0.0], [4, 2, 2], players=["a", "b", "c"])
    >>> games.n_periods, games.offsets.tolist(), games.labels
    (3, [0, 2, 2, 3], ['2', '3', '4'])
    """

    player_1: npt.NDArray[np.int32]
    player_2: npt.NDArray[np.int32]
    score: Array
    offsets: Ints
    n_players: int
    labels: Sequence[str]
    players: Sequence[str]
    first: int = 0
    ratings: tuple[Array, Array] | None = None
    """The ratings published elsewhere of both players of each game, 0 without one; one a player and period."""

    def __post_init__(self) -> None:
        n = len(self.player_1)
        if len(self.player_2) != n or len(self.score) != n:
            raise InputError("a game needs two players and a score: the columns have different lengths")
        if len(self.labels) != self.n_periods or len(self.players) != self.n_players:
            raise InputError("every period needs a label and every player a name")
        if self.offsets[0] != 0 or self.offsets[-1] != n or np.any(np.diff(self.offsets) < 0):
            raise InputError("the offsets of the periods must rise from 0 to the number of games")
        if n and not all(0 <= side.min() <= side.max() < self.n_players for side in (self.player_1, self.player_2)):
            raise InputError("a player's code is outside the list of players")
        if n and not (self.score.min() >= 0 and self.score.max() <= 1):
            raise InputError("a score must lie between 0 and 1", hint="1 is a win of player_1, 0.5 a draw, 0 a loss")
        if self.ratings is not None and any(len(side) != n for side in self.ratings):
            raise InputError("the columns of ratings have other lengths than the games")
        if np.any(self.player_1 == self.player_2):
            raise InputError("a player cannot play himself")

    @classmethod
    def build(
        cls,
        player_1: npt.ArrayLike,
        player_2: npt.ArrayLike,
        score: npt.ArrayLike,
        period: npt.ArrayLike,
        *,
        players: Sequence[str],
        first: int | None = None,
        labels: Sequence[str] | None = None,
    ) -> "PeriodGames":
        """Sort games by their period number; `labels` name all periods from number `first` on (else the numbers do)."""
        number = np.asarray(period, dtype=np.int64)
        start = int(number.min()) if first is None and len(number) else int(first or 0)
        count = int(np.ptp(number)) + 1 if len(number) else 0
        names = [str(start + t) for t in range(count)] if labels is None else labels
        if len(number) and (number.min() < start or number.max() >= start + len(names)):
            raise InputError("a game lies outside the labelled periods")
        order = np.argsort(number, kind="stable")
        return cls(
            player_1=np.asarray(player_1, dtype=np.int32)[order],
            player_2=np.asarray(player_2, dtype=np.int32)[order],
            score=np.asarray(score, dtype=np.float64)[order],
            offsets=np.searchsorted(number[order], start + np.arange(len(names) + 1)).astype(np.int64),
            n_players=len(players),
            labels=names,
            players=players,
            first=start,
        )

    def __len__(self) -> int:
        return len(self.score)

    def __repr__(self) -> str:
        return f"<PeriodGames: {len(self):,} games, {self.n_players:,} players, {self.n_periods:,} periods>"

    @property
    def n_periods(self) -> int:
        """The number of periods, those without games among them."""
        return len(self.offsets) - 1

    @property
    def period(self) -> Ints:
        """The period of each game, counted from 0."""
        return np.repeat(np.arange(self.n_periods), np.diff(self.offsets))

    def between(self, start: int, stop: int) -> "PeriodGames":
        """Return the games of periods start..stop − 1 alone; the players and their codes stay."""
        part = slice(int(self.offsets[start]), int(self.offsets[stop]))
        return replace(
            self,
            player_1=self.player_1[part],
            player_2=self.player_2[part],
            score=self.score[part],
            offsets=self.offsets[start : stop + 1] - part.start,
            labels=self.labels[start:stop],
            first=self.first + start,
            ratings=None if self.ratings is None else (self.ratings[0][part], self.ratings[1][part]),
        )
