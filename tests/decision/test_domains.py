"""Other domains become decisions: what their files say, what is left out by name, and that units do not matter."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from skilloscope.cli.app import app
from skilloscope.core.errors import InputError
from skilloscope.decision import UNLISTED, Decisions
from skilloscope.decision.decisions import LABELS
from skilloscope.decision.domains import converted
from skilloscope.decision.domains.backgammon import read_backgammon
from skilloscope.decision.domains.experiments import (
    SOLVED_CAP,
    SQUARES,
    expected_utility,
    read_four_in_a_row,
    read_risky_choice,
)
from skilloscope.evidence import Uniform, agent_evidence
from skilloscope.models.agent import Agent, choice_sets, log_likelihood
from skilloscope.studies.deciders import rate_deciders


def play(n, candidates, chosen, *, ply=0, player="Ann", match="m1", sixth=None):
    """Return one line of a backgammon file; candidates are move → equity, `sixth` is added because it was played."""
    listed = [[move, ply, equity] for move, equity in candidates.items()]
    listed += [list(sixth)] if sixth else []
    return {
        "g": match,
        "n": n,
        "player": player,
        "dice": "32",
        "pos": f"p{n}",
        "mid": "x",
        "c": listed,
        "chosen": chosen,
    }


def write_lines(path: Path, rows) -> Path:
    text = "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


FIVE = {"a": 0.5, "b": 0.4, "c": 0.3, "d": 0.2, "e": 0.1}


class TestBackgammon:
    def test_candidates_are_the_choice_set_and_identity_is_context(self, tmp_path):
        batch = read_backgammon([write_lines(tmp_path / "0.jsonl.gz", [play(1, FIVE, 2), play(2, FIVE, 0)])])
        assert batch.counts.tolist() == [5, 5]
        assert batch.chosen.tolist() == [2, 0]
        assert batch.context["turn"].to_pylist() == [1, 2]
        assert batch.context[LABELS].to_pylist()[0] == list("abcde")

    def test_the_play_that_was_added_because_it_was_made_is_not_in_the_choice_set(self, tmp_path):
        rows = [play(1, FIVE, 5, sixth=("z", 0, -0.9)), play(2, FIVE, None), play(3, FIVE, 1)]
        batch = read_backgammon([write_lines(tmp_path / "0.jsonl", rows)])
        assert batch.counts.tolist() == [5, 5, 5]
        assert batch.chosen.tolist() == [UNLISTED, UNLISTED, 1]
        assert choice_sets(batch, "listed").tally.as_dict() == {"unlisted choice": 2}

    def test_fewer_than_five_candidates_are_all_there_were(self, tmp_path):
        rows = [play(1, {"a": 0.2, "b": 0.1}, 1), play(2, FIVE, 1)]
        assert read_backgammon([write_lines(tmp_path / "0.jsonl", rows)]).n_legal.tolist() == [2, 0]

    def test_candidates_of_unequal_depth_are_left_out_by_name_and_the_added_play_has_no_say(self, tmp_path):
        mixed = play(1, FIVE, 0, ply=2)
        mixed["c"][4][1] = 0
        shallow = play(2, FIVE, 0, ply=0)
        added = play(3, FIVE, 5, ply=2, sixth=("z", 0, -0.9))
        single = play(4, {"a": 0.1}, 0, ply=0)
        batch = read_backgammon([write_lines(tmp_path / "2.jsonl", [mixed, shallow, added, single])])
        assert batch.context["turn"].to_pylist() == [3]
        assert batch.skipped == {
            "all candidates at 0 ply (2-ply file)": 1,
            "candidates of unequal depth (2-ply file)": 1,
            "single candidate": 1,
        }

    def test_files_are_joined_by_identity_wherever_the_rows_stand(self, tmp_path):
        shallow = [play(n, FIVE, n % 5) for n in range(1, 9)]
        deep = [play(n, {"b": 0.6, "a": 0.5, "x": 0.4, "c": 0.3, "d": 0.2}, 0, ply=2) for n in range(1, 9)]
        zero = write_lines(tmp_path / "0.jsonl", shallow)
        two = write_lines(tmp_path / "2.jsonl", deep)
        turned = write_lines(tmp_path / "turned.jsonl", shallow[::-1])
        batch, other = read_backgammon([zero, two]), read_backgammon([two, turned])
        assert batch.depths == (0, 2)
        np.testing.assert_array_equal(batch.values, other.values)
        np.testing.assert_array_equal(batch.values[:5, 0], [0.4, 0.5, np.nan, 0.3, 0.2])

    def test_every_play_of_two_files_is_used_or_counted_once(self, tmp_path):
        mixed = play(2, FIVE, 0, ply=2)
        mixed["c"][4][1] = 0
        zero = write_lines(tmp_path / "0.jsonl", [play(n, FIVE, 0) for n in (1, 2, 3)] + [play(5, {"a": 0.0}, 0)])
        two = write_lines(
            tmp_path / "2.jsonl", [play(1, FIVE, 0, ply=2), mixed, play(4, FIVE, 0, ply=2), play(5, {"a": 0.0}, 0)]
        )
        batch = read_backgammon([zero, two])
        assert len(batch) == 1
        assert batch.skipped == {
            "not in every file": 2,
            "candidates of unequal depth (2-ply file)": 1,
            "single candidate": 1,
        }
        assert len(batch) + batch.tally.total == 5

    @pytest.mark.parametrize(
        "bad",
        [
            "{oops",
            '{"g": "m"}',
            play(9, {"a": float("nan"), "b": 0.1}, 0),
            play(9, FIVE, 7),
            play(9, FIVE, 0, sixth=("z", 0, -0.9)),
            play(9, FIVE, 5, sixth=("z", 0, -0.9)) | {"c": [["a", 0, 0.1]] * 9},
            play(9, FIVE, 1) | {"c": [["a", 0, 0.1], ["a", 0, 0.0]]},
            play(9, {}, 0),
        ],
    )
    def test_a_bad_line_is_a_fault_with_its_place_and_the_good_ones_stay(self, bad, tmp_path):
        path = write_lines(tmp_path / "0.jsonl", [play(1, FIVE, 0), bad, play(2, FIVE, 1)])
        batch = read_backgammon([path])
        assert len(batch) == 2
        fault = batch.tally.faults[0]
        assert (fault.reason, fault.file, fault.place) == ("unreadable play", str(path), "line 2")

    def test_the_same_play_twice_counts_once_and_two_files_of_one_depth_are_refused(self, tmp_path):
        path = write_lines(tmp_path / "0.jsonl", [play(1, FIVE, 0), play(1, FIVE, 0)])
        assert read_backgammon([path]).skipped == {"play given twice": 1}
        again = write_lines(tmp_path / "again.jsonl", [play(1, FIVE, 0)])
        with pytest.raises(InputError, match="same depth"):
            read_backgammon([path, again])


def board(values, *, color="Black", black=0, white=0, square=0, player="7"):
    """Return one row of a four-in-a-row file; values are given for the free squares from the lowest on."""
    free = [at for at in range(SQUARES) if not (black | white) >> at & 1]
    cells = ["nan"] * SQUARES
    for at, value in zip(free, list(values) + [0.0] * (len(free) - len(values)), strict=False):
        cells[at] = f"{value}"
    return f"0,{player},{color},1,{black},{white},{square},900,{' '.join(cells)}"


BOARD = "row,player,color,group,black_bits,white_bits,chosen_square,rt_ms,values_36_by_square_nan_if_occupied"


class TestFourInARow:
    def read(self, tmp_path, rows, **options):
        return read_four_in_a_row([write_lines(tmp_path / "four.csv.gz", [BOARD, *rows])], **options)

    def test_values_are_blacks_so_whites_are_turned_round(self, tmp_path):
        rows = [board([3.0, -2.0], square=0), board([3.0, -2.0], color="White", black=1 << 35, square=1)]
        batch = self.read(tmp_path, rows)
        assert batch.best.tolist() == [3.0, 2.0]
        assert batch.chosen.tolist() == [0, 0]
        assert batch.counts.tolist() == batch.n_legal.tolist() == [36, 35]
        assert batch.context[LABELS].to_pylist()[1][0] == "1"

    def test_rounding_errors_of_the_solver_are_ties(self, tmp_path):
        batch = self.read(tmp_path, [board([5.55e-16, -2.22e-16, 0.0, 1.2])])
        assert batch.losses()[:4].tolist() == [0, 1.2, 1.2, 1.2]

    def test_solved_values_are_clipped_at_the_cap_and_become_ties(self, tmp_path):
        rows = [board([10000, 10000, 19.2, -10000], square=2)]
        batch = self.read(tmp_path, rows)
        assert batch.judged[:3].tolist() == [SOLVED_CAP, SOLVED_CAP, 19.2]
        assert batch.judged[-1] == -SOLVED_CAP
        assert batch.about["clipped_share"] == pytest.approx(3 / 36)
        assert self.read(tmp_path, rows, cap=5).judged[:3].tolist() == [5, 5, 5]

    @pytest.mark.parametrize(
        "bad",
        [
            board([1.0], square=36),
            board([1.0], black=1, square=0),
            board([1.0], color="Red"),
            board([1.0], black=3, white=1, square=9),
            board([float("inf")]),
            board([1.0])[:-4],
            "1,2,3",
        ],
    )
    def test_a_bad_row_is_a_fault_with_its_place(self, bad, tmp_path):
        batch = self.read(tmp_path, [board([1.0]), bad])
        assert len(batch) == 1
        assert batch.tally.faults[0].place == "line 3"

    def test_a_cap_must_be_positive(self, tmp_path):
        with pytest.raises(InputError, match="cap"):
            self.read(tmp_path, [board([1.0])], cap=0)


QUESTION = "Choice," + ",".join(f"{kind}{i}{lottery}" for lottery in "ab" for kind in "xp" for i in range(1, 5))
ANSWER = "IdSubject,IdQuestion," + QUESTION.removeprefix("Choice,") + ",Rank,UpDown,Preference"
SAFE, RISKY = "50,,,,1,,,", "100,0,,,0.6,0.4,,"


class TestRiskyChoice:
    def read(self, tmp_path, answers, questions=(f"1,{SAFE},{RISKY}",), **options):
        files = [
            write_lines(tmp_path / "who.csv", [ANSWER, *answers]),
            write_lines(tmp_path / "what.csv", [QUESTION, *questions]),
        ]
        return read_risky_choice(files, **options)

    def test_the_utility_is_the_expected_value_and_preference_1_is_lottery_a(self, tmp_path):
        batch = self.read(tmp_path, [f"7,1,{SAFE},{RISKY},1,2,1", f"8,1,{SAFE},{RISKY},1,1,2"])
        assert batch.judged.tolist() == [60, 50, 60, 50]
        assert batch.chosen.tolist() == [1, 0]
        assert batch.context[LABELS].to_pylist() == [["b", "a"], ["b", "a"]]

    def test_an_exponent_below_one_is_averse_to_risk(self, tmp_path):
        batch = self.read(tmp_path, [f"7,1,{SAFE},{RISKY},1,2,1"], exponent=0.5)
        assert batch.chosen.tolist() == [0]
        assert batch.best[0] == pytest.approx(np.sqrt(50))
        assert batch.about["exponent"] == 0.5

    @given(
        st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=1, max_size=4), st.floats(0.1, 2.0), st.data()
    )
    def test_expected_utility_lies_between_the_utilities_of_the_prizes(self, prizes, exponent, data):
        weights = np.array([data.draw(st.floats(0.01, 1)) for _ in prizes])
        lottery = tuple(zip(prizes, weights / weights.sum(), strict=True))
        utilities = [np.sign(x) * abs(x) ** exponent for x in prizes]
        slack = 1e-9 * (1 + max(map(abs, utilities)))
        assert min(utilities) - slack <= expected_utility(lottery, exponent=exponent) <= max(utilities) + slack

    @pytest.mark.parametrize(
        ("answer", "reason"),
        [
            (f"7,9,{SAFE},{RISKY},1,2,1", "unknown question"),
            (f"7,1,{SAFE},{RISKY},1,2,3", "preference is neither 1 nor 2"),
            (f"7,1,{RISKY},{SAFE},1,2,1", "the lotteries are not those of the question"),
            (f"7,1,{SAFE},100,0,,,0.6,0.5,,,1,2,1", "the lotteries are not those of the question"),
            (f",1,{SAFE},{RISKY},1,2,1", "no decider"),
            ("7,1", "a row with the wrong number of fields"),
        ],
    )
    def test_a_bad_answer_is_a_fault_with_its_place(self, answer, reason, tmp_path):
        batch = self.read(tmp_path, [f"7,1,{SAFE},{RISKY},1,2,1", answer])
        assert len(batch) == 1
        assert (batch.tally.faults[0].reason, batch.tally.faults[0].place) == (reason, "line 3")

    def test_a_row_without_a_number_is_no_question_and_bad_questions_are_faults(self, tmp_path):
        questions = [f"1,{SAFE},{RISKY}", "," * QUESTION.count(","), f"2,{SAFE},100,0,,,0.6,0.5,,", f"1,{SAFE},{RISKY}"]
        batch = self.read(tmp_path, [f"7,1,{SAFE},{RISKY},1,2,1"], questions)
        assert batch.skipped == {
            "question given twice": 1,
            "row of the questions without a number": 1,
            "unreadable question": 1,
        }

    def test_both_files_are_needed_and_no_third(self, tmp_path):
        what = write_lines(tmp_path / "what.csv", [QUESTION])
        with pytest.raises(InputError, match="two files"):
            read_risky_choice([what])
        with pytest.raises(InputError, match="second file of questions"):
            read_risky_choice([what, what])
        with pytest.raises(InputError, match="neither"):
            read_risky_choice([write_lines(tmp_path / "x.csv", ["a,b"]), what])


class TestConvert:
    def test_a_pooled_table_has_one_decider_and_no_name(self, tmp_path):
        path = write_lines(tmp_path / "0.jsonl", [play(1, FIVE, 0), play(2, FIVE, 0, player="Bob")])
        assert converted("backgammon", [path], pooled=True).names() == ["everybody"]

    def test_what_a_domain_does_not_take_is_refused(self, tmp_path):
        with pytest.raises(InputError, match="no domain 'darts'"):
            converted("darts", [])
        with pytest.raises(InputError, match="takes no --cap"):
            converted("backgammon", [], cap=3)
        with pytest.raises(InputError, match="no file"):
            converted("backgammon", [tmp_path / "absent.jsonl"])
        with pytest.raises(InputError, match="no decision could be read"):
            converted("backgammon", [write_lines(tmp_path / "empty.jsonl", [])])

    def test_what_is_converted_is_rated_and_judged_by_the_commands(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        rng = np.random.default_rng(3)
        zero, two = [], []
        for n in range(300):
            deep = dict(zip("abcde", np.round(rng.normal(0, 0.2, 5), 3), strict=True))
            seen = {move: round(value + rng.normal(0, 0.1), 3) for move, value in deep.items()}
            best = max(deep, key=lambda move: deep[move] + rng.gumbel(0, 0.05))
            for rows, values, ply in ((zero, seen, 0), (two, deep, 2)):
                ranked = dict(sorted(values.items(), key=lambda item: -item[1]))
                rows.append(play(n, ranked, list(ranked).index(best), ply=ply, match=f"m{n // 10}"))
        write_lines(tmp_path / "0.jsonl", zero)
        write_lines(tmp_path / "2.jsonl", two)
        for line in (
            "decisions convert backgammon 0.jsonl 2.jsonl --out both.parquet",
            "decisions convert backgammon 0.jsonl --out zero.parquet",
            "decisions convert backgammon 2.jsonl --out two.parquet --json",
            "decisions rate both.parquet --k fit",
        ):
            result = CliRunner().invoke(app, line.split())
            assert result.exit_code == 0, result.stderr
        one = CliRunner().invoke(app, ["decisions", "compare-engines", "both.parquet", "--depths", "0,2", "--json"])
        other = CliRunner().invoke(app, ["decisions", "compare-engines", "zero.parquet", "two.parquet", "--json"])
        one, other = json.loads(one.stdout), json.loads(other.stdout)
        assert one["gain"] == pytest.approx(other["gain"])
        assert one["gain_low"] > 0
        assert one["judges"][1]["held_out"] > one["judges"][0]["held_out"] > one["chance"]


DECISIONS = st.lists(
    st.tuples(st.lists(st.floats(-50, 50, allow_subnormal=False), min_size=2, max_size=6), st.integers(0, 5)),
    min_size=1,
    max_size=8,
)


def batch_of(rows, factor=1.0, shift=0.0):
    values = [[factor * value + shift for value in values] for values, _ in rows]
    return Decisions.from_lists(["Ann"] * len(rows), values, [chosen % len(values) for values, chosen in rows])


@settings(deadline=None, max_examples=40)
@given(DECISIONS, st.integers(-20, 20), st.floats(0.01, 10))
def test_k_scales_with_the_unit_of_the_utilities(rows, power, k):
    factor = 2.0**power
    here = agent_evidence(batch_of(rows), Agent(k=k))["Ann"].posterior()
    there = agent_evidence(batch_of(rows, factor), Agent(k=factor * k))["Ann"].posterior()
    assert (here.mean, here.sd) == pytest.approx((there.mean, there.sd), rel=1e-9)


@settings(deadline=None, max_examples=40)
@given(DECISIONS, st.floats(-1e4, 1e4))
def test_only_differences_count_so_values_may_be_negative(rows, shift):
    here = agent_evidence(batch_of(rows), Agent(k=1.0))["Ann"].posterior()
    there = agent_evidence(batch_of(rows, shift=shift), Agent(k=1.0))["Ann"].posterior()
    assert here.mean == pytest.approx(there.mean, abs=1e-6)


@pytest.mark.parametrize("size", [1e3, 1e6, 1e12, 1e100, 1e299])
@pytest.mark.parametrize("span", [(0.0, 4.0), (0.0, 20.0)])
def test_huge_losses_beside_tiny_ones_are_carried_exactly(size, span):
    rng = np.random.default_rng(1)
    values = [[*rng.normal(0, 1e-3, 3), *(-size * rng.random(3))] for _ in range(40)]
    batch = Decisions.from_lists(["Ann"] * 40, values, rng.integers(0, 4, 40).tolist())
    table = agent_evidence(batch, Agent(k=0.01), span=span)
    at = np.linspace(*span, 33)
    exact = log_likelihood(choice_sets(batch), at, k=0.01).sum(axis=0)
    np.testing.assert_allclose(table["Ann"].log_likelihood(at), exact, rtol=1e-6, atol=1e-3)


def test_a_loss_that_k_cannot_divide_is_refused_and_the_hint_says_what_to_do():
    batch = Decisions.from_lists(["Ann"], [[0.0, -1e299]], [0])
    with pytest.raises(InputError, match="overflows") as caught:
        agent_evidence(batch, Agent(k=1e-9))
    assert "larger" in caught.value.hint


def test_ties_are_equally_likely_and_say_nothing_where_all_are_tied():
    tied = Decisions.from_lists(["Ann"] * 3, [[1, 1, 1]] * 3, [0, 1, 2])
    posterior = agent_evidence(tied, Agent())["Ann"].posterior()
    assert (posterior.mean, posterior.edge) == (pytest.approx(2.0), "both")
    c = np.linspace(0, 4, 4001)
    weight = (2 + 11.0**-c) ** -3  # a loss of 1 at k = 0.1 is eleven times less likely at c = 1
    for chosen in (0, 1):
        batch = Decisions.from_lists(["Ann"] * 3, [[1, 1, 0]] * 3, [chosen] * 3)
        assert agent_evidence(batch, Agent())["Ann"].posterior().mean == pytest.approx(
            (c * weight).sum() / weight.sum(), abs=1e-3
        )


def test_a_single_alternative_is_no_decision_and_is_counted():
    batch = Decisions.from_lists(["Ann", "Ann"], [[1.0], [1.0, 0.0]], [0, 0])
    report = rate_deciders(batch, Agent(), Uniform(0, 4))
    assert report.deciders[0].decisions == 1
    assert report.skipped == {"single alternative": 1}


class TestRealFiles:
    def test_four_in_a_row_is_read_whole(self, shared_data):
        batch = read_four_in_a_row([shared_data / "decisions" / "four_in_a_row.csv.gz"])
        assert (len(batch), len(batch.names()), batch.skipped) == (5482, 40, {})
        table = agent_evidence(batch, Agent(k=0.3))
        assert all(table[name].posterior().interval()[0] > 0.1 for name in table)  # all far better than chance

    def test_risky_choices_are_read_whole(self, shared_data):
        folder = shared_data / "decisions"
        batch = read_risky_choice([folder / "risky_choice_individual.csv", folder / "risky_choice_questions.csv"])
        assert (len(batch), len(batch.names())) == (9729, 139)
        assert batch.skipped == {"row of the questions without a number": 1}

    def test_the_head_of_the_backgammon_files_is_used_or_counted(self, shared_data, tmp_path):
        heads = [head_of(shared_data / "decisions" / f"lasse_{ply}-ply.jsonl.gz", tmp_path, 2000) for ply in (0, 2)]
        batch = read_backgammon(heads)
        assert len(batch) + batch.tally.total == 2000
        assert not batch.tally.faults

    @pytest.mark.soak
    def test_two_plies_explain_the_plays_of_backgammon_better_than_none(self, shared_data):
        from skilloscope.studies.compare_engines import compare_depths

        files = [shared_data / "decisions" / f"lasse_{ply}-ply.jsonl.gz" for ply in (0, 2)]
        batch = read_backgammon(files)
        assert len(batch) + batch.tally.total == 141_441
        assert batch.skipped["candidates of unequal depth (2-ply file)"] == 19_211
        report = compare_depths(batch, (0, 2))
        assert report.decisions == 93_885
        assert report.gain_low > 0.02


def head_of(path: Path, folder: Path, rows: int) -> Path:
    """Return a file with the first rows of another."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        return write_lines(folder / path.name, [next(stream).rstrip("\n") for _ in range(rows)])
