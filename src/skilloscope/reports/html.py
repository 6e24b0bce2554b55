"""One self-contained HTML page: the tables of the terminal, the figures, and what the page cannot tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from skilloscope.__about__ import __version__
from skilloscope.decision import Decisions
from skilloscope.reports import words
from skilloscope.reports.figures.ratings import competence_figure, elo_figure, loss_figure
from skilloscope.studies.rating import Ratings

__all__ = ["Section", "ratings_page", "report_page"]


@dataclass(frozen=True)
class Section:
    """A part of a page: a heading, and under it text, a table and a figure, each where there is one."""

    heading: str
    text: str = ""
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    """Cells as they are to be read; the first column is a label."""
    figure: str = ""
    """SVG, as the functions of `reports.figures` return it."""
    caption: str = ""


def report_page(
    title: str,
    source: str,
    sections: Sequence[Section],
    *,
    warnings: Sequence[str] = (),
    skipped: Mapping[str, int] | None = None,
    cannot_tell: Sequence[str] = (),
) -> str:
    """Return a page of any study: no script, no address, everything inside."""
    return (
        _environment()
        .get_template("report.html")
        .render(
            title=title,
            source=source,
            sections=sections,
            warnings=warnings,
            skipped=skipped or {},
            cannot_tell=cannot_tell,
            version=__version__,
        )
    )


def ratings_page(
    ratings: Ratings,
    decisions: Decisions,
    *,
    title: str,
    source: str,
    by: str = "player",
    truth: Mapping[str, float] | None = None,
    notes: Sequence[str] = (),
) -> str:
    """Return the page of a rating: no script, no address, everything inside."""
    report = ratings.as_dict()
    figures: list[tuple[str, str, str]] = []
    if ratings.players:
        figures = [
            (
                "Elo from the moves",
                elo_figure(ratings),
                "Point: posterior mean; line: interval; shaded: the range in which the scale was fitted.",
            ),
            (
                "Competence",
                competence_figure(ratings, truth),
                "The posterior of c before it is read as Elo and widened by the scale's dispersion.",
            ),
            (
                "How often they lost how much",
                loss_figure(decisions, ratings, by),
                "Choices outside the engine's list count as the last listed move: the least they can have lost.",
            ),
        ]
    return (
        _environment()
        .get_template("ratings.html")
        .render(
            title=title,
            source=source,
            by=by,
            report=report,
            edge_note=words.EDGE_NOTE,
            truth=truth or {},
            notes=notes,
            figures=[(name, svg, caption) for name, svg, caption in figures],
            decisions=sum(player["decisions"] for player in report["players"]),
            version=__version__,
        )
    )


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("skilloscope.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Any] = {
        "elo_interval": words.elo_interval,
        "competence": words.competence,
        "percent": words.percent,
        "engine_line": words.engine_line,
    }
    environment.filters.update(filters)
    return environment
