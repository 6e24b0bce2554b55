"""Convergence by partial sums, and the spread between games: what narrows with more decisions, and what does not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from skilloscope.core.errors import InputError
from skilloscope.decision import Decisions
from skilloscope.evidence import Evidence, Grid, agent_evidence
from skilloscope.models.agent import Agent
from skilloscope.report.study import json_value
from skilloscope.simulate.deciders import cut_lists, simulated_deciders
from skilloscope.studies.player_games import (
    Convergence,
    between_spread,
    checkpoints,
    convergence,
    likelihoods,
    moment_spread,
    partial_sums,
    spread_log_likelihood,
)


def decider(n: int, c: float = 1.2, seed: int = 1, alternatives: int = 10) -> Decisions:
    return simulated_deciders([c], n, alternatives=alternatives, rng=np.random.default_rng(seed))


def player_games(spread: float, n: int, each: int, seed: int):
    rng = np.random.default_rng(seed)
    return agent_evidence(simulated_deciders(1.2 + spread * rng.standard_normal(n), each, rng=rng), grid=Grid())


def test_every_checkpoint_is_the_posterior_of_the_decisions_up_to_it():
    batch = decider(500)
    found = convergence(batch, at=[10, 30, 100])
    assert [step.decisions for step in found.steps] == [10, 30, 100, 500]
    for step in found.steps:
        alone = agent_evidence(batch.select(slice(0, step.decisions)), grid=Grid()).total().posterior()
        assert (step.c, step.sd) == pytest.approx((alone.mean, alone.sd), abs=1e-7)


def test_checkpoints_count_the_decisions_that_the_rule_can_use():
    rng = np.random.default_rng(2)
    batch = cut_lists(decider(300, c=0.3, alternatives=30), rng=rng)
    found = convergence(batch, Agent(rule="listed"), at=[10, 50])
    listed = np.flatnonzero(batch.listed)
    assert len(listed) < len(batch)
    assert [step.decisions for step in found.steps] == [10, 50, len(listed)]
    alone = agent_evidence(batch.select(listed[:50]), grid=Grid()).total().posterior()
    assert found.steps[1].c == pytest.approx(alone.mean, abs=1e-7)


def test_a_choice_that_cannot_be_used_may_come_first():
    batch = Decisions.from_lists(["a"] * 3, [[0.0, -1.0]] * 3, [-1, 0, 0], n_legal=[3, 3, 3])
    assert [step.decisions for step in convergence(batch).steps] == [2]
    with pytest.raises(InputError, match="no usable decision"):
        convergence(batch.select([0]))


def test_partial_sums_add_piece_by_piece():
    rng = np.random.default_rng(3)
    table = agent_evidence(simulated_deciders([1.0, 1.0, 1.0], 20, rng=rng), grid=Grid())
    total = Evidence.zero(table.grid)
    for label, found in zip(table, partial_sums(table), strict=True):
        total = total + table[label]
        assert found.curve == pytest.approx(total.curve, abs=1e-9)
        assert found.decisions == total.decisions


def test_checkpoints_end_with_everything():
    assert checkpoints(7) == [7]
    assert checkpoints(20_000) == [10, 30, 100, 300, 1000, 3000, 10_000, 20_000]


def test_the_sd_of_one_c_falls_as_one_over_root_n():
    found = convergence(decider(20_000), at=[300, 1000, 3000])
    scaled = [step.sd * np.sqrt(step.decisions) for step in found.steps]
    assert max(scaled) / min(scaled) < 1.1


def test_the_spread_between_games_does_not_fall_with_more_of_them():
    few, many = player_games(0.3, 60, 40, 4), player_games(0.3, 600, 40, 5)
    assert few.total().posterior().sd > 2.5 * many.total().posterior().sd
    for table in (few, many):
        spread = between_spread(table)
        assert spread.low <= 0.3 <= spread.high
        assert spread.low <= spread.sd <= spread.high
    assert between_spread(many).sd == pytest.approx(0.3, abs=0.05)
    assert between_spread(many).moment_sd == pytest.approx(0.3, abs=0.08)


def test_no_spread_is_found_where_there_is_none():
    spread = between_spread(player_games(0.0, 200, 25, 6))
    assert spread.low == 0.0
    assert spread.high < 0.2
    assert spread.observed_sd > spread.sd  # few decisions spread the c̄ of games, not the c behind them


def test_an_interval_that_is_cut_at_the_end_of_its_range_says_so():
    few = between_spread(player_games(0.9, 4, 60, 2))
    assert (few.high, few.edge) == (1.5, "high")
    assert json_value(few)["edge"] == "high"
    assert "to 1.500 ↑)" in Convergence("all", [], few).table().notes[0]
    assert between_spread(player_games(0.3, 100, 25, 5)).edge is None


def test_the_interval_of_the_spread_covers():
    """A profile likelihood keeps about its mass: 40 simulated groups of 40 player-games."""
    found = [between_spread(player_games(0.25, 40, 40, seed)) for seed in range(40)]
    hits = sum(spread.low <= 0.25 <= spread.high for spread in found)
    assert binomtest(hits, 40, 0.95).pvalue > 1e-3, f"{hits} of 40 cover"


def test_the_spread_likelihood_of_normal_curves_is_the_closed_form():
    at = np.linspace(0, 4, 4001)
    means, sd, tau = np.array([1.0, 1.5, 2.2]), 0.2, 0.3
    curves = np.exp(-0.5 * ((at - means[:, None]) / sd) ** 2)
    total = sd**2 + tau**2
    expected = (-0.5 * (means - 1.6) ** 2 / total + 0.5 * np.log(sd**2 / total)).sum()
    assert spread_log_likelihood(curves, at, 1.6, tau) == pytest.approx(expected, abs=1e-6)


def test_moments_take_out_the_sampling_variance():
    assert moment_spread(np.array([1.0, 2.0]), np.array([0.5, 0.5])) == pytest.approx(0.5)
    assert moment_spread(np.array([1.0, 1.1]), np.array([0.5, 0.5])) == 0.0


def test_likelihoods_are_the_curves_up_to_a_factor():
    table = player_games(0.0, 3, 20, 7)
    at = np.array([0.5, 1.0, 1.5])
    found = likelihoods(table, at)
    for row, label in zip(found, table, strict=True):
        logs = table[label].log_likelihood(at)
        assert np.log(row) == pytest.approx(logs - logs.max(), abs=1e-9)


def test_two_games_have_no_spread():
    with pytest.raises(InputError, match="three"):
        between_spread(player_games(0.0, 2, 10, 8))


def test_the_figure_has_three_panels_and_is_the_same_bytes_again():
    study = convergence(decider(200), name="all", spread=between_spread(player_games(0.3, 10, 20, 9)))
    drawn = study.figures()[0].svg()
    assert drawn == study.figures()[0].svg()
    assert drawn.count('id="axes_') == 3
