"""What is compiled, and when; the folder for it where others may write too: ours alone, or a fresh one."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from skilloscope.chess.pgn.text import PlainWork
from skilloscope.core import compiled
from skilloscope.core.compiled import cache_folder

# Runs a command and says last which of our functions were compiled, a line for every kind of arguments.
COMPILED = """
import atexit, sys
from numba.core import event
names = []
class Listener(event.Listener):
    def on_start(self, event):
        function = event.data["dispatcher"].py_func
        names.append(f"compiled {function.__module__} {function.__qualname__}")
    def on_end(self, event):
        pass
event.register("numba:compile", Listener())
atexit.register(lambda: print(*(name for name in names if " skilloscope." in name), sep="\\n"))
from skilloscope.cli.app import main
sys.argv = ["skilloscope", *sys.argv[1:]]
main()
"""


def usual(base: Path) -> Path:
    return base / f"skilloscope-{os.getuid()}"


def is_private(folder: Path) -> bool:
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and stat.S_IMODE(found.st_mode) == 0o700


def test_plain_code_does_a_little_work_and_then_no_more(monkeypatch):
    monkeypatch.setattr(PlainWork, "over", False)
    work = PlainWork(100)
    assert [work.covers(40), work.covers(40), work.covers(40), work.covers(0)] == [True, True, False, False]
    assert not PlainWork(100).covers(100)
    monkeypatch.setattr(PlainWork, "over", True)
    assert not PlainWork(100).covers(0)


def test_the_first_demo_compiles_the_human_model_and_the_curves_and_each_function_once(tmp_path):
    environment = {"NUMBA_CACHE_DIR": str(tmp_path / "empty"), "STOCKFISH_EXECUTABLE": "/nowhere/engine"}
    run = subprocess.run(
        [sys.executable, "-c", COMPILED, "demo"],
        env=os.environ | environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    found = [line.split()[1:] for line in run.stdout.splitlines() if line.startswith("compiled ")]
    assert {module.removeprefix("skilloscope.") for module, _ in found} == {
        "chess.boards",
        "chess.human.model",
        "chess.pgn.positions",
        "chess.rules",
        "models.kernels.choices",
    }
    assert len({tuple(one) for one in found}) == len(found) <= 20


def test_the_usual_folder_is_made_private_and_used_again(tmp_path):
    assert cache_folder(tmp_path) == usual(tmp_path) == cache_folder(tmp_path)
    assert is_private(usual(tmp_path))


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o750, 0o701])
def test_a_folder_that_others_may_enter_is_not_used(tmp_path, mode):
    usual(tmp_path).mkdir()
    usual(tmp_path).chmod(mode)
    fresh = cache_folder(tmp_path)
    assert fresh != usual(tmp_path)
    assert is_private(fresh)


def test_a_link_to_elsewhere_and_a_file_are_not_used(tmp_path):
    (tmp_path / "theirs").mkdir(mode=0o700)
    usual(tmp_path).symlink_to(tmp_path / "theirs")
    assert is_private(fresh := cache_folder(tmp_path))
    assert fresh != usual(tmp_path)
    usual(tmp_path).unlink()
    usual(tmp_path).write_text("planted")
    assert cache_folder(tmp_path) != usual(tmp_path)


def test_a_folder_of_somebody_else_is_not_used(tmp_path, monkeypatch):
    usual(tmp_path).mkdir(mode=0o700)
    mine = os.getuid()
    monkeypatch.setattr(compiled.os, "getuid", lambda: mine + 1)
    usual(tmp_path).mkdir(mode=0o700)  # planted under the name that we would use, by whom we are not
    assert cache_folder(tmp_path) != usual(tmp_path)


def test_where_neither_package_nor_home_can_be_written_numba_gets_that_folder(tmp_path):
    usual(tmp_path).mkdir()
    usual(tmp_path).chmod(0o777)
    code = (
        "import os; os.access = lambda *_: False\n"
        "from skilloscope.core import compiled\n"
        "print(os.environ['NUMBA_CACHE_DIR'])"
    )
    environment = {name: text for name, text in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    run = subprocess.run(
        [sys.executable, "-c", code],
        env=environment | {"TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    folder = Path(run.stdout.strip())
    assert folder.parent == tmp_path
    assert folder != usual(tmp_path)
    assert is_private(folder)
