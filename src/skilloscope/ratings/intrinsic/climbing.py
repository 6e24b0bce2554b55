"""Maximising a log-likelihood by damped Newton steps inside limits, from its value and slopes.

For a handful of parameters and functions that may be −inf or rise by thousands within a step, as powers does where a
choice was hopeless: a step to −inf is not taken, and the damping grows until the likelihood does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Slopes = Callable[[Array], tuple[float, Array]]

_STEP = 1e-4  # of the differences of slopes
_LONGEST = 1.0  # step in any parameter


@dataclass(frozen=True, eq=False)
class Summit:
    """Where the climb ended: the parameters, the value, the observed information there, and whether it is the top."""

    at: Array
    value: float
    information: Array
    converged: bool


def climb(slopes: Slopes, start: Array, low: Array, high: Array, *, size: float, steps: int = 100) -> Summit:
    """Climb from the start; `size` is the number of decisions, by which slopes are judged small.

    >>> one = np.ones(1)
    >>> top = climb(lambda x: (-float((x**2).sum()), -2 * x), 0.5 * one, -one, one, size=1)
    >>> top.converged, abs(float(top.at[0])) < 1e-9, round(float(top.information[0, 0]), 3)
    (True, True, 2.0)
    """
    at, damping = start, 1e-6
    value, slope = slopes(at)
    bend = np.zeros((len(at), len(at)))
    for _ in range(steps):
        bend = _bend(slopes, at)
        moving = ~((at <= low) & (slope <= 0)) & ~((at >= high) & (slope >= 0)) & (high > low)
        if not moving.any() or np.abs(slope[moving]).max() < 1e-9 * size:
            return Summit(at, value, bend, True)
        while damping < 1e12:
            new = np.clip(at + _step(bend, slope, moving, damping), low, high)
            new_value, new_slope = slopes(new)
            if np.isfinite(new_value) and np.all(np.isfinite(new_slope)) and new_value >= value:
                break
            damping *= 10
        else:
            return Summit(at, value, bend, False)
        damping = max(damping / 10, 1e-9)
        # Steps shrink as their squares: after one of 1e-6 the next would be 1e-12.
        done = np.abs(new - at).max() < 1e-6 or new_value <= value + 1e-12 * abs(value)
        at, value, slope = new, new_value, new_slope
        if done:
            return Summit(at, value, bend, True)
    return Summit(at, value, bend, False)


def _bend(slopes: Slopes, at: Array) -> Array:
    """Return the observed information: minus the second derivatives, from differences of the slopes."""
    rows = []
    for axis in np.eye(len(at)):
        ahead, behind = slopes(at + _STEP * axis)[1], slopes(at - _STEP * axis)[1]
        rows.append((behind - ahead) / (2 * _STEP))
    return np.asarray(0.5 * (np.array(rows) + np.array(rows).T))


def _step(bend: Array, slope: Array, moving: npt.NDArray[np.bool_], damping: float) -> Array:
    step = np.zeros(len(slope))
    part = bend[np.ix_(moving, moving)]
    if not np.all(np.isfinite(part)):
        part = np.diag(np.abs(slope[moving]))
    eigenvalues, vectors = np.linalg.eigh(part)
    most = max(np.abs(eigenvalues).max(), 1e-12)
    # Where the likelihood bends upwards a Newton step would go the wrong way: its bend counts by its size.
    step[moving] = vectors @ ((vectors.T @ slope[moving]) / (np.abs(eigenvalues) + damping * most))
    return np.asarray(step * min(1.0, _LONGEST / max(np.abs(step).max(), 1e-300)))
