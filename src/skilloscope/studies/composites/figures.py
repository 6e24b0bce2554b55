"""Figures of composite players: densities, the line to Elo, convergence, apparent skill by result."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.reports.style import COLOURS, plt, style, svg
from skilloscope.studies.composites.composites import Composites
from skilloscope.studies.composites.convergence import Convergence
from skilloscope.studies.composites.results_split import ResultsSplit

DENSITIES_CAPTION = "The posterior of c for each group, as if one agent had made all its decisions."
LINE_CAPTION = (
    "Each point is a milepost, its bar c̄ ± σ. Shaded dark: the error of the line; light: where a further milepost is "
    "expected."
)
CONVERGENCE_CAPTION = (
    "Above: the posterior after so many decisions. Below: its mean and its standard deviation, which falls as 1/√N; "
    "red: the spread of c between player-games with its interval, which does not fall."
)
SPLIT_CAPTION = (
    "Circle: mean c̄ of the player-games, line: its interval over games, pale bar: ± the sd between player-games. "
    "Diamond: c of all their decisions together."
)

Array = npt.NDArray[np.float64]

_MOST = 16  # groups in one figure; more are in the table


def densities_figure(study: Composites) -> str:
    """Return the posterior densities of the composite players. [DFHR09 Figure 1, DFH13 Figure 2a]"""
    groups = list(study.groups)[:_MOST]
    with style():
        figure, axes = plt.subplots(figsize=(7.5, 3.8))
        for group, colour in zip(groups, _ladder(len(groups)), strict=True):
            at, density = group.c.at[::4], group.c.density[::4]
            axes.plot(at, density, color=colour, linewidth=1.6, label=group.name)
            axes.fill_between(at, density, color=colour, alpha=0.10)
        axes.set_xlim(*_range([group.c.interval(0.999) for group in groups]))
        axes.set_ylim(bottom=0)
        axes.set_xlabel("competence c of the reference agent")
        axes.set_ylabel("posterior density")
        axes.legend(title=study.by, fontsize=8, title_fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
        return svg(figure)


def line_figure(study: Composites) -> str:
    """Return Elo against c̄ ± σ with the line, its error and the interval of a further group. [DFH13 Figure 2b]"""
    assert study.line is not None
    c = np.array([group.c.mean for group in study.groups])
    sd = np.array([group.c.sd for group in study.groups])
    elo = np.array([float(group.label) for group in study.groups])
    low, high = float((c - 3 * sd).min()), float((c + 3 * sd).max())
    at = np.linspace(low, high, 101)
    with style():
        figure, axes = plt.subplots(figsize=(7.5, 4.2))
        below, above = study.line.prediction_interval(at, study.mass)
        band = f"{100 * study.mass:g} % prediction interval of a further group"
        axes.fill_between(at, below, above, color=COLOURS[0], alpha=0.08, linewidth=0, label=band)
        error = study.line.line_error(at)
        middle = study.line.elo(at)
        axes.fill_between(
            at, middle - error, middle + error, color=COLOURS[0], alpha=0.25, linewidth=0, label="± the line's error"
        )
        axes.plot(at, middle, color=COLOURS[0], linewidth=1.6, label=_equation(study))
        axes.errorbar(c, elo, xerr=sd, fmt="o", color=COLOURS[1], markersize=4, linewidth=1.4, label="c̄ ± σ")
        axes.set_xlim(low, high)
        axes.set_xlabel("apparent competence c̄")
        axes.set_ylabel("Elo milepost")
        axes.legend(fontsize=8, loc="upper left")
        return svg(figure)


def convergence_figure(study: Convergence) -> str:
    """Return densities, mean and sd as decisions come in, with the spread between games. [DFH13 Figure 3]"""
    with style():
        figure, panels = plt.subplot_mosaic(
            [["density", "density"], ["mean", "sd"]], figsize=(7.5, 6.0), height_ratios=[1.15, 1.0]
        )
        _densities_panel(panels["density"], study)
        _mean_panel(panels["mean"], study)
        _sd_panel(panels["sd"], study)
        return svg(figure)


def split_figure(study: ResultsSplit) -> str:
    """Return the mean c̄ by result with its interval, the sd between player-games, and c of all decisions together."""
    with style():
        figure, axes = plt.subplots(figsize=(7.5, 1.2 + 0.55 * len(study.rows)))
        for at, row in enumerate(study.rows):
            first = at == 0
            ends = [np.nan if end is None else end for end in (row.low, row.high)]
            spread = [row.mean - (row.sd or 0.0), row.mean + (row.sd or 0.0)]
            axes.plot(spread, [at, at], color=COLOURS[0], alpha=0.25, linewidth=7, label="± sd" if first else None)
            axes.plot(ends, [at, at], color=COLOURS[0], linewidth=2.5, label=_mass(study, first))
            axes.plot(row.mean, at, "o", color=COLOURS[0], markerfacecolor="white", markeredgewidth=2, zorder=3)
            pooled = "c of all decisions" if first else None
            axes.plot(row.pooled, at + 0.25, "D", color=COLOURS[1], markersize=5, label=pooled)
        names = [f"{row.result} ({row.player_games:,})" for row in study.rows]
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_xlabel("apparent competence c̄ of player-games")
        axes.grid(axis="y", visible=False)
        axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
        return svg(figure)


def _densities_panel(axes: Any, study: Convergence) -> None:
    steps = [step for step in study.steps if step.decisions >= 10] or list(study.steps)
    for step, colour in zip(steps, _ladder(len(steps)), strict=True):
        axes.plot(step.c.at[::2], step.c.density[::2], color=colour, linewidth=1.6, label=f"{step.decisions:,}")
    axes.set_xlim(*_range([step.c.interval(0.99) for step in steps]))
    axes.set_ylim(bottom=0)
    axes.set_xlabel("competence c")
    axes.set_ylabel("posterior density")
    axes.legend(title="decisions", fontsize=8, title_fontsize=8)


def _mean_panel(axes: Any, study: Convergence) -> None:
    n = np.array([step.decisions for step in study.steps])
    low, high = np.array([step.c.interval(study.mass) for step in study.steps]).T
    axes.fill_between(n, low, high, color=COLOURS[0], alpha=0.15, linewidth=0)
    axes.plot(n, [step.c.mean for step in study.steps], "o-", color=COLOURS[0], markersize=4)
    _decisions_axis(axes, n)
    axes.set_ylabel(f"c̄ with {100 * study.mass:g} % region")


def _sd_panel(axes: Any, study: Convergence) -> None:
    n = np.array([step.decisions for step in study.steps])
    sd = np.array([step.c.sd for step in study.steps])
    axes.plot(n, sd, "o-", color=COLOURS[0], markersize=4, label="σ of one c")
    axes.plot(n, sd[-1] * np.sqrt(n[-1] / n), color="#888888", linestyle=":", label="as 1/√N")
    low, high = 0.7 * float(sd.min()), 1.4 * float(sd.max())
    if study.spread:
        high = max(high, 1.4 * study.spread.high)
        axes.axhspan(max(study.spread.low, low), study.spread.high, color=COLOURS[1], alpha=0.12, linewidth=0)
        axes.axhline(max(study.spread.sd, low), color=COLOURS[1], linewidth=1.6, label="spread between games")
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    ticks = [tick for tick in (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0) if low <= tick <= high]
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    _decisions_axis(axes, n)
    axes.set_ylabel("standard deviation")
    below = study.spread is not None and study.spread.sd**2 > low * high  # the spread's line is in the upper half
    axes.legend(fontsize=8, loc="lower left" if below else "upper right")


def _decisions_axis(axes: Any, n: npt.NDArray[np.int64]) -> None:
    axes.set_xscale("log")
    ticks = [10**e for e in range(12) if n[0] <= 10**e <= n[-1]] or [int(n[-1])]
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.minorticks_off()
    axes.set_xlabel("decisions")


def _equation(study: Composites) -> str:
    assert study.line is not None
    sign = "+" if study.line.intercept >= 0 else "−"
    return f"Elo = {study.line.slope:.0f}·c̄ {sign} {abs(study.line.intercept):.0f}, s = {study.line.residual_sd:.0f}"


def _mass(study: ResultsSplit, first: bool) -> str | None:
    return f"mean, {100 * study.mass:g} % interval" if first else None


def _ladder(n: int) -> list[Any]:
    """Return colours from dark to light for groups that have an order."""
    return [plt.get_cmap("viridis")(share) for share in np.linspace(0.0, 0.88, max(n, 1))]


def _range(bounds: list[tuple[float, float]]) -> tuple[float, float]:
    found = np.array(bounds)
    return float(found[:, 0].min()), float(found[:, 1].max())


def composites_figures(study: Composites) -> list[tuple[str, str]]:
    """Return the figures of the study with their captions."""
    found = [(densities_figure(study), DENSITIES_CAPTION)]
    return [*found, (line_figure(study), LINE_CAPTION)] if study.line else found


def convergence_figures(study: Convergence) -> list[tuple[str, str]]:
    """Return the figures of the study with their captions."""
    return [(convergence_figure(study), f"Group {study.name}. {CONVERGENCE_CAPTION}")]


def results_split_figures(study: ResultsSplit) -> list[tuple[str, str]]:
    """Return the figures of the study with their captions."""
    return [(split_figure(study), f"Group {study.name}. {SPLIT_CAPTION}")]
