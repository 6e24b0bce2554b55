"""The page of a comparison: both densities, the difference, and the caution that belongs to them."""

from __future__ import annotations

from skilloscope.reports.page import Section, report_page
from skilloscope.studies.compare.compare import Comparisons
from skilloscope.studies.compare.elo import EloComparison
from skilloscope.studies.compare.figures import comparison_figure, elo_comparison_figure
from skilloscope.studies.compare.tables import comparison_sheet, elo_comparison_sheet

_MOST = 12  # figures on one page; more are in the table


def elo_comparison_page(study: EloComparison, *, source: str) -> str:
    """Return the page of a comparison on the Elo axis."""
    report = study.as_dict()
    caption = "Above: the posterior of each side. Below: that of the difference, its interval as a bar."
    sections = [
        Section.from_sheet(elo_comparison_sheet(report), "Both sides"),
        Section(study.who, figure=elo_comparison_figure(study), caption=caption),
    ]
    sides = f"{study.first[0]} and {study.second[0]}"
    return report_page(
        f"{study.who}: {sides}" if study.shared else sides,
        source,
        sections,
        warnings=report["warnings"],
        skipped=report["skipped"],
        cannot_tell=report["caution"],
    )


def comparison_page(study: Comparisons, *, source: str) -> str:
    """Return the page of a comparison: no script, no address, everything inside."""
    report = study.as_dict()
    sections = [Section.from_sheet(comparison_sheet(report), "Both sides")]
    for found in list(study.comparisons)[:_MOST]:
        caption = "Above: the posterior of c of each side. Below: that of the difference, its interval as a bar."
        sections.append(Section(found.decider, figure=comparison_figure(found, study.mass), caption=caption))
    first = study.comparisons[0]
    name = first.decider if len(study.comparisons) == 1 else "Comparison"
    title = f"{name}: {first.first.label} and {first.second.label}"
    return report_page(title, source, sections, skipped=report["skipped"], cannot_tell=report["caution"])
