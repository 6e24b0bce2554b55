"""The table of `store info`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group
from rich.table import Table

from skilloscope.reports.terminal import framed
from skilloscope.reports.words import engine_line


def store_table(numbers: Mapping[str, Any]) -> Group:
    """Return the table of `store info`: the settings with their numbers, and how many answers each has."""
    table = Table()
    table.add_column("settings", justify="right")
    table.add_column("engine")
    for name in ("searched", "imported", "failed"):
        table.add_column(name, justify="right")
    for number, one in enumerate(numbers["settings"], start=1):
        rows = {(count["status"], count["origin"]): count["rows"] for count in one["counts"]}
        failed = sum(n for (status, _), n in rows.items() if status == "failed")
        done = [rows.get(("done", origin), 0) for origin in ("searched", "imported")]
        table.add_row(str(number), engine_line(one["settings"]), *(f"{n:,}" for n in (*done, failed)))
    size = f"{numbers['rows']:,} positions in {numbers['bytes']:,} bytes; schema {numbers['schema']}"
    return framed(numbers["path"], table, [size])
