"""Perceived Elo from differences between players, the engine's strength, and strength after every move. [FER12]

In: Elo differences between pairs of players, and their known Elo. Out: a Perceived: one strength per player. Each
connected group of players floats freely: it is anchored to the mean of its own known ratings. A difference that is
infinite (an expected score of 0 or 1) cannot be averaged: it is left out and counted.

Within one game the intervals come from its moves. They are Wilson's, so an expected score of 0 or 1 has a finite end as
well. The moves of a game are not independent: DESIGN is how much more its totals vary (docs/measurements.md).
"""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.special import ndtri

from skilloscope.core.columns import Array, Ints
from skilloscope.core.errors import InputError, Tally
from skilloscope.models.gain import PEAK, Curve, GainHistogram, elo_difference, move_scores

DESIGN = 1.3  # the variance of a game's total score over that of as many moves that are independent of each other

_SHY = 10.0  # the variance of a few scores is known badly: so many moves of the greatest that is possible are mixed in


def running_interval(scores: npt.ArrayLike, mass: float, curve: Curve = "normal") -> tuple[Array, Array]:
    """Return the ends of the Elo difference after each move, from what the moves up to it score; NaN before the first.

    >>> low, high = running_interval([0.5, 0.0, 0.0], 0.95)
    >>> bool(low[-1] < elo_difference(0.5 / 3) < high[-1])
    True
    """
    known = np.asarray(scores, dtype=np.float64)
    counted = np.isfinite(known)
    n = np.cumsum(counted)
    total, square = (np.cumsum(np.where(counted, part, 0.0)) for part in (known, known**2))
    p, variance = np.full(len(known), np.nan), np.zeros(len(known))
    np.divide(total, n, out=p, where=n > 0)
    np.divide(square, n, out=variance, where=n > 0)
    share = _share(variance - np.nan_to_num(p) ** 2, p, n)
    moves = np.full(len(known), np.nan)
    np.divide(n, DESIGN * share, out=moves, where=n > 0)
    return _elo_ends(p, moves, mass, curve)


def between_interval(one: npt.ArrayLike, other: npt.ArrayLike, mass: float, curve: Curve = "normal") -> Array:
    """Return the ends of the Elo difference between two sides of a game, from the gains of each."""
    gains = [np.asarray(side, dtype=np.float64) for side in (one, other)]
    sides = [GainHistogram.from_gains(side) for side in gains]
    mine, theirs = move_scores(gains[0], sides[1]), move_scores(gains[1], sides[0])
    p = np.array([mine.mean()])
    parts = [_share(np.array([s.var()]), p, np.array([len(s)])) / len(s) for s in (mine, theirs)]
    low, high = _elo_ends(p, 1 / (DESIGN * (parts[0] + parts[1])), mass, curve)
    return np.array([low[0], high[0]])


def wilson_interval(p: npt.ArrayLike, n: npt.ArrayLike, mass: float) -> tuple[Array, Array]:
    """Return the ends of a share that was p in n trials: where (p − q)² = z²·q·(1 − q)/n.

    >>> [round(float(end[0]), 3) for end in wilson_interval([0.0], [10], 0.95)]
    [0.0, 0.278]
    """
    share, trials = np.asarray(p, dtype=np.float64), np.asarray(n, dtype=np.float64)
    z2 = float(ndtri((1 + mass) / 2)) ** 2 / trials
    middle = (share + z2 / 2) / (1 + z2)
    half = np.sqrt(z2 * share * (1 - share) + z2**2 / 4) / (1 + z2)
    return np.clip(middle - half, 0, 1), np.clip(middle + half, 0, 1)


def _share(variance: Array, p: Array, n: Ints) -> Array:
    """Return the scores' variance as a share of the greatest possible, p·(1 − p), a few moves of that mixed in."""
    most = p * (1 - p)
    found = np.ones(len(most))
    np.divide(np.maximum(variance, 0), most, out=found, where=np.nan_to_num(most) > 0)
    return np.asarray((found * n + _SHY) / (n + _SHY))


