"""A study: the answer to one question, declared once and shown everywhere.

A study is a frozen dataclass whose typed fields are its data. It says how it is shown: a title, tables over its rows,
figures, and what it cannot tell. JSON, the terminal, pages, PDF, notebooks, Arrow and the web come from that.

JSON is made from the fields. `FIELDS` names the attributes to send, in their order, where these are not all fields:

    FIELDS = ("player", "*elo", "fit.nu", "?peak")    # the fields of `elo` among those of the row; `fit.nu` as `nu`;
                                                      # `peak` only where it is not None
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from html import escape
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from skilloscope.core.errors import InputError, Tally
from skilloscope.core.frames import Framed, table_html, table_of_rows
from skilloscope.core.text import visible
from skilloscope.report.charts import Figure
from skilloscope.report.page import Headline, Section, report_page
from skilloscope.report.table import Table


@dataclass(frozen=True, eq=False, kw_only=True)
class Study(Framed):
    """The base of every study. What is not overridden is empty, and not shown."""

    warnings: Sequence[str] = ()  # what must be known to read these numbers: notes in the terminal, boxes in a page
    tally: Tally = field(default_factory=Tally)  # what was left out, by reason

    SCHEMA: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[str, ...]] = ()  # what JSON sends; empty for all fields
    ROWS: ClassVar[str] = ""  # the attribute that holds the rows of the main table, which is the study as a frame

    @property
    def title(self) -> str:
        """The title of the page."""
        return type(self).__name__

    @property
    def head(self) -> str:
        """A line above the tables of the terminal, such as what was searched."""
        return ""

    @property
    def headline(self) -> Headline | None:
        """The one number of the page, in large figures."""
        return None

    @property
    def caveats(self) -> Sequence[str]:
        """What the study cannot tell."""
        return ()

    @property
    def skipped(self) -> Mapping[str, int]:
        """What was left out, by reason, the most frequent first."""
        return self.tally.as_dict()

    def tables(self, top: int | None = None) -> Sequence[Table]:
        """Return the tables; with `top` those of many rows are cut to so many."""
        raise NotImplementedError

    def figures(self) -> Sequence[Figure]:
        """Return the figures."""
        return ()

    def sections(self) -> Sequence[Section]:
        """Return the parts of the page: the tables, then the figures."""
        return [*map(Section.from_table, self.tables()), *map(Section.from_figure, self.figures())]

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON document."""
        return {"schema": self.SCHEMA, **json_fields(self)}

    def to_arrow(self) -> pa.Table:
        """Return the rows of the main table, as JSON has them."""
        if not self.ROWS:
            raise InputError(f"{type(self).__name__} has no single table", hint="use as_dict()")
        return table_of_rows([json_fields(row) for row in getattr(self, self.ROWS)])

    def page(self, source: str = "", *, title: str = "") -> str:
        """Return the page: self-contained HTML without a script; `source` says what was read."""
        return report_page(
            title or self.title,
            source,
            self.sections(),
            warnings=self.warnings,
            skipped=self.skipped,
            cannot_tell=self.caveats,
            headline=self.headline,
        )

    def plot(self) -> Any:
        """Return the axes of the first figure, a matplotlib Axes that can be drawn on, shown or saved."""
        figures = self.figures()
        if not figures:
            raise InputError("this study has no figure")
        return figures[0].chart.drawing().axes[0]

    def _repr_html_(self) -> str:
        shown = [*map(_table_html, self.tables())]
        for first in self.figures()[:1]:
            shown.append(f"<figure>{first.svg()}<figcaption>{escape(first.caption)}</figcaption></figure>")
        return visible("".join(shown))


def json_fields(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass as JSON sends them: those of `FIELDS`, or all.

    A name such as `*elo` sends the fields of that attribute in place of it, none where it is None; one such as `?elo`
    is not sent where it is None; `fit.nu` is the `nu` of the attribute `fit`. A trailing underscore, which keeps a name
    apart from a keyword, is not sent.
    """
    sent: dict[str, Any] = {}
    for name in getattr(value, "FIELDS", ()) or [one.name for one in fields(value)]:
        inner = attrgetter(name.lstrip("*?"))(value)
        if inner is None and name[0] in "*?":
            continue
        if name.startswith("*"):
            sent |= json_value(inner)
        else:
            sent[name.lstrip("?").rpartition(".")[2].removesuffix("_")] = json_value(inner)
    return sent


def json_value(value: Any) -> Any:
    """Return a value as JSON has it: plain numbers and texts, lists, and dicts of them.

    >>> json_value({"c": np.float64(1.5), "moves": (np.int64(3), None)})
    {'c': 1.5, 'moves': [3, None]}
    """
    if value is None or (isinstance(value, str | bool | int | float) and not isinstance(value, np.generic)):
        return value
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if hasattr(value, "as_dict"):
        return value.as_dict()
    if is_dataclass(value):
        return json_fields(value)
    if isinstance(value, Mapping):
        return {str(name): json_value(inner) for name, inner in value.items()}
    if isinstance(value, Iterable):
        return [json_value(inner) for inner in value]
    raise TypeError(f"{type(value).__name__} cannot be sent as JSON")


def _table_html(table: Table) -> str:
    title = f"<h4>{escape(table.title)}</h4>" if table.title else ""
    cells = table_html(table.columns, table.rows) if table.columns else ""
    return title + cells + "".join(f"<p><small>{escape(note)}</small></p>" for note in table.notes)
