"""Online games → the human model of the pools of servers: the network that shipped before, trained on.

Needs PyTorch, and onnx for the file that ships (no dependencies of the package); made for a graphics card.

    python tools/train_online.py --data ONLINE --fide HUMAN --weights FILE --out FOLDER --seconds 480 [--compile]
    python tools/train_online.py --data ONLINE --out FOLDER --resume FOLDER/online.pt --onnx

ONLINE holds games.npz and moves.u16.bz2, HUMAN the same of games over the board; FILE is an earlier human-online.onnx,
or its weights as .npz. Games of people whose number leaves 5 or 7 when divided by 12 are not trained on: the first are
for reports and for the comparison with Maia, the others for the scales (tools/fit_pools.py).
"""

from __future__ import annotations

import argparse
import bz2
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from human_training.legal import legal_moves, move_number
from human_training.muon import Muon
from human_training.online import (
    PAST,
    POOLS,
    YOUNG,
    OnlineNet,
    export_online,
    from_weights,
    normalise,
    planes,
    weights_of,
)
from human_training.replay import Games, Positions, replay, seen_by_mover

STARTED = time.monotonic()
SHARES = (0.14, 0.09, 0.15, 0.22, 0.03, 0.06, 0.05, 0.03, 0.05, 0.10, 0.07, 0.01)  # of what is drawn, by pool
OPENING, OPENING_WEIGHT = 10, 0.4  # plies, and how often they are drawn
RATING_BAND, MOST_OFTEN = 50, 5.0  # rare ratings are drawn more often: ∝ √(1 / frequency), up to a limit
FORGET_ALL, FORGET_MOST = 0.04, 0.03  # how often the past is hidden, or all of it but the last move: a FEN has none
REPORTED, FITTED = 5, 7  # what the numbers of people leave when divided by 12
ILLEGAL = -1e9
FIRST_YOUNG = POOLS.index("lichess-bullet-2013")
WARM_UP = 300  # steps
UNDATED = 0.1  # how often a game of a young pool is shown as one of the pool of today: a file may not say when it was


@dataclass(frozen=True)
class Rows:
    """Positions of several collections of games one after the other, with the ratings and pools of the movers."""

    board: Tensor
    rights: Tensor
    passant: Tensor
    ply: Tensor
    raw: Tensor  # int16: from + 64·to of the move played, as White sees it
    move: Tensor
    elo: Tensor
    pool: Tensor
    train: Tensor  # bool
    reported: Tensor  # bool: the mover is one of those for reports

    def __len__(self) -> int:
        return len(self.board)


def read_rows(folder: Path, device: torch.device, *, online: bool, limit: int | None = None) -> Rows:
    """Replay all games of a folder."""
    table = dict(np.load(folder / "games.npz"))
    moves = np.frombuffer(bz2.decompress((folder / "moves.u16.bz2").read_bytes()), dtype="<u2")
    plies = table["plies"].astype(np.int64)
    player = np.stack([table["white"], table["black"]], 1).astype(np.int64)
    elo = np.stack([table["white_elo"], table["black_elo"]], 1).astype(np.int16)
    pool = np.zeros(len(plies), np.int64)
    if online:
        pool = np.where(table["platform"] == 0, 1 + table["speed"], 5 + np.minimum(table["speed"], 2)).astype(np.int64)
        young = (table["platform"] == 0) & (table["year"] <= YOUNG) & (table["year"] > 0)
        pool = np.where(young, 8 + table["speed"], pool)
    if limit:
        plies = plies[:limit]
        moves, player, elo, pool = moves[: plies.sum()], player[:limit], elo[:limit], pool[:limit]
    found: Positions = replay(Games(plies, elo, player.astype(np.int32), moves, ""), device)
    left = player % 12
    clean = ~np.isin(left, (REPORTED, FITTED)).any(1) if online else np.ones(len(plies), bool)
    game, side = found.game.long(), found.ply.long() % 2
    index = torch.as_tensor(np.arange(len(moves)) - np.repeat(np.cumsum(plies) - plies, plies), device=device)
    assert bool((index.clamp(max=255) == found.ply.long()).all())
    return Rows(
        found.board, found.rights, found.passant, found.ply,
        torch.as_tensor((moves & 4095).astype(np.int16), device=device), found.move, found.elo,
        torch.as_tensor(pool, device=device)[game], torch.as_tensor(clean, device=device)[game],
        torch.as_tensor(left == REPORTED, device=device)[game, side] & bool(online),
    )  # fmt: skip


