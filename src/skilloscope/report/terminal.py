"""Tables in the terminal: every table that a command prints is drawn here, on a console that obeys nobody else."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.segment import Segment
from rich.table import Table as RichTable
from rich.text import Text

from skilloscope.core.text import visible
from skilloscope.report.table import Table

_WIDEST = 10
"""A crosstable of more players does not fit a screen; it is in the page and in the JSON."""


class PlainConsole(Console):
    """A console that shows texts and obeys none of them: every text passes here, whatever it stands in."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """Yield what is to be written, without the controls that are not the console's own."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else visible(text), style, control)


def drawn(table: Table) -> Group:
    """Return a table as rich draws it: the title above, the notes below, as wide as the screen, not as the table."""
    notes = (Text(note, style="dim") for note in table.notes if note)
    if table.wide and len(table.rows) > _WIDEST:
        said = f"{table.title}: {len(table.rows)} players are too many for a screen; see --html or --json"
        return Group(Text(said, style="dim"), *notes)
    grid = RichTable(show_lines=table.wide, show_header=table.headed)
    for place, name in enumerate(table.columns):
        label = place in table.labels
        grid.add_column(name, justify="left" if label else "center" if table.wide else "right")
    for place, row in enumerate(table.rows):
        grid.add_row(*(Text(cell) for cell in row), style="dim" if place in table.faded else None)
    shown = (grid,) if table.columns else ()  # a table without columns is a title with notes
    return Group(*((Text(table.title, style="bold"),) if table.title else ()), *shown, *notes)
