"""The agent's competence and the curves' s and c as estimators, for who lives in scikit-learn.

In: decisions, or a frame of them, as those of one decider. Out: what was learnt, in attributes that end in an
underscore, and a score on other decisions: the mean log-likelihood of a choice, higher is better.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from skilloscope.decision import Decisions
from skilloscope.decision.arrow import as_decisions
from skilloscope.evidence import agent_evidence, prior_from_text
from skilloscope.models.agent import Agent, log_likelihood
from skilloscope.models.curves import CurveModel
from skilloscope.models.kernels.curves import scores
from skilloscope.ratings import Estimator
from skilloscope.ratings.curve_fits import Limits, fit_curves


@dataclass(kw_only=True, eq=False, repr=False)
class Competence(Estimator):
    """The competence c of the reference agent, all decisions taken as one decider's. [DFH13]

    After `fit`: `posterior_` (mean, sd, interval), `c_` its mean, `model_` the agent, `skipped_` what was left out.

    >>> from skilloscope.decision import Decisions
    >>> batch = Decisions.from_lists(["Ann"] * 3, [[0.0, -0.1], [0.0, -0.9], [0.0, -0.5]], [0, 0, 1])
    >>> round(Competence(k=0.1).fit(batch).c_, 3)
    0.855
    """

    k: float = 0.1
    rule: str = "listed"
    prior: str = "uniform"
    low: float = 0.0
    high: float = 4.0

    def fit(self, decisions: Any) -> Self:
        """Learn c from decisions or a frame of them."""
        batch, prior = _batch(decisions), prior_from_text(self.prior, self.low, self.high)
        self.model_ = Agent(k=self.k, rule=self.rule).prepared(batch)
        total = agent_evidence(batch, self.model_, span=(self.low, self.high)).total()
        self.posterior_, self.skipped_ = total.posterior(prior), total.tally
        self.c_ = self.posterior_.mean
        return self

    def score(self, decisions: Any) -> float:
        """Return the mean log-likelihood of the choices in other decisions, at `c_`."""
        return float(log_likelihood(self.model_.choice_sets(_batch(decisions)), self.c_, k=self.k).mean())


@dataclass(kw_only=True, eq=False, repr=False)
class Curves(Estimator):
    """Sensitivity s and competence c of the curves, all decisions taken as one decider's. [RH11]

    `scaling` is a of the evaluation scaling, 1 in chess and 0 elsewhere; s is looked for up to twice the `unit`, which
    is what a pawn is in the values. After `fit`: `s_`, `c_`, `fit_` (with standard errors and the paper's score),
    `model_`, `skipped_`.
    """

    mapping: str = "shares"
    curve: str = "invexp"
    rule: str = "listed"
    scaling: float = 1.0
    how: str = "likelihood"
    unit: float = 1.0

    def fit(self, decisions: Any) -> Self:
        """Learn s and c from decisions or a frame of them."""
        batch = _batch(decisions)
        self.model_ = CurveModel(self.mapping, self.curve, self.rule, self.scaling).prepared(batch)
        columns, self.skipped_ = self.model_.columns(batch)
        self.fit_ = fit_curves(columns, self.model_, self.how, limits=Limits().scaled(self.unit))
        self.s_, self.c_ = self.fit_.s, self.fit_.c
        return self

    def score(self, decisions: Any) -> float:
        """Return the mean log-likelihood of the choices in other decisions, at `s_` and `c_`."""
        columns, _ = self.model_.columns(_batch(decisions))
        return float(scores(columns, self.model_.mapping, self.model_.curve, np.log(self.s_), self.c_).log_p.mean())


def _batch(decisions: Any) -> Decisions:
    batch = as_decisions(decisions)
    return batch if batch.values.ndim == 1 else batch.at_depths()
