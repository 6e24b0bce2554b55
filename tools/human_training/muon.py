"""Muon: momentum whose matrices are made orthogonal, for the weights inside the network; AdamW for all others.

K. Jordan et al. (2024). The update of a matrix has the root mean square of AdamW's (0.2·√(longer side)), so that both
share one learning rate. Convolutions count as matrices [out, in·9]. All matrices of a shape are handled at once.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

A, B, C = 3.4445, -4.7750, 2.0315  # of the polynomial that drives all singular values towards 1
ROUNDS = 5


def orthogonal(matrices: Tensor) -> Tensor:
    """The nearest matrices with singular values near 1, [batch, rows, columns]: five Newton–Schulz rounds."""
    x = matrices.bfloat16()
    tall = x.shape[1] > x.shape[2]
    x = x.transpose(1, 2) if tall else x
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(ROUNDS):
        square = x @ x.transpose(1, 2)
        x = A * x + (B * square + C * square @ square) @ x
    return (x.transpose(1, 2) if tall else x).float()


class Muon(torch.optim.Optimizer):
    """The optimiser of matrices of at least two dimensions."""

    def __init__(self, params: Iterable[Tensor], lr: float, weight_decay: float, momentum: float = 0.95) -> None:
        super().__init__(params, {"lr": lr, "weight_decay": weight_decay, "momentum": momentum})

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override]
        """Take one step."""
        for group in self.param_groups:
            by_shape: dict[torch.Size, list[Tensor]] = {}
            for weight in group["params"]:
                if weight.grad is not None:
                    by_shape.setdefault(weight.shape, []).append(weight)
            for weights in by_shape.values():
                updates = []
                for weight in weights:
                    state = self.state[weight]
                    if not state:
                        state["momentum"] = torch.zeros_like(weight)
                    state["momentum"].lerp_(weight.grad, 1 - group["momentum"])
                    updates.append(weight.grad.lerp(state["momentum"], group["momentum"]).flatten(1))
                found = orthogonal(torch.stack(updates))
                found *= 0.2 * max(found.shape[1:]) ** 0.5
                for weight, update in zip(weights, found, strict=True):
                    weight.mul_(1 - group["lr"] * group["weight_decay"])
                    weight.sub_(group["lr"] * update.view_as(weight))
