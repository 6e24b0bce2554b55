"""Losses of single evaluations: bins add up, the fit comes back, stronger players lose less."""

from __future__ import annotations

import numpy as np
import pytest

from model_fits import fit_loss_weights
from skilloscope.core.errors import InputError
from skilloscope.core.text import typed
from skilloscope.evidence.axis import ELO
from skilloscope.models.joint import (
    LOSS_EDGES,
    LOSS_FEATURES,
    LossWeights,
    loss_curves,
    loss_features,
)

BINS = len(LOSS_EDGES) + 1
CENTRES = np.array([-0.2, *((np.array(LOSS_EDGES[:-1]) + np.array(LOSS_EDGES[1:])) / 2), 1.2])


def true_weights() -> LossWeights:
    rng = np.random.default_rng(1)
    level = rng.normal(0, 0.3, (len(LOSS_FEATURES), BINS))
    slope = np.zeros((len(LOSS_FEATURES), BINS))
    slope[0] = -0.8 * (CENTRES > 0.15) + 0.4 * (abs(CENTRES) < 0.1)
    return LossWeights(level, slope, np.zeros((len(LOSS_FEATURES), BINS)), (1200.0, 2700.0))


def decisions(n: int, rng: np.random.Generator) -> np.ndarray:
    return loss_features(-rng.exponential(1.5, n), rng.uniform(0, 3, n), rng.normal(0, 1.5, n), rng.integers(0, 90, n))


def played(weights: LossWeights, features: np.ndarray, elo: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    chances = np.exp(weights.log_probabilities(features, elo)).cumsum(axis=1)
    return CENTRES[(rng.random(len(elo))[:, None] > chances).sum(axis=1).clip(0, BINS - 1)]


def test_the_chances_of_all_bins_add_up_to_one():
    features = decisions(50, np.random.default_rng(2))
    for elo in (600.0, 1500.0, 3100.0):
        assert np.exp(true_weights().log_probabilities(features, elo)).sum(axis=1) == pytest.approx(np.ones(50))


def test_a_fit_to_simulated_losses_foretells_new_ones_nearly_as_well_as_the_truth():
    rng, truth = np.random.default_rng(3), true_weights()
    features, elo = decisions(6000, rng), rng.uniform(1300, 2600, 6000)
    fitted = fit_loss_weights(played(truth, features, elo, rng), features, elo)
    fresh, own = decisions(4000, rng), rng.uniform(1300, 2600, 4000)
    bins = np.digitize(played(truth, fresh, own, rng), LOSS_EDGES)
    mean = [w.log_probabilities(fresh, own)[np.arange(4000), bins].mean() for w in (truth, fitted)]
    assert mean[0] - mean[1] < 0.02
    assert fitted.slope[0, -1] < fitted.slope[0, 4]


def test_curves_are_sums_over_the_moves_of_a_group_and_lean_to_those_who_lose_little():
    rng, truth = np.random.default_rng(4), true_weights()
    features = decisions(400, rng)
    elo = np.repeat([1400.0, 2500.0], 200)
    losses, groups = played(truth, features, elo, rng), np.repeat([0, 1], 200)
    curves = loss_curves(losses, features, truth, groups, 2, ELO[::10])
    bins = np.digitize(losses, LOSS_EDGES)
    slow = truth.log_probabilities(features, float(ELO[50]))[np.arange(400), bins]
    assert curves[:, 5] == pytest.approx([slow[:200].sum(), slow[200:].sum()])
    peaks = ELO[::10][curves.argmax(axis=1)]
    assert peaks[0] + 500 < peaks[1]


def test_weights_come_back_from_their_dict_and_others_are_refused():
    weights = true_weights()
    again = typed(LossWeights, weights.as_dict())
    assert again.level == pytest.approx(weights.level, abs=1e-4)
    with pytest.raises(InputError, match="bins"):
        typed(LossWeights, {**weights.as_dict(), "edges": [0.0]})
