"""One style for every figure, as SVG text that a page can hold inline. No script, no font from elsewhere.

A figure is one function: a study in, SVG out. The same input gives the same bytes.

Letters are drawn as shapes. Where no font here has a letter, as of a Chinese name, all text of that figure stays text,
and whoever looks at the page sees it in a font of theirs.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import matplotlib
from matplotlib import pyplot
from matplotlib.figure import Figure

matplotlib.use("Agg")
plt = pyplot

COLOURS = ("#1b6ca8", "#d1495b", "#2e8b57", "#b8860b", "#6a4c93", "#00798c", "#8d6a4f")

_WATCHER: ContextVar[Callable[[Figure], None] | None] = ContextVar("watcher", default=None)
"""Who is shown every figure before it becomes text."""

_LONGEST_NAME = 44  # letters beside an axis or in a legend

_NO_GLYPH = r"Glyph \d+ .*missing from"

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


@contextmanager
def also_as(kind: str) -> Iterator[list[bytes]]:
    """Give a list to which every figure drawn inside is added as a file of that kind: svg, png or pdf."""
    files: list[bytes] = []
    with _watched(lambda figure: files.append(_copied(figure, kind))):
        yield files


@contextmanager
def left_open() -> Iterator[list[Figure]]:
    """Give a list to which every figure drawn inside is added, still open, for whoever wants to draw on."""
    figures: list[Figure] = []
    with _watched(figures.append):
        yield figures


@contextmanager
def _watched(see: Callable[[Figure], None]) -> Iterator[None]:
    token = _WATCHER.set(see)
    try:
        yield
    finally:
        _WATCHER.reset(token)


def svg(figure: Figure) -> str:
    """Return the figure as SVG text without the XML head, for use inside a page."""
    _shorten_names(figure)
    if (see := _WATCHER.get()) is not None:
        see(figure)
    with warnings.catch_warnings(record=True) as told:
        warnings.filterwarnings("always", message=_NO_GLYPH)
        text = _saved(figure)
    if any(re.match(_NO_GLYPH, str(one.message)) for one in told):
        with warnings.catch_warnings(), plt.rc_context({"svg.fonttype": "none"}):
            warnings.filterwarnings("ignore", message=_NO_GLYPH)
            text = _saved(figure)
    plt.close(figure)
    for one in told:
        if not re.match(_NO_GLYPH, str(one.message)):
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    return text[text.index("<svg") :]


def _shorten_names(figure: Figure) -> None:
    """Cut names that would leave no room for what is drawn; the tables have them whole."""
    for axes in figure.axes:
        names = [label.get_text() for label in axes.get_yticklabels()]
        if any(len(name) > _LONGEST_NAME for name in names):
            axes.set_yticks(axes.get_yticks(), [_shortened(name) for name in names])
        legend = axes.get_legend()
        for text in () if legend is None else legend.get_texts():
            text.set_text(_shortened(text.get_text()))


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1].rstrip()}…"


def _copied(figure: Figure, kind: str) -> bytes:
    buffer = io.BytesIO()
    metadata = {"svg": {"Date": None, "Creator": None}, "pdf": {"CreationDate": None}}.get(kind)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=_NO_GLYPH)
        figure.savefig(buffer, format=kind, metadata=metadata, dpi=200)
    return buffer.getvalue()


def _saved(figure: Figure) -> str:
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()
