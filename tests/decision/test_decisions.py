"""Decisions and losses: select, concatenate, group, and every form on disk read back as it was."""

from __future__ import annotations

import io
import json
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skilloscope.core.errors import InputError, Tally
from skilloscope.core.frames import to_pandas, to_polars
from skilloscope.decision import UNLISTED, Decisions, Losses
from skilloscope.decision.arrow import (
    batch_from_parquet,
    batch_to_parquet,
    decisions_from_arrow,
    decisions_from_frame,
    losses_from_arrow,
)
from skilloscope.decision.text import read_decisions, read_jsonl, read_long_csv, write_decisions
from skilloscope.simulate.deciders import made_up_spreads


@st.composite
def batches(draw) -> Decisions:
    n = draw(st.integers(1, 12))
    values = draw(st.lists(st.lists(st.floats(-40, 40, width=32), min_size=1, max_size=6), min_size=n, max_size=n))
    names = draw(st.lists(st.sampled_from(["Ann", "Bob", "Ødegård", 'x,"y"']), min_size=n, max_size=n))
    chosen = [draw(st.integers(0, len(v) - 1)) for v in values]
    extra = [draw(st.integers(0, 5)) for _ in values]
    years = draw(st.lists(st.none() | st.integers(1900, 2030), min_size=n, max_size=n))
    return Decisions.from_lists(
        names, values, chosen, n_legal=[len(v) + e for v, e in zip(values, extra, strict=True)], context={"year": years}
    )


def assert_same(one: Decisions, other: Decisions, *, context: bool = True) -> None:
    assert [one.deciders[c] for c in one.decider] == [other.deciders[c] for c in other.decider]
    for name in ("values", "offsets", "chosen", "n_legal"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist(), name
    assert one.depths == other.depths
    if context:
        assert one.context.to_pydict() == other.context.to_pydict()


@given(batches())
@settings(deadline=None, max_examples=40)
def test_every_form_reads_back_as_it_was(batch):
    assert_same(batch, decisions_from_arrow(batch.to_arrow()))
    assert_same(batch, decisions_from_frame(to_polars(batch.to_arrow())))
    assert_same(batch, decisions_from_frame(to_pandas(batch.to_arrow())), context=False)


@given(batches(), st.data())
@settings(deadline=None, max_examples=40)
def test_selecting_and_concatenating_take_apart_and_put_together(batch, data):
    cut = data.draw(st.integers(0, len(batch)))
    assert_same(batch, Decisions.concat([batch.select(slice(0, cut)), batch.select(slice(cut, None))]))
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(batch), max_size=len(batch))))
    part = batch.select(mask, reason="not wanted")
    assert len(part) == mask.sum()
    assert part.tally.total == (~mask).sum()
    assert part.chosen_loss().tolist() == batch.chosen_loss()[mask].tolist()


@given(batches())
@settings(deadline=None, max_examples=40)
def test_groups_cover_every_decision_once(batch):
    for by in ("decider", "year", ["decider", "year"]):
        groups = batch.group_by(by)
        assert sum(len(group) for group in groups.values()) == len(batch)
    assert list(batch.group_by("decider")) == batch.names()


def test_alternatives_are_put_best_first_and_the_choice_follows():
    batch = Decisions.from_lists(["a"], [[0.1, 0.5, 0.3, 0.5]], [2])
    assert batch.judged.tolist() == [0.5, 0.5, 0.3, 0.1]
    assert batch.chosen.tolist() == [2]
    assert batch.losses().tolist() == pytest.approx([0, 0, 0.2, 0.4])


def test_the_depth_axis_survives_files_and_may_have_gaps_below_the_judgement(tmp_path):
    values = np.array([[0.1, 0.2], [np.nan, 0.3], [0.0, 0.0]], dtype=np.float32)
    batch = Decisions.from_columns(
        (("a",), np.zeros(2, np.int32)),
        values,
        np.array([2, 1]),
        np.array([0, UNLISTED]),
        np.array([2, 4]),
        depths=(4, 10),
    )
    batch_to_parquet(batch, tmp_path / "d.parquet")
    back = batch_from_parquet(tmp_path / "d.parquet")
    assert back.depths == (4, 10)
    np.testing.assert_array_equal(back.values, batch.values)
    assert back.values.dtype == np.float32
    assert back.chosen.tolist() == [1, UNLISTED]
    assert back.at_depths().depths == ()
    with pytest.raises(InputError, match="not available"):
        back.at_depths([6])


