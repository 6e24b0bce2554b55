"""The joint choice model: what an engine says of the alternatives, and what people play, in one choice.

    z(m, E) = v(E)·log p(m | E) − Σ_d w_d(E)·√δ_d(m) − u(E)·[m is not listed],   P(m | E) = softmax of z over all m

p is a model of people's choices, given by coefficients of a basis in E; δ_d is the scaled loss of the alternative after
d plies of thought; v, w_d and u are lines in E. Alternatives that the judge did not list count as the worst listed one,
and share what is left as people do. Without losses the model is p itself; without p it is a choice by losses alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from skilloscope.core.columns import ragged_take
from skilloscope.core.errors import InputError
from skilloscope.models.kernels.joint import add_joint_curves
from skilloscope.models.scaling import scaled_loss

Array = npt.NDArray[np.float64]

ORIGIN, UNIT = 2100.0, 450.0
"""Weights are lines in x = (Elo − ORIGIN) / UNIT."""


@dataclass(frozen=True, eq=False, repr=False)
class JointChoices:
    """Choices among all alternatives: decision i owns offsets[i]:offsets[i + 1] of the columns."""

    offsets: npt.NDArray[np.int64]
    chosen: npt.NDArray[np.int64]
    """The place of the choice among the decision's own alternatives."""
    human: npt.NDArray[np.float32]
    """Coefficients of log p, up to a constant a decision: a column for each function of the basis."""
    roots: npt.NDArray[np.float32]
    """√δ_d, a column for each depth; of unlisted alternatives the worst listed one's."""
    listed: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.chosen)

    def __repr__(self) -> str:
        return f"<JointChoices: {len(self):,} decisions, {len(self.listed):,} alternatives>"

    @property
    def owner(self) -> npt.NDArray[np.int64]:
        """The decision of each alternative."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    def select(self, wanted: npt.NDArray[np.bool_]) -> JointChoices:
        """Return some of the decisions."""
        offsets, entries = ragged_take(self.offsets, np.flatnonzero(wanted))
        return JointChoices(
            offsets, self.chosen[wanted], self.human[entries], self.roots[entries], self.listed[entries]
        )


@dataclass(frozen=True)
class JointWeights:
    """The lines v, w_d and u: each a pair (value at ORIGIN, slope in x)."""

    depths: tuple[int, ...]
    losses: tuple[tuple[float, float], ...]
    human: tuple[float, float] = (1.0, 0.0)
    unlisted: tuple[float, float] = (0.0, 0.0)

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> JointWeights:
        """Return the weights that `as_dict` wrote."""
        return cls(
            tuple(given["depths"]),
            tuple((float(a), float(b)) for a, b in given["losses"]),
            (float(given["human"][0]), float(given["human"][1])),
            (float(given["unlisted"][0]), float(given["unlisted"][1])),
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the weights for JSON."""
        return {
            "depths": list(self.depths),
            "losses": [list(pair) for pair in self.losses],
            "human": list(self.human),
            "unlisted": list(self.unlisted),
        }

    def parts(self, choices: JointChoices) -> tuple[Array, Array]:
        """Return what losses and list add to z of each alternative: the value at ORIGIN, and the slope in x."""
        if choices.roots.shape[1] != len(self.depths):
            raise InputError(f"{choices.roots.shape[1]} depths of losses, the weights are for {len(self.depths)}")
        pairs = np.array(self.losses).reshape(-1, 2)
        apart = (~choices.listed).astype(float)[:, None] * np.array(self.unlisted)
        both = -(choices.roots.astype(float) @ pairs) - apart
        return np.ascontiguousarray(both[:, 0]), np.ascontiguousarray(both[:, 1])


def scaled_roots(best: npt.ArrayLike, value: npt.ArrayLike) -> Array:
    """Return √δ with δ = ∫ dz/(1 + |z|) from the value to the best: a pawn matters less the more decided the game is.

    >>> scaled_roots(0.0, [0.0, -1.0]).round(4).tolist()
    [0.0, 0.8326]
    """
    return np.asarray(np.sqrt(np.maximum(scaled_loss(best, value), 0.0)))


def log_choice(choices: JointChoices, weights: JointWeights, elo: npt.ArrayLike, basis: Array) -> Array:
    """Return log P of each choice, its decider's Elo given; `basis` has a row a decision."""
    return np.asarray(log_alternatives(choices, weights, elo, basis)[choices.offsets[:-1] + choices.chosen])


def log_alternatives(choices: JointChoices, weights: JointWeights, elo: npt.ArrayLike, basis: Array) -> Array:
    """Return log P of every alternative, the decider's Elo given; `basis` has a row a decision."""
    owner = choices.owner
    x = ((np.asarray(elo, dtype=float) - ORIGIN) / UNIT)[owner]
    value, slope = weights.parts(choices)
    z = (weights.human[0] + weights.human[1] * x) * log_people(choices, basis) + value + slope * x
    return np.asarray(z - log_sums(z, choices.offsets)[owner])


