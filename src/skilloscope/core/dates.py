"""Dates as people write them: ISO, with dots or slashes, run together, or with the day or the month unknown.

In: a text. Out: a WrittenDate, or None where no calendar has such a day. All dates are read here. Every
distinct text is read once, by `parse_dates`, however many games carry it.
"""

import calendar
import datetime
import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from skilloscope.core.columns import Bools, Ints

DAY: Final = 0
MONTH: Final = 1
YEAR: Final = 2

_SPLIT = re.compile(r"(\d{4})(?:([-./])(\d{1,2}|\?{1,2})(?:\2(\d{1,2}|\?{1,2}))?)?(?:[T ][\d:.,+Z-]*)?")
_SOLID = re.compile(r"(\d{4})(\d{2})(\d{2})(?:\.0)?")
_LAST = re.compile(r"(\d{1,2})([-./])(\d{1,2})\2(\d{4})(?:[T ][\d:.,+Z-]*)?")
_EPOCH = datetime.date(1970, 1, 1).toordinal()


class WrittenDate(NamedTuple):
    """The first and the last day that a text may mean, and how exact it is: to the DAY, the MONTH or the YEAR."""

    first: datetime.date
    last: datetime.date
    precision: int


def read_date(text: str, order: str | None = None) -> WrittenDate | None:
    """Return what days a text means; None where it is not a date. A day of an unknown month (`1936.??.14`) says a year.

    With the year last, dots are written after the day first (31.12.2024); of others (01/05/2024) `order` says if it is
    `dmy` or `mdy`, and without it they are no date.

    >>> read_date("2006/07/??").last, read_date("20060701").precision, read_date("2006.02.30")
    (datetime.date(2006, 7, 31), 0, None)
    >>> read_date("05.01.2024").first, read_date("01/05/2024"), read_date("01/05/2024", "mdy").first
    (datetime.date(2024, 1, 5), None, datetime.date(2024, 1, 5))
    """
    match = _LAST.fullmatch(text.strip()) or _SPLIT.fullmatch(text.strip()) or _SOLID.fullmatch(text.strip())
    if not match:
        return None
    if match.re is _LAST:
        order = order or ("dmy" if match[2] == "." else None)
        if order is None:
            return None
        year, month, day = match.group(4, 3, 1) if order == "dmy" else match.group(4, 1, 3)
    else:
        year, month, day = match.groups() if match.re is _SOLID else match.group(1, 3, 4)
    try:
        if not month or month[0] == "?":
            return WrittenDate(datetime.date(int(year), 1, 1), datetime.date(int(year), 12, 31), YEAR)
        first = datetime.date(int(year), int(month), 1)
        if not day or day[0] == "?":
            return WrittenDate(first, first.replace(day=calendar.monthrange(first.year, first.month)[1]), MONTH)
        return WrittenDate(first.replace(day=int(day)), first.replace(day=int(day)), DAY)
    except ValueError:  # 30 February, month 13, year 0
        return None


def date_orders(texts: Iterable[str]) -> list[str]:
    """Return which of `dmy` and `mdy` all dates with the year last agree with; empty where there is none to ask about.

    >>> date_orders(["01/05/2024", "13/05/2024"]), date_orders(["01/05/2024"]), date_orders(["2024-05-01"])
    (['dmy'], ['dmy', 'mdy'], [])
    """
    found = [match for text in texts if (match := _LAST.fullmatch(text.strip())) and match[2] != "."]
    day_first, month_first = (any(int(match[group]) > 12 for match in found) for group in (1, 3))
    if not found:
        return []
    return ["dmy"] if day_first else ["mdy"] if month_first else ["dmy", "mdy"]


def parse_date(text: str, order: str | None = None) -> tuple[int | None, int]:
    """Return the days since 1970 of a date, or None, and its precision; unknown days and months count from the first.

    >>> parse_date("1970-01-02"), parse_date("1970.02.??"), parse_date("19700201"), parse_date("1971")
    ((1, 0), (31, 1), (31, 0), (365, 2))
    >>> parse_date("1995-02-30"), parse_date("????.??.??")
    ((None, 0), (None, 0))
    """
    date = read_date(text, order)
    return (None, DAY) if date is None else (date.first.toordinal() - _EPOCH, date.precision)


def parse_dates(texts: Sequence[str | None], order: str | None = None) -> tuple[Ints, npt.NDArray[np.uint8], Bools]:
    """Return days since 1970, precision, and whether there is a date at all, for each text."""
    read = [(None, DAY) if text is None else parse_date(text, order) for text in texts]
    days = np.array([day or 0 for day, _ in read], dtype=np.int64)
    precision = np.array([exact for _, exact in read], dtype=np.uint8)
    return days, precision, np.array([day is not None for day, _ in read], dtype=bool)
