"""Boards in pages: the position as it is, words for those who hear it, and clicks without a script."""

from __future__ import annotations

import re
from dataclasses import replace

import chess
from hypothesis import given
from hypothesis import strategies as st

from skilloscope.chess.moves import position_fen
from skilloscope.inputs.costs import MoveJudgement
from skilloscope.report.board import board_svg, shared_pieces, small_board
from skilloscope.report.page import Section, report_page
from skilloscope.studies.game import GameMove, MovePopularity, game_boards


def boards() -> st.SearchStrategy[chess.Board]:
    """Positions of random games."""

    def played(places: list[int]) -> chess.Board:
        board = chess.Board()
        for place in places:
            legal = sorted(board.legal_moves, key=str)
            if not legal:
                break
            board.push(legal[place % len(legal)])
        return board

    return st.lists(st.integers(0, 200), max_size=30).map(played)


@given(boards())
def test_a_small_board_has_every_piece_on_its_square(board):
    drawn = small_board(board, None, "words")
    found = {
        chess.square(int(x), 7 - int(y)): letter
        for letter, x, y in re.findall(r'<use href="#piece-(\w)" x="(\d)" y="(\d)"/>', drawn)
    }
    assert found == {square: piece.symbol() for square, piece in board.piece_map().items()}


def test_the_shared_pieces_are_all_twelve_with_one_name_each():
    names = re.findall(r'id="([^"]+)"', shared_pieces())
    assert sorted(names) == sorted({*(f"piece-{letter}" for letter in "PNBRQKpnbrqk"), "squares"})


def test_words_of_a_board_cannot_leave_it():
    for drawn in (board_svg(chess.STARTING_FEN, alt="<b>&"), small_board(chess.Board(), None, "<b>&")):
        assert "<title>&lt;b&gt;&amp;</title>" in drawn


def test_a_game_is_clicked_through_without_a_script_and_marks_what_cost_much():
    moves = made(chess.Board(), {"e4": 30, "g5": 200, "d4": 190})
    judged = MoveJudgement(mark="??", chances=0.5, chances_after=0.3, better="e5", line="1...e5")
    shown = game_boards([moves[0], replace(moves[1], judgement=judged), moves[2]], None)
    assert [move.text for move in shown] == ["", "1. e4", "1… g5??", "2. d4"]
    assert "winning chances 50 % → 30 %: better 1...e5" in shown[2].words
    page = report_page("A game", "x", [Section("The game", game=shown)])
    assert "<script" not in page
    for move in shown:
        assert page.count(f'id="{move.name}"') == 1
    assert 'href="#ply-1"' in page


def test_a_game_from_another_position_starts_there():
    fen = "8/8/8/4k3/8/8/4K2P/8 w - - 0 1"
    assert "#piece-P" in game_boards(made(chess.Board(fen), {"h4": None}), fen)[1].picture


def made(board: chess.Board, values: dict[str, int | None]) -> list[GameMove]:
    """Return these moves, each with the value after it."""
    found = []
    for ply, (san, value) in enumerate(values.items()):
        side, number = "white" if board.turn else "black", board.fullmove_number
        uci = board.push_san(san).uci()
        people = MovePopularity(probability=0.25)
        found.append(
            GameMove(ply, number, "A", side, san, uci, position_fen(board), white_value_cp=value, people=people)
        )
    return found
