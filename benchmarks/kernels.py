"""Decisions per CPU-second: the fast twin, the readable numpy function, and the papers' event loop."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.measure import Figure, cpu_seconds, first_seconds
from skilloscope.evidence import Grid
from skilloscope.evidence.posterior import competences
from skilloscope.models.agent import ChoiceSets, bayes, choice_sets, log_likelihood, scaled_losses
from skilloscope.models.kernels import choices as kernels
from skilloscope.simulate.deciders import made_up_spreads, simulate_choices

DECISIONS = 200_000


def figures() -> Iterator[Figure]:
    rng = np.random.default_rng(1)
    batch = simulate_choices(made_up_spreads(DECISIONS, 10, rng=rng), 1.2, rng=rng)
    sets, few = choice_sets(batch), choice_sets(batch.select(slice(0, 4000)))
    groups = np.zeros(len(sets), dtype=np.int64)
    nodes, points = Grid().nodes, competences(0.0, 4.0, 4.0 / 63)
    yield Figure("kernel: first call", first_seconds(lambda: kernels.curves(few, groups[:4000], 1, nodes, k=0.1)), "s")
    fast = DECISIONS / cpu_seconds(lambda: kernels.curves(sets, groups, 1, nodes, k=0.1))
    numpy_twin = 4000 / cpu_seconds(lambda: log_likelihood(few, nodes).sum(axis=0))
    loop = 4000 / cpu_seconds(lambda: event_loop(few, points))
    yield Figure("numba twin, 10 alternatives, 48 nodes", fast / 1e6, "M decisions per CPU-second", at_least=1.5)
    yield Figure("numba twin against readable numpy (48 nodes)", fast / numpy_twin, "times", at_least=2)
    yield Figure("numba twin against the event loop of (3)-(4) (64 points)", fast / loop, "times", at_least=10)
    many = np.arange(len(sets)) % 20_000
    grouped = DECISIONS / cpu_seconds(lambda: kernels.curves(sets, many, 20_000, nodes, k=0.1))
    yield Figure("numba twin, 20,000 interleaved groups", grouped / 1e6, "M decisions per CPU-second")


def event_loop(sets: ChoiceSets, c: np.ndarray) -> np.ndarray:
    """Return the posterior by (3)-(4), one event after another, each vectorised over the grid."""
    b = scaled_losses(sets.losses)
    chosen = scaled_losses(sets.chosen_loss)
    posterior = np.full(len(c), 1 / len(c))
    for i in range(len(sets)):
        weights = np.exp(-np.outer(b[sets.offsets[i] : sets.offsets[i + 1]], c))
        posterior = bayes(posterior, np.exp(-chosen[i] * c) / weights.sum(axis=0))
    return posterior
