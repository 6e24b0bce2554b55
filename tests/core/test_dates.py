"""One reader of dates: what is a date for results is one for profiles and for comparisons, and the other way round."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa
import pytest

from skilloscope.core.dates import DAY, MONTH, YEAR, read_date
from skilloscope.core.errors import InputError
from skilloscope.decision import Decisions
from skilloscope.decision.align import split_by_date
from skilloscope.evidence.periods import date_periods
from skilloscope.results.reading import results_from_arrow

WRITTEN = {
    "2006-07-01": DAY,
    "2006.07.01": DAY,
    "2006/07/01": DAY,
    "20060701": DAY,
    "2006-7-1": DAY,
    "2006-07-01T20:15:00Z": DAY,
    "2006/07": MONTH,
    "2006.07.??": MONTH,
    "2006": YEAR,
    "2006.??.??": YEAR,
}
NO_DATE = ("2006.02.30", "2006-13-01", "2006.00.00", "0000.01.01", "July 2006", "06-07-01", "2006-07/01")


def decided_on(date: str) -> Decisions:
    """Return three decisions: long before, on this date, and long after."""
    dates = ["1900-01-01", date, "2100-01-01"]
    context = {"date": dates, "year": [1900, 2006, 2100], "event": ["E"] * 3}
    return Decisions.from_lists(["Ann"] * 3, [[0.0, -1.0]] * 3, [0] * 3, context=context)


def is_a_date_for_results(date: str) -> bool:
    table = pa.table({"date": [date], "player_1": ["Ann"], "player_2": ["Bob"], "score": ["1"]})
    return len(results_from_arrow(table)) == 1


def is_a_date_for_profiles(date: str) -> bool:
    return len(date_periods(decided_on(date), "year").decisions) == 3


def is_a_date_for_comparisons(date: str) -> bool:
    before, after = split_by_date(decided_on(date), "2000")
    return len(before) + len(after) == 3


def is_a_day_to_split_at(date: str) -> bool:
    try:
        split_by_date(decided_on("2000"), date)
    except InputError:
        return False
    return True


READERS = [is_a_date_for_results, is_a_date_for_profiles, is_a_date_for_comparisons, is_a_day_to_split_at]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("date", WRITTEN)
def test_whatever_is_a_date_for_one_is_a_date_for_all(reader, date):
    assert reader(date)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("date", NO_DATE)
def test_what_no_calendar_has_is_a_date_nowhere(reader, date):
    assert not reader(date)


@pytest.mark.parametrize(("text", "precision"), WRITTEN.items())
def test_a_date_means_the_days_that_it_leaves_open(text, precision):
    date = read_date(text)
    assert date.precision == precision
    spans = {DAY: ("2006-07-01", "2006-07-01"), MONTH: ("2006-07-01", "2006-07-31"), YEAR: ("2006-01-01", "2006-12-31")}
    assert (date.first, date.last) == tuple(datetime.date.fromisoformat(day) for day in spans[precision])


def test_profiles_count_an_impossible_date_as_such_and_take_the_year_where_there_is_no_date():
    found = date_periods(decided_on("2006.02.30"), "year")
    assert (found.decisions.skipped, list(found.names)) == ({"impossible date": 1}, ["1900", "2100"])
    blank = date_periods(decided_on("????.??.??"), "year")
    assert np.array_equal(blank.times, [1900.0, 2006.0, 2100.0])
