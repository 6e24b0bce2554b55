"""Many posteriors at once: what thousands of short lists of decisions say, each under the uniform prior.

In: a table of evidence. Out: densities on one set of points, means and sds as columns. For groups of tens of decisions;
a long list is narrower than the points are apart and goes through `Evidence.posterior`, one by one.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numpy.polynomial import chebyshev
from scipy.integrate import simpson

from skilloscope.inference.evidence import EvidenceTable

Array = npt.NDArray[np.float64]

_POINTS = 1601
_BLOCK = 2048  # rows whose densities are held at once
_NARROW = 4.0  # steps of the points; a posterior of smaller sd is found adaptively


def likelihoods(table: EvidenceTable, at: npt.ArrayLike) -> Array:
    """Return exp(curve − its highest point here) of every row at the points: likelihoods up to a factor each."""
    grid, at = table.grid, np.asarray(at, dtype=float)
    unit = (2 * at - grid.low - grid.high) / (grid.high - grid.low)
    logs = grid.coefficients(table.curves.T).T @ chebyshev.chebvander(unit, grid.size - 1).T
    return np.asarray(np.exp(logs - logs.max(axis=1, keepdims=True)))


def means_and_sds(table: EvidenceTable) -> tuple[Array, Array]:
    """Return the posterior mean and sd of every row under the uniform prior on the grid's range.

    A row without decisions has the prior's.
    """
    at = np.linspace(table.grid.low, table.grid.high, _POINTS)
    means, sds = np.empty(len(table)), np.empty(len(table))
    for start in range(0, len(table), _BLOCK):
        part = slice(start, start + _BLOCK)
        block = EvidenceTable(table.grid, list(table.labels)[part], table.curves[part], table.decisions[part])
        density = likelihoods(block, at)
        total = simpson(density, x=at, axis=1)
        means[part] = simpson(density * at, x=at, axis=1) / total
        squares = simpson(density * (at - means[part][:, None]) ** 2, x=at, axis=1) / total
        sds[part] = np.sqrt(np.maximum(squares, 0.0))
    for row in np.flatnonzero(sds < _NARROW * (at[1] - at[0])).tolist():
        posterior = table[table.labels[row]].posterior()
        means[row], sds[row] = posterior.mean, posterior.sd
    return means, sds
