"""Figures on moves of players never seen: likelihood by rating and ply, calibration, best Elo by band."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from .draw import gather
from .net import HumanNet
from .replay import Positions
from .train import log_policy

BANDS = range(1200, 2701, 100)  # a band holds its own Elo ± 50
GRID = range(700, 3101, 25)
PLIES = (0, 8, 16, 24, 32, 48, 64, 96, 255)
N_BINS = 10
SIZE = 4096


def quick_figures(net: HumanNet, positions: Positions, places: Tensor) -> dict[str, float]:
    """Nats and top-1, for the log."""
    nats, top = _outcomes(net, positions, places, None)
    return {"held_out_nats": float(nats.mean()), "held_out_top1": float(top.float().mean())}


def figures(net: HumanNet, positions: Positions, places: Tensor, per_band: int = 20_000) -> dict[str, Any]:
    """All held-out figures of the card."""
    bins = torch.zeros(3, N_BINS, dtype=torch.float64, device=places.device)
    nats, top = _outcomes(net, positions, places, bins)
    elo, ply = positions.elo[places.long()], positions.ply[places.long()].int()
    bands = {str(b): (elo >= b - 50) & (elo < b + 50) for b in BANDS}
    spans = {f"{a}-{b - 1}": (ply >= a) & (ply < b) for a, b in pairwise(PLIES)}
    return {
        "moves": len(places),
        **_summary(nats, top),
        "by_rating": {name: _summary(nats[m], top[m]) for name, m in bands.items() if m.any()},
        "by_ply": {name: _summary(nats[m], top[m]) for name, m in spans.items() if m.any()},
        "calibration": _calibration(bins),
        "best_elo": {n: _best_elo(net, positions, places[m][:per_band]) for n, m in bands.items() if m.any()},
    }


def _summary(nats: Tensor, top: Tensor) -> dict[str, float]:
    return {"n": len(nats), "nats": round(float(nats.mean()), 5), "top1": round(float(top.double().mean()), 5)}


@torch.no_grad()
def _outcomes(net: HumanNet, positions: Positions, places: Tensor, bins: Tensor | None) -> tuple[Tensor, Tensor]:
    net.eval()
    nats, top = [], []
    for chunk in places.split(SIZE):
        batch = gather(positions, chunk.long())
        policy = log_policy(net, net.features(batch.x), batch.elo, batch.legal)
        nats.append(policy.gather(1, batch.move[:, None])[:, 0].double())
        top.append(policy.argmax(1) == batch.move)
        if bins is not None:
            p = policy.exp()
            at = (p * N_BINS).long().clamp(max=N_BINS - 1)[batch.legal]
            chosen = torch.zeros_like(batch.legal).scatter_(1, batch.move[:, None], True)[batch.legal]
            for row, value in enumerate((torch.ones_like(p[batch.legal]), p[batch.legal], chosen)):
                bins[row] += torch.bincount(at, value.double(), N_BINS)
    return torch.cat(nats), torch.cat(top)


def _calibration(bins: Tensor) -> list[dict[str, float]]:
    count, expected, chosen = bins.tolist()
    rows = zip(count, expected, chosen, strict=True)
    return [{"n": int(n), "p": round(p / n, 5), "share": round(s / n, 5)} for n, p, s in rows if n]


@torch.no_grad()
def _best_elo(net: HumanNet, positions: Positions, places: Tensor) -> dict[str, float]:
    """The Elo of the grid at which the moves of a band are likeliest."""
    total = torch.zeros(len(GRID), dtype=torch.float64, device=places.device)
    for chunk in places.split(SIZE):
        batch = gather(positions, chunk.long())
        features = net.features(batch.x)
        for i, elo in enumerate(GRID):
            policy = log_policy(net, features, torch.full_like(batch.elo, elo), batch.legal)
            total[i] += policy.gather(1, batch.move[:, None]).double().sum()
    mean_elo = float(positions.elo[places.long()].double().mean())
    return {"n": len(places), "mean_elo": round(mean_elo, 1), "best": GRID[int(total.argmax())]}
