"""Figures that hold what a paper prints beside ours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skilloscope.models.agent import likelihood, probability
from skilloscope.papers.harness import paper_table
from skilloscope.reports.style import COLOURS, plt, style, svg
from skilloscope.studies.intrinsic.intrinsic import Mileposts


def milepost_figure(tables: dict[str, Mileposts]) -> str:
    """Return s_fit by Elo: printed by the paper, and ours with standard errors."""
    table = paper_table("RH11_table")
    markers = {"2006-2009": "o", "1991-1994": "s", "1976-1979": "^", "2006-2014": "D"}
    with style():
        figure, axes = plt.subplots(figsize=(7.5, 3.8))
        for colour, (era, marker) in zip(COLOURS, markers.items(), strict=False):
            rows = [row for row in table if row["era"] == era]
            if rows:
                at, values = [int(row["elo"]) for row in rows], [float(row["s_fit"]) for row in rows]
                axes.plot(
                    at, values, marker=marker, color=colour, linewidth=1, label=f"printed, {era}", fillstyle="none"
                )
            own = [row for row in tables[era].rows if row.s_fit is not None] if era in tables else []
            if own:
                elo = np.array([row.elo for row in own], dtype=float) + 12
                s = [row.s_fit.s for row in own if row.s_fit]
                sd = [row.s_fit.s_sd for row in own if row.s_fit]
                axes.errorbar(elo, s, sd, fmt=marker, color=colour, capsize=2, label=f"ours, {era}")
        axes.set_xlabel("Elo")
        axes.set_ylabel("s at c_fit, pawns")
        axes.set_ylim(bottom=0)
        axes.legend(fontsize=8)
        return svg(figure)


def likelihood_figure(losses: Sequence[float], k: float) -> str:
    """Return (1) by c for alternatives that lose so much, and beside it what (2) makes of it. [DFH13 figure 1]"""
    c = np.linspace(0, 4, 161)
    curves = [np.array([function(losses, one, k=k) for one in c]) for function in (likelihood, probability)]
    with style():
        figure, axes = plt.subplots(1, 2, figsize=(9, 3.8))
        for at, loss in enumerate(losses):
            shade = plt.get_cmap("viridis")(at / len(losses))
            for panel, values in zip(axes, curves, strict=True):
                panel.plot(c, values[:, at], color=shade, label=f"{loss:g}")
        axes[0].set_yscale("log")
        axes[0].yaxis.set_major_formatter("{x:g}")
        axes[0].minorticks_off()
        axes[0].set_ylabel("L, logarithmic")
        axes[1].set_ylabel("probability")
        axes[1].legend(fontsize=8, title="pawns lost")
        for panel in axes:
            panel.set_xlabel("c")
        return svg(figure)
