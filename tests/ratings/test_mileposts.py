"""One milepost: the nearest round figure, whoever asks; what differs is how near and whose rating."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilloscope.core.errors import InputError
from skilloscope.decision import Decisions
from skilloscope.ratings.mileposts import beyond_reason, nearest_milepost, shared_milepost, with_mileposts

OWN = [2410, 2400, 2450, 2390, None]
OTHER = [2395, 2430, 2450, None, 2400]


def batch() -> Decisions:
    n = len(OWN)
    context = {"elo": OWN, "opponent_elo": OTHER}
    return Decisions.from_lists(list("abcde"), [[0.0, -0.1]] * n, [0] * n, context=context)


def posts(found: Decisions) -> dict[str, int | None]:
    names = [found.deciders[code] for code in found.decider]
    return dict(zip(names, found.column("milepost").to_pylist(), strict=True))


def test_both_players_are_near_the_same_milepost_or_the_mover_alone():
    assert posts(with_mileposts(batch())) == {"a": 2400}
    assert posts(with_mileposts(batch(), both=False)) == {"a": 2400, "b": 2400, "d": 2400}


def test_without_a_distance_nobody_is_left_out_and_midway_is_the_one_above():
    assert posts(with_mileposts(batch(), None)) == {"a": 2400, "b": 2400, "c": 2500, "d": 2400, "e": None}


def test_who_is_left_out_is_counted_apart_or_under_one_reason():
    assert with_mileposts(batch()).skipped == {"no rating": 2, beyond_reason(10): 2}
    assert with_mileposts(batch(), 20, both=False, reason="far").skipped == {"far": 2}


def test_a_distance_of_half_a_step_would_be_near_to_two():
    with pytest.raises(InputError, match="between 0 and 50"):
        with_mileposts(batch(), 50)


@given(st.integers(0, 3500), st.integers(0, 3500), st.floats(0, 49))
def test_the_nearest_is_never_farther_than_half_a_step_and_shared_means_near_to_both(own, other, within):
    post = float(nearest_milepost(own))
    assert post % 100 == 0
    assert abs(own - post) <= 50
    shared = shared_milepost(np.array([own], dtype=float), np.array([other], dtype=float), within)[0]
    assert np.isnan(shared) or (shared == post and abs(other - shared) <= within)
