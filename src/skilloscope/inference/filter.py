"""Filtering: the belief in a competence, period after period, under a named prior for each new period.

In: the evidence of periods in order of time. Out: a posterior for each, and how well the periods before predicted it.

The papers' three priors [DFH13 VII.A]: `carry`, the posterior of the period before; `widen`, a normal distribution with
its mean and twice its sd, cut to the range; `reset`, the uniform distribution, which the first period always has. A
period without decisions is none: the sd is doubled once per period with decisions, however long the gap before it.
The fourth, `drift`, lets the competence wander at a rate that the evidence itself decides (see `inference.drift`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skilloscope.core.errors import InputError, OptionError
from skilloscope.inference.evidence import Evidence
from skilloscope.inference.posterior import Posterior, posterior_from_log_density
from skilloscope.inference.priors import Normal, Prior, Uniform
from skilloscope.inference.sd_fit import SdFit
from skilloscope.inference.walk import (
    Lattice,
    averaged_scores,
    backward,
    fit_drift,
    forward,
    lattice_for,
)

PERIOD_PRIORS = ("carry", "widen", "reset", "drift")

Array = npt.NDArray[np.float64]
LogDensity = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class PeriodEvidence:
    """The evidence of one decider's periods, in order of time; every period has decisions."""

    times: Array
    evidences: Sequence[Evidence]

    def __post_init__(self) -> None:
        if not len(self.evidences) or len(self.times) != len(self.evidences):
            raise InputError(f"{len(self.evidences)} periods with {len(self.times)} times")
        if np.any(np.diff(self.times) < 0) or not np.all(np.isfinite(self.times)):
            raise InputError("the periods are not in order of time")

    @property
    def gaps(self) -> Array:
        """The time between neighbouring periods."""
        return np.diff(self.times)

    def tempered(self, dispersion: float) -> PeriodEvidence:
        """Return the history with every curve divided by a dispersion."""
        return PeriodEvidence(self.times, [one.tempered(dispersion) for one in self.evidences])

    def at(self, points: Array) -> Array:
        """Return the log-likelihood of each period (rows) at points of the range."""
        grid = self.evidences[0].grid
        return np.atleast_2d(grid.interpolate(np.array([one.curve for one in self.evidences]).T, points))


@dataclass(frozen=True, eq=False)
class Filtered:
    """What is believed of each period, and how well the periods before it had foretold its decisions.

    `posteriors` is what a profile shows. Under `drift` it is smoothed: later periods speak too; `past_only` never
    knows more than the period and those before it.
    """

    posteriors: Sequence[Posterior]
    past_only: Sequence[Posterior]
    log_scores: Array
    """Log-probability of each period's decisions given the periods before; under the uniform prior for the first."""


def filter_histories(
    histories: Sequence[PeriodEvidence],
    prior: str,
    *,
    span: tuple[float, float] | None = None,
    dispersion: float = 1.0,
    mass: float = 0.95,
) -> tuple[list[Filtered], SdFit | None]:
    """Filter every history under the named prior; the drift, if there is one, is common to all of them.

    Evidence is divided by `dispersion` before it is believed: games scatter more than the agent does. The scores are
    those of the decisions themselves, which are not divided.
    """
    check_period_prior(prior)
    if not histories:
        return [], None
    grid = histories[0].evidences[0].grid
    low, high = span or (grid.low, grid.high)
    if prior == "drift":
        return _drifting(histories, low, high, dispersion, mass)
    return [_one_by_one(history, prior, Uniform(low, high), dispersion) for history in histories], None


def check_period_prior(prior: str) -> None:
    """Refuse what is no prior of periods."""
    if prior not in PERIOD_PRIORS:
        raise OptionError(f"no prior {prior!r} for periods", hint=f"the priors: {', '.join(PERIOD_PRIORS)}")


def period_prior(name: str, before: Posterior, past: Evidence, flat: Uniform) -> tuple[LogDensity, str]:
    """Return the log-density with which a period begins, by the posterior of the period before it. [DFH13 VII.A]

    `carry`: p(c) = p(c | past). `widen`: p(c) = N(μ, 2σ), cut to the range. `reset`: p(c) constant.
    """
    if name == "carry":
        coefficients = past.grid.coefficients(past.curve)
        return lambda at: past.grid.interpolate_coefficients(coefficients, at), "posterior of the period before"
    prior: Prior = flat if name == "reset" else Normal(before.mean, 2 * before.sd, flat.low, flat.high)
    return prior.log_density, str(prior)


