"""Simulated deciders: the reference agent choosing on given spreads, and lists cut as the engine cuts them.

The truth is known here, so every estimator is judged here first: coverage of its intervals, bias of its rules.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from skilloscope.core.columns import ragged_take
from skilloscope.decision import UNLISTED, Decisions
from skilloscope.models.agent import scaled_losses


def made_up_spreads(
    n: int, alternatives: int = 10, *, rng: np.random.Generator, name: str = "simulated", gap: float = 0.15
) -> Decisions:
    """Return decisions with random losses that look like chess: often close at the top, sometimes one good move.

    Losses are running sums of gamma-distributed gaps of mean `gap` pawns; one position in five is three times as sharp.
    """
    sharp = rng.choice([1.0, 3.0], size=(n, 1), p=[0.8, 0.2])
    gaps = rng.gamma(0.6, gap / 0.6, size=(n, alternatives - 1)) * sharp
    losses = np.concatenate([np.zeros((n, 1)), np.cumsum(gaps, axis=1)], axis=1)
    counts = np.full(n, alternatives)
    return Decisions(
        (name,),
        np.zeros(n, dtype=np.int32),
        -losses.ravel(),
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.zeros(n, dtype=np.int32),
        counts.astype(np.int32),
    )


def simulate_choices(
    spreads: Decisions, c: float | npt.NDArray[np.float64], *, k: float = 0.1, rng: np.random.Generator
) -> Decisions:
    """Return the same spreads with choices drawn by (2) among the listed alternatives; one c, or one per decision.

    >>> rng = np.random.default_rng(1)
    >>> simulated = simulate_choices(made_up_spreads(1000, rng=rng), 50.0, rng=rng)
    >>> float((simulated.chosen_loss() < 0.02).mean()) > 0.95
    True
    """
    competence = np.repeat(np.broadcast_to(c, len(spreads)), spreads.counts)
    # The largest of log p + Gumbel noise is a draw from p: no probabilities need to be summed.
    keys = -competence * scaled_losses(spreads.losses(), k=k) + rng.gumbel(size=len(spreads.values))
    starts = spreads.offsets[:-1]
    best = np.repeat(np.maximum.reduceat(keys, starts), spreads.counts)
    chosen = np.flatnonzero(keys == best) - starts
    # The agent knows nothing of what was not listed: the list is all there was.
    return replace(
        spreads, chosen=chosen.astype(np.int32), n_legal=spreads.counts.astype(np.int32), unlisted_value=None
    )


def simulated_deciders(
    c: npt.ArrayLike, n: int, *, alternatives: int = 10, k: float = 0.1, rng: np.random.Generator
) -> Decisions:
    """Return a batch of deciders, one for each c, with n decisions each on made-up spreads.

    >>> batch = simulated_deciders([0.5, 1.5], 3, rng=np.random.default_rng(0))
    >>> batch.names()
    ['decider 0', 'decider 1']
    """
    competences = np.atleast_1d(np.asarray(c, dtype=float))
    spreads = made_up_spreads(n * len(competences), alternatives, rng=rng)
    return replace(
        simulate_choices(spreads, np.repeat(competences, n), k=k, rng=rng),
        deciders=tuple(f"decider {i}" for i in range(len(competences))),
        decider=np.repeat(np.arange(len(competences), dtype=np.int32), n),
    )


def cut_lists(decisions: Decisions, n: int = 10, *, rng: np.random.Generator) -> Decisions:
    """Return the decisions with only the n best alternatives listed, as an engine's multi-PV does.

    A choice beyond the list becomes unlisted. One unlisted alternative is valued for the rule `sampled`: the chosen
    one where it is unlisted, otherwise one drawn at random.
    """
    counts = np.minimum(decisions.counts, n)
    offsets, flat = ragged_take(decisions.offsets, np.arange(len(decisions)), counts)
    beyond = decisions.counts - counts
    drawn = counts + np.floor(rng.random(len(decisions)) * beyond).astype(np.int64)
    outside = decisions.chosen >= counts
    at = decisions.offsets[:-1] + np.where(outside, decisions.chosen, np.minimum(drawn, decisions.counts - 1))
    return replace(
        decisions,
        values=decisions.values[flat],
        offsets=offsets,
        chosen=np.where(outside, UNLISTED, decisions.chosen).astype(np.int32),
        unlisted_value=np.where(beyond > 0, decisions.judged[at], np.nan),
    )


def fisher_information(spreads: Decisions, c: float, *, k: float = 0.1) -> float:
    """I(c) = Σ Var_p(b) over the decisions, b the scaled loss of what is drawn: the curvature of (2) in logs."""
    b = scaled_losses(spreads.losses(), k=k)
    weight = np.exp(-c * b)
    starts = spreads.offsets[:-1]
    total = np.add.reduceat(weight, starts)
    mean = np.add.reduceat(weight * b, starts) / total
    return float((np.add.reduceat(weight * b * b, starts) / total - mean**2).sum())
