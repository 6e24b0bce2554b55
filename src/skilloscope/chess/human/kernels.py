"""The network's input and output, compiled: games replayed, planes written, the curves of choices.

Boards, rights, en passant and places are told as in chess/rules.py, which knows the legal moves.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from skilloscope.chess.rules import N_FROM_TO, NO_SQUARE, legal_places, play
from skilloscope.core.compiled import njit

U8 = npt.NDArray[np.uint8]
U16 = npt.NDArray[np.uint16]
I16 = npt.NDArray[np.int16]
I64 = npt.NDArray[np.int64]
F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

N_PLANES, N_MAPS = 20, 4
LAST_PLY = 240  # later plies look like this one: the games of the training end there


@njit(cache=True)
def replayed(
    moves: U16, offsets: I64, board: U8, rights: U8, passant: U8, black: Flags, ply: U8,
    out_board: U8, out_rights: U8, out_passant: U8, out_last: I16, out_ply: U8,
) -> None:  # fmt: skip
    """Write the position before every move of the games; the states given are those at the games' starts."""
    for game in range(len(offsets) - 1):
        now = board[game].copy()
        right, passing, last = np.int64(rights[game]), np.int64(passant[game]), -1
        for at in range(offsets[game], offsets[game + 1]):
            half = at - offsets[game]
            flip = 56 | 56 << 6 if (half + black[game]) % 2 else 0
            for square in range(64):
                out_board[at, square] = now[square]
            out_rights[at], out_passant[at] = right, passing
            out_last[at] = last if last < 0 else last ^ flip
            out_ply[at] = min(LAST_PLY, ply[game] + half)
            last = moves[at] & 4095
            right, passing = play(now, right, passing, np.int64(moves[at]) ^ flip)


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
        counts[i] = legal_places(board[i], np.int64(rights[i]), np.int64(passant[i]), places[total:])
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
