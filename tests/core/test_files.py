"""One opener: the first bytes tell how a file is packed, whatever it is called and whoever reads it."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from skilloscope.chess.pgn.games import read_games
from skilloscope.chess.pgn.results import read_pgn_results
from skilloscope.core import files
from skilloscope.core.errors import InputError
from skilloscope.core.paths import given_once, named_files
from skilloscope.decision.domains.experiments import read_risky_choice
from skilloscope.decision.text import read_decisions
from skilloscope.inputs.load import told_tables
from skilloscope.inputs.results import read_files
from skilloscope.results.reading import read_results

ZSTD = pa.Codec("zstd")
PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": lambda data: ZSTD.compress(data, asbytes=True),
}
PGN = b'[White "A"]\n[Black "B"]\n[Date "2024.05.01"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf3 1-0\n\n'
JSONL = b'{"decider": "Ann", "utilities": [0.3, 0.1], "chosen": 0}\n'
RESULTS = b"2024-05-01,A,B,1\n"
QUESTION = b"1,10,,,,1,,,,5,,,,1,,,\n"
QUESTIONS = b"Choice," + ",".join(f"{k}{i}{s}" for s in "ab" for k in "xp" for i in range(1, 5)).encode() + b"\n"


def two_pieces(packing: str, first: bytes, second: bytes) -> bytes:
    """Pack two parts one after the other, as collections are glued together."""
    return PACKINGS[packing](first) + PACKINGS[packing](second)


@pytest.mark.parametrize("packing", PACKINGS)
class TestPackedInPieces:
    def path(self, folder: Path, packing: str, first: bytes, second: bytes) -> Path:
        file = folder / "a name that tells nothing"
        file.write_bytes(two_pieces(packing, first, second))
        return file

    def test_games(self, packing, tmp_path):
        assert len(read_games(self.path(tmp_path, packing, PGN, PGN))) == 2

    def test_results_of_games(self, packing, tmp_path):
        assert len(read_pgn_results(self.path(tmp_path, packing, PGN, PGN))) == 2
        assert len(read_files([tmp_path / "a name that tells nothing"])) == 2

    def test_results(self, packing, tmp_path):
        path = self.path(tmp_path, packing, b"date,player_1,player_2,score\n" + RESULTS, RESULTS)
        assert len(read_results(path)) == len(read_files([path])) == 2

    def test_decisions_as_json_lines(self, packing, tmp_path):
        assert len(read_decisions(self.path(tmp_path, packing, JSONL, JSONL))) == 2

    def test_decisions_as_long_csv(self, packing, tmp_path):
        head = b"\xef\xbb\xbfdecider,problem,alternative,utility,chosen\nAnn,1,a,0.1,0\nAnn,1,b,0.3,1\n"
        batch = read_decisions(self.path(tmp_path, packing, head, b"Ann,2,a,0.1,1\nAnn,2,b,0.3,0\n"))
        assert (len(batch), batch.chosen.tolist()) == (2, [0, 1])

    def test_tables_of_domains(self, packing, tmp_path):
        questions = self.path(tmp_path, packing, QUESTIONS, QUESTION)
        answers = tmp_path / "answers"
        answers.write_bytes(two_pieces(packing, b"IdSubject,IdQuestion,Preference\n", b"7,1,2\n"))
        assert read_risky_choice([questions, answers]).chosen.tolist() == [1]


def test_a_file_that_is_cut_says_after_which_line(tmp_path):
    path = tmp_path / "cut.jsonl.zst"
    path.write_bytes(gzip.compress(JSONL * 10_000)[:-500])
    with pytest.raises(InputError, match=r"cut.jsonl.zst, after line \d+: not readable as text"):
        read_decisions(path)


def test_a_file_is_given_once_under_whatever_name(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_bytes(JSONL)
    (tmp_path / "link.jsonl").symlink_to(path)
    assert given_once([path]) == [path]
    for again in (path, tmp_path / "." / "t.jsonl", tmp_path / "link.jsonl"):
        with pytest.raises(InputError, match="is given twice"):
            told_tables([path, again])


def test_what_is_not_there_is_said_in_one_way(tmp_path):
    for read in (read_decisions, read_games):
        with pytest.raises(InputError, match=f"no file {tmp_path}/nosuch"):
            read(tmp_path / "nosuch")


def packed_zip(*parts: bytes) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("folder/", b"")
        archive.writestr("__MACOSX/._games.pgn", b"\0\1\2")
        for n, part in enumerate(parts):
            archive.writestr(f"folder/{n}.pgn", part)
    return held.getvalue()


def test_the_files_of_a_zip_archive_come_one_after_another(tmp_path):
    (tmp_path / "two.zip").write_bytes(packed_zip(PGN.strip(), PGN))
    assert len(read_games(tmp_path / "two.zip")) == len(read_pgn_results(tmp_path / "two.zip")) == 2
    assert len(read_games(io.BytesIO(packed_zip(PGN)))) == 1


def test_a_damaged_zip_archive_is_a_fault(tmp_path):
    (tmp_path / "cut.zip").write_bytes(packed_zip(PGN * 50)[:-30])
    assert read_games(tmp_path / "cut.zip").tally.counts == {"damaged file": 1}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "latin-1"])
def test_other_encodings_are_told_by_the_first_bytes(tmp_path, encoding):
    (tmp_path / "wide.pgn").write_bytes(PGN.decode().replace("A", "Ä").replace("\n", "\r\n").encode(encoding))
    assert read_games(tmp_path / "wide.pgn").headers["white"].to_pylist() == ["Ä"]


@pytest.mark.parametrize("packing", ["gzip", "bzip2", "xz", "zstd"])
def test_a_bomb_is_stopped_by_its_limit(tmp_path, monkeypatch, packing):
    monkeypatch.setattr(files, "MOST_UNPACKED", 1 << 20)
    monkeypatch.setattr(files, "MOST_TIMES", 20)
    (tmp_path / "bomb").write_bytes(PACKINGS[packing](PGN * 30_000))
    games = read_games(tmp_path / "bomb")
    assert 0 < len(games) < 30_000
    assert games.tally.counts["damaged file"] == 1
    assert "20 times its size" in games.tally.faults[-1].detail


def test_a_folder_stands_for_its_games_and_a_pattern_for_what_fits(tmp_path):
    for name in ("b.pgn", "a.PGN", "sub/c.pgn.gz", "notes.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(gzip.compress(PGN) if name.endswith("gz") else PGN)
    assert [path.name for path in named_files([tmp_path])] == ["a.PGN", "b.pgn", "c.pgn.gz"]
    assert len(read_games(tmp_path)) == 3
    assert [path.name for path in named_files([tmp_path / "**" / "*.gz"])] == ["c.pgn.gz"]
    (tmp_path / "odd[1].pgn").write_bytes(PGN)
    assert len(read_games(tmp_path / "odd[1].pgn")) == 1
    with pytest.raises(InputError, match="no file fits"):
        named_files([tmp_path / "*.zst"])


def test_what_comes_in_may_be_read_twice():
    code = "from skilloscope.chess.pgn.games import read_games as r; print(len(r('-')), len(r('-')))"
    done = subprocess.run([sys.executable, "-c", code], input=gzip.compress(PGN), capture_output=True, check=True)
    assert done.stdout.split() == [b"1", b"1"]
