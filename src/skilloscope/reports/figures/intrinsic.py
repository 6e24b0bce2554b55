"""Figures of the curves: s_fit along the Elo line beside the printed one, and losses before and after scaling."""

from __future__ import annotations

import numpy as np

from skilloscope.models.evaluation_scaling import Flatness
from skilloscope.reports.figures.style import COLOURS, plt, style, svg
from skilloscope.reports.reproduction import figures_of
from skilloscope.studies.intrinsic import Mileposts
from skilloscope.studies.reproduction.harness import paper_table
from skilloscope.studies.reproduction.rh11 import IntrinsicTable, ScalingStudy

__all__ = ["flatness_figure", "milepost_figure"]


def milepost_figure(tables: dict[str, Mileposts]) -> str:
    """Return s_fit by Elo: printed by the paper, and ours with standard errors."""
    table = paper_table("RH11_table")
    markers = {"2006-2009": "o", "1991-1994": "s", "1976-1979": "^"}
    with style():
        figure, axes = plt.subplots(figsize=(7.5, 3.8))
        for colour, (era, marker) in zip(COLOURS, markers.items(), strict=False):
            rows = [row for row in table if row["era"] == era]
            at, values = [int(row["elo"]) for row in rows], [float(row["s_fit"]) for row in rows]
            axes.plot(at, values, marker=marker, color=colour, linewidth=1, label=f"printed, {era}", fillstyle="none")
            if era in tables:
                own = [row for row in tables[era].rows if row.s_fit is not None and row.elo is not None]
                elo = np.array([row.elo for row in own]) + 12
                s = [row.s_fit.s for row in own if row.s_fit]
                sd = [row.s_fit.s_sd for row in own if row.s_fit]
                axes.errorbar(elo, s, sd, fmt=marker, color=colour, capsize=2, label=f"ours beside {era}")
        axes.set_xlabel("Elo")
        axes.set_ylabel("s at c_fit, pawns")
        axes.set_ylim(bottom=0)
        axes.legend(fontsize=8)
        return svg(figure)


def flatness_figure(before: Flatness, after: Flatness) -> str:
    """Return the mean loss by the evaluation before the move, each over its own mean, without and with scaling."""
    with style():
        figure, axes = plt.subplots(figsize=(7.5, 3.4))
        for one, label in ((before, "no scaling"), (after, f"a = {after.a:.2f}")):
            mean = float((one.mean_loss * one.decisions).sum() / one.decisions.sum())
            axes.errorbar(one.centres, one.mean_loss / mean, one.sd / mean, marker="o", capsize=2, label=label)
        axes.axhline(1.0, color="#666666", linewidth=0.8)
        axes.set_xlabel("evaluation before the move, pawns, the mover's view")
        axes.set_ylabel("loss over its mean")
        axes.set_ylim(bottom=0)
        axes.legend(fontsize=9)
        return svg(figure)


@figures_of.register
def _of_mileposts(study: IntrinsicTable) -> list[tuple[str, str]]:
    return [(milepost_figure(study.tables), "s by Elo at the c of the line, the printed ones and ours.")]


@figures_of.register
def _of_scaling(study: ScalingStudy) -> list[tuple[str, str]]:
    caption = "Mean loss by the evaluation before the move, over its own mean, without and with the fitted scaling."
    return [(flatness_figure(study.before, study.after), caption)]
