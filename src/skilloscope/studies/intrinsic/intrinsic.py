"""What (s, c) predict, beside what happened: matches, mean loss and blunders, with the variances of multinomial draws.

In: decisions, a model of RH11, s and c (one, or one a decision). Out: predicted against actual per group, the milepost
table of section 7 for any grouping.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.core.errors import InputError, Tally
from skilloscope.decision import Decisions
from skilloscope.models.curve_model import CurveModel
from skilloscope.models.kernels.curves import CurveColumns, probability_columns
from skilloscope.models.scaling import scaled_value
from skilloscope.ratings.intrinsic.fitting import CurveFit, fit_curves
from skilloscope.ratings.mileposts import MILEPOST
from skilloscope.studies.intrinsic.window import MilepostWindow

Array = npt.NDArray[np.float64]

STATISTICS = ("match", "loss", "blunders")
_STEP = 1e-4  # of log s and c, for slopes


@dataclass(frozen=True, eq=False)
class Prediction:
    """Sums over the decisions of each group: what happened, what was expected, and the sd of the difference."""

    labels: Sequence[Any]
    decisions: npt.NDArray[np.int64]
    actual: Mapping[str, Array]
    expected: Mapping[str, Array]
    sd: Mapping[str, Array]

    def z(self, statistic: str) -> Array:
        """Return (actual − expected)/σ of each group; NaN where nothing could vary."""
        sd = self.sd[statistic]
        difference = self.actual[statistic] - self.expected[statistic]
        return np.where(sd > 0, difference / np.where(sd > 0, sd, 1.0), np.nan)

    def as_rows(self, unlisted: Sequence[int] | None = None) -> list[dict[str, Any]]:
        """Return one row per group: means per decision, and the sd of the difference.

        A match rate is over all moves: an `unlisted` choice, which the rule leaves out, is a move without a match.
        """
        rows = []
        for i, label in enumerate(self.labels):
            n, more = max(int(self.decisions[i]), 1), 0 if unlisted is None else int(unlisted[i])
            row: dict[str, Any] = {"group": label, "decisions": int(self.decisions[i]), "unlisted": more}
            for name in STATISTICS:
                moves = n + more if name == "match" else n
                row[f"{name}_actual"] = float(self.actual[name][i]) / moves
                row[f"{name}_predicted"] = float(self.expected[name][i]) / moves
                row[f"{name}_sd"] = float(self.sd[name][i]) / moves
            rows.append(row)
        return rows


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

    def gradient(self, by_log_s: Array, by_c: Array) -> Array:
        """Return the gradient by the parameters of what changes so with log s and c of each decision."""
        return np.asarray(by_log_s[:, None] * self.log_s + by_c[:, None] * self.c)


def predict(
    columns: CurveColumns,
    model: CurveModel,
    s: npt.ArrayLike,
    c: npt.ArrayLike,
    groups: npt.NDArray[np.integer[Any]] | None = None,
    labels: Sequence[Any] = ("all",),
    *,
    blunder: float = 1.0,
    error: ParameterError | None = None,
) -> Prediction:
    """Predict matches, losses and blunders of each group; s and c are one each, or one per decision of the columns.

    A match is the first alternative. Losses are on the model's scale; a blunder loses at least what `blunder` pawns are
    from an even position. A decision is one draw: its variance is Σ p·x² − (Σ p·x)², and decisions are independent.
    What s and c are wrong by, all decisions of a group share: with `error` g'Cg is added, g the gradient of the sum.
    """
    codes = np.zeros(len(columns), dtype=np.int64) if groups is None else np.asarray(groups, dtype=np.int64)
    log_s, limit = np.log(np.asarray(s, dtype=float)), float(scaled_value(blunder, model.scaling))
    expected, square = _expected(columns, model, log_s, np.asarray(c, dtype=float), limit)
    variance = {name: square[name] - expected[name] ** 2 for name in STATISTICS}
    actual = {
        "match": columns.matched.astype(float),
        "loss": columns.chosen_loss,
        "blunders": (columns.chosen_loss >= limit).astype(float),
    }

    def summed(column: Array) -> Array:
        return np.bincount(codes, column, len(labels)).astype(float)

    shared = {name: np.zeros(len(labels)) for name in STATISTICS}
    if error is not None:
        slopes = _slopes(columns, model, log_s, np.asarray(c, dtype=float), limit)
        for name, (by_log_s, by_c) in slopes.items():
            gradient = np.stack([summed(column) for column in error.gradient(by_log_s, by_c).T], axis=1)
            shared[name] = np.einsum("gi,ij,gj->g", gradient, error.covariance, gradient)
    return Prediction(
        labels,
        np.bincount(codes, minlength=len(labels)).astype(np.int64),
        {name: summed(column) for name, column in actual.items()},
        {name: summed(column) for name, column in expected.items()},
        {name: np.sqrt(summed(np.maximum(column, 0.0)) + shared[name]) for name, column in variance.items()},
    )


def _expected(
    columns: CurveColumns, model: CurveModel, log_s: Array, c: Array, limit: float
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return the mean and the mean square of each statistic of one draw, for every decision."""
    p, extra = probability_columns(columns, model.mapping, model.curve, log_s, c)
    starts = columns.offsets[:-1]
    bad = np.add.reduceat(p * (columns.losses >= limit), starts) + extra * (columns.extra_loss >= limit)
    mean = np.add.reduceat(p * columns.losses, starts) + extra * columns.extra_loss
    square = np.add.reduceat(p * columns.losses**2, starts) + extra * columns.extra_loss**2
    first = p[starts]
    return {"match": first, "loss": mean, "blunders": bad}, {"match": first, "loss": square, "blunders": bad}


