"""Full disks, locked and damaged files, killed workers, clocks that jump: what was accepted is worked on."""

from __future__ import annotations

import contextlib
import json
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import psutil
import pytest

from skilloscope.core.errors import StoreError
from skilloscope.web import jobs as queue
from skilloscope.web import workers
from skilloscope.web.app import create_app
from skilloscope.web.jobs import DAY, Jobs, JobTask
from skilloscope.web.safety import Safety, kept_secret
from skilloscope.web.uploads import add_upload
from skilloscope.web.workers import Workers
from web.conftest import DECISIONS, Filled, do, few_games, kill, start_server, wait_for

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


def test_an_upload_of_which_a_file_is_lost_is_damaged(tmp_path: Path):
    jobs = Jobs(tmp_path / "jobs.sqlite")
    job = add_upload(jobs, "decisions", [("a.csv", TABLE), ("b.csv", TABLE)], owner="me")
    jobs._base().execute("DELETE FROM inputs")
    assert do(jobs, job, tmp_path).state == "failed"
    job = add_upload(jobs, "decisions", [("a.csv", TABLE), ("b.csv", TABLE)], owner="me")
    jobs._base().execute("DELETE FROM inputs WHERE name = 'a.csv'")
    assert [place for place, _ in jobs.damaged()] == [f"uploads of job {job.id!r}"]
    assert "damaged" in do(jobs, job, tmp_path).error


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


def can_mount() -> bool:
    return subprocess.run(["unshare", "-rm", "true"], check=False, capture_output=True).returncode == 0


