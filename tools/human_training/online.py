"""The online network: the trunk that ships for play over the board, with the pool as input, and a cubic for each pool.

logit(m, E) = Σ_jk b_j(E)·M_pjk·L_k(m): b is the basis of `skilloscope.models.joint` at the rating in the pool itself,
so that the package reads both networks alike; M_p is a matrix for each pool. For training the basis is centred where
the pools are, b′ = b·C; both span the same cubics, and the file that ships has M on b.

The input has planes for the last PAST moves of both sides, where the network for play over the board has one, and the
pool as constant planes. Games of Lichess up to 2014 are pools of their own: the site was young, its scale another.
"""

from __future__ import annotations

import copy
import warnings
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import Tensor, nn
from torch.nn import functional as F

from .export import BATCH, halve
from .net import N_MAPS

LICHESS = ("lichess-bullet", "lichess-blitz", "lichess-rapid", "lichess-classical")
POOLS = ("fide", *LICHESS, "chesscom-bullet", "chesscom-blitz", "chesscom-rapid", *(f"{name}-2013" for name in LICHESS))
YOUNG = 2014  # the last year of the young pools
CHANNELS, BLOCKS, HEADS, WIDTH = 96, 5, 8, 32
PAST = 8  # moves of both sides that the network sees
N_PLANES = 18 + 2 * PAST
KNEE, KNEE_WIDTH, KNEE_SHARE = 1550.0, 80.0, 0.35  # of skilloscope.models.joint
CENTRE, UNIT = 1700.0, 600.0


def bent(elo: Tensor) -> Tensor:
    """Elo as the network is asked for it in skilloscope.models.joint."""
    rated = elo.float()
    return rated + KNEE_SHARE * KNEE_WIDTH * F.softplus((KNEE - rated) / KNEE_WIDTH)


def cubic(x: Tensor) -> Tensor:
    """(1, x, x² − ½, x³ − x)."""
    return torch.stack([torch.ones_like(x), x, x * x - 0.5, x * x * x - x], -1)


def basis(elo: Tensor) -> Tensor:
    """b(E) as in skilloscope.models.joint: [..., 4]."""
    return cubic((bent(elo) - 2100.0) / 450.0)


def centred(elo: Tensor) -> Tensor:
    """b′(E): [..., 4]."""
    return cubic((bent(elo) - CENTRE) / UNIT)


def change_of_basis() -> Tensor:
    """C with b′ = b·C."""
    at = torch.linspace(-1.0, 1.0, 4, dtype=torch.float64) * 400 + 2000
    here, there = cubic((at - 2100.0) / 450.0), cubic((at - CENTRE) / UNIT)
    return torch.linalg.solve(here, there).float()


def planes(board: Tensor, rights: Tensor, passant: Tensor, past: Tensor, ply: Tensor) -> Tensor:
    """The input, mover's view: 12 of pieces, 4 castling, en passant, from and to of the last moves, ply / 100."""
    square = torch.arange(64, device=board.device)
    pieces = board[:, None, :] == torch.arange(1, 13, device=board.device, dtype=board.dtype)[:, None]
    flags = (rights[:, None] >> torch.arange(4, device=board.device, dtype=rights.dtype)) & 1
    ends = torch.where(past[:, :, None] >= 0, torch.stack([past & 63, past >> 6], 2), -1).flatten(1)
    single = torch.cat([passant.short()[:, None], ends.short()], 1)[:, :, None] == square
    high = (ply.float() / 100)[:, None, None].expand(-1, 1, 64)
    parts = [pieces.float(), flags.float()[:, :, None].expand(-1, -1, 64), single.float(), high]
    return torch.cat(parts, 1).view(-1, N_PLANES, 8, 8)


