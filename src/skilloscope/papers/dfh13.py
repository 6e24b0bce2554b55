"""DFHR09 and DFH13: composite players, the line from c̄ to Elo, the split by result, and the papers' own engine.

Our c̄ come from other games and another engine than the papers', so they are shown next to the printed ones and not
judged; what the printed columns imply for each other is. The analysed games cost no engine time; the papers' own years
are sampled where analyses are imported, stored or possible.

The papers' engine is Toga II. What it lists itself are bounds, so the position after each move was searched, to depth
6, and its answers are imported; Stockfish's depths 6 and 10 of the very same positions are shown too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from skilloscope.chess.analysis.analyses import Analyses, decisions
from skilloscope.chess.analysis.files import read_analysed, read_export
from skilloscope.chess.pgn.games import Games, read_games
from skilloscope.core.columns import Array
from skilloscope.core.errors import InputError
from skilloscope.decision import Decisions
from skilloscope.inputs.budget import game_order
from skilloscope.models.agent import likelihood, probability
from skilloscope.papers import harness
from skilloscope.papers.harness import NO_DATA, Budget, Outcome, Row, entries, mean_and_sd, paper_table, printed
from skilloscope.ratings.mileposts import elo_line, shared_milepost, with_mileposts
from skilloscope.report.charts import Figure, Lines, Panels, Series
from skilloscope.studies.player_games import Difference, PlayerGames, group_convergence, player_games, results_split
from skilloscope.studies.pooled import Composite, PooledStudy, pooled_from

TOLERANCE, _NEAR = 15.0, 10.0  # how near the milepost the players of the data are, and how near the papers' are

PERIODS: Mapping[int, tuple[int, int]] = {
    2100: (1994, 1998), 2200: (1971, 1998), 2300: (1971, 2005), 2400: (1971, 2006), 2500: (1995, 2006),
    2600: (1995, 2006), 2700: (1991, 2006),
}  # fmt: skip
"""The years from which the papers took the games of each milepost. [DFHR09 Table I, DFH13 Table III]"""

TOGA_DEPTH = 6
_ERAS = ("1970s", "1990s", "2000-2005", "2006-2009")
_TABLE = "DFHR09_tables_I_II"
_K = 0.1
_GRID_STEP = 0.001  # of the credibility regions; see the note of the entry
_SLOPE, _INTERCEPT = printed("1949.53"), printed("32.39")  # of the line from c̄ to Elo, as DFH13 prints it
_MOST = 100  # games of a milepost, by the seed's order, among which a sample is planned


@dataclass(frozen=True, eq=False)
class Bands:
    """Decisions near mileposts with their player-games and composites, and notes about them."""

    decisions: Decisions
    rows: PlayerGames
    composites: PooledStudy
    note: str
    period: str

    def group(self, milepost: int) -> Composite | None:
        """Return the composite player of a milepost, None where there is none."""
        return next((group for group in self.composites.groups if group.label == milepost), None)


def year_games(budget: Budget, years: tuple[int, int], era: str) -> Games | None:
    """Return games of an era's files near mileposts: the first of each in the seed's order. None without files."""
    files = [] if budget.data is None else sorted((budget.data / "bands").glob(f"*_{era}.pgn"))
    if not files:
        return None
    posts = {int(path.name.split("_")[0]): years for path in files}
    return _first_games(read_games(files), posts, TOLERANCE, budget.seed)


def _period_bands(budget: Budget) -> tuple[Bands | None, str]:
    """Return a sample of the papers' own periods where any of its games is known or may be searched; and a note."""
    if budget.data is None:
        return None, NO_DATA
    if not harness.may_sample(budget):
        return None, "the papers' own years are sampled with engine time (--budget MINUTES) or analyses (--import FILE)"
    named = [budget.data / "bands" / f"{post}_{era}.pgn" for post in PERIODS for era in _ERAS]
    files = [path for path in named if path.is_file()]
    if not files:
        return None, "no files of bands in the data folder"
    games = _first_games(read_games(files), PERIODS, _NEAR, budget.seed)
    strata = partial(_mileposts, periods=PERIODS, within=_NEAR)
    try:
        sampled = harness.sampled_decisions(budget, games, strata=strata, name="bands")
    except InputError as error:
        return None, f"the papers' own years were not sampled: {error}"
    return _bands(sampled.decisions, _NEAR, sampled.note, "the paper's years"), sampled.note


