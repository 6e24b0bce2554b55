from __future__ import annotations

import bz2
import gzip
import io
from pathlib import Path

import chess
import chess.pgn
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilloscope.chess.moves import code_from_uci, move_code, move_uci
from skilloscope.chess.pgn.games import NO_MATE, Games, read_games
from skilloscope.core.errors import InputError

GAME = """[Event "Club evening"]
[Site "Ghent"]
[Date "2011.03.??"]
[Round "2"]
[White "Müller, Ann"]
[Black "Bob"]
[Result "1-0"]
[WhiteElo "1850"]
[BlackElo "?"]
[ECO "C20"]
[TimeControl "5400+30"]
[Termination "normal"]

1. e4 {[%eval 0.3] [%clk 1:30:00]} e5 {[%eval 0.25,20]} 2. Qh5 (2. Nf3 Nc6 (2... d6)) 2... Nc6 $1 {a {nested brace}
3. Bc4!? Nf6?? {[%eval #1]} 4. Qxf7# 1-0
"""


def read(text: str) -> Games:
    return read_games(io.StringIO(text))


def faults(games: Games) -> list[tuple[str, str, str]]:
    return [(fault.reason, fault.place, fault.detail) for fault in games.tally.faults]


def sans(games: Games, game: int = 0) -> str:
    codes = games.moves[games.offsets[game] : games.offsets[game + 1]]
    return chess.Board().variation_san([chess.Move.from_uci(move_uci(code)) for code in codes])


def test_headers_become_columns_and_the_unknown_is_null(tmp_path: Path) -> None:
    file = tmp_path / "club.pgn"
    file.write_text(GAME, encoding="utf-8")
    (row,) = read_games(file).headers.to_pylist()
    assert row == {
        "game": "club.pgn#1",
        "file": str(file),
        "index": 1,
        "white": "Müller, Ann",
        "black": "Bob",
        "white_elo": 1850,
        "black_elo": None,
        "date": "2011.03.??",
        "year": 2011,
        "event": "Club evening",
        "site": "Ghent",
        "round": "2",
        "result": "1-0",
        "eco": "C20",
        "time_control": "5400+30",
        "termination": "normal",
        "start_fen": None,
        "start_eval": None,
        "start_mate": None,
    }


def test_moves_clocks_evaluations_and_mates_stand_side_by_side() -> None:
    games = read(GAME)
    assert sans(games) == "1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7#"
    assert games.tally.total == 0
    np.testing.assert_array_equal(games.clocks, np.float32([5400] + [np.nan] * 6))
    np.testing.assert_array_equal(games.evals, np.float32([0.3, 0.25] + [np.nan] * 5))
    assert games.mates.tolist() == [NO_MATE] * 5 + [1, NO_MATE]
    np.testing.assert_array_equal(games.eval_values(), [0.3, 0.25, np.nan, np.nan, np.nan, 39.0, np.nan])


def test_a_mate_in_nought_is_won_by_the_side_that_moved() -> None:
    games = read("1. f3 e5 2. g4 {[%eval #-1]} Qh4# {[%eval #0]} 0-1")
    assert games.eval_values()[2:].tolist() == [-39.0, -39.0]
    assert read("1. e4 f6 2. d4 g5 3. Qh5# {[%eval #0]} *").eval_values()[-1] == 39.0


@pytest.mark.parametrize(
    ("tail", "reason", "place", "detail"),
    [
        ("2. Ke3 d6 *", "illegal move", "game 1, move 2, white", "Ke3"),
        ("2. Nc3 Nf6 3. Ne2 d6 *", "ambiguous move", "game 1, move 3, white", "Ne2"),
        ("2. Sf3 d6 *", "unreadable move", "game 1, move 2, white", "Sf3"),
        ("2. Qxh9 d6 *", "unreadable move", "game 1, move 2, white", "Qxh9"),
        ("2. Nf3 -- *", "null move", "game 1, move 2, black", "--"),
        ("2. Nf3 Nc", "cut in a move", "game 1, move 2, black", "Nc"),
        ("2. Nf3 Q", "cut in a move", "game 1, move 2, black", "Q"),
        ("2. Nf3 N", "cut in a move", "game 1, move 2, black", "N"),
        ("2. Nf3 {a comment that", "unclosed comment", "game 1, move 2, black", "{a comment that"),
    ],
)
def test_a_game_keeps_the_moves_before_a_fault(tail: str, reason: str, place: str, detail: str) -> None:
    games = read(f'[White "A"]\n\n1. e4 e5 {tail}')
    assert faults(games) == [(reason, place, detail)]
    assert sans(games).startswith("1. e4 e5")
    assert len(games) == 1


