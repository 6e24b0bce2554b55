"""RH11: what its printed table implies, its examples, and its table of section 7 beside ours on other games.

The paper's games were judged by Rybka 3 at depth 13 with fifty lines. Ours are judged by Stockfish 15.1 at depth 10
with ten: the numbers stand side by side, they are not the same measurement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from skilloscope.chess.pgn.games import Games, read_games
from skilloscope.core.errors import InputError
from skilloscope.decision import Decisions
from skilloscope.models.curve_model import CurveModel
from skilloscope.models.mappings import MAPPINGS, probabilities
from skilloscope.models.scaling import Flatness, fit_scaling, flatness, scaled_loss
from skilloscope.papers.harness import Budget, Entry, Outcome, Printed, Row, paper_table, printed
from skilloscope.papers.samples import (
    NO_DATA,
    analysed_decisions,
    analysed_file,
    data_files,
    known_decisions,
    may_sample,
    sampled_decisions,
)
from skilloscope.ratings.mileposts import nearest_milepost
from skilloscope.sources.judge import without_repeats
from skilloscope.studies.intrinsic.intrinsic import Mileposts, milepost_table
from skilloscope.studies.intrinsic.scale import inflation
from skilloscope.studies.intrinsic.window import MilepostWindow

_ERAS = {"2006-2009": "bands/*_2006-2009.pgn", "1991-1994": "bands/*_1990s.pgn", "1976-1979": "bands/*_1970s.pgn"}
_GAMES = 30  # of each milepost, that are planned for where engine time is given
_OURS = "2006-2014"
"""The years of the analysed games: their c line is the one that every era uses."""
_MIDDLE = {"2006-2009": 2007.5, "1991-1994": 1992.5, "1976-1979": 1977.5}


@dataclass(frozen=True, eq=False)
class IntrinsicTable:
    """Our milepost tables by era, to be drawn beside the printed s_fit."""

    tables: dict[str, Mileposts]

    def figures(self) -> list[tuple[str, str]]:
        """Return the figures with their captions, as SVG."""
        from skilloscope.papers.figures import milepost_figure

        return [(milepost_figure(self.tables), "s by Elo at the c of the line, the printed ones and ours.")]


@dataclass(frozen=True, eq=False)
class ScalingStudy:
    """Mean loss by evaluation, without scaling and with the fitted one."""

    before: Flatness
    after: Flatness

    def figures(self) -> list[tuple[str, str]]:
        """Return the figures with their captions, as SVG."""
        from skilloscope.studies.intrinsic.figures import flatness_figure

        caption = "Mean loss by the evaluation before the move, over its own mean, without and with the fitted scaling."
        return [(flatness_figure(self.before, self.after), caption)]


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
        rows.append(Row(f"{line['move']}: δ of the move", None if place < 0 else _digits(line, place), ours))
        p = _shares(one)
        rows.append(Row(f"{line['move']}: share of the first move at s = 0.1, c = 0.49", None, float(p[0])))
    rows.append(Row("+0.50 and an error of 1.25: value of the move", printed("-0.75"), 0.50 - 1.25))
    rows.append(Row("scaled loss with ℓ(z) = 1/(1 + |z|)", printed("0.9651"), float(scaled_loss(0.50, 0.50 - 1.25))))
    batch, file = analysed_decisions(budget), analysed_file(budget)
    if batch is None or file is None:
        return Outcome(rows, [f"Mean loss by evaluation: {NO_DATA}."])
    a = fit_scaling(batch)
    study = ScalingStudy(flatness(batch, 0.0), flatness(batch, a))
    ahead = study.before.ratio
    note = (
        f"Losses beyond 1.5 pawns of evaluation over those within half a pawn: {ahead:.2f} times without scaling, "
        f"{study.after.ratio:.2f} with the fitted a = {a:.2f} ({len(batch):,} decisions of {file.name})."
    )
    return Outcome(rows, [note], [study])


def _table(budget: Budget) -> Outcome:
    notes = ["Stockfish 15.1, depth 10, ten lines, rule listed, a = 1, percentile fitting; printed: Rybka 3, depth 13."]
    eras, found = budget.once(_eras)
    tables: dict[str, Mileposts] = {}
    if _OURS in eras:
        own = milepost_table(eras[_OURS], how="percentile")
        tables = {_OURS: own} | {
            era: milepost_table(batch, how="percentile", line=own.line) for era, batch in eras.items() if era != _OURS
        }
        notes.append(f"Our c line is that of {_OURS}, in every era, as the paper's is that of 2006–2009.")
    for era, table in tables.items():
        notes.append(f"{era}: {_sizes(table)}.")
    rows = [row for line in paper_table("RH11_table") for row in _beside(line, tables.get(line["era"]))]
    rows += [
        replace(row, label=f"{_OURS} {line['elo']} {row.label.split(maxsplit=2)[2]} (printed: 2006-2009)")
        for line in paper_table("RH11_table")
        if line["era"] == "2006-2009" and _OURS in tables
        for row in _beside(line, tables[_OURS])
    ]
    return Outcome(rows, [*notes, *found], [IntrinsicTable(tables)] if tables else [])


def _eras(budget: Budget) -> tuple[dict[str, Decisions], list[str]]:
    """Return the decisions of each era whose games are known or may be searched, and what is to be said of them."""
    analysed = analysed_decisions(budget)
    if analysed is None:
        return {}, [f"Ours: {NO_DATA}."]
    eras, notes = {_OURS: analysed}, []
    for era in _ERAS if may_sample(budget) else ():
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


def _beside(line: dict[str, str], table: Mileposts | None) -> list[Row]:
    ours = None
    if table is not None:
        ours = next((row for row in table.rows if row.elo == float(line["elo"])), None)
    found = {} if ours is None else ours.as_dict()
    sds = {"s": "s_sd", "c": "c_sd", "s_fit": "s_fit_sd"}
    cells = {
        "s": "s",
        "c": "c",
        "c_fit": "c_fit",
        "s_fit": "s_fit",
        "mm_p": "match_predicted",
        "mm_a": "match_actual",
        "ad_p": "loss_predicted",
        "ad_a": "loss_actual",
        "q_fit": "score",
    }
    rows = []
    for column, name in cells.items():
        value = found.get(name)
        if value is not None and column.startswith("mm"):
            value *= 100
        sd = found.get(sds[column]) if column in sds else None
        label = f"{line['era']} {line['elo']} {'Q_fit; ours S_{s,c}' if column == 'q_fit' else column}"
        rows.append(Row(label, printed(line[column]), value, sd=sd, alike=False))
    return rows


def _searched(budget: Budget, era: str) -> tuple[Decisions, str]:
    """Return the decisions of an era, by date: of the games that are known, or of a sample that the time allows."""
    first, last = (int(year) for year in era.split("-"))
    games = read_games(data_files(budget, _ERAS[era]) or [])
    years = np.array([year or 0 for year in games.headers["year"].to_pylist()])
    inside = games.select(np.flatnonzero((years >= first) & (years <= last)))
    if budget.minutes <= 0:
        found = known_decisions(budget, inside, name=era)
    else:
        strata = np.array([post or 0.0 for post in _strata(inside)])
        rng = np.random.default_rng(budget.seed)
        chosen = [rng.permutation(np.flatnonzero(strata == one))[:_GAMES] for one in np.unique(strata)]
        sample = inside.select(np.sort(np.concatenate(chosen)))
        found = sampled_decisions(budget, sample, strata=_strata, name=era)
    return found.decisions.at_depths(), found.note


def _strata(games: Games) -> list[float | None]:
    """Return the milepost of each game by White's rating, None where it is unknown."""
    return [None if elo is None else float(nearest_milepost(elo)) for elo in games.headers["white_elo"].to_pylist()]


