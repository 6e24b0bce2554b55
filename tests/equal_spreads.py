"""The fit score where all decisions have the same spread: frequencies against probabilities. [RH11 sect. 6]

In: the losses of one spread, and how often each of its alternatives was chosen. Out: the score, and the s and c that
make it smallest. It is the maximum-likelihood estimate where the curve meets all frequencies; elsewhere it weighs
frequent alternatives as much as rare ones, and the likelihood does not.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from skilloscope.core.errors import InputError
from skilloscope.models.curves import CurveModel, curve, probabilities
from skilloscope.ratings.curve_fits import Limits

Array = npt.NDArray[np.float64]


def spread_score(losses: npt.ArrayLike, chosen: npt.ArrayLike, model: CurveModel, s: float, c: float) -> float:
    """Σ_i (f_i − p_i)² over the listed alternatives; f are shares of all choices. [RH11 sect. 6]

    `chosen` counts the choices of each alternative; one entry more than there are losses counts what was not listed,
    f_{N+1}.

    >>> round(spread_score([0.0, 0.1], [2, 1], CurveModel(), s=0.1, c=1.0), 4)
    0.0083
    """
    p, f = _probabilities(losses, model, s, c), _shares(losses, chosen)
    return float(((f[: len(p)] - p) ** 2).sum())


def fit_equal_spreads(
    losses: npt.ArrayLike, chosen: npt.ArrayLike, model: CurveModel, *, limits: Limits | None = None
) -> tuple[float, float]:
    """Return the s and c that make the score smallest, from the best point of a grid."""
    limits = limits or Limits()
    ends = np.array([limits.low, limits.high])

    def cost(at: Array) -> float:
        s, c = np.exp(np.clip(at, *ends))
        return spread_score(losses, chosen, model, float(s), float(c))

    s_grid, c_grid = np.linspace(limits.low[0], limits.high[0], 24), np.linspace(limits.low[1], limits.high[1], 16)
    grid = [np.array([a, b]) for a in s_grid for b in c_grid]
    start = min(grid, key=cost)
    found = minimize(cost, start, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-14, "maxiter": 2000}).x
    s, c = np.exp(np.clip(found, *ends))
    return float(s), float(c)


def _probabilities(losses: npt.ArrayLike, model: CurveModel, s: float, c: float) -> Array:
    return probabilities(curve(model.curve).log_g(losses, s, c), model.mapping)


def _shares(losses: npt.ArrayLike, chosen: npt.ArrayLike) -> Array:
    counts, n = np.asarray(chosen, dtype=float), len(np.asarray(losses))
    if len(counts) not in (n, n + 1) or counts.min() < 0 or not counts.sum() > 0:
        raise InputError(
            f"{len(counts)} counts of choices for {n} alternatives",
            hint="one count each, and one more for what was not listed; not all 0",
        )
    return np.asarray(counts / counts.sum())
