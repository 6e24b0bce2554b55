"""How far percentile fitting is off: choices simulated on real full lists, s and c fitted back in all three ways.

    .venv/bin/python tools/percentile_bias.py measurements/full_lists_sf151.jsonl.gz --budget 10

In: positions with every legal move valued. Players of the paper's own (s, c) choose; sets of 500, 5,000 and 20,000
decisions are fitted. Out: the mean of estimate − truth in units of the truth, with its standard error, one row per
fit, size and truth. The budget is minutes of CPU; it decides how many sets are drawn.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from skilloscope.decision import Decisions
from skilloscope.models.curve_model import CurveModel
from skilloscope.ratings.curve_fitting import FITS, fit_curves
from skilloscope.studies.curve_simulation import exported_spreads, simulate_curve_choices

TRUTHS = (
    (0.080, 0.513),
    (0.111, 0.485),
    (0.143, 0.464),
    (0.168, 0.436),
)  # printed s_fit, c_fit: 2700, 2300, 2000, 1600
SIZES = (500, 5_000, 20_000)
MODEL = CurveModel(rule="full")


def main() -> None:
    """Draw, fit, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lists", type=Path)
    parser.add_argument("--budget", type=float, default=10.0, metavar="MINUTES", help="of CPU time")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    spreads = exported_spreads(arguments.lists)
    share = 60 * arguments.budget / (len(TRUTHS) * len(SIZES))
    print(
        "| fit | decisions | s, c | sets | bias of s | bias of c | within 2 se: s, c |\n|---|---|---|---|---|---|---|"
    )
    for size in SIZES:
        for truth in TRUTHS:
            for how, errors in drawn(spreads, size, truth, share, arguments.seed).items():
                print(
                    f"| {how} | {size:,} | {truth[0]:g}, {truth[1]:g} | {len(errors)} | {cells(errors)} |", flush=True
                )


def drawn(
    spreads: Decisions, size: int, truth: tuple[float, float], seconds: float, seed: int
) -> dict[str, list[tuple[float, ...]]]:
    """Return (relative error of s and of c, whether each is within two standard errors) of as many sets as fit."""
    rng = np.random.default_rng(seed)
    begin, found = time.process_time(), {how: [] for how in FITS}
    while time.process_time() - begin < seconds or len(found["moments"]) < 10:
        picked = spreads.select(rng.integers(len(spreads), size=size))
        columns, _ = MODEL.columns(simulate_curve_choices(picked, *truth, model=MODEL, rng=rng))
        for how in FITS:
            fit = fit_curves(columns, MODEL, how)
            errors = (fit.s - truth[0], fit.c - truth[1])
            found[how].append(
                (
                    errors[0] / truth[0],
                    errors[1] / truth[1],
                    *(abs(e) < 2 * sd for e, sd in zip(errors, (fit.s_sd, fit.c_sd), strict=True)),
                )
            )
    return found


def cells(errors: list[tuple[float, ...]]) -> str:
    """Return the biases in per cent with their standard errors, and the shares within two standard errors."""
    table = np.array(errors, dtype=float)
    mean, error = 100 * table.mean(axis=0), 100 * table.std(axis=0) / np.sqrt(len(table))
    biases = [f"{mean[i]:+.1f} ± {error[i]:.1f} %" for i in (0, 1)]
    return f"{biases[0]} | {biases[1]} | {table[:, 2].mean():.2f}, {table[:, 3].mean():.2f}"


if __name__ == "__main__":
    main()
