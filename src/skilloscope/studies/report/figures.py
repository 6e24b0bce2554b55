"""Figures of a report: Elo by part of the play, Elo over the years, the strength of both players in every game."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skilloscope.reports.style import COLOURS, plt, style, svg
from skilloscope.studies.report.tables import PART_NAMES

if TYPE_CHECKING:
    from skilloscope.studies.rate.elo import EloRatings
    from skilloscope.studies.report.event import EventReport
    from skilloscope.studies.report.player import PlayerReport

_MOST = 24  # groups or games in one figure; the rest is in the table


def parts_figure(report: PlayerReport) -> str:
    """Return Elo with its interval for all the play, then for each part of it."""
    whole = report.rating
    rows = [("all moves", whole.elo.mean, whole.elo.interval(whole.mass), COLOURS[0])]
    for place, (name, part) in enumerate(report.parts.items(), start=1):
        if name != "year":
            rows += _rows(part, COLOURS[place % len(COLOURS)])
    rows = rows[:_MOST]
    with style():
        figure, axes = plt.subplots(figsize=(7.5, 1.0 + 0.34 * len(rows)))
        for row, (_, mean, (low, high), colour) in enumerate(rows):
            axes.plot([low, high], [row, row], color=colour, linewidth=2.5, solid_capstyle="butt")
            axes.plot(mean, row, "o", color=colour, markerfacecolor="white", markeredgewidth=2)
        axes.axvline(whole.elo.mean, color="#888888", linewidth=0.8, linestyle="--")
        axes.set_yticks(range(len(rows)), [name for name, *_ in rows])
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlabel(report.ratings.scale.axis)
        axes.grid(axis="y", visible=False)
        return svg(figure)


def years_figure(years: EloRatings) -> str:
    """Return Elo with its interval year by year."""
    players = sorted(years.players, key=lambda one: one.player)
    with style():
        figure, axes = plt.subplots(figsize=(7.5, 3.4))
        at = range(len(players))
        low, high = zip(*(one.elo.interval(one.mass) for one in players), strict=True)
        axes.vlines(at, low, high, color=COLOURS[0], linewidth=2.5)
        axes.plot(at, [one.elo.mean for one in players], "o-", color=COLOURS[0], markerfacecolor="white", linewidth=1)
        rated = [(place, one.header_elo) for place, one in enumerate(players) if one.header_elo is not None]
        if rated:
            axes.plot(*zip(*rated, strict=True), "D", color=COLOURS[1], markersize=5, label="rating in the headers")
            axes.legend(fontsize=9)
        axes.set_xticks(at, [one.player for one in players], rotation=45 if len(players) > 10 else 0)
        axes.set_ylabel("Elo")
        return svg(figure)


def games_figure(report: EventReport) -> str:
    """Return the Elo of both players in every game, with intervals, the best played game on top."""
    known = [game for game in report.games if game["white"]["elo"] is not None and game["black"]["elo"] is not None]
    games = sorted(known, key=lambda game: -(game["white"]["elo"] + game["black"]["elo"]))[:_MOST]
    with style():
        figure, axes = plt.subplots(figsize=(7.5, 1.2 + 0.34 * len(games)))
        for row, game in enumerate(games):
            for side, shift, marker, colour in (("white", -0.15, "o", COLOURS[3]), ("black", 0.15, "s", COLOURS[4])):
                own, at = game[side], row + shift
                axes.plot([own["elo_low"], own["elo_high"]], [at, at], color=colour, linewidth=1.6)
                label = side.capitalize() if row == 0 else None
                axes.plot(own["elo"], at, marker, color=colour, markersize=5, label=label, linestyle="none")
        names = [f"{game['white']['player']} – {game['black']['player']} {game['result'] or ''}" for game in games]
        axes.set_yticks(range(len(games)), names, fontsize=8)
        axes.set_ylim(len(games) - 0.5, -0.5)
        axes.set_xlabel("Elo by the moves of this game alone")
        axes.grid(axis="y", visible=False)
        axes.legend(fontsize=9, loc="lower right")
        return svg(figure)


def player_figures(report: PlayerReport) -> list[tuple[str, str]]:
    """Return the figures of one player with their captions."""
    caption = f"Elo {', '.join(PART_NAMES[name] for name in report.parts if name != 'year') or 'of all moves'}; "
    found = [(parts_figure(report), f"{caption}line: interval, dashed: all moves together.")]
    if "year" in report.parts:
        found.append((years_figure(report.parts["year"]), "Elo year by year; line: interval of one year alone."))
    return found


def event_figures(report: EventReport) -> list[tuple[str, str]]:
    """Return the figures of an event with their captions."""
    from skilloscope.studies.rate.figures import elo_figure

    shown = "" if len(report.games) <= _MOST else f" The {_MOST} best played of {len(report.games):,} games."
    found = [(elo_figure(report.ratings), "Point: posterior mean; line: interval.")]
    if report.best_played is not None:
        found.append((games_figure(report), f"Both players in every game, best played on top; line: interval.{shown}"))
    return found


def _rows(part: EloRatings, colour: str) -> list[tuple[str, float, tuple[float, float], str]]:
    return [(one.player, one.elo.mean, one.elo.interval(one.mass), colour) for one in part.players]
