"""Boards, legal moves and algebraic notation, compiled: python-chess is the readable twin, and the tests' oracle.

A board is stored from the mover's view (mirrored for Black): 64 codes, 0 empty, 1–6 the mover's pawn, knight, bishop,
rook, queen, king, 7–12 the opponent's. Rights: bit 0 castling king's side, bit 1 queen's side, bits 2 and 3 the
opponent's. Passant: the square behind a pawn that just advanced two squares if a pawn of the mover stands next to it,
otherwise 64. A place numbers a move from the mover's view: 64·from + to, and for underpromotions
4096 + 64·piece + 8·file + file.

Whole numbers are int64 in every call between compiled functions, never a literal: each other kind that a function is
called with is compiled once more.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.core.compiled import njit

U8 = npt.NDArray[np.uint8]
I16 = npt.NDArray[np.int16]
Whole = int | np.int64  # compiled, an int is one of them

N_FROM_TO = 4096
NO_SQUARE = 64
MOST_MOVES = 256  # no position has more than 218

_STEPS = ((0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1))
_JUMPS = ((1, 2), (2, 1), (-1, 2), (-2, 1), (1, -2), (2, -1), (-1, -2), (-2, -1))
NOT_READ = -1  # in place of a move: python-chess must read it
_PAWN, _KNIGHT, _BISHOP, _ROOK, _QUEEN, _KING = 1, 2, 3, 4, 5, 6


def _targets(steps: tuple[tuple[int, int], ...], far: int) -> npt.NDArray[np.int8]:
    """Squares reached from each square in each direction, nearest first; −1 beyond the edge."""
    table = np.full((64, 8, far), -1, dtype=np.int8)
    for square in range(64):
        for way, (file_step, rank_step) in enumerate(steps):
            for n in range(far):
                file, rank = square % 8 + file_step * (n + 1), square // 8 + rank_step * (n + 1)
                if 0 <= file < 8 and 0 <= rank < 8:
                    table[square, way, n] = file + 8 * rank
    return table


RAYS = _targets(_STEPS, 7)
JUMPS = _targets(_JUMPS, 1)[:, :, 0].copy()


_WAYS = tuple(file_step + 8 * rank_step for file_step, rank_step in _STEPS)
_FREE = (RAYS >= 0).sum(axis=2).astype(np.int64)  # squares to the edge


@njit(cache=True)
def is_attacked(board: U8, square: Whole) -> bool:
    """Does a piece of the opponent's attack the square?"""
    for way in range(8):
        knight = JUMPS[square, way]
        if knight >= 0 and board[knight] == 8:
            return True
    for way in range(8):
        to, step = square, _WAYS[way]
        for n in range(_FREE[square, way]):
            to += step
            piece = board[to]
            if piece == 0:
                continue
            if piece > 8:
                if piece == 11 or piece == (10 if way < 4 else 9) or (n == 0 and piece == 12):
                    return True
            elif piece == 7 and n == 0 and way >= 4 and step > 0:
                return True
            break
    return False


@njit(cache=True)
def is_safe(board: U8, king: Whole, start: Whole, end: Whole, passant: Whole) -> bool:
    """Try a move that the piece can make: is the own king, on the square `king`, not attacked afterwards?"""
    piece, taken = board[start], board[end]
    in_passing = piece == 1 and end == passant
    board[start], board[end] = 0, piece
    if in_passing:
        board[end - 8] = 0
    safe = not is_attacked(board, end if piece == 6 else king)
    board[start], board[end] = piece, taken
    if in_passing:
        board[end - 8] = 7
    return safe


@njit(cache=True)
def _keep_if_safe(board: U8, king: Whole, place: Whole, passant: Whole, out: I16, count: Whole) -> Whole:
    """Try a move; write it where the own king is not attacked afterwards. Return how many are written."""
    start, end = place >> 6, place & 63
    if not is_safe(board, king, start, end, passant):
        return count
    piece = board[start]
    out[count] = place
    count += 1
    if piece == 1 and end >= 56:
        for under in range(3):
            out[count] = N_FROM_TO + 64 * under + 8 * (start & 7) + (end & 7)
            count += 1
    return count


