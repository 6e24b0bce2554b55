"""No engine outlives the process that asked for it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from skilloscope.chess.engine import engine as engine_module
from skilloscope.chess.engine.engine import Engine
from skilloscope.chess.engine.settings import Settings
from skilloscope.core.errors import EngineError

SHALLOW = Settings(depth=2, multipv=3)
Fake = Callable[..., Path]
Ends = Callable[[str], None]
Living = Callable[[str], list[str]]
Waits = Callable[[Callable[[], object]], None]

HOLD = """
import sys, time
from skilloscope.chess.engine import engine as engine_module
from skilloscope.chess.engine.engine import Engine
from skilloscope.chess.engine.settings import Settings
{before}
engine = Engine(sys.argv[1], Settings(depth=2, multipv=3))
print("ready", flush=True)
{after}
"""


@contextlib.contextmanager
def hold(engine: Path, *, before: str = "", after: str = "time.sleep(300)") -> Iterator[subprocess.Popen[str]]:
    """Start a process that starts an engine and holds it, and wait for its end; a test that fails ends it."""
    script = HOLD.format(before=before, after=after)
    with subprocess.Popen([sys.executable, "-c", script, str(engine)], stdout=subprocess.PIPE, text=True) as parent:
        try:
            yield parent
        except BaseException:
            parent.kill()
            raise


@pytest.mark.parametrize("mishap", ["", "does not quit", "hang"])
def test_an_engine_ends_when_its_parent_is_killed(
    fake_engine: Fake, living: Living, all_end: Ends, mishap: str
) -> None:
    engine = fake_engine(mishap)
    after = "engine.analyse('7k/8/8/8/8/8/6R1/5R1K w - - 0 1'); time.sleep(300)"
    with hold(engine, after=after) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "ready\n"
        assert living(str(engine))
        parent.kill()
    all_end(str(engine.parent))


def test_a_real_engine_ends_in_the_middle_of_a_search(
    stockfish: Path, tmp_path: Path, living: Living, all_end: Ends
) -> None:
    engine = tmp_path / "stockfish"
    engine.symlink_to(stockfish)
    after = "engine.settings = Settings(depth=60); engine.analyse('4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1')"
    with hold(engine, after=after) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        time.sleep(0.2)  # usually enough to be in the middle of it
        assert living(str(engine))
        parent.kill()
    all_end(str(engine))


def test_an_engine_ends_where_a_copy_of_the_parent_lives_on(fake_engine: Fake, all_end: Ends) -> None:
    engine = fake_engine("does not quit")
    fork = "import os\ncopy = os.fork()\nif copy: print(copy, flush=True); os._exit(0)\ntime.sleep(300)"
    with hold(engine, after=fork) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "ready\n"
        copy = int(parent.stdout.readline())
    try:
        all_end(str(engine.parent / "state"))
        assert psutil.pid_exists(copy)
    finally:
        os.kill(copy, signal.SIGKILL)


@pytest.mark.parametrize("delay", [0.0, 0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1])
def test_there_is_no_moment_at_which_a_kill_leaves_an_engine(fake_engine: Fake, all_end: Ends, delay: float) -> None:
    engine = fake_engine("does not quit")
    with hold(engine, before="print('now', flush=True)") as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "now\n"
        time.sleep(delay)
        parent.kill()
    all_end(str(engine.parent))


def test_a_killed_guard_does_not_leave_its_engine(fake_engine: Fake, all_end: Ends) -> None:
    path = fake_engine("does not quit")
    with Engine(path, SHALLOW) as engine:
        os.kill(engine._process.pid, signal.SIGKILL)
    all_end(str(path.parent))


def test_an_engine_in_a_script_ends_with_the_script(fake_engine: Fake, tmp_path: Path, all_end: Ends) -> None:
    script = tmp_path / "wrapped"
    script.write_text(f"#!/bin/sh\n'{fake_engine('does not quit')}'\nexit 5\n")
    script.chmod(0o755)
    with hold(script) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        parent.kill()
    all_end(str(tmp_path))


@pytest.mark.parametrize("own", ["os.setpgid(0, 0)", "os.setsid()"])
@pytest.mark.parametrize("killed", [True, False])
def test_what_an_engine_has_started_in_a_group_of_its_own_ends_too(
    fake_engine: Fake, tmp_path: Path, living: Living, all_end: Ends, wait_until: Waits, own: str, killed: bool
) -> None:
    """Not even where the engine has ended in good order before: the guard adopts what it leaves."""
    (tmp_path / "started.py").write_text(
        f"import os, time\n{own}\nopen({str(tmp_path / 'sign')!r}, 'w')\ntime.sleep(300)"
    )
    script = tmp_path / "starter"
    mishap = "does not quit" if killed else ""
    command = f"'{sys.executable}' '{tmp_path / 'started.py'}' </dev/null >/dev/null 2>&1 &"
    script.write_text(f"#!/bin/sh\n{command}\n'{fake_engine(mishap)}'\n")
    script.chmod(0o755)
    if killed:
        with hold(script) as parent:
            assert parent.stdout is not None
            parent.stdout.readline()
            wait_until((tmp_path / "sign").exists)
            parent.kill()
    else:
        with Engine(script, SHALLOW):
            wait_until((tmp_path / "sign").exists)
            assert living("started.py")
    all_end(str(tmp_path))


def test_a_file_that_is_no_program_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "letter"
    path.write_text("Dear engine,")
    for mode, said in ((0o755, "Exec format error"), (0o644, "Permission denied")):
        path.chmod(mode)
        with pytest.raises(EngineError, match=f"cannot be started: {said}") as caught:
            Engine(path, SHALLOW)
        assert caught.value.hint


def test_a_program_that_ended_before_it_was_asked_still_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "letter"
    path.write_text("Dear engine,")
    path.chmod(0o755)
    started = engine_module._start

    def late(path: Path) -> tuple[subprocess.Popen[bytes], int]:
        process, lifeline = started(path)
        process.wait()
        return process, lifeline

    monkeypatch.setattr(engine_module, "_start", late)
    with pytest.raises(EngineError, match="cannot be started: Exec format error"):
        Engine(path, SHALLOW)


def test_a_broken_pipe_can_end_an_engine(tmp_path: Path) -> None:
    """Python ignores SIGPIPE; an engine that inherited that would write on and on."""
    path = tmp_path / "writer"
    path.write_text("#!/bin/sh\nkill -PIPE $$\nsleep 300\n")
    path.chmod(0o755)
    with pytest.raises(EngineError, match=r"exit status 141"):
        Engine(path, SHALLOW)
