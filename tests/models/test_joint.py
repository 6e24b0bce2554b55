"""The joint choice model: its twins agree, its probabilities sum to one, its weights come back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from model_fits import fit_adjustments, fit_weights
from skilloscope.core.errors import InputError
from skilloscope.core.text import typed
from skilloscope.evidence.axis import elo_axis
from skilloscope.models.joint import (
    BENDS,
    CONTEXT,
    KNOTS,
    PARTS,
    JointChoices,
    JointWeights,
    context_columns,
    elo_terms,
    joint_curves,
    log_alternatives,
    log_choice,
    scaled_roots,
)

DEPTHS = (1, 2, 3)
PLAIN = JointWeights(DEPTHS, ((0.3, 0.1), (0.2, 0.0), (1.5, 0.5)), (0.7, -0.1), (0.8, 0.2))
NAMES = (*BENDS, *CONTEXT)
ADJUSTED = np.zeros((len(PARTS), len(NAMES)))
for part, name, weight in (
    ("root", "value -1", 1.0), ("root", "Elo", -0.3), ("loss", "pieces 20", 0.4), ("loss", "Elo^2", 0.1),
    ("human", "move 8", 0.3), ("human", "below 1600", 0.2),
):  # fmt: skip
    ADJUSTED[PARTS.index(part), NAMES.index(name)] = weight
WEIGHTS = replace(PLAIN, adjustments=tuple(map(tuple, ADJUSTED.tolist())))


def basis(elo: np.ndarray) -> np.ndarray:
    x = (np.asarray(elo, dtype=float) - 2100) / 450
    return np.stack([np.ones_like(x), x, x * x - 0.5, x**3 - x], axis=1)


def random_choices(n: int, rng: np.random.Generator) -> JointChoices:
    counts = rng.integers(2, 30, n)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    total = int(offsets[-1])
    roots = rng.gamma(1.0, 0.6, (total, 3))
    human = rng.normal(0, 1, (total, 4)) * [1.0, 0.4, 0.1, 0.05]
    listed = rng.random(total) < 0.8
    chosen = (rng.random(n) * counts).astype(np.int64)
    context = np.column_stack([rng.integers(1, 60, n), rng.integers(0, 62, n), rng.normal(0, 3, n)])
    return JointChoices(offsets, chosen, human.astype(np.float32), roots.astype(np.float32), listed, context)


def drawn(
    choices: JointChoices, elo: np.ndarray, rng: np.random.Generator, weights: JointWeights = WEIGHTS
) -> JointChoices:
    """Return the same alternatives with choices drawn from the model itself."""
    chosen = np.empty(len(choices), dtype=np.int64)
    probability = all_probabilities(choices, elo, weights)
    for i in range(len(choices)):
        own = probability[choices.offsets[i] : choices.offsets[i + 1]]
        chosen[i] = rng.choice(len(own), p=own / own.sum())
    return replace(choices, chosen=chosen)


def all_probabilities(choices: JointChoices, elo: np.ndarray, weights: JointWeights = WEIGHTS) -> np.ndarray:
    counts, out = np.diff(choices.offsets), np.empty(len(choices.listed))
    for place in range(int(counts.max())):
        has = counts > place
        some = choices.select(has)
        asked = replace(some, chosen=np.full(len(some), place))
        out[choices.offsets[:-1][has] + place] = np.exp(log_choice(asked, weights, elo[has], basis(elo[has])))
    return out


def test_probabilities_of_all_alternatives_sum_to_one():
    choices = random_choices(200, np.random.default_rng(1))
    elo = np.random.default_rng(2).uniform(1000, 2700, 200)
    sums = np.add.reduceat(all_probabilities(choices, elo), choices.offsets[:-1])
    assert sums == pytest.approx(np.ones(200), abs=1e-12)


def test_the_compiled_curves_agree_with_the_readable_function():
    choices = random_choices(150, np.random.default_rng(3))
    groups = np.random.default_rng(4).integers(0, 7, 150)
    nodes = np.array([900.0, 1500.0, 2100.0, 2800.0])
    curves = joint_curves(choices, WEIGHTS, groups, 7, nodes, basis(nodes))
    for at, elo in enumerate(nodes):
        level = np.full(150, elo)
        slow = np.bincount(groups, log_choice(choices, WEIGHTS, level, basis(level)), minlength=7)
        assert curves[:, at] == pytest.approx(slow, rel=1e-10)


def test_weights_come_back_from_choices_drawn_with_them():
    rng = np.random.default_rng(5)
    elo = rng.uniform(1200, 2600, 3000)
    choices = drawn(random_choices(3000, rng), elo, rng, PLAIN)
    found = fit_weights(choices, elo, basis(elo), DEPTHS, ridge=1e-6)
    assert np.array(found.losses) == pytest.approx(np.array(WEIGHTS.losses), abs=0.3)
    assert found.human == pytest.approx(WEIGHTS.human, abs=0.15)
    assert found.unlisted == pytest.approx(WEIGHTS.unlisted, abs=0.25)


def test_adjustments_come_back_from_choices_drawn_with_them():
    rng = np.random.default_rng(3)
    elo = rng.uniform(1000, 2700, 8000)
    choices = drawn(random_choices(8000, rng), elo, rng)
    names = ("Elo", "Elo^2", "below 1600", "value -1", "pieces 20", "move 8")
    found = fit_adjustments(choices, PLAIN, elo, basis(elo), names, ridge=1e-6).adjustments
    human, root, _ = (dict(zip(NAMES, row, strict=True)) for row in found)
    assert root["value -1"] == pytest.approx(1.0, abs=0.6)
    assert human["move 8"] == pytest.approx(0.3, abs=0.2)
    assert human["value -1"] == pytest.approx(0.0, abs=0.2)
    assert human["move 3"] == 0.0  # was not asked for


def test_a_context_is_what_its_names_say():
    row = dict(zip(CONTEXT, context_columns([[16.5, 70, -2.0]])[0].tolist(), strict=True))
    assert row["move 13"] == row["move 20"] == row["value -3"] == row["value -1"] == 0.5
    assert row["pieces 62"] == 1.0
    assert sum(row.values()) == len(KNOTS)
    assert elo_terms([1150.0, 2550.0])[:, 3].tolist() == [1.0, 0.0]
    for knots in KNOTS.values():
        assert list(knots) == sorted(knots)


def test_adjustments_without_a_context_and_of_another_shape_are_refused():
    choices = replace(random_choices(3, np.random.default_rng(8)), context=None)
    elo = np.full(3, 2000.0)
    with pytest.raises(InputError, match="context"):
        log_choice(choices, WEIGHTS, elo, basis(elo))
    assert np.isfinite(log_choice(choices, PLAIN, elo, basis(elo))).all()
    with pytest.raises(InputError, match="rows of"):
        replace(PLAIN, adjustments=((1.0, 2.0),))


@pytest.mark.parametrize("effort", ["quick", "full"])
def test_people_who_stand_a_little_worse_take_more_care_than_those_who_stand_level(effort):
    weights = elo_axis().effort(effort).weights
    roots = np.repeat(np.array([[0.0], [1.0]], np.float32), len(weights.depths), axis=1)
    one = JointChoices(np.array([0, 2]), np.array([1]), np.zeros((2, 4), np.float32), roots, np.ones(2, bool))
    blunder = [
        log_alternatives(replace(one, context=np.array([[25, 40, value]])), weights, [2100.0], np.ones((1, 4)))[1]
        for value in (-1.0, 0.0)
    ]
    assert blunder[0] < blunder[1]


def test_without_losses_the_model_is_the_human_one():
    choices = random_choices(50, np.random.default_rng(6))
    plain = JointChoices(
        choices.offsets, choices.chosen, choices.human, choices.roots[:, :0], np.ones(len(choices.listed), bool)
    )
    elo = np.full(50, 1800.0)
    alone = log_choice(plain, JointWeights((), ()), elo, basis(elo))
    logits = choices.human.astype(float) @ basis(np.array([1800.0]))[0]
    total = np.log(np.add.reduceat(np.exp(logits), choices.offsets[:-1]))
    assert alone == pytest.approx(logits[choices.offsets[:-1] + choices.chosen] - total)


def test_weights_for_other_depths_are_refused_and_losses_are_scaled_as_rh11_scales_them():
    with pytest.raises(InputError, match="depths"):
        JointWeights((), ()).lines(random_choices(3, np.random.default_rng(7)))
    assert scaled_roots(1.0, 0.0) ** 2 == pytest.approx(np.log(2.0))
    assert typed(JointWeights, WEIGHTS.as_dict()) == WEIGHTS
    assert typed(JointWeights, PLAIN.as_dict()) == PLAIN
