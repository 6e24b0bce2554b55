from __future__ import annotations

import gzip
import io
import json
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pytest

from skilloscope.chess.analysis.analyses import CONTEXT, Analyses, decisions
from skilloscope.chess.analysis.files import read_analysed
from skilloscope.chess.engine.lines import LineArray, lines_from_lists
from skilloscope.chess.engine.settings import DFH13, Settings
from skilloscope.chess.moves import move_uci, value_pawns
from skilloscope.chess.pgn.games import read_games
from skilloscope.chess.pgn.positions import positions
from skilloscope.core.errors import Tally
from skilloscope.decision.decisions import UNLISTED

PGN = """[Event "Match"]
[Date "1999.12.31"]
[White "Ann"]
[Black "Bob"]
[WhiteElo "2000"]
[Result "1-0"]

1. e4 {[%clk 0:01:00]} e5 2. Nf3 Nc6 1-0

[White "?"]
[Black "Bob"]

1. d4 d5 2. Qh9 *
"""


def made(*answers: dict[str, list[list[Any]]] | None, settings: Settings = DFH13, **columns: Any) -> Analyses:
    """Return the analyses of the six positions of PGN with these answers."""
    batch = positions(read_games(io.StringIO(PGN)), skip_moves=0)
    named: dict[str, LineArray] = {}
    for fen, answer in zip(batch.fen.to_pylist(), answers, strict=False):
        if answer is not None and fen not in named:
            named[fen] = lines_from_lists(answer)
    return Analyses.from_answers(batch, settings.key({"engine": "X", "net": None}), named, **columns)


FIRST = {"1": [["d2d4", 10], ["g1f3", 5]], "2": [["e2e4", 30], ["d2d4", 20]]}
SECOND = {"1": [["e7e5", 0], ["c7c5", -10]], "2": [["c7c5", -5], ["e7e5", -20]]}


def test_values_stand_best_first_with_a_column_for_every_depth() -> None:
    batch = decisions(made(FIRST, SECOND))
    assert batch.depths == (1, 2)
    assert batch.values.dtype == np.float32
    np.testing.assert_allclose(batch.values[:4], [[np.nan, 0.3], [0.1, 0.2], [-0.1, -0.05], [0.0, -0.2]], rtol=1e-6)
    assert batch.chosen[:2].tolist() == [0, 1]
    assert batch.n_legal[:2].tolist() == [20, 20]


def test_one_depth_alone_has_no_axis() -> None:
    batch = decisions(made(FIRST, SECOND), all_depths=False)
    assert batch.depths == ()
    np.testing.assert_allclose(batch.values[:4], [0.3, 0.2, -0.05, -0.2], rtol=1e-6)


def test_a_move_that_is_not_on_the_list_is_unlisted() -> None:
    batch = decisions(made({"2": [["a2a3", 1], ["b2b3", 0]]}))
    assert batch.chosen[0] == UNLISTED


def test_the_context_is_that_of_the_mover() -> None:
    batch = decisions(made(FIRST, SECOND))
    white, black = batch.context.to_pylist()[:2]
    assert white | {"fen": None} == {
        "game": "<stream 1>#1",
        "ply": 0,
        "mover": "white",
        "elo": 2000,
        "opponent": "Bob",
        "opponent_elo": None,
        "date": "1999.12.31",
        "year": 1999,
        "event": "Match",
        "site": None,
        "time_control": None,
        "result": 1.0,
        "fen": None,
        "clock": 60.0,
        "move": "e2e4",
        "round": None,
        "termination": None,
        "time_class": None,
        "eco": "C4",
        "opening": "King's Knight Opening",
    }
    assert (black["mover"], black["elo"], black["opponent"], black["opponent_elo"]) == ("black", None, "Ann", 2000)
    assert (black["result"], black["clock"]) == (0.0, None)
    assert [batch.deciders[code] for code in batch.decider[:2]] == ["Ann", "Bob"]
    assert tuple(batch.context.column_names) == CONTEXT


