"""Pages of gain: one game with its chart."""

from __future__ import annotations

from skilloscope.reports.figures.gain import game_figure, histogram_figure
from skilloscope.reports.html import Section, report_page
from skilloscope.reports.tables.gain import (
    GAME_COLUMNS,
    SIDE_COLUMNS,
    between_line,
    game_rows,
    side_rows,
    values_line,
)
from skilloscope.studies.game import GameStudy

__all__ = ["CANNOT_TELL", "game_page"]

CANNOT_TELL = (
    "The difference is to the engine that valued the moves, at its own depth: another engine gives other numbers.",
    "One game is a few dozen moves. Nothing here says how strong somebody is, only how these moves compare.",
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
