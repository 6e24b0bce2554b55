"""The table of `skilloscope names`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skilloscope.reports.sheet import Sheet
from skilloscope.reports.words import plural


def names_sheet(report: Mapping[str, Any], top: int = 40) -> Sheet:
    """Return the names that may be another's, those of the most played first."""
    found = [row for group in report["groups"] for row in group["names"]]
    rows = [
        [
            row["name"],
            f"{row['games']:,}",
            row["years"],
            row["same_as"],
            f"{row['games_of_same_as']:,}",
            row["years_of_same_as"],
            "yes" if row["overlap"] else "no",
            row["or"],
        ]
        for row in found[:top]
    ]
    columns = ["name", "games", "years", "may be", "games", "years", "years overlap", "or else"]
    more = f"the first {top} of {len(found):,}" if len(found) > top else plural(len(found), "name")
    notes = [f"{more}; nothing is put together before somebody has confirmed it (--out, then --alias)"]
    return Sheet(f"names that may be one person's, of {report['players']:,}", columns, rows, notes, words=(0, 3, 7))
