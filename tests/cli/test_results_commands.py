"""`skilloscope results`: simulate, fit, rate, smooth and predict; kept ratings go on and go back exactly."""

from __future__ import annotations

import csv
import gzip
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy.stats import spearmanr
from typer.testing import CliRunner

from skilloscope.cli.app import app
from skilloscope.models.comparison import davidson, elo_expected, win_probability
from skilloscope.papers.harness import Budget
from skilloscope.ratings.periods.kept import Kept
from skilloscope.ratings.periods.prediction import forecast, foretold
from skilloscope.ratings.periods.states import State
from skilloscope.results import read_results
from skilloscope.studies.results.runs import rate_results

VARIANCES = ["--sigma0", "300", "--nu", "40"]
FIXED = [*VARIANCES, "--advantage", "0", "--drift", "0"]


def run(*words: str | Path, code: int = 0) -> tuple[str, str]:
    """Run a `skilloscope results …` line and return stdout and stderr."""
    result = CliRunner().invoke(app, ["results", *map(str, words)], catch_exceptions=False)
    assert result.exit_code == code, result.stdout + result.stderr
    return result.stdout, result.stderr


def sent(*words: str | Path, code: int = 0) -> dict[str, Any]:
    """Run a line under --json and return what it sends."""
    return json.loads(run(*words, "--json", code=code)[0])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with simulated results and their truth."""
    made = tmp_path_factory.mktemp("results")
    sizes = ["--players", "40", "--games", "4000", "--periods", "10", "--seed", "3"]
    run("simulate", *sizes, "--out", made / "r.csv", "--truth", made / "truth.csv")
    return made


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_fit_sends_the_fields_that_are_promised(folder):
    fit = sent("fit", folder / "r.csv", "--period", "1M")
    promised = {"schema", "sigma0", "nu", "discrepancy", "games", "players", "periods", "skipped"}
    assert promised <= fit.keys()
    assert (fit["games"], fit["players"], fit["periods"]) == (4000, 40, 10)
    assert 200 < fit["sigma0"] < 420


def test_both_ways_of_fitting_come_to_the_same_optimum(folder):
    quick, slow = sent("fit", folder / "r.csv"), sent("fit", folder / "r.csv", "--method", "nelder-mead")
    assert quick["discrepancy"] == pytest.approx(slow["discrepancy"], abs=1e-3)
    assert quick["sigma0"] == pytest.approx(slow["sigma0"], rel=5e-3)


def test_a_fit_says_how_sure_it_is_and_which_length_of_period_foretells_best(folder, tmp_path):
    words = ["--intervals", "--lengths", "1M,6M", "--html", tmp_path / "fit.html"]
    fit = sent("fit", folder / "r.csv", *words)
    for name in ("sigma0", "nu"):
        low, high = fit["intervals"][name]
        assert low < fit[name] < high
    assert [row["period"] for row in fit["lengths"] if row["best"]] == ["1M"]
    assert "<svg" in (tmp_path / "fit.html").read_text(encoding="utf-8")


def test_rate_sends_everybody_with_the_fields_that_are_promised_strongest_first(folder):
    report = sent("rate", folder / "r.csv", *FIXED)
    assert {"sigma0", "nu", "players"} <= report.keys()
    assert all(
        {"player", "rating", "rd", "games", "first_period", "last_period"} <= row.keys() for row in report["players"]
    )
    ratings = [row["rating"] for row in report["players"]]
    assert len(ratings) == 40
    assert ratings == sorted(ratings, reverse=True)
    assert sum(row["games"] for row in report["players"]) == 8000


def test_ratings_rank_players_as_the_truth_does(folder):
    rated = {row["player"]: row["rating"] for row in sent("rate", folder / "r.csv")["players"]}
    last = {row["player"]: float(row["strength"]) for row in rows(folder / "truth.csv")}
    assert spearmanr([rated[name] for name in last], list(last.values())).statistic > 0.95


def test_a_later_date_adds_the_passage_of_time_and_an_earlier_one_is_refused(folder):
    now = {row["player"]: row for row in sent("rate", folder / "r.csv", *FIXED)["players"]}
    later = {row["player"]: row for row in sent("rate", folder / "r.csv", *FIXED, "--at", "2021-01-15")["players"]}
    for name, row in now.items():
        assert later[name]["rating"] == row["rating"]
        assert later[name]["rd"] ** 2 == pytest.approx(row["rd"] ** 2 + 3 * 40**2)  # October to January
    _, said = run("rate", folder / "r.csv", *FIXED, "--at", "2020-03", code=1)
    assert "there are games after 2020-03" in said


@pytest.mark.parametrize("word", ["rate", "smooth"])
def test_intervals_hold_the_mass_that_is_asked_for(word, folder):
    usual, half = (sent(word, folder / "r.csv", *FIXED, *mass)["players"] for mass in ((), ("--mass", "0.5")))
    for one, other in zip(usual, half, strict=True):
        assert one["high"] - one["rating"] == pytest.approx(1.959964 * one["rd"])
        assert other["high"] - other["rating"] == pytest.approx(0.674490 * one["rd"])
    assert "rating (50 % interval)" in run(word, folder / "r.csv", *FIXED, "--mass", "0.5")[0]


def test_the_intervals_of_a_fit_hold_the_mass_that_is_asked_for(folder):
    usual, half = (sent("fit", folder / "r.csv", "--intervals", *mass)["intervals"] for mass in ((), ("--mass", "0.5")))
    for name in ("sigma0", "nu"):
        assert usual[name][0] < half[name][0] < half[name][1] < usual[name][1]


def test_only_the_active_are_listed_where_asked(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("period,player_1,player_2,score\n1,A,B,1\n4,A,C,1\n5,A,D,0\n")
    assert {row["player"] for row in sent("rate", path, *FIXED, "--active", "2")["players"]} == {"A", "C", "D"}
    assert sent("rate", path, *FIXED, "--active", "1")["left_out"] == 2


def split(folder: Path, tmp_path: Path, day: str) -> tuple[Path, Path]:
    """Cut the results at a day, which may lie in the middle of a period."""
    head, *lines = (folder / "r.csv").read_text().splitlines()
    parts = [[line for line in lines if (line[:10] < day) == early] for early in (True, False)]
    paths = tmp_path / "a.csv", tmp_path / "b.csv"
    for path, part in zip(paths, parts, strict=True):
        path.write_text("\n".join([head, *part]) + "\n")
    return paths


@pytest.mark.parametrize("day", ["2020-06-01", "2020-06-17"])
def test_yesterdays_ratings_and_todays_games_give_exactly_what_a_full_run_gives(folder, tmp_path, day):
    before, after = split(folder, tmp_path, day)
    state, whole, parts = tmp_path / "state", tmp_path / "whole.csv", tmp_path / "parts.csv"
    run("rate", before, *FIXED, "--state", state)
    continued = sent("rate", after, "--state", state, "--history", parts)
    full = sent("rate", folder / "r.csv", *FIXED, "--history", whole)
    assert continued["players"] == full["players"]
    assert parts.read_text() == whole.read_text()


def test_a_late_result_is_played_by_rewinding_to_its_period(folder, tmp_path):
    state = tmp_path / "state"
    run("rate", folder / "r.csv", *FIXED, "--state", state)
    late = tmp_path / "late.csv"
    late.write_text((folder / "r.csv").read_text() + "2020-05-20,newcomer,player 07,1\n")
    rewound = sent("rate", late, "--state", state, "--from", "2020-05")
    full = sent("rate", late, *FIXED)
    assert rewound["players"] == full["players"]
    assert rewound["skipped"] == {"before the period that was rewound to": 1600}
    _, said = run("rate", folder / "r.csv", "--state", state, code=1)
    assert "already played" in said


def test_kept_ratings_keep_their_parameters(folder, tmp_path):
    state = tmp_path / "state"
    run("rate", folder / "r.csv", *FIXED, "--state", state)
    for words in (["--nu", "30"], ["--period", "1Y"]):
        _, said = run("rate", folder / "r.csv", "--state", state, *words, code=1)
        assert "the kept ratings have" in said
    _, said = run("rate", folder / "r.csv", "--from", "2020-05", code=1)
    assert "no kept ratings to rewind" in said


def test_a_stream_gives_the_same_ratings(folder, tmp_path):
    from skilloscope.results.writing import results_to_arrow

    pq.write_table(results_to_arrow(read_results(folder / "r.csv")), tmp_path / "r.parquet", row_group_size=500)
    streamed = sent("rate", tmp_path / "r.parquet", *FIXED, "--stream")
    assert streamed["players"] == sent("rate", folder / "r.csv", *FIXED)["players"]
    _, said = run("rate", tmp_path / "r.parquet", "--stream", code=1)
    assert "cannot be fitted" in said
    run("rate", tmp_path / "r.parquet", *FIXED, "--stream", "--history", tmp_path / "h.csv", code=2)


@pytest.mark.parametrize("method", ["rts", "eq14", "whole"])
def test_smoothing_gives_the_past_anew_with_peaks(folder, tmp_path, method):
    report = sent("smooth", folder / "r.csv", *FIXED, "--method", method, "--history", tmp_path / "h.parquet")
    assert report["method"] == method
    assert all(row["peak_rating"] >= row["rating"] - 1e-9 for row in report["players"])
    history = pq.read_table(tmp_path / "h.parquet").to_pylist()
    assert {row["period"] for row in history} == {f"2020-{month:02d}" for month in range(1, 11)}


def test_smoothed_strengths_are_nearer_to_the_truth_than_filtered_ones(folder, tmp_path):
    truth = {(row["player"], row["period"]): float(row["strength"]) for row in rows(folder / "truth.csv")}
    errors = {}
    for command in ("rate", "smooth"):
        run(command, folder / "r.csv", *FIXED, "--history", tmp_path / "h.csv")
        found = rows(tmp_path / "h.csv")
        errors[command] = np.mean([(float(r["rating"]) - truth[r["player"], r["period"]]) ** 2 for r in found])
    assert errors["smooth"] < errors["rate"]


def test_smoothed_ratings_of_a_past_moment_know_what_came_later(folder):
    then = sent("smooth", folder / "r.csv", *FIXED, "--at", "2020-02-10")
    assert then["at"] == "2020-02"
    _, _ = run("smooth", folder / "r.csv", *FIXED, "--at", "2020-02-10", "--top", "3")


def test_predictions_are_those_of_the_formula_and_name_new_players(folder, tmp_path):
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("board,player_1,player_2\n1,player 01,player 02\n2,=new,player 02\n")
    report = sent("predict", folder / "r.csv", *FIXED, "--pairs", pairs)
    later = {row["player"]: row for row in sent("rate", folder / "r.csv", *FIXED, "--at", "2020-11")["players"]}
    one, two = later["player 01"], later["player 02"]
    expected = win_probability(one["rating"], one["rd"] ** 2, two["rating"], two["rd"] ** 2)
    assert report["predictions"][0]["probability"] == pytest.approx(float(expected))
    assert (report["new"], report["at"]) == (["=new"], "2020-11")
    run("predict", folder / "r.csv", *FIXED, "--pairs", pairs, "--out", tmp_path / "out.csv")
    written = rows(tmp_path / "out.csv")
    assert [row["player_1"] for row in written] == ["player 01", "'=new"]
    assert float(written[0]["probability"]) == pytest.approx(float(expected))
    assert written[1]["board"] == "2"


def test_predictions_need_no_games_where_ratings_are_kept(folder, tmp_path):
    pairs, state = tmp_path / "pairs.csv", tmp_path / "state"
    pairs.write_text("player_1,player_2\nplayer 01,player 02\n")
    run("rate", folder / "r.csv", *FIXED, "--state", state)
    kept = sent("predict", "--state", state, "--pairs", pairs)
    assert kept["predictions"] == sent("predict", folder / "r.csv", *FIXED, "--pairs", pairs)["predictions"]


def test_held_out_periods_are_foretold_better_than_by_a_coin(folder):
    report = sent("predict", folder / "r.csv", "--period", "1M", "--holdout", "3")
    assert report["games"] == 1200
    assert sent("predict", folder / "r.csv", "--period", "1M", "--holdout", "2020-08")["games"] == 1200
    assert report["log_loss"] < 0.6
    assert sum(row["games"] for row in report["calibration"]) == 1200
    run("predict", folder / "r.csv", *FIXED, "--holdout", "3", "--html", folder / "held.html")
    assert "<svg" in (folder / "held.html").read_text()
    run("predict", folder / "r.csv", "--pairs", folder / "r.csv", "--html", folder / "held.html", code=2)
    run("predict", folder / "r.csv", "--holdout", "2030", code=1)
    run("predict", folder / "r.csv", code=2)


def test_bad_rows_are_named_and_the_exit_code_tells(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("date,player_1,player_2,score\n2024-01-01,A,B,1\n2024-02-30,A,B,1\n2024-02-01,B,A,w/o\n")
    assert "50% of the rows cannot be used: 1 impossible date" in run("rate", path, *FIXED, code=1)[1]
    out, said = run("rate", path, *FIXED, "--json", "--allow-loss", code=1)
    assert json.loads(out)["skipped"] == {"impossible date": 1, "walkover": 1}
    assert f"bad input: {path}, row 3: impossible date (2024-02-30)" in said


def test_groups_that_never_met_are_reported_and_not_compared(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("period,player_1,player_2,score\n1,A,B,1\n1,B,C,1\n1,X,Y,0\n")
    report = sent("rate", path, *FIXED)
    assert any("2 groups of players never met: 2 outside" in warning for warning in report["warnings"])
    assert {row["player"]: row["component"] for row in report["players"]} == {"A": 0, "B": 0, "C": 0, "X": 1, "Y": 1}
    assert report["components"] == 2
    lines = [line.split("│") for line in run("rate", path, *FIXED)[0].splitlines() if line.startswith("│")]
    placed = {cells[2].strip(): (cells[1].strip(), cells[8].strip()) for cells in lines}
    assert placed == {"A": ("1", "0"), "B": ("2", "0"), "C": ("3", "0"), "Y": ("1", "1"), "X": ("2", "1")}


def test_a_prediction_between_groups_that_never_met_is_warned_of(tmp_path):
    path, pairs = tmp_path / "r.csv", tmp_path / "pairs.csv"
    path.write_text("period,player_1,player_2,score\n1,A,B,1\n1,X,Y,0\n")
    pairs.write_text("player_1,player_2\nA,X\nA,B\nA,new\n")
    assert "note: 1 of 3 pairs: no chain of games links the two" in run("predict", path, *FIXED, "--pairs", pairs)[1]


@pytest.mark.parametrize("row", ["A,A", ",A", "A,"])
def test_a_pair_of_one_player_is_refused_with_its_row(folder, tmp_path, row):
    pairs = tmp_path / "pairs.csv"
    pairs.write_text(f"player_1,player_2\nplayer 01,player 02\n{row}\n")
    assert "pairs.csv, row 3:" in run("predict", folder / "r.csv", *FIXED, "--pairs", pairs, code=1)[1]


def test_the_past_is_not_predicted_by_what_came_later(folder, tmp_path):
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("player_1,player_2\nplayer 01,player 02\n")
    said = run("predict", folder / "r.csv", *FIXED, "--pairs", pairs, "--at", "2020-03-01", code=1)[1]
    assert "there are games after 2020-03" in said


def test_who_had_not_played_by_a_past_moment_is_counted(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("date,player_1,player_2,score\n2020-01-01,A,B,1\n2020-03-01,A,C,0\n2020-03-02,B,C,1\n")
    assert "1 left out as not having played by 2020-02" in run("smooth", path, *FIXED, "--at", "2020-02-01")[0]


def test_a_state_that_was_not_there_is_said_to_be_new(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("period,player_1,player_2,score\n1,A,B,1\n")
    assert "new ratings, from these games alone," in run("rate", path, *FIXED, "--state", tmp_path / "state")[1]
    path.write_text("period,player_1,player_2,score\n2,A,B,1\n")
    assert "new ratings" not in run("rate", path, "--state", tmp_path / "state")[1]


def test_dates_that_may_be_two_days_are_asked_about_once(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("date,player_1,player_2,score\n01/05/2024,A,B,1\n01/06/2024,A,B,1\n")
    assert "--date-format dmy" in run("rate", path, *FIXED, code=1)[1]
    first = [sent("rate", path, *FIXED, "--date-format", form)["players"][0] for form in ("dmy", "mdy")]
    assert [row["last_period"] for row in first] == ["2024-06", "2024-01"]
    path.write_text("date,player_1,player_2,score\n01/05/2024,A,B,1\n13/06/2024,A,B,1\n31.12.2024,B,A,0\n")
    assert sent("rate", path, *FIXED)["players"][0]["first_period"] == "2024-05"


def test_the_page_holds_leaderboard_and_history_and_escapes_names(folder, tmp_path):
    path = tmp_path / "r.csv"
    path.write_text((folder / "r.csv").read_text() + "2020-10-30,<b>bold</b>,player 07,1\n")
    run("rate", path, *FIXED, "--html", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 1
    assert "&lt;b&gt;bold" in page
    assert "<b>bold" not in page


def test_results_of_pgn_files_are_rated(tmp_path):
    game = '[White "{}"]\n[Black "{}"]\n[Date "2024.0{}.01"]\n[Result "{}"]\n\n1. e4 e5 {}\n\n'
    text = "".join(game.format(a, b, m, r, r) for a, b, m, r in (("A", "B", 1, "1-0"), ("B", "A", 2, "1/2-1/2")))
    (tmp_path / "games.pgn").write_text(text)
    report = sent("rate", tmp_path / "games.pgn", *FIXED)
    assert [(row["player"], row["games"]) for row in report["players"]] == [("A", 2), ("B", 2)]


def test_other_column_names_and_a_file_given_twice(folder, tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("date,white,black,result\n2024-01-01,A,B,1-0\n")
    words = ["--columns", "player_1=white", "--columns", "player_2=black,score=result"]
    assert len(sent("rate", path, *FIXED, *words)["players"]) == 2
    _, said = run("rate", path, path, *FIXED, *words, code=1)
    assert "given twice" in said
    _, said = run("rate", path, *FIXED, "--columns", "player_1", code=2)
    assert "no column given for it" in said


@pytest.fixture(scope="module")
def first_movers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table in which the first player has 60 Elo more than his strength, and a third of the games are drawn."""
    rng = np.random.default_rng(4)
    strength = rng.normal(1500, 150, 20)
    one = rng.integers(0, 20, 6000)
    two = (one + rng.integers(1, 20, 6000)) % 20
    win, draw, _ = davidson(elo_expected(strength[one] + 60, strength[two]), 1.0)
    u = rng.random(6000)
    score = np.where(u < win, 1.0, np.where(u < win + draw, 0.5, 0.0))
    path = tmp_path_factory.mktemp("first") / "r.csv"
    lines = [f"{i // 1000 + 1},p{a:02d},p{b:02d},{s}" for i, (a, b, s) in enumerate(zip(one, two, score, strict=True))]
    path.write_text("\n".join(["period,player_1,player_2,score", *lines]) + "\n")
    return path


