"""Games as tables for other programs."""

from __future__ import annotations

import io
from pathlib import Path

import chess
import chess.pgn
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pgn_oracle import difference
from skilloscope.chess.pgn import blocks
from skilloscope.chess.pgn import positions as positions_module
from skilloscope.chess.pgn.game_tables import game_table, position_table, write_games
from skilloscope.chess.pgn.games import Games, read_games
from skilloscope.core.errors import InputError
from skilloscope.inputs.bundled import demo_file


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
    text, read_so_far = demo_file("game_of_the_century.pgn").read_text(), list[int]()
    files = [io.StringIO(text), io.StringIO(text)]
    done = write_games(files, tmp_path / "games.parquet", progress=read_so_far.append)
    assert read_so_far == [1, 2]
    assert done.as_dict()["skipped"] == {"the same game again": 1}
    assert pq.read_metadata(tmp_path / "games.parquet").num_rows == 1


def test_another_ending_is_refused_before_anything_is_read(tmp_path: Path):
    with pytest.raises(InputError, match=r"ends in none of .parquet, .arrow"):
        write_games(tmp_path / "absent.pgn", tmp_path / "games.csv")


COMMENTED = """[White "Ann"]
[Black "Bo"]

{Before.} 1. f3 {Weak.} {[%clk 0:10:00] Very.} e5 (1... d5 {not me}) ; to the end
2. g4 $4 Qh4# {Mate.} 0-1

[White "Cy"]
[Black "Di"]

1. e4 e5 *
"""


def test_comments_are_kept_where_asked(tmp_path):
    path = tmp_path / "games.pgn"
    path.write_text(COMMENTED)
    write_games(path, tmp_path / "g.parquet", tmp_path / "p.parquet", comments=True)
    games, moves = pq.read_table(tmp_path / "g.parquet"), pq.read_table(tmp_path / "p.parquet")
    assert games["start_comment"].to_pylist() == ["Before.", None]
    said = [text for text in moves["comment"].to_pylist() if text]
    assert said == ["Weak. [%clk 0:10:00] Very.", "to the end", "Mate."]
    write_games(path, tmp_path / "g.parquet", tmp_path / "p.parquet")
    assert "start_comment" not in pq.read_table(tmp_path / "g.parquet").column_names


def test_comments_change_nothing_else_and_go_with_their_games():
    with_texts, without = (read_games(io.StringIO(COMMENTED), comments=asked) for asked in (True, False))
    assert without.comments is None
    assert not difference(with_texts, without)
    last = with_texts.select([1])
    assert last.comments.to_pylist() == [None, None, None]
    both = Games.concat([with_texts.select([0]), last])
    assert both.comments.equals(with_texts.comments)


def test_comments_are_those_that_python_chess_finds():
    path = demo_file("game_of_the_century.pgn")
    ours = read_games(path, comments=True).comments.to_pylist()
    game = chess.pgn.read_game(io.StringIO(path.read_text()))
    theirs = [node.comment or None for node in (game, *game.mainline())]
    assert ours == theirs
