"""Positions for training: who is held out, and which positions are drawn how often."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from .legal import legal_moves, move_number
from .net import planes
from .replay import Games, Positions

HELD_OUT = 0.12
FORGET_LAST = 0.05  # so often the last move is not told: a position given as FEN has none
RATING_BAND = 50
MOST_OFTEN = 6.0  # a rare rating is drawn at most so many times as often as the average


def held_out_players(player: np.ndarray) -> np.ndarray:
    """Is this player kept from training? player·2654435761 mod 2³² < 0.12·2³² (Knuth's multiplicative hash)."""
    return (player.astype(np.uint64) * np.uint64(2654435761)) % np.uint64(2**32) < np.uint64(int(HELD_OUT * 2**32))


@dataclass(frozen=True)
class Split:
    """Places of positions: games without a held-out player, and moves of held-out players."""

    train: Tensor
    held_out: Tensor


def split(games: Games, positions: Positions) -> Split:
    """Games with a held-out player are not trained on; figures are of the moves of held-out players."""
    device = positions.board.device
    away = held_out_players(games.player)
    clean = torch.as_tensor(~away.any(1), device=device)[positions.game.long()]
    side = positions.ply.long() % 2
    mover_away = torch.as_tensor(away, device=device)[positions.game.long(), side]
    return Split(torch.nonzero(clean)[:, 0].int(), torch.nonzero(mover_away)[:, 0].int())


class Draws:
    """Positions at random, those of rare ratings more often: ∝ √(1 / frequency), up to a limit."""

    def __init__(self, positions: Positions, places: Tensor, seed: int) -> None:
        band = positions.elo[places.long()].long() // RATING_BAND
        ordered = torch.argsort(band)
        self.places, self.seed = places[ordered], seed
        self.count = torch.bincount(band)
        self.first = torch.cumsum(self.count, 0) - self.count
        often = (1.0 / self.count.clamp(min=1).double()).sqrt()
        mean = (often * self.count).sum() / self.count.sum()
        weight = self.count * often.clamp(max=MOST_OFTEN * mean)
        self.share = torch.cumsum(weight / weight.sum(), 0)
        self.random = torch.Generator(device=places.device)

    def batch(self, step: int, size: int) -> Tensor:
        """The places drawn at a step: a function of seed and step alone, so that a run can be taken up again."""
        self.random.manual_seed(self.seed * 1_000_003 + step)
        u = torch.rand(2, size, device=self.places.device, generator=self.random, dtype=torch.float64)
        band = torch.searchsorted(self.share, u[0]).clamp(max=len(self.share) - 1)
        inside = (u[1] * self.count[band]).long()
        return self.places[self.first[band] + inside].long()


@dataclass(frozen=True)
class Batch:
    """What one step needs."""

    x: Tensor
    legal: Tensor
    move: Tensor
    elo: Tensor


def gather(positions: Positions, places: Tensor, forget: Tensor | None = None) -> Batch:
    """Planes, legal moves, the move played (among the N_MOVES) and the mover's rating."""
    board, rights, passant = positions.board[places], positions.rights[places], positions.passant[places]
    last = positions.last[places]
    if forget is not None:
        last = torch.where(forget, -1, last)
    x = planes(board, rights, passant, last, positions.ply[places])
    legal = legal_moves(board, rights, passant)
    move = move_number(positions.move[places])
    return Batch(x.contiguous(memory_format=torch.channels_last), legal, move, positions.elo[places])


def with_legal_move(positions: Positions, places: Tensor) -> Tensor:
    """Those places whose move is legal: a few games of the data (1 move in 20,000) go wrong."""
    kept = []
    for chunk in places.split(16384):
        batch = gather(positions, chunk.long())
        kept.append(chunk[batch.legal.gather(1, batch.move[:, None])[:, 0]])
    return torch.cat(kept)