def test_what_is_beyond_the_paper_can_be_left_out(folder):
    report = sent("rate", folder / "r.csv", *FIXED)
    assert (report["advantage"], report["drift"], report["published"], report["entered"]) == (0.0, 0.0, None, 0)
    assert "kappa" not in sent("predict", folder / "r.csv", *FIXED, "--holdout", "2")


def test_the_first_players_advantage_is_fitted_or_given(first_movers):
    still = ("--drift", "0")
    fit, unasked = sent("fit", first_movers, "--advantage", "fit", *still), sent("fit", first_movers, *still)
    without, given = (sent("fit", first_movers, "--advantage", elo, *still) for elo in ("0", "60"))
    assert unasked["advantage"] == fit["advantage"]
    assert fit["advantage"] == pytest.approx(60, abs=8)
    assert fit["discrepancy"] < given["discrepancy"] + 0.01  # so near to the best both are
    assert given["discrepancy"] < without["discrepancy"] - 10
    assert (fit["fitted"], given["fitted"]) == (["sigma0", "nu", "advantage"], ["sigma0", "nu"])
    shown, _ = run("rate", first_movers, "--sigma0", "200", "--nu", "10", "--advantage", "fit")
    assert "the first player's advantage" in shown
    _, said = run("fit", first_movers, "--advantage", "much", code=2)
    assert "no number of Elo" in said


