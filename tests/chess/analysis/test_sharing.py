"""One store, several processes; one store, damaged rows: nothing is searched twice, nothing good is locked away."""

from __future__ import annotations

import contextlib
import io
import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from skilloscope.chess.analysis.analyse import analyse
from skilloscope.chess.analysis.files import damaged_answers, export_store, read_export
from skilloscope.chess.engine.settings import Settings
from skilloscope.chess.pgn.games import read_games
from skilloscope.chess.pgn.positions import Positions, positions
from skilloscope.cli.app import app
from skilloscope.core.errors import Tally
from skilloscope.store import Claims, Store

SHALLOW = Settings(depth=2, multipv=3)
PGN = """[White "Ann"]
[Black "Bob"]

1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O *
"""
ANALYSE = """
import io, sys
from skilloscope.chess.analysis.analyse import analyse
from skilloscope.chess.engine.settings import Settings
from skilloscope.chess.pgn.games import read_games
from skilloscope.chess.pgn.positions import positions
print("ready", flush=True)
sys.stdin.readline()
batch = positions(read_games(io.StringIO(sys.argv[3])), skip_moves=0)
done = analyse(batch, settings=Settings(depth=2, multipv=3), store=sys.argv[1], engine=sys.argv[2])
print(done.searched, done.cached, done.failed)
"""
Fake = Callable[..., Path]


@pytest.fixture
def batch() -> Positions:
    return positions(read_games(io.StringIO(PGN)), skip_moves=0)


def counting(fake: Path, folder: Path) -> tuple[Path, Callable[[], list[str]]]:
    """Return an engine whose searches are written down, and the positions that it has been asked."""
    path, asked = folder / "counting", folder / "asked"
    asked.mkdir()
    path.write_text(f"#!/bin/sh\ntee \"{asked}/$$\" | '{fake}'\n")
    path.chmod(0o755)

    def seen() -> list[str]:
        rows = [row for file in asked.iterdir() for row in file.read_text().splitlines()]
        return [row for row in rows if row.startswith("position")]

    return path, seen


def test_four_processes_on_one_store_search_everything_once(
    fake_engine: Fake, batch: Positions, tmp_path: Path
) -> None:
    engine, asked = counting(fake_engine(), tmp_path)
    total = len(set(batch.fen.to_pylist()))
    command = [sys.executable, "-c", ANALYSE, str(tmp_path / "s.sqlite"), str(engine), PGN]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with contextlib.ExitStack() as stack:
        runs = [stack.enter_context(subprocess.Popen(command, **pipes)) for _ in range(4)]  # type: ignore[call-overload]
        for run in runs:
            assert run.stdout.readline() == "ready\n"
        said = []
        for run in runs:
            run.stdin.write("go\n")
            run.stdin.flush()
        for run in runs:
            said.append([int(number) for number in run.stdout.read().split()])
    assert len(asked()) == total
    assert sum(searched for searched, _, _ in said) == total
    assert [searched + cached for searched, cached, _ in said] == [total] * 4
    assert [failed for _, _, failed in said] == [0] * 4


def test_what_a_dead_process_had_claimed_is_searched(fake_engine: Fake, batch: Positions, tmp_path: Path) -> None:
    engine, total = fake_engine(), len(set(batch.fen.to_pylist()))
    key = analyse(batch.select([0]), settings=SHALLOW, engine=engine).settings
    with Store(tmp_path / "s.sqlite") as store:
        dead = Claims(store, key)
        dead.owner = dead.owner.replace(dead.owner.split()[1], "4194305")
        assert len(list(dead.granted(batch.fen.to_pylist()))) > 0
        done = analyse(batch, settings=SHALLOW, store=store, engine=engine)
        assert (done.searched, done.failed) == (total, 0)
        dead._connection.close()


def damage(path: Path, change: str) -> int:
    """Change some rows of a store behind its back, and return how many there are."""
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints = 1")
        connection.execute(change)
        return int(connection.execute("SELECT count(*) FROM analysis").fetchone()[0])


