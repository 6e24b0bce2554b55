"""Charts as data: rows with intervals, lines with bands, bars, densities, and panels of them, all in one style.

A study describes what is to be seen; matplotlib is loaded only when a chart is drawn. What has no shape here is a
`Chart` of its own with a `draw` method. The same chart gives the same bytes. Letters are drawn as shapes; where no font
here has a letter, as of a Chinese name, all text of that figure stays text, and a browser shows it in its own font.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from skilloscope.core.text import visible
from skilloscope.report.table import Estimated

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

WIDTH = 7.5  # inches of every figure, so that letters are equally large in all of them
COLOURS = ("#1b6ca8", "#d1495b", "#2e8b57", "#b8860b", "#6a4c93", "#00798c", "#8d6a4f")
GREY = "#666666"
MOST_ROWS = 24  # rows in one figure; the table has all

_LONGEST_NAME = 44  # letters on an axis or in a legend
_NO_GLYPH = r"Glyph \d+ .*missing from"
STYLE = Path(__file__).with_suffix(".mplstyle")

Values = Sequence[float] | npt.NDArray[Any]
Look = dict[str, Any]
Colour = int | str  # a place among `COLOURS`, which is taken round and round, or a colour


class Chart:
    """Something to be drawn on one pair of axes."""

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        return WIDTH, 3.6

    def draw(self, axes: Axes) -> None:
        """Draw it."""
        raise NotImplementedError

    def drawing(self) -> Drawing:
        """Return a matplotlib figure of it, still open."""
        plt = pyplot()
        drawing: Drawing
        with plt.rc_context(fname=STYLE):
            drawing, axes = plt.subplots(figsize=self.size)
            self.draw(axes)
        return drawing


@dataclass(frozen=True)
class Figure:
    """A chart in a report: the heading above it and the caption below."""

    heading: str
    chart: Chart
    caption: str = ""
    text: str = ""  # what a page says between the heading and the chart

    def svg(self) -> str:
        """Return the chart as SVG text for a page."""
        return svg_text(self.chart.drawing())

    def file(self, kind: str) -> bytes:
        """Return the chart as a file: svg, png or pdf."""
        drawing = self.chart.drawing()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=_NO_GLYPH)
            content = _saved(drawing, kind)
        pyplot().close(drawing)
        return content


@dataclass(frozen=True)
class Dot:
    """An estimate in a row: a point, with its interval where it has one."""

    value: float
    low: float | None = None
    high: float | None = None
    colour: Colour = 0
    marker: str = "o"
    filled: bool = False
    name: str = ""  # in the legend; dots of one name have one entry
    shift: float = 0.0  # how far below the middle of its row it is drawn; rows have a height of 1
    thin: bool = False
    pale: tuple[float, float] | None = None  # a wide pale bar, such as ± one standard deviation


@dataclass(frozen=True)
class Forest(Chart):
    """Rows from top to bottom, each with estimates and their intervals."""

    rows: Sequence[tuple[str, Sequence[Dot]]]
    axis: str
    lines: Sequence[float] = ()  # values that are marked by a dashed line
    span: tuple[float, float] | None = None  # a range that is shaded
    bands: Sequence[tuple[int, int, float, float, Colour]] = ()
    """Shaded in some rows only: first and last row, from, to, colour."""

    @property
    def size(self) -> tuple[float, float]:
        """Higher where there are more rows."""
        return WIDTH, 1.1 + 0.36 * max(len(self.rows), 1)

    def draw(self, axes: Axes) -> None:
        """Draw the rows."""
        named: set[str] = set()
        for place, (_, dots) in enumerate(self.rows):
            for dot in dots:
                _draw_dot(axes, dot, place + dot.shift, dot.name if dot.name not in named else "")
                named |= {dot.name}
        for first, last, low, high, colour in self.bands:
            axes.fill_betweenx([first - 0.5, last + 0.5], low, high, color=_colour(colour), alpha=0.10, linewidth=0)
        for value in self.lines:
            axes.axvline(value, color="#888888", linewidth=0.8, linestyle="--")
        if self.span is not None:
            axes.axvspan(*self.span, color=COLOURS[0], alpha=0.06, zorder=0)
        axes.set_yticks(range(len(self.rows)), [name for name, _ in self.rows])
        axes.set_ylim(len(self.rows) - 0.5, -0.5)
        axes.set_xlabel(self.axis)
        axes.grid(axis="y", visible=False)
        if named - {""}:
            axes.legend(fontsize=9, loc="lower left", bbox_to_anchor=(0, 1), ncols=4)


@dataclass(frozen=True, eq=False)
class Series:
    """A line, or a series of points, with a band or error bars where there are bounds."""

    name: str
    x: Values
    y: Values
    low: Values | None = None
    high: Values | None = None
    colour: Colour | None = None  # by its place among the lines where none is given
    look: str = "-"  # as matplotlib writes it: `-`, `--`, `:`, `o`, `o-`
    step: bool = False
    bars: bool = False  # whether the bounds are error bars instead of a band
    width: float = 1.5


@dataclass(frozen=True, eq=False)
class Lines(Chart):
    """Lines over time, moves or anything else."""

    lines: Sequence[Series]
    x_axis: str
    y_axis: str
    height: float = 3.6
    x_limits: tuple[float, float] | None = None
    y_limits: tuple[float | None, float | None] = (None, None)
    x_ticks: Sequence[tuple[float, str]] = ()
    log_x: bool = False
    log_y: bool = False
    whole_x: bool = False  # whether only whole numbers are marked below
    levels: Sequence[float] = ()  # values that are marked by a thin line across

    @property
    def size(self) -> tuple[float, float]:
        """As high as it was asked for."""
        return WIDTH, self.height

    def draw(self, axes: Axes) -> None:
        """Draw the lines."""
        for place, line in enumerate(self.lines):
            _draw_line(axes, line, _colour(place if line.colour is None else line.colour))
        for level in self.levels:
            axes.axhline(level, color="#888888", linewidth=0.8)
        if self.log_x:
            axes.set_xscale("log")
            axes.minorticks_off()
        if self.log_y:
            axes.set_yscale("log", subs=[])
            axes.locator_params(axis="y", subs=(1.0, 3.0))
            axes.yaxis.set_major_formatter("{x:g}")
        if self.x_ticks:
            axes.set_xticks([at for at, _ in self.x_ticks], [name for _, name in self.x_ticks])
        if self.whole_x:
            axes.locator_params(axis="x", integer=True)
        if self.x_limits:
            axes.set_xlim(*self.x_limits)
        axes.set_ylim(*self.y_limits)
        axes.set_xlabel(self.x_axis)
        axes.set_ylabel(self.y_axis)
        if any(line.name for line in self.lines):
            axes.legend(fontsize=9)


@dataclass(frozen=True, eq=False)
class Bars(Chart):
    """Bars in groups: one group for each label, one bar in it for each series."""

    labels: Sequence[str]
    series: Sequence[tuple[str, Values]]
    y_axis: str

    def draw(self, axes: Axes) -> None:
        """Draw the groups from left to right."""
        place, width = np.arange(len(self.labels)), 0.8 / len(self.series)
        for at, (name, heights) in enumerate(self.series):
            axes.bar(place + (at + 0.5) * width - 0.4, heights, width, color=_colour(at), label=name)
        axes.set_xticks(place, self.labels)
        axes.grid(axis="x", visible=False)
        axes.set_ylabel(self.y_axis)
        axes.legend(fontsize=9)


@dataclass(frozen=True, eq=False)
class Histogram(Chart):
    """Shares of a number that is counted in equal steps."""

    at: Values
    heights: Values
    x_axis: str
    y_axis: str = "share"
    limits: tuple[float, float] | None = None
    step: float = 1.0

    def draw(self, axes: Axes) -> None:
        """Draw a bar for each step."""
        axes.bar(self.at, self.heights, width=self.step, color=COLOURS[0])
        if self.limits:
            axes.set_xlim(*self.limits)
        axes.set_xlabel(self.x_axis)
        axes.set_ylabel(self.y_axis)


@dataclass(frozen=True, eq=False)
class Densities(Chart):
    """Densities of one quantity on the same axis."""

    curves: Sequence[tuple[str, Estimated]]
    axis: str
    marks: Sequence[float | None] = field(default_factory=tuple)  # a known true value of each, dashed
    ordered: bool = False  # whether the curves have an order, which colours from dark to light show
    legend: str = ""
    shown: float = 0.999  # the mass that the axis holds

    def draw(self, axes: Axes) -> None:
        """Draw the densities, shaded."""
        colours: list[Any] = [_colour(at) for at in range(len(self.curves))]
        if self.ordered:
            colours = [pyplot().get_cmap("viridis")(share) for share in np.linspace(0.0, 0.88, len(self.curves))]
        for place, ((name, curve), colour) in enumerate(zip(self.curves, colours, strict=True)):
            at, density = thinned(curve)
            axes.plot(at, density, color=colour, label=name)
            axes.fill_between(at, density, color=colour, alpha=0.10, linewidth=0)
            if place < len(self.marks) and (mark := self.marks[place]) is not None:
                axes.axvline(mark, color=colour, linestyle="--", linewidth=1.2)
        bounds = np.array([curve.interval(self.shown) for _, curve in self.curves])
        axes.set_xlim(float(bounds[:, 0].min()), float(bounds[:, 1].max()))
        axes.set_ylim(bottom=0)
        axes.set_xlabel(self.axis)
        axes.set_ylabel("posterior density")
        where: Look = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)} if len(self.curves) > 6 else {}
        axes.legend(title=self.legend or None, fontsize=8, title_fontsize=8, **where)


@dataclass(frozen=True, eq=False)
class Panels(Chart):
    """Several charts in one figure, row by row, each under its title."""

    charts: Sequence[Chart]
    titles: Sequence[str] = ()
    columns: int = 1
    height: float = 2.6  # inches of a row of panels
    ratios: Sequence[float] | None = None
    share_x: bool = False
    share_y: bool = False

    def drawing(self) -> Drawing:
        """Return a matplotlib figure with all charts, still open."""
        drawing: Drawing
        plt, rows = pyplot(), -(-len(self.charts) // self.columns)
        with plt.rc_context(fname=STYLE):
            drawing, grid = plt.subplots(
                rows,
                self.columns,
                figsize=(WIDTH, 0.5 + self.height * rows),
                sharex=self.share_x,
                sharey=self.share_y,
                squeeze=False,
                height_ratios=self.ratios,
            )
            for place, axes in enumerate(grid.flat):
                if place >= len(self.charts):
                    axes.set_visible(False)
                    continue
                self.charts[place].draw(axes)
                if place < len(self.titles):
                    axes.set_title(self.titles[place], fontsize=10, loc="left")
                if self.share_x or self.share_y:
                    axes.label_outer(remove_inner_ticks=False)
        return drawing


def pyplot() -> Any:
    """Return matplotlib's pyplot, which is slow to load, and here draws into files alone."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    return plt


