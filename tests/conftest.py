"""What the tests share: real data where they are at hand, an engine where there is one."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from skilloscope.chess.engine.engine import find_engine
from skilloscope.core.errors import EngineError

ROOT = Path(__file__).resolve().parent.parent


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


@pytest.fixture(scope="session")
def all_end_within() -> Callable[[str, float], bool]:
    """Tell whether, after so many seconds, no process is alive whose command line holds a text; zombies are dead."""

    def living(text: str) -> list[str]:
        found = []
        for process in psutil.process_iter():
            try:
                line = " ".join(process.cmdline())
                if text in line and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(line)
            except psutil.Error:  # just ended, or somebody else's
                continue
        return found

    def wait(text: str, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while alive := living(text):
            if time.monotonic() > deadline:
                print("alive:", *alive, sep="\n")
                return False
            time.sleep(0.02)
        return True

    return wait
