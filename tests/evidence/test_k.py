"""k as a second parameter: recovered, carried along with the unit, and worth what it gains on decisions not seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from simulated import in_games, seen_through_noise
from skilloscope.core.errors import InputError
from skilloscope.decision import Decisions
from skilloscope.decision.decisions import LABELS
from skilloscope.evidence.fit_k import SHARPEST, fit_k, held_out_k, k_gain
from skilloscope.evidence.held_out import Folds, cluster_interval, folds_of, log_mean_likelihood
from skilloscope.evidence.table import Grid
from skilloscope.models.agent import choice_sets, log_likelihood
from skilloscope.simulate.deciders import simulated_deciders
from skilloscope.studies.compare_engines import Resampling, compare_depths, compare_engines
from skilloscope.studies.deciders import k_from_text, rate_fitting_k


def deciders(k=0.3, n=1500, seed=1, games=60):
    """Return three simulated deciders whose decisions belong to games."""
    batch = simulated_deciders([0.7, 1.0, 1.4], n, k=k, rng=np.random.default_rng(seed))
    return in_games(batch, games)


@pytest.mark.parametrize("k", [0.03, 0.3, 1.0])
def test_the_k_that_made_the_choices_is_found(k):
    fit = fit_k(deciders(k, 3000))
    assert fit.edge is None
    assert fit.low * 0.8 < k < fit.high * 1.25  # 1.96 sd, and a little for three trials
    assert fit.high / fit.low < 3


def test_the_likelihood_interval_of_k_covers_about_as_often_as_it_says():
    hits = [fit.low < 0.3 < fit.high for fit in (fit_k(deciders(0.3, 300, seed)) for seed in range(30))]
    assert sum(hits) >= 25  # 95 % of 30 is 28.5


def test_k_moves_with_the_unit_of_the_utilities_and_nothing_else_does():
    batch = deciders()
    large = replace(batch, values=batch.values * 1024)
    here, there = k_gain(batch, reference=0.1), k_gain(large, reference=102.4)
    assert there.fit.k == pytest.approx(1024 * here.fit.k, rel=1e-6)
    assert there.gain == pytest.approx(here.gain, abs=1e-9)
    assert there.fit.c_high == pytest.approx(here.fit.c_high)


def test_a_wrong_k_is_worse_on_unseen_decisions_and_the_right_one_is_not():
    batch = deciders()
    wrong, right = k_gain(batch, reference=0.003), k_gain(batch, reference=0.3)
    assert wrong.gain_low > 0
    assert abs(right.gain) < 0.002
    assert right.gain_low < right.gain < right.gain_high
    assert wrong.held_out == pytest.approx(right.held_out)
    assert (wrong.clusters_by, wrong.clusters, wrong.folds) == ("game", 60, 5)


@pytest.mark.parametrize("mass", [0.5, 0.8, 0.99])
def test_the_interval_of_k_holds_the_mass_that_was_asked_for(mass):
    batch = deciders(0.3, 300)
    usual, asked, gain = fit_k(batch), fit_k(batch, mass=mass), k_gain(batch, mass=mass).fit
    wide, narrow = (np.log(fit.high / fit.k) / norm.ppf((1 + m) / 2) for fit, m in ((usual, 0.95), (asked, mass)))
    assert asked.k == usual.k
    assert narrow == pytest.approx(wide)
    assert (gain.low, gain.high) == pytest.approx((asked.low, asked.high), rel=1e-4)


def test_held_out_scores_are_those_of_bayes_rule_by_hand():
    batch = Decisions.from_lists(
        ["Ann"] * 4, [[1, 0], [1, 0.5, 0], [2, 0], [1, 0.9]], [0, 1, 0, 1], context={"game": [1, 1, 2, 2]}
    )
    folds = Folds("game", np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]), 2)
    found = held_out_k(batch, 0.1, folds=folds)
    sets = choice_sets(batch)
    high = SHARPEST / np.log1p(np.median(sets.losses[sets.losses > 0]) / 0.1)

    def integral(rows):
        return quad(lambda c: float(np.exp(log_likelihood(sets, c, k=0.1)[rows].sum())), 0, high)[0] / high

    both = integral([0, 1, 2, 3])
    # Ann is the only decider, so her prior is the flat share alone.
    expected = [np.log(both / integral([2, 3])), np.log(both / integral([0, 1]))]
    np.testing.assert_allclose(found.score, expected, atol=1e-5)
    assert found.decisions.tolist() == [2, 2]


def test_somebody_new_is_foreseen_as_one_of_the_others():
    many = simulated_deciders(np.full(30, 1.0), 30, rng=np.random.default_rng(2))
    pairs = [many.select(many.decider // 2 == pair) for pair in range(15)]
    known_by_one = sum(held_out_k(pair, 0.1).score.sum() for pair in pairs)
    assert held_out_k(many, 0.1).score.sum() > known_by_one > -np.log(10) * len(many)


def test_the_mean_likelihood_of_a_narrow_peak_is_exact():
    grid = Grid(0.0, 5.0, 96)
    sd = 0.02
    curve = -0.5 * ((grid.nodes - 1.7) / sd) ** 2
    exact = np.log(np.sqrt(2 * np.pi) * sd / 5.0)
    assert log_mean_likelihood(curve[None, :], grid, 1)[0] == pytest.approx(exact, abs=1e-9)


def test_intervals_of_clusters_are_those_of_the_sandwich():
    rng = np.random.default_rng(5)
    n = rng.integers(5, 40, 400)
    total = rng.normal(0.03, 0.5, 400) * n
    low, high = cluster_interval(total, n, rng=rng)
    mean = total.sum() / n.sum()
    half = 1.96 * np.sqrt(((total - n * mean) ** 2).sum()) / n.sum()
    assert (low, high) == (pytest.approx(mean - half, abs=0.1 * half), pytest.approx(mean + half, abs=0.1 * half))


@pytest.mark.parametrize("clusters", [4, 8, 20])
def test_intervals_of_few_clusters_cover_as_often_as_they_say(clusters):
    rng = np.random.default_rng(clusters)
    n, hits = np.full(clusters, 10), 0
    for _ in range(300):
        low, high = cluster_interval(rng.normal(0.0, 1.0, clusters), n, rng=rng, repeats=200)
        hits += low <= 0.0 <= high
    assert 0.91 <= hits / 300 <= 0.99


def test_one_cluster_has_no_interval_and_empty_ones_do_not_count():
    rng = np.random.default_rng(1)
    assert cluster_interval([1.0], [4], rng=rng) is None
    assert cluster_interval([1.0, 0.0, 0.0], [4, 0, 0], rng=rng) is None


def test_folds_hold_whole_clusters():
    batch = deciders()
    folds = folds_of(batch)
    assert folds.by == "game"
    for cluster in range(folds.clusters):
        assert len(set(folds.fold[folds.cluster == cluster])) == 1
    bare = replace(batch, context=None)
    assert folds_of(bare).by == "decider"
    with pytest.raises(InputError, match="nothing can be held out"):
        folds_of(bare.select(bare.decider == 0))
    with pytest.raises(InputError, match="at least two folds"):
        folds_of(batch, folds=1)


def test_what_cannot_be_fitted_is_refused_with_a_hint():
    tied = Decisions.from_lists(["Ann", "Bob"], [[1, 1]] * 2, [0, 1])
    with pytest.raises(InputError, match="worth the same"):
        fit_k(tied)
    with pytest.raises(InputError, match="rule bucket") as caught:
        fit_k(deciders(), "bucket")
    assert "--k NUMBER" in caught.value.hint
    with pytest.raises(InputError, match="number or fit"):
        k_from_text("large")


def test_losses_of_all_sizes_can_be_fitted():
    batch = deciders(n=200)
    values = batch.values.copy()
    last = batch.offsets[1:] - 1
    values[last[batch.chosen < 9]] = -1e250  # a catastrophe that nobody chose
    fit = fit_k(replace(batch, values=values))
    assert fit.edge is None
    assert 0.03 < fit.k < 3


def test_a_rating_at_a_fitted_k_says_what_the_fit_gains():
    report = rate_fitting_k(deciders(n=300), "listed").as_dict()
    assert report["model"]["k"] == report["k_fit"]["k"]
    assert report["k_fit"]["gain_low"] < report["k_fit"]["gain"] < report["k_fit"]["gain_high"]
    assert [row["decider"] for row in report["deciders"]] == ["decider 2", "decider 1", "decider 0"]


def judged(seed=1, n=900, noise=0.2):
    """Return choices made by the values of the second depth; the first sees them through noise."""
    return in_games(seen_through_noise([0.8, 1.3], n, alternatives=6, noise=noise, seed=seed), 50)


class TestJudges:
    def test_the_values_that_the_choices_were_made_by_explain_them_better(self):
        report = compare_depths(judged(), (2, 4))
        assert report.gain_low > 0
        assert [judge.judge for judge in report.judges] == ["depth 2", "depth 4"]
        turned = compare_depths(judged(), (4, 2))
        assert turned.gain == pytest.approx(-report.gain)

    def test_the_interval_of_k_is_as_wide_as_the_mass_that_is_asked_for(self):
        narrow, wide = (compare_depths(judged(), (2, 4), Resampling(mass=mass)).judges for mass in (0.5, 0.95))
        for one, other in zip(narrow, wide, strict=True):
            assert other.fit.low < one.fit.low < one.fit.k < one.fit.high < other.fit.high

    def test_a_judge_is_no_better_than_itself(self):
        report = compare_depths(judged(noise=0.0), (2, 4))
        assert report.gain == report.gain_low == report.gain_high == 0

    def test_another_unit_of_one_judge_changes_nothing(self):
        batch = judged()
        report = compare_depths(batch, (2, 4))
        scaled = compare_depths(replace(batch, values=batch.values * np.array([64.0, 1.0])), (2, 4))
        assert scaled.gain == pytest.approx(report.gain, abs=1e-6)
        assert scaled.judges[0].fit.k == pytest.approx(64 * report.judges[0].fit.k, rel=1e-3)

    def test_two_tables_say_the_same_as_one_with_a_depth_axis(self):
        batch = judged(n=200)
        flat = []
        for column in (0, 1):
            names = [list("abcdef")] * len(batch)
            values = batch.values[:, column].reshape(-1, 6).tolist()
            flat.append(
                Decisions.from_lists(
                    [batch.deciders[code] for code in batch.decider],
                    values,
                    batch.chosen.tolist(),
                    context={"game": batch.context["game"], "turn": np.arange(len(batch)), LABELS: names},
                )
            )
        both = compare_engines(flat[0], flat[1], ("A", "B"))
        assert both.gain == pytest.approx(compare_depths(batch, (2, 4)).gain)
        assert both.decisions == len(batch)

    def test_one_depth_is_not_compared_with_itself_and_masses_are_masses(self):
        with pytest.raises(InputError, match="twice"):
            compare_depths(judged(n=50), (2, 2))
        with pytest.raises(InputError, match="mass"):
            compare_depths(judged(n=50), (2, 4), Resampling(mass=2))
