"""`skilloscope papers gain`: crosstables, matches, two events, the engine; intervals that cover; both sources alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from skilloscope.chess.pgn.games import read_games
from skilloscope.cli.app import app
from skilloscope.inputs.gains import gains_of_games
from skilloscope.inputs.load import EngineJob
from skilloscope.models.gain import GainHistogram, elo_difference, expected_score
from skilloscope.studies.gain import GainStudy
from skilloscope.studies.gain_event import GainRequest, event_gains, with_surnames
from skilloscope.studies.game import game_study, written_moves

OPENING = ["e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "Ba4", "Nf6", "O-O", "Be7", "Re1", "b5", "Bb3", "d6"]
ELO = {"Ann, A": 2100, "Bob, B": 2000, "Cid, C": 1900, "Dora, D": None}


def game(white: str, black: str, values: Any, *, result: str = "1/2-1/2", start: bool = True) -> str:
    """Return a game with a value after every move, and before the first."""
    words = [f"{{[%eval {values[0]:.2f}]}}"] if start else []
    for ply, move in enumerate(OPENING[: len(values) - 1]):
        number = f"{ply // 2 + 1}. " if ply % 2 == 0 else ""
        words.append(f"{number}{move} {{[%eval {values[ply + 1]:.2f}]}}")
    elo = "".join(
        f'[{tag} "{ELO[name]}"]\n' for tag, name in (("WhiteElo", white), ("BlackElo", black)) if ELO.get(name)
    )
    return f'[White "{white}"]\n[Black "{black}"]\n[Result "{result}"]\n{elo}\n{" ".join(words)} {result}\n\n'


def event(rng: np.random.Generator, *, rounds: int = 2, players: tuple[str, ...] = tuple(ELO)) -> str:
    """Return a round robin in which the players err differently."""
    text = ""
    for round_ in range(rounds):
        for i, white in enumerate(players):
            for j, black in enumerate(players[:i]):
                pair = (white, black) if (round_ + i + j) % 2 else (black, white)
                errors = rng.choice([0.0, 0.0, 0.05, -0.1, -0.2], (2, 7))
                steps = np.empty(14)
                steps[0::2], steps[1::2] = errors[0], -errors[1]
                text += game(*pair, np.round(np.concatenate([[0.2], 0.2 + np.cumsum(steps)]), 2))
    return text


@pytest.fixture
def pgn(tmp_path: Path) -> Path:
    path = tmp_path / "club.pgn"
    path.write_text(event(np.random.default_rng(4)))
    return path


def run(*words: object) -> Any:
    return CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)


def report(*words: object) -> dict[str, Any]:
    done = run("papers", "gain", *words, "--json")
    assert done.exit_code == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_both_directions_of_each_pair_share_one_point(pgn):
    pairs = {(row["player"], row["opponent"]): row for row in report(pgn)["pairs"]}
    assert len(pairs) == 12
    for (one, two), row in pairs.items():
        back = pairs[two, one]
        assert row["expected_score"] + back["expected_score"] == pytest.approx(1)
        assert row["elo_difference"] == pytest.approx(-back["elo_difference"])
        assert row["low"] == pytest.approx(-back["high"])
        assert row["low"] <= row["elo_difference"] <= row["high"]


def test_a_crosstable_is_algorithm_1_of_all_games_of_both_players(pgn):
    gained = gains_of_games(read_games(pgn), EngineJob())
    own = {name: GainHistogram.from_gains(batch.gain) for name, batch in gained.losses.group_by().items()}
    for row in report(pgn)["pairs"]:
        assert row["expected_score"] == pytest.approx(expected_score(own[row["player"]], own[row["opponent"]]))


def test_pooled_by_match_each_pair_counts_its_own_games_only(pgn):
    gained = gains_of_games(read_games(pgn), EngineJob())
    losses = gained.losses
    opponents = np.array(losses.context.column("opponent").to_pylist())
    names = np.array([losses.deciders[code] for code in losses.decider])

    def own(player: str, opponent: str) -> GainHistogram:
        return GainHistogram.from_gains(losses.gain[(names == player) & (opponents == opponent)])

    found = report(pgn, "--pool", "match")
    for row in found["pairs"]:
        wanted = expected_score(own(row["player"], row["opponent"]), own(row["opponent"], row["player"]))
        assert row["expected_score"] == pytest.approx(wanted)
    assert [player["decisions"] for player in found["players"]] == [42] * 4


def test_perceived_elo_keeps_the_mean_rating_and_everybody_is_placed(pgn):
    players = report(pgn)["players"]
    rated = [player for player in players if player["elo"] is not None]
    assert len(rated) == 3
    assert np.mean([player["perceived_elo"] for player in rated]) == pytest.approx(2000)
    assert all(player["low"] <= player["perceived_elo"] <= player["high"] for player in players)
    assert sum(player["points"] for player in players) == 12
    assert sum(player["expected_points"] for player in players) == pytest.approx(12)


def test_a_game_without_a_result_gives_nobody_a_point_and_is_not_expected(pgn):
    text = pgn.read_text()
    pgn.write_text(text.replace('[Result "1/2-1/2"]', '[Result "*"]', 3).replace(" 1/2-1/2\n", " *\n", 3))
    found = report(pgn)
    assert sum(player["points"] for player in found["players"]) == 9
    assert sum(player["expected_points"] for player in found["players"]) == pytest.approx(9)
    assert {(row["games"], row["finished"]) for row in found["pairs"]} == {(2, 1), (2, 2)}
    assert sum(row["points"] for row in found["pairs"]) == 9
    assert found["skipped"]["points and expected points of a game without a result"] == 3


def test_words_say_that_gain_is_a_compressed_difference_and_the_engine_is_shown_where_asked_for(pgn):
    text = " ".join(run("papers", "gain", pgn).stdout.split())
    assert "a difference measured by gain" in text
    assert "compressed" in text
    assert "of the ratings lie within the sampling error" in text
    assert "no interval for a rating" in text
    assert "perceived Elo (95" not in text
    assert "engine by Elo" not in text
    asked = " ".join(run("papers", "gain", pgn, "--engine-gains", "peak").stdout.split())
    assert "engine by Elo" in asked
    assert "not its Elo" in asked


def test_the_elo_of_the_one_axis_stands_beside_and_is_that_of_rate(pgn):
    players = {row["player"]: row for row in report(pgn)["players"]}
    rated = json.loads(run("rate", pgn, "--effort", "instant", "--json").stdout)["players"]
    assert len(rated) == len(players)
    for row in rated:
        own = players[row["player"]]
        assert own["axis_elo"] == pytest.approx(row["elo"])
        assert (own["axis_low"], own["axis_high"]) == pytest.approx((row["elo_low"], row["elo_high"]))


@pytest.mark.parametrize("pool", ["event", "match"])
def test_the_sd_of_the_json_is_that_of_the_interval(pgn, pool):
    found = report(pgn, "--pool", pool)
    for row in found["players"]:
        half = (row["high"] - row["low"]) / 2
        assert row["perceived_elo"] == pytest.approx(row["low"] + half)
        assert 1.96 < half / row["sd"] < 13  # Student's t, of one degree of freedom at the worst


def test_the_engines_strength_is_the_mean_over_the_rated_players(pgn):
    found = report(pgn)
    by_rating = [p["elo"] - p["elo_difference_to_engine"] for p in found["players"] if p["elo"] is not None]
    assert found["engine"]["elo"] == pytest.approx(np.mean(by_rating))
    assert found["engine"]["low"] <= found["engine"]["elo"] <= found["engine"]["high"]
    given = report(pgn, "--engine-elo", 2860)["players"]
    assert all(p["strength"] == pytest.approx(2860 + p["elo_difference_to_engine"]) for p in given)


def test_players_of_two_events_are_compared_across_them(tmp_path, pgn):
    other = tmp_path / "cup.pgn"
    other.write_text(event(np.random.default_rng(9), players=("Ann, A", "Bob, B")))
    found = report(pgn, other)
    assert [row["event"] for row in found["events"]] == ["club", "cup"]
    assert len(found["comparison"]) == 4
    assert {(row["event"], row["opponent_event"]) for row in found["comparison"]} == {("club", "cup")}
    text = run("papers", "gain", pgn, other).stdout
    assert "Ann, A @ cup" in text
    together = report(pgn, other, "--events", "all")
    assert together["comparison"] == []
    assert len(together["players"]) == 4
    assert len(report(pgn, "--events", "event")["events"]) == 1


def test_groups_that_never_met_are_anchored_apart(tmp_path):
    path = tmp_path / "two.pgn"
    values = [0.2, 0.2, 0.3, 0.2, 0.25, 0.25, 0.25]
    path.write_text(game("Ann, A", "Bob, B", values) * 2 + game("Cid, C", "Dora, D", values) * 2)
    found = report(path)
    assert {player["component"] for player in found["players"]} == {0, 1}
    by_name = {player["player"]: player for player in found["players"]}
    assert np.mean([by_name[name]["perceived_elo"] for name in ("Ann, A", "Bob, B")]) == pytest.approx(2050)
    assert by_name["Cid, C"]["perceived_elo"] == pytest.approx(1900)
    assert "never met" in run("papers", "gain", path).stdout


def test_an_infinite_difference_is_named_left_out_and_counted(tmp_path):
    path = tmp_path / "rout.pgn"
    path.write_text(game("Ann, A", "Bob, B", [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]) * 2)
    found = report(path)
    ann, bob = found["pairs"]
    assert (ann["infinite"], bob["infinite"]) == ("above", "below")
    assert ann["elo_difference"] is None
    assert found["skipped"]["infinite difference (expected score 0 or 1)"] == 1
    assert [player["perceived_elo"] for player in found["players"]] == [None, None]  # nothing finite connects them
    text = run("papers", "gain", path).stdout
    assert "+∞" in text
    assert "−∞" in text


def test_games_without_names_are_counted(tmp_path, pgn):
    path = tmp_path / "more.pgn"
    path.write_text(
        pgn.read_text() + '[White "?"]\n[Black "Bob, B"]\n\n{[%eval 0]} 1. e4 {[%eval 0.1]} e5 {[%eval 0.1]} *\n'
    )
    assert report(path)["skipped"]["game without two named players"] == 1
    assert len(report(path)["pairs"]) == 12


def test_one_game_has_no_interval(tmp_path):
    path = tmp_path / "one.pgn"
    path.write_text(game("Ann, A", "Bob, B", [0.2, 0.2, 0.3, 0.2, 0.25, 0.25, 0.25]))
    found = report(path)
    assert [row["low"] for row in found["pairs"]] == [None, None]
    assert "fewer than two games" in run("papers", "gain", path).stdout


@pytest.mark.parametrize("name", ["fake", "real"])
def test_the_same_values_from_an_engine_and_from_comments_give_the_same_output(name, tmp_path, fake_engine, request):
    engine = fake_engine() if name == "fake" else request.getfixturevalue("stockfish")
    plain = tmp_path / "plain" / "club.pgn"
    plain.parent.mkdir()
    text = "".join(
        f'[White "{a}"]\n[Black "{b}"]\n[WhiteElo "2000"]\n\n1. e4 e5 2. {move} 1-0\n\n'
        for a, b, move in (("Ann", "Bob", "Nf3"), ("Bob", "Cid", "f4"), ("Cid", "Ann", "Qh5"), ("Ann", "Cid", "a3"))
    )
    plain.write_text(text)
    searched = report(plain, "--engine", engine, "--depth", 2)
    from dataclasses import replace

    from skilloscope.chess.engine.settings import FER12

    work = EngineJob(engine=str(engine), settings=replace(FER12, depth=2))
    evaluations = gains_of_games(read_games(plain), work).evaluations
    commented = ""
    for row, header in enumerate(evaluations.games.headers.to_pylist()):
        own = evaluations.games.select([row])
        values = evaluations.values[evaluations.starts[row] :][: len(own.moves) + 1]
        words = [f"{{[%eval {values[0]:.2f}]}}"]
        words += [
            f"{san} {{[%eval {value:.2f}]}}"
            for san, value in zip(written_moves(own.moves, None), values[1:], strict=True)
        ]
        tags = f'[White "{header["white"]}"]\n[Black "{header["black"]}"]\n[WhiteElo "2000"]\n\n'
        commented += tags + " ".join(words) + " 1-0\n\n"
    path = tmp_path / "club.pgn"
    path.write_text(commented)
    read = report(path)
    assert read["positions"]["searched"] == 0
    for part in ("pairs", "players", "comparison", "events", "skipped"):
        assert read[part] == searched[part]
    assert read["engine"]["elo"] == searched["engine"]["elo"]


def test_several_spellings_of_a_surname_can_be_one_player(tmp_path):
    path = tmp_path / "club.pgn"
    values = [0.2, 0.2, 0.3, 0.2, 0.25, 0.2, 0.25]
    path.write_text(game("Ann, A", "Bob,B", values) + game("Bob, Boris", "Ann, Anna", values))
    assert len(report(path)["players"]) == 4
    assert [player["player"] for player in report(path, "--surnames")["players"]] == ["Ann", "Bob"]


def test_the_page_holds_the_tables_and_the_figures(pgn, tmp_path):
    page = tmp_path / "page.html"
    assert run("papers", "gain", pgn, "--html", page).exit_code == 0
    text = page.read_text()
    assert text.count("<svg") == 2
    assert "crosstable" in text


def test_a_field_too_large_for_the_screen_is_in_the_page(tmp_path):
    players = tuple(f"P{number}" for number in range(12))
    path = tmp_path / "open.pgn"
    path.write_text(event(np.random.default_rng(1), rounds=1, players=players))
    assert "too many for a screen" in run("papers", "gain", path).stdout


def test_studies_of_gain_can_be_drawn_in_a_reproduction(pgn):
    gained = gains_of_games(read_games(pgn), EngineJob())
    study = GainStudy(event_gains(gained, GainRequest()))
    assert [figure.svg().startswith("<svg") for figure in study.figures()] == [True, True]
    assert len(game_study(gained, 1).figures()) == 2
    assert len(with_surnames(gained).losses.deciders) == 4


def test_what_cannot_be_computed_is_refused(pgn, tmp_path):
    for words in (["--pool", "tea"], ["--events", "tea"], ["--level", 1.5], ["--curve", "tea"]):
        assert run("papers", "gain", pgn, *words).exit_code == 2
    nameless = tmp_path / "nameless.pgn"
    nameless.write_text("{[%eval 0.1]} 1. e4 {[%eval 0.1]} e5 {[%eval 0.1]} *\n")
    assert "named players" in run("papers", "gain", nameless).stderr
    unknown = tmp_path / "unknown.pgn"
    unknown.write_text('[White "A"]\n[Black "B"]\n\n1. e4 {[%eval 0.1]} *\n')
    assert "known gain" in run("papers", "gain", unknown).stderr


def test_elo_differences_follow_the_curve_that_is_named(pgn):
    rows = report(pgn, "--curve", "logistic")["pairs"]
    for row in rows:
        assert row["elo_difference"] == pytest.approx(elo_difference(row["expected_score"], "logistic"))