def _elo_ends(p: Array, n: Array, mass: float, curve: Curve) -> tuple[Array, Array]:
    ends = []
    for place, shares in enumerate(wilson_interval(p, n, mass)):
        # Rounding must not make an end finite that is none.
        shares = np.where((p == 0) & (place == 0), 0.0, np.where((p == 1) & (place == 1), 1.0, shares))
        found = np.full(len(p), np.nan)
        known = np.isfinite(shares)
        found[known] = elo_difference(shares[known], curve)
        ends.append(found)
    return ends[0], ends[1]


_Method = Literal["sequential", "least squares"]

INFINITE = "infinite difference (expected score 0 or 1)"


@dataclass(frozen=True, eq=False)
class Perceived:
    """One strength per player, with the group of players that it can be compared with."""

    elo: Array  # anchored to the group's known ratings; NaN where the group has none
    relative: Array  # the same less the group's mean: what the differences alone say
    sd: Array
    """Standard errors, if the differences are independent of each other; NaN where nothing is left over to judge them
    by, as in a knock-out. Differences of pooled gains are not: each player's gains are in all of the player's."""
    component: Ints  # which connected group each player belongs to, numbered from 0
    method: _Method
    converged: bool = True
    sweeps: int = 0
    tally: Tally = field(default_factory=Tally)


def perceived_sequential(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    d: npt.ArrayLike,
    elo: npt.ArrayLike,
    *,
    whole_points: bool = False,
    tol: float = 1e-9,
    most_sweeps: int = 100_000,
) -> Perceived:
    """r'_i ← mean_j (r'_j + d_ij), one player after another until none changes. [FER12 Algorithm 2, (3)]

    `first`, `second` are indices into `elo`, and `d` is the first one's lead. All players at once would oscillate on
    every match and knock-out. With `whole_points` each strength is rounded when it is set, as the paper seems to
    have done: it then stops earlier, near where it began, the actual ratings.
    """
    edges = _Edges.checked(first, second, d, elo)
    known = np.asarray(elo, dtype=np.float64)
    strength = np.where(np.isnan(known), np.nanmean(known) if np.any(np.isfinite(known)) else 0.0, known)
    neighbours = edges.neighbours()
    sweeps, change = 0, np.inf
    while change > (0 if whole_points else tol) and sweeps < most_sweeps:
        change, sweeps = 0.0, sweeps + 1
        for player, (others, lead) in enumerate(neighbours):
            if len(others):
                best = float(np.mean(strength[others] + lead))  # where (3) is least
                best = float(np.rint(best)) if whole_points else best
                change, strength[player] = max(change, abs(best - strength[player])), best
    converged = change <= (0 if whole_points else tol)
    unknown = np.full(len(known), np.nan)
    return edges.anchored(strength, known, unknown, "sequential", converged=converged, sweeps=sweeps)


def perceived_least_squares(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    d: npt.ArrayLike,
    elo: npt.ArrayLike,
    *,
    sd: npt.ArrayLike | None = None,
) -> Perceived:
    """argmin Σ_{i<j} (r'_i − r'_j − d_ij)², where Algorithm 2 ends, with standard errors. [FER12 (3)]

    With `sd`, one per difference, each is weighted by its own precision. Without, their common variance is judged by
    what is left over; where nothing is (a tree of matches), the standard errors are NaN.
    """
    edges = _Edges.checked(first, second, d, elo, sd)
    known = np.asarray(elo, dtype=np.float64)
    strength, errors = np.zeros(len(known)), np.full(len(known), np.nan)
    for part in range(int(edges.component.max(initial=-1)) + 1):
        players = np.flatnonzero(edges.component == part)
        own = np.flatnonzero(edges.component[edges.first] == part)
        if len(own):
            strength[players], errors[players] = _solve(edges, own, players, weighted=sd is not None)
    return edges.anchored(strength, known, errors, "least squares")


