"""Pages and reports of results: the leaderboard, one member, who rose and who is gone."""

from __future__ import annotations

import csv
import json
import re

import pytest
from typer.testing import CliRunner

from results_runs import FIXED, rows, run, sent
from skilloscope.cli.app import app
from skilloscope.papers.harness import Budget
from skilloscope.report.charts import Figure
from skilloscope.results import read_results
from skilloscope.studies.results.rating import OverTime, RatingOptions, rated


def test_the_page_holds_leaderboard_and_history_and_escapes_names(folder, tmp_path):
    path = tmp_path / "r.csv"
    path.write_text((folder / "r.csv").read_text() + "2020-10-30,<b>bold</b>,player 07,1\n")
    run("rate", path, *FIXED, "--html", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 1
    assert "&lt;b&gt;bold" in page
    assert "<b>bold" not in page


def test_the_page_of_the_reproduction_draws_strengths_over_time(folder):
    from skilloscope.papers.gli99 import GLI99_ENTRIES
    from skilloscope.papers.harness import Outcome, Reproduction

    run_ = rated(read_results(folder / "r.csv"), RatingOptions(sigma0=300, nu=40))
    shown = Figure("", OverTime(run_.history, ["player 01", "player 02"], bands=False), "Two of them.")
    page = Reproduction(budget=Budget(), entries=[(GLI99_ENTRIES[0], Outcome([], [], [lambda: [shown]]))]).page()
    assert "Two of them." in page
    assert "<svg" in page


CLUB = """date,white,black,result
2024-01-05,Ann,Bo,1
2024-01-12,Bo,"Cy, Dan",0.5
2024-02-02,"Cy, Dan",Ann,0
2024-02-09,Dee,Bo,1
2024-02-16,Dee,Ann,0.5
2024-03-01,Ann,"Cy, D",1
"""


def test_a_report_says_who_rose_who_is_new_and_who_has_gone(tmp_path):
    path, state = tmp_path / "club.csv", tmp_path / "state"
    path.write_text(CLUB)
    run("rate", path, *FIXED, "--state", state)
    since = sent("report", "--state", state, "--since", "2024-02")
    assert [row["player"] for row in since["newcomers"]] == ["Dee", "Cy, D"]
    assert {row["player"]: row["change"] > 0 for row in since["changed"]} == {
        "Ann": True,
        "Cy, Dan": False,
        "Bo": False,
    }
    assert [row["player"] for row in sent("report", path, *FIXED, "--since", "2024-03")["inactive"]] == [
        "Bo",
        "Cy, Dan",
        "Dee",
    ]
    page = tmp_path / "since.html"
    assert "risen since 2024-02" in run("report", "--state", state, "--since", "2024-02", "--html", page)[0]
    assert "newcomers" in page.read_text()
    run("report", path, *FIXED, code=2)


def test_one_members_page_has_history_opponents_and_the_score_that_was_expected(tmp_path):
    path, page = tmp_path / "club.csv", tmp_path / "ann.html"
    path.write_text(CLUB)
    member = sent("report", path, *FIXED, "--player", "Ann", "--html", page)
    assert [row["period"] for row in member["history"]] == ["2024-01", "2024-02", "2024-03"]
    met = {row["opponent"]: (row["games"], row["score"]) for row in member["opponents"]}
    assert met == {"Bo": (1, 1.0), "Cy, Dan": (1, 1.0), "Dee": (1, 0.5), "Cy, D": (1, 1.0)}
    assert next(row["expected"] for row in member["opponents"] if row["opponent"] == "Bo") == pytest.approx(0.5)
    assert "<svg" in page.read_text()
    shown, _ = run("report", path, *FIXED, "--player", "Ann")
    assert "3.5 of 4 points" in shown


def test_players_are_shown_alone_and_the_active_by_a_length(tmp_path):
    path = tmp_path / "club.csv"
    path.write_text(CLUB)
    alone = sent("rate", path, *FIXED, "--player", "Bo")["players"]
    assert [(row["player"], row["place"]) for row in alone] == [("Bo", 5)]
    assert "similar names: Cy, Dan; Cy, D" in run("rate", path, *FIXED, "--player", "cy", code=1)[1]
    active = sent("rate", path, *FIXED, "--active", "1M")["players"]
    assert {row["player"] for row in active} == {"Ann", "Cy, D"}


def test_near_duplicates_are_listed_confirmed_and_put_together(tmp_path):
    path, list_of = tmp_path / "club.csv", tmp_path / "aliases.csv"
    path.write_text(CLUB)
    found = CliRunner().invoke(app, ["results", "aliases", str(path), "--json", "--out", str(list_of)])
    groups = json.loads(found.stdout)["groups"]
    assert [(row["name"], row["same_as"]) for group in groups for row in group["names"]] == [("Cy, D", "Cy, Dan")]
    assert len(sent("rate", path, *FIXED, "--alias", list_of)["players"]) == 5  # nobody has confirmed it
    confirmed = rows(list_of)
    with list_of.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, confirmed[0].keys())
        writer.writeheader()
        writer.writerows([{**row, "confirmed": "yes"} for row in confirmed])
    assert len(sent("rate", path, *FIXED, "--alias", list_of)["players"]) == 4


def test_the_leaderboard_of_a_page_is_filtered_without_a_script(tmp_path):
    games = ["date,white,black,result", *(f"2024-{1 + i % 12:02}-05,A,B,1-0" for i in range(24)), "2021-01-05,A,C,1-0"]
    (tmp_path / "r.csv").write_text("\n".join(games))
    run("rate", tmp_path / "r.csv", "--sigma0", "200", "--nu", "30", "--html", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    names = re.findall(r'<label><input type="checkbox" class="f(\d)"> (.*?)</label>', page)
    rules = dict(re.findall(r":has\(\.f(\d):checked\) tbody tr:is\((.*?)\) \{ display: none; \}", page))
    body = page[page.index("<tbody") :]
    place = [re.findall(r"<td.*?>(.*?)</td>", row)[1] for row in re.findall(r"<tr.*?</tr>", body, re.S)].index("C") + 1
    asked = {name: rules[number] for number, name in names}
    assert asked["20 games or more"] == asked["played in the last year"] == f":nth-child({place})"
    assert "<script" not in page
