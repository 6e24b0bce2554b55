"""Decisions from chess: positions, answers and the moves played, joined by identity.

In: Analyses. Out: Decisions, values in pawns from the mover's view, best first, with the values of every shallower
depth of the same search beside the judgement.

What is left out never depends on the move that was played: a position is decided by its best value before the move.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.engine.lines import MATE_CAP, moves_uci, value_pawns
from skilloscope.chess.joining import chosen_places, context_of, movers
from skilloscope.core.columns import LABELS, encode
from skilloscope.core.errors import InputError, Tally
from skilloscope.decision.decisions import Decisions


def decisions(
    analyses: Analyses,
    *,
    max_abs_value: float = 3.0,
    mate_cap: float = MATE_CAP,
    all_depths: bool = True,
    named_moves: bool = False,
) -> Decisions:
    """Return the decisions of all analysed positions whose best value is within ± `max_abs_value` pawns.

    A value at a shallower depth is NaN where the move was not on that depth's list. Searches by nodes end at
    different depths and have no depth axis. With `named_moves` the context column `alternatives` names every listed
    move, so that the lists of two engines can be compared.
    """
    if not isinstance(analyses, Analyses):
        raise InputError(f"{type(analyses).__name__} is no analyses", hint="decisions(analyse(games)) gives decisions")
    answers = _Answers(analyses, mate_cap)
    player = movers(analyses.positions)
    known = pc.is_valid(player).to_numpy(zero_copy_only=False)
    best = np.abs(answers.best)
    made = answers.answered & (analyses.positions.played != 0)  # not what stands on the board after the last move
    several = analyses.positions.n_legal > 1
    keep = made & several & known & (best <= max_abs_value)
    tally = Tally()
    tally.count("forced", int(np.sum(made & ~several)))
    tally.count("unknown player", int(np.sum(made & several & ~known)))
    tally.count(decided_reason(max_abs_value), int(np.sum(made & several & known & ~keep)))
    index = np.flatnonzero(keep)
    depths = answers.depths() if all_depths else ()
    values, moves, counts = answers.table(index, depths)
    context = context_of(analyses.positions).take(pa.array(index))
    if named_moves:
        context = context.append_column(LABELS, _named(moves, counts))
    return Decisions.from_columns(
        encode(player.take(pa.array(index)).to_pylist()),
        values,
        counts,
        chosen_places(moves, counts, analyses.positions.played[index]),
        analyses.positions.n_legal[index],
        depths=depths,
        context=context,
        tally=analyses.games.tally + analyses.positions.tally + analyses.tally + tally,
        about=_about(analyses, max_abs_value, mate_cap),
    )


def decided_reason(max_abs_value: float) -> str:
    """Return the name under which decided positions are counted."""
    return f"decided (best value beyond ±{max_abs_value:g} pawns)"


class _Answers:
    """The answers as columns: for each row its last depth, best first, and a way from a move to its line."""

    def __init__(self, analyses: Analyses, mate_cap: float) -> None:
        self.analyses = analyses
        lines = analyses.lines
        self.row_of_line, self.last = analyses.row_of_line, analyses.last_depths
        self.value = value_pawns(lines["mate"], lines["score"], mate_cap)
        self.judged = np.flatnonzero(lines["depth"] == self.last[self.row_of_line])
        self.answered = analyses.answered
        best_of_row = np.full(len(analyses.offsets) - 1, -np.inf)
        np.maximum.at(best_of_row, self.row_of_line[self.judged], self.value[self.judged])
        self.best = np.full(len(analyses), np.nan)
        self.best[self.answered] = best_of_row[analyses.row[self.answered]]

    def depths(self) -> tuple[int, ...]:
        """Return the depths of the search, shallowest first; none where the searches have no depth in common."""
        if self.analyses.settings.get("depth") is None or not len(self.analyses.lines):
            return ()
        return tuple(int(depth) for depth in np.unique(self.analyses.lines["depth"]))

    def table(
        self, index: npt.NDArray[np.int64], depths: tuple[int, ...]
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.uint16], npt.NDArray[np.int64]]:
        """Return values (by depth, if asked for), moves and counts of the alternatives of these positions."""
        rows = self.analyses.row[index]
        counts_by_row = np.bincount(self.row_of_line[self.judged], minlength=len(self.last))
        starts = np.concatenate([[0], np.cumsum(counts_by_row)])
        counts = counts_by_row[rows]
        ends = np.cumsum(counts)
        flat = np.repeat(starts[rows] - (ends - counts), counts) + np.arange(ends[-1] if len(ends) else 0)
        values = self.by_depth(depths) if depths else self.value[self.judged]
        moves = self.analyses.lines["move"][self.judged]
        return values[flat].astype(np.float32), moves[flat], counts.astype(np.int64)

    def by_depth(self, depths: tuple[int, ...]) -> npt.NDArray[np.float64]:
        """Return what each alternative was worth at each depth; NaN where it was not listed.

        An engine that stopped early, with a mate in hand, would have said the same at the depths that it left out.
        """
        lines = self.analyses.lines
        key = self.row_of_line * 65536 + lines["move"]
        known = key[self.judged]
        order = np.argsort(known, kind="stable")
        found = np.searchsorted(known, key, sorter=order)
        place = order[np.minimum(found, len(order) - 1)]
        hit = known[place] == key
        table = np.full((len(self.judged), len(depths)), np.nan)
        table[place[hit], np.searchsorted(depths, lines["depth"][hit])] = self.value[hit]
        early = np.array(depths) > self.last[self.row_of_line[self.judged]][:, None]
        return np.where(early, self.value[self.judged][:, None], table)


def _named(moves: npt.NDArray[np.uint16], counts: npt.NDArray[np.int64]) -> pa.Array:
    """Return each decision's listed moves as an engine writes them."""
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return pa.LargeListArray.from_arrays(pa.array(offsets), moves_uci(moves))


def _about(analyses: Analyses, max_abs_value: float, mate_cap: float) -> dict[str, Any]:
    return {
        "domain": "chess",
        "settings": dict(analyses.settings),
        "mate_cap": mate_cap,
        "max_abs_value": max_abs_value,
        "skip_moves": analyses.positions.skip_moves,
        **analyses.about,
    }
