from __future__ import annotations

import multiprocessing
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilloscope.core.errors import InputError, StoreError
from skilloscope.store import SCHEMA, Store, StoredAnalysis, settings_digest

KEY = {"engine": "Stockfish 15.1", "depth": 10, "options": {}}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new folder" / "analyses.sqlite"


def test_what_is_put_comes_back(path: Path) -> None:
    row = StoredAnalysis("fen", 31, b"\x00lines\xff", nodes=12345, seconds=0.14, created=1_700_000_000)
    with Store(path) as store:
        assert store.put_many(KEY, [row]) == 1
    with Store(path, read_only=True) as store:
        assert store.get_many(KEY, ["fen", "another"]) == {"fen": row}
        assert list(store.iterate(KEY)) == [row]
        assert store.all_settings() == [KEY]


def test_other_settings_never_answer(path: Path) -> None:
    with Store(path) as store:
        store.put_many(KEY, [StoredAnalysis("fen", 31, b"x")])
        assert store.get_many(KEY | {"multipv": 20}, ["fen"]) == {}
        assert list(store.iterate(KEY | {"multipv": 20})) == []


def test_an_answer_is_never_replaced_but_a_failure_is(path: Path) -> None:
    failed = StoredAnalysis("fen", 31, b"", "failed", "the engine hung", created=1)
    first = StoredAnalysis("fen", 31, b"first", created=2)
    with Store(path) as store:
        assert store.put_many(KEY, [failed]) == 1
        assert store.put_many(KEY, [first]) == 1
        assert store.put_many(KEY, [StoredAnalysis("fen", 31, b"second")]) == 0
        assert store.put_many(KEY, [failed]) == 0
        assert store.get_many(KEY, ["fen"]) == {"fen": first}


def test_more_problems_than_sql_variables_are_found(path: Path) -> None:
    rows = [StoredAnalysis(f"problem {i}", 2, bytes([i % 256]), created=5) for i in range(2345)]
    with Store(path) as store:
        assert store.put_many(KEY, rows) == len(rows)
        found = store.get_many(KEY, [row.problem for row in rows])
    assert found == {row.problem: row for row in rows}


def test_statistics_count_rows_by_settings_status_and_origin(path: Path) -> None:
    other = KEY | {"depth": 12}
    with Store(path) as store:
        store.put_many(KEY, [StoredAnalysis("a", 2, b"x"), StoredAnalysis("b", 2, b"", "failed", "crash")])
        store.put_many(other, [StoredAnalysis("a", 2, b"x", origin="imported")])
        numbers = store.statistics()
    assert (numbers["schema"], numbers["path"], numbers["rows"]) == (SCHEMA, str(path), 3)
    assert numbers["bytes"] > 0
    assert numbers["settings"] == [
        {
            "settings": KEY,
            "counts": [
                {"status": "done", "origin": "searched", "rows": 1},
                {"status": "failed", "origin": "searched", "rows": 1},
            ],
        },
        {"settings": other, "counts": [{"status": "done", "origin": "imported", "rows": 1}]},
    ]


@given(st.dictionaries(st.text(), st.none() | st.booleans() | st.integers() | st.text()))
def test_the_digest_does_not_depend_on_the_order(settings: dict[str, object]) -> None:
    assert settings_digest(settings) == settings_digest(dict(reversed(settings.items())))


def test_settings_that_are_not_json_are_refused() -> None:
    with pytest.raises(InputError, match="plain JSON"):
        settings_digest({"depth": {1, 2}})


def test_a_file_of_another_schema_is_refused_and_left_alone(path: Path) -> None:
    Store(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="has schema 2, this version reads schema 1") as caught:
        Store(path)
    assert "another path" in caught.value.hint
    assert path.read_bytes() == before


def test_a_file_that_is_not_sqlite_is_refused_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "games.pgn"
    file.write_text("1. e4 e5 *\n" * 500)
    for read_only in (False, True):
        with pytest.raises(StoreError, match="is not a store of analyses") as caught:
            Store(file, read_only=read_only)
        assert caught.value.hint
    assert file.read_text() == "1. e4 e5 *\n" * 500


def test_somebody_elses_database_is_refused(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "other.sqlite")
    connection.execute("CREATE TABLE analysis (anything)")
    connection.close()
    with pytest.raises(StoreError, match="but not a store of analyses"):
        Store(tmp_path / "other.sqlite")


