"""The Elo axis: blurs, persons, priors, and effects that come back from simulated people."""

from __future__ import annotations

import contextlib
import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from effects_fitting import KnownPerson, fit_effects, fit_searches, pooled, rating_score
from skilloscope.core.errors import InputError
from skilloscope.evidence import Normal
from skilloscope.evidence.axis import (
    EFFORTS,
    ELO,
    Effects,
    EloAxis,
    OpponentsPrior,
    PersonEffect,
    blurred,
    combined,
    elo_axis,
    elo_posterior,
    games_for_sd,
    person_curve,
    pool_priors,
)
from skilloscope.evidence.scales import Scale, scale

FLAT = Normal(1900.0, 400.0, float(ELO[0]), float(ELO[-1]))


def normal_curve(mean: float, sd: float) -> np.ndarray:
    return -0.5 * ((ELO - mean) / sd) ** 2


@given(st.floats(1200, 2500), st.floats(60, 300), st.floats(20, 200))
def test_a_blur_adds_variances(mean, sd, more):
    wide = elo_posterior(blurred(normal_curve(mean, sd), more), FLAT)
    exact = elo_posterior(normal_curve(mean, float(np.hypot(sd, more))), FLAT)
    assert wide.mean == pytest.approx(exact.mean, abs=3)
    assert wide.sd == pytest.approx(exact.sd, rel=0.03)


def test_many_games_of_one_person_never_say_more_than_the_persons_own_effect_allows():
    effects = Effects(1.0, 50.0, 120.0)
    sds = [elo_posterior(person_curve([normal_curve(1800, 200)] * n, effects), FLAT).sd for n in (1, 4, 16, 64)]
    assert sds == sorted(sds, reverse=True)
    assert sds[-1] > 110


def test_sources_are_blurred_apart_and_no_evidence_leaves_the_prior():
    nothing = elo_posterior(combined({}, {}), FLAT)
    assert nothing.mean == pytest.approx(1900, abs=3)  # the range cuts a little more below than above
    assert nothing.sd == pytest.approx(400, rel=0.05)
    both = {"one": [normal_curve(1700, 150)], "two": [normal_curve(1700, 150)]}
    apart = combined(both, {"one": Effects(person_sd=100), "two": Effects(person_sd=0)})
    assert elo_posterior(apart, FLAT).sd < elo_posterior(person_curve(both["one"], Effects()), FLAT).sd


def test_effects_come_back_from_simulated_people():
    rng = np.random.default_rng(3)
    people = []
    for _ in range(160):
        elo, own = rng.normal(1900, 300), rng.normal(0, 150)
        curves = np.array([normal_curve(elo + own + rng.normal(0, 100) + rng.normal(0, 120), 120) for _ in range(12)])
        people += [KnownPerson(elo, {"human": curves[:n]}) for n in (1, 4, 12)]
    prior = Normal(1900.0, 300.0, float(ELO[0]), float(ELO[-1]))
    found = fit_effects(people, ["human"], prior)["human"]
    assert found.person_sd == pytest.approx(150, abs=45)
    assert found.temper < 1.3
    better = np.mean([rating_score(person, {"human": found}, prior) for person in people])
    assert better > np.mean([rating_score(person, {"human": Effects()}, prior) for person in people])


def test_the_axis_that_ships_has_every_effort_and_comes_back_from_its_own_json():
    axis = elo_axis()
    assert tuple(axis.efforts)[:3] == EFFORTS
    assert EloAxis.from_json(axis.to_json()).to_json() == axis.to_json()
    assert axis.effort("instant").weights is None
    assert len(axis.effort("full").weights.losses) == 10
    assert axis.extrapolates(900)
    assert not axis.extrapolates(1500)


def test_the_human_model_of_the_axis_is_the_one_that_ships():
    from skilloscope.chess.human.model import shipped_network

    assert elo_axis().model == shipped_network().sha256


REGRESSION = OpponentsPrior(2000.0, 1.4, 0.7, 0.6, 100.0, 0.25, 200.0, 12.0)
SHARED = PersonEffect((1200.0, 2400.0), (0.0, 0.0), (200.0, 80.0), (0.0, 0.0), 250.0)


