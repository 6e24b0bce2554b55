"""A sheet: a table as cells, ready to be shown in the terminal or in a page. Studies make them, reports render them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Sheet:
    """A table as cells: a title, the names of the columns, the rows, and notes below them."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    """Cells as they are to be read."""
    notes: Sequence[str] = ()
    left: int = 1
    """How many columns are labels, which stand at the left; numbers stand at the right."""
    words: Collection[int] = ()
    """Columns of words further right, by place, which stand at the left too."""
    faded: Collection[int] = ()
    """Rows that stand back, by place."""
    headed: bool = True
    """Whether the names of the columns are shown in the terminal."""
    wide: bool = False
    """A crosstable: centred cells of several lines, too wide for a screen where there are many rows."""


def caution_sheet(lines: Iterable[str]) -> Sheet:
    """Return what must be said beside the figures, as a sheet without a table."""
    return Sheet("", (), (), [f"caution: {line}" for line in lines])


def number(value: float | None, digits: int) -> str:
    """Return a number with so many decimals, or a dash where there is none.

    >>> number(1.25, 1), number(None, 1)
    ('1.2', '–')
    """
    return "–" if value is None else f"{value:z.{digits}f}"
