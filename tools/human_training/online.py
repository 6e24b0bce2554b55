"""The online network: the trunk that ships for play over the board, with the pool as input, and a cubic for each pool.

logit(m, E) = Σ_jk b_j(E)·M_pjk·L_k(m): b is the basis of `skilloscope.models.joint` at the rating in the pool itself,
so that the package reads both networks alike; M_p is a matrix for each pool. It begins as the least-squares image of a
line from the pool's ratings to FIDE's, and contains every such line exactly. The pool is a constant plane as well,
whose weights begin at zero. The normalisation of batches is part of the convolutions, as in the file that ships.
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

POOLS = (
    "fide", "lichess-bullet", "lichess-blitz", "lichess-rapid", "lichess-classical", "chesscom-bullet",
    "chesscom-blitz", "chesscom-rapid",
)  # fmt: skip
CHANNELS, BLOCKS, HEADS, WIDTH = 96, 5, 8, 32
N_PLANES = 20
KNEE, KNEE_WIDTH, KNEE_SHARE = 1550.0, 80.0, 0.35  # of skilloscope.models.joint


def basis(elo: Tensor) -> Tensor:
    """b(E) as in skilloscope.models.joint: [..., 4]."""
    rated = elo.float()
    bent = rated + KNEE_SHARE * KNEE_WIDTH * F.softplus((KNEE - rated) / KNEE_WIDTH)
    x = (bent - 2100.0) / 450.0
    return torch.stack([torch.ones_like(x), x, x * x - 0.5, x * x * x - x], -1)


class Block(nn.Module):
    """Two convolutions, squeeze-and-excitation with a bias, and the way around them."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1)
        self.second = nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1)
        self.squeeze = nn.Linear(CHANNELS, 24)
        self.excite = nn.Linear(24, 2 * CHANNELS)

    def forward(self, x: Tensor) -> Tensor:
        """x + s·f(x) + t, rectified."""
        y = self.second(F.relu(self.first(x)))
        scale, shift = self.excite(F.relu(self.squeeze(y.mean((2, 3))))).chunk(2, 1)
        return F.relu(torch.addcmul(x + shift[:, :, None, None], y, torch.sigmoid(scale)[:, :, None, None]))


