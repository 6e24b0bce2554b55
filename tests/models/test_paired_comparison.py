"""GLI99's equations: printed numbers, properties, and the fast twins against the readable functions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skilloscope.models import paired_comparison as cmp
from skilloscope.models.kernels import paired_comparison as fast
from skilloscope.models.kernels.histories import appearances, links, order_by_player, rts, sweep
from skilloscope.papers.harness import printed

means = st.floats(0, 3000)
sds = st.floats(1, 500)


def is_printed(value: float, text: str) -> bool:
    return abs(value - printed(text).value) <= printed(text).half_unit


def games(rng, n, players, periods, *, draws=True, spread=300.0):
    """Return n random games as columns: players, score, and the offsets of the periods."""
    a = rng.integers(0, players, n)
    b = (a + rng.integers(1, players, n)) % players
    theta = rng.normal(1500, spread, players)
    score = (rng.random(n) < cmp.elo_expected(theta[a], theta[b])).astype(float)
    if draws:
        score[rng.random(n) < 0.3] = 0.5
    offsets = np.searchsorted(np.sort(rng.integers(0, periods, n)), np.arange(periods + 1))
    return a.astype(np.int32), b.astype(np.int32), score, offsets.astype(np.int64)


def plain_forward(a, b, score, offsets, n_players, *, sigma0, nu, mean=1500.0, advantage=0.0):
    """The algorithm again, a plain loop over dictionaries: the moments by period, and the total discrepancy."""
    belief: dict[int, tuple[float, float, int]] = {}
    history, total = {}, 0.0
    for t in range(len(offsets) - 1):
        these = range(offsets[t], offsets[t + 1])
        prior = {}
        for player in {int(p) for k in these for p in (a[k], b[k])}:
            if player in belief:
                m, v, last = belief[player]
                prior[player] = (m, v + nu * nu * (t - last))
            else:
                prior[player] = (mean, sigma0 * sigma0)
        met: dict[int, list[tuple[float, float, float]]] = {player: [] for player in prior}
        for k in these:
            (m1, v1), (m2, v2) = prior[int(a[k])], prior[int(b[k])]
            q, s = math.log(10) / 400, score[k]
            p = 1 / (1 + 10 ** (-(m1 + advantage - m2) / 400 / math.sqrt(1 + 3 * q * q * (v1 + v2) / math.pi**2)))
            total -= s * math.log(p) + (1 - s) * math.log(1 - p)
            met[int(a[k])].append((m2 - advantage, v2, s))
            met[int(b[k])].append((m1 + advantage, v1, 1 - s))
        for player, played in met.items():
            others, variances, scores = (np.array(column) for column in zip(*played, strict=True))
            m, v = cmp.update(*prior[player], others, variances, scores)
            belief[player] = (m, v, t)
            history[player, t] = (*prior[player], m, v)
    return history, total


class TestPrintedNumbers:
    def test_one_period_against_three_opponents(self):
        mean, variance = cmp.update(1500, 200**2, [1400, 1550, 1700], [30**2, 100**2, 300**2], [1, 0, 0])
        assert is_printed(mean, "1464.106")
        assert is_printed(math.sqrt(variance), "151.399")

    def test_the_kernel_gives_the_same_period(self):
        state = fast.new_state([1500, 1400, 1550, 1700])
        for i, sd in enumerate([200, 30, 100, 300]):  # as if they had all played in period 0, and time stood still
            state[i]["variance"], state[i]["first"], state[i]["last"] = sd**2, 0, 0
        a, b = np.array([0, 0, 3], np.int32), np.array([1, 2, 0], np.int32)
        fast.advance(state, a, b, np.array([1.0, 0.0, 1.0]), np.array([0, 3]), first=1, sigma0=350, nu=0)
        mean, variance = fast.posterior(state)
        assert is_printed(mean[0], "1464.106")
        assert is_printed(math.sqrt(variance[0]), "151.399")

    def test_q(self):
        assert is_printed(cmp.Q, "0.0057565")

    def test_sampras_defeats_muster_with_the_printed_probability(self):
        assert is_printed(float(cmp.win_probability(1987, 51**2, 1892, 46**2)), "0.63")


class TestEquations:
    @given(means, sds, st.lists(st.tuples(means, st.sampled_from([0.0, 0.5, 1.0])), min_size=1, max_size=8))
    def test_elo_is_the_special_case_of_opponents_known_without_error(self, mean, sd, played):
        others, scores = (np.array(column) for column in zip(*played, strict=True))
        known = np.zeros(len(others))
        k = cmp.elo_k(sd**2, cmp.inverse_delta2(mean, others, known))
        new, _ = cmp.update(mean, sd**2, others, known, scores)
        assert new == pytest.approx(cmp.elo_update(mean, others, scores, k=k), abs=1e-9)
        assert cmp.expected_against(mean, others, known) == pytest.approx(cmp.elo_expected(mean, others))

    @given(means, sds, means, sds)
    def test_the_chances_of_both_players_add_to_one(self, m1, s1, m2, s2):
        assert cmp.win_probability(m1, s1**2, m2, s2**2) + cmp.win_probability(m2, s2**2, m1, s1**2) == pytest.approx(1)

    @given(means, sds, means, sds)
    def test_games_make_surer_and_time_makes_less_sure(self, m1, s1, m2, s2):
        _, variance = cmp.update(m1, s1**2, m2, s2**2, 1.0)
        assert variance <= s1**2
        assert cmp.passage_of_time(variance, 30.0, 4) == pytest.approx(variance + 3600)

    @given(means, sds, means, sds)
    def test_a_win_raises_and_a_loss_lowers(self, m1, s1, m2, s2):
        assert cmp.update(m1, s1**2, m2, s2**2, 0.0)[0] <= m1 <= cmp.update(m1, s1**2, m2, s2**2, 1.0)[0]

    def test_two_ties_say_what_a_win_and_a_loss_say(self):
        tie = cmp.game_probability(1620, 1500, 0.5)
        won, lost = cmp.game_probability(1620, 1500, 1.0), cmp.game_probability(1620, 1500, 0.0)
        assert tie**2 == pytest.approx(won * lost)
        assert won + lost == pytest.approx(1)

    def test_the_rescaled_logistic_is_close_to_the_integral_it_stands_for(self):
        theta, weight = np.polynomial.hermite_e.hermegauss(80)
        for sd in (50, 150, 300):
            exact = weight @ cmp.elo_expected(1600, 1500 + sd * theta) / weight.sum()
            assert cmp.expected_against(1600, 1500, sd**2) == pytest.approx(exact, abs=0.012)

    def test_what_was_held_impossible_is_infinitely_surprising(self):
        assert cmp.discrepancy([0.0, 1.0, 1.0], [1.0, 0.0, 1.0]).tolist() == [math.inf, math.inf, 0.0]

    @given(st.floats(0.01, 0.99), st.floats(0, 5))
    def test_win_draw_and_loss_add_to_one_and_no_draws_leave_the_probability(self, p, kappa):
        assert sum(cmp.davidson(p, kappa)) == pytest.approx(1)
        assert cmp.davidson(p, 0.0)[0] == pytest.approx(p)

    @given(st.floats(0, 1), st.floats(0, 50))
    def test_a_draw_of_its_own_leaves_the_expected_score(self, p, kappa):
        win, draw, loss = cmp.davidson(p, kappa)
        assert float(win + draw / 2) == pytest.approx(p, abs=1e-12)
        assert min(win, draw, loss) >= 0
        assert draw**2 == pytest.approx(kappa**2 * win * loss, rel=1e-6, abs=1e-300)  # Davidson's own relation

    @given(means, sds, st.floats(0, 200))
    def test_smoothing_with_nothing_new_from_the_future_changes_nothing(self, mean, sd, nu):
        m, v = cmp.rts_step(mean, sd**2, nu**2, mean, sd**2 + nu**2)
        assert (float(m), float(v)) == pytest.approx((mean, sd**2))
        _, counted_twice = cmp.eq14_step(mean, sd**2, nu**2, mean, sd**2 + nu**2)
        assert counted_twice < sd**2


class TestKernels:
    @pytest.mark.parametrize("seed", range(3))
    def test_the_fast_pass_is_the_plain_loop(self, seed):
        rng = np.random.default_rng(seed)
        a, b, score, offsets = games(rng, 900, 30, 12)
        state = fast.new_state(np.full(30, 1500.0))
        units, rows = fast.advance(state, a, b, score, offsets, first=0, sigma0=250, nu=45, advantage=20, history=True)
        history, total = plain_forward(a, b, score, offsets, 30, sigma0=250, nu=45, advantage=20)
        assert sum(units) / fast.DISCREPANCY_UNIT == pytest.approx(total, rel=0, abs=1e-10)
        assert len(rows) == len(history)
        assert rows["games"].sum() == 2 * len(score)
        for row in rows:
            player, period, *moments, _, _ = row.item()
            assert moments == pytest.approx(history[player, period], abs=1e-8)

    def test_players_very_far_apart_are_no_exception(self):
        a, b, score = np.array([0, 0], np.int32), np.array([1, 1], np.int32), np.array([0.0, 1.0])
        for gap in (4000.0, 4500.0, 30_000.0):
            state = fast.new_state([1500 + gap, 1500.0])
            units, _ = fast.advance(state, a, b, score, np.array([0, 2]), first=0, sigma0=1e-3, nu=0)
            assert units[0] / fast.DISCREPANCY_UNIT == pytest.approx(gap * cmp.Q, rel=1e-9)

    @settings(max_examples=30, deadline=None)
    @given(st.integers(0, 2**32 - 1))
    def test_the_order_of_games_in_a_period_changes_not_one_bit(self, seed):
        rng = np.random.default_rng(seed)
        a, b, score, offsets = games(rng, 300, 12, 4)
        order = np.concatenate([rng.permutation(np.arange(offsets[t], offsets[t + 1])) for t in range(4)])
        one, other = fast.new_state(np.full(12, 1500.0)), fast.new_state(np.full(12, 1500.0))
        first = fast.advance(one, a, b, score, offsets, first=0, sigma0=300, nu=40)
        second = fast.advance(other, a[order], b[order], score[order], offsets, first=0, sigma0=300, nu=40)
        assert first[0] == second[0]
        assert np.array_equal(one, other)

    def test_turning_every_game_round_changes_not_one_bit_of_the_ratings(self):
        a, b, score, offsets = games(np.random.default_rng(5), 500, 20, 5)
        one, other = fast.new_state(np.full(20, 1500.0)), fast.new_state(np.full(20, 1500.0))
        fast.advance(one, a, b, score, offsets, first=0, sigma0=300, nu=40)
        fast.advance(other, b, a, 1 - score, offsets, first=0, sigma0=300, nu=40)
        assert np.array_equal(one, other)

    def test_a_pause_in_the_middle_of_a_period_changes_not_one_bit(self):
        a, b, score, offsets = games(np.random.default_rng(6), 500, 20, 5)
        whole, paused = fast.new_state(np.full(20, 1500.0)), fast.new_state(np.full(20, 1500.0))
        total, _ = fast.advance(whole, a, b, score, offsets, first=0, sigma0=300, nu=40)
        cut = int(offsets[2] + 7)
        early, late = np.append(offsets[:3], cut), np.append(0, offsets[3:] - cut)
        before, _ = fast.advance(paused, a[:cut], b[:cut], score[:cut], early, first=0, sigma0=300, nu=40)
        after, _ = fast.advance(paused, a[cut:], b[cut:], score[cut:], late, first=2, sigma0=300, nu=40)
        assert np.array_equal(whole, paused)
        assert sum(before) + sum(after) == sum(total)

    def test_a_gap_of_three_periods_adds_three_times_nu_squared(self):
        a, b, score = np.array([0, 0], np.int32), np.array([1, 1], np.int32), np.array([1.0, 0.5])
        state = fast.new_state([1500.0, 1500.0])
        _, rows = fast.advance(state, a, b, score, np.array([0, 1, 1, 1, 2]), first=0, sigma0=200, nu=30, history=True)
        assert rows["prior_variance"][2] == pytest.approx(rows["variance"][0] + 3 * 900)
        assert rows["prior_variance"][0] == 200**2  # no passage of time before the first period


class TestMessages:
    def test_a_sweep_over_one_game_is_the_message(self):
        prior = np.array([[1 / 200**2, 1600 / 200**2], [1 / 80**2, 1450 / 80**2]])
        site, sent = np.zeros((2, 2)), np.zeros((1, 4))
        none, one = np.array([-1, -1]), np.array([0, 1])
        sweep(
            none, none, np.zeros(2), prior, np.array([0, 2]), one[:1], one[1:], np.ones(1), one, 0.0,
            np.zeros((2, 2)), np.zeros((2, 2)), site, sent,
        )  # fmt: skip
        assert site[0] == pytest.approx(cmp.message(1600, 200**2, 1450, 80**2, 1.0))
        assert site[1] == pytest.approx(cmp.message(1450, 80**2, 1600, 200**2, 0.0))

    def test_the_message_moves_the_prior_to_the_moments_of_the_posterior(self):
        tau, eta = cmp.message(1500, 200**2, 1600, 100**2, 1.0)
        precision = 1 / 200**2 + tau
        theta, weight = np.polynomial.hermite_e.hermegauss(80)
        other = cmp.expected_against(1500 + 200 * theta, 1600, 100**2) * weight
        exact = other @ (1500 + 200 * theta) / other.sum()
        assert (1500 / 200**2 + eta) / precision == pytest.approx(exact, abs=8)  # (16) overstates the slope a little

    def test_rows_are_linked_to_their_games_and_to_each_other(self):
        player, period = np.array([0, 1, 2, 0, 2]), np.array([0, 0, 1, 1, 3])
        previous, row_1, row_2 = links(player, period, 3, np.array([0, 2]), np.array([1, 0]), np.array([0, 1]))
        assert previous[:4].tolist() == [-1, -1, -1, 0]
        assert (row_1.tolist(), row_2.tolist()) == ([0, 2], [1, 3])


@pytest.mark.parametrize("seed", range(3))
def test_counting_in_one_pass_is_counting_by_sorting(seed):
    rng = np.random.default_rng(seed)
    a, b, _, offsets = games(rng, 200, 12, 5)
    order, ends = order_by_player(a, 12)
    assert np.array_equal(order, np.argsort(a, kind="stable"))
    assert np.array_equal(ends, np.searchsorted(np.sort(a), np.arange(13)))
    period = np.repeat(np.arange(5), np.diff(offsets))
    pairs = {(player, t) for players in (a, b) for player, t in zip(players.tolist(), period.tolist(), strict=True)}
    assert appearances(a, b, offsets, 12) == (len({player for player, _ in pairs}), len(pairs))


@pytest.mark.parametrize("seed", range(3))
def test_the_fast_smoother_is_the_step_back_again_and_again(seed):
    rng = np.random.default_rng(seed)
    period, nu = np.cumsum(rng.integers(1, 4, 8)), 30.0
    mean, variance = rng.normal(1500, 200, 8), rng.uniform(50, 300, 8) ** 2
    wanted = [(mean[-1], variance[-1])]
    for r in range(6, -1, -1):
        noise = nu**2 * (period[r + 1] - period[r])
        wanted.insert(0, cmp.rts_step(mean[r], variance[r], noise, *wanted[0]))
    rts(np.array([0, 8]), period, nu**2, mean, variance)
    assert np.column_stack([mean, variance]) == pytest.approx(np.array(wanted), rel=1e-12)
