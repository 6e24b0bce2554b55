"""The scale of RH11's curves, (s, c) along the Elo line: its fit, ratings by expected error, and the dispersion.

In: decisions of rated players. Out: a `Scale` of the same type as the agent's. Its parameter is −log s, which grows
with skill; c has a line of its own. Both lines are fitted by likelihood; their covariance is the sandwich over games.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

from skilloscope.core.columns import Array
from skilloscope.core.errors import InputError
from skilloscope.decision import Decisions
from skilloscope.evidence.scales import MINUS_LOG_S, Scale
from skilloscope.evidence.sources.curves import LEAST_C
from skilloscope.models.curves import CurveColumns, CurveModel
from skilloscope.models.joint import scaled_value
from skilloscope.models.kernels.curves import probability_columns, scores
from skilloscope.papers.rh11 import HUNDRED, ORIGIN, cluster_sums, fit_lines, rated_decisions
from skilloscope.ratings.curve_fits import CurveFit
from skilloscope.studies.ipr import STATISTICS, Prediction, outcome_moments, predict

_ELO_RANGE = (400.0, 3600.0)
_STEP = 1e-4  # of log s and c, for slopes


def fit_curve_scale(decisions: Decisions, model: CurveModel | None = None, *, name: str = "curves") -> Scale:
    """Fit log s and c as straight lines in Elo, by likelihood over all decisions of rated players."""
    rated = rated_decisions(decisions)
    model = (model or CurveModel()).prepared(rated)
    columns, tally = model.columns(rated)
    elo = rated.column("elo").to_numpy().astype(float)[columns.row]
    x = (elo - ORIGIN) / HUNDRED
    design = np.column_stack([np.ones_like(x), x])
    beta, bread, score = fit_lines(columns, model, design, design)
    clusters = rated.groups(["game"])[1][columns.row]
    meat = cluster_sums(score, clusters)
    covariance = bread @ (meat.T @ meat) @ bread
    main, along = _effective(columns, model, design, beta, covariance)
    players = rated.groups(["game", "mover"])[1][columns.row]
    step = cluster_sums(along[:, None], players)
    return Scale(
        name=name,
        model={**model.about(), "parameter": MINUS_LOG_S},
        settings=dict(rated.about.get("settings", {})),
        data=f"{int(clusters.max()) + 1:,} games, {len(columns):,} decisions",
        pool="rated games",
        origin=ORIGIN,
        intercept=-float(beta[0]),
        slope=-float(beta[1]) / HUNDRED,
        covariance=tuple(tuple(float(v) for v in row) for row in main),  # type: ignore[arg-type]
        dispersion=max(float((step**2).sum() / (along**2).sum()), 1.0),
        valid=(float(np.round(elo.min(), -2)), float(np.round(elo.max(), -2))),
        population={"mean": float(elo.mean()), "sd": float(elo.std()), "source": "the fitted decisions"},
        fit={"log_likelihood": float(lines_log_p(columns, model, design, beta).sum()), "left_out": tally.as_dict()},
        also={"c": (float(beta[2]), float(beta[3]) / HUNDRED)},
    )


def lines_log_p(columns: CurveColumns, model: CurveModel, design: Array, beta: Array) -> Array:
    """Return log p of every choice where log s and c are lines in the columns of the design."""
    k = design.shape[1]
    log_s, c = design @ beta[:k], np.maximum(design @ beta[k:], LEAST_C)
    return scores(columns, model.mapping, model.curve, log_s, c).log_p


@dataclass(frozen=True)
class ErrorRating:
    """An Elo by expected error: what (s, c) would lose on the reference decisions, read off the scale's own losses."""

    elo: float
    sd: float
    expected_error: float


def error_rating(fit: CurveFit, scale: Scale, reference: Decisions) -> ErrorRating:
    """Return the Elo at which the scale loses as much on the reference decisions as the fitted (s, c) do.

    Its sd is that of the fit alone, widened by the scale's dispersion.
    """
    model = CurveModel.from_about(scale.model)
    columns, _ = model.columns(reference)

    def error(s: float, c: float) -> float:
        p, extra = probability_columns(columns, model.mapping, model.curve, np.log(s), c)
        return float((p @ columns.losses + extra @ columns.extra_loss) / len(columns))

    def along(elo: float) -> float:
        at = scale.parameters(elo)
        return error(float(at["s"]), max(float(at["c"]), LEAST_C))

    found = error(fit.s, fit.c)
    low, high = _ELO_RANGE
    if not along(high) < found < along(low):
        raise InputError(
            f"an expected error of {found:.4f} is outside the scale's range",
            hint=f"at Elo {low:.0f} it is {along(low):.4f}, at {high:.0f} {along(high):.4f}",
        )
    elo = float(brentq(lambda at: along(at) - found, low, high, xtol=1e-3))
    step = 1e-4
    slope = np.array(
        [
            (error(fit.s * (1 + step), fit.c) - error(fit.s * (1 - step), fit.c)) / (2 * step * fit.s),
            (error(fit.s, fit.c * (1 + step)) - error(fit.s, fit.c * (1 - step))) / (2 * step * fit.c),
        ]
    )
    fall = (along(elo + 1) - along(elo - 1)) / 2
    return ErrorRating(elo, float(np.sqrt(scale.dispersion * slope @ fit.covariance @ slope) / abs(fall)), found)


