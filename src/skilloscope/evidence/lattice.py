"""Drift: a competence that wanders, filtered forwards and smoothed backwards on a lattice, exactly.

In: the evidence of periods in order of time. Out: for each period what the past says, what all periods say, and how
fast the competence drifts.

The competence makes a random walk in continuous time between the cells of a lattice: after a time t its variance has
grown by q·t, whatever t is, so that a gap is a longer step and nothing else. At the ends of the range the walk is
reflected: mass is neither lost nor piled up. All terms are positive and none is rounded away by a difference, so that
even what is very improbable keeps its relative size.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.linalg import hankel, toeplitz
from scipy.optimize import minimize_scalar
from scipy.special import ive, logsumexp
from scipy.stats import chi2

from skilloscope.core.columns import Array
from skilloscope.core.errors import GridError, InputError, OptionError
from skilloscope.evidence.posterior import Normal, Posterior, Prior, Uniform, posterior_from_log_density
from skilloscope.evidence.table import Evidence

_FEWEST, _MOST = 200, 2000  # cells
_REACH = 38.0  # a normal density so many sd out is the smallest number above zero


@dataclass(frozen=True)
class Lattice:
    """Equal cells on [low, high]; a distribution on it is one probability a cell."""

    low: float
    high: float
    cells: int

    @property
    def step(self) -> float:
        """The width of a cell."""
        return (self.high - self.low) / self.cells

    @property
    def centres(self) -> Array:
        """The middles of the cells."""
        return np.asarray(self.low + self.step * (np.arange(self.cells) + 0.5))

    def posterior(self, mass: Array, *, prior: str) -> Posterior:
        """Return a distribution on the cells as a posterior: a smooth density through the middles."""
        with np.errstate(divide="ignore"):
            logs = np.log(mass)
        inside = np.flatnonzero(logs > logs.max() - 60.0)
        inside = np.arange(max(inside[0] - 1, 0), min(inside[-1] + 2, self.cells))
        inside = inside[np.isfinite(logs[inside])]
        curve = CubicSpline(self.centres[inside], logs[inside], bc_type="natural")
        ends = self.centres[inside[0]] - 0.5 * self.step, self.centres[inside[-1]] + 0.5 * self.step

        def log_density(at: Array) -> Array:
            return np.where((at >= ends[0] - 1e-12) & (at <= ends[1] + 1e-12), curve(at), -np.inf)

        return posterior_from_log_density(log_density, self.low, self.high, prior=prior, step=self.step)


@dataclass(frozen=True, eq=False)
class Walk:
    """One filter run: per period (rows) the mass on each cell from the periods before, and with this one's evidence."""

    lattice: Lattice
    drift: float
    predicted: Array
    filtered: Array
    log_scores: Array  # the log of the probability of each period's (tempered) evidence, given the periods before


def walk_kernel(variance: float, cells: int) -> Array:
    """p(n) = e^−v·I_n(v), n = 0, 1, …: where a walk of unit steps at random times stands when its variance is v.

    >>> kernel = walk_kernel(2.5, 100)
    >>> n = np.arange(len(kernel))
    >>> round(float(kernel[0] + 2 * kernel[1:].sum()), 12), round(float(2 * (n**2 * kernel).sum()), 12)
    (1.0, 2.5)
    """
    sd = np.sqrt(variance)
    # Within the range every step is kept that is above zero at all; beyond it twelve sd are enough.
    reach = min(int(_REACH * sd) + 200, max(cells, int(12 * sd)))
    kernel = np.asarray(ive(np.arange(reach), variance), dtype=np.float64)
    return kernel[kernel > 0]


def reflected_walk(variance: float, cells: int) -> Array:
    """Return the symmetric matrix that takes mass one step on; images stand for the reflections at both ends."""
    kernel = walk_kernel(variance, cells)
    around = np.zeros(2 * cells)  # two reflections are a shift by twice the range
    np.add.at(around, np.arange(len(kernel)) % (2 * cells), kernel)
    np.add.at(around, -np.arange(1, len(kernel)) % (2 * cells), kernel[1:])
    around /= around.sum()
    inner = toeplitz(around[:cells])
    return np.asarray(inner + hankel(around[1 : cells + 1], around[cells:]))


