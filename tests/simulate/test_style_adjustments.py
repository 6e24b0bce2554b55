"""What simulated people lean to beyond the joint model: the columns, their weights, and a draw that follows them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_fits import fit_logit
from skilloscope.models.joint import log_sums
from skilloscope.simulate.people import MOVE_KNOTS, VALUE_KNOTS, Alternatives, StyleAdjustments, bundled_adjustments


def alternatives(n: int, rng: np.random.Generator, *, moves: int = 12) -> Alternatives:
    """Return so many positions with as many moves each, of people of 1000 to 2700."""
    each = {"value": rng.normal(0, 3, n), "move_number": rng.integers(3, 40, n), "elo": rng.uniform(1000, 2700, n)}
    repeated = {name: np.repeat(column.astype(float), moves) for name, column in each.items()}
    return Alternatives(rng.normal(-3, 1, n * moves), rng.gamma(1.0, 0.4, n * moves), **repeated)


def one(**columns: float) -> Alternatives:
    usual = {"log_people": -1.0, "loss": 0.25, "value": 0.0, "move_number": 20.0, "elo": 2100.0, **columns}
    return Alternatives(**{name: np.array([value]) for name, value in usual.items()})


def test_a_column_is_what_its_name_says():
    columns = {name: float(column[0]) for name, column in one(value=2.0, elo=2550.0).columns().items()}
    assert columns["human, Elo^1"] == columns["human, Elo^2"] == columns["human at move 20"] == -1.0
    assert columns["root, Elo^1"] == -0.5
    assert columns["loss at 1"] == columns["loss at 3"] == -0.125
    assert columns["loss at 0"] == columns["root at move 13"] == 0.0
    assert float(one(move_number=5.5).columns()["root at move 3"][0]) == pytest.approx(-0.25)
    assert float(one(loss=9.0).columns()["loss at 0"][0]) == -3.0
    assert [float(one(elo=elo).columns()["loss below 1600"][0]) for elo in (1150.0, 1600.0, 2400.0)] == [-0.25, 0, 0]


@given(st.floats(-39, 39), st.floats(0, 8), st.integers(1, 300))
def test_a_broken_line_shares_everything_out_among_its_knots(value, loss, number):
    columns = one(value=value, loss=loss, move_number=number).columns()
    for names in ([f"{knot:g}" for knot in VALUE_KNOTS], [f"move {knot:g}" for knot in MOVE_KNOTS]):
        shares = sum(float(columns[f"root at {name}"][0]) for name in names)
        assert shares == pytest.approx(-np.sqrt(loss), abs=1e-12)


def test_style_adjustments_come_back_from_choices_drawn_with_them():
    rng, moves = np.random.default_rng(3), 12
    some = alternatives(30_000, rng, moves=moves)
    columns = some.columns()
    true = dict.fromkeys(columns, 0.0) | {"root at -1": 2.0, "loss, Elo^1": -0.5, "human at move 3": 0.8}
    z = StyleAdjustments(true).added(some)
    chosen = (z + rng.gumbel(size=len(z))).reshape(-1, moves).argmax(axis=1)
    offsets = np.arange(0, len(z) + 1, moves)
    names = [name for name in columns if name in ("root at -1", "loss, Elo^1", "human at move 3", "root at move 20")]
    found = fit_logit(np.column_stack([columns[name] for name in names]), offsets, chosen, ridge=1e-6)
    assert dict(zip(names, found, strict=True)) == pytest.approx({name: true[name] for name in names}, abs=0.35)


def test_a_base_counts_like_a_column_of_weight_one():
    rng = np.random.default_rng(5)
    some, offsets, chosen = alternatives(300, rng), np.arange(0, 3601, 12), rng.integers(0, 12, 300)
    root = some.columns()["root at move 20"][:, None]
    alone, beside = (fit_logit(root, offsets, chosen, ridge=0.0, base=base) for base in (0.0, root[:, 0]))
    assert beside[0] == pytest.approx(alone[0] - 1.0, abs=1e-3)
    assert np.exp(some.log_people - log_sums(some.log_people, offsets).repeat(12)).sum() == pytest.approx(300)


@pytest.mark.parametrize("depth", [6, 10])
def test_who_stands_a_little_worse_takes_more_care_than_who_stands_level(depth):
    adjustments = bundled_adjustments(depth)
    lost = [adjustments.added(one(value=value, loss=1.0))[0] for value in (-1.5, 0.0)]
    assert lost[0] < lost[1]
