"""Counting and ordering of players and periods in one pass, compiled by numba."""

from __future__ import annotations

import numpy as np

from skilloscope.core.compiled import njit


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