def lattice_for(evidences: Sequence[Sequence[Evidence]], low: float, high: float) -> Lattice:
    """Return cells that are no wider than the sd of the narrowest posterior that any of these sequences can give."""
    totals = [sum(sequence[1:], sequence[0]) for sequence in evidences]
    narrowest = min(total.posterior(Uniform(low, high)).sd for total in totals)
    cells = int(np.clip(np.ceil((high - low) / narrowest), _FEWEST, _MOST))
    periods = min(one.posterior(Uniform(low, high)).sd for sequence in evidences for one in sequence)
    if periods < 0.5 * (high - low) / cells:
        raise GridError(
            f"a period has so many decisions that {cells:,} cells cannot hold it (sd {periods:.2g})",
            hint="take shorter periods or a smaller range",
        )
    return Lattice(low, high, cells)


def forward(lattice: Lattice, logs: Array, gaps: Array, drift: float) -> Walk:
    """Filter: p(c_t | past) = ∫ N(c_t − c_{t−1}; q·Δt) p(c_{t−1} | past) dc, then Bayes' rule. Uniform at the start."""
    predicted, filtered, scores = np.empty_like(logs), np.empty_like(logs), np.empty(len(logs))
    mass = np.full(lattice.cells, 1.0 / lattice.cells)
    steps: dict[float, Array] = {}
    for t, log in enumerate(logs):
        if t:
            mass = _steps(lattice, drift, float(gaps[t - 1]), steps) @ mass
        predicted[t] = mass
        peak = log.max()
        joint = mass * np.exp(log - peak)
        total = joint.sum()
        with np.errstate(divide="ignore"):
            scores[t] = np.log(total) + peak
        if total == 0.0:  # so unlike the past that no number is small enough: this drift is out of the question
            return Walk(lattice, drift, predicted, filtered, np.full(len(logs), -np.inf))
        mass = filtered[t] = joint / total
    return Walk(lattice, drift, predicted, filtered, scores)


def backward(walk: Walk, logs: Array, gaps: Array) -> Array:
    """Smooth: p(c_t | all) ∝ p(c_t | up to t)·p(later periods | c_t), the second carried backwards by the same walk."""
    smoothed = np.empty_like(logs)
    later = np.ones(walk.lattice.cells)
    steps: dict[float, Array] = {}
    for t in range(len(logs) - 1, -1, -1):
        if t + 1 < len(logs):
            message = later * np.exp(logs[t + 1] - logs[t + 1].max())
            later = _steps(walk.lattice, walk.drift, float(gaps[t]), steps) @ message
            later = later / later.max()
        joint = walk.filtered[t] * later
        smoothed[t] = joint / joint.sum()
    return smoothed


def fit_drift(lattice: Lattice, logs: Sequence[Array], times: Sequence[Array], *, mass: float = 0.95) -> "SdFit":
    """Return the sd of the change in a unit of time that makes the evidence of all sequences likeliest."""
    if not any(len(t) > 1 for t in times):
        raise InputError("a drift cannot be seen in a single period", hint="use another prior, or shorter periods")
    gaps = np.concatenate([np.diff(t) for t in times])
    usual = float(np.median(gaps[gaps > 0])) if np.any(gaps > 0) else 1.0

    def total(drift: float) -> float:
        walks = (forward(lattice, log, np.diff(t), drift) for log, t in zip(logs, times, strict=True))
        return float(sum(walk.log_scores.sum() for walk in walks))

    return fit_sd(total, sds_to_try(lattice.high - lattice.low) / np.sqrt(usual), mass=mass)