def test_stronger_opponents_raise_the_prior_and_more_of_them_narrow_it():
    few, many = REGRESSION.prior([2200.0]), REGRESSION.prior([2200.0] * 8)
    assert 2000 < few.mean < many.mean
    assert many.sd < few.sd
    assert REGRESSION.prior([1900.0, 2500.0] * 4).sd > many.sd  # a wide field says less of the one who plays in it
    assert elo_posterior(np.zeros_like(ELO), many).mean == pytest.approx(many.mean, abs=3)


@given(st.lists(st.floats(800, 2800), min_size=1, max_size=12), st.randoms())
def test_the_order_of_opponents_does_not_matter(ratings, random):
    other = random.sample(ratings, len(ratings))
    assert REGRESSION.prior(other).mean == pytest.approx(REGRESSION.prior(ratings).mean)
    assert REGRESSION.prior(other).sd == pytest.approx(REGRESSION.prior(ratings).sd)


def test_a_file_of_one_player_gives_the_population_and_many_alike_give_their_pool():
    (alone,) = pool_priors([normal_curve(2400, 100)], FLAT)
    assert (alone.mean, alone.sd) == (pytest.approx(1900, abs=15), pytest.approx(390, abs=15))
    rng = np.random.default_rng(2)
    club = [normal_curve(level + 100 * rng.normal(), 100) for level in 1400 + 80 * rng.normal(size=60)]
    priors = pool_priors(club, FLAT)
    assert priors[0].mean == pytest.approx(1400, abs=45)
    assert 60 < priors[0].sd < 200
    odd = pool_priors([*club, normal_curve(2500, 100)], FLAT)[-1]
    assert odd.mean == pytest.approx(priors[0].mean, abs=30)  # a player's own moves are no part of the prior


def test_what_all_sources_share_no_number_of_games_or_sources_gets_below():
    def sd(games, names, level=1200.0):
        sources = dict.fromkeys(names, np.array([normal_curve(level, 200)] * games))
        return elo_posterior(combined(sources, dict.fromkeys(names, Effects()), SHARED), FLAT).sd

    assert sd(1, "a") > sd(4, "a") > sd(4, "ab") > sd(200, "ab") > 150
    assert sd(200, "ab", level=2400.0) == pytest.approx(80, abs=15)
    flat, precise = Normal(1900.0, 1e6, 700.0, 3000.0), {"a": 1 / 200**2}
    assert games_for_sd(100.0, precise, {"a": Effects()}, flat, 1, shared=110.0**2) is None
    assert games_for_sd(100.0, precise, {"a": Effects()}, flat, 1, shared=60.0**2) is not None
    assert games_for_sd(100.0, precise, {"a": Effects()}, flat, 1, style=110.0**2) is None
    own, both = (games_for_sd(100.0, precise, {"a": Effects()}, flat, 1, style=60.0**2, result=r) for r in (0.0, 4e-6))
    assert own is not None
    assert both is not None
    assert both < own
    assert games_for_sd(100.0, precise, {"a": Effects()}, flat, 1, style=110.0**2, result=4e-6) is not None


def test_an_axis_comes_back_from_json_with_its_prior_and_what_people_share():
    axis = elo_axis()
    again = EloAxis.from_json(axis.to_json())
    assert again.opponents == axis.opponents
    assert again.effort("full").person == axis.effort("full").person is not None


