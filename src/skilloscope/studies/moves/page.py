"""The page of one position: the bars, the moves, and how hard the best one is to find."""

from __future__ import annotations

from skilloscope.reports.page import Section, report_page
from skilloscope.studies.moves.moves import MovesStudy
from skilloscope.studies.moves.tables import difficulty_line, moves_table

CANNOT_TELL = (
    "Nothing is known of the moves before: a FEN does not hold them, and people remember how they got somewhere.",
    "The probabilities are those of slow games over the board. In blitz people play otherwise.",
    "In a position that people of a level never reach, the model guesses what they would play.",
    "The best move is the engine's, at its own depth. Half find it: that is a share of people, not of tries.",
)


def moves_page(study: MovesStudy) -> str:
    """Return the page of one position."""
    report = study.as_dict()
    (bars, bars_caption), *finding = study.figures()
    sections = [
        Section("What people play", figure=bars, caption=bars_caption),
        *(Section("Who finds the best move", difficulty_line(report), figure=f, caption=c) for f, c in finding),
        Section.from_sheet(moves_table(report, len(report["moves"])), "Every legal move"),
    ]
    title = f"What people play: {report['fen']}"
    return report_page(title, report["fen"], sections, warnings=report["notes"], cannot_tell=CANNOT_TELL)