class Attacked:
    """A server on a disk of its own of 24 MB, all that it acknowledged, and what was done to it."""

    def __init__(self, folder: Path) -> None:
        small = f"mount -t tmpfs -o size=24m none '{folder}' && exec \"$@\""
        self.process, self.address = start_server(folder, before=("unshare", "-rm", "sh", "-c", small, "sh"))
        self.disk = Path(f"/proc/{self.process.pid}/root{folder}")
        self.queue, self.acknowledged, self.slowest = folder / "web" / "jobs.sqlite", list[str](), 0.0

    def ask(self, method: str, path: str, body: bytes | None = None) -> tuple[int, Any]:
        asked = Request(f"{self.address}/api{path}", body, {"X-Skilloscope": "1"}, method=method)
        try:
            with urlopen(asked, timeout=60) as reply:
                return reply.status, json.load(reply)
        except HTTPError as error:
            with error:
                return error.code, json.load(error)

    def upload(self, kind: str = "decisions", body: bytes = TABLE) -> int:
        options = "&effort=instant" if kind == "games" else ""
        status, reply = self.ask("POST", f"/jobs?kind={kind}{options}", body)
        if status == 202:
            self.acknowledged.append(reply["id"])
        return status

    def state(self, job: str) -> str:
        return str(self.ask("GET", f"/jobs/{job}")[1]["state"])

    def worker(self) -> psutil.Process | None:
        found = psutil.Process(self.process.pid).children(recursive=True)
        return next((one for one in found if " quick " in " ".join(one.cmdline())), None)

    def fill(self) -> None:
        with contextlib.suppress(OSError), (self.disk / "filler").open("ab", 0) as file:
            for size in (1 << 16, 1 << 10, 1):
                with contextlib.suppress(OSError):
                    while file.write(bytes(size)) == size:
                        pass

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Let another process hold the write lock of the queue."""
        code = "import sqlite3; b = sqlite3.connect(%r, isolation_level=None); b.execute('BEGIN IMMEDIATE')"
        code += "; print(flush=True); input()"
        inside = ["nsenter", "-t", str(self.process.pid), "-m", "-U", sys.executable, "-c", code % str(self.queue)]
        with subprocess.Popen(inside, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
            assert other.stdin is not None
            assert other.stdout is not None
            assert other.stdout.readline() == b"\n"
            yield
            other.stdin.write(b"\n")

    def check(self) -> None:
        """Wait until all that was acknowledged is done: the queue goes on, and nothing is lost."""
        begin = time.monotonic()
        for job in self.acknowledged:
            wait_for(lambda job=job: self.state(job) in ("done", "failed"), 120)
            assert self.state(job) == "done", self.ask("GET", f"/jobs/{job}")
        self.slowest = max(self.slowest, time.monotonic() - begin)
        self.acknowledged.clear()
        assert psutil.Process(self.process.pid).memory_info().rss < 600 << 20


def full_disk(server: Attacked, at: float) -> None:
    assert server.upload("games", few_games().encode()) == 202
    large = server.ask("POST", "/jobs?kind=results", b"date,player_1,player_2,score\n" * 50_000)[1]["id"]
    time.sleep(at)
    server.fill()
    time.sleep(3)
    assert server.upload(body=TABLE * 200) == 507
    assert server.ask("DELETE", f"/jobs/{large}")[0] == 200
    (server.disk / "filler").unlink()
    assert server.upload() == 202


def killed_worker(server: Attacked, at: float) -> None:
    assert server.upload("games", few_games().encode()) == 202
    time.sleep(at)
    if worker := server.worker():
        worker.kill()


def locked_queue(server: Attacked, at: float) -> None:
    assert server.upload() == 202
    wait_for(lambda: server.worker())
    with server.locked():
        if worker := server.worker():
            worker.kill()
        time.sleep(at)
        assert server.upload() == 503
        assert server.ask("GET", "/about")[0] == 200
    assert server.upload() == 202


def cut_bodies(server: Attacked, at: float) -> None:
    host, port = server.address.removeprefix("http://").split(":")
    texts = [
        f"POST /api/jobs HTTP/1.1\r\nHost: {host}\r\nX-Skilloscope: 1\r\nContent-Length: {n}\r\n\r\n"
        for n in (9, 1 << 24)
    ]
    held = [socket.create_connection((host, int(port))) for _ in range(20)]
    for at_, one in enumerate(held):
        one.sendall(texts[at_ % 2].encode() + b"1. e4"[: at_ % 6])
    for one in held[::3]:
        one.close()
    assert server.upload() == 202
    time.sleep(at)
    for one in held:
        one.close()


FAULTS = {
    "full disk": full_disk,
    "killed worker": killed_worker,
    "locked queue": locked_queue,
    "cut bodies": cut_bodies,
}


@pytest.mark.skipif(not can_mount(), reason="nobody may mount a small disk here")
@pytest.mark.parametrize("rounds", [1, pytest.param(12, marks=pytest.mark.soak)])
def test_a_server_outlives_every_fault_with_all_that_it_acknowledged(tmp_path: Path, rounds: int):
    server, chance = Attacked(tmp_path), random.Random(rounds)
    try:
        for _ in range(rounds):
            for name, fault in list(FAULTS.items())[: None if rounds > 1 else 1]:
                fault(server, chance.uniform(0.0, 4.0 if rounds > 1 else 0.5))
                server.check()
                print(f"{name}: {server.slowest:.1f} s at most until all was done", flush=True)
                server.slowest = 0.0
    finally:
        kill(server.process, signal.SIGTERM)


@pytest.mark.soak
def test_a_server_that_is_killed_again_and_again_keeps_all_that_it_acknowledged(tmp_path: Path):
    chance, acknowledged = random.Random(7), list[str]()
    for at in range(40):
        process, address = start_server(tmp_path)
        headers = {"X-Skilloscope": "1"}
        threads = [
            threading.Thread(target=_send_until_it_dies, args=(address, headers, acknowledged)) for _ in range(3)
        ]
        for thread in threads:
            thread.start()
        time.sleep(chance.uniform(0.0, 2.0))
        kill(process, signal.SIGKILL)
        for thread in threads:
            thread.join()
        jobs = Jobs(tmp_path / "web" / "jobs.sqlite")
        assert [name for name in acknowledged if not jobs.inputs(name)] == [], at
        assert list(jobs.damaged()) == []
        jobs.close()
    assert len(acknowledged) > 40


def _send_until_it_dies(address: str, headers: dict[str, str], acknowledged: list[str]) -> None:
    with contextlib.suppress(OSError, HTTPException):
        while True:
            with urlopen(Request(f"{address}/api/jobs?kind=decisions", TABLE, headers), timeout=30) as reply:
                acknowledged.append(json.load(reply)["id"])
            if len(acknowledged) % 150 == 149:
                time.sleep(5)
