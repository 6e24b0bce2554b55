"""The papers' own engine: composite players, line and split by result as Toga II judges, beside Stockfish and print.

In: the analysed games near mileposts and an import of Toga II's answers to some of their positions. What Toga II lists
itself are bounds, so the position after each move was searched, to depth 6; Stockfish's depths 6 and 10 of the very
same positions stand beside. Games and engine differ from the papers' still (Toga II 3.0 for 1.3.1), and so does the
depth: shown, not judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.analysis.files import read_export
from skilloscope.chess.analysis.given import read_analysed
from skilloscope.chess.decisions import decisions
from skilloscope.papers.dfh.bands import TOLERANCE
from skilloscope.papers.harness import Budget, Entry, Outcome, Row, mean_and_sd, paper_table, printed
from skilloscope.papers.samples import NO_DATA, SHARED_ANALYSES, analysed_file
from skilloscope.ratings.mileposts import with_mileposts
from skilloscope.studies.composites.composites import Composites, composites_from
from skilloscope.studies.composites.game_evidence import PlayerGames, player_games
from skilloscope.studies.composites.results_split import results_split

TOGA_DEPTH = 6
_ENGINE = "Toga"
_NOT_KNOWN = "needs Toga II's answers: --import measurements/bands_depth6_toga3.parquet"

Array = npt.NDArray[np.float64]
_Judge = tuple[PlayerGames, Composites]


def up_to_depth(analyses: Analyses, depth: int) -> Analyses:
    """Return the analyses as a search that had ended at a depth would have left them."""
    fens = analyses.positions.fen.to_pylist()
    answers = {fen: (lines := analyses.answer(row))[lines["depth"] <= depth] for row, fen in enumerate(fens)}
    return Analyses.from_answers(analyses.positions, {**analyses.settings, "depth": depth}, answers)


def judged_by(known: Analyses, toga: Analyses) -> dict[str, _Judge]:
    """Return the composite players of the positions that Toga II has answered, by Toga II and by Stockfish."""
    answered = np.flatnonzero(toga.answered)
    some = known.select(answered)
    same = {
        f"Toga II, depth {TOGA_DEPTH}": toga.select(answered),
        f"Stockfish, depth {TOGA_DEPTH}": up_to_depth(some, TOGA_DEPTH),
        "Stockfish, depth 10": some,
    }
    found = {}
    for name, one in same.items():
        near = with_mileposts(decisions(one, all_depths=False), TOLERANCE)
        rows = player_games(near)
        found[name] = rows, composites_from(rows, near, tolerance=TOLERANCE)
    return found


def _known(budget: Budget) -> tuple[Mapping[str, _Judge | None], str]:
    """Return the judges with what they found, nothing where it is not known, and what is to be said of it."""
    unknown = {f"Toga II, depth {TOGA_DEPTH}": None}
    path = analysed_file(budget)
    if path is None:
        return unknown, NO_DATA
    exports = [read_export(one) for one in budget.work.imports]
    own = [one for one in exports if str(one.settings["engine"]).startswith(_ENGINE)]
    if not own:
        return unknown, _NOT_KNOWN
    known = read_analysed(path, SHARED_ANALYSES)
    answers = {row.fen: row.lines for export in own for row in export.rows}
    toga = Analyses.from_answers(known.positions, own[0].settings, answers)
    games = len(np.unique(known.positions.game[toga.answered]))
    said = f"{games} analysed games near mileposts, {int(toga.answered.sum()):,} positions; {own[0].settings['engine']}"
    return judged_by(known, toga), said


def _composites(budget: Budget, *, table: str) -> Outcome:
    judged, note = budget.once(_known)
    lines = {(int(row["elo_min"]) + int(row["elo_max"])) // 2: row for row in paper_table(table)}
    rows = []
    for judge, found in judged.items():
        groups = {} if found is None else {int(group.label): group for group in found[1].groups}
        for post in sorted({*lines, *groups}):
            c, sd = mean_and_sd(groups[post].c if post in groups else None)
            about = f"{post} c̄, {judge}" + (f", {groups[post].decisions:,} decisions" if post in groups else "")
            rows.append(Row(about, printed(lines[post]["c"]) if post in lines else None, c, sd=sd, alike=False))
        rows += _line_rows(judge, None if found is None else found[1])
    return Outcome(rows, [note])


def _line_rows(judge: str, found: Composites | None) -> Sequence[Row]:
    """Return slope and intercept of Elo on c̄ over all mileposts, beside DFH13's of seven."""
    rise = f"rise of c̄ in 100 Elo, {judge}; the printed c̄ rise by {100 * _rise(*_printed_groups())[0]:.3f}"
    line = found.line if found else None
    slope, intercept = printed("1949.53"), printed("32.39")
    if found is None or line is None:
        return [Row(f"slope of Elo on c̄, {judge}", slope), Row(f"intercept, {judge}", intercept), Row(rise, None)]
    groups = [(float(group.label), group.c.mean, group.c.sd) for group in found.groups]
    slope_of_c, sd = _rise(*np.array(groups).T)
    return [
        Row(f"slope of Elo on c̄, {judge}", slope, line.slope, sd=line.slope_sd, alike=False),
        Row(f"intercept, {judge}", intercept, line.intercept, sd=line.intercept_sd, alike=False),
        Row(rise, None, 100 * slope_of_c, sd=100 * sd),
    ]


