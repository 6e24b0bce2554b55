"""Moves in standard algebraic notation, read on a compiled board: a word becomes a legal move, or it does not.

In: a word in bytes, a board of chess/rules.py and whose move it is. Out: the move from the mover's view, or NOT_READ
where it is not legal, not clear, or written in another way than programs write it; python-chess then says what it is.
"""

from __future__ import annotations

import numpy as np

from skilloscope.chess.rules import JUMPS, RAYS, can_castle, is_attacked, is_safe
from skilloscope.core.compiled import njit

NOT_READ = -1
"""In place of a move: python-chess must read it."""

_PAWN, _KNIGHT, _BISHOP, _ROOK, _QUEEN, _KING = 1, 2, 3, 4, 5, 6


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
    """Return the code of a piece by its letter, 0 where it is none."""
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