def _sizes(table: Mileposts) -> str:
    sizes = [row.fit.decisions for row in table.rows]
    return f"{sum(sizes):,} decisions, {min(sizes):,} to {max(sizes):,} a milepost; skipped: {table.tally}"


def _shares(one: Decisions) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    from skilloscope.models.curves import curve

    losses = one.losses()
    return np.asarray(probabilities(curve(CurveModel().curve).log_g(losses, 0.1, 0.49)))


def _digits(line: dict[str, str], place: int) -> Printed:
    return printed(line["delta"].split(";")[place])


RH11_ENTRIES = (
    Entry("RH11.closed", "Section 3: two options with g = ½, the three models", _closed),
    Entry(
        "RH11.cfit",
        "Section 7: the column c_fit from the printed c of 2006–2009",
        _c_fit,
        "A straight line by least squares through the twelve printed c; c_fit of the other eras is the same line.",
    ),
    Entry(
        "RH11.section5",
        "Section 5: the example spreads, and the scaled loss",
        _section_5,
        "The paper never defines its scale ℓ: 0.9651 is what ℓ(z) = 1/(1 + |z|), its authors' later choice, gives. "
        "Shares of the first move are ours; the paper says only that 13...Rxf7 has a near-total share.",
    ),
    Entry(
        "RH11.table",
        "Section 7: the table, beside ours on other games",
        _table,
        "Other games, another engine: the differences are shown, not judged.",
    ),
    Entry(
        "RH11.inflation",
        "Section 7: little or no inflation, as a test with an interval",
        _inflation,
        "log s against Elo and time; the change in time is given in Elo a decade, above 0 where equal ratings became "
        "weaker play.",
    ),
)