@dataclass(frozen=True, eq=False)
class ParameterError:
    """The covariance of some parameters, and how log s and c of each decision follow from them (a column for each)."""

    covariance: Array
    log_s: Array
    c: Array

    @classmethod
    def of_fit(cls, fit: CurveFit) -> ParameterError:
        """Return the error of s and c that were fitted to other decisions."""
        return cls(fit.covariance, np.array([[1.0 / fit.s, 0.0]]), np.array([[0.0, 1.0]]))


def predict_with_error(
    columns: CurveColumns,
    model: CurveModel,
    s: npt.ArrayLike,
    c: npt.ArrayLike,
    error: ParameterError,
    groups: npt.NDArray[np.integer[Any]] | None = None,
    labels: tuple[Any, ...] | list[Any] = ("all",),
) -> Prediction:
    """Predict as `predict` does, with the error of s and c in the sd.

    All decisions of a group share what s and c are wrong by: g'Cg is added to the variance, g the gradient of the sum.
    """
    found = predict(columns, model, s, c, groups, labels)
    codes = np.zeros(len(columns), dtype=np.int64) if groups is None else np.asarray(groups, dtype=np.int64)
    log_s, at_c = np.log(np.asarray(s, dtype=float)), np.asarray(c, dtype=float)
    limit = float(scaled_value(1.0, model.scaling))
    by = [
        [outcome_moments(columns, model, log_s + side * ds, at_c + side * dc, limit)[0] for side in (1.0, -1.0)]
        for ds, dc in ((_STEP, 0.0), (0.0, _STEP))
    ]
    sd = {}
    for name in STATISTICS:
        by_log_s, by_c = ((up[name] - down[name]) / (2 * _STEP) for up, down in by)
        rows = by_log_s[:, None] * error.log_s + by_c[:, None] * error.c
        gradient = np.stack([np.bincount(codes, column, len(labels)) for column in rows.T], axis=1)
        shared = np.einsum("gi,ij,gj->g", gradient, error.covariance, gradient)
        sd[name] = np.sqrt(found.sd[name] ** 2 + shared)
    return replace(found, sd=sd)


@dataclass(frozen=True)
class Dispersion:
    """How much more player-games scatter than independent draws: sd of z on one half of the players, on the other."""

    statistic: str
    sd: float
    """On the half on which the scale was fitted too: the factor by which σ is to be multiplied."""
    checked: float
    """sd of z/sd on the other half: 1 where the factor is right."""
    checked_error: float
    """Its standard error, that of the factor in it."""
    covered: float
    """Share of the other half's |z| within 1.96·sd."""
    games: int
    """Player-games of the other half."""


def measure_dispersion(decisions: Decisions, model: CurveModel | None = None, *, seed: int = 1) -> list[Dispersion]:
    """Fit the scale and the dispersion on half of the players, and check them on the other half's player-games."""
    rated = rated_decisions(decisions)
    order = np.random.default_rng(seed).permutation(len(rated.deciders))
    first = order[rated.decider] < len(rated.deciders) / 2
    halves = rated.select(first), rated.select(~first)
    scale = fit_curve_scale(halves[0], model)
    z = [_game_scores(half, scale) for half in halves]
    rows = []
    for name in STATISTICS:
        own, other = (half[name][np.isfinite(half[name])] for half in z)
        sd = float(np.sqrt((own**2).mean()))
        checked = other / sd
        spread = float(np.sqrt((checked**2).mean()))
        # Half the relative error of each mean square: that of the estimate, and that of the check.
        error = 0.5 * spread * float(np.hypot(_relative_error(own), _relative_error(checked)))
        rows.append(Dispersion(name, sd, spread, error, float((np.abs(checked) < 1.96).mean()), len(checked)))
    return rows


def _effective(
    columns: CurveColumns, model: CurveModel, design: Array, beta: Array, covariance: Array
) -> tuple[Array, Array]:
    """Return the covariance of the line in −log s that stands for the errors of both lines, and each score along Elo.

    An error e of (log s, c) moves an Elo read along the line by k·e, k = d·I/(d·I·d): d is the line's direction, I the
    information in (log s, c). Both lines' errors are put into −log s by that.
    """
    c = np.maximum(design @ beta[2:], LEAST_C)
    found = scores(columns, model.mapping, model.curve, design @ beta[:2], c)
    rows = np.column_stack([found.by_log_s, found.by_c])
    information = rows.T @ rows / len(rows)
    d = np.array([beta[1], beta[3]]) / HUNDRED
    k = d @ information / (d @ information @ d)
    slope = -beta[1] / HUNDRED
    take = slope * np.array([[k[0], 0.0, k[1], 0.0], [0.0, k[0] / HUNDRED, 0.0, k[1] / HUNDRED]])
    return take @ covariance @ take.T, rows @ d


def _game_scores(batch: Decisions, scale: Scale) -> dict[str, Array]:
    model = CurveModel.from_about(scale.model)
    columns, _ = model.columns(batch)
    at = scale.parameters(batch.column("elo").to_numpy().astype(float)[columns.row])
    labels, codes = batch.groups(["game", "mover"])
    x = batch.column("elo").to_numpy().astype(float)[columns.row] - scale.origin
    along = -np.column_stack([np.ones_like(x), x])  # its covariance stands for the errors of both lines
    error = ParameterError(np.array(scale.covariance, dtype=float), along, np.zeros_like(along))
    found = predict_with_error(columns, model, at["s"], at["c"], error, codes[columns.row], labels)
    return {name: found.z(name) for name in STATISTICS}


def _relative_error(z: Array) -> float:
    return float((z**2).std() / (z**2).mean() / np.sqrt(len(z)))
