"""Fits of the models that ship: the weights of joint choices and of losses, from moves of rated people."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from skilloscope.core.columns import Array, Ints
from skilloscope.models.bins import BinWeights
from skilloscope.models.joint import (
    BENDS,
    CONTEXT,
    MOST_LOSS,
    ORIGIN,
    PARTS,
    UNIT,
    JointChoices,
    JointWeights,
    context_columns,
    elo_terms,
    log_alternatives,
    log_people,
    log_sums,
)


def weighted_parts(choices: JointChoices, basis: Array) -> Array:
    """Return what the weights multiply in z, a row for each alternative: −√δ_d of each depth, log p, −[not listed]."""
    people = log_people(choices, basis)
    return np.column_stack([-choices.roots.astype(float), people, -(~choices.listed).astype(float)])


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


def fit_adjustments(
    choices: JointChoices,
    weights: JointWeights,
    elo: npt.ArrayLike,
    basis: Array,
    names: tuple[str, ...] = (*BENDS[:2], *CONTEXT),
    *,
    ridge: float = 1e-5,
) -> JointWeights:
    """Return the weights with the adjustments of these names that make the choices likeliest, with a little ridge."""
    assert choices.context is not None
    owner, places, n = choices.owner, choices.offsets[:-1] + choices.chosen, len(choices)
    base = log_alternatives(choices, weights, elo, basis)
    root, places_of = choices.roots[:, -1].astype(float), [(*BENDS, *CONTEXT).index(name) for name in names]
    parts = np.column_stack([log_people(choices, basis), -root, -np.minimum(root**2, MOST_LOSS)])
    columns = np.column_stack([elo_terms(elo)[:, 1:], context_columns(choices.context)])[:, places_of]

    def cost(free: Array) -> tuple[float, Array]:
        w = free.reshape(len(PARTS), len(names))
        z = base + (parts * (columns @ w.T)[owner]).sum(axis=1)
        total = log_sums(z, choices.offsets)
        residual = -np.exp(z - total[owner])
        residual[places] += 1.0
        gradient = np.add.reduceat(residual[:, None] * parts, choices.offsets[:-1], axis=0).T @ columns
        return float(-(z[places] - total).sum() / n + 0.5 * ridge * free @ free), ridge * free - gradient.ravel() / n

    found = minimize(cost, np.zeros(len(PARTS) * len(names)), jac=True, method="L-BFGS-B", options={"maxiter": 300}).x
    rows = np.array(weights.adjustments) if weights.adjustments else np.zeros((len(PARTS), len(BENDS) + len(CONTEXT)))
    rows[:, places_of] = found.reshape(len(PARTS), len(names)).round(4)
    return replace(weights, adjustments=tuple(tuple(map(float, row)) for row in rows))


def fit_logit(
    design: Array,
    offsets: Ints,
    chosen: Ints,
    *,
    ridge: float,
) -> Array:
    """Return the weights of the design's columns under which the choices are likeliest, with a little ridge.

    P is the softmax of design · w over the alternatives of a decision.
    """
    owner, places, n = np.repeat(np.arange(len(chosen)), np.diff(offsets)), offsets[:-1] + chosen, len(chosen)

    def cost(w: Array) -> tuple[float, Array]:
        z = design @ w
        total = log_sums(z, offsets)
        residual = -np.exp(z - total[owner])
        residual[places] += 1.0
        return float(-(z[places] - total).sum() / n + 0.5 * ridge * w @ w), -(residual @ design) / n + ridge * w

    found = minimize(cost, np.zeros(design.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 400})
    return np.asarray(found.x)


def weights_covariance(
    choices: JointChoices, weights: JointWeights, elo: npt.ArrayLike, basis: Array, cluster: Ints
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


def fit_bin_weights(
    values: npt.ArrayLike,
    features: Array,
    elo: npt.ArrayLike,
    kind: tuple[tuple[float, ...], tuple[str, ...]],
    *,
    ridge: float = 3e-5,
    steps: int = 120,
) -> BinWeights:
    """Return the weights under which values of people of these Elos are likeliest; `kind`: edges and features.

    Columns are scaled, and Elo is centred where the people are: otherwise the search would not come to an end.
    """
    elos, (edges, names) = np.asarray(elo, dtype=float), kind
    low, high = np.percentile(elos, [0.5, 99.5])
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    y = ((np.clip(elos, low, high) - middle) / half)[:, None]
    design = np.concatenate([features, y * features, y * y * features], axis=1)
    scale = np.maximum(np.sqrt((design**2).mean(axis=0)), 1e-3)
    design /= scale
    bins, n, width = len(edges) + 1, len(design), design.shape[1]
    own = np.digitize(np.asarray(values, dtype=float), edges)
    rows = np.arange(n)

    def cost(w: Array) -> tuple[float, Array]:
        logits = design @ w.reshape(width, bins)
        logits -= logits.max(axis=1, keepdims=True)
        odds = np.exp(logits)
        total = odds.sum(axis=1)
        residual = -odds / total[:, None]
        residual[rows, own] += 1.0
        value = -float((logits[rows, own] - np.log(total)).mean()) + 0.5 * ridge * float(w @ w)
        return value, -(design.T @ residual).ravel() / n + ridge * w

    found = minimize(cost, np.zeros(width * bins), jac=True, method="L-BFGS-B", options={"maxiter": steps}).x
    level, slope, bend = np.split(found.reshape(width, bins) / scale[:, None], 3)
    m, h = (middle - ORIGIN) / UNIT, half / UNIT  # y = (x − m) / h
    on_x = level - slope * m / h + bend * (m / h) ** 2, slope / h - 2 * bend * m / h**2, bend / h**2
    return BinWeights(*on_x, (float(low), float(high)), edges, names)
