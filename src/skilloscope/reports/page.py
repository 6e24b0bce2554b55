"""One self-contained HTML page: the tables of the terminal, the figures, and what the page cannot tell."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from jinja2 import Environment, PackageLoader, StrictUndefined

from skilloscope.__about__ import __version__
from skilloscope.core.plain import visible
from skilloscope.reports.board import BoardMove, shared_pieces
from skilloscope.reports.sheet import Sheet
from skilloscope.reports.sorting import sorted_places
from skilloscope.reports.words import sentences

ANALYSIS_BOARD = "https://lichess.org/analysis/standard/"
"""Where the link of a card opens its position; only the hand of a reader follows it, the page loads nothing."""


_WIDE = 9
"""A table of more columns is printed on a page turned on its side."""


@dataclass(frozen=True)
class Card:
    """A picture with words beside it: one decision on its board."""

    title: str
    picture: str
    """SVG."""
    lines: Sequence[tuple[str, str]]
    """What is said of it: a name and a value each."""
    fen: str = ""
    """The position, which a link opens on an analysis board."""

    @property
    def link(self) -> str:
        """The address of the position, none without one."""
        return ANALYSIS_BOARD + self.fen.replace(" ", "_") if self.fen else ""


@dataclass(frozen=True)
class Headline:
    """The one number of a page, large, with its interval and a line on what it is."""

    number: str
    interval: str
    words: str


@dataclass(frozen=True)
class Section:
    """A part of a page: a heading, and under it text, a table, cards and a figure, each where there are any."""

    heading: str
    text: str = ""
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    """Cells as they are to be read."""
    labels: Collection[int] = (0,)
    """The columns of words, by place, which stand at the left; numbers stand at the right."""
    faded: Collection[int] = ()
    """Rows that stand back."""
    figure: str = ""
    """SVG, as the functions of a study's figures return it."""
    caption: str = ""
    notes: str = ""
    """What stands below the table."""
    cards: Sequence[Card] = ()
    game: Sequence[BoardMove] = ()
    """The moves of a game, each with the board after it; a click shows it, without a script."""
    filters: Mapping[str, Collection[int]] = field(default_factory=dict)
    """What a reader may ask for, without a script, each with the rows that it leaves out."""
    sorts: bool = True
    """Whether a click on the name of a column sorts the table, without a script; the cells of a crosstable do not."""

    @property
    def places(self) -> Sequence[Sequence[int]]:
        """The place of each row when sorted by each column; none where there is nothing to sort."""
        return sorted_places(self.rows, self.labels) if self.sorts and len(self.rows) > 2 else ()

    @classmethod
    def from_sheet(
        cls, sheet: Sheet, heading: str = "", *, text: str | None = None, figure: str = "", caption: str = ""
    ) -> Section:
        """Make a section of a table of the terminal: its title is the heading unless one is given; a text is in place
        of the notes below it. Columns in which nothing stands are left out, unless it is a crosstable.
        """
        notes = sentences(sheet.notes) if text is None else ""
        words = {*range(sheet.left), *sheet.words}
        kept = [
            place
            for place in range(len(sheet.columns))
            if sheet.wide or not sheet.rows or any(row[place] not in ("", "–") for row in sheet.rows)
        ]
        return cls(
            heading=heading or sheet.title,
            text=text or "",
            columns=[sheet.columns[place] for place in kept],
            rows=[[row[place] for place in kept] for row in sheet.rows],
            labels={at for at, place in enumerate(kept) if place in words},
            faded=sheet.faded,
            figure=figure,
            caption=caption,
            notes=notes,
            sorts=not sheet.wide,
        )


_TITLE: ContextVar[str] = ContextVar("title", default="")
"""The title that a reader wants in place of a page's own."""


@contextmanager
def titled(title: str) -> Iterator[None]:
    """Give the pages made inside this title, if it is one."""
    token = _TITLE.set(title)
    try:
        yield
    finally:
        _TITLE.reset(token)


def report_page(
    title: str,
    source: str,
    sections: Sequence[Section],
    *,
    warnings: Sequence[str] = (),
    skipped: Mapping[str, int] | None = None,
    cannot_tell: Sequence[str] = (),
    headline: Headline | None = None,
) -> str:
    """Return a page of any study: no script, nothing loaded from elsewhere, everything inside."""
    environment = Environment(
        loader=PackageLoader("skilloscope.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: visible(value) if type(value) is str else value,  # names obey nobody; markup is ours
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html").render(
        title=_TITLE.get() or title,
        source=source,
        headline=headline,
        sections=sections,
        wide=_WIDE,
        most_columns=max((len(section.columns) for section in sections if section.places), default=0),
        pieces=shared_pieces() if any(section.game for section in sections) else "",
        warnings=warnings,
        skipped=skipped or {},
        cannot_tell=cannot_tell,
        version=__version__,
    )
