"""The choices that DFH13 leaves open, made on games of 2006–2009 and judged on those of 2010–2014.

The analysed games hold few of the early years; with engine time or imported analyses more of them are sampled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from skilloscope.chess.decisions import decisions
from skilloscope.chess.positions import positions
from skilloscope.core.errors import InputError
from skilloscope.decision import Decisions
from skilloscope.papers.dfh.bands import year_games
from skilloscope.papers.dfh.years import PAPERS, Choices, choose, judgement
from skilloscope.papers.harness import Budget, Entry, Outcome, Row, printed
from skilloscope.papers.samples import NO_DATA, analysed_decisions, may_sample, sampled_games
from skilloscope.sources.judge import analyse_as

_EARLY, _ERA = (2006, 2009), "2006-2009"
_EVERY = np.inf  # pawns: no position is left out, the filter is one of the choices


def _choices(budget: Budget) -> Outcome:
    batch = analysed_decisions(budget, max_abs_value=_EVERY)
    if batch is None:
        return Outcome([Row("k chosen on 2006–2009", printed("0.1"))], [NO_DATA])
    more, note = _early_sample(budget)
    study = choose(batch if more is None else _together(batch, more))
    counts = [
        f"{years[0]}–{years[1]}: {games:,} games, {n:,} decisions within ±3 pawns"
        for years, games, n in zip((study.early, study.late), study.games, study.decisions, strict=True)
    ]
    return Outcome(_rows(study), [*counts, note])


def _rows(study: Choices) -> Sequence[Row]:
    rows = [
        Row("k chosen on 2006–2009", printed("0.1"), study.chosen.k, alike=False),
        Row("upper end of c chosen on 2006–2009", None, study.chosen.high),
        Row("filter chosen on 2006–2009, pawns", None, study.chosen.max_abs_value),
    ]
    for score in study.scores:
        value = {"k": score.option.k, "range": score.option.high, "filter": score.option.max_abs_value}[score.of]
        unit = "player-game about Elo" if score.of == "filter" else "decision"
        for years, (gain, error) in ((study.early, score.early_gain), (study.late, score.late_gain)):
            rows.append(Row(f"{score.of} {value:g}: nats a {unit}, {years[0]}–{years[1]}", None, gain, sd=error))
    for option, composites in study.judged:
        rank, residual_sd = judgement(composites)
        whose = "as before" if option == PAPERS else "as chosen"
        rows += [
            Row(f"2010–2014 {whose}: rank correlation of c̄ with Elo", None, rank),
            Row(f"2010–2014 {whose}: standard error of the line, Elo", None, residual_sd),
        ]
    return rows


def _early_sample(budget: Budget) -> tuple[Decisions | None, str]:
    """Return decisions of sampled games of the early years, of every position; None where none is known."""
    if not may_sample(budget):
        return (
            None,
            "more games of 2006–2009 are sampled with engine time (--budget MINUTES) or analyses (--import FILE)",
        )
    games = year_games(budget, _EARLY, _ERA)
    if games is None:
        return None, "no files of bands in the data folder"
    try:
        chosen = sampled_games(budget, games, budget.work, name="bands of 2006–2009")
    except InputError as error:
        return None, f"no more games of 2006–2009 were sampled: {error}"
    found = decisions(analyse_as(budget.work, positions(chosen)), max_abs_value=_EVERY, all_depths=False)
    return found, f"bands of 2006–2009: {len(chosen):,} more games by seed {budget.seed}, {len(found):,} positions"


def _together(one: Decisions, other: Decisions) -> Decisions:
    """Return both batches; a game that is in both, under different names, counts once."""
    both = Decisions.concat([replace(one, about={}), replace(other, about={})])
    _, codes = both.groups(["decider", "opponent", "date", "ply", "fen"])
    return both.select(np.sort(np.unique(codes, return_index=True)[1]), reason="decision given twice")


DFH13_CHOICES_ENTRIES = (
    Entry(
        "DFH13.choices",
        "k, range and filter: chosen on 2006–2009, judged on 2010–2014",
        _choices,
        "The paper gives k = 0.1 and neither range nor filter. Gains are against k = 0.1, then range 4, then filter 3: "
        "of predicting the second half of a player-game from its first, and of what player-games say of Elo.",
    ),
)
