"""The page of dimensions: the figure, the table, and what lies between groups."""

from __future__ import annotations

from skilloscope.reports.page import Section, report_page
from skilloscope.studies.dimensions.dimensions import Dimensions
from skilloscope.studies.dimensions.figures import (
    DIMENSIONS_CAPTION,
    ELO_DIMENSIONS_CAPTION,
    dimensions_figure,
    elo_dimensions_figure,
)
from skilloscope.studies.dimensions.tables import dimensions_sheet, elo_dimensions_sheet
from skilloscope.studies.rate.parts import EloParts

_CANNOT_TELL = (
    "Elo by group: the scale was fitted on whole games, and c differs by phase or complexity for everybody.",
    "Whether a difference is the player's own: compare with others, or with everybody, by the same groups.",
)

_ELO_CANNOT_TELL = (
    "Why groups differ: openings, opponents and clocks come with other positions and other days.",
    "How far a model errs for everybody in one phase: the axis was fitted on whole games.",
)


def elo_dimensions_page(study: EloParts, *, title: str, source: str) -> str:
    """Return the page on the Elo axis."""
    sections = [
        Section(f"By {study.by}", figure=elo_dimensions_figure(study), caption=ELO_DIMENSIONS_CAPTION),
        Section.from_sheet(elo_dimensions_sheet(study.as_dict("group")), "Group by group"),
    ]
    return report_page(
        title,
        source,
        sections,
        warnings=study.warnings,
        skipped=study.tally.as_dict(),
        cannot_tell=_ELO_CANNOT_TELL,
    )


def dimensions_page(study: Dimensions, *, title: str, source: str) -> str:
    """Return the page."""
    sections = [
        Section(f"By {study.by}", figure=dimensions_figure(study), caption=DIMENSIONS_CAPTION),
        Section.from_sheet(dimensions_sheet(study.as_dict()), "Group by group"),
    ]
    return report_page(title, source, sections, skipped=study.tally.as_dict(), cannot_tell=_CANNOT_TELL)
