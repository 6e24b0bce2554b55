"""Results next to moves: by default where opponents are rated, by `--with-results` from a file."""

from __future__ import annotations

import io
import json

import pytest
from typer.testing import CliRunner

import skilloscope as sk
from skilloscope.chess.pgn.games import Games
from skilloscope.cli.app import app
from skilloscope.core.errors import InputError
from skilloscope.inputs.bundled import demo_file

BYRNE, FISCHER = "Byrne, Donald", "Fischer, Robert James"
GAMES = demo_file("game_of_the_century.pgn")
TEXT = GAMES.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def ratings():
    return sk.rate(GAMES, effort="instant")


def fused(results):
    return sk.rate(GAMES, effort="instant", with_results=results)


def rated(white: int | None, black: int | None, result: str = "0-1") -> Games:
    """Return the game with these ratings and this result in its header."""
    elos = (("White", white), ("Black", black))
    tags = "".join(f'[{side}Elo "{elo}"]\n' for side, elo in elos if elo is not None)
    text = TEXT.replace("0-1", result).replace('[Result "', f'{tags}[Result "')
    assert text != TEXT or (not tags and result == "0-1")
    return sk.read_games(io.StringIO(text))


def headers(*rows: tuple[str, str, str, str]) -> str:
    return "".join(
        f'[White "{white}"]\n[Black "{black}"]\n[Result "{result}"]\n[Date "1956.10.17"]\n{elo}\n1. e4 e5 {result}\n\n'
        for white, black, result, elo in rows
    )


def test_results_against_rated_opponents_count_by_default_and_the_moves_alone_are_shown():
    found, drawn = (sk.rate(rated(2400, None, result), effort="instant") for result in ("0-1", "1/2-1/2"))
    fischer, byrne = found[FISCHER], found[BYRNE]
    assert fischer.results.score == fischer.results.games == 1
    assert fischer.results.opponents == 2400
    assert fischer.elo.mean > fischer.methods["moves"].elo
    assert fischer.elo.mean > drawn[FISCHER].elo.mean
    assert fischer.methods["moves"].elo == pytest.approx(drawn[FISCHER].methods["moves"].elo, abs=1e-9)
    assert byrne.results is None  # Fischer has no rating in the header
    assert "moves" not in byrne.methods
    assert found.fusion.opponents_known_by == {"header": 1, "moves": 0, "population": 0}
    (sheet,) = found.tables()
    assert {"without results", "score"} <= set(sheet.columns)


def test_the_own_rating_is_never_used_and_without_ratings_or_result_the_moves_count_alone(ratings):
    own = [sk.rate(rated(2400, black), effort="instant")[FISCHER].elo.mean for black in (1200, 2800)]
    assert own[0] == own[1]
    assert ratings.fusion is None
    assert "fusion" not in ratings.as_dict()
    assert sk.rate(rated(2400, 2500, "*"), effort="instant").fusion is None


def test_the_first_move_is_worth_something():
    """A draw with Black against somebody of one's own rating says more than with White."""
    draw = sk.rate(rated(2300, 2300, "1/2-1/2"), effort="instant")
    white, black = (draw[name].methods["results"].elo for name in (BYRNE, FISCHER))
    assert 5 < black - white < 70


def test_groups_of_moves_have_no_results():
    for by in ("game", "event"):
        assert sk.rate(rated(2400, 2500), effort="instant", by=by).fusion is None


def test_who_won_gains_and_who_lost_falls(ratings):
    found = fused(GAMES)
    assert found[FISCHER].elo.mean > ratings[FISCHER].elo.mean
    assert found[BYRNE].elo.mean < ratings[BYRNE].elo.mean
    assert found[FISCHER].results.score == 1
    assert found.fusion.opponents_known_by == {"header": 0, "moves": 2, "population": 0}
    assert found[FISCHER].methods["moves"].elo == ratings[FISCHER].elo.mean


def test_a_rated_opponent_is_known_by_the_header_and_the_own_rating_never_used(ratings):
    elos = '[WhiteElo "2600"]\n[BlackElo "{own}"]'
    found = [
        fused(sk.read_games(io.StringIO(headers(("Reshevsky, S", FISCHER, "0-1", elos.format(own=own))))))
        for own in (1200, 2800)
    ]
    assert found[0][FISCHER].elo.mean == found[1][FISCHER].elo.mean > ratings[FISCHER].elo.mean
    assert found[0].fusion.opponents_known_by["header"] == 1
    assert found[0][BYRNE] is not None
    assert found[0][BYRNE].results is None
    assert found[0][BYRNE].elo.mean == ratings[BYRNE].elo.mean


def test_games_without_a_result_are_counted():
    found = fused(sk.read_games(io.StringIO(headers((BYRNE, FISCHER, "*", "")))))
    assert found.tally.counts["game without a result"] == 1
    assert found[FISCHER].results is None


def test_a_table_of_results_serves_as_well(tmp_path):
    table = tmp_path / "season.csv"
    table.write_text(
        f'date,player_1,player_2,score\n1956-10-17,"{BYRNE}","{FISCHER}",0\n1956-10-18,"Nn Other","{FISCHER}",1\n'
    )
    found = fused(sk.read_results(table))
    assert found[FISCHER].results.games == 2
    assert found.fusion.opponents_known_by["population"] == 1
    assert fused(table)[FISCHER].elo.mean == found[FISCHER].elo.mean


def test_results_are_of_players_and_on_an_axis_that_knows_them():
    with pytest.raises(InputError, match="results are of players"):
        sk.rate(GAMES, effort="instant", by="colour", parts="independent", with_results=GAMES)
    with pytest.raises(InputError, match="results are of players"):
        sk.rate(GAMES, effort="instant", by="game", with_results=GAMES)


def test_the_command_shows_moves_results_and_both():
    done = CliRunner().invoke(app, ["rate", str(GAMES), "--effort", "instant", "--with-results", str(GAMES), "--json"])
    assert done.exit_code == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["players"][0]["results"] == {"games": 1, "score": 1.0, "opponents": pytest.approx(2200, abs=400)}
    assert set(report["players"][0]["methods"]) == {"human", "moves", "results"}
    (sheet,) = fused(GAMES).tables()
    assert {"without results", "score"} <= set(sheet.columns)
    assert any("results of 1 game count" in note for note in sheet.notes)
    agent = CliRunner().invoke(app, ["rate", str(GAMES), "--method", "agent", "--with-results", str(GAMES)])
    assert "--with-results" in agent.stderr


def test_the_page_says_that_results_are_in_it(ratings):
    assert "Elo from moves and results" in fused(GAMES).page("s", title="t")
    assert "Elo from the moves" in ratings.page("s", title="t")


def test_parts_with_a_file_of_results_are_refused_by_the_command_as_well():
    words = ["rate", str(GAMES), "--effort", "instant", "--by", "phase", "--with-results", str(GAMES)]
    done = CliRunner().invoke(app, words)
    assert done.exit_code != 0
    assert "results are of players" in done.stderr