def averaged_scores(scores: Array, plain: Array) -> Array:
    """log Σ_q w_t(q)·p_q(period t | past), w_t(q) ∝ p_q(periods before t): `scores` weigh, `plain` is averaged."""
    past = np.concatenate([np.zeros((len(scores), 1)), np.cumsum(scores, axis=1)[:, :-1]], axis=1)
    return np.asarray(logsumexp(past + plain, axis=0) - logsumexp(past, axis=0))


def _steps(lattice: Lattice, drift: float, gap: float, known: dict[float, Array]) -> Array:
    if gap not in known:
        known[gap] = reflected_walk(drift**2 * gap / lattice.step**2, lattice.cells)
    return known[gap]


_SMALLEST, _LARGEST, _HOW_MANY = 0.001, 0.5, 24  # of the range
_NO_WEIGHT = 1e-6  # relative to the likeliest: what is left out cannot be seen


@dataclass(frozen=True, eq=False)
class SdFit:
    """A fitted sd with its profile-likelihood interval; `high` is None where the data set no upper bound."""

    sd: float
    low: float
    high: float | None
    mass: float
    tried: Array
    log_likelihood: Array

    @property
    def weights(self) -> Array:
        """The weight of each sd that was tried, by its likelihood; they sum to 1, the hopeless have none."""
        weight = np.exp(self.log_likelihood - self.log_likelihood.max())
        weight = np.where(weight > _NO_WEIGHT, weight, 0.0)
        return np.asarray(weight / weight.sum())


def sds_to_try(span: float) -> Array:
    """Return none, then from a thousandth to half of a range."""
    return np.concatenate([[0.0], np.geomspace(_SMALLEST, _LARGEST, _HOW_MANY) * span])


def fit_sd(log_likelihood: Callable[[float], float], tried: Array, *, mass: float = 0.95) -> SdFit:
    """Return the likeliest sd; the interval holds those whose log-likelihood is within ½χ² of the best.

    Near zero the interval is on the wide side.

    >>> fit = fit_sd(lambda sd: -50 * (sd - 0.3) ** 2, sds_to_try(2.0))
    >>> round(fit.sd, 2), round(fit.low, 1), round(fit.high or 0, 1)
    (0.3, 0.1, 0.5)
    """
    found = np.array([log_likelihood(float(sd)) for sd in tried])
    best = int(found.argmax())
    sd, top = float(tried[best]), float(found[best])
    if best:
        around = np.log([tried[max(best - 1, 1)], tried[min(best + 1, len(tried) - 1)]])
        fine = minimize_scalar(
            lambda x: -log_likelihood(float(np.exp(x))), bounds=tuple(around), options={"xatol": 1e-2}
        )
        if -fine.fun > top:
            sd, top = float(np.exp(fine.x)), float(-fine.fun)
    order = np.argsort(np.append(tried, sd))
    sds, above = np.append(tried, sd)[order], np.append(found, top)[order] - (top - 0.5 * float(chi2.ppf(mass, 1)))
    inside = np.flatnonzero(above >= 0)
    first, last = int(inside[0]), int(inside[-1])
    low = float(sds[0]) if first == 0 else _cross(sds, above, first - 1)
    return SdFit(sd, low, None if last == len(sds) - 1 else _cross(sds, above, last), mass, tried, found)


def _cross(sds: Array, above: Array, left: int) -> float:
    """Return where the log-likelihood crosses the level, by a straight line between two sds."""
    a, b = above[left], above[left + 1]
    share = a / (a - b) if np.isfinite(a) and np.isfinite(b) else float(np.isfinite(b))
    return float(sds[left] + share * (sds[left + 1] - sds[left]))


@dataclass(frozen=True, eq=False)
class Pooled:
    """One decider's groups: each alone under the uniform prior, each with the others' help, and what is common."""

    alone: Sequence[Posterior]
    pooled: Sequence[Posterior]
    common: Posterior


