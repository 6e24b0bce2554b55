"""The closed forms of GLI99 passed to and fro until every game has spoken to both its players: beyond the paper.

In (9) an opponent counts with the strength he was thought to have *before* the period, and nothing that he shows
later is ever used; the paper names this as its main sacrifice (sect. 3.3). Here each game keeps one normal message to
each of its players, made by the same approximation (16) from what all *other* games say about the two, and the
periods are swept forwards and backwards until the messages stand still (expectation propagation). What one game says
is taken out before it is said again. Round a loop of games it comes back all the same: the means are those of the
whole, the deviations are too small, and `ratings.periods.whole` computes honest ones. `comparison.message` is what
`sweep` does inline.
"""

from __future__ import annotations

import numpy as np

from skilloscope.core.compiled import njit
from skilloscope.models.comparison import Q
from skilloscope.models.kernels.comparison import THREE_Q2_PI2


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