class Attend(nn.Module):
    """Attention between squares; its scores for pairs of squares stay as they ship."""

    def __init__(self) -> None:
        super().__init__()
        c = CHANNELS
        self.norm, self.mix_norm = nn.LayerNorm(c), nn.LayerNorm(c)
        self.triple, self.out = nn.Linear(c, 3 * c), nn.Linear(c, c)
        self.pair = nn.Parameter(torch.zeros(HEADS, 64, 64), requires_grad=False)
        self.mix = nn.Sequential(nn.Linear(c, 2 * c), nn.ReLU(), nn.Linear(2 * c, c))

    def forward(self, x: Tensor) -> Tensor:
        """x: [batch, 64, channels]."""
        split = self.triple(self.norm(x)).view(-1, 64, 3, HEADS, CHANNELS // HEADS)
        query, key, value = split.permute(2, 0, 3, 1, 4).unbind(0)
        if torch.onnx.is_in_onnx_export():
            scores = query @ key.transpose(2, 3) * (CHANNELS // HEADS) ** -0.5 + self.pair
            seen = torch.softmax(scores, -1) @ value
        else:
            seen = F.scaled_dot_product_attention(query, key, value, attn_mask=self.pair.to(query.dtype)[None])
        x = x + self.out(seen.transpose(1, 2).reshape(-1, 64, CHANNELS))
        return x + self.mix(self.mix_norm(x))


class OnlineNet(nn.Module):
    """Planes and pool → (features from, features to, extra terms of underpromotions)."""

    def __init__(self) -> None:
        super().__init__()
        c = CHANNELS
        self.enter = nn.Conv2d(N_PLANES + len(POOLS), c, 3, padding=1)
        self.trunk = nn.Sequential(*[Block() for _ in range(BLOCKS)])
        self.attend, self.head = Attend(), nn.Linear(c, c)
        self.start, self.end = nn.Linear(c, N_MAPS * WIDTH), nn.Linear(c, N_MAPS * WIDTH)
        self.pair = nn.Parameter(torch.zeros(N_MAPS, 64 * 64))
        self.under = nn.Linear(c, N_MAPS * 3)
        self.mix = nn.Parameter(torch.eye(N_MAPS).repeat(len(POOLS), 1, 1))  # [pool, b, L]

    def features(self, planes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Features of the square left and reached, [batch, 64, 4, width], and of underpromotions, [batch, 4, 3, 8]."""
        x = self.trunk(F.relu(self.enter(planes))).flatten(2).transpose(1, 2)
        x = F.relu(self.head(self.attend(x)))
        start = self.start(x).view(-1, 64, N_MAPS, WIDTH) * WIDTH**-0.5
        end = self.end(x).view(-1, 64, N_MAPS, WIDTH)
        return start, end, self.under(x[:, 56:]).view(-1, 8, N_MAPS, 3).permute(0, 2, 3, 1)

    def weights(self, elo: Tensor, pool: Tensor) -> Tensor:
        """The weight of each map at the ratings of pools, [batch, 4]."""
        return torch.einsum("bj,bjk->bk", basis(elo), self.mix[pool.long()])

    def logits(self, features: tuple[Tensor, Tensor, Tensor], weight: Tensor) -> Tensor:
        """Logits of all moves: the maps are mixed before they are multiplied out."""
        start, end, under = (value.float() for value in features)
        with torch.autocast("cpu", enabled=False):  # eight bits are too few for a logit
            mixed = (start * weight[:, None, :, None]).flatten(2)
            plain = (mixed @ end.flatten(2).transpose(1, 2)).flatten(1) + weight @ self.pair
            last = plain.view(-1, 64, 64)[:, 48:56, 56:64]
            extra = (under * weight[:, :, None, None]).sum(1)
        return torch.cat([plain, (last[:, None] + extra[:, :, None, :]).flatten(1)], 1)

    def forward(self, planes: Tensor, pool: Tensor) -> tuple[Tensor, Tensor]:
        """As shipped: maps on the basis of the pool's ratings [batch, 4, 4096], underpromotions [batch, 4, 3, 8]."""
        own = pool[:, :, None, None].expand(-1, -1, 8, 8)
        start, end, under = self.features(torch.cat([planes, own], 1))
        maps = (start.transpose(1, 2) @ end.permute(0, 2, 3, 1)).flatten(2) + self.pair
        matrix = (pool @ self.mix.flatten(1)).view(-1, N_MAPS, N_MAPS)
        return matrix @ maps, (matrix @ under.flatten(2)).view(-1, N_MAPS, 3, 8)


def from_shipped(path: Path) -> OnlineNet:
    """The network that begins as the one in a file for play over the board: the file's weights, by their order."""
    net, model = OnlineNet(), onnx.load(str(path))
    held = {one.name: torch.tensor(numpy_helper.to_array(one).astype(np.float32)) for one in model.graph.initializer}
    conv = iter([value for name, value in held.items() if "Conv_" in name])
    product = iter([value for name, value in held.items() if "MatMul_" in name])
    with torch.no_grad():
        net.enter.weight.zero_()
        net.enter.weight[:, :N_PLANES] = next(conv)
        net.enter.bias.copy_(next(conv))
        for at, block in enumerate(net.trunk):
            for layer in (block.first, block.second):
                layer.weight.copy_(next(conv))
                layer.bias.copy_(next(conv))
            for name in ("squeeze.weight", "squeeze.bias", "excite.weight", "excite.bias"):
                block.get_parameter(name).copy_(held[f"trunk.{at}.{name}_half"])
        for name in ("pair", "norm.weight", "norm.bias", "mix_norm.weight", "mix_norm.bias"):
            net.attend.get_parameter(name).copy_(held[f"attend.0.{name}_half"])
        for name in ("attend.triple", "attend.out", "attend.mix.0", "attend.mix.2", "head", "start", "end", "under"):
            layer = net.get_submodule(name)
            layer.weight.copy_(next(product).T)
            layer.bias.copy_(held[f"{name.replace('attend.', 'attend.0.')}.bias_half"])
        net.pair.copy_(held["pair_half"])
    return net


def export_online(net: OnlineNet, path: Path) -> None:
    """Write the network as it is used: planes and pool in, maps and underpromotion terms out, in half precision."""
    net = copy.deepcopy(net).float().cpu().eval()
    example = (torch.zeros(BATCH, N_PLANES, 8, 8), F.one_hot(torch.ones(BATCH).long(), len(POOLS)).float())
    names = ("planes", "pool", "maps", "under")
    with warnings.catch_warnings():  # the exporter that traces is called old, but needs no further package
        warnings.simplefilter("ignore")
        torch.onnx.export(
            net, example, str(path), input_names=names[:2], output_names=names[2:],
            dynamic_axes={name: {0: "batch"} for name in names}, opset_version=17, dynamo=False,
        )  # fmt: skip
    model = onnx.load(str(path))
    halve(model)
    onnx.checker.check_model(model)
    path.write_bytes(model.SerializeToString())
