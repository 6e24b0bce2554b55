"""Boards, legal moves and planes, compiled: python-chess is the readable twin, and the oracle of the tests.

A board is told from the mover's view (mirrored for Black): 64 codes, 0 empty, 1–6 one's own pawn, knight, bishop, rook,
queen, king, 7–12 the opponent's. Rights: bit 0 castling king's side, bit 1 queen's side, bits 2 and 3 the opponent's.
Passant: the square behind a pawn that just made two steps if a pawn of the mover's stands beside it, otherwise 64.
A place numbers a move from the mover's view: 64·from + to, and for underpromotions 4096 + 64·piece + 8·file + file.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from skilloscope.core.compiled import njit

U8 = npt.NDArray[np.uint8]
U16 = npt.NDArray[np.uint16]
I16 = npt.NDArray[np.int16]
I64 = npt.NDArray[np.int64]
F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

N_PLANES, N_MAPS = 20, 4
N_FROM_TO = 4096
NO_SQUARE = 64
MOST_MOVES = 256  # no position has more than 218
LAST_PLY = 240  # later plies look like this one: the games of the training end there

_STEPS = ((0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1))
_JUMPS = ((1, 2), (2, 1), (-1, 2), (-2, 1), (1, -2), (2, -1), (-1, -2), (-2, -1))


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


@njit(cache=True)
def is_attacked(board: U8, square: int) -> bool:
    """Does a piece of the opponent's attack the square?"""
    for way in range(8):
        knight = JUMPS[square, way]
        if knight >= 0 and board[knight] == 8:
            return True
        for n in range(7):
            to = RAYS[square, way, n]
            if to < 0:
                break
            piece = board[to]
            if piece == 0:
                continue
            if piece == 11 or piece == (10 if way < 4 else 9) or (n == 0 and piece == 12):
                return True
            if n == 0 and piece == 7 and way >= 4 and to > square:
                return True
            break
    return False


@njit(cache=True)
def _keep_if_safe(board: U8, king: int, place: int, passant: int, out: I16, count: int) -> int:
    """Try a move; write it where the own king is not attacked afterwards. Return how many are written."""
    start, end = place >> 6, place & 63
    piece, taken = board[start], board[end]
    in_passing = piece == 1 and end == passant
    board[start], board[end] = 0, piece
    if in_passing:
        board[end - 8] = 0
    safe = not is_attacked(board, end if piece == 6 else king)
    board[start], board[end] = piece, taken
    if in_passing:
        board[end - 8] = 7
    if not safe:
        return count
    out[count] = place
    count += 1
    if piece == 1 and end >= 56:
        for under in range(3):
            out[count] = N_FROM_TO + 64 * under + 8 * (start & 7) + (end & 7)
            count += 1
    return count


@njit(cache=True)
def legal_places(board: U8, rights: int, passant: int, out: I16) -> int:
    """Write the places of all legal moves; return how many there are."""
    count = 0
    king = 0
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
def _with_castling(board: U8, rights: int, out: I16, count: int) -> int:
    if (rights & 3) == 0 or is_attacked(board, 4):
        return count
    if rights & 1 and board[5] == 0 and board[6] == 0 and not is_attacked(board, 5) and not is_attacked(board, 6):
        out[count] = 64 * 4 + 6
        count += 1
    free = board[1] == 0 and board[2] == 0 and board[3] == 0
    if rights & 2 and free and not is_attacked(board, 3) and not is_attacked(board, 2):
        out[count] = 64 * 4 + 2
        count += 1
    return count


@njit(cache=True)
def _play(board: U8, rights: int, passant: int, move: int) -> tuple[int, int]:
    """Play a move (mover's view, promotion as python-chess numbers pieces) and turn the board around, in place."""
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
    for square in range(32):
        a, b = board[square], board[square ^ 56]
        board[square] = (b + 5) % 12 + 1 if b else 0
        board[square ^ 56] = (a + 5) % 12 + 1 if a else 0
    passant = NO_SQUARE
    if piece == 1 and end - start == 16:
        behind = (start + 8) ^ 56
        left, right = behind & 7 and board[behind - 9] == 1, (behind & 7) < 7 and board[behind - 7] == 1
        if left or right:
            passant = behind
    return (rights & 3) << 2 | rights >> 2, passant


