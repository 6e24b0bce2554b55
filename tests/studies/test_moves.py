"""`skilloscope moves`: what people play in a position, beside the engine, and how hard the best move is to find."""

from __future__ import annotations

import json
from typing import Any

import chess
import numpy as np
import pytest
from typer.testing import CliRunner

import skilloscope as sk
from skilloscope.chess.pgn.positions import positions_of
from skilloscope.cli.app import app
from skilloscope.studies.moves import Judgement, MovesStudy, levels, moves_study, spans_of_half

pytest.importorskip("onnxruntime")

PETROV = "rnbqkb1r/pppp1ppp/5n2/4N3/4P3/8/PPPP1PPP/RNBQKB1R b KQkq - 0 3"
FORCED = "7k/8/8/8/8/8/5PP1/r5K1 w - - 0 1"


def run(*words: object) -> Any:
    return CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)


def report(*words: object) -> dict[str, Any]:
    done = run("moves", *words, "--json")
    assert done.exit_code == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def judged(found: np.ndarray) -> MovesStudy:
    """A study of the starting position in which e4 is best, and is found as told."""
    study = moves_study(chess.STARTING_FEN)
    return MovesStudy(study.answer, study.model, {"e2e4": Judgement(1, 30)}, found, {"engine": "told"})


def test_every_legal_move_has_a_probability_at_every_level():
    found = report(PETROV, "--no-engine", "--elo", "1200,2400")
    assert len(found["moves"]) == chess.Board(PETROV).legal_moves.count()
    totals = np.sum([move["probability"] for move in found["moves"]], axis=0)
    assert totals == pytest.approx([1, 1])
    assert found["side"] == "black"
    assert found["engine"] is None
    assert found["best"] is None
    assert len(found["model"]["sha256"]) == 64


def test_the_command_and_the_library_say_the_same():
    found = report(PETROV, "--no-engine", "--elo", "1500")
    answer = sk.human().moves(PETROV, elo=1500)
    assert [move["move"] for move in found["moves"]] == list(answer.moves)
    assert [move["probability"][0] for move in found["moves"]] == answer.probability[:, 0].tolist()


@pytest.mark.parametrize("name", ["fake", "real"])
def test_the_engines_values_stand_beside_and_are_kept(name, fake_engine, request):
    engine = fake_engine() if name == "fake" else request.getfixturevalue("stockfish")
    words = [PETROV, "--engine", engine, "--depth", 2, "--multipv", 5]
    found = report(*words)
    assert found["positions"] == {"searched": 1, "cached": 0, "imported": 0, "failed": 0}
    places = sorted(move["place"] for move in found["moves"] if move["place"])
    assert places == [1, 2, 3, 4, 5]
    assert found["engine"]["multipv"] == 5
    first = next(move for move in found["moves"] if move["place"] == 1)
    assert first["move"] in found["best"]["moves"]
    own = [move["probability"] for move in found["moves"] if move["move"] in found["best"]["moves"]]
    assert found["best"]["probability"] == pytest.approx(np.sum(own, axis=0))
    assert report(*words)["positions"] == {"searched": 0, "cached": 1, "imported": 0, "failed": 0}


def test_where_no_engine_is_found_the_rest_is_shown_and_one_line_says_so(monkeypatch):
    monkeypatch.setenv("STOCKFISH_EXECUTABLE", "/nowhere/engine")
    done = run("moves", PETROV)
    assert done.exit_code == 0
    assert "d6" in done.stdout
    assert done.stderr.count("without an engine's values") == 1
    assert run("moves", PETROV, "--engine", "/nowhere/engine").exit_code == 1


def test_where_the_engine_fails_the_rest_is_shown_and_one_line_says_so(fake_engine):
    done = run("moves", PETROV, "--engine", fake_engine("crash"), "--depth", 2, "--multipv", 5)
    assert done.exit_code == 0
    assert "d6" in done.stdout
    assert done.stderr.count("the engine gave no answer") == 1


def test_a_mate_is_shown_as_a_mate(stockfish):
    mate = "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1"
    found = report(mate, "--engine", stockfish, "--depth", 3)
    assert found["best"]["san"] == ["Ra8#"]
    best = next(move for move in found["moves"] if move["san"] == "Ra8#")
    assert (best["mate"], best["value_cp"]) == (1, None)
    assert "#1" in run("moves", mate, "--engine", stockfish, "--depth", 3).stdout


