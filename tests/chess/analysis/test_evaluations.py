"""Values of positions from comments and from files of evaluated games, and the gains that follow."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import numpy as np

from skilloscope.chess.analysis.evaluations import evaluations_from_comments, read_evaluated
from skilloscope.chess.pgn.games import Games, read_games
from skilloscope.decision import Losses


def read(text: str) -> Games:
    return read_games(io.StringIO(text))


def losses_from_comments(games: Games) -> Losses:
    return evaluations_from_comments(games).losses()


class TestComments:
    def test_a_comment_before_the_first_move_is_the_start_positions_value(self):
        games = read('[White "A"] [Black "B"]\n\n{[%eval 0.25]} 1. e4 {[%eval 0.30]} e5 {[%eval 0.20]} *')
        losses = losses_from_comments(games)
        np.testing.assert_allclose(losses.gain, [0.05, 0.10])
        assert losses.tally.total == 0

    def test_without_it_the_first_gain_is_unknown_and_counted(self):
        losses = losses_from_comments(read('[White "A"] [Black "B"]\n\n1. e4 {[%eval 0.3]} e5 {[%eval 0.2]} *'))
        assert len(losses) == 1
        assert losses.tally.as_dict() == {"no evaluation before the move": 1}

    def test_a_mate_may_stand_before_the_first_move(self):
        fen = '[FEN "7k/8/5KQ1/8/8/8/8/8 w - - 0 1"]\n[White "A"] [Black "B"]\n\n{[%eval #1]} 1. Qg7# 1-0'
        losses = losses_from_comments(read(fen))
        np.testing.assert_allclose(losses.before, [39.0])
        np.testing.assert_allclose(losses.gain, [0.0])

    def test_the_mating_move_is_worth_the_cap_without_a_comment(self):
        text = '[White "A"] [Black "B"]\n\n1. f3 {[%eval -0.8]} e5 {[%eval -0.9]} 2. g4 {[%eval #-1]} Qh4# 0-1'
        evaluations = evaluations_from_comments(read(text), mate_cap=20.0)
        np.testing.assert_allclose(evaluations.values[1:], [-0.8, -0.9, -20.0, -20.0])
        np.testing.assert_allclose(evaluations.losses().gain, [0.1, -19.1, 0.0])

    def test_stalemate_is_worth_nothing(self):
        fen = '[FEN "7k/8/4K3/5Q2/8/8/8/8 w - - 0 1"]\n[White "A"] [Black "B"]\n\n{[%eval #2]} 1. Qf7 1/2-1/2'
        np.testing.assert_allclose(losses_from_comments(read(fen)).gain, [-39.0])

    def test_whoever_resigns_or_loses_on_time_makes_no_move(self):
        ended = [
            losses_from_comments(read(f'[White "A"] [Black "B"]\n\n{{[%eval 0]}} 1. e4 {{[%eval 0.3]}} {result}'))
            for result in ("1-0", "0-1", "*")
        ]
        assert [len(losses) for losses in ended] == [1, 1, 1]
        assert len({float(losses.gain[0]) for losses in ended}) == 1


ROW = {
    "white": "A",
    "black": "B",
    "white_elo": "1900",
    "result": "1-0",
    "moves": ["e2e4", "e7e5", "g1f3", "b8c6"],
    "stockfish_eval": [20, 20, 35, 35, 30, 30],
}


class TestEvaluatedGames:
    def write(self, folder: Path, *rows: object) -> Path:
        path = folder / "games.ndjson"
        path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows) + "\n")
        return path

    def test_values_given_twice_count_once_and_end_with_the_game(self, tmp_path):
        evaluations = read_evaluated(self.write(tmp_path, ROW))
        np.testing.assert_allclose(evaluations.values, [np.nan, np.nan, 0.2, 0.35, 0.3])
        losses = evaluations.losses()
        np.testing.assert_allclose(losses.gain, [0.15, 0.05])
        assert losses.tally.as_dict() == {"no evaluation after the move": 1, "no evaluation before the move": 1}
        assert losses.context.column("elo").to_pylist() == [1900, None]

    def test_bad_lines_are_faults_and_the_rest_is_read(self, tmp_path):
        wrong = [{**ROW, "moves": ["e2e5"]}, {**ROW, "moves": ["e2e4"]}, {**ROW, "moves": []}, "{", "[]"]
        nameless = {**ROW, "white": "??", "stockfish_eval": None}
        evaluations = read_evaluated(self.write(tmp_path, *wrong, nameless, ROW))
        assert len(evaluations.games) == 2
        assert evaluations.games.headers["white"].to_pylist() == ["game 6, white", "A"]
        assert evaluations.tally.as_dict() == {
            "unreadable game": 3,
            "game without evaluations": 1,
            "more evaluations than positions": 1,
            "no moves": 1,
        }

    def test_a_damaged_file_keeps_the_games_before_the_damage(self, tmp_path):
        packed = tmp_path / "games.ndjson.gz"
        whole = gzip.compress((json.dumps(ROW) + "\n").encode() * 3000)
        packed.write_bytes(whole[: len(whole) // 2])
        assert "damaged file" in read_evaluated(packed).tally.counts
        binary = tmp_path / "games.ndjson"
        binary.write_bytes(bytes(range(256)))
        assert "binary data" in read_evaluated(binary).tally.counts

    def test_the_games_of_the_data_folder_are_read(self, shared_data):
        evaluations = read_evaluated(shared_data / "evals" / "kaggle_finding_elo_1000_sf_eval.ndjson.gz")
        assert len(evaluations.games) == 1000
        losses = evaluations.losses()
        assert len(losses) > 70_000
        assert not losses.tally.faults
        assert -0.4 < losses.gain.mean() < 0
