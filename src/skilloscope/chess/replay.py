"""Games replayed, many by compiled code: which of their positions are decisions, and the FEN of each.

In: moves that were checked when they were read, the positions that the games start from, and whose decisions are
wanted. Out: one row per position, with the FEN that python-chess would write, which is the key of the store.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import chess
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skilloscope.chess.chess960 import board_of_fen, is_chess960, make_move, position_fen
from skilloscope.chess.engine.lines import move_of_code
from skilloscope.chess.human.encoding import Boards
from skilloscope.chess.rules import MOST_MOVES, NO_SQUARE, Whole, is_safe, legal_places, play
from skilloscope.core.compiled import PlainWork, njit

_plain_plies = PlainWork(2000)  # some 25 games, which python-chess replays in a fifth of a second
_LONGEST_FEN = 100  # bytes: 71 of pieces, and five fields
_AT_ONCE = 1 << 20  # plies that are replayed at once
_COLUMNS = ("game", "ply", "mover", "n_legal")
_LETTERS = np.frombuffer(b".PNBRQKpnbrqk", dtype=np.uint8)


@dataclass(frozen=True, eq=False)
class ReplayedPositions:
    """The positions of games that are noted, and how many were passed over: opening, forced, game over."""

    game: npt.NDArray[np.int32]
    ply: npt.NDArray[np.int32]
    mover: npt.NDArray[np.int8]
    n_legal: npt.NDArray[np.int32]
    fen: pa.StringArray
    passed: npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Asked:
    """Games as columns, the positions they start from, and what is asked of them."""

    moves: npt.NDArray[np.uint16]
    offsets: npt.NDArray[np.int64]
    fens: Sequence[str | None]
    skip_moves: int
    every: bool


def replay(
    moves: npt.NDArray[np.uint16],
    offsets: npt.NDArray[np.int64],
    fens: Sequence[str | None],
    wanted: npt.NDArray[np.bool_],
    *,
    skip_moves: int,
    every: bool,
) -> ReplayedPositions:
    """Return the positions in which a wanted side (columns white, black) decides, after the first moves.

    With `every` those after its moves too, the forced ones, and the last of each game.
    """
    asked = _Asked(moves, offsets, fens, skip_moves, every)
    if _plain_plies.covers(int(np.diff(offsets)[wanted.any(axis=1)].sum())):
        return _walked(asked, wanted)
    odd = np.array([is_chess960(fen) for fen in fens], dtype=bool)
    usual = _replayed(asked, wanted & ~odd[:, None])
    return _in_order(usual, _walked(asked, wanted & odd[:, None])) if odd.any() else usual


def _replayed(asked: _Asked, wanted: npt.NDArray[np.bool_]) -> ReplayedPositions:
    """Return the positions of usual chess, by compiled code."""
    moves, offsets, fens = asked.moves, asked.offsets, asked.fens
    distinct = {fen: n for n, fen in enumerate(dict.fromkeys(None if is_chess960(fen) else fen for fen in fens))}
    boards = [chess.Board(fen or chess.STARTING_FEN) for fen in distinct]
    states = Boards.from_boards(boards)
    numbers = np.array([[b.halfmove_clock, b.fullmove_number] for b in boards], dtype=np.int64).reshape(-1, 2)
    start = np.array([distinct.get(fen, 0) for fen in fens], dtype=np.int64)
    games, parts, passed = np.flatnonzero(wanted.any(axis=1)), [], np.zeros(3, dtype=np.int64)
    plies = np.cumsum(np.diff(offsets)[games] + 1)
    for part in np.split(games, np.flatnonzero(np.diff(plies // _AT_ONCE)) + 1):
        size = int((offsets[part + 1] - offsets[part] + 1).sum())
        rows, text = np.empty((size, 4), dtype=np.int32), np.empty((size + 1) * _LONGEST_FEN, dtype=np.uint8)
        ends = np.zeros(size + 1, dtype=np.int32)
        first = (states.board, states.rights, states.passant, states.black, numbers)
        n = _noted(
            (part, moves, offsets), first, start, (wanted, asked.skip_moves, asked.every), (rows, text, ends), passed
        )
        buffers = [None, pa.py_buffer(ends[: n + 1].copy()), pa.py_buffer(text[: ends[n]].copy())]
        parts.append((rows[:n].copy(), pa.Array.from_buffers(pa.string(), int(n), buffers)))
    rows = np.concatenate([rows for rows, _ in parts])
    fen = pa.concat_arrays([text for _, text in parts])
    return ReplayedPositions(rows[:, 0], rows[:, 1], rows[:, 2].astype(np.int8), rows[:, 3], fen, passed)


def _walked(asked: _Asked, wanted: npt.NDArray[np.bool_]) -> ReplayedPositions:
    """Return the positions of games of any kind, one by one through python-chess."""
    offsets, skip_moves, every = asked.offsets, asked.skip_moves, asked.every
    rows: list[tuple[int, int, int, int]] = []
    text: list[str] = []
    passed = np.zeros(3, dtype=np.int64)
    for game in np.flatnonzero(wanted.any(axis=1)).tolist():
        board, length = board_of_fen(asked.fens[game]), offsets[game + 1] - offsets[game]
        for ply in range(int(length) + 1):
            last, black = ply == length, int(not board.turn)
            if (not last and wanted[game, black]) or (every and ply > 0 and wanted[game, 1 - black]):
                legal = board.legal_moves.count() if board.fullmove_number > skip_moves else 0
                if board.fullmove_number <= skip_moves:
                    passed[0] += not last
                elif legal > 1 or (legal == 1 and every):
                    rows.append((game, ply, black, legal))
                    text.append(position_fen(board))
                else:
                    passed[2 - legal] += 1
            if not last:
                make_move(board, move_of_code(int(asked.moves[offsets[game] + ply])))
    noted = np.array(rows, dtype=np.int32).reshape(-1, 4)
    fen = pa.array(text, type=pa.string())
    return ReplayedPositions(noted[:, 0], noted[:, 1], noted[:, 2].astype(np.int8), noted[:, 3], fen, passed)


def _in_order(one: ReplayedPositions, two: ReplayedPositions) -> ReplayedPositions:
    """Return the positions of both in the order of the games, each of which is in one of them."""
    order = np.argsort(np.concatenate([one.game, two.game]), kind="stable")
    columns = {name: np.concatenate([getattr(one, name), getattr(two, name)])[order] for name in _COLUMNS}
    fen = pa.concat_arrays([one.fen, two.fen]).take(pa.array(order))
    return ReplayedPositions(**columns, fen=fen, passed=one.passed + two.passed)


@njit(cache=True)
def _noted(games, starts, start, asked, out, passed):  # type: ignore[no-untyped-def] # pragma: no cover
    """Write the noted positions of some games; return how many."""
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
    at = _castling_field(rights if not black else (rights & 3) << 2 | rights >> 2, text, at + 2)
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
def _castling_field(rights, text, at):  # type: ignore[no-untyped-def] # pragma: no cover
    if rights == 0:
        text[at] = 45
        at += 1
    for bit in range(4):
        if rights >> bit & 1:
            text[at] = (75, 81, 107, 113)[bit]
            at += 1
    text[at] = 32
    return at + 1


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