def test_a_forced_move_is_certain():
    (move,) = report(FORCED, "--no-engine")["moves"]
    assert move["probability"] == [1, 1, 1, 1]


def test_the_strength_at_which_half_find_a_move_is_where_the_curve_crosses():
    assert spans_of_half(np.array([1000.0, 2000.0]), np.array([0.0, 1.0])) == [(1500.0, 2000.0)]
    assert spans_of_half(np.array([1000.0, 2000.0]), np.array([0.1, 0.2])) == []
    assert spans_of_half(np.array([1000.0, 2000.0]), np.array([0.9, 0.6])) == [(1000.0, 2000.0)]


@pytest.mark.parametrize(
    ("found", "said", "difficulty"),
    [
        (np.full(levels().shape, 0.2), "at no level between 700 and 3000", None),
        (np.full(levels().shape, 0.9), "at every level between 700 and 3000", None),
        ((levels() - 700) / 2300, "from Elo 1850 on", 1850),
        ((3000 - levels()) / 2300, "up to Elo 1850", None),
        (1 - np.abs(levels() - 1850) / 1150, "between Elo 1275 and 2425", 1275),
    ],
)
def test_the_difficulty_is_said_in_words(found, said, difficulty):
    best = judged(found).best
    assert str(best).endswith(said)
    assert best.difficulty == (None if difficulty is None else pytest.approx(difficulty))


def test_moves_of_exactly_the_best_value_are_best_too():
    study = judged(np.zeros(0))
    values = {"e2e4": Judgement(1, 30), "d2d4": Judgement(2, 30), "c2c4": Judgement(3, 29)}
    assert MovesStudy(study.answer, study.model, values).best.moves == ["e2e4", "d2d4"]
    mate = {"e2e4": Judgement(1, 3, mate=True), "d2d4": Judgement(2, 3)}
    assert MovesStudy(study.answer, study.model, mate).best.moves == ["e2e4"]


def test_the_table_shows_the_likeliest_the_best_and_the_rest_as_one():
    study = moves_study(chess.STARTING_FEN)
    rare = study.answer.moves[-1]
    judged = MovesStudy(study.answer, study.model, {rare: Judgement(1, 30)}, np.zeros(0), {"engine": "told"})
    (table,) = judged.tables(3)
    assert len(table.rows) == 5
    assert table.rows[3][0] == study.answer.san[-1]
    assert table.rows[4][0] == "16 others"
    assert table.rows[3][-1] == "+0.30"


def test_the_page_holds_the_bars_and_every_move(tmp_path, fake_engine):
    page = tmp_path / "moves.html"
    assert run("moves", PETROV, "--engine", fake_engine(), "--depth", 2, "--multipv", 5, "--html", page).exit_code == 0
    text = page.read_text()
    assert text.count("<svg") == 2
    assert "Nxe4" in text
    assert run("moves", PETROV, "--no-engine", "--html", page).exit_code == 0
    assert page.read_text().count("<svg") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["no position"], "is not a FEN"),
        (["8/8/8/8/8/8/8/K7 w - - 0 1"], "cannot arise"),
        (["bnrbkqnr/pppppppp/8/8/8/8/PPPPPPPP/BNRBKQNR w CHch - 0 1"], "Chess960"),
        (["7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"], "stalemate"),
        (["7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"], "checkmate"),
        ([PETROV, "--elo", "strong"], "lists numbers"),
        ([PETROV, "--elo", ""], "lists numbers"),
        ([PETROV, "--elo", "1200,5000"], "knows Elo 700 to 3000"),
        ([PETROV, "--elo", "nan"], "knows Elo 700 to 3000"),
        ([PETROV, "--html", "/nowhere/page.html"], "no folder"),
    ],
)
def test_what_cannot_be_answered_is_refused_before_an_engine_starts(words, said, monkeypatch):
    monkeypatch.setattr("skilloscope.inputs.load.EngineJob.analyse", None)
    done = run("moves", *words)
    assert done.exit_code == (2 if "--elo" in words else 1)
    assert said in done.stderr
    assert done.stdout == ""


def test_a_position_alone_belongs_to_no_game():
    batch = positions_of([chess.Board(PETROV)])
    assert (len(batch), len(batch.games), batch.mover.tolist()) == (1, 0, [1])
    assert batch.fen.to_pylist() == [PETROV]
