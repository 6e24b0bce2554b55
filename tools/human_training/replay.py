"""Moves of many games → every position of them, on one device and all games at once.

A position is told from the mover's view: the board is mirrored for Black, so that one's own pawns always go up.

- board: 64 codes, 0 empty, 1–6 one's own pawn, knight, bishop, rook, queen, king, 7–12 the opponent's.
- rights: bit 0 castling king's side, bit 1 queen's side, bits 2 and 3 the opponent's.
- passant: the square behind a pawn that just made two steps, if a pawn of the mover's stands beside it; otherwise 64.
"""

from __future__ import annotations

import bz2
import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

OWN_PAWN, OWN_KING = 1, 6
NO_SQUARE = 64
START = [4, 2, 3, 5, 6, 3, 2, 4, *[1] * 8, *[0] * 32, *[7] * 8, 10, 8, 9, 11, 12, 9, 8, 10]
PROMOTED = [5, 2, 3, 4]  # as the data count them: queen, knight, bishop, rook


@dataclass(frozen=True)
class Games:
    """Columns of games, and their moves one after the other."""

    plies: np.ndarray
    elo: np.ndarray  # [games, 2]: White, Black
    player: np.ndarray  # [games, 2]
    moves: np.ndarray  # uint16
    sha256: str


@dataclass(frozen=True)
class Positions:
    """Every position of the games, in the order of their moves."""

    board: Tensor  # uint8 [n, 64]
    rights: Tensor  # uint8
    passant: Tensor  # uint8
    ply: Tensor  # uint8
    move: Tensor  # int16: from + 64·to, mover's view, + 4096·underpromotion
    last: Tensor  # int16: the opponent's last move, mover's view; −1 at the start
    elo: Tensor  # int16: the mover's rating
    player: Tensor  # int32: the mover
    game: Tensor  # int32

    def __len__(self) -> int:
        return len(self.board)


def read_games(folder: Path, limit: int | None = None) -> Games:
    """The games of a folder; with a limit that many, drawn with a fixed seed."""
    table = np.load(folder / "games.npz")
    packed = (folder / "moves.u16.bz2").read_bytes()
    moves = np.frombuffer(bz2.decompress(packed), dtype="<u2")
    digest = hashlib.sha256((folder / "games.npz").read_bytes() + packed).hexdigest()
    plies = table["plies"].astype(np.int64)
    elo = np.stack([table["white_elo"], table["black_elo"]], 1).astype(np.int16)
    player = np.stack([table["white"], table["black"]], 1).astype(np.int32)
    if limit is None or limit >= len(plies):
        return Games(plies, elo, player, moves, digest)
    chosen = np.sort(np.random.default_rng(0).choice(len(plies), limit, replace=False))
    starts = np.cumsum(plies) - plies
    kept = np.concatenate([moves[starts[g] : starts[g] + plies[g]] for g in chosen])
    return Games(plies[chosen], elo[chosen], player[chosen], kept, digest)


def replay(games: Games, device: torch.device) -> Positions:
    """Play all games at once, one ply of each a step."""
    order = np.argsort(-games.plies, kind="stable")  # the longest first: those still going on are a prefix
    plies = games.plies[order]
    starts = torch.as_tensor((np.cumsum(games.plies) - games.plies)[order], device=device)
    moves = torch.as_tensor(games.moves.astype(np.int32), device=device)
    n = len(moves)
    board_out = torch.empty(n, 64, dtype=torch.uint8, device=device)
    rights_out = torch.empty(n, dtype=torch.uint8, device=device)
    passant_out = torch.empty(n, dtype=torch.uint8, device=device)
    board = torch.tensor(START, dtype=torch.uint8, device=device).repeat(len(plies), 1)
    rights = torch.full((len(plies),), 15, dtype=torch.uint8, device=device)
    passant = torch.full((len(plies),), NO_SQUARE, dtype=torch.long, device=device)
    for ply in range(int(plies[0])):
        active = int(np.searchsorted(-plies, -ply, side="left"))
        at = starts[:active] + ply
        board, rights, passant = board[:active], rights[:active], passant[:active]
        board_out[at], rights_out[at], passant_out[at] = board, rights, passant.to(torch.uint8)
        board, rights, passant = _play(board, rights, passant, seen_by_mover(moves[at], ply % 2))
    return _positions(games, device, moves, board_out, rights_out, passant_out)


def seen_by_mover(moves: Tensor, black: Tensor | int) -> Tensor:
    """Mirror the squares of moves where Black is to move."""
    return moves ^ (black * (56 + 64 * 56))


def _play(board: Tensor, rights: Tensor, passant: Tensor, move: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    board = board.clone()
    row = torch.arange(len(board), device=board.device)
    start, end, promotion = (move & 63).long(), (move >> 6 & 63).long(), (move >> 12).long()
    piece = board[row, start].long()
    pawn, king = piece == OWN_PAWN, piece == OWN_KING
    taken = torch.where(pawn & (end == passant), end - 8, start)  # the pawn taken in passing, or a square left anyway
    board[row, taken] = 0
    board[row, start] = 0
    promoted = torch.tensor(PROMOTED, device=board.device)[promotion]
    board[row, end] = torch.where(pawn & (end >= 56), promoted, piece).to(torch.uint8)
    for there, corner, beside in ((6, 7, 5), (2, 0, 3)):
        castled = king & (start == 4) & (end == there)
        board[:, corner] = torch.where(castled, 0, board[:, corner])
        board[:, beside] = torch.where(castled, 4, board[:, beside])
    lost = torch.where(king, 3, 0)
    for square, right in ((7, 1), (0, 2), (63, 4), (56, 8)):
        lost = lost | torch.where((start == square) | (end == square), right, 0)
    rights = rights & ~lost.to(torch.uint8)
    rights = (rights & 3) << 2 | rights >> 2
    mirror = torch.arange(64, device=board.device) ^ 56
    board = _swapped(board[:, mirror])
    return board, rights, _passant(board, torch.where(pawn & (end - start == 16), (start + 8) ^ 56, NO_SQUARE))


def _swapped(board: Tensor) -> Tensor:
    return torch.where(board == 0, board, (board + 5) % 12 + 1)


def _passant(board: Tensor, square: Tensor) -> Tensor:
    """The square, if a pawn of the mover's stands where it can take there."""
    row = torch.arange(len(board), device=board.device)
    beside = torch.zeros_like(square, dtype=torch.bool)
    for step, edge in ((-9, 0), (-7, 7)):
        beside |= (board[row, (square + step).clamp(0, 63)] == OWN_PAWN) & (square % 8 != edge)
    return torch.where(beside & (square < NO_SQUARE), square, NO_SQUARE)


def _positions(games: Games, device: torch.device, moves: Tensor, *states: Tensor) -> Positions:
    board, rights, passant = states
    plies = torch.as_tensor(games.plies, device=device)
    game = torch.repeat_interleave(torch.arange(len(plies), device=device), plies)
    starts = torch.cumsum(plies, 0) - plies
    ply = torch.arange(len(moves), device=device) - starts[game]
    side = ply % 2
    move = seen_by_mover(moves, side)
    last = torch.cat([moves.new_full((1,), -1), moves[:-1]]) & 4095
    last = torch.where(ply == 0, -1, seen_by_mover(last, side))
    elo = torch.as_tensor(games.elo, device=device)[game, side]
    player = torch.as_tensor(games.player, device=device)[game, side]
    small = torch.int16
    return Positions(
        board, rights, passant, ply.to(torch.uint8), move.to(small), last.to(small), elo, player, game.to(torch.int32)
    )
