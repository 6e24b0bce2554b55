"""What the three fits of (s, c) share: where they look, what they read at each step, and equations set to zero.

θ = (log s, log c) throughout. `balanced` is for fits that set means of contributions to zero: their standard errors are
those of such equations (a sandwich).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares

from skilloscope.models.curve_model import CurveModel
from skilloscope.models.kernels.curves import CurveColumns, scores

Array = npt.NDArray[np.float64]
Found = tuple[Array, Array, bool]
"""Where a fit ended, its covariance there, and whether it converged."""

FEWEST_GAMES = 10
"""Below so many games their scatter cannot be measured by themselves."""
GAME_SCATTER = 1.46
"""How much more the games of rated players scatter than independent decisions: the dispersion of the shipped scale."""


@dataclass(frozen=True)
class Limits:
    """Where s and c are looked for: s in (0, 2] pawns and c in [0.1, 5]."""

    s: tuple[float, float] = (1e-3, 2.0)
    c: tuple[float, float] = (0.1, 5.0)

    def scaled(self, unit: float) -> Limits:
        """Return the limits where a pawn is `unit` of the losses."""
        return Limits((self.s[0] * unit, self.s[1] * unit), self.c)

    @property
    def low(self) -> Array:
        """The lower ends, in logs."""
        return np.log([self.s[0], self.c[0]])

    @property
    def high(self) -> Array:
        """The upper ends, in logs."""
        return np.log([self.s[1], self.c[1]])


@dataclass(frozen=True, eq=False)
class FitWork:
    """What a fit needs at each step: the columns, the model and the weights; θ = (log s, log c)."""

    columns: CurveColumns
    model: CurveModel
    weights: Array
    fixed_c: float | None
    clusters: npt.NDArray[np.int64] | None = None
    """Which game each decision belongs to: the standard errors are then those of games, not of decisions."""

    @property
    def free(self) -> npt.NDArray[np.bool_]:
        """Which of s and c are fitted."""
        return np.array([True, self.fixed_c is None])

    def thinned(self, every: int) -> FitWork:
        """Return the same for one decision in so many."""
        if every <= 1:
            return self
        index = np.arange(0, len(self.columns), every)
        own = None if self.clusters is None else self.clusters[index]
        return FitWork(self.columns.take(index), self.model, self.weights[index], self.fixed_c, own)

    def spread(self, rows: Array) -> Array:
        """Return Σ r·rᵀ over independent rows: decisions, or the sums of games where these are known.

        Of a few games alone their scatter cannot be told: there that of decisions counts, times GAME_SCATTER.
        """
        if self.clusters is None:
            return np.asarray(rows.T @ rows)
        _, codes = np.unique(self.clusters, return_inverse=True)
        games = int(codes.max()) + 1
        if games < FEWEST_GAMES:
            return np.asarray(GAME_SCATTER * rows.T @ rows)
        summed = np.zeros((games, rows.shape[1]))
        np.add.at(summed, codes, rows)
        return np.asarray(games / (games - 1) * summed.T @ summed)

    def score_rows(self, at: Array) -> Array:
        """Return each decision's slopes of the log-likelihood, weighted: a row for each."""
        c = np.exp(at[1])
        found = scores(self.columns, self.model.mapping, self.model.curve, at[0], c)
        return np.column_stack([self.weights * found.by_log_s, self.weights * c * found.by_c])

    def log_likelihood(self, at: Array) -> float:
        """Return the weighted log-likelihood of all choices."""
        found = scores(self.columns, self.model.mapping, self.model.curve, at[0], np.exp(at[1]))
        return float(self.weights @ found.log_p)

    def slopes(self, at: Array) -> tuple[float, Array]:
        """Return the log-likelihood and its slopes."""
        c = np.exp(at[1])
        found = scores(self.columns, self.model.mapping, self.model.curve, at[0], c)
        return float(self.weights @ found.log_p), np.array(
            [self.weights @ found.by_log_s, c * (self.weights @ found.by_c)]
        )


def balanced(
    work: FitWork, start: Array, limits: Limits, contributions: Callable[[Array], Array], *, own_units: bool = False
) -> Found:
    """Set the means of the contributions (rows decisions) to zero, or as near as can be, inside the limits.

    With `own_units` each column is measured by its size at the start.
    """
    free, total = work.free, work.weights.sum()
    first = contributions(start)
    size = np.sqrt((work.weights @ first**2) / total) if own_units else np.ones(first.shape[1])
    unit = np.where(size > 0, size, 1.0)

    def full(point: Array) -> Array:
        at = start.copy()
        at[free] = point
        return at

    def means(point: Array) -> Array:
        return np.asarray(work.weights @ contributions(full(point)) / total / unit)

    inside = np.clip(start, limits.low + 1e-6, limits.high - 1e-6)[free]
    bounds = (limits.low[free], limits.high[free])
    fit = least_squares(means, inside, bounds=bounds, diff_step=1e-4, xtol=1e-8, ftol=1e-12, gtol=1e-12, x_scale=1.0)
    at = full(fit.x)
    weighted = contributions(at) / unit * work.weights[:, None]
    spread = work.spread(weighted) / total**2
    covariance = np.full((2, 2), np.nan)
    try:
        pull = np.linalg.pinv(fit.jac)
        covariance[np.ix_(free, free)] = pull @ spread @ pull.T
    except np.linalg.LinAlgError:
        pass
    return at, covariance, bool(fit.success)
