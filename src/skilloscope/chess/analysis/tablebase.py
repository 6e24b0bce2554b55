"""Tablebases: the exact judge of endgames. [DFHR09 names the idea; the utility is ours]

The tables know of each position whether it is won, drawn or lost, and in how many plies a capture or a pawn move can be
forced (the distance to zeroing). `syzygy_utility` makes a value in pawns of that.
"""

import os
from pathlib import Path
from typing import NamedTuple

import chess
import chess.syzygy
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from skilloscope.chess.analysis.analyses import chosen_places, context_of, movers
from skilloscope.chess.moves import move_code
from skilloscope.chess.pgn.positions import Positions
from skilloscope.core.columns import Array, encode
from skilloscope.core.errors import InputError, Tally
from skilloscope.core.paths import Closing
from skilloscope.decision.decisions import Decisions

UTILITY = "syzygy-utility"  # the name of the utility in reports; another formula will get another name
WIN_PAWNS = 10.0  # what a win is worth at any distance: about a queen
CURSED_PAWNS = 1.0
"""What a win is worth that the fifty-move rule makes a draw: something, for it must be held for fifty moves."""

GENTLE_PLIES = 100.0
"""So many plies halve what nearness adds; near the end five moves cost a tenth of a pawn, which is the agent's k."""

_LAST_SURE_PLY = 99
"""A zeroing move must come before the clock reaches 100 plies, and the tables may round one ply away."""

_HINT = "Syzygy tables are pairs of files like KQvK.rtbw and KQvK.rtbz, and those of every ending that may follow"


class JudgedMove(NamedTuple):
    """A move and what it leads to, from the mover's view, with the fifty-move clock regarded."""

    move: int  # the code of the move
    outcome: int  # 2 win, 1 cursed win, 0 draw, −1 blessed loss, −2 loss
    distance: int  # plies to the next zeroing move or mate, this move counted; 0 if this move mates, and for draws

    @property
    def value(self) -> float:
        """The utility in pawns."""
        return float(syzygy_utility(self.outcome, self.distance))


def syzygy_utility(outcome: npt.ArrayLike, distance: npt.ArrayLike) -> Array:
    """u = ±(A + 100/(100 + n)), A = 10 for a win or loss and 1 for one that the fifty-move rule makes a draw; draw 0.

    n is the distance to zeroing in plies, at most 100 in a win. So a win is within [10.5, 11], a cursed win within
    (1, 2), a draw is 0, and losses are the same below zero: nearer wins are better, nearer losses worse, and a better
    outcome is always better.

    >>> syzygy_utility([2, 2, 1, 0, -1, -2, -2], [0, 10, 120, 0, 120, 40, 10]).round(3)
    array([ 11.   ,  10.909,   1.455,   0.   ,  -1.455, -10.714, -10.909])
    """
    kind = np.asarray(outcome)
    anchor = np.array([0.0, CURSED_PAWNS, WIN_PAWNS])[np.abs(kind)]
    near = GENTLE_PLIES / (GENTLE_PLIES + np.asarray(distance, dtype=np.float64))
    return np.where(kind == 0, 0.0, np.sign(kind) * (anchor + near))


