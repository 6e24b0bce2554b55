"""Standings: points, tie-breaks, and what the ratings let expect."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilloscope.chess.pgn.games import Games, read_games
from skilloscope.models.paired_comparison import FURTHEST, elo_expected, performance_rating
from skilloscope.studies.report.standings import standings
from web.conftest import pgn

ELO = {"A": 2400, "B": 2300, "C": 2200, "D": 2100}


def games(rows: list[tuple[str, str, str]], elo: dict[str, int] = ELO) -> Games:
    def tags(white: str, black: str) -> dict[str, str]:
        both = {"WhiteElo": elo.get(white), "BlackElo": elo.get(black)}
        return {name: str(value) for name, value in both.items() if value}

    text = "".join(pgn(white, black, "1. e4 e5", result, **tags(white, black)) for white, black, result in rows)
    return read_games(io.StringIO(text))


ROUND_ROBIN = [("A", "B", "1-0"), ("C", "D", "1-0"), ("A", "C", "1/2-1/2"), ("B", "D", "1-0"), ("D", "A", "0-1"),
               ("B", "C", "1-0")]  # fmt: skip


def test_tie_breaks_are_those_that_an_arbiter_works_out_by_hand():
    table = {row.player: row for row in standings(games(ROUND_ROBIN))}
    assert {name: row.points for name, row in table.items()} == {"A": 2.5, "B": 2.0, "C": 1.5, "D": 0.0}
    assert {name: row.buchholz for name, row in table.items()} == {"A": 3.5, "B": 4.0, "C": 4.5, "D": 6.0}
    # A beat B (2) and D (0) and drew C (1.5); B beat D and C; C beat D and drew A.
    assert {name: row.sonneborn_berger for name, row in table.items()} == {"A": 2.75, "B": 1.5, "C": 1.25, "D": 0.0}
    assert table["A"].opposition == pytest.approx(2200)
    assert table["A"].expected == pytest.approx(float(elo_expected(2400, [2300, 2200, 2100]).sum()))
    assert table["A"].performance == pytest.approx(2200 + 400 * np.log10(5))
    assert table["D"].performance == pytest.approx(2300 - FURTHEST)


def test_equal_points_are_ordered_by_buchholz_then_sonneborn_berger():
    swiss = [("A", "B", "1-0"), ("C", "D", "1-0"), ("E", "F", "1-0"), ("A", "C", "0-1"), ("E", "B", "1/2-1/2"),
             ("D", "F", "1-0"), ("C", "E", "1-0"), ("A", "D", "1-0"), ("B", "F", "1-0")]  # fmt: skip
    table = standings(games(swiss))
    keys = [(row.points, row.buchholz, row.sonneborn_berger) for row in table]
    assert keys == sorted(keys, reverse=True)
    assert [row.player for row in table][:2] == ["C", "A"]


def test_an_unfinished_game_and_unrated_opponents_count_where_they_can():
    table = {row.player: row for row in standings(games([*ROUND_ROBIN, ("A", "E", "*"), ("D", "E", "1-0")]))}
    assert table["A"].games == 3
    assert table["D"].performance == pytest.approx(2300 - FURTHEST)  # the win was against somebody without a rating
    assert table["E"].rating is None
    assert table["E"].expected is None
    assert table["E"].performance == pytest.approx(2100 - FURTHEST)


@given(
    st.lists(
        st.tuples(st.sampled_from("ABCD"), st.sampled_from("EFGH"), st.sampled_from(("1-0", "0-1", "1/2-1/2"))),
        min_size=1,
        max_size=12,
    )
)
def test_no_point_is_lost(rows):
    table = standings(games(rows))
    assert sum(row.points for row in table) == len(rows)
    assert sum(row.games for row in table) == 2 * len(rows)
    of = {row.player: row.points for row in table}
    for row in table:
        assert row.sonneborn_berger <= row.buchholz
        assert row.buchholz == sum(of[met.opponent] * len(met.scores) for met in row.against)


@given(st.lists(st.floats(1000, 2800), min_size=1, max_size=9), st.data())
def test_a_performance_rises_with_the_points_and_half_of_them_is_the_opposition(opponents, data):
    twice = data.draw(st.integers(0, 2 * len(opponents) - 1))
    low, high = (performance_rating(opponents, points / 2) for points in (twice, twice + 1))
    assert low < high
    assert performance_rating(opponents, len(opponents) / 2) == pytest.approx(np.mean(opponents))


def test_the_performance_of_many_games_is_the_strength_they_were_played_with():
    rng = np.random.default_rng(1)
    opponents = rng.uniform(1950, 2050, 20_000)
    points = float((rng.random(20_000) < elo_expected(2120.0, opponents)).sum())
    assert performance_rating(opponents, points) == pytest.approx(2120, abs=8)