def test_kept_ratings_keep_their_advantage(first_movers, tmp_path):
    state, pairs = tmp_path / "state", tmp_path / "pairs.csv"
    pairs.write_text("player_1,player_2\np01,p02\np02,p01\n")
    run("rate", first_movers, *VARIANCES, "--drift", "0", "--advantage", "50", "--state", state)
    both = [row["probability"] for row in sent("predict", "--state", state, "--pairs", pairs)["predictions"]]
    assert sum(both) > 1.05
    for asked in ("40", "fit"):
        _, said = run("rate", first_movers, "--advantage", asked, "--state", state, code=1)
        assert "the kept ratings have advantage = 50" in said


def test_draws_have_their_own_probability_where_asked_for(first_movers, tmp_path):
    pairs, out = tmp_path / "pairs.csv", tmp_path / "out.csv"
    pairs.write_text("player_1,player_2\np01,p02\np03,nobody\n")
    words = [first_movers, *VARIANCES, "--drift", "0", "--advantage", "fit", "--pairs", pairs, "--draws"]
    report = sent("predict", *words)
    assert report["kappa"] == pytest.approx(1.0, abs=0.15)
    for row in report["predictions"]:
        assert row["win"] + row["draw"] + row["loss"] == pytest.approx(1)
        assert row["win"] + row["draw"] / 2 == pytest.approx(row["probability"])
    run("predict", *words, "--out", out)
    assert list(rows(out)[0]) == ["player_1", "player_2", "probability", "win", "draw", "loss"]
    held = sent("predict", first_movers, "--holdout", "2", "--draws", "--advantage", "fit")
    assert held["outcome_log_loss"] < np.log(3)
    run("rate", first_movers, *FIXED, "--state", tmp_path / "state")
    _, said = run("predict", "--state", tmp_path / "state", "--pairs", pairs, "--draws", code=1)
    assert "do not tell how often games are drawn" in said