def test_a_promotion_cut_before_its_piece_is_cut_in_a_move() -> None:
    text = '[FEN "7k/4P3/8/8/8/8/8/4K3 w - - 0 60"]\n\n60. Kd2 Kg7 61. e8'
    games = read(text)
    assert faults(games) == [("cut in a move", "game 1, move 61, white", "e8")]
    assert len(games.moves) == 2


def test_faults_name_the_game_and_the_rest_goes_on() -> None:
    games = read(f'{GAME}\n[White "C"]\n\n1. e4 e4 *\n\n{GAME}\n[White "D"]\n\n1. d4 d5 2. c')
    assert len(games) == 4
    assert faults(games) == [
        ("illegal move", "game 2, move 1, black", "e4"),
        ("cut in a move", "game 4, move 2, white", "c"),
    ]
    assert games.headers["index"].to_pylist() == [1, 2, 3, 4]


def test_an_unclosed_comment_does_not_swallow_the_next_game() -> None:
    games = read(f'[Event "A"]\n\n1. e4 {{never closed\n\n{GAME}')
    assert len(games) == 2
    assert faults(games) == [("unclosed comment", "game 1, move 1, black", "{never closed")]


def test_a_tag_in_a_comment_is_no_tag_and_a_percent_line_is_no_move() -> None:
    games = read("1. e4 {look:\n[%clk 0:01:00]\n} e5\n% e6 is better\n2. Nf3 ; {not opened\nNc6 *")
    assert sans(games) == "1. e4 e5 2. Nf3 Nc6"
    assert games.clocks[0] == 60


def test_variants_and_empty_games_are_counted() -> None:
    games = read(
        '[Variant "Atomic"]\n\n1. e4 *\n\n[Variant "Crazyhouse"]\n\n1. e4 *\n\n[White "A"]\n\n*\n\n'
        '[Variant "From Position"]\n[FEN "7k/8/8/8/8/8/8/R3K3 w - - 0 1"]\n\n1. Ra8+ *'
    )
    assert games.tally.as_dict() == {"no moves": 1, "variant: atomic": 1, "variant: crazyhouse": 1}
    assert games.headers["start_fen"].to_pylist() == ["7k/8/8/8/8/8/8/R3K3 w - - 0 1"]


def test_starting_positions_that_cannot_be_are_faults() -> None:
    games = read('[FEN "nonsense"]\n\n1. e4 *\n\n[FEN "8/8/8/8/8/8/8/8 w - - 0 1"]\n\n1. e4 *')
    assert [fault.reason for fault in games.tally.faults] == ["unreadable FEN", "impossible starting position"]
    assert len(games) == 0


@pytest.mark.parametrize("name", ["?", "", " ", "NN", "-"])
def test_a_name_that_is_none_is_null(name: str) -> None:
    assert read(f'[White "{name}"]\n\n1. e4 *').headers["white"].to_pylist() == [None]


def test_games_without_tags_are_told_apart_by_their_results() -> None:
    games = read("1. e4 e5 1-0 {resigned} 1. d4 d5 2. c4 1/2-1/2\n\n1. c4 *")
    assert games.counts.tolist() == [2, 3, 1]
    assert games.headers["result"].to_pylist() == ["1-0", "1/2-1/2", "*"]


