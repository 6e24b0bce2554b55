"""The probability of a sequence: exact against enumeration, its percentile uniform for agents of that strength."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest

from skilloscope.core.errors import InputError
from skilloscope.decision import Decisions
from skilloscope.models.agent import Agent, Bucket, choice_sets, log_likelihood, probability
from skilloscope.simulate.deciders import cut_lists, made_up_spreads, simulate_choices, simulated_deciders
from skilloscope.studies.likelihood import (
    ChoiceLogs,
    Strength,
    outcome_log_probabilities,
    sequence_moments,
    sequence_probability,
)

SPREADS = ([0.0, -0.1, -0.7], [0.0, -0.9], [0.0, -0.05, -0.3, -2.0], [0.0, -0.5])


def enumerated(c: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the probabilities of all sequences on the four problems, and their logarithms."""
    each = [probability(-np.array(spread), c) for spread in SPREADS]
    all_of_them = np.array([np.prod(chosen) for chosen in product(*each)])
    return all_of_them, np.log(all_of_them)


@pytest.mark.parametrize("c", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("chosen", [(0, 0, 0, 0), (2, 1, 3, 1), (1, 0, 2, 0)])
def test_a_short_sequence_is_what_enumerating_all_of_them_gives(c, chosen):
    p, logs = enumerated(c)
    batch = Decisions.from_lists(["Ann"] * 4, SPREADS, chosen)
    total = sequence_probability(batch, Strength(c, draws=40_000, seed=3)).total
    actual = sum(np.log(probability(-np.array(s), c)[a]) for s, a in zip(SPREADS, chosen, strict=True))
    assert total.log_probability == pytest.approx(actual, abs=1e-12)
    assert total.expected == pytest.approx(float(p @ logs), abs=1e-12)
    assert total.sd == pytest.approx(np.sqrt(float(p @ (logs - p @ logs) ** 2)), abs=1e-12)
    share = p[logs < actual - 1e-9].sum() + 0.5 * p[np.abs(logs - actual) <= 1e-9].sum()
    assert total.percentile == pytest.approx(share, abs=5 * max(total.percentile_se, 1e-3))


@given(st.integers(0, 2**32 - 1), st.floats(0.0, 4.0), st.sampled_from(["listed", "bucket"]))
@settings(max_examples=20, deadline=None)
def test_the_alternatives_of_every_set_sum_to_one_and_the_choice_is_among_them(seed, c, rule):
    rng = np.random.default_rng(seed)
    batch = cut_lists(simulated_deciders([1.0], 30, alternatives=16, rng=rng), 8, rng=rng)
    sets = choice_sets(batch, rule, bucket=Bucket(1.2, 0.3))
    logs, offsets = outcome_log_probabilities(sets, c)
    np.testing.assert_allclose(np.add.reduceat(np.exp(logs), offsets[:-1]), 1.0, rtol=1e-12)
    actual = log_likelihood(sets, c)[:, 0]
    parts = [logs[a:b] for a, b in pairwise(offsets)]
    assert all(np.abs(part - own).min() < 1e-9 for part, own in zip(parts, actual, strict=True))


@given(st.integers(0, 2**32 - 1), st.floats(0.1, 3.0))
@settings(max_examples=20, deadline=None)
def test_the_mean_is_minus_the_entropy_and_no_choice_is_likelier_than_the_best(seed, c):
    sets = choice_sets(made_up_spreads(20, rng=np.random.default_rng(seed)))
    logs, offsets = outcome_log_probabilities(sets, c)
    mean, variance = sequence_moments(logs, offsets)
    assert (variance >= 0).all()
    assert (mean <= np.maximum.reduceat(logs, offsets[:-1]) + 1e-12).all()
    assert (mean >= -np.log(np.diff(offsets)) - 1e-12).all()


def test_losing_less_is_a_higher_percentile():
    spreads = made_up_spreads(40, rng=np.random.default_rng(4))
    best = replace(spreads, chosen=np.zeros(40, dtype=np.int32))
    worst = replace(spreads, chosen=np.full(40, 9, dtype=np.int32))
    assert sequence_probability(best, Strength(1.0, draws=500)).total.percentile > 0.99
    assert sequence_probability(worst, Strength(1.0, draws=500)).total.percentile < 0.01


def test_games_are_parts_of_the_whole():
    batch = simulated_deciders([1.2], 90, rng=np.random.default_rng(5))
    found = sequence_probability(replace(batch, context={"game": ["a", "b", "c"] * 30}), Strength(1.2, draws=2000))
    assert [part.label for part in found.games] == ["a", "b", "c"]
    for name in ("log_probability", "expected", "decisions"):
        assert sum(getattr(p, name) for p in found.games) == pytest.approx(getattr(found.total, name))
    assert sum(p.sd**2 for p in found.games) == pytest.approx(found.total.sd**2)
    assert min(p.dispersed for p in found.games) > 0
    assert 0 < found.extreme_chance <= 1


def test_the_simulation_has_the_exact_mean_and_variance():
    sets = choice_sets(made_up_spreads(60, rng=np.random.default_rng(6)))
    logs, offsets = outcome_log_probabilities(sets, 1.1)
    choices = ChoiceLogs(logs, offsets, logs[offsets[:-1]], np.repeat([0, 1], 30), ["a", "b"])
    mean, variance = (choices.by_game(column) for column in sequence_moments(logs, offsets))
    drawn = choices.simulated(20_000, np.random.default_rng(7))
    np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=5 * np.sqrt(variance.max() / 20_000))
    np.testing.assert_allclose(drawn.var(axis=0), variance, rtol=0.06)


