"""Evaluations: what every position of games is worth, from whatever source, and the gains that follow.

In: [%eval] comments, analyses, or games with evaluations as JSON lines (docs/data.md). Out: Evaluations, one value for
each position before, between and after the moves; and Losses, one row for each move whose value before and after is
known.

A position in which the game is over needs no engine: mate is worth the cap, stalemate nothing. Resigning, losing on
time or agreeing to a draw is no move, so there is no gain: the last position keeps its value. What is not known stays
unknown and is counted, never taken as zero.
"""

import os
from dataclasses import dataclass, field, replace
from typing import Any

import chess
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.moves import MATE_CAP, board_of_fen, move_code, move_of_code, value_pawns
from skilloscope.chess.pgn.games import Games
from skilloscope.chess.pgn.text import NO_MATE, GameColumns, MainLine, header_from_tags
from skilloscope.core.columns import About, Array, Bools, Ints, encode, ragged_take
from skilloscope.core.errors import InputError, Tally
from skilloscope.core.files import DAMAGE, BinaryDataError, open_lines, source_name
from skilloscope.core.text import read_object
from skilloscope.decision import Losses

GAIN_CONTEXT = ("game", "ply", "mover", "elo", "opponent", "opponent_elo", "date", "year", "event", "file", "result")
"""The context columns of gains; `first_choice`, where the engine's own move is known, comes after them."""

_TAGS = {
    "white": "White", "black": "Black", "white_elo": "WhiteElo", "black_elo": "BlackElo", "result": "Result",
    "event": "Event", "date": "Date", "ECO": "ECO",
}  # fmt: skip
_NO_NAMES = {"?", "??", ""}


@dataclass(frozen=True, eq=False, repr=False)
class Evaluations:
    """The value of every position of games in pawns, white's view, mates at ± the cap; NaN where unknown.

    Game i with n moves owns n + 1 values from `starts[i]` on: the first is of the position that it starts from.
    """

    games: Games
    values: Array
    first_choice: Array | None = None
    """For each move whether it is the engine's own (1 or 0, NaN where unknown); None without an engine."""
    tally: Tally = field(default_factory=Tally)
    about: About = field(default_factory=dict)
    searched: Bools | None = None
    """Which values an engine has found here, where some came with the games; None: all or none, as `about` says."""

    @property
    def noted(self) -> Bools:
        """Which values came with the games."""
        every = np.full(len(self.values), self.about.get("source") == "engine")
        return np.isfinite(self.values) & ~(every if self.searched is None else self.searched)

    def filled(self, other: "Evaluations") -> "Evaluations":
        """Return the values, and where one is unknown that of a search."""
        new = np.isnan(self.values) & np.isfinite(other.values)
        values = np.where(new, other.values, self.values)
        return replace(self, values=values, about=other.about, searched=new | (np.isfinite(values) & ~self.noted))

    def of_games(self, rows: Ints) -> "Evaluations":
        """Return the values of the games of some rows, in ascending order."""
        _, at = ragged_take(np.append(self.starts, len(self.values)), rows)
        some = None if self.searched is None else self.searched[at]
        return replace(self, games=self.games.select(rows), values=self.values[at], first_choice=None, searched=some)

    def __repr__(self) -> str:
        known = int(np.isfinite(self.values).sum())
        return f"<Evaluations: {known:,} of {len(self.values):,} positions of {len(self.games):,} games>"

    @property
    def starts(self) -> Ints:
        """Where the values of each game begin."""
        return np.asarray(self.games.offsets[:-1] + np.arange(len(self.games)))

    def losses(self) -> Losses:
        """Return one row per move whose value before and after is known. [FER12 Algorithm 1, steps 1–2]"""
        games, at = self.games, np.arange(len(self.games.moves)) + self.games.game_of_move
        before, after = self.values[at], self.values[at + 1]
        columns = games.by_mover(games.game_of_move, games.movers)
        known = pc.is_valid(columns["player"]).to_numpy(zero_copy_only=False)
        usable = np.isfinite(after) & np.isfinite(before)
        tally = self.tally + Tally()
        tally.count("no evaluation after the move", int(np.isnan(after).sum()))
        tally.count("no evaluation before the move", int((np.isfinite(after) & np.isnan(before)).sum()))
        tally.count("unknown player", int((usable & ~known).sum()))
        kept = np.flatnonzero(usable & known)
        sign = np.where(games.movers[kept] == 0, 1.0, -1.0)
        columns["ply"] = pa.array((at - self.starts[games.game_of_move]).astype(np.int32))
        table = pa.table({name: columns[name] for name in GAIN_CONTEXT}).take(pa.array(kept))
        if self.first_choice is not None:
            chosen = self.first_choice[kept]
            table = table.append_column("first_choice", pa.array(chosen == 1, mask=np.isnan(chosen)))
        deciders, codes = encode(columns["player"].take(pa.array(kept)).to_pylist())
        values = {"before": sign * before[kept], "after": sign * after[kept]}
        return Losses(deciders, codes, **values, context=table, tally=tally, about=self.about)


