"""Several parts of one person's play: the person's effect is shared, and simulated people are found again."""

from __future__ import annotations

import numpy as np
import pytest

from skilloscope.evidence import Normal
from skilloscope.evidence.axis import ELO, Effects, combined, elo_posterior
from skilloscope.evidence.parts import (
    BETWEEN,
    DRIFT,
    PersonParts,
    SdBelief,
    effect_points,
    fit_parts,
    pair_beliefs,
    parts_under,
)

EFFECTS = {"opening": Effects(1.0, 0.0, 166.0), "joint": Effects(1.0, 0.0, 120.0)}
SDS = {"opening": 450.0, "joint": 300.0}
PRIOR = Normal(1900.0, 400.0, float(ELO[0]), float(ELO[-1]))


def played(levels, games, effects, rng):
    """Return the parts of somebody of these levels: so many games of each, seen through his own effects."""
    return [
        {
            name: [-0.5 * ((ELO - level - effects[name] - sd * rng.normal()) / sd) ** 2 for _ in range(games)]
            for name, sd in SDS.items()
        }
        for level in levels
    ]


def someone(rng, parts, drift):
    start = rng.normal(PRIOR.mean, 250.0)
    levels = start + np.concatenate([[0.0], np.cumsum(drift * rng.normal(size=parts - 1))])
    return levels, {name: EFFECTS[name].person_sd * rng.normal() for name in SDS}


def test_one_part_alone_is_what_the_axis_says_of_a_person():
    (part,) = played([2050.0], 8, {"opening": 120.0, "joint": -60.0}, np.random.default_rng(1))
    person = PersonParts.of([part], EFFECTS)
    (belief,), _ = fit_parts([person], [PRIOR], "chain", SdBelief(1.0, 0.01, "none"))
    alone = elo_posterior(combined({name: np.array(rows) for name, rows in part.items()}, EFFECTS), PRIOR)
    assert belief.parts[0].mean == pytest.approx(alone.mean, abs=1.5)
    assert belief.parts[0].sd == pytest.approx(alone.sd, rel=0.02)


def test_the_points_of_the_effects_do_not_change_what_is_summed():
    person = PersonParts.of(
        played([1900.0, 2100.0], 20, {"opening": 250.0, "joint": -90.0}, np.random.default_rng(2)), EFFECTS
    )
    near, far = (effect_points(person, PRIOR, "chain", sd) for sd in (20.0, 200.0))
    found = [parts_under(person, PRIOR, "chain", 60.0, points) for points in (near, far)]
    assert found[0].log_marginal == pytest.approx(found[1].log_marginal, abs=0.02)


def test_a_change_is_surer_than_levels_taken_apart():
    parts = played([1900.0, 2100.0], 40, {"opening": 150.0, "joint": 100.0}, np.random.default_rng(3))
    belief = pair_beliefs(PersonParts.of(parts, EFFECTS), PRIOR, 400.0)
    change = belief.changes[1]
    apart = np.hypot(belief.parts[0].sd, belief.parts[1].sd)
    assert change is not None
    assert change.sd < 0.75 * apart
    assert change.interval()[0] < 200.0 < change.interval()[1]


def test_swapping_both_sides_turns_the_difference_round():
    parts = played([1900.0, 2100.0], 10, {"opening": 0.0, "joint": 0.0}, np.random.default_rng(4))
    ahead, back = (pair_beliefs(PersonParts.of(order, EFFECTS), PRIOR, 400.0) for order in (parts, parts[::-1]))
    assert ahead.changes[1] is not None
    assert back.changes[1] is not None
    assert ahead.changes[1].mean == pytest.approx(-back.changes[1].mean, abs=0.5)


def test_profiles_of_simulated_people_cover_and_follow_their_levels():
    rng, inside, changes, truth, found = np.random.default_rng(5), [], [], [], []
    for _ in range(40):
        levels, effects = someone(rng, 4, 40.0)
        person = PersonParts.of(played(levels, 10, effects, rng), EFFECTS)
        (belief,), _ = fit_parts([person], [PRIOR], "chain", DRIFT)
        bounds = [part.interval() for part in belief.parts]
        inside += [low < level < high for level, (low, high) in zip(levels, bounds, strict=True)]
        steps = [change.interval() for change in belief.changes[1:] if change is not None]
        changes += [low < step < high for step, (low, high) in zip(np.diff(levels), steps, strict=True)]
        truth += levels.tolist()
        found += [part.mean for part in belief.parts]
    assert 0.85 <= np.mean(inside) <= 1.0
    assert 0.90 <= np.mean(changes) <= 1.0
    assert np.polyfit(found, truth, 1)[0] == pytest.approx(1.0, abs=0.15)


def test_what_lies_between_the_groups_of_many_people_is_found_again():
    rng = np.random.default_rng(6)
    people = []
    for _ in range(12):
        (level,), effects = someone(rng, 1, 0.0)
        people.append(PersonParts.of(played(level + 120.0 * rng.normal(size=4), 40, effects, rng), EFFECTS))
    beliefs, fit = fit_parts(people, [PRIOR] * len(people), "star", BETWEEN)
    assert fit.low < 120.0 < (fit.high or np.inf)
    assert all(len(belief.parts) == 4 and len(belief.changes) == 4 for belief in beliefs)


def test_a_gap_is_a_longer_step():
    parts = played([2000.0, 2000.0], 10, {"opening": 0.0, "joint": 0.0}, np.random.default_rng(7))
    sds = []
    for gap in (1.0, 9.0):
        person = PersonParts.of(parts, EFFECTS, [2000.0, 2000.0 + gap])
        (belief,), _ = fit_parts([person], [PRIOR], "chain", DRIFT)
        assert belief.changes[1] is not None
        sds.append(belief.changes[1].sd)
    assert sds[1] > 1.3 * sds[0]
