"""Swing: losses at several depths blended into one share, weights by Elo, linear combinations of curves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import swing as swing_module
from skilloscope.core.errors import InputError
from skilloscope.decision import Decisions
from skilloscope.models.curves import CurveModel, curve
from skilloscope.ratings.curve_fits import fit_curves
from skilloscope.simulate.deciders import made_up_spreads, simulate_curve_choices
from swing import BLENDS, Swing, depth_losses, fit_swing, unseen_log_p

DEPTHS = (2, 6, 10)


def three_depths(n: int, seed: int = 1, *, shallow: float = 0.6) -> Decisions:
    """Decisions by deciders who look at depth 2 with weight `shallow` and at depth 10 with the rest."""
    rng = np.random.default_rng(seed)
    judged = made_up_spreads(n, 8, rng=rng)
    last = judged.values.reshape(n, 8)
    first = last + rng.normal(0, 0.4, (n, 8))
    middle = 0.5 * (first + last)
    losses = [(v.max(axis=1, keepdims=True) - v) for v in (first, last)]
    g = [np.exp(curve("invexp").log_g(loss, 0.15, 0.7)) for loss in losses]
    share = shallow * g[0] + (1 - shallow) * g[1]
    p = share / share.sum(axis=1, keepdims=True)
    chosen = (p.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    values = np.stack([first, middle, last], axis=2).reshape(n * 8, 3)
    context = pa.table({"game": [f"g{i // 20}" for i in range(n)], "elo": rng.integers(1600, 2700, n)})
    return replace(judged, values=values, depths=DEPTHS, chosen=chosen.astype(np.int32), context=context)


@pytest.fixture(scope="module")
def seen() -> Decisions:
    return three_depths(4000)


@pytest.mark.parametrize("blend", BLENDS)
@pytest.mark.parametrize("curves", [("invexp",), ("invexp", "ipb")])
def test_the_slopes_are_those_of_the_likelihood(seen, blend, curves):
    gaps = seen.values.copy()
    gaps[::7, 0] = np.nan
    model = Swing(DEPTHS, curves, blend, scaling=0.0)
    data = depth_losses(replace(seen, values=gaps).select(slice(0, 100)), model)
    form = swing_module._Form(model, data)
    start, _ = swing_module._start(model)
    at = start + np.random.default_rng(2).normal(0, 0.2, len(start))
    _, slopes = form.log_p(at)
    for i in range(len(at)):
        ahead, behind = at.copy(), at.copy()
        ahead[i] += 1e-6
        behind[i] -= 1e-6
        numeric = (form.log_p(ahead)[0] - form.log_p(behind)[0]) / 2e-6
        assert np.allclose(slopes[:, i], numeric, atol=1e-5)


def test_the_weights_of_the_depths_are_recovered(seen):
    model = Swing(DEPTHS, scaling=0.0, by_elo=False)
    fit = fit_swing(depth_losses(seen, model), model)
    found = fit.parameters()
    assert fit.converged
    assert found["weight 2 0 invexp"] == pytest.approx(0.6, abs=0.06)
    assert found["weight 10 0 invexp"] == pytest.approx(0.4, abs=0.06)
    assert found["weight 6 0 invexp"] < 0.06
    assert np.exp(found["log s 0 invexp"]) == pytest.approx(0.15, abs=0.03)


def test_swing_beats_the_judgement_alone_on_games_it_has_not_seen(seen):
    few = seen.select(slice(0, 2000))
    alone = unseen_log_p(few, Swing(scaling=0.0, by_elo=False), folds=2)
    for blend in ("sum", "product"):
        both = unseen_log_p(few, Swing((2, 10), blend=blend, scaling=0.0, by_elo=False), folds=2)
        assert both.mean() > alone.mean() + 0.05


def test_with_one_depth_and_one_curve_swing_is_shares(seen):
    flat = seen.at_depths()
    swing = Swing(scaling=0.0, by_elo=False)
    model = CurveModel(scaling=0.0)
    shares = fit_curves(model.columns(flat)[0], model)
    fit = fit_swing(depth_losses(flat, swing), swing)
    assert fit.log_likelihood == pytest.approx(shares.log_likelihood, abs=0.05)
    product = replace(swing, blend="product")
    assert fit_swing(depth_losses(flat, product), product).log_likelihood == pytest.approx(
        shares.log_likelihood, abs=0.05
    )


def test_weights_may_depend_on_elo():
    weak, strong = three_depths(3000, 3, shallow=0.9), three_depths(3000, 4, shallow=0.1)
    batch = Decisions.concat(
        [
            replace(part, context=pa.table({"game": [f"{elo}"] * 3000, "elo": [elo] * 3000}))
            for part, elo in ((weak, 1600), (strong, 2600))
        ]
    )
    model = Swing((2, 10), scaling=0.0)
    fit = fit_swing(depth_losses(batch, model), model)
    assert fit.parameters()["by Elo 2 0 invexp"] < -0.5
    blind = replace(model, by_elo=False)
    assert fit.log_likelihood > fit_swing(depth_losses(batch, blind), blind).log_likelihood + 50


def test_a_linear_combination_of_curves_is_at_least_as_good_as_one_of_them():
    rng = np.random.default_rng(8)
    model = CurveModel(scaling=0.0)
    batch = simulate_curve_choices(made_up_spreads(2000, rng=rng), 0.15, 0.6, model=model, rng=rng)
    one, two = Swing(scaling=0.0, by_elo=False), Swing(curves=("invexp", "ipb"), scaling=0.0, by_elo=False)
    single = fit_swing(depth_losses(batch, one), one).log_likelihood
    assert fit_swing(depth_losses(batch, two), two).log_likelihood >= single - 1e-3


def test_what_a_depth_did_not_list_counts_as_its_worst_and_is_marked(seen):
    gaps = seen.values.copy()
    gaps[3, 0] = np.nan
    data = depth_losses(replace(seen, values=gaps), Swing(DEPTHS, scaling=0.0))
    assert data.missing[3, 0] == 1
    assert data.missing.sum() == 1
    assert data.losses[3, 0] == pytest.approx(np.nanmax(np.nanmax(gaps[:8, 0]) - gaps[:8, 0]))


def test_unlisted_choices_are_counted_and_odd_models_refused(seen):
    unlisted = replace(
        seen, chosen=np.where(np.arange(len(seen)) < 5, -1, seen.chosen).astype(np.int32), n_legal=seen.n_legal + 1
    )
    data = depth_losses(unlisted, Swing(DEPTHS, scaling=0.0))
    assert data.tally.counts == {"unlisted choice": 5}
    assert len(data) == len(seen) - 5
    with pytest.raises(InputError, match="no blend"):
        Swing(blend="mean")
    with pytest.raises(InputError, match="depths"):
        depth_losses(seen, Swing((3, 10)))


def test_on_real_games_two_depths_say_more_than_one(shared_data):
    from skilloscope.chess.analysis.analyses import decisions
    from skilloscope.chess.analysis.files import read_analysed

    path = next((shared_data / "analysed").glob("*.jsonl.gz"))
    batch = decisions(read_analysed(path))
    few = batch.select(np.arange(len(batch)) < 3000)
    one, two = (unseen_log_p(few, Swing(d, blend="product"), folds=2).mean() for d in ((10,), (6, 10)))
    assert two > one + 0.03