def test_the_tally_and_where_the_values_come_from_travel_with_the_file(tmp_path):
    batch = made_up_spreads(3, rng=np.random.default_rng(0)).with_tally(Tally({"forced": 7}))
    object.__setattr__(batch, "about", {"engine": "Stockfish"})
    batch_to_parquet(batch, tmp_path / "d.parquet")
    back = batch_from_parquet(tmp_path / "d.parquet")
    assert back.tally.as_dict() == {"forced": 7}
    assert back.about == {"engine": "Stockfish"}


def test_a_million_decisions_cost_megabytes_not_objects():
    tracemalloc.start()
    n = 1_000_000
    batch = Decisions(
        ("a",),
        np.zeros(n, np.int32),
        np.zeros(10 * n, np.float32),
        np.arange(n + 1) * 10,
        np.zeros(n, np.int32),
        np.full(n, 10, np.int32),
    )
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert len(batch) == n
    assert size < 70e6


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
def test_a_table_written_is_a_table_read(tmp_path, suffix):
    batch = made_up_spreads(5, 4, rng=np.random.default_rng(1))
    write_decisions(batch, tmp_path / f"table{suffix}")
    back = read_decisions(tmp_path / f"table{suffix}")
    assert back.judged.tolist() == pytest.approx(batch.judged.tolist())
    assert back.chosen.tolist() == batch.chosen.tolist()


def test_an_unlisted_choice_survives_json_lines(tmp_path):
    batch = Decisions.from_lists(["a"], [[1.0, 0.0]], [UNLISTED], n_legal=[9])
    write_decisions(batch, tmp_path / "t.jsonl")
    assert read_decisions(tmp_path / "t.jsonl").chosen.tolist() == [UNLISTED]


GOOD = '{"decider": "Ann", "utilities": [1, 0], "chosen": 0}'


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"decider": "Ann", "utilities": [1, NaN], "chosen": 0}', "utility is not a finite number"),
        ('{"decider": "Ann", "utilities": [Infinity, 1], "chosen": 0}', "utility is not a finite number"),
        ('{"decider": "Ann", "utilities": [1, "x"], "chosen": 0}', "utility is not a finite number"),
        ('{"decider": "Ann", "utilities": [1, 0], "chosen": 2}', "chosen index out of range"),
        ('{"decider": "Ann", "utilities": [1, 0], "chosen": -1}', "chosen index out of range"),
        ('{"decider": "Ann", "utilities": [1, 0], "chosen": 0.5}', "chosen is not an index"),
        ('{"decider": "Ann", "utilities": [1, 0], "chosen": null}', "nothing chosen"),
        ('{"decider": "Ann", "utilities": [], "chosen": 0}', "no alternatives"),
        ('{"decider": "", "utilities": [1, 0], "chosen": 0}', "no decider"),
        ('{"decider": "Ann", "utilities": [1, 0], "chosen": 0, "n_legal": 1}', "n_legal is smaller than the list"),
        ('{"decider": "Ann", "chosen": 0}', "decider, utilities or chosen is missing"),
        ("[1, 2]", "not a JSON object"),
        ("{oops", "not a JSON object"),
        ('{"decider": "\\ud800", "utilities": [1, 0], "chosen": 0}', "not a JSON object"),
        ('{"decider": "Ann", "utilities": [' + "1" * 5000 + ', 0], "chosen": 0}', "not a JSON object"),
        ('{"decider": "Ann", "utilities": ' + "[" * 5000 + "]" * 5000 + ', "chosen": 0}', "not a JSON object"),
        ('{"decider": "Ann", "utilities": [1, 0], "chosen": 0, "x": ' + "[" * 60 + "]" * 60 + "}", "not a JSON object"),
        (
            '{"decider": "Ann", "utilities": [1, 0], "chosen": 0, "n_legal": -2147483649}',
            "n_legal is not a whole number",
        ),
    ],
)
def test_a_bad_line_is_left_out_with_its_reason_and_place_and_the_good_ones_stay(line, reason):
    batch = read_jsonl(io.StringIO(f"{GOOD}\n{line}\n\n{GOOD}\n"), name="t.jsonl")
    assert len(batch) == 2
    assert batch.tally.as_dict() == {reason: 1}
    fault = batch.tally.faults[0]
    assert (fault.file, fault.place, fault.reason) == ("t.jsonl", "line 2", reason)


