"""Fits that have no answer say so, percentile fits find the lowest score, and equal spreads have their own."""

from __future__ import annotations

import numpy as np
import pytest

from equal_spreads import fit_equal_spreads, spread_score
from skilloscope.core.errors import InputError
from skilloscope.decision import Decisions
from skilloscope.models.curves import CurveModel, curve, probabilities
from skilloscope.ratings.curve_fits import FITS, Limits, fit_curves, percentile_score
from skilloscope.simulate.deciders import made_up_spreads, simulate_curve_choices

MODEL = CurveModel(scaling=0.0, rule="full")


@pytest.mark.parametrize("how", list(FITS))
@pytest.mark.parametrize("n", [1, 7, 40])
@pytest.mark.parametrize("c", [None, 0.5])
def test_who_always_plays_the_first_move_gets_no_number(how, n, c):
    columns, _ = MODEL.columns(made_up_spreads(n, rng=np.random.default_rng(n)))  # the first is chosen everywhere
    fit = fit_curves(columns, MODEL, how, c=c)
    assert fit.edge is not None
    assert fit.edge.startswith("s")
    assert fit.as_dict()["s_sd"] is None
    assert fit.s == pytest.approx(Limits().s[0])


def test_who_ties_for_the_best_lost_nothing_either():
    batch = Decisions.from_lists(["a"] * 3, [[0.2, 0.2, -0.5]] * 3, [1, 0, 1])
    assert fit_curves(MODEL.columns(batch)[0], MODEL, "percentile").edge == "s and c"


@pytest.mark.parametrize("c", [-0.5, 0.0, float("nan")])
def test_a_c_that_is_not_above_0_is_refused(c):
    columns, _ = MODEL.columns(simulated(50, 1))
    with pytest.raises(InputError, match="above 0"):
        fit_curves(columns, MODEL, c=c)


def test_a_percentile_fit_is_never_above_a_grid():
    for seed in range(8):
        columns, _ = MODEL.columns(simulated(25, seed))
        fit = fit_curves(columns, MODEL, "percentile")
        grid = [
            percentile_score(columns, MODEL, float(s), float(c))
            for s in np.geomspace(2e-3, 1.9, 14)
            for c in np.geomspace(0.12, 4.8, 12)
        ]
        assert fit.score <= min(grid) * (1 + 1e-6)


def test_equal_spreads_give_back_the_s_and_c_that_made_them():
    losses = np.array([0.0, 0.04, 0.1, 0.3, 0.8])
    p = probabilities(curve("invexp").log_g(losses, 0.1, 0.5), "shares")
    s, c = fit_equal_spreads(losses, 1e6 * p, MODEL)
    assert s == pytest.approx(0.1, rel=1e-3)
    assert c == pytest.approx(0.5, rel=1e-3)
    assert spread_score(losses, 1e6 * p, MODEL, 0.1, 0.5) == pytest.approx(0.0, abs=1e-20)


def test_equal_spreads_agree_with_the_likelihood_as_the_paper_says():
    # 20,000 choices on one spread: the frequencies are nearly those of the curve, so that both estimates are one.
    losses = np.array([0.0, 0.05, 0.15, 0.4])
    rng = np.random.default_rng(3)
    p = probabilities(curve("invexp").log_g(losses, 0.12, 0.6), "shares")
    chosen = rng.choice(4, 20_000, p=p)
    batch = Decisions.from_lists(["a"] * 20_000, [(-losses).tolist()] * 20_000, chosen.tolist())
    fit = fit_curves(MODEL.columns(batch)[0], MODEL)
    s, c = fit_equal_spreads(losses, np.bincount(chosen, minlength=4), MODEL)
    assert abs(s - fit.s) < fit.s_sd
    assert abs(c - fit.c) < fit.c_sd


def test_what_was_not_listed_counts_among_all_choices():
    listed = spread_score([0.0, 0.1], [2, 1], MODEL, 0.1, 1.0)
    assert spread_score([0.0, 0.1], [2, 1, 0], MODEL, 0.1, 1.0) == listed
    assert spread_score([0.0, 0.1], [2, 1, 3], MODEL, 0.1, 1.0) != listed
    with pytest.raises(InputError, match="counts of choices"):
        spread_score([0.0, 0.1], [1], MODEL, 0.1, 1.0)


def simulated(n: int, seed: int) -> Decisions:
    rng = np.random.default_rng(seed)
    return simulate_curve_choices(made_up_spreads(n, rng=rng), 0.1, 0.6, model=MODEL, rng=rng)