def pool_groups(
    deciders: Sequence[Sequence[Evidence]],
    *,
    span: tuple[float, float] | None = None,
    dispersion: float = 1.0,
    mass: float = 0.95,
) -> tuple[list[Pooled], SdFit]:
    """Return every decider's groups with partial pooling, averaged over the sds between groups, and the fitted sd."""
    if not any(len(groups) > 1 for groups in deciders):
        raise InputError("what lies between groups cannot be seen in a single group")
    grid = deciders[0][0].grid
    low, high = span or (grid.low, grid.high)
    tempered = [[one.tempered(dispersion) for one in groups] for groups in deciders]
    lattice = lattice_for(tempered, low, high)
    logs = [np.array([one.log_likelihood(lattice.centres) for one in groups]) for groups in tempered]

    def total(sd: float) -> float:
        step = reflected_walk((sd / lattice.step) ** 2, lattice.cells)
        return float(sum(_marginal(log, step)[0] for log in logs))

    fit = fit_sd(total, sds_to_try(high - low), mass=mass)
    flat = Uniform(low, high)
    shares = [_averaged(log, lattice, fit) for log in logs]
    found = [
        Pooled(
            [one.posterior(flat) for one in groups],
            [lattice.posterior(row, prior=f"normal between groups, sd {fit.sd:.3g}") for row in of_groups],
            lattice.posterior(of_common, prior=str(flat)),
        )
        for groups, (of_groups, of_common) in zip(tempered, shares, strict=True)
    ]
    return found, fit


