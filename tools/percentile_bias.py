"""How far percentile fitting is off: choices simulated on real full lists, s and c fitted back in all three ways.

    .venv/bin/python tools/percentile_bias.py measurements/full_lists_sf151.jsonl.gz --budget 10

In: positions with every legal move valued. Players of the paper's own (s, c) choose; sets of 500, 5,000 and 20,000
decisions are fitted. Out: the mean of estimate − truth in units of the truth, with its standard error, one row per
fit, size and truth. The budget is minutes of CPU; it decides how many sets are drawn.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from skilloscope.decision import Decisions
from skilloscope.models.curves import CurveModel
from skilloscope.ratings.curve_fits import FITS, fit_curves
from skilloscope.simulate.deciders import simulate_curve_choices
from spreads import exported_spreads

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
    parser.add_argument("--figure", type=Path, help="draw the biases into this SVG file")
    parser.add_argument("--table", type=Path, help="draw a table that was printed before; nothing is fitted")
    arguments = parser.parse_args()
    rows = arguments.table.read_text().splitlines() if arguments.table else list(computed(arguments))
    if arguments.figure:
        arguments.figure.write_text(figure([row for row in rows if "±" in row]), encoding="utf-8")


def computed(arguments: argparse.Namespace) -> Iterator[str]:
    """Yield the rows of the table, and print each when it is known."""
    spreads = exported_spreads(arguments.lists)
    share = 60 * arguments.budget / (len(TRUTHS) * len(SIZES))
    print(
        "| fit | decisions | s, c | sets | bias of s | bias of c | within 2 se: s, c |\n|---|---|---|---|---|---|---|"
    )
    for size in SIZES:
        for truth in TRUTHS:
            for how, errors in drawn(spreads, size, truth, share, arguments.seed).items():
                row = f"| {how} | {size:,} | {truth[0]:g}, {truth[1]:g} | {len(errors)} | {cells(errors)} |"
                print(row, flush=True)
                yield row


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


def figure(rows: list[str]) -> str:
    """Return the bias of s by the true s, with two standard errors, one panel for each way of fitting."""
    from skilloscope.report.charts import STYLE, pyplot, svg_text

    plt = pyplot()
    table = [[cell.strip() for cell in row.strip("| ").split("|")] for row in rows]
    with plt.rc_context(fname=STYLE):
        drawing, panels = plt.subplots(1, len(FITS), figsize=(9.0, 3.2), sharey=True)
        for panel, how in zip(panels, FITS, strict=True):
            for shift, size in enumerate(f"{size:,}" for size in SIZES):
                own = [row for row in table if row[0] == how and row[1] == size]
                s = [float(row[2].split(",")[0]) + 0.0015 * (shift - 1) for row in own]
                bias = [[float(part) for part in row[4].rstrip(" %").split(" ± ")] for row in own]
                means, errors = [b for b, _ in bias], [2 * e for _, e in bias]
                panel.errorbar(s, means, errors, marker="o", capsize=2, label=f"{size} decisions")
            panel.axhline(0.0, color="#666666", linewidth=0.8)
            panel.set_title(how)
            panel.set_xlabel("true s, pawns")
        panels[0].set_ylabel("bias of s, %")
        panels[0].legend(fontsize=8)
        return svg_text(drawing)


if __name__ == "__main__":
    main()
