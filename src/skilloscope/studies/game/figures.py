"""Figures of a game by gain: evaluation and running strength through it, histograms of gain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from skilloscope.models.gain import GainHistogram
from skilloscope.reports.style import COLOURS, plt, style, svg
from skilloscope.reports.words import plural
from skilloscope.studies.game.game import GameSide, GameStudy

_EVEN = 10.0  # pawns shown of the evaluation; beyond it the game is decided, and the rest would be flat


def game_figure(study: GameStudy) -> str:
    """Return the evaluation after each move, and below it both players' difference to the engine. [FER12 figure 6]

    Where the difference is infinite a triangle stands at the edge.
    """
    with style():
        figure, (above, below) = plt.subplots(
            2, 1, figsize=(7.5, 5.4), sharex=True, gridspec_kw={"height_ratios": [1, 1.6]}
        )
        number = np.arange(len(study.values)) / 2 + 0.5
        values = np.clip(study.values, -_EVEN, _EVEN)
        above.axhline(0, color="#888888", linewidth=0.8)
        above.fill_between(number, values, color="#8d6a4f", alpha=0.15, step="post")
        above.step(number, values, color="#8d6a4f", where="post", linewidth=1.4)
        above.set_ylabel("evaluation, pawns\n(white's view)")
        above.set_ylim(-1.08 * max(1.0, np.nanmax(np.abs(values))), 1.08 * max(1.0, np.nanmax(np.abs(values))))
        low, high = _limits(study)
        for side, colour in zip(study.sides, COLOURS, strict=False):
            _running_line(below, side, colour, low, high)
        below.axhline(0, color="#888888", linewidth=0.8)
        below.set_ylim(low, high)
        below.set_xlabel("move")
        below.set_ylabel("Elo difference to the engine")
        below.legend(fontsize=9, loc="lower right")
        return svg(figure)


def histogram_figure(histograms: Mapping[str, GainHistogram], *, span: tuple[int, int] = (-150, 100)) -> str:
    """Return the normalised histograms of gain, one panel each, in steps of one centipawn. [FER12 figure 3]"""
    with style():
        shown = list(histograms.items())[:12]
        rows = max(1, (len(shown) + 1) // 2)
        figure, axes = plt.subplots(rows, 2, figsize=(7.5, 0.6 + 1.7 * rows), sharex=True, sharey=True, squeeze=False)
        for place, axis in enumerate(axes.flat):
            if place >= len(shown):
                axis.set_visible(False)
                continue
            name, own = shown[place]
            axis.bar(own.centipawns, own.shares, width=1.0, color=COLOURS[0])
            axis.set_title(f"{name} ({plural(own.moves, 'move')}, mean {own.mean:.2f})", fontsize=9)
            axis.set_xlim(*span)
            axis.set_xticks(np.arange(span[0] + 50, span[1], 50))
        for axis in axes[-1]:
            axis.set_xlabel("gain, centipawns")
        for axis in axes[:, 0]:
            axis.set_ylabel("share")
        return svg(figure)


def game_study_figures(study: GameStudy) -> list[tuple[str, str]]:
    """Return the figures of the study with their captions."""
    caption = (
        "Evaluation after each move, cut at ±10 pawns, and each player's Elo difference to the engine from all own "
        "moves so far, with its interval as a band; a triangle at the edge stands for an infinite difference."
    )
    return [(game_figure(study), caption)]


def _running_line(axes: Any, side: GameSide, colour: str, low: float, high: float) -> None:
    d, move = side.running.elo_difference, side.ply / 2 + 1
    finite = np.isfinite(d)
    last = d[-1] if len(d) else np.nan
    said = f"{side.player} ({'–∞' if last == -np.inf else '+∞' if last == np.inf else f'{last:+.0f}'})"
    ends = [np.nan_to_num(np.clip(end, low, high), nan=0.0) for end in (side.running.low, side.running.high)]
    axes.fill_between(
        move, *ends, where=np.isfinite(side.running.expected_score), color=colour, alpha=0.15, linewidth=0
    )
    axes.plot(move, np.where(finite, d, np.nan), color=colour, label=said)
    for infinite, edge, marker in ((-np.inf, low, "v"), (np.inf, high, "^")):
        at = move[d == infinite]
        axes.plot(at, np.full(len(at), edge), marker, color=colour, markersize=7, clip_on=False, linestyle="none")


def _limits(study: GameStudy) -> tuple[float, float]:
    """Return the ends of the axis: they hold all finite differences, and the intervals after the last moves."""
    ends = [end[-1:] for side in study.sides for end in (side.running.low, side.running.high)]
    d = np.concatenate([*(side.running.elo_difference for side in study.sides), *ends])
    finite = d[np.isfinite(d)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (-100.0, 100.0)
    margin = 0.08 * max(high - low, 100.0)
    return min(low, 0) - margin, max(high, 0) + margin
