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
from skilloscope.evidence.axis import (
    ELO,
    Effects,
    EloAxis,
    PersonEffect,
    combined,
    elo_axis,
    elo_posterior,
    result_curve,
)
from skilloscope.models.paired_comparison import expected_against, update
from skilloscope.studies.calibrate import POOL_ELO

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

from effects_fitting import fit_tempers

PEOPLE = Normal(1900.0, 400.0, float(ELO[0]), float(ELO[-1]))
OPPONENTS = ([1400, 1550, 1700], [30, 100, 300])


def shares(style=0.0, sd=0.0, mean=0.0, results=1.0):
    return PersonEffect((700, 3000), (mean, mean), (sd, sd), (0, 0), 1.0, style=style, results=results)


def fused(moves, results, person=None, prior=PEOPLE):
    """Return the posterior of curves of moves and of results."""
    return elo_posterior((person or shares()).shared(moves, results=results), prior)


def curve(mean, sd):
    return -0.5 * ((ELO - mean) / sd) ** 2


def test_what_is_known_well_is_updated_as_in_glicko():
    prior = Normal(1500.0, 60.0, float(ELO[0]), float(ELO[-1]))
    found = fused(0 * ELO, result_curve(*OPPONENTS, [1, 0, 0]), prior=prior)
    mean, variance = update(1500, 60**2, OPPONENTS[0], np.square(OPPONENTS[1]), [1, 0, 0])
    assert found.mean == pytest.approx(mean, abs=0.2)
    assert found.sd == pytest.approx(variance**0.5, abs=0.2)


def test_the_example_of_the_paper_s_update_is_near():
    prior = Normal(1500.0, 200.0, float(ELO[0]), float(ELO[-1]))
    found = fused(0 * ELO, result_curve(*OPPONENTS, [1, 0, 0]), prior=prior)
    assert found.mean == pytest.approx(1464.1, abs=6)  # the paper's Gaussian stands for the curve that is kept here
    assert found.sd == pytest.approx(151.4, abs=6)


@given(
    st.lists(st.tuples(st.floats(1000, 2600), st.floats(0, 300), st.sampled_from([0, 0.5, 1])), min_size=1, max_size=9)
)
def test_a_better_score_is_never_a_lower_elo(games):
    opponents, sds, scores = (np.array(column, dtype=float) for column in zip(*games, strict=True))
    estimates = [
        fused(curve(1800, 200), result_curve(opponents, sds, np.clip(scores + more, 0, 1)), shares(60, 100)).mean
        for more in (-0.5, 0.0, 0.5)
    ]
    assert estimates == sorted(estimates)


@given(st.floats(1200, 2400), st.floats(80, 300), st.floats(0, 200), st.floats(0, 200))
def test_results_that_do_not_count_leave_the_moves_and_style_is_of_moves_alone(mean, sd, style, own):
    moves, results = curve(mean, sd), result_curve([1800, 2000], [50, 50], [1, 0.5])
    alone = elo_posterior(shares(style, own).shared(moves), PEOPLE)
    unread = fused(moves, results, shares(style, own, results=0.0))
    assert (unread.mean, unread.sd) == pytest.approx((alone.mean, alone.sd), abs=0.01)
    only = fused(0 * ELO, results, shares(style, own))
    assert only.mean == pytest.approx(fused(0 * ELO, results, shares(0.0, own)).mean, abs=0.01)


def test_what_moves_and_results_share_no_number_of_either_takes_away():
    """Both see the same strength, which is off the rating by 100: so many games never say more than that."""
    person, opponents = shares(60, 100), np.full(300, 1900.0)
    sds = []
    for games in (1, 30, 300):
        results = result_curve(opponents[:games], 0.0, np.full(games, 0.5))
        sds.append(fused(curve(1900, 300 / games**0.5), results, person).sd)
    assert sds == sorted(sds, reverse=True)
    assert sds[-1] == pytest.approx(100, abs=8)


def test_the_bias_of_moves_is_not_one_of_results():
    person, results = shares(mean=80.0), result_curve([1900.0] * 200, 0.0, [0.5] * 200)
    assert fused(0 * ELO, results, person).mean == pytest.approx(1900, abs=4)
    assert elo_posterior(person.shared(curve(1900, 10)), PEOPLE).mean == pytest.approx(1820, abs=4)


def test_an_opponent_of_whom_nothing_is_known_says_little():
    moves = curve(1800, 150)
    before = fused(moves, 0 * ELO).mean
    sharp, vague = (fused(moves, result_curve([2200] * 4, [sd] * 4, [1] * 4)).mean for sd in (30, 1500))
    assert sharp - before > 2.5 * (vague - before) > 0


def test_an_opponent_without_a_score_is_refused():
    with pytest.raises(InputError, match="2 opponents for 1 scores"):
        result_curve([1800, 1900], [50, 50], [1])


@pytest.mark.parametrize("shared", [0.0, 150.0])
def test_what_moves_and_results_share_comes_back(shared):
    """People whose luck is in moves and results alike: the true effect covers as it says, without it not."""
    rng = np.random.default_rng(5)
    n, games = 1200, 6
    elo = rng.normal(1900, 250, n)
    luck = rng.normal(0, shared, n)
    seen = elo + luck + rng.normal(0, 150, n)
    moves = -0.5 * ((POOL_ELO - seen[:, None]) / 150) ** 2
    opponents = rng.normal(1900, 200, (n, games))
    scores = rng.random((n, games)) < expected_against((elo + luck)[:, None], opponents, 0.0)
    results = np.array([result_curve(o, 1e-6, s, POOL_ELO) for o, s in zip(opponents, scores, strict=True)])
    prior = -0.5 * ((POOL_ELO - 1900) / 250) ** 2
    inside = {}
    for sd in (0.0, shared):
        logs = shares(sd=sd).shared(moves, POOL_ELO, results) + prior
        mass = np.exp(logs - logs.max(axis=1, keepdims=True))
        below = np.cumsum(mass / mass.sum(axis=1, keepdims=True), axis=1)
        place = np.array([np.interp(e, POOL_ELO, row) for e, row in zip(elo, below, strict=True)])
        inside[sd] = float(((place > 0.025) & (place < 0.975)).mean())
    assert inside[shared] == pytest.approx(0.95, abs=0.02)
    found = fit_tempers(np.tile(prior, (n, 1)), moves, results, elo)
    if shared:
        assert inside[0.0] < 0.85
        assert found.moves < 0.9
        assert found.results < 0.9
    else:
        assert found.moves == pytest.approx(1, abs=0.15)
        assert found.results == pytest.approx(1, abs=0.15)


def test_a_person_without_moves_has_no_evidence():
    assert not combined({}, {"a": Effects()}, shares(), result_curve([1900], 50, [1])).any()


def test_every_effort_that_ships_says_how_far_results_count():
    axis = elo_axis()
    assert all(effort.person is not None and effort.person.results > 0 for effort in axis.efforts.values())
    again = EloAxis.from_json(axis.to_json())
    assert again.effort("full").person == axis.effort("full").person
