"""The figure of evaluation scaling: losses by evaluation, before and after."""

from __future__ import annotations

from skilloscope.models.scaling import Flatness
from skilloscope.reports.style import plt, style, svg


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
