"""The models of RH11 section 3: one harness for every model and every curve."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skilloscope.core.errors import InputError
from skilloscope.decision import Decisions
from skilloscope.models.agent import Bucket, choice_sets
from skilloscope.models.curves import CURVES, MAPPINGS, CurveColumns, CurveModel, curve, mapping, probabilities
from skilloscope.models.kernels.curves import intervals, probability_columns, scores
from skilloscope.papers.harness import printed
from skilloscope.simulate.deciders import cut_lists, made_up_spreads

LEAST_NORMAL = np.finfo(float).tiny
MODELS = [(relation, family) for relation in MAPPINGS for family in CURVES]
spreads = st.lists(st.floats(0.0, 40.0), min_size=1, max_size=12)
sensitivity = st.floats(0.005, 2.0)
competence = st.floats(0.1, 3.0)


@pytest.mark.parametrize(("name", "text"), [("shares", "0.6667"), ("powers", "0.6180"), ("third", "0.5705")])
def test_two_options_with_half_the_curve_have_the_closed_forms(name, text):
    p = probabilities(np.log([1.0, 0.5]), name)
    assert abs(p[0] - printed(text).value) <= printed(text).half_unit


@pytest.mark.parametrize(("relation", "family"), MODELS)
@settings(max_examples=40, deadline=None)
@given(rest=spreads, s=sensitivity, c=competence)
def test_probabilities_sum_to_one_and_worse_options_are_never_likelier(relation, family, rest, s, c):
    delta = np.array([0.0, *sorted(rest)])
    p = probabilities(curve(family).log_g(delta, s, c), relation)
    assert abs(p.sum() - 1) < 1e-9
    assert np.all(np.diff(p) <= 1e-12)
    assert np.all(p >= 0)


@pytest.mark.parametrize(("relation", "family"), MODELS)
@settings(max_examples=25, deadline=None)
@given(rest=spreads, s=sensitivity, c=competence)
def test_the_kernels_give_what_the_readable_model_gives(relation, family, rest, s, c):
    delta = np.array([0.0, *sorted(rest)])
    wanted = probabilities(curve(family).log_g(delta, s, c), relation)
    columns = columns_of(delta)
    p, beyond = probability_columns(columns, relation, family, np.log(s), c)
    normal = wanted > LEAST_NORMAL  # below it a number has fewer digits the smaller it is
    assert np.allclose(np.log(p[normal]), np.log(wanted[normal]), rtol=1e-7, atol=1e-7)
    assert np.all(p[~normal] <= 2 * LEAST_NORMAL)
    assert beyond[0] == 0
    chosen = int(rest and len(rest) // 2)  # the kernels of a choice read the same probabilities
    columns = columns_of(delta, chosen)
    low, high = intervals(columns, relation, family, np.log(s), c)
    own, better = delta == delta[chosen], delta < delta[chosen]
    assert (low[0], high[0]) == pytest.approx((wanted[better].sum(), wanted[better | own].sum()), abs=1e-7)
    log_p = scores(columns, relation, family, np.log(s), c).log_p  # finite where the probability is too small a number
    assert np.exp(log_p) == pytest.approx(wanted[chosen], rel=1e-6, abs=1e-12)


@pytest.mark.parametrize(("relation", "family"), MODELS)
def test_the_relation_between_p_and_p0_is_the_papers(relation, family):
    g = np.exp(curve(family).log_g([0.0, 0.05, 0.3, 1.0], 0.2, 0.8))
    p = probabilities(np.log(g), relation)
    r = {
        "shares": p / p[0],
        "powers": np.log(1 / p[0]) / np.log(1 / p),
        "third": p * np.log(1 / p[0]) / (p[0] * np.log(1 / p)),
    }[relation]
    assert np.allclose(r, g, rtol=1e-9)


@pytest.mark.parametrize("relation", MAPPINGS)
def test_ties_a_single_option_and_hopeless_options_are_defined(relation):
    assert probabilities([0.0], relation).tolist() == [1.0]
    assert np.allclose(probabilities([0.0, 0.0, 0.0], relation), 1 / 3)
    p = probabilities([0.0, -5e4], relation)
    assert np.allclose(p, [1.0, 0.0], atol=1e-4)  # the third model falls slowly: log p ~ log g near p0 = 1
    assert np.isclose(p.sum(), 1.0)


@pytest.mark.parametrize("relation", MAPPINGS)
def test_a_weight_stands_for_so_many_alike(relation):
    three = probabilities(np.log([1.0, 0.4, 0.2, 0.2, 0.2]), relation)
    weighted = probabilities(np.log([1.0, 0.4, 0.2]), relation, weights=[1, 1, 3])
    assert np.allclose(weighted, three[:3])


@pytest.mark.parametrize(("relation", "family"), MODELS)
def test_the_slopes_of_the_likelihood_are_right_with_extra_alternatives_too(relation, family):
    rng = np.random.default_rng(3)
    batch = cut_lists(choose_any(made_up_spreads(60, 14, rng=rng), rng), 8, rng=rng)
    columns = CurveColumns.from_sets(choice_sets(batch, "bucket", bucket=Bucket(1.2, 0.1)))
    at, c, step = np.log(0.2), 0.5, 1e-6

    def log_p(log_s: float, exponent: float) -> np.ndarray:
        return scores(columns, relation, family, log_s, exponent).log_p

    found = scores(columns, relation, family, at, c)
    by_s = (log_p(at + step, c) - log_p(at - step, c)) / (2 * step)
    by_c = (log_p(at, c + step) - log_p(at, c - step)) / (2 * step)
    assert np.allclose(found.by_log_s, by_s, rtol=1e-5, atol=1e-5)
    assert np.allclose(found.by_c, by_c, rtol=1e-5, atol=1e-5)
    p, beyond = probability_columns(columns, relation, family, at, c)
    assert np.allclose(np.add.reduceat(p, columns.offsets[:-1]) + beyond, 1.0)


def test_shares_with_ipb_is_the_reference_agent():
    from skilloscope.models.agent import probability

    delta = np.array([0.0, 0.1, 0.4, 2.0])
    assert np.allclose(probabilities(curve("ipb").log_g(delta, 0.1, 1.3), "shares"), probability(delta, 1.3, k=0.1))


def test_tied_alternatives_share_one_percentile_interval():
    batch = Decisions.from_lists(["a"] * 3, [[0.5, 0.5, 0.3, 0.3, 0.1]] * 3, [1, 3, 4])
    columns, _ = CurveModel(scaling=0.0).columns(batch)
    low, high = intervals(columns, "shares", "invexp", np.log(0.1), 0.5)
    p, _ = probability_columns(columns.part(0, 1), "shares", "invexp", np.log(0.1), 0.5)
    assert np.allclose(low, [0.0, p[0] + p[1], 1 - p[4]])
    assert np.allclose(high, [p[0] + p[1], 1 - p[4], 1.0])


def test_an_unknown_mapping_is_refused():
    with pytest.raises(InputError, match="no mapping"):
        mapping("softmax")


def columns_of(delta: np.ndarray, chosen: int = 0) -> CurveColumns:
    batch = Decisions.from_lists(["one"], [(-delta).tolist()], [chosen])
    columns, _ = CurveModel(rule="full", scaling=0.0).columns(batch)
    if len(columns):
        return columns
    raise AssertionError("a single option is no decision")


def choose_any(batch: Decisions, rng: np.random.Generator) -> Decisions:
    from dataclasses import replace

    return replace(batch, chosen=rng.integers(0, 14, len(batch)).astype(np.int32))
