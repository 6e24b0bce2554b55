"""Every engine that Debian has: whatever its quirks, its answers are complete, best first and the same every time."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import chess
import numpy as np
import pytest

from skilloscope.chess.engine.engine import Engine, find_engine
from skilloscope.chess.engine.lines import LINE, LineArray, last_depth, parent_score, read_answer, search_children
from skilloscope.chess.engine.pool import EnginePool
from skilloscope.chess.engine.settings import Settings
from skilloscope.chess.moves import code_from_uci, move_uci, value_pawns
from skilloscope.core.errors import EngineError, InputError

ENGINES = {
    "stockfish": "list",
    "fairy-stockfish": "list",
    "glaurung": "list",
    "ethereal-chess": "ranked",
    "toga2": "children",
    "gnuchess": "children",
}
ASKED = Settings(depth=5, multipv=5)
MIDDLEGAME = "2rq1rk1/p2nbppp/1p2p3/2pb4/3P1B2/5NP1/PPQ1PPBP/R2R2K1 w - - 0 13"
MATE_IN_ONE = "7k/R7/8/8/8/8/8/1R4K1 w - - 0 1"
MATE_IN_TWO = "7k/8/8/8/8/1R6/R7/6K1 w - - 0 1"
MATED_IN_ONE = "k7/7R/8/8/8/8/8/K5R1 b - - 0 1"
FORCED_REPLY = "3Q1bk1/1p3p1p/2p3p1/3b4/4n3/5N1P/r5PK/8 w - - 3 32"
ONE_MOVE = "k7/8/8/8/8/8/7r/K7 w - - 0 1"
POSITIONS = (MIDDLEGAME, MATE_IN_ONE, MATED_IN_ONE, FORCED_REPLY, ONE_MOVE)
Fake = Callable[..., Path]
Ends = Callable[[str], None]


@pytest.fixture(params=ENGINES)
def name(request: pytest.FixtureRequest) -> str:
    """Each engine in turn."""
    return str(request.param)


@pytest.fixture
def path(name: str) -> Path:
    return installed(name)


def installed(name: str) -> Path:
    try:
        return find_engine(name)
    except EngineError:
        pytest.skip(f"no {name}")


def test_answers_are_complete_best_first_and_the_same_every_time(name: str, path: Path) -> None:
    with Engine(path, ASKED) as engine:
        assert engine.method == ENGINES[name]
        assert engine.key.get("method", "list") == engine.method
        first = {fen: engine.analyse(fen) for fen in POSITIONS}
        again = {fen: engine.analyse(fen) for fen in reversed(POSITIONS)}
    for fen, answer in first.items():
        assert np.array_equal(answer.lines, again[fen].lines)
        assert answer.n_legal == chess.Board(fen).legal_moves.count()
        assert len(last_depth(answer.lines)) == min(5, answer.n_legal)
        for depth in np.unique(answer.lines["depth"]):
            lines = answer.lines[answer.lines["depth"] == depth]
            assert np.all(np.diff(value_pawns(lines["mate"], lines["score"])) <= 0)


@pytest.mark.parametrize(("fen", "mate"), [(MATE_IN_ONE, 1), (MATE_IN_TWO, 2), (MATED_IN_ONE, -1)])
def test_mates_are_counted_as_uci_counts_them(name: str, path: Path, fen: str, mate: int) -> None:
    with Engine(path, Settings(depth=8, multipv=5)) as engine:  # Ethereal misses mates in one below that
        best = last_depth(engine.analyse(fen).lines)[0]
    assert int(best["mate"]) == 1
    assert int(best["score"]) == mate or (name == "ethereal-chess" and int(best["score"]) * mate > 0)


@pytest.mark.parametrize("name", ["ethereal-chess", "toga2", "gnuchess"])
def test_an_engine_that_does_not_count_nodes_is_not_asked_to(path: Path) -> None:
    with pytest.raises(EngineError, match="cannot be held to a number of nodes") as caught:
        Engine(path, Settings(depth=None, nodes=1000))
    assert "depth" in caught.value.hint


@pytest.mark.parametrize("name", ["toga2", "gnuchess"])
def test_the_value_of_a_move_is_minus_that_of_the_position_after_it(path: Path) -> None:
    with Engine(path, Settings(depth=4, multipv=30)) as engine:
        lines = last_depth(engine.analyse(MIDDLEGAME).lines)
    with Engine(path, Settings(depth=3, multipv=1)) as single:
        assert "method" not in single.key
        for line in lines[::10]:
            board = chess.Board(MIDDLEGAME)
            board.push_uci(move_uci(line["move"]))
            child = last_depth(single.analyse(board.fen()).lines)[0]
            assert int(line["score"]) == -int(child["score"])


def test_two_workers_search_children_as_one_does() -> None:
    path = installed("toga2")
    fens = [MIDDLEGAME, FORCED_REPLY, MATED_IN_ONE]
    with (
        EnginePool(path, Settings(depth=4, multipv=3), 2) as pool,
        Engine(path, Settings(depth=4, multipv=3)) as engine,
    ):
        assert pool.key == engine.key
        for outcome in pool.search(fens):
            assert outcome.answer is not None
            alone = engine.analyse(outcome.problem)
            # Lines only: Toga II polls its input while it searches, and its node count may differ by one.
            assert np.array_equal(outcome.answer.lines, alone.lines)


def test_an_engine_without_a_list_is_asked_by_its_children(fake_engine: Fake) -> None:
    with Engine(fake_engine("no multipv"), Settings(depth=3, multipv=3)) as engine:
        assert engine.key["method"] == "children"
        answer = engine.analyse(chess.STARTING_FEN)
    assert [move_uci(code) for code in last_depth(answer.lines)["move"]] == ["a2a3", "a2a4", "b1a3"]
    assert set(answer.lines["score"].tolist()) == {-90}
    assert answer.nodes == 20 * 200
    with pytest.raises(InputError, match="the position after each") as caught:
        Engine(fake_engine("no multipv"), Settings(depth=1, multipv=3))
    assert caught.value.hint


def test_a_real_engine_that_does_not_end_with_its_input_ends_with_us(tmp_path: Path, all_end: Ends) -> None:
    path = tmp_path / "gnuchess"
    path.symlink_to(installed("gnuchess"))
    script = f"""