def test_draws_of_a_continued_run_are_fitted_as_they_were_foretold(first_movers, tmp_path):
    head, *lines = first_movers.read_text().splitlines()
    parts = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for part, some in zip(parts, (lines[:3500], lines[3500:]), strict=True):
        part.write_text("\n".join([head, *some]) + "\n")
    table = read_results(first_movers)
    whole = rate_results(table, sigma0=300, nu=40)
    p = forecast(whole.games, State.empty(sigma0=300, nu=40))[0]
    assert foretold(whole.history, whole.games) == pytest.approx(p, rel=1e-12)
    first = rate_results(read_results(parts[0]), sigma0=300, nu=40)
    second = rate_results(read_results(parts[1]), kept=Kept(first.state, first.history))
    assert foretold(second.history, second.games) == pytest.approx(p[3500:], rel=1e-12)


def test_new_players_enter_where_a_table_says(tmp_path):
    path, entry, pairs = tmp_path / "r.csv", tmp_path / "entry.csv", tmp_path / "pairs.csv"
    path.write_text("period,player_1,player_2,score\n1,Ann,Bo,0.5\n2,Ann,Bo,0.5\n")
    entry.write_text("player,rating\nBo,1900\nCy,2100\n")
    pairs.write_text("player_1,player_2\nCy,Dee\n")
    report = sent("rate", path, *FIXED, "--entry", entry)
    rating = {row["player"]: row["rating"] for row in report["players"]}
    assert report["entered"] == 1
    assert rating["Bo"] > 1700 > rating["Ann"] > 1500
    told = sent("predict", path, *FIXED, "--entry", entry, "--pairs", pairs)
    expected = win_probability(2100, 300**2, 1500, 300**2)
    assert told["predictions"][0]["probability"] == pytest.approx(float(expected))
    state = tmp_path / "state"
    run("rate", path, *FIXED, "--state", state)
    assert sent("predict", "--state", state, "--entry", entry, "--pairs", pairs)["predictions"] == told["predictions"]
    assert sent("fit", path, "--entry", entry)["entered"] == 1


