"""The web application: from an export to one's worst decisions in a browser; fifty uploads at once, pages meanwhile."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import psutil
from playwright.sync_api import sync_playwright

from benchmarks.measure import Figure, NotMeasured
from skilloscope.inputs.bundled import demo_file
from skilloscope.web.app import ServeOptions, serving

UPLOADS = 50
GAMES = 60
"""Of the job whose pages are asked for."""
PAGES = ("", "/players/1", "/games/1", "/event", "/compare")
MOST_SECONDS = 0.3
"""The 95th percentile of a page from the store, on two cores, while jobs run."""
MOST_MB = 2000.0


LARGE = 4_000_000
"""Bytes of each upload of the fifty whose memory is watched while they arrive."""
EXPORT = Path(__file__).resolve().parents[2] / "shared/data/players/lichess_one_user_rapid_clk.pgn"
EXPORTED = 30
"""Games of the export that a stranger brings."""
MOST_STRANGER = 60.0


def figures() -> Iterator[Figure | NotMeasured]:
    yield _stranger()
    yield from _load()
    yield from _large()


def _stranger() -> Figure | NotMeasured:
    """Return how long it takes from the click on Rate to one's own worst decisions, three clicks in all."""
    name = f"from an export of {EXPORTED} games to one's Elo and worst decisions, three clicks in a browser"
    chromium = shutil.which("chromium")
    if chromium is None or not EXPORT.is_file():
        return NotMeasured(name, "no Chromium" if chromium is None else f"no {EXPORT.name}")
    games = re.split(r"\n\n(?=\[Event )", EXPORT.read_text(encoding="utf-8"))[:EXPORTED]
    names = Counter(re.findall(r'^\[(?:White|Black) "(.*)"\]$', "\n".join(games), re.MULTILINE))
    own = names.most_common(1)[0][0]
    file = {"name": "export.pgn", "mimeType": "text/plain", "buffer": "\n\n".join(games).encode()}
    with (
        tempfile.TemporaryDirectory() as store,
        serving(ServeOptions(Path(store), port=0)) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.set_default_timeout(600_000)
        page.goto(server.address)
        page.set_input_files("#files", file)  # the first click
        page.select_option("#effort", "instant")
        start = time.perf_counter()
        page.click("button.go")
        page.click(f"table.ratings >> text={own}")
        page.wait_for_selector("#elo")
        page.wait_for_selector(".decisions li >> nth=9")
        taken = time.perf_counter() - start
        browser.close()
    return Figure(name, taken, "s", at_most=MOST_STRANGER)


def _large() -> Iterator[Figure]:
    """Fifty large uploads at once: what the server holds while they arrive; their work is not waited for."""
    text = _club(demo_file("game_of_the_century.pgn").read_bytes())
    text = (text * (LARGE // len(text) + 1))[:LARGE]
    with tempfile.TemporaryDirectory() as store, serving(ServeOptions(Path(store), port=0)) as server:
        watch, start = _Memory(every=0.05), time.perf_counter()
        with ThreadPoolExecutor(UPLOADS) as pool:
            names = list(pool.map(lambda _: _add(server.address, text), range(UPLOADS)))
        yield Figure(
            f"{UPLOADS} uploads of {LARGE / 1e6:.0f} MB at once, acknowledged", time.perf_counter() - start, "s"
        )
        known = sum(len(server.jobs.inputs(name)[0][1]) == LARGE for name in names)
        yield Figure("uploads lost", UPLOADS - known, "jobs", at_most=0)
        yield Figure("memory of server and workers meanwhile, at most", watch.end(), "MB", at_most=MOST_MB)


def _load() -> Iterator[Figure]:
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

    def __init__(self, every: float = 0.5) -> None:
        self._every, self._most, self._ended = every, 0.0, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def end(self) -> float:
        self._ended.set()
        self._thread.join()
        return self._most

    def _look(self) -> None:
        own = psutil.Process()
        while not self._ended.wait(self._every):
            total = 0
            for process in [own, *own.children(recursive=True)]:
                try:
                    total += process.memory_info().rss
                except psutil.Error:
                    continue
            self._most = max(self._most, total / 2**20)
