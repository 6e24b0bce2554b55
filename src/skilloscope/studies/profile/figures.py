"""Figures of profiles: competence over time with bands, beside the Elo that the games carry. [DFH13 figures 4–6]"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from skilloscope.reports.style import COLOURS, plt, style, svg
from skilloscope.studies.profile.profile import ComparedPriors, Profile
from skilloscope.studies.rate.parts import EloParts

T = TypeVar("T")

PROFILE_CAPTION = (
    "Line: posterior mean from the moves; band: interval; dotted: the mean Elo in the headers of the same games, "
    "which the estimate does not use. A line is broken where there are no games."
)

_MOST = 7  # players in one figure: as many as there are colours
_DOTTED = (0, (1, 1.3))
_TITLES = {
    "carry": "carry: the prior is the posterior of the period before",
    "widen": "widen: normal prior, the mean and twice the sd of the period before",
    "reset": "reset: every period alone",
    "drift": "drift: random walk with fitted drift, smoothed",
}


def profile_figure(profile: Profile) -> str:
    """Return the players of a profile on one chart: line and band from the moves, dotted the Elo in the games."""
    with style():
        figure, axes = plt.subplots(figsize=(7.5, 4.2))
        _draw(axes, profile)
        _label(axes, profile)
        handles, labels = _handles(axes, profile)
        figure.legend(handles, labels, loc="outside upper center", ncols=min(len(handles), 4), fontsize=9)
        return svg(figure)


def elo_profile_figure(study: EloParts) -> str:
    """Return the players of a profile on the Elo axis: line and band from the moves, dotted the Elo in the games."""
    with style():
        figure, axes = plt.subplots(figsize=(7.5, 4.2))
        for player, colour in zip(study.players, COLOURS, strict=False):
            for part in _runs(player.parts, [one.played.time for one in player.parts], study.by):
                time = np.array([one.played.time for one in part])
                mean = np.array([one.elo.mean for one in part])
                bounds = np.array([one.elo.interval(study.mass) for one in part])
                axes.fill_between(time, bounds[:, 0], bounds[:, 1], color=colour, alpha=0.13, linewidth=0)
                if len(part) == 1:
                    axes.errorbar(time, mean, [mean - bounds[:, 0], bounds[:, 1] - mean], color=colour, alpha=0.35)
                axes.plot(time, mean, color=colour, marker="o", markersize=2.6, linewidth=1.5)
                known = [(one.played.time, elo) for one in part if (elo := one.played.group.header_elo) is not None]
                if known:
                    axes.plot(*zip(*known, strict=True), color=colour, linestyle=_DOTTED, marker=".", markersize=1.5)
        axes.set_xlabel({"event": "year", "month": "year"}.get(study.by, study.by))
        axes.set_ylabel(study.axis.axis)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        names = [player.player for player, _ in zip(study.players, COLOURS, strict=False)]
        handles: list[Artist] = [axes.plot([], [], color=COLOURS[at])[0] for at in range(len(names))]
        handles += [axes.fill_between([], [], [], color="#888888", alpha=0.25, linewidth=0)]
        handles += [axes.plot([], [], color="#555555", linestyle=_DOTTED)[0]]
        labels = [*names, f"{100 * study.mass:g} % interval", "Elo in the games"]
        figure.legend(handles, labels, loc="outside upper center", ncols=min(len(handles), 4), fontsize=9)
        return svg(figure)


def priors_figure(profiles: Sequence[Profile], truth: Mapping[float, float] | None = None) -> str:
    """Return one panel per prior, of the same players on the same axes; dashed, where it is known, the true c by time.

    [DFH13 figure 6]
    """
    with style():
        figure, panels = plt.subplots(
            len(profiles), 1, figsize=(7.5, 0.8 + 2.5 * len(profiles)), sharex=True, sharey=True, squeeze=False
        )
        for axes, profile in zip(panels[:, 0], profiles, strict=True):
            _draw(axes, profile)
            if truth:
                axes.plot(list(truth), list(truth.values()), color="#222222", linestyle="--", linewidth=1.1)
            axes.set_title(_TITLES[profile.prior], fontsize=10, loc="left")
            axes.set_ylabel(_short(profile))
        _label(panels[-1, 0], profiles[-1])
        panels[-1, 0].set_ylabel(_short(profiles[-1]))
        _limits(panels[0, 0], profiles)
        handles, labels = _handles(panels[0, 0], profiles[0])
        if truth:
            handles.append(panels[0, 0].plot([], [], color="#222222", linestyle="--", linewidth=1.1)[0])
            labels.append("the true c")
        figure.legend(handles, labels, loc="outside upper center", ncols=min(len(handles), 4), fontsize=9)
        return svg(figure)


def profile_figures(study: Profile) -> list[tuple[str, str]]:
    """Return the figures of the study with their captions."""
    return [(profile_figure(study), PROFILE_CAPTION)]


def compared_priors_figures(study: ComparedPriors) -> list[tuple[str, str]]:
    """Return the figures of the study with their captions."""
    return [(priors_figure(study.profiles), PROFILE_CAPTION)]


def _draw(axes: Axes, profile: Profile) -> None:
    for place, player in enumerate(list(profile.players)[:_MOST]):
        colour = COLOURS[place % len(COLOURS)]
        for part in _runs(player.periods, [one.time for one in player.periods], profile.every):
            shown = [one.elo or one.c for one in part]
            time = np.array([one.time for one in part])
            mean = np.array([posterior.mean for posterior in shown])
            bounds = np.array([posterior.interval(profile.mass) for posterior in shown])
            axes.fill_between(time, bounds[:, 0], bounds[:, 1], color=colour, alpha=0.13, linewidth=0)
            if len(part) == 1:
                axes.errorbar(time, mean, [mean - bounds[:, 0], bounds[:, 1] - mean], color=colour, alpha=0.35)
            axes.plot(time, mean, color=colour, marker="o", markersize=2.6, linewidth=1.5)
            known = [(one.time, one.header_elo) for one in part if one.header_elo is not None]
            if profile.scale is not None and known:
                axes.plot(*zip(*known, strict=True), color=colour, linestyle=_DOTTED, marker=".", markersize=1.5)


def _runs(periods: Sequence[T], times: Sequence[float], every: str) -> list[list[T]]:
    """Return a player's periods in runs: a line does not cross a gap of years or months without games."""
    step = {"year": 1.0, "month": 1 / 12}.get(every)
    runs: list[list[T]] = []
    for at, one in enumerate(periods):
        if runs and (step is None or times[at] - times[at - 1] < 1.5 * step):
            runs[-1].append(one)
        else:
            runs.append([one])
    return runs


