"""A flipped bit in a Parquet file of ours is never read as truth."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from skilloscope.chess.analysis.files import export_analyses, read_export
from skilloscope.chess.engine.lines import AnalysedPosition, lines_from_lists
from skilloscope.core.errors import SkilloscopeError
from skilloscope.decision.text import read_decisions, write_decisions
from skilloscope.simulate.deciders import made_up_spreads

FEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


def flipped(data: bytes, rng: random.Random) -> bytes:
    out = bytearray(data)
    bit = rng.randrange(8 * len(out))
    out[bit // 8] ^= 1 << bit % 8
    return bytes(out)


@pytest.fixture
def decisions(tmp_path) -> Path:
    write_decisions(made_up_spreads(40, 4, rng=np.random.default_rng(1)), tmp_path / "d.parquet")
    return tmp_path / "d.parquet"


def told(path: Path) -> tuple[object, ...]:
    batch = read_decisions(path)
    table = batch.to_arrow()
    return (table.to_pydict(), batch.depths, batch.tally.counts, batch.about)


def test_a_flipped_bit_in_decisions_is_refused_or_changes_nothing(decisions):
    data, truth, rng = decisions.read_bytes(), told(decisions), random.Random(1)
    refused = 0
    for _ in range(400):
        decisions.write_bytes(flipped(data, rng))
        try:
            assert told(decisions) == truth
        except SkilloscopeError:
            refused += 1
    assert refused > 200


@pytest.mark.parametrize("ending", [".parquet", ".jsonl"])
def test_a_flipped_bit_in_an_export_is_refused_or_costs_an_answer_that_is_counted(ending, tmp_path):
    path = tmp_path / f"e{ending}"
    lists = {"1": [["e2e4", 31], ["d2d4", 20]], "2": [["e2e4", 35], ["d2d4", -12]]}
    lines = lines_from_lists(lists)
    export_analyses(path, {"engine": "Fake", "depth": 2}, [AnalysedPosition(FEN, 20 + n, lines) for n in range(20)])
    data, truth, rng = path.read_bytes(), read_export(path), random.Random(2)
    sound = {(row.fen, row.n_legal, row.lines.tobytes()) for row in truth.rows}
    assert len(sound) == 20
    for _ in range(400):
        path.write_bytes(flipped(data, rng))
        try:
            found = read_export(path)
        except SkilloscopeError:
            continue
        assert found.settings == truth.settings
        assert {(row.fen, row.n_legal, row.lines.tobytes()) for row in found.rows} <= sound
        assert len(found.rows) == 20 or found.tally.total


def test_an_export_that_is_cut_says_how_much_is_lost(tmp_path):
    path, lines = tmp_path / "e.jsonl", lines_from_lists({"1": [["e2e4", 31]]})
    export_analyses(path, {"engine": "Fake"}, [AnalysedPosition(FEN, 20 + n, lines) for n in range(5)])
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:4]))
    cut = read_export(path)
    assert len(cut.rows) == 3
    assert cut.tally.counts == {"lines lost": 1}


def test_every_page_has_a_checksum_that_other_programs_can_verify(decisions):
    data = decisions.read_bytes()
    table = pq.read_table(decisions, page_checksum_verification=True)
    column = pq.read_metadata(decisions).row_group(0).column(1)
    at = (column.dictionary_page_offset or column.data_page_offset) + column.total_compressed_size - 3
    decisions.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
    with pytest.raises(OSError, match=r"CRC|crc|[Cc]hecksum"):
        pq.read_table(decisions, page_checksum_verification=True)
    assert len(table) == 40


def test_rows_that_pages_do_not_give_are_not_lost_in_silence(tmp_path):
    data = (Path(__file__).parents[1] / "fuzz" / "inputs" / "decisions-parquet.rows-that-do-not-come").read_bytes()
    (tmp_path / "d.parquet").write_bytes(data)
    with pytest.raises(SkilloscopeError, match="of 6 rows 0 could be read"):
        read_decisions(tmp_path / "d.parquet")
