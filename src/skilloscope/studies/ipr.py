"""Intrinsic performance ratings: s and c of groups of decisions, their Elo, and what they predict. [RH11 sect. 5, 7, 8]

In: decisions of chess and a model of RH11. Out: `IntrinsicRatings`, the table of section 7 for any grouping: fitted s
and c, matches, losses and blunders predicted and actual, and the Elo of each group along the scale that ships.
`SinglePVControl` is the paper's control: match and average difference from one line for each position.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from skilloscope.core.columns import Array, Bools, Ints
from skilloscope.core.errors import InputError, OptionError
from skilloscope.decision import Decisions, Losses
from skilloscope.evidence import EvidenceTable, Posterior
from skilloscope.evidence.axis import ELO_GRID, elo_axis
from skilloscope.evidence.scales import scale
from skilloscope.evidence.sources.registry import DECISION_SOURCES
from skilloscope.models.curves import CurveColumns, CurveModel
from skilloscope.models.joint import scaled_loss, scaled_value
from skilloscope.models.kernels.curves import probability_columns
from skilloscope.ratings.curve_fits import CurveFit, fit_curves
from skilloscope.ratings.mileposts import MILEPOST, with_mileposts
from skilloscope.report.charts import MOST_ROWS, Dot, Figure, Forest
from skilloscope.report.study import Study
from skilloscope.report.table import STAR_NOTE, Column, EloEstimate, Table, group_name, number, skipped_line

REPETITION = "repetition (the position stood there before in the game)"
STATISTICS = ("match", "loss", "blunders")
_WITHIN = 20.0  # points between a rating and its milepost


@dataclass(frozen=True)
class MilepostWindow:
    """Which decisions count: first move (the paper's is 9), cut-off in pawns, years, nearness to a milepost."""

    first_move: int = 13
    cut_off: float = 3.0
    years: tuple[int, int] | None = None
    within: float = _WITHIN
    both: bool = False

    def __post_init__(self) -> None:
        if self.first_move < 1 or not self.cut_off > 0:
            raise OptionError("the first move is 1 or later, the cut-off above 0")

    def inside(self, decisions: Decisions) -> Decisions:
        """Return the decisions in the window, without repetitions; what has no ply, date or position stays."""
        batch = decisions
        if "ply" in batch.context.column_names:
            early = _numbers(batch, "ply") // 2 + 1 < self.first_move
            batch = batch.select(~early, reason=f"before move {self.first_move}")
        decided = np.abs(batch.best.astype(float)) > self.cut_off
        batch = batch.select(~decided, reason=f"decided (best value beyond ±{self.cut_off:g} pawns)")
        if self.years is not None:
            year = _numbers(batch, "year")
            then = (year >= self.years[0]) & (year <= self.years[1])
            batch = batch.select(then, reason=f"not of {self.years[0]}–{self.years[1]}")
        return batch.select(~repeated(batch), reason=REPETITION)

    def mileposts(self, decisions: Decisions) -> Decisions:
        """Return the decisions of players near a milepost, with a column that names it."""
        whose = "both ratings" if self.both else "rating"
        reason = f"no {whose} within {self.within:g} points of a hundred"
        return with_mileposts(decisions, self.within, both=self.both, reason=reason)


def years_from_text(text: str) -> tuple[int, int]:
    """Return the years that a text like 1991-1994 names, the first and the last.

    >>> years_from_text("1991-1994"), years_from_text("2006")
    ((1991, 1994), (2006, 2006))
    """
    found = re.fullmatch(r"(\d{4})(?:\s*[-–]\s*(\d{4}))?", text.strip())
    if found is None or int(found[2] or found[1]) < int(found[1]):
        raise OptionError(f"no years {text!r}", hint="write 1991-1994, or one year")
    return int(found[1]), int(found[2] or found[1])


def repeated(decisions: Decisions) -> Bools:
    """Return which decisions repeat a position of the same game (mover, castling and en passant included)."""
    names = set(decisions.context.column_names)
    if not {"game", "fen"} <= names or not len(decisions):
        return np.zeros(len(decisions), dtype=bool)
    fens = decisions.column("fen")
    bare = pc.replace_substring_regex(fens, pattern=r" \S+ \S+$", replacement="")
    keyed = replace(decisions, context=pa.table({"game": decisions.column("game"), "position": bare}))
    _, codes = keyed.groups(["game", "position"])
    again = np.ones(len(decisions), dtype=bool)
    again[np.unique(codes, return_index=True)[1]] = False
    return np.asarray(again & pc.is_valid(fens).to_numpy(zero_copy_only=False))


@dataclass(frozen=True)
class GroupMeans:
    """What happened in a group and what was predicted, per decision, with the sd of the difference."""

    unlisted: int  # choices outside the list that the rule leaves out
    match_actual: float
    match_predicted: float
    match_sd: float
    loss_actual: float
    loss_predicted: float
    loss_sd: float
    blunders_actual: float
    blunders_predicted: float
    blunders_sd: float


@dataclass(frozen=True, eq=False)
class Prediction:
    """Sums over the decisions of each group: what happened, what was expected, and the sd of the difference."""

    labels: Sequence[Any]
    decisions: Ints
    actual: Mapping[str, Array]
    expected: Mapping[str, Array]
    sd: Mapping[str, Array]

    def z(self, statistic: str) -> Array:
        """Return (actual − expected)/σ of each group; NaN where nothing could vary."""
        sd = self.sd[statistic]
        difference = self.actual[statistic] - self.expected[statistic]
        return np.where(sd > 0, difference / np.where(sd > 0, sd, 1.0), np.nan)

    def means(self, group: int = 0, unlisted: int = 0) -> GroupMeans:
        """Return a group's means; a match rate is over all moves, `unlisted` choices too."""
        n = max(int(self.decisions[group]), 1)
        sums = (self.actual, self.expected, self.sd)
        moves = {"match": n + unlisted, "loss": n, "blunders": n}
        return GroupMeans(unlisted, *(float(one[name][group]) / moves[name] for name in STATISTICS for one in sums))


def predict(
    columns: CurveColumns,
    model: CurveModel,
    s: npt.ArrayLike,
    c: npt.ArrayLike,
    groups: npt.NDArray[np.integer[Any]] | None = None,
    labels: Sequence[Any] = ("all",),
    *,
    blunder: float = 1.0,
) -> Prediction:
    """Predict matches, losses and blunders (at least `blunder` pawns from an even position) of each group."""
    codes = np.zeros(len(columns), dtype=np.int64) if groups is None else np.asarray(groups, dtype=np.int64)
    limit = float(scaled_value(blunder, model.scaling))
    expected, square = outcome_moments(columns, model, np.log(np.asarray(s, dtype=float)), np.asarray(c), limit)
    variance = {name: square[name] - expected[name] ** 2 for name in STATISTICS}
    actual = {
        "match": columns.matched.astype(float),
        "loss": columns.chosen_loss,
        "blunders": (columns.chosen_loss >= limit).astype(float),
    }

    def summed(column: Array) -> Array:
        return np.bincount(codes, column, len(labels)).astype(float)

    return Prediction(
        labels,
        np.bincount(codes, minlength=len(labels)).astype(np.int64),
        {name: summed(column) for name, column in actual.items()},
        {name: summed(column) for name, column in expected.items()},
        {name: np.sqrt(summed(np.maximum(column, 0.0))) for name, column in variance.items()},
    )


def outcome_moments(
    columns: CurveColumns, model: CurveModel, log_s: Array, c: Array, limit: float
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return the mean and the mean square of each statistic of one draw, for every decision; blunders lose `limit`."""
    p, extra = probability_columns(columns, model.mapping, model.curve, log_s, c)
    starts = columns.offsets[:-1]
    bad = np.add.reduceat(p * (columns.losses >= limit), starts) + extra * (columns.extra_loss >= limit)
    mean = np.add.reduceat(p * columns.losses, starts) + extra * columns.extra_loss
    square = np.add.reduceat(p * columns.losses**2, starts) + extra * columns.extra_loss**2
    first = p[starts]
    return {"match": first, "loss": mean, "blunders": bad}, {"match": first, "loss": square, "blunders": bad}


@dataclass(frozen=True)
class IntrinsicElo(EloEstimate):
    """The Elo of a group along the scale of the curves; `extrapolated` where it is outside the fitted range."""

    extrapolated: bool = False

    def __str__(self) -> str:
        return f"{super().__str__()}{' *' if self.extrapolated else ''}"


@dataclass(frozen=True, eq=False)
class Milepost:
    """One row of the table of section 7; `c_fit` and a refit only where the groups have an Elo."""

    group: Any
    elo: float | None
    fit: CurveFit
    c_fit: float | None
    refit: CurveFit | None  # s fitted with c as the line has it
    means: GroupMeans
    """On the very decisions of the fit: how far actual and predicted lie apart here says nothing of the scatter."""
    ipr: IntrinsicElo | None = None

    FIELDS: ClassVar = ("group", "elo", "*fit", "c_fit", "s_fit", "s_fit_sd", "score", "*means", "ipr")

    @property
    def s_fit(self) -> float | None:
        """The s of the refit."""
        return None if self.refit is None else self.refit.s

    @property
    def s_fit_sd(self) -> float | None:
        """Its standard error, None at the edge of the allowed range."""
        return None if self.refit is None or not np.isfinite(self.refit.s_sd) else self.refit.s_sd

    @property
    def score(self) -> float:
        """S_{s,c} of the refit, or of the fit where there is none: ours in place of the undefined Q_fit."""
        return (self.refit or self.fit).score


@dataclass(frozen=True, eq=False)
class IntrinsicRatings(Study):
    """The table of section 7 for some grouping, the greatest Elo first."""

    by: str
    curves: CurveModel
    model: Mapping[str, object]
    fit: str
    c_line: tuple[float, float] | None  # c_fit = intercept + slope·Elo
    groups: Sequence[Milepost]
    intrinsic_notes: Sequence[str] = ()  # how the Elo was computed, or why there is none
    head: str = ""

    FIELDS: ClassVar = ("model", "fit", "warnings", "c_line", "groups", "skipped", "intrinsic_notes")
    ROWS: ClassVar = "groups"
    caveats = (
        "s, c and the Elo depend on the engine and its depth. The line from s and c to Elo is that of one model.",
        "The Elo of a group of players is that of a typical member, not a mean of theirs.",
    )

    @property
    def title(self) -> str:
        """What the page is called."""
        return f"Intrinsic performance ratings by {self.by}"

    def tables(self, top: int | None = None) -> Sequence[Table]:
        """Return a row for each group, with the columns of section 7."""
        columns: list[Column[Milepost]] = [
            Column(self.by, lambda row: group_name(row.group), label=True),
            Column("decisions", lambda row: f"{row.fit.decisions:,}"),
            Column("IPR (95 % interval)", lambda row: str(row.ipr or "–")),
            Column("s", lambda row: row.fit.written("s")),
            Column("c", lambda row: row.fit.written("c")),
            Column("c_fit", lambda row: number(row.c_fit, 3)),
            Column("s_fit", lambda row: number(row.s_fit, 3)),
            Column("mm p/a", lambda row: f"{100 * row.means.match_predicted:.1f}/{100 * row.means.match_actual:.1f}"),
            Column("ad p/a", lambda row: f"{row.means.loss_predicted:.3f}/{row.means.loss_actual:.3f}"),
            Column("S", lambda row: number(row.score, 4)),
        ]
        if not any(row.ipr for row in self.groups):
            del columns[2]
        notes = [
            skipped_line(sum(row.fit.decisions for row in self.groups), self.skipped),
            STAR_NOTE if any(row.fit.edge for row in self.groups) else "",
            *self.intrinsic_notes,
            "p: predicted, a: actual; mm: match with the engine's first move; ad: mean loss on the scaled axis",
        ]
        how = f"fit {self.fit}, rule {self.curves.rule}, scaling {self.curves.scaling:g}"
        title = f"s and c of {self.curves.mapping} with {self.curves.curve} ({how})"
        return [Table.of(title, self.groups[:top], columns, notes=notes)]

    def figures(self) -> Sequence[Figure]:
        """Return the Elo of the groups with intervals."""
        found = [(group_name(row.group), row.ipr) for row in self.groups if row.ipr]
        rows = [(name, [Dot(ipr.elo, ipr.elo_low, ipr.elo_high)]) for name, ipr in found]
        caption = f"Point: estimate; line: 95 % interval. The first {MOST_ROWS} where there are more."
        return [Figure("Elo", Forest(rows[:MOST_ROWS], elo_axis().axis), caption)] if rows else []


def milepost_table(
    decisions: Decisions,
    model: CurveModel | None = None,
    how: str = "likelihood",
    *,
    by: str = MILEPOST,
    window: MilepostWindow | None = None,
    line: tuple[float, float] | None = None,
) -> IntrinsicRatings:
    """Return s and c of each group, c_fit by a line through all groups' c, and s refitted there. [RH11 sect. 7]"""
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
    game = batch.groups("game")[1][columns.row] if "game" in batch.context.column_names else None
    games = {code: None if game is None else game[groups == code] for code in known}
    fits = {code: fit_curves(parts[code], model, how, clusters=games[code]) for code in known}
    elos = {code: _mean_elo(batch, np.flatnonzero(codes == code)) for code in known}
    line = line or _line([(elos[code], fits[code].c) for code in known if fits[code].edge is None])
    rows = []
    for code in sorted(known, key=lambda code: (-(elos[code] or 0.0), str(labels[code]))):
        elo, part = elos[code], parts[code]
        c_fit = None if line is None or elo is None else line[0] + line[1] * elo
        refit = fit_curves(part, model, how, c=c_fit, clusters=games[code]) if c_fit and c_fit > 0 else None
        normal = refit or fits[code]
        unlisted = int(((codes == code) & ~batch.listed & ~used).sum())
        means = predict(part, model, normal.s, normal.c).means(unlisted=unlisted)
        rows.append(Milepost(labels[code], elo, fits[code], c_fit, refit, means))
    return IntrinsicRatings(
        by, model, model.about(), how, line, rows, warnings=model.warnings(), tally=batch.tally + tally
    )


def with_intrinsic_elo(study: IntrinsicRatings, decisions: Decisions, *, mass: float = 0.95) -> IntrinsicRatings:
    """Return the study with each group's Elo and its interval, where the model is that of the scale. [RH11 sect. 8]"""
    line, axis, about = scale("curves"), elo_axis(), study.model
    if any(line.model.get(name) != value for name, value in about.items() if name in line.model):
        note = f"no Elo: the bundled scale is for {line.model['mapping']} with {line.model['curve']}"
        return replace(study, intrinsic_notes=[note], groups=[replace(row, ipr=None) for row in study.groups])
    found = {
        group: IntrinsicElo(elo.mean, *elo.interval(mass), elo.edge, axis.extrapolates(elo.mean))
        for group, elo in intrinsic_elo(decisions, by=study.by).items()
    }
    rows = [replace(row, ipr=found.get(row.group)) for row in study.groups]
    low, high = line.valid
    notes = [
        f"IPR: {axis.axis}, by the curves along the scale {line.name!r} ({line.data}), fitted from {low:.0f} to "
        f"{high:.0f}; prior: population, mean {axis.population['mean']:.0f}, sd {axis.population['sd']:.0f} "
        f"({axis.population['name']})",
        *line.warnings({**about, "parameter": line.model["parameter"]}, decisions.about.get("settings", {})),
    ]
    return replace(study, intrinsic_notes=notes, groups=rows)


def intrinsic_elo(decisions: Decisions, *, by: str = MILEPOST, prior: str = "population") -> dict[Any, Posterior]:
    """Return each group's Elo by the curves, discounted as measured, with an effect of every person."""
    batch = decisions if by != MILEPOST else with_mileposts(decisions, _WITHIN, both=False)
    source, games = DECISION_SOURCES["curves"], ["game"] if "game" in batch.context.column_names else []
    labels, curves, counts = source.rows(batch, [by, "decider", *games])
    used = np.flatnonzero(counts).tolist()
    groups, people = ([labels[row][column] for row in used] for column in (0, 1))
    sources = ["curves"] * len(used)
    table = EvidenceTable(ELO_GRID, groups, curves[used], counts[used], people=people, sources=sources)
    axis = elo_axis().measured_by({"curves": source.effects()}, prior)
    return {label: axis.posterior(own) for label, own in table.groups().items()}


@dataclass(frozen=True)
class SinglePV:
    """The control of one group."""

    group: Any
    moves: int
    match: float  # the share of moves that are the engine's first choice
    average_difference: float  # what moves that differ from it lost, on the scaled axis, over all moves
    rising: int  # moves that differ, after which the evaluation was higher than before: they count as no loss


@dataclass(frozen=True, eq=False)
class SinglePVControl(Study):
    """Match and average difference from one line for each position, the best match first. [RH11 sect. 5]"""

    by: str
    scaling: float
    groups: Sequence[SinglePV]
    engine: Mapping[str, object] = field(default_factory=dict)

    FIELDS: ClassVar = ("by", "scaling", "engine", "groups", "skipped")
    ROWS: ClassVar = "groups"
    title = "Single-line control"
    caveats = ("One line per position has no alternatives, so it gives no rating.",)

    def tables(self, top: int | None = None) -> Sequence[Table]:
        """Return a row for each group."""
        columns: list[Column[SinglePV]] = [
            Column(self.by, lambda row: group_name(row.group), label=True),
            Column("moves", lambda row: f"{row.moves:,}"),
            Column("match", lambda row: f"{100 * row.match:.1f} %"),
            Column("ad", lambda row: f"{row.average_difference:.3f}"),
            Column("rising", lambda row: f"{row.rising:,}"),
        ]
        notes = [
            skipped_line(sum(row.moves for row in self.groups), self.skipped),
            "match: the engine's first choice was played; ad: what other moves lost, on the scaled axis, over all "
            "moves; rising: moves after which the evaluation was higher, counted as no loss",
        ]
        title = f"Single-line control, RH11 section 5 (scaling {self.scaling:g})"
        return [Table.of(title, self.groups[:top], columns, notes=notes)]


def single_pv(
    losses: Losses, window: MilepostWindow | None = None, *, by: str = "decider", scaling: float = 1.0
) -> SinglePVControl:
    """Return match and average difference of each group, cut by the evaluation before the move. [RH11 sect. 5]"""
    if "first_choice" not in losses.context.column_names:
        raise InputError(
            "these evaluations do not include the engine's preferred move",
            hint="comments do not; have the games searched: --values engine",
        )
    window, batch = window or MilepostWindow(first_move=9), losses
    if "ply" in losses.context.column_names:
        ply = losses.context.column("ply").to_numpy()
        batch = losses.select(ply // 2 + 1 >= window.first_move, reason=f"before move {window.first_move}")
    near = np.abs(batch.before) <= window.cut_off
    batch = batch.select(near, reason=f"decided (beyond ±{window.cut_off:g} pawns)")
    known = pc.is_valid(batch.context.column("first_choice")).to_numpy()
    batch = batch.select(known, reason="first choice unknown")
    rows = []
    for label, own in batch.group_by(by).items():
        differs = ~own.context.column("first_choice").to_numpy().astype(bool)
        loss = np.where(differs, scaled_loss(own.before, own.after, scaling), 0.0)
        match, lost = float((~differs).mean()), float(np.maximum(loss, 0.0).mean())
        rows.append(SinglePV(label, len(own), match, lost, int((loss < 0).sum())))
    rows.sort(key=lambda row: (-row.match, str(row.group)))
    return SinglePVControl(by, scaling, rows, tally=batch.tally)


def _mean_elo(batch: Decisions, rows: Ints) -> float | None:
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


def _numbers(batch: Decisions, name: str) -> Array:
    if name not in batch.context.column_names:
        raise InputError(f"the decisions have no {name}", hint="games with dates in their headers have one")
    column = pc.fill_null(batch.column(name).cast(pa.float64()), np.nan)
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