@njit(cache=True)
def replayed(
    moves: U16, offsets: I64, board: U8, rights: U8, passant: U8, black: Flags, ply: U8,
    out_board: U8, out_rights: U8, out_passant: U8, out_last: I16, out_ply: U8,
) -> None:  # fmt: skip
    """Write the position before every move of the games; the states given are those at the games' starts."""
    for game in range(len(offsets) - 1):
        now = board[game].copy()
        right, passing, last = rights[game], passant[game], -1
        for at in range(offsets[game], offsets[game + 1]):
            half = at - offsets[game]
            flip = 56 | 56 << 6 if (half + black[game]) % 2 else 0
            out_board[at], out_rights[at], out_passant[at] = now, right, passing
            out_last[at] = last if last < 0 else last ^ flip
            out_ply[at] = min(LAST_PLY, ply[game] + half)
            last = moves[at] & 4095
            right, passing = _play(now, right, passing, np.int64(moves[at]) ^ flip)  # type: ignore[arg-type]


@njit(cache=True)
def written_planes(board: U8, rights: U8, passant: U8, last: I16, ply: U8, out: F32) -> None:
    """Write the network's input: 12 planes of pieces, 4 castling, en passant, last move from and to, ply / 100."""
    out[:] = 0
    for i in range(len(board)):
        for square in range(64):
            if board[i, square]:
                out[i, board[i, square] - 1, square] = 1
        for bit in range(4):
            if rights[i] >> bit & 1:
                out[i, 12 + bit] = 1
        if passant[i] < NO_SQUARE:
            out[i, 16, passant[i]] = 1
        if last[i] >= 0:
            out[i, 17, last[i] & 63] = 1
            out[i, 18, last[i] >> 6] = 1
        out[i, 19] = np.float32(ply[i]) / np.float32(100)


@njit(cache=True)
def listed_moves(board: U8, rights: U8, passant: U8, counts: I64, places: I16) -> int:
    """Write the legal moves of every position one after the other; return how many in all."""
    total = 0
    for i in range(len(board)):
        counts[i] = legal_places(board[i], rights[i], passant[i], places[total:])
        total += counts[i]
    return total


@njit(cache=True)
def picked(maps: F32, under: F32, offsets: I64, places: I16, out: F32) -> None:
    """Write the four coefficients of every legal move from the network's maps."""
    for i in range(len(offsets) - 1):
        for at in range(offsets[i], offsets[i + 1]):
            place = places[at]
            for j in range(N_MAPS):
                if place < N_FROM_TO:
                    out[at, j] = maps[i, j, place]
                else:
                    rest = place - N_FROM_TO
                    piece, start, end = rest >> 6, rest >> 3 & 7, rest & 7
                    out[at, j] = maps[i, j, 64 * (48 + start) + 56 + end] + under[i, j, piece, end]


@njit(cache=True)
def add_choice_curves(coefficients: F32, offsets: I64, chosen: I64, groups: I64, basis: F64, out: F64) -> None:
    """Add log p(chosen move | Elo) at every Elo of the basis to the row of the decision's group."""
    for i in range(len(chosen)):
        begin, end, row = offsets[i], offsets[i + 1], groups[i]
        for g in range(basis.shape[0]):
            top, total, mine = -np.inf, 0.0, 0.0
            for at in range(begin, end):
                logit = 0.0
                for j in range(N_MAPS):
                    logit += basis[g, j] * coefficients[at, j]
                if at == begin + chosen[i]:
                    mine = logit
                if logit > top:
                    total = total * np.exp(top - logit) + 1.0
                    top = logit
                else:
                    total += np.exp(logit - top)
            out[row, g] += mine - top - np.log(total)
