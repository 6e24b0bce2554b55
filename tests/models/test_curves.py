"""The curves of RH11 section 4: one harness for every family."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skilloscope.core.errors import InputError
from skilloscope.models.curves import CURVES, curve, log_losses
from skilloscope.models.kernels.curves import log_curve

FAMILY = sorted(CURVES)
losses = st.lists(st.floats(0.0, 100.0), min_size=1, max_size=12)
sensitivity = st.floats(0.001, 2.0)
competence = st.floats(0.1, 5.0)


@pytest.mark.parametrize("name", FAMILY)
@settings(deadline=None)
@given(delta=losses, s=sensitivity, c=competence)
def test_a_curve_begins_at_one_and_never_rises(name, delta, s, c):
    log_g = curve(name).log_g([0.0, *sorted(delta)], s, c)
    assert log_g[0] == 0.0
    assert np.all(np.diff(log_g) <= 1e-12 * (1 + np.abs(log_g[1:])))
    assert np.all(np.isfinite(log_g))


@pytest.mark.parametrize("name", FAMILY)
@settings(deadline=None)
@given(delta=st.floats(0.01, 10.0), s=sensitivity, c=competence)
def test_a_curve_depends_on_the_loss_in_units_of_s(name, delta, s, c):
    assert np.isclose(curve(name).log_g(delta, s, c), curve(name).log_g(delta / s, 1.0, c), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("invexp", lambda x, c: np.exp(-(x**c))),
        ("ipa", lambda x, c: 1 / (1 + x**c)),
        ("ipb", lambda x, c: 1 / (1 + x) ** c),
        ("secha", lambda x, c: 2 / (np.exp(x**c) + np.exp(-(x**c)))),
        ("sechb", lambda x, c: 4 / (np.exp(x**c) + 2 + np.exp(-(x**c)))),
    ],
)
def test_the_formulas_are_those_that_the_paper_prints(name, formula):
    delta = np.array([0.02, 0.1, 0.5, 2.0, 8.0])
    for s, c in ((0.1, 0.5), (0.3, 1.0), (1.2, 2.0)):
        assert np.allclose(np.exp(curve(name).log_g(delta, s, c)), formula(delta / s, c), rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("name", FAMILY)
def test_a_huge_loss_is_a_number_in_logs(name):
    assert np.isfinite(curve(name).log_g(1e6, 0.01, 2.0))


@pytest.mark.parametrize("name", FAMILY)
@settings(deadline=None)
@given(delta=losses, s=sensitivity, c=competence)
def test_the_fast_twin_agrees_with_the_readable_curve(name, delta, s, c):
    assert np.allclose(
        log_curve(name, log_losses(delta) - np.log(s), c)[0], curve(name).log_g(delta, s, c), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("name", FAMILY)
def test_the_slopes_of_the_fast_twin_are_those_of_the_curve(name):
    x, step = log_losses([0.0, 0.05, 0.4, 3.0]), 1e-6
    _, by_log_s, by_c = log_curve(name, x - np.log(0.1), 0.7)
    for slope, ahead, behind in (
        (by_log_s, (x - np.log(0.1) - step, 0.7), (x - np.log(0.1) + step, 0.7)),
        (by_c, (x - np.log(0.1), 0.7 + step), (x - np.log(0.1), 0.7 - step)),
    ):
        numeric = (log_curve(name, *ahead)[0] - log_curve(name, *behind)[0]) / (2 * step)
        assert np.allclose(slope, numeric, rtol=1e-6, atol=1e-8)


def test_an_unknown_curve_is_refused_with_the_known_ones():
    with pytest.raises(InputError) as error:
        curve("logistic")
    assert "sechb" in error.value.hint