def _marginal(logs: Array, step: Array) -> tuple[float, Array, Array]:
    """log ∫ dμ Π_j ∫ p(j | c) N(c; μ, τ²) dc; and for each group what it says of μ, in logs, and what all say."""
    peaks = logs.max(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        messages = np.log(np.exp(logs - peaks) @ step) + peaks
    together = messages.sum(axis=0)
    top = together.max()
    if not np.isfinite(top):
        return -np.inf, messages, together
    return float(top + np.log(np.exp(together - top).mean())), messages, together


def _averaged(logs: Array, lattice: Lattice, fit: SdFit) -> tuple[Array, Array]:
    """Return the mass of each group's c and of μ on the cells, averaged over the sds by their likelihood."""
    groups, common = np.zeros_like(logs), np.zeros(lattice.cells)
    for sd, weight in zip(fit.tried, fit.weights, strict=True):
        if weight == 0:
            continue
        step = reflected_walk((float(sd) / lattice.step) ** 2, lattice.cells)
        _, messages, together = _marginal(logs, step)
        common += weight * _normalised(together)
        for j, log in enumerate(logs):
            others = np.delete(messages, j, axis=0).sum(axis=0)
            with np.errstate(divide="ignore"):
                prior = np.log(step @ _normalised(others))
            groups[j] += weight * _normalised(log + prior)
    return groups, common


def _normalised(logs: Array) -> Array:
    mass = np.exp(logs - logs.max())
    return np.asarray(mass / mass.sum())


PERIOD_PRIORS = ("carry", "widen", "reset", "drift")

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

    def tempered(self, dispersion: float) -> "PeriodEvidence":
        """Return the history with every curve divided by a dispersion."""
        return PeriodEvidence(self.times, [one.tempered(dispersion) for one in self.evidences])

    def at(self, points: Array) -> Array:
        """Return the log-likelihood of each period (rows) at points of the range."""
        grid = self.evidences[0].grid
        return np.atleast_2d(grid.interpolate(np.array([one.curve for one in self.evidences]).T, points))


@dataclass(frozen=True, eq=False)
class Filtered:
    """Each period's posterior, under `drift` smoothed (`past_only` knows no later one), and how it was predicted."""

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
    """Filter every history under the named prior, evidence divided by `dispersion`; a drift is common to all."""
    check_period_prior(prior)
    if not histories:
        return [], None
    grid = histories[0].evidences[0].grid
    low, high = span or (grid.low, grid.high)
    if prior != "drift":
        return [_one_by_one(history, prior, Uniform(low, high), dispersion) for history in histories], None
    tempered = [history.tempered(dispersion) for history in histories]
    lattice = lattice_for([history.evidences for history in tempered], low, high)
    logs, plain = ([history.at(lattice.centres) for history in own] for own in (tempered, histories))
    times = [history.times for history in histories]
    drift = fit_drift(lattice, logs, times, mass=mass)
    return [_walked(lattice, *one, drift) for one in zip(logs, plain, times, strict=True)], drift


def check_period_prior(prior: str) -> None:
    """Refuse what is no prior of periods."""
    if prior not in PERIOD_PRIORS:
        raise OptionError(f"no prior {prior!r} for periods", hint=f"the priors: {', '.join(PERIOD_PRIORS)}")


def period_prior(name: str, before: Posterior, past: Evidence, flat: Uniform) -> tuple[LogDensity, str]:
    """A period's first log-density: p(c | past), N(μ, 2σ) cut to the range, or constant. [DFH13 VII.A]"""
    if name == "carry":
        coefficients = past.grid.coefficients(past.curve)
        return lambda at: past.grid.interpolate_coefficients(coefficients, at), "posterior of the period before"
    prior: Prior = flat if name == "reset" else Normal(before.mean, 2 * before.sd, flat.low, flat.high)
    return prior.log_density, str(prior)


def log_score(density: LogDensity, evidence: Evidence, low: float, high: float) -> float:
    """log ∫ p(c)·p(decisions | c) dc: how probable decisions are under a belief, given up to a constant."""
    return _log_integral(_joint(density, evidence), low, high) - _log_integral(density, low, high)


def _one_by_one(history: PeriodEvidence, name: str, flat: Uniform, dispersion: float) -> Filtered:
    posteriors: list[Posterior] = []
    scores = []
    density: LogDensity = flat.log_density
    said = str(flat)
    past = Evidence.zero(history.evidences[0].grid)
    for plain, one in zip(history.evidences, history.tempered(dispersion).evidences, strict=True):
        if posteriors:
            density, said = period_prior(name, posteriors[-1], past, flat)
        scores.append(log_score(density, plain, flat.low, flat.high))
        posteriors.append(posterior_from_log_density(_joint(density, one), flat.low, flat.high, prior=said))
        past = past + one
    return Filtered(posteriors, posteriors, np.array(scores))


def _walked(lattice: Lattice, logs: Array, plain: Array, times: Array, drift: SdFit) -> Filtered:
    """Filter and smooth one history, averaged over all drifts: for the best one alone the band would be too narrow."""
    gaps = np.diff(times)
    weights = drift.weights
    walks = [forward(lattice, logs, gaps, tried) for tried in drift.tried]
    usable = [at for at, walk in enumerate(walks) if np.all(np.isfinite(walk.log_scores))]
    peak = plain.max(axis=1, keepdims=True)
    predictive = [np.log((walks[at].predicted * np.exp(plain - peak)).sum(axis=1)) + peak[:, 0] for at in usable]
    scores = averaged_scores(np.array([walks[at].log_scores for at in usable]), np.array(predictive))
    said = f"random walk, sd {drift.sd:.3g} in one unit of time, on [{lattice.low:g}, {lattice.high:g}]"
    heavy = [at for at in usable if weights[at] > 0]
    past = sum(weights[at] * walks[at].filtered for at in heavy)
    smoothed = sum(weights[at] * backward(walks[at], logs, gaps) for at in heavy)
    return Filtered(
        [lattice.posterior(row, prior=f"{said}; all periods") for row in np.asarray(smoothed)],
        [lattice.posterior(row, prior=f"{said}; past periods") for row in np.asarray(past)],
        scores,
    )


def _joint(density: LogDensity, evidence: Evidence) -> LogDensity:
    curve = evidence.grid.coefficients(evidence.curve)
    return lambda at: density(at) + evidence.grid.interpolate_coefficients(curve, at)


def _log_integral(log_density: LogDensity, low: float, high: float) -> float:
    """Return log ∫ exp(f): the peak of a normalised density gives its divisor."""
    found = posterior_from_log_density(log_density, low, high)
    peak = int(found.density.argmax())
    return float(log_density(found.at[peak : peak + 1])[0] - np.log(found.density[peak]))