def _analysed_bands(budget: Budget) -> Bands | None:
    """Return the composites of the games that come analysed, None without them."""
    batch = harness.analysed_decisions(budget)
    if batch is None:
        return None
    found = _bands(batch, TOLERANCE, "", "")
    near = found.decisions
    years = near.column("year").to_numpy()
    period = f"{years.min()}–{years.max()}"
    note = (
        f"ours: {len(near.groups('game')[0]):,} analysed games of {period}, both players within ±{TOLERANCE:g} Elo of "
        f"a milepost, {len(near):,} positions by {near.about['settings'].get('engine', 'an engine')}, depth 10, "
        "ten moves listed"
    )
    return replace(found, note=note, period=period)


def _bands(batch: Decisions, within: float, note: str, period: str) -> Bands:
    near = with_mileposts(batch, within)
    rows = player_games(near)
    return Bands(near, rows, pooled_from(rows, near, tolerance=within), note, period)


def _mileposts(games: Games, periods: Mapping[int, tuple[int, int]], within: float) -> list[int | None]:
    """Return the milepost of each game whose players are near it and whose year is in its period, else None."""
    white, black, year = (
        np.array([np.nan if value is None else value for value in games.headers[name].to_pylist()], dtype=float)
        for name in ("white_elo", "black_elo", "year")
    )
    found: list[int | None] = [None] * len(games)
    post = shared_milepost(white, black, within)
    for row in np.flatnonzero(~np.isnan(post)).tolist():
        first, last = periods.get(int(post[row]), (np.inf, -np.inf))
        found[row] = int(post[row]) if first <= year[row] <= last else None
    return found


def _first_games(games: Games, periods: Mapping[int, tuple[int, int]], within: float, seed: int) -> Games:
    """Return the first games of each milepost in the seed's order, so that not all need be planned."""
    order = game_order(games, seed, _mileposts(games, periods, within))
    return games.select(np.sort(order[: _MOST * len(periods)]))


RowMaker = Callable[[Mapping[str, str], Composite | None, str], Sequence[Row]]
"""Makes the rows of a printed line and its composite player, where there is one, with a word about whose it is."""


def bands_outcome(budget: Budget, table: str, make: RowMaker, *, draw: bool = False) -> Outcome:
    """Return the rows of every milepost: from the analysed games, and from a sample of the paper's years."""
    analysed = budget.once(_analysed_bands)
    sampled, note = budget.once(_period_bands)
    rows: list[Row] = []
    for line in paper_table(table):
        milepost = (int(line["elo_min"]) + int(line["elo_max"])) // 2
        rows += make(line, analysed.group(milepost) if analysed else None, "")
        if sampled and sampled.group(milepost):
            rows += make(line, sampled.group(milepost), ", the paper's years")
    if analysed is None:
        return Outcome(rows, [NO_DATA])
    notes = [analysed.note, *([sampled.note] if sampled else [note])]
    return Outcome(rows, notes, [one.composites.figures for one in (analysed, sampled) if one and draw])


