"""Pages of gain: one game with its chart, a tournament with its tables."""

from __future__ import annotations

from skilloscope.reports.page import Section, report_page
from skilloscope.studies.game.figures import game_figure, histogram_figure, strengths_figure
from skilloscope.studies.game.game import GameStudy
from skilloscope.studies.game.tables import (
    GAME_COLUMNS,
    SIDE_COLUMNS,
    between_line,
    game_rows,
    side_rows,
    values_line,
)
from skilloscope.studies.tournament.report import tournament_report
from skilloscope.studies.tournament.tables import sheets
from skilloscope.studies.tournament.tournament import Tournament

CANNOT_TELL = (
    "The difference is to the engine that valued the moves, at its own depth: another engine gives other numbers.",
    "A game is a few dozen moves. Nothing here says how strong somebody is, only how these moves compare.",
    "Gain knows nothing of how hard a position was: dull games look strong.",
)


def game_page(study: GameStudy, source: str) -> str:
    """Return the page of one game: the chart, the players, every move."""
    report = study.as_dict()
    game = report["game"]
    title = f"{game['white'] or 'White'} – {game['black'] or 'Black'}"
    histograms = {side.player: side.histogram for side in study.sides if side.histogram.moves}
    sections = [
        Section(
            "Strength through the game",
            values_line(report["engine"]),
            figure=game_figure(study),
            caption="Above: evaluation after each move, cut at ±10 pawns. Below: Elo difference to the engine from all "
            "own moves so far; a triangle at the edge stands for an infinite difference.",
        ),
        Section("The players", between_line(report), SIDE_COLUMNS, side_rows(report)),
        Section("Every move", "", GAME_COLUMNS, game_rows(report)),
    ]
    if histograms:
        sections.insert(2, Section("How often they gained how much", figure=histogram_figure(histograms)))
    return report_page(title, source, sections, skipped=report["skipped"], cannot_tell=CANNOT_TELL)


def tournament_page(study: Tournament, source: str) -> str:
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
                caption="Perceived Elo with intervals over games; the bar is the rating in the headers.",
            )
        )
        sections.append(Section(f"{heading}: how often they gained how much", figure=histogram_figure(own)))
    for sheet in sheets(report):
        sections.append(Section(sheet.title, " ".join(sheet.notes), sheet.columns, sheet.rows))
    title = f"{len(report['players']):,} players compared by gain"
    return report_page(title, source, sections, skipped=report["skipped"], cannot_tell=CANNOT_TELL)
