"""Figures inside games: one point per game, and both players' competence after every move."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from skilloscope.reports.style import COLOURS, plt, style, svg
from skilloscope.studies.within.elo import EloWithinGames, RunningElo
from skilloscope.studies.within.within import RunningCompetence, WithinGames

_MANY = 40  # games, beyond which symbols and lines are drawn smaller and fainter
_RESULTS = (
    (1.0, "win", "s", COLOURS[2]),
    (0.5, "draw", "o", COLOURS[0]),
    (0.0, "loss", "X", COLOURS[1]),
    (None, "unknown result", "D", "#888888"),
)


def within_figure(study: WithinGames) -> str:
    """Return the within-game chart: own c̄ against the opponent's, symbols by result, a marked opponent filled. [7]"""
    return _chart(study, "competence c̄", floor=0.0)


def elo_within_figure(study: EloWithinGames) -> str:
    """Return the within-game chart on the Elo axis: own Elo in each game against the opponent's, symbols by result."""
    return _chart(study, "Elo", floor=None)


def _chart(study: WithinGames | EloWithinGames, what: str, floor: float | None) -> str:
    with style():
        figure, axes = plt.subplots(figsize=(7.5, 6.0))
        for score, _, marker, colour in _RESULTS:
            for marked in (False, True):
                _points(axes, study, score, marked, marker, colour)
        axes.axvline(study.overall.posterior.mean, color="#666666", linestyle="--", linewidth=1.1, zorder=1)
        axes.axhline(study.opponents.posterior.mean, color="#666666", linestyle=":", linewidth=1.1, zorder=1)
        axes.set_xlabel(f"{what} of {study.player} in the game (dashed: all games together)")
        axes.set_ylabel(f"{what} of the opponent (dotted: all together)")
        axes.set_xlim(*_limits(study, "own", floor))
        axes.set_ylim(*_limits(study, "other", floor))
        signs = _signs(study)
        place: dict[str, Any] = {"bbox_to_anchor": (0.5, 1.0), "ncols": len(signs), "handletextpad": 0.2}
        axes.legend(handles=signs, loc="lower center", fontsize=9, **place)
        return svg(figure)


def _signs(study: WithinGames | EloWithinGames) -> list[Line2D]:
    """Return the legend: a symbol for each result that occurs, and what a filled one means."""
    seen = {point.score for point in study.games}
    face = "white" if study.mark else None
    known = [(name, marker, colour, face) for score, name, marker, colour in _RESULTS if score in seen]
    if study.mark:
        known.append((f"filled: against {study.mark}", "o", "#555555", None))
    return [
        Line2D([], [], ls="", marker=marker, markersize=8, color=colour, markerfacecolor=fill or colour, label=name)
        for name, marker, colour, fill in known
    ]


def _points(
    axes: Any, study: WithinGames | EloWithinGames, score: float | None, marked: bool, marker: str, colour: str
) -> None:
    points = [point for point in study.games if point.score == score and point.marked == marked]
    if not points:
        return
    x, y = ([getattr(p, side).posterior.mean for p in points] for side in ("own", "other"))
    widths = [[getattr(p, side).posterior.sd for p in points] for side in ("own", "other")]
    many = len(study.games) > _MANY
    bars: dict[str, Any] = {"fmt": "none", "ecolor": colour, "elinewidth": 0.7, "alpha": 0.13 if many else 0.28}
    axes.errorbar(x, y, xerr=widths[0], yerr=widths[1], zorder=2, **bars)
    face = colour if marked or study.mark is None else "white"
    look: dict[str, Any] = {"facecolor": face, "edgecolor": colour, "linewidth": 1.4, "s": 30 if many else 62}
    axes.scatter(x, y, marker=marker, zorder=3, **look)


def _limits(study: WithinGames | EloWithinGames, side: str, floor: float | None) -> tuple[float, float]:
    """Return limits that hold every point and its sd."""
    posteriors = [getattr(point, side).posterior for point in study.games]
    low = min(p.mean - p.sd for p in posteriors)
    high = max(p.mean + p.sd for p in posteriors)
    room = 0.04 * (high - low)
    return low - room if floor is None else max(floor, low - room), high + room


def running_elo_figure(study: RunningElo) -> str:
    """Return both players' Elo after every move: mean and interval."""
    with style():
        figure, axes = plt.subplots(figsize=(7.5, 4.0))
        for name, colour in zip(dict.fromkeys(row["player"] for row in study.rows), COLOURS, strict=False):
            own = [row for row in study.rows if row["player"] == name]
            move = [1 + row["ply"] / 2 for row in own]
            low, high, mean = ([row[field] for row in own] for field in ("elo_low", "elo_high", "elo"))
            axes.fill_between(move, low, high, step="post", color=colour, alpha=0.13, linewidth=0)
            axes.step(move, mean, where="post", color=colour, label=name)
        axes.set_xlabel("move")
        axes.set_ylabel(f"Elo, mean and {100 * study.mass:g} % interval")
        axes.legend(fontsize=9, loc="upper right", ncols=2)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        return svg(figure)


def running_figure(study: RunningCompetence) -> str:
    """Return both players' posterior of c after every decision: mean and interval, with what each choice lost."""
    names = [name for name in study.deciders if len(study.rows_of(name))]
    chess = any(study.move)  # a move of chess is two plies; elsewhere decisions are counted one by one
    with style():
        figure, (top, bottom) = plt.subplots(
            2, 1, figsize=(7.5, 5.0), sharex=True, gridspec_kw={"height_ratios": [3, 1]}
        )
        for name, colour in zip(names, COLOURS, strict=False):
            rows = study.rows_of(name)
            move = 1 + study.ply[rows] / (2 if chess else 1)
            band = study.low[rows], study.high[rows]
            top.fill_between(move, *band, step="post", color=colour, alpha=0.13, linewidth=0)
            top.step(move, study.c[rows], where="post", color=colour, label=name)
            loss = np.nan_to_num(study.loss[rows])
            bottom.bar(move, loss, width=0.42, color=colour)
            lost = np.isnan(study.loss[rows])
            bottom.plot(move[lost], np.zeros(lost.sum()), "x", color=colour, markersize=5, clip_on=False)
        top.set_ylabel(f"c, mean and {100 * study.mass:g} % interval")
        top.legend(fontsize=9, loc="upper right", ncols=len(names))
        top.set_ylim(0, 1.12 * float(study.high.max()))
        bottom.set_ylabel("loss")
        outside = "; ×: a choice outside the list" if np.isnan(study.loss).any() else ""
        bottom.set_xlabel(("move" if chess else "decision") + outside)
        bottom.set_ylim(bottom=0)
        bottom.xaxis.set_major_locator(MaxNLocator(integer=True))
        return svg(figure)


def within_games_figures(study: WithinGames) -> list[tuple[str, str]]:
    """Return the figures of the study with their captions."""
    caption = (
        f"One point per game of {study.player}: the posterior mean of c of each side under a prior {study.prior}; thin "
        "lines are one standard deviation. Symbols show the result."
    )
    return [(within_figure(study), caption)]


def running_competence_figures(study: RunningCompetence) -> list[tuple[str, str]]:
    """Return the figures of the study with their captions."""
    return [(running_figure(study), f"Each player's posterior of c after every decision; prior {study.prior}.")]
