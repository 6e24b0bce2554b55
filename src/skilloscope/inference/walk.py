"""Drift: a competence that wanders, filtered forwards and smoothed backwards on a lattice, exactly.

In: the evidence of periods in order of time. Out: for each period what the past says, what all periods say, and how
fast the competence drifts.

The competence makes a random walk in continuous time between the cells of a lattice: after a time t its variance has
grown by q·t, whatever t is, so that a gap is a longer step and nothing else. At the ends of the range the walk is
reflected: mass is neither lost nor piled up. All terms are positive and none is rounded away by a difference, so that
even what is very improbable keeps its relative size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.interpolate import CubicSpline
from scipy.linalg import hankel, toeplitz
from scipy.special import ive, logsumexp

from skilloscope.core.errors import GridError, InputError
from skilloscope.inference.evidence import Evidence
from skilloscope.inference.posterior import Posterior, posterior_from_log_density
from skilloscope.inference.priors import Uniform
from skilloscope.inference.sd_fit import SdFit, fit_sd, sds_to_try

Array = npt.NDArray[np.float64]

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
    log_scores: Array
    """The log of the probability of each period's (tempered) evidence, given the periods before."""


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
    """Return the matrix that takes the mass on the cells one step on; images stand for the reflections at both ends.

    It is symmetric: the same matrix carries messages backwards.
    """
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
    """Filter: p(c_t | past) = ∫ N(c_t − c_{t−1}; q·Δt) p(c_{t−1} | past) dc, then Bayes' rule. Uniform at the start.

    `logs` is the log-likelihood of each period (rows) at the cells, `gaps` the time between neighbouring periods.
    """
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


def fit_drift(lattice: Lattice, logs: Sequence[Array], times: Sequence[Array], *, mass: float = 0.95) -> SdFit:
    """Return the drift that makes the evidence of all sequences likeliest, one drift for all of them.

    It is the sd of the change in one unit of time. Tried is none, then so much that over the usual gap the sd of the
    change goes from a thousandth to half of the range.
    """
    if not any(len(t) > 1 for t in times):
        raise InputError("a drift cannot be seen in a single period", hint="use another prior, or shorter periods")
    gaps = np.concatenate([np.diff(t) for t in times])
    usual = float(np.median(gaps[gaps > 0])) if np.any(gaps > 0) else 1.0

    def total(drift: float) -> float:
        walks = (forward(lattice, log, np.diff(t), drift) for log, t in zip(logs, times, strict=True))
        return float(sum(walk.log_scores.sum() for walk in walks))

    return fit_sd(total, sds_to_try(lattice.high - lattice.low) / np.sqrt(usual), mass=mass)


def averaged_scores(scores: Array, plain: Array) -> Array:
    """log Σ_q w_t(q)·p_q(period t | past), w_t(q) ∝ p_q(periods before t): nothing later than the past decides on q.

    Rows are drifts, columns periods; `scores` weighs, `plain` is averaged.
    """
    past = np.concatenate([np.zeros((len(scores), 1)), np.cumsum(scores, axis=1)[:, :-1]], axis=1)
    return np.asarray(logsumexp(past + plain, axis=0) - logsumexp(past, axis=0))


def _steps(lattice: Lattice, drift: float, gap: float, known: dict[float, Array]) -> Array:
    if gap not in known:
        known[gap] = reflected_walk(drift**2 * gap / lattice.step**2, lattice.cells)
    return known[gap]
