"""Damaged input never breaks a reader: whatever bytes come, there are faults with places, or an error of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.harness import READ, REFUSED, fuzz, outcome
from fuzz.readers import plain, readers, scanned

INPUTS = sorted((Path(__file__).parent / "inputs").iterdir())
NAMES = (
    "pgn", "headers", "decisions-csv", "decisions-jsonl", "decisions-parquet", "results-csv", "results-parquet",
    "uci", "exports-jsonl", "exports-parquet", "analysed", "evaluated", "live", "axis", "scale", "state", "history",
    "settings", "kinds",
)  # fmt: skip


def test_every_reader_is_fuzzed(tmp_path):
    assert tuple(sorted(readers(tmp_path))) == tuple(sorted(NAMES))


@pytest.mark.parametrize("name", NAMES)
def test_mutated_inputs_are_read_or_refused(name, tmp_path):
    found = fuzz(readers(tmp_path)[name], 250, 1, tmp_path)
    assert found.total() == 250
    assert found[READ]


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(101, 111))
@pytest.mark.parametrize("name", NAMES)
def test_a_hundred_thousand_mutated_inputs_are_read_or_refused(name, seed, tmp_path):
    assert fuzz(readers(tmp_path)[name], 10_000, seed, tmp_path).total() == 10_000


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: path.name)
def test_an_input_that_once_failed_is_read_or_refused(path, tmp_path):
    """The name of the file begins with that of its reader."""
    assert outcome(readers(tmp_path)[path.name.split(".")[0]], path.read_bytes(), tmp_path)


@pytest.mark.parametrize(
    "path", [path for path in INPUTS if path.name.startswith("scale.")], ids=lambda path: path.name
)
def test_a_scale_with_a_field_that_cannot_be_is_refused(path, tmp_path):
    assert outcome(readers(tmp_path)["scale"], path.read_bytes(), tmp_path) == REFUSED


@pytest.mark.parametrize("odd", [b"\x0b", b"\x0c", b"\r", b"\xc2\xa0", b"\x00", b"\x1c"])
def test_the_two_readers_of_headers_agree_on_what_is_blank(odd):
    for data in (
        b'[White "A"' + odd + b']\n[Black "B"]\n1. e4 *\n',
        b'[White "A' + odd + b'B"]\n1. e4 e5 *\n',
        odd + b'[White "A"]\n1. e4' + odd + b"e5 *\n",
    ):
        assert scanned(data) in (None, plain(data))
