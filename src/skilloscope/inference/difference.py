"""Two independent posteriors beside each other: which is greater, how probably, and by how much."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.integrate import cumulative_simpson, simpson
from scipy.interpolate import CubicHermiteSpline
from scipy.signal import fftconvolve

from skilloscope.inference.posterior import Posterior

Array = npt.NDArray[np.float64]

_STEPS = 2048  # across the narrower of two posteriors
_MOST = 2**16  # points of the difference, where one posterior is very much narrower than the other


def probability_greater(second: Posterior, first: Posterior) -> float:
    """P(x₂ > x₁) = ∫ p₂(x)·F₁(x) dx for independent posteriors, integrated on the finer of the two grids.

    >>> from skilloscope.inference.posterior import posterior_from_log_density
    >>> one, other = (posterior_from_log_density(lambda x, m=m: -0.5 * ((x - m) / 0.1) ** 2, 0, 4) for m in (1.0, 1.1))
    >>> round(probability_greater(other, one), 4)  # the normal probability below 0.1 / (0.1·√2)
    0.7602
    """
    if _step(second) <= _step(first):
        share = float(simpson(second.density * _cumulative(first, second.at), x=second.at))
    else:
        share = 1.0 - float(simpson(first.density * _cumulative(second, first.at), x=first.at))
    return min(max(share, 0.0), 1.0)


def difference(second: Posterior, first: Posterior) -> Posterior:
    """p(d) = ∫ p₂(x + d)·p₁(x) dx: the posterior of x₂ − x₁, both independent."""
    spans = [float(side.at[-1] - side.at[0]) for side in (second, first)]
    step = max(min(spans) / _STEPS, sum(spans) / _MOST)
    above, below = (_resampled(side, step) for side in (second, first))
    density = np.maximum(fftconvolve(above, below[::-1]), 0.0)
    lowest = float(second.at[0] - first.at[0]) - step * (len(below) - 1)
    at = np.asarray(lowest + step * np.arange(len(density)), dtype=np.float64)
    prior = f"{second.prior}, for each of the two"
    return Posterior(at, density / simpson(density, x=at), prior, second.low - first.high, second.high - first.low)


def _step(side: Posterior) -> float:
    return float(side.at[1] - side.at[0])


def _cumulative(side: Posterior, at: Array) -> Array:
    """Return F(at), read between the grid's points by cubics whose slope is the density itself."""
    known = cumulative_simpson(side.density, x=side.at, initial=0.0)
    inside = CubicHermiteSpline(side.at, known / known[-1], side.density)(np.clip(at, side.at[0], side.at[-1]))
    return np.asarray(np.clip(inside, 0.0, 1.0))


def _resampled(side: Posterior, step: float) -> Array:
    """Return the density at equal steps, the ends at half weight as the trapezoid rule has them."""
    n = int(np.ceil((side.at[-1] - side.at[0]) / step - 1e-9)) + 1
    density = np.interp(side.at[0] + step * np.arange(n), side.at, side.density, right=0.0)
    density[[0, -1]] *= 0.5
    return np.asarray(density)
