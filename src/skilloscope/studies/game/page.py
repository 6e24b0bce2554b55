"""The page of one game: the chart, the players, every move."""

from __future__ import annotations

from skilloscope.reports.page import Section, report_page
from skilloscope.reports.words import sentences
from skilloscope.studies.game.figures import game_figure, histogram_figure
from skilloscope.studies.game.game import GameStudy
from skilloscope.studies.game.tables import between_line, moves_sheet, people_line, players_sheet, values_line

CANNOT_TELL = (
    "The difference is to the engine that valued the moves, at its own depth: another engine gives other numbers.",
    "A game is a few dozen moves. Nothing here says how strong somebody is, only how these moves compare.",
    "Gain knows nothing of how hard a position was: dull games look strong.",
    "That a move is likeliest at a level says little about who made it: every level plays most moves.",
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
        Section.from_sheet(players_sheet(report), "The players", text=between_line(report)),
        Section.from_sheet(moves_sheet(report), "Every move", text=sentences([people_line(report)])),
    ]
    if histograms:
        sections.insert(2, Section("How often they gained how much", figure=histogram_figure(histograms)))
    return report_page(title, source, sections, skipped=report["skipped"], cannot_tell=CANNOT_TELL)
