"""The papers' own engine: the same positions under several judges, and nothing where its answers are not at hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.analysis.files import read_export
from skilloscope.chess.pgn.games import read_games
from skilloscope.chess.pgn.positions import positions
from skilloscope.inputs.bundled import demo_file
from skilloscope.inputs.load import EngineJob
from skilloscope.papers import ENTRIES, reproduce
from skilloscope.papers.dfh13 import up_to_depth
from skilloscope.papers.harness import Budget

KEPT = Path(__file__).resolve().parents[2] / "measurements" / "bands_depth6_toga3.parquet"
OWN = [entry for entry in ENTRIES if ".engine" in entry.key]


@pytest.mark.parametrize("entry", OWN, ids=lambda entry: entry.key)
def test_without_its_answers_nothing_is_claimed(entry):
    outcome = reproduce([entry]).entries[0][1]
    assert all(row.ours is None for row in outcome.rows)
    assert any(row.printed is not None for row in outcome.rows)
    assert outcome.notes


def test_with_them_every_printed_group_has_a_competence_under_each_judge(shared_data: Path):
    budget = Budget(data=shared_data, work=replace(EngineJob(), imports=[KEPT]))
    done = reproduce(OWN, budget=budget)
    for _, outcome in done.entries:
        assert all(row.ours is not None and np.isfinite(row.ours) for row in outcome.rows)
    rises = [row for row in done.entries[0][1].rows if row.label.startswith("rise")]
    assert len(rises) == 3
    assert all(row.ours > 2 * row.sd for row in rises)  # stronger players show more under every judge


def test_a_search_cut_short_is_one_that_ended_there():
    kept = read_export(demo_file("analyses.jsonl.gz"))
    every = positions(read_games(demo_file("simulated.pgn")))
    known = Analyses.from_answers(every, kept.settings, {row.fen: row.lines for row in kept.rows})
    some = known.select(np.flatnonzero(known.answered[:60]))
    cut = up_to_depth(some, 6)
    assert cut.settings["depth"] == 6
    assert len(cut) == len(some) > 20
    for row in range(len(some)):
        whole, short = some.answer(row), cut.answer(row)
        assert short["depth"].max() <= 6 < whole["depth"].max()
        np.testing.assert_array_equal(short, whole[whole["depth"] <= 6])
