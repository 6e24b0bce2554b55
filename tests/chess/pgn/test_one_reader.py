"""Results and games come from one reader of PGN: what is a game for one is a game for the other."""

from __future__ import annotations

import gzip
import io
import random

import pytest

from skilloscope.chess.pgn.games import read_games
from skilloscope.chess.pgn.results import read_pgn_results

GAME = '[Event "E{n}"]\n[White "A"]\n[Black "B"]\n[Date "2024.05.{n:02d}"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf3 1-0\n\n'
TEXT = "".join(GAME.format(n=n) for n in range(1, 21)).encode()


def both(data: bytes) -> tuple[int, int]:
    return len(read_games(io.BytesIO(data))), len(read_pgn_results(io.BytesIO(data)))


@pytest.mark.parametrize(
    "data",
    [
        TEXT.replace(b"\n", b"\r"),
        TEXT.replace(b"\n", b"\r\n"),
        TEXT.replace(b"]\n[", b"] ["),
        b"\xef\xbb\xbf" + TEXT,
        TEXT.replace(b'"]', b'"\x0b]'),
        b"written by somebody\n\n" + TEXT,
        TEXT.replace(b'[Event "E', b'[Site "x"]\n[Event "E'),
    ],
    ids=["CR", "CRLF", "several tags on a line", "byte-order mark", "VT in a tag", "words before", "another tag"],
)
def test_games_and_results_find_the_same_games(data):
    assert both(data) == (20, 20)


def test_a_game_begun_by_a_foreign_tag_given_twice_is_one_for_both():
    first = b'[White "A"]\n[Black "B"]\n[Date "2024.05.01"]\n[Result "1-0"]\n[Site "x"]\n'
    data = first + b'[Site "y"]\n[Round "1"]\n1. e4 e5 *\n'
    assert both(data) == (1, 0)
    assert read_pgn_results(io.BytesIO(data)).tally.counts == {"no moves": 1, "unknown player": 1}


@pytest.mark.parametrize("n", [20, 400])
def test_an_archive_whose_check_fails_loses_no_game_in_either(n, tmp_path):
    packed = bytearray(gzip.compress(TEXT * (n // 20)))
    packed[-8] ^= 1  # the check of what is packed
    (tmp_path / "g.pgn.gz").write_bytes(packed)
    games, results = read_games(tmp_path / "g.pgn.gz"), read_pgn_results(tmp_path / "g.pgn.gz")
    assert (len(games), len(results)) == (n, n)
    assert games.tally.counts == results.tally.counts == {"damaged file": 1}


def test_a_cut_archive_gives_the_games_before_the_cut(tmp_path):
    rng = random.Random(1)
    games_text = (GAME.format(n=n % 28 + 1).replace("1. e4", f"{{{rng.random()}}} 1. e4") for n in range(200))
    text = "".join(games_text).encode()
    packed = gzip.compress(text)
    (tmp_path / "g.pgn.gz").write_bytes(packed[: len(packed) // 2])
    games, results = read_games(tmp_path / "g.pgn.gz"), read_pgn_results(tmp_path / "g.pgn.gz")
    assert len(games) > 80
    assert abs(len(games) - len(results)) <= 1  # of the last one only the header may be there


def test_a_number_that_no_clock_shows_costs_the_comment_and_no_game():
    text = f"1. e4 {{[%clk {'9' * 400}:00:00]}} e5 {{[%eval #{'9' * 5000}]}} 2. Nf3 {{[%eval 0.3]}} *"
    games = read_games(io.StringIO(f'[White "A"]\n\n{text}'))
    assert games.counts.tolist() == [3]
    assert [(fault.reason, fault.place) for fault in games.tally.faults] == [
        ("impossible clock", "game 1, move 1, black"),
        ("impossible evaluation", "game 1, move 2, white"),
    ]
    assert games.evals[2] == pytest.approx(0.3)
