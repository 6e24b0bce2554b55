"""Studies on the Elo axis: dimensions, profile, compare, within, by the one front; what is asked is what is told."""

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
from skilloscope.cli.app import app
from skilloscope.core.errors import InputError
from skilloscope.sources.judge import Work
from skilloscope.sources.shipped import demo_file
from skilloscope.sources.strength import played_moves
from skilloscope.studies.compare.elo import compare_players, compare_split
from skilloscope.studies.compare.page import elo_comparison_page
from skilloscope.studies.compare.tables import elo_comparison_sheet
from skilloscope.studies.dimensions.elo import elo_dimensions
from skilloscope.studies.dimensions.page import elo_dimensions_page
from skilloscope.studies.dimensions.tables import elo_dimensions_sheet
from skilloscope.studies.profile.elo import elo_profile, elo_profile_report
from skilloscope.studies.profile.page import elo_profile_page
from skilloscope.studies.profile.tables import elo_profile_sheet
from skilloscope.studies.rate.front import JudgedGames, judged_games
from skilloscope.studies.rate.games import AxisRating
from skilloscope.studies.sequence.elo import elo_sequence, move_logs
from skilloscope.studies.sequence.sequence import sequence_moments
from skilloscope.studies.sequence.tables import sequence_sheet
from skilloscope.studies.within.elo import elo_within, follow_elo
from skilloscope.studies.within.page import elo_within_page
from skilloscope.studies.within.tables import elo_within_sheet, running_elo_sheet

FISCHER = "Fischer, Robert James"
NAMED = ("prior: population", "axis 'default'", "effort 'instant'", "fitted from 1000 to 2750")


@pytest.fixture(scope="module")
def found() -> JudgedGames:
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
    return judged_games(replace(some, headers=headers), AxisRating.of(effort="instant"), Work())


@pytest.fixture(scope="module")
def player(found) -> str:
    names = [*found.games.headers["white"].to_pylist(), *found.games.headers["black"].to_pylist()]
    return max(set(names), key=names.count)


def run(*words: object, code: int = 0) -> tuple[Any, str]:
    done = CliRunner().invoke(app, [*map(str, words)])
    assert done.exit_code == code, done.stderr
    return done.stdout, done.stderr


def test_dimensions_tell_elo_by_phase_and_every_table_names_what_it_stands_on(found, player):
    study = elo_dimensions(found, "phase", [player])
    (one,) = study.players
    assert [part.played.name for part in one.parts][:2] == ["opening", "middlegame"]
    said = " ".join(elo_dimensions_sheet(study.as_dict("group")).notes)
    assert all(words in said for words in NAMED)
    assert "between groups" in said
    assert "<svg" in elo_dimensions_page(study, title="by phase", source="")
    together = elo_dimensions(found, "colour")
    assert [one.player for one in together.players] == ["everybody"]
    assert sum(part.played.moves for part in together.players[0].parts) > sum(part.played.moves for part in one.parts)


def test_a_profile_has_a_part_for_each_year_and_changes_between_them(found, player):
    study = elo_profile(found, [player])
    report = elo_profile_report(study)
    periods = report["players"][0]["periods"]
    assert [one["period"] for one in periods] == ["2001", "2003"]
    assert periods[0]["change"] is None
    assert periods[1]["change"]["low"] < periods[1]["change"]["high"]
    assert periods[1]["change"]["sd"] < np.hypot(*(one["alone"]["elo_sd"] for one in periods))
    assert report["period_prior"] == "drift"
    assert all(words in " ".join(elo_profile_sheet(report).notes) for words in NAMED)
    assert "<svg" in elo_profile_page(study, title="over time", source="")


def test_one_period_stands_alone_and_says_so(found, player):
    early = JudgedGames(found.games.select(np.arange(3)), None, found.asked)
    study = elo_profile(early, [player])
    assert elo_profile_report(study)["period_prior"] == "reset"
    assert any("one year only" in said for said in study.warnings)
    alone = elo_profile(early, [player], prior="reset").players[0].parts[0]
    assert study.players[0].parts[0].elo.mean == pytest.approx(alone.elo.mean)


