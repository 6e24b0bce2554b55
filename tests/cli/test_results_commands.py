"""`skilloscope results`: simulate, fit, rate and smooth; kept ratings go on and go back exactly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy.stats import spearmanr

from results_runs import FIXED, VARIANCES, rows, run, sent
from skilloscope.papers.harness import Budget
from skilloscope.results import read_results


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
    usual, half = (sent(word, folder / "r.csv", *FIXED, *mass)["players"] for mass in ((), ("--level", "0.5")))
    for one, other in zip(usual, half, strict=True):
        assert one["high"] - one["rating"] == pytest.approx(1.959964 * one["rd"])
        assert other["high"] - other["rating"] == pytest.approx(0.674490 * one["rd"])
    assert "rating (50 % interval)" in run(word, folder / "r.csv", *FIXED, "--level", "0.5")[0]


def test_the_intervals_of_a_fit_hold_the_mass_that_is_asked_for(folder):
    usual, half = (
        sent("fit", folder / "r.csv", "--intervals", *mass)["intervals"] for mass in ((), ("--level", "0.5"))
    )
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
        assert "the saved ratings have" in said
    _, said = run("rate", folder / "r.csv", "--from", "2020-05", code=1)
    assert "no saved ratings to rewind" in said


def test_a_stream_gives_the_same_ratings(folder, tmp_path):

    pq.write_table(read_results(folder / "r.csv").to_arrow(), tmp_path / "r.parquet", row_group_size=500)
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
    assert "is not an Elo" in said


def test_kept_ratings_keep_their_advantage(first_movers, tmp_path):
    state, pairs = tmp_path / "state", tmp_path / "pairs.csv"
    pairs.write_text("player_1,player_2\np01,p02\np02,p01\n")
    run("rate", first_movers, *VARIANCES, "--drift", "0", "--advantage", "50", "--state", state)
    both = [row["probability"] for row in sent("predict", "--state", state, "--pairs", pairs)["predictions"]]
    assert sum(both) > 1.05
    for asked in ("40", "fit"):
        _, said = run("rate", first_movers, "--advantage", asked, "--state", state, code=1)
        assert "the saved ratings have advantage = 50" in said


def test_tables_1_and_2_are_reproduced_within_their_errors(monkeypatch):
    from skilloscope.papers import gli99

    monkeypatch.setattr(gli99, "_DATA_SETS", 60)
    monkeypatch.setattr(gli99, "_REPLICATIONS", 30)
    for compute in (gli99._table_1, gli99._table_2):
        outcome = compute(Budget(seed=2))
        assert [row.label for row in outcome.rows if row.within is False] == []


def test_tennis_gives_what_an_independent_fit_found(shared_data):
    from skilloscope.papers import gli99

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
    from skilloscope.papers import gli99

    outcome = gli99._table_3(Budget(data=shared_data))
    ours = {row.label: row.ours for row in outcome.rows}
    assert ours["Emanuel Lasker: sd"] == pytest.approx(29.7, abs=2)
    assert "16 of the printed 20" in " ".join(outcome.notes)
    assert len(outcome.figures) == 1