def test_odd_but_clear_notation_is_read() -> None:
    games = read(
        '[Event "The "Big" Open"][Site "X"]\n[White "A \\"B\\" C"]\n1.e4! e5 2.Nf3 +- Nc6 N 3. Bc4 Bc5 4. 0-0 d2-d3 *'
    )
    assert sans(games) == "1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. O-O"
    assert games.headers["white"].to_pylist() == ['A "B" C']
    assert faults(games)[0][0] == "illegal move"  # black has no pawn on d2: read, and refused


def test_a_file_that_holds_no_game_says_so(tmp_path: Path) -> None:
    (tmp_path / "empty.pgn").write_bytes(b"")
    (tmp_path / "blank.pgn").write_bytes(b"\xef\xbb\xbf \r\n\r\n")
    (tmp_path / "binary.pgn").write_bytes(b"MZ\x90\x00\x03")
    (tmp_path / "letter.pgn").write_text("Dear Sir,\nno game here.\n")
    games = read_games(sorted(tmp_path.glob("*.pgn")))
    assert len(games) == 0
    found = [(Path(fault.file).name, fault.reason, fault.place) for fault in games.tally.faults]
    assert found == [
        ("binary.pgn", "not a PGN file: binary data", "byte 3"),
        ("blank.pgn", "empty file", "byte 0"),
        ("empty.pgn", "empty file", "byte 0"),
        ("letter.pgn", "no game in the file", "whole file"),
    ]


def test_a_tail_of_zeros_costs_no_game(tmp_path: Path) -> None:
    file = tmp_path / "crashed.pgn"
    file.write_bytes(GAME.encode() * 60 + b"\n" + bytes(5000))
    games = read_games(file)
    assert len(games) == 60
    assert faults(games)[0][0] == "binary data"


def test_a_missing_file_or_a_folder_raises_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file") as caught:
        read_games(tmp_path / "absent.pgn")
    assert caught.value.hint
    with pytest.raises(InputError, match="no PGN file in the folder"):
        read_games([tmp_path])


