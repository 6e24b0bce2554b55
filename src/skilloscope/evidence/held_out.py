"""Held-out log-likelihood: how well decisions are foreseen by a model that has not seen them, with an interval.

In: choice sets, who decided, and which decisions belong together (a cluster: a game, or all decisions of a decider).
Out: for every cluster the log-probability of its decisions, given the same deciders' decisions in the other folds.

For a decider with evidence e(c) of the training folds and the curve g(c) of a held-out game,

    log p(game | training) = log ∫ exp(e + g) p(c) dc − log ∫ exp(e) p(c) dc,

so the uncertainty of c is part of the score. The prior p is what the training folds say of the other deciders: the mean
of their posteriors on a flat range, and one flat share. A new decider is predicted as one of the others.
Decisions of one game are not independent, so intervals resample whole clusters.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from numpy.polynomial import chebyshev
from scipy.special import ndtri, stdtrit

from skilloscope.core.columns import Array, Bools, Ints
from skilloscope.core.errors import InputError, OptionError
from skilloscope.decision import Decisions
from skilloscope.evidence.table import EvidenceTable, Grid

_NUMBERS = 1_000_000  # of a fine grid, held at once


@dataclass(frozen=True, eq=False)
class Folds:
    """A cluster and a fold for every decision; a cluster lies in one fold."""

    by: str
    cluster: Ints
    fold: Ints
    size: int

    @property
    def clusters(self) -> int:
        """How many clusters there are."""
        return int(self.cluster.max()) + 1

    def of(self, rows: Ints) -> "Folds":
        """Return the clusters and folds of some of the decisions."""
        return Folds(self.by, self.cluster[rows], self.fold[rows], self.size)


def cluster_column(decisions: Decisions) -> str:
    """Return what is held out whole: `game` where there is such a column, else `problem`, else the deciders."""
    return next((name for name in ("game", "problem") if name in decisions.context.column_names), "decider")


def folds_of(decisions: Decisions, by: str | None = None, *, folds: int = 5, seed: int = 1) -> Folds:
    """Return folds of whole clusters, by a column or by `cluster_column`."""
    if folds < 2:
        raise OptionError(f"held-out likelihood needs at least two folds, got {folds}")
    by = by or cluster_column(decisions)
    labels, codes = decisions.groups(by)
    if len(labels) < 2:
        raise InputError(
            f"all decisions belong to one {by}: nothing can be held out", hint="name another column, or give more data"
        )
    order = np.random.default_rng(seed).permutation(len(labels))
    folds = min(folds, len(labels))
    fold = np.empty(len(labels), dtype=np.int64)
    fold[order] = np.arange(len(labels)) % folds
    return Folds(by, codes.astype(np.int64), fold[codes], folds)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The held-out log-probability of every cluster, and how many decisions each has."""

    score: Array
    decisions: Ints

    @property
    def per_decision(self) -> float:
        """The mean log-probability of a decision."""
        return float(self.score.sum() / self.decisions.sum())

    def gain(
        self, other: "HeldOut", *, rng: np.random.Generator, mass: float = 0.95
    ) -> tuple[float, tuple[float, float]]:
        """Return how much more likely a decision is than under the other, in logs, with its interval."""
        if not np.array_equal(self.decisions, other.decisions):
            raise InputError("only scores of the same decisions can be compared")
        difference = self.score - other.score
        interval = cluster_interval(difference, self.decisions, rng=rng, mass=mass)
        if interval is None:
            raise InputError("all usable decisions belong to one cluster: the gain has no interval")
        return float(difference.sum() / self.decisions.sum()), interval


def log_mean_likelihood(curves: Array, grid: Grid, most_decisions: int) -> Array:
    """log of the mean of exp(curve(c)) over the grid's range, for each row of curves: c uniform on the range."""
    fine = _Fine(grid, most_decisions)
    out = np.empty(len(curves))
    for rows in fine.chunks(len(curves)):
        out[rows] = _log_sum(fine.logs(curves[rows]) + fine.log_flat)
    return out


