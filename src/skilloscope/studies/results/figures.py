"""Figures of ratings from results: strengths over time, calibration, the joint posterior of σ0 and ν."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.ratings.periods.histories import History
from skilloscope.reports.style import plt, style, svg

Floats = npt.NDArray[np.float64]


def history_figure(history: History, names: Sequence[str], *, bands: bool = True) -> str:
    """Return the strengths of some players over time, with a band of one standard deviation. [GLI99 figure 2]"""
    with style():
        figure, axes = plt.subplots(figsize=(7.5, 4.2))
        history.draw(axes, names, bands=bands)
        return svg(figure)


def calibration_figure(bins: Sequence[Mapping[str, Any]]) -> str:
    """Return how often was won what was foretold: points with standard errors beside the diagonal."""
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 4.6))
        axes.plot([0, 1], [0, 1], color="#999999", linewidth=1)
        predicted, observed, error = (
            [row[name] for row in bins] for name in ("predicted", "observed", "standard_error")
        )
        axes.errorbar(predicted, observed, yerr=2 * np.array(error), fmt="o", capsize=2, markersize=4)
        axes.set_xlabel("predicted score of the first player")
        axes.set_ylabel("score that came (± 2 standard errors)")
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        return svg(figure)


def posterior_figure(sigma0: Floats, nu: Floats, density: Floats, truth: tuple[float, float] | None = None) -> str:
    """Return the joint posterior of σ0 and ν as contours, with dotted lines at known true values. [GLI99 figure 1]

    `density` has a row for each ν and a column for each σ0.
    """
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 4.6))
        levels = np.array([0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9]) * density.max()
        axes.contour(sigma0, nu, density, levels=levels, colors="#1b6ca8", linewidths=1)
        if truth:
            axes.axvline(truth[0], color="#555555", linestyle=":")
            axes.axhline(truth[1], color="#555555", linestyle=":")
        axes.set_xlabel("σ0")
        axes.set_ylabel("ν")
        return svg(figure)
