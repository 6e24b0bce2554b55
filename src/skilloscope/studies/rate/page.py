"""The page of a rating: the table, the figures, and what the page cannot tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from skilloscope.decision import Decisions
from skilloscope.reports.page import Section, report_page
from skilloscope.reports.words import engine_line, plural
from skilloscope.sources.gains import gains_of_games
from skilloscope.sources.judge import Work
from skilloscope.sources.shipped import game_of_the_century
from skilloscope.studies.game.figures import game_study_figures
from skilloscope.studies.game.game import game_study
from skilloscope.studies.rate.demo import DEMO_NOTES, DemoRatings
from skilloscope.studies.rate.elo import EloRatings
from skilloscope.studies.rate.elo_tables import elo_sheets
from skilloscope.studies.rate.figures import competence_figure, elo_figure, loss_figure
from skilloscope.studies.rate.rate import Ratings
from skilloscope.studies.rate.tables import ratings_sheet

_CANNOT_TELL = (
    "A few dozen decisions say little: look at the interval before the number.",
    "The rating is of the play in these games under this engine, depth and list, not of the person.",
    "It does not know how hard the positions were for a human, the clock, or the aim of the game.",
)

_ELO_CAPTION = "Point: posterior mean; line: interval; shaded: the range in which the scale was fitted."
_LOSSES = "How often they lost how much"
_LOSS_CAPTION = "Choices outside the engine's list count as the last listed move: the least they can have lost."


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
    model = f"k = {report['model']['k']}, choice-set rule “{report['model']['rule']}”"
    sheet = ratings_sheet(report, truth, by=by, full=True)
    explained = replace(sheet, notes=[*sheet.notes, *_explained(ratings)])
    sections = [Section.from_sheet(explained, f"Ratings: {sheet.title}")]
    return report_page(
        title,
        f"{source}\n{engine_line(report['engine'])} · {model}",
        [*sections, *(_figures(ratings, decisions, by, truth) if ratings.players else ())],
        warnings=report["warnings"],
        skipped=report["skipped"],
        cannot_tell=[*_CANNOT_TELL, *notes],
    )


def elo_page(
    ratings: EloRatings, decisions: Decisions | None, *, title: str, source: str, notes: Sequence[str] = ()
) -> str:
    """Return the page of ratings on the Elo axis."""
    report = ratings.as_dict()
    sections = [Section.from_sheet(sheet) for sheet in elo_sheets(report, by=ratings.by)]
    heading = "Elo from moves and results" if ratings.fusion else "Elo from the moves"
    sections.append(Section(heading, figure=elo_figure(ratings), caption=_ELO_CAPTION))
    if decisions is not None and len(decisions) and ratings.by == "player":
        sections.append(Section(_LOSSES, figure=loss_figure(decisions, ratings), caption=_LOSS_CAPTION))
    return report_page(
        title,
        source,
        sections,
        warnings=report["warnings"],
        skipped=report["skipped"],
        cannot_tell=[*_CANNOT_TELL, *notes],
    )


def demo_page(found: DemoRatings, decisions: Decisions, *, source: str) -> str:
    """Return the page of the demo."""
    several, single = (Section.from_sheet(sheet) for sheet in found.sheets())
    figure = elo_figure(replace(found.ratings, players=[*found.several.players, *found.single.players]), found.truth)
    caption = f"{_ELO_CAPTION} The cross is the true Elo of a simulated player."
    return report_page(
        "From the Immortal Game to Reykjavik, on one Elo axis",
        f"{plural(found.games, 'game')} that ship with skilloscope, read move by move; {source}",
        [
            several,
            Section("Elo from the moves", figure=figure, caption=caption),
            single,
            _century(),
            Section(_LOSSES, figure=loss_figure(decisions, found.many_moves), caption=_LOSS_CAPTION),
        ],
        warnings=found.ratings.warnings,
        skipped=found.ratings.tally.as_dict(),
        cannot_tell=[*_CANNOT_TELL, *DEMO_NOTES],
    )


def _century() -> Section:
    """Return the chart of the game of 1956, which comes with its evaluations."""
    study = game_study(gains_of_games(game_of_the_century(), Work()))
    ((figure, caption),) = game_study_figures(study)
    return Section("Byrne against Fischer, 1956, move by move", figure=figure, caption=caption)


def _explained(ratings: Ratings) -> list[str]:
    """Return how the numbers of the table are to be read."""
    scale = ratings.scale
    priors = dict.fromkeys(player.elo.prior for player in ratings.players)
    return [
        "Mean loss in pawns",
        f"Prior of Elo: {'; '.join(priors)}",
        "The scale was fitted from {:.0f} to {:.0f}: outside of that an Elo is a direction, not a number".format(
            *scale.valid
        ),
        f"The intervals hold the dispersion between games ({scale.dispersion:.2f} times the model's variance) and the "
        "scale's own error. They take a player's games to scatter independently about one strength; a player whom this "
        "engine judges kindlier than others of the same Elo stays so in every game, and more games do not show it",
    ]


def _figures(ratings: Ratings, decisions: Decisions, by: str, truth: Mapping[str, float] | None) -> Iterator[Section]:
    yield Section(
        "Elo from the moves",
        figure=elo_figure(ratings),
        caption=_ELO_CAPTION,
    )
    yield Section(
        "Competence",
        figure=competence_figure(ratings, truth),
        caption="The posterior of c before it is read as Elo and widened by the scale's dispersion.",
    )
    yield Section(
        _LOSSES,
        figure=loss_figure(decisions, ratings, by),
        caption=_LOSS_CAPTION,
    )