HEADER = "decider,problem,alternative,utility,chosen,year\n"


@pytest.mark.parametrize(
    ("rows", "reason", "place"),
    [
        ("Ann,2,a,nan,1,1999\nAnn,2,b,1,0,1999\n", "utility is not a finite number", "line 4"),
        ("Ann,2,a,inf,1,1999\nAnn,2,b,1,0,1999\n", "utility is not a finite number", "line 4"),
        ("Ann,2,a,1,0,1999\nAnn,2,b,1,0,1999\n", "nothing chosen", "line 4"),
        ("Ann,2,a,1,1,1999\nAnn,2,b,1,1,1999\n", "more than one alternative chosen", "line 4"),
        ("Ann,2,a,1,maybe,1999\n", "chosen is neither 0 nor 1", "line 4"),
        ("Ann,2,a,1\n", "a row with the wrong number of fields", "line 4"),
    ],
)
def test_a_bad_problem_of_a_long_table_is_left_out_with_its_place(rows, reason, place):
    text = HEADER + "Ann,1,a,0.5,1,1999\nAnn,1,b,0.7,0,1999\n" + rows
    batch = read_long_csv(io.StringIO(text), name="t.csv")
    assert len(batch) == 1
    assert (batch.tally.faults[0].reason, batch.tally.faults[0].place) == (reason, place)
    assert batch.context.to_pydict() == {"problem": ["1"], "alternatives": [["b", "a"]], "year": ["1999"]}