def _slopes(
    columns: CurveColumns, model: CurveModel, log_s: Array, c: Array, limit: float
) -> dict[str, tuple[Array, Array]]:
    """Return how the mean of each statistic changes with log s and with c, for every decision."""
    by = [
        [_expected(columns, model, log_s + side * ds, c + side * dc, limit)[0] for side in (1.0, -1.0)]
        for ds, dc in ((_STEP, 0.0), (0.0, _STEP))
    ]
    return {
        name: ((by[0][0][name] - by[0][1][name]) / (2 * _STEP), (by[1][0][name] - by[1][1][name]) / (2 * _STEP))
        for name in STATISTICS
    }


@dataclass(frozen=True, eq=False)
class Milepost:
    """One row of the table of section 7; `c_fit` and `s_fit` only where the groups have an Elo."""

    label: Any
    elo: float | None
    fit: CurveFit
    c_fit: float | None
    s_fit: CurveFit | None
    prediction: Prediction
    """On the very decisions of the fit: how far actual and predicted lie apart here says nothing of the scatter."""
    unlisted: int = 0
    """Choices outside the list that the rule leaves out; they count where a match rate is over all moves."""

    def as_dict(self) -> dict[str, Any]:
        """Return the row as every report sends it; the score is S_{s,c}, ours in place of the undefined Q_fit."""
        (row,) = self.prediction.as_rows([self.unlisted])
        normal = self.s_fit or self.fit
        return {
            "group": self.label,
            "elo": self.elo,
            **self.fit.as_dict(),
            "c_fit": self.c_fit,
            "s_fit": None if self.s_fit is None else self.s_fit.s,
            "s_fit_sd": None if self.s_fit is None or not np.isfinite(self.s_fit.s_sd) else self.s_fit.s_sd,
            "score": normal.score,
            **{name: value for name, value in row.items() if name not in ("group", "decisions")},
        }


@dataclass(frozen=True, eq=False)
class Mileposts:
    """The table of section 7 for some grouping."""

    rows: Sequence[Milepost]
    model: CurveModel
    how: str
    line: tuple[float, float] | None
    """c_fit = intercept + slope·Elo."""
    tally: Tally

    def as_dict(self) -> dict[str, Any]:
        """Return the dict that the command sends."""
        return {
            "schema": 1,
            "model": self.model.about(),
            "fit": self.how,
            "warnings": self.model.warnings(),
            "c_line": None if self.line is None else list(self.line),
            "groups": [row.as_dict() for row in self.rows],
            "skipped": self.tally.as_dict(),
        }


