"""Nominal 95 % must cover 95 %: simulated deciders of known competence, rated as everybody is."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from skilloscope.decision import Decisions
from skilloscope.evidence import Grid, agent_evidence
from skilloscope.models.agent import Agent, fit_bucket
from skilloscope.simulate.deciders import cut_lists, simulated_deciders
from spreads import fisher_information

COMPETENCES = [0.5, 1.0, 1.5, 2.5]


def intervals(batch: Decisions, model: Agent | None = None) -> np.ndarray:
    table = agent_evidence(batch, model or Agent(), Grid())
    return np.array([table[name].posterior().interval(0.95) for name in table])


def assert_covers(bounds: np.ndarray, truth, nominal: float = 0.95) -> None:
    """Fail where the number of intervals that hold the truth is beyond binomial error (two-sided, 1 in 1,000)."""
    hits = int(((bounds[:, 0] <= truth) & (truth <= bounds[:, 1])).sum())
    assert binomtest(hits, len(bounds), nominal).pvalue > 1e-3, f"{hits} of {len(bounds)} cover"


@pytest.mark.parametrize("c", COMPETENCES)
@pytest.mark.parametrize(("n", "replications"), [(200, 400), (20_000, 60)])
def test_nominal_intervals_cover_and_are_as_wide_as_the_information_says(c, n, replications):
    rng = np.random.default_rng([n, int(10 * c)])
    batch = simulated_deciders(np.full(replications, c), n, rng=rng)
    bounds = intervals(batch)
    assert_covers(bounds, c)
    expected = 2 * 1.959964 / np.sqrt(fisher_information(batch, c) / replications)
    assert np.mean(bounds[:, 1] - bounds[:, 0]) == pytest.approx(expected, rel=0.05)


def test_twenty_decisions_cover_when_the_competence_comes_from_the_prior():
    rng = np.random.default_rng(20)
    truth = rng.uniform(0, 4, 1000)
    assert_covers(intervals(simulated_deciders(truth, 20, rng=rng)), truth)


@pytest.mark.parametrize("rule", ["listed", "sampled", "full", "bucket"])
@pytest.mark.parametrize("c", COMPETENCES)
def test_every_rule_covers_when_the_agent_chooses_among_thirty_and_ten_are_listed(rule, c):
    rng = np.random.default_rng([30, int(10 * c)])
    batch = simulated_deciders(np.full(300, c), 200, alternatives=30, rng=rng)
    if rule == "full":
        return assert_covers(intervals(batch, Agent(rule="full")), c)
    bucket = None
    if rule == "bucket":  # fitted once on a reference sample of the same kind, as a scale would carry it
        bucket = fit_bucket(cut_lists(simulated_deciders([c], 20_000, alternatives=30, rng=rng), rng=rng))
    assert_covers(intervals(cut_lists(batch, rng=rng), Agent(rule=rule, bucket=bucket)), c)


@pytest.mark.soak
@pytest.mark.parametrize("rule", ["listed", "sampled", "full"])
@pytest.mark.parametrize("c", COMPETENCES)
def test_the_exact_rules_cover_with_twenty_thousand_decisions_too(rule, c):
    rng = np.random.default_rng([31, int(10 * c)])
    bounds = []
    for _ in range(15):
        batch = simulated_deciders(np.full(20, c), 20_000, alternatives=30, rng=rng)
        bounds.append(intervals(batch if rule == "full" else cut_lists(batch, rng=rng), Agent(rule=rule)))
    assert_covers(np.concatenate(bounds), c)


def test_the_bucket_is_near_for_deciders_of_different_competence():
    """It is an approximation: with 2,000 decisions its mean is within 0.05 of the truth, its interval may not be."""
    rng = np.random.default_rng(41)
    truth = np.tile(COMPETENCES, 5)
    batch = cut_lists(simulated_deciders(truth, 2000, alternatives=30, rng=rng), rng=rng)
    table = agent_evidence(batch, Agent(rule="bucket"), Grid())
    means = np.array([table[name].posterior().mean for name in table])
    assert np.abs((means - truth).reshape(5, 4).mean(axis=0)).max() < 0.05