def svg_text(drawing: Drawing) -> str:
    """Return a drawing as SVG text without the XML head, for use inside a page, and close it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", message=_NO_GLYPH)
        content = _saved(drawing, "svg")
    unknown = [re.match(_NO_GLYPH, str(one.message)) is not None for one in caught]
    if any(unknown):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=_NO_GLYPH)
            content = _saved(drawing, "svg", {"svg.fonttype": "none"})
    pyplot().close(drawing)
    for one, is_glyph in zip(caught, unknown, strict=True):
        if not is_glyph:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    text = content.decode("utf-8")
    return text[text.index("<svg") :]


def _saved(drawing: Drawing, kind: str, style: Any = None) -> bytes:
    """Return the bytes of a drawing; names that would leave no room are cut, since the tables have them whole."""
    for axes in drawing.axes:
        names = [label.get_text() for label in axes.get_yticklabels()]
        if any(len(name) > _LONGEST_NAME for name in names):
            axes.set_yticks(axes.get_yticks(), [_shortened(name) for name in names])
        legend = axes.get_legend()
        for text in () if legend is None else legend.get_texts():
            text.set_text(_shortened(text.get_text()))
    buffer = io.BytesIO()
    metadata = {"svg": {"Date": None, "Creator": None}, "pdf": {"CreationDate": None}}.get(kind)
    with pyplot().rc_context(style, fname=STYLE):
        drawing.savefig(buffer, format=kind, metadata=metadata, dpi=200)
    drawn = buffer.getvalue()
    return visible(drawn.decode()).encode() if kind == "svg" else drawn  # names stand in it, in comments too


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1].rstrip()}…"


def thinned(curve: Estimated) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return some three hundred points of a density, which draw the same line."""
    low, high = curve.interval(0.9999)
    inside = np.flatnonzero((curve.at >= low) & (curve.at <= high))
    step = max(1, len(inside) // 300)
    return curve.at[inside][::step], curve.density[inside][::step]


def _colour(colour: Colour) -> str:
    return colour if isinstance(colour, str) else COLOURS[colour % len(COLOURS)]


def _draw_dot(axes: Axes, dot: Dot, at: float, name: str) -> None:
    colour = _colour(dot.colour)
    if dot.pale is not None:
        axes.plot(dot.pale, [at, at], color=colour, alpha=0.25, linewidth=7)
    if dot.low is not None and dot.high is not None:
        width = 1.4 if dot.thin else 2.5
        axes.plot([dot.low, dot.high], [at, at], color=colour, linewidth=width, solid_capstyle="butt")
    look: Look = {"markersize": 4.5 if dot.thin else 6.0}
    if dot.marker in "|x":
        look = {"markersize": 12 if dot.marker == "|" else 9, "markeredgewidth": 2.2}
    elif not dot.filled:
        look |= {"markerfacecolor": "white", "markeredgewidth": 1.4 if dot.thin else 2}
    axes.plot(dot.value, at, dot.marker, color=colour, zorder=3, label=name or None, linestyle="none", **look)


def _draw_line(axes: Axes, line: Series, colour: str) -> None:
    x, y = np.asarray(line.x), np.asarray(line.y)
    name: Look = {"label": line.name or None, "color": colour, "linewidth": line.width}
    if line.low is not None and line.high is not None:
        low, high = np.asarray(line.low), np.asarray(line.high)
        if line.bars:
            axes.errorbar(x, y, np.stack([y - low, high - y]), fmt=line.look, capsize=2, markersize=4, **name)
            return
        step: Any = "post" if line.step else None
        axes.fill_between(x, low, high, step=step, color=colour, alpha=0.13, linewidth=0)
    if line.step:
        axes.step(x, y, line.look, where="post", **name)
    else:
        axes.plot(x, y, line.look, markersize=3.5, **name)
