"""The queue: what is acknowledged is kept, nobody works on the same job twice, and what was begun is begun again."""

from __future__ import annotations

import sqlite3
import threading
import time
from concurrent.futures import Future
from pathlib import Path

import pytest

from skilloscope.chess.human.model import Network
from skilloscope.core.errors import InputError, StoreError
from skilloscope.web import workers
from skilloscope.web.jobs import _ADDED, DAY, MOST_ATTEMPTS, BusyError, Jobs, NotFoundError
from skilloscope.web.pages import rendered
from skilloscope.web.uploads import MOST_WAITING, add_feed, add_upload
from web.conftest import ITALIAN, SLAV, do, pgn


@pytest.fixture
def jobs(tmp_path: Path) -> Jobs:
    return Jobs(tmp_path / "jobs.sqlite")


def test_what_is_acknowledged_is_on_disk(jobs):
    job = jobs.add("games", "x.pgn", [("x.pgn", b"1. e4")])
    again = Jobs(jobs.path)
    assert again[job.id].state == "waiting"
    assert again.inputs(job.id) == [("x.pgn", b"1. e4")]


def test_jobs_are_taken_in_turn_and_by_one_worker_only(jobs):
    made = [jobs.add("games", str(at), []).id for at in range(30)]
    taken: list[str] = []

    def take() -> None:
        own = Jobs(jobs.path)
        while (job := own.take("quick")) is not None:
            taken.append(job.id)
        own.close()

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == sorted(made)
    assert jobs.take("quick") is None


def test_a_search_does_not_keep_a_quick_answer_waiting(jobs):
    jobs.add("games", "long", [], lane="engine")
    quick = jobs.add("games", "short", [])
    taken = jobs.take("quick")
    assert taken is not None
    assert taken.id == quick.id


def test_a_job_whose_worker_ended_is_begun_again_but_not_for_ever(jobs):
    name = jobs.add("games", "x", []).id
    for _ in range(MOST_ATTEMPTS - 1):
        assert jobs.take("quick") is not None
        jobs.take_back(["engine"])
        assert jobs[name].state == "running"
        jobs.take_back()
        assert jobs[name].state == "waiting"
    jobs.take("quick")
    jobs.take_back()
    assert jobs[name].state == "failed"
    assert "several times" in jobs[name].error
    jobs.resume(name)
    assert jobs.take("quick") is not None


def test_cancelling_and_going_on(jobs):
    name = jobs.add("games", "x", []).id
    jobs.cancel(name)
    assert jobs[name].state == "cancelled"
    assert jobs.take("quick") is None
    jobs.resume(name)
    jobs.take("quick")
    jobs.cancel(name)
    assert (jobs[name].state, jobs[name].cancel) == ("running", True)
    assert jobs.unwanted(name)
    jobs.take_back()
    assert jobs[name].state == "cancelled"


def test_a_deleted_job_leaves_nothing(jobs):
    job = jobs.add("games", "x", [("x", b"secret")])
    jobs.put(job.id, {"ratings": {"a": 1}})
    jobs.delete(job.id)
    assert jobs.unwanted(job.id)
    with pytest.raises(NotFoundError, match="no such job"):
        jobs[job.id]
    with sqlite3.connect(jobs.path) as base:
        for table in ("jobs", "inputs", "reports"):
            assert base.execute(f"SELECT COUNT(*) FROM {table}").fetchone() == (0,)
    base.close()


def test_what_has_ended_is_kept_for_some_days_and_what_has_not_for_ever(tmp_path):
    jobs = Jobs(tmp_path / "jobs.sqlite", keep_days=30)
    made = {state: jobs.add("games", state, [("x", b"1. e4")]).id for state in ("done", "failed", "running", "waiting")}
    made["cancelled"] = jobs.add("games", "cancelled", []).id
    jobs.advance(made["running"], state="running")
    jobs.end(made["done"], "done")
    jobs.end(made["failed"], "failed")
    jobs.cancel(made["cancelled"])
    now = time.time()
    assert jobs[made["done"]].expires == pytest.approx(now + 30 * DAY, abs=600)
    assert jobs[made["running"]].expires is None
    assert jobs.expire(now + 29 * DAY) == 0
    assert jobs.expire(now + 31 * DAY) == 3
    assert jobs.counts() == {"running": 1, "waiting": 1}
    assert jobs.inputs(made["done"]) == []


def test_who_goes_on_with_a_job_keeps_it_and_a_server_may_keep_all(tmp_path):
    jobs = Jobs(tmp_path / "jobs.sqlite", keep_days=1)
    name = jobs.add("games", "x", []).id
    jobs.end(name, "failed")
    for_ever = Jobs(jobs.path)
    assert for_ever.expire(time.time() + 1000 * DAY) == 0
    assert for_ever[name].expires is None
    jobs.resume(name)
    assert jobs.expire(time.time() + 1000 * DAY) == 0
    assert jobs[name].state == "waiting"


