"""The most likely s and c; the standard errors are those of the observed information. [RH11 sect. 6]"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from skilloscope.inference.optimise import climb
from skilloscope.ratings.intrinsic.balance import Array, FitWork, Found, Limits


def fit_likelihood(work: FitWork, start: Array, limits: Limits) -> Found:
    """Maximise the likelihood inside the limits; the covariance is the inverse of the observed information."""
    free = work.free
    low, high = np.where(free, limits.low, start), np.where(free, limits.high, start)
    top = climb(work.slopes, start, low, high, size=float(work.weights.sum()))
    return top.at, _inverse(top.information, free), top.converged


def _inverse(bend: Array, free: npt.NDArray[np.bool_]) -> Array:
    covariance = np.full((2, 2), np.nan)
    part = bend[np.ix_(free, free)]
    if np.all(np.isfinite(part)) and np.all(np.linalg.eigvalsh(part) > 0):
        covariance[np.ix_(free, free)] = np.linalg.inv(part)
    return covariance