ONE = "WHERE problem = (SELECT min(problem) FROM analysis)"
CHANGES = {
    "lines cut": f"UPDATE analysis SET lines = substr(lines, 1, 20) {ONE}",
    "lines text": f"UPDATE analysis SET lines = 'lines' {ONE}",
    "lines empty": f"UPDATE analysis SET lines = x'' {ONE}",
    "a bit": f"UPDATE analysis SET lines = CAST(substr(lines, 1, 30) || x'00' || substr(lines, 32) AS BLOB) {ONE}",
    "status": f"UPDATE analysis SET status = 'donf' {ONE}",
    "nodes": f"UPDATE analysis SET nodes = 'many' {ONE}",
    "reason": f"UPDATE analysis SET reason = CAST(x'ff41' AS TEXT) {ONE}",
}


@pytest.mark.parametrize("change", CHANGES)
def test_one_damaged_row_is_named_searched_again_and_locks_nothing(
    fake_engine: Fake, batch: Positions, tmp_path: Path, caplog: pytest.LogCaptureFixture, change: str
) -> None:
    engine, path = fake_engine(), tmp_path / "analyses.sqlite"
    whole = analyse(batch, settings=SHALLOW, store=path, engine=engine)
    total = damage(path, CHANGES[change])
    with Store(path, read_only=True) as store:
        tally = Tally()
        assert export_store(store, store.all_settings()[0], tmp_path / "out.jsonl", tally) == total - 1
        assert len(tally.faults) == 1
        assert len([*store.damaged(), *damaged_answers(store)]) >= 1
    assert len(read_export(tmp_path / "out.jsonl").rows) == total - 1
    again = analyse(batch, settings=SHALLOW, store=path, engine=engine)
    assert (again.searched, again.cached, again.failed) == (1, total - 1, 0)
    assert "is damaged; it is searched again" in caplog.text
    assert [row.fen for row in again.rows()] == [row.fen for row in whole.rows()]
    with Store(path, read_only=True) as store:
        assert [*store.damaged(), *damaged_answers(store)] == []


def test_store_check_finds_what_only_chess_can_tell_and_mends_it(
    fake_engine: Fake, batch: Positions, tmp_path: Path
) -> None:
    engine, path = fake_engine(), tmp_path / "analyses.sqlite"
    analyse(batch, settings=SHALLOW, store=path, engine=engine)

    def check(*more: str) -> tuple[int, dict[str, object]]:
        done = CliRunner().invoke(app, ["cache", "check", "--store", str(tmp_path), "--json", *more])
        return done.exit_code, json.loads(done.stdout)

    assert check() == (0, {"schema": 1, "path": str(path), "rows": 16, "damaged": [], "mended": False})
    damage(path, f"UPDATE analysis SET alternatives = alternatives + 1, digest = NULL {ONE}")
    code, report = check("--mend")
    assert code == 1
    assert len(report["damaged"]) == 1
    assert "legal moves" in report["damaged"][0]["detail"]
    assert check()[0] == 0
    again = analyse(batch, settings=SHALLOW, store=path, engine=engine)
    assert again.searched == 1


def test_broken_settings_hide_no_others(fake_engine: Fake, batch: Positions, tmp_path: Path) -> None:
    engine, path = fake_engine(), tmp_path / "analyses.sqlite"
    analyse(batch.select([0]), settings=Settings(depth=1, multipv=2), store=path, engine=engine)
    analyse(batch, settings=SHALLOW, store=path, engine=engine)
    damage(path, "UPDATE settings SET json = replace(json, '\"depth\":1', '\"depth\":9') WHERE id = 1")
    with Store(path) as store:
        assert [key["depth"] for key in store.all_settings()] == [2]
        assert [one["settings"]["depth"] for one in store.statistics()["settings"]] == [2]
        assert [place for place, _ in store.damaged()] == ["settings 1"]
    damage(path, "UPDATE settings SET json = CAST(x'7bff' AS TEXT) WHERE id = 1")
    for command in (["info"], ["check"], ["export", str(tmp_path / "x.jsonl")]):
        done = CliRunner().invoke(app, ["cache", *command, "--store", str(tmp_path)])
        assert done.exit_code == (1 if command == ["check"] else 0), done.output
