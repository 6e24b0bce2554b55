"""Full disks, locked and damaged files, killed workers, clocks that jump: what was accepted is worked on."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from skilloscope.core.errors import StoreError
from skilloscope.web import jobs as queue
from skilloscope.web import workers
from skilloscope.web.app import create_app
from skilloscope.web.jobs import DAY, Jobs, JobTask
from skilloscope.web.safety import Safety, kept_secret
from skilloscope.web.uploads import add_upload
from skilloscope.web.workers import Workers
from web.conftest import DECISIONS, Filled, do, wait_for

TABLE = DECISIONS.encode()


class SmallDisk(Jobs):
    """A queue whose file cannot grow while `full`."""

    full = False

    def _base(self) -> sqlite3.Connection:
        base = super()._base()
        base.execute(f"PRAGMA max_page_count = {1 if self.full else 1 << 30}").fetchall()  # never below what there is
        return base


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallDisk:
    monkeypatch.setattr(queue, "RETRY_SECONDS", 0.01)
    return SmallDisk(tmp_path / "web" / "jobs.sqlite")


def test_uploads_to_a_full_disk_are_refused_and_what_is_there_can_be_deleted(small: SmallDisk):
    client = Filled(create_app(small, Safety(b"x")), small, None, {}).client()  # type: ignore[arg-type]
    headers, large = {"X-Skilloscope": "1"}, TABLE * 100
    first = client.post("/api/jobs", content=large, headers=headers, params={"kind": "decisions"})
    small.full = True
    reply = client.post("/api/jobs", content=large, headers=headers)
    assert (reply.status_code, "disk of the server is full" in reply.json()["error"]) == (507, True)
    assert client.delete(f"/api/jobs/{first.json()['id']}", headers=headers).status_code == 200
    small.full = False
    assert client.post("/api/jobs", content=large, headers=headers).status_code == 202


def test_a_full_disk_is_no_fault_of_the_job(small: SmallDisk, tmp_path: Path):
    job = add_upload(small, "decisions", [("x.csv", TABLE)], owner="me")
    small.full = True
    for _ in range(5):
        taken = small.take("quick")
        assert taken is not None
        JobTask(taken, small, str(tmp_path)).run(lambda task: task.keep({"deciders": "x" * 100_000}))
        assert (small[job.id].state, "full" in small[job.id].note) == ("waiting", True)
    small.full = False
    assert do(small, job, tmp_path).state == "done"


def test_a_locked_queue_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(queue, "_WAIT", 0.05)
    jobs = Jobs(tmp_path / "jobs.sqlite")
    client = Filled(create_app(jobs, Safety(b"x")), jobs, None, {}).client()  # type: ignore[arg-type]
    with locked(jobs.path):
        reply = client.post("/api/jobs", content=b"1. e4", headers={"X-Skilloscope": "1"})
    assert (reply.status_code, "another process" in reply.json()["error"]) == (503, True)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def test_a_worker_that_dies_while_the_queue_is_locked_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(queue, "_WAIT", 0.05)
    monkeypatch.setattr(workers, "LANES", ("engine",))
    jobs = Jobs(tmp_path / "jobs.sqlite")
    lanes = Workers(jobs, str(tmp_path))
    lanes.start()
    first = wait_for(lambda: lanes._running.get("engine"))
    with locked(jobs.path):
        first.kill()
        first.wait()
        time.sleep(3 * workers._PARENT_SECONDS)
        assert lanes._thread.is_alive()
    job = jobs.add("decisions", "x", [("x.csv", TABLE)], lane="engine")
    wait_for(lambda: jobs[job.id].state == "done")
    lanes.close()


def test_a_clock_that_jumps_makes_nothing_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    jobs = Jobs(tmp_path / "jobs.sqlite", keep_days=30)
    jobs.end(jobs.add("games", "x", []).id, "done")
    lanes, now = Workers(jobs, str(tmp_path)), time.time()
    monkeypatch.setattr(time, "time", lambda: now + 365 * DAY)
    lanes._expire()
    assert jobs.counts() == {"done": 1}


def test_a_flipped_bit_of_what_was_uploaded_or_found_is_noticed(tmp_path: Path):
    jobs = Jobs(tmp_path / "jobs.sqlite")
    job = add_upload(jobs, "games", [("x.pgn", b"1. e4 e5")], owner="me", options={"effort": "instant"})
    whole = add_upload(jobs, "games", [("y.pgn", b"1. d4")], owner="me")
    jobs.put(job.id, {"ratings": {"elo": 1500}})
    with contextlib.closing(sqlite3.connect(jobs.path)) as base, base:
        base.execute("UPDATE inputs SET body = x'312e20653420653d' WHERE job = ?", (job.id,))
        base.execute("UPDATE reports SET body = '{\"elo\":1501}'")
        base.execute('UPDATE jobs SET options = \'{"effort":"instanu"}\' WHERE id = ?', (job.id,))
    for read in (lambda: jobs.inputs(job.id), lambda: jobs.report(job.id, "ratings")):
        with pytest.raises(StoreError, match="damaged"):
            read()
    assert [(one.id, one.state) for one in jobs.of_owner("me")] == [(whole.id, "waiting"), (job.id, "failed")]
    assert [taken.id for _ in range(2) if (taken := jobs.take("quick"))] == [whole.id]


@pytest.mark.parametrize("content", [b"no database at all" * 100, b"SQLite format 3\0" + b"\xff" * 4000])
def test_a_file_that_is_no_queue_is_left_alone(tmp_path: Path, content: bytes):
    path = tmp_path / "jobs.sqlite"
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"cannot be used|another version"):
        Jobs(path)
    assert path.read_bytes() == content


def test_a_database_of_somebody_else_is_left_alone(tmp_path: Path):
    for version in (0, 3):
        path = tmp_path / f"{version}.sqlite"
        with contextlib.closing(sqlite3.connect(path)) as base:
            base.executescript(f"CREATE TABLE mine (a); PRAGMA user_version = {version}")
        with pytest.raises(StoreError, match="another version"):
            Jobs(path)


def test_the_files_of_the_queue_are_of_its_user_alone(tmp_path: Path):
    jobs = Jobs(tmp_path / "web" / "jobs.sqlite")
    jobs.add("games", "x", [])
    jobs.keep_reserve()
    kept_secret(tmp_path / "web")
    assert {path.name: path.stat().st_mode & 0o077 for path in (tmp_path / "web").iterdir()} == dict.fromkeys(
        ("jobs.sqlite", "jobs.sqlite-wal", "jobs.sqlite-shm", "reserve", "web.secret"), 0
    )


def test_an_empty_secret_is_refused(tmp_path: Path):
    (tmp_path / "web.secret").write_bytes(b"")
    with pytest.raises(StoreError, match="cut"):
        kept_secret(tmp_path)


def test_a_table_that_fails_does_not_say_where_the_server_keeps_it(tmp_path: Path):
    jobs = Jobs(tmp_path / "my store" / "jobs.sqlite")
    for kind, text in (("results", b"date,nobody\n1,2\n"), ("decisions", b"a,b\n1,2\n"), ("results", b'"')):
        job = do(jobs, add_upload(jobs, kind, [("t.csv", text)], owner="me"), tmp_path / "my store")
        assert (job.state, str(tmp_path) in job.error + job.hint) == ("failed", False)
        assert "t_1.csv" in job.error
