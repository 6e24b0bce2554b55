from __future__ import annotations

import io
from pathlib import Path
from unittest.mock import patch

import chess
import numpy as np
import pytest

from pgn_oracle import plainly
from skilloscope.chess.engine.settings import Settings
from skilloscope.chess.moves import move_uci
from skilloscope.chess.pgn import positions as replay
from skilloscope.chess.pgn.games import Games, read_games
from skilloscope.chess.pgn.positions import positions
from skilloscope.core.errors import InputError
from skilloscope.inputs.bundled import demo_file

GAMES = """[White "A"]
[Black "B"]

1. f3 e5 2. g4 Qh4# 0-1

[White "C"]
[Black "D"]
[FEN "1r4k1/8/8/8/8/8/r5PP/7K b - - 3 40"]

40... Rb1+ *
"""


@pytest.fixture
def games() -> Games:
    return read_games(io.StringIO(GAMES))


def test_every_decision_has_its_position_mover_and_move(games: Games) -> None:
    batch = positions(games, skip_moves=0)
    assert batch.game.tolist() == [0, 0, 0, 0, 1]
    assert batch.ply.tolist() == [0, 1, 2, 3, 0]
    assert batch.mover.tolist() == [0, 1, 0, 1, 1]
    assert [move_uci(code) for code in batch.played] == ["f2f3", "e7e5", "g2g4", "d8h4", "b8b1"]
    assert batch.n_legal.tolist() == [20, 20, 19, 30, 30]
    assert batch.fen[0].as_py() == chess.STARTING_FEN
    assert batch.fen[4].as_py() == "1r4k1/8/8/8/8/8/r5PP/7K b - - 3 40"


def test_the_opening_is_counted_by_the_number_on_the_board(games: Games) -> None:
    batch = positions(games, skip_moves=1)
    assert batch.ply.tolist() == [2, 3, 0]
    assert batch.tally.as_dict() == {"opening (first 1 moves of each side)": 2}
    assert positions(games).tally.as_dict() == {"opening (first 12 moves of each side)": 4}


def test_forced_moves_are_counted() -> None:
    batch = positions(read_games(io.StringIO('[FEN "k7/8/8/8/8/8/6r1/7K w - - 0 50"]\n\n50. Kxg2 Ka7 *')))
    assert batch.tally.as_dict() == {"forced": 1}
    assert batch.ply.tolist() == [1]


def test_select_keeps_the_columns_together(games: Games) -> None:
    batch = positions(games, skip_moves=0)
    black = batch.select(batch.mover == 1, reason="white")
    assert black.ply.tolist() == [1, 3, 0]
    assert black.fen[2].as_py() == batch.fen[4].as_py()
    assert black.tally.as_dict() == {"white": 2}
    assert len(black.select([])) == 0


def test_a_negative_number_of_moves_is_refused(games: Games) -> None:
    with pytest.raises(InputError, match="skip_moves"):
        positions(games, skip_moves=-1)


def test_no_games_give_no_positions() -> None:
    assert len(positions(read_games([]))) == 0


def test_the_fen_rules_differ_in_the_clocks_only() -> None:
    fen = "r3k2r/8/8/3pP3/8/8/8/R3K2R w KQkq d6 13 57"
    assert Settings().problem(fen) == fen
    assert Settings(fen_rule="normalised").problem(fen) == "r3k2r/8/8/3pP3/8/8/8/R3K2R w KQkq d6 0 1"


def test_replayed_positions_are_those_of_python_chess(shared_data: Path) -> None:
    games = read_games(shared_data / "events" / "byrne_fischer_1956.pgn")
    batch = positions(games)
    board, want = chess.Board(), []
    for ply, code in enumerate(games.moves):
        if ply >= 24 and board.legal_moves.count() > 1:
            want.append((ply, board.fen(), board.legal_moves.count()))
        board.push_uci(move_uci(code))
    assert list(zip(batch.ply.tolist(), batch.fen.to_pylist(), batch.n_legal.tolist(), strict=True)) == want
    assert batch.tally.as_dict() == {"opening (first 12 moves of each side)": 24, "forced": 7}
    np.testing.assert_array_equal(batch.played, games.moves[batch.ply])


def assert_walked_as_replayed(games: Games) -> None:
    for asked in ({}, {"scope": "every position"}, {"skip_moves": 3, "player": games.headers["white"][0].as_py()}):
        replayed = positions(games, **asked)
        with plainly(), patch.object(replay, "_replayed", None):
            walked = positions(games, **asked)
        assert walked.fen == replayed.fen
        assert walked.tally == replayed.tally
        for name in ("game", "ply", "mover", "played", "n_legal", "clock"):
            one, two = getattr(walked, name), getattr(replayed, name)
            assert (one.dtype, one.tobytes()) == (two.dtype, two.tobytes()), name


def test_castling_promotions_and_captures_in_passing_are_replayed_as_python_chess_plays_them():
    texts = ['[FEN "r3k2r/pPpp1ppp/8/3Pp3/8/8/P1PP1PPP/R3K2R w KQkq e6 0 14"]\n\n14. dxe6 O-O 15. bxa8=Q *']
    texts += ["1. e4 c5 2. e5 d5 3. exd6 *", "1. e4 e6 2. e5 Bc5 3. Nf3 d5 4. O-O f5 *"]
    texts += ['[FEN "8/8/8/k1pP3Q/8/8/8/4K3 w - c6 0 30"]\n\n30. Kd2 *']  # to take in passing would open the rank
    for text in [*texts, demo_file("simulated.pgn").read_text()]:
        games = read_games(io.StringIO(text))
        batch = positions(games, scope="every position")
        assert_walked_as_replayed(games)
        rows = iter(zip(batch.fen.to_pylist(), batch.n_legal.tolist(), strict=True))
        for game in range(len(games)):
            board = chess.Board(games.headers["start_fen"][game].as_py() or chess.STARTING_FEN)
            for code in [*games.moves[games.offsets[game] : games.offsets[game + 1]].tolist(), None]:
                if board.legal_moves.count():
                    assert next(rows) == (board.fen(), board.legal_moves.count())
                if code is not None:
                    board.push(chess.Move(code & 63, code >> 6 & 63, code >> 12 or None))
        assert next(rows, None) is None
