"""Fast loops over whole histories: rows counted and sorted, smoothed backwards, and messages between games.

`rts` and `eq14` are the twins of `rts_step` and `eq14_step` for every player's whole history.

`sweep` goes beyond GLI99, which names as its main sacrifice (sect. 3.3) that an opponent counts with the strength he
was thought to have before the period. Here each game keeps one normal message to each of its players, made by the same
approximation (16) from what all other games say about the two, and the periods are swept forwards and backwards until
the messages no longer change (expectation propagation). Means are those of the joint posterior; deviations are too
small, and `ratings.periods.smoothing` computes better ones. `paired_comparison.message` is what `sweep` does inline.
"""

import numpy as np

from skilloscope.core.compiled import njit
from skilloscope.models.kernels.paired_comparison import THREE_Q2_PI2
from skilloscope.models.paired_comparison import Q


@njit(cache=True, error_model="numpy")
def order_by_player(player, n_players):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return the order that puts rows player by player (or period by period), and where each begins."""
    offsets = np.zeros(n_players + 1, np.int64)
    for i in player:
        offsets[i + 1] += 1
    for i in range(n_players):
        offsets[i + 1] += offsets[i]
    place = offsets[:-1].copy()
    order = np.empty(len(player), np.int64)
    for r in range(len(player)):
        order[place[player[r]]] = r
        place[player[r]] += 1
    return order, offsets


@njit(cache=True, error_model="numpy")
def appearances(player_1, player_2, offsets, n_players):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return how many players played at all, and how many pairs of a player and a period there are."""
    last = np.full(n_players, -1, np.int64)  # periods are counted from 0 here
    players = 0
    pairs = 0
    for t in range(len(offsets) - 1):
        for k in range(offsets[t], offsets[t + 1]):
            for i in (player_1[k], player_2[k]):
                players += last[i] < 0
                pairs += last[i] != t
                last[i] = t
    return players, pairs


@njit(cache=True, error_model="numpy")
def rts(offsets, period, nu2, mean, variance):  # type: ignore[no-untyped-def] # pragma: no cover
    """Smooth filtered moments in place, each player's rows offsets[i]:offsets[i + 1] from the last to the first."""
    for i in range(len(offsets) - 1):
        for r in range(offsets[i + 1] - 2, offsets[i] - 1, -1):
            predicted = variance[r] + nu2 * (period[r + 1] - period[r])
            c = variance[r] / predicted
            mean[r] += c * (mean[r + 1] - mean[r])
            variance[r] += c * c * (variance[r + 1] - predicted)


@njit(cache=True, error_model="numpy")
def eq14(offsets, period, nu2, end, mean, variance):  # type: ignore[no-untyped-def] # pragma: no cover
    """Apply (14) as printed, period by period, from period `end` (or a player's last row, if later) on."""
    for i in range(len(offsets) - 1):
        if offsets[i] == offsets[i + 1]:
            continue
        last = offsets[i + 1] - 1
        m = mean[last]
        v = variance[last] + nu2 * max(0, end - period[last])
        after = max(end, period[last])
        for r in range(last, offsets[i] - 1, -1):
            for t in range(after - 1, period[r] - 1, -1):
                filtered = variance[r] + nu2 * (t - period[r])
                ahead = nu2 + v
                v = 1.0 / (1.0 / filtered + 1.0 / ahead)
                m = v * (mean[r] / filtered + m / ahead)
            mean[r] = m
            variance[r] = v
            after = period[r]


@njit(cache=True, error_model="numpy")
def links(player, period, n_players, player_1, player_2, game_period):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return each row's previous row (−1: none) and the rows of each game's players; rows come in order of period."""
    latest = np.full(n_players, -1, np.int64)
    previous = np.empty(len(player), np.int64)
    row_1 = np.empty(len(player_1), np.int64)
    row_2 = np.empty(len(player_1), np.int64)
    r = 0
    k = 0
    while k < len(player_1):
        t = game_period[k]
        while r < len(player) and period[r] <= t:
            previous[r] = latest[player[r]]
            latest[player[r]] = r
            r += 1
        while k < len(player_1) and game_period[k] == t:
            row_1[k] = latest[player_1[k]]
            row_2[k] = latest[player_2[k]]
            k += 1
    return previous, row_1, row_2


@njit(cache=True, error_model="numpy")
def sweep(  # type: ignore[no-untyped-def] # pragma: no cover
    previous, following, noise, entry, row_ends, row_1, row_2, score, game_ends, advantage, past, future, site, sent
):
    """One pass forwards and one backwards over the periods, in place; return the largest move of a mean.

    `past`, `future` and `site` hold precision and precision·mean of each row: what earlier periods, later periods
    and the row's own games say. `noise` is ν²·t from the previous row; `entry` the prior of a first row; `sent` holds
    the two messages of each game.
    """
    periods = len(row_ends) - 1
    moved = 0.0
    for step in range(2 * periods - 1):
        forwards = step < periods
        t = step if forwards else 2 * periods - 2 - step
        for r in range(row_ends[t], row_ends[t + 1]):
            if forwards:
                q = previous[r]
                if q < 0:
                    past[r, 0] = entry[r, 0]
                    past[r, 1] = entry[r, 1]
                else:
                    precision = past[q, 0] + site[q, 0]
                    scale = 1.0 / (1.0 + noise[r] * precision)
                    past[r, 0] = precision * scale
                    past[r, 1] = (past[q, 1] + site[q, 1]) * scale
            else:
                q = following[r]
                if q >= 0:
                    scale = 1.0 / (1.0 + noise[q] * (future[q, 0] + site[q, 0]))
                    future[r, 0] = (future[q, 0] + site[q, 0]) * scale
                    future[r, 1] = (future[q, 1] + site[q, 1]) * scale
        for k in range(game_ends[t], game_ends[t + 1]):
            i = row_1[k]
            j = row_2[k]
            precision_1 = past[i, 0] + future[i, 0] + site[i, 0]
            precision_2 = past[j, 0] + future[j, 0] + site[j, 0]
            before_1 = (past[i, 1] + future[i, 1] + site[i, 1]) / precision_1
            before_2 = (past[j, 1] + future[j, 1] + site[j, 1]) / precision_2
            v1 = 1.0 / (precision_1 - sent[k, 0])
            v2 = 1.0 / (precision_2 - sent[k, 2])
            m1 = (before_1 * precision_1 - sent[k, 1]) * v1
            m2 = (before_2 * precision_2 - sent[k, 3]) * v2
            g = Q / np.sqrt(1.0 + THREE_Q2_PI2 * (v1 + v2))
            p = 1.0 / (1.0 + np.exp(-g * (m1 - m2 + advantage)))
            alpha = g * (score[k] - p)
            beta = g * g * p * (1.0 - p)
            rest = 1.0 / (1.0 - beta * v1)
            site[i, 0] += beta * rest - sent[k, 0]
            site[i, 1] += (alpha + beta * m1) * rest - sent[k, 1]
            sent[k, 0] = beta * rest
            sent[k, 1] = (alpha + beta * m1) * rest
            rest = 1.0 / (1.0 - beta * v2)
            site[j, 0] += beta * rest - sent[k, 2]
            site[j, 1] += (beta * m2 - alpha) * rest - sent[k, 3]
            sent[k, 2] = beta * rest
            sent[k, 3] = (beta * m2 - alpha) * rest
            moved = max(moved, abs(m1 + v1 * alpha - before_1), abs(m2 - v2 * alpha - before_2))
    return moved
