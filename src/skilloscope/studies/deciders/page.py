"""The page of deciders of any domain: the table, everybody's c with its interval, and what it cannot tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skilloscope.reports.page import Section, report_page
from skilloscope.reports.sheet import Sheet
from skilloscope.reports.style import COLOURS, plt, style, svg
from skilloscope.reports.words import plural

_MOST = 30  # deciders in the figure; the table has all
_CANNOT_TELL = (
    "c says how sharply somebody prefers what these utilities value more: it is no better than they are.",
    "Deciders who met different problems are compared through the model, not on the same problems.",
    "A few decisions say little: look at the interval before the number.",
)


def deciders_page(report: Mapping[str, Any], sheet: Sheet, source: str) -> str:
    """Return the page of `decisions rate`."""
    rated = report["deciders"]
    sections = [Section.from_sheet(sheet, "Deciders")]
    if rated and "c" in rated[0]:
        caption = f"Point: estimate; line: interval. The first {_MOST} where there are more."
        sections.insert(0, Section("Competence", figure=deciders_figure(rated), caption=caption))
    title = f"Decisions of {plural(len(rated), 'decider')}"
    return report_page(title, source, sections, skipped=report["skipped"], cannot_tell=_CANNOT_TELL)


def deciders_figure(rated: Sequence[Mapping[str, Any]]) -> str:
    """Return everybody's c with its interval, the greatest on top."""
    shown = [row for row in rated if row["c"] is not None][:_MOST]
    with style():
        figure, axes = plt.subplots(figsize=(7.5, 1.0 + 0.34 * len(shown)))
        for place, row in enumerate(shown):
            if row.get("low") is not None and row.get("high") is not None:
                axes.plot([row["low"], row["high"]], [place, place], color=COLOURS[0], linewidth=2.5)
            axes.plot(row["c"], place, "o", color=COLOURS[0], markerfacecolor="white", markeredgewidth=2)
        axes.set_yticks(range(len(shown)), [str(row["decider"]) for row in shown])
        axes.set_ylim(len(shown) - 0.5, -0.5)
        axes.set_xlabel("competence c")
        axes.grid(axis="y", visible=False)
        return svg(figure)
