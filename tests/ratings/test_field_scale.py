"""Gains against a fixed field: expected scores, the line, and the scales that ship."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from line_fitting import fit_gain_line
from skilloscope.core.errors import InputError
from skilloscope.evidence.axis import ELO
from skilloscope.evidence.scales import scale
from skilloscope.evidence.sources.gain import GainScale, field_scores, gain_scale


@given(st.lists(st.floats(0.0, 6.0), min_size=2, max_size=40))
def test_whoever_loses_more_never_scores_more(losses):
    field = gain_scale()
    order = np.sort(losses)
    scores = field.scores(order)
    assert np.all(np.diff(scores) <= 0)
    assert np.all((scores >= 0) & (scores <= 1))


def test_the_field_scores_half_against_itself():
    losses = np.random.default_rng(1).exponential(0.3, 500).round(2)
    line = fit_gain_line(losses, np.linspace(1000, 2800, 500))
    assert field_scores(losses, line["centipawns"], line["counts"]).mean() == pytest.approx(0.5)


def test_a_line_is_found_again_and_a_long_game_says_more():
    rng = np.random.default_rng(2)
    elo = rng.uniform(1200, 2600, 20_000)
    losses = rng.exponential(0.6 - (elo - 1200) / 4000)
    line = fit_gain_line(losses, elo)
    assert line["slope"] > 0
    made = GainScale(**line, effects={}, settings={}, data="simulated", valid=(1200.0, 2600.0))
    few, many = (made.curve(made.scores(rng.exponential(0.6 - 800 / 4000, n))) for n in (50, 5000))
    assert abs(ELO[many.argmax()] - 2000) < 200
    assert np.ptp(many) > 20 * np.ptp(few)


def test_without_different_ratings_there_is_no_line():
    with pytest.raises(InputError, match="different rating"):
        fit_gain_line(np.zeros(10), np.full(10, 2000.0))


def test_the_scales_that_ship_say_how_far_they_are_believed_and_where():
    curves, gains = scale("curves"), gain_scale()
    for effects in (curves.effects, gains.effects):
        assert set(effects) == {"temper", "game_sd", "person_sd"}
    assert curves.settings == gains.settings
    assert curves.valid == gains.valid == (1000.0, 2750.0)
    assert GainScale.from_json(gains.to_json()) == gains
