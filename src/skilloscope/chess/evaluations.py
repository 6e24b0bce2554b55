"""Evaluations: what every position of games is worth, from whatever source, and the gains that follow.

In: [%eval] comments, analyses, or games with evaluations as JSON lines. Out: Evaluations, one value for each position
before, between and after the moves; and Losses, one row for each move whose value before and after is known.

The value before a move is the one after the move before, so each position is valued once. A position in which the
game is over needs no engine: mate is worth the cap, stalemate nothing. Whoever resigns, loses on time or agrees to a
draw makes no move, so there is no gain: the last position keeps its value. What is not known stays unknown and is
counted, never taken as zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

import chess
from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.engine.lines import MATE_CAP, value_pawns
from skilloscope.chess.pgn.games import Games
from skilloscope.core.columns import encode
from skilloscope.core.errors import Tally
from skilloscope.decision import Losses

GAIN_CONTEXT = ("game", "ply", "mover", "elo", "opponent", "opponent_elo", "date", "year", "event", "file", "result")
"""The context columns of gains; `first_choice`, where the engine's own move is known, comes after them."""

OVER = "game over"


@dataclass(frozen=True, eq=False, repr=False)
class Evaluations:
    """The value of every position of games in pawns, white's view, mates at ± the cap; NaN where unknown.

    Game i with n moves owns n + 1 values from `starts[i]` on: the first is of the position that it starts from.
    """

    games: Games
    values: npt.NDArray[np.float64]
    first_choice: npt.NDArray[np.float64] | None = None
    """For each move whether it is the engine's own (1 or 0, NaN where unknown); None where no engine said."""
    tally: Tally = field(default_factory=Tally)
    about: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        known = int(np.isfinite(self.values).sum())
        return f"<Evaluations: {known:,} of {len(self.values):,} positions of {len(self.games):,} games>"

    @property
    def starts(self) -> npt.NDArray[np.int64]:
        """Where the values of each game begin."""
        return np.asarray(self.games.offsets[:-1] + np.arange(len(self.games)))

    @property
    def before_move(self) -> npt.NDArray[np.int64]:
        """For each move where the value before it stands; the one after it is the next."""
        return np.asarray(np.arange(len(self.games.moves)) + self.games.game_of_move)

    def losses(self) -> Losses:
        """Return one row per move whose value before and after is known. [FER12 Algorithm 1, steps 1–2]"""
        games, at = self.games, self.before_move
        before, after = self.values[at], self.values[at + 1]
        white, black = games.headers["white"].to_pylist(), games.headers["black"].to_pylist()
        game, mover = games.game_of_move, games.movers
        names = [(white, black)[side][row] for row, side in zip(game.tolist(), mover.tolist(), strict=True)]
        known = np.array([name is not None for name in names], dtype=bool)
        usable = np.isfinite(after) & np.isfinite(before)
        tally = self.tally + Tally()
        tally.count("no evaluation after the move", int(np.isnan(after).sum()))
        tally.count("no evaluation before the move", int((np.isfinite(after) & np.isnan(before)).sum()))
        tally.count("unknown player", int((usable & ~known).sum()))
        kept = np.flatnonzero(usable & known)
        sign = np.where(mover[kept] == 0, 1.0, -1.0)
        deciders, codes = encode([names[i] or "" for i in kept])
        context = self._context(kept)
        return Losses(deciders, codes, sign * before[kept], sign * after[kept], context, tally, self.about)

    def _context(self, kept: npt.NDArray[np.int64]) -> pa.Table:
        games = self.games
        game, mover = games.game_of_move[kept], games.movers[kept]
        headers = games.headers.take(pa.array(game))
        white = pa.array(mover == 0)

        def by_side(one: str, two: str) -> pa.ChunkedArray:
            return pc.if_else(white, headers[one], headers[two])

        scores = {"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}
        won = np.array([scores.get(result, np.nan) for result in headers["result"].to_pylist()], dtype=np.float64)
        own = np.where(mover == 0, won, 1 - won)
        columns = {
            "game": headers["game"],
            "ply": pa.array((kept - games.offsets[game]).astype(np.int32)),
            "mover": pc.if_else(white, "white", "black"),
            "elo": by_side("white_elo", "black_elo"),
            "opponent": by_side("black", "white"),
            "opponent_elo": by_side("black_elo", "white_elo"),
            **{name: headers[name] for name in ("date", "year", "event", "file")},
            "result": pa.array(own, mask=np.isnan(own)),
        }
        if self.first_choice is not None:
            chosen = self.first_choice[kept]
            columns["first_choice"] = pa.array(chosen == 1, mask=np.isnan(chosen))
        return pa.table(columns)


def evaluations_from_comments(games: Games, *, mate_cap: float = MATE_CAP) -> Evaluations:
    """Return what the games' [%eval] comments say; one before the first move is the start position's value."""
    values = np.full(len(games.moves) + len(games), np.nan)
    after = np.arange(len(games.moves)) + games.game_of_move + 1
    values[after] = games.eval_values(mate_cap)
    starts = games.offsets[:-1] + np.arange(len(games))
    values[starts] = _start_values(games, mate_cap)
    about = {"source": "[%eval] comments", "mate_cap": mate_cap}
    return Evaluations(games, with_ends(games, values, mate_cap), None, games.tally, about)


def evaluations_from_analyses(analyses: Analyses, *, mate_cap: float = MATE_CAP) -> Evaluations:
    """Return the engine's best value of each position that it answered."""
    games, batch = analyses.games, analyses.positions
    best, move = best_of_rows(analyses, mate_cap)
    answered = np.flatnonzero(analyses.answered)
    row = analyses.row[answered]
    game, ply = batch.game[answered].astype(np.int64), batch.ply[answered].astype(np.int64)
    values = np.full(len(games.moves) + len(games), np.nan)
    values[games.offsets[game] + game + ply] = np.where(batch.mover[answered] == 0, 1.0, -1.0) * best[row]
    made = ply < games.counts[game]
    first_choice = np.full(len(games.moves), np.nan)
    entry = (games.offsets[game] + ply)[made]
    first_choice[entry] = games.moves[entry] == move[row[made]]
    tally = games.tally + batch.tally + analyses.tally
    tally.counts.pop(OVER, None)  # a position without a legal move has its value by the rules
    about = {"source": "engine", "settings": dict(analyses.settings), "mate_cap": mate_cap, **analyses.about}
    return Evaluations(games, with_ends(games, values, mate_cap), first_choice, tally, about)


def losses_from_analyses(analyses: Analyses, *, mate_cap: float = MATE_CAP) -> Losses:
    """Return one row per move whose position before and after was analysed. [FER12 Algorithm 1, steps 1–2]"""
    return evaluations_from_analyses(analyses, mate_cap=mate_cap).losses()


def share_with_comments(games: Games) -> float:
    """Return the share of moves that carry an [%eval] comment; 0 without a move."""
    return float(np.isfinite(games.eval_values()).mean()) if len(games.moves) else 0.0


def final_value(board: chess.Board, mate_cap: float = MATE_CAP) -> float | None:
    """Return what a position is worth in which the game is over by the rules, white's view; None where it is not.

    The mating move is worth the cap to whoever makes it, stalemate is worth nothing. [FER12 sect. 3]

    >>> final_value(chess.Board("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1")), final_value(chess.Board())
    (39.0, None)
    """
    if any(board.legal_moves):
        return None
    if not board.is_check():
        return 0.0
    return -mate_cap if board.turn == chess.WHITE else mate_cap


def with_ends(games: Games, values: npt.NDArray[np.float64], mate_cap: float) -> npt.NDArray[np.float64]:
    """Fill in the last value of each game that ended on the board, where the source leaves it out."""
    starts = games.headers["start_fen"].to_pylist()
    for game in range(len(games)):
        last = int(games.offsets[game + 1]) + game
        if np.isnan(values[last]):
            board = chess.Board(starts[game] or chess.STARTING_FEN)
            for code in games.moves[games.offsets[game] : games.offsets[game + 1]].tolist():
                board.push(chess.Move(code & 63, code >> 6 & 63, code >> 12 or None))
            final = final_value(board, mate_cap)
            values[last] = np.nan if final is None else final
    return values


def _start_values(games: Games, mate_cap: float) -> npt.NDArray[np.float64]:
    pawns = games.headers["start_eval"].to_numpy().astype(np.float64)
    mates = games.headers["start_mate"].to_numpy().astype(np.float64)
    mated = np.isfinite(mates)
    value = value_pawns(mated, np.where(mated, np.nan_to_num(mates), np.round(pawns * 100, 2)), mate_cap)
    return np.where(mated | np.isfinite(pawns), value, np.nan)


def best_of_rows(analyses: Analyses, mate_cap: float) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.uint16]]:
    """Return the value and the move that stand first at the last depth of each answer."""
    lines, rows = analyses.lines, len(analyses.offsets) - 1
    row_of_line = np.repeat(np.arange(rows), np.diff(analyses.offsets))
    last = np.zeros(rows, dtype=np.int64)
    np.maximum.at(last, row_of_line, lines["depth"].astype(np.int64))
    firsts = np.flatnonzero((lines["depth"] == last[row_of_line]) & (lines["rank"] == 1))
    value, move = np.full(rows, np.nan), np.zeros(rows, dtype=np.uint16)
    value[row_of_line[firsts]] = value_pawns(lines["mate"], lines["score"], mate_cap)[firsts]
    move[row_of_line[firsts]] = lines["move"][firsts]
    return value, move