class Block(nn.Module):
    """Two convolutions, squeeze-and-excitation with a bias, and the way around them."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.first_norm = nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1), nn.BatchNorm2d(CHANNELS)
        self.second, self.second_norm = nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1), nn.BatchNorm2d(CHANNELS)
        self.squeeze = nn.Linear(CHANNELS, 24)
        self.excite = nn.Linear(24, 2 * CHANNELS)

    def forward(self, x: Tensor) -> Tensor:
        """x + s·f(x) + t, rectified."""
        y = self.second_norm(self.second(F.relu(self.first_norm(self.first(x)))))
        scale, shift = self.excite(F.relu(self.squeeze(y.mean((2, 3))))).chunk(2, 1)
        return F.relu(x + y * torch.sigmoid(scale)[:, :, None, None] + shift[:, :, None, None])


class Attend(nn.Module):
    """Attention between squares: scores from the features, and a learned one for each pair of squares and head."""

    def __init__(self) -> None:
        super().__init__()
        c = CHANNELS
        self.norm, self.mix_norm = nn.LayerNorm(c), nn.LayerNorm(c)
        self.triple, self.out = nn.Linear(c, 3 * c), nn.Linear(c, c)
        self.pair = nn.Parameter(torch.zeros(HEADS, 64, 64))
        self.mix = nn.Sequential(nn.Linear(c, 2 * c), nn.ReLU(), nn.Linear(2 * c, c))

    def forward(self, x: Tensor) -> Tensor:
        """x: [batch, 64, channels]."""
        split = self.triple(self.norm(x)).view(-1, 64, 3, HEADS, CHANNELS // HEADS)
        query, key, value = split.permute(2, 0, 3, 1, 4).unbind(0)
        scores = query @ key.transpose(2, 3) * (CHANNELS // HEADS) ** -0.5 + self.pair
        seen = torch.softmax(scores, -1) @ value
        x = x + self.out(seen.transpose(1, 2).reshape(-1, 64, CHANNELS))
        return x + self.mix(self.mix_norm(x))


class OnlineNet(nn.Module):
    """Planes and pool → (features from, features to, extra terms of underpromotions)."""

    def __init__(self) -> None:
        super().__init__()
        c = CHANNELS
        self.enter, self.enter_norm = nn.Conv2d(N_PLANES + len(POOLS), c, 3, padding=1), nn.BatchNorm2d(c)
        self.trunk = nn.Sequential(*[Block() for _ in range(BLOCKS)])
        self.attend, self.head = Attend(), nn.Linear(c, c)
        self.start, self.end = nn.Linear(c, N_MAPS * WIDTH), nn.Linear(c, N_MAPS * WIDTH)
        self.pair = nn.Parameter(torch.zeros(N_MAPS, 64 * 64))
        self.under = nn.Linear(c, N_MAPS * 3)
        self.mix = nn.Parameter(torch.eye(N_MAPS).repeat(len(POOLS), 1, 1))  # [pool, b′, L]

    def features(self, seen: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Features of the square left and reached, [batch, 64, 4, width], and of underpromotions, [batch, 4, 3, 8]."""
        x = self.trunk(F.relu(self.enter_norm(self.enter(seen)))).flatten(2).transpose(1, 2)
        x = F.relu(self.head(self.attend(x)))
        start = self.start(x).view(-1, 64, N_MAPS, WIDTH) * WIDTH**-0.5
        end = self.end(x).view(-1, 64, N_MAPS, WIDTH)
        return start, end, self.under(x[:, 56:]).view(-1, 8, N_MAPS, 3).permute(0, 2, 3, 1)

    def logits(self, features: tuple[Tensor, Tensor, Tensor], elo: Tensor, pool: Tensor) -> Tensor:
        """Logits of all moves at ratings in pools."""
        return self.mixed(features, (centred(elo)[:, :, None] * self.mix[pool]).sum(1))

    def mixed(self, features: tuple[Tensor, Tensor, Tensor], weight: Tensor) -> Tensor:
        """Logits of all moves with a weight of each map: the maps are mixed before they are multiplied out."""
        start, end, under = (value.float() for value in features)
        with torch.autocast(start.device.type, enabled=False):  # eight bits are too few for a logit
            mixed = (start * weight[:, None, :, None]).flatten(2)
            plain = (mixed @ end.flatten(2).transpose(1, 2)).flatten(1) + weight @ self.pair
            last = plain.view(-1, 64, 64)[:, 48:56, 56:64]
            extra = (under * weight[:, :, None, None]).sum(1)
        return torch.cat([plain, (last[:, None] + extra[:, :, None, :]).flatten(1)], 1)

    def forward(self, seen: Tensor, pool: Tensor) -> tuple[Tensor, Tensor]:
        """As shipped: maps on the basis of the pool's ratings [batch, 4, 4096], underpromotions [batch, 4, 3, 8]."""
        own = pool[:, :, None, None].expand(-1, -1, 8, 8)
        start, end, under = self.features(torch.cat([seen, own], 1))
        maps = (start.transpose(1, 2) @ end.permute(0, 2, 3, 1)).flatten(2) + self.pair
        matrix = (pool @ self.mix.flatten(1)).view(-1, N_MAPS, N_MAPS)
        return matrix @ maps, (matrix @ under.flatten(2)).view(-1, N_MAPS, 3, 8)


