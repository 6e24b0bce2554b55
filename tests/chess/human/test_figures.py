"""The figures of the human model's evidence, short: Elo given back, nothing from positions, a regression that holds."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from skilloscope.chess.pgn.games import read_games
from skilloscope.inputs.bundled import demo_file

pytest.importorskip("onnxruntime")


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    sys.path.insert(0, str(Path(__file__).parents[3] / "tools"))
    try:
        import human_figures
    finally:
        sys.path.pop(0)
    return human_figures


@pytest.fixture(scope="module")
def demo(tool):
    games = read_games([demo_file("simulated.pgn"), demo_file("game_of_the_century.pgn")])
    return tool.sample_of(games, rated_only=False)


def test_a_sample_holds_every_choice_of_every_player_game(demo):
    assert len(demo.elo) == 38
    assert (np.diff(demo.choices.offsets) > 1).all()
    assert (demo.chosen >= 0).all()
    assert len(demo.boards) == len(demo.owner) == len(demo.chosen)


def test_moves_are_drawn_as_often_as_they_are_likely(tool, demo):
    rng = np.random.default_rng(1)
    draws = np.stack([demo.drawn(1500.0, rng)[:40] for _ in range(400)])
    top = np.array([np.bincount(column).max() / len(draws) for column in draws.T])
    p = np.exp(demo.choices.log_probabilities(1500.0)[:, 0])
    likeliest = np.maximum.reduceat(p, demo.choices.offsets[:-1])[:40]
    assert np.abs(top - likeliest).mean() < 0.03


def test_moves_drawn_on_real_positions_give_their_elo_back(tool, demo):
    legal, everything = tool.recovery(demo, np.random.default_rng(2), repeats=20)
    assert 0.93 <= legal["covers"] <= 0.97
    assert abs(legal["bias"]) < 3 * legal["rmse"] / np.sqrt(legal["estimates"])
    assert everything["covers"] < 0.9  # what illegal moves are given tells of the position, not of the player
    assert everything["rmse"] > legal["rmse"]


def test_a_fixed_elo_is_found_again_by_several_games_together(tool, demo):
    rows = tool.pooled_recovery(demo, np.random.default_rng(3), size=19, repeats=10)
    assert [row["elo"] for row in rows] == [1200, 1600, 2000, 2400, 2700]
    assert np.mean([row["covers"] for row in rows]) == pytest.approx(0.95, abs=0.06)


def test_positions_of_strong_and_weak_people_carry_nothing(tool, shared_data):
    bands = [read_games(file) for file in sorted((shared_data / "bands").glob("*_2010-2014.pgn"))]
    samples = [tool.sample_of(band.select(np.arange(min(2, len(band))))) for band in bands]
    rng = np.random.default_rng(4)
    prior = -0.5 * ((tool.ELO - tool.FIXED) / 300) ** 2
    ratings = np.concatenate([sample.elo for sample in samples])
    found = []
    for _ in range(10):
        means = [tool.Estimates.of(s.curves(s.drawn(tool.FIXED, rng)), prior).mean for s in samples]
        found.append(np.corrcoef(np.concatenate(means), ratings)[0, 1])
    assert np.ptp(ratings) > 800
    assert abs(np.mean(found)) < 3 / np.sqrt(len(ratings) * len(found))


def test_the_regression_finds_both_coefficients_and_their_errors(tool):
    rng = np.random.default_rng(5)
    person = np.repeat(np.arange(300), 3)
    own = rng.normal(2000, 250, size=300)[person]
    other = own + rng.choice([-1, 1], size=900) * rng.uniform(200, 500, size=900)
    y = 500 + 0.7 * own + 0.05 * other + rng.normal(0, 150, size=300)[person] + rng.normal(0, 200, size=900)
    b, error = tool._regressed(y, own, other, person)
    assert abs(b[1] - 0.7) < 3.5 * error[1]
    assert abs(b[2] - 0.05) < 3.5 * error[2]
    assert 0.005 < error[2] < 0.08
