"""Intervals from the moves of a game, where there are no other games to judge by: after every move, and between two.

In: what each move scores against the other side, and how many moves there are. Out: the ends of an expected score, and
of the Elo difference that follows. They are Wilson's, so an expected score of 0 or 1 has a finite end as well.

The moves of a game are not independent: its totals vary more than as many moves drawn from everywhere. DESIGN says
by how much, measured on games of strong players (docs/measurements.md).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from skilloscope.models.gain import Curve, GainHistogram, elo_difference, move_scores

Array = npt.NDArray[np.float64]

DESIGN = 1.3
"""The variance of a game's total score over that of as many moves that are independent of each other."""

_SHY = 10.0
"""The variance of a few scores is known badly: so many moves of the greatest that is possible are mixed in."""


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


def _share(variance: Array, p: Array, n: npt.NDArray[np.int64]) -> Array:
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