def milepost_table(
    decisions: Decisions,
    model: CurveModel | None = None,
    how: str = "likelihood",
    *,
    by: str = MILEPOST,
    window: MilepostWindow | None = None,
    line: tuple[float, float] | None = None,
) -> Mileposts:
    """Return s and c of each group, c_fit by a line through the c of all groups, and s refitted there. [RH11 sect. 7]

    With `milepost` the groups are the hundreds of Elo, of movers near one as the window says; any other column groups
    as it says. The line needs an Elo in the context and at least three groups of different Elo, or it is given:
    the paper takes that of 2006–2009 for every era.
    """
    window = window or MilepostWindow()
    batch = window.inside(decisions)
    if by == MILEPOST:
        batch = window.mileposts(batch)
    model = (model or CurveModel()).prepared(batch)
    columns, tally = model.columns(batch)
    labels, codes = batch.groups(by)
    groups = codes[columns.row]
    used = np.isin(np.arange(len(batch)), columns.row)
    known = [code for code in range(len(labels)) if np.any(groups == code)]
    if not known:
        raise InputError("no decisions left for the table", hint=f"skipped: {batch.tally + tally}")
    parts = {code: columns.take(np.flatnonzero(groups == code)) for code in known}
    games = _games_of(batch, columns, groups, known)
    fits = {code: fit_curves(parts[code], model, how, clusters=games.get(code)) for code in known}
    elos = {code: _mean_elo(batch, np.flatnonzero(codes == code)) for code in known}
    line = line or _line([(elos[code], fits[code].c) for code in known if fits[code].edge is None])
    rows = []
    for code in sorted(known, key=lambda code: (-(elos[code] or 0.0), str(labels[code]))):
        elo, part = elos[code], parts[code]
        c_fit = None if line is None or elo is None else line[0] + line[1] * elo
        refit = None
        if c_fit is not None and c_fit > 0:
            refit = fit_curves(part, model, how, c=c_fit, clusters=games.get(code))
        normal = refit or fits[code]
        found = predict(part, model, normal.s, normal.c, labels=[labels[code]])
        unlisted = int(((codes == code) & ~batch.listed & ~used).sum())
        rows.append(Milepost(labels[code], elo, fits[code], c_fit, refit, found, unlisted=unlisted))
    return Mileposts(rows, model, how, line, batch.tally + tally)


def _games_of(
    batch: Decisions, columns: CurveColumns, groups: npt.NDArray[np.integer[Any]], known: Sequence[int]
) -> dict[int, npt.NDArray[np.integer[Any]]]:
    """Return for each group the game of its decisions; nothing where the table does not name games."""
    if "game" not in batch.context.column_names:
        return {}
    game = batch.groups("game")[1][columns.row]
    return {code: game[groups == code] for code in known}


def _mean_elo(batch: Decisions, rows: npt.NDArray[np.int64]) -> float | None:
    if MILEPOST in batch.context.column_names:
        return float(batch.column(MILEPOST).to_numpy()[rows[0]])
    if "elo" not in batch.context.column_names:
        return None
    elo = batch.column("elo").to_numpy()[rows].astype(float)
    return float(np.nanmean(elo)) if np.isfinite(elo).any() else None


def _line(points: Sequence[tuple[float | None, float]]) -> tuple[float, float] | None:
    """Return intercept and slope of the straight line through (Elo, c), or None where there is none."""
    known = [(elo, c) for elo, c in points if elo is not None]
    if len({elo for elo, _ in known}) < 3:
        return None
    slope, intercept = np.polyfit([elo for elo, _ in known], [c for _, c in known], 1)
    return float(intercept), float(slope)
