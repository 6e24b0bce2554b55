"""Fitting s and c: recovery on real full lists, the percentile method's parts, scaling, standard errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from skilloscope.core.errors import InputError
from skilloscope.decision import Decisions, Losses
from skilloscope.models.curves import CurveModel
from skilloscope.models.joint import (
    fit_scaling,
    flatness,
    scaled_decisions,
    scaled_loss,
    scaled_value,
)
from skilloscope.papers.harness import printed
from skilloscope.ratings.curve_fits import FITS, PERCENTILES, Limits, bootstrap, fit_curves, percentile_score, up_shares
from skilloscope.simulate.deciders import made_up_spreads, simulate_curve_choices
from spreads import exported_spreads

FULL_LISTS = Path(__file__).resolve().parents[2] / "measurements" / "full_lists_sf151.jsonl.gz"


@pytest.fixture(scope="module")
def full_lists() -> Decisions:
    return exported_spreads(FULL_LISTS)


def simulated(spreads: Decisions, n: int, s: float, c: float, model: CurveModel, seed: int = 1) -> Decisions:
    rng = np.random.default_rng(seed)
    return simulate_curve_choices(spreads.select(np.arange(n) % len(spreads)), s, c, model=model, rng=rng)


@pytest.mark.parametrize("mapping", ["shares", "powers", "third"])
@pytest.mark.parametrize(("s", "c"), [(0.09, 0.49), pytest.param(0.15, 0.45, marks=pytest.mark.soak)])
def test_likelihood_recovers_s_and_c_from_20000_decisions_on_real_full_lists(full_lists, mapping, s, c):
    model = CurveModel(mapping, rule="full")
    columns, tally = model.columns(simulated(full_lists, 20_000, s, c, model))
    fit = fit_curves(columns, model)
    assert tally.total == 0
    assert fit.converged
    assert abs(fit.s - s) < 3 * fit.s_sd
    assert abs(fit.c - c) < 3 * fit.c_sd
    assert fit.s_sd < 0.01
    assert fit.c_sd < 0.02


@pytest.mark.parametrize("curve", ["ipa", "ipb", "secha", "sechb"])
def test_likelihood_recovers_s_and_c_of_every_curve(full_lists, curve):
    model = CurveModel("shares", curve, rule="full")
    columns, _ = model.columns(simulated(full_lists, 5_000, 0.2, 1.2, model))
    fit = fit_curves(columns, model)
    assert abs(fit.s - 0.2) < 3 * fit.s_sd
    assert abs(fit.c - 1.2) < 3 * fit.c_sd


@pytest.mark.parametrize("how", ["percentile", "moments"])
def test_the_other_fits_come_near_within_their_own_errors(full_lists, how):
    model = CurveModel(rule="full")
    columns, _ = model.columns(simulated(full_lists, 20_000, 0.1, 0.5, model))
    fit = fit_curves(columns, model, how)
    assert abs(fit.s - 0.1) < 4 * fit.s_sd
    assert abs(fit.c - 0.5) < 4 * fit.c_sd
    assert fit.how == how


def test_at_the_truth_as_many_choices_are_up_as_each_percentile_says(full_lists):
    model = CurveModel(rule="full")
    columns, _ = model.columns(simulated(full_lists, 20_000, 0.1, 0.5, model))
    up = up_shares(columns, model, 0.1, 0.5)
    assert np.abs(up - PERCENTILES).max() < 0.012
    assert percentile_score(columns, model, 0.1, 0.5) < percentile_score(columns, model, 0.2, 0.5)
    assert percentile_score(columns, model, 0.1, 0.5) == pytest.approx(((up - PERCENTILES) ** 2).sum())


def test_up_down_and_straddling_choices_count_as_the_paper_says():
    # g = 1, e^-1, e^-2 at losses 0, s, 4s with c = 1/2.
    batch = Decisions.from_lists(["a"], [[0.0, -0.1, -0.4]], [1])
    columns, _ = CurveModel(scaling=0.0).columns(batch)
    g = np.exp([0.0, -1.0, -2.0])
    low, high = g[0] / g.sum(), (g[0] + g[1]) / g.sum()
    up = up_shares(columns, CurveModel(scaling=0.0), 0.1, 0.5)
    wanted = np.where(high <= PERCENTILES, 1.0, np.where(low >= PERCENTILES, 0.0, (PERCENTILES - low) / (high - low)))
    assert np.allclose(up, wanted)


def test_s_alone_is_fitted_where_c_is_given(full_lists):
    model = CurveModel(rule="full")
    columns, _ = model.columns(simulated(full_lists, 5_000, 0.1, 0.5, model))
    for how in FITS:
        fit = fit_curves(columns, model, how, c=0.5)
        assert fit.c == pytest.approx(0.5)
        assert abs(fit.s - 0.1) < 4 * fit.s_sd
        assert fit.c_sd == 0


def test_the_observed_information_agrees_with_a_bootstrap_over_games():
    rng = np.random.default_rng(5)
    model = CurveModel(scaling=0.0, rule="full")
    spreads = made_up_spreads(1500, rng=rng)
    columns, _ = model.columns(simulate_curve_choices(spreads, 0.15, 0.6, model=model, rng=rng))
    fit = fit_curves(columns, model)
    games = np.arange(1500) // 10
    drawn = bootstrap(columns, model, games, replicates=40, rng=np.random.default_rng(2))
    assert drawn.shape == (40, 2)
    assert np.allclose(drawn.std(axis=0) / [fit.s_sd, fit.c_sd], 1.0, atol=0.4)


def test_weights_count_decisions_several_times():
    rng = np.random.default_rng(6)
    model = CurveModel(scaling=0.0)
    spreads = made_up_spreads(400, rng=rng)
    columns, _ = model.columns(simulate_curve_choices(spreads, 0.15, 0.6, model=model, rng=rng))
    twice = columns.take(np.concatenate([np.arange(400), np.arange(100)]))
    weights = np.where(np.arange(400) < 100, 2.0, 1.0)
    for how in FITS:
        once, doubled = fit_curves(columns, model, how, weights=weights), fit_curves(twice, model, how)
        assert once.s == pytest.approx(doubled.s, rel=1e-3)
        assert once.c == pytest.approx(doubled.c, rel=1e-3)


def test_a_decider_who_never_errs_leans_on_the_end_of_the_range_and_says_so():
    batch = made_up_spreads(50, rng=np.random.default_rng(1))
    model = CurveModel(scaling=0.0)
    fit = fit_curves(model.columns(batch)[0], model)
    assert fit.edge is not None
    assert fit.as_dict()["s_sd"] is None


def test_the_limits_follow_the_unit_of_the_utilities():
    model, rng = CurveModel(scaling=0.0), np.random.default_rng(7)
    pawns = simulate_curve_choices(made_up_spreads(2000, rng=rng), 0.2, 0.7, model=model, rng=rng)
    cents = Decisions.from_columns(
        (pawns.deciders, pawns.decider), pawns.values * 100, pawns.counts, pawns.chosen, pawns.n_legal
    )
    one = fit_curves(model.columns(pawns)[0], model)
    hundred = fit_curves(model.columns(cents)[0], model, limits=Limits().scaled(100))
    assert hundred.s == pytest.approx(100 * one.s, rel=1e-4)
    assert hundred.c == pytest.approx(one.c, rel=1e-4)


def test_an_unknown_fit_nothing_to_fit_and_losses_are_refused():
    model = CurveModel()
    columns, _ = model.columns(made_up_spreads(5, rng=np.random.default_rng(1)))
    with pytest.raises(InputError, match="no fit"):
        fit_curves(columns, model, "bayes")
    with pytest.raises(InputError, match="no decisions"):
        fit_curves(columns.part(0, 0), model)
    two_numbers = Losses(("a",), np.zeros(1, np.int32), np.zeros(1), np.zeros(1))
    with pytest.raises(InputError, match="not choice sets"):
        model.columns(two_numbers)


def test_the_scaled_example_of_section_5():
    wanted = printed("0.9651")
    assert abs(float(scaled_loss(0.50, 0.50 - 1.25)) - wanted.value) <= wanted.half_unit


@settings(deadline=None)
@given(best=st.floats(-40, 40), loss=st.floats(0, 40), a=st.floats(0, 10))
@example(best=0.3, loss=1.1, a=5e-324)
@example(best=-7.0, loss=33.0, a=2.2e-311)
def test_a_scaled_loss_is_never_negative_nor_larger_than_the_loss(best, loss, a):
    scaled = float(scaled_loss(best, best - loss, a))
    assert -1e-9 <= scaled <= loss + 1e-9
    # The integral itself, from the value up to the best.
    z = np.linspace(best - loss, best, 20_001)
    assert scaled == pytest.approx(np.trapezoid(1 / (1 + a * np.abs(z)), z), rel=2e-3, abs=1e-6)


def test_no_scaling_is_the_value_itself_and_small_a_tends_to_it():
    z = np.array([-3.0, 0.0, 0.2])
    assert scaled_value(z, 0.0) is z or np.array_equal(scaled_value(z, 0.0), z)
    assert np.allclose(scaled_value(z, 1e-9), z, atol=1e-8)
    with pytest.raises(InputError):
        scaled_value(z, -1.0)


def test_a_batch_is_scaled_once_and_says_so():
    batch = Decisions.from_lists(["a"], [[0.5, -0.75]], [1])
    scaled = scaled_decisions(batch, 1.0)
    assert scaled.chosen_loss()[0] == pytest.approx(0.9651, abs=5e-5)
    assert scaled.about["scaling"] == 1.0
    with pytest.raises(InputError, match="already"):
        scaled_decisions(scaled, 1.0)


def test_the_fitted_scaling_makes_losses_flat_in_the_evaluation():
    # Losses that grow as 1 + a|e| by construction: a scaling with the same a must make them flat.
    rng = np.random.default_rng(4)
    best = rng.uniform(-2.5, 2.5, 4000)
    wanted = 0.08  # what every choice loses on the scale of a = 1
    value = np.sign(scaled_value(best, 1.0) - wanted) * np.expm1(np.abs(scaled_value(best, 1.0) - wanted))
    batch = Decisions.from_lists(["a"] * 4000, [[b, v] for b, v in zip(best, value, strict=True)], [1] * 4000)
    assert fit_scaling(batch) == pytest.approx(1.0, abs=0.02)
    assert flatness(batch, 1.0).ratio == pytest.approx(1.0, abs=0.01)
    assert flatness(batch, 0.0).ratio > 2


@pytest.mark.parametrize("how", ["likelihood", "moments"])
def test_errors_of_games_hold_where_the_moves_of_a_game_are_alike(how):
    """Halves of simulated records whose games have an s of their own: z of their difference has sd 1 by games."""
    model, rng, z = CurveModel(rule="full"), np.random.default_rng(11), {True: [], False: []}
    game = np.repeat(np.arange(40), 15)
    for _ in range(20):
        fits = {True: [], False: []}
        for _ in range(2):
            s = 0.15 * np.exp(0.9 * rng.normal(size=40))[game]
            batch = simulate_curve_choices(made_up_spreads(len(game), rng=rng), s, 0.6, model=model, rng=rng)
            columns, _ = model.columns(batch)
            for clustered, found in fits.items():
                own = game[columns.row] if clustered else None
                found.append(fit_curves(columns, model, how, c=0.6, clusters=own))
        for clustered, (one, other) in fits.items():
            z[clustered].append((one.s - other.s) / np.hypot(one.s_sd, other.s_sd))
    rms = {clustered: float(np.sqrt(np.mean(np.square(found)))) for clustered, found in z.items()}
    assert rms[False] > 1.35 * rms[True]
    assert 0.6 < rms[True] < 1.45


def test_of_a_few_games_the_scatter_is_that_of_rated_players():
    model, rng = CurveModel(rule="full"), np.random.default_rng(12)
    spreads = made_up_spreads(120, rng=rng)
    columns, _ = model.columns(simulate_curve_choices(spreads, 0.15, 0.6, model=model, rng=rng))
    plain = fit_curves(columns, model, c=0.6)
    few = fit_curves(columns, model, c=0.6, clusters=np.repeat(np.arange(4), 30)[columns.row])
    assert few.s == plain.s
    assert few.s_sd > plain.s_sd
