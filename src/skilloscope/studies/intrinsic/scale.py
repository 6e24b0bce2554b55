"""(s, c) along the Elo line: the scale of the curves, ratings read along it, dispersion, and the inflation question.

In: decisions of rated players. Out: a `Scale` of the same type as the agent's. Its parameter is −log s, which grows
with skill; c has a line of its own beside it. Evidence about the place on that line is evidence about Elo, and the
posterior is made as everywhere. Both lines are fitted by likelihood; their covariance is the sandwich over games.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.stats import norm

from skilloscope.core.errors import InputError, Tally
from skilloscope.decision import Decisions
from skilloscope.inference import EvidenceTable, Grid
from skilloscope.inference.optimise import climb
from skilloscope.models.curve_model import CurveModel
from skilloscope.models.kernels.curves import CurveColumns, probability_columns, scores
from skilloscope.ratings.elo_axis.effects import ELO
from skilloscope.ratings.intrinsic.fitting import CurveFit, fit_curves
from skilloscope.ratings.scale import MINUS_LOG_S, Scale
from skilloscope.studies.intrinsic.intrinsic import ParameterError, predict

Array = npt.NDArray[np.float64]

ORIGIN = 2100.0
_HUNDRED = 100.0
_ELO_RANGE = (400.0, 3600.0)
_LEAST_C = 0.05  # c's line is cut off here, far outside the range in which it is fitted


def fit_curve_scale(decisions: Decisions, model: CurveModel | None = None, *, name: str = "curves") -> Scale:
    """Fit log s and c as straight lines in Elo, by likelihood over all decisions of rated players."""
    rated = _rated(decisions)
    model = (model or CurveModel()).prepared(rated)
    columns, tally = model.columns(rated)
    elo = rated.column("elo").to_numpy().astype(float)[columns.row]
    x = (elo - ORIGIN) / _HUNDRED
    design = np.column_stack([np.ones_like(x), x])
    beta, bread, score = fit_lines(columns, model, design, design)
    clusters = _codes(rated, ["game"])[columns.row]
    meat = _summed(score, clusters)
    covariance = bread @ (meat.T @ meat) @ bread
    main, along = _effective(columns, model, design, beta, covariance)
    players = _codes(rated, ["game", "mover"])[columns.row]
    step = _summed(along[:, None], players)
    return Scale(
        name=name,
        model={**model.about(), "parameter": MINUS_LOG_S},
        settings=dict(rated.about.get("settings", {})),
        data=f"{int(clusters.max()) + 1:,} games, {len(columns):,} decisions",
        pool="rated games",
        origin=ORIGIN,
        intercept=-float(beta[0]),
        slope=-float(beta[1]) / _HUNDRED,
        covariance=tuple(tuple(float(v) for v in row) for row in main),  # type: ignore[arg-type]
        dispersion=max(float((step**2).sum() / (along**2).sum()), 1.0),
        valid=(float(np.round(elo.min(), -2)), float(np.round(elo.max(), -2))),
        population={"mean": float(elo.mean()), "sd": float(elo.std()), "source": "the fitted decisions"},
        fit={"log_likelihood": float(lines_log_p(columns, model, design, beta).sum()), "left_out": tally.as_dict()},
        also={"c": (float(beta[2]), float(beta[3]) / _HUNDRED)},
    )


def lines_log_p(columns: CurveColumns, model: CurveModel, design: Array, beta: Array) -> Array:
    """Return log p of every choice where log s and c are lines in the columns of the design."""
    k = design.shape[1]
    log_s, c = design @ beta[:k], np.maximum(design @ beta[k:], _LEAST_C)
    return scores(columns, model.mapping, model.curve, log_s, c).log_p


def curve_evidence(
    decisions: Decisions, scale: Scale, *, by: str | Sequence[str] = "decider", size: int = 32
) -> EvidenceTable:
    """Return each group's evidence about its place on the scale's line: curves over −log s, with c as the line says."""
    model = CurveModel.from_about(scale.model)
    columns, tally = model.columns(decisions)
    labels, codes = decisions.groups(by)
    groups = codes[columns.row]
    low, high = (float(v) for v in scale.parameter(list(_ELO_RANGE)))
    grid = Grid(max(low, 0.0), high, size)
    curves = np.zeros((len(labels), size))
    for j, (s, c) in enumerate(zip(*_along(scale, grid.nodes), strict=True)):
        log_p = scores(columns, model.mapping, model.curve, np.log(s), c).log_p
        curves[:, j] = np.bincount(groups, log_p, len(labels))
    counts = np.bincount(groups, minlength=len(labels)).astype(np.int64)
    return EvidenceTable(grid, labels, curves, counts, decisions.tally + tally, dict(scale.model))


def curves_on_elo(table: EvidenceTable, scale: Scale) -> Array:
    """Return each group's evidence along the scale's line as a curve on ELO; beyond the line's ends it stays."""
    at = np.clip(scale.parameter(ELO), table.grid.low, table.grid.high)
    return np.asarray(table.grid.interpolate(table.curves.T, at))


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
        return error(float(at["s"]), max(float(at["c"]), _LEAST_C))

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
    rated = _rated(decisions)
    order = np.random.default_rng(seed).permutation(len(rated.deciders))
    first = order[rated.decider] < len(rated.deciders) / 2
    halves = rated.select(first), rated.select(~first)
    scale = fit_curve_scale(halves[0], model)
    z = [_game_scores(half, scale) for half in halves]
    rows = []
    for name in ("match", "loss", "blunders"):
        own, other = (half[name][np.isfinite(half[name])] for half in z)
        sd = float(np.sqrt((own**2).mean()))
        checked = other / sd
        spread = float(np.sqrt((checked**2).mean()))
        # Half the relative error of each mean square: that of the estimate, and that of the check.
        error = 0.5 * spread * float(np.hypot(_relative_error(own), _relative_error(checked)))
        rows.append(Dispersion(name, sd, spread, error, float((np.abs(checked) < 1.96).mean()), len(checked)))
    return rows


