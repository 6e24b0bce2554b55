"""Chess960: games are read and checked, their positions searched under its own castling, their players rated."""

from __future__ import annotations

import io
import random
from pathlib import Path

import chess
import chess.pgn
import pytest

from skilloscope.chess.analysis.analyse import analyse
from skilloscope.chess.engine.engine import Engine
from skilloscope.chess.engine.lines import last_depth
from skilloscope.chess.engine.settings import Settings
from skilloscope.chess.moves import board_of_fen, is_chess960, move_uci, sans
from skilloscope.chess.pgn.games import Games, read_games
from skilloscope.chess.pgn.positions import Positions, positions
from skilloscope.core.errors import InputError
from skilloscope.inputs.pipeline import playable_games

CASTLING = "4k3/8/8/8/8/8/8/R4K1R w HA - 0 1"
"""King and rooks as they never stand in usual chess: to the king's side he steps to g1, and the rook to f1."""


def made(seed: int, games: int = 1) -> str:
    """Return games at random from starting positions at random, in which kings like to castle."""
    rng, texts = random.Random(seed), []
    for number in range(games):
        board = chess.Board.from_chess960_pos(rng.randrange(960))
        game = chess.pgn.Game()
        game.setup(board)
        game.headers.update({"White": f"W{number}", "Black": f"B{number}", "Variant": "Chess960"})
        node: chess.pgn.GameNode = game
        for _ in range(60):
            legal = list(board.legal_moves)
            castling = [move for move in legal if board.is_castling(move)]
            if not legal:
                break
            move = rng.choice(castling if castling and rng.random() < 0.5 else legal)
            node = node.add_variation(move)
            board.push(move)
        texts.append(str(game))
    return "\n\n".join(texts)


def read(text: str) -> Games:
    return read_games(io.StringIO(text))


def every_position(games: Games) -> Positions:
    return positions(games, scope="every position")


def test_games_are_read_move_by_move_as_python_chess_reads_them() -> None:
    text = made(1, 40)
    games, batch = read(text), every_position(read(text))
    assert len(games) == 40
    assert not games.tally.counts
    told, stream, castled = iter(range(len(batch))), io.StringIO(text), 0
    while (game := chess.pgn.read_game(stream)) is not None:
        board = game.board()
        for move in [*game.mainline_moves(), None]:
            if not any(board.legal_moves):
                break
            row = next(told)
            fen = batch.fen[row].as_py()
            ours = board_of_fen(fen)
            assert ours.shredder_fen() == board.shredder_fen()
            assert batch.n_legal[row] == board.legal_moves.count()
            assert is_chess960(fen) == board.has_chess960_castling_rights()
            if move is not None:
                played = chess.Move.from_uci(move_uci(batch.played[row]))
                assert ours.is_legal(played)
                castled += ours.is_castling(played)
                board.push(move)
    assert next(told, None) is None
    assert castled > 10


def test_moves_are_written_as_they_were_read() -> None:
    text = made(2)
    games = read(text)
    written = sans(games.headers["start_fen"][0].as_py(), [move_uci(code) for code in games.moves])
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None
    assert written == [node.san() for node in game.mainline()]


def test_beside_usual_games_each_stays_in_its_place() -> None:
    usual = '[White "Ann"]\n[Black "Bo"]\n\n1. e4 e5 2. Nf3 Nc6 *\n\n'
    games = read(usual + made(3) + "\n\n" + usual)
    batch = every_position(games)
    assert batch.game.tolist() == sorted(batch.game.tolist())
    assert set(batch.game.tolist()) == {0, 1, 2}
    assert batch.fen[0].as_py() == chess.STARTING_FEN


def test_one_without_a_starting_position_is_a_fault() -> None:
    games = read('[Variant "Fischerandom"]\n\n1. e4 *')
    assert [fault.reason for fault in games.tally.faults] == ["Chess960 without a starting position"]


def test_the_engine_castles_as_the_position_says(stockfish: Path) -> None:
    with Engine(stockfish, Settings(depth=2, multipv=50)) as engine:
        usual = "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1"
        found = [
            {move_uci(code) for code in last_depth(engine.analyse(fen).lines)["move"]}
            for fen in (usual, CASTLING, usual)
        ]
    assert found[0] == found[2]
    assert {"e1g1", "e1c1"} <= found[0]
    assert {"f1h1", "f1a1"} <= found[1]


def test_every_position_is_searched_and_the_scale_is_said_to_be_of_usual_chess(stockfish: Path) -> None:
    batch = positions(read(made(4)), skip_moves=0)
    odd = [row for row, fen in enumerate(batch.fen.to_pylist()) if is_chess960(fen)]
    few = batch.select(odd[:3] + [row for row in range(len(batch)) if row not in odd][:3])
    found = analyse(few, settings=Settings(depth=2, multipv=3), engine=stockfish)
    assert found.answered.all()
    assert "Chess960" in found.about["notes"][0]


def test_an_engine_that_does_not_know_it_fails_with_the_reason(fake_engine) -> None:
    with (
        Engine(fake_engine("none"), Settings(depth=2, multipv=2)) as engine,
        pytest.raises(InputError, match="does not know how kings castle in Chess960"),
    ):
        engine.analyse(CASTLING)


def test_the_human_model_leaves_them_out() -> None:
    assert not playable_games(read(made(5))).any()
