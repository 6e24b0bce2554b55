"""Ratings by period: continued to the bit, smoothed by three names, rewound, predicted, ranked."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulated import wandering_games
from skilloscope.core.errors import InputError, OptionError, Tally
from skilloscope.models import paired_comparison as cmp
from skilloscope.ratings.periods.histories import History, components, leaderboard, peaks
from skilloscope.ratings.periods.periods import Periods
from skilloscope.ratings.periods.prediction import evaluate, fit_draws, forecast
from skilloscope.ratings.periods.saved import SavedRatings, load_ratings, save_ratings
from skilloscope.ratings.periods.smoothing import smooth, whole
from skilloscope.ratings.periods.states import State
from skilloscope.results.periods import PeriodGames


def rated(games, *, sigma0=300.0, nu=40.0, **options):
    state, rows = State.empty(sigma0=sigma0, nu=nu, **options).play(games, history=True)
    return History.from_rows(rows, state)


def covered(history, theta, level=1.96):
    """Return the share of true strengths inside the intervals; both are centred, as drift in common cannot be seen."""
    error = history.mean - theta[history.period, history.player]
    drift = np.bincount(history.period, error) / np.bincount(history.period)
    return float(np.mean(np.abs(error - drift[history.period]) < level * history.rd))


def plain_kalman_smoother(mean0, variance0, times, observed, noise, nu):
    """Filter and smooth a random walk seen through noise by conditioning one joint normal: no recursion at all."""
    n = len(times)
    walk = np.minimum.outer(times - times[0], times - times[0]) * nu**2 + variance0
    seen = walk + np.diag(noise)
    gain = walk @ np.linalg.inv(seen)
    smoothed = mean0 + gain @ (observed - mean0), np.diag(walk - gain @ walk)
    filtered = np.empty((n, 2))
    for k in range(1, n + 1):
        part = walk[:k, :k] @ np.linalg.inv(seen[:k, :k])
        filtered[k - 1] = mean0 + (part @ (observed[:k] - mean0))[-1], (walk[:k, :k] - part @ walk[:k, :k])[-1, -1]
    return filtered, smoothed


def history_of_one(times, mean, variance, nu):
    n = len(times)
    state = State(["one"], np.zeros(1, dtype=State.empty(sigma0=1, nu=0).lines.dtype), 300.0, nu)
    ones = np.ones(n)
    return History(
        ["one"],
        np.array([0, n]),
        np.asarray(times),
        ones.astype(int),
        0 * ones,
        ones,
        ones,
        mean,
        variance,
        mean,
        variance,
        state,
    )


class TestSmoothing:
    @settings(max_examples=40, deadline=None)
    @given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.floats(1, 200))
    def test_rts_is_the_kalman_smoother_written_independently(self, seed, n, nu):
        rng = np.random.default_rng(seed)
        times = np.cumsum(rng.integers(1, 5, n))
        filtered, (mean, variance) = plain_kalman_smoother(
            1500.0, 200.0**2, times, rng.normal(1500, 300, n), rng.uniform(50, 300, n) ** 2, nu
        )
        ours = smooth(history_of_one(times, filtered[:, 0].copy(), filtered[:, 1].copy(), nu), "rts")
        assert ours.mean == pytest.approx(mean, abs=1e-6)
        assert ours.variance == pytest.approx(variance, rel=1e-6)

    @pytest.mark.parametrize("from_last_active", [False, True])
    def test_eq14_is_the_printed_formula_period_by_period(self, from_last_active):
        times, nu, end = np.array([2, 3, 7]), 40.0, 9
        mean, variance = np.array([1500.0, 1620.0, 1580.0]), np.array([150.0, 120.0, 110.0]) ** 2
        history = history_of_one(times, mean, variance, nu)
        late = history_of_one(np.array([end]), mean[:1], variance[:1], nu)
        both = History(
            ["one", "two"], np.array([0, 3, 4]), *(
                np.concatenate([getattr(history, name), getattr(late, name)])
                for name in ("period", "games", "seen", "prior_mean", "prior_variance", "filtered_mean",
                             "filtered_variance", "mean", "variance")
            ), history.state,
        )  # fmt: skip
        ours = smooth(both, "eq14", from_last_active=from_last_active)
        stop = 7 if from_last_active else end
        filtered = {}
        for t in range(2, stop + 1):
            k = np.searchsorted(times, t, side="right") - 1
            filtered[t] = (mean[k], variance[k] + nu**2 * (t - times[k]))
        m, v = filtered[stop]
        for t in range(stop - 1, 1, -1):
            m, v = cmp.eq14_step(*filtered[t], nu**2, m, v)
            if t in times:
                k = int(np.searchsorted(times, t))
                assert (ours.mean[k], ours.variance[k]) == pytest.approx((float(m), float(v)))

    def test_rts_and_whole_cover_what_they_say_and_eq14_does_not(self):
        games, theta = wandering_games(np.random.default_rng(1), 48_000, 400, 20, sigma0=200, nu=40)
        history = rated(games, sigma0=200)
        assert 0.93 <= covered(smooth(history), theta) <= 0.97
        assert 0.93 <= covered(whole(history, games)[0], theta) <= 0.97
        assert covered(smooth(history, "eq14"), theta) < 0.90

    def test_the_last_row_of_everybody_is_not_smoothed(self):
        games, _ = wandering_games(np.random.default_rng(2), 3000, 60, 10)
        history = rated(games)
        last = history.offsets[1:] - 1
        assert np.array_equal(smooth(history).mean[last], history.mean[last])

    def test_between_two_rows_the_smoothed_strength_is_the_same_walk(self):
        times, nu = np.array([0, 4]), 30.0
        filtered, _ = plain_kalman_smoother(1500.0, 4e4, times, np.array([1600.0, 1400.0]), np.array([1e4, 1e4]), nu)
        whole, _ = plain_kalman_smoother(
            1500.0, 4e4, np.arange(5), np.array([1600.0, 0, 0, 0, 1400.0]), np.array([1e4, 1e15, 1e15, 1e15, 1e4]), nu
        )
        ours = smooth(history_of_one(times, filtered[:, 0].copy(), filtered[:, 1].copy(), nu))
        every = smooth(history_of_one(np.arange(5), whole[:, 0].copy(), whole[:, 1].copy(), nu))
        mean, variance = ours.at("one", np.arange(6))
        assert mean[:5] == pytest.approx(every.mean, rel=1e-6)
        assert variance[:5] == pytest.approx(every.variance, rel=1e-6)
        assert variance[5] == pytest.approx(variance[4] + nu**2)

    @pytest.mark.parametrize("method", ["filter", "rts", "eq14"])
    def test_everybody_at_a_period_is_each_one_at_it(self, method):
        history = rated(wandering_games(np.random.default_rng(5), 60, 30, 10)[0])
        history = history if method == "filter" else smooth(history, method)
        for period in range(-1, 13):
            who, mean, variance = history.everybody_at(period)
            played = np.split(history.period, history.offsets[1:-1])
            assert who.tolist() == [i for i, rows in enumerate(played) if len(rows) and rows[0] <= period]
            alone = [history.at(history.players[i], [period]) for i in who]
            assert mean.tolist() == [one[0][0] for one in alone]
            assert variance.tolist() == [one[1][0] for one in alone]


class TestJoint:
    def test_opponents_later_results_make_the_strengths_truer(self):
        games, theta = wandering_games(np.random.default_rng(3), 12_000, 300, 12)
        history = rated(games)
        truth = theta[history.period, history.player]
        better, how = whole(history, games)
        assert how.converged
        error = [np.sqrt(np.mean((h.mean - truth) ** 2)) for h in (history, smooth(history), better)]
        assert error[0] > error[1] > error[2]

    def test_the_order_of_games_in_a_period_changes_not_one_bit(self):
        games, _ = wandering_games(np.random.default_rng(4), 2000, 40, 6)
        shuffled = np.random.default_rng(5).permutation(len(games))
        again = PeriodGames.build(
            *(column[shuffled] for column in (games.player_1, games.player_2, games.score, games.period)),
            players=games.players,
        )
        one, other = whole(rated(games), games)[0], whole(rated(again), again)[0]
        assert np.array_equal(one.mean, other.mean)
        assert np.array_equal(one.variance, other.variance)

    def test_one_period_of_games_is_the_posterior_of_the_joint_model(self):
        """Three players, one period: the means are those of the exact posterior, integrated on a grid."""
        games = PeriodGames.build([0, 0, 1, 0], [1, 2, 2, 1], [1, 1, 1, 0.5], [0, 0, 0, 0], players=["a", "b", "c"])
        ours, _ = whole(rated(games, sigma0=100), games, tol=1e-9)
        x = np.linspace(-450, 450, 61)
        a, b, c = np.meshgrid(x, x, x, indexing="ij", sparse=True)
        log = -(a**2 + b**2 + c**2) / 2e4
        for i, j, s in ((a, b, 1.0), (a, c, 1.0), (b, c, 1.0), (a, b, 0.5)):
            log = log + np.log(cmp.game_probability(i, j, s))
        weight = np.exp(log - log.max())
        weight /= weight.sum()
        for who, axis in enumerate((a, b, c)):
            mean = np.sum(weight * axis)
            assert ours.mean[who] - 1500 == pytest.approx(mean, abs=3)
            assert ours.rd[who] == pytest.approx(np.sqrt(np.sum(weight * (axis - mean) ** 2)), abs=3)

    def test_games_of_another_history_are_refused(self):
        games, _ = wandering_games(np.random.default_rng(4), 200, 10, 4)
        with pytest.raises(InputError):
            whole(rated(games), games.between(0, 3))


def same(one: State, other: State) -> bool:
    fields = [name for name in one.lines.dtype.names if name != "row"]
    return (
        list(one.players) == list(other.players)
        and all(np.array_equal(one.lines[name], other.lines[name]) for name in fields)
        and one.units == other.units
        and one.games == other.games
    )


class TestStates:
    @settings(max_examples=20, deadline=None)
    @given(st.integers(0, 2**32 - 1), st.integers(1, 399))
    def test_a_kept_state_plus_further_games_is_the_full_run_to_the_bit(self, seed, cut):
        games, _ = wandering_games(np.random.default_rng(seed), 400, 15, 8, first=-3)
        state = State.empty(sigma0=250, nu=35)
        whole, _ = state.play(games)
        when = games.period + games.first
        columns = (games.player_1, games.player_2, games.score, when)
        early, late = (
            PeriodGames.build(*(c[part] for c in columns), players=games.players)
            for part in (slice(0, cut), slice(cut, None))
        )
        paused, _ = state.play(early)[0].play(late)
        assert same(whole, paused)

    def test_a_state_survives_its_file_to_the_bit(self, tmp_path):
        games, _ = wandering_games(np.random.default_rng(7), 500, 20, 8, first=24_000)
        start = State.empty(sigma0=250, nu=35, mean=1400, advantage=12, period="1M")
        middle, _ = start.play(games.between(0, 5))
        middle.save(tmp_path / "state.parquet")
        loaded = State.load(tmp_path / "state.parquet")
        assert loaded.as_dict() == middle.as_dict()
        assert same(loaded.play(games.between(5, 8))[0], start.play(games)[0])

    def test_players_who_come_later_find_their_place_among_the_names(self):
        first = PeriodGames.build([0], [1], [1.0], [1], players=["Bo", "Di"])
        then = PeriodGames.build([0, 1], [2, 2], [0.5, 0.0], [2, 2], players=["Ann", "Bo", "Cy"])
        whole = PeriodGames.build([1, 0, 1], [3, 2, 2], [1.0, 0.5, 0.0], [1, 2, 2], players=["Ann", "Bo", "Cy", "Di"])
        state = State.empty(sigma0=200, nu=30)
        assert same(state.play(first)[0].play(then)[0], state.play(whole)[0])

    def test_late_results_are_played_from_a_state_before_them(self, tmp_path):
        games, _ = wandering_games(np.random.default_rng(8), 600, 20, 8, first=100)
        history = rated(games)
        with pytest.raises(InputError) as error:
            history.state.play(games.between(5, 8))
        assert error.value.hint
        rewound = history.state_before(105)
        assert same(rewound.play(games.between(5, 8))[0], history.state)
        history.save(tmp_path / "history.parquet")
        loaded = History.load(tmp_path / "history.parquet")
        assert np.array_equal(loaded.mean, history.mean)
        assert same(loaded.state_before(105).play(games.between(5, 8))[0], history.state)
        with pytest.raises(InputError):  # its periods before 105 are closed for good
            rewound.play(games.between(4, 8))

    def test_players_who_have_not_played_yet_are_no_obstacle(self):
        games, _ = wandering_games(np.random.default_rng(9), 60, 40, 6)
        history = rated(games.between(0, 4), sigma0=200)
        assert np.any(history.state.lines["games"] == 0)
        again = history.state_before(2).play(games.between(2, 4))[0]
        for ours, wanted in zip(again.moments(), history.state.moments(), strict=True):
            assert np.array_equal(ours, wanted, equal_nan=True)
        final = smooth(history).final()
        assert np.array_equal(final.moments()[0], history.state.moments()[0], equal_nan=True)
        on, rows = history.state.play(games.between(4, 6), history=True)
        with pytest.raises(InputError):
            History.from_rows(rows, on).state_before(5)

    def test_whole_refuses_half_a_period(self):
        games, _ = wandering_games(np.random.default_rng(9), 60, 10, 3)
        kept = Periods(sigma0=200, nu=30).fit(games.between(0, 2)).state_
        with pytest.raises(InputError):
            Periods(smoothing="whole").fit(games.between(1, 3), state=kept)
        assert Periods(smoothing="whole").fit(games.between(2, 3), state=kept).convergence_.converged

    def test_rewinding_to_before_everything_is_the_beginning(self):
        games, _ = wandering_games(np.random.default_rng(9), 100, 10, 4)
        history = rated(games)
        assert same(history.state_before(0).play(games)[0], history.state)

    def test_a_rating_from_elsewhere_is_where_its_player_enters(self):
        games = PeriodGames.build([0], [1], [0.5], [0], players=["Ann", "Bo"])
        _, rows = State.empty(sigma0=200, nu=30).play(games, entry={"Bo": 1900.0}, history=True)
        assert rows["prior_mean"].tolist() == [1500.0, 1900.0]

    def test_time_passes_only_where_asked_for(self):
        games, _ = wandering_games(np.random.default_rng(9), 100, 10, 4)
        state = rated(games, nu=40).state
        _, before = state.moments()
        _, after = state.moments(at=9)
        assert after - before == pytest.approx(1600.0 * (9 - state.lines["last"]))

    @pytest.mark.parametrize(("sigma0", "nu"), [(0, 10), (-1, 10), (100, -1)])
    def test_impossible_variances_are_refused(self, sigma0, nu):
        with pytest.raises(InputError):
            State.empty(sigma0=sigma0, nu=nu)


class TestPrediction:
    def test_a_forecast_knows_only_the_periods_before(self):
        games, _ = wandering_games(np.random.default_rng(10), 500, 20, 6)
        state = State.empty(sigma0=300, nu=40, advantage=15)
        p, after = forecast(games, state)
        assert np.sum(cmp.discrepancy(p, games.score)) == pytest.approx(after.discrepancy, abs=1e-9)
        early, _ = forecast(games.between(0, 3), state)
        assert np.array_equal(early, p[: len(early)])

    def test_a_forecast_from_a_state_goes_on_where_it_ended(self):
        games, _ = wandering_games(np.random.default_rng(10), 500, 20, 6)
        state = State.empty(sigma0=300, nu=40)
        known, _ = state.play(games.between(0, 4))
        late, _ = forecast(games.between(4, 6), known)
        assert np.array_equal(late, forecast(games, state)[0][-len(late) :])

    def test_true_parameters_foretell_better_than_a_coin_and_are_calibrated(self):
        games, _ = wandering_games(np.random.default_rng(11), 20_000, 200, 10)
        model = Periods(sigma0=300, nu=40).fit(games.between(0, 7))
        rolling, fixed = (model.evaluate(games.between(7, 10), rolling=rolling) for rolling in (True, False))
        assert rolling.log_loss < fixed.log_loss < np.log(2)
        curve = rolling.calibration
        full = [one for one in curve if one.games > 50]
        assert len(full) == 10
        assert all(abs(one.predicted - one.observed) < 4 * one.standard_error for one in full)
        assert rolling.games == sum(one.games for one in curve) == games.between(7, 10).offsets[-1]

    def test_a_probability_of_one_is_in_the_last_bin(self):
        told = evaluate([1.0, 0.0], [1.0, 0.0])
        assert (told.log_loss, told.brier) == (0.0, 0.0)
        assert [(one.from_, one.to, one.games) for one in told.calibration] == [(0.0, 0.1, 1), (0.9, 1.0, 1)]

    def test_how_often_games_are_drawn_comes_back(self):
        rng = np.random.default_rng(12)
        p = rng.uniform(0.1, 0.9, 40_000)
        win, draw, _ = cmp.davidson(p, 0.8)
        u = rng.random(len(p))
        score = np.where(u < win, 1.0, np.where(u < win + draw, 0.5, 0.0))
        kappa, _, tally = fit_draws(np.append(p, 0.5), np.append(score, 0.7))
        assert kappa == pytest.approx(0.8, abs=0.03)
        assert tally.total == 1
        assert fit_draws([0.5], [1.0])[0] == 0.0


class TestTables:
    def test_only_the_active_are_on_the_board(self):
        games = PeriodGames.build([0, 2, 2], [1, 3, 3], [1, 1, 0.5], [0, 5, 6], players=["a", "b", "c", "d"])
        state = rated(games).state
        board = leaderboard(state, active_within=2)
        assert list(board.players) == ["c", "d"]
        assert board.left_out == 2
        first = board.rows()[0]
        assert (first.player, first.games, first.first_period, first.last_period) == ("c", 2, "5", "6")
        assert np.all(board.low < board.rating)
        assert len(leaderboard(state, active_within=7)) == 4

    def test_everybodys_peak_is_the_best_of_his_rows(self):
        games, _ = wandering_games(np.random.default_rng(14), 500, 12, 8)
        history = smooth(rated(games))
        board, when = peaks(history)
        for rank, name in enumerate(board.players):
            rows = history.of(name)
            assert board.rating[rank] == history.mean[rows].max()
            assert when[rank] == history.state.label(history.period[rows][history.mean[rows].argmax()])
        assert np.all(np.diff(board.rating) <= 0)

    def test_players_who_never_met_are_not_compared(self):
        games = PeriodGames.build([0, 1, 3], [1, 2, 4], [1, 1, 1], [0, 1, 1], players=list("abcdef"))
        assert components(games).tolist() == [0, 0, 0, 1, 1, -1]


class Stream(list):
    """Games as a stream gives them: part after part, with what was left out and how players are spelt."""

    tally = Tally()

    def spelt(self):
        return list(self[0].players)


class TestPeriods:
    def test_it_learns_keeps_and_goes_on(self):
        games, _ = wandering_games(np.random.default_rng(15), 4000, 60, 10)
        model = Periods(nu=40.0).fit(games.between(0, 8))
        assert model.nu_ == 40.0
        assert model.sigma0_ == model.variances_.sigma0
        assert model.score(games.between(8, 10)) > -np.log(2)
        on = Periods().fit(games.between(8, 10), state=model.state_)
        whole = Periods(sigma0=model.sigma0_, nu=40.0).fit(games)
        assert np.array_equal(on.ratings_.rating, whole.ratings_.rating)
        assert on.discrepancy_ == whole.discrepancy_

    def test_kept_ratings_go_on_rewound_or_not_and_a_stream_ends_where_one_run_does(self, tmp_path):
        games, _ = wandering_games(np.random.default_rng(19), 900, 15, 9, first=50)
        whole = Periods(sigma0=200, nu=30, smoothing=None).fit(games)
        early = Periods(sigma0=200, nu=30, smoothing=None).fit(games.between(0, 6))
        save_ratings(SavedRatings(early.state_, early.filtered_), tmp_path / "state")
        kept = load_ratings(tmp_path / "state")
        for before, late in ((kept, games.between(6, 9)), (kept.rewound(53), games.between(3, 9))):
            on = Periods(smoothing=None).fit(late, before)
            assert same(on.state_, whole.state_)
            assert len(on.filtered_) == len(whole.filtered_)
            assert np.array_equal(on.filtered_.mean, whole.filtered_.mean)
            assert on.warnings_ == whole.warnings_
        parts = Stream([games.between(t, t + 3) for t in (0, 3, 6)])
        assert same(Periods(sigma0=200, nu=30).fit_stream(parts).state_, whole.state_)
        for model, of in ((Periods(), parts), (Periods(sigma0=200, nu=30), Stream([]))):
            with pytest.raises(InputError) as error:
                model.fit_stream(of)
            assert error.value.hint

    def test_probabilities_have_a_column_for_each_class(self):
        games, _ = wandering_games(np.random.default_rng(16), 1000, 20, 5)
        score = games.score.copy()
        score[::3] = 0.5
        drawn = PeriodGames.build(games.player_1, games.player_2, score, games.period, players=games.players)
        pairs = [(games.players[0], games.players[1]), ("nobody", games.players[2])]
        for draws, classes in ((False, [0, 1]), (True, [0, 0.5, 1])):
            model = Periods(sigma0=300, nu=40, draws=draws).fit(drawn)
            assert model.classes_.tolist() == classes
            assert model.predict_proba(pairs).sum(axis=1) == pytest.approx(np.ones(2))
            assert model.predict_proba(pairs).shape == (2, len(classes))

    def test_all_games_weighed_together_are_nearer_to_the_truth_at_the_end_too(self):
        games, theta = wandering_games(np.random.default_rng(18), 30_000, 600, 12)
        early, late = games.between(0, 10), games.between(10, 12)
        alone = Periods(sigma0=300, nu=40).fit(early)
        both = Periods(sigma0=300, nu=40, smoothing="whole", predict_from="whole").fit(early)
        assert both.score(late) == pytest.approx(alone.score(late), abs=0.01)
        error = [np.mean((m.beliefs_.moments()[0] - theta[9]) ** 2) for m in (both, alone)]
        assert error[0] < error[1]
        assert same(both.state_, alone.state_)
        last = both.history_.offsets[1:] - 1
        assert np.array_equal(both.beliefs_.moments()[0], both.history_.mean[last])

    def test_unknown_names_of_choices_are_refused(self):
        games, _ = wandering_games(np.random.default_rng(17), 30, 5, 2)
        for wrong in ({"predict_from": "whole"}, {"predict_from": "tea"}, {"smoothing": "spline"}):
            with pytest.raises(OptionError):
                Periods(sigma0=300, nu=40, **wrong).fit(games)
        with pytest.raises(InputError):
            Periods().set_params(sigma=3)
        assert Periods().set_params(sigma0=3.0).get_params()["sigma0"] == 3.0

    @pytest.mark.parametrize("smoothing", ["rts", "eq14", "whole", None])
    def test_every_smoothing_has_its_name_in_the_history(self, smoothing):
        games, _ = wandering_games(np.random.default_rng(17), 300, 10, 4)
        model = Periods(sigma0=300, nu=40, smoothing=smoothing).fit(games)
        assert model.history_.method == (smoothing or "filter")
        table = model.history_.to_arrow()
        assert (table.num_rows, table.column_names[1:3]) == (len(model.history_), ["period", "rating"])
