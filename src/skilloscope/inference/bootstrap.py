"""Intervals from what was drawn anew: whole clusters with replacement, widened where the clusters are few.

In: totals and counts of clusters (games, problems, deciders), or replicates that somebody drew. Out: an interval, or
nothing where a single cluster cannot tell how much clusters differ.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtrit

Array = npt.NDArray[np.float64]
_FEWEST = 20  # replicates, below which there are no tails


def widening(clusters: float, mass: float, *, weighed: bool = False) -> float:
    """√(n/(n − 1)) · t/z: a few clusters drawn anew vary less than new ones would, by this factor.

    Clusters that are `weighed` anew, by exponential weights, vary still less: √((n + 1)/(n − 1)) · t/z.
    """
    upper = (1 + mass) / 2
    few = np.sqrt((clusters + weighed) / (clusters - 1))
    return float(few * stdtrit(clusters - 1, upper) / ndtri(upper))


def replicate_interval(
    replicates: Array, mass: float, clusters: float, *, weighed: bool = False
) -> tuple[float, float] | None:
    """Return the central interval of replicates, its spread about the median widened; None for fewer than two clusters.

    Replicates that are NaN are left out; infinite ones count.
    """
    own = np.sort(replicates[~np.isnan(replicates)])
    if clusters < 2 or len(own) < _FEWEST:
        return None
    at = [int(np.clip(np.floor(q * len(own)), 0, len(own) - 1)) for q in ((1 - mass) / 2, 0.5, (1 + mass) / 2)]
    low, middle, high = own[at]
    if np.isfinite(middle):
        low, high = middle + (np.array([low, high]) - middle) * widening(clusters, mass, weighed=weighed)
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
