"""Ratings on the Elo axis: efforts, priors, groups, what is shown first, and what is said of who is not rated."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import skilloscope as sk
from skilloscope.chess.human.model import Network
from skilloscope.chess.pgn.games import Games
from skilloscope.cli.app import app
from skilloscope.core.errors import EngineError, InputError
from skilloscope.evidence import Normal, Uniform
from skilloscope.evidence.axis import ELO, Effects, elo_axis, elo_posterior, games_for_sd
from skilloscope.evidence.scales import elo_prior, scale
from skilloscope.inputs.budget import fair_order
from skilloscope.inputs.bundled import demo_file
from skilloscope.inputs.pipeline import with_priors
from skilloscope.inputs.request import RatingRequest, effort_for, settings_warnings
from skilloscope.studies.basis import SELECTS
from skilloscope.studies.elo_ratings import EloRatings

AXIS = elo_axis()
SHORT = '[White "Thin"]\n[Black "Nobody"]\n\n1. e4 *\n\n'


@pytest.fixture(scope="module")
def instant() -> EloRatings:
    """The games that ship by what people play alone, with a game of one move beside them."""
    return sk.rate(with_game(sk.demo_games(), SHORT), effort="instant")


@pytest.fixture(scope="module")
def full() -> EloRatings:
    """The same games with the analyses that ship."""
    return sk.rate(with_game(sk.demo_games(), SHORT), effort="full", imports=[sk.analyses_file()])


@pytest.fixture
def without_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOCKFISH_EXECUTABLE", "/nowhere/stockfish")


def with_game(games: Games, pgn: str) -> Games:
    return Games.concat([games, sk.read_games(io.StringIO(pgn))])


def rated(*words: object, code: int = 0) -> tuple[dict[str, Any], str]:
    done = CliRunner().invoke(app, ["rate", *map(str, words), "--json"])
    assert done.exit_code == code, done.stderr
    return json.loads(done.stdout) if done.stdout else {}, done.stderr


def test_instant_needs_no_engine(instant, without_engine):
    ratings = sk.rate(str(demo_file("game_of_the_century.pgn")), effort="instant")
    assert {one.player for one in ratings.players} == {"Byrne, Donald", "Fischer, Robert James"}
    assert ratings.basis.engine == {}
    same = instant["Byrne, Donald"]
    assert ratings["Byrne, Donald"].elo.mean == pytest.approx(same.elo.mean, abs=1e-9)
    assert same.statistics.move_match is None
    assert set(same.methods) == {"human"}


def test_what_people_play_is_kept_beside_the_store(tmp_path, monkeypatch):
    game, store = demo_file("game_of_the_century.pgn"), tmp_path / "analyses.sqlite"
    first = sk.rate(game, effort="instant", store=store)

    def asked(*_: object) -> None:
        raise AssertionError("the network was asked again")

    monkeypatch.setattr(Network, "maps", asked)
    second = sk.rate(game, effort="instant", store=store)
    assert [one.elo.mean for one in second.players] == [one.elo.mean for one in first.players]


def test_without_an_engine_people_decide_alone_and_a_line_says_so(without_engine):
    report, _ = rated(demo_file("game_of_the_century.pgn"))
    assert report["method"] == "human"
    assert report["effort"]["name"] == "instant"
    assert "rated by the human model alone" in report["warnings"][0]
    _, said = rated(demo_file("game_of_the_century.pgn"), "--effort", "full", code=1)
    assert "not analysed yet" in said
    with pytest.raises(EngineError):
        sk.rate(demo_file("game_of_the_century.pgn"), method="joint")


def test_who_has_made_few_moves_never_stands_above_the_well_known(full):
    marks = [one.little_evidence for one in full.players]
    assert marks == sorted(marks)
    assert full["Thin"].little_evidence
    assert not full.players[0].little_evidence
    for block in (True, False):
        lows = [one.elo.interval(0.95)[0] for one in full.players if one.little_evidence is block]
        assert lows == sorted(lows, reverse=True)
    first, second = full.tables()
    assert "Thin" not in [row[0] for row in first.rows]
    assert "Thin" in [row[0] for row in second.rows]


def test_who_could_not_be_rated_is_named_with_the_reason(instant):
    assert instant.idle == {"Nobody": "no move in the games that could be used"}
    assert instant.as_dict()["unrated"] == [{"player": "Nobody", "reason": instant.idle["Nobody"]}]
    assert any("not rated: Nobody" in note for note in instant.tables()[-1].notes)


def test_every_table_names_prior_axis_effort_and_range(instant):
    said = " ".join(instant.tables()[-1].notes)
    for word in ("prior: population", "mean", "sd", "axis 'default'", "effort 'instant'", "fitted from"):
        assert word in said
    assert instant.basis.prior.source


def test_no_evidence_gives_back_the_prior():
    header = elo_posterior(np.zeros_like(ELO), AXIS.prior("header", header_elo=2000.0))
    assert (header.mean, header.sd) == (pytest.approx(2000, abs=1), pytest.approx(100, abs=0.5))
    line = scale()
    nothing = sk.Evidence.zero(sk.Grid())
    for at in (2000.0, 2700.0):
        assert line.posterior(nothing, elo_prior("header", line, header_elo=at)).sd == pytest.approx(100, abs=0.5)


def century(white: int, black: int) -> Games:
    text = demo_file("game_of_the_century.pgn").read_text()
    return sk.read_games(io.StringIO(f'[WhiteElo "{white}"]\n[BlackElo "{black}"]\n{text}'))


def test_the_opponents_rating_moves_the_prior_and_the_own_rating_does_not():
    one, other, third = (
        sk.rate(century(*pair), effort="instant") for pair in ((1500, 2500), (2600, 2500), (1500, 1600))
    )
    byrne = [found["Byrne, Donald"] for found in (one, other, third)]
    assert byrne[0].elo.mean == byrne[1].elo.mean > byrne[2].elo.mean + 100
    assert byrne[0].without_prior == byrne[1].without_prior > byrne[2].without_prior  # the loss counts
    assert one.basis.prior.name == "opponents"
    assert byrne[0].elo.prior.startswith("t with")
    assert "without prior" in one.tables()[-1].columns
    population = sk.rate(century(1500, 2500), effort="instant", prior="population")["Byrne, Donald"]
    assert population.elo.mean < byrne[0].elo.mean


def test_a_match_tells_of_one_opponent_however_long_it_is():
    games = century(1900, 1300).select(np.zeros(4, dtype=np.int64))
    asked = RatingRequest.of(effort="instant")
    one, match = (with_priors(asked, some).priors for some in (games.select(np.array([0])), games))
    assert match == one
    assert one["Byrne, Donald"].sd > 250


def test_a_part_of_a_players_games_has_the_prior_of_all_of_them():
    games = sk.demo_games()
    whole = sk.rate(games, effort="instant", prior="file")
    assert whole.basis.prior.name == "file"
    again = sk.rate(games, effort="instant", prior="file", player=whole.players[0].player)
    assert again.players[0].elo.mean == pytest.approx(whole.players[0].elo.mean, rel=1e-9)
    assert whole.players[0].elo.prior != whole.players[1].elo.prior


def test_parts_by_result_say_that_they_select():
    games = sk.demo_games()
    assert SELECTS in sk.rate(games, effort="instant", by="result", parts="independent").warnings
    assert SELECTS not in sk.rate(games, effort="instant").warnings
    name = sk.rate(games, effort="instant").players[0].player
    assert SELECTS in sk.breakdown(games, "result", name, effort="instant").warnings


def test_the_header_counts_only_where_it_is_asked_for():
    text = demo_file("game_of_the_century.pgn").read_text()
    games = [sk.read_games(io.StringIO(f'[WhiteElo "{elo}"]\n{text}')) for elo in (1200, 2600)]
    low, high = (sk.rate(one, effort="instant")["Byrne, Donald"] for one in games)
    assert low.elo.mean == high.elo.mean
    assert (low.header_elo, high.header_elo) == (1200, 2600)
    low, high = (sk.rate(one, effort="instant", prior="header")["Byrne, Donald"] for one in games)
    assert high.elo.mean - low.elo.mean > 500


def test_any_number_of_workers_gives_the_same(monkeypatch):
    monkeypatch.setattr("skilloscope.inputs.pipeline.GAMES_AT_ONCE", 3)
    few = sk.demo_games().select(np.arange(8))
    one, two = (sk.rate(few, effort="instant", workers=n) for n in (1, 2))
    assert one.as_dict() == two.as_dict()


def test_the_joint_method_counts_openings_and_decided_positions_and_the_agent_stands_beside():
    ratings = sk.rate(sk.demo_games(), imports=[sk.analyses_file()], method="all")
    fischer = ratings["Fischer, Robert James"]
    assert fischer.sources == {"opening": 12, "joint": 29}
    assert set(fischer.methods) == {"joint", "human", "agent", "curves", "gain"}
    methods = next(row for row in ratings.as_dict()["players"] if row["player"] == fischer.player)["methods"]
    assert {"c", "sd", "low", "high", "elo"} <= set(methods["agent"])
    assert all({"elo", "elo_low", "elo_high"} <= set(found) for found in methods.values())
    assert ratings.tally.as_dict() == {"forced": 10}
    assert fischer.statistics.move_match is not None


@pytest.mark.parametrize(
    ("by", "labels"),
    [
        ("phase", {"opening", "middlegame", "endgame"}),
        ("colour", {"white", "black"}),
        ("opponent", {"Byrne, Donald", "Fischer, Robert James"}),
        ("eco", {"D9"}),
        ("year", {"1956"}),
    ],
)
def test_moves_are_grouped_by_what_the_games_say(by, labels):
    games = sk.read_games(io.StringIO('[ECO "D97"]\n' + demo_file("game_of_the_century.pgn").read_text()))
    ratings = sk.rate(games, effort="instant", by=by, parts="independent")
    assert {one.player for one in ratings.players} == labels
    assert sum(one.decisions for one in ratings.players) == 75
    assert all(one.more_games is None for one in ratings.players)


def test_time_spent_comes_from_the_clocks():
    text = (
        '[White "Ann"]\n[Black "Bob"]\n[TimeControl "600+5"]\n\n1. e4 {[%clk 0:10:00]} e5 {[%clk 0:10:00]} '
        "2. Nf3 {[%clk 0:10:00]} Nc6 {[%clk 0:08:05]} *\n"
    )
    games = sk.read_games(io.StringIO(text))
    ratings = sk.rate(games, effort="instant", by="time-spent", parts="independent")
    assert {one.player: one.decisions for one in ratings.players} == {"5 to 10 s": 1, "2 to 10 min": 1}
    assert ratings.tally.as_dict() == {"no time-spent": 2}
    assert any("rapid or faster" in warning for warning in ratings.warnings)


def test_games_from_positions_that_the_model_does_not_know_are_counted():
    odd = '[White "Ann"]\n[Black "Bob"]\n[FEN "kk6/8/8/8/8/8/P7/K7 w - - 0 1"]\n\n1. a4 *\n'
    ratings = sk.rate(with_game(sk.demo_games().select([18]), odd), effort="instant")
    assert len(ratings.players) == 2
    assert ratings.tally.total >= 1


def test_methods_and_efforts_that_contradict_each_other_are_refused():
    for method, effort in (
        ("human", "full"),
        ("joint", "instant"),
        ("curves", "instant"),
        ("oracle", None),
        (None, "endless"),
    ):
        with pytest.raises(InputError):
            effort_for(AXIS, method, effort)
    with pytest.raises(InputError, match="papers' agent"):
        sk.rate(sk.Decisions.from_lists(["a"], [[0.0, -1.0]], [0]), effort="instant")


def test_the_effort_follows_the_depth_and_other_settings_are_a_warning():
    assert effort_for(AXIS, None, None).name == "full"
    assert [effort_for(AXIS, None, None, depth).name for depth in (2, 6, 9, 10, 14)] == [
        "quick", "quick", "quick", "full", "full",
    ]  # fmt: skip
    full = AXIS.effort("full")
    assert settings_warnings(full, full.settings) == []
    (said,) = settings_warnings(full, {**full.settings, "depth": 14})
    assert "no scale was fitted" in said


def test_games_alone_do_not_reach_what_a_persons_style_hides():
    flat, normal = Uniform(700, 3000), Normal(2000, 350, 700, 3000)
    told = {"joint": 1 / 250**2}
    assert games_for_sd(100.0, told, {"joint": Effects(person_sd=150)}, flat, 5) is None
    open_end = games_for_sd(100.0, told, {"joint": Effects(person_sd=50)}, flat, 1)
    helped = games_for_sd(100.0, told, {"joint": Effects(person_sd=50)}, normal, 1)
    assert open_end is not None
    assert helped is not None
    assert helped <= open_end


def test_a_budget_helps_all_players_alike():
    games = sk.demo_games()
    order = fair_order(games, seed=1)
    assert sorted(order.tolist()) == list(range(len(games)))
    white, black = (games.headers[side].to_pylist() for side in ("white", "black"))
    seen = [name for row in order[:3].tolist() for name in (white[row], black[row])]
    assert len(set(seen)) == 6


def test_a_budget_that_is_spent_leaves_games_to_the_human_model(tmp_path: Path, fake_engine):
    pgn = '[White "Ann"]\n[Black "Bob"]\n[FEN "7k/p7/8/8/8/8/P7/K7 w - - 0 50"]\n\n50. a4 Kg7 51. a5 Kf6 *\n\n'
    (tmp_path / "games.pgn").write_text(pgn + pgn.replace("Ann", "Cyd").replace("Kf6", "Kf7"))
    engine = ["--engine", fake_engine(""), "--depth", 2, "--multipv", 2, "--workers", 1]
    report, _ = rated(tmp_path / "games.pgn", *engine, "--budget", 5)
    assert report["sample"]["games"] == 2
    assert report["method"] == "joint"
    assert all(player["searched_games"] == player["games"] for player in report["players"])
    assert any("the budget of 5 minutes took 2 games of 2" in said for said in report["warnings"])


def test_a_scale_file_is_told_by_what_it_holds(tmp_path: Path, without_engine):
    (tmp_path / "axis.json").write_text(replace(AXIS, name="mine").to_json())
    (tmp_path / "agent.json").write_text(scale().to_json())
    game = demo_file("game_of_the_century.pgn")
    report, _ = rated(game, "--scale", tmp_path / "axis.json", "--effort", "instant")
    assert report["scale"]["name"] == "mine"
    report, said = rated(game, "--scale", tmp_path / "agent.json", "--import", sk.analyses_file())
    assert report["method"] == "agent"
    assert "rated by the papers' agent" in said
    rated(game, "--scale", tmp_path / "agent.json", "--method", "human", code=1)


def test_evaluations_in_comments_are_evidence_without_an_engine(without_engine: None) -> None:
    played = ("1. e4", 0.3), ("e5", 0.2), ("2. Qh5", -0.4), ("Nc6", -0.4), ("3. Bc4", -0.5), ("g6", -0.5)
    moves = " ".join(f"{move} {{[%eval {value}]}}" for move, value in played)
    games = sk.read_games(io.StringIO(f'[White "Ann"]\n[Black "Bob"]\n\n{moves} *\n'))
    found = {one.player: one for one in sk.rate(games, effort="evaluations").players}
    assert found["Ann"].sources["evaluated"] == 2  # the first has no value before it
    assert found["Ann"].decisions == 3
    plain = {one.player: one for one in sk.rate(games, effort="instant").players}
    assert "evaluated" not in plain["Ann"].sources
    assert found["Ann"].elo.mean != plain["Ann"].elo.mean


def test_a_player_who_is_not_rated_is_named():
    ratings = sk.rate(sk.demo_games(), effort="instant")
    with pytest.raises(InputError, match="no player 'Nobody' is rated"):
        ratings["Nobody"]


def test_a_scale_of_games_is_an_axis():
    with pytest.raises(InputError, match="rated on an EloAxis, not 'default'"):
        sk.rate(sk.demo_games(), scale="default", effort="instant")