def test_first_ratings_at_fault_are_counted_and_named(tmp_path):
    path, entry = tmp_path / "r.csv", tmp_path / "entry.csv"
    path.write_text("period,player_1,player_2,score\n1,Ann,Bo,1\n")
    entry.write_text("player,rating\nAnn,strong\nBo,1700\nBo,1800\n,1500\n")
    out, said = run("rate", path, *FIXED, "--entry", entry, "--json", code=1)
    reasons = {"first rating is no number": 1, "a second first rating of the same player": 1, "no player": 1}
    assert json.loads(out)["skipped"] == reasons
    assert "entry.csv, row 2: first rating is no number (Ann strong)" in said
    entry.write_text("name,elo\nAnn,1500\n")
    assert "lacks player, rating" in run("rate", path, *FIXED, "--entry", entry, code=1)[1]


def test_a_date_after_today_is_noted(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("date,player_1,player_2,score\n2024-01-05,Ann,Bo,1\n2924-01-05,Ann,Bo,1\n")
    assert sent("rate", path, *FIXED)["noted"] == {"date after today": 1}


def test_a_table_that_puts_the_winner_first_has_no_advantage(tmp_path):
    rng, path = np.random.default_rng(2), tmp_path / "r.csv"
    pairs = [rng.choice(12, 2, replace=False) for _ in range(600)]
    lines = [f"2024-{1 + n % 12:02d}-01,p{min(pair)},p{max(pair)}" for n, pair in enumerate(pairs)]
    path.write_text("\n".join(["date,winner,loser", *lines]) + "\n")
    for asked in ([], ["--advantage", "fit"]):
        out, said = run("fit", path, *asked, "--json")
        assert json.loads(out)["advantage"] == 0.0
        assert "the table seems to put the winner first" in said


def test_tables_1_and_2_are_reproduced_within_their_errors(monkeypatch):
    from skilloscope.papers.gli99 import gli99

    monkeypatch.setattr(gli99, "_DATA_SETS", 60)
    monkeypatch.setattr(gli99, "_REPLICATIONS", 30)
    for compute in (gli99._table_1, gli99._table_2):
        outcome = compute(Budget(seed=2))
        assert [row.label for row in outcome.rows if row.within is False] == []


def test_tennis_gives_what_an_independent_fit_found(shared_data):
    from skilloscope.papers.gli99 import gli99

    ours = {row.label: row.ours for row in gli99._table_4(Budget(data=shared_data)).rows}
    found = {
        "walkovers as wins": (115, 24.5, 1998, 1977, 1887),
        "without walkovers": (116, 24.6, 2000, 1992, 1899),
    }
    for word, (sigma0, nu, agassi, sampras, muster) in found.items():
        assert ours[f"σ0, {word}"] == pytest.approx(sigma0, abs=0.5)
        assert ours[f"ν, {word}"] == pytest.approx(nu, abs=0.05)
        players = {"André Agassi": agassi, "Pete Sampras": sampras, "Thomas Muster": muster}
        for player, rating in players.items():
            assert ours[f"{player}, {word}"] == pytest.approx(rating, abs=0.5)
    assert ours["Sampras beats Muster by (16), from the printed table"] == pytest.approx(0.63, abs=0.005)


def test_great_chess_players_peak_as_the_paper_says_in_kind(shared_data):
    from skilloscope.papers.gli99 import gli99

    outcome = gli99._table_3(Budget(data=shared_data))
    ours = {row.label: row.ours for row in outcome.rows}
    assert ours["Emanuel Lasker: sd"] == pytest.approx(29.7, abs=2)
    assert "16 of the printed 20" in " ".join(outcome.notes)
    assert len(outcome.studies) == 1


def test_the_page_of_the_reproduction_draws_strengths_over_time(folder):
    from skilloscope.papers.gli99.gli99 import GLI99_ENTRIES, Strengths
    from skilloscope.papers.harness import Outcome
    from skilloscope.papers.page import Reproduction, reproduction_page
    from skilloscope.studies.results.runs import rate_results

    rated = rate_results(read_results(folder / "r.csv"), sigma0=300, nu=40)
    shown = Strengths(rated.history, ["player 01", "player 02"], "Two of them.")
    page = reproduction_page(Reproduction(Budget(), [(GLI99_ENTRIES[0], Outcome([], [], [shown]))]))
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
    assert "like it: Cy, Dan; Cy, D" in run("rate", path, *FIXED, "--player", "cy", code=1)[1]
    active = sent("rate", path, *FIXED, "--active", "1M")["players"]
    assert {row["player"] for row in active} == {"Ann", "Cy, D"}


def test_near_duplicates_are_listed_confirmed_and_put_together(tmp_path):
    path, list_of = tmp_path / "club.csv", tmp_path / "aliases.csv"
    path.write_text(CLUB)
    found = CliRunner().invoke(app, ["names", str(path), "--json", "--out", str(list_of)])
    groups = json.loads(found.stdout)["groups"]
    assert [(row["name"], row["same_as"]) for group in groups for row in group["names"]] == [("Cy, D", "Cy, Dan")]
    assert len(sent("rate", path, *FIXED, "--alias", list_of)["players"]) == 5  # nobody has confirmed it
    confirmed = rows(list_of)
    with list_of.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, confirmed[0].keys())
        writer.writeheader()
        writer.writerows([{**row, "confirmed": "yes"} for row in confirmed])
    assert len(sent("rate", path, *FIXED, "--alias", list_of)["players"]) == 4


