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
from skilloscope.web.library.players import Libraries, Library
from skilloscope.web.library.records import GameText, Player
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


def test_room_for_deleting_is_taken_again_at_the_next_look(tmp_path: Path):
    jobs = Jobs(tmp_path / "jobs.sqlite")
    lanes = Workers(jobs, str(tmp_path))
    for _ in range(2):
        lanes._expire()
        (tmp_path / "reserve").unlink()


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
    monkeypatch.setattr("skilloscope.web.sqlite_file._WAIT", 0.05)
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
    monkeypatch.setattr("skilloscope.web.sqlite_file._WAIT", 0.05)
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


@pytest.mark.parametrize("flips", [40, pytest.param(1000, marks=pytest.mark.soak)])
def test_a_flipped_bit_anywhere_in_a_library_is_counted_or_refused(tmp_path: Path, flips: int):
    chance, path = random.Random(flips), tmp_path / "library.sqlite"
    texts = [GameText(f"{at:03d}", "1. e4 e5 *" * 5) for at in range(60)]
    libraries = Libraries(path)
    key = libraries.opened("visitor").key
    libraries.opened("visitor").put(*texts, Player(1, "Ann"), Player(2, "Bo"))
    libraries._base().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    libraries.close()
    whole = path.read_bytes()
    for _ in range(flips):
        data = bytearray(whole)
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        for ending in ("", "-wal", "-shm"):
            path.with_name(path.name + ending).unlink(missing_ok=True)
        path.write_bytes(data)
        try:
            libraries = Libraries(path)
            library = Library(libraries, key)
            found = library.records(GameText), library.records(Player)
        except (StoreError, sqlite3.DatabaseError):  # which a page answers with a message
            continue
        finally:
            libraries.close()
        assert found == (texts, [Player(1, "Ann"), Player(2, "Bo")]) or library.lost


def can_mount() -> bool:
    return subprocess.run(["unshare", "-rm", "true"], check=False, capture_output=True).returncode == 0


CLOCK = """import contextlib, time
_real = time.time
def _jumping():
    with contextlib.suppress(OSError, ValueError), open({path!r}) as file:
        return _real() + float(file.read())
    return _real()
time.time = _jumping
"""
MOST_CPU = 10.0
"""Seconds of the processor, of the server and all its workers, until the queue has gone on after a fault."""


