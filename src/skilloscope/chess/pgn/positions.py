"""Positions: the decisions of games that are worth an engine's time.

In: Games. Out: one row for each move that was chosen among several after the opening, with the FEN before it, exactly
as python-chess writes it, which is the key of the store. The moves of the opening and single legal moves are counted in
the tally; the scope `every position` takes these too, and the position after the last move.

Games are replayed by compiled code, which starts to pay after some 25 games; before, and for Chess960, python-chess
does the same.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import chess
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from skilloscope.chess.boards import Boards
from skilloscope.chess.moves import board_of_fen, is_chess960, make_move, move_of_code, position_fen
from skilloscope.chess.pgn.games import Games
from skilloscope.chess.pgn.text import HEADERS, PlainWork
from skilloscope.chess.rules import MOST_MOVES, NO_SQUARE, Whole, is_safe, legal_places, play
from skilloscope.core.columns import Bools, Ints, Selection, selection_index
from skilloscope.core.compiled import njit
from skilloscope.core.errors import OptionError, Tally

Scope = Literal["decisions", "every position"]
"""Which positions of a game are searched: those with a decision, or every one, before and after every move."""

_plain_plies = PlainWork(2000)  # some 25 games, which python-chess replays in a fifth of a second
_LONGEST_FEN = 100  # bytes: 71 of pieces, and five fields
_AT_ONCE = 1 << 20  # plies that are replayed at once
_LETTERS = np.frombuffer(b".PNBRQKpnbrqk", dtype=np.uint8)


@dataclass(frozen=True, eq=False, repr=False)
class Positions:
    """A columnar batch of positions with the move that was played in each."""

    games: Games
    game: npt.NDArray[np.int32]  # the row of the game in `games.headers`
    ply: npt.NDArray[np.int32]  # how many moves of the game were made before, both sides counted
    mover: npt.NDArray[np.int8]  # 0 white, 1 black
    fen: pa.StringArray  # the full FEN; what the engine gets is made of it by the settings' FEN rule
    played: npt.NDArray[np.uint16]  # the move's code; 0, the null move, in a position after the last move
    n_legal: npt.NDArray[np.int32]
    clock: npt.NDArray[np.float32]  # seconds that the mover has left after the move; NaN where absent
    skip_moves: int = 12
    tally: Tally = field(default_factory=Tally)  # what `positions` left out; what could not be read is in `games.tally`

    def __len__(self) -> int:
        return len(self.game)

    def __repr__(self) -> str:
        return f"<Positions: {len(self):,} of {len(self.games):,} games; skipped: {self.tally}>"

    def select(self, selection: Selection, *, reason: str = "") -> "Positions":
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
    every one. With `both_sides` those of both sides in the games of the players.

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
    starts = games.headers["start_fen"].to_pylist()
    sides = np.ones((len(games), 2), dtype=bool)
    if player is not None:
        names = pa.array([player] if isinstance(player, str) else list(player), type=pa.string())
        own = [pc.is_in(games.headers[side], names).to_numpy() for side in ("white", "black")]
        sides = np.stack(own, axis=1).astype(bool)
        sides = sides | sides[:, ::-1] if both_sides else sides
    noted = _replay(_Wanted(games, starts, sides, first, every))
    game, ply, mover, n_legal = (np.ascontiguousarray(column) for column in noted.rows.T)
    tally = Tally()
    for reason, n in zip((opening_reason(first), "forced", "game over"), noted.passed, strict=True):
        tally.count(reason, n)
    last = ply == games.counts[game]
    entry = games.offsets[game] + ply - last  # after the last move the one before
    return Positions(
        games=games,
        game=game,
        ply=ply,
        mover=mover.astype(np.int8),
        fen=noted.fen,
        played=np.where(last, 0, games.moves[entry]).astype(np.uint16),
        n_legal=n_legal,
        clock=np.where(last, np.nan, games.clocks[entry]).astype(np.float32),
        skip_moves=first,
        tally=tally,
    )


def positions_of(boards: Sequence[chess.Board]) -> Positions:
    """Return positions that belong to no game: no move is played in them.

    >>> positions_of([chess.Board()]).n_legal
    array([20], dtype=int32)
    """
    zero = np.zeros(len(boards), dtype=np.int32)
    return Positions(
        Games.without_moves(HEADERS.empty_table()),
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


class _Wanted(NamedTuple):
    """Games, and which of their positions are wanted."""

    games: Games
    fens: list[str | None]  # the positions that the games start from; None is the usual one
    sides: Bools  # for each game whether White's and Black's decisions are wanted
    skip_moves: int
    every: bool  # also the positions after a side's moves, the forced ones, and the last of each game


class _Noted(NamedTuple):
    """The positions that were noted, and how many were passed over: opening, forced, game over."""

    rows: npt.NDArray[np.int32]  # game, ply, mover and number of legal moves
    fen: pa.StringArray
    passed: Ints


def _replay(wanted: _Wanted) -> _Noted:
    """Return the wanted positions: little work, and games of Chess960, by python-chess, the rest by compiled code."""
    if _plain_plies.covers(int(wanted.games.counts[wanted.sides.any(axis=1)].sum())):
        return _walked(wanted)
    odd = np.array([is_chess960(fen) for fen in wanted.fens], dtype=bool)[:, None]
    usual = _replayed(wanted._replace(sides=wanted.sides & ~odd))
    if not odd.any():
        return usual
    other = _walked(wanted._replace(sides=wanted.sides & odd))
    rows = np.concatenate([usual.rows, other.rows])
    order = np.argsort(rows[:, 0], kind="stable")
    fen = pa.concat_arrays([usual.fen, other.fen]).take(pa.array(order))
    return _Noted(rows[order], fen, usual.passed + other.passed)


def _replayed(wanted: _Wanted) -> _Noted:
    moves, offsets, fens = wanted.games.moves, wanted.games.offsets, wanted.fens
    distinct = {fen: n for n, fen in enumerate(dict.fromkeys(None if is_chess960(fen) else fen for fen in fens))}
    boards = [chess.Board(fen or chess.STARTING_FEN) for fen in distinct]
    states = Boards.from_boards(boards)
    numbers = np.array([[b.halfmove_clock, b.fullmove_number] for b in boards], dtype=np.int64).reshape(-1, 2)
    first = (states.board, states.rights, states.passant, states.black, numbers)
    start = np.array([distinct.get(fen, 0) for fen in fens], dtype=np.int64)
    games, parts, passed = np.flatnonzero(wanted.sides.any(axis=1)), [], np.zeros(3, dtype=np.int64)
    plies = np.cumsum(wanted.games.counts[games] + 1)
    asked = (wanted.sides, wanted.skip_moves, wanted.every)
    for part in np.split(games, np.flatnonzero(np.diff(plies // _AT_ONCE)) + 1):
        size = int((offsets[part + 1] - offsets[part] + 1).sum())
        rows, text = np.empty((size, 4), dtype=np.int32), np.empty((size + 1) * _LONGEST_FEN, dtype=np.uint8)
        ends = np.zeros(size + 1, dtype=np.int32)
        n = _note((part, moves, offsets), first, start, asked, (rows, text, ends), passed)
        buffers = [None, pa.py_buffer(ends[: n + 1].copy()), pa.py_buffer(text[: ends[n]].copy())]
        parts.append((rows[:n].copy(), pa.Array.from_buffers(pa.string(), int(n), buffers)))
    fen = pa.concat_arrays([text for _, text in parts])
    return _Noted(np.concatenate([rows for rows, _ in parts]), fen, passed)


def _walked(wanted: _Wanted) -> _Noted:
    games, skip_moves, every = wanted.games, wanted.skip_moves, wanted.every
    rows: list[tuple[int, int, int, int]] = []
    text: list[str] = []
    passed = np.zeros(3, dtype=np.int64)
    for game in np.flatnonzero(wanted.sides.any(axis=1)).tolist():
        board, own = board_of_fen(wanted.fens[game]), wanted.sides[game]
        moves = games.moves[games.offsets[game] : games.offsets[game + 1]].tolist()
        for ply in range(len(moves) + 1):
            last, black = ply == len(moves), int(not board.turn)
            if (not last and own[black]) or (every and ply > 0 and own[1 - black]):
                legal = board.legal_moves.count() if board.fullmove_number > skip_moves else 0
                if board.fullmove_number <= skip_moves:
                    passed[0] += not last
                elif legal > 1 or (legal == 1 and every):
                    rows.append((game, ply, black, legal))
                    text.append(position_fen(board))
                else:
                    passed[2 - legal] += 1
            if not last:
                make_move(board, move_of_code(moves[ply]))
    return _Noted(np.array(rows, dtype=np.int32).reshape(-1, 4), pa.array(text, type=pa.string()), passed)


@njit(cache=True)
def _note(games, starts, start, asked, out, passed):  # type: ignore[no-untyped-def] # pragma: no cover
    some, moves, offsets = games
    boards, rights_of, passant_of, black_of, numbers = starts
    wanted, skip_moves, every = asked
    rows, text, ends = out
    places = np.empty(MOST_MOVES, dtype=np.int16)
    n = 0
    for game in some:
        first = start[game]
        board = boards[first].copy()
        rights, passant, black = np.int64(rights_of[first]), np.int64(passant_of[first]), np.int64(black_of[first])
        clock, number = numbers[first, 0], numbers[first, 1]
        length = offsets[game + 1] - offsets[game]
        for ply in range(length + 1):
            last = ply == length
            own = not last and wanted[game, black]
            after = every and ply > 0 and wanted[game, 1 - black]
            if own or after:
                legal: Whole = 0
                if number > skip_moves:
                    legal = legal_places(board, rights, passant, places)
                    passed[1] += legal == 1 and not every
                    passed[2] += legal == 0
                else:
                    passed[0] += not last
                if legal > 1 or (legal == 1 and every):
                    rows[n, 0], rows[n, 1], rows[n, 2], rows[n, 3] = game, ply, black, legal
                    ends[n + 1] = _fen(board, rights, passant, (black, clock, number), text, ends[n])
                    n += 1
            if last:
                break
            flip = 56 | 56 << 6 if black else 0
            move = np.int64(moves[offsets[game] + ply]) ^ flip
            clock = 0 if board[move & 63] == 1 or board[(move >> 6) & 63] != 0 else clock + 1
            rights, passant = play(board, rights, passant, move)
            number += black
            black = 1 - black
    return n


@njit(cache=True)
def _fen(board, rights, passant, turn, text, at):  # type: ignore[no-untyped-def] # pragma: no cover
    """Write the FEN of a board; return where it ends."""
    black, clock, number = turn
    flip = 56 if black else 0
    for rank in range(7, -1, -1):
        empty = 0
        for file in range(9):
            piece = 0 if file == 8 else board[(8 * rank + file) ^ flip]
            if file < 8 and piece == 0:
                empty += 1
                continue
            if empty:
                text[at] = 48 + empty
                at, empty = at + 1, 0
            if file < 8:
                text[at] = _LETTERS[(piece + 5) % 12 + 1 if black else piece]
                at += 1
        text[at] = 47 if rank else 32
        at += 1
    text[at], text[at + 1] = 98 if black else 119, 32
    at += 2
    whites = rights if not black else (rights & 3) << 2 | rights >> 2
    if whites == 0:
        text[at] = 45
        at += 1
    for bit in range(4):
        if whites >> bit & 1:
            text[at] = (75, 81, 107, 113)[bit]
            at += 1
    text[at] = 32
    at += 1
    if _can_take_in_passing(board, passant):
        text[at], text[at + 1] = 97 + (passant & 7), 51 if black else 54
        at += 2
    else:
        text[at] = 45
        at += 1
    text[at] = 32
    at = _number(clock, text, at + 1)
    text[at] = 32
    return _number(number, text, at + 1)


@njit(cache=True)
def _number(value, text, at):  # type: ignore[no-untyped-def] # pragma: no cover
    size, rest = 1, value // 10
    while rest:
        size += 1
        rest //= 10
    for place in range(size - 1, -1, -1):
        text[at + place] = 48 + value % 10
        value //= 10
    return at + size


@njit(cache=True)
def _can_take_in_passing(board, passant):  # type: ignore[no-untyped-def] # pragma: no cover
    """Is there a legal capture in passing? Only then python-chess names the square."""
    if passant >= NO_SQUARE:
        return False
    king: Whole = np.int64(0)
    for square in range(64):
        if board[square] == 6:
            king = square
    for side in (-1, 1):
        start = passant - 8 + side
        if 0 <= (passant & 7) + side < 8 and board[start] == 1 and is_safe(board, king, start, passant, passant):
            return True
    return False
