"""What `skilloscope results` is given: odd rows, names, dates, layouts; nothing is lost in silence."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from results_runs import FIXED, run, sent
from skilloscope.models.paired_comparison import win_probability


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


def test_new_players_enter_where_a_table_says(tmp_path):
    path, entry, pairs = tmp_path / "r.csv", tmp_path / "entry.csv", tmp_path / "pairs.csv"
    path.write_text("period,player_1,player_2,score\n1,Ann,Bo,0.5\n2,Ann,Bo,0.5\n")
    entry.write_text("player,rating\nBo,1900\nCy,2100\n")
    pairs.write_text("player_1,player_2\nCy,Dee\n")
    report = sent("rate", path, *FIXED, "--initial-ratings", entry)
    rating = {row["player"]: row["rating"] for row in report["players"]}
    assert report["entered"] == 1
    assert rating["Bo"] > 1700 > rating["Ann"] > 1500
    told = sent("predict", path, *FIXED, "--initial-ratings", entry, "--pairs", pairs, "--no-link")
    expected = win_probability(2100, 300**2, 1500, 300**2)
    assert told["predictions"][0]["probability"] == pytest.approx(float(expected))
    state = tmp_path / "state"
    run("rate", path, *FIXED, "--state", state)
    assert (
        sent("predict", "--state", state, "--initial-ratings", entry, "--pairs", pairs)["predictions"]
        == told["predictions"]
    )
    assert sent("fit", path, "--initial-ratings", entry)["entered"] == 1


def test_first_ratings_at_fault_are_counted_and_named(tmp_path):
    path, entry = tmp_path / "r.csv", tmp_path / "entry.csv"
    path.write_text("period,player_1,player_2,score\n1,Ann,Bo,1\n")
    entry.write_text("player,rating\nAnn,strong\nBo,1700\nBo,1800\n,1500\n")
    out, said = run("rate", path, *FIXED, "--initial-ratings", entry, "--json", code=1)
    reasons = {"first rating is not a number": 1, "a second first rating of the same player": 1, "no player": 1}
    assert json.loads(out)["skipped"] == reasons
    assert "entry.csv, row 2: first rating is not a number (Ann strong)" in said
    entry.write_text("name,elo\nAnn,1500\n")
    assert "lacks player, rating" in run("rate", path, *FIXED, "--initial-ratings", entry, code=1)[1]


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


def test_a_few_rows_at_fault_in_a_large_table_are_a_note_unless_strict(tmp_path):
    path, rows = tmp_path / "r.csv", [f"{n % 9},p{n % 7},q{n % 5},1" for n in range(400)]
    path.write_text("\n".join(["period,player_1,player_2,score", *rows, "1,A,A,1"]) + "\n")
    said = run("rate", path, *FIXED)[1]
    assert "a player against himself" in said
    assert "1 row at fault left out, less than 1 %" in said
    run("rate", path, *FIXED, "--strict", code=1)
    path.write_text("\n".join(["period,player_1,player_2,score", *rows[:90], "1,A,A,1"]) + "\n")
    run("rate", path, *FIXED, code=1)