def held_out_scores(folds: Folds, decider: Ints, curves_of: Callable[[int, Ints, int], tuple[Grid, Array]]) -> HeldOut:
    """Return each cluster's held-out score; `curves_of(fold, groups, n)` are curves fitted without the fold."""
    deciders = int(decider.max()) + 1
    pairs, cell = np.unique(decider * folds.clusters + folds.cluster, return_inverse=True)
    who, where = np.divmod(pairs, folds.clusters)
    fold_of = np.empty(len(pairs), dtype=np.int64)
    fold_of[cell] = folds.fold
    most = int(np.bincount(decider).max())
    total = np.zeros(folds.clusters)
    for fold in range(folds.size):
        grid, curves = curves_of(fold, cell, len(pairs))
        held = fold_of == fold
        training = np.zeros((deciders, grid.size))
        np.add.at(training, who[~held], curves[~held])
        trained = np.bincount(who[~held], minlength=deciders) > 0
        foreseen = _foreseen(_Fine(grid, most), training, trained, who[held], curves[held])
        np.add.at(total, where[held], foreseen)
    return HeldOut(total, np.bincount(folds.cluster, minlength=folds.clusters))


def _foreseen(fine: "_Fine", training: Array, trained: Bools, who: Ints, cells: Array) -> Array:
    """Return the log-probability of each cell given its decider's training evidence and the other deciders'."""
    everybody = np.exp(fine.log_flat)  # one unknown decider, so that nothing is impossible
    known = np.flatnonzero(trained)
    for rows in fine.chunks(len(known)):
        everybody = everybody + fine.posteriors(training[known[rows]]).sum(axis=0)
    out = np.empty(len(cells))
    for rows in fine.chunks(len(cells)):
        evidence = training[who[rows]]
        # A decider is no witness to their own prior.
        prior = everybody - np.where(trained[who[rows], None], fine.posteriors(evidence), 0.0)
        logs = fine.logs(evidence) + np.log(np.maximum(prior, np.exp(fine.log_flat)))
        out[rows] = _log_sum(logs + fine.logs(cells[rows])) - _log_sum(logs)
    return out


