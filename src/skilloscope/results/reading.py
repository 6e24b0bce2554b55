"""Results from CSV, Parquet, Arrow tables and frames: every row used, or counted and named.

In: a file or a table; `layouts` says which of its columns is which. Out: Results.

Rows at fault (no or an unknown score, a player against himself, a missing or impossible date, no name) are left out,
counted by reason and named with file and row; the header is row 1 of a CSV file, as in a spreadsheet. Forfeits, byes
and walkovers are no games: left out and counted. Rows out of date order are put in order, and games listed twice (the
same day, players and score) are kept unless told otherwise, since two such games in a match or a rapid event are real;
both are counted as notes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skilloscope.core.dates import DAY, date_orders, parse_dates
from skilloscope.core.errors import InputError, Tally
from skilloscope.core.files import is_parquet
from skilloscope.core.frames import arrow_from_frame
from skilloscope.core.parquet import parquet_names, read_checked
from skilloscope.results.csv_text import read_csv
from skilloscope.results.layouts import Layout, find_layout
from skilloscope.results.scores import BYE, NO_SCORE, is_fault, parse_scores
from skilloscope.results.table import Results, sorted_codes

OUT_OF_ORDER = "row dated before the row above it"
AFTER_TODAY = "date after today"
TWICE = "game listed twice (same day, players and score)"
YOURSELF = "a player against himself"
_NO_NUMBER = "period is not a whole number from 0 on"
_MOST_NAMED = 10_000  # faults of one reason that are named one by one; the others are counted
_BYES = {"bye", "bye bye", "-bye-", "(bye)"}


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
) -> Results:
    """Return the results that an Arrow table holds; `rows` are the numbers of its rows in the file."""
    how = how or Reading()
    layout = find_layout(table.column_names, how.columns, observed=how.observed, table=name)
    _checked(table, layout, name)
    numbers = np.arange(1, table.num_rows + 1) if rows is None else rows
    sides = [_texts(table.column(side)) for side in (layout.player_1, layout.player_2)]
    players, codes = sorted_codes(pa.chunked_array([chunk for side in sides for chunk in side.chunks]))
    one, two = codes[: table.num_rows], codes[table.num_rows :]
    score, reasons = _scores(table, layout)
    dated, when_named = layout.dated, "date" if layout.dated else "period"
    when = _dates(table.column(layout.when), how.date_format, name) if dated else _periods(table.column(layout.when))
    found = _Screen(table, name, numbers)
    found.leave_out("blank row", _is_blank(players, one) & _is_blank(players, two) & when.missing, fault=False)
    found.leave_out(BYE, _is_bye(players, one) | _is_bye(players, two), fault=False)
    found.leave_out("no player", _is_blank(players, one) | _is_blank(players, two))
    for reason, rows_of in reasons.items():
        found.leave_out(reason, rows_of, layout.score or "", fault=is_fault(reason))
    found.leave_out(f"missing {when_named}", when.missing, layout.when)
    found.leave_out("impossible date" if dated else _NO_NUMBER, when.bad, layout.when)
    found.leave_out(YOURSELF, one == two, layout.player_1)
    days = when.value.astype("datetime64[D]") if dated else np.full(table.num_rows, "NaT", dtype="datetime64[D]")
    rating_1, rating_2 = (_ratings(table.column(side)) for side in layout.ratings) if layout.ratings else (None, None)
    whole = Results(
        players=players,
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
    return tidied(whole.select(found.good).of_players(), drop_duplicates=how.drop_duplicates)


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


class _When:
    """When each game was played: a number, whether it is missing or bad, and how exact it is."""

    def __init__(
        self,
        value: npt.NDArray[np.int64],
        missing: npt.NDArray[np.bool_],
        bad: npt.NDArray[np.bool_],
        precision: npt.NDArray[np.uint8],
    ) -> None:
        self.value, self.missing, self.bad, self.precision = value, missing, bad, precision


def _ratings(column: pa.ChunkedArray) -> npt.NDArray[np.float64]:
    """Return published ratings, 0 where there is none: blank, zero, or no number above zero."""
    texts, codes = _distinct(column)
    return np.array([number_in(text) for text in texts], dtype=np.float64)[codes]


def number_in(text: str | None) -> float:
    """Return a published rating that a text holds, 0 where it holds none.

    >>> number_in("2285"), number_in(" 2285,5 "), number_in("-"), number_in(None)
    (2285.0, 2285.5, 0.0, 0.0)
    """
    try:
        number = float((text or "").strip().replace(",", "."))
    except ValueError:
        return 0.0
    return number if 0.0 < number < math.inf else 0.0


def _dates(column: pa.ChunkedArray, form: str | None, name: str) -> _When:
    """Return the days of dates given as dates, times, whole numbers (19951231) or texts; each distinct text once."""
    if pa.types.is_date(column.type) or pa.types.is_timestamp(column.type):
        days = column.cast(pa.timestamp("us"), safe=False).cast(pa.date32(), safe=False).cast(pa.int32())
        missing = column.is_null().to_numpy()
        value = days.fill_null(0).to_numpy().astype(np.int64)
        return _When(value, missing, np.zeros_like(missing), np.full(len(value), DAY, dtype=np.uint8))
    texts, codes = _distinct(column)
    days_of, precision, there = parse_dates(texts, form or _order(texts, name))
    blank = np.array([text is None or not text.strip("?-./ \t") for text in texts], dtype=bool)
    return _When(days_of[codes], blank[codes], ~there[codes], precision[codes])


def _order(texts: Sequence[str | None], name: str) -> str | None:
    """Return whether dates such as 01/05/2024 have the day or the month first; where no date tells, that is asked."""
    orders = date_orders(text for text in texts if text)
    if len(orders) > 1:
        example = next(text for text in texts if text and len(date_orders([text])) > 1)
        raise InputError(
            f"{name}: dates such as {example.strip()} may have the day or the month first",
            hint="say which: --date-format dmy or --date-format mdy",
        )
    return orders[0] if orders else None


def _periods(column: pa.ChunkedArray) -> _When:
    texts, codes = _distinct(column)
    numbers = [_whole(text) for text in texts]
    blank = np.array([text is None or not text.strip() for text in texts], dtype=bool)
    value = np.array([number or 0 for number in numbers], dtype=np.int64)
    bad = np.array([number is None for number in numbers], dtype=bool)
    return _When(value[codes], blank[codes], bad[codes], np.zeros(len(codes), dtype=np.uint8))


def _whole(text: str | None) -> int | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return int(number) if number.is_integer() and 0 <= number < 2**31 else None


def _scores(table: pa.Table, layout: Layout) -> tuple[npt.NDArray[np.float64], dict[str, npt.NDArray[np.bool_]]]:
    """Return every row's score, and for each reason against one the rows that it hits."""
    if layout.score is not None and layout.score_2 is not None:
        return _of_goals(*(_distinct(table.column(side)) for side in (layout.score, layout.score_2)))
    column = layout.score or layout.remark
    if column is None:
        return np.ones(table.num_rows), {}
    texts, codes = _distinct(table.column(column))
    score, reasons = parse_scores(texts)
    if layout.score is None:  # the winner stands first; how it ended says at most that it was no game
        score = np.ones(len(texts))
        reasons = ["" if is_fault(reason) else reason for reason in reasons]
    why = np.array(reasons, dtype=object)
    return score[codes], {reason: (why == reason)[codes] for reason in sorted(set(reasons) - {""})}


