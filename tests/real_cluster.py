"""A cluster of real processes on this machine, for the tests that need one: a scheduler and workers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 240.0
"""Seconds in which a cluster does what it is bound to do, however busy the machine is."""
MARK = "SKILLOSCOPE_TEST_CLUSTER"


@dataclass
class Cluster:
    """A scheduler and its workers as processes; all that they start carries a mark in its environment."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    protocol: str = "tcp"
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def __enter__(self) -> Cluster:
        self.folder.mkdir(exist_ok=True)
        self.scheduler = self._dask(
            "scheduler", "--port", "0", "--protocol", self.protocol, "--scheduler-file", str(self._file)
        )
        wait_until(lambda: self._file.exists() and self._file.stat().st_size > 0)
        return self

    def __exit__(self, *_: object) -> None:
        # The workers first: one that is told to end by a signal and by its scheduler at once may never end.
        for group in (self.workers, [self.scheduler]):
            for process in group:
                process.terminate()
            for process in group:
                process.wait(PATIENCE)

    @property
    def address(self) -> str:
        return json.loads(self._file.read_text())["address"]

    def start_worker(self, **environment: object) -> subprocess.Popen[bytes]:
        quiet = ["--no-nanny", "--local-directory", str(self.folder), "--death-timeout", "300"]
        process = self._dask("worker", self.address, "--nthreads", "1", *quiet, **environment)
        self.workers.append(process)
        return process

    def start_workers(self, count: int) -> None:
        """Start so many workers."""
        for _ in range(count):
            self.start_worker()

    def with_workers(self, count: int) -> Cluster:
        """Start so many workers and wait until they are there."""
        from distributed import Client

        self.start_workers(count)
        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(count, timeout=PATIENCE)
        return self

    def engines(self, program: Path | None = None) -> list[psutil.Process]:
        """Return what the workers have started and is alive: all of it, or what runs this program."""
        own = {process.pid for process in [*self.workers, self.scheduler]}
        others = [process for process in marked(self.mark) if process.pid not in own]
        return others if program is None else [process for process in others if runs(process, program)]

    @property
    def _file(self) -> Path:
        return self.folder / "scheduler.json"

    def _dask(self, *arguments: str, **environment: object) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", *arguments, "--host", "127.0.0.1", "--no-dashboard"]
        command += ["--preload", str(ROOT / "tests" / "end_with_parent.py")]
        settings = {MARK: self.mark, "SKILLOSCOPE_TEST_PARENT": str(os.getpid()), **self.environment} | {
            name: str(value) for name, value in environment.items()
        }
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(command, env=os.environ | settings, stdout=log, stderr=log)


def marked(mark: str) -> list[psutil.Process]:
    """Return the living processes with the mark."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:  # of another user, or just ended
            continue
    return found


def runs(process: psutil.Process, program: Path) -> bool:
    try:
        return process.cmdline()[:1] == [str(program)]
    except psutil.Error:
        return False


def wait_until(happened: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.02)
