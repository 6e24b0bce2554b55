"""Deciders of any domain: as their decisions arrive, from tables with names of their own, and when k cannot be told."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from skilloscope.cli.app import app
from skilloscope.core.errors import InputError
from skilloscope.decision.text import read_decisions, read_long_csv, write_decisions
from skilloscope.evidence import Uniform, agent_evidence
from skilloscope.models.agent import Agent
from skilloscope.simulate.deciders import simulated_deciders
from skilloscope.studies.deciders import FEWEST_FOR_K, MOST_DECIDERS, DeciderStream, growing_lines, rate_fitting_k

LONG = "who;task;option;equity;picked\nAnn;1;a;0,5;1\nAnn;1;b;0,25;0\nAnn;2;a;0,1;0\nAnn;2;b;0,9;1\n"
PAIRS = "decider=who,problem=task,alternative=option,utility=equity,chosen=picked"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "d.jsonl"
    write_decisions(simulated_deciders([0.7, 1.6], 60, k=0.1, rng=np.random.default_rng(4)), path)
    return path


def run(*words: object, given: str | None = None, code: int = 0) -> Any:
    done = CliRunner().invoke(app, ["decisions", *map(str, words)], input=given)
    assert done.exit_code == code, done.stderr
    return done


def test_what_is_believed_after_the_last_line_is_what_all_together_say(table):
    follower = DeciderStream(Agent(), Uniform(0.0, 4.0))
    events = [follower.line(text, number) for number, text in enumerate(table.read_text().splitlines(), start=1)]
    assert {event.event for event in events} == {"decision"}
    whole = agent_evidence(read_decisions(table), Agent(), by="decider")
    for row in follower.latest():
        posterior = whole[row.decider].posterior(Uniform(0.0, 4.0))
        assert row.decisions == whole[row.decider].decisions
        assert row.competence.c == pytest.approx(posterior.mean, abs=1e-6)
        assert (row.competence.low, row.competence.high) == pytest.approx(posterior.interval(0.95), abs=1e-5)


def test_memory_does_not_grow_with_the_lines(table):
    follower = DeciderStream(Agent(), Uniform(0.0, 4.0))
    line = table.read_text().splitlines()[0]
    for number in range(200):
        follower.line(line, number)
    assert len(follower.known) == 1
    (own,) = follower.known.values()
    assert own.curve.size == follower.grid.size


def test_a_bad_line_is_named_and_the_others_go_on(table):
    lines = table.read_text().splitlines()[:3]
    given = "\n".join([lines[0], "{", lines[1], '{"decider": "x"}', lines[2]]) + "\n"
    done = run("live", "-", "--json", given=given, code=1)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["event"] for event in events] == ["decision", "fault", "decision", "fault", "decision"]
    assert [event["line"] for event in events] == [1, 2, 3, 4, 5]


def test_more_deciders_than_can_be_followed_are_a_fault(monkeypatch):
    monkeypatch.setattr("skilloscope.studies.deciders.MOST_DECIDERS", 1)
    follower = DeciderStream(Agent(), Uniform(0.0, 4.0))
    rows = [json.dumps({"decider": name, "utilities": [0.3, 0.1], "chosen": 0}) for name in "ab"]
    assert [follower.line(row, at).event for at, row in enumerate(rows)] == ["decision", "fault"]
    assert MOST_DECIDERS > 1


def test_a_growing_file_gives_whole_lines_only(tmp_path):
    path = tmp_path / "g.jsonl"
    path.write_text("one\ntw")
    moments = iter([0.0, 0.0, 9.0, 99.0])
    lines = growing_lines(path, seconds=50.0, clock=lambda: next(moments))
    assert next(lines) == "one\n"
    with path.open("a") as more:
        more.write("o\nthree")
    assert list(lines) == ["two\n"]
    assert list(growing_lines(path, once=True)) == ["one\n", "two\n", "three"]


def test_the_command_ends_with_everybody_in_a_table(table):
    done = run("live", table, "--once")
    assert "Deciders" in done.stdout
    assert done.stdout.count(", c ") == 120


def test_a_file_that_is_not_there_is_refused(tmp_path):
    assert "no such file" in run("live", tmp_path / "none", "--once", code=1).stderr


def test_semicolons_and_names_of_their_own(tmp_path):
    path = tmp_path / "theirs.csv"
    path.write_text(LONG)
    report = json.loads(run("rate", path, "--columns", PAIRS, "--json").stdout)
    assert report["deciders"][0]["decider"] == "Ann"
    names = dict(pair.split("=") for pair in PAIRS.split(","))
    batch = read_long_csv(io.StringIO(LONG), columns=names)
    assert batch.judged.tolist() == [0.5, 0.25, 0.9, 0.1]
    assert batch.chosen.tolist() == [0, 0]


def test_a_header_that_is_not_understood_names_its_columns_and_the_option():
    with pytest.raises(InputError, match="it has who, task") as caught:
        read_long_csv(io.StringIO(LONG))
    assert "--columns decider=…" in caught.value.hint


def test_names_of_fields_may_be_theirs_in_json_lines(tmp_path):
    path = tmp_path / "theirs.jsonl"
    path.write_text('{"who": "Ann", "utilities": [1, 2], "chosen": 1}\n')
    assert read_decisions(path, columns={"decider": "who"}).names() == ["Ann"]


def test_k_is_not_fitted_to_a_handful_nor_where_they_do_not_tell_it():
    few = simulated_deciders([1.0], FEWEST_FOR_K - 1, rng=np.random.default_rng(1))
    with pytest.raises(InputError, match="29 decisions"):
        rate_fitting_k(few, "listed")
    always_best = simulated_deciders([1.0, 1.1, 1.2], 100, rng=np.random.default_rng(2))
    best = always_best.select(always_best.chosen == 0)
    with pytest.raises(InputError, match="do not determine k"):
        rate_fitting_k(best, "listed")


def test_the_page_of_deciders_shows_names_as_text(tmp_path):
    rows = [{"decider": "<b>", "utilities": [0.3, 0.1, -0.2], "chosen": at % 3} for at in range(12)]
    path = tmp_path / "d.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    page = tmp_path / "d.html"
    run("rate", path, "--html", page)
    text = page.read_text()
    assert "Decisions of 1 decider" in text
    assert "&lt;b&gt;" in text
    assert "<b>" not in text
