"""Backgammon from match files through a real GNU Backgammon: every legal play valued, the choice found among them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from skilloscope.cli.app import app
from skilloscope.core.errors import EngineError, InputError
from skilloscope.decision.domains import backgammon
from skilloscope.decision.domains.backgammon import GNUBG_LISTED, find_gnubg, read_gnubg
from skilloscope.decision.text import read_decisions

MATCH = """ 3 point match

 Game 1
 Ann; : 0                             Bob : 0
  1) 31: 8/5 6/5                      42: 8/4 6/4
  2) 65: 24/18 18/13                  21: 13/11 6/5
  3) 43: 24/20 13/10                  54: 13/8 13/9
"""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        find_gnubg()
    except EngineError:
        pytest.skip("no gnubg")
    path = tmp_path_factory.mktemp("bg") / "quit; odd name.mat"
    path.write_text(MATCH)
    return path


def test_every_legal_play_has_a_value_and_the_choice_is_among_them(played):
    batch = read_gnubg([played], plies=0)
    assert sorted(batch.names()) == ["Ann;", "Bob"]
    assert len(batch) == 6 - sum(batch.skipped.values())
    first = batch.select(np.array([0]))
    labels = first.context.column("alternatives")[0].as_py()
    assert labels[first.chosen[0]] == "8/5 6/5"
    assert first.chosen[0] == 0  # the book's own move is gnubg's first
    assert first.n_legal[0] == len(labels) < GNUBG_LISTED


def test_a_deeper_look_values_the_same_plays(played):
    shallow, deep = read_gnubg([played], plies=0), read_gnubg([played], plies=1)
    assert np.array_equal(shallow.n_legal, deep.n_legal)
    assert not np.array_equal(shallow.judged, deep.judged)
    assert deep.about["settings"]["plies"] == 1


def test_from_match_file_to_a_rating(played, tmp_path):
    table = tmp_path / "plays.parquet"
    words = ["decisions", "convert", "gnubg", str(played), "--plies", "0", "--out", str(table), "--json"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["decisions"] == len(read_decisions(table))
    rated = CliRunner().invoke(app, ["decisions", "rate", str(table), "--k", "0.05", "--json"])
    assert {row["decider"] for row in json.loads(rated.stdout)["deciders"]} == {"Ann;", "Bob"}


def test_a_play_that_the_rules_forbid_is_a_fault_and_the_others_count(played, tmp_path):
    path = tmp_path / "odd.mat"
    path.write_text(MATCH.replace("54: 13/8 13/9", "54: 13/1"))
    batch = read_gnubg([path], plies=0)
    assert len(batch) + batch.tally.total == 6
    (fault,) = batch.tally.faults
    assert fault.reason == "left out by gnubg"
    assert "13/1" in fault.detail


def test_what_is_no_match_is_said(played, tmp_path):
    path = tmp_path / "tea.mat"
    path.write_text("tea")
    with pytest.raises(InputError, match="no play"):
        read_gnubg([path], plies=0)


def test_without_gnubg_one_line_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(backgammon.shutil, "which", lambda *_, **__: None)
    done = CliRunner().invoke(app, ["decisions", "convert", "gnubg", "x.mat", "--out", str(tmp_path / "x.parquet")])
    assert done.exit_code == 1
    assert "GNU Backgammon is not installed" in done.stderr


def test_a_look_too_far_and_a_file_that_is_not_there_are_refused(played, tmp_path):
    with pytest.raises(InputError, match="plies"):
        read_gnubg([played], plies=9)
    with pytest.raises(InputError, match="no such file"):
        read_gnubg([tmp_path / "none.mat"], plies=0)
