"""Kills at any moment: no acknowledged position is lost, no store damaged, no engine left alive.

A position is acknowledged when the progress line has counted it; the lines are read from outside. Every round goes
on with the store that the round before left, until all is analysed; then a new store begins.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from skilloscope.chess.engine.lines import LINE, unpack_lines

Fake = Callable[..., Path]
Ends = Callable[[str], None]

ANALYSE = """
import sys
from pathlib import Path
from skilloscope.chess.analysis.analyse import analyse
from skilloscope.chess.pgn.games import read_games
from skilloscope.chess.engine.settings import Settings
import skilloscope
print("ready", flush=True)
games = read_games(Path(skilloscope.__file__).parent / "data" / "demo" / "simulated.pgn")
analyse(
    games.select(slice(0, int(sys.argv[4]))),
    settings=Settings(depth=2, multipv=3),
    store=sys.argv[1],
    engine=sys.argv[2],
    workers=int(sys.argv[3]),
    progress=lambda progress: print(progress.done, progress.total, flush=True),
)
print("finished", flush=True)
"""


def start(store: Path, engine: Path, workers: int = 2, games: int = 100) -> subprocess.Popen[str]:
    """Start an analysis in a process group of its own, and wait until it has read its modules."""
    command = [sys.executable, "-c", ANALYSE, str(store), str(engine), str(workers), str(games)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def acknowledged(text: str) -> int:
    """Return the last count of the progress lines that are whole."""
    counts = [int(line.split()[0]) for line in text.splitlines(keepends=True) if line[0].isdigit() and line[-1] == "\n"]
    return counts[-1] if counts else 0


def check_store(path: Path, at_least: int) -> None:
    """Hold the store to what was acknowledged, and every row to its form."""
    if not path.exists():
        assert at_least == 0
        return
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        tables = connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'analysis'").fetchone()[0]
        rows = connection.execute("SELECT status, alternatives, lines FROM analysis").fetchall() if tables else []
    assert len(rows) >= at_least
    for status, alternatives, lines in rows:
        assert status == "done"
        assert len(unpack_lines(lines)) in (2 * min(3, alternatives), min(3, alternatives))  # a mate may end it early
        assert unpack_lines(lines).dtype == LINE


def kill_again_and_again(folder: Path, engine: Path, ends: Ends, kills: int, *, group: bool, seed: int) -> int:
    """Kill an analysis so many times, checking all each time; return how many positions were acknowledged."""
    rng = random.Random(seed)
    number, known, total = 0, 0, 0
    while kills:
        store = folder / f"{number}.sqlite"
        with start(store, engine) as process:
            assert process.stdout is not None
            # Some kills hit the start, the others the work, however slow the machine is.
            lines = 0 if rng.random() < 0.3 else rng.randint(1, 40)
            said = "".join(process.stdout.readline() for _ in range(lines))
            time.sleep(rng.uniform(0, 0.02 if lines else 0.3))
            (os.killpg if group else os.kill)(process.pid, signal.SIGKILL)
            said += process.stdout.read()
        ends(str(engine))
        now = acknowledged(said)
        assert now == 0 or now >= known  # what was stored before is found again
        total += max(0, now - known)
        known = max(known, now)
        check_store(store, known)
        if "finished" in said:  # it was faster than we: that was no kill
            number, known = number + 1, 0
        else:
            kills -= 1
    return total


@pytest.fixture
def real_engine(stockfish: Path, tmp_path: Path) -> Path:
    """Stockfish under a name that no other process has."""
    (tmp_path / "stockfish").symlink_to(stockfish)
    return tmp_path / "stockfish"


def test_kills_of_the_whole_group_lose_nothing(real_engine: Path, tmp_path: Path, all_end: Ends) -> None:
    assert kill_again_and_again(tmp_path, real_engine, all_end, 5, group=True, seed=5) > 0


def test_kills_of_the_parent_alone_lose_nothing(fake_engine: Fake, tmp_path: Path, all_end: Ends) -> None:
    deaf = fake_engine("does not quit")
    assert kill_again_and_again(tmp_path, deaf, all_end, 3, group=False, seed=6) > 0


@pytest.mark.soak
def test_200_kills_of_the_whole_group_lose_nothing(real_engine: Path, tmp_path: Path, all_end: Ends) -> None:
    assert kill_again_and_again(tmp_path, real_engine, all_end, 200, group=True, seed=1) > 200


@pytest.mark.soak
def test_50_kills_of_the_parent_alone_lose_nothing(fake_engine: Fake, tmp_path: Path, all_end: Ends) -> None:
    deaf = fake_engine("does not quit")
    assert kill_again_and_again(tmp_path, deaf, all_end, 50, group=False, seed=2) > 50


@pytest.mark.parametrize(("games", "killed_at"), [(8, 40), pytest.param(100, 100, marks=pytest.mark.soak)])
def test_what_was_killed_and_resumed_is_what_was_never_killed(
    real_engine: Path, tmp_path: Path, all_end: Ends, games: int, killed_at: int
) -> None:
    with start(tmp_path / "whole.sqlite", real_engine, games=games) as process:
        assert process.stdout is not None
        assert process.stdout.read().endswith("finished\n")
    with start(tmp_path / "killed.sqlite", real_engine, games=games) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if acknowledged(line) == killed_at:
                process.kill()
    all_end(str(real_engine))
    with start(tmp_path / "killed.sqlite", real_engine, workers=1, games=games) as process:
        assert process.stdout is not None
        said = process.stdout.read()
    assert said.endswith("finished\n")
    assert int(said.split()[0]) >= killed_at
    rows = []
    for name in ("whole", "killed"):
        with contextlib.closing(sqlite3.connect(tmp_path / f"{name}.sqlite")) as connection:
            query = "SELECT problem, alternatives, nodes, lines FROM analysis ORDER BY problem"
            rows.append(connection.execute(query).fetchall())
    assert len(rows[0]) > 2 * killed_at
    assert rows[0] == rows[1]


def test_an_interrupt_from_the_keyboard_ends_everything(fake_engine: Fake, tmp_path: Path, all_end: Ends) -> None:
    deaf = fake_engine("does not quit")
    with start(tmp_path / "s.sqlite", deaf) as process:
        assert process.stdout is not None
        said = process.stdout.readline() + process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)
        said += process.stdout.read()
        assert process.wait() == -signal.SIGINT
    all_end(str(deaf))
    check_store(tmp_path / "s.sqlite", acknowledged(said))
