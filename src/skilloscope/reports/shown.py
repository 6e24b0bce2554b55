"""What a notebook shows: the tables of a report, its first figure, and the figure to draw on."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from skilloscope.core.errors import InputError
from skilloscope.core.frames import table_html
from skilloscope.reports.sheet import Sheet


class Shown:
    """A result that has tables and figures: a notebook shows them, and `plot` gives the first figure's axes."""

    def sheets(self) -> Sequence[Sheet]:
        """Return the tables."""
        raise NotImplementedError

    def figures(self) -> list[tuple[str, str]]:
        """Return the figures with their captions, as SVG."""
        raise NotImplementedError

    def plot(self) -> Any:
        """Return the axes of the first figure, a matplotlib Axes to be drawn on, shown or saved."""
        from skilloscope.reports.style import left_open

        with left_open() as figures:
            self.figures()
        if not figures:
            raise InputError("there is no figure of this")
        return figures[0].axes[0]

    def _repr_html_(self) -> str:
        figures = self.figures()
        drawn = f"<figure>{figures[0][0]}<figcaption>{escape(figures[0][1])}</figcaption></figure>" if figures else ""
        return "".join(map(sheet_html, self.sheets())) + drawn


def sheet_html(sheet: Sheet) -> str:
    """Return a table with its title and its notes as HTML."""
    title = f"<h4>{escape(sheet.title)}</h4>" if sheet.title else ""
    table = table_html(sheet.columns, sheet.rows) if sheet.columns else ""
    return title + table + "".join(f"<p><small>{escape(note)}</small></p>" for note in sheet.notes if note)
