"""No byte outside the buffer is read, whatever the bytes are: the compiled readers built with every index checked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
BUILD = TESTS.parent / ".cache" / "bounds-checked"


def fuzzed(inputs: int, seed: int) -> tuple[int, int]:
    """Return how many inputs were read, and how many games in them, by the build that checks its indices."""
    path = os.pathsep.join([str(TESTS), str(TESTS.parent / "src")])
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(BUILD), "PYTHONPATH": path}
    command = [sys.executable, "-m", "fuzz.bounds", str(inputs), str(seed)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    read, games = done.stdout.split()
    return int(read), int(games)


def test_mutated_games_and_noise_are_read_within_the_buffer():
    inputs, games = fuzzed(3_000, 1)
    assert inputs == 3_000
    assert games > 3_000


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(2, 12))
def test_two_million_inputs_are_read_within_the_buffer(seed):
    assert fuzzed(200_000, seed)[0] == 200_000
