"""`doctor --fix`: what is missing is named with its command, and only what needs no password is run."""

from __future__ import annotations

import sys

import pytest

from skilloscope.studies.installation import EXTRAS, Missing, fixed, missing_parts

ALL = dict.fromkeys(EXTRAS, "1.0")


@pytest.fixture(autouse=True)
def plain_surroundings(monkeypatch):
    monkeypatch.delenv("STOCKFISH_EXECUTABLE", raising=False)
    monkeypatch.setattr("shellingham.detect_shell", lambda: ("dash", "/bin/dash"))


def test_nothing_is_missing_where_all_is_there():
    assert missing_parts(True, True, ALL) == []


def test_what_is_missing_has_a_command_each():
    parts = missing_parts(False, False, dict.fromkeys(EXTRAS))
    assert [part.name for part in parts] == [
        "engine",
        "human model",
        *(f"extra {name}" for name in sorted({*EXTRAS.values()})),
    ]
    assert all(part.command for part in parts)


@pytest.mark.parametrize(("uid", "allowed", "first"), [(0, True, "apt-get"), (1000, False, "sudo")])
def test_the_engine_is_installed_only_where_nobody_is_asked(monkeypatch, uid, allowed, first):
    monkeypatch.setattr("shutil.which", lambda name: "/usr/bin/apt-get" if name == "apt-get" else None)
    monkeypatch.setattr("os.geteuid", lambda: uid)
    (engine,) = missing_parts(False, True, ALL)
    assert (engine.allowed, engine.arguments[0]) == (allowed, first)


def test_an_engine_that_is_named_wrongly_is_not_installed_but_named_anew(monkeypatch):
    (engine,) = missing_parts(False, True, ALL, "/nowhere")
    assert (engine.allowed, engine.arguments[-2:]) == (False, ("--engine", "PATH"))
    monkeypatch.setenv("STOCKFISH_EXECUTABLE", "/nowhere")
    (engine,) = missing_parts(False, True, ALL)
    assert (engine.allowed, engine.command) == (False, "unset STOCKFISH_EXECUTABLE")


def test_completion_is_missing_until_the_shell_has_it(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("shellingham.detect_shell", lambda: ("zsh", "/usr/bin/zsh"))
    (completion,) = missing_parts(True, True, ALL)
    assert (completion.name, completion.allowed) == ("completion", True)
    assert completion.arguments[-1] == "--install-completion"
    (tmp_path / ".zfunc").mkdir()
    (tmp_path / ".zfunc" / "_skilloscope").touch()
    assert missing_parts(True, True, ALL) == []


def test_only_what_is_allowed_is_run_and_a_failure_is_said(tmp_path):
    mark = tmp_path / "ran"
    touch = (sys.executable, "-c", f"open({str(mark)!r}, 'w')")
    lines = fixed(
        [
            Missing("a", "", touch, allowed=True),
            Missing("b", "", (sys.executable, "-c", "import sys; sys.exit('no such thing')"), allowed=True),
            Missing("c", "", (sys.executable, "-c", "open('/never', 'w')"), allowed=False),
            Missing("d", "", ("/nowhere/at/all",), allowed=True),
        ]
    )
    assert mark.exists()
    assert lines[0] == "a: installed"
    assert "no such thing" in lines[1]
    assert lines[2].startswith("c: run `")
    assert "failed" in lines[3]
