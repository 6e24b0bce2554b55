"""Damaged input never breaks a reader: whatever bytes come, there are faults with places, or an error of ours."""

from __future__ import annotations

import numpy as np
import pytest

from skilloscope.chess.pgn.games import read_games
from skilloscope.core.errors import SkilloscopeError
from skilloscope.decision.text import read_decisions, write_decisions
from skilloscope.simulate.agents import made_up_spreads
from skilloscope.sources.shipped import demo_file


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """Return the bytes with a few of them changed, cut out, doubled or cut off."""
    out = bytearray(data)
    for _ in range(rng.integers(1, 6)):
        at, length = int(rng.integers(0, len(out) + 1)), int(rng.integers(1, 40))
        action = rng.integers(0, 4)
        if action == 0:
            out[at : at + length] = rng.integers(0, 256, length, dtype=np.uint8).tobytes()
        elif action == 1:
            del out[at : at + length]
        elif action == 2:
            out[at:at] = out[at : at + length]
        else:
            del out[max(at, 20) :]
    return bytes(out)


def read_damaged_games(folder, repetitions: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = demo_file("game_of_the_century.pgn").read_bytes() * 2
    for _ in range(repetitions):
        path = folder / "damaged.pgn"
        path.write_bytes(damaged(data, rng))
        try:
            games = read_games(path)
        except SkilloscopeError:
            continue
        assert games.offsets[-1] == len(games.moves)
        assert all(fault.file and fault.place and fault.reason for fault in games.tally.faults)


def read_damaged_tables(folder, repetitions: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    batch = made_up_spreads(12, 4, rng=rng)
    for name in ("t.jsonl", "t.csv"):
        write_decisions(batch, folder / name)
        data = (folder / name).read_bytes()
        for _ in range(repetitions):
            (folder / name).write_bytes(damaged(data, rng))
            try:
                found = read_decisions(folder / name)
            except SkilloscopeError:
                continue
            assert len(found) >= 1
            assert all(fault.place.startswith("line ") for fault in found.tally.faults)


def test_damaged_games_give_faults_or_an_error_of_ours(tmp_path):
    read_damaged_games(tmp_path, 100, seed=1)


def test_damaged_tables_give_faults_or_an_error_of_ours(tmp_path):
    read_damaged_tables(tmp_path, 200, seed=2)


@pytest.mark.soak
def test_thousands_of_damaged_files_give_faults_or_an_error_of_ours(tmp_path):
    for seed in range(20):
        read_damaged_games(tmp_path, 500, seed=100 + seed)
        read_damaged_tables(tmp_path, 1000, seed=200 + seed)
