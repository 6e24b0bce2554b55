"""What the tests share: real data where they are at hand, an engine where there is one, the same examples every time.

`make test` draws the same examples on every run and every machine; `make soak` draws new ones (HYPOTHESIS_PROFILE).
Limits of time are for what never happens: a test waits for a condition, and only a fault lets a limit pass.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import hypothesis
import psutil
import pytest

from skilloscope.chess.engine import engine as engine_module
from skilloscope.chess.engine.engine import find_engine
from skilloscope.chess.pgn.text import PlainWork
from skilloscope.core.errors import EngineError
from skilloscope.inputs import deep

deep.DEEP = replace(deep.DEEP, nodes=20_000)  # a million nodes a position would take minutes
deep.FIRST_LOOK, deep.LINE = replace(deep.DEEP, nodes=10_000), replace(deep.LINE, nodes=2_000)
PlainWork.over = True  # tests are small: what they find out, they find out of compiled code; `plainly` is for its twin

Ends = Callable[[str], None]
ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 240.0
"""Seconds that a test waits for what is bound to happen, however busy the machine is."""

hypothesis.settings.register_profile("same", derandomize=True, deadline=None, database=None)
hypothesis.settings.register_profile("random", deadline=None, print_blob=True)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Let Ctrl-C end the session also where a command under test takes it for its own, as `live` does."""

    def end(_: int, frame: FrameType | None) -> None:
        session.shouldstop = "interrupted"
        raise KeyboardInterrupt

    # In the background a shell has it ignored, by all that the tests start as well: they are about what it does.
    if signal.getsignal(signal.SIGINT) in (signal.default_int_handler, signal.SIG_IGN):
        signal.signal(signal.SIGINT, end)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data beside the repository, which is not part of the project."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("../shared/data is absent")
    return folder


@pytest.fixture(scope="session")
def stockfish() -> Path:
    """A real engine."""
    try:
        return find_engine()
    except EngineError:
        pytest.skip("no Stockfish")


@pytest.fixture(autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep every test away from the user's own store and settings."""
    home = tmp_path_factory.mktemp("home")
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(home))
    for name in ("SKILLOSCOPE_CONFIG", "SKILLOSCOPE_ENGINE", "SKILLOSCOPE_DEPTH", "SKILLOSCOPE_PRIOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SKILLOSCOPE_STORE", str(home / "store"))


@pytest.fixture
def fake_engine(tmp_path: Path) -> Callable[[str], Path]:
    """Make an engine with the mishap that is asked for; tests/fake_engine.py knows which there are."""

    def make(mishap: str = "") -> Path:
        path = tmp_path / f"fake {mishap or 'sound'}"
        command = [sys.executable, str(ROOT / "tests" / "fake_engine.py"), mishap, str(tmp_path / "state")]
        path.write_text(f"#!/bin/sh\nexec {shlex.join(command)}\n")
        path.chmod(0o755)
        return path

    return make


@pytest.fixture
def impatient(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make an engine's silence end the waiting as soon as the engine says that it has fallen silent for ever."""

    class Poll:
        def __init__(self, process: subprocess.Popen[bytes], stop: int | None) -> None:
            self._real, self._sign = honest(process, stop), tmp_path / f"silent.{process.pid}"

        def poll(self, milliseconds: float) -> list[tuple[int, int]]:
            while not (ready := self._real.poll(20)) and not self._sign.exists():
                pass
            return ready

    honest = engine_module._poll
    monkeypatch.setattr(engine_module, "_poll", Poll)
    monkeypatch.setattr(engine_module, "_QUIT_SECONDS", 0.1)


@pytest.fixture(scope="session")
def living() -> Callable[[str], list[str]]:
    """Return the command lines that hold a text, of the processes that are alive; zombies are dead."""

    def find(text: str) -> list[str]:
        found = []
        for process in psutil.process_iter():
            try:
                line = " ".join(process.cmdline())
                if text in line and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(line)
            except psutil.Error:  # just ended, or somebody else's
                continue
        return found

    return find


@pytest.fixture(scope="session")
def wait_until() -> Callable[[Callable[[], object]], None]:
    """Wait until something has happened; a test in which it never does fails."""

    def wait(happened: Callable[[], object]) -> None:
        end = time.monotonic() + PATIENCE
        while not happened():
            assert time.monotonic() < end, "it does not happen"
            time.sleep(0.02)

    return wait


@pytest.fixture(scope="session")
def all_end(living: Callable[[str], list[str]], wait_until: Callable[[Callable[[], object]], None]) -> Ends:
    """Wait until no process is alive whose command line holds a text."""
    return lambda text: wait_until(lambda: not living(text))


@pytest.fixture(scope="session")
def chromium() -> str:
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("no Chromium")
    return found


@pytest.fixture(scope="module")  # while it is open, an event loop runs in this thread
def browser(chromium: str) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()
