"""Figure of dimensions: each group alone and pooled, one panel of rows per player."""

from __future__ import annotations

from skilloscope.reports.style import COLOURS, plt, style, svg
from skilloscope.studies.dimensions.dimensions import Dimensions
from skilloscope.studies.rate.parts import EloParts

DIMENSIONS_CAPTION = (
    "Filled: with the other groups' help, with its interval; open: from the group's own decisions alone; shaded: what "
    "is common to the groups of a player, ± 1 sd."
)

ELO_DIMENSIONS_CAPTION = (
    "Filled: with the other groups' help, with its interval; open: from the group's own moves alone. The intervals "
    "hold what a model says of the person's style, which is one in all groups: they differ more surely than it looks."
)

_MOST = 6  # players in one figure


def dimensions_figure(study: Dimensions) -> str:
    """Return every group's competence, alone and pooled, with the interval of the pooled one."""
    players = list(study.players)[:_MOST]
    rows = [(player, group) for player in players for group in player.groups]
    with style():
        figure, axes = plt.subplots(figsize=(7.5, 1.1 + 0.4 * len(rows)))
        row = 0
        for place, player in enumerate(players):
            colour = COLOURS[place % len(COLOURS)]
            mean, sd = player.common.mean, player.common.sd
            axes.fill_betweenx(
                [row - 0.5, row + len(player.groups) - 0.5], mean - sd, mean + sd, color=colour, alpha=0.10, linewidth=0
            )
            for group in player.groups:
                low, high = group.pooled.interval(study.mass)
                axes.plot([low, high], [row, row], color=colour, linewidth=2.2, solid_capstyle="butt")
                axes.plot(group.pooled.mean, row, "o", color=colour)
                axes.plot(group.alone.mean, row, "o", color=colour, markerfacecolor="white", alpha=0.8)
                row += 1
        several = len(players) > 1
        names = [f"{player.player}: {group.group}" if several else group.group for player, group in rows]
        axes.set_yticks(range(len(rows)), names)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlabel(f"competence c by {study.by}")
        axes.grid(axis="y", visible=False)
        return svg(figure)


def elo_dimensions_figure(study: EloParts) -> str:
    """Return every group's Elo, alone and with the other groups' help, with the interval of the latter."""
    rows = [(player, part) for player in list(study.players)[:_MOST] for part in player.parts]
    with style():
        figure, axes = plt.subplots(figsize=(7.5, 1.1 + 0.4 * len(rows)))
        colours = {player.player: COLOURS[at % len(COLOURS)] for at, player in enumerate(study.players)}
        for row, (player, part) in enumerate(rows):
            low, high = part.elo.interval(study.mass)
            colour = colours[player.player]
            axes.plot([low, high], [row, row], color=colour, linewidth=2.2, solid_capstyle="butt")
            axes.plot(part.alone.mean, row, "o", color=colour, markerfacecolor="white", alpha=0.8)
            axes.plot(part.elo.mean, row, "o", color=colour)
        several = len(study.players) > 1
        names = [f"{player.player}: {part.played.name}" if several else part.played.name for player, part in rows]
        axes.set_yticks(range(len(rows)), names)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlabel(f"{study.axis.axis}, by {study.by}")
        axes.grid(axis="y", visible=False)
        return svg(figure)


def dimensions_figures(study: Dimensions) -> list[tuple[str, str]]:
    """Return the figures of the study with their captions."""
    return [(dimensions_figure(study), DIMENSIONS_CAPTION)]