_Distinct = tuple[list[str | None], npt.NDArray[np.int64]]


def _of_goals(one: _Distinct, two: _Distinct) -> tuple[npt.NDArray[np.float64], dict[str, npt.NDArray[np.bool_]]]:
    """Return 1, ½ or 0 by who has more goals or points; a row without two numbers has no score."""
    first, second = (np.array([_goals(text) for text in texts])[codes] for texts, codes in (one, two))
    return 0.5 + 0.5 * np.sign(np.nan_to_num(first - second)), {NO_SCORE: np.isnan(first) | np.isnan(second)}


def _goals(text: str | None) -> float:
    try:
        number = float((text or "").strip().replace(",", ".").replace("½", "0.5") or "nan")
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def _distinct(column: pa.ChunkedArray) -> tuple[list[str | None], npt.NDArray[np.int64]]:
    """Return the distinct values as texts, None last, and each row's place among them."""
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    whole = encoded.unify_dictionaries().combine_chunks()
    texts: list[str | None] = [None if value is None else str(value) for value in whole.dictionary.to_pylist()]
    codes = whole.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False).astype(np.int64)
    return [*texts, None], codes


def _texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of names or ids as trimmed texts in a dictionary; nulls become empty."""
    texts, codes = _distinct(column)
    places: dict[str, int] = {}
    place = [places.setdefault(" ".join(text.split()) if text else "", len(places)) for text in texts]
    names = pa.array(places, type=pa.string())
    return pa.chunked_array([pa.DictionaryArray.from_arrays(pa.array(np.array(place, dtype=np.int32)[codes]), names)])


def _is_bye(players: Sequence[str], codes: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
    return _hits(players, codes, [name.lower() in _BYES for name in players])


def _is_blank(players: Sequence[str], codes: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
    return _hits(players, codes, [not name for name in players])


def _hits(players: Sequence[str], codes: npt.NDArray[np.int32], marks: list[bool]) -> npt.NDArray[np.bool_]:
    marked = np.array(marks, dtype=bool)
    return np.asarray(marked[codes]) if marked.any() else np.zeros(len(codes), dtype=bool)


def _repeated(results: Results) -> npt.NDArray[np.bool_]:
    """Return which games repeat an earlier one: the same day, the same players in the same seats, the same score."""
    repeated = np.zeros(len(results), dtype=bool)
    if not len(results) or results.period is not None:  # a period is too long to tell two games by it
        return repeated
    pair = results.player_1.astype(np.int64) * len(results.players) + results.player_2
    day = results.date.astype(np.int64)
    mixed = pair * np.int64(-7046029254386353131) + day * np.int64(6364136223846793005) + results.score.view(np.int64)
    ordered = np.sort(mixed)  # many times as fast as finding the order, and mostly there is nothing to find
    candidates = np.flatnonzero(np.isin(mixed, ordered[1:][ordered[1:] == ordered[:-1]]))
    order = candidates[np.argsort(mixed[candidates], kind="stable")]
    alike = np.ones(max(len(order) - 1, 0), dtype=bool)
    for column in (pair, day, results.score):  # the mixture only finds candidates
        alike &= column[order[1:]] == column[order[:-1]]
    repeated[order[1:]] = alike
    return repeated if results.precision is None else repeated & (results.precision == DAY)


def _checked(table: pa.Table, layout: Layout, name: str) -> None:
    """Raise where a column that is read is there twice or holds more than one value a game."""
    for theirs in layout.columns:
        if table.column_names.count(theirs) > 1:
            raise InputError(f"{name}: the table has the column {theirs} twice", hint="take one of them out")
        kind = table.schema.field(theirs).type
        if pa.types.is_nested(kind):
            raise InputError(f"{name}: the column {theirs} holds {kind}, not one value a game")
