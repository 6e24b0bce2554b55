"""Dates as people write them: ISO, with dots, run together, or with the day or the month unknown.

In: a text. Out: days since 1970 and how exact the date is, or None. Every distinct text is read once, by
`parse_dates`, however many games carry it.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

DAY: Final = 0
MONTH: Final = 1
YEAR: Final = 2

_SPLIT = re.compile(r"(\d{4})(?:([-./])(\d{1,2}|\?{1,2})(?:\2(\d{1,2}|\?{1,2}))?)?(?:[T ][\d:.,+Z-]*)?")
_SOLID = re.compile(r"(\d{4})(\d{2})(\d{2})(?:\.0)?")
_EPOCH = datetime.date(1970, 1, 1).toordinal()


def parse_date(text: str) -> tuple[int | None, int]:
    """Return the days since 1970 of a date, or None, and its precision; unknown days and months count from the first.

    A day whose month is unknown (`1936.??.14`) is no more than a year.

    >>> parse_date("1970-01-02"), parse_date("1970.02.??"), parse_date("19700201"), parse_date("1971")
    ((1, 0), (31, 1), (31, 0), (365, 2))
    >>> parse_date("1995-02-30"), parse_date("????.??.??")
    ((None, 0), (None, 0))
    """
    text = text.strip()
    match = _SPLIT.fullmatch(text) or _SOLID.fullmatch(text)
    if not match:
        return None, DAY
    if match.re is _SOLID:
        year, month, day = match.groups()
    else:
        year, _, month, day = match.groups()
    if not month or month[0] == "?":
        month, day, precision = "1", "1", YEAR
    elif not day or day[0] == "?":
        day, precision = "1", MONTH
    else:
        precision = DAY
    try:
        return datetime.date(int(year), int(month), int(day)).toordinal() - _EPOCH, precision
    except ValueError:  # 30 February, month 13, year 0
        return None, DAY


def parse_dates(
    texts: Sequence[str | None],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8], npt.NDArray[np.bool_]]:
    """Return days since 1970, precision, and whether there is a date at all, for each text."""
    read = [(None, DAY) if text is None else parse_date(text) for text in texts]
    days = np.array([day or 0 for day, _ in read], dtype=np.int64)
    precision = np.array([exact for _, exact in read], dtype=np.uint8)
    return days, precision, np.array([day is not None for day, _ in read], dtype=bool)
