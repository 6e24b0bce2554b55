"""The figure of a screening: everybody's z beside what as many fair players would show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.stats import norm

from skilloscope.reports.style import plt, style, svg


def scores_figure(report: Mapping[str, Any]) -> str:
    """Return the ordered z of everybody against the normal scores of as many fair players, with a 95 % band."""
    z = np.sort(np.array([player["z"] for player in report["players"]], dtype=float))
    n = len(z)
    place = np.arange(1, n + 1)
    expected = norm.ppf((place - 0.5) / n)
    low, high = _band(place, n)
    with style():
        figure, axes = plt.subplots(figsize=(7.5, 3.8))
        axes.fill_between(expected, low, high, color="#1b6ca8", alpha=0.15, linewidth=0)
        axes.plot(expected, expected, color="#666666", linewidth=0.8)
        axes.plot(expected, z, "o", markersize=4, color="#1b6ca8")
        axes.set_xlabel("z that as many fair players would show, in order")
        axes.set_ylabel("z, in order")
        return svg(figure)


def _band(place: Any, n: int) -> tuple[Any, Any]:
    """Return where the k-th of n normal scores lies in 95 of 100 cases."""
    from scipy.stats import beta

    low, high = (beta.ppf(share, place, n + 1 - place) for share in (0.025, 0.975))
    return norm.ppf(low), norm.ppf(high)
