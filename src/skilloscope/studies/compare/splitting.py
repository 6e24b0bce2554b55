"""One batch of decisions cut into two sets: by date, or by the two values of a column."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.core.errors import InputError, Tally
from skilloscope.decision import Decisions

UNDATED = "date not known well enough for the split"
_DATE = re.compile(r"(\d{4})(?:[-.](\d{1,2}|\?\?))?(?:[-.](\d{1,2}|\?\?))?")


def split_by_date(decisions: Decisions, at: str) -> tuple[Decisions, Decisions]:
    """Return the decisions before a day and those from it on; where a date does not tell, they are counted.

    Both the day and the dates may be written 2006.07.01, 2006-07-01, or as far as they are known: 2006-07, 2006.??.??.
    """
    day = first_day(at)
    ranges = [_range(str(date)) if date is not None else None for date in decisions.column("date").to_pylist()]
    before = np.array([known is not None and known[1] < day for known in ranges], dtype=bool)
    after = np.array([known is not None and known[0] >= day for known in ranges], dtype=bool)
    if not (before.any() and after.any()):
        side = f"before {at}" if not before.any() else f"from {at} on"
        raise InputError(f"no decision {side}", hint=_span(ranges))
    return _two_parts(decisions, before, after, UNDATED)


def first_day(at: str) -> tuple[int, int, int]:
    """Return the day at which a split begins; a date that no calendar has is refused.

    >>> first_day("2006-07")
    (2006, 7, 1)
    """
    days = _range(at)
    if days is None:
        raise InputError(f"{at!r} is no date", hint="write YYYY-MM-DD, YYYY-MM or YYYY")
    return days[0]


def split_by_column(
    decisions: Decisions, column: str, values: Sequence[str] | None = None
) -> tuple[Decisions, Decisions, tuple[str, str]]:
    """Return the decisions of the two values of a column, in the values' order, and what the values are.

    Where the column has more than two, `values` says which two, first and second.
    """
    cells = decisions.column(column).to_pylist()
    known: list[Any] = list(dict.fromkeys(cell for cell in cells if cell is not None))
    texts = [str(value) for value in sorted(known, key=lambda value: (str(type(value)), value))]
    chosen = list(values) if values else texts
    if missing := [value for value in chosen if value not in texts]:
        raise InputError(f"the column {column!r} has no value {missing[0]!r}", hint=f"its values: {_few(texts)}")
    if len(chosen) != 2 or chosen[0] == chosen[1]:
        raise InputError(
            f"the column {column!r} has {len(chosen):,} values, a comparison has two sides",
            hint=f"say which two; its values: {_few(texts)}",
        )
    written = np.array(["" if cell is None else str(cell) for cell in cells], dtype=object)
    present = np.array([cell is not None for cell in cells], dtype=bool)
    sides = [present & (written == value) for value in chosen]
    first, second = _two_parts(decisions, sides[0], sides[1], f"{column} is neither {chosen[0]} nor {chosen[1]}")
    return first, second, (chosen[0], chosen[1])


def _two_parts(
    decisions: Decisions, first: npt.NDArray[np.bool_], second: npt.NDArray[np.bool_], reason: str
) -> tuple[Decisions, Decisions]:
    """Return both parts; what is in neither is counted. All counts go with the first, so that they add once."""
    counted = decisions.select(first | second, reason=reason).tally
    return replace(decisions.select(first), tally=counted), replace(decisions.select(second), tally=Tally())


def _range(date: str) -> tuple[tuple[int, int, int], tuple[int, int, int]] | None:
    """Return the first and the last day that a date may mean, or None where the year is not known or no such day is."""
    found = _DATE.fullmatch(date.strip())
    if not found:
        return None
    year = int(found[1])
    month, day = (int(part) if part and part != "??" else None for part in (found[2], found[3]))
    if month is None:
        return (year, 1, 1), (year, 12, 31)
    try:
        datetime.date(year, month, day or 1)
    except ValueError:
        return None
    return (year, month, day or 1), (year, month, day or 31)


def _span(ranges: Sequence[tuple[tuple[int, int, int], tuple[int, int, int]] | None]) -> str:
    known = [dates for dates in ranges if dates is not None]
    if not known:
        return "no decision has a date: split by another column"
    low, high = min(dates[0] for dates in known), max(dates[1] for dates in known)
    return "the dates reach from {:04d}-{:02d}-{:02d} to {:04d}-{:02d}-{:02d}; split between them".format(*low, *high)


def _few(texts: Sequence[str]) -> str:
    return "; ".join(texts[:10]) + (" …" if len(texts) > 10 else "")
