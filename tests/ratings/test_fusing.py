"""Moves and results in one posterior: GLI99's update, its limits, and tempers that come back from simulated people."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilloscope.core.errors import InputError
from skilloscope.evidence import Normal
from skilloscope.evidence.axis import ELO, Beside, elo_axis, elo_posterior, fused_posterior, result_curve
from skilloscope.models.paired_comparison import expected_against, update
from skilloscope.studies.calibrate import POOL_ELO

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

from effects_fitting import fit_beside

WHOLE = Beside(1.0, 1.0)
PEOPLE = Normal(1900.0, 400.0, float(ELO[0]), float(ELO[-1]))
OPPONENTS = ([1400, 1550, 1700], [30, 100, 300])


def from_moves(mean, sd, prior=PEOPLE):
    return elo_posterior(-0.5 * ((ELO - mean) / sd) ** 2, prior)


def test_what_is_known_well_is_updated_as_in_glicko():
    prior = Normal(1500.0, 60.0, float(ELO[0]), float(ELO[-1]))
    before = elo_posterior(np.zeros_like(ELO), prior)
    fused = fused_posterior(before, prior, result_curve(*OPPONENTS, [1, 0, 0]), WHOLE)
    mean, variance = update(1500, 60**2, OPPONENTS[0], np.square(OPPONENTS[1]), [1, 0, 0])
    assert fused.mean == pytest.approx(mean, abs=0.2)
    assert fused.sd == pytest.approx(variance**0.5, abs=0.2)


def test_the_example_of_the_paper_s_update_is_near():
    prior = Normal(1500.0, 200.0, float(ELO[0]), float(ELO[-1]))
    fused = fused_posterior(elo_posterior(np.zeros_like(ELO), prior), prior, result_curve(*OPPONENTS, [1, 0, 0]), WHOLE)
    assert fused.mean == pytest.approx(1464.1, abs=6)  # the paper's Gaussian stands for the curve that is kept here
    assert fused.sd == pytest.approx(151.4, abs=6)


@given(
    st.lists(st.tuples(st.floats(1000, 2600), st.floats(0, 300), st.sampled_from([0, 0.5, 1])), min_size=1, max_size=9)
)
def test_a_better_score_is_never_a_lower_elo(games):
    opponents, sds, scores = (np.array(column, dtype=float) for column in zip(*games, strict=True))
    moves = from_moves(1800, 200)
    estimates = [
        fused_posterior(moves, PEOPLE, result_curve(opponents, sds, np.clip(scores + more, 0, 1)), WHOLE).mean
        for more in (-0.5, 0.0, 0.5)
    ]
    assert estimates == sorted(estimates)


@given(st.floats(1200, 2400), st.floats(80, 300), st.floats(0, 1), st.floats(0, 1))
def test_tempers_of_nothing_leave_the_prior_or_the_moves(mean, sd, one, two):
    moves, results = from_moves(mean, sd), result_curve([1800, 2000], [50, 50], [1, 0.5])
    alone = fused_posterior(moves, PEOPLE, results, Beside(1.0, 0.0))
    assert (alone.mean, alone.sd) == pytest.approx((moves.mean, moves.sd), abs=0.5)
    fused = fused_posterior(moves, PEOPLE, results, Beside(one, two))
    assert fused.low == moves.low
    assert fused.prior == moves.prior


def test_an_opponent_of_whom_nothing_is_known_says_little():
    moves = from_moves(1800, 150)
    sharp, vague = (
        fused_posterior(moves, PEOPLE, result_curve([2200] * 4, [sd] * 4, [1] * 4), WHOLE) for sd in (30, 1500)
    )
    assert sharp.mean - moves.mean > 2.5 * (vague.mean - moves.mean) > 0


def test_an_opponent_without_a_score_is_refused():
    with pytest.raises(InputError, match="2 opponents for 1 scores"):
        result_curve([1800, 1900], [50, 50], [1])


@pytest.mark.parametrize("shared", [0.0, 150.0])
def test_what_moves_and_results_share_comes_back_as_a_temper(shared):
    """People whose luck is in the moves and in the results alike: there the moves count for less beside results."""
    rng = np.random.default_rng(5)
    n, games = 1200, 6
    elo = rng.normal(1900, 250, n)
    luck = rng.normal(0, shared, n)
    seen = elo + luck + rng.normal(0, 150, n)
    own = float(np.hypot(150, shared))
    moves = -0.5 * ((POOL_ELO - seen[:, None]) / own) ** 2
    opponents = rng.normal(1900, 200, (n, games))
    scores = rng.random((n, games)) < expected_against((elo + luck)[:, None], opponents, 0.0)
    results = np.array([result_curve(o, 1e-6, s, POOL_ELO) for o, s in zip(opponents, scores, strict=True)])
    prior = np.tile(-0.5 * ((POOL_ELO - 1900) / 250) ** 2, (n, 1))
    found = fit_beside(prior, moves, results, elo)
    if shared:
        assert found.moves < 0.9
        assert found.results < 0.9
    else:
        assert found.moves == pytest.approx(1, abs=0.15)
        assert found.results == pytest.approx(1, abs=0.15)


def test_every_effort_that_ships_says_how_far_both_count():
    axis = elo_axis()
    assert all(effort.beside is not None for effort in axis.efforts.values())
    again = type(axis).from_json(axis.to_json())
    assert again.effort("full").beside == axis.effort("full").beside
