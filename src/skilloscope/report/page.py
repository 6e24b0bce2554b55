"""One self-contained HTML page, or PDF: the tables of the terminal, the figures, and what the page cannot tell.

A page has no script. A click on the name of a column sorts a table all the same: the place of each row under each
column is worked out beforehand. Words rise and numbers fall, since readers who sort by numbers seek the greatest; in
a cell such as `2310 (2105 to 2528)` the first number counts. Unknown values come last, and equal rows stay as they are.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from skilloscope.__about__ import __version__
from skilloscope.core.errors import InputError, MissingExtraError
from skilloscope.core.text import visible
from skilloscope.report.charts import Figure
from skilloscope.report.table import Table, sentences

if TYPE_CHECKING:
    from skilloscope.report.board import BoardMove

ANALYSIS_BOARD = "https://lichess.org/analysis/standard/"
"""Where the link of a card opens its position; the page itself loads nothing."""
_NUMBER = re.compile(r"[-+−]?\d[\d,]*(?:\.\d+)?")
_UNKNOWN = ("", "–", "?")
_WIDE = 9  # a table of more columns is printed on a page turned on its side


@dataclass(frozen=True)
class Card:
    """A picture with a caption: one decision on its board."""

    title: str
    picture: str
    lines: Sequence[tuple[str, str]]  # the remarks: a name and a value each
    fen: str = ""  # the position, which a link opens on an analysis board

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
    table: Table = field(default_factory=lambda: Table(""))
    notes: str = ""
    figure: Figure | None = None
    cards: Sequence[Card] = ()
    game: Sequence[BoardMove] = ()
    """The moves of a game, each with the board after it; a click shows it, without a script."""
    filters: Mapping[str, Collection[int]] = field(default_factory=dict)
    """What a reader may ask for, without a script, each with the rows that it leaves out."""

    @property
    def places(self) -> Sequence[Sequence[int]]:
        """The place of each row when sorted by each column; none for a crosstable or a few rows."""
        rows = self.table.rows
        return sorted_places(rows, self.table.labels) if not self.table.wide and len(rows) > 2 else ()

    @classmethod
    def from_table(
        cls,
        table: Table,
        heading: str = "",
        *,
        text: str | None = None,
        drawn: Figure | None = None,
        filters: Mapping[str, Collection[int]] | None = None,
    ) -> Section:
        """Make a section of a table, with a figure below it if one is `drawn`; its title is the heading unless one is
        given, and a text replaces its notes. Columns without a value are left out, unless it is a crosstable.
        """
        kept = [
            place
            for place in range(len(table.columns))
            if table.wide or not table.rows or any(row[place] not in ("", "–") for row in table.rows)
        ]
        shown = replace(
            table,
            columns=[table.columns[place] for place in kept],
            rows=[[row[place] for place in kept] for row in table.rows],
            labels={at for at, place in enumerate(kept) if place in table.labels},
        )
        notes = sentences(table.notes) if text is None else ""
        return cls(heading or table.title, text or "", shown, notes, figure=drawn, filters=filters or {})

    @classmethod
    def from_figure(cls, figure: Figure) -> Section:
        """Make a section of a figure under its heading."""
        return cls(figure.heading, figure.text, figure=figure)


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
    from jinja2 import Environment, PackageLoader, StrictUndefined  # slow to load, and most runs write no page

    environment = Environment(
        loader=PackageLoader("skilloscope.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pieces = ""
    if any(section.game for section in sections):
        from skilloscope.report.board import shared_pieces  # loads python-chess, which only boards need

        pieces = shared_pieces()
    page = environment.get_template("page.html").render(
        title=title,
        source=source,
        headline=headline,
        sections=sections,
        wide=_WIDE,
        most_columns=max((len(section.table.columns) for section in sections if section.places), default=0),
        pieces=pieces,
        warnings=warnings,
        skipped=skipped or {},
        cannot_tell=cannot_tell,
        version=__version__,
    )
    return visible(page)  # names obey nobody


def sorted_places(rows: Sequence[Sequence[str]], labels: Collection[int]) -> list[list[int]]:
    """Return for each row its place, counted from 0, when the table is sorted by each column.

    >>> sorted_places([["b", "9"], ["A", "1,200"]], labels=[0])
    [[1, 1], [0, 0]]
    """
    columns = list(zip(*rows, strict=True))
    places = [[0] * len(columns) for _ in rows]
    for column, cells in enumerate(columns):
        numbers = [cell_number(cell) for cell in cells]
        words = column in labels or all(number is None for number in numbers)
        keys = [_words_key(cell) if words else (n is None, -(n or 0.0)) for cell, n in zip(cells, numbers, strict=True)]
        for place, row in enumerate(sorted(range(len(rows)), key=keys.__getitem__)):
            places[row][column] = place
    return places


def cell_number(cell: str) -> float | None:
    """Return the first number of a cell; None where it has none.

    >>> cell_number("2310 (2105 to 2528)"), cell_number("−1,204.5 %"), cell_number("½"), cell_number("–")
    (2310.0, -1204.5, 0.5, None)
    """
    found = _NUMBER.search(cell)
    if found is None:
        return 0.5 if "½" in cell else None
    number = float(found[0].replace(",", "").replace("−", "-"))
    return number + 0.5 if cell[found.end() :].startswith("½") else number


def _words_key(cell: str) -> tuple[bool, list[tuple[bool, int, str]]]:
    """Order words as people do: without regard to case, `round 2` before `round 10`."""
    parts = re.split(r"(\d{1,15})", cell.casefold().strip())
    return cell.strip() in _UNKNOWN, [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts]


def check_pdf() -> None:
    """Raise where no PDF can be made: better before the work than after it."""
    try:
        import weasyprint  # noqa: F401
    except (ImportError, OSError) as error:  # OSError: the library is there, Pango is not
        raise MissingExtraError(
            f"PDF needs WeasyPrint and Pango ({error})",
            hint="pip install 'skilloscope[pdf]'; on Debian Pango is libpango-1.0-0 with libpangoft2-1.0-0",
        ) from error


def pdf_bytes(page: str) -> bytes:
    """Return a self-contained page as PDF."""
    check_pdf()
    from weasyprint import HTML

    # It remarks on every style of SVG, which it draws all the same.
    logging.getLogger("weasyprint").setLevel(logging.ERROR)
    document: bytes = HTML(string=page, url_fetcher=_nothing).write_pdf()
    return document


def _nothing(url: str, *_: Any, **__: Any) -> Any:
    if url.startswith("data:"):
        from weasyprint import default_url_fetcher

        return default_url_fetcher(url)
    raise InputError(f"a page may not load {url!r}")