def perceived_weights(first: npt.ArrayLike, second: npt.ArrayLike, elo: npt.ArrayLike) -> tuple[Array, Array]:
    """Return each pair's weight in everybody's perceived and relative Elo, before the anchor. [FER12 (3)]"""
    one, two = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
    whole = _Edges.checked(one, two, np.zeros(len(one)), elo)
    known = np.asarray(elo, dtype=np.float64)
    weights = np.zeros((len(known), len(one)))
    anchored, relative = np.full_like(weights, np.nan), weights.copy()
    for part in range(int(whole.component.max(initial=-1)) + 1):
        players = np.flatnonzero(whole.component == part)
        own = np.flatnonzero(whole.component[one] == part)
        if len(own):
            inverse = _inverse(whole, own, players)
            at = [np.searchsorted(players, side[own]) for side in (one, two)]
            weights[np.ix_(players, own)] = inverse[:, at[0]] - inverse[:, at[1]]
        relative[players] = weights[players] - weights[players].mean(axis=0)
        rated = players[np.isfinite(known[players])]
        if len(rated):
            anchored[players] = weights[players] - weights[rated].mean(axis=0)
    return anchored, relative


@dataclass(frozen=True, eq=False)
class EngineStrength:
    """The engine's strength by each player, and the means. [FER12 Table 4]"""

    by_rating: Array  # r_i − d_i; NaN where the rating is unknown or the difference infinite
    by_strength: Array  # r'_i − d_i
    elo: float  # the mean of `by_rating`; NaN where no player counts
    elo_by_strength: float
    tally: Tally


def engine_strength(elo: npt.ArrayLike, perceived: npt.ArrayLike, d: npt.ArrayLike) -> EngineStrength:
    """r_e = mean(r_i − d_i), r'_e = mean(r'_i − d_i), with d_i the player's lead over the engine. [FER12 Algorithm 3]

    >>> engine_strength([2800.0, 2700.0], [2790.0, 2710.0], [-69.0, -120.0]).elo
    2844.5
    """
    rating, strength, lead = (np.asarray(one, dtype=np.float64) for one in (elo, perceived, d))
    finite = np.isfinite(lead)
    by_rating = np.where(finite, rating - np.where(finite, lead, 0), np.nan)
    by_strength = np.where(finite, strength - np.where(finite, lead, 0), np.nan)
    tally = Tally()
    tally.count(INFINITE, int(np.isinf(lead).sum()))
    tally.count("rating unknown", int((finite & ~np.isfinite(rating)).sum()))
    return EngineStrength(by_rating, by_strength, _mean(by_rating), _mean(by_strength), tally)


@dataclass(frozen=True, eq=False)
class Running:
    """A player against the engine after each of the player's moves. [FER12 figure 6]"""

    moves: Ints  # how many gains are known up to here
    expected_score: Array
    elo_difference: Array  # ±inf where the expected score is 0 or 1, NaN before the first known gain
    low: Array  # the ends of the difference's interval, by the moves so far; ours, the paper has none
    high: Array


def running_strength(
    gains: npt.ArrayLike, engine: GainHistogram = PEAK, *, curve: Curve = "normal", mass: float = 0.95
) -> Running:
    """p_i and d_i after each move, from all moves up to it; an unknown gain (NaN) leaves them. [FER12 Algorithm 4]

    >>> running_strength([0.0, -0.16, -0.11]).elo_difference.round()
    array([   0., -191., -274.])
    """
    pawns = np.asarray(gains, dtype=np.float64)
    known = np.isfinite(pawns)
    scores = np.zeros(len(pawns))
    scores[known] = move_scores(pawns[known], engine)
    moves = np.cumsum(known)
    p = np.full(len(pawns), np.nan)
    np.divide(np.cumsum(scores), moves, out=p, where=moves > 0)
    d = np.full(len(pawns), np.nan)
    # A sum of shares may pass its bound by a rounding error; whole numbers of moves do not.
    d[moves > 0] = elo_difference(np.clip(p[moves > 0], 0.0, 1.0), curve)
    low, high = running_interval(np.where(known, scores, np.nan), mass, curve)
    return Running(moves.astype(np.int64), p, d, low, high)


