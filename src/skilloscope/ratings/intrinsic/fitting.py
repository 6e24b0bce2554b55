"""Fitting a curve's sensitivity s and competence c to decisions, in three ways. [RH11 sect. 6 and 7]

- `likelihood`: the most likely s and c. The standard errors are those of the observed information.
- `percentile`: the paper's own way. The choice's interval of predicted probability is held against each percentile q;
  the share of choices "up" at q should be q. The minimum is continuous; the paper's grid leaves out its own results.
- `moments`: s and c at which the predicted match and the predicted mean loss are the observed ones.

The last two set means of contributions to zero; their standard errors are those of such equations (a sandwich). All
three may be bootstrapped over games. The score S_{s,c} of every fit is reported; the paper's Q_fit is never defined.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares

from skilloscope.core.errors import InputError
from skilloscope.inference.optimise import climb
from skilloscope.models.curve_model import CurveModel
from skilloscope.models.kernels.curves import CurveColumns, intervals, probability_columns, scores

Array = npt.NDArray[np.float64]

FITS = ("likelihood", "percentile", "moments")
PERCENTILES = np.arange(1, 20) / 20
"""q from 0.05 to 0.95: 0 and 1 say nothing."""
_SAMPLES = (2_000, 50_000)  # decisions on which the first steps of a large fit are made


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
class CurveFit:
    """Fitted s and c with their covariance, and how well they fit."""

    s: float
    c: float
    covariance: Array
    """Of (s, c); NaN where an estimate lies at the end of its range."""
    log_likelihood: float
    score: float
    """S_{s,c}: the sum of (R^q − q)² over the percentiles."""
    decisions: int
    how: str
    edge: str | None = None
    """Which estimate lies at the end of its range: the truth may lie beyond."""
    converged: bool = True

    @property
    def s_sd(self) -> float:
        """The standard error of s."""
        return float(np.sqrt(self.covariance[0, 0]))

    @property
    def c_sd(self) -> float:
        """The standard error of c."""
        return float(np.sqrt(self.covariance[1, 1]))

    def as_dict(self) -> dict[str, Any]:
        """Return the fields that every report sends."""
        sds = {name: sd if np.isfinite(sd) else None for name, sd in (("s_sd", self.s_sd), ("c_sd", self.c_sd))}
        likelihood = self.log_likelihood if np.isfinite(self.log_likelihood) else None
        return {
            "s": self.s,
            "c": self.c,
            **sds,
            "log_likelihood": likelihood,
            "score": self.score,
            "decisions": self.decisions,
            "edge": self.edge,
            "converged": self.converged,
        }


def fit_curves(
    columns: CurveColumns,
    model: CurveModel,
    how: str = "likelihood",
    *,
    c: float | None = None,
    weights: Array | None = None,
    limits: Limits | None = None,
) -> CurveFit:
    """Fit s and c, or s alone at a given c (the paper's s_fit at c_fit); weights count decisions several times."""
    if how not in FITS:
        raise InputError(f"no fit {how!r}", hint=f"the fits: {', '.join(FITS)}")
    if not len(columns):
        raise InputError("no decisions to fit")
    limits = limits or Limits()
    work = _Work(columns, model, np.ones(len(columns)) if weights is None else weights, c)
    reach = _climb if how == "likelihood" else _balance
    start = _start(work.thinned(len(columns) // 1000), limits)
    for sample in _SAMPLES:
        if len(columns) > 4 * sample:  # the first steps are made on a part: most of the way costs little
            start = reach(work.thinned(len(columns) // sample), start, limits, how)[0]
    at, covariance, converged = reach(work, start, limits, how)
    s, c_found = np.exp(at)
    names = [name for name, ends in (("s", 0), ("c", 1)) if _at_end(at, limits)[ends] and not (name == "c" and c)]
    if names or c is not None:
        covariance = _blanked(covariance, names, fixed=c is not None)
    jacobian = np.diag([s, c_found])
    return CurveFit(
        float(s),
        float(c_found),
        jacobian @ covariance @ jacobian,
        work.log_likelihood(at),
        percentile_score(columns, model, float(s), float(c_found), weights=weights),
        len(columns),
        how,
        " and ".join(names) or None,
        converged,
    )


def up_shares(
    columns: CurveColumns, model: CurveModel, s: float, c: float, *, weights: Array | None = None
) -> npt.NDArray[np.float64]:
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


def bootstrap(
    columns: CurveColumns,
    model: CurveModel,
    clusters: npt.NDArray[np.integer[Any]],
    how: str = "likelihood",
    *,
    c: float | None = None,
    replicates: int = 100,
    limits: Limits | None = None,
    rng: np.random.Generator,
) -> Array:
    """Return (s, c) of fits in which whole clusters (games) are drawn with replacement: one row each."""
    _, codes = np.unique(np.asarray(clusters), return_inverse=True)
    n = int(codes.max()) + 1
    rows = []
    for _ in range(replicates):
        drawn = np.bincount(rng.integers(n, size=n), minlength=n).astype(float)[codes]
        kept = np.flatnonzero(drawn)
        fit = fit_curves(columns.take(kept), model, how, c=c, weights=drawn[kept], limits=limits)
        rows.append((fit.s, fit.c))
    return np.array(rows)


def _up(low: Array, high: Array, q: float) -> Array:
    width = high - low
    inside = (q - low) / np.where(width > 0, width, 1.0)
    return np.where(width > 0, np.clip(inside, 0.0, 1.0), high <= q)


@dataclass(frozen=True, eq=False)
class _Work:
    """What a fit needs at each step: the columns, the model and the weights; θ = (log s, log c)."""

    columns: CurveColumns
    model: CurveModel
    weights: Array
    fixed_c: float | None

    def thinned(self, every: int) -> _Work:
        if every <= 1:
            return self
        index = np.arange(0, len(self.columns), every)
        return _Work(self.columns.take(index), self.model, self.weights[index], self.fixed_c)

    def log_likelihood(self, at: Array) -> float:
        found = scores(self.columns, self.model.mapping, self.model.curve, at[0], np.exp(at[1]))
        return float(self.weights @ found.log_p)

    def slopes(self, at: Array) -> tuple[float, Array]:
        c = np.exp(at[1])
        found = scores(self.columns, self.model.mapping, self.model.curve, at[0], c)
        return float(self.weights @ found.log_p), np.array(
            [self.weights @ found.by_log_s, c * (self.weights @ found.by_c)]
        )

    def contributions(self, at: Array, how: str) -> Callable[[], Array]:
        """Return what gives the contributions (rows decisions) whose means the fit sets to zero."""
        args = (self.model.mapping, self.model.curve, at[0], np.exp(at[1]))
        if how == "percentile":
            low, high = intervals(self.columns, *args)
            return lambda: np.column_stack([_up(low, high, q) - q for q in PERCENTILES])
        listed, extra = probability_columns(self.columns, *args)
        starts = self.columns.offsets[:-1]
        expected = np.add.reduceat(listed * self.columns.losses, starts) + extra * self.columns.extra_loss
        excess = self.columns.chosen_loss - expected
        return lambda: np.column_stack([self.columns.matched - listed[starts], excess])


def _start(work: _Work, limits: Limits) -> Array:
    """Return the best point of a coarse grid, by likelihood: the equations of the other fits have far-off roots too."""
    unit = limits.s[1] / 2.0
    c = [work.fixed_c] if work.fixed_c is not None else [0.3, 0.5, 0.8, 1.3, 2.2]
    points = [np.log([s * unit, one]) for one in c for s in (0.01, 0.03, 0.07, 0.15, 0.3, 0.7, 1.5)]
    with np.errstate(invalid="ignore"):
        found = [work.log_likelihood(point) for point in points]
    return points[int(np.argmax(np.where(np.isfinite(found), found, -np.inf)))]


def _climb(work: _Work, start: Array, limits: Limits, how: str) -> tuple[Array, Array, bool]:
    """Maximise the likelihood inside the limits; the covariance is the inverse of the observed information."""
    free = np.array([True, work.fixed_c is None])
    low, high = np.where(free, limits.low, start), np.where(free, limits.high, start)
    top = climb(work.slopes, start, low, high, size=float(work.weights.sum()))
    return top.at, _inverse(top.information, free), top.converged


def _balance(work: _Work, start: Array, limits: Limits, how: str) -> tuple[Array, Array, bool]:
    """Set the means of the contributions to zero, or as near as can be, by least squares inside the limits."""
    free = np.array([True, work.fixed_c is None])
    total = work.weights.sum()
    first = work.contributions(start, how)()
    size = np.sqrt((work.weights @ first**2) / total) if how == "moments" else np.ones(first.shape[1])

    def full(point: Array) -> Array:
        at = start.copy()
        at[free] = point
        return at

    def means(point: Array) -> Array:
        found = work.contributions(full(point), how)()
        return np.asarray(work.weights @ found / total / np.where(size > 0, size, 1.0))

    inside = np.clip(start, limits.low + 1e-6, limits.high - 1e-6)[free]
    bounds = (limits.low[free], limits.high[free])
    fit = least_squares(means, inside, bounds=bounds, diff_step=1e-4, xtol=1e-8, ftol=1e-12, gtol=1e-12, x_scale=1.0)
    at = full(fit.x)
    found = work.contributions(at, how)() / np.where(size > 0, size, 1.0)
    weighted = found * work.weights[:, None]
    spread = weighted.T @ weighted / total**2
    covariance = np.full((2, 2), np.nan)
    try:
        pull = np.linalg.pinv(fit.jac)
        covariance[np.ix_(free, free)] = pull @ spread @ pull.T
    except np.linalg.LinAlgError:
        pass
    return at, covariance, bool(fit.success)


def _inverse(bend: Array, free: npt.NDArray[np.bool_]) -> Array:
    covariance = np.full((2, 2), np.nan)
    part = bend[np.ix_(free, free)]
    if np.all(np.isfinite(part)) and np.all(np.linalg.eigvalsh(part) > 0):
        covariance[np.ix_(free, free)] = np.linalg.inv(part)
    return covariance


def _at_end(at: Array, limits: Limits) -> npt.NDArray[np.bool_]:
    return np.asarray((at < limits.low + 1e-5) | (at > limits.high - 1e-5))


def _blanked(covariance: Array, names: list[str], *, fixed: bool) -> Array:
    """Return the covariance with NaN for estimates at the end of their range, and 0 for a c that was given."""
    covariance = covariance.copy()
    if names:
        covariance[:] = np.nan
    if fixed:
        covariance[1, :] = covariance[:, 1] = 0.0
    return covariance
