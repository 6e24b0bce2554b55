"""`skilloscope results predict`: pairs, held-out periods, draws, and stretches of time in turn."""

from __future__ import annotations

import numpy as np
import pytest

from results_runs import FIXED, VARIANCES, rows, run, sent
from skilloscope.models.paired_comparison import win_probability
from skilloscope.ratings.periods.prediction import forecast, predicted
from skilloscope.ratings.periods.saved import SavedRatings
from skilloscope.ratings.periods.states import State
from skilloscope.results import read_results
from skilloscope.studies.results.rating import RatingOptions, rated


def test_predictions_are_those_of_the_formula_and_name_new_players(folder, tmp_path):
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("board,player_1,player_2\n1,player 01,player 02\n2,=new,player 02\n")
    report = sent("predict", folder / "r.csv", *FIXED, "--pairs", pairs, "--no-link")
    later = {row["player"]: row for row in sent("rate", folder / "r.csv", *FIXED, "--at", "2020-11")["players"]}
    one, two = later["player 01"], later["player 02"]
    expected = win_probability(one["rating"], one["rd"] ** 2, two["rating"], two["rd"] ** 2)
    assert report["predictions"][0]["probability"] == pytest.approx(float(expected))
    assert (report["new"], report["at"]) == (["=new"], "2020-11")
    run("predict", folder / "r.csv", *FIXED, "--pairs", pairs, "--no-link", "--out", tmp_path / "out.csv")
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
    _, said = run("predict", "--state", tmp_path / "state", "--pairs", pairs, "--draws", "--no-link", code=1)
    assert "do not include how often games are drawn" in said


def test_draws_of_a_continued_run_are_fitted_as_they_were_foretold(first_movers, tmp_path):
    head, *lines = first_movers.read_text().splitlines()
    parts = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for part, some in zip(parts, (lines[:3500], lines[3500:]), strict=True):
        part.write_text("\n".join([head, *some]) + "\n")
    table = read_results(first_movers)
    options = RatingOptions(sigma0=300, nu=40, advantage=0, drift=0)
    whole = rated(table, options)
    p = forecast(whole.games, State.empty(sigma0=300, nu=40))[0]
    assert predicted(whole.history, whole.games) == pytest.approx(p, rel=1e-12)
    first = rated(read_results(parts[0]), options)
    second = rated(read_results(parts[1]), kept=SavedRatings(first.state, first.history))
    assert predicted(second.history, second.games) == pytest.approx(p[3500:], rel=1e-12)


def test_all_games_weighed_together_give_each_pair_a_gap_with_its_deviation(tmp_path):
    path, pairs = tmp_path / "r.csv", tmp_path / "pairs.csv"
    games = [f"2024-01-{1 + n % 28:02d},Ann,Bo,{int(n % 5 > 0)}" for n in range(100)]
    path.write_text("\n".join(["date,player_1,player_2,score", *games]) + "\n")
    pairs.write_text("player_1,player_2\nAnn,Bo\nAnn,Cy\n")
    fixed = ["--sigma0", "280", "--nu", "0.1", "--period", "1M", "--advantage", "0"]
    report = sent("predict", path, *fixed, "--pairs", pairs, "--joint")
    gap = report["predictions"][0]
    assert gap["gap"] == pytest.approx(238, abs=8)
    assert gap["gap_sd"] == pytest.approx(43, abs=4)
    assert report["predictions"][1]["gap_sd"] > 300
    assert any("met fewer than three others" in note for note in report["warnings"])
    assert "gap ± deviation" in run("predict", path, *fixed, "--pairs", pairs, "--joint")[0]


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


def test_one_run_compares_with_competitors(folder):
    words = [folder / "r.csv", "--period", "1M", "--holdout", "3"]
    out, _ = run("predict", *words, "--against", "elo,trueskill")
    assert "more than ours" in out
    report = sent("predict", *words, "--against", "elo,glicko2")
    assert [row["name"] for row in report["against"]] == ["elo", "glicko2"]
    run("predict", folder / "r.csv", *FIXED, "--pairs", folder / "r.csv", "--against", "elo", code=2)
