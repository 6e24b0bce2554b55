"""How sure all games weighed together make us: the joint posterior of all strengths, with what goes round in loops.

Two players who met a hundred times know well how far they are apart and hardly at all where both are. Messages between
games (`smoothing.whole`) find the means, yet their deviations forget that a message comes back round a loop. Here the
posterior is a normal one about those means: its precision is that of the entries, of the walks between periods and of
the games, one sparse matrix. A gap between two players is one solution of it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array, diags_array
from scipy.sparse.linalg import cg, splu

from skilloscope.models.comparison import Q, elo_expected
from skilloscope.ratings.periods.histories import History
from skilloscope.results.period_games import PeriodGames

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MOST_ROWS = 4000
"""Rows of a history up to which everybody's deviation is computed."""

_FEW_OPPONENTS = 3


def precision_of(history: History, games: PeriodGames) -> csr_array:
    """Return the precision of all rows' strengths given all games, at the means of the history.

    An entry adds 1/σ², a walk over t periods 1/(ν²t) between two rows, a game q²p(1 − p) between its two.
    """
    n, period, player = len(history), history.period, history.player
    first = history.offsets[:-1][np.diff(history.offsets) > 0]
    later = np.flatnonzero(player[1:] == player[:-1]) + 1
    walk = 1.0 / np.maximum(history.state.nu**2 * (period[later] - period[later - 1]), 1e-6)
    one, two = game_rows(history, games)
    order = np.lexsort((two, one))  # so that no other order of the games changes a bit
    one, two = one[order], two[order]
    gap = history.mean[one] - history.mean[two] + history.state.advantage
    p = elo_expected(gap, 0.0)
    told = Q * Q * p * (1 - p)
    entry = np.zeros(n)
    entry[first] = 1 / history.prior_variance[first]
    links = _springs(n, np.concatenate([later, one]), np.concatenate([later - 1, two]), np.concatenate([walk, told]))
    return csr_array(links + diags_array(entry))


def game_rows(history: History, games: PeriodGames) -> tuple[Ints, Ints]:
    """Return the rows of the history in which each game's two players are."""
    where = {name: i for i, name in enumerate(history.players)}
    codes = np.array([where[name] for name in games.players], dtype=np.int64)
    span = int(max(history.period.max(initial=0), games.first + games.n_periods)) + 1
    keys, when = history.player * span + history.period, games.first + games.period
    one, two = (np.searchsorted(keys, codes[side] * span + when) for side in (games.player_1, games.player_2))
    return one, two


def row_variances(precision: csr_array) -> Array | None:
    """Return the variance of every row; None where there are too many to compute."""
    if precision.shape[0] > MOST_ROWS:
        return None
    return np.ascontiguousarray(np.diag(np.linalg.inv(precision.toarray())))


def gap_variances(precision: csr_array, one: Ints, two: Ints) -> Array:
    """Return the variance of the difference of the strengths of rows `one` and `two`, pair by pair."""
    n = precision.shape[0]
    solve = splu(precision.tocsc()).solve if n <= MOST_ROWS else None
    ease = diags_array(1 / precision.diagonal())
    found = []
    for i, j in zip(one.tolist(), two.tolist(), strict=True):
        ends = np.zeros(n)
        ends[i] += 1
        ends[j] -= 1
        answer = solve(ends) if solve else cg(precision, ends, rtol=1e-8, M=ease)[0]
        found.append(float(ends @ answer))
    return np.array(found)


def few_opponents(games: PeriodGames, names: Sequence[str]) -> list[str]:
    """Return those of some players who met fewer than three others: their games tell little beyond these."""
    pairs = {(min(one, two), max(one, two)) for one, two in zip(games.player_1, games.player_2, strict=True)}
    met = np.bincount(np.array(list(pairs), dtype=np.int64).ravel(), minlength=games.n_players)
    wanted = set(names)
    return [name for name, n in zip(games.players, met, strict=True) if name in wanted and 0 < n < _FEW_OPPONENTS]


def _springs(n: int, one: Ints, two: Ints, strength: Array) -> csr_array:
    """Return Σ k(e_i − e_j)(e_i − e_j)ᵀ."""
    rows = np.concatenate([one, two, one, two])
    columns = np.concatenate([one, two, two, one])
    values = np.concatenate([strength, strength, -strength, -strength])
    return csr_array(coo_array((values, (rows, columns)), shape=(n, n)))