def joined(parts: list[Rows]) -> Rows:
    """Several collections as one."""
    return Rows(*(torch.cat([getattr(part, name) for part in parts]) for name in vars(parts[0])))


class Draws:
    """Positions at random: a share for each pool, rare ratings more often, openings less."""

    def __init__(self, rows: Rows, seed: int) -> None:
        places = torch.nonzero(rows.train)[:, 0]
        band = (rows.elo[places].long() // RATING_BAND).clamp(0, 127)
        pool, opening = rows.pool[places], (rows.ply[places] < OPENING).long()
        cell = (pool * 128 + band) * 2 + opening
        self.places = places[torch.argsort(cell)].int()
        self.count = torch.bincount(cell, minlength=len(POOLS) * 256)
        self.first = torch.cumsum(self.count, 0) - self.count
        grid = self.count.view(len(POOLS), 128, 2).double()
        often = (1.0 / grid.sum(2).clamp(min=1)).sqrt()
        mean = (often * grid.sum(2)).sum(1) / grid.sum((1, 2)).clamp(min=1)
        weight = grid * often.clamp(max=MOST_OFTEN * mean[:, None])[:, :, None]
        weight[:, :, 1] *= OPENING_WEIGHT
        share = torch.tensor(SHARES, dtype=torch.float64, device=weight.device)
        weight *= (share / weight.sum((1, 2)).clamp(min=1e-9))[:, None, None]
        self.share = torch.cumsum(weight.flatten() / weight.sum(), 0)
        self.random = torch.Generator(device=places.device).manual_seed(seed)

    def batch(self, size: int) -> Tensor:
        """Places of positions."""
        u = torch.rand(2, size, device=self.places.device, generator=self.random, dtype=torch.float64)
        cell = torch.searchsorted(self.share, u[0]).clamp(max=len(self.share) - 1)
        inside = (u[1] * self.count[cell]).long().clamp(max=self.count[cell] - 1)
        return self.places[self.first[cell] + inside].long()


def past_of(rows: Rows, places: Tensor, forget: Tensor | None) -> Tensor:
    """The last PAST moves before each position, mover's view, the latest first; −1 where there is none: int16."""
    back = torch.arange(1, PAST + 1, device=places.device)
    ply = rows.ply[places].long()
    raw = rows.raw[(places[:, None] - back).clamp(min=0)].int()
    known = back <= ply[:, None]
    if forget is not None:
        known &= (forget >= FORGET_ALL)[:, None] & ((forget >= FORGET_ALL + FORGET_MOST)[:, None] | (back == 1))
    return torch.where(known, seen_by_mover(raw, (ply % 2)[:, None].int()), -1).short()


def seen_at(rows: Rows, places: Tensor, forget: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Planes with the pool, legal moves, the number of the move played, ratings and pools."""
    board, rights, passant = rows.board[places], rows.rights[places], rows.passant[places]
    pool = rows.pool[places]
    if forget is not None:
        undated = (pool >= FIRST_YOUNG) & (torch.frac(forget * 1000) < UNDATED)
        pool = torch.where(undated, pool - FIRST_YOUNG + 1, pool)
    own = F.one_hot(pool, len(POOLS)).float()[:, :, None, None].expand(-1, -1, 8, 8)
    x = torch.cat([planes(board, rights, passant, past_of(rows, places, forget), rows.ply[places]), own], 1)
    move = move_number(rows.move[places])
    legal = legal_moves(board, rights, passant) | F.one_hot(move, 4288).bool()
    return x.contiguous(memory_format=torch.channels_last), legal, move, rows.elo[places], pool


def loss_of(net: OnlineNet, x: Tensor, legal: Tensor, move: Tensor, elo: Tensor, pool: Tensor) -> Tensor:
    """Cross-entropy of the moves played among the legal ones."""
    with torch.autocast(x.device.type, torch.bfloat16, enabled=x.device.type == "cuda"):
        features = net.features(x)
    logits = torch.where(legal, net.logits(features, elo, pool), ILLEGAL)
    return F.cross_entropy(logits, move)


@torch.no_grad()
def log_probability(net: OnlineNet, rows: Rows, places: Tensor) -> tuple[Tensor, Tensor]:
    """Of the moves played, and whether each is the likeliest."""
    net.eval()
    found, first = [], []
    for part in places.split(4096):
        x, legal, move, elo, pool = seen_at(rows, part)
        policy = torch.log_softmax(net.logits(net.features(x), elo, pool).masked_fill(~legal, ILLEGAL), 1)
        found.append(policy.gather(1, move[:, None])[:, 0])
        first.append(policy.argmax(1) == move)
    return torch.cat(found), torch.cat(first)


class Check:
    """How well people not trained on are predicted: pool by pool after OPENING plies, and the set beside Maia."""

    def __init__(self, rows: Rows, maia: Path | None, starts: np.ndarray, many: int) -> None:
        random = torch.Generator(device="cpu").manual_seed(0)
        self.rows, self.places = rows, dict[str, Tensor]()
        for number, name in enumerate(POOLS):
            own = torch.nonzero(rows.reported & (rows.pool == number) & (rows.ply >= OPENING))[:, 0]
            if len(own):
                self.places[name] = own[torch.randperm(len(own), generator=random)[:many].to(own.device)]
        self.held = dict(np.load(maia)) if maia else {}
        if maia:
            at = starts[self.held["game"]] + self.held["ply"]
            self.places["maia"] = torch.as_tensor(at, device=rows.board.device)

    def __call__(self, net: OnlineNet) -> dict[str, object]:
        """Nats and share of first choices."""
        found: dict[str, object] = {}
        for name, places in self.places.items():
            logs, first = log_probability(net, self.rows, places)
            found[name] = [round(float(logs.mean()), 4), round(float(first.float().mean()), 4)]
            if name == "maia":
                ours = logs.double().cpu().numpy()
                nets = self.held["net"]
                apart = {int(n): round(float((ours - self.held["logp"])[nets == n].mean()), 3) for n in np.unique(nets)}
                found["less than maia"] = apart
        return found


def main() -> None:
    """Read, replay, train, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--data", type=Path, required=True)
    add("--fide", type=Path)
    add("--maia", type=Path, help="maia.npz")
    add("--weights", type=Path)
    add("--resume", type=Path, help="weights that this tool wrote")
    add("--out", type=Path, required=True)
    add("--seconds", type=float, default=0.0, help="from the start of the program to the end of the training")
    add("--steps", type=int, default=1 << 30)
    add("--games", type=int, help="only so many games of each folder")
    add("--batch", type=int, default=4096)
    add("--rate", type=float, default=1.5e-3)
    add("--check", type=int, default=4096, help="positions of a pool in a check")
    add("--every", type=float, default=75.0, help="seconds between checks")
    add("--compile", action="store_true")
    add("--onnx", action="store_true")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = True
    torch.manual_seed(1)
    if options.seconds or options.maia:
        rows = read_rows(options.data, device, online=True, limit=options.games)
        table = {name: column[: options.games] for name, column in np.load(options.data / "games.npz").items()}
        plies = table["plies"].astype(np.int64)
        check = Check(rows, options.maia, np.cumsum(plies) - plies, options.check)
        if options.fide:
            rows = joined([rows, read_rows(options.fide, device, online=False, limit=options.games)])
        print(f"{clock()} {len(rows):,} positions, {int(rows.train.sum()):,} to train on", flush=True)
    net = OnlineNet().to(device, memory_format=torch.channels_last)
    if options.resume:
        net.load_state_dict(torch.load(options.resume, map_location=device))
    elif options.weights:
        known = options.weights
        held = dict(np.load(known)) if known.suffix == ".npz" else weights_of(known)
        net = from_weights(held, len(held["mix"])).to(device, memory_format=torch.channels_last)
        normalise(net, seen_at(rows, Draws(rows, 2).batch(2048))[0])
    if options.maia:
        print(clock(), json.dumps(check(net)), flush=True)
    if options.seconds:
        train(net, rows, check, options)
    if options.onnx:
        export_online(net, options.out / "human-online.onnx")


def train(net: OnlineNet, rows: Rows, check: Check, options: argparse.Namespace) -> None:
    """Muon for the convolutions of the trunk, AdamW for all else; the rate falls in a line to zero at the end."""
    matrices = [p for name, p in net.named_parameters() if name.startswith("trunk") and p.ndim == 4]
    apart = {id(p) for p in matrices}
    rest = [p for p in net.parameters() if id(p) not in apart]
    groups = [
        {"params": [p for p in rest if p.ndim >= 2], "weight_decay": 0.01},
        {"params": [p for p in rest if p.ndim < 2], "weight_decay": 0.0},
    ]
    fused = rows.board.device.type == "cuda"
    optimisers = [torch.optim.AdamW(groups, lr=0.0, betas=(0.9, 0.98), fused=fused), Muon(matrices, 0.0, 0.01)]
    draws, random = Draws(rows, 1), torch.Generator(device=rows.board.device).manual_seed(1)
    loss: Callable[..., Tensor] = torch.compile(loss_of, dynamic=False) if options.compile else loss_of

    def advance(rate: float) -> Tensor:
        with torch.no_grad():
            places = draws.batch(options.batch)
            forget = torch.rand(options.batch, device=places.device, generator=random)
            batch = seen_at(rows, places, forget)
        net.train()
        value = loss(net, *batch)
        value.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        for optimiser in optimisers:
            for group in optimiser.param_groups:
                group["lr"] = rate
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
        return value.detach()

    try:
        advance(0.0)
    except Exception as error:
        if not options.compile:
            raise
        print(f"{clock()} not compiled, because: {str(error)[:2000]}", flush=True)
        loss = loss_of
        advance(0.0)
    begun = checked = time.monotonic()
    print(f"{clock()} the first step is done", flush=True)
    step, total, losses = 0, options.seconds - (begun - STARTED), torch.zeros((), device=rows.board.device)
    while step < options.steps:
        now = time.monotonic()
        share = (now - begun) / total
        if share >= 1:
            break
        losses += advance(options.rate * min(1.0, (step + 1) / WARM_UP) * (1 - share))
        step += 1
        if step % 200 == 0:
            print(f"{clock()} step {step}: {float(losses) / 200:.4f}", flush=True)
            losses.zero_()
            if now - checked > options.every:
                torch.save(net.state_dict(), options.out / "online.pt")
                print(clock(), json.dumps(check(net)), flush=True)
                checked = time.monotonic()
    torch.save(net.state_dict(), options.out / "online.pt")
    print(f"{clock()} {step} steps, {step * options.batch:,} positions", flush=True)
    check.places = {name: at if name == "maia" else at[:20000] for name, at in check.places.items()}
    found = check(net)
    print(clock(), json.dumps(found), flush=True)
    (options.out / "online.json").write_text(json.dumps({"steps": step, "seconds": round(total), "held_out": found}))


def clock() -> str:
    """Seconds since the start."""
    return f"[{time.monotonic() - STARTED:6.1f} s]"


if __name__ == "__main__":
    main()
