"""Online games → the human model of the pools of servers: the network that ships for play over the board, fine-tuned.

Needs PyTorch and onnx (not dependencies of the package); it runs on processors without a graphics card.

    python tools/fine_tune_online.py --data ONLINE --maia MAIA --out FOLDER --minutes 60 --onnx
    python tools/fine_tune_online.py --data ONLINE --out FOLDER --weights FOLDER/online.pt --curves

ONLINE holds games.npz and moves.u16.bz2. Games of people whose number leaves 5 or 7 when divided by 12 are not trained
on: the first are for reports and for the comparison with Maia, the others for the scales (tools/fit_pools.py). Several
processes share a run where RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT are set; gradients are averaged every step.
"""

from __future__ import annotations

import argparse
import bz2
import math
import os
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, distributed
from torch.nn import functional as F

from human_training.legal import legal_moves, move_number
from human_training.muon import Muon
from human_training.net import planes
from human_training.online import N_MAPS, POOLS, OnlineNet, basis, export_online, from_shipped
from human_training.replay import Games, Positions, replay

SHIPPED = Path(__file__).parent.parent / "src" / "skilloscope" / "data" / "human.onnx"
SHARES = (0.0, 0.13, 0.25, 0.32, 0.04, 0.08, 0.09, 0.09)  # of what is drawn, by pool
OPENING, OPENING_WEIGHT = 10, 0.4  # plies, and how often they are drawn
RATING_BAND, MOST_OFTEN = 50, 6.0  # rare ratings are drawn more often: ∝ √(1 / frequency), up to a limit
FORGET_LAST = 0.04  # how often the last move is hidden: a position given as FEN has none
REPORTED, FITTED = 5, 7  # what the numbers of people leave when divided by 12
PER_POOL = 4000  # positions to which a pool's first matrix is fitted
CLOSE = 2e-4  # how much a matrix is held to the best line
ILLEGAL = -1e9
GRID = torch.arange(700.0, 3001.0, 50.0)  # the Elos of curves: POOL_ELO of skilloscope.studies.calibrate
MOST_LEGAL = 96
MANY, FEW = ((15, 30, 80), (25, 40, 60)), ((3, 6, 50), (3, 6, 50))  # people with 20, 5 and 1 games: to fit, to report
PLAN = (FEW, ((4, 15, 40), (8, 15, 30)), MANY, MANY, FEW, FEW, FEW, FEW)  # by pool
MOST_GAMES = (10, 20)  # of a person
OPENING_PLIES = 24  # of the source `opening`


@dataclass(frozen=True)
class Table:
    """Columns of online games, and the moves of all."""

    columns: dict[str, np.ndarray]
    moves: np.ndarray
    starts: np.ndarray
    pool: np.ndarray  # 0 where there is none

    @classmethod
    def read(cls, folder: Path) -> Table:
        """Read the folder."""
        columns = dict(np.load(folder / "games.npz"))
        moves = np.frombuffer(bz2.decompress((folder / "moves.u16.bz2").read_bytes()), dtype="<u2")
        plies = columns["plies"].astype(np.int64)
        pool = np.where(columns["platform"] == 0, 1 + columns["speed"], 5 + columns["speed"]).astype(np.uint8)
        return cls(columns, moves, np.cumsum(plies) - plies, np.where(pool < len(POOLS), pool, 0))

    @property
    def plies(self) -> np.ndarray:
        """Of each game."""
        return self.columns["plies"].astype(np.int64)

    def sides(self, name: str) -> np.ndarray:
        """A column of both players, [games, 2]; `name` is `` for the players themselves."""
        return np.stack([self.columns[f"white{name}"], self.columns[f"black{name}"]], 1).astype(np.int64)


