"""Results from CSV, Parquet, Arrow tables and frames: every row used, or counted and named.

In: a file or a table; `layouts` says which of its columns is which. Out: Results.

Rows at fault (no or an unknown score, a player against himself, a missing or impossible date, no name) are left out,
counted by reason and named with file and row; the header is row 1 of a CSV file, as in a spreadsheet. Forfeits, byes
and walkovers are no games: left out and counted. Rows out of date order are put in order, and games listed twice (the
same day, players and score) are kept unless told otherwise, since two such games in a match or a rapid event are real;
both are counted as notes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skilloscope.core.dates import DAY
from skilloscope.core.errors import InputError, Tally
from skilloscope.core.files import is_parquet
from skilloscope.core.frames import arrow_from_frame
from skilloscope.core.parquet import parquet_names, read_checked
from skilloscope.results.cells import dates_of, periods_of, ratings_of, scores_of
from skilloscope.results.coding import NameCodes, hits
from skilloscope.results.csv_text import read_csv
from skilloscope.results.layouts import Layout, find_layout
from skilloscope.results.scores import BYE, is_fault
from skilloscope.results.table import Results

OUT_OF_ORDER = "row dated before the row above it"
AFTER_TODAY = "date after today"
TWICE = "game listed twice (same day, players and score)"
YOURSELF = "a player against himself"
_NO_NUMBER = "period is not a whole number from 0 on"
_MANY = 50_000  # games from which on it pays to load what is compiled
_MOST_NAMED = 10_000  # faults of one reason that are named one by one; the others are counted


@dataclass(frozen=True)
class Reading:
    """How a table is read where its content does not tell."""

    columns: Mapping[str, str] = field(default_factory=dict)
    """Our names of columns with theirs."""
    observed: str | None = None
    """Two columns of ratings published elsewhere, or `header`; without, none are looked at."""
    date_format: str | None = None
    """`dmy` or `mdy` for dates such as 01/05/2024; without, all dates of a table together must tell."""
    drop_duplicates: bool = False


def read_results(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    drop_duplicates: bool = False,
    how: Reading | None = None,
) -> Results:
    """Read results from CSV (packed or not) or Parquet, told by the content; `columns` maps our names to theirs."""
    path, how = Path(path), how or Reading(columns or {}, drop_duplicates=drop_duplicates)
    if path.is_file() and path.stat().st_size == 0:
        raise InputError(
            f"{path}: the file is empty", hint="a results table has the columns date,player_1,player_2,score"
        )
    if is_parquet(path):
        layout = find_layout(parquet_names(path), how.columns, observed=how.observed, table=str(path))
        table, rows, tally = read_checked(path, layout.columns), None, Tally()
    else:
        table, rows, tally = read_csv(path)
    results = results_from_arrow(table, how=how, name=str(path), rows=rows)
    return replace(results, tally=tally + results.tally)


def results_from_frame(
    frame: Any, *, columns: Mapping[str, str] | None = None, drop_duplicates: bool = False
) -> Results:
    """Return the results that a pandas or polars frame (or an Arrow table) holds."""
    how = Reading(columns or {}, drop_duplicates=drop_duplicates)
    return results_from_arrow(arrow_from_frame(frame), how=how, name="<frame>")


def results_from_arrow(
    table: pa.Table,
    *,
    how: Reading | None = None,
    name: str = "<table>",
    rows: npt.NDArray[np.int64] | None = None,
    codes: NameCodes | None = None,
) -> Results:
    """Return the results that an Arrow table holds; `rows` are the numbers of its rows in the file.

    A batch of a larger table gets the `codes` of the whole: its players are then all that were met so far.
    """
    how = how or Reading()
    layout = find_layout(table.column_names, how.columns, observed=how.observed, table=name)
    _checked(table, layout, name)
    numbers = np.arange(1, table.num_rows + 1) if rows is None else rows
    names = codes or NameCodes()
    one, two = (names.of(table.column(side)) for side in (layout.player_1, layout.player_2))
    nobody, bye = (hits(marks, one) | hits(marks, two) for marks in (names.blank, names.bye))
    score, reasons = scores_of(table, layout)
    dated, when_named = layout.dated, "date" if layout.dated else "period"
    times = table.column(layout.when)
    when = dates_of(times, how.date_format, name) if dated else periods_of(times)
    found = _Screen(table, name, numbers)
    found.leave_out("blank row", hits(names.blank, one) & hits(names.blank, two) & when.missing, fault=False)
    found.leave_out(BYE, bye, fault=False)
    found.leave_out("no player", nobody)
    for reason, rows_of in reasons.items():
        found.leave_out(reason, rows_of, layout.score or "", fault=is_fault(reason))
    found.leave_out(f"missing {when_named}", when.missing, layout.when)
    found.leave_out("impossible date" if dated else _NO_NUMBER, when.bad, layout.when)
    found.leave_out(YOURSELF, one == two, layout.player_1)
    days = when.value.astype("datetime64[D]") if dated else np.full(table.num_rows, "NaT", dtype="datetime64[D]")
    rating_1, rating_2 = (ratings_of(table.column(side)) for side in layout.ratings) if layout.ratings else (None, None)
    whole = Results(
        players=names.players,
        player_1=one,
        player_2=two,
        score=score,
        date=days,
        period=None if dated else when.value,
        precision=when.precision if dated and when.precision.any() else None,
        rating_1=rating_1,
        rating_2=rating_2,
        tally=found.tally,
    )
    good = whole if found.good.all() else whole.select(found.good)
    return tidied(good if codes else good.of_players(), drop_duplicates=how.drop_duplicates)


def tidied(results: Results, *, drop_duplicates: bool = False) -> Results:
    """Return the games in the order of their dates, with notes of those out of order and of those listed twice."""
    when = results.date.astype(np.int64) if results.period is None else results.period
    late = int(np.count_nonzero(np.diff(when) < 0))
    noted = Tally()
    noted.count(OUT_OF_ORDER, late)
    if results.period is None:  # most often a slip of the pen, and it lets decades pass for whoever played
        noted.count(AFTER_TODAY, int(np.count_nonzero(results.date > np.datetime64("today", "D"))))
    if late:
        results = results.select(np.argsort(when, kind="stable"))
    twice = _repeated(results)
    if drop_duplicates and twice.any():
        left_out = Tally({TWICE: int(twice.sum())})
        results = replace(results.select(~twice), tally=results.tally + left_out)
    else:
        noted.count(TWICE, int(twice.sum()))
    return replace(results, noted=results.noted + noted)


class _Screen:
    """Which rows are still good, and why the others are not; a row has one reason, the first that is found."""

    def __init__(self, table: pa.Table, name: str, rows: npt.NDArray[np.int64]) -> None:
        self.good = np.ones(table.num_rows, dtype=bool)
        self.tally = Tally()
        self._table, self._name, self._rows = table, name, rows

    def leave_out(self, reason: str, bad: npt.NDArray[np.bool_], column: str = "", *, fault: bool = True) -> None:
        """Leave out the bad rows among the good ones; name each where it is a fault."""
        at = np.flatnonzero(bad & self.good)
        self.good[at] = False
        named = at[:_MOST_NAMED] if fault else at[:0]
        for row in named:
            detail = str(self._table.column(column)[int(row)].as_py() or "") if column else ""
            self.tally.fault(reason, self._name, f"row {self._rows[row]}", detail[:60])
        self.tally.count(reason, len(at) - len(named))


def _repeated(results: Results) -> npt.NDArray[np.bool_]:
    """Return which games repeat an earlier one; those of which only a month or a year is known do not."""
    if results.period is not None:  # a period is too long to tell two games by it
        return np.zeros(len(results), dtype=bool)
    repeated = repeated_games(results)
    return repeated if results.precision is None else repeated & (results.precision == DAY)


def repeated_games(results: Results) -> npt.NDArray[np.bool_]:
    """Return which games have an earlier one's day, its players in the same seats, and its score."""
    day = results.date.astype(np.int64)
    if len(results) > _MANY:
        from skilloscope.results.repeats import repeated_rows

        return repeated_rows(results.player_1, results.player_2, results.score, day)
    columns = (results.score, day, results.player_2, results.player_1)
    order = np.lexsort(columns)  # stable: of games alike the first in the table comes first
    alike = np.ones(max(len(order) - 1, 0), dtype=bool)
    for column in columns:
        alike &= column[order[1:]] == column[order[:-1]]
    repeated = np.zeros(len(results), dtype=bool)
    repeated[order[1:]] = alike
    return repeated


def _checked(table: pa.Table, layout: Layout, name: str) -> None:
    """Raise where a column that is read is there twice or holds more than one value a game."""
    for theirs in layout.columns:
        if table.column_names.count(theirs) > 1:
            raise InputError(f"{name}: the table has the column {theirs} twice", hint="take one of them out")
        kind = table.schema.field(theirs).type
        if pa.types.is_nested(kind):
            raise InputError(f"{name}: the column {theirs} holds {kind}, not one value a game")
