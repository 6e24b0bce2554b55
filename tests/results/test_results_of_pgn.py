"""Results from PGN headers: a fast scan, a plain one that it agrees with, and every game left out counted."""

from __future__ import annotations

import gzip
import io

from hypothesis import given, settings
from hypothesis import strategies as st

from fuzz.readers import plain, scanned
from skilloscope.chess.pgn.results import read_pgn_results

PGN = b"""[Event "A"]
[White "Ann"]
[Black "Bo, \\"B\\""]
[Date "2024.05.01"]
[Result "1-0"]

1. e4 {a comment [White "nobody"]
[Black "nobody"]} e5 2. Qh5 1-0

[Event "A"]
[White "Ann"]
[Black "M\xfcller"]
[Date "2024.05.??"]
[Result "1/2-1/2"]

1.d4 d5 1/2-1/2
[Event "forfeit"]
[White "Ann"]
[Black "Cy"]
[Date "2024.05.02"]
[Result "0-1"]

1. d4 0-1

[Event "unfinished"]
[White "Ann"]
[Black "Cy"]
[Date "2024.05.02"]
[Result "*"]

1. d4 d5 *

[Event "no date"]
[White "Ann"]
[Black "Cy"]
[Date "????.??.??"]
[Result "0-1"]

1. d4 d5 0-1

[Event "nobody"]
[White "Ann"]
[Black "NN"]
[Date "2024.05.02"]
[Result "0-1"]

1. d4 d5 0-1
"""


def test_results_come_from_pgn_headers_and_the_rest_is_counted_by_reason():
    results = read_pgn_results(io.BytesIO(PGN))
    assert list(results.players) == ["Ann", 'Bo, "B"', "Müller"]
    assert results.score.tolist() == [1.0, 0.5] or results.score.tolist() == [0.5, 1.0]
    assert results.tally.counts == {"forfeit": 1, "unfinished": 1, "missing date": 1, "unknown player": 1}
    assert [fault.place for fault in results.tally.faults] == ["game 5"]


def test_bare_headers_are_games_where_no_game_of_the_file_has_moves():
    bare = b'[White "A"]\n[Black "B"]\n[Date "2024.01.01"]\n[Result "1-0"]\n\n1-0\n\n'
    assert len(read_pgn_results(io.BytesIO(bare * 3))) == 3
    with_moves = bare + bare.replace(b"\n1-0", b"\n1. e4 e5 1-0")
    assert read_pgn_results(io.BytesIO(with_moves)).tally.counts == {"no moves": 1}


def test_a_packed_or_damaged_pgn_file_gives_what_is_good(tmp_path):
    whole = gzip.compress(PGN * 500)
    (tmp_path / "games.pgn.gz").write_bytes(whole)
    (tmp_path / "cut.pgn.gz").write_bytes(whole[: len(whole) * 2 // 3])
    (tmp_path / "noise.pgn").write_bytes(bytes(range(256)) * 10)
    assert len(read_pgn_results(tmp_path / "games.pgn.gz")) == 1000
    assert "damaged file" in read_pgn_results(tmp_path / "cut.pgn.gz").tally.counts
    assert read_pgn_results(tmp_path / "noise.pgn").tally.counts == {"not a PGN file: binary data": 1}


LINES = st.sampled_from(
    [
        b'[White "A"]',
        b'[Black "B"]',
        b'[Event "x"]',
        b'[Result "1-0"]',
        b"",
        b"1. e4 e5",
        b"1. e4 {open",
        b"shut} d4",
        b"1-0",
        b'[Date "2024.01.01"] ',
        b'  [White "C"]',
        b'[Broken "x',
        b"{whole} Nf3",
        b"; rest [White",
        b"%escape",
        b"12.",
        b"e4",
        b"(1. d4)",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(LINES, max_size=25))
def test_the_fast_scan_of_headers_agrees_with_the_plain_one(lines):
    data = b"\n".join(lines)
    assert scanned(data) in (None, plain(data))


def test_the_fast_scan_reads_what_programs_write():
    assert scanned(PGN) == plain(PGN)
    assert scanned(PGN.replace(b"\n", b"\r\n")) == plain(PGN)


def test_a_game_that_lies_across_two_blocks_is_read_whole(monkeypatch):
    whole = read_pgn_results(io.BytesIO(PGN * 20))
    for size in (64, 101, 997):
        monkeypatch.setattr("skilloscope.chess.pgn.results._CHUNK", size)
        parts = read_pgn_results(io.BytesIO(PGN * 20))
        assert len(parts) == len(whole)
        assert parts.tally.counts == whole.tally.counts
