"""RH11: what its printed table implies, its examples, and its table of section 7 next to ours on other games.

The paper's games were judged by Rybka 3 at depth 13 with fifty lines. Ours are judged by Stockfish 15.1 at depth 10
with ten: the numbers stand side by side, they are not the same measurement.

The inflation question is a test here: log s and c as lines in Elo and time, fitted by likelihood, whose covariance is
the sandwich over games.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

from skilloscope.chess.pgn.games import Games, read_games
from skilloscope.core.columns import Array
from skilloscope.core.errors import InputError, Tally
from skilloscope.core.optimise import climb
from skilloscope.decision import Decisions
from skilloscope.evidence.sources.curves import LEAST_C
from skilloscope.inputs.load import without_repeats
from skilloscope.models.curves import MAPPINGS, CurveColumns, CurveModel, curve, probabilities
from skilloscope.models.joint import Flatness, fit_scaling, flatness, scaled_loss
from skilloscope.models.kernels.curves import scores
from skilloscope.papers import harness
from skilloscope.papers.harness import NO_DATA, Budget, Outcome, Row, analysed_decisions, paper_table, printed
from skilloscope.ratings.curve_fits import fit_curves
from skilloscope.ratings.mileposts import nearest_milepost
from skilloscope.report.charts import Figure, Lines, Series
from skilloscope.studies.ipr import IntrinsicRatings, MilepostWindow, milepost_table

_ERAS = {"2006-2009": "bands/*_2006-2009.pgn", "1991-1994": "bands/*_1990s.pgn", "1976-1979": "bands/*_1970s.pgn"}
_GAMES = 30  # of each milepost, that are planned for where engine time is given
_OURS = "2006-2014"  # the years of the analysed games: their c line is the one that every era uses
_COLUMNS = ("s", "c", "c_fit", "s_fit", "mm_p", "mm_a", "ad_p", "ad_a", "q_fit")
_MARKERS = {"2006-2009": "o", "1991-1994": "s", "1976-1979": "^", "2006-2014": "D"}
ORIGIN, HUNDRED = 2100.0, 100.0  # Elo is counted in hundreds from here in the lines of s and c
_MIDDLE = {"2006-2009": 2007.5, "1991-1994": 1992.5, "1976-1979": 1977.5}


def _s_by_elo(tables: Mapping[str, IntrinsicRatings]) -> list[Figure]:
    lines = []
    for colour, (era, look) in enumerate(_MARKERS.items()):
        rows = [row for row in paper_table("RH11_table") if row["era"] == era]
        at, values = [float(row["elo"]) for row in rows], [float(row["s_fit"]) for row in rows]
        lines += [Series(f"printed, {era}", at, values, colour=colour, look=f"{look}-", width=1)] if rows else []
        own = [row for row in tables[era].groups if row.refit and row.elo] if era in tables else []
        if own:
            s, sd = np.array([(row.refit.s, row.refit.s_sd) for row in own if row.refit]).T
            elo = [(row.elo or 0.0) + 12 for row in own]
            lines.append(Series(f"ours, {era}", elo, s, s - sd, s + sd, colour=colour, look=look, bars=True))
    chart = Lines(lines, "Elo", "s at c_fit, pawns", height=3.8, y_limits=(0, None))
    return [Figure("s by Elo", chart, "s by Elo at the c of the line, the printed ones and ours.")]


def _loss_by_evaluation(before: Flatness, after: Flatness) -> list[Figure]:
    lines = []
    for one, name in ((before, "no scaling"), (after, f"a = {after.a:.2f}")):
        mean = float((one.mean_loss * one.decisions).sum() / one.decisions.sum())
        low, high = ((one.mean_loss + side * one.sd) / mean for side in (-1, 1))
        lines.append(Series(name, one.centres, one.mean_loss / mean, low, high, look="o-", bars=True))
    x_axis = "evaluation before the move, pawns, the mover's view"
    chart = Lines(lines, x_axis, "loss over its mean", height=3.4, y_limits=(0, None), levels=[1.0])
    caption = "Mean loss by the evaluation before the move, over its own mean, without and with the fitted scaling."
    return [Figure("Evaluation scaling", chart, caption)]


def _closed(_: Budget) -> Sequence[Row]:
    wanted = {"shares": "0.6667", "powers": "0.6180", "third": "0.5705"}
    return [
        Row(f"{name}: p_0 of two options with g = ½", printed(text), float(probabilities(np.log([1.0, 0.5]), name)[0]))
        for name, text in wanted.items()
        if name in MAPPINGS
    ]


def _c_fit(_: Budget) -> Sequence[Row]:
    table = paper_table("RH11_table")
    fitted = [row for row in table if row["era"] == "2006-2009"]
    slope, intercept = np.polyfit([float(row["elo"]) for row in fitted], [float(row["c"]) for row in fitted], 1)
    rows = [Row("interval of c_fit per 100 Elo", printed("0.007"), 100 * float(slope))]
    return rows + [
        Row(f"{row['era']} {row['elo']} c_fit", printed(row["c_fit"]), float(intercept + slope * int(row["elo"])))
        for row in table
    ]


def _section_5(budget: Budget) -> Outcome:
    rows: list[Row] = []
    for line in paper_table("RH11_section_5"):
        losses = [float(text) for text in line["delta"].split(";")]
        value = float(line["eval"]) if line["mover"] == "white" else -float(line["eval"])
        one = Decisions.from_lists([line["mover"]], [[value - d for d in losses]], [int(line["played"])], n_legal=[40])
        place = int(line["played"])
        ours = None if place < 0 else float(one.chosen_loss()[0])
        known = None if place < 0 else printed(line["delta"].split(";")[place])
        rows.append(Row(f"{line['move']}: δ of the move", known, ours))
        p = probabilities(curve(CurveModel().curve).log_g(one.losses(), 0.1, 0.49))
        rows.append(Row(f"{line['move']}: share of the first move at s = 0.1, c = 0.49", None, float(p[0])))
    rows.append(Row("+0.50 and an error of 1.25: value of the move", printed("-0.75"), 0.50 - 1.25))
    rows.append(Row("scaled loss with ℓ(z) = 1/(1 + |z|)", printed("0.9651"), float(scaled_loss(0.50, 0.50 - 1.25))))
    batch, file = analysed_decisions(budget), harness.analysed_file(budget)
    if batch is None or file is None:
        return Outcome(rows, [f"Mean loss by evaluation: {NO_DATA}."])
    a = fit_scaling(batch)
    before, after = flatness(batch, 0.0), flatness(batch, a)
    note = (
        f"Losses beyond 1.5 pawns of evaluation over those within half a pawn: {before.ratio:.2f} times without "
        f"scaling, {after.ratio:.2f} with the fitted a = {a:.2f} ({len(batch):,} decisions of {file.name})."
    )
    return Outcome(rows, [note], [partial(_loss_by_evaluation, before, after)])


def _table(budget: Budget) -> Outcome:
    notes = ["Stockfish 15.1, depth 10, ten lines, rule listed, a = 1, percentile fitting; printed: Rybka 3, depth 13."]
    eras, found = budget.once(_eras)
    tables: dict[str, IntrinsicRatings] = {}
    if _OURS in eras:
        own = milepost_table(eras[_OURS], how="percentile")
        tables = {_OURS: own} | {
            era: milepost_table(batch, how="percentile", line=own.c_line) for era, batch in eras.items() if era != _OURS
        }
        notes.append(f"Our c line is that of {_OURS}, in every era, as the paper's is that of 2006–2009.")
    for era, table in tables.items():
        sizes = [row.fit.decisions for row in table.groups]
        spread = f"{sum(sizes):,} decisions, {min(sizes):,} to {max(sizes):,} a milepost"
        notes.append(f"{era}: {spread}; skipped: {table.tally}.")
    rows = [row for line in paper_table("RH11_table") for row in _beside(line, tables.get(line["era"]))]
    rows += [
        replace(row, label=f"{_OURS} {line['elo']} {row.label.split(maxsplit=2)[2]} (printed: 2006-2009)")
        for line in paper_table("RH11_table")
        if line["era"] == "2006-2009" and _OURS in tables
        for row in _beside(line, tables[_OURS])
    ]
    return Outcome(rows, [*notes, *found], [partial(_s_by_elo, tables)] if tables else [])


def _eras(budget: Budget) -> tuple[dict[str, Decisions], list[str]]:
    analysed = analysed_decisions(budget)
    if analysed is None:
        return {}, [f"Ours: {NO_DATA}."]
    eras, notes = {_OURS: analysed}, []
    for era in _ERAS if harness.may_sample(budget) else ():
        try:
            share = replace(budget, minutes=budget.minutes / len(_ERAS))
            eras[era], note = _searched(share, era)
        except InputError as error:  # too little time for this era is no reason to lose the others
            note = f"{era}: {error}."
        notes.append(note)
    return eras, notes


def _inflation(budget: Budget) -> Outcome:
    table = paper_table("RH11_table")
    elo = np.array([float(row["elo"]) for row in table])
    decades = np.array([_MIDDLE[row["era"]] for row in table]) / 10
    design = np.column_stack([np.ones(len(table)), elo, decades - decades.mean()])
    log_s = np.log([float(row["s_fit"]) for row in table])
    beta, *_ = np.linalg.lstsq(design, log_s, rcond=None)
    spread = ((log_s - design @ beta) ** 2).sum() / (len(table) - 3)
    covariance = spread * np.linalg.inv(design.T @ design)
    per_decade = -beta[2] / beta[1]
    slope = np.array([0.0, beta[2] / beta[1] ** 2, -1 / beta[1]])
    sd = float(np.sqrt(slope @ covariance @ slope))
    rows = [Row("Elo per decade, from the printed s_fit of all eras", None, float(per_decade), sd=sd)]
    notes = [_inflation_words("Printed s_fit, 22 rows", float(per_decade), sd)]
    eras, _ = budget.once(_eras)
    if not eras:
        return Outcome(rows, [*notes, f"Our games: {NO_DATA}."])
    window = MilepostWindow()
    found = inflation(without_repeats(Decisions.concat([window.inside(batch) for batch in eras.values()])))
    years = f"{found.years[0]}–{found.years[1]}"
    rows.append(Row(f"Elo per decade, our games of {years}", None, found.elo_per_decade, sd=found.sd))
    notes.append(_inflation_words(f"Our games, {found.decisions:,} decisions", found.elo_per_decade, found.sd))
    return Outcome(rows, [*notes, f"Test of no change on our games: p = {found.p_value:.2f}."])


def _inflation_words(what: str, per_decade: float, sd: float) -> str:
    low, high = per_decade - 1.96 * sd, per_decade + 1.96 * sd
    return f"{what}: {per_decade:+.0f} Elo a decade, 95 % from {low:+.0f} to {high:+.0f} (above 0: inflation)."


def _beside(line: dict[str, str], table: IntrinsicRatings | None) -> list[Row]:
    ours = next((row for row in table.groups if row.elo == float(line["elo"])), None) if table else None
    cells: dict[str, tuple[float | None, float | None]] = dict.fromkeys(_COLUMNS, (None, None))
    if ours is not None:
        means = ours.means
        s_sd, c_sd = (sd if np.isfinite(sd) else None for sd in (ours.fit.s_sd, ours.fit.c_sd))
        mm, ad = (means.match_predicted, means.match_actual), (means.loss_predicted, means.loss_actual)
        values = (ours.fit.s, ours.fit.c, ours.c_fit, ours.s_fit, 100 * mm[0], 100 * mm[1], *ad, ours.score)
        sds = (s_sd, c_sd, None, ours.s_fit_sd, None, None, None, None, None)
        cells = dict(zip(_COLUMNS, zip(values, sds, strict=True), strict=True))
    rows = []
    for column, (value, sd) in cells.items():
        label = f"{line['era']} {line['elo']} {'Q_fit; ours S_{s,c}' if column == 'q_fit' else column}"
        rows.append(Row(label, printed(line[column]), value, sd=sd, alike=False))
    return rows


def _searched(budget: Budget, era: str) -> tuple[Decisions, str]:
    """Return the decisions of an era, by date: of the games that are known, or of a sample that the time allows."""
    first, last = (int(year) for year in era.split("-"))
    games = read_games(harness.data_files(budget, _ERAS[era]) or [])
    years = np.array([year or 0 for year in games.headers["year"].to_pylist()])
    inside = games.select(np.flatnonzero((years >= first) & (years <= last)))
    if budget.minutes <= 0:
        found = harness.known_decisions(budget, inside, name=era)
    else:
        strata = np.array([post or 0.0 for post in _strata(inside)])
        rng = np.random.default_rng(budget.seed)
        chosen = [rng.permutation(np.flatnonzero(strata == one))[:_GAMES] for one in np.unique(strata)]
        sample = inside.select(np.sort(np.concatenate(chosen)))
        found = harness.sampled_decisions(budget, sample, strata=_strata, name=era)
    return found.decisions.at_depths(), found.note


def _strata(games: Games) -> list[float | None]:
    return [None if elo is None else float(nearest_milepost(elo)) for elo in games.headers["white_elo"].to_pylist()]


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


def inflation(decisions: Decisions, model: CurveModel | None = None) -> Inflation:
    """Fit log s = a + b·Elo + γ·decades with c a line in Elo, and test γ = 0. [RH11 sect. 7, made a test]"""
    rated = rated_decisions(decisions)
    year = rated.column("year").to_numpy().astype(float)
    rated = rated.select(np.isfinite(year), reason="no year")
    model = (model or CurveModel()).prepared(rated)
    columns, tally = model.columns(rated)
    x = (rated.column("elo").to_numpy().astype(float)[columns.row] - ORIGIN) / HUNDRED
    years = rated.column("year").to_numpy().astype(float)[columns.row]
    if not len(years) or np.ptp(years) == 0:
        raise InputError("the inflation question needs decisions of different years")
    design = np.column_stack([np.ones_like(x), x, (years - years.mean()) / 10])
    beta, bread, score = fit_lines(columns, model, design, design[:, :2])
    meat = cluster_sums(score, rated.groups(["game"])[1][columns.row])
    covariance = bread @ (meat.T @ meat) @ bread
    per_decade = -HUNDRED * beta[2] / beta[1]
    slope = np.zeros(len(beta))
    slope[1], slope[2] = HUNDRED * beta[2] / beta[1] ** 2, -HUNDRED / beta[1]
    sd = float(np.sqrt(slope @ covariance @ slope))
    reach = float(norm.ppf(0.975)) * sd
    p = float(2 * norm.sf(abs(beta[2]) / np.sqrt(covariance[2, 2])))
    span, middle = (int(years.min()), int(years.max())), float(per_decade)
    return Inflation(middle, sd, middle - reach, middle + reach, p, len(columns), years=span, tally=rated.tally + tally)


def fit_lines(columns: CurveColumns, model: CurveModel, for_s: Array, for_c: Array) -> tuple[Array, Array, Array]:
    """Return coefficients of log s and c (constants first), the inverse information, and each decision's score."""
    k = for_s.shape[1]

    def score_rows(beta: Array) -> tuple[Array, Array]:
        c = np.maximum(for_c @ beta[k:], LEAST_C)
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


def rated_decisions(decisions: Decisions) -> Decisions:
    """Return the decisions of rated players; raise where all have the same rating."""
    elo = decisions.column("elo").to_numpy().astype(float)
    rated = decisions.select(np.isfinite(elo), reason="no rating")
    if not len(rated) or np.ptp(rated.column("elo").to_numpy().astype(float)) == 0:
        raise InputError("a line needs decisions of players of different rating", hint="games whose headers have Elo")
    return rated


def cluster_sums(rows: Array, clusters: npt.NDArray[np.integer[Any]]) -> Array:
    """Return the sums of the rows of each cluster."""
    out = np.zeros((int(clusters.max()) + 1, rows.shape[1]))
    np.add.at(out, clusters, rows)
    return out


RH11_ENTRIES = harness.entries(
    {
        "RH11.closed": _closed,
        "RH11.cfit": _c_fit,
        "RH11.section5": _section_5,
        "RH11.table": _table,
        "RH11.inflation": _inflation,
    }
)