@dataclass(frozen=True)
class Inflation:
    """Whether equal ratings mean weaker play than before: the change of log s at equal Elo, per decade."""

    elo_per_decade: float
    """Above 0 is inflation: the same number stands for play that is so many points weaker ten years later."""
    sd: float
    low: float
    high: float
    p_value: float
    decisions: int
    years: tuple[int, int]
    tally: Tally


def inflation(decisions: Decisions, model: CurveModel | None = None, *, mass: float = 0.95) -> Inflation:
    """Fit log s = a + b·Elo + γ·decades with c a line in Elo, and test γ = 0. [RH11 sect. 7, made a test]"""
    rated = _rated(decisions)
    year = rated.column("year").to_numpy().astype(float)
    rated = rated.select(np.isfinite(year), reason="no year")
    model = (model or CurveModel()).prepared(rated)
    columns, tally = model.columns(rated)
    x = (rated.column("elo").to_numpy().astype(float)[columns.row] - ORIGIN) / _HUNDRED
    years = rated.column("year").to_numpy().astype(float)[columns.row]
    if not len(years) or np.ptp(years) == 0:
        raise InputError("the inflation question needs decisions of different years")
    design = np.column_stack([np.ones_like(x), x, (years - years.mean()) / 10])
    beta, bread, score = fit_lines(columns, model, design, design[:, :2])
    meat = _summed(score, _codes(rated, ["game"])[columns.row])
    covariance = bread @ (meat.T @ meat) @ bread
    per_decade = -_HUNDRED * beta[2] / beta[1]
    slope = np.zeros(len(beta))
    slope[1], slope[2] = _HUNDRED * beta[2] / beta[1] ** 2, -_HUNDRED / beta[1]
    sd = float(np.sqrt(slope @ covariance @ slope))
    reach = float(norm.ppf(0.5 + mass / 2)) * sd
    p = float(2 * norm.sf(abs(beta[2]) / np.sqrt(covariance[2, 2])))
    span = int(years.min()), int(years.max())
    return Inflation(
        elo_per_decade=float(per_decade),
        sd=sd,
        low=float(per_decade) - reach,
        high=float(per_decade) + reach,
        p_value=p,
        decisions=len(columns),
        years=span,
        tally=rated.tally + tally,
    )