class Attacked:
    """A server on a disk of its own of 24 MB, all that it acknowledged, and what was done to it."""

    def __init__(self, folder: Path) -> None:
        disk, clock = folder / "disk", folder / "clock"
        self.clock = clock / "jump"
        for path in (disk, clock):
            path.mkdir()
        (clock / "sitecustomize.py").write_text(CLOCK.format(path=str(self.clock)))
        small = f"mount -t tmpfs -o size=24m none '{disk}' && exec env PYTHONPATH='{clock}' \"$@\""
        self.process, self.address = start_server(disk, before=("unshare", "-rm", "sh", "-c", small, "sh"))
        self.disk, self.own = Path(f"/proc/{self.process.pid}/root{disk}"), psutil.Process(self.process.pid)
        self.queue, self.acknowledged = disk / "web" / "jobs.sqlite", list[str]()
        self.waited = self.cpu = self.memory = 0.0

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

    def job(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self.ask("GET", f"/jobs/{name}")[1]
        return found

    def worker(self) -> psutil.Process | None:
        found = self.own.children(recursive=True)
        return next((one for one in found if " quick " in " ".join(one.cmdline())), None)

    def fill(self) -> None:
        with contextlib.suppress(OSError), (self.disk / "filler").open("ab", 0) as file:
            for size in (1 << 16, 1 << 10, 1):
                with contextlib.suppress(OSError):
                    while file.write(bytes(size)) == size:
                        pass

    @contextlib.contextmanager
    def sql(self, *statements: str) -> Iterator[None]:
        """Let another process open the queue and do this to it; what it has begun it undoes after."""
        code = "import sqlite3; b = sqlite3.connect(%r, isolation_level=None); [b.execute(s) for s in %r]"
        code = code % (str(self.queue), statements) + "; print(flush=True); input()"
        inside = ["nsenter", "-t", str(self.process.pid), "-m", "-U", sys.executable, "-c", code]
        with subprocess.Popen(inside, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
            assert other.stdin is not None
            assert other.stdout is not None
            assert other.stdout.readline() == b"\n"
            yield
            other.stdin.write(b"\n")

    def processor(self) -> float:
        """Return the CPU time of the server, its workers, and those that have ended."""
        spent = 0.0
        for one in (self.own, *self.own.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                spent += sum(one.cpu_times()[:4])
                self.memory = max(self.memory, one.memory_info().rss / 2**20)
        return spent

    def check(self) -> None:
        """Wait until all that was acknowledged is done: the queue goes on, and nothing is lost.

        What counts is the CPU time that this takes: on a busy machine it passes more slowly.
        """
        begin, spent = time.monotonic(), self.processor()
        for name in self.acknowledged:
            wait_for(lambda name=name: self.processor() and self.job(name)["state"] in ("done", "failed"), 900)
            assert self.job(name)["state"] == "done", self.job(name)
            assert self.ask("DELETE", f"/jobs/{name}")[0] == 200  # the disk is small
        spent = self.processor() - spent
        self.waited, self.cpu = max(self.waited, time.monotonic() - begin), max(self.cpu, spent)
        self.acknowledged.clear()
        assert spent < MOST_CPU
        assert self.memory < 600


def full_disk(server: Attacked, at: float) -> None:
    assert server.upload("games", few_games().encode()) == 202
    large = server.ask("POST", "/jobs?kind=results", b"date,player_1,player_2,score\n" * 100_000)[1]["id"]
    time.sleep(at)
    wait_for(lambda: (server.disk / "web" / "reserve").exists(), 60)
    server.fill()
    time.sleep(at)
    assert server.upload(body=TABLE * 2000) == 507
    assert server.ask("DELETE", f"/jobs/{large}")[0] == 200
    (server.disk / "filler").unlink()
    assert server.upload() == 202


def killed_worker(server: Attacked, at: float) -> None:
    """Kill the worker of a job at the first, second … step of it that anybody can see."""
    for step in range(1 + round(2 * at)):
        assert server.upload("games", few_games().encode()) == 202
        name = server.acknowledged[-1]
        wait_for(lambda name=name, step=step: (one := server.job(name))["version"] > step or one["state"] == "done")
        if worker := server.worker():
            worker.kill()
        server.check()


def locked_queue(server: Attacked, at: float) -> None:
    assert server.upload() == 202
    wait_for(lambda: server.worker())
    with server.sql("BEGIN IMMEDIATE"):
        if worker := server.worker():
            worker.kill()
        time.sleep(at)
        assert server.upload() == 503
        assert server.ask("GET", "/about")[0] == 200
    assert server.upload() == 202


def damaged_upload(server: Attacked, at: float) -> None:
    """One upload is damaged before its worker reads it: that job alone fails, and says so."""
    worker = wait_for(lambda: server.worker())
    worker.suspend()
    assert [server.upload() for _ in range(2)] == [202, 202]
    damaged = server.acknowledged.pop(0)
    with server.sql(f"UPDATE inputs SET body = x'00' || substr(body, 2) WHERE job = '{damaged}'"):
        pass
    time.sleep(at)
    worker.resume()
    found = wait_for(lambda: one if (one := server.job(damaged))["state"] not in ("waiting", "running") else None)
    assert (found["state"], "damaged" in found["error"]) == ("failed", True)


def damaged_answers(server: Attacked, at: float) -> None:
    """What a worker has kept of the human model on the disk is overwritten while it works."""
    assert server.upload("games", few_games().encode()) == 202
    kept = wait_for(
        lambda: (
            [*(server.disk / "web" / "work" / "quick").glob("*/human.sqlite*")]
            or server.job(server.acknowledged[-1])["state"] == "done"
        )
    )
    for path in kept if isinstance(kept, list) else ():
        with contextlib.suppress(OSError), path.open("r+b") as file:
            file.seek(int(1000 * at))
            file.write(b"\xff" * 5000)


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


def slow_clients(server: Attacked, at: float) -> None:
    """Clients that send their headers letter by letter, and others that never read what they asked for."""
    host, port = server.address.removeprefix("http://").split(":")
    whole = f"GET /openapi.json HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
    held = [socket.create_connection((host, int(port))) for _ in range(60)]
    for one in held[::2]:
        one.sendall(whole * 50)
    assert server.upload() == 202
    for place in range(1 + round(10 * at)):
        for one in held[1::2]:
            with contextlib.suppress(OSError):
                one.sendall(whole[place : place + 1])
        time.sleep(0.1)
    assert server.upload() == 202
    for one in held:
        one.close()


def jumping_clock(server: Attacked, at: float) -> None:
    for days in (400, -400, 0):
        assert server.upload() == 202
        server.clock.write_text(str(days * DAY))
        assert server.upload() == 202
        time.sleep(at / 3)
        server.check()


FAULTS = (
    full_disk, killed_worker, locked_queue, damaged_upload, damaged_answers, cut_bodies, slow_clients, jumping_clock,
)  # fmt: skip


@pytest.mark.skipif(not can_mount(), reason="nobody may mount a small disk here")
@pytest.mark.parametrize("rounds", [1, pytest.param(12, marks=pytest.mark.soak)])
def test_a_server_outlives_every_fault_with_all_that_it_acknowledged(tmp_path: Path, rounds: int):
    server, chance = Attacked(tmp_path), random.Random(rounds)
    try:
        for _ in range(rounds):
            for fault in FAULTS:
                server.waited = server.cpu = 0.0
                fault(server, chance.uniform(0.0, 4.0) if rounds > 1 else 0.0)
                server.check()
                print(
                    f"{fault.__name__}: {server.waited:.1f} s, {server.cpu:.1f} CPU-s, {server.memory:.0f} MB",
                    flush=True,
                )
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
