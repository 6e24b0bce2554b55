"""The most likely s and c; the standard errors are those of the observed information, or of games. [RH11 sect. 6]"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from skilloscope.inference.optimise import climb
from skilloscope.ratings.intrinsic.balance import Array, FitWork, Found, Limits


def fit_likelihood(work: FitWork, start: Array, limits: Limits) -> Found:
    """Maximise the likelihood inside the limits; the covariance is the inverse of the observed information.

    Where the games are known it is the sandwich over them: the moves of a game are not independent.
    """
    free = work.free
    low, high = np.where(free, limits.low, start), np.where(free, limits.high, start)
    top = climb(work.slopes, start, low, high, size=float(work.weights.sum()))
    covariance = _inverse(top.information, free)
    if work.clusters is not None and np.all(np.isfinite(covariance[np.ix_(free, free)])):
        bread = np.nan_to_num(covariance)
        covariance = bread @ work.spread(work.score_rows(top.at)) @ bread
    return top.at, covariance, top.converged


def _inverse(bend: Array, free: npt.NDArray[np.bool_]) -> Array:
    covariance = np.full((2, 2), np.nan)
    part = bend[np.ix_(free, free)]
    if np.all(np.isfinite(part)) and np.all(np.linalg.eigvalsh(part) > 0):
        covariance[np.ix_(free, free)] = np.linalg.inv(part)
    return covariance
