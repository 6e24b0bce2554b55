"""Strength by game: the running posterior ends at that of the whole game, the chart has a point for every game."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import skilloscope as sk
from skilloscope.chess.pgn.games import read_games
from skilloscope.cli.app import app
from skilloscope.core.errors import InputError
from skilloscope.decision import Decisions
from skilloscope.decision.text import write_decisions
from skilloscope.evidence import Uniform, agent_evidence
from skilloscope.evidence.periods import running_competence
from skilloscope.inputs.bundled import demo_file
from skilloscope.inputs.load import EngineJob, load_decisions, renamed
from skilloscope.models.agent import Agent, probability
from skilloscope.papers import ENTRIES, reproduce
from skilloscope.report.study import json_fields
from skilloscope.results.aliases import aliases_given
from skilloscope.simulate.deciders import cut_lists, simulated_deciders
from skilloscope.studies.by_game import competence_by_game, follow_decisions


def a_game(seed: int, n: int = 15, *, unlisted: bool = False) -> Decisions:
    """Return a simulated game: two deciders who decide in turn."""
    rng = np.random.default_rng(seed)
    both = simulated_deciders(rng.uniform(0.3, 2.0, 2), n, alternatives=14, rng=rng)
    both = cut_lists(both, 10, rng=rng) if unlisted else both
    turns = both.select(np.arange(2 * n).reshape(2, n).T.ravel())
    context = {"game": ["g"] * (2 * n), "ply": list(range(24, 24 + 2 * n))}
    return Decisions(
        turns.deciders, turns.decider, turns.values, turns.offsets, turns.chosen, turns.n_legal, context=context
    )


class TestRunningCompetence:
    @given(st.integers(0, 2**32 - 1), st.booleans())
    @settings(max_examples=10, deadline=None)
    def test_it_ends_where_the_posterior_of_the_whole_game_stands(self, seed, unlisted):
        batch = a_game(seed, unlisted=unlisted)
        running = running_competence(batch)
        whole = agent_evidence(batch)
        for name in whole:
            last = running.rows_of(name)[-1]
            posterior = whole[name].posterior()
            assert running.decisions[last] == whole[name].decisions
            assert running.c[last] == pytest.approx(posterior.mean, abs=1e-7)
            assert running.sd[last] == pytest.approx(posterior.sd, abs=1e-7)
            assert (running.low[last], running.high[last]) == pytest.approx(posterior.interval(), abs=1e-6)

    def test_the_probabilities_multiply_to_the_evidence_averaged_over_the_prior(self):
        running = running_competence(a_game(3))
        curve = agent_evidence(a_game(3))["decider 0"]
        at = np.linspace(0, 4, 20_001)
        averaged = np.trapezoid(np.exp(curve.log_likelihood(at)), at) / 4
        own = running.probability[running.rows_of("decider 0")]
        assert np.log(own).sum() == pytest.approx(np.log(averaged), abs=1e-6)

    def test_the_first_choice_has_the_agents_probability_averaged_over_the_prior(self):
        batch = Decisions.from_lists(["Ann"], [[0.0, -0.3, -0.5]], [1])
        averaged = np.mean([probability([0.0, 0.3, 0.5], c)[1] for c in (np.arange(4000) + 0.5) / 1000])
        assert running_competence(batch).probability[0] == pytest.approx(averaged, abs=1e-7)

    def test_an_unlisted_choice_changes_nothing_and_is_counted(self):
        lists = [[0.0, -0.2], [0.0, -0.2], [0.0, -0.2]]
        batch = Decisions.from_lists(["Ann"] * 3, lists, [0, -1, 0], n_legal=[5, 5, 5])
        running = running_competence(batch, Agent(rule="listed"))
        assert running.decisions.tolist() == [1, 1, 2]
        assert running.c[0] == running.c[1] != running.c[2]
        assert np.isnan(running.probability[1])
        assert running.tally.as_dict() == {"unlisted choice": 1}
        sent = json_fields(follow_decisions(batch, model=Agent(rule="listed")))
        unlisted = sent["moves"][1]
        assert (unlisted["probability"], unlisted["loss"], unlisted["place"]) == (None, None, None)
        assert sent["skipped"] == {"unlisted choice": 1}

    def test_decisions_are_followed_in_the_order_of_their_plies(self):
        batch = a_game(5)
        shuffled = batch.select(np.random.default_rng(1).permutation(len(batch)))
        one, other = running_competence(batch), running_competence(shuffled)
        assert other.ply.tolist() == sorted(other.ply)
        np.testing.assert_allclose(one.c, other.c, atol=1e-9)

    def test_a_move_has_its_name(self):
        fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
        batch = Decisions.from_lists(
            ["Ann"], [[0.3, 0.1]], [0], n_legal=[20], context={"fen": [fen], "move": ["g1f3"], "ply": [0]}
        )
        assert [move.move for move in follow_decisions(batch).moves] == ["Nf3"]

    def test_two_games_are_refused(self):
        batch = Decisions.from_lists(["Ann"] * 2, [[0.0, -1.0]] * 2, [0, 0], context={"game": ["a", "b"]})
        with pytest.raises(InputError, match="2 games"):
            running_competence(batch)

    def test_the_prior_is_used_and_named(self):
        running = running_competence(a_game(6), prior=Uniform(0.0, 2.0))
        assert running.prior == "uniform on [0, 2]"
        assert running.c.max() < 2


def three_games(opponents=("Bob", "Cid", "Bob"), results=(1.0, 0.5, 0.0)) -> Decisions:
    """Return three simulated games of Ann, each against somebody."""
    parts = []
    for number, (opponent, result) in enumerate(zip(opponents, results, strict=True)):
        game = a_game(number, 12)
        own = game.decider == 0
        context = {
            "game": [f"g{number}"] * len(game),
            "ply": list(range(len(game))),
            "opponent": np.where(own, opponent, "Ann").tolist(),
            "result": np.where(own, result, 1 - result).tolist(),
        }
        parts.append(replace(game, deciders=("Ann", opponent), context=context))
    return Decisions.concat(parts)


class TestTheChart:
    def test_it_has_a_point_for_every_game_with_both_sides_and_the_result(self):
        study = competence_by_game(three_games(), "Ann", mark="Bob")
        assert [point.opponent for point in study.games] == ["Bob", "Cid", "Bob"]
        assert [point.marked for point in study.games] == [True, False, True]
        assert [point.score for point in study.games] == [1.0, 0.5, 0.0]
        for number, point in enumerate(study.games):
            alone = agent_evidence(a_game(number, 12))
            assert point.own.posterior.mean == pytest.approx(alone["decider 0"].posterior().mean, abs=1e-7)
            assert point.other.posterior.mean == pytest.approx(alone["decider 1"].posterior().mean, abs=1e-7)

    def test_seen_from_the_other_side_the_axes_change_places(self):
        batch = three_games(("Bob",) * 3)
        one, other = competence_by_game(batch, "Ann"), competence_by_game(batch, "Bob")
        for mine, theirs in zip(one.games, other.games, strict=True):
            assert (mine.own.posterior.mean, mine.score) == (theirs.other.posterior.mean, 1 - theirs.score)
        assert one.overall.posterior.mean == other.opponents.posterior.mean

    def test_the_whole_is_what_a_rating_of_all_games_gives(self):
        batch = three_games()
        study = competence_by_game(batch, "Ann")
        assert study.overall.posterior.mean == pytest.approx(agent_evidence(batch)["Ann"].posterior().mean, abs=1e-7)
        assert study.overall.decisions == 36

    def test_a_game_with_one_side_only_is_left_out_and_counted(self):
        batch = three_games()
        last = np.array(batch.column("game").to_pylist()) == "g2"
        kept = batch.select(~(last & (batch.decider == batch.deciders.index("Bob"))))
        study = competence_by_game(kept, "Ann")
        assert len(study.games) == 2
        assert study.tally.as_dict()["game without usable decisions of both sides"] == 1

    def test_an_unknown_player_or_opponent_is_named_with_those_that_are_there(self):
        with pytest.raises(InputError) as unknown:
            competence_by_game(three_games(), "Anne")
        assert "Ann" in unknown.value.hint
        with pytest.raises(InputError, match="Dan") as unmet:
            competence_by_game(three_games(), "Ann", mark="Dan")
        assert unmet.value.hint == "the opponents: Bob; Cid"
        assert competence_by_game(three_games(), "Ann", mark="bo").mark == "Bob"

    def test_a_game_is_found_by_its_id(self):
        assert len(follow_decisions(three_games(), "g1").moves) == 24
        with pytest.raises(InputError, match="g9"):
            follow_decisions(three_games(), "g9")

    def test_figures_hold_every_result_and_are_the_same_bytes_again(self):
        study = competence_by_game(three_games(results=(1.0, 0.5, 0.0)), "Ann", mark="Bob", game="g1")
        chart, moves = study.figures()
        assert chart.svg() == chart.svg()
        assert all(f"<!-- {words} -->" in chart.svg() for words in ("win ●", "draw", "loss ●"))
        assert moves.svg().startswith("<svg")
        page = study.page("games.pgn")
        assert "What this cannot tell you" in page
        assert "<script" not in page


class TestSpellings:
    def test_several_spellings_become_one_player(self):
        batch = renamed(three_games(("Bob", "Bobby", "Bob")), {"Bobby": "Bob"})
        assert batch.names() == ["Ann", "Bob"]
        assert [point.opponent for point in competence_by_game(batch, "Ann").games] == ["Bob"] * 3

    def test_an_alias_that_is_no_pair_is_refused(self):
        assert aliases_given(["a=b", "c = d"]) == {"a": "b", "c": "d"}
        with pytest.raises(InputError, match="no pair"):
            aliases_given(["no pair"])

    def test_games_of_one_player_are_judged_from_both_sides_under_any_spelling(self, tmp_path, monkeypatch):
        monkeypatch.setenv("STOCKFISH_EXECUTABLE", "/nowhere/stockfish")
        games = tmp_path / "games.pgn"
        games.write_bytes(demo_file("simulated.pgn").read_bytes())
        work = EngineJob(store=tmp_path / "store.sqlite", imports=[demo_file("analyses.jsonl.gz")])
        names = {"simulated, c = 1.4": "Ann", "simulated, c = 1.0": "Ann"}
        judged = load_decisions([games], work, player="Ann", aliases=names, both_sides=True)
        own = load_decisions([games], work, player="Ann", aliases=names)
        assert set(own.decisions.names()) == {"Ann"}
        assert "simulated, c = 2.0" in judged.decisions.names()
        table = tmp_path / "table.parquet"
        write_decisions(load_decisions([games], work).decisions, table)
        again = load_decisions([table], work, player="Ann", aliases=names)
        assert len(again.decisions) == len(own.decisions)


class TestTheFiguresOfThePaper:
    def test_figure_7_is_empty_without_data(self):
        outcome = reproduce(ENTRIES, "DFH13.figure7").entries[0][1]
        assert [row.ours for row in outcome.rows] == [None] * 6
        assert "--data" in outcome.notes[0]

    def test_the_twenty_games_are_there_four_lost_and_then_one_won_against_the_marked(self, shared_data):
        headers = read_games(shared_data / "events" / "world_championship_1948.pgn").headers.to_pylist()
        own = [game for game in headers if "Keres, Paul" in (game["white"], game["black"])]
        met = [game for game in own if "Botvinnik, Mikhail" in (game["white"], game["black"])]
        scores = {"1-0": "white", "0-1": "black"}
        met.sort(key=lambda game: float(game["round"]))
        assert len(own) == 20
        assert [game[scores[game["result"]]] for game in met] == ["Botvinnik, Mikhail"] * 4 + ["Keres, Paul"]

    def test_figure_8_finds_what_was_simulated_and_names_nobody(self):
        outcome = reproduce(ENTRIES, "DFH13.figure8").entries[0][1]
        differences = [row for row in outcome.rows if "difference" in row.label]
        assert abs(differences[0].ours - -0.4) < 3.3 * differences[0].sd
        assert abs(differences[1].ours) < 3.3 * differences[1].sd
        assert all(row.label.startswith("simulated") for row in outcome.rows)
        assert len([figure for make in outcome.figures for figure in make()]) == 4


def test_the_command_highlights_follows_and_writes_a_page(tmp_path, monkeypatch):
    monkeypatch.setenv("STOCKFISH_EXECUTABLE", "/nowhere/stockfish")
    games, page = tmp_path / "games.pgn", tmp_path / "page.html"
    games.write_bytes(demo_file("simulated.pgn").read_bytes())
    options = ["--import", demo_file("analyses.jsonl.gz"), "--highlight", "simulated, c = 2.0", "--html", page]
    options += ["--method", "agent"]
    assert invoke("by-game", games, "--player", "Ann", *options).exit_code == 1
    options += ["--alias", "simulated, c = 1.4=Ann"]
    done = invoke("by-game", games, "--player", "Ann", *options, "--game", "games.pgn#6", "--json")
    report = json.loads(done.stdout)
    assert sum(game["marked"] for game in report["games"]) == 3
    assert report["followed"]["moves"][0]["move"] == "Bxc5"
    assert "games.pgn#6, move by move" in page.read_text(encoding="utf-8")


def invoke(*words: object):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_python_has_what_the_command_shows(tmp_path, monkeypatch):
    monkeypatch.setenv("STOCKFISH_EXECUTABLE", "/nowhere/stockfish")
    games = tmp_path / "games.pgn"
    games.write_bytes(demo_file("simulated.pgn").read_bytes())
    options = ["--player", "c = 1.4", "--game", "games.pgn#6", "--highlight", "c = 2.0", "--effort", "instant"]
    shown = json.loads(invoke("by-game", games, *options, "--json").stdout)
    study = sk.by_game(games, "c = 1.4", game="games.pgn#6", highlight="c = 2.0", effort="instant")
    assert json.loads(json.dumps(study.as_dict())) == shown
    assert study.to_arrow().num_rows == len(study.games)
    judged = load_decisions([games], EngineJob(store=tmp_path / "s.sqlite", imports=[demo_file("analyses.jsonl.gz")]))
    assert {"c", "sd", "low", "high", "edge", "decisions"} == set(
        sk.by_game(judged.decisions, "c = 1.4").overall.as_dict()
    )
    with pytest.raises(InputError, match="no effort"):
        sk.by_game(judged.decisions, "c = 1.4", effort="instant")