def test_all_games_weighed_together_give_each_pair_a_gap_with_its_deviation(tmp_path):
    path, pairs = tmp_path / "r.csv", tmp_path / "pairs.csv"
    games = [f"2024-01-{1 + n % 28:02d},Ann,Bo,{int(n % 5 > 0)}" for n in range(100)]
    path.write_text("\n".join(["date,player_1,player_2,score", *games]) + "\n")
    pairs.write_text("player_1,player_2\nAnn,Bo\nAnn,Cy\n")
    fixed = ["--sigma0", "280", "--nu", "0.1", "--period", "1M", "--advantage", "0"]
    report = sent("predict", path, *fixed, "--pairs", pairs, "--whole")
    gap = report["predictions"][0]
    assert gap["gap"] == pytest.approx(238, abs=8)
    assert gap["gap_sd"] == pytest.approx(43, abs=4)
    assert report["predictions"][1]["gap_sd"] > 300
    assert any("met fewer than three others" in note for note in report["warnings"])
    assert "gap ± deviation" in run("predict", path, *fixed, "--pairs", pairs, "--whole")[0]


def test_more_than_nine_rows_in_ten_lost_are_no_leaderboard(tmp_path):
    path = tmp_path / "years.csv"
    rows_of = [f"18{n}.??.??,A,B,1" for n in range(57, 97)]
    path.write_text("\n".join(["date,white,black,white_score", *rows_of, "1898.01.02,A,B,0"]) + "\n")
    assert "98% of the rows cannot be used" in run("rate", path, *FIXED, "--period", "1M", code=1)[1]
    assert sent("rate", path, *FIXED)["games"] == 41


