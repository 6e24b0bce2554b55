"""Figures in one style, as SVG text that a page can hold inline. No script, no font from elsewhere.

Each figure is one function: ratings in, SVG out. The same input gives the same bytes.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from skilloscope.decision import Decisions
from skilloscope.studies.rating import PlayerRating, Ratings, group_name, loss_with_floor

__all__ = ["competence_figure", "elo_figure", "loss_figure", "style"]

_MOST = 20  # players in one figure; more are in the table
_STYLE: Any = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#666666",
    "axes.grid": True,
    "axes.labelcolor": "#333333",
    "axes.prop_cycle": "cycler('color', ['#1b6ca8', '#d1495b', '#2e8b57', '#b8860b', '#6a4c93', '#00798c', '#8d6a4f'])",
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.constrained_layout.use": True,  # every figure is as wide as the others, so that letters are equally large
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "grid.color": "#e3e3e3",
    "legend.frameon": False,
    "svg.hashsalt": "skilloscope",
    "text.color": "#222222",
    "text.parse_math": False,  # a name with dollar signs is a name
    "xtick.color": "#444444",
    "ytick.color": "#444444",
}


@contextmanager
def style() -> Iterator[None]:
    """Draw in the house style."""
    with plt.rc_context(_STYLE):
        yield


def elo_figure(ratings: Ratings) -> str:
    """Return every player's Elo with its interval, strongest on top."""
    players = list(ratings.players)[:_MOST]
    with style():
        figure, axes = plt.subplots(figsize=(7.5, 1.0 + 0.38 * len(players)))
        for row, player in enumerate(players):
            low, high = player.elo.interval(ratings.mass)
            axes.plot([low, high], [row, row], color="#1b6ca8", linewidth=2.5, solid_capstyle="butt")
            axes.plot(player.elo.mean, row, "o", color="#1b6ca8", markerfacecolor="white", markeredgewidth=2)
        axes.axvspan(*ratings.scale.valid, color="#1b6ca8", alpha=0.06, zorder=0)
        axes.set_yticks(range(len(players)), [player.player for player in players])
        axes.set_ylim(len(players) - 0.5, -0.5)
        axes.set_xlabel(ratings.scale.axis)
        axes.grid(axis="y", visible=False)
        return _svg(figure)


def competence_figure(ratings: Ratings, truth: Mapping[str, float] | None = None) -> str:
    """Return the posterior densities of c; a dashed line where the true c of a simulated player is known. [DFH13 2a]"""
    with style():
        figure, axes = plt.subplots(figsize=(7.5, 3.6))
        for player in list(ratings.players)[:8]:
            at, density = player.c.at[::4], player.c.density[::4]  # a quarter of the points draws the same line
            line = axes.plot(at, density, label=player.player)[0]
            axes.fill_between(at, density, color=line.get_color(), alpha=0.10)
            if truth and player.player in truth:
                axes.axvline(truth[player.player], color=line.get_color(), linestyle="--", linewidth=1.2)
        axes.set_xlabel("competence c of the reference agent" + ("; dashed: the true c" if truth else ""))
        axes.set_ylabel("posterior density")
        axes.set_ylim(bottom=0)
        axes.set_xlim(*_mass_range(ratings.players))
        axes.legend(fontsize=9)
        return _svg(figure)


def loss_figure(decisions: Decisions, ratings: Ratings, by: str = "player") -> str:
    """Return how often each player (or group) lost at least so much: the share of choices by loss, on a log axis."""
    groups = {group_name(label): batch for label, batch in decisions.group_by(by).items()}
    thresholds = np.geomspace(0.05, 3.0, 60)
    with style():
        figure, axes = plt.subplots(figsize=(7.5, 3.4))
        for player in list(ratings.players)[:8]:
            loss = loss_with_floor(groups[player.player])
            axes.plot(thresholds, [(loss >= t).mean() for t in thresholds], label=player.player)
        axes.set_xscale("log")
        axes.set_xticks([0.05, 0.1, 0.2, 0.5, 1, 2, 3], ["0.05", "0.1", "0.2", "0.5", "1", "2", "3"])
        axes.minorticks_off()
        axes.set_xlabel("loss against the best move, in pawns, at least")
        axes.set_ylabel("share of decisions")
        axes.set_ylim(bottom=0)
        axes.legend(fontsize=9)
        return _svg(figure)


def _mass_range(players: Sequence[PlayerRating]) -> tuple[float, float]:
    bounds = np.array([player.c.interval(0.999) for player in players])
    return float(bounds[:, 0].min()), float(bounds[:, 1].max())


def _svg(figure: Figure) -> str:
    """Return the figure as SVG text without the XML head, for use inside a page."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    plt.close(figure)
    text = buffer.getvalue()
    return text[text.index("<svg") :]
