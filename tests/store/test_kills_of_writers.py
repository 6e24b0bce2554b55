"""Kills while the store is cleaned, while answers are imported, while ratings, pages and tables are written.

What was acknowledged is there afterwards, and what is there is whole. A process that has read its modules once forks
one that works, which is killed; so a kill costs a fraction of a second.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from skilloscope.chess.analysis.files import damaged_answers, read_export
from skilloscope.inputs.bundled import analyses_file
from skilloscope.ratings.periods.saved import load_ratings
from skilloscope.store import Store
from skilloscope.web.library.players import Libraries
from skilloscope.web.library.records import GameText

FORKS = """
import os, sys, time
from pathlib import Path
folder = Path(sys.argv[1])
def acknowledge(number):
    os.write(1, f"done {{number}}\\n".encode())
{work}
for line in sys.stdin:
    child = os.fork()
    if not child:
        os.setsid()
        for number in range(int(line), int(line) + 10_000):
            work(number)
            acknowledge(number)
        os._exit(0)
    os.write(1, f"child {{child}}\\n".encode())
    os.waitpid(child, 0)
    os.write(1, b"dead\\n")
"""

PAGE = """
from skilloscope.core.paths import write_whole
def work(number):
    write_whole(folder / "page.html", f"{number}\\n" + "x" * 200_000 + f"\\n{number}\\n")
"""
TABLE = """
import pyarrow as pa
from skilloscope.core.table_files import write_table
def work(number):
    write_table(pa.table({"number": [number] * 5000}), folder / "table.parquet")
    write_table(pa.table({"number": [number] * 5000}), folder / "table.csv")