@torch.no_grad()
def from_weights(weights: dict[str, np.ndarray], pools: int) -> OnlineNet:
    """The network that begins as one of an earlier file with 20 planes and fewer pools: its weights, by name."""
    net = OnlineNet()
    held = {name: torch.tensor(value.astype(np.float32)) for name, value in weights.items()}
    net.enter.weight.zero_()
    was = [*range(17), 17, 18, N_PLANES - 1, *range(N_PLANES, N_PLANES + pools)]
    net.enter.weight[:, was] = held.pop("enter.weight")
    matrices = change_of_basis().inverse() @ held.pop("mix")
    net.mix[:pools] = matrices
    net.mix[pools:] = matrices[1:5]  # the young pools begin as their sites of today
    net.enter.weight[:, N_PLANES + pools :] = net.enter.weight[:, N_PLANES + 1 : N_PLANES + 5]
    missing = net.load_state_dict(held, strict=False).missing_keys
    left = [name for name in missing if "norm." not in name and not name.startswith(("enter.weight", "mix"))]
    if left:
        raise ValueError(f"weights without {', '.join(left)}")
    return net


def weights_of(path: Path) -> dict[str, np.ndarray]:
    """The weights of a file made by `export_online`, by name; those of products have numbers, and come in order."""
    held = {
        one.name.removesuffix("_half"): numpy_helper.to_array(one) for one in onnx.load(str(path)).graph.initializer
    }
    product = [held.pop(name).T for name in list(held) if "MatMul_" in name]
    layers = ("attend.triple", "attend.out", "attend.mix.0", "attend.mix.2", "head", "start", "end", "under")
    return held | {f"{name}.weight": weight for name, weight in zip(layers, product, strict=True)}


@torch.no_grad()
def normalise(net: OnlineNet, seen: Tensor) -> None:
    """Let every batch normalisation begin as what it finds on some positions: the network stays the same function."""

    def begin(layer: nn.Module, given: tuple[Tensor, ...], _: Tensor) -> Tensor:
        (x,) = given
        variance, mean = torch.var_mean(x.float(), (0, 2, 3), correction=0)
        assert isinstance(layer, nn.BatchNorm2d)
        layer.running_mean.copy_(mean)
        layer.running_var.copy_(variance)
        layer.bias.copy_(mean)
        layer.weight.copy_((variance + layer.eps).sqrt())
        return x

    hooks = [layer.register_forward_hook(begin) for layer in net.modules() if isinstance(layer, nn.BatchNorm2d)]
    net.eval()
    net.features(seen)
    for hook in hooks:
        hook.remove()


@torch.no_grad()
def folded(net: OnlineNet) -> OnlineNet:
    """The network on the processor, its normalisations made part of the convolutions, its matrices on b."""
    net = copy.deepcopy(net).float().cpu().eval()
    pairs = [(net.enter, "enter_norm", net)]
    pairs += [(getattr(block, name), f"{name}_norm", block) for block in net.trunk for name in ("first", "second")]
    for conv, name, owner in pairs:
        norm = getattr(owner, name)
        scale = norm.weight / (norm.running_var + norm.eps).sqrt()
        conv.weight.mul_(scale[:, None, None, None])
        conv.bias.copy_((conv.bias - norm.running_mean) * scale + norm.bias)
        setattr(owner, name, nn.Identity())
    net.mix.copy_(change_of_basis() @ net.mix)
    return net


def export_online(net: OnlineNet, path: Path) -> None:
    """Write the network as it is used: planes and pool in, maps and underpromotion terms out, in half precision."""
    example = (torch.zeros(BATCH, N_PLANES, 8, 8), F.one_hot(torch.ones(BATCH).long(), len(POOLS)).float())
    names = ("planes", "pool", "maps", "under")
    with warnings.catch_warnings():  # the exporter that traces is called old, but needs no further package
        warnings.simplefilter("ignore")
        torch.onnx.export(
            folded(net), example, str(path), input_names=names[:2], output_names=names[2:],
            dynamic_axes={name: {0: "batch"} for name in names}, opset_version=17, dynamo=False,
        )  # fmt: skip
    model = onnx.load(str(path))
    halve(model)
    onnx.checker.check_model(model)
    path.write_bytes(model.SerializeToString())