def test_packings_encodings_and_line_ends_make_no_difference(tmp_path: Path) -> None:
    plain = GAME.encode()
    latin, windows = GAME.encode("latin-1"), b"\xef\xbb\xbf" + GAME.replace("\n", "\r\n").encode()
    packed = pa.compress(plain, codec="zstd", asbytes=True)
    contents = {
        "1.pgn": plain,
        "2.pgn.gz": gzip.compress(plain),
        "3.pgn.bz2": bz2.compress(plain),
        "4.pgn.zst": packed + packed,  # two frames, as large dumps have
        "5.pgn": latin,
        "6.pgn": windows,
        "7.pgn": GAME.replace("\n", "\r").encode(),
        "8.pgn": plain + latin,
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    games = read_games([tmp_path / name for name in contents])
    assert games.tally.total == 0
    assert games.headers["white"].to_pylist() == ["Müller, Ann"] * 10
    assert len(set(games.headers["game"].to_pylist())) == 10
    assert games.counts.tolist() == [7] * 10


def test_a_damaged_archive_keeps_the_games_before_the_damage(tmp_path: Path) -> None:
    packed = gzip.compress(b"".join(GAME.replace("Bob", f"Bob {i}").encode() for i in range(500)))
    (tmp_path / "cut.pgn.gz").write_bytes(packed[: len(packed) // 2])
    games = read_games(tmp_path / "cut.pgn.gz")
    assert len(games) > 100
    assert faults(games)[-1][0] == "damaged file"


def test_streams_of_text_and_of_bytes_are_read() -> None:
    games = read_games([io.StringIO(GAME), io.BytesIO(GAME.encode()), io.BytesIO(gzip.compress(GAME.encode()))])
    assert games.headers["game"].to_pylist() == ["<stream 1>#1", "<stream 2>#1", "<stream 3>#1"]


def test_ids_stay_unique_where_files_have_the_same_name(tmp_path: Path) -> None:
    paths = [tmp_path / folder / "games.pgn" for folder in ("a", "b")]
    for path in paths:
        path.parent.mkdir()
        path.write_text(GAME)
    assert read_games(paths).headers["game"].to_pylist() == [f"{path}#1" for path in paths]
    assert Games.concat([read_games(path) for path in paths]).headers["game"].to_pylist() == [f"{p}#1" for p in paths]
    with pytest.raises(InputError, match="given twice"):
        Games.concat([read_games(paths[0]), read_games(paths[0])])
    with pytest.raises(InputError, match="is given twice"):
        read_games([paths[0], paths[0]])


def test_select_and_concat_undo_each_other() -> None:
    games = read(f'{GAME}\n[White "C"]\n\n1. d4 d5 2. c4 e6 *\n\n[White "D"]\n\n1. c4 *')
    parts = [games.select([i]) for i in range(3)]
    again = Games.concat(parts)
    np.testing.assert_array_equal(again.moves, games.moves)
    np.testing.assert_array_equal(again.offsets, games.offsets)
    assert again.headers.equals(games.headers)
    left = games.select(games.counts > 2, reason="short")
    assert (len(left), left.tally.as_dict()) == (2, {"short": 1})
    assert len(Games.concat([])) == 0


@given(st.binary(max_size=400))
def test_any_bytes_are_read_without_an_error(content: bytes) -> None:
    games = read_games(io.BytesIO(content))
    assert len(games) or games.tally.total


@given(st.text(alphabet='[]{}();%$.\n "\\abcdefgh12345678NBRQKOx=+#-*/Event!?', max_size=200))
def test_any_text_near_pgn_is_read_without_an_error(text: str) -> None:
    read(GAME + text)


@given(st.integers(0, len(GAME)))
def test_a_game_cut_anywhere_keeps_a_beginning_of_its_moves(cut: int) -> None:
    whole, part = read(GAME), read(GAME[:cut])
    np.testing.assert_array_equal(part.moves, whole.moves[: len(part.moves)])


@given(st.sampled_from(chess.SQUARES), st.sampled_from(chess.SQUARES), st.sampled_from([None, 2, 3, 4, 5]))
def test_codes_and_moves_are_one_to_one(start: int, end: int, promotion: int | None) -> None:
    move = chess.Move(start, end, promotion) if start != end else chess.Move.null()
    assert code_from_uci(move.uci()) == move_code(move)
    assert move_uci(move_code(move)) == move.uci()


def test_real_games_are_read_as_python_chess_reads_them(shared_data: Path) -> None:
    for name in ("events/fischer_spassky_1972.pgn", "evals/otb_broadcast_2025_with_eval_clk.pgn"):
        games = read_games(shared_data / name)
        assert games.tally.total == 0
        with (shared_data / name).open(encoding="utf-8") as file:
            for row in range(len(games)):
                theirs = chess.pgn.read_game(file)
                assert theirs is not None
                span = slice(games.offsets[row], games.offsets[row + 1])
                nodes = list(theirs.mainline())
                assert [move_code(node.move) for node in nodes] == games.moves[span].tolist()
                clocks = [np.nan if node.clock() is None else node.clock() for node in nodes]
                np.testing.assert_allclose(games.clocks[span], clocks)
            assert chess.pgn.read_game(file) is None


@pytest.mark.parametrize(
    "fen",
    ["4k3/8/8/8/8/8/4P3/4K3  b  -  -  0  1", "4k3/8/8/8/8/8/4P3/4K3 b", "4k3/8/8/8/8/8/4P3/4K3 b - - 3 40"],
)
def test_a_start_with_black_to_move_gives_the_moves_to_the_right_player(fen: str) -> None:
    games = read_games(io.StringIO(f'[White "Ann"]\n[Black "Bob"]\n[SetUp "1"]\n[FEN "{fen}"]\n\n1... Kd7 2. e4 *'))
    assert games.tally.total == 0
    assert games.movers.tolist() == [1, 0]
    assert games.headers["start_fen"].to_pylist()[0].split(" ")[1] == "b"


def test_a_million_empty_games_are_counted_by_the_compiled_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skilloscope.chess.pgn.blocks._Reader.plain", lambda *_, **__: pytest.fail("game by game"))
    found = read_games(io.BytesIO(b'[White "A"]\n\n*\n\n' * 1_000_000))
    assert len(found) == 0
    assert found.tally.counts["no moves"] == 1_000_000
