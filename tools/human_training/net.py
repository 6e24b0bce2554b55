"""The network: a position → four from–to maps, whose mixture by a cubic in Elo gives the logits of all moves.

logit(m, E) = Σ_j b_j(E)·L_j(m),  b = (1, x, x² − ½, x³ − x),  x = (E − 2100) / 450.
The trunk (residual convolutions with squeeze-and-excitation, then attention between squares) runs once for any number
of Elos. A map is a product of features of the two squares, and one number for each pair of squares.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

N_PLANES, N_MAPS = 20, 4


@dataclass(frozen=True)
class Shape:
    """The sizes that make a network."""

    channels: int = 96
    blocks: int = 6
    attentions: int = 0
    heads: int = 8
    width: int = 32  # features of a square in one map


SHAPES = {"small": Shape(), "large": Shape(192, 10), "tiny": Shape(16, 1, 1, 2, 8)}


def basis(elo: Tensor) -> Tensor:
    """b(E): [..., 4]."""
    x = (elo.float() - 2100.0) / 450.0
    return torch.stack([torch.ones_like(x), x, x * x - 0.5, x * x * x - x], -1)


def planes(board: Tensor, rights: Tensor, passant: Tensor, last: Tensor, ply: Tensor) -> Tensor:
    """The input, mover's view: 12 of pieces, 4 castling, en passant, last move from and to, ply / 100."""
    square = torch.arange(64, device=board.device)
    pieces = board[:, None, :] == torch.arange(1, 13, device=board.device, dtype=board.dtype)[:, None]
    flags = (rights[:, None] >> torch.arange(4, device=board.device, dtype=rights.dtype)) & 1
    start = torch.where(last >= 0, last & 63, -1)
    end = torch.where(last >= 0, last >> 6, -1)
    single = torch.stack([passant.short(), start.short(), end.short()], 1)[:, :, None] == square
    high = (ply.float() / 100)[:, None, None].expand(-1, 1, 64)
    parts = [pieces.float(), flags.float()[:, :, None].expand(-1, -1, 64), single.float(), high]
    return torch.cat(parts, 1).view(-1, N_PLANES, 8, 8)


class Residual(nn.Module):
    """Two convolutions, squeeze-and-excitation with a bias, and the way around them."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.first_norm = nn.BatchNorm2d(channels)
        self.second = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.second_norm = nn.BatchNorm2d(channels)
        self.squeeze = nn.Linear(channels, max(16, channels // 4))
        self.excite = nn.Linear(max(16, channels // 4), 2 * channels)

    def forward(self, x: Tensor) -> Tensor:
        """x + s·f(x) + t, rectified."""
        y = F.relu(self.first_norm(self.first(x)))
        y = self.second_norm(self.second(y))
        scale, shift = self.excite(F.relu(self.squeeze(y.mean((2, 3))))).chunk(2, 1)
        return F.relu(x + y * torch.sigmoid(scale)[:, :, None, None] + shift[:, :, None, None])


class Attention(nn.Module):
    """Squares look at squares: scores from the features, and a learned one for each pair of squares and head."""

    def __init__(self, channels: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(channels)
        self.triple = nn.Linear(channels, 3 * channels)
        self.out = nn.Linear(channels, channels)
        self.pair = nn.Parameter(torch.zeros(heads, 64, 64))
        self.mix_norm = nn.LayerNorm(channels)
        self.mix = nn.Sequential(nn.Linear(channels, 2 * channels), nn.ReLU(), nn.Linear(2 * channels, channels))

    def forward(self, x: Tensor) -> Tensor:
        """x: [batch, 64, channels]."""
        channels = x.shape[2]
        split = self.triple(self.norm(x)).view(-1, 64, 3, self.heads, channels // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4).unbind(0)
        scores = query @ key.transpose(2, 3) * (channels // self.heads) ** -0.5 + self.pair
        seen = torch.softmax(scores, -1) @ value
        x = x + self.out(seen.transpose(1, 2).reshape(-1, 64, channels))
        return x + self.mix(self.mix_norm(x))


class HumanNet(nn.Module):
    """Planes → (features from, features to, extra terms of underpromotions)."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        c = shape.channels
        self.shape = shape
        self.enter = nn.Conv2d(N_PLANES, c, 3, padding=1, bias=False)
        self.enter_norm = nn.BatchNorm2d(c)
        self.trunk = nn.Sequential(*[Residual(c) for _ in range(shape.blocks)])
        self.attend = nn.Sequential(*[Attention(c, shape.heads) for _ in range(shape.attentions)])
        self.head = nn.Linear(c, c)
        self.start = nn.Linear(c, N_MAPS * shape.width)
        self.end = nn.Linear(c, N_MAPS * shape.width)
        self.pair = nn.Parameter(torch.zeros(N_MAPS, 64 * 64))
        self.under = nn.Linear(c, N_MAPS * 3)

    def features(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Features of the square left and reached, [batch, 64, 4, width], and of underpromotions, [batch, 4, 3, 8]."""
        x = F.relu(self.enter_norm(self.enter(x)))
        x = self.trunk(x).flatten(2).transpose(1, 2)
        x = F.relu(self.head(self.attend(x)))
        width = self.shape.width
        start = self.start(x).view(-1, 64, N_MAPS, width) * width**-0.5
        end = self.end(x).view(-1, 64, N_MAPS, width)
        return start, end, self.under(x[:, 56:]).view(-1, 8, N_MAPS, 3).permute(0, 2, 3, 1)

    def logits(self, features: tuple[Tensor, Tensor, Tensor], elo: Tensor) -> Tensor:
        """Logits of the N_MOVES moves at one Elo a position: the maps are mixed before they are multiplied out."""
        start, end, under = (value.float() for value in features)
        weight = basis(elo)
        with torch.autocast(start.device.type, enabled=False):  # eight bits are too few for a logit
            mixed = (start * weight[:, None, :, None]).flatten(2)
            plain = (mixed @ end.flatten(2).transpose(1, 2)).flatten(1) + weight @ self.pair
            last = plain.view(-1, 64, 64)[:, 48:56, 56:64]
            extra = (under * weight[:, :, None, None]).sum(1)
        return torch.cat([plain, (last[:, None] + extra[:, :, None, :]).flatten(1)], 1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """As shipped: the four maps [batch, 4, 4096] and the terms of underpromotions [batch, 4, 3, 8]."""
        start, end, under = self.features(x)
        maps = start.transpose(1, 2) @ end.permute(0, 2, 3, 1)
        return maps.flatten(2) + self.pair, under
