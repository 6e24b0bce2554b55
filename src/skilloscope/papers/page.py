"""The page of `reproduce`: every entry's table, and the figures of the studies behind it."""

from __future__ import annotations

from collections.abc import Iterator

from skilloscope.papers.harness import Reproduction
from skilloscope.papers.tables import reproduction_sheets
from skilloscope.reports.page import Section, report_page


def reproduction_page(done: Reproduction) -> str:
    """Return the page: what the papers print beside what came out here."""
    source = f"Budget {done.budget.minutes:g} minutes of engine time, seed {done.budget.seed}."
    return report_page("The papers, reproduced", source, list(_sections(done)))


def _sections(done: Reproduction) -> Iterator[Section]:
    for (entry, outcome), sheet in zip(done.entries, reproduction_sheets(done.as_dict()), strict=True):
        text = "\n".join(sheet.notes)
        yield Section.from_sheet(sheet, text=text) if sheet.rows else Section(sheet.title, text)
        for study in outcome.studies:
            for svg, caption in study.figures():
                yield Section(f"{entry.key}, figure", figure=svg, caption=caption)
