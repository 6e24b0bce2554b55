"""Figures of a rating: Elo with intervals, densities of c, how often they lost how much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from skilloscope.decision import Decisions
from skilloscope.reports.style import plt, style, svg
from skilloscope.studies.rate.elo import EloRating, EloRatings
from skilloscope.studies.rate.rate import PlayerRating, Ratings, group_name, loss_with_floor

_MOST = 20  # players in one figure; more are in the table


def elo_figure(ratings: Ratings | EloRatings, truth: Mapping[str, float] | None = None) -> str:
    """Return every player's Elo with its interval, in their order; a cross where a simulated player's is known."""
    players: list[PlayerRating | EloRating] = [*ratings.players][:_MOST]
    with style():
        figure, axes = plt.subplots(figsize=(7.5, 1.0 + 0.38 * len(players)))
        for row, player in enumerate(players):
            low, high = player.elo.interval(ratings.mass)
            axes.plot([low, high], [row, row], color="#1b6ca8", linewidth=2.5, solid_capstyle="butt")
            axes.plot(player.elo.mean, row, "o", color="#1b6ca8", markerfacecolor="white", markeredgewidth=2)
            if truth and player.player in truth:
                axes.plot(truth[player.player], row, "x", color="#b3541e", markersize=9, markeredgewidth=2.5, zorder=3)
        axes.axvspan(*ratings.scale.valid, color="#1b6ca8", alpha=0.06, zorder=0)
        axes.set_yticks(range(len(players)), [player.player for player in players])
        axes.set_ylim(len(players) - 0.5, -0.5)
        axes.set_xlabel(ratings.scale.axis)
        axes.grid(axis="y", visible=False)
        return svg(figure)


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
        return svg(figure)


def loss_figure(decisions: Decisions, ratings: Ratings | EloRatings, by: str = "player") -> str:
    """Return how often each player (or group) lost at least so much: the share of choices by loss, on a log axis."""
    groups = {group_name(label): batch for label, batch in decisions.group_by(by).items()}
    thresholds = np.geomspace(0.05, 3.0, 60)
    with style():
        figure, axes = plt.subplots(figsize=(7.5, 3.4))
        for player in [one for one in ratings.players if one.player in groups][:8]:
            loss = loss_with_floor(groups[player.player])
            axes.plot(thresholds, [(loss >= t).mean() for t in thresholds], label=player.player)
        axes.set_xscale("log")
        axes.set_xticks([0.05, 0.1, 0.2, 0.5, 1, 2, 3], ["0.05", "0.1", "0.2", "0.5", "1", "2", "3"])
        axes.minorticks_off()
        axes.set_xlabel("loss against the best move, in pawns, at least")
        axes.set_ylabel("share of decisions")
        axes.set_ylim(bottom=0)
        axes.legend(fontsize=9)
        return svg(figure)


def _mass_range(players: Sequence[PlayerRating]) -> tuple[float, float]:
    bounds = np.array([player.c.interval(0.999) for player in players])
    return float(bounds[:, 0].min()), float(bounds[:, 1].max())