@pytest.mark.parametrize("rule", ["listed", "full"])
def test_the_percentile_is_uniform_for_agents_of_that_strength(rule):
    rng = np.random.default_rng(8)
    spreads = made_up_spreads(50, rng=rng)
    found = [
        sequence_probability(
            simulate_choices(spreads, 1.3, rng=rng), Strength(1.3, draws=400, seed=seed), Agent(rule=rule)
        ).total
        for seed in range(300)
    ]
    assert kstest([part.percentile for part in found], "uniform").pvalue > 1e-3
    assert kstest([part.normal for part in found], "uniform").pvalue > 1e-3
    assert np.std([part.z for part in found]) == pytest.approx(1, abs=0.15)


def test_a_dispersion_pulls_the_normal_percentile_to_the_middle():
    batch = simulated_deciders([2.0], 80, rng=np.random.default_rng(9))
    part = sequence_probability(batch, Strength(1.2, dispersion=2.0, draws=500)).total
    assert 0.5 < part.dispersed < part.normal


def test_what_cannot_be_said_is_refused():
    batch = simulated_deciders([1.0, 1.0], 5, rng=np.random.default_rng(10))
    with pytest.raises(InputError, match="2 deciders"):
        sequence_probability(batch, Strength(1.0))
    one = batch.select(batch.decider == 0)
    with pytest.raises(InputError, match="sampled"):
        sequence_probability(one, Strength(1.0), Agent(rule="sampled"))
    with pytest.raises(InputError, match="competence"):
        sequence_probability(one, Strength(-1.0))
    with pytest.raises(InputError, match="draws"):
        sequence_probability(one, Strength(1.0, draws=3))
    assert "never a verdict" in " ".join(sequence_probability(one, Strength(1.0, draws=200)).caution)


def test_a_share_that_no_draw_contradicts_has_an_error_all_the_same():
    batch = Decisions.from_lists(["Ann"] * 30, [[0.0, -2.0]] * 30, [1] * 30)
    found = sequence_probability(batch, Strength(3.0, draws=500))
    assert found.total.percentile == 0.0
    assert 0.001 < found.total.percentile_se < 0.01
    cells = found.tables()[0].rows[-1]
    assert "< 0.1 %" in cells
    assert not any("0.0 ±" in cell for cell in cells)
