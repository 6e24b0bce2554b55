"""All games weighed together: the joint posterior knows what goes round in loops."""

from __future__ import annotations

import numpy as np
import pytest

from skilloscope.models.paired_comparison import Q
from skilloscope.ratings.periods.histories import History
from skilloscope.ratings.periods.smoothing import few_opponents, gap_variances, precision_of, row_variances, whole
from skilloscope.ratings.periods.states import State
from skilloscope.results.periods import PeriodGames


def weighed(games: PeriodGames, sigma0: float, nu: float) -> History:
    state, rows = State.empty(sigma0=sigma0, nu=nu).play(games, history=True)
    return whole(History.from_rows(rows, state), games, tol=1e-6)[0]


def test_a_hundred_games_of_two_tell_their_gap_and_hardly_where_both_are():
    score = np.repeat([1.0, 0.0], [80, 20])
    games = PeriodGames.build(np.zeros(100, int), np.ones(100, int), score, np.zeros(100, int), players=["a", "b"])
    found, axis = weighed(games, 280.0, 30.0), np.linspace(-1500, 1500, 601)
    a, b = np.meshgrid(axis, axis, indexing="ij")
    x = Q * (a - b)
    density = -(a**2 + b**2) / (2 * 280.0**2) + 80 * x - 100 * np.logaddexp(0, x)
    weight = np.exp(density - density.max())
    weight /= weight.sum()
    gap = float((weight * (a - b)).sum())
    gap_sd = float(np.sqrt((weight * (a - b) ** 2).sum() - gap**2))
    own_sd = float(np.sqrt((weight * a**2).sum() - (weight * a).sum() ** 2))
    assert found.mean[0] - found.mean[1] == pytest.approx(gap, abs=4)
    assert found.rd == pytest.approx([own_sd] * 2, rel=0.02)  # messages alone say 61
    both = gap_variances(precision_of(found, games), np.array([0]), np.array([1]))
    assert np.sqrt(both[0]) == pytest.approx(gap_sd, rel=0.05)


def test_deviations_of_few_players_cover_what_they_say():
    rng, inside = np.random.default_rng(3), []
    for _ in range(60):
        theta = rng.normal(1500, 200, 4)
        one = rng.integers(0, 4, 120)
        two = (one + rng.integers(1, 4, 120)) % 4
        score = (rng.random(120) < 1 / (1 + np.exp(-Q * (theta[one] - theta[two])))).astype(float)
        found = weighed(PeriodGames.build(one, two, score, np.zeros(120, int), players=list("abcd")), 200.0, 20.0)
        inside += (np.abs(found.mean - theta) < 1.96 * found.rd).tolist()
    assert 0.90 <= np.mean(inside) <= 0.99


def test_a_large_pool_says_that_its_deviations_leave_loops_out(monkeypatch):
    monkeypatch.setattr("skilloscope.ratings.periods.smoothing.MOST_ROWS", 1)
    games = PeriodGames.build([0, 1, 2], [1, 2, 0], [1, 1, 0], [0, 0, 0], players=list("abc"))
    state, rows = State.empty(sigma0=200, nu=30).play(games, history=True)
    _, how = whole(History.from_rows(rows, state), games)
    assert "loops" in how.warnings[0]
    monkeypatch.setattr("skilloscope.ratings.periods.smoothing.MOST_ROWS", 1)
    found, _ = whole(History.from_rows(rows, state), games)
    precision = precision_of(found, games)
    assert row_variances(precision) is None
    inverse = np.linalg.inv(precision.toarray())
    pair = gap_variances(precision, np.array([0]), np.array([2]))
    assert pair[0] == pytest.approx(inverse[0, 0] + inverse[2, 2] - 2 * inverse[0, 2], rel=1e-5)


def test_who_met_few_others_is_named():
    games = PeriodGames.build([0, 0, 0, 1], [1, 2, 3, 2], [1, 0, 1, 1], [0, 0, 0, 0], players=list("abcd"))
    assert few_opponents(games, ["a", "b", "d"]) == ["b", "d"]