@njit(cache=True)
def legal_places(board: U8, rights: Any, passant: Any, out: I16) -> Whole:
    """Write the places of all legal moves; return how many there are."""
    count: Whole = np.int64(0)
    king: Whole = np.int64(0)
    for square in range(64):
        if board[square] == 6:
            king = square
    for start in range(64):
        piece = board[start]
        if piece == 0 or piece > 6 or (piece == 1 and start >= 56):  # a pawn on the last rank has nowhere to go
            continue
        if piece == 1:
            if board[start + 8] == 0:
                count = _keep_if_safe(board, king, 64 * start + start + 8, passant, out, count)
                if start < 16 and board[start + 16] == 0:
                    count = _keep_if_safe(board, king, 64 * start + start + 16, passant, out, count)
            for side in (-1, 1):
                end = start + 8 + side
                if 0 <= (start & 7) + side < 8 and (board[end] > 6 or end == passant):
                    count = _keep_if_safe(board, king, 64 * start + end, passant, out, count)
        elif piece == 2:
            for way in range(8):
                end = JUMPS[start, way]
                if end >= 0 and (board[end] == 0 or board[end] > 6):
                    count = _keep_if_safe(board, king, 64 * start + end, passant, out, count)
        else:
            first, last = (4 if piece == 3 else 0), (4 if piece == 4 else 8)
            for way in range(first, last):
                for n in range(1 if piece == 6 else 7):
                    end = RAYS[start, way, n]
                    if end < 0 or 0 < board[end] <= 6:
                        break
                    count = _keep_if_safe(board, king, 64 * start + end, passant, out, count)
                    if board[end] > 6:
                        break
    return _with_castling(board, rights, out, count)


@njit(cache=True)
def _with_castling(board: U8, rights: Whole, out: I16, count: Whole) -> Whole:
    if (rights & 3) == 0 or is_attacked(board, np.int64(4)):
        return count
    for end in (6, 2):
        if can_castle(board, rights, end == 6):
            out[count] = 64 * 4 + end
            count += 1
    return count


@njit(cache=True)
def can_castle(board: U8, rights: Whole, kings_side: bool) -> bool:
    """May the mover, who is not in check, castle to this side?"""
    if not (rights & 1 if kings_side else rights & 2 and board[1] == 0):
        return False
    first = 5 if kings_side else 2
    barred = False
    for square in range(first, first + 2):
        barred = barred or board[square] != 0 or is_attacked(board, square)
    return not barred


@njit(cache=True)
def _turn(ranks: npt.NDArray[np.uint64]) -> None:
    """Turn the board around, rank by rank: 1–6 become 7–12 and the other way round, eight squares at a time."""
    for rank in range(4):
        near, far = ranks[rank], ranks[7 - rank]
        ranks[rank], ranks[7 - rank] = _swapped(far), _swapped(near)


@njit(cache=True, inline="always")
def _swapped(rank: np.uint64) -> np.uint64:
    # Every byte is below 128, so that no sum runs over into the next: its top bit tells whether it is 1, or 7, or more.
    some = ((rank + np.uint64(0x7F7F7F7F7F7F7F7F)) & np.uint64(0x8080808080808080)) >> np.uint64(7)
    other = ((rank + np.uint64(0x7979797979797979)) & np.uint64(0x8080808080808080)) >> np.uint64(7)
    return rank + np.uint64(6) * some - np.uint64(12) * other


@njit(cache=True)
def play(board: U8, rights: Any, passant: Any, move: Any) -> Any:
    """Play a move (mover's view, promotion as python-chess numbers pieces) and turn the board around, in place.

    Return the rights and passant of the next mover.
    """
    start, end, promotion = move & 63, (move >> 6) & 63, move >> 12
    piece = board[start]
    if piece == 1 and end == passant:
        board[end - 8] = 0
    board[start] = 0
    board[end] = promotion if promotion > 0 else piece
    if piece == 6 and start == 4 and end == 6:
        board[7], board[5] = 0, 4
    if piece == 6 and start == 4 and end == 2:
        board[0], board[3] = 0, 4
    if piece == 6:
        rights &= 12
    for square, kept in ((7, 14), (0, 13), (63, 11), (56, 7)):
        if start == square or end == square:
            rights &= kept
    _turn(board.view(np.uint64))
    passant = NO_SQUARE
    if piece == 1 and end - start == 16:
        behind = (start + 8) ^ 56
        left, right = behind & 7 and board[behind - 9] == 1, (behind & 7) < 7 and board[behind - 7] == 1
        if left or right:
            passant = behind
    return (rights & 3) << 2 | rights >> 2, passant


