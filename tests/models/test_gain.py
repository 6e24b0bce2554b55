"""Gain per move, its histogram, and the expected score between two: printed numbers, properties, recovery."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from skilloscope.chess.analysis.evaluations import evaluations_from_comments
from skilloscope.core.errors import InputError
from skilloscope.inputs.bundled import game_of_the_century
from skilloscope.models.gain import (
    PEAK,
    GainHistogram,
    clipped_gain,
    difference_distribution,
    elo_difference,
    expected_score,
    expected_scores,
    move_scores,
)
from skilloscope.papers.harness import paper_table, printed

gains = hnp.arrays(np.int64, st.integers(1, 40), elements=st.integers(-7800, 7800))


def histogram(centipawns: np.ndarray) -> GainHistogram:
    return GainHistogram.from_gains(np.asarray(centipawns) / 100)


def figure_1(player: str) -> GainHistogram:
    rows = [row for row in paper_table("FER12_figure_1") if row["player"] == player]
    return GainHistogram.from_gains([float(row["gain"]) for row in rows])


def is_printed(ours: float, text: str) -> bool:
    return abs(ours - printed(text).value) <= printed(text).half_unit


class TestFigure1:
    def test_the_expected_scores_and_the_difference_are_the_printed_ones(self):
        byrne, fischer = figure_1("Byrne"), figure_1("Fischer")
        assert is_printed(expected_score(byrne, fischer), "0.345")
        assert is_printed(expected_score(fischer, byrne), "0.655")
        assert is_printed(elo_difference(expected_score(fischer, byrne)), "113")

    def test_against_the_engine_the_differences_are_the_printed_ones(self):
        assert is_printed(elo_difference(expected_score(figure_1("Byrne"))), "-185")
        assert is_printed(elo_difference(expected_score(figure_1("Fischer"))), "-43")

    def test_the_averages_are_those_of_the_printed_gains(self):
        assert is_printed(figure_1("Byrne").mean, "-0.860")
        assert is_printed(figure_1("Fischer").mean, "0.094")

    def test_byrne_has_13_of_41_moves_with_no_gain(self):
        byrne = figure_1("Byrne")
        assert byrne.counts[byrne.centipawns == 0] == 13
        assert byrne.moves == 41

    def test_the_game_that_ships_gives_the_same_histograms(self):
        losses = evaluations_from_comments(game_of_the_century()).losses()
        for player, batch in losses.group_by().items():
            own = GainHistogram.from_gains(clipped_gain(batch.before, batch.after))
            assert own == figure_1(player.split(",")[0])


class TestHistogram:
    @given(gains, gains)
    def test_histograms_add_as_their_gains_do(self, one, two):
        assert histogram(one) + histogram(two) == histogram(np.concatenate([one, two]))

    @given(gains)
    def test_the_frequencies_sum_to_one_and_the_mean_is_the_gains(self, one):
        own = histogram(one)
        assert own.shares.sum() == pytest.approx(1)
        assert own.mean == pytest.approx(one.mean() / 100)
        first, table = own.dense()
        assert first == one.min()
        assert table.sum() == pytest.approx(1)

    def test_nobody_is_the_neutral_element(self):
        assert GainHistogram.sum([]) + PEAK == PEAK
        assert np.isnan(GainHistogram.sum([]).mean)

    def test_unknown_gains_and_damaged_columns_are_refused(self):
        with pytest.raises(InputError):
            GainHistogram.from_gains([0.1, np.nan])
        with pytest.raises(InputError):
            GainHistogram(np.array([3, 1]), np.array([1, 1]))
        with pytest.raises(InputError):
            GainHistogram(np.array([1]), np.array([1, 1]))
        with pytest.raises(InputError):
            expected_score(GainHistogram.sum([]))

    def test_values_beyond_the_cap_are_cut_on_both_sides_of_the_move(self):
        np.testing.assert_allclose(clipped_gain([50.0, -27.82], [45.0, -100.0]), [0.0, -11.18])
        np.testing.assert_allclose(clipped_gain([9.0], [12.0], cap=10.0), [1.0])
        with pytest.raises(InputError):
            clipped_gain([0.0], [0.0], cap=0.0)


class TestExpectedScore:
    @given(gains, gains)
    def test_sums_one_by_one_and_the_fft_agree_to_1e_12(self, one, two):
        exact = expected_score(histogram(one), histogram(two), method="exact")
        assert expected_score(histogram(one), histogram(two), method="fft") == pytest.approx(exact, abs=1e-12)

    @given(gains, gains)
    def test_the_two_sides_share_one_point(self, one, two):
        x, y = histogram(one), histogram(two)
        assert expected_score(x, y) + expected_score(y, x) == pytest.approx(1, abs=1e-12)

    @given(gains, gains)
    def test_it_is_the_share_of_pairs_of_moves_won_and_half_of_those_tied(self, one, two):
        pairs = np.subtract.outer(one, two)
        wanted = ((pairs > 0) + 0.5 * (pairs == 0)).mean()
        assert expected_score(histogram(one), histogram(two)) == pytest.approx(wanted, abs=1e-12)

    @given(gains, gains)
    def test_who_gains_more_at_every_move_scores_exactly_one(self, one, two):
        above = histogram(one - one.min() + two.max() + 1)
        for method in ("exact", "fft"):
            assert expected_score(above, histogram(two), method=method) == 1.0
            assert expected_score(histogram(two), above, method=method) == 0.0

    @given(gains)
    def test_nobody_is_better_than_oneself(self, one):
        assert expected_score(histogram(one), histogram(one)) == pytest.approx(0.5)

    @given(gains, gains, st.integers(0, 50))
    def test_whoever_gains_more_at_every_move_never_scores_less(self, one, two, more):
        assert expected_score(histogram(one + more), histogram(two)) >= expected_score(histogram(one), histogram(two))

    @given(gains, gains)
    def test_the_distribution_of_the_difference_sums_to_one(self, one, two):
        for method in ("exact", "fft"):
            at, f = difference_distribution(histogram(one), histogram(two), method=method)
            assert f.sum() == pytest.approx(1)
            assert at[0] <= one.min() - two.max()
            assert at[-1] >= one.max() - two.min()

    @given(st.lists(gains, min_size=1, max_size=5), st.lists(gains, min_size=1, max_size=4))
    def test_all_pairs_at_once_agree_with_one_at_a_time(self, ones, twos):
        x, y = [histogram(one) for one in ones], [histogram(two) for two in twos]
        wanted = [[expected_score(a, b) for b in y] for a in x]
        np.testing.assert_allclose(expected_scores(x, y), wanted, atol=1e-12)
        np.testing.assert_allclose(expected_scores(x), [[expected_score(a, b) for b in x] for a in x], atol=1e-12)

    def test_many_pairs_are_cut_into_parts_that_agree(self, monkeypatch):
        rng = np.random.default_rng(2)
        x = [histogram(rng.integers(-300, 200, 60)) for _ in range(7)]
        whole = expected_scores(x)
        monkeypatch.setattr("skilloscope.models.gain._CHUNK", 900)
        np.testing.assert_array_equal(expected_scores(x), whole)
        assert expected_scores([]).shape == (0, 0)

    @given(gains, gains)
    def test_the_mean_of_the_moves_scores_is_the_expected_score(self, one, two):
        engine = histogram(two)
        assert move_scores(one / 100, engine).mean() == pytest.approx(expected_score(histogram(one), engine), abs=1e-12)

    def test_the_truth_is_recovered_from_many_moves(self):
        rng = np.random.default_rng(5)
        x, y = np.rint(rng.normal(-10, 30, 20_000)), np.rint(rng.normal(-20, 30, 20_000))
        from scipy.stats import norm

        wanted = norm.cdf(10 / (30 * np.sqrt(2)))
        assert expected_score(histogram(x.astype(int)), histogram(y.astype(int))) == pytest.approx(wanted, abs=0.008)


class TestEloDifference:
    @given(st.floats(1e-6, 1 - 1e-6))
    def test_both_curves_rise_through_zero_at_one_half(self, p):
        for curve in ("normal", "logistic"):
            d = elo_difference(p, curve)
            assert np.sign(d) == np.sign(p - 0.5) or abs(p - 0.5) < 1e-12
            assert d == pytest.approx(-elo_difference(1 - p, curve), abs=1e-6)

    def test_a_score_of_0_or_1_is_an_infinite_difference(self):
        for curve in ("normal", "logistic"):
            np.testing.assert_array_equal(elo_difference([0.0, 1.0], curve), [-np.inf, np.inf])

    def test_table_4_follows_from_its_printed_scores_within_their_rounding(self):
        for row in paper_table("FER12_table_4"):
            p, d = printed(row["expected_score"]), printed(row["difference"])
            low, high = elo_difference([p.value - p.half_unit, p.value + p.half_unit])
            assert low - d.half_unit <= d.value <= high + d.half_unit

    def test_what_is_no_probability_or_no_curve_is_refused(self):
        with pytest.raises(InputError):
            elo_difference(1.5)
        with pytest.raises(InputError):
            elo_difference(0.5, "straight")  # type: ignore[arg-type]
