"""Positions: the decisions of the games that are worth an engine's time.

In: Games. Out: one row for each move that was chosen among several after the opening, with the FEN before it.

The first moves of a game are remembered rather than decided, and a single legal move is no decision; both are
counted in the tally. The scope `every position` takes these too, and the position after the last move: whoever
values a move by the position after it needs them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

import chess
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from skilloscope.chess.engine.settings import Scope
from skilloscope.chess.pgn.games import Games
from skilloscope.chess.pgn.reading import HEADERS
from skilloscope.chess.replay import replay
from skilloscope.core.columns import Selection, selection_index
from skilloscope.core.errors import OptionError, Tally


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
    """The move's code; 0, the null move, in a position after the last move."""
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


def positions(
    games: Games,
    *,
    skip_moves: int | None = None,
    player: str | Collection[str] | None = None,
    both_sides: bool = False,
    scope: Scope = "decisions",
) -> Positions:
    """Return the positions after the first `skip_moves` moves of each side (12) that leave more than one legal move.

    With the scope `every position` those before and after every move, from the first move on unless `skip_moves`
    says otherwise; only where there is no legal move, so that the game is over, there is nothing to search.
    With a `player`, or several, only the positions in which one of them is to move, or has just moved if the scope is
    every one. With `both_sides` those of everybody in the games of the players.

    >>> import io
    >>> from skilloscope.chess.pgn.games import read_games
    >>> batch = positions(read_games(io.StringIO("1. e4 f6 2. d4 g5 3. Qh5#")), skip_moves=1)
    >>> len(batch), batch.n_legal, batch.tally.as_dict()
    (3, array([30, 19, 37], dtype=int32), {'opening (first 1 moves of each side)': 2})
    """
    every = scope == "every position"
    first = (0 if every else 12) if skip_moves is None else skip_moves
    if first < 0:
        raise OptionError(f"skip_moves is {skip_moves}", hint="it must be 0 or more")
    wanted = _wanted_sides(games, player, both_sides)
    starts = games.headers["start_fen"].to_pylist()
    noted = replay(games.moves, games.offsets, starts, wanted, skip_moves=first, every=every)
    tally = Tally()
    for reason, n in zip((opening_reason(first), "forced", "game over"), noted.passed, strict=True):
        tally.count(reason, n)
    last = noted.ply == games.counts[noted.game]
    entry = games.offsets[noted.game] + noted.ply - last  # after the last move there is none: the one before stands in
    return Positions(
        games=games,
        game=noted.game,
        ply=noted.ply,
        mover=noted.mover,
        fen=noted.fen,
        played=np.where(last, 0, games.moves[entry]).astype(np.uint16),
        n_legal=noted.n_legal,
        clock=np.where(last, np.nan, games.clocks[entry]).astype(np.float32),
        skip_moves=first,
        tally=tally,
    )


def positions_of(boards: Sequence[chess.Board]) -> Positions:
    """Return positions that belong to no game: no move is played in them.

    >>> positions_of([chess.Board()]).n_legal
    array([20], dtype=int32)
    """
    none, zero = np.zeros(0, dtype=np.float32), np.zeros(len(boards), dtype=np.int32)
    columns = (none.astype(np.uint16), np.zeros(1, dtype=np.int64), none, none, none.astype(np.int16))
    return Positions(
        Games(HEADERS.empty_table(), *columns),
        game=zero,
        ply=zero,
        mover=np.array([not board.turn for board in boards], dtype=np.int8),
        fen=pa.array([board.fen() for board in boards], type=pa.string()),
        played=zero.astype(np.uint16),
        n_legal=np.array([board.legal_moves.count() for board in boards], dtype=np.int32),
        clock=np.full(len(boards), np.nan, dtype=np.float32),
        skip_moves=0,
    )


def opening_reason(skip_moves: int) -> str:
    """Return the name under which the moves of the opening are counted."""
    return f"opening (first {skip_moves} moves of each side)"


def _wanted_sides(games: Games, player: str | Collection[str] | None, both_sides: bool) -> npt.NDArray[np.bool_]:
    """Return for each game whether White's and Black's positions are wanted."""
    if player is None:
        return np.ones((len(games), 2), dtype=bool)
    names = pa.array([player] if isinstance(player, str) else list(player), type=pa.string())
    sides = [pc.is_in(games.headers[side], names).to_numpy() for side in ("white", "black")]
    own = np.stack(sides, axis=1).astype(bool)
    return own | own[:, ::-1] if both_sides else own