def test_reading_needs_a_store_that_exists(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no store at"):
        Store(tmp_path / "absent.sqlite", read_only=True)
    with pytest.raises(StoreError, match="is a folder"):
        Store(tmp_path)
    assert not (tmp_path / "absent.sqlite").exists()


def test_a_store_opened_for_reading_refuses_to_write(path: Path) -> None:
    Store(path).close()
    with (
        Store(path, read_only=True) as store,
        pytest.raises(StoreError, match="opened for reading only"),
    ):
        store.put_many(KEY, [StoredAnalysis("fen", 31, b"x")])


def test_a_full_disk_is_said_and_what_was_acknowledged_is_kept(path: Path) -> None:
    with Store(path) as store:
        store.put_many(KEY, [StoredAnalysis("kept", 2, b"x")])
        (pages,) = store._connection.execute("PRAGMA page_count").fetchone()
        store._connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(StoreError, match="the disk is full") as caught:
            store.put_many(KEY, [StoredAnalysis(f"fen {i}", 2, bytes(3000)) for i in range(50)])
        assert "is kept" in caught.value.hint
        assert [row.problem for row in store.iterate(KEY)] == ["kept"]


def test_a_locked_store_is_said(path: Path) -> None:
    with Store(path) as store, Store(path) as other:
        store._connection.execute("PRAGMA busy_timeout = 10")
        other._connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="is locked by another process"):
            store.put_many(KEY, [StoredAnalysis("fen", 31, b"x")])
        other._connection.execute("ROLLBACK")
        assert store.put_many(KEY, [StoredAnalysis("fen", 31, b"x")]) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_that_may_not_be_written_is_said_and_can_be_read(path: Path) -> None:
    with Store(path) as store:
        store.put_many(KEY, [StoredAnalysis("fen", 31, b"x")])
    path.chmod(0o444)
    path.parent.chmod(0o555)
    try:
        with pytest.raises(StoreError, match=r"cannot be (written|opened)"), Store(path) as store:
            store.put_many(KEY, [StoredAnalysis("fen 2", 31, b"x")])
        with Store(path, read_only=True) as store:
            assert "fen" in store.get_many(KEY, ["fen"])
    finally:
        path.parent.chmod(0o755)


def test_readers_do_not_wait_for_a_writer(path: Path) -> None:
    with Store(path) as writer, Store(path, read_only=True) as reader:
        writer.put_many(KEY, [StoredAnalysis("fen", 31, b"x")])
        writer._connection.execute("BEGIN IMMEDIATE")
        assert "fen" in reader.get_many(KEY, ["fen"])
        writer._connection.execute("ROLLBACK")


def _write_some(path: Path, name: int) -> int:
    with Store(path) as store:
        return sum(store.put_many(KEY, [StoredAnalysis(f"{name}/{i}", 2, b"x")]) for i in range(20))


def test_processes_that_open_a_new_store_together_lose_nothing(path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        assert pool.starmap(_write_some, [(path, name) for name in range(8)], chunksize=1) == [20] * 8
    with Store(path, read_only=True) as store:
        assert store.statistics()["rows"] == 160


def test_a_kill_loses_no_acknowledged_row(path: Path) -> None:
    writer = f"""
import sys
from skilloscope.store import Store, StoredAnalysis
store = Store({str(path)!r})
for i in range(100_000):
    store.put_many({KEY!r}, [StoredAnalysis(f"fen {{i}}", 2, b"x" * 300)])
    print(i, flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", writer], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        heard = [int(process.stdout.readline()) for _ in range(200)]
        process.kill()
        heard += [int(line) for line in process.stdout if line.endswith("\n")]
    with Store(path) as store:
        assert len(store.get_many(KEY, [f"fen {i}" for i in heard])) == len(heard)
        assert store._connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_file_without_digests_is_read_and_gets_them(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with Store(path) as store:
        store.put_many(KEY, [StoredAnalysis("old", 1, b"answer")])
        store._connection.execute("ALTER TABLE analysis DROP COLUMN digest")
    with Store(path, read_only=True) as store:
        assert store.get_many(KEY, ["old"])["old"].lines == b"answer"
        assert list(store.damaged()) == []
    with Store(path) as store:
        store.put_many(KEY, [StoredAnalysis("new", 1, b"answer")])
        store._connection.execute("UPDATE analysis SET lines = x'00'")
        assert store.get_many(KEY, ["old", "new"]).keys() == {"old"}
        assert [reason for _, reason in store.damaged()] == ["it is not what was stored"]
