"""Dates, scores and periods as people write them; periods are anchored in the calendar."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilloscope.core.dates import DAY, MONTH, YEAR, parse_date
from skilloscope.core.errors import InputError
from skilloscope.results import Calendar
from skilloscope.results.columns import parse_score


@pytest.mark.parametrize(
    ("text", "days", "precision"),
    [
        ("1995-12-31", 9495, DAY),
        ("1995.12.31", 9495, DAY),
        ("19951231", 9495, DAY),
        ("1995-12", 9465, MONTH),
        ("1995.12.??", 9465, MONTH),
        ("1995.??.31", 9131, YEAR),
        ("1995-12-31T10:00:00Z", 9495, DAY),
        ("95-12-31", None, DAY),
    ],
)
def test_dates_are_read_as_people_write_them(text, days, precision):
    assert parse_date(text) == (days, precision)


@pytest.mark.parametrize(("text", "score"), [("1", 1), ("0,5", 0.5), ("½-½", 0.5), ("0-1", 0), ("W", 1), ("draw", 0.5)])
def test_scores_are_read_as_people_write_them(text, score):
    assert parse_score(text) == (score, "")


@given(
    st.dates(min_value=np.datetime64("1800-01-01").item()),
    st.sampled_from(["1D", "3D", "1W", "2W", "1M", "2M", "6M", "1Y", "5Y"]),
)
def test_a_date_lies_in_its_period_and_the_label_leads_back(day, text):
    calendar = Calendar.from_text(text)
    number = int(calendar.numbers(np.array([day], dtype="datetime64[D]"))[0])
    assert calendar.start(number) <= day
    if day.year < 9990:
        assert day < calendar.start(number + 1)
    assert calendar.number(calendar.label(number)) == number


def test_periods_are_anchored_at_the_first_of_january_and_weeks_on_mondays():
    days = np.array(["1994-12-31", "1995-01-01", "1995-02-28", "1995-03-01"], dtype="datetime64[D]")
    assert np.diff(Calendar.from_text("2M").numbers(days)).tolist() == [1, 0, 1]
    assert np.diff(Calendar.from_text("1Y").numbers(days)).tolist() == [1, 0, 0]
    week = Calendar.from_text("1W")
    assert week.start(week.number("1995-01-01")).weekday() == 0
    assert week.label(week.number("1900-01-07")) == "1900-01-01"


@pytest.mark.parametrize("text", ["", "M", "0M", "5M", "1H", "month"])
def test_lengths_that_are_no_period_are_refused(text):
    with pytest.raises(InputError):
        Calendar.from_text(text)
