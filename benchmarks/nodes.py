"""Grid or Chebyshev nodes: the error of a curve between its points, per decision, and the bytes it costs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.interpolate import CubicSpline

from benchmarks.measure import Figure
from skilloscope.evidence import Grid
from skilloscope.models.agent import choice_sets
from skilloscope.models.kernels import choices as kernels
from skilloscope.simulate.deciders import made_up_spreads, simulate_choices

DECISIONS = 20_000


def figures() -> Iterator[Figure]:
    rng = np.random.default_rng(2)
    # Up to 60 pawns between best and worst, as where one move mates: what makes curves hard to carry.
    spreads = made_up_spreads(DECISIONS, 10, rng=rng, gap=0.6)
    sets = choice_sets(simulate_choices(spreads, 1.0, rng=rng))
    groups = np.zeros(len(sets), dtype=np.int64)
    fine = np.linspace(0, 4, 402)
    truth = kernels.curves(sets, groups, 1, fine, k=0.1)[0]
    for size in (24, 32, 48, 64):
        grid = Grid(0, 4, size)
        curve = kernels.curves(sets, groups, 1, grid.nodes, k=0.1)[0]
        error = np.abs(grid.interpolate(curve, fine) - truth).max() / DECISIONS
        limit = 2e-9 if size == Grid().size else None
        yield Figure(f"{size} Chebyshev nodes ({8 * size} bytes)", float(error), "error per decision", at_most=limit)
    points = np.linspace(0, 4, 64)
    spline = CubicSpline(points, kernels.curves(sets, groups, 1, points, k=0.1)[0])
    error = float(np.abs(spline(fine) - truth).max() / DECISIONS)
    yield Figure("64 equal steps and a cubic spline (512 bytes)", error, "error per decision")
