"""Figures of sensitivity: every group's c under each setting, and what each setting gains."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from skilloscope.reports.style import COLOURS, plt, style, svg
from skilloscope.studies.sensitivity.sensitivity import Sensitivity, VariedSetting

_MOST = 20  # groups in one figure; more are in the table
_KINDS = {"depth": "depth", "list": "list", "search": "search", "k": "k", "rule": "rule", "engine": "engine"}


def groups_figure(study: Sensitivity) -> str:
    """Return one panel for each thing that is varied: c of every group, the base in grey."""
    kinds = [kind for kind in _KINDS if any(setting.kind == kind for setting in study.settings)]
    names = list(study.groups)[:_MOST]
    with style():
        rows = max(1, -(-len(kinds) // 2))
        columns = 2 if len(kinds) > 1 else 1
        figure, panels = plt.subplots(rows, columns, figsize=(7.5, 0.6 + 2.9 * rows), squeeze=False)
        for panel, kind in zip(panels.flat, kinds or ["base"], strict=False):
            _panel(panel, [setting for setting in study.settings if setting.kind == kind], study.base, names)
            panel.set_xlabel(study.by)
            panel.set_title(f"another {_KINDS.get(kind, 'setting')}", fontsize=10, loc="left")
        for panel in panels.flat[max(len(kinds), 1) :]:
            panel.set_visible(False)
        for panel in panels[:, 0]:
            panel.set_ylabel("competence c")
        return svg(figure)


def gain_figure(study: Sensitivity) -> str:
    """Return what each comparable setting gains on the base per decision not seen, with its interval."""
    rows = [(setting.name, setting.gain) for setting in study.settings if setting.gain is not None]
    with style():
        figure, axes = plt.subplots(figsize=(7.5, 0.9 + 0.36 * max(len(rows), 1)))
        for at, (_, (gain, low, high)) in enumerate(rows):
            axes.plot([low, high], [at, at], color=COLOURS[0], linewidth=2.5, solid_capstyle="butt")
            axes.plot(gain, at, "o", color=COLOURS[0], markerfacecolor="white", markeredgewidth=2)
        axes.axvline(0.0, color="#666666", linewidth=1)
        axes.set_yticks(range(len(rows)), [name for name, _ in rows])
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlabel("gain in held-out log-likelihood per decision against the base")
        axes.grid(axis="y", visible=False)
        return svg(figure)


def _panel(axes: Axes, settings: Sequence[VariedSetting], base: VariedSetting, names: Sequence[str]) -> None:
    for setting, colour in zip(settings, COLOURS, strict=False):
        _line(axes, setting, names, colour)
    _line(axes, base, names, "#777777")
    axes.set_xticks(range(len(names)), names, fontsize=8)
    if max(map(len, names)) > 3:
        plt.setp(axes.get_xticklabels(), rotation=50, ha="right", rotation_mode="anchor")
    axes.legend(fontsize=8)


def _line(axes: Axes, setting: VariedSetting, names: Sequence[str], colour: str) -> None:
    found = [setting.groups.get(name) for name in names]
    mean = np.array([np.nan if entry is None else entry[1].mean for entry in found])
    sd = np.array([np.nan if entry is None else entry[1].sd for entry in found])
    label = "base" if setting.kind == "base" else setting.name
    at = np.arange(len(names))
    axes.plot(at, mean, "o-", color=colour, markersize=3.5, linewidth=1.3, label=label)
    axes.fill_between(at, mean - sd, mean + sd, color=colour, alpha=0.10, linewidth=0)
