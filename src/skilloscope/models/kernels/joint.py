"""Fast twin of `models.joint.log_choice`: the curves of many decisions at every Elo, compiled by numba."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from skilloscope.core.compiled import njit

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


@njit(cache=True)
def add_joint_curves(
    offsets: Places,
    chosen: Places,
    human: npt.NDArray[np.float32],
    value: Floats,
    slope: Floats,
    share: Floats,
    groups: Places,
    x: Floats,
    basis: Floats,
    out: Floats,
) -> None:
    """Add log P of every choice to the row of its group, at each x (a row of the basis)."""
    n_basis = basis.shape[1]
    logits = np.empty(512)
    for i in range(len(chosen)):
        begin, n = offsets[i], offsets[i + 1] - offsets[i]
        if n > len(logits):
            logits = np.empty(2 * n)
        for at in range(len(x)):
            top = -np.inf
            for m in range(n):
                z = 0.0
                for j in range(n_basis):
                    z += basis[at, j] * human[begin + m, j]
                logits[m] = z
                top = max(top, z)
            total = 0.0
            for m in range(n):
                total += np.exp(logits[m] - top)
            people = top + np.log(total)
            weight = share[0] + share[1] * x[at]
            top = -np.inf
            for m in range(n):
                z = weight * (logits[m] - people) + value[begin + m] + slope[begin + m] * x[at]
                logits[m] = z
                top = max(top, z)
            total = 0.0
            for m in range(n):
                total += np.exp(logits[m] - top)
            out[groups[i], at] += logits[chosen[i]] - top - np.log(total)