def test_priors_of_the_agent_are_refused_on_the_axis(found, player):
    with pytest.raises(InputError, match="papers' agent"):
        elo_profile(found, [player], prior="widen")


def test_two_players_are_compared_on_one_axis(found, player):
    other = next(name for name in found.games.headers["white"].to_pylist() if name != player)
    study, turned = compare_players(found, [player, other]), compare_players(found, [other, player])
    report, back = study.as_dict(), turned.as_dict()
    first, second = report["comparisons"][0], back["comparisons"][0]
    assert first["second_stronger"] == pytest.approx(1 - second["second_stronger"], abs=1e-3)
    assert first["difference"] == pytest.approx(-second["difference"], abs=0.5)
    assert first["low"] < first["difference"] < first["high"]
    assert all(words in " ".join(elo_comparison_sheet(report).notes) for words in NAMED)
    assert "<svg" in elo_comparison_page(study, source="")


def test_both_sides_of_a_day_share_the_persons_effects(found, player):
    study = compare_split(found, player, at="2002-01-01")
    assert study.shared
    sides = study.first[1].elo.sd, study.second[1].elo.sd
    assert study.difference.sd < np.hypot(*sides)
    with pytest.raises(InputError, match="no move of"):
        compare_split(found, player, at="1990-01-01")
    by = compare_split(found, player, by="colour")
    assert (by.first[0], by.second[0]) == ("colour white", "colour black")


def test_games_are_points_and_a_game_is_followed_move_by_move(found, player):
    study = elo_within(found, player)
    report = study.as_dict()
    assert len(report["games"]) == len(found.games)
    assert report["overall"]["elo_sd"] < min(game["own"]["elo_sd"] for game in report["games"])
    assert all(words in " ".join(elo_within_sheet(report).notes) for words in NAMED)
    game = report["games"][0]
    running = follow_elo(found, game["game"])
    own = [row for row in running.rows if row["player"] == player]
    assert own[-1]["decisions"] == game["own"]["decisions"] == len(own)
    assert own[-1]["elo"] == pytest.approx(game["own"]["elo"], abs=0.5)
    assert all(0 < row["probability"] <= 1 for row in running.rows)
    assert len(running_elo_sheet(running.as_dict()).rows) == len(running.rows)
    assert "<svg" in elo_within_page(study, running)


def test_a_sequence_is_held_against_people_of_an_elo(found, player):
    study = elo_sequence(found, player, 1600.0, draws=500)
    assert (study.c, study.elo, len(study.games)) == (None, 1600.0, len(found.games))
    assert sum(part.decisions for part in study.games) == study.total.decisions
    report = study.as_dict()
    sheet = sequence_sheet(report)
    assert "people of Elo 1600" in sheet.title
    assert any("effort 'instant'" in note and "fitted from" in note for note in sheet.notes)
    assert study.total.expected > study.total.log_probability  # players simulated by losses alone are unlike people
    far = elo_sequence(found, player, 2900.0, draws=500)
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
    report = json.loads(run("dimensions", *common, "--by", "phase")[0])
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


def test_commands_speak_elo_and_the_agent_on_request():
    game = demo_file("game_of_the_century.pgn")
    told, _ = run("dimensions", game, "--effort", "instant", "--player", "fischer", "--json")
    report = json.loads(told)
    assert report["players"][0]["player"] == FISCHER
    assert {"elo", "elo_low", "elo_high", "alone", "change", "agent"} <= set(report["players"][0]["groups"][0])
    told, _ = run("compare", game, "--effort", "instant", "--player", "fischer", "--player", "byrne", "--json")
    assert json.loads(told)["comparisons"][0]["first"]["label"] == FISCHER
    _, said = run("compare", game, "--player", "fischer", code=2)
    assert "two sides" in said
    _, said = run("profile", game, "--player", "fischer", "--effort", "instant", "--prior", "carry", code=2)
    assert "papers' agent" in said
    _, said = run("dimensions", game, "--effort", "instant", "--dispersion", "2", code=2)
    assert "--method agent" in said
    _, said = run("within", game, "--player", "fischer", "--method", "gain", code=2)
    assert "`rate`" in said
