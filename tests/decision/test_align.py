"""The same choices under two judges: matched by identity and by name, what does not match left out by name."""

from __future__ import annotations

import numpy as np
import pytest

from skilloscope.core.errors import InputError
from skilloscope.decision import UNLISTED, Decisions
from skilloscope.decision.align import align, at_depth, depth_pair
from skilloscope.decision.decisions import LABELS
from skilloscope.decision.text import read_decisions, write_decisions


def first():
    return Decisions.from_lists(
        ["Ann", "Ann", "Bob", "Bob", "Cat"],
        [[3, 2, 1], [5, 4], [1, 0, -1], [1, 0], [1, 0]],
        [1, 0, 1, 0, 0],
        context={
            "problem": [1, 2, 1, 3, 4],
            LABELS: [["a", "b", "c"], ["x", "y"], ["a", "b", "c"], ["a", "b"], ["a", "b"]],
        },
    )


def test_decisions_match_by_identity_alternatives_by_name_and_the_rest_is_left_out_by_name():
    second = Decisions.from_lists(
        ["Bob", "Ann", "Ann", "Dan", "Cat"],
        [[9, 8, 7], [7, 6, 5], [2, 1], [1, 0], [3, 2]],
        [1, 0, 1, 0, 1],
        context={
            "problem": [1, 1, 2, 1, 4],
            LABELS: [["a", "b", "z"], ["c", "b", "z"], ["x", "q"], ["a", "b"], ["q", "a"]],
        },
    )
    one, two = align(first(), second)
    assert (one.names(), two.names()) == (["Bob"], ["Bob"])
    assert (one.judged.tolist(), two.judged.tolist()) == ([1, 0], [9, 8])
    assert one.chosen.tolist() == two.chosen.tolist() == [1]
    assert one.skipped == {
        "choice not on both lists": 1,
        "different choices recorded": 1,
        "fewer than two alternatives in common": 1,
        "only in the first table": 1,
        "only in the second table": 1,
    }


def test_each_judge_orders_the_alternatives_by_its_own_values():
    second = Decisions.from_lists(
        ["Bob", "Ann"],
        [[9, 8], [7, 6, 5]],
        [0, 1],
        context={"problem": [1, 1], LABELS: [["b", "a"], ["c", "b", "z"]]},
    )
    one, two = align(first(), second)
    assert (one.judged.tolist(), two.judged.tolist()) == ([2, 1, 1, 0], [7, 6, 9, 8])
    assert (one.chosen.tolist(), two.chosen.tolist()) == ([0, 1], [1, 0])


def test_tables_without_names_or_identity_are_refused_with_a_hint():
    bare = Decisions.from_lists(["Ann"], [[1, 0]], [0], context={"problem": [1]})
    with pytest.raises(InputError, match="have no names"):
        align(bare, bare)
    nameless = Decisions.from_lists(["Ann"], [[1, 0]], [0], context={LABELS: [["a", "b"]]})
    with pytest.raises(InputError, match="which decision is which"):
        align(nameless, nameless)


def test_names_follow_their_alternatives_through_sorting_parquet_and_text(tmp_path):
    one = align(first(), first())[0]
    write_decisions(one, tmp_path / "t.parquet")
    assert read_decisions(tmp_path / "t.parquet").context.equals(one.context)
    text = "decider,problem,alternative,utility,chosen\nAnn,1,left,1,1\nAnn,1,right,3,0\nAnn,1,up,2,0\n"
    (tmp_path / "t.csv").write_text(text)
    batch = read_decisions(tmp_path / "t.csv")
    assert batch.context[LABELS].to_pylist() == [["right", "up", "left"]]
    (tmp_path / "t.jsonl").write_text(
        '{"decider": "Ann", "utilities": [1, 3], "chosen": 0, "problem": 1, "alternatives": ["l", "r"]}\n'
        '{"decider": "Ann", "utilities": [1, 3], "chosen": 0, "problem": 2, "alternatives": ["l"]}\n'
    )
    lines = read_decisions(tmp_path / "t.jsonl")
    assert lines.context[LABELS].to_pylist() == [["r", "l"]]
    assert lines.skipped == {"alternatives without a name": 1}


def test_a_depth_orders_its_own_values_and_what_it_does_not_list_is_unlisted():
    values = np.array([[np.nan, 3.0], [1.0, 2.0], [5.0, 1.0]])
    batch = Decisions.from_columns(
        (("Ann",), np.zeros(1, dtype=np.int32)), values, np.array([3]), np.array([0]), np.array([9]), depths=(2, 4)
    )
    shallow = at_depth(batch, 2)
    assert shallow.judged.tolist() == [5.0, 1.0]
    assert shallow.chosen.tolist() == [UNLISTED]
    with pytest.raises(InputError, match="no decision is left"):
        depth_pair(batch, 2, 4)
    with pytest.raises(InputError, match="no values at depth 3"):
        at_depth(batch, 3)