"""
STATE = """
import numpy as np
from skilloscope.ratings.periods.saved import SavedRatings, load_ratings, save_ratings
from skilloscope.ratings.periods.periods import Periods
from skilloscope.results.periods import PeriodGames
names = tuple(f"player {number}" for number in range(40))
def work(number):
    rng = np.random.default_rng(number)
    white, black = rng.permuted(np.tile(np.arange(40), (number + 1, 1)), axis=1)[:, :2].T
    games = PeriodGames.build(white, black, np.ones(number + 1), np.arange(number + 1) // 10, players=names)
    model = Periods(sigma0=200, nu=30, smoothing=None).fit(games)
    if (folder / "state").exists():
        load_ratings(folder / "state")
    save_ratings(SavedRatings(model.state_, model.filtered_), folder / "state")
"""
VACUUM = """
from skilloscope.store import Store, StoredAnalysis
def work(number):
    with Store(folder / "analyses.sqlite") as store:
        store.put_many({"engine": "X"}, [StoredAnalysis(f"problem {number}", 3, b"answer" * 2000)])
        store.vacuum()
"""
IMPORT = """
from skilloscope.chess.analysis import files as transfer
from skilloscope.inputs.bundled import analyses_file
from skilloscope.store import Store
transfer._CHUNK = 20
def work(number):
    with Store(folder / f"{number}.sqlite") as store:
        honest = store.put_many
        def put_many(settings, rows):
            new = honest(settings, rows)
            os.write(1, f"put {number} {len(rows)}\\n".encode())
            return new
        store.put_many = put_many
        transfer.import_file(store, analyses_file())
"""


LIBRARY = """
from skilloscope.web.library.players import Libraries
from skilloscope.web.library.records import GameText
def work(number):
    libraries = Libraries(folder / "library.sqlite")
    libraries.opened("visitor").put(*(GameText(f"{number}-{at}", "1. e4 *" * 300) for at in range(20)))
    libraries.close()
"""


def check_page(folder: Path, last: int, _: list[str]) -> None:
    first, middle, end = (folder / "page.html").read_text().split()
    assert first == end
    assert int(first) >= last
    assert len(middle) == 200_000


def check_table(folder: Path, last: int, _: list[str]) -> None:
    numbers = pq.read_table(folder / "table.parquet")["number"].to_pylist()
    assert len(numbers) == 5000
    assert last <= numbers[0] == numbers[-1]
    rows = (folder / "table.csv").read_text().split()
    assert len(rows) == 5001
    assert last <= int(rows[1]) == int(rows[-1])


def check_state(folder: Path, last: int, _: list[str]) -> None:
    kept = load_ratings(folder / "state")
    assert kept.state.games >= last + 1
    assert kept.state.games == kept.history.games.sum() // 2


def check_vacuum(folder: Path, last: int, _: list[str]) -> None:
    with Store(folder / "analyses.sqlite") as store:
        assert list(store.damaged()) == []
        found = {row.problem: row.lines for row in store.iterate({"engine": "X"})}
    assert {f"problem {number}" for number in range(last + 1)} <= found.keys()
    assert set(found.values()) == {b"answer" * 2000}


def check_import(folder: Path, _: int, said: list[str]) -> None:
    put: dict[str, int] = {}
    for line in said:
        if line.startswith("put"):
            put[line.split()[1]] = put.get(line.split()[1], 0) + int(line.split()[2])
    for number, rows in put.items():
        with Store(folder / f"{number}.sqlite") as store:
            assert list(store.damaged()) == []
            assert store.statistics()["rows"] >= rows
    with Store(folder / f"{max(put, key=int)}.sqlite") as store:
        assert list(damaged_answers(store)) == []


def check_library(folder: Path, last: int, _: list[str]) -> None:
    libraries = Libraries(folder / "library.sqlite")
    assert list(libraries.damaged()) == []
    library = libraries.opened("visitor")
    found = {one.key for one in library.records(GameText)}
    assert {f"{number}-{at}" for number in range(last + 1) for at in range(20)} <= found
    assert (len(found) % 20, library.lost) == (0, 0)
    libraries.close()


Check = Callable[[Path, int, list[str]], None]
WRITERS: dict[str, tuple[str, Check]] = {
    "a page": (PAGE, check_page),
    "tables": (TABLE, check_table),
    "ratings": (STATE, check_state),
    "a vacuum": (VACUUM, check_vacuum),
    "an import": (IMPORT, check_import),
    "a library": (LIBRARY, check_library),
}


def kill_writers(folder: Path, work: str, check: Check, kills: int, seed: int) -> int:
    """Kill a writer so many times, now it alone, now its group; return how often it had acknowledged something."""
    rng = random.Random(seed)
    command = [sys.executable, "-c", FORKS.format(work=work), str(folder)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    next_number = acknowledged = 0
    with subprocess.Popen(command, **pipes) as forks:  # type: ignore[call-overload]
        for _ in range(kills):
            forks.stdin.write(f"{next_number}\n")
            forks.stdin.flush()
            said, child, wanted = [], 0, rng.randint(1, 3)
            while not child or sum(line.startswith(("done", "put")) for line in said) < wanted:
                said.append(forks.stdout.readline())
                assert said[-1], "the writer has failed"
                child = int(said[-1].split()[1]) if said[-1].startswith("child") else child
            time.sleep(rng.uniform(0, 0.03))
            (os.killpg if rng.random() < 0.5 else os.kill)(child, signal.SIGKILL)
            while said[-1] != "dead\n":
                said.append(forks.stdout.readline())
            done = [int(line.split()[1]) for line in said if line.startswith("done")]
            acknowledged += len(done)
            check(folder, done[-1] if done else next_number - 1, said)
            next_number = done[-1] + 1 if done else next_number
        forks.stdin.close()
    return acknowledged


@pytest.mark.parametrize("kills", [3, pytest.param(40, marks=pytest.mark.soak)])
@pytest.mark.parametrize("name", WRITERS)
def test_kills_of_a_writer_lose_nothing_and_leave_nothing_half(tmp_path: Path, name: str, kills: int) -> None:
    work, check = WRITERS[name]
    acknowledged = kill_writers(tmp_path, work, check, kills, seed=kills)
    assert acknowledged > 0 or name == "an import"  # of which each transaction is acknowledged, not the whole


def test_an_import_that_was_killed_is_finished_by_the_next(tmp_path: Path) -> None:
    kill_writers(tmp_path, IMPORT, check_import, 1, seed=9)
    command = [sys.executable, "-m", "skilloscope", "cache", "import", str(analyses_file()), "--store", str(tmp_path)]
    (tmp_path / "0.sqlite").rename(tmp_path / "analyses.sqlite")
    for ending in ("-wal", "-shm"):
        if (tmp_path / f"0.sqlite{ending}").exists():
            (tmp_path / f"0.sqlite{ending}").rename(tmp_path / f"analyses.sqlite{ending}")
    subprocess.run(command, check=True, capture_output=True)
    with Store(tmp_path / "analyses.sqlite", read_only=True) as store:
        assert store.statistics()["rows"] == len(read_export(analyses_file()).rows)
