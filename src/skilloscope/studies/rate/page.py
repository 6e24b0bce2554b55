"""The page of a rating: the table, the figures, and what the page cannot tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skilloscope.__about__ import __version__
from skilloscope.decision import Decisions
from skilloscope.reports import words
from skilloscope.reports.page import page_environment
from skilloscope.studies.rate.figures import competence_figure, elo_figure, loss_figure
from skilloscope.studies.rate.rate import Ratings


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
        page_environment()
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