def evaluations_from_comments(games: Games, *, mate_cap: float = MATE_CAP) -> Evaluations:
    """Return what the games' [%eval] comments say; one before the first move is the start position's value."""
    values = np.full(len(games.moves) + len(games), np.nan)
    after = np.arange(len(games.moves)) + games.game_of_move + 1
    values[after] = games.eval_values(mate_cap)
    pawns, mates = (games.headers[f"start_{name}"].to_numpy().astype(np.float64) for name in ("eval", "mate"))
    mated = np.isfinite(mates)
    start = value_pawns(mated, np.where(mated, np.nan_to_num(mates), np.round(pawns * 100, 2)), mate_cap)
    values[games.offsets[:-1] + np.arange(len(games))] = np.where(mated | np.isfinite(pawns), start, np.nan)
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
    tally.counts.pop("game over", None)  # a position without a legal move has its value by the rules
    about = {"source": "engine", "settings": dict(analyses.settings), "mate_cap": mate_cap, **analyses.about}
    return Evaluations(games, with_ends(games, values, mate_cap), first_choice, tally, about)


def read_evaluated(path: str | os.PathLike[str], *, mate_cap: float = MATE_CAP) -> Evaluations:
    """Read games with their evaluations; a bad line is a fault, and nameless players are called after their game."""
    file = source_name(path)
    columns, tally = GameColumns(), Tally()
    lists: list[list[float]] = []
    try:
        with open_lines(path) as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    _append(line, number, file, columns, lists, tally)
    except BinaryDataError as error:
        tally.fault("binary data", file, f"byte {error.offset}")
    except DAMAGE as error:
        tally.fault("damaged file", file, f"after game {len(lists)}", str(error))
    games = Games.from_columns(columns, tally)
    values = np.full(len(games.moves) + len(games), np.nan)
    for game, centipawns in enumerate(lists):
        end = int(games.offsets[game + 1]) + game + 1
        values[end - len(centipawns) : end] = np.clip(np.array(centipawns) / 100, -mate_cap, mate_cap)
    about = {"source": "evaluations in the file", "mate_cap": mate_cap}
    return Evaluations(games, with_ends(games, values, mate_cap), None, tally, about)


def share_with_comments(games: Games) -> float:
    """Return the share of moves that carry an [%eval] comment; 0 without a move."""
    return float(np.isfinite(games.eval_values()).mean()) if len(games.moves) else 0.0


def final_value(board: chess.Board, mate_cap: float = MATE_CAP) -> float | None:
    """Return what a finished position is worth, white's view (± the cap, or 0), None if it goes on. [FER12 sect. 3]

    >>> final_value(chess.Board("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1")), final_value(chess.Board())
    (39.0, None)
    """
    if any(board.legal_moves):
        return None
    if not board.is_check():
        return 0.0
    return -mate_cap if board.turn == chess.WHITE else mate_cap


def with_ends(games: Games, values: Array, mate_cap: float) -> Array:
    """Fill in the last value of each game that ended on the board, where the source leaves it out."""
    starts = games.headers["start_fen"].to_pylist()
    for game in range(len(games)):
        last = int(games.offsets[game + 1]) + game
        if np.isnan(values[last]):
            board = board_of_fen(starts[game])
            for code in games.moves[games.offsets[game] : games.offsets[game + 1]].tolist():
                board.push(move_of_code(code))
            final = final_value(board, mate_cap)
            values[last] = np.nan if final is None else final
    return values


def best_of_rows(analyses: Analyses, mate_cap: float) -> tuple[Array, npt.NDArray[np.uint16]]:
    """Return the value and the move listed first at the last depth of each answer."""
    lines, rows, row_of_line = analyses.lines, len(analyses.offsets) - 1, analyses.row_of_line
    firsts = np.flatnonzero((lines["depth"] == analyses.last_depths[row_of_line]) & (lines["rank"] == 1))
    value, move = np.full(rows, np.nan), np.zeros(rows, dtype=np.uint16)
    value[row_of_line[firsts]] = value_pawns(lines["mate"], lines["score"], mate_cap)[firsts]
    move[row_of_line[firsts]] = lines["move"][firsts]
    return value, move


def without_doubles(values: list[Any]) -> list[Any]:
    """Return the values once each, where the list repeats all of them.

    >>> without_doubles([16, 16, 15, 15]), without_doubles([16, 15, 15])
    ([16, 15], [16, 15, 15])
    """
    doubled = len(values) % 2 == 0 and all(values[i] == values[i + 1] for i in range(0, len(values), 2))
    return values[::2] if doubled else values


def _append(line: str, number: int, file: str, columns: GameColumns, lists: list[list[float]], tally: Tally) -> None:
    place = f"line {number}"
    try:
        row = read_object(line)
        board = chess.Board()
        moves = [move_code(board.push_uci(uci)) for uci in row["moves"]]
        centipawns = [float(value) for value in without_doubles(row.get("stockfish_eval") or [])]
        if not np.isfinite(centipawns).all():
            raise InputError("an evaluation is not finite")
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        tally.fault("unreadable game", file, place, str(error)[:80])
        return
    if not moves:
        tally.count("no moves")
        return
    if len(centipawns) > len(moves) + 1:
        tally.fault("more evaluations than positions", file, place, f"{len(centipawns)} for {len(moves)} moves")
        return
    if not centipawns:
        tally.count("game without evaluations")
    main = MainLine(moves, [np.nan] * len(moves), [np.nan] * len(moves), [NO_MATE] * len(moves))
    tags = {tag: str(row[name]) for name, tag in _TAGS.items() if row.get(name) is not None}
    for side in ("White", "Black"):
        if tags.get(side, "") in _NO_NAMES:
            tags[side] = f"game {number}, {side.lower()}"
    columns.append(header_from_tags(tags, main, file, number), main)
    lists.append(centipawns)
