"""Newton's method for a handful of parameters: up a log-likelihood with slopes, or down a cost that has only values.

Both take the same step, which goes the right way also where the function bends the wrong way. `climb` is for
likelihoods inside limits that may be −inf or rise by thousands within a step, as powers does where a choice was
hopeless: a step to −inf is not taken, and the damping grows until the likelihood does. `descend` is for costs of which
every value is a pass over the data: a quadratic through points about the best one, in ever smaller steps.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from skilloscope.core.columns import Array

Slopes = Callable[[Array], tuple[float, Array]]
Cost = Callable[[Array], float]

_STEP = 1e-4  # of the differences of slopes
_LONGEST = 1.0  # step in any parameter
_SMALL = 1e-3  # the step of `descend` that is the last


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
        # The observed information: minus the second derivatives, from differences of the slopes.
        near = [(slopes(at - _STEP * axis)[1], slopes(at + _STEP * axis)[1]) for axis in np.eye(len(at))]
        rows = np.array([(behind - ahead) / (2 * _STEP) for behind, ahead in near])
        bend = 0.5 * (rows + rows.T)
        moving = ~((at <= low) & (slope <= 0)) & ~((at >= high) & (slope >= 0)) & (high > low)
        if not moving.any() or np.abs(slope[moving]).max() < 1e-9 * size:
            return Summit(at, value, bend, True)
        part, step = bend[np.ix_(moving, moving)], np.zeros(len(at))
        if not np.all(np.isfinite(part)):
            part = np.diag(np.abs(slope[moving]))
        while damping < 1e12:
            step[moving] = newton_step(part, slope[moving], longest=_LONGEST, damping=damping)
            new = np.clip(at + step, low, high)
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


def descend(cost: Cost, start: Array, *, highest: float) -> tuple[Array, bool]:
    """Return the minimum of a cost, none of its parameters above `highest`, and whether the search converged.

    >>> at, converged = descend(lambda x: float((x - 0.5) @ (x - 0.5)), np.zeros(2), highest=8.0)
    >>> converged, np.round(at, 6)
    (True, array([0.5, 0.5]))
    """
    x, value, h = start, cost(start), 0.25
    reach = 1.0  # the longest step that is trusted
    for _ in range(40):
        steps = h * np.eye(len(x))
        up, down = (np.array([cost(x + sign * step) for step in steps]) for sign in (1, -1))
        slope, bend = (up - down) / (2 * h), np.diag((up + down - 2 * value) / h**2)
        for i, j in zip(*np.tril_indices(len(x), -1), strict=True):
            bend[i, j] = bend[j, i] = (cost(x + steps[i] + steps[j]) - up[i] - up[j] + value) / h**2
        step = newton_step(bend, -slope, longest=reach, least=1e-6)
        trial = cost(x + step)
        while trial > value and np.abs(step).max() > _SMALL:
            step = step / 4
            reach = float(np.abs(step).max())
            trial = cost(x + step)
        if trial <= value:
            x, value = np.clip(x + step, None, highest), trial
        size = float(np.abs(step).max())
        if size <= _SMALL:
            return x, True
        reach = min(1.0, 2 * max(size, reach))
        h = min(h, max(0.3 * size, 1e-2))
    return x, False


def newton_step(bend: Array, slope: Array, *, longest: float, damping: float = 0.0, least: float = 0.0) -> Array:
    """Return bend⁻¹·slope, no longer than `longest` in any parameter.

    Where the function bends the other way a Newton step would go the wrong way: its bend counts by its size. `damping`
    adds to every bend, and none counts as smaller than `least`; both are shares of the largest.
    """
    bends, vectors = np.linalg.eigh(bend)
    size = np.abs(bends)
    if least:
        size = np.maximum(size, 1e-12 + least * size.max())
    size = size + damping * max(np.abs(bends).max(), 1e-12)
    step = vectors @ ((vectors.T @ slope) / size)
    return np.asarray(step * min(1.0, longest / max(np.abs(step).max(), 1e-300)))
