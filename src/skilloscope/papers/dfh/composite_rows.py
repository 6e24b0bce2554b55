"""Rows that DFHR09 and DFH13 share: composite players and the split by result, printed beside ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from skilloscope.papers.dfh.bands import Bands, analysed_bands, period_bands
from skilloscope.papers.harness import Budget, Outcome, Row, paper_table, printed
from skilloscope.papers.samples import NO_DATA
from skilloscope.studies.composites.composites import Composite
from skilloscope.studies.composites.results_split import ResultsSplit, results_split

SPLIT_NOTE = (
    "The printed σ look like variances (0.0686 = 0.262²): ours stand beside them as variances, and our sd under its "
    "own name. c̄ of a single game depends on the range of c, which the papers do not state; ours is [0, 4]."
)

RowMaker = Callable[[Mapping[str, str], Composite | None, str], Sequence[Row]]
"""Makes the rows of a printed line and its composite player, where there is one, with a word about whose it is."""


def bands_outcome(budget: Budget, table: str, make: RowMaker, *, draw: bool = False) -> Outcome:
    """Return the rows of every milepost: from the analysed games, and from a sample of the paper's years."""
    analysed = analysed_bands(budget)
    sampled, note = period_bands(budget)
    rows: list[Row] = []
    for line in paper_table(table):
        milepost = (int(line["elo_min"]) + int(line["elo_max"])) // 2
        rows += make(line, analysed.group(milepost) if analysed else None, "")
        if sampled and sampled.group(milepost):
            rows += make(line, sampled.group(milepost), ", the paper's years")
    if analysed is None:
        return Outcome(rows, [NO_DATA])
    notes = [analysed.note, *([sampled.note] if sampled else [note])]
    studies = [analysed.composites, *([sampled.composites] if sampled else [])]
    return Outcome(rows, notes, studies if draw else [])


def split_outcome(budget: Budget, *, table: str, milepost: int = 2400) -> Outcome:
    """Return the split of one milepost's player-games by result beside the printed one. [DFHR09 III, DFH13 IV]"""
    lines = paper_table(table)
    n = [int(line["n"]) for line in lines]
    whole = sum(size * float(line["mean"]) for size, line in zip(n, lines, strict=True)) / sum(n)
    rows = [Row("mean of all, from the printed rows", printed("1.2109"), whole, 0.00005)]
    bands = analysed_bands(budget)
    split = None if bands is None else results_split(bands.rows.of(milepost), name=str(milepost), rng=_rng(budget))
    for line in lines:
        rows += _split_rows(line, split)
    if bands is None or split is None:
        return Outcome(rows, [NO_DATA])
    everyone = results_split(bands.rows, name="all mileposts", rng=_rng(budget))
    rows.append(Row("mean of all, ours", printed("1.2109"), split.mean, alike=False))
    for some in (split, everyone):
        rows += _differences(some)
    said = f"{split.player_games:,} player-games at {milepost}, {everyone.player_games:,} at all mileposts"
    return Outcome(rows, [f"{bands.note}; {said}"], [split, everyone])


def _split_rows(line: dict[str, str], split: ResultsSplit | None) -> list[Row]:
    name = f"{line['set']} ({line['result']})"
    n, mean, variance = (printed(line[column]) for column in ("n", "mean", "sd"))
    own = {row.result: row for row in split.rows}.get(line["result"]) if split else None
    if own is None:
        return [Row(f"{name}: player-games", n), Row(f"{name}: mean c̄", mean), Row(f"{name}: σ", variance)]
    return [
        Row(f"{name}: player-games", n, float(own.player_games), alike=False),
        Row(f"{name}: mean c̄", mean, own.mean, alike=False),
        Row(f"{name}: printed σ, our variance", variance, own.variance, alike=False),
        Row(f"{name}: our sd", None, own.sd),
        Row(f"{name}: c of all its decisions", None, own.pooled, sd=own.pooled_sd),
    ]


def _differences(split: ResultsSplit) -> list[Row]:
    rows = []
    for difference in split.differences:
        low, high = difference.low, difference.high
        reach = "" if low is None or high is None else f", 95 % {low:+.3f} to {high:+.3f}"
        rows.append(Row(f"{difference.of}, {split.name}{reach}", None, difference.mean))
    return rows


def _rng(budget: Budget) -> np.random.Generator:
    return np.random.default_rng(budget.seed)


def bands_note(bands: Bands | None) -> Sequence[str]:
    """Return what is to be said of the games, or that there are none."""
    return [NO_DATA] if bands is None else [bands.note]
