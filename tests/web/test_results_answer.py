"""One question, one answer: the command line, Python and the web rate the same results with the same numbers."""

from __future__ import annotations

import json

import numpy as np
import pytest

import skilloscope as sk
from results_runs import rows, sent
from skilloscope.core.table_files import write_table
from skilloscope.simulate.populations import Population, simulate_results
from skilloscope.web.jobs import Jobs
from skilloscope.web.uploads import add_upload
from web.conftest import do


@pytest.fixture(scope="module", params=["many", "few"])
def answers(request, tmp_path_factory):
    """The results of a table in the command line, in Python and in a job of the web, with the files of the first."""
    folder = tmp_path_factory.mktemp(request.param)
    table = folder / "results.csv"
    games = {"many": 900, "few": 40}[request.param]  # advantage and drift are fitted from 500 games up
    population = Population(20, 6, games, sigma0=250, nu=30)
    write_table(simulate_results(population, rng=np.random.default_rng(3), period="1M").results.to_arrow(), table)
    command = sent("rate", table, "--history", folder / "history.csv")
    jobs = Jobs(folder / "jobs.sqlite")
    job = do(jobs, add_upload(jobs, "results", [("results.csv", table.read_bytes())], owner="me"), folder)
    assert job.state == "done", job
    return table, command, sk.results(table), lambda name: jobs.report(job.id, name)


def test_the_leaderboard_is_the_same_everywhere(answers):
    _, command, python, web = answers
    assert command == json.loads(json.dumps(python.as_dict())) == web("leaderboard")


def test_the_fit_of_the_web_is_that_of_the_command(answers):
    table, command, _, web = answers
    fit = sent("fit", table)
    shown = web("fit")
    if shown["sigma0"] == fit["sigma0"]:  # rating replaces a sigma0 that the games do not determine
        assert shown == fit
    assert [shown[name] for name in ("sigma0", "nu", "advantage", "drift", "period", "games")] == [
        command[name] for name in ("sigma0", "nu", "advantage", "drift", "period", "games")
    ]


def test_every_members_history_is_that_of_the_command(answers):
    table, command, _, web = answers
    written = rows(table.parent / "history.csv")
    for player in command["players"]:
        own = [row for row in written if row["player"] == player["player"]]
        kept = web(f"history/{player['place']}")
        assert [row["period"] for row in kept] == [row["period"] for row in own]
        assert [row["rating"] for row in kept] == pytest.approx([float(row["rating"]) for row in own], abs=1e-6)


def test_smoothed_ratings_of_python_are_those_of_the_command(answers):
    table, command, _, _ = answers
    name = command["players"][0]["player"]
    smoothed = sk.results(table, period="1M", smoothing="rts", at="2020-03", active="3M", mass=0.8, players=[name])
    words = ["--period", "1M", "--at", "2020-03", "--active", "3M", "--level", "0.8", "--player", name]
    assert json.loads(json.dumps(smoothed.as_dict())) == sent("smooth", table, *words)
