"""The table of RH11 section 7."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skilloscope.reports.sheet import Sheet, number
from skilloscope.reports.words import curve_estimate, elo_interval, skipped_line


def mileposts_sheet(report: Mapping[str, Any], *, by: str = "milepost") -> Sheet:
    """Return the table of `intrinsic`, with the columns of RH11 section 7."""
    groups = report["groups"]
    rated = any(row.get("ipr") for row in groups)
    notes = [skipped_line(sum(row["decisions"] for row in groups), report["skipped"]), *report["warnings"]]
    if any(row["edge"] for row in groups):
        notes.append("* at the end of its range: the truth may lie beyond")
    notes += report.get("intrinsic_notes", [])
    notes.append("p: predicted, a: actual; mm: match with the engine's first move; ad: mean loss on the scaled axis")
    rows = [
        [
            "unknown" if row["group"] is None else str(row["group"]),
            f"{row['decisions']:,}",
            *([elo_interval(row["ipr"]) if row["ipr"] else "–"] if rated else []),
            curve_estimate(row, "s"),
            curve_estimate(row, "c"),
            number(row["c_fit"], 3),
            number(row["s_fit"], 3),
            f"{100 * row['match_predicted']:.1f}/{100 * row['match_actual']:.1f}",
            f"{row['loss_predicted']:.3f}/{row['loss_actual']:.3f}",
            number(row["score"], 4),
        ]
        for row in groups
    ]
    columns = [
        by,
        "decisions",
        *(["IPR (95 % interval)"] if rated else []),
        "s",
        "c",
        "c_fit",
        "s_fit",
        "mm p/a",
        "ad p/a",
        "S",
    ]
    model = report["model"]
    how = f"fit {report['fit']}, rule {model['rule']}, scaling {model['scaling']:g}"
    title = f"s and c of {model['mapping']} with {model['curve']} ({how})"
    return Sheet(title, columns, rows, notes)
