"""Student's quantile where the variance is a sum of parts, each estimated with its own degrees of freedom.

In: how much each part adds to the variance of each number, and the freedom of the parts. Out: by how many estimated
standard deviations an interval must reach to hold a given mass.

A number with variance V = Σ s_i, estimated by Σ s_i χ²(ν_i) / ν_i, is no Student's variable unless there is one part.
Satterthwaite takes the one whose variance has the same two moments; with parts of one degree of freedom, matches of two
games, that is far off: 6.8 where 3.5 is right for shares of .85 (ν = 1) and .15 (ν = 13).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.special import ndtri, stdtrit

Array = npt.NDArray[np.float64]

_HALVINGS = 24
_NODES, _WEIGHTS = (np.asarray(column) / 2 for column in np.polynomial.legendre.leggauss(32))
_SQUARED_SINES = np.sin(np.pi / 2 * (_NODES + 0.5)) ** 2


def student_of_parts(parts: csr_array, freedom: Array, mass: float) -> Array:
    """q with P(|Z| ≤ q·√(Σ s_i χ²_i / ν_i / Σ s_i)) = mass, for each row of s; NaN for a row without parts.

    >>> student_of_parts(csr_array([[1.0, 0.0], [0.85, 0.15]]), np.array([1.0, 13.0]), 0.95).round(2)
    array([12.71,  3.55])
    """
    total = np.asarray(parts.sum(axis=1)).ravel()
    entries = parts.tocoo()
    found = entries.data > 0
    row, free = entries.row[found], freedom[entries.col[found]]
    share = entries.data[found] / total[row] / free
    fewest = np.full(len(total), np.inf)
    np.minimum.at(fewest, row, free)
    degrees = csr_array((-free / 2, (row, np.arange(len(row)))), shape=(len(total), len(row)))
    # The logs of what it cannot be below, the normal quantile, and above, Student's with the fewest degrees.
    low = np.full(len(total), np.log(ndtri((1 + mass) / 2)))
    high = np.log(stdtrit(np.where(np.isfinite(fewest), fewest, 1), (1 + mass) / 2))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        beyond = _beyond(np.exp(2 * middle[row]) * share, degrees) > 1 - mass
        low, high = np.where(beyond, middle, low), np.where(beyond, high, middle)
    return np.where(total > 0, np.exp((low + high) / 2), np.nan)


def _beyond(scaled: Array, degrees: csr_array) -> Array:
    """P(|Z| > q√W) = (2/π) ∫ E exp(−q²W / (2 sin²θ)) dθ over [0, π/2] (Craig 1991), W's transform being a product."""
    return np.asarray(np.exp(degrees @ np.log1p(scaled[:, None] / _SQUARED_SINES)) @ _WEIGHTS)
