"""What the tests share does what it says: Ctrl-C ends the session, and examples are the same every time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import hypothesis
import pytest

CONFTEST = Path(__file__).resolve().parents[1] / "conftest.py"

SWALLOW = """
import contextlib, os, pathlib, signal

def test_that_takes_an_interrupt_for_its_own():
    with contextlib.suppress(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)

def test_that_must_not_run_any_more():
    pathlib.Path("ran").touch()
"""


def test_an_interrupt_that_a_test_swallows_ends_the_session(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST.read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "test_swallow.py").write_text(SWALLOW)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == pytest.ExitCode.INTERRUPTED, done.stdout + done.stderr
    assert not (tmp_path / "ran").exists()


@pytest.mark.skipif("HYPOTHESIS_PROFILE" in os.environ, reason="`make soak` draws new examples")
def test_the_examples_are_the_same_every_time() -> None:
    assert hypothesis.settings().derandomize
    assert hypothesis.settings().deadline is None
