"""What the cells of a results table say: dates, numbers of periods, scores, goals and published ratings, as columns.

In: a column as Arrow has it. Out: numpy columns, and for each row at fault why. Every distinct text is read once,
however many games carry it; columns that are dates or numbers already are taken as they stand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skilloscope.core.dates import DAY, date_orders, parse_dates
from skilloscope.core.errors import InputError
from skilloscope.results.coding import one_dictionary
from skilloscope.results.layouts import Layout
from skilloscope.results.scores import NO_SCORE, is_fault, parse_scores


class When:
    """When each game was played: a number, whether it is missing or bad, and how exact it is."""

    def __init__(
        self,
        value: npt.NDArray[np.int64],
        missing: npt.NDArray[np.bool_],
        bad: npt.NDArray[np.bool_],
        precision: npt.NDArray[np.uint8],
    ) -> None:
        self.value, self.missing, self.bad, self.precision = value, missing, bad, precision


def ratings_of(column: pa.ChunkedArray) -> npt.NDArray[np.float64]:
    """Return published ratings, 0 where there is none: blank, zero, or no number above zero."""
    if _is_number(column.type):
        number = column.cast(pa.float64(), safe=False).fill_null(0.0).to_numpy()
        return np.where((number > 0.0) & (number < math.inf), number, 0.0)
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


def dates_of(column: pa.ChunkedArray, form: str | None, name: str) -> When:
    """Return the days of dates given as dates, times, whole numbers (19951231) or texts; each distinct text once."""
    if pa.types.is_date(column.type) or pa.types.is_timestamp(column.type):
        days = (
            column
            if column.type == pa.date32()
            else column.cast(pa.timestamp("us"), safe=False).cast(pa.date32(), safe=False)
        )
        missing = column.is_null().to_numpy() if column.null_count else np.zeros(len(column), dtype=bool)
        value = days.cast(pa.int32()).fill_null(0).to_numpy().astype(np.int64)
        return When(value, missing, np.zeros_like(missing), np.full(len(value), DAY, dtype=np.uint8))
    texts, codes = _distinct(column)
    days_of, precision, there = parse_dates(texts, form or _order(texts, name))
    blank = np.array([text is None or not text.strip("?-./ \t") for text in texts], dtype=bool)
    return When(days_of[codes], blank[codes], ~there[codes], precision[codes])


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


def periods_of(column: pa.ChunkedArray) -> When:
    """Return numbered periods as they stand."""
    texts, codes = _distinct(column)
    numbers = [_whole(text) for text in texts]
    blank = np.array([text is None or not text.strip() for text in texts], dtype=bool)
    value = np.array([number or 0 for number in numbers], dtype=np.int64)
    bad = np.array([number is None for number in numbers], dtype=bool)
    return When(value[codes], blank[codes], bad[codes], np.zeros(len(codes), dtype=np.uint8))


def _whole(text: str | None) -> int | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return int(number) if number.is_integer() and 0 <= number < 2**31 else None


def scores_of(table: pa.Table, layout: Layout) -> tuple[npt.NDArray[np.float64], dict[str, npt.NDArray[np.bool_]]]:
    """Return every row's score, and for each reason against one the rows that it hits."""
    if layout.score is not None and layout.score_2 is not None:
        return _of_goals(*(_distinct(table.column(side)) for side in (layout.score, layout.score_2)))
    column = layout.score or layout.remark
    if column is None:
        return np.ones(table.num_rows), {}
    if layout.score is not None and (given := _as_given(table.column(column))) is not None:
        return given, {}
    texts, codes = _distinct(table.column(column))
    score, reasons = parse_scores(texts)
    if layout.score is None:  # the winner stands first; how it ended says at most that it was no game
        score = np.ones(len(texts))
        reasons = ["" if is_fault(reason) else reason for reason in reasons]
    why = np.array(reasons, dtype=object)
    return score[codes], {reason: (why == reason)[codes] for reason in sorted(set(reasons) - {""})}


def _as_given(column: pa.ChunkedArray) -> npt.NDArray[np.float64] | None:
    """Return the scores of a column of numbers that all are scores, as they stand; None where one is not."""
    if not _is_number(column.type) or column.null_count or not len(column):
        return None
    score = np.asarray(column.to_numpy(), dtype=np.float64)
    return score if score.min() >= 0.0 and score.max() <= 1.0 else None


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


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
    values, indices = one_dictionary(column)
    texts: list[str | None] = [None if value is None else str(value) for value in values.to_pylist()]
    codes = indices.fill_null(len(texts)).to_numpy(zero_copy_only=False).astype(np.int64)
    return [*texts, None], codes
