"""A deeper search answers a shallower question of the same number of lines, where that was proven, and nothing else."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from prove_depths import demo_positions, differing_depths
from skilloscope.chess.analysis import analyses as depths_module
from skilloscope.chess.analysis.analyse import Analyses, analyse
from skilloscope.chess.analysis.analyses import PROVEN, cut_lines, deeper_keys, shallower_key
from skilloscope.chess.analysis.files import export_analyses
from skilloscope.chess.engine.engine import Engine
from skilloscope.chess.engine.lines import lines_from_lists
from skilloscope.chess.engine.settings import Settings
from skilloscope.chess.pgn.games import read_games
from skilloscope.chess.pgn.positions import Positions, positions
from skilloscope.store import Store

PGN = '[White "Ann"]\n[Black "Bob"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 *\n'
Fake = Callable[..., Path]


@pytest.fixture
def batch() -> Positions:
    return positions(read_games(io.StringIO(PGN)), skip_moves=0)


@pytest.fixture
def proven(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the fake engine as proven; it says the same at every depth."""
    monkeypatch.setattr(depths_module, "PROVEN", {"Fake 1.0": {3: 2}})


def counts(analyses: Analyses) -> tuple[int, int, int]:
    return analyses.searched, analyses.cached, analyses.imported


def skip_unproven(stockfish: Path) -> None:
    with Engine(stockfish) as engine:
        if engine.identity["engine"] not in PROVEN:
            pytest.skip(f"nothing is claimed of {engine.identity['engine']}")


@pytest.mark.parametrize(
    ("multipv", "deep", "shallower"), [(10, 8, (4, 6)), (1, 10, (6,)), (50, 6, (4,)), (500, 6, (4,))]
)
def test_ten_positions_say_that_a_deeper_search_holds_the_shallower_answers(
    multipv: int, deep: int, shallower: tuple[int, ...], stockfish: Path
) -> None:
    skip_unproven(stockfish)
    settings = Settings(depth=deep, multipv=multipv)
    assert differing_depths(stockfish, settings, shallower, demo_positions(10)) == []


@pytest.mark.soak
@pytest.mark.parametrize(
    ("multipv", "deep", "shallower"),
    [(10, 12, (4, 6, 8, 10)), (1, 16, (6, 10, 13)), (50, 10, (4, 6)), (500, 8, (4, 6))],
)
def test_two_hundred_positions_prove_that_a_deeper_search_holds_the_shallower_answers(
    multipv: int, deep: int, shallower: tuple[int, ...], stockfish: Path
) -> None:
    skip_unproven(stockfish)
    settings = Settings(depth=deep, multipv=multipv)
    assert differing_depths(stockfish, settings, shallower, demo_positions(200)) == []


def test_the_soak_tries_what_the_table_claims() -> None:
    (mark,) = (
        mark
        for mark in test_two_hundred_positions_prove_that_a_deeper_search_holds_the_shallower_answers.pytestmark
        if mark.name == "parametrize"
    )
    assert {multipv: deep for multipv, deep, _ in mark.args[1]} == PROVEN["Stockfish 15.1"]


def test_the_proof_finds_a_difference(fake_engine: Fake) -> None:
    fens = ["7k/p7/8/8/8/8/P7/K7 w - - 0 50"]
    assert differing_depths(fake_engine(), Settings(depth=2, multipv=3), [1], fens) == [(fens[0], 1)]


def test_a_deeper_answer_is_the_answer_to_the_bit_and_counts_as_cached(
    batch: Positions, stockfish: Path, tmp_path: Path
) -> None:
    skip_unproven(stockfish)
    deep, shallow = Settings(depth=7, multipv=10), Settings(depth=4, multipv=10)
    with Store(tmp_path / "s.sqlite") as store:
        analyse(batch, settings=deep, store=store, engine=stockfish)
        cut = analyse(batch, settings=shallow, store=store, engine=stockfish)
        assert counts(cut) == (0, 8, 0)
        assert len(store.all_settings()) == 1
    searched = analyse(batch, settings=shallow, engine=stockfish)
    assert counts(searched) == (8, 0, 0)
    assert np.array_equal(cut.lines, searched.lines)
    assert cut.settings == searched.settings


