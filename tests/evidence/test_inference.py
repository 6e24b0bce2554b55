"""Evidence adds, grids are checked, posteriors are right to the digit, and an estimate at the edge says so."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skilloscope.core.errors import GridError, InputError
from skilloscope.decision import Decisions, Losses
from skilloscope.evidence import EdgePosterior, Evidence, Grid, Normal, Uniform, agent_evidence, prior_from_text
from skilloscope.evidence.posterior import posterior_from_log_density
from skilloscope.models.agent import Agent, choice_sets, log_likelihood
from skilloscope.simulate.deciders import made_up_spreads, simulate_choices


def simulated(n: int, c: float = 1.1, seed: int = 0) -> Decisions:
    rng = np.random.default_rng(seed)
    return simulate_choices(made_up_spreads(n, rng=rng), c, rng=rng)


@given(st.permutations(range(4)), st.integers(0, 100))
@settings(deadline=None, max_examples=20)
def test_order_and_batching_change_nothing_but_rounding(order, seed):
    batch, grid = simulated(80, seed=seed), Grid()
    whole = agent_evidence(batch, grid=grid).total()
    parts = [agent_evidence(batch.select(slice(20 * i, 20 * i + 20)), grid=grid).total() for i in order]
    total = Evidence.zero(grid)
    for part in parts:
        total = total + part
    assert total.curve == pytest.approx(whole.curve, rel=1e-12)
    assert total.decisions == whole.decisions == 80


def test_evidence_on_different_grids_does_not_add():
    with pytest.raises(GridError, match="cannot be added"):
        Evidence.zero(Grid(0, 4, 48)) + Evidence.zero(Grid(0, 5, 48))


def test_evidence_of_different_models_does_not_add():
    one, other = (agent_evidence(simulated(5), Agent(k=k), Grid()).total() for k in (0.1, 0.2))
    with pytest.raises(InputError, match="different models"):
        one + other


@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0, 1e5])
def test_the_curve_between_the_nodes_is_the_likelihood_whatever_the_size_of_the_losses(scale):
    rng = np.random.default_rng(3)
    spreads = made_up_spreads(300, 10, rng=rng, gap=scale)
    batch = simulate_choices(spreads, 1.0, rng=rng)
    table = agent_evidence(batch)
    at = np.linspace(0, 4, 57)
    direct = log_likelihood(choice_sets(batch), at).sum(axis=0)
    assert table.total().log_likelihood(at) == pytest.approx(direct, abs=300 * 1e-8)


@given(st.floats(0.2, 3.8), st.floats(0.001, 0.05))
def test_a_normal_likelihood_gives_back_its_mean_sd_and_quantiles(mean, sd):
    posterior = posterior_from_log_density(lambda c: -0.5 * ((c - mean) / sd) ** 2, 0.0, 4.0)
    if 8 * sd < min(mean, 4 - mean):
        assert posterior.mean == pytest.approx(mean, abs=1e-6)
        assert posterior.sd == pytest.approx(sd, rel=1e-4)
        assert posterior.interval(0.95) == pytest.approx((mean - 1.959964 * sd, mean + 1.959964 * sd), abs=1e-3 * sd)


def test_the_adaptive_grid_equals_a_very_fine_one():
    table = agent_evidence(simulated(50))
    posterior = table["simulated"].posterior()
    fine = np.linspace(0, 4, 400_001)
    logs = table["simulated"].log_likelihood(fine)
    density = np.exp(logs - logs.max())
    density /= density.sum()
    mean = float(density @ fine)
    assert posterior.mean == pytest.approx(mean, abs=1e-6)
    assert posterior.sd == pytest.approx(np.sqrt(density @ (fine - mean) ** 2), rel=1e-5)
    low, high = np.interp([0.025, 0.975], np.cumsum(density), fine)
    assert posterior.interval() == pytest.approx((low, high), abs=2e-5)


def test_no_evidence_gives_back_the_prior_and_says_it_is_at_the_edge():
    posterior = Evidence.zero(Grid()).posterior(Uniform(1.0, 3.0))
    assert posterior.mean == pytest.approx(2.0)
    assert posterior.interval(0.9) == pytest.approx((1.1, 2.9), abs=1e-6)
    assert isinstance(posterior, EdgePosterior)


@pytest.mark.parametrize(("rank", "side"), [(0, "high"), (9, "low")])
def test_an_estimate_at_the_edge_of_its_range_says_so_in_its_type(rank, side):
    spreads = made_up_spreads(30, rng=np.random.default_rng(0))
    always = Decisions(
        spreads.deciders, spreads.decider, spreads.values, spreads.offsets, np.full(30, rank, np.int32), spreads.n_legal
    )
    posterior = agent_evidence(always)["simulated"].posterior()
    assert isinstance(posterior, EdgePosterior)
    assert posterior.edge == side
    assert agent_evidence(simulated(300))["simulated"].posterior().edge is None


def test_a_normal_prior_pulls_and_is_named():
    table = agent_evidence(simulated(20, 2.0))
    flat, pulled = table["simulated"].posterior(), table["simulated"].posterior(Normal(1.0, 0.05, 0, 4))
    assert abs(pulled.mean - 1.0) < abs(flat.mean - 1.0)
    assert pulled.prior == "normal, mean 1, sd 0.05, on [0, 4]"


@pytest.mark.parametrize("text", ["jeffreys", "normal:1", "normal:a,b", "uniform:3"])
def test_a_prior_that_does_not_exist_is_refused_with_a_hint(text):
    with pytest.raises(InputError) as error:
        prior_from_text(text, 0, 4)
    assert error.value.hint


def test_a_prior_beyond_the_grid_is_refused():
    with pytest.raises(InputError, match="reaches beyond"):
        Evidence.zero(Grid(0, 4)).posterior(Uniform(0, 5))


def test_widening_adds_variances():
    posterior = posterior_from_log_density(lambda c: -0.5 * ((c - 2) / 0.1) ** 2, 0.0, 4.0)
    assert posterior.widened(0.2).sd == pytest.approx(np.hypot(0.1, 0.2), rel=1e-3)
    assert posterior.widened(0.2).mean == pytest.approx(2.0, abs=1e-6)


def test_regrouping_adds_rows_without_reading_decisions():
    batch = Decisions.concat([simulated(30, seed=i) for i in range(3)])
    batch = Decisions(
        ("a", "b", "c"),
        np.repeat(np.arange(3, dtype=np.int32), 30),
        batch.values,
        batch.offsets,
        batch.chosen,
        batch.n_legal,
    )
    table = agent_evidence(batch)
    regrouped = table.regrouped(["left", "right", "left"])
    assert regrouped["left"].curve == pytest.approx(table["a"].curve + table["c"].curve)
    assert regrouped["left"].decisions == 60


def test_losses_are_refused_with_a_hint():
    losses = Losses(("a",), np.zeros(1, np.int32), np.zeros(1), np.zeros(1))
    with pytest.raises(InputError, match="not choice sets") as error:
        agent_evidence(losses)
    assert "every alternative" in error.value.hint


def test_an_unknown_group_names_the_known_ones():
    with pytest.raises(KeyError, match="simulated"):
        agent_evidence(simulated(3))["Ann"]


def test_a_flat_posterior_leans_on_both_ends():
    assert Evidence.zero(Grid()).posterior().edge == "both"


def test_losses_too_large_for_k_and_range_are_refused_not_rated():
    batch = Decisions.from_lists(["a"] * 3, [[0.0, -1e200]] * 3, [0, 1, 0])
    with pytest.raises(InputError, match="cannot be carried") as error:
        agent_evidence(batch, span=(0.0, 4000.0))
    assert "larger k" in error.value.hint


def test_a_single_alternative_says_nothing_and_is_counted():
    batch = Decisions.from_lists(["a", "a"], [[0.0], [0.0, -1.0]], [0, 0])
    table = agent_evidence(batch)
    assert table["a"].decisions == 1
    assert table.tally.as_dict() == {"single alternative": 1}


def test_competence_is_not_negative():
    with pytest.raises(InputError, match="not negative"):
        Grid(-1, 4)
    with pytest.raises(InputError, match="finite mean"):
        prior_from_text("normal:nan,1", 0, 4)
