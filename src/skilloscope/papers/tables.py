"""The tables of `reproduce`: printed, ours, difference, within tolerance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group
from rich.table import Table

from skilloscope.reports.sheet import number
from skilloscope.reports.terminal import framed

COLUMNS = ("", "printed", "ours", "difference", "tolerance", "within")


def reproduction_tables(report: Mapping[str, Any]) -> Iterator[Group]:
    """Yield one table per reproduced entry."""
    for entry in report["entries"]:
        table = Table()
        table.add_column(COLUMNS[0])
        for name in COLUMNS[1:]:
            table.add_column(name, justify="right")
        for cells in reproduction_rows(entry["rows"]):
            table.add_row(*cells)
        yield framed(f"{entry['key']}: {entry['title']}", table, entry["notes"])


def reproduction_rows(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return the cells of an entry's rows: one digit more than the paper prints (none for a count), – for nothing."""
    cells = []
    for row in rows:
        digits = len(row["printed_text"].partition(".")[2]) + 1 if row["printed_text"] else 3
        if row["printed_text"].isdigit() and row["ours"] is not None and float(row["ours"]).is_integer():
            digits = 0
        ours = number(row["ours"], digits) + (f" ± {row['sd']:.{digits}f}" if row["sd"] is not None else "")
        tolerance = row["tolerance"]
        written = "–" if tolerance is None else f"{tolerance:.2g}" if tolerance < 1 else f"{tolerance:.1f}"
        within = {None: "–", True: "yes", False: "NO"}[row["within"]]
        printed = row["printed_text"] or "–"
        cells.append([row["label"], printed, ours, number(row["difference"], digits), written, within])
    return cells
