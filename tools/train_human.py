"""Games → the weights of the human model and their card.

Needs PyTorch (not a dependency of the package), and onnx for the export. A run can be taken up again where it stopped.

    python tools/train_human.py --data FOLDER --out FOLDER --model large --seconds 450
    python tools/train_human.py --data FOLDER --out FOLDER --model small --teacher FOLDER/large.pt --seconds 1000

Written into --out: MODEL.log (losses, JSON lines), MODEL.state.pt (to go on with), MODEL.pt (weights, half precision),
MODEL.json (the card), MODEL.onnx (with --onnx). FOLDER holds games.npz and moves.u16.bz2 as the card's `data` says.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

try:
    import torch

    from human_training.draw import HELD_OUT, Draws, Split, split, with_legal_move
    from human_training.figures import figures, quick_figures
    from human_training.net import SHAPES, HumanNet, Shape
    from human_training.replay import Games, Positions, read_games, replay
    from human_training.train import SHARES, Plan, Training, halved, load_net, save_half
except ModuleNotFoundError as missing:
    if missing.name != "torch":
        raise
    sys.exit("train_human: PyTorch is missing; install it (pip install torch) in an environment of its own")

STARTED = time.monotonic()


def main(arguments: list[str] | None = None) -> None:
    """Read, replay, train, measure, write."""
    options = _options(arguments)
    device = torch.device(options.device or ("cuda" if torch.cuda.is_available() else "cpu"))
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = True
    options.out.mkdir(parents=True, exist_ok=True)
    name = options.out / options.name
    games = read_games(options.data, options.games)
    positions = replay(games, device)
    parts = split(games, positions)
    print(f"{_clock()} {len(positions):,} positions, {len(parts.train):,} to train on", flush=True)
    order = torch.randperm(len(parts.held_out), generator=torch.Generator().manual_seed(0))
    held_out = with_legal_move(positions, parts.held_out[order.to(device)][: max(options.evaluate, 32768)])
    if options.seconds or options.steps:
        net = _train(options, device, positions, parts, held_out)
    else:
        net = load_net(name.with_suffix(".pt"), device)
    save_half(net, name.with_suffix(".pt"))
    if options.evaluate:
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        found = figures(halved(net), positions, held_out[: options.evaluate], options.per_band)
        card = _card(options, games, parts, net, found)
        name.with_suffix(".json").write_text(json.dumps(card, indent=1) + "\n")
        print(_clock(), json.dumps(found), flush=True)
    if options.onnx:
        from human_training.export import export

        export(halved(net), name.with_suffix(".onnx"))
    print(_clock(), "done", flush=True)


def _train(
    options: argparse.Namespace, device: torch.device, positions: Positions, parts: Split, held_out: torch.Tensor
) -> HumanNet:
    shape = Shape(*options.shape) if options.shape else SHAPES[options.model]
    plan = Plan(options.seconds, STARTED + options.stop, options.steps, options.batch, options.rate, seed=options.seed,
                compiled=options.compile, fitted=options.fit)  # fmt: skip
    teacher = load_net(options.teacher, device) if options.teacher else None
    training = Training(shape, device, plan, teacher)
    state = (options.out / options.name).with_suffix(".state.pt")
    if options.resume and state.exists():
        training.load(state)
        print(f"{_clock()} going on at step {training.step}", flush=True)
    draws = Draws(positions, parts.train, options.seed)
    log = (options.out / options.name).with_suffix(".log")
    training.run(positions, draws, log, lambda net: quick_figures(net, positions, held_out[:32768]))
    training.save(state)
    found = quick_figures(training.net, positions, held_out[:32768])
    print(f"{_clock()} {options.name}: {training.step} steps in {training.spent:.0f} s, {found}", flush=True)
    return training.net


def _card(
    options: argparse.Namespace, games: Games, parts: Split, net: HumanNet, found: dict[str, Any]
) -> dict[str, Any]:
    weights = (options.out / options.name).with_suffix(".pt")
    state = torch.load(weights.with_suffix(".state.pt"), map_location="cpu") if options.seconds or options.steps else {}
    return {
        "model": options.name,
        "date": options.date,
        "shape": asdict(net.shape),
        "parameters": sum(p.numel() for p in net.parameters()),
        "data": {
            "sha256": games.sha256,
            "games": len(games.plies),
            "positions": len(games.moves),
            "trained_on": len(parts.train),
            "held_out_rule": f"player*2654435761 mod 2^32 < {HELD_OUT}*2^32; games with a held-out player left out",
        },
        "training": {
            "steps": state.get("step"),
            "seconds": round(state.get("spent", 0.0)),
            "batch": options.batch,
            "rate": options.rate,
            "seed": options.seed,
            "teacher": options.teacher and hashlib.sha256(options.teacher.read_bytes()).hexdigest(),
            "loss_shares": SHARES if options.teacher else [1.0, 0.0, 0.0],
            "torch": torch.__version__,
        },
        "held_out": found,
    }


def _clock() -> str:
    return f"[{time.monotonic() - STARTED:6.1f} s]"


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--data", type=Path, required=True, help="folder with games.npz and moves.u16.bz2")
    add("--out", type=Path, required=True)
    add("--model", choices=sorted(SHAPES), default="small")
    add("--name", help="of the files written; the model's by default")
    add("--shape", type=lambda text: [int(n) for n in text.split(",")], help="channels,blocks,attentions,heads,width")
    add("--games", type=int, help="only so many games")
    add("--seconds", type=float, default=0.0, help="length of the schedule; 0: only measure MODEL.pt")
    add("--steps", type=int, help="length of the schedule in steps, instead of --seconds")
    add("--stop", type=float, default=1e9, help="seconds from the start after which to write and end")
    add("--fit", action="store_true", help="the schedule ends at --stop")
    add("--batch", type=int, default=4096)
    add("--rate", type=float, default=2e-3)
    add("--seed", type=int, default=1)
    add("--teacher", type=Path, help="weights of a larger network to learn from")
    add("--resume", action="store_true", help="go on from MODEL.state.pt")
    add("--compile", action="store_true")
    add("--device")
    add("--evaluate", type=int, default=1_000_000, help="held-out moves to measure on; 0: none")
    add("--per-band", type=int, default=20_000)
    add("--onnx", action="store_true", help="write MODEL.onnx too")
    add("--date", default="", help="for the card")
    options = parser.parse_args(arguments)
    options.name = options.name or options.model
    return options


if __name__ == "__main__":
    main()
