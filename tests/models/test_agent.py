"""The reference agent: every requirement of DFH13 III.B, the papers' equations, and the fast twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skilloscope.decision import UNLISTED, Decisions
from skilloscope.evidence import Grid
from skilloscope.evidence.posterior import competences
from skilloscope.models.agent import (
    Agent,
    Bucket,
    bayes,
    bayes_sequence,
    choice_sets,
    likelihood,
    log_likelihood,
    probability,
    scaled_losses,
)
from skilloscope.models.kernels import choices as kernels
from skilloscope.papers.dfh13 import FIGURE_1_LOSSES

LOSSES = st.lists(st.floats(0, 40), min_size=1, max_size=12).map(lambda xs: np.array([0.0, *sorted(xs)]))
COMPETENCE = st.floats(0, 8)
FIGURE_1 = np.array(FIGURE_1_LOSSES)


class TestRequirementsOnTheLikelihood:
    """DFH13 III.B, one test for each requirement on L."""

    @given(LOSSES, COMPETENCE)
    def test_it_is_finite_and_positive(self, losses, c):
        assert np.all(np.isfinite(likelihood(losses, c)))
        assert np.all(likelihood(losses, c) > 0)

    @given(LOSSES)
    def test_zero_competence_chooses_at_random(self, losses):
        assert likelihood(losses, 0.0) == pytest.approx(1.0)
        assert probability(losses, 0.0) == pytest.approx(1 / len(losses))

    @given(LOSSES, st.floats(0, 7), st.floats(0.01, 1))
    def test_the_ratio_of_better_to_worse_grows_with_competence(self, losses, c, more):
        better, worse = likelihood(losses, c), likelihood(losses, c + more)
        ratio_before, ratio_after = better[:-1] / better[1:], worse[:-1] / worse[1:]
        assert np.all(ratio_after >= ratio_before * (1 - 1e-12))

    def test_the_ratio_grows_beyond_all_bounds(self):
        ratios = [float(np.divide(*likelihood([0.0, 0.05], c))) for c in (10, 100, 250)]
        assert ratios[0] < ratios[1] < ratios[2]
        assert ratios[2] > 1e40

    @given(LOSSES, COMPETENCE)
    def test_worse_options_are_never_likelier(self, losses, c):
        assert np.all(np.diff(likelihood(losses, c)) <= 0)

    @given(st.floats(0, 30), st.floats(0.001, 1), COMPETENCE)
    def test_it_is_convex_in_the_utility(self, loss, h, c):
        below, here, above = likelihood([loss + 2 * h, loss + h, loss], c)
        assert below + above - 2 * here >= -1e-9 * here


@given(LOSSES, COMPETENCE)
def test_probabilities_sum_to_one_and_are_normalised_likelihoods(losses, c):
    p = probability(losses, c)
    assert p.sum() == pytest.approx(1.0)
    assert p == pytest.approx(likelihood(losses, c) / likelihood(losses, c).sum())


def test_a_huge_competence_does_not_overflow():
    assert probability(FIGURE_1, 1e6) == pytest.approx([1, 0, 0, 0, 0, 0, 0, 0])


@given(LOSSES, COMPETENCE, st.floats(0.01, 100))
def test_other_units_are_the_same_agent_when_k_scales(losses, c, unit):
    assert probability(losses * unit, c, k=0.1 * unit) == pytest.approx(probability(losses, c), abs=1e-12)


@given(LOSSES, st.floats(0, 7))
def test_the_expected_loss_falls_with_competence(losses, c):
    expected = [float(probability(losses, x) @ losses) for x in (c, c + 0.5)]
    assert expected[1] <= expected[0] + 1e-12


def test_bayes_by_hand():
    assert bayes([0.5, 0.5], [0.2, 0.6]) == pytest.approx([0.25, 0.75])


def test_the_papers_event_loop_equals_the_sum_of_logs():
    rng = np.random.default_rng(4)
    grid = competences(0.0, 4.0, 0.1)
    losses = np.sort(rng.exponential(0.5, (40, 6)), axis=1)
    losses[:, 0] = 0
    chosen = rng.integers(0, 6, 40)
    events = np.array([[probability(row, c)[i] for c in grid] for row, i in zip(losses, chosen, strict=True)])
    batch = Decisions.from_lists(["a"] * 40, (-losses).tolist(), chosen.tolist())
    logs = log_likelihood(choice_sets(batch), grid).sum(axis=0)
    direct = np.exp(logs - logs.max())
    assert bayes_sequence(np.ones_like(grid), events) == pytest.approx(direct / direct.sum(), rel=1e-9)


def test_the_grid_of_competences_holds_both_ends():
    grid = competences(0.0, 4.0, 0.1)
    assert len(grid) == 41
    assert grid[[0, -1]] == pytest.approx([0.0, 4.0])


def random_batch(seed: int, n: int, *, unlisted: float = 0.2) -> Decisions:
    """Return ragged decisions with ties, huge losses, unlisted choices and one valued unlisted alternative."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 12, n)
    values = [np.round(rng.normal(0, rng.choice([0.1, 1, 20]), m), 2) for m in counts]
    chosen = np.where(rng.random(n) < unlisted, UNLISTED, rng.integers(0, counts))
    batch = Decisions.from_lists(
        [f"p{i}" for i in rng.integers(0, 7, n)], values, chosen, n_legal=counts + rng.integers(1, 30, n)
    )
    object.__setattr__(batch, "unlisted_value", batch.judged[batch.offsets[1:] - 1] - rng.exponential(1, n))
    return batch


