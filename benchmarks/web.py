"""The web application under load: fifty uploads at once, and how fast pages answer while their jobs run."""

from __future__ import annotations

import json
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import psutil

from benchmarks.measure import Figure
from skilloscope.sources.shipped import demo_file
from skilloscope.web.app import ServeOptions, serving

UPLOADS = 50
GAMES = 60
"""Of the job whose pages are asked for."""
PAGES = ("", "/players/1", "/games/1", "/event", "/compare")
MOST_SECONDS = 0.3
"""The 95th percentile of a page from the store, on two cores, while jobs run."""
MOST_MB = 2000.0


def figures() -> Iterator[Figure]:
    text = demo_file("game_of_the_century.pgn").read_bytes()
    with tempfile.TemporaryDirectory() as store, serving(ServeOptions(Path(store), port=0)) as server:
        first = _add(server.address, _club(text))
        start = time.perf_counter()
        _wait(server.address, [first])
        yield Figure(f"one upload of {GAMES} games, worked out", time.perf_counter() - start, "s")
        start = time.perf_counter()
        with ThreadPoolExecutor(UPLOADS) as pool:
            names = list(pool.map(lambda _: _add(server.address, text), range(UPLOADS)))
        yield Figure(f"{UPLOADS} uploads at once, acknowledged", time.perf_counter() - start, "s")
        watch = _Memory()
        taken = [_page(server.address, first, at) for at in range(200)]
        running = sum(_state(server.address, name) in ("waiting", "running") for name in names)
        yield Figure("jobs that still ran after the pages were asked", running, "jobs", at_least=1)
        yield Figure("page from the store while jobs run, median", 1000 * float(np.median(taken)), "ms")
        slow = float(np.quantile(taken, 0.95))
        yield Figure(
            "page from the store while jobs run, 95th percentile", 1000 * slow, "ms", at_most=1000 * MOST_SECONDS
        )
        _wait(server.address, names)
        yield Figure(f"{UPLOADS} uploads worked out", time.perf_counter() - start, "s")
        done = sum(_state(server.address, name) == "done" for name in names)
        yield Figure("uploads lost", UPLOADS - done, "jobs", at_most=0)
        yield Figure("memory of server and workers, at most", watch.end(), "MB", at_most=MOST_MB)


def _club(text: bytes) -> bytes:
    """Return the game many times over, each of two other people: pages of it are as long as a club's."""
    game = text.decode()
    named = (
        game.replace("Byrne, Donald", f"White {at}").replace("Fischer, Robert James", f"Black {at}")
        for at in range(GAMES)
    )
    return "\n\n".join(named).encode()


def _add(address: str, text: bytes) -> str:
    request = urllib.request.Request(f"{address}/api/jobs?effort=instant", text, {"X-Skilloscope": "1"})
    with urllib.request.urlopen(request, timeout=120) as reply:
        return str(json.load(reply)["id"])


def _state(address: str, job: str) -> str:
    with urllib.request.urlopen(f"{address}/api/jobs/{job}", timeout=60) as reply:
        return str(json.load(reply)["state"])


def _page(address: str, job: str, at: int) -> float:
    start = time.perf_counter()
    with urllib.request.urlopen(f"{address}/jobs/{job}{PAGES[at % len(PAGES)]}", timeout=60) as reply:
        reply.read()
    return time.perf_counter() - start


def _wait(address: str, jobs: list[str]) -> None:
    for name in jobs:
        while _state(address, name) in ("waiting", "running"):
            time.sleep(0.5)


class _Memory:
    """The most that this process and its children hold, looked at now and then."""

    def __init__(self) -> None:
        self._most, self._ended = 0.0, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def end(self) -> float:
        self._ended.set()
        self._thread.join()
        return self._most

    def _look(self) -> None:
        own = psutil.Process()
        while not self._ended.wait(0.5):
            total = 0
            for process in [own, *own.children(recursive=True)]:
                try:
                    total += process.memory_info().rss
                except psutil.Error:
                    continue
            self._most = max(self._most, total / 2**20)
