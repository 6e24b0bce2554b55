"""The tables of `reproduce`: printed, ours, difference, within tolerance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skilloscope.reports.sheet import Sheet, number

_COLUMNS = ("", "printed", "ours", "difference", "tolerance", "within")


def reproduction_sheets(report: Mapping[str, Any]) -> list[Sheet]:
    """Return one table per reproduced entry."""
    return [
        Sheet(f"{entry['key']}: {entry['title']}", _COLUMNS, [_row(row) for row in entry["rows"]], entry["notes"])
        for entry in report["entries"]
    ]


def _row(row: Mapping[str, Any]) -> list[str]:
    """Return the cells of a row: one digit more than the paper prints (none for a count), – for nothing."""
    digits = len(row["printed_text"].partition(".")[2]) + 1 if row["printed_text"] else 3
    if row["printed_text"].isdigit() and row["ours"] is not None and float(row["ours"]).is_integer():
        digits = 0
    ours = number(row["ours"], digits) + (f" ± {row['sd']:.{digits}f}" if row["sd"] is not None else "")
    tolerance = row["tolerance"]
    written = "–" if tolerance is None else f"{tolerance:.2g}" if tolerance < 1 else f"{tolerance:.1f}"
    within = {None: "–", True: "yes", False: "NO"}[row["within"]]
    return [row["label"], row["printed_text"] or "–", ours, number(row["difference"], digits), written, within]