def split_outcome(budget: Budget, *, table: str, milepost: int = 2400) -> Outcome:
    """Return the split of one milepost's player-games by result next to the printed one. [DFHR09 III, DFH13 IV]"""
    lines = paper_table(table)
    n = [int(line["n"]) for line in lines]
    whole = sum(size * float(line["mean"]) for size, line in zip(n, lines, strict=True)) / sum(n)
    rows = [Row("mean of all, from the printed rows", printed("1.2109"), whole, 0.00005)]
    bands = budget.once(_analysed_bands)
    rng = partial(np.random.default_rng, budget.seed)
    split = None if bands is None else results_split(bands.rows.of(milepost), name=str(milepost), rng=rng())
    for line in lines:
        name = f"{line['set']} ({line['result']})"
        count, mean, variance = (printed(line[column]) for column in ("n", "mean", "sd"))
        own = {row.result: row for row in split.results}.get(line["result"]) if split else None
        if own is None:
            rows += [Row(f"{name}: player-games", count), Row(f"{name}: mean c̄", mean), Row(f"{name}: σ", variance)]
            continue
        rows += [
            Row(f"{name}: player-games", count, float(own.player_games), alike=False),
            Row(f"{name}: mean c̄", mean, own.mean, alike=False),
            Row(f"{name}: printed σ, our variance", variance, own.variance, alike=False),
            Row(f"{name}: our sd", None, own.sd),
            Row(f"{name}: c of all its decisions", None, own.pooled, sd=own.pooled_sd),
        ]
    if bands is None or split is None:
        return Outcome(rows, [NO_DATA])
    everyone = results_split(bands.rows, name="all mileposts", rng=rng())
    rows.append(Row("mean of all, ours", printed("1.2109"), split.mean, alike=False))
    for some in (split, everyone):
        rows += [Row(f"{one.of}, {some.group}{_reach(one)}", None, one.mean) for one in some.differences]
    said = f"{split.player_games:,} player-games at {milepost}, {everyone.player_games:,} at all mileposts"
    return Outcome(rows, [f"{bands.note}; {said}"], [split.figures, everyone.figures])


def _reach(difference: Difference) -> str:
    low, high = difference.low, difference.high
    return "" if low is None or high is None else f", 95 % {low:+.3f} to {high:+.3f}"


def bands_note(bands: Bands | None) -> Sequence[str]:
    """Return the notes about the games, or that there are none."""
    return [NO_DATA] if bands is None else [bands.note]


def _dataset_rows(line: Mapping[str, str], group: Composite | None, whose: str) -> Sequence[Row]:
    sizes = (None, None) if group is None else (float(group.games), float(group.decisions))
    return [
        Row(f"{line['dataset']} {name}{whose}", printed(line[name]), size, alike=False)
        for name, size in zip(("games", "events"), sizes, strict=True)
    ]


def _statistic_rows(line: Mapping[str, str], group: Composite | None, whose: str) -> Sequence[Row]:
    low, high = group.c.interval(0.95) if group else (None, None)
    name, (c, sd) = line["dataset"], mean_and_sd(group.c if group else None)
    return [
        Row(f"{name} c̄{whose}", printed(line["c"]), c, sd=sd, alike=False),
        Row(f"{name} σ{whose}", printed(line["sd"]), sd, alike=False),
        Row(f"{name} CR min{whose}", printed(line["cr_min"]), low, alike=False),
        Row(f"{name} CR max{whose}", printed(line["cr_max"]), high, alike=False),
    ]


DFHR09_ENTRIES = entries(
    {
        "DFHR09.I": partial(bands_outcome, table=_TABLE, make=_dataset_rows),
        "DFHR09.II": partial(bands_outcome, table=_TABLE, make=_statistic_rows, draw=True),
        "DFHR09.III": partial(split_outcome, table="DFHR09_table_III"),
    }
)


FIGURE_1_LOSSES = (0.0, 0.25, 0.5, 0.9, 1.5, 2.0, 3.0, 12.0)  # the eight alternatives of figure 1, in pawns


def _regression(_: Budget) -> Sequence[Row]:
    table = paper_table("DFH13_table_III")
    c = np.array([float(row["c"]) for row in table])
    elo = np.array([(int(row["elo_min"]) + int(row["elo_max"])) / 2 for row in table])
    line, step = np.array(elo_line(c, elo)), 1e-6
    # How far slope and intercept can move when every printed c̄ is off by half a unit (first order).
    moves = [np.array(elo_line(c + step * unit, elo)) - line for unit in np.eye(len(c))]
    slack = np.abs(np.array(moves)).sum(axis=0) / step * printed(table[0]["c"]).half_unit
    return [
        Row("slope of Elo on c̄", _SLOPE, float(line[0]), float(slack[0])),
        Row("intercept", _INTERCEPT, float(line[1]), float(slack[1])),
    ]