def test_rows_of_a_problem_belong_together_wherever_they_stand():
    text = "decider,problem,alternative,utility,chosen\nAnn,1,a,0,0\nBob,1,a,0,1\nAnn,1,b,1,1\nBob,1,b,1,0\n"
    batch = read_long_csv(io.StringIO(text))
    assert batch.names() == ["Ann", "Bob"]
    assert batch.chosen_loss().tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.csv", b"", "the file is empty"),
        ("t.csv", b"a,b\n1,2\n", "the header lacks decider"),
        ("t.jsonl", b"\x00\x01\x02\xff\xfe", "binary data|not readable as text"),
        ("t.csv", bytes(range(256)), "binary data|not readable as text"),
        ("t.parquet", b"PAR1 but no", "not a Parquet file"),
        ("t.xlsx", b"PK", "cannot tell the format"),
        ("t.jsonl.gz", b"not gzip", "not a JSON object"),
        ("t.jsonl", b"{}\n", "no decision could be read"),
    ],
)
def test_a_file_that_cannot_be_read_says_why_and_what_to_do(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_decisions(tmp_path / name)


def test_a_missing_file_is_an_error_with_a_hint(tmp_path):
    with pytest.raises(InputError, match="no file") as error:
        read_decisions(tmp_path / "nowhere.csv")
    assert error.value.hint


def test_columns_that_do_not_fit_together_are_refused():
    with pytest.raises(InputError, match="best first"):
        Decisions(
            ("a",),
            np.zeros(1, np.int32),
            np.array([0.0, 1.0]),
            np.array([0, 2]),
            np.zeros(1, np.int32),
            np.full(1, 2, np.int32),
        )
    with pytest.raises(InputError, match="out of range"):
        Decisions.from_lists(["a"], [[1.0, 0.0]], [2])
    with pytest.raises(InputError, match="not finite"):
        Decisions.from_lists(["a"], [[1.0, np.inf]], [0])
    with pytest.raises(InputError, match="at least one alternative"):
        Decisions.from_lists(["a", "a"], [[], [1.0]], [0, 0])
    with pytest.raises(InputError, match="no column 'age'"):
        Decisions.from_lists(["a"], [[1.0]], [0]).groups("age")


class TestLosses:
    def batch(self) -> Losses:
        return Losses(
            ("Ann", "Bob"),
            np.array([0, 1, 0], np.int32),
            np.array([0.0, 0.5, 1.0]),
            np.array([0.0, 0.1, 1.5]),
            context={"game": ["1", "1", None]},
        )

    def test_gain_is_after_minus_before(self):
        assert self.batch().gain == pytest.approx([0.0, -0.4, 0.5])

    def test_they_go_through_parquet_and_arrow(self, tmp_path):
        batch_to_parquet(self.batch(), tmp_path / "l.parquet")
        back = batch_from_parquet(tmp_path / "l.parquet")
        assert isinstance(back, Losses)
        assert back.gain.tolist() == self.batch().gain.tolist()
        assert losses_from_arrow(self.batch().to_arrow()).context.to_pydict() == {"game": ["1", "1", None]}
        with pytest.raises(InputError, match="not choice sets"):
            read_decisions(tmp_path / "l.parquet")

    def test_they_group_and_concatenate(self):
        both = Losses.concat([self.batch(), self.batch().select([1], reason="others")])
        assert len(both) == 4
        assert {name: len(part) for name, part in both.group_by("player").items()} == {"Ann": 2, "Bob": 2}
        assert both.tally.as_dict() == {"others": 2}
        assert both.group_by("game")[None].gain.tolist() == [0.5]

    def test_what_is_not_finite_is_refused(self):
        with pytest.raises(InputError, match="not finite"):
            Losses(("a",), np.zeros(1, np.int32), np.array([np.nan]), np.zeros(1))


def test_frames_of_other_producers_need_only_three_columns():
    frame = pd.DataFrame(
        {"decider": ["a", "b"], "values": [[0.1, 0.4], [1.0]], "chosen": [0, 0], "colour": ["w", None]}
    )
    batch = decisions_from_frame(frame)
    assert batch.judged.tolist() == [0.4, 0.1, 1.0]
    assert batch.chosen.tolist() == [1, 0]
    assert decisions_from_frame(pl.from_pandas(frame)).names() == ["a", "b"]
    with pytest.raises(InputError, match="lacks the columns values, chosen"):
        decisions_from_frame(frame[["decider"]])


def test_json_lines_hold_the_context():
    batch = Decisions.from_lists(["a"], [[1.0, 0.0]], [1], context={"year": [1999]})
    stream = io.StringIO()
    from skilloscope.decision.text import write_jsonl

    write_jsonl(batch, stream)
    assert json.loads(stream.getvalue()) == {
        "decider": "a",
        "utilities": [1.0, 0.0],
        "chosen": 1,
        "n_legal": 2,
        "year": 1999,
    }


def test_unlisted_choices_survive_csv_and_json_lines(tmp_path):
    batch = Decisions.from_lists(["a", "b"], [[1.0, 0.0], [0.5]], [UNLISTED, UNLISTED], n_legal=[9, 0])
    for name in ("t.csv", "t.jsonl", "t.parquet"):
        write_decisions(batch, tmp_path / name)
        back = read_decisions(tmp_path / name)
        assert back.chosen.tolist() == [UNLISTED, UNLISTED], name
        assert back.n_legal.tolist() == [9, 0], name
        assert not back.tally.faults


def test_rows_at_fault_in_a_parquet_file_are_named_and_the_others_stay(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = {
        "decider": ["a", "a", None, "a", "a", "a"],
        "values": [[1.0, 0.0], [float("nan"), 1.0], [1.0], [], [1.0, 0.5], [2.0, None]],
        "chosen": [1, 0, 0, 0, 7, 0],
    }
    pq.write_table(pa.table(rows), tmp_path / "t.parquet")
    batch = read_decisions(tmp_path / "t.parquet")
    assert len(batch) == 1
    assert {(f.reason, f.place) for f in batch.tally.faults} == {
        ("utility is not a finite number", "row 2"),
        ("no decider", "row 3"),
        ("no alternatives", "row 4"),
        ("chosen index out of range", "row 5"),
        ("utility is not a finite number", "row 6"),
    }


def test_columns_of_different_types_are_put_together_as_text():
    one = Decisions.from_lists(["a"], [[1.0, 0.0]], [0], context={"year": [1999]})
    other = Decisions.from_lists(["a"], [[1.0, 0.0]], [0], context={"year": ["early"]})
    assert Decisions.concat([one, other]).context["year"].to_pylist() == ["1999", "early"]


@pytest.mark.parametrize(
    "content",
    [
        '{"decider": "a", "utilities": [1e308, -1e308], "chosen": 0}',
        '{"decider": "a", "utilities": [%s, 1], "chosen": 0}' % ("9" * 400),
    ],
)
def test_numbers_too_large_to_subtract_are_no_utilities(content):
    batch = read_jsonl(io.StringIO(f"{GOOD}\n{content}\n"))
    assert batch.tally.as_dict() == {"utility is not a finite number": 1}


def test_a_batch_of_nothing_has_no_groups():
    nothing = made_up_spreads(3, rng=np.random.default_rng(0)).select([])
    assert len(nothing) == 0
    assert nothing.group_by("decider") == {}
    assert repr(nothing).startswith("<Decisions: 0 of 0 deciders")


@pytest.mark.parametrize("context", [None, {}, {"year": [1, 2, 3]}])
def test_there_is_always_a_context_of_as_many_rows_as_decisions(context):
    batch = Decisions.from_lists(["Ann", "Bob", "Ann"], [[1.0, 0.0]] * 3, [0, 1, 0], context=context)
    some = batch.select([2, 0])
    assert [one.context.num_rows for one in (batch, some, Decisions.concat([batch, some]))] == [3, 2, 5]
    assert some.context.column_names == list(context or {})
    losses = Losses(("Ann",), np.zeros(3, np.int32), np.zeros(3), np.ones(3), context=batch.context)
    assert losses.select([1]).context.num_rows == 1


def test_a_number_of_alternatives_that_no_column_holds_is_a_fault_in_a_table_too():
    table = pa.table(
        {
            "decider": ["Ann", "Ann"],
            "values": [[1.0, 0.5], [1.0, 0.5]],
            "chosen": [0, -1],
            "n_legal": pa.array([2, -2147483649]),
        }
    )
    batch = decisions_from_arrow(table)
    assert batch.n_legal.tolist() == [2]
    assert batch.tally.counts == {"n_legal is not a whole number": 1}


@pytest.mark.parametrize("legal", ["²", "9" * 5000, "-1"])
def test_a_number_that_is_none_is_a_fault_of_its_problem(legal):
    head = "decider,problem,alternative,utility,chosen,n_legal\n"
    text = head + "".join(f"Ann,{n},{a},0.{a},{a},{legal if n == 2 else 2}\n" for n in (1, 2, 3) for a in (0, 1))
    batch = read_long_csv(io.StringIO(text))
    assert len(batch) == 2
    assert batch.tally.counts == {"n_legal is not a whole number": 1}


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"decider": ["Ann"], "values": [[[1.0], [0.5]]], "chosen": [0]}),
        pa.table({"decider": ["Ann"], "values": [["a", "b"]], "chosen": [0]}),
        pa.table({"decider": ["Ann"], "values": [[1.0]], "chosen": ["first"]}),
        pa.table({"decider": [["Ann"]], "values": [[1.0]], "chosen": [0]}),
        pa.table([["Ann"], ["Bo"], [[1.0]], [0]], names=["decider", "decider", "values", "chosen"]),
        *(
            pa.table({"decider": ["Ann"], "values": [[1.0]], "chosen": [0]}).replace_schema_metadata(
                {"skilloscope": raw}
            )
            for raw in ("{", "[1]", '{"depths": 3}', '{"tally": [1]}', '{"tally": {"x": "y"}}', '{"about": 7}')
        ),
    ],
)
def test_a_table_of_another_shape_is_refused_in_words(table, tmp_path):
    pq.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(InputError):
        read_decisions(tmp_path / "t.parquet")


def test_a_name_that_is_a_formula_is_written_as_text_and_read_back(tmp_path):
    batch = Decisions.from_lists(["=cmd|' /C calc'!A0", "'t Hart", "Ann"], [[1.0, 0.5]] * 3, [0, 1, 0])
    write_decisions(batch, tmp_path / "d.csv")
    assert "\n'=cmd" in (tmp_path / "d.csv").read_text()
    assert read_decisions(tmp_path / "d.csv").names() == batch.names()
