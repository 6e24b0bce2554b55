"""Tables for the terminal, each made from the same dict that `--json` sends: their frame and their numbers."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group
from rich.table import Table
from rich.text import Text


def framed(title: str, table: Table, notes: Sequence[str]) -> Group:
    """Put a title above a table and notes below it; they are as wide as the screen, not as the table."""
    return Group(Text(title, style="bold"), table, *(Text(note, style="dim") for note in notes if note))


def number(value: float | None, digits: int) -> str:
    """Return a number with so many decimals, or a dash where there is none."""
    return "–" if value is None else f"{value:z.{digits}f}"