def test_priors_have_names_and_no_evidence_under_a_header_keeps_its_sd():
    axis = elo_axis()
    posterior = axis.posterior({}, "instant", axis.prior("header", header_elo=2500.0))
    assert posterior.mean == pytest.approx(2500, abs=5)
    assert posterior.sd == pytest.approx(100, abs=3)
    for name in ("header", "opponents", "file"):  # of anybody
        assert str(axis.prior(name)) == str(axis.prior("population"))
    with pytest.raises(InputError, match="no prior"):
        axis.prior("best")
    with pytest.raises(InputError, match="no effort"):
        axis.effort("utmost")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": 2}', '{"schema": 1, "efforts": {"x": 3}}', "[" * 5000])
def test_what_is_no_axis_is_refused_with_a_hint(text):
    with pytest.raises(InputError) as refused:
        EloAxis.from_json(text, source="mine.json")
    assert "mine.json" in str(refused.value)


ANYTHING = ('"text"', '"1"', "null", "true", "[]", "{}")
NO_NUMBERS = ("NaN", "1e999", "1" + "0" * 400, "-1e300", *ANYTHING)


@pytest.mark.parametrize("bad", NO_NUMBERS)
def test_a_value_of_another_kind_is_refused_wherever_it_stands(bad):
    for found, read in ((elo_axis(), EloAxis.from_json), (scale(), Scale.from_json)):
        text, accepted = found.to_json(), 0
        places = [one.span(1) for one in re.finditer(r"[:\[,]\s*(-?[\d.]+(?:e-?\d+)?)(?=,?\n)", text)]
        for first, last in (places := places[:: max(1, len(places) // 60)]):
            with contextlib.suppress(InputError):
                read(text[:first] + bad + text[last:], source="mine.json")
                accepted += 1  # by a field that may hold anything finite, such as a setting of an engine
        assert accepted < (len(places) if bad in ANYTHING else 1)


@pytest.mark.parametrize(
    "changed",
    [
        {"elo": []},
        {"elo": [], "mean": [], "sd": [], "tail": []},
        {"elo": [1000, 1000, 1700, 2100, 2800]},
        {"mean": [0]},
        {"sd": [-1, 90, 90, 90, 90]},
        {"tail": [1.5, 0, 0, 0, 0]},
        {"tail_sd": 1e6},
        {"style": -1},
        {"results": -1},
        {"within": [3000, 500]},
    ],
    ids=str,
)
def test_an_effect_of_a_person_that_cannot_be_is_refused(changed):
    raw = json.loads(elo_axis().to_json())
    person = {"elo": [600, 1200, 1700, 2100, 2800], **dict.fromkeys(("mean", "sd", "tail"), [0.5] * 5), "tail_sd": 300}
    raw["efforts"]["instant"]["person"] = person
    EloAxis.from_json(json.dumps(raw))
    raw["efforts"]["instant"]["person"] = person | changed
    with pytest.raises(InputError, match=r"an effect of a person|the effect of a person"):
        EloAxis.from_json(json.dumps(raw))


def test_what_stays_with_a_person_comes_back_from_two_searches_of_the_same_people():
    rng = np.random.default_rng(4)
    searches = {"quick": [], "full": []}
    for _ in range(150):
        elo, own = rng.normal(1900, 300), rng.normal(0, 120)
        for name, sd in (("quick", 180), ("full", 120)):
            curves = np.array([normal_curve(elo + own + rng.normal(0, sd), sd) for _ in range(12)])
            searches[name] += [KnownPerson(elo, {"joint": curves[:n]}) for n in (1, 4, 12)]
    found = fit_searches(searches, "joint", Normal(1900.0, 300.0, float(ELO[0]), float(ELO[-1])), fixed={})
    assert found["quick"].person_sd == found["full"].person_sd == pytest.approx(120, abs=35)
    assert found["quick"].temper == pytest.approx(1, abs=0.3)


def test_people_scored_together_are_the_people_scored_apart():
    people = [
        KnownPerson(
            1800.0, {"opening": np.array([normal_curve(1700, 200)]), "joint": np.array([normal_curve(1900, 150)])}
        ),
        KnownPerson(2000.0, {"joint": np.array([normal_curve(2100, 150), normal_curve(2000, 250)])}),
    ]
    effects = {"opening": Effects(0.8, 100.0, 150.0), "joint": Effects(0.7, 120.0, 100.0)}
    together = pooled(people).logs(effects)
    apart = np.array([combined(person.sources, effects)[::5] for person in people])
    assert (together - together.max(axis=1, keepdims=True))[:, 10:37] == pytest.approx(
        (apart - apart.max(axis=1, keepdims=True))[:, 10:37], abs=0.02
    )