def fit_lines(columns: CurveColumns, model: CurveModel, for_s: Array, for_c: Array) -> tuple[Array, Array, Array]:
    """Return coefficients of log s and c, the inverse information, and each decision's score in all coefficients.

    The first column of each design is the constant; the climb begins with one s and c for all.
    """
    k = for_s.shape[1]

    def score_rows(beta: Array) -> tuple[Array, Array]:
        c = np.maximum(for_c @ beta[k:], _LEAST_C)
        found = scores(columns, model.mapping, model.curve, for_s @ beta[:k], c)
        return found.log_p, np.column_stack([found.by_log_s[:, None] * for_s, found.by_c[:, None] * for_c])

    def slopes(beta: Array) -> tuple[float, Array]:
        with np.errstate(over="ignore", invalid="ignore"):  # a step too far is not taken
            log_p, rows = score_rows(beta)
            return float(log_p.sum()), rows.sum(axis=0)

    one = fit_curves(columns, model)
    start = np.zeros(k + for_c.shape[1])
    start[0], start[k] = np.log(one.s), one.c
    anywhere = np.full(len(start), np.inf)
    top = climb(slopes, start, -anywhere, anywhere, size=len(columns))
    return top.at, np.asarray(np.linalg.inv(top.information), dtype=np.float64), score_rows(top.at)[1]


def _effective(
    columns: CurveColumns, model: CurveModel, design: Array, beta: Array, covariance: Array
) -> tuple[Array, Array]:
    """Return the covariance of the line in −log s that stands for the errors of both lines, and each score along Elo.

    An error e of (log s, c) moves an Elo read along the line by k·e, k = d·I/(d·I·d): d is the line's direction, I the
    information in (log s, c). Both lines' errors are put into −log s by that.
    """
    c = np.maximum(design @ beta[2:], _LEAST_C)
    found = scores(columns, model.mapping, model.curve, design @ beta[:2], c)
    rows = np.column_stack([found.by_log_s, found.by_c])
    information = rows.T @ rows / len(rows)
    d = np.array([beta[1], beta[3]]) / _HUNDRED
    k = d @ information / (d @ information @ d)
    slope = -beta[1] / _HUNDRED
    take = slope * np.array([[k[0], 0.0, k[1], 0.0], [0.0, k[0] / _HUNDRED, 0.0, k[1] / _HUNDRED]])
    return take @ covariance @ take.T, rows @ d


def _game_scores(batch: Decisions, scale: Scale) -> dict[str, Array]:
    model = CurveModel.from_about(scale.model)
    columns, _ = model.columns(batch)
    at = scale.parameters(batch.column("elo").to_numpy().astype(float)[columns.row])
    labels, codes = batch.groups(["game", "mover"])
    found = predict(
        columns, model, at["s"], at["c"], codes[columns.row], labels, error=_line_error(batch, columns, scale)
    )
    return {name: found.z(name) for name in ("match", "loss", "blunders")}


def _line_error(batch: Decisions, columns: CurveColumns, scale: Scale) -> ParameterError:
    """Return the error of the scale's line; its covariance stands for the errors of both lines."""
    x = batch.column("elo").to_numpy().astype(float)[columns.row] - scale.origin
    along = -np.column_stack([np.ones_like(x), x])
    return ParameterError(np.array(scale.covariance, dtype=float), along, np.zeros_like(along))


def _relative_error(z: Array) -> float:
    return float((z**2).std() / (z**2).mean() / np.sqrt(len(z)))


def _along(scale: Scale, parameter: Array) -> tuple[Array, Array]:
    at = scale.parameters(scale.elo(parameter))
    return at["s"], np.maximum(at["c"], _LEAST_C)


def _rated(decisions: Decisions) -> Decisions:
    elo = decisions.column("elo").to_numpy().astype(float)
    rated = decisions.select(np.isfinite(elo), reason="no rating")
    if not len(rated) or np.ptp(rated.column("elo").to_numpy().astype(float)) == 0:
        raise InputError("a line needs decisions of players of different rating", hint="games whose headers have Elo")
    return rated


def _codes(batch: Decisions, names: list[str]) -> npt.NDArray[np.integer[Any]]:
    return batch.groups(names)[1]


def _summed(rows: Array, clusters: npt.NDArray[np.integer[Any]]) -> Array:
    out = np.zeros((int(clusters.max()) + 1, rows.shape[1]))
    np.add.at(out, clusters, rows)
    return out