@dataclass(frozen=True)
class Sample:
    """Positions, with the mover's rating and pool."""

    positions: Positions
    elo: Tensor
    pool: Tensor

    def __len__(self) -> int:
        return len(self.elo)

    def batch(self, at: Tensor, forget: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """Planes, legal moves, the number of the move played, ratings and pools."""
        own = self.positions
        last = own.last[at] if forget is None else torch.where(forget, -1, own.last[at])
        seen = planes(own.board[at], own.rights[at], own.passant[at], last, own.ply[at])
        pool = self.pool[at].long()
        told = F.one_hot(pool, len(POOLS)).float()[:, :, None, None].expand(-1, -1, 8, 8)
        x = torch.cat([seen, told], 1).contiguous(memory_format=torch.channels_last)
        move = move_number(own.move[at])
        legal = legal_moves(own.board[at], own.rights[at], own.passant[at])
        return x, legal | F.one_hot(move, legal.shape[1]).bool(), move, self.elo[at], pool


def sample_of(table: Table, places: np.ndarray) -> Sample:
    """Replay the games of some plies (by their place among all moves) and keep those positions, in their order."""
    wanted, order = np.unique(places, return_inverse=True)
    game = np.searchsorted(table.starts, wanted, side="right") - 1
    kept: list[Positions] = []
    for part in np.array_split(np.unique(game), max(1, len(np.unique(game)) // 12_000)):
        span = np.concatenate([np.arange(table.starts[g], table.starts[g] + table.plies[g]) for g in part])
        nobody = np.zeros((len(part), 2), np.int32)
        found = replay(Games(table.plies[part], nobody.astype(np.int16), nobody, table.moves[span], ""), CPU)
        own = torch.as_tensor(np.flatnonzero(np.isin(span, wanted, assume_unique=True)))
        kept.append(Positions(*(value[own] for value in vars(found).values())))
    back = torch.as_tensor(order.reshape(-1))
    together = Positions(*(torch.cat([getattr(part, name) for part in kept])[back] for name in vars(kept[0])))
    elo = table.sides("_elo")[game, (wanted - table.starts[game]) % 2]
    return Sample(together, torch.as_tensor(elo)[back], torch.as_tensor(table.pool[game])[back])


def draw(table: Table, many: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Places of positions to train on, without replacement; and some of each pool for its first matrix."""
    rng = np.random.default_rng(seed)
    game = np.repeat(np.arange(len(table.plies)), table.plies)
    ply = np.arange(len(table.moves)) - table.starts[game]
    allowed = ~np.isin(table.sides("") % 12, (REPORTED, FITTED)).any(1)
    elo, weight = table.sides("_elo")[game, ply % 2], np.zeros(len(game))
    for pool in range(1, len(POOLS)):
        own = (table.pool[game] == pool) & allowed[game]
        band = elo[own] // RATING_BAND
        count = np.bincount(band, minlength=100).astype(float)
        often = 1 / np.sqrt(np.maximum(count, 1))
        often = np.minimum(often, MOST_OFTEN * (often * count).sum() / count.sum())
        drawn = often[band] * np.where(ply[own] < OPENING, OPENING_WEIGHT, 1.0)
        weight[own] = SHARES[pool] * drawn / drawn.sum()
    use = np.flatnonzero(weight)
    order = np.argpartition(rng.exponential(size=len(use)) / weight[use], many)[:many]
    first = []
    for pool in range(1, len(POOLS)):
        own = use[table.pool[game[use]] == pool]
        first.append(rng.choice(own, PER_POOL, replace=False, p=weight[own] / weight[own].sum()))
    return rng.permutation(use[order]), np.concatenate(first)


@torch.no_grad()
def legal_maps(net: OnlineNet, sample: Sample, at: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The four maps at up to MOST_LEGAL moves, which are legal, the place of the move played; whether it has one."""
    x, legal, move, _, _ = sample.batch(at)
    features = net.features(x)
    maps = torch.stack([net.logits(features, torch.eye(N_MAPS)[j].expand(len(at), -1)) for j in range(N_MAPS)], -1)
    order = torch.topk(legal.float(), MOST_LEGAL, 1).indices
    listed, own = legal.gather(1, order), order == move[:, None]
    return maps.gather(1, order[:, :, None].expand(-1, -1, N_MAPS)), listed, own.int().argmax(1), own.any(1)


def fit_matrices(net: OnlineNet, sample: Sample) -> None:
    """Each pool's matrix: the best line to the ratings over the board, then free, held to it lightly."""
    parts = [legal_maps(net, sample, at) for at in torch.arange(len(sample)).split(256)]
    maps, listed, place, known = (torch.cat(column) for column in zip(*parts, strict=True))
    for pool in range(1, len(POOLS)):
        own = (sample.pool == pool) & known
        found = fit_matrix(maps[own], ~listed[own], place[own], sample.elo[own].float())
        with torch.no_grad():
            net.mix[pool] = found


def fit_matrix(maps: Tensor, closed: Tensor, played: Tensor, elo: Tensor) -> Tensor:
    """The matrix [basis, map] under which the moves played are likeliest."""
    own = basis(elo)

    def nats(weight: Tensor) -> Tensor:
        return F.cross_entropy((maps * weight[:, None, :]).sum(2).masked_fill(closed, ILLEGAL), played)

    lines = [(at, slope) for at in range(900, 1701, 100) for slope in (0.4, 0.55, 0.7, 0.85, 1.0)]
    images = [basis((at + slope * (elo - 1600)).clamp(700, 3000)) for at, slope in lines]
    best = min(images, key=lambda image: float(nats(image)))
    start = torch.linalg.lstsq(own, best).solution
    matrix = start.clone().requires_grad_()
    optimiser = torch.optim.LBFGS([matrix], lr=0.5, max_iter=60, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        optimiser.zero_grad()
        loss = nats(own @ matrix) + CLOSE * ((matrix - start) ** 2).sum()
        loss.backward()
        return loss

    optimiser.step(closure)
    return matrix.detach()


def train(net: OnlineNet, sample: Sample, minutes: float, rate: float, size: int, out: Path) -> None:
    """Muon for the convolutions, AdamW for all else; the rate falls as a cosine to zero when the minutes are over."""
    rank, world = (distributed.get_rank(), distributed.get_world_size()) if distributed.is_initialized() else (0, 1)
    matrices = [p for name, p in net.named_parameters() if name.startswith("trunk") and p.ndim == 4]
    apart = {id(p) for p in (*matrices, net.mix, net.attend.pair)}
    rest = [p for p in net.parameters() if id(p) not in apart]
    groups = [{"params": rest, "times": 1.0}, {"params": [net.mix], "times": 4.0}]
    optimisers = [torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.98), weight_decay=0.0), Muon(matrices, rate, 0.0)]
    begun, saved, step, losses = time.monotonic(), time.monotonic(), 0, list[float]()
    while (step + 1) * size * world <= len(sample):
        share = torch.tensor([(time.monotonic() - begun) / (60 * minutes)])
        if world > 1:
            distributed.broadcast(share, 0)
        if share >= 1:
            break
        at = torch.arange(size) + (step * world + rank) * size
        x, legal, move, elo, pool = sample.batch(at, torch.rand(size) < FORGET_LAST)
        with torch.autocast("cpu", torch.bfloat16):
            features = net.features(x)
        policy = torch.log_softmax(net.logits(features, net.weights(elo, pool)).masked_fill(~legal, ILLEGAL), 1)
        loss = -policy.gather(1, move[:, None]).mean()
        loss.backward()
        moved = [p for p in net.parameters() if p.grad is not None]
        if world > 1:
            for p in moved:
                distributed.all_reduce(p.grad)
                p.grad /= world
        torch.nn.utils.clip_grad_norm_(moved, 1.0)
        now = rate * min(1.0, (step + 1) / 60) * 0.5 * (1 + math.cos(math.pi * float(share)))
        for optimiser in optimisers:
            for group in optimiser.param_groups:
                group["lr"] = now * group.get("times", 1.0)
            optimiser.step()
            optimiser.zero_grad()
        step, losses = step + 1, [*losses, float(loss.detach())]
        if step % 20 == 0 and rank == 0:
            print(f"{step} steps, {step * size * world:,} positions: {np.mean(losses[-20:]):.4f}", flush=True)
        if time.monotonic() - saved > 480 and rank == 0:
            saved = time.monotonic()
            torch.save(net.state_dict(), out / "online.part.pt")


@torch.no_grad()
def beside_maia(net: OnlineNet, table: Table, folder: Path) -> None:
    """The moves of data/maia: nats and top-1 of Maia and of this network, all and by Maia's rating."""
    held = np.load(folder / "maia.npz")
    sample = sample_of(table, table.starts[held["game"]] + held["ply"])
    nats, top = [], []
    for at in torch.arange(len(sample)).split(512):
        x, legal, move, elo, pool = sample.batch(at)
        policy = net.logits(net.features(x), net.weights(elo, pool)).masked_fill(~legal, ILLEGAL)
        nats.append(torch.log_softmax(policy, 1).gather(1, move[:, None])[:, 0])
        top.append(policy.argmax(1) == move)
    ours, first = torch.cat(nats).double().numpy(), torch.cat(top).numpy()
    for name in ("all", *np.unique(held["net"])):
        own = np.ones(len(ours), bool) if name == "all" else held["net"] == name
        apart = ours[own] - held["logp"][own]
        error = apart.std() / own.sum() ** 0.5
        theirs = f"{held['logp'][own].mean():.4f} {held['top1'][own].mean():.4f}"
        print(f"{name}: ours {ours[own].mean():.4f} {first[own].mean():.4f}, Maia {theirs}")
        print(f"    difference {apart.mean():.4f} ± {error:.4f}")


def people_of(table: Table, seed: int = 7) -> np.ndarray:
    """Games of people for the scales (part 0) and the report (1): part, pool, person, game, side, number."""
    rng, rows = np.random.default_rng(seed), list[tuple[int, ...]]()
    for part, left in enumerate((FITTED, REPORTED)):
        for pool in range(1, len(POOLS)):
            own = np.flatnonzero((table.pool == pool) & (table.plies >= 30))
            person, side = np.concatenate(list(table.sides("")[own].T)), np.repeat([0, 1], len(own))
            game, use = np.concatenate([own, own]), person % 12 == left
            mixed = rng.permutation(int(use.sum()))
            person, game, side = person[use][mixed], game[use][mixed], side[use][mixed]
            order = np.argsort(person, kind="stable")
            person, game, side = person[order], game[order], side[order]
            who, first, count = np.unique(person, return_index=True, return_counts=True)
            free = np.ones(len(who), bool)
            for games, many in zip((20, 5, 1), PLAN[pool][part], strict=True):
                taken = rng.permutation(np.flatnonzero(free & (count >= games)))[:many]
                free[taken] = False
                for at in taken:
                    few = range(min(games, count[at], MOST_GAMES[part]))
                    rows += [(part, pool, who[at], game[first[at] + j], side[first[at] + j], j) for j in few]
    return np.array(rows)


@torch.no_grad()
def curves_of(net: OnlineNet, table: Table, out: Path) -> None:
    """Write what the moves of people's games say along GRID: opening and later moves apart, free choices only."""
    want = people_of(table)
    length = [len(range(side, table.plies[game], 2)) for _, _, _, game, side, _ in want]
    row = np.repeat(np.arange(len(want)), length)
    sides = [np.arange(side, table.plies[game], 2) + table.starts[game] for _, _, _, game, side, _ in want]
    sample = sample_of(table, np.concatenate(sides))
    curves, count = np.zeros((len(want), 2, len(GRID))), np.zeros((len(want), 2), np.int64)
    for at in torch.arange(len(sample)).split(512):
        maps, listed, place, known = legal_maps(net, sample, at)
        weight = torch.einsum("gj,bjk->bgk", basis(GRID), net.mix[sample.pool[at].long()])
        logits = torch.einsum("bmk,bgk->bgm", maps, weight).masked_fill(~listed[:, None], ILLEGAL)
        policy = torch.log_softmax(logits, 2).gather(2, place[:, None, None].expand(-1, len(GRID), 1))[:, :, 0]
        free = (known & (listed.sum(1) > 1)).numpy()
        source = (sample.positions.ply[at].numpy() >= OPENING_PLIES).astype(np.int64)[free]
        np.add.at(curves, (row[at.numpy()][free], source), policy.numpy()[free])
        np.add.at(count, (row[at.numpy()][free], source), 1)
    rating = table.sides("_elo")[want[:, 3], want[:, 4]]
    np.savez(out, curves=curves, count=count, want=want, rating=rating)


CPU = torch.device("cpu")


def main() -> None:
    """Draw, fit, train, compare, write; or the curves of people."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--data", type=Path, required=True)
    add("--out", type=Path, required=True)
    add("--maia", type=Path)
    add("--minutes", type=float, default=0.0)
    add("--positions", type=int, default=900_000, help="to draw; a run may end before it has seen all")
    add("--rate", type=float, default=7e-4)
    add("--batch", type=int, default=64, help="of each process")
    add("--weights", type=Path, help="go on from these; without: the network that ships for play over the board")
    add("--curves", action="store_true", help="write the curves of people by these weights")
    add("--onnx", action="store_true")
    options = parser.parse_args()
    torch.manual_seed(1 + int(os.environ.get("RANK", 0)))
    if "RANK" in os.environ:
        distributed.init_process_group("gloo")
    table, net = Table.read(options.data), from_shipped(SHIPPED).to(memory_format=torch.channels_last)
    if options.weights:
        net.load_state_dict(torch.load(options.weights))
    if options.minutes:
        places, first = draw(table, options.positions)
        if not options.weights:
            fit_matrices(net, sample_of(table, first))
        train(net, sample_of(table, places), options.minutes, options.rate, options.batch, options.out)
        torch.save(net.state_dict(), options.out / "online.pt")
    if options.maia:
        beside_maia(net, table, options.maia)
    if options.curves:
        curves_of(net, table, options.out / ("online.npz" if options.weights else "fide.npz"))
    if options.onnx:
        export_online(net, options.out / "human-online.onnx")


if __name__ == "__main__":
    main()