def joint_curves(
    choices: JointChoices, weights: JointWeights, groups: npt.NDArray[np.int64], n_groups: int, elo: Array, basis: Array
) -> Array:
    """Return Σ log P of each group's choices at every Elo (a column, and a row of the basis)."""
    out = np.zeros((n_groups, len(elo)))
    value, slope = weights.parts(choices)
    x = (np.asarray(elo, dtype=float) - ORIGIN) / UNIT
    columns = (choices.offsets, choices.chosen, choices.human, value, slope)
    add_joint_curves(*columns, np.array(weights.human), np.asarray(groups), x, np.ascontiguousarray(basis), out)
    return out


def fit_weights(
    choices: JointChoices, elo: npt.ArrayLike, basis: Array, depths: tuple[int, ...], *, ridge: float = 1e-3
) -> JointWeights:
    """Return the weights under which the choices of people of these Elos are likeliest, with a little ridge."""
    x = ((np.asarray(elo, dtype=float) - ORIGIN) / UNIT)[choices.owner]
    design = weighted_parts(choices, basis)
    width = design.shape[1]
    both = np.concatenate([design, x[:, None] * design], axis=1)
    w = fit_logit(both, choices.offsets, choices.chosen, ridge=ridge)
    pairs = [(float(a), float(b)) for a, b in zip(w[:width], w[width:], strict=True)]
    return JointWeights(depths, tuple(pairs[: len(depths)]), pairs[-2], pairs[-1])


def fit_logit(
    design: Array,
    offsets: npt.NDArray[np.int64],
    chosen: npt.NDArray[np.int64],
    *,
    ridge: float,
    base: float | Array = 0.0,
) -> Array:
    """Return the weights of the design's columns under which the choices are likeliest, with a little ridge.

    P is the softmax of base + design · w over the alternatives of a decision.
    """
    owner, places, n = np.repeat(np.arange(len(chosen)), np.diff(offsets)), offsets[:-1] + chosen, len(chosen)

    def cost(w: Array) -> tuple[float, Array]:
        z = base + design @ w
        total = log_sums(z, offsets)
        residual = -np.exp(z - total[owner])
        residual[places] += 1.0
        return float(-(z[places] - total).sum() / n + 0.5 * ridge * w @ w), -(residual @ design) / n + ridge * w

    found = minimize(cost, np.zeros(design.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 400})
    return np.asarray(found.x)


def weighted_parts(choices: JointChoices, basis: Array) -> Array:
    """Return what the weights multiply in z, a row for each alternative: −√δ_d of each depth, log p, −[not listed]."""
    people = log_people(choices, basis)
    return np.column_stack([-choices.roots.astype(float), people, -(~choices.listed).astype(float)])


def log_people(choices: JointChoices, basis: Array) -> Array:
    """Return log p of every alternative by the model of people's choices alone; `basis` has a row a decision."""
    owner = choices.owner
    people = (choices.human.astype(float) * basis[owner]).sum(axis=1)
    return np.asarray(people - log_sums(people, choices.offsets)[owner])


def weights_covariance(
    choices: JointChoices, weights: JointWeights, elo: npt.ArrayLike, basis: Array, cluster: npt.NDArray[np.int64]
) -> Array:
    """Return the covariance of fitted weights (all at ORIGIN, then all slopes): the sandwich over clusters of choices.

    The order is that of `weighted_parts`: losses by depth, human, unlisted.
    """
    owner, first = choices.owner, choices.offsets[:-1]
    design, x = weighted_parts(choices, basis), (np.asarray(elo, dtype=float) - ORIGIN) / UNIT
    p = np.exp(log_alternatives(choices, weights, elo, basis))
    apart = design - np.add.reduceat(p[:, None] * design, first, axis=0)[owner]
    both = np.concatenate([apart, apart * x[owner][:, None]], axis=1)
    information = (both * p[:, None]).T @ both
    score = both[first + choices.chosen]
    summed = np.zeros((int(cluster.max()) + 1, score.shape[1]))
    np.add.at(summed, cluster, score)
    bread = np.linalg.inv(information)
    return np.asarray(bread @ (summed.T @ summed) @ bread)


def log_sums(z: Array, offsets: npt.NDArray[np.int64]) -> Array:
    """Return log Σ exp z over the alternatives of each decision."""
    top = np.maximum.reduceat(z, offsets[:-1])
    total = np.add.reduceat(np.exp(z - np.repeat(top, np.diff(offsets))), offsets[:-1])
    return np.asarray(top + np.log(total))
