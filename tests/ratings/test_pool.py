"""Effects of a pool: the coarse twin agrees, and shift and stretch come back from simulated people."""

from __future__ import annotations

import numpy as np
import pytest

from skilloscope.evidence.axis import ELO, Effects, combined
from skilloscope.studies.calibrate import POOL_ELO, PoolEvidence, fit_pool, fitted_prior, posterior_accuracy

START = {"human": Effects(0.8, 60.0, 100.0)}


def simulated(n: int, games: int, seed: int, *, shift: float, stretch: float) -> PoolEvidence:
    """Return people of a pool whose ratings are read at 2000 + shift + stretch·(E − 2000) by the model."""
    rng = np.random.default_rng(seed)
    elo = rng.normal(1800, 250, n)
    model = elo + shift + (stretch - 1) * (elo - 2000)
    peaks = (model + rng.normal(0, 80, n))[:, None] + rng.normal(0, 150, (n, games))
    curves = -0.5 * ((POOL_ELO - peaks.reshape(-1, 1)) / 150) ** 2
    return PoolEvidence(elo, {"human": curves}, {"human": np.repeat(np.arange(n), games)})


def test_all_people_at_once_agree_with_one_person_at_a_time():
    rng = np.random.default_rng(5)
    fine = {name: -0.5 * ((ELO - rng.uniform(1500, 2300, (4, 1))) / 160) ** 2 for name in ("opening", "human")}
    effects = {"opening": Effects(0.8, 10.0, 160.0, 120.0, 0.9), "human": Effects(0.7, 140.0, 90.0, 120.0, 0.9)}
    coarse = PoolEvidence(
        np.array([1800.0, 2000.0]),
        {name: curves[:, ::5] for name, curves in fine.items()},
        dict.fromkeys(fine, np.array([0, 0, 0, 1])),
    )
    for person, rows in enumerate((slice(0, 3), slice(3, 4))):
        slow = combined({name: curves[rows] for name, curves in fine.items()}, effects)[::5]
        fast = coarse.logs(effects)[person]
        inside = slice(10, 36)
        assert fast[inside] - fast[20] == pytest.approx(slow[inside] - slow[20], abs=0.08)


def test_shift_and_stretch_come_back_and_intervals_cover():
    people = simulated(300, 4, 1, shift=-150.0, stretch=0.8)
    prior = fitted_prior(people.elo)
    found = fit_pool(people, prior, START)["human"]
    at = np.array([1600.0, 2000.0])
    assert at + found.shift + (found.stretch - 1) * (at - 2000) == pytest.approx(2000 - 150 + 0.8 * (at - 2000), abs=40)
    fresh = simulated(400, 4, 2, shift=-150.0, stretch=0.8)
    accuracy = posterior_accuracy(fresh.logs({"human": found}) + prior.log_density(POOL_ELO), fresh.elo, prior.mean)
    assert accuracy.rmse < 0.65 * accuracy.constant_rmse
    assert 0.91 < accuracy.covers < 0.985
    assert accuracy.slope == pytest.approx(1, abs=0.12)


def test_sources_that_are_not_free_stay_as_they_are():
    people = simulated(80, 1, 3, shift=0.0, stretch=1.0)
    twice = dict.fromkeys(("human", "opening"), people.curves["human"])
    both = PoolEvidence(people.elo, twice, dict.fromkeys(twice, people.owner["human"]))
    start = {**START, "opening": Effects(0.5, 10.0, 200.0)}
    found = fit_pool(both, fitted_prior(people.elo), start, free=["human"], mapped=False)
    assert found["opening"] == start["opening"]
    assert found["human"] != start["human"]
