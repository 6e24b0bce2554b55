"""The training tool, end to end on a handful of games; needs PyTorch, which is no dependency of the package."""

from __future__ import annotations

import bz2
import json
from pathlib import Path

import chess
import numpy as np
import pytest

from skilloscope.chess.boards import Boards
from skilloscope.chess.human.model import Human, network_from

from .positions import RARE, random_boards, random_games

torch = pytest.importorskip("torch", reason="PyTorch is not installed: the training tool is not tested")
TOOLS = Path(__file__).parents[3] / "tools"


def coded(move: chess.Move) -> int:
    under = {chess.KNIGHT: 1, chess.BISHOP: 2, chess.ROOK: 3}.get(move.promotion or 0, 0)
    return move.from_square + 64 * move.to_square + 4096 * under


@pytest.fixture
def games(tmp_path: Path) -> Path:
    played = random_games(30, seed=9, longest=40)
    rng = np.random.default_rng(0)
    elo = rng.integers(1200, 2700, (2, len(played))).astype(np.int16)
    players = rng.integers(0, 40, (2, len(played))).astype(np.int32)
    np.savez(
        tmp_path / "games.npz", plies=[len(game) for game in played], white_elo=elo[0], black_elo=elo[1],
        year=np.full(len(played), 2000), result=np.ones(len(played)), white=players[0], black=players[1],
    )  # fmt: skip
    moves = np.array([coded(move) for game in played for move in game], dtype="<u2")
    (tmp_path / "moves.u16.bz2").write_bytes(bz2.compress(moves.tobytes()))
    return tmp_path


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.syspath_prepend(str(TOOLS))
    torch.set_num_threads(1)
    import train_human

    return train_human


def test_legal_masks_are_the_legal_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(TOOLS))
    from human_training.legal import N_FROM_TO, legal_moves

    boards = [*random_boards(6, seed=10), *(chess.Board(fen) for fen in RARE.values())]
    seen = Boards.from_boards(boards)
    mask = legal_moves(*(torch.as_tensor(column) for column in (seen.board, seen.rights, seen.passant)))
    for board, found in zip(boards, mask.numpy(), strict=True):
        flip = 0 if board.turn else 56
        wanted = set()
        for move in board.legal_moves:
            start, end = move.from_square ^ flip, move.to_square ^ flip
            small = move.promotion in (chess.KNIGHT, chess.BISHOP, chess.ROOK)
            piece = (move.promotion or 0) - chess.KNIGHT
            under = N_FROM_TO + 64 * piece + 8 * (start & 7) + (end & 7)
            wanted.add(under if small else 64 * start + end)
        assert set(np.flatnonzero(found)) == wanted, board.fen()


def test_games_become_weights_that_the_package_reads(games: Path, tool: object, capsys: pytest.CaptureFixture) -> None:
    pytest.importorskip("onnx", reason="onnx is not installed: the export is not tested")
    pytest.importorskip("onnxruntime")
    common = ["--data", str(games), "--out", str(games), "--model", "tiny", "--batch", "64", "--device", "cpu"]
    tool.main([*common, "--steps", "3", "--evaluate", "0"])  # type: ignore[attr-defined]
    last = ["--steps", "6", "--resume", "--evaluate", "100", "--per-band", "10", "--onnx", "--date", "2026-01-01"]
    tool.main([*common, *last])  # type: ignore[attr-defined]
    assert "going on at step 3" in capsys.readouterr().out
    card = json.loads((games / "tiny.json").read_text())
    assert card["training"]["steps"] == 6
    assert card["date"] == "2026-01-01"
    assert card["held_out"]["nats"] < 0
    answer = Human(network_from(games / "tiny.onnx")).moves(chess.STARTING_FEN, [1500, 2500])
    assert answer.probability.sum(axis=0) == pytest.approx(1.0)


def test_a_taught_network_learns_from_both(games: Path, tool: object) -> None:
    common = ["--data", str(games), "--out", str(games), "--model", "tiny", "--batch", "32", "--device", "cpu"]
    tool.main([*common, "--steps", "1", "--evaluate", "0"])  # type: ignore[attr-defined]
    taught = [*common, "--name", "taught", "--teacher", str(games / "tiny.pt"), "--steps", "2", "--evaluate", "0"]
    tool.main(taught)  # type: ignore[attr-defined]
    assert (games / "taught.pt").stat().st_size < (games / "taught.state.pt").stat().st_size


def test_no_player_is_on_both_sides_of_the_split(games: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(TOOLS))
    from human_training.draw import held_out_players, split
    from human_training.replay import read_games, replay

    read = read_games(games)
    positions = replay(read, torch.device("cpu"))
    parts = split(read, positions)
    trained = np.unique(read.player[positions.game[parts.train.long()].numpy()])
    assert not held_out_players(trained).any()
    assert held_out_players(positions.player[parts.held_out.long()].numpy()).all()
