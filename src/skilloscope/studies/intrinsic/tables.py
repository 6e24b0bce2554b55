"""Tables of the curves: deciders by s and c, and the table of RH11 section 7."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skilloscope.reports.sheet import Sheet, number
from skilloscope.reports.words import skipped_line


def curve_deciders_sheet(report: Mapping[str, Any]) -> Sheet:
    """Return the table of `decisions rate --method curves`."""
    notes = [skipped_line(sum(row["decisions"] for row in report["deciders"]), report["skipped"])]
    notes += [*_edge_note(report["deciders"]), *report["warnings"]]
    if report["unrated"]:
        notes.append(f"no usable decision of: {'; '.join(report['unrated'])}")
    rows = [
        [
            row["decider"],
            f"{row['decisions']:,}",
            _estimate(row, "s"),
            _estimate(row, "c"),
            number(row["log_likelihood"], 2),
            number(row["expected_loss"], 3),
        ]
        for row in report["deciders"]
    ]
    columns = ["decider", "decisions", "s", "c", "log-likelihood", "expected loss"]
    return Sheet(_title("sensitivity s and competence c", report), columns, rows, notes)


def mileposts_sheet(report: Mapping[str, Any], *, by: str = "milepost") -> Sheet:
    """Return the table of `intrinsic`, with the columns of RH11 section 7."""
    groups = report["groups"]
    notes = [skipped_line(sum(row["decisions"] for row in groups), report["skipped"]), *report["warnings"]]
    notes += _edge_note(groups)
    notes.append("p: predicted, a: actual; mm: match with the engine's first move; ad: mean loss on the scaled axis")
    rows = [
        [
            "unknown" if row["group"] is None else str(row["group"]),
            f"{row['decisions']:,}",
            _estimate(row, "s"),
            _estimate(row, "c"),
            number(row["c_fit"], 3),
            number(row["s_fit"], 3),
            f"{100 * row['match_predicted']:.1f}/{100 * row['match_actual']:.1f}",
            f"{row['loss_predicted']:.3f}/{row['loss_actual']:.3f}",
            number(row["score"], 4),
        ]
        for row in groups
    ]
    columns = [by, "decisions", "s", "c", "c_fit", "s_fit", "mm p/a", "ad p/a", "S"]
    return Sheet(_title("s and c", report), columns, rows, notes)


def _title(what: str, report: Mapping[str, Any]) -> str:
    model = report["model"]
    how = f"fit {report['fit']}, rule {model['rule']}, scaling {model['scaling']:g}"
    return f"{what} of {model['mapping']} with {model['curve']} ({how})"


def _edge_note(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return ["* at the end of its range: the truth may lie beyond"] if any(row["edge"] for row in rows) else []


def _estimate(row: Mapping[str, Any], name: str) -> str:
    sd = row[f"{name}_sd"]
    mark = " *" if row["edge"] and name in row["edge"].split(" and ") else ""
    return f"{row[name]:.3f} ± {sd:.3f}{mark}" if sd is not None else f"{row[name]:.3f}{mark}"
