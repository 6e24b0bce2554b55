"""Figures of one position: what each level plays, as bars, and how many find the best move."""

from __future__ import annotations

import numpy as np

from skilloscope.reports.style import COLOURS, plt, style, svg
from skilloscope.studies.moves.moves import MovesStudy, levels
from skilloscope.studies.moves.tables import shown_moves

_MOST = 8


def moves_figure(study: MovesStudy) -> str:
    """Return the likeliest moves, a group of bars each, one bar for each level."""
    report = study.as_dict()
    rows = shown_moves(report, _MOST)
    with style():
        figure, axes = plt.subplots(figsize=(7.5, 3.6))
        place, width = np.arange(len(rows)), 0.8 / len(report["elo"])
        for at, level in enumerate(report["elo"]):
            heights = [100 * move["probability"][at] for move in rows]
            colour = COLOURS[at % len(COLOURS)]
            axes.bar(place + (at + 0.5) * width - 0.4, heights, width, color=colour, label=f"Elo {level:g}")
        best = report["best"]["moves"] if report["best"] else []
        axes.set_xticks(place, [f"{move['san']}{' ★' if move['move'] in best else ''}" for move in rows])
        axes.grid(axis="x", visible=False)
        axes.set_ylabel("played by, %")
        axes.legend(fontsize=9)
        return svg(figure)


def finding_figure(study: MovesStudy) -> str:
    """Return the share of people who find the best move, by their strength."""
    with style():
        figure, axes = plt.subplots(figsize=(7.5, 2.8))
        axes.plot(levels(), 100 * study.found, color=COLOURS[0])
        axes.axhline(50, color="#888888", linewidth=0.8)
        axes.set_ylim(0, 100)
        axes.set_xlabel("FIDE Elo, over-the-board classical play")
        axes.set_ylabel("find the best move, %")
        return svg(figure)


def moves_figures(study: MovesStudy) -> list[tuple[str, str]]:
    """Return the figures of the study with their captions."""
    star = " ★ is the engine's best." if study.best else ""
    bars = (moves_figure(study), f"How often people of each strength play the likeliest moves.{star}")
    if not study.best:
        return [bars]
    return [bars, (finding_figure(study), "How many people of each strength find the engine's best move.")]
