"""Sheets in the terminal: every table that a command prints is drawn here, on a console that obeys nobody else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from skilloscope.core.plain import visible
from skilloscope.reports.sheet import Sheet

_WIDEST = 10
"""A crosstable of more players does not fit a screen; it is in the page and in the JSON."""


class PlainConsole(Console):
    """A console that shows texts and obeys none of them: every text passes here, whatever it stands in."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """Yield what is to be written, without the controls that are not the console's own."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else visible(text), style, control)


def drawn(sheet: Sheet) -> Group:
    """Return a sheet as rich draws it: the title above, the notes below, as wide as the screen, not as the table."""
    notes = (Text(note, style="dim") for note in sheet.notes if note)
    if sheet.wide and len(sheet.rows) > _WIDEST:
        said = f"{sheet.title}: {len(sheet.rows)} players are too many for a screen; see --html or --json"
        return Group(Text(said, style="dim"), *notes)
    table = Table(show_lines=sheet.wide, show_header=sheet.headed)
    for place, name in enumerate(sheet.columns):
        label = place < sheet.left or place in sheet.words
        table.add_column(name, justify="left" if label else "center" if sheet.wide else "right")
    for place, row in enumerate(sheet.rows):
        table.add_row(*(Text(cell) for cell in row), style="dim" if place in sheet.faded else None)
    shown = (table,) if sheet.columns else ()  # a sheet without columns is a title with notes
    return Group(*((Text(sheet.title, style="bold"),) if sheet.title else ()), *shown, *notes)


def framed(title: str, table: Table, notes: Sequence[str]) -> Group:
    """Put a title above a table and notes below it."""
    return Group(Text(title, style="bold"), table, *(Text(note, style="dim") for note in notes if note))
