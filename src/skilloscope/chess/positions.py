"""Positions: the decisions of the games that are worth an engine's time.

In: Games. Out: one row for each move that was chosen among several after the opening, with the FEN before it.

The first moves of a game are remembered rather than decided, and a single legal move is no decision; both are
counted in the tally.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field, replace

import chess
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skilloscope.chess.games import Games
from skilloscope.decision.columns import Selection, selection_index
from skilloscope.errors import InputError, Tally

__all__ = ["Positions", "opening_reason", "positions"]


@dataclass(frozen=True, eq=False, repr=False)
class Positions:
    """A columnar batch of positions with the move that was played in each."""

    games: Games
    game: npt.NDArray[np.int32]
    """The row of the game in `games.headers`."""
    ply: npt.NDArray[np.int32]
    """How many moves of the game were made before, both sides counted."""
    mover: npt.NDArray[np.int8]
    """0 white, 1 black."""
    fen: pa.StringArray
    """The full FEN; what the engine gets is made of it by the settings' FEN rule."""
    played: npt.NDArray[np.uint16]
    n_legal: npt.NDArray[np.int32]
    clock: npt.NDArray[np.float32]
    """Seconds that the mover has left after the move; NaN where absent."""
    skip_moves: int = 12
    tally: Tally = field(default_factory=Tally)
    """What `positions` left out; what could not be read is in `games.tally`."""

    def __len__(self) -> int:
        return len(self.game)

    def __repr__(self) -> str:
        return f"<Positions: {len(self):,} of {len(self.games):,} games; skipped: {self.tally}>"

    def select(self, selection: Selection, *, reason: str = "") -> Positions:
        """Return the selected positions; with a `reason` those left out are counted under it."""
        index = selection_index(selection, len(self))
        left = len(self) - len(index)
        columns = ("game", "ply", "mover", "played", "n_legal", "clock")
        return replace(
            self,
            fen=self.fen.take(pa.array(index)),
            tally=self.tally + Tally({reason: left} if reason and left > 0 else {}),
            **{name: getattr(self, name)[index] for name in columns},
        )


def positions(games: Games, *, skip_moves: int = 12, player: str | None = None) -> Positions:
    """Return the positions after the first `skip_moves` moves of each side that leave more than one legal move.

    With a `player` only the positions in which that player is to move.

    >>> import io
    >>> from skilloscope.chess.games import read_games
    >>> batch = positions(read_games(io.StringIO("1. e4 f6 2. d4 g5 3. Qh5#")), skip_moves=1)
    >>> len(batch), batch.n_legal, batch.tally.as_dict()
    (3, array([30, 19, 37], dtype=int32), {'opening (first 1 moves of each side)': 2})
    """
    if skip_moves < 0:
        raise InputError(f"skip_moves is {skip_moves}", hint="it must be 0 or more")
    columns = _Columns()
    headers = (games.headers[name].to_pylist() for name in ("start_fen", "black", "white"))
    for game, (start, *names) in enumerate(zip(*headers, strict=True)):
        sides = tuple(player is None or name == player for name in names)  # as chess.BLACK and chess.WHITE count
        if any(sides):
            columns.replay(games, game, chess.Board(start or chess.STARTING_FEN), skip_moves, sides)
    tally = Tally()
    tally.count(opening_reason(skip_moves), columns.opening)
    tally.count("forced", columns.forced)
    entry = np.array(columns.entry, dtype=np.int64)
    game_of_move = games.game_of_move[entry]
    return Positions(
        games,
        game_of_move.astype(np.int32),
        (entry - games.offsets[game_of_move]).astype(np.int32),
        games.movers[entry],
        pa.array(columns.fen, type=pa.string()),
        games.moves[entry],
        np.array(columns.n_legal, dtype=np.int32),
        games.clocks[entry],
        skip_moves,
        tally,
    )


def opening_reason(skip_moves: int) -> str:
    """Return the name under which the moves of the opening are counted."""
    return f"opening (first {skip_moves} moves of each side)"


class _Columns:
    """Columns that grow move by move; `entry` is the move's place in the move columns of the games."""

    def __init__(self) -> None:
        self.entry = array("q")
        self.fen: list[str] = []
        self.n_legal = array("i")
        self.opening = self.forced = 0

    def replay(self, games: Games, game: int, board: chess.Board, skip_moves: int, sides: tuple[bool, ...]) -> None:
        # The move number on the board decides, not the count from the game's first move: a game that starts
        # from a middle-game position has no opening left.
        for entry in range(int(games.offsets[game]), int(games.offsets[game + 1])):
            if not sides[board.turn]:
                pass
            elif board.fullmove_number <= skip_moves:
                self.opening += 1
            else:
                self._add(entry, board)
            code = int(games.moves[entry])
            board.push(chess.Move(code & 63, code >> 6 & 63, code >> 12 or None))

    def _add(self, entry: int, board: chess.Board) -> None:
        legal = board.legal_moves.count()
        if legal < 2:
            self.forced += 1
            return
        self.entry.append(entry)
        self.fen.append(board.fen())
        self.n_legal.append(legal)
