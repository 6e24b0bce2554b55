"""Decisions from chess: positions, answers and the moves played, joined by identity.

In: Analyses. Out: Decisions, values in pawns from the mover's view, best first, with the values of every shallower
depth of the same search. `movers`, `chosen_places` and `context_of` give the columns that every producer of chess
decisions needs: who decides, the context, and the place of the played move in its list.

Whether a position is left out never depends on the move that was played: a position counts as decided by its best
value before the move.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.moves import MATE_CAP, moves_uci, value_pawns
from skilloscope.chess.pgn.facts import game_facts
from skilloscope.chess.pgn.positions import Positions
from skilloscope.core.arrays import Array, Ints
from skilloscope.core.columns import encode, ragged_take
from skilloscope.core.errors import InputError, Tally
from skilloscope.decision.batch import LABELS
from skilloscope.decision.decisions import UNLISTED, Decisions

CONTEXT = (
    "game", "ply", "mover", "elo", "opponent", "opponent_elo", "date", "year", "event", "site", "time_control",
    "result", "fen", "clock", "move", "round", "termination", "time_class", "eco", "opening",
)  # fmt: skip
"""The context columns of decisions in chess; every one may be null."""


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
    made = answers.answered & (analyses.positions.played != 0)  # not the position after the last move
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
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        named = pa.LargeListArray.from_arrays(pa.array(offsets), moves_uci(moves))
        context = context.append_column(LABELS, named)
    return Decisions.from_columns(
        encode(player.take(pa.array(index)).to_pylist()),
        values,
        counts,
        chosen_places(moves, counts, analyses.positions.played[index]),
        analyses.positions.n_legal[index],
        depths=depths,
        context=context,
        tally=analyses.games.tally + analyses.positions.tally + analyses.tally + tally,
        about={
            "domain": "chess",
            "settings": dict(analyses.settings),
            "mate_cap": mate_cap,
            "max_abs_value": max_abs_value,
            "skip_moves": analyses.positions.skip_moves,
            **analyses.about,
        },
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
        self, index: Ints, depths: tuple[int, ...]
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.uint16], Ints]:
        """Return values (by depth, if asked for), moves and counts of the alternatives of these positions."""
        counts = np.bincount(self.row_of_line[self.judged], minlength=len(self.last))
        offsets, flat = ragged_take(np.concatenate([[0], np.cumsum(counts)]), self.analyses.row[index])
        values = self.by_depth(depths) if depths else self.value[self.judged]
        moves = self.analyses.lines["move"][self.judged]
        return values[flat].astype(np.float32), moves[flat], np.diff(offsets)

    def by_depth(self, depths: tuple[int, ...]) -> Array:
        """Return what each alternative was worth at each depth; NaN where it was not listed.

        An engine that stopped early, with a mate in hand, has the same values at the depths that it left out.
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


def movers(positions: Positions) -> pa.Array:
    """Return the name of the player to move in each position, null where it is unknown."""
    return positions.games.by_mover(positions.game, positions.mover)["player"]


def chosen_places(moves: npt.NDArray[np.uint16], counts: Ints, played: npt.NDArray[np.uint16]) -> Ints:
    """Return the place of each played move in its list, or UNLISTED."""
    chosen = np.full(len(counts), UNLISTED, dtype=np.int64)
    decision = np.repeat(np.arange(len(counts)), counts)
    hits = np.flatnonzero(moves == played[decision])
    starts = np.cumsum(counts) - counts
    chosen[decision[hits]] = hits - starts[decision[hits]]
    return chosen


def context_of(positions: Positions) -> pa.Table:
    """Return the context columns of decisions in these positions."""
    clock, games = positions.clock.astype(np.float32), pa.array(positions.game)
    columns = {
        **positions.games.by_mover(positions.game, positions.mover),
        "ply": pa.array(positions.ply),
        "fen": positions.fen,
        "clock": pa.array(clock, mask=np.isnan(clock)),
        "move": moves_uci(positions.played),
        **{name: pa.array(of, type=pa.string()).take(games) for name, of in game_facts(positions.games).items()},
    }
    return pa.table({name: columns[name] for name in CONTEXT})
