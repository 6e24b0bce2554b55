"""DFH13: its Table III and line, what they imply, and the same from games at hand; Table IV and Figure 3.

Our c̄ come from other games and another engine than the paper's, so they stand beside the printed ones and are not
judged; what the printed columns imply for each other is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from skilloscope.models.agent import likelihood, probability
from skilloscope.papers.dfh.bands import analysed_bands
from skilloscope.papers.dfh.composite_rows import SPLIT_NOTE, bands_note, bands_outcome, split_outcome
from skilloscope.papers.harness import Budget, Entry, Outcome, Row, mean_and_sd, paper_table, printed
from skilloscope.ratings.regression import elo_line
from skilloscope.studies.composites.composites import Composite
from skilloscope.studies.composites.convergence import group_convergence

Array = npt.NDArray[np.float64]

FIGURE_1_LOSSES = (0.0, 0.25, 0.5, 0.9, 1.5, 2.0, 3.0, 12.0)
"""The eight alternatives of figure 1, in pawns."""

_K = 0.1
_GRID_STEP = 0.001  # of the credibility regions; see the note of the entry


def _regression(_: Budget) -> Sequence[Row]:
    table = paper_table("DFH13_table_III")
    c = np.array([float(row["c"]) for row in table])
    elo = np.array([(int(row["elo_min"]) + int(row["elo_max"])) / 2 for row in table])
    slope, intercept = elo_line(c, elo)
    slack = _rounding_slack(c, elo, printed(table[0]["c"]).half_unit)
    return [
        Row("slope of Elo on c̄", printed("1949.53"), slope, float(slack[0])),
        Row("intercept", printed("32.39"), intercept, float(slack[1])),
    ]


class _Likelihoods:
    """The study behind figure 1: the formula itself."""

    def figures(self) -> list[tuple[str, str]]:
        from skilloscope.papers.figures import likelihood_figure

        return [(likelihood_figure(FIGURE_1_LOSSES, _K), "Likelihood and probability of eight alternatives by c.")]


def _figure1(_: Budget) -> Outcome:
    rows = []
    for loss, own in zip(FIGURE_1_LOSSES, probability(FIGURE_1_LOSSES, 1.2, k=_K), strict=True):
        rows.append(Row(f"{loss:g} pawns lost: L at c = 1", None, float(likelihood(loss, 1.0, k=_K))))
        rows.append(Row(f"{loss:g} pawns lost: probability at c = 1.2, the paper's 2400", None, float(own)))
    return Outcome(rows, [], [_Likelihoods()])


def _columns(budget: Budget) -> Outcome:
    return bands_outcome(budget, "DFH13_table_III", _group_rows)


def _group_rows(line: Mapping[str, str], group: Composite | None, whose: str) -> Sequence[Row]:
    """Return our c̄ and σ·√N beside the printed, and once what the printed columns imply for each other."""
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
    bands = analysed_bands(budget)
    slope, intercept = printed("1949.53"), printed("32.39")
    if bands is None or (line := bands.composites.line) is None:
        return Outcome([Row("slope of Elo on c̄", slope), Row("intercept", intercept)], bands_note(bands))
    low, high = line.prediction_interval(line.centre)
    rows = [
        Row("slope of Elo on c̄", slope, line.slope, sd=line.slope_sd, alike=False),
        Row("intercept", intercept, line.intercept, sd=line.intercept_sd, alike=False),
        Row("standard error of the line, Elo", None, line.residual_sd),
        Row("95 % prediction interval at the middle, ± Elo", None, float(high - low) / 2),
    ]
    return Outcome(rows, bands_note(bands), [bands.composites])


def _mileposts(budget: Budget) -> Outcome:
    bands = analysed_bands(budget)
    rows = []
    for line in paper_table("independent_mileposts"):
        group = bands.group(int(line["milepost"])) if bands else None
        known, (ours, sd) = printed(line["c"]), mean_and_sd(group.c if group else None)
        about = f"{line['milepost']} c̄" + (f", {group.decisions:,} decisions" if group else "")
        rows.append(Row(about, known, ours, 0.005 - known.half_unit, sd=sd))
    return Outcome(rows, bands_note(bands))


def _figure3(budget: Budget) -> Outcome:
    bands = analysed_bands(budget)
    if bands is None:
        return Outcome(
            [Row("σ of one c after all decisions", None), Row("spread between games, sd", None)], bands_note(None)
        )
    study = group_convergence(bands.decisions, bands.rows, 2400)
    rows = []
    for step in study.steps:
        rows.append(Row(f"c̄ after {step.decisions:,} decisions", None, step.c.mean, sd=step.c.sd))
    if study.spread:
        reach = f"95 % {study.spread.low:.3f} to {study.spread.high:.3f}"
        rows.append(Row(f"spread between {study.spread.player_games} player-games, sd, {reach}", None, study.spread.sd))
    return Outcome(rows, bands_note(bands), [study])


def _rounding_slack(c: Array, elo: Array, half_unit: float) -> Array:
    """Return how far slope and intercept can move when every printed c̄ is off by half a unit (first order)."""
    step = 1e-6
    base = np.array(elo_line(c, elo))
    moves = [np.array(elo_line(c + step * unit, elo)) - base for unit in np.eye(len(c))]
    return np.asarray(np.abs(np.array(moves)).sum(axis=0) / step * half_unit)


DFH13_ENTRIES = (
    Entry(
        "DFH13.figure1",
        "Figure 1: the likelihood of eight alternatives by c, k = 0.1",
        _figure1,
        "It shows that all are alike at c = 0 and part the faster the more they lose: the model's shape. It is the "
        "formula and no data: whether people choose so, it does not show. The paper prints no number of it.",
    ),
    Entry(
        "DFH13.line",
        "c2ELO regression line (figure 2b) from the printed c̄ of Table III",
        _regression,
        "The printed c̄ are rounded to three digits; the tolerance holds what that rounding can do to the line.",
    ),
    Entry(
        "DFH13.III",
        "Table III: c̄ beside ours, and the columns implied by the printed c̄, σ and N",
        _columns,
        "c̄ needs games under an engine: – without them; ours are of other games and another engine. The printed "
        "regions are wider than c̄ ± 1.96σ by up to 0.0016; a region on a grid of step 0.001, rounded outwards, "
        "explains it: the tolerance holds a step.",
    ),
    Entry(
        "DFH13.line2",
        "Figure 2: densities of our composite players, and our own line through their c̄",
        _our_line,
        "Another engine and depth of judgement give another line; it is shown and not judged.",
    ),
    Entry(
        "DFH13.mileposts",
        "c̄ of twelve mileposts beside an independent calculation on the same analysed games",
        _mileposts,
        "Not of the paper: another program's figures for the same file (rule listed, k = 0.1, |best value| ≤ 3 pawns, "
        "mates at 39). Ours must come within 0.005.",
    ),
    Entry(
        "DFH13.figure3",
        "Figure 3: convergence at 2400, and the spread between games",
        _figure3,
        "The paper prints no numbers here. Its asymptotic sd is the spread between games: σ of one c goes to zero.",
    ),
    Entry(
        "DFH13.IV",
        "Table IV: apparent skill of lost, won and drawn player-games at 2400",
        partial(split_outcome, table="DFH13_table_IV"),
        SPLIT_NOTE,
    ),
)