def _likelihoods() -> list[Figure]:
    c, panels = np.linspace(0, 4, 161), []
    for function, axis in ((likelihood, "L, logarithmic"), (probability, "probability")):
        values = np.array([function(FIGURE_1_LOSSES, one, k=_K) for one in c]).T
        lines = [Series(f"{loss:g}", c, own) for loss, own in zip(FIGURE_1_LOSSES, values, strict=True)]
        panels.append(Lines(lines, "c", axis, log_y=function is likelihood))
    caption = "Likelihood and probability of eight alternatives by c; the legend has the pawns that each loses."
    return [Figure("Figure 1", Panels(panels, columns=2, height=3.3), caption)]


def _figure1(_: Budget) -> Outcome:
    rows = []
    for loss, own in zip(FIGURE_1_LOSSES, probability(FIGURE_1_LOSSES, 1.2, k=_K), strict=True):
        rows.append(Row(f"{loss:g} pawns lost: L at c = 1", None, float(likelihood(loss, 1.0, k=_K))))
        rows.append(Row(f"{loss:g} pawns lost: probability at c = 1.2, the paper's 2400", None, float(own)))
    return Outcome(rows, [], [_likelihoods])


def _group_rows(line: Mapping[str, str], group: Composite | None, whose: str) -> Sequence[Row]:
    """Return our c̄ and σ·√N next to the printed, and once what the printed columns imply for each other."""
    name, sd, root = line["player"], printed(line["sd"]), float(np.sqrt(int(line["n"])))
    c, (ours, spread) = printed(line["c"]), mean_and_sd(group.c if group else None)
    own = [Row(f"{name}{whose} c̄", c, ours, sd=spread, alike=False)]
    if group:
        own.append(Row(f"{name}{whose} σ·√N, ours", printed(line["sd_root_n"]), group.sd_root_n, alike=False))
    if whose:
        return own
    reach = c.half_unit + 1.96 * sd.half_unit + _GRID_STEP
    return [
        *own,
        Row(f"{name} σ·√N", printed(line["sd_root_n"]), sd.value * root, sd.half_unit * root),
        Row(f"{name} CR min", printed(line["cr_min"]), c.value - 1.96 * sd.value, reach),
        Row(f"{name} CR max", printed(line["cr_max"]), c.value + 1.96 * sd.value, reach),
    ]


def _our_line(budget: Budget) -> Outcome:
    bands = budget.once(_analysed_bands)
    if bands is None or (line := bands.composites.line) is None:
        return Outcome([Row("slope of Elo on c̄", _SLOPE), Row("intercept", _INTERCEPT)], bands_note(bands))
    low, high = line.prediction_interval(line.centre)
    rows = [
        Row("slope of Elo on c̄", _SLOPE, line.slope, sd=line.slope_sd, alike=False),
        Row("intercept", _INTERCEPT, line.intercept, sd=line.intercept_sd, alike=False),
        Row("standard error of the line, Elo", None, line.residual_sd),
        Row("95 % prediction interval at the middle, ± Elo", None, float(high - low) / 2),
    ]
    return Outcome(rows, bands_note(bands), [bands.composites.figures])


def _independent(budget: Budget) -> Outcome:
    bands = budget.once(_analysed_bands)
    rows = []
    for line in paper_table("independent_mileposts"):
        group = bands.group(int(line["milepost"])) if bands else None
        known, (ours, sd) = printed(line["c"]), mean_and_sd(group.c if group else None)
        about = f"{line['milepost']} c̄" + (f", {group.decisions:,} decisions" if group else "")
        rows.append(Row(about, known, ours, 0.005 - known.half_unit, sd=sd))
    return Outcome(rows, bands_note(bands))


def _figure3(budget: Budget) -> Outcome:
    bands = budget.once(_analysed_bands)
    if bands is None:
        rows = [Row("σ of one c after all decisions", None), Row("spread between games, sd", None)]
        return Outcome(rows, bands_note(None))
    study = group_convergence(bands.decisions, bands.rows, 2400)
    rows = [Row(f"c̄ after {step.decisions:,} decisions", None, step.c, sd=step.sd) for step in study.steps]
    if spread := study.between_games:
        reach = f"95 % {spread.low:.3f} to {spread.high:.3f}"
        rows.append(Row(f"spread between {spread.player_games} player-games, sd, {reach}", None, spread.sd))
    return Outcome(rows, bands_note(bands), [study.figures])


