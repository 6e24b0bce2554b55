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

from skilloscope.chess.analyses import Analyses
from skilloscope.chess.lines import MATE_CAP, LineArray, value_pawns
from skilloscope.decision.columns import encode
from skilloscope.decision.decisions import UNLISTED, Decisions
from skilloscope.errors import Tally

__all__ = ["CONTEXT", "decided_reason", "decisions"]

CONTEXT = (
    "game",
    "ply",
    "mover",
    "elo",
    "opponent",
    "opponent_elo",
    "date",
    "year",
    "event",
    "site",
    "time_control",
    "result",
    "fen",
    "clock",
)
"""The context columns of decisions in chess; every one may be null."""


def decisions(
    analyses: Analyses, *, max_abs_value: float = 3.0, mate_cap: float = MATE_CAP, all_depths: bool = True
) -> Decisions:
    """Return the decisions of all analysed positions whose best value is within ± `max_abs_value` pawns.

    A value at a shallower depth is NaN where the move was not on that depth's list. Searches by nodes end at
    different depths and have no depth axis.
    """
    answers = _Answers(analyses, mate_cap)
    player = _by_side(analyses, "white", "black")
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
    return Decisions.from_columns(
        encode(player.take(pa.array(index)).to_pylist()),
        values,
        counts,
        _chosen(moves, counts, analyses.positions.played[index]),
        analyses.positions.n_legal[index],
        depths=depths,
        context=_context(analyses).take(pa.array(index)),
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
        self.row_of_line = np.repeat(np.arange(len(analyses.offsets) - 1), np.diff(analyses.offsets))
        self.value = value_pawns(lines["mate"], lines["score"], mate_cap)
        self.last = _last_depths(lines, analyses.offsets)
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


def _last_depths(lines: LineArray, offsets: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    last = np.zeros(len(offsets) - 1, dtype=np.int64)
    np.maximum.at(last, np.repeat(np.arange(len(last)), np.diff(offsets)), lines["depth"].astype(np.int64))
    return last


def _chosen(
    moves: npt.NDArray[np.uint16], counts: npt.NDArray[np.int64], played: npt.NDArray[np.uint16]
) -> npt.NDArray[np.int64]:
    """Return the place of each played move in its list, or UNLISTED."""
    chosen = np.full(len(counts), UNLISTED, dtype=np.int64)
    decision = np.repeat(np.arange(len(counts)), counts)
    hits = np.flatnonzero(moves == played[decision])
    starts = np.cumsum(counts) - counts
    chosen[decision[hits]] = hits - starts[decision[hits]]
    return chosen


def _by_side(analyses: Analyses, white: str, black: str) -> pa.Array:
    """Return a header for each position: the first column where white is to move, the second where black is."""
    at = pa.array(analyses.positions.game)
    columns = [analyses.games.headers[name].combine_chunks().take(at) for name in (white, black)]
    return pc.if_else(pa.array(analyses.positions.mover == 0), *columns)


def _context(analyses: Analyses) -> pa.Table:
    batch = analyses.positions
    headers = analyses.games.headers.take(pa.array(batch.game))
    white = pa.array(batch.mover == 0)
    clock = batch.clock.astype(np.float32)
    return pa.table(
        {
            "game": headers["game"],
            "ply": pa.array(batch.ply),
            "mover": pc.if_else(white, "white", "black"),
            "elo": _by_side(analyses, "white_elo", "black_elo"),
            "opponent": _by_side(analyses, "black", "white"),
            "opponent_elo": _by_side(analyses, "black_elo", "white_elo"),
            "date": headers["date"],
            "year": headers["year"],
            "event": headers["event"],
            "site": headers["site"],
            "time_control": headers["time_control"],
            "result": _scores(headers["result"], batch.mover),
            "fen": batch.fen,
            "clock": pa.array(clock, mask=np.isnan(clock)),
        }
    )


def _scores(results: pa.ChunkedArray, mover: npt.NDArray[np.int8]) -> pa.Array:
    """Return the mover's score in the game, null where the result is unknown."""
    white = {"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}
    scores = np.array([white.get(result, np.nan) for result in results.to_pylist()], dtype=np.float64)
    own = np.where(mover == 0, scores, 1 - scores)
    return pa.array(own, mask=np.isnan(own))


def _about(analyses: Analyses, max_abs_value: float, mate_cap: float) -> dict[str, Any]:
    return {
        "domain": "chess",
        "settings": dict(analyses.settings),
        "mate_cap": mate_cap,
        "max_abs_value": max_abs_value,
        "skip_moves": analyses.positions.skip_moves,
        **analyses.about,
    }