@njit(cache=True)
def san_move(view, at, end, flip, board, state):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return the move (from + 64·to + 4096·promotion, mover's view) of the word at [at, end).

    `flip` is 56 for Black, otherwise 0; `state` is rights, passant and the square of the mover's king.
    """
    rights, passant, king = state
    if view[at] == 79 or view[at] == 48:  # O or 0
        return _castling(view, at, end, board, rights)
    promotion = 0
    if end - at > 2 and _piece(view[end - 1]) > _PAWN:
        promotion = _piece(view[end - 1])
        end -= 1
        if view[end - 1] == 61:  # =
            end -= 1
    if end - at < 2 or not (97 <= view[end - 2] <= 104) or not (49 <= view[end - 1] <= 56):
        return NOT_READ
    to = ((view[end - 2] - 97) + 8 * (view[end - 1] - 49)) ^ flip
    last = end - 2
    if last > at and view[last - 1] == 120:  # x
        last -= 1
    piece, file, rank = _PAWN, -1, -1
    if at < last and _piece(view[at]) > 0:
        piece = _piece(view[at])
        at += 1
    if at < last and 97 <= view[at] <= 104:
        file = view[at] - 97
        at += 1
    if at < last and 49 <= view[at] <= 56:
        rank = (view[at] - 49) ^ (flip >> 3)
        at += 1
    if at != last or 0 < board[to] <= 6:
        return NOT_READ
    if piece == _PAWN:
        if rank >= 0 or promotion == _KING or (promotion > 0) != (to >= 56):
            return NOT_READ
        start = _pawn_start(board, to, file, passant)
        legal = start >= 0 and is_safe(board, king, start, to, passant)
        return start | to << 6 | promotion << 12 if legal else NOT_READ
    if promotion:
        return NOT_READ
    return _piece_move(board, to, piece, (file, rank), king)


@njit(cache=True, inline="always")
def _piece(letter):  # type: ignore[no-untyped-def] # pragma: no cover
    if letter == 78:
        return _KNIGHT
    if letter == 66:
        return _BISHOP
    if letter == 82:
        return _ROOK
    if letter == 81:
        return _QUEEN
    return _KING if letter == 75 else 0


@njit(cache=True)
def _castling(view, at, end, board, rights):  # type: ignore[no-untyped-def] # pragma: no cover
    length, letter = end - at, view[at]
    if length != 3 and length != 5:
        return NOT_READ
    for i in range(length):
        if view[at + i] != (45 if i % 2 else letter):
            return NOT_READ
    if (rights & 3) == 0 or is_attacked(board, np.int64(4)) or not can_castle(board, rights, length == 3):
        return NOT_READ
    return 4 | (6 if length == 3 else 2) << 6


@njit(cache=True)
def _pawn_start(board, to, file, passant):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return where a pawn comes from that goes to a square, −1 where there is none."""
    if to < 16:
        return -1
    if file >= 0 and file != to & 7:
        start = (to & 56) - 8 + file
        takes = (board[to] > 6 or to == passant) and abs(file - (to & 7)) == 1
        return start if takes and board[start] == _PAWN else -1
    if board[to] != 0:
        return -1
    if board[to - 8] == _PAWN:
        return to - 8
    return to - 16 if to >> 3 == 3 and board[to - 8] == 0 and board[to - 16] == _PAWN else -1


@njit(cache=True)
def _piece_move(board, to, piece, origin, king):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return the one legal move of such a piece to a square; NOT_READ where there is none, or another."""
    file, rank = origin
    found = NOT_READ
    first, last = (4 if piece == _BISHOP else 0), (4 if piece == _ROOK else 8)
    for way in range(first, last):
        start = -1
        if piece == _KNIGHT:
            start = JUMPS[to, way]
        else:
            for n in range(1 if piece == _KING else 7):
                start = RAYS[to, way, n]
                if start < 0 or board[start] != 0:
                    break
        if start < 0 or board[start] != piece:
            continue
        if (file >= 0 and start & 7 != file) or (rank >= 0 and start >> 3 != rank):
            continue
        if is_safe(board, king, np.int64(start), to, np.int64(-1)):
            if found != NOT_READ:
                return NOT_READ
            found = start | to << 6
    return found