DFH13_ENTRIES = entries(
    {
        "DFH13.figure1": _figure1,
        "DFH13.line": _regression,
        "DFH13.III": partial(bands_outcome, table="DFH13_table_III", make=_group_rows),
        "DFH13.line2": _our_line,
        "DFH13.mileposts": _independent,
        "DFH13.figure3": _figure3,
        "DFH13.IV": partial(split_outcome, table="DFH13_table_IV"),
    }
)


_Judge = tuple[PlayerGames, PooledStudy]


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
        found[name] = rows, pooled_from(rows, near, tolerance=TOLERANCE)
    return found


def _known(budget: Budget) -> tuple[Mapping[str, _Judge | None], str]:
    """Return the judges with what they found, nothing where it is not known, and the notes."""
    unknown = {f"Toga II, depth {TOGA_DEPTH}": None}
    path = harness.analysed_file(budget)
    if path is None:
        return unknown, NO_DATA
    exports = [read_export(one) for one in budget.work.imports]
    own = [one for one in exports if str(one.settings["engine"]).startswith("Toga")]
    if not own:
        return unknown, "needs Toga II's answers: --import measurements/bands_depth6_toga3.parquet"
    known = read_analysed(path, harness.SHARED_ANALYSES)
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


def _line_rows(judge: str, found: PooledStudy | None) -> Sequence[Row]:
    """Return slope and intercept of Elo on c̄ over all mileposts, next to DFH13's of seven."""
    table = paper_table("DFH13_table_III")
    elo = np.array([(int(row["elo_min"]) + int(row["elo_max"])) / 2 for row in table])
    c, spread = (np.array([float(row[name]) for row in table]) for name in ("c", "sd"))
    rise = f"rise of c̄ in 100 Elo, {judge}; the printed c̄ rise by {100 * _rise(elo, c, spread)[0]:.3f}"
    line = found.line if found else None
    if found is None or line is None:
        return [Row(f"slope of Elo on c̄, {judge}", _SLOPE), Row(f"intercept, {judge}", _INTERCEPT), Row(rise, None)]
    groups = [(float(group.label), group.c.mean, group.c.sd) for group in found.groups]
    slope_of_c, sd = _rise(*np.array(groups).T)
    return [
        Row(f"slope of Elo on c̄, {judge}", _SLOPE, line.slope, sd=line.slope_sd, alike=False),
        Row(f"intercept, {judge}", _INTERCEPT, line.intercept, sd=line.intercept_sd, alike=False),
        Row(rise, None, 100 * slope_of_c, sd=100 * sd),
    ]


def _rise(elo: Array, c: Array, sd: Array) -> tuple[float, float]:
    """Return how c̄ rises with Elo and its sd: this way round the errors of c̄, large in a small sample, bias nothing."""
    found, covariance = np.polyfit(elo - elo.mean(), c, 1, w=1 / sd, cov="unscaled")
    return float(found[0]), float(np.sqrt(covariance[0, 0]))


def _split(budget: Budget, *, table: str) -> Outcome:
    judged, note = budget.once(_known)
    rows = []
    for judge, found in judged.items():
        split = None
        if found is not None:
            split = results_split(found[0], name="all mileposts", rng=np.random.default_rng(budget.seed))
        for line in paper_table(table):
            own = {row.result: row for row in split.results}.get(line["result"]) if split else None
            label = f"{line['set']} ({line['result']}), {judge}"
            rows.append(Row(f"{label}: mean c̄", printed(line["mean"]), own.mean if own else None, alike=False))
            rows.append(Row(f"{label}: player-games", None, float(own.player_games) if own else None))
        for one in split.differences if split else ():
            rows.append(Row(f"{one.of}, {judge}{_reach(one)}", None, one.mean))
    return Outcome(rows, [note])


OWN_ENGINE_ENTRIES = entries(
    {
        "DFHR09.engine": partial(_composites, table=_TABLE),
        "DFH13.engine": partial(_composites, table="DFH13_table_III"),
        "DFH13.engine4": partial(_split, table="DFH13_table_IV"),
    }
)