@pytest.mark.parametrize("rule", ["listed", "bucket", "sampled", "full"])
@pytest.mark.parametrize("k", [0.001, 0.1, 5.0])
@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 10_000))
def test_the_fast_twin_agrees_with_the_readable_function(rule, k, seed):
    batch = random_batch(seed, 60)
    if rule == "full":
        batch = Decisions(
            batch.deciders,
            batch.decider,
            batch.values,
            batch.offsets,
            np.maximum(batch.chosen, 0),
            batch.counts.astype(np.int32),
        )
    sets = choice_sets(batch, rule, bucket=Bucket(1.2, 0.4))
    nodes = Grid(0, 4, 16).nodes
    readable = log_likelihood(sets, nodes, k=k)
    groups = batch.decider[sets.row]
    expected = np.zeros((7, 16))
    np.add.at(expected, groups, readable)
    assert kernels.curves(sets, groups, 7, nodes, k=k) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_a_long_run_of_one_group_neither_over_nor_underflows():
    n = 5000
    batch = Decisions.from_lists(["a"] * n, [[0.0] * 200] * n, [0] * n)
    curve = kernels.curves(choice_sets(batch), np.zeros(n, int), 1, Grid(0, 4, 8).nodes, k=0.1)
    assert curve == pytest.approx(-n * np.log(200))


def test_the_agent_is_recovered_from_simulated_choices():
    from skilloscope.evidence import agent_evidence
    from skilloscope.simulate.deciders import made_up_spreads, simulate_choices

    rng = np.random.default_rng(11)
    posterior = agent_evidence(simulate_choices(made_up_spreads(20_000, rng=rng), 1.2, rng=rng))[
        "simulated"
    ].posterior()
    assert abs(posterior.mean - 1.2) < 3 * posterior.sd
    assert posterior.sd < 0.02


def test_a_model_that_cannot_be_is_refused_with_the_names_that_can():
    with pytest.raises(ValueError, match="k must be a positive number"):
        Agent(k=0.0)
    with pytest.raises(ValueError, match="no choice-set rule") as error:
        Agent(rule="added")
    assert "listed, bucket, sampled, full" in error.value.hint


class TestRules:
    def batch(self) -> Decisions:
        return Decisions.from_lists(
            ["a"] * 3, [[0.0, -1.0], [0.0, -2.0], [0.0, -0.5]], [1, UNLISTED, 0], n_legal=[2, 12, 12]
        )

    def test_listed_leaves_unlisted_choices_out_and_counts_them(self):
        sets = choice_sets(self.batch(), "listed")
        assert sets.row.tolist() == [0, 2]
        assert sets.tally.as_dict() == {"unlisted choice": 1}

    def test_full_needs_complete_lists(self):
        sets = choice_sets(self.batch(), "full")
        assert sets.row.tolist() == [0]
        assert sets.tally.as_dict() == {"incomplete list": 2}

    def test_the_bucket_weighs_as_much_as_it_hides_and_lies_below_the_last(self):
        sets = choice_sets(self.batch(), "bucket", bucket=Bucket(2.0, 0.5))
        assert sets.extra_weight.tolist() == [0, 10, 10]
        assert sets.extra_loss.tolist() == [2.5, 4.5, 1.5]

    def test_sampled_needs_a_valued_alternative(self):
        sets = choice_sets(self.batch(), "sampled")
        assert sets.tally.as_dict() == {"no unlisted alternative valued": 2}

    @pytest.mark.parametrize("rule", ["listed", "bucket", "full"])
    @given(losses=LOSSES, c=st.floats(0, 4))
    @settings(deadline=None, max_examples=25)
    def test_a_rules_probabilities_sum_to_one_over_all_that_could_be_chosen(self, rule, losses, c):
        m = len(losses)
        choices = [*range(m), UNLISTED] if rule == "bucket" else list(range(m))
        n_legal = m + 5 if rule == "bucket" else m
        batch = Decisions.from_lists(
            ["a"] * len(choices), [(-losses).tolist()] * len(choices), choices, n_legal=[n_legal] * len(choices)
        )
        sets = choice_sets(batch, rule, bucket=Bucket(1.0, 0.3))
        assert np.exp(log_likelihood(sets, c)).sum() == pytest.approx(1.0)


def test_scaled_losses_are_the_logs_of_likelihood_ratios():
    ratio = likelihood(FIGURE_1, 1.0) / likelihood(FIGURE_1, 1.0)[0]
    assert -np.log(ratio) == pytest.approx(scaled_losses(FIGURE_1))