def test_everything_that_is_left_out_is_counted_by_name() -> None:
    analyses = made(FIRST, SECOND, tally=Tally({"not analysed": 2, "engine failed": 1}))
    batch = decisions(analyses)
    assert batch.tally.as_dict() == {
        "not analysed": 2,
        "engine failed": 1,
        "unknown player": 1,
        "unreadable move": 1,
    }
    assert batch.tally.faults[0].place == "game 2, move 2, white"
    assert len(batch) == 2


def test_a_position_is_decided_by_its_best_value_never_by_the_move_played() -> None:
    blunder = {"2": [["d2d4", 300], ["e2e4", "#-4"]]}
    batch = decisions(made(blunder))
    assert batch.chosen_loss()[0] == pytest.approx(42.0)
    winning = decisions(made({"2": [["d2d4", 301], ["e2e4", 0]]}))
    assert len(winning) == 0
    assert winning.tally.counts["decided (best value beyond ±3 pawns)"] == 1
    assert len(decisions(made({"2": [["d2d4", 301], ["e2e4", 0]]}), max_abs_value=4)) == 1
    lost = decisions(made({"2": [["e2e4", "#-2"], ["d2d4", "#-1"]]}))
    assert lost.tally.counts["decided (best value beyond ±3 pawns)"] == 1


def test_the_cap_of_mates_is_an_option_and_is_told() -> None:
    batch = decisions(made({"2": [["e2e4", 0], ["d2d4", "#-1"]]}), mate_cap=10)
    assert batch.judged.tolist() == [0.0, -10.0]
    assert batch.about["mate_cap"] == 10
    assert batch.about["settings"]["engine"] == "X"
    assert json.dumps(batch.about)


def test_a_search_that_ended_early_with_a_mate_keeps_its_values_at_the_depths_it_left_out() -> None:
    early = {"1": [["e2e4", "#1"], ["d2d4", 50]]}
    batch = decisions(made(early, SECOND), max_abs_value=100)
    assert batch.values[:2].tolist() == [[39.0, 39.0], [0.5, 0.5]]


def test_searches_by_nodes_have_no_depth_axis() -> None:
    nodes = Settings(depth=None, nodes=1000)
    batch = decisions(made(FIRST, {"1": SECOND["1"]}, settings=nodes))
    assert batch.depths == ()
    np.testing.assert_allclose(batch.values[:4], [0.3, 0.2, 0.0, -0.1], rtol=1e-6)


def test_equal_moves_keep_the_engines_order() -> None:
    batch = decisions(made({"2": [["g1f3", 10], ["e2e4", 10], ["d2d4", 10]]}))
    assert batch.chosen[0] == 1


def test_nothing_analysed_is_no_decision() -> None:
    assert len(decisions(made())) == 0


def test_the_join_agrees_with_a_plain_loop_over_real_analyses(shared_data: Path, tmp_path: Path) -> None:
    (path,) = (shared_data / "analysed").glob("*.jsonl.gz")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        (tmp_path / "some.jsonl").write_text("".join(islice(file, 15)), encoding="utf-8")
    analyses = read_analysed(tmp_path / "some.jsonl")
    batch = decisions(analyses)
    assert batch.depths == tuple(range(1, 11))
    assert len(batch) + batch.tally.total == len(analyses)
    keep = [i for i in range(len(analyses)) if abs(_loop(analyses, i)[0][1][-1]) <= 3]
    assert len(keep) == len(batch)
    for at in range(0, len(batch), 7):
        rows = _loop(analyses, keep[at])
        span = slice(batch.offsets[at], batch.offsets[at + 1])
        np.testing.assert_array_equal(batch.values[span], np.float32([values for _, values in rows]))
        played = move_uci(analyses.positions.played[keep[at]])
        moves = [move for move, _ in rows]
        assert batch.chosen[at] == (moves.index(played) if played in moves else UNLISTED)
    assert pc.count(batch.context["elo"]).as_py() > 0  # type: ignore[index]


def _loop(analyses: Analyses, position: int) -> list[tuple[str, list[float]]]:
    lines = analyses.answer(position).tolist()
    value = {(depth, move): float(value_pawns(mate, score)) for depth, _, move, mate, score in lines}
    listed = [move for depth, _, move, _, _ in lines if depth == 10]
    return [(move_uci(m), [value.get((depth, m), np.nan) for depth in range(1, 11)]) for m in listed]
