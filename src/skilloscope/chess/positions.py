"""Positions: the decisions of the games that are worth an engine's time.

In: Games. Out: one row for each move that was chosen among several after the opening, with the FEN before it.

The first moves of a game are remembered rather than decided, and a single legal move is no decision; both are
counted in the tally. The scope `every position` takes these too, and the position after the last move: whoever
values a move by the position after it needs them.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import chess
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skilloscope.chess.engine.settings import Scope
from skilloscope.chess.pgn.games import Games, read_games
from skilloscope.chess.pgn.reading import HEADERS
from skilloscope.chess.pgn.text import Watcher
from skilloscope.core.columns import Selection, selection_index
from skilloscope.core.errors import InputError, Tally
from skilloscope.core.files import Source


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
    scope: Scope = "decisions",
) -> Positions:
    """Return the positions after the first `skip_moves` moves of each side (12) that leave more than one legal move.

    With the scope `every position` those before and after every move, from the first move on unless `skip_moves`
    says otherwise; only where there is no legal move, so that the game is over, there is nothing to search.
    With a `player`, or several, only the positions in which one of them is to move, or has just moved if the scope is
    every one.

    >>> import io
    >>> from skilloscope.chess.pgn.games import read_games
    >>> batch = positions(read_games(io.StringIO("1. e4 f6 2. d4 g5 3. Qh5#")), skip_moves=1)
    >>> len(batch), batch.n_legal, batch.tally.as_dict()
    (3, array([30, 19, 37], dtype=int32), {'opening (first 1 moves of each side)': 2})
    """
    watched = Watched(skip_moves, scope, player)
    headers = (games.headers[name].to_pylist() for name in ("start_fen", "white", "black"))
    for game, (start, *names) in enumerate(zip(*headers, strict=True)):
        if (see := watched(game, *names)) is not None:
            _replay(games, game, chess.Board(start or chess.STARTING_FEN), see)
    return watched.positions(games)


def read_positions(
    sources: Sequence[Source],
    *,
    skip_moves: int | None = None,
    player: str | Collection[str] | None = None,
    aliases: Mapping[str, str] | None = None,
    both_sides: bool = False,
    scope: Scope = "decisions",
) -> Positions:
    """Read PGN files and return their positions as `positions` does, without playing the games a second time.

    Spellings are replaced by names; with `both_sides` the positions of everybody in the games of the players.
    """
    watched = Watched(skip_moves, scope, player, aliases, both_sides)
    return watched.positions(read_games(sources, watched).renamed(aliases or {}))


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


def _replay(games: Games, game: int, board: chess.Board, see: Watcher) -> None:
    moves = games.moves[games.offsets[game] : games.offsets[game + 1]].tolist()
    for ply, code in enumerate(moves):
        see(board, ply, False)
        board.push(chess.Move(code & 63, code >> 6 & 63, code >> 12 or None))
    if moves:
        see(board, len(moves), True)


def opening_reason(skip_moves: int) -> str:
    """Return the name under which the moves of the opening are counted."""
    return f"opening (first {skip_moves} moves of each side)"


class Watched:
    """Positions that are noted while games are played, whoever plays them: the reader of PGN, or a replay."""

    def __init__(
        self,
        skip_moves: int | None,
        scope: Scope,
        player: str | Collection[str] | None,
        aliases: Mapping[str, str] | None = None,
        both_sides: bool = False,
    ) -> None:
        self.every = scope == "every position"
        self.skip_moves = (0 if self.every else 12) if skip_moves is None else skip_moves
        if self.skip_moves < 0:
            raise InputError(f"skip_moves is {skip_moves}", hint="it must be 0 or more")
        self.wanted = {player} if isinstance(player, str) else None if player is None else set(player)
        self.aliases, self.both_sides = aliases or {}, both_sides
        self.game, self.ply, self.mover = array("i"), array("i"), array("b")
        self.fen: list[str] = []
        self.n_legal = array("i")
        self.opening = self.forced = self.over = 0

    def __call__(self, game: int, white: str | None, black: str | None) -> Watcher | None:
        """Return who notes the positions of a game; None where nobody wanted plays in it."""
        names = [self.aliases.get(name, name) if name else name for name in (black, white)]
        sides = [self.wanted is None or name in self.wanted for name in names]  # as chess.BLACK and chess.WHITE count
        if not any(sides):
            return None
        return partial(self._see, game, [True, True] if self.both_sides else sides)

    def positions(self, games: Games) -> Positions:
        """Return what was noted of these games."""
        tally = Tally()
        tally.count(opening_reason(self.skip_moves), self.opening)
        tally.count("forced", self.forced)
        tally.count("game over", self.over)
        owner, ply = np.array(self.game, dtype=np.int32), np.array(self.ply, dtype=np.int32)
        last = ply == games.counts[owner]
        entry = games.offsets[owner] + ply - last  # after the last move there is none: the one before stands in
        return Positions(
            games=games,
            game=owner,
            ply=ply,
            mover=np.array(self.mover, dtype=np.int8),
            fen=pa.array(self.fen, type=pa.string()),
            played=np.where(last, 0, games.moves[entry]).astype(np.uint16),
            n_legal=np.array(self.n_legal, dtype=np.int32),
            clock=np.where(last, np.nan, games.clocks[entry]).astype(np.float32),
            skip_moves=self.skip_moves,
            tally=tally,
        )

    def _see(self, game: int, sides: list[bool], board: chess.Board, ply: int, last: bool) -> None:
        # The move number on the board decides, not the count from the game's first move: a game that starts
        # from a middle-game position has no opening left.
        own, others = (not last) and sides[board.turn], self.every and ply > 0 and sides[not board.turn]
        if not (own or others):
            return
        if board.fullmove_number <= self.skip_moves:
            self.opening += not last
            return
        legal = board.legal_moves.count()
        if legal == 0:
            self.over += 1
        elif legal == 1 and not self.every:
            self.forced += 1
        else:
            self.game.append(game)
            self.ply.append(ply)
            self.mover.append(not board.turn)
            self.fen.append(board.fen())
            self.n_legal.append(legal)
