"""Which decisions a table of mileposts takes, one c line for all eras, and the single-PV control of section 5."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from skilloscope.cli.app import app
from skilloscope.core.errors import InputError
from skilloscope.decision import Decisions, Losses
from skilloscope.inputs.load import EngineJob
from skilloscope.models.joint import scaled_loss
from skilloscope.papers import ENTRIES, reproduce
from skilloscope.papers.harness import Budget
from skilloscope.studies.ipr import REPETITION, MilepostWindow, milepost_table, single_pv, years_from_text

ERAS = Path(__file__).resolve().parents[2] / "measurements" / "eras_depth10_sf151.parquet"
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -"


def six(**columns: list[object]) -> Decisions:
    usual = {"game": ["a"] * 6, "ply": list(range(20, 26)), "elo": [2400] * 6, "opponent_elo": [2400] * 6}
    context = pa.table({**usual, "year": [1991] * 6, **columns})
    values = [[0.3, 0.0, -0.5]] * 5 + [[3.5, 1.0, 0.0]]
    return Decisions.from_lists(["Ann"] * 6, values, [0, 1, 2, 0, 1, 0], context=context)


def test_a_position_that_stood_there_before_in_the_game_is_left_out():
    fens = [f"{START} {i} {10 + i}" for i in (0, 4, 8)] + ["8/5k2/8/8/8/2R5/4K3/8 w - - 0 60", f"{START} 9 9", None]
    kept = MilepostWindow(first_move=1, cut_off=9).inside(six(fen=fens, game=["a", "a", "a", "a", "b", "a"]))
    assert kept.tally.counts == {REPETITION: 2}
    assert kept.column("ply").to_pylist() == [20, 23, 24, 25]


def test_the_window_is_by_move_date_and_evaluation():
    batch = six(year=[1990, 1991, 1994, 1995, None, 1992], ply=[20, 30, 31, 32, 33, 34])
    kept = MilepostWindow(first_move=13, years=(1991, 1994)).inside(batch)
    assert kept.column("year").to_pylist() == [1991, 1994]
    assert kept.tally.counts == {
        "before move 13": 1, "decided (best value beyond ±3 pawns)": 1, "not of 1991–1994": 2,
    }  # fmt: skip
    with pytest.raises(InputError, match="years"):
        years_from_text("1994-1991")


def test_both_players_may_have_to_be_near_the_milepost():
    batch = six(elo=[2395, 2405, 2420, 2430, 2400, 2400], opponent_elo=[2400, 2450, 2380, 2400, 2401, None])
    assert len(MilepostWindow().mileposts(batch)) == 5
    both = MilepostWindow(both=True).mileposts(batch)
    assert len(both) == 3
    assert both.tally.counts == {"no both ratings within 20 points of a hundred": 3}


def test_another_era_uses_the_line_that_is_given():
    rng = np.random.default_rng(1)
    values = [[0.0, *sorted(-rng.gamma(0.6, 0.3, 5), reverse=True)] for _ in range(600)]
    chosen = rng.choice(6, 600, p=[0.5, 0.2, 0.1, 0.1, 0.05, 0.05])
    context = pa.table({"elo": [2400, 2500] * 300, "ply": [40] * 600})
    batch = Decisions.from_lists(["Ann"] * 600, values, chosen.tolist(), context=context)
    assert milepost_table(batch).c_line is None
    table = milepost_table(batch, line=(0.3, 0.0001))
    assert [row.c_fit for row in table.groups] == [pytest.approx(0.55), pytest.approx(0.54)]
    assert all(row.refit is not None and row.refit.c == pytest.approx(row.c_fit) for row in table.groups)
    assert milepost_table(batch, line=(-9.0, 0.0)).groups[0].s_fit is None


def control_losses(first_choice: list[bool | None]) -> Losses:
    return Losses(
        ("Ann",),
        np.zeros(6, np.int32),
        np.array([0.0, 0.2, 0.5, 3.5, -0.1, 0.4]),
        np.array([-1.0, 0.1, -0.75, 3.0, 0.1, 0.4]),
        context=pa.table({"ply": [15, 16, 18, 20, 22, 24], "first_choice": first_choice}),
    )


def test_a_match_is_the_first_choice_played_whatever_the_evaluation_does():
    # The move of 0.2 → 0.1 is the engine's own: its loss is the engine's change of mind. 0.4 → 0.4 is another move.
    control = single_pv(control_losses([True, True, False, True, False, False]))
    (row,) = control.groups
    assert row.moves == 4
    assert row.match == pytest.approx(1 / 4)
    assert row.average_difference == pytest.approx(float(scaled_loss(0.5, -0.75)) / 4)
    assert row.rising == 1
    assert control.tally.counts == {"before move 9": 1, "decided (beyond ±3 pawns)": 1}
    (plain,) = single_pv(control_losses([True, True, False, True, False, False]), scaling=0.0).groups
    assert plain.average_difference == pytest.approx(1.25 / 4)


def test_what_is_not_known_to_be_a_first_choice_is_counted_and_comments_are_refused():
    control = single_pv(control_losses([True, None, False, True, False, False]))
    assert control.tally.counts["first choice unknown"] == 1
    with pytest.raises(InputError, match="the engine's preferred move"):
        single_pv(Losses(("Ann",), np.zeros(1, np.int32), np.zeros(1), np.zeros(1)))


def test_the_command_reaches_the_control(fake_engine, tmp_path):
    moves = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O 9. h3 Na5 10. Bc2 c5 *"
    (tmp_path / "game.pgn").write_text(f'[White "Ann"]\n[Black "Bob"]\n\n{moves}\n')
    line = ["papers", "ipr", str(tmp_path / "game.pgn"), "--single-pv", "--first-move", "9", "--by", "player", "--json"]
    done = CliRunner().invoke(app, [*line, "--engine", str(fake_engine()), "--depth", "1"])
    assert done.exit_code == 0, done.stderr
    report = json.loads(done.stdout)
    assert {row["group"]: row["moves"] for row in report["groups"]} == {"Ann": 2, "Bob": 2}


@pytest.mark.soak
def test_the_eras_that_were_searched_stand_on_one_c_line(shared_data):
    if not ERAS.is_file():
        pytest.skip(f"{ERAS.name} is absent")
    budget = Budget(data=shared_data, work=EngineJob(imports=(ERAS,)))
    (entry,) = reproduce(ENTRIES, "RH11.table", budget).as_dict()["entries"]
    ours = {row["label"]: row["ours"] for row in entry["rows"]}
    for era in ("1991-1994", "1976-1979"):
        assert ours[f"{era} 2500 c_fit"] == pytest.approx(ours["2006-2014 2500 c_fit (printed: 2006-2009)"])
        assert ours[f"{era} 2600 s_fit"] > 0
