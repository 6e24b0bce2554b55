"""The link from strengths to scores is learned from earlier months alone, and gives back what games were made with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from skilloscope.models.paired_comparison import davidson
from skilloscope.ratings.periods.histories import History
from skilloscope.ratings.periods.prediction import _followed, linked, linked_pairs, predicted
from skilloscope.ratings.periods.states import State
from skilloscope.results.periods import PeriodGames

MONTH = 1 / 12


def made(slope: float, kappa: float, games: int = 60_000, players: int = 200, periods: int = 40) -> PeriodGames:
    """Return games in which a rating difference means `slope` times what (16) says."""
    rng = np.random.default_rng(5)
    theta = rng.normal(1500, 300, players)
    one = rng.integers(0, players, games)
    two = (one + rng.integers(1, players, games)) % players
    p = expit(slope * np.log(10) / 400 * (theta[one] - theta[two]))
    win, draw, _ = davidson(p, kappa)
    u = rng.random(games)
    score = np.where(u < win, 1.0, np.where(u < win + draw, 0.5, 0.0))
    names = [f"p{i:03d}" for i in range(players)]
    return PeriodGames.build(one, two, score, np.arange(games) * periods // games, players=names)


def played(games: PeriodGames, **about: float) -> History:
    return History.played(games, State.empty(sigma0=about.get("sigma0", 300.0), nu=10))


def test_one_month_of_games_gives_the_maximum_of_the_posterior():
    rng = np.random.default_rng(1)
    x, score = rng.normal(size=(500, 3)), rng.integers(0, 2, 500).astype(float)
    prior = np.array([0.0, 1.0, 0.0]), np.array([0.1, 0.2, 0.3]), np.full(3, 0.01)

    def slopes(part, logit):
        p = expit(logit)
        return score[part] - p, p * (1 - p)

    def cost(w):
        logit = x @ w
        return np.sum(np.logaddexp(0, logit) - score * logit) + 0.5 * np.sum(((w - prior[0]) / prior[1]) ** 2)

    before, weights = _followed(x, np.zeros(500), slopes, prior)
    assert before == pytest.approx(x @ prior[0])
    assert weights == pytest.approx(minimize(cost, prior[0], tol=1e-10).x, abs=1e-3)


def test_nothing_of_a_month_or_later_is_in_its_predictions():
    games = made(0.7, 1.0, games=6000)
    changed = replace(games, score=np.where(games.period >= 20, 1 - games.score, games.score))
    (p, kappa, _), (other, other_kappa, _) = (linked(played(one), one, MONTH) for one in (games, changed))
    early, month = games.period < 20, games.period == 21
    assert np.array_equal(p[early], other[early])
    assert np.array_equal(kappa[early], other_kappa[early])
    assert not np.array_equal(p[month], other[month])


def test_a_slope_that_the_strengths_overstate_is_learned():
    """The rater is made to take luck for strength: its first deviations are far too large and never shrink."""
    games = made(1.0, 0.0, games=30_000, players=3000)
    late = games.period >= 25
    history = played(games, sigma0=900.0)
    plain, learned = predicted(history, games), linked(history, games, MONTH)[0]
    loss = [-np.mean(np.log(np.where(games.score == 1, p, 1 - p))[late]) for p in (plain, learned)]
    assert loss[1] < loss[0] - 0.01
    logit = np.log(learned / (1 - learned))[late]
    found = minimize(lambda b: np.mean(np.logaddexp(0, b[0] * logit) - games.score[late] * b[0] * logit), [1.0]).x[0]
    assert found == pytest.approx(1.0, abs=0.06)


def test_games_by_the_formula_leave_the_formula_as_it_is_and_give_back_how_often_they_are_drawn():
    games = made(1.0, 1.5)
    history = played(games)
    p, kappa, link = linked(history, games, MONTH)
    late = games.period >= 20
    assert np.sqrt(np.mean((p - predicted(history, games))[late] ** 2)) < 0.012
    assert link.draws is not None
    assert float(np.mean(kappa[games.period == 39])) == pytest.approx(1.5, rel=0.06)


def test_a_pair_is_predicted_as_its_game_would_be():
    games = made(0.7, 1.0, games=6000)
    later = PeriodGames.build(
        [*games.player_1, 3], [*games.player_2, 4], [*games.score, 1.0], [*games.period, 42], players=games.players
    )
    p, kappa, _ = linked(played(later), later, MONTH)
    history = played(games)
    _, _, link = linked(history, games, MONTH)
    pair = linked_pairs(link, history, (["p003", "somebody new"], ["p004", "p001"]), 42, None)
    assert (pair[0][0], pair[1][0]) == pytest.approx((p[-1], kappa[-1]))
    assert 0 < pair[0][1] < 1


def test_without_a_draw_nothing_is_ever_drawn():
    games = made(1.0, 0.0, games=3000)
    _, kappa, link = linked(played(games), games, MONTH)
    assert link.draws is None
    assert kappa.tolist() == [0.0] * len(games)
