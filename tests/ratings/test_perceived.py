"""Perceived Elo, the engine's strength and running strength: the printed tables, and what must always hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilloscope.core.errors import InputError
from skilloscope.models.gain import PEAK, GainHistogram, elo_difference, expected_score
from skilloscope.papers.harness import paper_table, printed
from skilloscope.ratings.perceived import (
    INFINITE,
    engine_strength,
    perceived_least_squares,
    perceived_sequential,
    running_strength,
)


def printed_table(number: str) -> tuple[list[int], list[int], list[float], list[float], np.ndarray]:
    """Return the printed differences of a crosstable, the ratings, and the printed strengths."""
    strengths = paper_table(f"FER12_table_{number}_strengths")
    names = [row["player"] for row in strengths]
    cells = [row for row in paper_table(f"FER12_table_{number}") if row["player"] < row["opponent"]]
    return (
        [names.index(row["player"]) for row in cells],
        [names.index(row["opponent"]) for row in cells],
        [float(row["difference"]) for row in cells],
        [float(row["elo"]) for row in strengths],
        np.array([float(row["strength"]) for row in strengths]),
    )


@pytest.mark.parametrize(("number", "points"), [("1", 1.0), ("3", 2.0)])
def test_the_printed_strengths_follow_from_the_printed_differences(number, points):
    *pairs, elo, strengths = printed_table(number)
    for found in (perceived_least_squares(*pairs, elo), perceived_sequential(*pairs, elo)):
        np.testing.assert_allclose(found.elo, strengths, atol=points + 1e-6)
        assert found.elo.mean() == pytest.approx(np.mean(elo))


@pytest.mark.parametrize("number", ["1", "3"])
def test_in_whole_points_they_come_within_half_a_point(number):
    *pairs, elo, strengths = printed_table(number)
    found = perceived_sequential(*pairs, elo, whole_points=True)
    assert found.converged
    np.testing.assert_allclose(found.elo, strengths, atol=0.5)


def test_a_tree_of_matches_leaves_nothing_to_judge_the_differences_by():
    *pairs, elo, _ = printed_table("3")
    assert np.all(np.isnan(perceived_least_squares(*pairs, elo).sd))
    *pairs, elo, _ = printed_table("1")
    assert np.all(perceived_least_squares(*pairs, elo).sd < 1)


@st.composite
def networks(draw):
    """Players, some pairs among them, and the leads of the first over the second."""
    players = draw(st.integers(2, 7))
    every = [(i, j) for i in range(players) for j in range(i)]
    pairs = draw(st.lists(st.sampled_from(every), min_size=1, max_size=15, unique=True))
    leads = draw(st.lists(st.floats(-300, 300), min_size=len(pairs), max_size=len(pairs)))
    elo = draw(st.lists(st.floats(1500, 2800), min_size=players, max_size=players))
    return [i for i, _ in pairs], [j for _, j in pairs], leads, elo


@given(networks())
def test_one_after_another_ends_where_least_squares_is(network):
    first, second, d, elo = network
    one, other = perceived_sequential(first, second, d, elo), perceived_least_squares(first, second, d, elo)
    assert one.converged
    np.testing.assert_allclose(one.elo, other.elo, atol=1e-5)
    np.testing.assert_allclose(one.relative, other.relative, atol=1e-5)


@given(networks())
def test_every_group_keeps_the_mean_of_its_own_ratings(network):
    found = perceived_least_squares(*network)
    elo = np.array(network[3])
    for part in np.unique(found.component):
        own = found.component == part
        assert found.elo[own].mean() == pytest.approx(elo[own].mean())
        assert found.relative[own].mean() == pytest.approx(0, abs=1e-6)


@given(networks(), st.floats(-500, 500))
def test_ratings_that_all_rise_lift_everybody_alike(network, more):
    first, second, d, elo = network
    lifted = perceived_least_squares(first, second, d, [one + more for one in elo])
    np.testing.assert_allclose(lifted.elo, perceived_least_squares(first, second, d, elo).elo + more, atol=1e-6)


def test_the_truth_is_recovered_within_its_standard_errors():
    rng = np.random.default_rng(3)
    z = []
    for _ in range(30):
        truth = rng.normal(2600, 80, 20)
        pairs = np.array([(i, j) for i in range(20) for j in range(i)])
        first, second = pairs[rng.permutation(len(pairs))[:90]].T
        d = truth[first] - truth[second] + rng.normal(0, 25, 90)
        plain = perceived_least_squares(first, second, d, truth)
        weighted = perceived_least_squares(first, second, d, truth, sd=np.full(90, 25.0))
        np.testing.assert_allclose(weighted.elo, plain.elo, atol=1e-6)
        z += [*((plain.elo - truth) / plain.sd), *((weighted.elo - truth) / weighted.sd)]
    assert 0.93 < np.std(z) < 1.07


def test_infinite_differences_are_left_out_and_counted():
    found = perceived_least_squares([0, 1], [1, 2], [40.0, np.inf], [2000.0, 2000.0, 1900.0])
    assert found.tally.as_dict() == {INFINITE: 1}
    np.testing.assert_allclose(found.elo, [2020, 1980, 1900])
    assert found.component.tolist() == [0, 0, 1]


def test_groups_without_a_rating_have_differences_only():
    unknown = np.nan
    found = perceived_sequential([0, 2], [1, 3], [40.0, 10.0], [2000.0, unknown, unknown, unknown])
    np.testing.assert_allclose(found.elo, [2000, 1960, np.nan, np.nan])
    np.testing.assert_allclose(found.relative, [20, -20, 5, -5])


def test_a_sweep_that_does_not_settle_says_so():
    found = perceived_sequential([0, 1], [1, 2], [40.0, 70.0], [2000.0, 2000.0, 1900.0], most_sweeps=1)
    assert not found.converged


def test_damaged_pairs_are_refused():
    for pairs in (([0], [1], [np.nan]), ([0], [0], [5.0]), ([0], [1], [5.0, 6.0])):
        with pytest.raises(InputError):
            perceived_least_squares(*pairs, [2000.0, 2000.0])
    with pytest.raises(InputError):
        perceived_least_squares([0], [1], [5.0], [2000.0, 2000.0], sd=[0.0])


def test_table_4_gives_both_its_averages():
    rows = paper_table("FER12_table_4")
    elo, strength, d = (np.array([float(row[name]) for row in rows]) for name in ("elo", "strength", "difference"))
    found = engine_strength(elo, strength, d)
    np.testing.assert_array_equal(found.by_rating, [float(row["by_rating"]) for row in rows])
    np.testing.assert_array_equal(found.by_strength, [float(row["by_strength"]) for row in rows])
    for mean in (found.elo, found.elo_by_strength):
        assert abs(mean - 2860) <= printed("2860").half_unit


def test_who_has_no_rating_or_an_infinite_difference_does_not_judge_the_engine():
    found = engine_strength([2700.0, np.nan, 2600.0], [2700.0, 2650.0, np.nan], [-100.0, -100.0, -np.inf])
    assert (found.elo, found.elo_by_strength) == (2800.0, 2775.0)
    assert found.tally.as_dict() == {INFINITE: 1, "rating unknown": 1}
    assert np.isnan(engine_strength([np.nan], [np.nan], [0.0]).elo)


class TestRunning:
    def gains(self, player: str) -> np.ndarray:
        return np.array([float(row["gain"]) for row in paper_table("FER12_figure_1") if row["player"] == player])

    def test_byrne_begins_infinitely_below_and_settles_at_the_printed_difference(self):
        running = running_strength(self.gains("Byrne"))
        assert np.all(running.elo_difference[:6] == -np.inf)
        assert np.isfinite(running.elo_difference[6])
        assert abs(running.elo_difference[-1] + 185) <= 0.5

    def test_fischer_begins_even_falls_sharply_and_rises_to_the_printed_difference(self):
        running = running_strength(self.gains("Fischer"))
        assert running.expected_score[0] == 0.5
        assert running.elo_difference[0] == 0
        assert running.elo_difference[4] < -250
        assert abs(running.elo_difference[-1] + 43) <= 0.5

    @given(st.lists(st.integers(-400, 200), min_size=1, max_size=30))
    def test_after_every_move_it_is_algorithm_1_of_the_moves_so_far(self, centipawns):
        pawns, engine = np.array(centipawns) / 100, GainHistogram.from_gains([0.0, -0.1, 0.02])
        for opponent in (PEAK, engine):
            running = running_strength(pawns, opponent)
            for n in range(1, len(pawns) + 1):
                p = expected_score(GainHistogram.from_gains(pawns[:n]), opponent)
                assert running.expected_score[n - 1] == pytest.approx(p, abs=1e-12)
        assert running.elo_difference[-1] == pytest.approx(elo_difference(p), abs=1e-6)

    def test_an_unknown_gain_leaves_the_strength_as_it_was(self):
        running = running_strength([np.nan, 0.0, np.nan, -0.1])
        np.testing.assert_array_equal(running.moves, [0, 1, 1, 2])
        np.testing.assert_allclose(running.expected_score, [np.nan, 0.5, 0.5, 0.25])
        assert np.isnan(running.elo_difference[0])