def _label(axes: Axes, profile: Profile) -> None:
    axes.set_xlabel({"event": "year", "month": "year"}.get(profile.every, profile.every))
    axes.set_ylabel(profile.scale.axis if profile.scale else "competence c")
    _limits(axes, [profile])
    if profile.scale is None:
        times = {one.time: one.period for player in profile.players for one in player.periods}
        if profile.unit.startswith("step of"):
            axes.set_xticks(list(times), list(times.values()))


def _short(profile: Profile) -> str:
    return "Elo" if profile.scale else "c"


def _limits(axes: Axes, profiles: Sequence[Profile]) -> None:
    """Show every mean whole, and of the bands what is near: a period of a few decisions must not flatten the rest."""
    shown = [one for profile in profiles for player in profile.players for one in player.periods]
    means = np.array([(one.elo or one.c).mean for one in shown])
    bounds = np.array([(one.elo or one.c).interval(profiles[0].mass) for one in shown])
    headers = [one.header_elo for one in shown if one.header_elo is not None] if profiles[0].scale else []
    low = min([*means, *headers, np.quantile(bounds[:, 0], 0.1)])
    high = max([*means, *headers, np.quantile(bounds[:, 1], 0.9)])
    room = 0.04 * (high - low)
    axes.set_ylim(low - room, high + room)


def _handles(axes: Axes, profile: Profile) -> tuple[list[Artist], list[str]]:
    names = [player.player for player in list(profile.players)[:_MOST]]
    handles: list[Artist] = [axes.plot([], [], color=COLOURS[place % len(COLOURS)])[0] for place in range(len(names))]
    band = axes.fill_between([], [], [], color="#888888", alpha=0.25, linewidth=0)
    labels = [*names, f"{100 * profile.mass:g} % interval"]
    handles.append(band)
    if profile.scale is not None and any(one.header_elo for player in profile.players for one in player.periods):
        handles.append(axes.plot([], [], color="#555555", linestyle=_DOTTED)[0])
        labels.append("Elo in the games")
    return handles, labels
