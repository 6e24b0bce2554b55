"""The page of one game: the chart, the players, every move."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skilloscope.chess.chess960 import board_of_fen
from skilloscope.models.scaling import scaled_loss
from skilloscope.reports.board import BoardMove, small_board
from skilloscope.reports.page import Section, report_page
from skilloscope.reports.words import edge_mark, sentences, share
from skilloscope.studies.game.figures import game_figure, histogram_figure
from skilloscope.studies.game.game import GameStudy
from skilloscope.studies.game.tables import (
    between_line,
    empty_columns,
    moves_sheet,
    people_line,
    players_sheet,
    values_line,
)

COSTLY = (0.4, 1.0)
"""Scaled losses from which a move is marked once and twice."""
CANNOT_TELL = (
    "The difference is to the engine that valued the moves, at its own depth: another engine gives other numbers.",
    "A game is a few dozen moves. Nothing here says how strong somebody is, only how these moves compare.",
    "Gain knows nothing of how hard a position was: dull games look strong.",
    "That a move is likeliest at a level says little about who made it: every level plays most moves.",
)


MARKS = (
    f"Click a move to see its board. ▼ lost {COSTLY[0]:g} scaled pawns or more, ▼▼ {COSTLY[1]:g} or more: a pawn "
    "counts less the more decided the game is."
)


def game_page(study: GameStudy, source: str) -> str:
    """Return the page of one game: the chart, the players, every move."""
    report = study.as_dict()
    game = report["game"]
    title = f"{game['white'] or 'White'} – {game['black'] or 'Black'}"
    empty = empty_columns(report)
    histograms = {side.player: side.histogram for side in study.sides if side.histogram.moves}
    sections = [
        Section("The game", MARKS, game=game_boards(report)),
        Section(
            "Strength through the game",
            values_line(report["engine"]),
            figure=game_figure(study),
            caption="Above: evaluation after each move, cut at ±10 pawns. Below: Elo difference to the engine from all "
            "own moves so far, with its interval as a band, cut at the frame; a triangle stands for an infinite "
            "difference.",
        ),
        Section.from_sheet(players_sheet(report, empty=empty), "The players", text=between_line(report)),
        Section.from_sheet(moves_sheet(report, empty=empty), "Every move", text=sentences([people_line(report)])),
    ]
    if histograms:
        sections.insert(2, Section("How often they gained how much", figure=histogram_figure(histograms)))
    return report_page(title, source, sections, skipped=report["skipped"], cannot_tell=CANNOT_TELL)


def game_boards(report: Mapping[str, Any]) -> list[BoardMove]:
    """Return the moves of a game, each with the board after it, what it cost, and how many of the level play it."""
    board = board_of_fen(report["game"].get("start_fen"))
    found = [BoardMove("start", "", "The position before the first move", small_board(board, None, "before move 1"))]
    before = report["start_value_cp"]
    for move in report["moves"]:
        played = board.push_san(move["san"])
        written = f"{move['number']}{'.' if move['side'] == 'white' else '…'} {move['san']}"
        mark = _mark(before, move)
        before = move["white_value_cp"]
        words = "; ".join(part for part in (f"{written} {mark}".strip(), *_said(move)) if part)
        picture = small_board(board, played, f"the board after {written}")
        found.append(BoardMove(f"ply-{move['ply']}", f"{written} {mark}".strip(), words, picture))
    return found


def _mark(before: int | None, move: Mapping[str, Any]) -> str:
    """Return the mark of a move by what it lost, scaled; none where that is not known."""
    after = move["white_value_cp"]
    if before is None or after is None:
        return ""
    view = 1 if move["side"] == "white" else -1
    lost = float(scaled_loss(view * before / 100, view * after / 100))
    return "▼" * sum(lost >= limit for limit in COSTLY)


def _said(move: Mapping[str, Any]) -> list[str]:
    value, p = move["white_value_cp"], move["probability"]
    return [
        "" if value is None else f"evaluation {value / 100:+z.2f}",
        "" if p is None else f"played by {share(p)} of the player's level",
        ""
        if move["likeliest_elo"] is None
        else f"likeliest at {move['likeliest_elo']:.0f}{edge_mark(move['likeliest_edge'])}",
    ]
