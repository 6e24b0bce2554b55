"""The curves of RH11 on a million decisions: fits in CPU-seconds, implicit models in positions per CPU-second."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.measure import Figure, cpu_seconds
from skilloscope.models.curves import CurveColumns, CurveModel, curve, probabilities
from skilloscope.models.kernels.curves import scores
from skilloscope.ratings.curve_fits import fit_curves
from skilloscope.simulate.deciders import made_up_spreads, simulate_curve_choices

DECISIONS = 1_000_000
S, C = 0.1, 0.5


def figures() -> Iterator[Figure]:
    rng = np.random.default_rng(1)
    model = CurveModel(scaling=0.0)
    batch = simulate_curve_choices(made_up_spreads(DECISIONS, 10, rng=rng), S, C, model=model, rng=rng)
    columns, _ = model.columns(batch)
    fit_curves(columns.part(0, 1000), model)  # compiles
    fit_curves(columns.part(0, 1000), model, "percentile")
    for how, limit in (("likelihood", 10.0), ("percentile", 60.0), ("moments", 60.0)):
        seconds = cpu_seconds(lambda how=how: fit_curves(columns, model, how), 1)
        yield Figure(f"shares, a million decisions, fit by {how}", seconds, "CPU-seconds", at_most=limit)
    few = columns.part(0, 200_000)
    for mapping, least in (("shares", 1.0), ("powers", 1.0), ("third", None)):
        yield Figure(f"{mapping}: log-likelihood and slopes", rate(few, mapping), "M positions per CPU-second", least)
    solved = 2000 / cpu_seconds(lambda: readable(columns, 2000), 1)
    yield Figure("powers: compiled against readable", 1e6 * rate(few, "powers") / solved, "times", at_least=50)


def rate(columns: CurveColumns, mapping: str) -> float:
    """Return millions of positions per CPU-second."""
    return len(columns) / cpu_seconds(lambda: scores(columns, mapping, "invexp", np.log(S), C), 3) / 1e6


def readable(columns: CurveColumns, n: int) -> None:
    """Solve n positions of powers one after another by the readable functions."""
    for i in range(n):
        losses = columns.losses[columns.offsets[i] : columns.offsets[i + 1]]
        probabilities(curve("invexp").log_g(losses, S, C), "powers")