def test_of_another_engine_a_deeper_answer_answers_nothing(batch: Positions, fake_engine: Fake, tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store:
        analyse(batch, settings=Settings(depth=2, multipv=3), store=store, engine=fake_engine())
        seen = analyse(batch, settings=Settings(depth=1, multipv=3), store=store, engine=fake_engine("stops early"))
    assert counts(seen) == (8, 0, 0)


@pytest.mark.usefixtures("proven")
def test_a_shallower_answer_never_answers_a_deeper_question(
    batch: Positions, fake_engine: Fake, tmp_path: Path
) -> None:
    with Store(tmp_path / "s.sqlite") as store:
        analyse(batch, settings=Settings(depth=1, multipv=3), store=store, engine=fake_engine("stops early"))
        seen = analyse(batch, settings=Settings(depth=2, multipv=3), store=store, engine=fake_engine())
    assert counts(seen) == (8, 0, 0)


@pytest.mark.usefixtures("proven")
def test_deeper_imports_answer_with_an_engine_and_without(
    batch: Positions, fake_engine: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = analyse(batch, settings=Settings(depth=2, multipv=3), store=tmp_path / "s.sqlite", engine=fake_engine())
    export_analyses(tmp_path / "x.jsonl", made.settings, made.rows())
    shallow = Settings(depth=1, multipv=3)
    seen = analyse(batch, settings=shallow, imports=[tmp_path / "x.jsonl"], engine=fake_engine("stops early"))
    assert counts(seen) == (0, 0, 8)
    assert "notes" not in seen.about
    monkeypatch.setenv("STOCKFISH_EXECUTABLE", "/nowhere/engine")
    for given in ({"imports": [tmp_path / "x.jsonl"]}, {"store": tmp_path / "s.sqlite"}):
        alone = analyse(batch, settings=shallow, **given)  # type: ignore[arg-type]
        assert alone.settings["depth"] == 1
        assert alone.answered.all()
        assert np.array_equal(alone.lines, seen.lines)


KEY = Settings(depth=6).key({"engine": "Stockfish 15.1", "net": "n"})


@pytest.mark.parametrize(
    "other",
    [
        {"multipv": 20},
        {"multipv": 1},
        {"hash_mb": 64},
        {"net": "other"},
        {"fen_rule": "normalised"},
        {"options": {"ponder": "true"}},
        {"engine": "Stockfish 16"},
        {"depth": 6},
        {"depth": 5},
        {"depth": 40},
        {"depth": None, "nodes": 50_000},
        {"something new": 1},
    ],
)
def test_everything_but_the_depth_must_be_equal(other: dict[str, object]) -> None:
    assert deeper_keys(KEY, [{**KEY, "depth": 10, **other}]) == []
    assert deeper_keys(KEY, [{**KEY, "depth": 10}]) == [{**KEY, "depth": 10}]


def test_a_number_of_lines_or_options_that_were_not_tried_prove_nothing() -> None:
    for other in ({"multipv": 20}, {"options": {"ponder": "true"}}):
        deep, shallow = {**KEY, **other, "depth": 10}, {**KEY, **other}
        assert deeper_keys(shallow, [deep]) == []
        assert shallower_key(deep, 6) is None


def test_a_search_that_ended_early_with_a_mate_answers_down_to_there() -> None:
    lines = lines_from_lists({"1": [["a1a2", 5], ["a1b1", 3]], "2": [["a1a2", "#2"], ["a1b1", 3]]})
    assert cut_lines(lines, 3, 2) is None
    assert np.array_equal(cut_lines(lines, 2, 2), lines)
    assert len(cut_lines(lines, 1, 2)) == 2  # type: ignore[arg-type]
    assert cut_lines(lines[:3], 2, 2) is None