from skilloscope.chess.engine.engine import Engine
from skilloscope.chess.engine.settings import Settings
engine = Engine({str(path)!r}, Settings(depth=20, multipv=1))
print(flush=True)
engine.analyse({MIDDLEGAME!r})
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        parent.send_signal(signal.SIGKILL)
    all_end(str(path))


def scripted(scores: dict[str, list[tuple[int, int]]]) -> Callable[[str, Settings], tuple[LineArray, int]]:
    """A search that knows the scores of the children by the last move, a list by depth; others score 0."""

    def search(fen: str, settings: Settings) -> tuple[LineArray, int]:
        assert settings.depth is not None
        listed = scores.get(fen.split()[0], [(0, 0)] * settings.depth)[: settings.depth]
        return np.array([(depth, 1, 0, *score) for depth, score in enumerate(listed, start=1)], dtype=LINE), 7

    return search


def board_after(fen: str, uci: str) -> str:
    board = chess.Board(fen)
    board.push_uci(uci)
    return board.fen().split()[0]


def test_children_make_a_list_best_first_with_mates_at_their_distance() -> None:
    scores = {
        board_after(MATE_IN_TWO, "a2a7"): [(0, -900), (1, -1)],  # found at depth 2, and then no deeper
        board_after(MATE_IN_TWO, "g1f1"): [(0, 10), (0, 20), (0, -30)],
        board_after(MATE_IN_TWO, "g1h1"): [(0, 10), (0, 20), (1, 3)],
    }
    lines, nodes = search_children(MATE_IN_TWO, Settings(depth=4, multipv=40), scripted(scores))
    assert np.unique(lines["depth"]).tolist() == [2, 3, 4]
    listed = [(move_uci(move), mate, score) for _, _, move, mate, score in last_depth(lines).tolist()]
    assert listed[:2] == [("a2a7", 1, 2), ("g1f1", 0, 30)]
    assert listed[-1] == ("g1h1", 1, -3)
    assert nodes == 7 * chess.Board(MATE_IN_TWO).legal_moves.count()


def test_mates_and_stalemates_on_the_board_need_no_search() -> None:
    lines, _ = search_children("7k/5Q2/8/6K1/8/8/8/8 w - - 0 1", Settings(depth=3, multipv=40), scripted({}))
    found = {move_uci(move): (mate, score) for _, _, move, mate, score in last_depth(lines).tolist()}
    assert found["g5g6"] == (0, 0)  # stalemate
    mates, _ = search_children(MATE_IN_ONE, Settings(depth=2, multipv=40), scripted({}))
    assert (move_uci(mates[0]["move"]), int(mates[0]["mate"]), int(mates[0]["score"])) == ("b1b8", 1, 1)


def test_a_score_and_its_parent_s_point_opposite_ways() -> None:
    for child in [(0, 7), (0, -7), (1, 3), (1, -3), (1, 0)]:
        mate, score = parent_score(child)
        assert mate == child[0]
        assert (score > 0) == (child[1] < 0 or child == (1, 0))


def test_lines_that_are_flagged_count_only_where_asked() -> None:
    said = b"info depth 1 multipv 1 score cp 30 upperbound nodes 10 pv e2e4\nbestmove e2e4\n"
    assert len(read_answer(said)[0]) == 0
    assert read_answer(said, flagged=True)[0].tolist() == [(1, 1, code_from_uci("e2e4"), 0, 30)]