@dataclass(frozen=True, eq=False)
class _Edges:
    """The finite differences, and which players they connect."""

    first: Ints
    second: Ints
    d: Array
    sd: Array
    component: Ints
    tally: Tally

    @classmethod
    def checked(
        cls,
        first: npt.ArrayLike,
        second: npt.ArrayLike,
        d: npt.ArrayLike,
        elo: npt.ArrayLike,
        sd: npt.ArrayLike | None = None,
    ) -> "_Edges":
        one, two = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
        lead, players = np.asarray(d, dtype=np.float64), len(np.asarray(elo))
        width = np.ones(len(lead)) if sd is None else np.asarray(sd, dtype=np.float64)
        if not len(one) == len(two) == len(lead) == len(width):
            raise InputError("first, second, d and sd must have one entry per pair")
        if np.any(np.isnan(lead)) or np.any(one == two) or not np.all(width > 0):
            raise InputError("a difference is between two players, known, and its sd is more than 0")
        finite = np.isfinite(lead)
        tally = Tally()
        tally.count(INFINITE, int((~finite).sum()))
        graph = coo_array((np.ones(int(finite.sum())), (one[finite], two[finite])), shape=(players, players))
        component = connected_components(graph, directed=False)[1] if players else np.zeros(0)
        return cls(one[finite], two[finite], lead[finite], width[finite], component.astype(np.int64), tally)

    def neighbours(self) -> list[tuple[Ints, Array]]:
        own = np.concatenate([self.first, self.second])
        others, lead = np.concatenate([self.second, self.first]), np.concatenate([self.d, -self.d])
        order = np.argsort(own, kind="stable")
        cuts = np.searchsorted(own[order], np.arange(1, len(self.component)))
        return list(zip(np.split(others[order], cuts), np.split(lead[order], cuts), strict=True))

    def anchored(
        self, strength: Array, known: Array, sd: Array, method: _Method, *, converged: bool = True, sweeps: int = 0
    ) -> Perceived:
        """Add Δ = r̄ − r̄' to each group, over its members of known rating. [FER12 Algorithm 2, step 4]"""
        elo, relative = np.full(len(strength), np.nan), strength.copy()
        for part in range(int(self.component.max(initial=-1)) + 1):
            players = np.flatnonzero(self.component == part)
            relative[players] -= strength[players].mean()
            rated = players[np.isfinite(known[players])]
            if len(rated):
                elo[players] = strength[players] + (known[rated].mean() - strength[rated].mean())
        return Perceived(
            elo, relative, sd, self.component, method, converged=converged, sweeps=sweeps, tally=self.tally
        )


def _solve(edges: _Edges, own: Ints, players: Ints, *, weighted: bool) -> tuple[Array, Array]:
    """Return the strengths of one connected group, mean 0, and their standard errors."""
    n, weight, d = len(players), edges.sd[own] ** -2.0, edges.d[own]
    i, j = np.searchsorted(players, edges.first[own]), np.searchsorted(players, edges.second[own])
    target = np.zeros(n)
    np.add.at(target, i, weight * d)
    np.add.at(target, j, -weight * d)
    inverse = _inverse(edges, own, players)
    strength = inverse @ target
    spread = np.sqrt(np.clip(np.diag(inverse), 0, None))
    if weighted:
        return strength, spread
    left = len(own) - (n - 1)
    residual = d - (strength[i] - strength[j])
    return strength, spread * (np.sqrt(residual @ residual / left) if left > 0 else np.nan)


def _inverse(edges: _Edges, own: Ints, players: Ints) -> Array:
    """Return the inverse of the normal equations of one connected group, with the mean held at 0."""
    n, weight = len(players), edges.sd[own] ** -2.0
    i, j = np.searchsorted(players, edges.first[own]), np.searchsorted(players, edges.second[own])
    laplacian = np.zeros((n, n))
    for row, column, sign in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1)):
        np.add.at(laplacian, (row, column), sign * weight)
    # The equations have one free constant; a table of equal entries takes it out, and is taken out again.
    return np.asarray(np.linalg.inv(laplacian + weight.mean() / n) - 1 / (weight.mean() * n))


def _mean(values: Array) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")
