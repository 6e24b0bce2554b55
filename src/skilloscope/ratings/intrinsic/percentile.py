"""The paper's own fit of s and c: as many choices should be "up" at each percentile as it says. [RH11 sect. 6]

The choice's interval of predicted probability is held against each percentile q; the share of choices "up" at q should
be q. The minimum is continuous; the paper's grid leaves out its own results.
"""

from __future__ import annotations

import numpy as np

from skilloscope.models.curve_model import CurveModel
from skilloscope.models.kernels.curves import CurveColumns, intervals
from skilloscope.ratings.intrinsic.balance import Array, FitWork, Found, Limits, balanced

PERCENTILES = np.arange(1, 20) / 20
"""q from 0.05 to 0.95: 0 and 1 say nothing."""

_MANY = 500  # decisions: with more there is one minimum
_GRID, _STARTS = 12, 3


def fit_percentile(work: FitWork, start: Array, limits: Limits) -> Found:
    """Minimise S_{s,c} over s and c inside the limits, from several starts: small sets have several minima."""
    model = work.model

    def contributions(at: Array) -> Array:
        low, high = intervals(work.columns, model.mapping, model.curve, at[0], np.exp(at[1]))
        return np.column_stack([_up(low, high, q) - q for q in PERCENTILES])

    found = [balanced(work, one, limits, contributions) for one in (start, *_other_starts(work, limits))]
    return min(found, key=lambda one: _score(work, one[0]))


def _other_starts(work: FitWork, limits: Limits) -> list[Array]:
    """Return the points of a grid at which S is lowest; none where there are many decisions."""
    if len(work.columns) > _MANY:
        return []
    s_grid, c_grid = (np.linspace(limits.low[i], limits.high[i], _GRID + 2)[1:-1] for i in (0, 1))
    c = c_grid if work.fixed_c is None else np.log([work.fixed_c])
    points = [np.array([one, other]) for one in s_grid for other in c]
    return sorted(points, key=lambda point: _score(work, point))[:_STARTS]


def _score(work: FitWork, at: Array) -> float:
    return percentile_score(work.columns, work.model, *np.exp(at).tolist(), weights=work.weights)


def up_shares(columns: CurveColumns, model: CurveModel, s: float, c: float, *, weights: Array | None = None) -> Array:
    """R^q: the share of choices that are "up" at each percentile q; straddling ones in part. [RH11 sect. 6]

    Up if p⁺ ≤ q, down if p⁻ ≥ q, and (q − p⁻)/(p⁺ − p⁻) up where q lies between. Tied alternatives share one interval.
    """
    low, high = intervals(columns, model.mapping, model.curve, np.log(s), c)
    weight = np.ones(len(columns)) if weights is None else weights
    return np.asarray(np.array([weight @ _up(low, high, q) for q in PERCENTILES]) / weight.sum())


def percentile_score(
    columns: CurveColumns, model: CurveModel, s: float, c: float, *, weights: Array | None = None
) -> float:
    """S_{s,c} = Σ_q (R^q − q)². [RH11 sect. 6]"""
    return float(((up_shares(columns, model, s, c, weights=weights) - PERCENTILES) ** 2).sum())


def _up(low: Array, high: Array, q: float) -> Array:
    width = high - low
    inside = (q - low) / np.where(width > 0, width, 1.0)
    return np.where(width > 0, np.clip(inside, 0.0, 1.0), high <= q)
