"""Training: cross-entropy of the moves played, and of a larger network's distribution where one teaches."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from .draw import FORGET_LAST, Draws, gather
from .net import HumanNet, Shape
from .replay import Positions

ILLEGAL = -1e9
Soft = tuple[Tensor, Tensor]  # a teacher's distributions at two Elos
SHARES = (0.25, 0.55, 0.20)  # of the loss: moves played, the teacher at the mover's Elo, the teacher at another Elo
OTHER_SD, OTHER_RANGE = 300.0, (800.0, 2850.0)


@dataclass(frozen=True)
class Plan:
    """How long and how: the schedule follows the time spent, or the steps where `steps` is given."""

    seconds: float
    stop_at: float  # a reading of time.monotonic(): write and end by then
    steps: int | None = None
    batch: int = 4096
    rate: float = 2e-3
    warm_up: int = 500
    decay: float = 0.01
    seed: int = 1
    compiled: bool = False
    fitted: bool = False  # the schedule ends at stop_at, whatever `seconds` says


def log_policy(net: HumanNet, features: tuple[Tensor, Tensor, Tensor], elo: Tensor, legal: Tensor) -> Tensor:
    """Log-probabilities over exactly the legal moves."""
    return torch.log_softmax(torch.where(legal, net.logits(features, elo), ILLEGAL), 1)


def _loss(
    net: HumanNet, x: Tensor, legal: Tensor, move: Tensor, elo: Tensor, other: Tensor, soft: Soft | None
) -> tuple[Tensor, Tensor]:
    with torch.autocast(x.device.type, torch.bfloat16, enabled=x.device.type == "cuda"):
        features = net.features(x)
        here = log_policy(net, features, elo, legal)
        hard = -here.gather(1, move[:, None]).mean()
        if soft is None:
            return hard, hard
        there = log_policy(net, features, other, legal)
        near, far = -(soft[0] * here).sum(1).mean(), -(soft[1] * there).sum(1).mean()
        return SHARES[0] * hard + SHARES[1] * near + SHARES[2] * far, hard


def _taught(teacher: HumanNet, x: Tensor, legal: Tensor, elo: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
    with torch.autocast(x.device.type, torch.bfloat16, enabled=x.device.type == "cuda"):
        features = teacher.features(x)
        return log_policy(teacher, features, elo, legal).exp(), log_policy(teacher, features, other, legal).exp()


class Training:
    """A network on its way: step, optimiser, time spent; written to and read from one file."""

    def __init__(self, shape: Shape, device: torch.device, plan: Plan, teacher: HumanNet | None = None) -> None:
        torch.manual_seed(plan.seed)
        self.net = HumanNet(shape).to(device, memory_format=torch.channels_last)
        self.plan, self.teacher, self.device = plan, teacher, device
        heavy = [p for p in self.net.parameters() if p.ndim >= 2]
        light = [p for p in self.net.parameters() if p.ndim < 2]
        groups = [{"params": heavy, "weight_decay": plan.decay}, {"params": light, "weight_decay": 0.0}]
        self.optimiser = torch.optim.AdamW(groups, lr=plan.rate, betas=(0.9, 0.98), fused=device.type == "cuda")
        self.step, self.spent = 0, 0.0
        self.seconds = plan.seconds
        self.random = torch.Generator(device=device)
        self._loss: Callable[..., tuple[Tensor, Tensor]] = torch.compile(_loss) if plan.compiled else _loss
        self._taught: Callable[..., tuple[Tensor, Tensor]] = torch.compile(_taught) if plan.compiled else _taught

    def save(self, path: Path) -> None:
        """Everything needed to go on."""
        state: dict[str, Any] = {"net": self.net.state_dict(), "optimiser": self.optimiser.state_dict()}
        torch.save({**state, "step": self.step, "spent": self.spent, "shape": asdict(self.net.shape)}, path)

    def load(self, path: Path) -> None:
        """Go on where a file ends."""
        state = torch.load(path, map_location=self.device)
        self.net.load_state_dict(state["net"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.step, self.spent = state["step"], state["spent"]

    def progress(self, seconds: float) -> float:
        """How much of the schedule is done."""
        return self.step / self.plan.steps if self.plan.steps else seconds / self.seconds

    def run(self, positions: Positions, draws: Draws, log: Path, check: Callable[[HumanNet], dict[str, float]]) -> None:
        """Train until the schedule or the time ends; a line of the log every 100 steps, a check every minute."""
        self._warm_up(positions, draws)
        begun = time.monotonic() - self.spent
        if self.plan.fitted:
            self.seconds = self.plan.stop_at - begun
        checked, loss_sum, hard_sum = time.monotonic(), 0.0, 0.0
        while True:
            now = time.monotonic()
            share = self.progress(now - begun)
            if share >= 1 or now >= self.plan.stop_at:
                break
            rate = self.plan.rate * min(1.0, (self.step + 1) / self.plan.warm_up) * (1 - share)
            loss, hard = self._advance(positions, draws, rate)
            self.step += 1
            loss_sum, hard_sum = loss_sum + loss, hard_sum + hard
            if self.step % 100 == 0:
                line = {"step": self.step, "seconds": round(now - begun, 1), "rate": rate}
                line |= {"loss": float(loss_sum) / 100, "nats": -float(hard_sum) / 100}
                loss_sum, hard_sum = 0.0, 0.0
                if now - checked > 60:
                    line |= check(self.net)
                    checked = time.monotonic()
                with log.open("a") as file:
                    file.write(json.dumps(line) + "\n")
                if self.step % 1000 == 0 or len(line) > 5:
                    print(json.dumps(line), flush=True)
        self._wait()
        self.spent = time.monotonic() - begun

    def _warm_up(self, positions: Positions, draws: Draws) -> None:
        """One step at rate 0, which compiles and changes nothing but running means."""
        try:
            self._advance(positions, draws, 0.0)
        except RuntimeError as error:
            if not self.plan.compiled:
                raise
            print(f"not compiled, because: {error}", flush=True)
            self._loss, self._taught = _loss, _taught
            self._advance(positions, draws, 0.0)
        self._wait()

    def _advance(self, positions: Positions, draws: Draws, rate: float) -> tuple[Tensor, Tensor]:
        with torch.no_grad():
            places = draws.batch(self.step, self.plan.batch)
            self.random.manual_seed(self.plan.seed * 7_000_003 + self.step)
            forget = torch.rand(len(places), device=self.device, generator=self.random) < FORGET_LAST
            batch = gather(positions, places, forget)
            shift = torch.randn(len(places), device=self.device, generator=self.random) * OTHER_SD
            other = (batch.elo + shift).clamp(*OTHER_RANGE)
            soft = None
            if self.teacher is not None:
                soft = self._taught(self.teacher, batch.x, batch.legal, batch.elo, other)
        self.net.train()
        loss, hard = self._loss(self.net, batch.x, batch.legal, batch.move, batch.elo, other, soft)
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.step()
        return loss.detach(), hard.detach()

    def _wait(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize()


def load_net(path: Path, device: torch.device) -> HumanNet:
    """The network of a file of weights or of a training file."""
    state = torch.load(path, map_location=device)
    net = HumanNet(Shape(**state["shape"])).to(device, memory_format=torch.channels_last)
    net.load_state_dict(state["net"])
    return net.eval()


def save_half(net: HumanNet, path: Path) -> None:
    """Only the weights, in half precision."""
    state = {name: v.half() if v.is_floating_point() else v for name, v in net.state_dict().items()}
    torch.save({"net": state, "shape": asdict(net.shape)}, path)


def halved(net: HumanNet) -> HumanNet:
    """The network as it will be shipped: every weight rounded to half precision."""
    state = {n: v.half().to(v.dtype) if v.is_floating_point() else v for n, v in net.state_dict().items()}
    twin = HumanNet(net.shape).to(next(net.parameters()).device, memory_format=torch.channels_last)
    twin.load_state_dict(state)
    return twin.eval()
