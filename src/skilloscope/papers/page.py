"""The page of `reproduce`: every entry's table, and the figures of the studies behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from skilloscope.papers.harness import Reproduction
from skilloscope.papers.tables import COLUMNS, reproduction_rows
from skilloscope.reports.page import Section, report_page


def reproduction_page(done: Reproduction) -> str:
    """Return the page: what the papers print beside what came out here."""
    report = done.as_dict()
    source = f"Budget {done.budget.minutes:g} minutes of engine time, seed {done.budget.seed}."
    return report_page("The papers, reproduced", source, list(_sections(done, report["entries"])))


def _sections(done: Reproduction, entries: Sequence[Mapping[str, Any]]) -> Iterator[Section]:
    for (entry, outcome), sent in zip(done.entries, entries, strict=True):
        rows = reproduction_rows([row.as_dict() for row in outcome.rows])
        text = "\n".join(sent["notes"])
        yield Section(f"{entry.key}: {entry.title}", text, COLUMNS if rows else (), rows)
        for study in outcome.studies:
            for svg, caption in study.figures():
                yield Section(f"{entry.key}, figure", figure=svg, caption=caption)
