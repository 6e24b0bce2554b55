"""Partial pooling: groups of one decider that are alike, as alike as the evidence says.

In: the evidence of each group. Out: a posterior for each that leans on the others, and the sd between groups.

c_j = μ + what sets the group apart, with sd τ. Few decisions in a group: its estimate goes to the common μ. Many: it
stays where its own evidence is. τ is fitted, common to all deciders that are given together. The distribution between
groups is the walk of `inference.drift`: normal in all but name, reflected at the ends of the range.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skilloscope.core.errors import InputError
from skilloscope.inference.evidence import Evidence
from skilloscope.inference.posterior import Posterior
from skilloscope.inference.priors import Uniform
from skilloscope.inference.sd_fit import SdFit, fit_sd, sds_to_try
from skilloscope.inference.walk import Lattice, lattice_for, reflected_walk

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Pooled:
    """One decider's groups: each alone under the uniform prior, each with the others' help, and what is common."""

    alone: Sequence[Posterior]
    pooled: Sequence[Posterior]
    common: Posterior


def pool_groups(
    deciders: Sequence[Sequence[Evidence]],
    *,
    span: tuple[float, float] | None = None,
    dispersion: float = 1.0,
    mass: float = 0.95,
) -> tuple[list[Pooled], SdFit]:
    """Return every decider's groups with partial pooling, and the fitted sd between groups.

    What is shown is averaged over the sds that were tried, each by its likelihood: with few groups it is hardly known.
    """
    if not any(len(groups) > 1 for groups in deciders):
        raise InputError("what lies between groups cannot be seen in a single group")
    grid = deciders[0][0].grid
    low, high = span or (grid.low, grid.high)
    tempered = [[one.tempered(dispersion) for one in groups] for groups in deciders]
    lattice = lattice_for(tempered, low, high)
    logs = [np.array([one.log_likelihood(lattice.centres) for one in groups]) for groups in tempered]

    def total(sd: float) -> float:
        step = reflected_walk((sd / lattice.step) ** 2, lattice.cells)
        return float(sum(_marginal(log, step)[0] for log in logs))

    fit = fit_sd(total, sds_to_try(high - low), mass=mass)
    flat = Uniform(low, high)
    shares = [_averaged(log, lattice, fit) for log in logs]
    found = [
        Pooled(
            [one.posterior(flat) for one in groups],
            [lattice.posterior(row, prior=f"normal between groups, sd {fit.sd:.3g}") for row in of_groups],
            lattice.posterior(of_common, prior=str(flat)),
        )
        for groups, (of_groups, of_common) in zip(tempered, shares, strict=True)
    ]
    return found, fit


def _marginal(logs: Array, step: Array) -> tuple[float, Array, Array]:
    """log ∫ dμ Π_j ∫ p(j | c) N(c; μ, τ²) dc; and for each group what it says of μ, in logs, and what all say."""
    peaks = logs.max(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        messages = np.log(np.exp(logs - peaks) @ step) + peaks
    together = messages.sum(axis=0)
    top = together.max()
    if not np.isfinite(top):
        return -np.inf, messages, together
    return float(top + np.log(np.exp(together - top).mean())), messages, together


def _averaged(logs: Array, lattice: Lattice, fit: SdFit) -> tuple[Array, Array]:
    """Return the mass of each group's c and of μ on the cells, averaged over the sds by their likelihood."""
    groups, common = np.zeros_like(logs), np.zeros(lattice.cells)
    for sd, weight in zip(fit.tried, fit.weights, strict=True):
        if weight == 0:
            continue
        step = reflected_walk((float(sd) / lattice.step) ** 2, lattice.cells)
        _, messages, together = _marginal(logs, step)
        common += weight * _normalised(together)
        for j, log in enumerate(logs):
            others = np.delete(messages, j, axis=0).sum(axis=0)
            with np.errstate(divide="ignore"):
                prior = np.log(step @ _normalised(others))
            groups[j] += weight * _normalised(log + prior)
    return groups, common


def _normalised(logs: Array) -> Array:
    mass = np.exp(logs - logs.max())
    return np.asarray(mass / mass.sum())
