"""One style for every figure, as SVG text that a page can hold inline. No script, no font from elsewhere.

A figure is one function: a study in, SVG out. The same input gives the same bytes.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib
from matplotlib import pyplot
from matplotlib.figure import Figure

matplotlib.use("Agg")
plt = pyplot

COLOURS = ("#1b6ca8", "#d1495b", "#2e8b57", "#b8860b", "#6a4c93", "#00798c", "#8d6a4f")

_STYLE: Any = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#666666",
    "axes.grid": True,
    "axes.labelcolor": "#333333",
    "axes.prop_cycle": "cycler('color', [" + ", ".join(f"'{colour}'" for colour in COLOURS) + "])",
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


def svg(figure: Figure) -> str:
    """Return the figure as SVG text without the XML head, for use inside a page."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    plt.close(figure)
    text = buffer.getvalue()
    return text[text.index("<svg") :]