class Tablebase(Closing):
    """An open folder of Syzygy tables (or several folders); a context manager.

    `with Tablebase("syzygy") as tables: moves = tables.judge(chess.Board(fen))`
    """

    def __init__(self, folder: str | os.PathLike[str], *more: str | os.PathLike[str]) -> None:
        self.folders = tuple(Path(place) for place in (folder, *more))
        self._tables = chess.syzygy.Tablebase()
        for place in self.folders:
            if not place.is_dir():
                raise InputError(f"{place} is not a folder", hint=_HINT)
            self._tables.add_directory(os.fspath(place))
        files = {file.name for place in self.folders for file in place.iterdir()}
        # One file holds the outcomes of an ending, another the distances.
        outcomes = (Path(name).stem for name in files if name.endswith(".rtbw"))
        pairs = (name for name in outcomes if chess.syzygy.is_tablename(name) and f"{name}.rtbz" in files)
        self.tables = tuple(sorted(pairs))
        """The names of the endings, like KQvK."""
        if not self.tables:
            raise InputError(f"no Syzygy tables in {', '.join(map(str, self.folders))}", hint=_HINT)
        self.pieces = max(len(name) - 1 for name in self.tables)
        """How many pieces the largest ending has, both kings counted."""

    def __repr__(self) -> str:
        return f"<Tablebase: {len(self.tables):,} endings of up to {self.pieces} pieces>"

    def close(self) -> None:
        """Close the files."""
        self._tables.close()

    def judge(self, board: chess.Board) -> list[JudgedMove] | None:
        """Return every legal move with what it leads to; None where a table is not there, or castling is possible."""
        if board.castling_rights or chess.popcount(board.occupied) > self.pieces:
            return None
        try:
            return [self._judged(board, move) for move in board.legal_moves]
        except chess.syzygy.MissingTableError:
            return None
        except (OSError, ValueError) as error:
            raise InputError(f"a Syzygy table cannot be read: {error}", hint="download it again") from error

    def _judged(self, board: chess.Board, move: chess.Move) -> JudgedMove:
        zeroing = board.is_zeroing(move)
        board.push(move)
        try:
            outcome, distance = self._after(board)
        finally:
            board.pop()
        return JudgedMove(move_code(move), outcome, min(distance, 1) if zeroing else distance)

    def _after(self, board: chess.Board) -> tuple[int, int]:
        """Return outcome and distance for the side that has just moved."""
        if not any(board.legal_moves):
            return (2 if board.is_check() else 0), 0
        if board.halfmove_clock > _LAST_SURE_PLY:
            return 0, 0
        outcome = -self._tables.probe_wdl(board)
        if outcome == 0:
            return 0, 0
        plies = abs(self._tables.probe_dtz(board))
        too_late = board.halfmove_clock > 0 and plies + board.halfmove_clock > _LAST_SURE_PLY
        return (int(np.sign(outcome)) if too_late else outcome), plies + 1


def tablebase_decisions(positions: Positions, tablebase: Tablebase | str | os.PathLike[str]) -> Decisions:
    """Return the decisions of the positions in the tables, every legal move at its utility; others are counted."""
    if not isinstance(tablebase, Tablebase):
        with Tablebase(tablebase) as opened:
            return tablebase_decisions(positions, opened)
    player = movers(positions)
    known = pc.is_valid(player).to_numpy(zero_copy_only=False)
    tally = Tally()
    tally.count("unknown player", int(np.sum(~known)))
    rows: list[int] = []
    lists: list[list[JudgedMove]] = []
    for row in np.flatnonzero(known).tolist():
        board = chess.Board(positions.fen[row].as_py())
        judged = tablebase.judge(board)
        if judged is None:
            castling = board.castling_rights and chess.popcount(board.occupied) <= tablebase.pieces
            tally.count("not in the tablebase (castling)" if castling else "not in the tablebase")
        else:
            rows.append(row)
            lists.append(judged)
    index = np.array(rows, dtype=np.int64)
    counts = np.array([len(judged) for judged in lists], dtype=np.int64)
    flat = [entry for judged in lists for entry in judged]
    moves, outcomes, distances = (np.array([entry[at] for entry in flat], dtype=np.int64) for at in range(3))
    return Decisions.from_columns(
        encode(player.take(pa.array(index)).to_pylist()),
        syzygy_utility(outcomes, distances),
        counts,
        chosen_places(moves.astype(np.uint16), counts, positions.played[index]),
        positions.n_legal[index],
        context=context_of(positions).take(pa.array(index)),
        tally=positions.games.tally + positions.tally + tally,
        about={
            "domain": "chess",
            "settings": {"engine": "Syzygy tablebases", "net": None, "utility": UTILITY, "pieces": tablebase.pieces},
            "skip_moves": positions.skip_moves,
        },
    )
