"""Smoothing: past ratings re-estimated from all games, in three ways.

`rts` is the Kalman smoother that GLI99 sect. 3.5 describes, and the default. `eq14` is (14) as printed, which counts
the past twice (its nominal 95 % intervals cover far less); table 3 was computed with it. `whole` is not in the paper:
messages pass between all games of all periods until they converge, so that an opponent's later results count too. Its
deviations are those of a normal posterior about the means: one sparse matrix of precisions, solved up to 4,000 rows;
beyond, the messages' deviations, which ignore loops of games, are used with a warning.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import coo_array, csr_array, diags_array
from scipy.sparse.linalg import cg, splu

from skilloscope.core.columns import Array, Ints
from skilloscope.core.errors import InputError, OptionError
from skilloscope.models.kernels.histories import eq14, links, rts, sweep
from skilloscope.models.paired_comparison import Q, elo_expected
from skilloscope.ratings.periods.histories import History
from skilloscope.results.periods import PeriodGames

MOST_ROWS = 4000  # rows of a history up to which everybody's deviation is computed

_FEW_OPPONENTS = 3


def precision_of(history: History, games: PeriodGames) -> csr_array:
    """Return the precision of all strengths: entries 1/σ², walks 1/(ν²t), games q²p(1 − p) between two rows."""
    n, period, player = len(history), history.period, history.player
    first = history.offsets[:-1][np.diff(history.offsets) > 0]
    later = np.flatnonzero(player[1:] == player[:-1]) + 1
    walk = 1.0 / np.maximum(history.state.nu**2 * (period[later] - period[later - 1]), 1e-6)
    one, two = history.rows_of(games)
    order = np.lexsort((two, one))  # so that no other order of the games changes a bit
    one, two = one[order], two[order]
    gap = history.mean[one] - history.mean[two] + history.state.advantage
    p = elo_expected(gap, 0.0)
    weight = Q * Q * p * (1 - p)
    entry = np.zeros(n)
    entry[first] = 1 / history.prior_variance[first]
    i, j, k = (np.concatenate(both) for both in ((later, one), (later - 1, two), (walk, weight)))
    ends = np.concatenate([i, j, i, j]), np.concatenate([i, j, j, i])  # Σ k(e_i − e_j)(e_i − e_j)ᵀ
    links = csr_array(coo_array((np.concatenate([k, k, -k, -k]), ends), shape=(n, n)))
    return csr_array(links + diags_array(entry))


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
    """Return those of some players who met fewer than three others: their games add little beyond these."""
    pairs = {(min(one, two), max(one, two)) for one, two in zip(games.player_1, games.player_2, strict=True)}
    met = np.bincount(np.array(list(pairs), dtype=np.int64).ravel(), minlength=games.n_players)
    wanted = set(names)
    return [name for name, n in zip(games.players, met, strict=True) if name in wanted and 0 < n < _FEW_OPPONENTS]


SMOOTHINGS = ("rts", "eq14", "whole")


@dataclass(frozen=True)
class Sweeps:
    """How the sweeps of `whole` ended: how many, the largest move of a mean in the last, in Elo, and if it is small."""

    done: int
    moved: float
    converged: bool
    exact: bool = True  # whether the deviations are those of the joint posterior

    @property
    def warnings(self) -> tuple[str, ...]:
        """What must be said where they did not converge."""
        moving = f"after {self.done} sweeps a strength still moved by {self.moved:.1f} Elo: not converged"
        loops = "the deviations leave out what goes round in loops of games: among few players they are too small"
        return (*(() if self.converged else (moving,)), *(() if self.exact else (loops,)))


def smoothed_history(
    history: History, games: PeriodGames, method: str | None, *, from_last_active: bool = False
) -> tuple[History, Sweeps | None]:
    """Return the history smoothed in one of the three ways, or as it is for None; and how `whole` ended."""
    if method is None:
        return history, None
    if method == "whole":
        return whole(history, games)
    return smooth(history, method, from_last_active=from_last_active), None


def smooth(history: History, method: str = "rts", *, from_last_active: bool = False) -> History:
    """Return the history smoothed by `rts` or `eq14`, from the end or from each player's last active period."""
    mean, variance = history.filtered_mean.copy(), history.filtered_variance.copy()
    nu2 = history.state.nu**2
    if method == "rts":
        rts(history.offsets, history.period, nu2, mean, variance)
    elif method == "eq14":
        end = -(2**62) if from_last_active or not len(history) else int(history.period.max())
        eq14(history.offsets, history.period, nu2, end, mean, variance)
    else:
        raise OptionError(
            f"no smoothing is called {method!r}", hint=f"one of {', '.join(SMOOTHINGS)}; `whole` needs the games"
        )
    return replace(history, mean=mean, variance=variance, method=method)


def whole(history: History, games: PeriodGames, *, tol: float = 0.1, sweeps: int = 50) -> tuple[History, Sweeps]:
    """Return the history with all games weighed together, and how it converged.

    `games` must be those of which the history was made. It ends when no mean moves by more than `tol` Elo in a sweep.
    The games of a period are put in one order first, so that theirs does not matter.
    """
    if history.state.published is not None:
        raise InputError("`whole` does not look at published ratings", hint="smooth by rts, or omit --known-ratings")
    if int(history.games.sum()) != 2 * len(games):
        raise InputError("the history was not made of these games", hint="give the games that it was made of")
    rows = np.lexsort((history.player, history.period))
    player, period = history.player[rows], history.period[rows]
    codes = history.codes_of(games.players)
    one, two, when = codes[games.player_1], codes[games.player_2], games.period
    order = np.lexsort((games.score, two, one, when))
    one, two, score = one[order], two[order], games.score[order]
    previous, row_1, row_2 = links(player, period - games.first, len(history.players), one, two, when)
    later = np.flatnonzero(previous >= 0)
    following = np.full(len(rows), -1, dtype=np.int64)
    following[previous[later]] = later
    noise = np.zeros(len(rows))
    noise[later] = history.state.nu**2 * (period[later] - period[previous[later]])
    precision = 1 / history.prior_variance[rows]
    entry = np.column_stack([precision, precision * history.prior_mean[rows]])
    ends = np.searchsorted(period - games.first, np.arange(games.n_periods + 1))
    past, future, site, sent = (np.zeros((n, m)) for n, m in ((len(rows), 2),) * 3 + ((len(games), 4),))
    columns = (
        previous, following, noise, entry, ends, row_1, row_2, score, games.offsets, history.state.advantage,
        past, future, site, sent,
    )  # fmt: skip
    moved, done = np.inf, 0
    while moved > tol and done < sweeps:
        moved = sweep(*columns)
        done += 1
    total = past + future + site
    mean, variance = np.empty(len(rows)), np.empty(len(rows))
    mean[rows], variance[rows] = total[:, 1] / total[:, 0], 1 / total[:, 0]
    smoothed = replace(history, mean=mean, variance=variance, method="whole")
    honest = row_variances(precision_of(smoothed, games)) if len(rows) <= MOST_ROWS else None
    if honest is not None:
        smoothed = replace(smoothed, variance=honest)
    return smoothed, Sweeps(done, float(moved), bool(moved <= tol), honest is not None)
