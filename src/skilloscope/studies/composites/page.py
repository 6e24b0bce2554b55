"""The page of `composites`: its tables, its figures, and what it cannot tell."""

from __future__ import annotations

from collections.abc import Iterator

from skilloscope.reports.page import Section, report_page
from skilloscope.reports.words import engine_line
from skilloscope.studies.composites.composites import Composites
from skilloscope.studies.composites.convergence import Convergence
from skilloscope.studies.composites.figures import (
    CONVERGENCE_CAPTION,
    DENSITIES_CAPTION,
    LINE_CAPTION,
    SPLIT_CAPTION,
    convergence_figure,
    densities_figure,
    line_figure,
    split_figure,
)
from skilloscope.studies.composites.results_split import ResultsSplit
from skilloscope.studies.composites.tables import composites_sheet, convergence_sheet, line_words, split_sheet

CANNOT_TELL = (
    "How strong any one player is: a group is many people taken as one.",
    "How sure c̄ is of a group of games: σ counts decisions as independent. The spread between games says how far they "
    "are from that.",
    "Elo in general: the line holds for this engine, depth, rule and these groups.",
    "Why games were lost: a lost game is short of good moves by being lost; the split shows an association.",
)


def composites_page(
    study: Composites,
    *,
    source: str,
    split: ResultsSplit | None = None,
    convergence: Convergence | None = None,
) -> str:
    """Return the page: no script, no address, everything inside."""
    report = study.as_dict()
    title = f"{len(study.groups):,} composite players by {study.by}"
    return report_page(
        title,
        f"{source}; {engine_line(report['engine'])}",
        list(_sections(study, split, convergence)),
        warnings=study.notes,
        skipped=report["skipped"],
        cannot_tell=CANNOT_TELL,
    )


def _sections(study: Composites, split: ResultsSplit | None, convergence: Convergence | None) -> Iterator[Section]:
    report = study.as_dict()
    yield Section.from_sheet(
        composites_sheet(report), "Composite players", figure=densities_figure(study), caption=DENSITIES_CAPTION
    )
    if report["line"]:
        yield Section(
            "From competence to Elo", line_words(report["line"]) + ".", figure=line_figure(study), caption=LINE_CAPTION
        )
    if convergence:
        yield Section.from_sheet(
            convergence_sheet(convergence.as_dict()),
            f"Convergence, group {convergence.name}",
            figure=convergence_figure(convergence),
            caption=CONVERGENCE_CAPTION,
        )
    if split:
        yield Section.from_sheet(
            split_sheet(split.as_dict()),
            f"Won, lost, drawn: group {split.name}",
            figure=split_figure(split),
            caption=SPLIT_CAPTION,
        )
