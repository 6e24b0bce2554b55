"""Figures of a tournament: perceived strengths with intervals."""

from __future__ import annotations

import numpy as np

from skilloscope.reports.style import COLOURS, plt, style, svg
from skilloscope.studies.tournament.tournament import Tournament

_MOST = 25  # players in one figure; more are in the table


def strengths_figure(study: Tournament, event: str) -> str:
    """Return the perceived Elo of an event's players with intervals, strongest on top, their rating and axis Elo."""
    own = [at for at, entry in enumerate(study.entries) if entry.event == event]
    rated = bool(np.isfinite(study.perceived.elo[own]).any())
    strength = study.perceived.elo if rated else study.perceived.relative
    spread = study.strengths if rated else study.relatives
    low, high = spread.low, spread.high
    own = [at for at in own if np.isfinite(strength[at])]
    shown = sorted(own, key=lambda at: -strength[at])[:_MOST]
    with style():
        figure, axes = plt.subplots(figsize=(7.5, 1.1 + 0.38 * len(shown)))
        for row, at in enumerate(shown):
            axes.plot([low[at], high[at]], [row, row], color=COLOURS[0], linewidth=2.5, solid_capstyle="butt")
            axes.plot(strength[at], row, "o", color=COLOURS[0], markerfacecolor="white", markeredgewidth=2)
            axis = study.axis.of(event, study.entries[at].player)
            if rated and axis["axis_elo"] is not None:
                axes.plot([axis["axis_low"], axis["axis_high"]], [row + 0.18] * 2, color=COLOURS[2], linewidth=1)
                axes.plot(axis["axis_elo"], row + 0.18, "s", color=COLOURS[2], markersize=4)
            axes.plot(study.entries[at].elo, row, "|", color=COLOURS[1], markersize=12, markeredgewidth=2)
        axes.plot([], [], "o", color=COLOURS[0], markerfacecolor="white", markeredgewidth=2, label="by gain")
        if rated:
            axes.plot([], [], "|", color=COLOURS[1], markersize=12, markeredgewidth=2, label="rating")
            if study.axis.players:
                axes.plot([], [], "s-", color=COLOURS[2], markersize=4, linewidth=1, label="Elo, one axis")
        axes.set_yticks(range(len(shown)), [study.entries[at].player for at in shown])
        axes.set_ylim(len(shown) - 0.5, -0.5)
        anchor = "Elo; by gain: around the mean rating of the event's players"
        axes.set_xlabel(anchor if rated else "Elo difference to the mean of the event's players; no rating is known")
        axes.grid(axis="y", visible=False)
        axes.legend(fontsize=9, loc="lower left", bbox_to_anchor=(0, 1), ncols=3)
        return svg(figure)


def tournament_figures(study: Tournament) -> list[tuple[str, str]]:
    """Return the figures of the study with their captions."""
    caption = "Differences by gain with intervals over games, beside the rating and the Elo of the one axis."
    events = dict.fromkeys(entry.event for entry in study.entries)
    return [(strengths_figure(study, event), f"{event or 'All games'}: {caption}") for event in events]
