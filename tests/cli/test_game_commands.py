"""`skilloscope game`: the printed example, the same answer from comments and from an engine, what is unknown."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest
from typer.testing import CliRunner

from skilloscope.chess.boards import Boards
from skilloscope.chess.human.model import Human, Network, human
from skilloscope.chess.moves import move_code
from skilloscope.chess.pgn.games import read_games
from skilloscope.chess.pgn.text import NO_MATE
from skilloscope.cli.app import app
from skilloscope.inputs.bundled import demo_file
from skilloscope.inputs.gains import engine_gains, gains_of_files, gains_of_games, gains_of_one
from skilloscope.inputs.load import EngineJob
from skilloscope.studies.game import MovePopularity, game_study, written_moves

CENTURY = demo_file("game_of_the_century.pgn")
MOVES = '[White "Ann"]\n[Black "Bob"]\n[WhiteElo "2100"]\n\n1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0\n'


def run(*words: object) -> Any:
    return CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)


def report(*words: object) -> dict[str, Any]:
    done = run(*words, "--json")
    assert done.exit_code == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def commented(path: Path, evaluations: Any, *, start: bool = True) -> Path:
    """Write the game again with the values that an engine gave, as [%eval] comments."""
    games = evaluations.games
    san = written_moves(games.moves, None)
    values = evaluations.values
    words = [f"{{[%eval {values[0]:.2f}]}}"] if start else []
    for ply, move in enumerate(san):
        value = values[ply + 1]
        number = f"{ply // 2 + 1}." if ply % 2 == 0 else ""
        mate = abs(value) == 39.0
        words.append(f"{number} {move} {{[%eval {f'#{1 if value > 0 else -1}' if mate else f'{value:.2f}'}]}}")
    path.write_text('[White "Ann"]\n[Black "Bob"]\n[WhiteElo "2100"]\n\n' + " ".join(words) + " 1-0\n")
    return path


def test_the_printed_example_gives_the_printed_numbers():
    found = report("game", CENTURY, "--engine-elo", 2860)
    assert len(found["moves"]) == 82
    byrne, fischer = found["players"]
    assert (round(byrne["elo_difference_to_engine"]), round(fischer["elo_difference_to_engine"])) == (-185, -43)
    assert (round(byrne["strength"]), round(fischer["strength"])) == (2675, 2817)
    assert (round(byrne["mean_gain"], 3), round(fischer["mean_gain"], 3)) == (-0.860, 0.094)
    assert round(found["white_against_black"]["expected_score"], 3) == 0.345
    assert found["engine"]["source"] == "[%eval] comments"
    assert found["positions"] == {"searched": 0, "cached": 0, "imported": 0, "failed": 0}


def test_no_engine_is_started_where_the_moves_carry_values(monkeypatch):
    monkeypatch.setenv("STOCKFISH_EXECUTABLE", "/nowhere/engine")
    assert report("game", CENTURY)["moves"][0]["gain_cp"] == -1


def test_the_first_moves_are_infinitely_below_and_say_so():
    moves = report("game", CENTURY)["moves"]
    own = [move for move in moves if move["player"].startswith("Byrne")]
    assert [move["infinite"] for move in own[:7]] == ["below"] * 6 + [None]
    assert own[0]["elo_difference"] is None
    assert own[0]["expected_score"] == 0.0
    assert "−∞" in run("game", CENTURY).stdout


def test_values_are_the_movers_and_whites_stand_beside_them():
    moves = report("game", CENTURY)["moves"]
    assert (moves[21]["san"], moves[21]["value_cp"], moves[21]["white_value_cp"]) == ("Na4", 109, -109)
    assert (moves[20]["value_cp"], moves[20]["gain_cp"]) == (-109, -137)


# An engine also says what was better, and searches costly moves deeper to confirm what they cost. Elo on the axis uses
# evaluations in comments, but none of an engine at another depth than the axis was fitted at.
REVIEW = {"judge", "checked", "better", "better_uci", "line", "reply", "found_by"}
REVIEW |= {"cost", "chances", "chances_after", "mark", "pawns_lost", "accuracy", "inaccuracies", "mistakes", "blunders"}
REVIEW |= {"axis_elo", "axis_low", "axis_high"}


@pytest.mark.parametrize("name", ["fake", "real"])
def test_the_same_values_from_an_engine_and_from_comments_give_the_same_output(name, tmp_path, fake_engine, request):
    engine = fake_engine() if name == "fake" else request.getfixturevalue("stockfish")
    path = tmp_path / "game.pgn"
    path.write_text(MOVES)
    searched = report("game", path, "--engine", engine, "--depth", 2)
    assert searched["positions"]["searched"] == 7
    work = EngineJob()
    gained = gains_of_one(path, 1, replace_settings(work, engine))
    read = report("game", commented(tmp_path / "commented.pgn", gained.evaluations))
    assert read["positions"]["searched"] == 0
    for part in ("white_against_black", "start_value_cp", "skipped"):
        assert read[part] == searched[part]
    for ours, theirs in zip(read["moves"] + read["players"], searched["moves"] + searched["players"], strict=True):
        assert {key for key in ours if ours[key] != theirs[key]} <= REVIEW


def replace_settings(work: EngineJob, engine: Path) -> EngineJob:
    from dataclasses import replace

    from skilloscope.chess.engine.settings import FER12

    return replace(work, engine=str(engine), settings=replace(FER12, depth=2))


def test_a_missing_first_value_makes_the_first_gain_unknown(tmp_path):
    text = CENTURY.read_text().replace("{[%eval 0.13]} ", "")
    path = tmp_path / "game.pgn"
    path.write_text(text)
    found = report("game", path)
    assert found["moves"][0]["gain_cp"] is None
    assert found["moves"][0]["expected_score"] is None
    assert found["skipped"] == {"gain unknown": 1}
    assert found["players"][0]["decisions"] == 40
    assert found["players"][0]["unknown"] == 1
    assert "–" in run("game", path).stdout


def test_several_lines_bring_the_agents_competence_beside_it(monkeypatch):
    simulated = [demo_file("simulated.pgn"), "--index", 2, "--import", demo_file("analyses.jsonl.gz")]
    monkeypatch.setenv("STOCKFISH_EXECUTABLE", "/nowhere/engine")
    found = report("game", *simulated, "--preset", "DFH13")
    known = [move for move in found["moves"] if move["c"] is not None]
    assert known
    assert min(move["number"] for move in known) == 13  # the opening is no decision for the agent
    assert all(move["c_low"] < move["c"] < move["c_high"] for move in known)
    assert all(player["c"] is not None for player in found["players"])
    assert all(move["c"] is None for move in report("game", CENTURY)["moves"])


def test_the_engines_own_gains_can_be_measured(tmp_path, stockfish):
    path = tmp_path / "game.pgn"
    path.write_text(MOVES)
    work = replace_settings(EngineJob(), stockfish)
    gained = gains_of_games(read_games(path), work)
    agreed, searched = (engine_gains(gained, kind, work) for kind in ("agreed", "searched"))
    assert 0 < len(agreed.gains) <= len(searched.gains) == 7
    assert agreed.histogram.moves == len(agreed.gains)
    assert engine_gains(gained, "auto", work).kind == "peak"  # too few of its own moves were played
    assert report("game", path, "--engine", stockfish, "--depth", 2)["engine"]["distribution"] == "peak"
    found = report("game", path, "--engine", stockfish, "--depth", 2, "--engine-gains", "searched")
    assert found["engine"]["distribution"] == "searched"


def test_what_the_engine_would_play_is_not_known_from_comments():
    done = run("game", CENTURY, "--engine-gains", "agreed")
    assert done.exit_code == 1
    assert "single peak" in done.stderr


@pytest.mark.parametrize(
    "words",
    [["--index", 2], ["--values", "tea"], ["--curve", "straight"], ["--mate-cap", 0], ["--html", "/nowhere/page.html"]],
)
def test_what_cannot_be_done_is_refused_with_a_message(words):
    done = run("game", CENTURY, *words)
    assert done.exit_code == (1 if words[0] in ("--index", "--html") else 2)  # there may be such a game or folder
    assert "error:" in done.stderr


def test_comments_that_are_not_there_are_missed(tmp_path):
    path = tmp_path / "game.pgn"
    path.write_text(MOVES)
    assert "no move carries" in run("game", path, "--values", "comments").stderr


def test_a_game_of_json_lines_is_followed_too(tmp_path):
    row = {
        "white": "A",
        "black": "B",
        "result": "1-0",
        "moves": ["e2e4", "e7e5", "g1f3"],
        "stockfish_eval": [20, 35, 30],
    }
    path = tmp_path / "games.ndjson"
    path.write_text(json.dumps({**row, "white": "C"}) + "\n" + json.dumps(row) + "\n")
    found = report("game", path, "--index", 2)
    assert [move["gain_cp"] for move in found["moves"]] == [None, -15, -5]
    together = gains_of_files([path, CENTURY], EngineJob())
    assert len(together.games) == 3
    assert together.about()["source"] == "[%eval] comments and evaluations in the file"


def test_the_page_holds_the_chart_and_every_move(tmp_path):
    page = tmp_path / "game.html"
    assert run("game", CENTURY, "--html", page).exit_code == 0
    text = page.read_text()
    assert text.count("<figure") == 2
    assert text.count('<div class="board"') == 83  # before the first move, and after each
    assert "Rc2#" in text
    assert "<script" not in text


def test_a_game_is_told_by_the_number_in_its_id_though_one_before_it_cannot_be_read(tmp_path):
    good = '[White "A"]\n[Black "{}"]\n\n1. e4 {{[%eval 0.1]}} e5 {{[%eval 0.2]}} *\n\n'
    path = tmp_path / "three.pgn"
    path.write_text(good.format("B") + '[White "A"]\n[Black "C"]\n[Variant "Atomic"]\n\n1. e4 *\n\n' + good.format("D"))
    found = report("game", path, "--index", 3)
    assert (found["game"]["game"], found["game"]["black"]) == ("three.pgn#3", "D")
    assert "numbered 1 to 3" in run("game", path, "--index", 2).stderr


def test_after_every_move_there_is_an_interval_a_score_between_the_players_and_an_elo():
    found = report("game", CENTURY)
    half = {move["ply"]: move["high"] - move["low"] for move in found["moves"] if move["low"] is not None}
    assert half[81] < half[41] < half[21]
    for move in found["moves"][1:]:
        assert move["axis_low"] < move["axis_elo"] < move["axis_high"]
        if move["elo_difference"] is not None:
            assert move["low"] <= move["elo_difference"] <= move["high"]
    last = found["moves"][-1]["white_against_black"]
    assert last == found["white_against_black"]
    assert last["low"] < last["elo_difference"] < last["high"]
    rated = json.loads(run("rate", CENTURY, "--effort", "evaluations", "--json").stdout)["players"]
    wanted = {row["player"]: row["elo"] for row in rated}
    assert {row["player"]: row["axis_elo"] for row in found["players"]} == pytest.approx(wanted)
    narrow = report("game", CENTURY, "--level", 0.5)["players"][0]
    assert narrow["high"] - narrow["low"] < found["players"][0]["high"] - found["players"][0]["low"]


def test_a_game_from_a_later_position_keeps_its_move_numbers(tmp_path):
    path = tmp_path / "game.pgn"
    path.write_text('[FEN "8/8/8/8/8/4k3/4p3/4K3 b - - 0 60"]\n[White "A"]\n[Black "B"]\n\n60... Kd3 {[%eval -5]} *\n')
    (move,) = report("game", path)["moves"]
    assert (move["number"], move["side"], move["gain_cp"]) == (60, "black", None)


def test_nothing_known_of_a_side_is_shown_as_nothing(tmp_path):
    path = tmp_path / "game.pgn"
    path.write_text('[White "A"]\n[Black "B"]\n\n1. e4 {[%eval 0.3]} *\n')
    found = report("game", path)
    assert found["white_against_black"] is None
    assert found["players"][1]["expected_score_against_engine"] is None
    games = read_games(path)
    assert games.mates[0] == NO_MATE
    study = game_study(gains_of_games(games, EngineJob()))
    assert np.isnan(study.sides[0].running.elo_difference[0])
    assert run("game", path, "--html", tmp_path / "page.html").exit_code == 0


RATED = '[White "Ann"]\n[Black "Bob"]\n[WhiteElo "2100"]\n[BlackElo "1300"]\n\n'


def with_values(path: Path, moves: str) -> Path:
    """Write a game of rated players in which every move carries a value."""
    words = [word if word.endswith(".") else f"{word} {{[%eval 0.1]}}" for word in moves.split()]
    path.write_text(RATED + " ".join(words) + " *\n")
    return path


class TestPeople:
    @pytest.fixture(autouse=True)
    def needs_the_model(self) -> None:
        pytest.importorskip("onnxruntime")

    def test_a_move_is_as_likely_as_the_model_says_at_the_players_rating(self, tmp_path):
        found = report("game", with_values(tmp_path / "game.pgn", "1. e4 e5 2. Nf3"))
        assert [(p["level"], p["level_source"]) for p in found["players"]] == [(2100, "header"), (1300, "header")]
        boards = [chess.Board(), chess.Board()]
        boards[1].push_san("e4")
        for board, move, elo in zip(boards, found["moves"], (2100, 1300), strict=False):
            choices = human().choices(Boards.from_boards([board]))
            p = np.exp(choices.log_probabilities(elo)[choices.index_of(np.array([uci_code(board, move)]))[0], 0])
            assert move["probability"] == pytest.approx(p)

    def test_without_a_rating_the_level_is_read_off_the_moves(self):
        found = report("game", CENTURY)
        assert {player["level_source"] for player in found["players"]} == {"moves"}
        assert all(700 < player["level"] < 3000 for player in found["players"])
        assert found["human"]["range"] == [1200, 2700]
        assert "by these moves" in run("game", CENTURY).stdout

    def test_the_likeliest_level_is_the_top_of_the_moves_own_curve_or_flat(self):
        moves = report("game", CENTURY)["moves"]
        assert any(move["flat"] for move in moves)
        assert all((move["likeliest_elo"] is None) == move["flat"] for move in moves)
        at_the_ends = [move for move in moves if move["likeliest_elo"] in (1200, 2700)]
        assert all(move["likeliest_edge"] in ("low", "high") for move in at_the_ends)
        rising = MovePopularity.of(0.5, np.linspace(-2, -1, 151))
        assert (rising.likeliest_elo, rising.likeliest_edge) == (2700, "high")

    def test_a_forced_move_is_certain_and_flat(self, tmp_path):
        path = tmp_path / "game.pgn"
        path.write_text('[FEN "7k/8/8/8/8/8/5PP1/r5K1 w - - 0 1"]\n[White "A"]\n[Black "B"]\n\n1. Kh2 {[%eval 5]} *\n')
        found = report("game", path)
        assert found["moves"][0]["flat"]
        assert found["moves"][0]["probability"] is None  # nothing is known of somebody who never had a choice
        assert found["players"][0]["level"] is None

    def test_without_onnxruntime_the_rest_is_there_and_one_line_says_so(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "onnxruntime", None)
        monkeypatch.setattr("skilloscope.inputs.request.human", lambda pool: Human(Network(b"", {})))
        found = report("game", CENTURY)
        assert "onnxruntime" in found["human"]["problem"]
        assert found["moves"][0]["probability"] is None
        text = run("game", CENTURY).stdout
        assert text.count("onnxruntime") == 1
        assert "likeliest" not in text


def uci_code(board: chess.Board, move: dict[str, Any]) -> int:
    return move_code(board.parse_san(move["san"]))
