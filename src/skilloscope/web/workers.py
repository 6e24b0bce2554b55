"""Worker processes: one for quick answers, one for searches, one for live games; each is replaced when it ends.

In: the queue. Out: reports of jobs, their progress, and their end. A worker hands a job as a JobTask to the project's
own functions, which tell it how far they are; where somebody has cancelled the job, telling raises, and the work ends
there with what it has kept. Work that tells nothing for long, as a fit, ends with its process, which is replaced. A
worker ends with the server, however that ends: it looks whether its parent is there.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skilloscope.core.errors import SkilloscopeError
from skilloscope.web.jobs import LANES, Job, Jobs

IDLE_SECONDS = 0.1
PATIENCE = 3.0
"""Seconds in which work that is not wanted any more may end by itself; then its process is ended."""
EXPIRY_SECONDS = 600.0
"""Between two looks for jobs that have been kept long enough."""
MOST_LIVE = 4
"""How many feeds are followed at once."""

_LOG = logging.getLogger(__name__)
_EVERY = 0.2  # seconds between two notes of progress
_PARENT_SECONDS = 0.5
_MAIN = "import sys; from skilloscope.web.workers import work_in_lane; work_in_lane(*sys.argv[1:])"


class JobCancelled(Exception):
    """Somebody has cancelled the job, or deleted it."""


@dataclass
class JobTask:
    """A job in a worker's hands."""

    job: Job
    jobs: Jobs
    store: str
    """The folder of the store of analyses."""
    _told: float = field(default=0.0)
    _looked: float = field(default=0.0)
    _lane: str = ""

    def inputs(self) -> list[tuple[str, bytes]]:
        """Return what was uploaded."""
        return self.jobs.inputs(self.job.id)

    @contextlib.contextmanager
    def folder(self) -> Iterator[Path]:
        """Give an empty folder for as long as the work lasts; what a killed worker leaves its successor removes."""
        place = _work_folder(self.jobs, self.job.lane)
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place) as found:
            yield Path(found)

    def report(self, name: str) -> Any:
        """Return what was kept under a name."""
        return self.jobs.report(self.job.id, name)

    def keep(self, reports: Mapping[str, Any]) -> None:
        """Keep reports; what was kept stays, whatever happens after."""
        self.check()
        self.jobs.put(self.job.id, reports)

    def tell(self, stage: str, done: int | None = None, total: int | None = None, note: str = "") -> None:
        """Say how far the work is, now and then; raise where it is not wanted any more."""
        now = time.monotonic()
        if now - self._told < _EVERY and done != total:
            return
        self._told = now
        counts = {} if done is None else {"done": done, "total": total}
        if self.jobs.advance(self.job.id, stage=stage, note=note, **counts):
            raise JobCancelled

    def check(self) -> None:
        """Raise where the work is not wanted any more."""
        if self.jobs.unwanted(self.job.id):
            raise JobCancelled

    def look(self) -> None:
        """Raise where the work is not wanted any more, looking now and then: may be called all the time."""
        now = time.monotonic()
        if now - self._looked > _EVERY:
            self._looked = now
            self.check()

    def go_on_in(self, lane: str) -> None:
        """Let the job wait in another lane when this task is done."""
        self._lane = lane

    def run(self, work: Callable[[JobTask], None]) -> None:
        """Do the work, and say how it ended."""
        name = self.job.id
        try:
            work(self)
        except JobCancelled:
            self.jobs.end(name, "cancelled")
        except SkilloscopeError as error:
            self.jobs.end(name, "failed", error=str(error), hint=error.hint)
        except Exception:
            _LOG.exception("job of kind %s", self.job.kind)
            self.jobs.end(
                name, "failed", error="something unforeseen happened", hint="the fault is ours; the log has more"
            )
        else:
            if self._lane:
                self.jobs.advance(name, lane=self._lane, state="waiting", attempts=0, done=0, total=0, note="")
            else:
                self.jobs.end(name, "done")


def work_of_job(job: Job) -> Callable[[JobTask], None]:
    """Return the function that does a job's work in its lane."""
    if job.kind == "games":
        from skilloscope.web.rated_games import rate_job_by_engine, rate_job_instantly

        return rate_job_by_engine if job.lane == "engine" else rate_job_instantly
    if job.kind == "results":
        from skilloscope.web.rated_tables import rate_job_of_results

        return rate_job_of_results
    if job.kind == "decisions":
        from skilloscope.web.rated_tables import rate_job_of_decisions

        return rate_job_of_decisions
    from skilloscope.web.followed import follow_job

    return follow_job


class Workers:
    """The worker processes of a server, one for each lane."""

    def __init__(self, jobs: Jobs, store: str, *, private: bool = False) -> None:
        self._jobs, self._store, self._private = jobs, store, private
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        """Take back what an earlier server left, and start a process for each lane."""
        self._jobs.take_back()
        self._thread.start()

    def close(self) -> None:
        """End all workers; what they were at waits for the next server."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()
        for process in self._running.values():
            process.kill()
        for process in self._running.values():
            process.wait()
        self._jobs.take_back()

    def _watch(self) -> None:
        looked = -EXPIRY_SECONDS
        while not self._ended.is_set():
            if time.monotonic() - looked > EXPIRY_SECONDS:
                looked = time.monotonic()
                self._jobs.expire()
            for lane in LANES:
                process = self._running.get(lane)
                if process is None or process.poll() is not None:
                    if process is not None:
                        self._jobs.take_back([lane])
                    self._running[lane] = self._spawn(lane)
            self._ended.wait(_PARENT_SECONDS)

    def _spawn(self, lane: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", _MAIN, lane, str(self._jobs.path), self._store]
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
        environment = {**os.environ, **threads, "SKILLOSCOPE_PARENT": str(os.getpid())}
        if self._private:
            environment["SKILLOSCOPE_PRIVATE_FEEDS"] = "1"
        return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL)


def work_in_lane(lane: str, path: str, store: str) -> None:
    """Do the jobs of a lane, one after another (live ones side by side), until the parent is gone."""
    _end_with_parent()
    if lane != "live":  # pages come first: a search may take its time
        os.nice(5 if lane == "quick" else 10)
    if lane == "quick":
        import skilloscope.web.rated_games  # noqa: F401  # before somebody waits for it
    jobs = Jobs(Path(path))
    shutil.rmtree(_work_folder(jobs, lane), ignore_errors=True)
    with ThreadPoolExecutor(MOST_LIVE if lane == "live" else 1) as pool:
        free = threading.Semaphore(MOST_LIVE if lane == "live" else 1)
        while True:
            free.acquire()
            job = jobs.take(lane)
            while job is None:
                time.sleep(IDLE_SECONDS)
                job = jobs.take(lane)
            done = pool.submit(JobTask(job, jobs, store).run, work_of_job(job))
            done.add_done_callback(lambda _: free.release())
            if lane != "live":  # several share that process, and each looks often
                _end_if_unwanted(jobs, job.id, done)


def _work_folder(jobs: Jobs, lane: str) -> Path:
    return jobs.path.parent / "work" / lane


def _end_if_unwanted(jobs: Jobs, name: str, done: Future[None]) -> None:
    """Wait for the end of some work; where it goes on long after somebody cancelled it, end this process."""
    unwanted = 0.0
    while not wait([done], PATIENCE / 6).done:
        unwanted = unwanted + PATIENCE / 6 if jobs.unwanted(name) else 0.0
        if unwanted > PATIENCE:
            os._exit(1)


def _end_with_parent() -> None:
    parent = int(os.environ.get("SKILLOSCOPE_PARENT", "0"))

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_PARENT_SECONDS)
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()
