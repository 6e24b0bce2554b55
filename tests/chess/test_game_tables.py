"""Games as tables for other programs."""

from __future__ import annotations

import io
from pathlib import Path

import chess
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from skilloscope.chess import positions as positions_module
from skilloscope.chess.game_tables import game_table, position_table, write_games
from skilloscope.chess.pgn import blocks
from skilloscope.chess.pgn.games import read_games
from skilloscope.core.errors import InputError
from skilloscope.sources.shipped import demo_file


def test_the_moves_of_a_row_lead_through_its_positions():
    games = read_games(demo_file("game_of_the_century.pgn"))
    (row,) = game_table(games).to_pylist()
    board, fens = chess.Board(), [chess.STARTING_FEN]
    for move in row["moves"].split():
        board.push_uci(move)
        fens.append(board.fen())
    found = position_table(games).to_pylist()
    assert [one["fen"] for one in found] == fens[: len(found)]
    assert [one["move"] for one in found if one["move"]] == row["moves"].split()
    assert row["plies"] == len(fens) - 1
    assert row["opening"]


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_tables_written_in_blocks_are_those_of_the_whole(tmp_path: Path, monkeypatch, ending):
    games = read_games(demo_file("simulated.pgn"))
    monkeypatch.setattr(blocks, "BLOCK", 4000)
    out, noted = tmp_path / f"games.{ending}", tmp_path / f"positions.{ending}"
    done = write_games(demo_file("simulated.pgn"), out, noted)

    def read(path: Path) -> pa.Table:
        return pq.read_table(path) if ending == "parquet" else pa.ipc.open_file(path).read_all()

    assert read(out).to_pylist() == game_table(games).to_pylist()
    assert read(noted).to_pylist() == position_table(games).to_pylist()
    assert (done.games, done.moves) == (len(games), len(games.moves))
    assert done.positions == len(read(noted)) == len(positions_module.positions(games, scope="every position"))


def test_a_game_that_comes_again_is_written_once(tmp_path: Path):
    text = demo_file("game_of_the_century.pgn").read_text()
    done = write_games([io.StringIO(text), io.StringIO(text)], tmp_path / "games.parquet")
    assert done.as_dict()["skipped"] == {"the same game again": 1}
    assert pq.read_metadata(tmp_path / "games.parquet").num_rows == 1


def test_another_ending_is_refused_before_anything_is_read(tmp_path: Path):
    with pytest.raises(InputError, match=r"ends in none of .parquet, .arrow"):
        write_games(tmp_path / "absent.pgn", tmp_path / "games.csv")
