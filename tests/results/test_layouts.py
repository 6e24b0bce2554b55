"""Tables as people have them: any sensible columns, scores, dates and packings are read unaided."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from skilloscope.core.errors import InputError
from skilloscope.inputs.results import read_files
from skilloscope.results.columns import find_layout
from skilloscope.results.reading import Reading, read_results


def table(folder: Path, text: str, name: str = "r.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("header", "row", "score"),
    [
        ("Date,White,Black,Result", "2024-01-05,Ann,Bo,1/2-1/2", 0.5),
        ("date;white;black;white_score", "05.01.2024;Ann;Bo;0", 0.0),
        ("played\tHome Team\tAway Team\tHome Score\tAway Score", "20240105\tAnn\tBo\t3\t1", 1.0),
        ("tourney_date,winner_name,loser_name,score", "20240105,Ann,Bo,6-4 3-6 7-6(2)", 1.0),
        ("year,player1,player2,result", "2024,Ann,Bo,0.5", 0.5),
        ("period,team_1,team_2,score_1,score_2", "5,Ann,Bo,0,0", 0.5),
    ],
)
def test_columns_are_told_by_their_names(tmp_path, header, row, score):
    results = read_results(table(tmp_path, f"{header}\n{row}\n"))
    assert results.players == ("Ann", "Bo")
    assert results.score.tolist() == [score]
    assert results.player_1.tolist() == [0]


def test_where_the_winner_stands_first_a_walkover_is_no_game(tmp_path):
    path = table(tmp_path, "date,winner,loser,score\n2024-01-05,A,B,6-1\n2024-01-06,A,C,W/O\n2024-01-07,A,C,6-1 RET\n")
    results = read_results(path)
    assert (len(results), results.tally.counts) == (2, {"walkover": 1})


def test_goals_that_are_no_numbers_are_named(tmp_path):
    text = "date,home,away,home_score,away_score\n2024-01-05,A,B,,2\n2024-01-06,A,B,1,2\n"
    results = read_results(table(tmp_path, text))
    assert results.score.tolist() == [0.0]
    assert results.tally.counts == {"no score": 1}


def test_what_is_not_understood_comes_with_a_line_to_use():
    with pytest.raises(InputError, match="which column is score") as error:
        find_layout(["when", "white", "black", "date", "points"])
    assert error.value.hint.endswith("--columns player_1=white,player_2=black,date=date,score=…")


def test_published_ratings_are_read_where_asked_for_and_a_blank_is_none(tmp_path):
    path = table(tmp_path, "date,white,black,result,welo,belo\n2024-01-05,A,B,1-0,2285,\n")
    assert read_results(path).rating_1 is None
    for asked in ("welo,belo", "header"):
        results = read_results(path, how=Reading(observed=asked))
        assert (results.rating_1.tolist(), results.rating_2.tolist()) == ([2285.0], [0.0])
    with pytest.raises(InputError, match="no columns of published ratings"):
        read_results(path, how=Reading(observed="elo_w,elo_b"))


def test_the_shortest_period_is_what_nearly_all_dates_tell(tmp_path):
    rows = [f"1857.??.??,A,B,{n % 2}" for n in range(9)]
    path = table(tmp_path, "\n".join(["date,white,black,white_score", *rows, "1858.02.03,A,B,1"]) + "\n")
    assert read_results(path).finest == "1Y"
    assert read_results(table(tmp_path, "date,white,black,result\n2024-01-05,A,B,1\n", "two.csv")).finest == "1D"
    assert read_results(path).for_period("1D").share_lost == pytest.approx(0.9)


def test_zip_archives_folders_and_the_standard_input_are_read(tmp_path, monkeypatch):
    text = "date,white,black,result\n2024-01-05,A,B,1-0\n"
    folder = tmp_path / "folder"
    folder.mkdir()
    with zipfile.ZipFile(folder / "one.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("one.csv", text)
    table(folder, text.replace("A,B", "C,D"), "two.csv")
    table(folder, "no table", "notes.md")
    assert read_files([folder]).players == ("A", "B", "C", "D")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert len(read_files([Path("-")])) == 1
    (folder / "two.csv").unlink()
    (folder / "one.zip").unlink()
    with pytest.raises(InputError, match="no table and no games in the folder"):
        read_files([folder])


def test_spellings_become_one_name_and_aliases_are_followed(tmp_path):
    path = table(tmp_path, 'date,white,black,result\n2024-01-05,"KOSMO,S",Bo,1\n2024-01-06,"Kosmo, S.",Cy,1\n')
    results = read_files([path], aliases={"Cy": "Bo"})
    assert results.players == ("Bo", "Kosmo, S.")
    assert sum(results.noted.counts.values()) == 2
    assert np.array_equal(results.player_2, [0, 0])


MANY = {
    "date,player_1,player_2,player_3,winner": "player_3",
    "date,Team A,Team B,Team C,score": "Team C",
    "tourney_date,winner1_name,winner2_name,loser1_name,loser2_name,score": "winner2_name",
    "date,player_1,partner_1,player_2,partner_2,score": "partner_1",
    "race,date,driver,position": "position",
    "event,date,name,Place": "Place",
}


@pytest.mark.parametrize(("header", "column"), MANY.items())
def test_games_of_more_than_two_are_refused_with_what_to_do(tmp_path, header, column):
    cells = ",".join(["2024-01-05"] * len(header.split(",")))
    with pytest.raises(InputError, match=f"more than two.*{column}") as caught:
        read_results(table(tmp_path, f"{header}\n{cells}\n"))
    assert "a row for each pair" in caught.value.hint


def test_who_says_which_columns_play_each_other_is_believed(tmp_path):
    path = table(tmp_path, "date,player_1,player_2,player_3,score\n2024-01-05,A,B,C,1\n")
    found = read_results(path, columns={"player_1": "player_1", "player_2": "player_3"})
    assert found.players == ("A", "C")


def test_a_player_and_his_opponent_are_two(tmp_path):
    path = table(tmp_path, "date,player,opponent,result\n2024-01-05,A,B,win\n")
    assert read_results(path).players == ("A", "B")
