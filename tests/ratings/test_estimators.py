"""Our estimators behave as scikit-learn asks, as far as its checks can be asked of what does not take a matrix.

Left out, with the reason: every check that calls `fit(X, y)` with a matrix of numbers (shapes, dtypes, sparse, NaN,
sample weights, feature names, array API, pipelines, `check_fit*`, `check_*_pickle`, `check_n_features*` and so on):
here `fit` takes results of games or decisions, whose rows have no fixed number of columns. What those checks mean for
any estimator (fit returns itself, leaves its parameters alone, forgets what it learnt before, can be pickled, refuses
what is no data) stands below in tests of our own. Checks of tags (`check_*_tags*`, `check_mixin_order`) are of classes
that inherit from scikit-learn's, and ours do not need it.
"""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils import estimator_checks

from simulated import wandering_games
from skilloscope import Competence, Curves, Periods
from skilloscope.core.errors import InputError
from skilloscope.decision import Decisions

KINDS = (Competence, Curves, Periods)
CHECKS = (
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_get_params_invariance",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
)


def chosen(c: float, n: int, seed: int) -> Decisions:
    """Decisions between three alternatives by an agent of competence c."""
    rng = np.random.default_rng(seed)
    losses = np.sort(rng.exponential(size=(n, 3)), axis=1)
    losses -= losses[:, :1]
    shares = (losses + 0.1) ** -c
    picks = [int(rng.choice(3, p=row / row.sum())) for row in shares]
    return Decisions.from_lists(["Ann"] * n, (-losses).tolist(), picks)


def data(kind: type, seed: int) -> Any:
    """What such an estimator learns from."""
    return wandering_games(np.random.default_rng(seed), 200, 8, 4)[0] if kind is Periods else chosen(1.2, 200, seed)


def learnt(model: Any) -> bytes:
    """What an estimator has learnt, to be compared."""
    if isinstance(model, Periods):
        return np.array([model.sigma0_, model.nu_, *model.beliefs_.moments()[0]]).tobytes()
    return np.array([model.c_, getattr(model, "s_", 0.0)]).tobytes()


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_check_of_scikit_learn_passes(kind, check):
    getattr(estimator_checks, check)(kind.__name__, kind())


@pytest.mark.parametrize("kind", KINDS)
def test_fit_returns_itself_leaves_the_parameters_and_forgets_what_was_before(kind):
    model, fresh = kind(), kind()
    before = model.get_params()
    assert model.fit(data(kind, 1)) is model
    assert model.get_params() == before
    first = learnt(model)
    model.fit(data(kind, 2))
    assert learnt(model) != first
    assert learnt(model) == learnt(fresh.fit(data(kind, 2))) == learnt(clone(model).fit(data(kind, 2)))


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_learnt_can_be_pickled_and_scores_the_same(kind):
    model, later = kind().fit(data(kind, 1)), data(kind, 2)
    assert pickle.loads(pickle.dumps(model)).score(later) == model.score(later) < 0


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_data_is_refused_by_name(kind):
    with pytest.raises(InputError, match="list"):
        kind().fit([[0.0, 1.0], [1.0, 0.0]])


def test_the_estimators_find_what_decisions_were_made_by():
    batch = chosen(1.2, 3000, 3)
    model = Competence().fit(batch)
    assert model.posterior_.interval(0.999)[0] < 1.2 < model.posterior_.interval(0.999)[1]
    assert Competence().fit(batch.to_pandas()).c_ == model.c_
    held_out = chosen(1.2, 1000, 4)
    assert model.score(held_out) > Competence().fit(chosen(0.3, 3000, 5)).score(held_out)
    assert Curves(scaling=0.0).fit(batch).score(held_out) < 0
