"""One batch of decisions cut into two sets: by date, or by the two values of a column."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.core.dates import WrittenDate, read_date
from skilloscope.core.errors import InputError, OptionError, Tally
from skilloscope.decision import Decisions

UNDATED = "date not known well enough for the split"


def split_by_date(decisions: Decisions, at: str) -> tuple[Decisions, Decisions]:
    """Return the decisions before a day and those from it on; where a date does not tell, they are counted.

    Both the day and the dates are read as everywhere: 2006.07.01, 2006-07-01, or as far as known: 2006-07, 2006.??.??.
    """
    day = first_day(at)
    dates = [read_date(str(date)) if date is not None else None for date in decisions.column("date").to_pylist()]
    before = np.array([date is not None and date.last < day for date in dates], dtype=bool)
    after = np.array([date is not None and date.first >= day for date in dates], dtype=bool)
    if not (before.any() and after.any()):
        side = f"before {at}" if not before.any() else f"from {at} on"
        raise InputError(f"no decision {side}", hint=_span(dates))
    return _two_parts(decisions, before, after, UNDATED)


def first_day(at: str) -> datetime.date:
    """Return the day at which a split begins; a date that no calendar has is refused.

    >>> first_day("2006-07")
    datetime.date(2006, 7, 1)
    """
    date = read_date(at)
    if date is None:
        raise OptionError(f"{at!r} is no date", hint="write YYYY-MM-DD, YYYY-MM or YYYY")
    return date.first


def split_by_column(
    decisions: Decisions, column: str, values: Sequence[str] | None = None
) -> tuple[Decisions, Decisions, tuple[str, str]]:
    """Return the decisions of the two values of a column, in the values' order, and what the values are.

    Where the column has more than two, `values` says which two, first and second.
    """
    cells = decisions.column(column).to_pylist()
    known: list[Any] = list(dict.fromkeys(cell for cell in cells if cell is not None))
    texts = [str(value) for value in sorted(known, key=lambda value: (str(type(value)), value))]
    chosen = chosen_values(texts, values, column)
    written = np.array(["" if cell is None else str(cell) for cell in cells], dtype=object)
    present = np.array([cell is not None for cell in cells], dtype=bool)
    sides = [present & (written == value) for value in chosen]
    first, second = _two_parts(decisions, sides[0], sides[1], f"{column} is neither {chosen[0]} nor {chosen[1]}")
    return first, second, (chosen[0], chosen[1])


def chosen_values(texts: Sequence[str], values: Sequence[str] | None, column: str) -> list[str]:
    """Return the two values of a column that are compared: those asked for, or the only two."""
    chosen = list(values) if values else list(texts)
    if missing := [value for value in chosen if value not in texts]:
        raise InputError(f"the column {column!r} has no value {missing[0]!r}", hint=f"its values: {_few(texts)}")
    if len(chosen) != 2 or chosen[0] == chosen[1]:
        raise InputError(
            f"the column {column!r} has {len(chosen):,} values, a comparison has two sides",
            hint=f"say which two; its values: {_few(texts)}",
        )
    return chosen


def _two_parts(
    decisions: Decisions, first: npt.NDArray[np.bool_], second: npt.NDArray[np.bool_], reason: str
) -> tuple[Decisions, Decisions]:
    """Return both parts; what is in neither is counted. All counts go with the first, so that they add once."""
    counted = decisions.select(first | second, reason=reason).tally
    return replace(decisions.select(first), tally=counted), replace(decisions.select(second), tally=Tally())


def _span(dates: Sequence[WrittenDate | None]) -> str:
    known = [date for date in dates if date is not None]
    if not known:
        return "no decision has a date: split by another column"
    low, high = min(date.first for date in known), max(date.last for date in known)
    return f"the dates reach from {low} to {high}; split between them"


def _few(texts: Sequence[str]) -> str:
    return "; ".join(texts[:10]) + (" …" if len(texts) > 10 else "")
