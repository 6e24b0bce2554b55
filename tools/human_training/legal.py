"""Positions → exactly their legal moves, a batch at a time, without a loop over pieces.

A ray is open where no piece stands between its ends: `occupied @ BETWEEN`, one matrix product for all pairs of squares.
Positions as in replay.py, from the mover's view.
"""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor

N_FROM_TO = 64 * 64
N_MOVES = N_FROM_TO + 3 * 64  # and underpromotions: piece (knight, bishop, rook), file from, file to


def legal_moves(board: Tensor, rights: Tensor, passant: Tensor) -> Tensor:
    """Which of the N_MOVES moves are legal: bool [batch, N_MOVES]."""
    table = tables(board.device)
    board = board.long()
    own, other = (board >= 1) & (board <= 6), board >= 7
    king = (board == 6).int().argmax(1)
    squares = torch.arange(64, device=board.device)
    between_king = table["between"][king]  # [batch, from, square]
    blockers = ((own | other).to(table["rays"].dtype) @ table["rays"]).view(-1, 64, 64)
    reach = table["attack"][board, squares]  # [batch, from, to], as on an empty board
    reach_king = reach.gather(2, king[:, None, None].expand(-1, 64, 1))[:, :, 0] & other
    to_king = blockers.gather(2, king[:, None, None].expand(-1, 64, 1))[:, :, 0]
    attacked = (other[:, :, None] & reach & (blockers - between_king_pairs(table, king) == 0)).any(1)

    checker = reach_king & (to_king == 0)
    checks = checker.sum(1)
    pinner = reach_king & (to_king == 1)
    on_ray = _any_of(pinner, between_king)
    pinned = own & on_ray
    target = (checks == 0)[:, None] | ((checks == 1)[:, None] & (checker | _any_of(checker, between_king)))

    open_ = blockers == 0
    pawn = (board == 1)[:, :, None]
    occupied = (own | other)[:, None, :]
    move = reach & open_ & torch.where(pawn, other[:, None, :], ~own[:, None, :])
    move |= pawn & table["push"] & open_ & ~occupied
    move &= own[:, :, None]
    is_king = (squares == king[:, None])[:, :, None]
    steady = target[:, None, :] & (~pinned[:, :, None] | table["line"][king])
    move &= torch.where(is_king, ~attacked[:, None, :], steady)
    move = _with_castling(move, rights, own | other, attacked, checks)
    move = _with_passant(move, board, passant, reach_king, between_king)
    return torch.cat([move.flatten(1), _underpromotions(move, board)], 1)


def move_number(move: Tensor) -> Tensor:
    """from + 64·to + 4096·underpromotion → place among the N_MOVES moves."""
    move = move.long()
    start, end, piece = move & 63, move >> 6 & 63, move >> 12
    under = N_FROM_TO + (piece - 1) * 64 + (start & 7) * 8 + (end & 7)
    return torch.where(piece > 0, under, start * 64 + end)


def between_king_pairs(table: dict[str, Tensor], king: Tensor) -> Tensor:
    """1 where the king stands between two squares: it does not shield what lies behind it."""
    return table["rays"][king].view(-1, 64, 64)


def _any_of(chosen: Tensor, rays: Tensor) -> Tensor:
    return (chosen[:, :, None] & rays).any(1)


def _with_castling(move: Tensor, rights: Tensor, occupied: Tensor, attacked: Tensor, checks: Tensor) -> Tensor:
    for bit, empty, crossed, end in ((1, [5, 6], [5, 6], 6), (2, [1, 2, 3], [2, 3], 2)):
        free = ~occupied[:, empty].any(1) & ~attacked[:, crossed].any(1) & (checks == 0)
        move[:, 4, end] |= free & ((rights & bit) > 0)
    return move


def _with_passant(move: Tensor, board: Tensor, passant: Tensor, reach_king: Tensor, rays: Tensor) -> Tensor:
    """Both ways of taking in passing, each tried on the board as it then stands."""
    row = torch.arange(len(board), device=board.device)
    end = passant.long().clamp(max=63)
    victim = (end - 8).clamp(min=0)
    for step, edge in ((-9, 0), (-7, 7)):
        start = (end + step).clamp(0, 63)
        possible = (passant < 64) & (end % 8 != edge) & (board[row, start] == 1)
        occupied = board > 0
        occupied[row, start] = False
        occupied[row, victim] = False
        occupied[row, end] = True
        blocked = (rays & occupied[:, None, :]).any(2)
        attacker = reach_king & ~blocked
        attacker[row, victim] = False
        move[row, start, end] |= possible & ~attacker.any(1)
    return move


def _underpromotions(move: Tensor, board: Tensor) -> Tensor:
    last = move[:, 48:56, 56:64] & (board[:, 48:56] == 1)[:, :, None]
    return last.flatten(1).repeat(1, 3)


@cache
def tables(device: torch.device) -> dict[str, Tensor]:
    """Geometry of the board: attacks by piece, pawn pushes, squares between, whole lines."""
    square = torch.arange(64)
    df = (square % 8)[None, :] - (square % 8)[:, None]
    dr = (square // 8)[None, :] - (square // 8)[:, None]
    far = torch.maximum(df.abs(), dr.abs())
    straight = ((df == 0) | (dr == 0)) & (far > 0)
    diagonal = (df.abs() == dr.abs()) & (far > 0)
    aligned = straight | diagonal
    sf, sr = df.sign(), dr.sign()
    between = torch.zeros(64, 64, 64, dtype=torch.bool)
    line = torch.zeros(64, 64, 64, dtype=torch.bool)
    for step in range(1, 7):
        a, b = torch.nonzero(aligned & (far > step), as_tuple=True)
        between[a, b, a + step * (sf[a, b] + 8 * sr[a, b])] = True
    for a in range(64):
        for b in range(64):
            if aligned[a, b]:
                line[a, b] = df[a] * sr[a, b] == dr[a] * sf[a, b]
    jump = df.abs() * dr.abs() == 2
    up = (df.abs() == 1) & (dr == 1)
    own = [up, jump, diagonal, straight, aligned, far == 1]
    attack = torch.stack([torch.zeros_like(up), *own, up.T, *own[1:]])
    push = (df == 0) & ((dr == 1) | ((dr == 2) & (square // 8 == 1)[:, None]))
    kind = torch.bfloat16 if device.type == "cuda" else torch.float32
    rays = between.flatten(0, 1).T.to(kind).contiguous()  # [square, from × to]; counts to 7 are exact in bfloat16
    made = {"attack": attack, "push": push, "between": between, "line": line, "rays": rays}
    return {name: value.to(device) for name, value in made.items()}
