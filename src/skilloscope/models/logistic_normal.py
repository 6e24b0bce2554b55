"""The expected score where the difference of two strengths is uncertain: the integral itself, which (16) approximates.

Beyond the paper. GLI99 (16) replaces the integral of a logistic function over a normal distribution by a rescaled
logistic function. The two differ by up to 0.03 where little is known, and it shows in the log-loss only where the
uncertainties are honest, as those of `joint` are.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import expit

from skilloscope.models.comparison import Q

_NODES = 64
_CHUNK = 1 << 16  # games whose nodes are in memory at once


def integrated_probability(
    mean_1: npt.ArrayLike, variance_1: npt.ArrayLike, mean_2: npt.ArrayLike, variance_2: npt.ArrayLike
) -> npt.NDArray[np.float64]:
    """∫ 1/(1 + 10^(−θ/400)) φ(θ | μ_i − μ_j, σ_i² + σ_j²) dθ by Gauss–Hermite: what GLI99 (16) approximates.

    >>> from skilloscope.models.comparison import win_probability
    >>> one, two = (1700.0, 200.0**2), (1500.0, 100.0**2)
    >>> round(float(integrated_probability(*one, *two)), 4), round(float(win_probability(*one, *two)), 4)
    (0.7064, 0.7189)
    """
    means = np.asarray(mean_1, dtype=float) - np.asarray(mean_2, dtype=float)
    spreads = np.sqrt(np.asarray(variance_1, dtype=float) + np.asarray(variance_2, dtype=float))
    mean, sd = np.broadcast_arrays(means, spreads)
    nodes, weights = hermegauss(_NODES)
    weights = weights / weights.sum()
    flat_mean, flat_sd, out = mean.ravel(), sd.ravel(), np.empty(mean.size)
    for start in range(0, mean.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        out[part] = expit(Q * (flat_mean[part, None] + flat_sd[part, None] * nodes)) @ weights
    return out.reshape(mean.shape)
