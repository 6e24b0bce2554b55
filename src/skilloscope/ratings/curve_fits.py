"""Fitting a curve's sensitivity s and competence c to decisions, in three ways. [RH11 sect. 6 and 7]

- `likelihood`: the most likely s and c; the standard errors are those of the observed information, or of games.
- `percentile`, the paper's own: the interval of predicted probability of each choice is compared with each percentile
  q; the share of choices "up" at q should be q. The minimum is continuous; the paper's grid misses its own results.
- `moments`: the s and c at which the predicted match and the predicted mean loss are the observed ones. [sect. 7]

All three may be bootstrapped over games. The score S_{s,c} of every fit is reported; the paper's Q_fit is never
defined. θ = (log s, log c) throughout. `balanced` is for fits that set means of contributions to zero: their standard
errors are those of such equations (a sandwich).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares

from skilloscope.core.columns import Array, Bools, Ints
from skilloscope.core.errors import InputError, OptionError
from skilloscope.core.optimise import climb
from skilloscope.models.curves import CurveColumns, CurveModel
from skilloscope.models.kernels.curves import intervals, probability_columns, scores

Found = tuple[Array, Array, bool]  # where a fit ended, its covariance there, and whether it converged

FEWEST_GAMES = 10  # below so many games their scatter cannot be measured by themselves
GAME_SCATTER = 1.46
"""How much more the games of rated players scatter than independent decisions: the dispersion of the shipped scale."""


@dataclass(frozen=True)
class Limits:
    """Where s and c are looked for: s in (0, 2] pawns and c in [0.1, 5]."""

    s: tuple[float, float] = (1e-3, 2.0)
    c: tuple[float, float] = (0.1, 5.0)

    def scaled(self, unit: float) -> "Limits":
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
    clusters: Ints | None = None
    """Which game each decision belongs to: the standard errors are then those of games, not of decisions."""

    @property
    def free(self) -> Bools:
        """Which of s and c are fitted."""
        return np.array([True, self.fixed_c is None])

    def thinned(self, every: int) -> "FitWork":
        """Return the same for one decision in so many."""
        if every <= 1:
            return self
        index = np.arange(0, len(self.columns), every)
        own = None if self.clusters is None else self.clusters[index]
        return FitWork(self.columns.take(index), self.model, self.weights[index], self.fixed_c, own)

    def spread(self, rows: Array) -> Array:
        """Return Σ r·rᵀ over decisions, or over games; a few games take that of decisions times GAME_SCATTER."""
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

    def slopes(self, at: Array) -> tuple[float, Array]:
        """Return the log-likelihood and its slopes."""
        c = np.exp(at[1])
        found = scores(self.columns, self.model.mapping, self.model.curve, at[0], c)
        slopes = np.array([self.weights @ found.by_log_s, c * (self.weights @ found.by_c)])
        return float(self.weights @ found.log_p), slopes


def balanced(
    work: FitWork, start: Array, limits: Limits, contributions: Callable[[Array], Array], *, own_units: bool = False
) -> Found:
    """Bring the means of the contributions to zero inside the limits; `own_units` measures each by its start."""
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


def fit_likelihood(work: FitWork, start: Array, limits: Limits) -> Found:
    """Maximise the likelihood inside the limits; covariance by the information, or the sandwich over games."""
    free = work.free
    low, high = np.where(free, limits.low, start), np.where(free, limits.high, start)
    top = climb(work.slopes, start, low, high, size=float(work.weights.sum()))
    covariance, part = np.full((2, 2), np.nan), top.information[np.ix_(free, free)]
    if np.all(np.isfinite(part)) and np.all(np.linalg.eigvalsh(part) > 0):
        covariance[np.ix_(free, free)] = np.linalg.inv(part)
    if work.clusters is not None and np.all(np.isfinite(covariance[np.ix_(free, free)])):
        bread = np.nan_to_num(covariance)
        covariance = bread @ work.spread(work.score_rows(top.at)) @ bread
    return top.at, covariance, top.converged


def fit_moments(work: FitWork, start: Array, limits: Limits) -> Found:
    """Set the means of match and loss to those observed, inside the limits."""
    columns, model, starts = work.columns, work.model, work.columns.offsets[:-1]

    def contributions(at: Array) -> Array:
        listed, extra = probability_columns(columns, model.mapping, model.curve, at[0], np.exp(at[1]))
        expected = np.add.reduceat(listed * columns.losses, starts) + extra * columns.extra_loss
        return np.column_stack([columns.matched - listed[starts], columns.chosen_loss - expected])

    return balanced(work, start, limits, contributions, own_units=True)


PERCENTILES = np.arange(1, 20) / 20  # q from 0.05 to 0.95: 0 and 1 say nothing

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


FITS = {"likelihood": fit_likelihood, "percentile": fit_percentile, "moments": fit_moments}
_SAMPLES = (2_000, 50_000)  # decisions on which the first steps of a large fit are made


@dataclass(frozen=True, eq=False)
class CurveFit:
    """Fitted s and c with their covariance, and how well they fit."""

    s: float
    c: float
    covariance: Array  # of (s, c); NaN where an estimate lies at the end of its range
    log_likelihood: float
    score: float  # S_{s,c}: the sum of (R^q − q)² over the percentiles
    decisions: int
    how: str
    edge: str | None = None  # which estimate lies at the end of its range: the truth may lie beyond
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
        names = ("s", "c", "s_sd", "c_sd", "log_likelihood", "score", "decisions", "edge", "converged")
        sent = {name: getattr(self, name) for name in names}
        unknown = [name for name in ("s_sd", "c_sd", "log_likelihood") if not np.isfinite(sent[name])]
        return sent | dict.fromkeys(unknown)

    def written(self, name: Literal["s", "c"]) -> str:
        """Return s or c with its standard error, with a star where it is at the edge of the allowed range."""
        value, sd = (self.s, self.s_sd) if name == "s" else (self.c, self.c_sd)
        mark = " *" if self.edge and name in self.edge.split(" and ") else ""
        return f"{value:.3f} ± {sd:.3f}{mark}" if np.isfinite(sd) else f"{value:.3f}{mark}"


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
    """Fit s and c, or s alone at a given c; with `clusters` (games) the standard errors are those of games."""
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
    at_end = (at < limits.low + 1e-5) | (at > limits.high - 1e-5)
    names = [name for name, end in zip("sc", at_end, strict=True) if end and not (name == "c" and c)]
    if names:
        covariance = np.full((2, 2), np.nan)
    if c is not None:
        covariance[1, :] = covariance[:, 1] = 0.0
    if not np.diag(covariance)[work.free].all():  # an error of 0 is none: nothing that was chosen tells of it
        covariance = np.full((2, 2), np.nan)
    jacobian = np.diag([s, c_found])
    return CurveFit(
        s=float(s),
        c=float(c_found),
        covariance=jacobian @ covariance @ jacobian,
        log_likelihood=work.slopes(at)[0],
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
    *,
    replicates: int = 100,
    rng: np.random.Generator,
) -> Array:
    """Return (s, c) of fits in which whole clusters (games) are drawn with replacement: one row each."""
    _, codes = np.unique(np.asarray(clusters), return_inverse=True)
    n = int(codes.max()) + 1
    rows = []
    for _ in range(replicates):
        drawn = np.bincount(rng.integers(n, size=n), minlength=n).astype(float)[codes]
        kept = np.flatnonzero(drawn)
        fit = fit_curves(columns.take(kept), model, weights=drawn[kept])
        rows.append((fit.s, fit.c))
    return np.array(rows)


def _without_loss(work: FitWork, limits: Limits, how: str) -> CurveFit:
    """Return the fit to choices that never lost anything: estimates at the ends of their ranges, no errors."""
    at = np.log([limits.s[0], limits.c[1] if work.fixed_c is None else work.fixed_c])
    s, c = np.exp(at)
    covariance = np.full((2, 2), np.nan)
    if work.fixed_c is not None:
        covariance[1, :] = covariance[:, 1] = 0.0
    return CurveFit(
        s=float(s),
        c=float(c),
        covariance=covariance,
        log_likelihood=work.slopes(at)[0],
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
        found = [work.slopes(point)[0] for point in points]
    return points[int(np.argmax(np.where(np.isfinite(found), found, -np.inf)))]
