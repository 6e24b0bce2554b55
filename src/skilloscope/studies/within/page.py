"""The page of `within`: the chart, the games, and one game move by move where it was asked for."""

from __future__ import annotations

from skilloscope.reports.page import Section, report_page
from skilloscope.reports.words import plural
from skilloscope.studies.within.elo import EloWithinGames, RunningElo
from skilloscope.studies.within.figures import elo_within_figure, running_elo_figure, running_figure, within_figure
from skilloscope.studies.within.tables import elo_within_sheet, running_elo_sheet, running_sheet, within_sheet
from skilloscope.studies.within.within import RunningCompetence, WithinGames

CANNOT_TELL = (
    "Why a game was played as it was. A low point may be illness, time trouble, a hard position, a settled result or "
    "chance; nothing here tells them apart.",
    "Which of two games was played better, where their standard deviations overlap: a game has some thirty decisions.",
    "Anything about a person. The chart may start a question; it answers none.",
)


def elo_within_page(study: EloWithinGames, followed: RunningElo | None = None, *, source: str = "") -> str:
    """Return the page of a within-game chart on the Elo axis."""
    report = study.as_dict()
    chart = (
        "Both sides' Elo in each game, the posterior means; thin lines are one standard deviation. One game is little: "
        "every point leans towards the prior, and all games together (the dashed and dotted lines) lean less."
    )
    sections = [
        Section("The chart", figure=elo_within_figure(study), caption=chart),
        Section.from_sheet(elo_within_sheet(report), "The games"),
    ]
    if followed is not None:
        moves = running_elo_sheet(followed.as_dict())
        caption = "The posterior of each side's Elo after every move that was a choice."
        sections.append(Section(moves.title, figure=running_elo_figure(followed), caption=caption))
        sections.append(Section.from_sheet(moves, "The moves"))
    title = f"{study.player}: {plural(len(study.games), 'game')}"
    return report_page(
        title, source, sections, warnings=study.warnings, skipped=report["skipped"], cannot_tell=CANNOT_TELL
    )


def within_page(study: WithinGames, followed: RunningCompetence | None = None, *, source: str = "") -> str:
    """Return the page of a within-game chart: no script, no address, everything inside."""
    report = study.as_dict()
    chart = "Both sides' competence in each game, the posterior means; thin lines are one standard deviation."
    sections = [
        Section("The chart", figure=within_figure(study), caption=chart),
        Section.from_sheet(within_sheet(report), "The games"),
    ]
    if followed is not None:
        caption = f"Posterior of c after every decision, from a prior {followed.prior} on; below, what was lost."
        moves = running_sheet(followed.as_dict())
        sections.append(Section(moves.title, figure=running_figure(followed), caption=caption))
        sections.append(Section.from_sheet(moves, "The moves"))
    title = f"{study.player}: {plural(len(study.games), 'game')}"
    return report_page(title, source, sections, skipped=report["skipped"], cannot_tell=CANNOT_TELL)