def test_jobs_that_did_not_say_when_they_ended_are_kept_from_now_on(tmp_path):
    jobs = Jobs(tmp_path / "jobs.sqlite")
    name = jobs.add("games", "x", []).id
    jobs.end(name, "done")
    jobs.close()
    with sqlite3.connect(tmp_path / "jobs.sqlite") as base:
        for table, column in _ADDED:
            base.execute(f"ALTER TABLE {table} DROP COLUMN {column.split()[0]}")
        base.execute("PRAGMA user_version = 1")
    base.close()
    again = Jobs(tmp_path / "jobs.sqlite", keep_days=2)
    assert again.expire() == 0
    assert again[name].expires == pytest.approx(time.time() + 2 * DAY, abs=600)


def test_ids_cannot_be_guessed(jobs):
    names = {jobs.add("games", "x", []).id for _ in range(50)}
    assert len(names) == 50
    assert min(len(name) for name in names) >= 22


def test_jobs_of_another_version_are_refused(tmp_path):
    path = tmp_path / "jobs.sqlite"
    base = sqlite3.connect(path)
    base.execute("PRAGMA user_version = 99")
    base.close()
    with pytest.raises(StoreError, match="another version"):
        Jobs(path)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ([("empty.pgn", b" \n")], "nothing in it"),
        ([("games.pgn.gz", b"\x1f\x8b\x08rest")], "packed"),
        ([("games.zip", b"PK\x03\x04rest")], "packed"),
        ([("picture", b"\x89PNG\x00\x00")], "packed, or no text"),
    ],
)
def test_what_is_no_text_is_refused(jobs, files, said):
    with pytest.raises(InputError, match=said):
        add_upload(jobs, "games", files, owner="me")
    assert jobs.counts() == {}


def test_too_many_waiting_jobs_are_refused_and_say_so(jobs, monkeypatch):
    monkeypatch.setattr("skilloscope.web.uploads.MOST_WAITING", 2)
    for _ in range(2):
        add_upload(jobs, "games", [("x", b"1. e4")], owner="me")
    with pytest.raises(BusyError, match="waiting already"):
        add_upload(jobs, "games", [("x", b"1. e4")], owner="me")
    assert MOST_WAITING >= 100


def test_two_uploads_of_the_same_name_stay_apart(jobs):
    job = add_upload(jobs, "games", [("a/games.pgn", b"x"), ("b\\games.pgn", b"y")], owner="me")
    assert jobs.inputs(job.id) == [("games.pgn", b"x"), ("2 games.pgn", b"y")]
    assert job.title == "games.pgn and 1 more"


@pytest.mark.parametrize("address", ["file:///etc/passwd", "ftp://x/y", "gopher://x", "//x", "http://", "https:// x"])
def test_only_addresses_of_the_web_are_followed(jobs, address):
    with pytest.raises(InputError, match="not a web address"):
        add_feed(jobs, address, owner="me")


def test_a_cancelled_job_ends_where_it_tells_how_far_it_is(jobs, tmp_path, monkeypatch):
    job = add_upload(jobs, "games", [("x.pgn", pgn("Ann", "Ben").encode())], owner="me")
    told = Jobs.advance

    def cancel_then_tell(self, name, **fields):
        self.cancel(name)
        return told(self, name, **fields)

    monkeypatch.setattr(Jobs, "advance", cancel_then_tell)
    assert do(jobs, job, tmp_path).state == "cancelled"


def test_a_cancelled_job_ends_between_two_batches_of_positions(jobs, tmp_path, monkeypatch):
    text = "".join(pgn(f"P{at}", f"Q{at}", (ITALIAN, SLAV)[at % 2]) for at in range(8))
    job = add_upload(jobs, "games", [("x.pgn", text.encode())], owner="me", options={"effort": "instant"})
    asked, ask = [], Network.maps

    def cancel_then_ask(self, planes, pool):
        asked.append(len(planes))
        jobs.cancel(job.id)
        return ask(self, planes, pool)

    monkeypatch.setattr(Network, "maps", cancel_then_ask)
    monkeypatch.setattr("skilloscope.web.jobs._EVERY", -1.0)
    assert do(jobs, job, tmp_path).state == "cancelled"
    assert len(asked) <= 1
    assert jobs.report(job.id, "ratings") is None
    assert not list((tmp_path / "work").glob("*/*"))


def test_work_that_goes_on_long_after_it_was_cancelled_ends_with_its_process(jobs, monkeypatch):
    ended, never = [], Future()
    monkeypatch.setattr(workers, "PATIENCE", 0.06)
    monkeypatch.setattr(workers.os, "_exit", lambda code: (ended.append(code), never.set_result(None)))
    name = jobs.add("results", "x", []).id
    jobs.take("quick")
    jobs.cancel(name)
    workers._end_if_unwanted(jobs, name, never)
    assert ended == [1]
    jobs.take_back(["quick"])  # as the server does when a worker has ended
    assert jobs[name].state == "cancelled"


def test_an_unforeseen_fault_fails_the_job_alone_and_is_told_without_its_text(jobs, tmp_path, monkeypatch):
    def broken(task):
        raise RuntimeError("/secret/path")

    monkeypatch.setattr("web.conftest.work_of_job", lambda job: broken)
    job = do(jobs, add_upload(jobs, "games", [("x.pgn", b"1. e4")], owner="me"), tmp_path)
    assert job.state == "failed"
    assert "unexpected" in job.error
    assert "/secret" not in rendered("_progress.html", job=job, token="")
