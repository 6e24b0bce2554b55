"""Losses and times of single moves: bins add up, the fit comes back, stronger players lose less."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_fits import fit_bin_weights
from skilloscope.core.errors import InputError
from skilloscope.core.text import typed
from skilloscope.evidence.axis import ELO
from skilloscope.models.bins import (
    LOSS_EDGES,
    LOSS_FEATURES,
    TIME_EDGES,
    TIME_FEATURES,
    BinWeights,
    bin_curves,
    loss_features,
    paces,
    time_features,
)

BINS = len(LOSS_EDGES) + 1
CENTRES = np.array([-0.2, *((np.array(LOSS_EDGES[:-1]) + np.array(LOSS_EDGES[1:])) / 2), 1.2])


def true_weights() -> BinWeights:
    rng = np.random.default_rng(1)
    level = rng.normal(0, 0.3, (len(LOSS_FEATURES), BINS))
    slope = np.zeros((len(LOSS_FEATURES), BINS))
    slope[0] = -0.8 * (CENTRES > 0.15) + 0.4 * (abs(CENTRES) < 0.1)
    return BinWeights(level, slope, 0 * slope, (1200.0, 2700.0), LOSS_EDGES, LOSS_FEATURES)


def decisions(n: int, rng: np.random.Generator) -> np.ndarray:
    return loss_features(-rng.exponential(1.5, n), rng.uniform(0, 3, n), rng.normal(0, 1.5, n), rng.integers(0, 90, n))


def played(weights: BinWeights, features: np.ndarray, elo: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    chances = np.exp(weights.log_probabilities(features, elo)).cumsum(axis=1)
    return CENTRES[(rng.random(len(elo))[:, None] > chances).sum(axis=1).clip(0, BINS - 1)]


def test_the_chances_of_all_bins_add_up_to_one():
    features = decisions(50, np.random.default_rng(2))
    for elo in (600.0, 1500.0, 3100.0):
        assert np.exp(true_weights().log_probabilities(features, elo)).sum(axis=1) == pytest.approx(np.ones(50))


def test_a_fit_to_simulated_losses_foretells_new_ones_nearly_as_well_as_the_truth():
    rng, truth = np.random.default_rng(3), true_weights()
    features, elo = decisions(6000, rng), rng.uniform(1300, 2600, 6000)
    fitted = fit_bin_weights(played(truth, features, elo, rng), features, elo, (LOSS_EDGES, LOSS_FEATURES))
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
    curves = bin_curves(losses, features, truth, groups, 2, ELO[::10])
    bins = np.digitize(losses, LOSS_EDGES)
    slow = truth.log_probabilities(features, float(ELO[50]))[np.arange(400), bins]
    assert curves[:, 5] == pytest.approx([slow[:200].sum(), slow[200:].sum()])
    peaks = ELO[::10][curves.argmax(axis=1)]
    assert peaks[0] + 500 < peaks[1]


def test_weights_come_back_from_their_dict_and_others_are_refused():
    weights = true_weights()
    again = typed(BinWeights, weights.as_dict())
    assert again.level == pytest.approx(weights.level, abs=1e-4)
    with pytest.raises(InputError, match="bins"):
        typed(BinWeights, {**weights.as_dict(), "edges": [0.0]})


def test_features_of_times_written_down() -> None:
    found = dict(zip(TIME_FEATURES, time_features(60, 1, [30.0], [45.0], [20])[0].round(4).tolist(), strict=True))
    assert found == {
        "one": 1.0, "length": -0.5878, "increment": 0.4, "left": 0.0, "little left": 0.0025, "nothing left": 0.0,
        "ahead": 0.25, "first moves": 0.1353, "ply": -0.5,
    }  # fmt: skip


@given(
    base=st.floats(15, 7200), increment=st.floats(0, 60), left=st.floats(0, 9000), other=st.floats(0, 9000),
    ply=st.integers(2, 600), spent=st.floats(-20, 9000),
)  # fmt: skip
def test_features_of_times_are_of_the_order_of_one(
    base: float, increment: float, left: float, other: float, ply: int, spent: float
) -> None:
    found = time_features(base, increment, [left], [other], [ply])
    assert np.abs(found).max() < 6
    assert paces([spent], base, increment)[0] >= 0
    doubled = time_features(2 * base, 2 * increment, [2 * left], [2 * other], [ply])
    assert np.abs(np.delete(doubled - found, TIME_FEATURES.index("length"))).max() < 1e-6, "all else is a share"


def test_the_strength_of_simulated_people_is_found_from_their_times() -> None:
    rng = np.random.default_rng(5)
    bins, n = len(TIME_EDGES) + 1, 30_000
    centres = np.array([0.03, *((np.array(TIME_EDGES[:-1]) + np.array(TIME_EDGES[1:])) / 2), 9.0])

    def moves(n: int) -> np.ndarray:
        left = rng.uniform(1, 180, n)
        return time_features(180.0, rng.choice([0.0, 2.0], n), left, rng.uniform(1, 180, n), rng.integers(2, 90, n))

    level = rng.normal(0, 0.4, (len(TIME_FEATURES), bins))
    slope = np.zeros_like(level)
    slope[0], slope[3] = 0.3 * np.linspace(1, -1, bins), 0.2 * np.linspace(-1, 1, bins)
    truth = BinWeights(level, slope, 0 * slope, (700.0, 3000.0), TIME_EDGES, TIME_FEATURES)

    def taken(features: np.ndarray, elo: np.ndarray) -> np.ndarray:
        chances = np.exp(truth.log_probabilities(features, elo)).cumsum(axis=1)
        return centres[(rng.random(len(elo))[:, None] > chances).sum(axis=1).clip(0, bins - 1)]

    features, elo = moves(n), rng.uniform(700, 3000, n)
    fitted = fit_bin_weights(taken(features, elo), features, elo, (TIME_EDGES, TIME_FEATURES), ridge=1e-5)
    people = rng.uniform(1000, 2700, 40)
    of = np.repeat(np.arange(40), 200)
    some = moves(len(of))
    curves = bin_curves(taken(some, people[of]), some, fitted, of, 40, ELO[::10])
    error = ELO[::10][curves.argmax(axis=1)] - people
    assert np.sqrt((error**2).mean()) < 260
    assert abs(error.mean()) < 90


def test_weights_of_other_features_and_other_bins_are_refused() -> None:
    weights = true_weights()
    with pytest.raises(InputError, match="not known"):
        typed(BinWeights, {**weights.as_dict(), "features": ["one", "two"]})
