"""One self-contained HTML page: the tables of the terminal, the figures, and what the page cannot tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, StrictUndefined

from skilloscope.__about__ import __version__
from skilloscope.reports.sheet import Sheet
from skilloscope.reports.words import sentences


@dataclass(frozen=True)
class Section:
    """A part of a page: a heading, and under it text, a table and a figure, each where there is one."""

    heading: str
    text: str = ""
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    """Cells as they are to be read; the first column is a label."""
    figure: str = ""
    """SVG, as the functions of a study's figures return it."""
    caption: str = ""
    notes: str = ""
    """What stands below the table."""

    @classmethod
    def from_sheet(
        cls, sheet: Sheet, heading: str = "", *, text: str | None = None, figure: str = "", caption: str = ""
    ) -> Section:
        """Make a section of a table of the terminal: its title is the heading unless one is given; a text is in place
        of the notes below it.
        """
        notes = sentences(sheet.notes) if text is None else ""
        return cls(
            heading=heading or sheet.title,
            text=text or "",
            columns=sheet.columns,
            rows=sheet.rows,
            figure=figure,
            caption=caption,
            notes=notes,
        )


def report_page(
    title: str,
    source: str,
    sections: Sequence[Section],
    *,
    warnings: Sequence[str] = (),
    skipped: Mapping[str, int] | None = None,
    cannot_tell: Sequence[str] = (),
) -> str:
    """Return a page of any study: no script, no address, everything inside."""
    environment = Environment(
        loader=PackageLoader("skilloscope.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html").render(
        title=title,
        source=source,
        sections=sections,
        warnings=warnings,
        skipped=skipped or {},
        cannot_tell=cannot_tell,
        version=__version__,
    )
