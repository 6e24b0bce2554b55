"""One self-contained HTML page: the tables of the terminal, the figures, and what the page cannot tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from skilloscope.__about__ import __version__
from skilloscope.reports import words
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

    @classmethod
    def from_sheet(
        cls, sheet: Sheet, heading: str = "", *, text: str | None = None, figure: str = "", caption: str = ""
    ) -> Section:
        """Make a section of a table of the terminal: its title is the heading, its notes the text, unless given."""
        said = sentences(sheet.notes) if text is None else text
        return cls(heading or sheet.title, said, sheet.columns, sheet.rows, figure, caption)


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
    return (
        page_environment()
        .get_template("report.html")
        .render(
            title=title,
            source=source,
            sections=sections,
            warnings=warnings,
            skipped=skipped or {},
            cannot_tell=cannot_tell,
            version=__version__,
        )
    )


def page_environment() -> Environment:
    """Return the templates of pages, which escape whatever they are given."""
    environment = Environment(
        loader=PackageLoader("skilloscope.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Any] = {
        "elo_interval": words.elo_interval,
        "competence": words.competence,
        "percent": words.percent,
        "engine_line": words.engine_line,
    }
    environment.filters.update(filters)
    return environment