def log_score(density: LogDensity, evidence: Evidence, low: float, high: float) -> float:
    """log ∫ p(c)·p(decisions | c) dc: how probable decisions are under a belief, given up to a constant."""
    curve = evidence.grid.coefficients(evidence.curve)
    joint = _log_integral(lambda at: density(at) + evidence.grid.interpolate_coefficients(curve, at), low, high)
    return joint - _log_integral(density, low, high)


def _one_by_one(history: PeriodEvidence, name: str, flat: Uniform, dispersion: float) -> Filtered:
    """Filter by one of the papers' three priors."""
    posteriors: list[Posterior] = []
    scores = []
    density: LogDensity = flat.log_density
    said = str(flat)
    past = Evidence.zero(history.evidences[0].grid)
    for plain, one in zip(history.evidences, history.tempered(dispersion).evidences, strict=True):
        if posteriors:
            density, said = period_prior(name, posteriors[-1], past, flat)
        scores.append(log_score(density, plain, flat.low, flat.high))
        posteriors.append(_posterior(density, one, flat, said))
        past = past + one
    return Filtered(posteriors, posteriors, np.array(scores))


def _drifting(
    histories: Sequence[PeriodEvidence], low: float, high: float, dispersion: float, mass: float
) -> tuple[list[Filtered], SdFit]:
    tempered = [history.tempered(dispersion) for history in histories]
    lattice = lattice_for([history.evidences for history in tempered], low, high)
    logs = [history.at(lattice.centres) for history in tempered]
    plain = [history.at(lattice.centres) for history in histories]
    times = [history.times for history in histories]
    drift = fit_drift(lattice, logs, times, mass=mass)
    return [_walked(lattice, *one, drift) for one in zip(logs, plain, times, strict=True)], drift


def _walked(lattice: Lattice, logs: Array, plain: Array, times: Array, drift: SdFit) -> Filtered:
    """Filter and smooth one history, averaged over the drifts that were tried, each by its likelihood.

    With few periods the drift is hardly known; a band for the best one alone would be too narrow.
    """
    gaps = np.diff(times)
    weights = drift.weights
    walks = [forward(lattice, logs, gaps, tried) for tried in drift.tried]
    usable = [at for at, walk in enumerate(walks) if np.all(np.isfinite(walk.log_scores))]
    scores = averaged_scores(
        np.array([walks[at].log_scores for at in usable]),
        np.array([_predictive(walks[at].predicted, plain) for at in usable]),
    )
    said = f"random walk, sd {drift.sd:.3g} in one unit of time, on [{lattice.low:g}, {lattice.high:g}]"
    heavy = [at for at in usable if weights[at] > 0]
    past = sum(weights[at] * walks[at].filtered for at in heavy)
    smoothed = sum(weights[at] * backward(walks[at], logs, gaps) for at in heavy)
    return Filtered(
        [lattice.posterior(row, prior=f"{said}; all periods") for row in np.asarray(smoothed)],
        [lattice.posterior(row, prior=f"{said}; past periods") for row in np.asarray(past)],
        scores,
    )


def _predictive(predicted: Array, plain: Array) -> Array:
    peak = plain.max(axis=1, keepdims=True)
    return np.asarray(np.log((predicted * np.exp(plain - peak)).sum(axis=1)) + peak[:, 0])


def _posterior(density: LogDensity, evidence: Evidence, flat: Uniform, said: str) -> Posterior:
    curve = evidence.grid.coefficients(evidence.curve)
    return posterior_from_log_density(
        lambda at: density(at) + evidence.grid.interpolate_coefficients(curve, at), flat.low, flat.high, prior=said
    )


def _log_integral(log_density: LogDensity, low: float, high: float) -> float:
    """Return log ∫ exp(f): at its peak a normalised density tells what it was divided by."""
    found = posterior_from_log_density(log_density, low, high)
    peak = int(found.density.argmax())
    return float(log_density(found.at[peak : peak + 1])[0] - np.log(found.density[peak]))
