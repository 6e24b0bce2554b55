"""Boards and legal moves against python-chess."""

from __future__ import annotations

import chess
import numpy as np
import pytest

from skilloscope.chess.boards import PAST, Boards
from skilloscope.chess.human.model import input_planes
from skilloscope.core.errors import InputError, SkilloscopeError

from .positions import RARE, random_boards, random_games


def packed(move: chess.Move) -> int:
    return move.from_square | move.to_square << 6 | (move.promotion or 0) << 12


def legal(boards: Boards) -> list[set[int]]:
    counts, places = boards.legal_places()
    codes = boards.move_codes(counts, places)
    return [set(part.tolist()) for part in np.split(codes, np.cumsum(counts)[:-1])]


def test_legal_moves_are_those_of_python_chess_in_random_games() -> None:
    boards = random_boards(25, seed=1)
    assert len(boards) > 1500
    for board, found in zip(boards, legal(Boards.from_boards(boards)), strict=True):
        assert found == {packed(move) for move in board.legal_moves}, board.fen()


@pytest.mark.parametrize("name", RARE)
def test_legal_moves_are_those_of_python_chess_in_rare_cases(name: str) -> None:
    for board in (chess.Board(RARE[name]), chess.Board(RARE[name]).mirror()):
        assert not board.status() & (chess.STATUS_PAWNS_ON_BACKRANK | chess.STATUS_OPPOSITE_CHECK)
        assert legal(Boards.from_boards([board])) == [{packed(move) for move in board.legal_moves}]


def test_listing_moves_leaves_the_board_as_it_was() -> None:
    boards = Boards.from_boards(random_boards(2, seed=3))
    before = boards.board.copy()
    legal(boards)
    assert (boards.board == before).all()


def test_replayed_games_are_the_boards_of_python_chess() -> None:
    games = random_games(20, seed=2, longest=250)
    moves = np.array([packed(move) for game in games for move in game], dtype=np.uint16)
    offsets = np.cumsum([0, *map(len, games)])
    made, wanted = Boards.from_moves(moves, offsets), []
    for game in games:
        board = chess.Board()
        for move in game:
            wanted.append(board.copy(stack=PAST))
            board.push(move)
    told = Boards.from_boards(wanted)
    for column in ("board", "rights", "passant", "past", "ply", "black"):
        assert np.array_equal(getattr(made, column), getattr(told, column)), column


def test_games_may_start_anywhere() -> None:
    fen = "4k3/8/8/8/3Pp3/8/8/4K3 b - d3 0 30"
    made = Boards.from_moves(np.array([28 | 19 << 6], dtype=np.uint16), np.array([0, 1]), [fen])
    told = Boards.from_fens([fen])
    assert np.array_equal(made.board, told.board)
    assert made.passant.tolist() == told.passant.tolist() == [43]
    assert made.black.tolist() == [True]
    assert made.ply.tolist() == [59]


def test_a_position_and_its_mirror_look_alike() -> None:
    boards = [board.copy(stack=False) for board in random_boards(3, seed=4)]
    for board in boards:
        board.fullmove_number = 1
    one = Boards.from_boards([b for b in boards if b.turn])
    other = Boards.from_boards([b.mirror() for b in boards if b.turn])
    assert len(one)
    assert np.array_equal(input_planes(one)[:, :19], input_planes(other)[:, :19])


@pytest.mark.parametrize(
    ("fen", "word"),
    [
        ("not a position", "not a FEN"),
        ("8/8/8/8/8/8/8/8 w - - 0 1", "cannot arise"),
        ("4k2R/8/8/8/8/8/8/4K3 w - - 0 1", "cannot arise"),
        ("bqnb1rkr/pppppppp/3n4/8/8/3N4/PPPPPPPP/BQNB1RKR w HFhf - 0 1", "Chess960"),
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "stalemate"),
        ("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", "checkmate"),
    ],
)
def test_bad_positions_are_refused_with_a_hint(fen: str, word: str) -> None:
    with pytest.raises(InputError, match=word) as caught:
        Boards.from_fens([fen])
    assert isinstance(caught.value, SkilloscopeError)
    assert caught.value.hint
