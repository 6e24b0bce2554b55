"""Studies on the Elo axis: breakdown, profile, compare, by game, likelihood; from commands and from Python."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import skilloscope as sk
from skilloscope.chess.human.played import played_moves
from skilloscope.cli.app import app
from skilloscope.core.errors import InputError
from skilloscope.inputs.bundled import demo_file
from skilloscope.inputs.load import EngineJob
from skilloscope.inputs.pipeline import AnalysedGames, analysed_games, elo_evidence
from skilloscope.inputs.request import RatingRequest
from skilloscope.studies.breakdown import breakdown
from skilloscope.studies.by_game import elo_by_game, follow_elo
from skilloscope.studies.compare import compare
from skilloscope.studies.likelihood import Strength, elo_likelihood, move_logs, sequence_moments
from skilloscope.studies.profile import elo_profile

FISCHER = "Fischer, Robert James"
NAMED = ("prior: population", "axis 'default'", "effort 'instant'", "fitted from 1000 to 2750")


@pytest.fixture(scope="module")
def found() -> AnalysedGames:
    """A few games, some of them a year later, read by what people play."""
    games = sk.demo_games()
    sides = [games.headers[side].to_pylist() for side in ("white", "black")]
    first = sides[0][0]
    some = games.select(np.flatnonzero([first in pair for pair in zip(*sides, strict=True)])[:6])
    dates = ["2001.01.01"] * 3 + ["2003.05.01"] * (len(some) - 3)
    headers = some.headers
    for name, values in (("date", dates), ("year", [int(date[:4]) for date in dates])):
        field = headers.schema.field(name)
        place = headers.schema.get_field_index(name)
        headers = headers.set_column(place, field, pa.array(values, type=field.type))
    return analysed_games(replace(some, headers=headers), RatingRequest.of(effort="instant"), EngineJob())


@pytest.fixture(scope="module")
def player(found) -> str:
    names = [*found.games.headers["white"].to_pylist(), *found.games.headers["black"].to_pylist()]
    return max(set(names), key=names.count)


def run(*words: object, code: int = 0) -> tuple[Any, str]:
    done = CliRunner().invoke(app, [*map(str, words)])
    assert done.exit_code == code, done.stderr
    return done.stdout, done.stderr


def test_a_breakdown_has_elo_by_phase_and_its_table_says_what_it_is_based_on(found, player):
    study = breakdown(found, "phase", [player])
    (one,) = study.players
    assert [group.group for group in one.groups][:2] == ["opening", "middlegame"]
    (table,) = study.tables()
    assert "parts pooled towards the player's own level" in table.title
    notes = " ".join(table.notes)
    assert all(words in notes for words in NAMED)
    assert "between parts" in notes
    assert "<svg" in study.page()
    together = breakdown(found, "colour")
    assert [one.player for one in together.players] == ["everybody"]
    assert together.players[0].counts["decisions"] > one.counts["decisions"]


def test_parts_are_pooled_unless_independent_ones_are_asked_for(found, player):
    pooled, alone = (breakdown(found, "phase", player, parts) for parts in ("pooled", "independent"))
    assert "each part rated independently" in alone.tables()[0].title
    assert (pooled.spread is None, alone.spread) == (False, None)
    for one, other in zip(pooled.groups, alone.groups, strict=True):
        assert other.part.posterior.mean == one.part.alone.mean == other.part.alone.mean
        assert other.part.change is None
    means = [[group.part.posterior.mean for group in study.groups] for study in (pooled, alone)]
    assert np.ptp(means[0]) < np.ptp(means[1])


def test_python_gives_what_the_commands_show():
    game = demo_file("game_of_the_century.pgn")
    asked = (game, "--effort", "instant", "--player", "fischer", "--json")
    sent = json.loads(run("breakdown", *asked, "--by", "colour", "--parts", "independent")[0])
    assert sk.breakdown(game, "colour", "fischer", "independent", effort="instant").as_dict() == sent
    pooled = sk.breakdown(game, "phase", "fischer", effort="instant").as_dict()
    assert json.loads(run("breakdown", *asked)[0]) == pooled
    assert json.loads(run("rate", *asked, "--by", "phase")[0]) == pooled
    sent = json.loads(run("compare", *asked, "--player", "byrne")[0])
    assert sk.compare(game, players=["fischer", "byrne"], effort="instant").as_dict() == sent
    sent = json.loads(run("compare", *asked, "--by", "phase", "--values", "opening", "middlegame")[0])
    split = sk.compare(game, players="fischer", by="phase", values=("opening", "middlegame"), effort="instant")
    assert split.as_dict() == sent


def test_a_profile_has_a_part_for_each_year_and_changes_between_them(found, player):
    study = elo_profile(found, [player])
    report = study.as_dict()
    periods = report["players"][0]["periods"]
    assert [one["period"] for one in periods] == ["2001", "2003"]
    assert periods[0]["change"] is None
    assert periods[1]["change"]["low"] < periods[1]["change"]["high"]
    assert periods[1]["change"]["sd"] < np.hypot(*(one["alone"]["elo_sd"] for one in periods))
    assert report["period_prior"] == "drift"
    assert all(words in " ".join(study.tables()[0].notes) for words in NAMED)
    assert "<svg" in study.page()


def test_one_period_stands_alone_and_says_so(found, player):
    early = AnalysedGames(found.games.select(np.arange(3)), None, found.asked)
    study = elo_profile(early, [player])
    assert study.as_dict()["period_prior"] == "reset"
    assert any("only one year" in said for said in study.warnings)
    alone = elo_profile(early, [player], prior="reset").players[0].periods[0]
    assert study.players[0].periods[0].posterior.mean == pytest.approx(alone.posterior.mean)


def test_priors_of_the_agent_are_refused_on_the_axis(found, player):
    with pytest.raises(InputError, match="papers' agent"):
        elo_profile(found, [player], prior="widen")


def test_two_players_are_compared_on_one_axis(found, player):
    other = next(name for name in found.games.headers["white"].to_pylist() if name != player)
    study, turned = compare(found, players=[player, other]), compare(found, players=[other, player])
    first, second = (one.as_dict()["comparisons"][0] for one in (study, turned))
    assert first["second_stronger"] == pytest.approx(1 - second["second_stronger"], abs=1e-3)
    assert first["difference"] == pytest.approx(-second["difference"], abs=0.5)
    assert first["low"] < first["difference"] < first["high"]
    assert "each side rated independently" in study.tables()[0].title
    assert all(words in " ".join(study.tables()[0].notes) for words in NAMED)
    assert "<svg" in study.page()


def test_both_sides_of_a_day_share_the_persons_effects(found, player):
    study = compare(found, players=player, split_on="2002-01-01")
    assert "pair model" in study.tables()[0].title
    assert study.sides.shared_effects
    (one,) = study.comparisons
    assert one.difference.sd < np.hypot(one.first.part.posterior.sd, one.second.part.posterior.sd)
    with pytest.raises(InputError, match="no move of"):
        compare(found, players=player, split_on="1990-01-01")
    (by,) = compare(found, players=player, by="colour").comparisons
    assert (by.first.label, by.second.label) == ("colour white", "colour black")
    with pytest.raises(InputError, match="two sides"):
        compare(found, players=player)


def test_games_are_points_and_a_game_is_followed_move_by_move(found, player):
    study = elo_by_game(found, player, game=found.games.headers["game"][0].as_py())
    report = study.as_dict()
    assert len(report["games"]) == len(found.games)
    groups = elo_evidence(found, ("player", "game")).main.groups()  # a game alone, without what the others say
    alone = [found.asked.posterior(rows).sd for (who, _), rows in groups.items() if who == player]
    assert report["overall"]["elo_sd"] < min(alone)
    assert all(words in " ".join(study.tables()[0].notes) for words in NAMED)
    game = report["games"][0]
    running = follow_elo(found, game["game"])
    own = [move for move in running.moves if move.player == player]
    assert own[-1].decisions == game["own"]["decisions"] == len(own)
    assert own[-1].band[0] == pytest.approx(game["own"]["elo"], abs=0.5)
    assert all(move.probability is not None and 0 < move.probability <= 1 for move in running.moves)
    assert len(study.tables()[1].rows) == len(running.moves) == len(report["followed"]["moves"])
    assert study.page().count("<svg") == 2


def test_a_sequence_is_held_against_people_of_an_elo(found, player):
    study = elo_likelihood(found, player, Strength(elo=1600.0, draws=500))
    assert (study.strength.c, study.strength.elo, len(study.games)) == (None, 1600.0, len(found.games))
    assert sum(part.decisions for part in study.games) == study.total.decisions
    table = study.tables()[0]
    assert "people of Elo 1600" in table.title
    assert any("effort 'instant'" in note and "fitted from" in note for note in table.notes)
    assert "never a verdict" in study.page()
    assert study.total.expected > study.total.log_probability  # players simulated by losses alone are unlike people
    far = elo_likelihood(found, player, Strength(elo=2900.0, draws=500))
    assert any("outside the range" in said for said in far.caution)


def test_what_people_of_an_elo_choose_is_not_unusual_for_them(found, player):
    moves = played_moves(found.games)
    logs, offsets = move_logs(moves, found, 1800.0), moves.choices.offsets
    totals = np.add.reduceat(np.exp(logs), offsets[:-1])
    assert totals == pytest.approx(np.ones(len(moves)))
    rng = np.random.default_rng(1)
    drawn = [int(rng.choice(b - a, p=np.exp(logs[a:b]) / np.exp(logs[a:b]).sum())) for a, b in pairwise(offsets)]
    mean, variance = sequence_moments(logs, offsets)
    actual = logs[offsets[:-1] + np.array(drawn)]
    assert abs((actual - mean).sum()) < 3.5 * np.sqrt(variance.sum())


def test_with_an_engine_the_agents_c_stands_beside_in_the_json(monkeypatch):
    monkeypatch.setenv("STOCKFISH_EXECUTABLE", "/nowhere/stockfish")
    common = (demo_file("simulated.pgn"), "--import", demo_file("analyses.jsonl.gz"), "--player", "c = 2.0", "--json")
    report = json.loads(run("breakdown", *common, "--by", "phase")[0])
    assert report["method"] == "joint"
    opening, middlegame, _ = report["players"][0]["groups"]
    assert opening["agent"] is None
    assert {"c", "sd", "low", "high", "elo"} <= set(middlegame["agent"])
    assert set(middlegame["sources"]) == {"joint"}


@pytest.mark.parametrize("method", ["curves", "gain"])
def test_the_papers_other_methods_rate_on_the_axis(method, monkeypatch):
    monkeypatch.setenv("STOCKFISH_EXECUTABLE", "/nowhere/stockfish")
    common = (demo_file("simulated.pgn"), "--import", demo_file("analyses.jsonl.gz"), "--json")
    report = json.loads(run("rate", *common, "--method", method)[0])
    elo = {one["player"]: one["elo"] for one in report["players"]}
    assert elo["simulated, c = 0.6"] < elo["simulated, c = 1.0"] < elo["simulated, c = 1.4"] < elo["simulated, c = 2.0"]
    assert all(set(one["sources"]) == {method} for one in report["players"])
    assert all(one["elo_low"] < one["elo"] < one["elo_high"] for one in report["players"])


@pytest.mark.parametrize("method", ["curves", "gain", "all"])
def test_a_profile_and_games_have_an_elo_by_every_method(method, monkeypatch):
    monkeypatch.setenv("STOCKFISH_EXECUTABLE", "/nowhere/stockfish")
    common = (demo_file("simulated.pgn"), "--import", demo_file("analyses.jsonl.gz"), "--method", method, "--json")
    report = json.loads(run("by-game", *common, "--player", "c = 1.4", "--game", "simulated.pgn#6")[0])
    assert report["method"] == method
    last = [move for move in report["followed"]["moves"] if move["player"] == report["player"]][-1]
    game = next(game for game in report["games"] if game["game"] == "simulated.pgn#6")
    assert (last["elo"], last["decisions"]) == (pytest.approx(game["own"]["elo"], abs=0.5), game["own"]["decisions"])


def test_commands_speak_elo_and_the_agent_on_request():
    game = demo_file("game_of_the_century.pgn")
    told, _ = run("breakdown", game, "--effort", "instant", "--player", "fischer", "--json")
    report = json.loads(told)
    assert report["players"][0]["player"] == FISCHER
    assert {"elo", "elo_low", "elo_high", "alone", "change", "agent"} <= set(report["players"][0]["groups"][0])
    told, _ = run("compare", game, "--effort", "instant", "--player", "fischer", "--player", "byrne", "--json")
    assert json.loads(told)["comparisons"][0]["first"]["label"] == FISCHER
    _, said = run("compare", game, "--player", "fischer", code=2)
    assert "two sides" in said
    _, said = run("profile", game, "--player", "fischer", "--effort", "instant", "--prior", "carry", code=2)
    assert "papers' agent" in said
    _, said = run("breakdown", game, "--effort", "instant", "--dispersion", "2", code=2)
    assert "--method agent" in said


@pytest.mark.parametrize("method", ["curves", "gain"])
def test_every_command_on_the_axis_takes_the_papers_methods(method, monkeypatch):
    monkeypatch.setenv("STOCKFISH_EXECUTABLE", "/nowhere/stockfish")
    given = (demo_file("simulated.pgn"), "--import", demo_file("analyses.jsonl.gz"), "--method", method, "--json")
    parts = json.loads(run("breakdown", *given, "--player", "c = 2.0")[0])
    assert parts["method"] == method
    assert all(set(group["sources"]) == {method} for group in parts["players"][0]["groups"])
    compared = json.loads(run("compare", *given, "--player", "c = 0.6", "--player", "c = 2.0")[0])
    assert compared["comparisons"][0]["second_stronger"] > 0.9
    assert json.loads(run("by-game", *given, "--player", "c = 2.0")[0])["method"] == method