def _printed_groups() -> tuple[Array, Array, Array]:
    rows = paper_table("DFH13_table_III")
    elo = [(int(row["elo_min"]) + int(row["elo_max"])) / 2 for row in rows]
    return np.array(elo), np.array([float(row["c"]) for row in rows]), np.array([float(row["sd"]) for row in rows])


def _rise(elo: Array, c: Array, sd: Array) -> tuple[float, float]:
    """Return how c̄ rises with Elo and its sd: this way round the errors of c̄, large in a small sample, bias nothing."""
    found, covariance = np.polyfit(elo - elo.mean(), c, 1, w=1 / sd, cov="unscaled")
    return float(found[0]), float(np.sqrt(covariance[0, 0]))


def _split(budget: Budget, *, table: str) -> Outcome:
    """Return c̄ by result over all mileposts: the player-games of one alone are too few. [DFHR09 III, DFH13 IV]"""
    judged, note = budget.once(_known)
    rows = []
    for judge, found in judged.items():
        split = None
        if found is not None:
            split = results_split(found[0], name="all mileposts", rng=np.random.default_rng(budget.seed))
        for line in paper_table(table):
            own = {row.result: row for row in split.rows}.get(line["result"]) if split else None
            label = f"{line['set']} ({line['result']}), {judge}"
            rows.append(Row(f"{label}: mean c̄", printed(line["mean"]), own.mean if own else None, alike=False))
            rows.append(Row(f"{label}: player-games", None, float(own.player_games) if own else None))
        for difference in split.differences if split else ():
            reach = "" if difference.low is None else f", 95 % {difference.low:+.3f} to {difference.high:+.3f}"
            rows.append(Row(f"{difference.of}, {judge}{reach}", None, difference.mean))
    return Outcome(rows, [note])


_NOTE = "Other games, Toga II 3.0 for 1.3.1 and depth 6 for 10, each move's position searched: shown, not judged."

OWN_ENGINE_ENTRIES = (
    Entry(
        "DFHR09.engine",
        "Table II under the paper's engine, beside Stockfish on the same positions",
        partial(_composites, table="DFHR09_tables_I_II"),
        _NOTE,
    ),
    Entry(
        "DFH13.engine",
        "Table III and the line under the paper's engine, beside Stockfish on the same positions",
        partial(_composites, table="DFH13_table_III"),
        _NOTE,
    ),
    Entry(
        "DFH13.engine4",
        "Table IV (DFHR09's III) under the paper's engine: apparent skill by result, all mileposts together",
        partial(_split, table="DFH13_table_IV"),
        f"{_NOTE} The printed rows are of 2400 alone.",
    ),
)
