"""Tables: columns declared once over rows of typed objects, shown in the terminal, in pages and in notebooks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Row = TypeVar("Row")


@dataclass(frozen=True)
class Column(Generic[Row]):
    """A column: its title, and how a row is written in it. Labels are left-aligned, numbers right-aligned."""

    title: str
    cell: Callable[[Row], str]
    label: bool = False


@dataclass(frozen=True)
class Table:
    """A table as cells: a title, the names of the columns, the rows, and notes below them.

    >>> columns = [Column("move", str, label=True), Column("letters", lambda move: f"{len(move)}")]
    >>> table = Table.of("moves", ["e4", "Nf3"], columns)
    >>> table.columns, table.rows, table.labels
    (['move', 'letters'], [['e4', '2'], ['Nf3', '3']], [0])
    """

    title: str
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    """Cells as they are to be read."""
    notes: Sequence[str] = ()
    labels: Collection[int] = (0,)
    """The columns of words, by place, which are left-aligned; numbers are right-aligned."""
    faded: Collection[int] = ()
    """Rows in a fainter colour, by place."""
    headed: bool = True
    """Whether the names of the columns are shown in the terminal."""
    wide: bool = False
    """A crosstable: centred cells of several lines, too wide for a screen where there are many rows."""

    @classmethod
    def of(
        cls,
        title: str,
        rows: Iterable[Row],
        columns: Sequence[Column[Row] | None],
        *,
        notes: Iterable[str] = (),
        faded: Callable[[Row], bool] | None = None,
        headed: bool = True,
        wide: bool = False,
    ) -> Table:
        """Return the table of these rows; columns that are None and empty notes are left out."""
        shown, kept = list(rows), [column for column in columns if column is not None]
        return cls(
            title,
            [column.title for column in kept],
            [[column.cell(row) for column in kept] for row in shown],
            [note for note in notes if note],
            labels=[place for place, column in enumerate(kept) if column.label],
            faded=[place for place, row in enumerate(shown) if faded(row)] if faded else (),
            headed=headed,
            wide=wide,
        )


def caveats_table(lines: Iterable[str]) -> Table:
    """Return what must be known to read the numbers, as a table of notes alone."""
    return Table("", notes=[f"caution: {line}" for line in lines])


def number(value: float | None, digits: int) -> str:
    """Return a number with so many decimals, or a dash where there is none.

    >>> number(1.25, 1), number(None, 1)
    ('1.2', '–')
    """
    return "–" if value is None else f"{value:z.{digits}f}"
