"""`rate --with-results` and `fuse`: results of games beside the moves of the same players."""

from __future__ import annotations

import io
import json

import pytest
from typer.testing import CliRunner

import skilloscope as sk
from skilloscope.cli.app import app
from skilloscope.core.errors import InputError
from skilloscope.inputs.bundled import demo_file

BYRNE, FISCHER = "Byrne, Donald", "Fischer, Robert James"
GAMES = demo_file("game_of_the_century.pgn")


@pytest.fixture(scope="module")
def ratings():
    return sk.rate(GAMES, effort="instant")


def headers(*rows: tuple[str, str, str, str]) -> str:
    return "".join(
        f'[White "{white}"]\n[Black "{black}"]\n[Result "{result}"]\n[Date "1956.10.17"]\n{elo}\n1. e4 e5 {result}\n\n'
        for white, black, result, elo in rows
    )


def test_who_won_gains_and_who_lost_falls(ratings):
    fused = sk.fuse(ratings, sk.read_games(GAMES))
    assert fused[FISCHER].elo.mean > ratings[FISCHER].elo.mean
    assert fused[BYRNE].elo.mean < ratings[BYRNE].elo.mean
    assert fused[FISCHER].results.score == 1
    assert fused.fusion.opponents_known_by == {"header": 0, "moves": 2, "population": 0}
    assert fused[FISCHER].methods["moves"].elo == ratings[FISCHER].elo.mean


def test_a_rated_opponent_is_known_by_the_header_and_the_own_rating_never_used(ratings):
    rated = '[WhiteElo "2600"]\n[BlackElo "{own}"]'
    found = [
        sk.fuse(ratings, sk.read_games(io.StringIO(headers(("Reshevsky, S", FISCHER, "0-1", rated.format(own=own))))))
        for own in (1200, 2800)
    ]
    assert found[0][FISCHER].elo.mean == found[1][FISCHER].elo.mean > ratings[FISCHER].elo.mean
    assert found[0].fusion.opponents_known_by["header"] == 1
    assert found[0][BYRNE] is not None
    assert found[0][BYRNE].results is None
    assert found[0][BYRNE].elo.mean == ratings[BYRNE].elo.mean


def test_games_without_a_result_are_counted(ratings):
    fused = sk.fuse(ratings, sk.read_games(io.StringIO(headers((BYRNE, FISCHER, "*", "")))))
    assert fused.tally.counts["game without a result"] == 1
    assert fused[FISCHER].results is None


def test_a_table_of_results_serves_as_well(ratings, tmp_path):
    table = tmp_path / "season.csv"
    table.write_text(
        f'date,player_1,player_2,score\n1956-10-17,"{BYRNE}","{FISCHER}",0\n1956-10-18,"Nn Other","{FISCHER}",1\n'
    )
    fused = sk.fuse(ratings, sk.read_results(table))
    assert fused[FISCHER].results.games == 2
    assert fused.fusion.opponents_known_by["population"] == 1


def test_results_are_of_players_and_on_an_axis_that_knows_them(ratings):
    colours = sk.rate(GAMES, effort="instant", by="colour", parts="independent")
    with pytest.raises(InputError, match="results are of players"):
        sk.fuse(colours, sk.read_games(GAMES))


def test_the_command_shows_moves_results_and_both():
    done = CliRunner().invoke(app, ["rate", str(GAMES), "--effort", "instant", "--with-results", str(GAMES), "--json"])
    assert done.exit_code == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["players"][0]["results"] == {"games": 1, "score": 1.0, "opponents": pytest.approx(2200, abs=400)}
    assert set(report["players"][0]["methods"]) == {"human", "moves", "results"}
    (sheet,) = sk.rate(GAMES, effort="instant", with_results=GAMES).tables()
    assert {"moves alone", "results alone", "score"} <= set(sheet.columns)
    assert any("results of 1 game count" in note for note in sheet.notes)
    agent = CliRunner().invoke(app, ["rate", str(GAMES), "--method", "agent", "--with-results", str(GAMES)])
    assert "--with-results" in agent.stderr


def test_the_page_says_that_results_are_in_it(ratings):
    fused = sk.rate(GAMES, effort="instant", with_results=GAMES)
    assert "Elo from moves and results" in fused.page("s", title="t")
    assert "Elo from the moves" in ratings.page("s", title="t")
