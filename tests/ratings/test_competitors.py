"""Competitors are fitted on the past alone, and are as good as their models allow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from skilloscope.core.errors import InputError, OptionError
from skilloscope.models.paired_comparison import elo_update
from skilloscope.ratings.competitors import (
    COMPETITORS,
    _elo,
    _trueskill,
    _volatility,
    compete,
    fitted_logits,
    recalibrated,
)
from skilloscope.results.periods import PeriodGames
from skilloscope.simulate.populations import Population, simulate_results


@pytest.fixture(scope="module")
def games() -> PeriodGames:
    rng = np.random.default_rng(4)
    made = simulate_results(Population(80, 20, 8000, sigma0=250, nu=20), rng=rng)
    games = made.results.by_period()
    codes = [int(name.split()[1]) for name in games.players]
    theta = made.strength[codes]
    sides = (games.player_1, games.player_2)
    return replace(games, ratings=tuple(1500 + theta[side, games.period] + rng.normal(0, 50, 8000) for side in sides))


def test_elo_is_the_plain_update():
    out = _elo(
        np.zeros(2, dtype=np.int64),
        np.ones(2, dtype=np.int64),
        np.array([1.0, 0.0]),
        np.array([0, 1, 2]),
        2,
        40.0,
        20.0,
        0.0,
    )
    after = [elo_update(0.0, [0.0], [score], k=40.0) for score in (1.0, 0.0)]
    assert out == pytest.approx([0.0, np.log(10) / 400 * (after[0] - after[1])])


def test_the_volatility_of_glicko2_is_that_of_the_printed_example():
    """Glickman (2012): φ = 1.1513, v = 1.7785, Δ = −0.4834, σ = 0.06, τ = 0.5 give σ′ = 0.05999."""
    found = _volatility(1.1513**2, 1.7785, 0.4834**2, 2 * np.log(0.06))
    assert np.exp(found / 2) == pytest.approx(0.05999, abs=1e-5)


def test_trueskill_of_one_game_is_the_printed_update():
    """25 ± 25/3 beats its equal, β = 25/6, 10 % draws: 29.396 ± 7.171, as in Herbrich, Minka and Graepel's example."""
    unit, margin = 25 / 3, 0.7405
    one, two = np.array([0, 0], dtype=np.int64), np.array([1, 1], dtype=np.int64)
    out = _trueskill(one, two, np.array([1.0, 1.0]), np.array([0, 1, 2]), 2, 0.5, 1e-9, margin / unit, 0.0)
    c = np.sqrt(2 * (25 / 6) ** 2 + 2 * 7.171**2)
    x, e = 2 * (29.396 - 25) / c, margin / c
    assert out[0] == pytest.approx(0.0, abs=1e-8)
    assert 1 / (1 + np.exp(-out[1])) == pytest.approx((norm.cdf(x - e) + norm.cdf(x + e)) / 2, abs=5e-4)


@pytest.mark.parametrize("name", COMPETITORS)
def test_every_competitor_beats_a_coin_and_is_calibrated(games: PeriodGames, name: str):
    early = int(games.offsets[14])
    found = compete(name, games, early, 1 / 12, np.full(len(games) - early, 0.5))
    assert found.games == len(games) - early
    assert found.log_loss < np.log(2) - 0.1
    assert found.behind == pytest.approx(found.log_loss - np.log(2))
    assert found.slope == pytest.approx(1.0, abs=0.15)


@pytest.mark.parametrize("name", COMPETITORS)
def test_no_competitor_sees_the_future(games: PeriodGames, name: str):
    early = int(games.offsets[14])
    late = games.period >= 16
    other = replace(games, score=np.where(late, 1 - games.score, games.score))
    when = games.period / 12
    both = []
    for table in (games, other):
        logit, known = fitted_logits(name, table, early)
        both.append(recalibrated(logit, table.score, when, known, early))
    assert np.array_equal(both[0][games.period <= 16], both[1][games.period <= 16])


def test_what_cannot_compete_is_refused(games: PeriodGames):
    bare, ours = replace(games, ratings=None), np.full(100, 0.5)
    with pytest.raises(InputError, match="no ratings to compete with"):
        compete("rating", bare, len(games) - 100, 1 / 12, ours)
    with pytest.raises(OptionError, match="no competitor is called 'whr'"):
        compete("whr", bare, len(games) - 100, 1 / 12, ours)
