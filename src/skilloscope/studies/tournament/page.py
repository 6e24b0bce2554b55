"""The page of a tournament: strengths, histograms, and every table."""

from __future__ import annotations

from skilloscope.reports.page import Section, report_page
from skilloscope.reports.words import plural
from skilloscope.studies.game.figures import histogram_figure
from skilloscope.studies.game.page import CANNOT_TELL
from skilloscope.studies.game.tables import values_line
from skilloscope.studies.tournament.figures import strengths_figure
from skilloscope.studies.tournament.report import tournament_report
from skilloscope.studies.tournament.tables import tournament_sheets
from skilloscope.studies.tournament.tournament import Tournament

CAPTION = (
    "Point and thick line: perceived Elo, a difference measured by gain around the mean rating, with its interval over "
    "games. Bar: the rating in the headers. Square: Elo on the one axis, from what was played."
)


def tournament_page(study: Tournament, source: str, *, engine: bool = False) -> str:
    """Return the page of a tournament: strengths, histograms, and every table."""
    report = tournament_report(study)
    sections = []
    for event in report["events"]:
        own = {
            entry.player: study.histograms[at]
            for at, entry in enumerate(study.entries)
            if entry.event == event["event"] and at in study.histograms
        }
        heading = event["event"] or "All games"
        sections.append(
            Section(
                f"{heading}: strength",
                values_line(report["engine"]),
                figure=strengths_figure(study, event["event"]),
                caption=CAPTION,
            )
        )
        sections.append(Section(f"{heading}: how often they gained how much", figure=histogram_figure(own)))
    sections += [
        Section.from_sheet(sheet, text=" ".join(sheet.notes)) for sheet in tournament_sheets(report, engine=engine)
    ]
    title = f"{plural(len(report['players']), 'player')} compared by gain"
    return report_page(title, source, sections, skipped=report["skipped"], cannot_tell=CANNOT_TELL)
