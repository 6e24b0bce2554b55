"""Worker processes: one for quick answers, one for searches, one for live games; each is replaced when it ends.

In: the queue. Out: reports of jobs, their progress, and their end. A worker hands each job as a JobTask to the function
for its kind. Work that is cancelled and does not notice in time, such as a long fit, ends with its process, which is
replaced. A worker also ends with the server, however that ends: it checks that its parent is there.
"""

import contextlib
import logging
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path

from skilloscope.web.jobs import LANES, RETRY_SECONDS, Job, Jobs, JobTask, disk_trouble, work_folder

_LOG = logging.getLogger(__name__)

IDLE_SECONDS = 0.1
PATIENCE = 3.0  # seconds that cancelled work has to end by itself before its process is ended
EXPIRY_SECONDS = 600.0  # between two looks for jobs that have been kept long enough
MOST_LIVE = 4  # how many feeds are followed at once

_PARENT_SECONDS = 0.5
_MAIN = "import sys; from skilloscope.web.workers import work_in_lane; work_in_lane(*sys.argv[1:])"


def work_of_job(job: Job) -> Callable[[JobTask], None]:
    """Return the function that does a job's work in its lane."""
    if job.kind == "games" and job.lane == "live":
        from skilloscope.web.library.import_job import import_job

        return import_job
    if job.kind == "games":
        from skilloscope.web.rated_games import rate_job_by_engine, rate_job_instantly

        return rate_job_by_engine if job.lane == "engine" else rate_job_instantly
    if job.kind in ("results", "decisions"):
        from skilloscope.web.rated_tables import rate_job_of_decisions, rate_job_of_results

        return rate_job_of_results if job.kind == "results" else rate_job_of_decisions
    if job.kind == "screening":
        from skilloscope.web.screen_job import screen_job

        return screen_job
    from skilloscope.web.live_job import follow_job

    return follow_job


class Workers:
    """The worker processes of a server, one for each lane."""

    def __init__(self, jobs: Jobs, store: str, *, private: bool = False) -> None:
        self._jobs, self._store, self._private = jobs, store, private
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._ended = threading.Event()
        self._next_expiry = 0.0
        self._epoch = time.time() - time.monotonic()  # a clock that jumps while we run makes nothing old
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        """Take back what an earlier server left, and keep a process for each lane."""
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
        with contextlib.suppress(sqlite3.Error):  # or the next server takes them back
            self._jobs.take_back()

    def _watch(self) -> None:
        """Tend to the lanes and to what has been kept long enough; whatever fails is tried again at the next look."""
        said: dict[object, str] = {}
        while not self._ended.is_set():
            for part in (None, *LANES):
                try:
                    self._tend(part) if part else self._expire()
                    said[part] = ""
                except Exception as error:
                    if str(error) != said.get(part):  # not twice a second
                        _LOG.warning("workers: %s", error, exc_info=disk_trouble(error) is None)
                    said[part] = str(error)
            self._ended.wait(_PARENT_SECONDS)

    def _expire(self) -> None:
        self._jobs.keep_reserve()  # of which a full disk has perhaps taken something
        if (now := time.monotonic()) > self._next_expiry:
            self._jobs.expire(self._epoch + now)
            self._next_expiry = now + EXPIRY_SECONDS

    def _tend(self, lane: str) -> None:
        """Replace the worker of a lane where it has ended, and take back what it was at."""
        process = self._running.get(lane)
        if process is None or process.poll() is not None:
            self._jobs.take_back([lane])
            self._running[lane] = self._spawn(lane)

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
    shutil.rmtree(work_folder(jobs, lane), ignore_errors=True)
    with ThreadPoolExecutor(MOST_LIVE if lane == "live" else 1) as pool:
        free = threading.Semaphore(MOST_LIVE if lane == "live" else 1)
        while True:
            free.acquire()
            while (job := _taken(jobs, lane)) is None:
                time.sleep(IDLE_SECONDS)
            done = pool.submit(JobTask(job, jobs, store).run, work_of_job(job))
            done.add_done_callback(lambda done: os._exit(1) if done.exception() else free.release())
            if lane != "live":  # several share that process, and each looks often
                _end_if_unwanted(jobs, job.id, done)


def _taken(jobs: Jobs, lane: str) -> Job | None:
    try:
        return jobs.take(lane)
    except sqlite3.Error:  # a full or locked disk, of which the server's log has been told
        time.sleep(RETRY_SECONDS)
        return None


def _end_if_unwanted(jobs: Jobs, name: str, done: Future[None]) -> None:
    """Wait for the end of some work; where it goes on long after it was cancelled, end this process."""
    unwanted = 0.0
    while not wait([done], PATIENCE / 6).done:
        with contextlib.suppress(sqlite3.Error):
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