def test_a_folder_of_packed_tables_is_rated_by_its_name_alone(tmp_path):
    games = [f"2024-0{month}-05,A,B,1-0" for month in range(1, 4)]
    for month, row in enumerate(games):
        (tmp_path / f"{month}.csv.gz").write_bytes(gzip.compress(f"date,white,black,result\n{row}\n".encode()))
    (tmp_path / "notes.md").write_text("nothing to read")
    assert sent("rate", tmp_path, *FIXED)["games"] == 3
    assert sent("rate", tmp_path / "*.gz", *FIXED)["games"] == 3


def test_stretches_of_time_are_foretold_in_turn_each_from_all_before_it(folder):
    told = sent("predict", folder / "r.csv", "--period", "1M", "--folds", "3")
    assert [row["from"] for row in told["folds"][1:]] > [row["to"] for row in told["folds"][:-1]]
    last = told["folds"][-1]
    alone = sent("predict", folder / "r.csv", "--period", "1M", "--holdout", last["from"])
    assert {name: alone[name] for name in ("games", "log_loss", "sigma0", "nu")} == {
        name: last[name] for name in ("games", "log_loss", "sigma0", "nu")
    }
    assert told["games"] == sum(row["games"] for row in told["folds"])
    assert told["log_loss"] == pytest.approx(
        sum(row["games"] * row["log_loss"] for row in told["folds"]) / told["games"]
    )
    assert "cannot be cut" in run("predict", folder / "r.csv", "--period", "1M", "--folds", "10", code=1)[1]


def test_later_games_change_no_earlier_stretch(folder, tmp_path):
    lines = (folder / "r.csv").read_text().splitlines(keepends=True)
    (tmp_path / "early.csv").write_text("".join([lines[0], *(line for line in lines[1:] if line < "2020-08")]))
    whole = sent("predict", folder / "r.csv", "--period", "1M", "--folds", "4")["folds"][0]
    start = ["--period", "1M", "--holdout", whole["from"]]
    short = (tmp_path / "early.csv").read_text().splitlines(keepends=True)
    (tmp_path / "shorter.csv").write_text("".join([short[0], *(x for x in short[1:] if x[:7] <= whole["to"])]))
    assert sent("predict", tmp_path / "shorter.csv", *start)["log_loss"] == whole["log_loss"]


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
