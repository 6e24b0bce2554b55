"""A standard deviation fitted by its marginal likelihood: of a drift, or of what lies between groups.

In: a log-likelihood as a function of the sd, and the sds to try. Out: the best, the interval of its profile likelihood,
and the likelihood of all that were tried, by which an estimate can be averaged over what is not known of the sd.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar
from scipy.stats import chi2

Array = npt.NDArray[np.float64]

_SMALLEST, _LARGEST, _HOW_MANY = 0.001, 0.5, 24  # of the range
_NO_WEIGHT = 1e-6  # relative to the likeliest: what is left out cannot be seen


@dataclass(frozen=True, eq=False)
class SdFit:
    """A fitted sd with its profile-likelihood interval.

    `high` is None where the likelihood does not fall far enough within what was tried: it may be anything.
    """

    sd: float
    low: float
    high: float | None
    mass: float
    tried: Array
    log_likelihood: Array

    @property
    def variance(self) -> float:
        """The fitted variance."""
        return self.sd**2

    @property
    def weights(self) -> Array:
        """The weight of each sd that was tried, by its likelihood; they sum to 1, the hopeless have none."""
        weight = np.exp(self.log_likelihood - self.log_likelihood.max())
        weight = np.where(weight > _NO_WEIGHT, weight, 0.0)
        return np.asarray(weight / weight.sum())


def sds_to_try(span: float) -> Array:
    """Return none, then from a thousandth to half of a range."""
    return np.concatenate([[0.0], np.geomspace(_SMALLEST, _LARGEST, _HOW_MANY) * span])


def fit_sd(log_likelihood: Callable[[float], float], tried: Array, *, mass: float = 0.95) -> SdFit:
    """Return the likeliest sd; the interval holds those whose log-likelihood is within ½χ² of the best.

    Near zero the interval is on the wide side.

    >>> fit = fit_sd(lambda sd: -50 * (sd - 0.3) ** 2, sds_to_try(2.0))
    >>> round(fit.sd, 2), round(fit.low, 1), round(fit.high or 0, 1)
    (0.3, 0.1, 0.5)
    """
    found = np.array([log_likelihood(float(sd)) for sd in tried])
    best = int(found.argmax())
    sd, top = float(tried[best]), float(found[best])
    if best:
        around = np.log([tried[max(best - 1, 1)], tried[min(best + 1, len(tried) - 1)]])
        fine = minimize_scalar(
            lambda x: -log_likelihood(float(np.exp(x))), bounds=tuple(around), options={"xatol": 1e-2}
        )
        if -fine.fun > top:
            sd, top = float(np.exp(fine.x)), float(-fine.fun)
    low, high = _crossings(np.append(tried, sd), np.append(found, top), top - 0.5 * float(chi2.ppf(mass, 1)))
    return SdFit(sd, low, high, mass, tried, found)


def _crossings(sds: Array, logs: Array, level: float) -> tuple[float, float | None]:
    """Return where the log-likelihood crosses a level below and above its top, by straight lines between the sds."""
    order = np.argsort(sds)
    sds, above = sds[order], logs[order] - level
    inside = np.flatnonzero(above >= 0)
    first, last = int(inside[0]), int(inside[-1])
    low = float(sds[0]) if first == 0 else _cross(sds, above, first - 1)
    return low, None if last == len(sds) - 1 else _cross(sds, above, last)


def _cross(sds: Array, above: Array, left: int) -> float:
    a, b = above[left], above[left + 1]
    share = a / (a - b) if np.isfinite(a) and np.isfinite(b) else float(np.isfinite(b))
    return float(sds[left] + share * (sds[left + 1] - sds[left]))