class _Fine:
    """Equal steps on a grid's range, on which integrals are sums: exact to many digits once a step is no wider than
    the sd of the peak, and a peak of N decisions is hardly narrower than a tenth of the range over √N.
    """

    def __init__(self, grid: Grid, most_decisions: int) -> None:
        self.points = int(np.clip(10 * np.sqrt(max(most_decisions, 1)), 800, 40_000)) + 1
        weight = np.full(self.points, 1.0 / (self.points - 1))
        weight[[0, -1]] *= 0.5
        self.log_flat = np.log(weight)
        self.between = _between(grid.size, self.points)

    def logs(self, curves: Array) -> Array:
        """Return curves, given at the nodes, at every step."""
        return np.asarray(curves @ self.between)

    def posteriors(self, curves: Array) -> Array:
        """Return the mass of each step, c uniform before."""
        logs = self.logs(curves) + self.log_flat
        return np.asarray(np.exp(logs - _log_sum(logs)[:, None]))

    def chunks(self, rows: int) -> list[slice]:
        """Return slices of the rows that fit into memory."""
        step = max(1, _NUMBERS // self.points)
        return [slice(start, min(start + step, rows)) for start in range(0, rows, step)]


@lru_cache(maxsize=8)
def _between(size: int, points: int) -> Array:
    """Return the matrix that carries a curve from so many nodes to so many equal steps of the same range."""
    unit = np.linspace(-1.0, 1.0, points)
    nodes_to_coefficients = Grid(0.0, 1.0, size).coefficients(np.eye(size))
    return np.asarray(nodes_to_coefficients.T @ chebyshev.chebvander(unit, size - 1).T)


def _log_sum(logs: Array) -> Array:
    peak = logs.max(axis=1)
    return np.asarray(peak + np.log(np.exp(logs - peak[:, None]).sum(axis=1)))


_FEWEST = 20  # replicates, below which there are no tails


def replicate_interval(replicates: Array, mass: float, clusters: float) -> tuple[float, float] | None:
    """Return the central interval of replicates (NaN left out), widened; None for fewer than two clusters."""
    own = np.sort(replicates[~np.isnan(replicates)])
    if clusters < 2 or len(own) < _FEWEST:
        return None
    upper = (1 + mass) / 2
    at = [int(np.clip(np.floor(q * len(own)), 0, len(own) - 1)) for q in ((1 - mass) / 2, 0.5, upper)]
    low, middle, high = own[at]
    if np.isfinite(middle):  # resampled clusters vary less where they are few: by √(n/(n − 1)) · t/z
        wider = np.sqrt(clusters / (clusters - 1)) * stdtrit(clusters - 1, upper) / ndtri(upper)
        low, high = middle + (np.array([low, high]) - middle) * wider
    return float(low), float(high)


def cluster_interval(
    total: npt.ArrayLike, n: npt.ArrayLike, *, rng: np.random.Generator, mass: float = 0.95, repeats: int = 2000
) -> tuple[float, float] | None:
    """Return the bootstrap interval of Σ total / Σ n, whole clusters drawn with replacement; those of n = 0 are none.

    >>> found = cluster_interval(np.r_[np.ones(50), np.zeros(50)], np.ones(100), rng=np.random.default_rng(1))
    >>> 0.38 < found[0] < 0.42 and 0.58 < found[1] < 0.62
    True
    """
    totals, counts = np.asarray(total, dtype=float), np.asarray(n, dtype=float)
    totals, counts = totals[counts > 0], counts[counts > 0]
    size = len(totals)
    means = np.array([resampled_mean(totals, counts, rng=rng) for _ in range(repeats if size else 0)])
    return replicate_interval(means, mass, size)


def resampled_mean(total: Array, n: Array, *, rng: np.random.Generator) -> float:
    """Return Σ total / Σ n over as many clusters drawn with replacement."""
    drawn = rng.integers(len(total), size=len(total))
    return float(total[drawn].sum() / n[drawn].sum())


def game_dispersion(table: EvidenceTable, groups: Sequence[Sequence[int]]) -> float:
    """φ = Σ score² / Σ information · G/(G − groups), at least 1: how much more games scatter than the model says."""
    squares, information, games = 0.0, 0.0, 0
    for rows in groups:
        if any(table.labels[row][2] is None for row in rows):
            raise InputError("the scatter between games is not known without a column `game`", hint="give a number")
        gradient, hessian = _derivatives(table, rows)
        squares, information, games = squares + float((gradient**2).sum()), information - hessian, games + len(rows)
    if games <= len(groups):
        raise InputError("the scatter between games needs more than one game on a side", hint="give a number")
    if information <= 0:  # every choice was between alternatives of the same value
        return 1.0
    return max(1.0, squares / information * games / (games - len(groups)))


def _derivatives(table: EvidenceTable, rows: Sequence[int]) -> tuple[Array, float]:
    """Return each game's gradient and the hessian of all at the c that makes the group likeliest."""
    grid, curves = table.grid, table.curves[list(rows)]
    fine = np.linspace(grid.low, grid.high, 2001)
    best = float(fine[int(np.argmax(grid.interpolate(curves.sum(axis=0), fine)))])
    half = 0.5 * (grid.high - grid.low)
    coefficients, unit = grid.coefficients(curves.T), (best - grid.low) / half - 1.0
    gradient = chebyshev.chebval(unit, chebyshev.chebder(coefficients)) / half
    hessian = chebyshev.chebval(unit, chebyshev.chebder(coefficients, 2)).sum() / half**2
    return np.asarray(gradient), float(hessian)
