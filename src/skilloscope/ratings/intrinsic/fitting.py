"""Fitting a curve's sensitivity s and competence c to decisions, in three ways. [RH11 sect. 6 and 7]

Each way has a file: `likelihood`, `percentile` (the paper's own) and `moments`. All three may be bootstrapped over
games. The score S_{s,c} of every fit is reported; the paper's Q_fit is never defined.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.core.errors import InputError, OptionError
from skilloscope.models.curve_model import CurveModel
from skilloscope.models.kernels.curves import CurveColumns
from skilloscope.ratings.intrinsic.balance import Array, FitWork, Limits
from skilloscope.ratings.intrinsic.likelihood import fit_likelihood
from skilloscope.ratings.intrinsic.moments import fit_moments
from skilloscope.ratings.intrinsic.percentile import fit_percentile, percentile_score

FITS = {"likelihood": fit_likelihood, "percentile": fit_percentile, "moments": fit_moments}
_SAMPLES = (2_000, 50_000)  # decisions on which the first steps of a large fit are made


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
    clusters: npt.NDArray[np.integer[Any]] | None = None,
) -> CurveFit:
    """Fit s and c, or s alone at a given c (the paper's s_fit at c_fit); weights count decisions several times.

    With `clusters`, the game of each decision, the standard errors are those of games.
    """
    if how not in FITS:
        raise OptionError(f"no fit {how!r}", hint=f"the fits: {', '.join(FITS)}")
    if not len(columns):
        raise InputError("no decisions to fit")
    if c is not None and not c > 0:
        raise OptionError(f"c is a number above 0, got {c:g}")
    limits = limits or Limits()
    games = None if clusters is None else np.asarray(clusters, dtype=np.int64)
    work = FitWork(columns, model, np.ones(len(columns)) if weights is None else weights, c, games)
    if not columns.chosen_loss[work.weights > 0].any():
        return _without_loss(work, limits, how)
    reach = FITS[how]
    start = _start(work.thinned(len(columns) // 1000), limits)
    for sample in _SAMPLES:
        if len(columns) > 4 * sample:  # the first steps are made on a part: most of the way costs little
            start = reach(work.thinned(len(columns) // sample), start, limits)[0]
    at, covariance, converged = reach(work, start, limits)
    s, c_found = np.exp(at)
    names = [name for name, ends in (("s", 0), ("c", 1)) if _at_end(at, limits)[ends] and not (name == "c" and c)]
    if names or c is not None:
        covariance = _blanked(covariance, names, fixed=c is not None)
    if not np.diag(covariance)[work.free].all():  # an error of 0 is none: nothing that was chosen tells of it
        covariance = np.full((2, 2), np.nan)
    jacobian = np.diag([s, c_found])
    return CurveFit(
        s=float(s),
        c=float(c_found),
        covariance=jacobian @ covariance @ jacobian,
        log_likelihood=work.log_likelihood(at),
        score=percentile_score(columns, model, float(s), float(c_found), weights=weights),
        decisions=len(columns),
        how=how,
        edge=" and ".join(names) or None,
        converged=converged,
    )


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


def _without_loss(work: FitWork, limits: Limits, how: str) -> CurveFit:
    """Return the fit to choices that never lost anything: the smaller s the better, and nothing says how small.

    Both estimates are at the ends of their ranges and have no error; c is so too unless it was given.
    """
    at = np.log([limits.s[0], limits.c[1] if work.fixed_c is None else work.fixed_c])
    s, c = np.exp(at)
    return CurveFit(
        s=float(s),
        c=float(c),
        covariance=_blanked(np.full((2, 2), np.nan), ["s"], fixed=work.fixed_c is not None),
        log_likelihood=work.log_likelihood(at),
        score=percentile_score(work.columns, work.model, float(s), float(c), weights=work.weights),
        decisions=len(work.columns),
        how=how,
        edge="s" if work.fixed_c is not None else "s and c",
    )


def _start(work: FitWork, limits: Limits) -> Array:
    """Return the best point of a coarse grid, by likelihood: the equations of the other fits have far-off roots too."""
    unit = limits.s[1] / 2.0
    c = [work.fixed_c] if work.fixed_c is not None else [0.3, 0.5, 0.8, 1.3, 2.2]
    points = [np.log([s * unit, one]) for one in c for s in (0.01, 0.03, 0.07, 0.15, 0.3, 0.7, 1.5)]
    with np.errstate(invalid="ignore"):
        found = [work.log_likelihood(point) for point in points]
    return points[int(np.argmax(np.where(np.isfinite(found), found, -np.inf)))]


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
