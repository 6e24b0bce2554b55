"""Ratings published elsewhere are observations with their own deviation; newcomers' mean moves with the time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from skilloscope.models.kernels.paired_comparison import Published
from skilloscope.models.paired_comparison import observed
from skilloscope.ratings.periods.prediction import evaluate, forecast
from skilloscope.ratings.periods.states import State, with_published
from skilloscope.ratings.periods.variances import fit_variances
from skilloscope.results import Results
from skilloscope.results.periods import PeriodGames
from skilloscope.results.reading import Reading, read_results
from skilloscope.simulate.populations import Population, simulate_results
from skilloscope.studies.results.forecasts import hold_out
from skilloscope.studies.results.rating import RatingOptions

MONTHLY = RatingOptions(period="1M", advantage=0, drift=0)
SAYS = Published(2000.0, 0.9, 70.0, 120.0, weak=0.5, newcomer=-20.0, trend=0.4)


def one_game(period: int, rating: float) -> PeriodGames:
    games = PeriodGames.build([0], [1], [1.0], [period], players=["a", "b"])
    return replace(games, ratings=(np.array([rating]), np.zeros(1)))


def test_the_pass_looks_at_ratings_as_the_plain_functions_do():
    empty = State.empty(sigma0=300, nu=30, published=SAYS)
    first, rows = empty.play(one_game(1, 2200.0), history=True)
    assert rows["prior_mean"][rows["player"] == 0] == pytest.approx(2000 + 0.9 * 200 - 20)
    rating, seen = np.array([2200.0]), np.zeros(1)
    believed = with_published(empty.beliefs(["a"], 1), rating, seen, new=np.array([True]), published=SAYS)
    assert (rows["prior_mean"][0], rows["prior_variance"][0]) == pytest.approx((believed[0][0], believed[1][0]))
    known = first.beliefs(["a"], 4)
    mean, variance = (column[0] for column in known)
    said = 2000 + 0.9 * 300 + 0.4 * 100
    expected = observed(mean, variance, said, 70.0)
    after = with_published(known, np.array([2300.0]), rating, new=np.array([False]), published=SAYS)
    assert np.concatenate(after) == pytest.approx(np.ravel(expected))
    _, rows = first.play(one_game(4, 2300.0), history=True)
    row = rows[(rows["player"] == 0) & (rows["period"] == 4)][0]
    assert (row["prior_mean"], row["prior_variance"]) == pytest.approx((float(expected[0]), float(expected[1])))
    _, rows = first.play(one_game(4, 2200.0), history=True)  # nothing new was published
    row = rows[(rows["player"] == 0) & (rows["period"] == 4)][0]
    assert (row["prior_mean"], row["prior_variance"]) == pytest.approx((mean, variance))


def test_no_rating_changes_nothing():
    moments = (np.array([1500.0, 1600.0]), np.array([900.0, 400.0]))
    same = with_published(moments, np.zeros(2), np.zeros(2), new=np.array([True, False]), published=SAYS)
    assert np.array_equal(np.array(same), np.array(moments))


@pytest.fixture(scope="module")
def seen_through_noise() -> Results:
    """Games of many players who come and go, each with a rating that is the strength give or take 60."""
    rng = np.random.default_rng(3)
    made = simulate_results(Population(400, 10, 6000, sigma0=250, nu=20, mean=2000), rng=rng, period="1M")
    months = made.results.date.astype("datetime64[M]").astype(int)
    when = months - months.min()
    sides = [
        made.strength[side, when] + rng.normal(0, 60, (400, 10))[side, when]
        for side in (made.results.player_1, made.results.player_2)
    ]
    return replace(made.results, rating_1=np.rint(sides[0]), rating_2=np.rint(sides[1]))


def test_published_ratings_foretell_better_than_results_alone(seen_through_noise):
    losses = {}
    bare = replace(seen_through_noise, rating_1=None, rating_2=None)
    for name, table in (("with", seen_through_noise), ("without", bare)):
        losses[name] = hold_out(table, 4, MONTHLY).evaluation.log_loss
    assert losses["with"] < losses["without"] - 0.02


def test_players_without_a_rating_enter_at_a_mean_that_is_estimated(seen_through_noise):
    rng = np.random.default_rng(1)
    unrated = rng.random(400) < 0.4
    table = seen_through_noise
    part = replace(
        table,
        rating_1=np.where(unrated[table.player_1], 0.0, table.rating_1),
        rating_2=np.where(unrated[table.player_2], 0.0, table.rating_2),
    )
    fit = fit_variances(part.by_period("1M"))
    assert fit.mean == pytest.approx(2000, abs=60)
    without = hold_out(replace(table, rating_1=None, rating_2=None), 4, MONTHLY).evaluation.log_loss
    assert hold_out(part, 4, MONTHLY).evaluation.log_loss < without < np.log(2)


def test_newcomers_who_are_weaker_every_period_are_foretold_by_a_drift():
    rng, periods, each = np.random.default_rng(2), 20, 30
    strength = np.concatenate([rng.normal(1500 - 25 * t, 80, each) for t in range(periods)])
    one, two, when = [], [], []
    for t in range(periods):
        pool = np.arange(each * (t + 1))
        pairs = rng.choice(pool, (400, 2))
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        one, two, when = [*one, *pairs[:, 0]], [*two, *pairs[:, 1]], [*when, *[t] * len(pairs)]
    score = (rng.random(len(one)) < 1 / (1 + 10 ** (-(strength[one] - strength[two]) / 400))).astype(float)
    games = PeriodGames.build(one, two, score, when, players=[f"p{i:03d}" for i in range(len(strength))])
    still, moving = fit_variances(games), fit_variances(games, drift=None)
    assert moving.drift == pytest.approx(-25, abs=8)
    assert moving.discrepancy < still.discrepancy - 20
    state = State.empty(sigma0=moving.sigma0, nu=moving.nu, drift=moving.drift, epoch=moving.epoch)
    assert evaluate(forecast(games, state)[0], games.score).log_loss * len(games) == pytest.approx(moving.discrepancy)
    later = forecast(games, state)[1].beliefs(["somebody new"], periods)
    assert later[0][0] == pytest.approx(1500 + moving.drift * periods)


@pytest.mark.soak
def test_real_games_of_four_years_are_foretold_below_the_official_list(shared_data: Path):
    path = shared_data / "results" / "chess_rated_1992_2009.csv.gz"
    for asked, most in ((None, 0.620), ("welo,belo", 0.590)):
        results = read_results(path, how=Reading(observed=asked))
        options = RatingOptions(period="1D", advantage="fit", drift="fit")
        assert hold_out(results, "2006-01-01", options).evaluation.log_loss <= most


def test_a_drift_is_not_followed_beyond_the_games_that_it_was_fitted_to():
    state = State.empty(sigma0=200, nu=30, drift=-20, epoch=10, until=15)
    assert [float(state.beliefs(["new"], at)[0][0]) for at in (10, 15, 40)] == [1500.0, 1400.0, 1400.0]
    assert state.drifted([10, 15, 40]).tolist() == [0.0, -100.0, -100.0]
    late = PeriodGames.build([0], [1], [1.0], [40], players=["a", "b"])
    played, rows = state.play(late, history=True)
    assert rows is not None
    assert set(rows["prior_mean"].tolist()) == {1400.0}
    assert played.until == 15
