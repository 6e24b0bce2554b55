"""Periods: which year, month or event a decision belongs to, and when that was.

In: decisions with context columns. Out: for every decision the code of its period, and each period's name and time.
Decisions whose period is unknown are left out and counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.core.columns import encode
from skilloscope.core.dates import DAY, YEAR, read_date
from skilloscope.core.errors import OptionError
from skilloscope.decision import Decisions

EVERY = ("year", "month", "event")

_Place = tuple[str, float]


@dataclass(frozen=True, eq=False)
class DecisionPeriods:
    """Decisions whose period is known, the code of each one's period, and the periods in order of time."""

    decisions: Decisions
    names: Sequence[str]
    times: npt.NDArray[np.float64]
    code: npt.NDArray[np.int32]
    unit: str
    """What one unit of time is, for the drift."""


class GameCounts:
    """Games and the Elo in their headers, by player and period; each game counts once."""

    def __init__(self, periods: DecisionPeriods) -> None:
        batch = periods.decisions
        columns = batch.context.column_names
        games = batch.column("game").to_pylist() if "game" in columns else [None] * len(batch)
        elos = batch.column("elo").to_pylist() if "elo" in columns else [None] * len(batch)
        self._elo_of_game: dict[tuple[str, int], dict[Any, float | None]] = {}
        for decider, code, game, elo in zip(batch.decider.tolist(), periods.code.tolist(), games, elos, strict=True):
            if game is not None:
                self._elo_of_game.setdefault((batch.deciders[decider], code), {})[game] = elo

    def games(self, player: str, code: int) -> int:
        """Return how many games the player has in the period; 0 where the table does not name games."""
        return len(self._elo_of_game.get((player, code), {}))

    def header_elo(self, player: str, code: int) -> float | None:
        """Return the mean Elo of the player in the headers of these games, None where none has one."""
        known = [elo for elo in self._elo_of_game.get((player, code), {}).values() if elo is not None]
        return float(np.mean(known)) if known else None


def decimal_year(text: str | None) -> tuple[float, int | None] | None:
    """Return when a date was, in years, and its month if known: the middle of what is not known; None for no date.

    >>> decimal_year("1972.07.??"), decimal_year("1972.??.??"), decimal_year("?")
    ((1972.5416666666667, 7), (1972.5, None), None)
    """
    date = read_date(text or "")
    if date is None:
        return None
    if date.precision == YEAR:
        return date.first.year + 0.5, None
    inside = (date.first.day - 0.5) / 31 if date.precision == DAY else 0.5
    return date.first.year + (date.first.month - 1 + inside) / 12, date.first.month


def no_drift_note(every: str) -> str:
    """Return what is said where everybody has one period: it is taken by itself, whatever was asked for."""
    return f"one {every} only: there is no drift to be seen, it stands alone (prior reset)"


def date_periods(batch: Decisions, every: str) -> DecisionPeriods:
    """Return the periods of games: by year, by month, or by event (one of the same name in another year is another)."""
    check_every(every)
    columns = [batch.column(name).to_pylist() for name in ("date", "year", "event")]
    of_game: dict[tuple[Any, ...], _Place | str] = {}
    places = [
        of_game.get(key) or of_game.setdefault(key, period_of_game(every, *key)) for key in zip(*columns, strict=True)
    ]
    for reason in sorted({place for place in places if isinstance(place, str)}):
        keep = np.array([place != reason for place in places], dtype=bool)
        batch = batch.select(keep, reason=reason)
        places = [place for place in places if place != reason]
    known = [place for place in places if not isinstance(place, str)]
    return _in_order(batch, [name for name, _ in known], [time for _, time in known], "year")


def check_every(every: str) -> None:
    """Refuse what are no periods of games."""
    if every not in EVERY:
        raise OptionError(f"no periods by {every!r}", hint=f"the periods: {', '.join(EVERY)}")


def period_of_game(every: str, date: str | None, year: int | None, event: str | None) -> _Place | str:
    """Return a game's period and its time, or why it has none."""
    blank = not (date or "").strip("?-./ ")
    when = decimal_year(str(year) if blank and year else date)
    if when is None:
        return "no date" if blank else "impossible date"
    time, month = when
    if every == "year":
        return str(int(time)), float(int(time))
    if every == "month":
        return (f"{int(time)}-{month:02d}", int(time) + (month - 1) / 12) if month else "no month in the date"
    if not event:
        return "no event"
    return event if str(int(time)) in event else f"{event} {int(time)}", time


def column_periods(batch: Decisions, column: str) -> DecisionPeriods:
    """Return the periods that any column makes.

    Numbers are times themselves; dates (YYYY, YYYY-MM or YYYY-MM-DD) are in years; other texts come in the order in
    which they first appear, one unit of time apart.
    """
    values = batch.column(column).to_pylist()
    known = np.array([value is not None and value == value for value in values], dtype=bool)
    batch = batch.select(known, reason=f"no {column}")
    values = [value for value, there in zip(values, known, strict=True) if there]
    labels = [f"{value:g}" if isinstance(value, float) else str(value) for value in values]
    if all(isinstance(value, int | float) for value in values):
        return _in_order(batch, labels, [float(value) for value in values], column)
    dates = [decimal_year(label) for label in labels]
    if all(date is not None for date in dates):
        return _in_order(batch, labels, [date[0] for date in dates if date], "year")
    ranks = {label: float(rank) for rank, label in enumerate(dict.fromkeys(labels))}
    return _in_order(batch, labels, [ranks[label] for label in labels], f"step of {column}")


def _in_order(batch: Decisions, labels: list[str], times: list[float], unit: str) -> DecisionPeriods:
    """Put the periods in order of time: each stands at its first decision's time, ties as they first appear."""
    names, codes = encode(labels)
    first = np.full(len(names), np.inf)
    np.minimum.at(first, codes, np.asarray(times, dtype=float))
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(names), dtype=np.int32)
    rank[order] = np.arange(len(names), dtype=np.int32)
    return DecisionPeriods(batch, [names[i] for i in order], first[order], rank[codes], unit)
