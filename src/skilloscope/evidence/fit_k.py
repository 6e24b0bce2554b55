"""The agent's constant k as a second parameter: fitted by marginal likelihood, and what that gains on unseen decisions.

In: decisions of any domain. Out: the k that makes them likeliest when every decider's c is integrated,

    log L(k) = Σ over deciders of log ∫ p(choices of the decider | c, k) p(c | k) dc,

found on a log grid and refined. k is in the unit of the utilities, and it moves c: a c belongs to its k. So a prior
that is uniform on one range of c for every k would prefer the k at which the deciders' c spread over most of it. What
means the same for every k is the sharpness

    λ = c · log(1 + s/k),    s the median loss of what loses anything,

the log-odds of the best against an alternative of loss s. It is uniform from 0 to `SHARPEST`, whatever k and the unit.
The gain is honest: k is fitted again without each fold, and scored on that fold.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.optimize import minimize_scalar
from scipy.special import ndtri

from skilloscope.core.columns import Array, Ints
from skilloscope.core.errors import InputError, OptionError
from skilloscope.decision import Decisions
from skilloscope.evidence.held_out import Folds, HeldOut, folds_of, held_out_scores, log_mean_likelihood
from skilloscope.evidence.table import Grid
from skilloscope.models.agent import choice_sets
from skilloscope.models.kernels.choices import curves

SHARPEST = 10.0  # the upper end of λ: one choice in 22,000 is an alternative of the median loss rather than the best

_SMALL = 0.05  # the quantile of the losses that counts as small
_SPAN = (1e-4, 1e3)  # the k that are looked at, from this times a small loss to this times the median loss
_COARSE = np.log(10) / 2  # the steps of the log grid: a factor of √10
_STEP = 0.1  # of log k, for the curvature at the peak
_TOLERANCE = 1e-7  # error of a curve between its nodes, per decision: what is compared here is of the order of 1e-3
_MOST_NODES = 768


@dataclass(frozen=True)
class KFit:
    """A fitted k with its likelihood interval, and the profile that it is the top of."""

    k: float
    low: float
    high: float
    edge: str | None
    """`low` or `high` where the likelihood still rises at the end of the k that were looked at, else None."""
    c_high: float  # the c of the sharpest agent at this k: the upper end of the range that the fit integrates over
    log_likelihood: float  # per decision, c integrated
    decisions: int
    profile: tuple[tuple[float, float], ...]  # k and the log-likelihood per decision, ascending in k

    def as_dict(self) -> dict[str, Any]:
        """Return the fields of a report; the profile is for figures."""
        return {"k": self.k, "k_low": self.low, "k_high": self.high, "k_edge": self.edge}


@dataclass(frozen=True)
class KGain:
    """What fitting k gains over a given k, per decision that neither has seen."""

    fit: KFit
    reference_k: float
    held_out: float
    held_out_reference: float
    gain: float
    gain_low: float
    gain_high: float
    clusters_by: str
    clusters: int
    folds: int

    FIELDS: ClassVar = (
        "*fit", "reference_k", "held_out", "held_out_reference", "gain", "gain_low", "gain_high", "clusters_by",
        "clusters", "folds",
    )  # fmt: skip


def fit_k(decisions: Decisions, rule: str = "listed", *, mass: float = 0.95) -> KFit:
    """Return the k of highest marginal likelihood, each decider with a competence of their own.

    Its interval holds `mass`, the likelihood taken for normal in log k.

    >>> from skilloscope.simulate.deciders import simulated_deciders
    >>> fit = fit_k(simulated_deciders([0.8, 1.2], 4000, k=0.3, rng=np.random.default_rng(1)))
    >>> fit.low < 0.3 < fit.high
    True
    """
    return _Profile(decisions, rule).best(mass)


def held_out_k(decisions: Decisions, k: float | None, rule: str = "listed", *, folds: Folds | None = None) -> HeldOut:
    """Return the held-out score of a given k, or of one fitted without the fold that it is scored on (None)."""
    return _Profile(decisions, rule, folds or folds_of(decisions)).held_out(k)


def fitted_and_held_out(
    decisions: Decisions, folds: Folds, rule: str = "listed", *, mass: float = 0.95
) -> tuple[KFit, HeldOut]:
    """Return the k fitted to all decisions, and the held-out score of k fitted without each fold."""
    profile = _Profile(decisions, rule, folds)
    return profile.best(mass), profile.held_out(None)


def k_gain(decisions: Decisions, rule: str = "listed", *, reference: float = 0.1, mass: float = 0.95) -> KGain:
    """Return the fitted k and how much better than `reference` it foresees decisions; intervals resample clusters."""
    split = folds_of(decisions)
    profile = _Profile(decisions, rule, split)
    fitted, given = profile.held_out(None), profile.held_out(reference)
    gain, (low, high) = fitted.gain(given, rng=np.random.default_rng(1), mass=mass)
    scores, clusters = (fitted.per_decision, given.per_decision, gain, low, high), int((fitted.decisions > 0).sum())
    return KGain(profile.best(mass), reference, *scores, split.by, clusters, split.size)


class _Profile:
    """The log-likelihood of k, of all decisions and without each fold, worked out once for each k."""

    def __init__(self, decisions: Decisions, rule: str, folds: Folds | None = None) -> None:
        if rule == "bucket":
            raise OptionError(
                "k is not fitted under the rule bucket, whose own two constants depend on it",
                hint="fit k under the rule listed, then give it as a number: --k NUMBER --rule bucket",
            )
        self.sets = choice_sets(decisions, rule)
        if not len(self.sets):
            raise InputError(f"no decision can be used under the rule {rule}; left out: {self.sets.tally}")
        self.decider = np.unique(decisions.decider[self.sets.row], return_inverse=True)[1].astype(np.int64)
        self.folds = folds.of(self.sets.row) if folds else None
        losing = self.sets.losses[self.sets.losses > 0]
        if not len(losing):
            raise InputError(
                "every alternative of every decision is worth the same: there is nothing to fit k to",
                hint="are the utilities in the right column?",
            )
        small, self.scale = map(float, np.quantile(losing, [_SMALL, 0.5]))
        # A loss so large that loss/k would overflow keeps the smallest k away from it.
        least = max(small * _SPAN[0], float(self.sets.losses.max()) * 1e-300)
        self.ends = np.log(least), np.log(max(self.scale * _SPAN[1], least * 1e3))
        self.seen: dict[float, Array] = {}

    def c_high(self, k: float) -> float:
        """Return the c of the sharpest agent at this k."""
        return SHARPEST / float(np.log1p(self.scale / k))

    def curves(self, k: float, groups: Ints, n: int) -> tuple[Grid, Array]:
        """Return the curves of n groups on nodes enough for this k."""
        grid = Grid(0.0, self.c_high(k))
        while True:
            found = curves(self.sets, groups, n, grid.nodes, k=k)
            if grid.size >= _MOST_NODES or grid.tail(found.sum(axis=0)) <= _TOLERANCE * len(self.sets):
                return grid, found
            grid = grid.doubled()

    def at(self, log_k: float) -> Array:
        """Return the log-likelihood of all decisions, then without each fold."""
        if log_k not in self.seen:
            deciders, n = int(self.decider.max()) + 1, self.folds.size if self.folds else 1
            fold = self.folds.fold if self.folds else np.zeros_like(self.decider)
            grid, found = self.curves(float(np.exp(log_k)), self.decider * n + fold, deciders * n)
            cells = found.reshape(deciders, n, -1)
            whole = cells.sum(axis=1)
            most = int(np.bincount(self.decider).max())
            parts = [whole] if n == 1 else [whole, *(whole - cells[:, f] for f in range(n))]
            self.seen[log_k] = np.array([log_mean_likelihood(part, grid, most).sum() for part in parts])
        return self.seen[log_k]

    def search(self) -> tuple[Array, Array]:
        """Return the log k looked at, ascending, and their log-likelihoods: a log grid, then closer about the top."""
        grid = np.linspace(*self.ends, 1 + int(np.ceil((self.ends[1] - self.ends[0]) / _COARSE)))
        rough = np.array([self.at(log_k)[0] for log_k in grid])
        top = int(np.clip(rough.argmax(), 1, len(grid) - 2))
        minimize_scalar(
            lambda log_k: -self.at(float(log_k))[0],
            bounds=(grid[top - 1], grid[top + 1]),
            method="bounded",
            options={"xatol": 2e-3},
        )
        found = np.array(sorted(self.seen))
        return found, np.array([self.seen[log_k] for log_k in found])

    def best(self, mass: float) -> KFit:
        """Return the k at the top, with the interval that holds this mass."""
        found, logs = self.search()
        peak = float(found[logs[:, 0].argmax()])
        edge = "low" if peak < self.ends[0] + 0.1 else "high" if peak > self.ends[1] - 0.1 else None
        around = [self.at(peak + step)[0] for step in (-_STEP, 0.0, _STEP)]
        bend = (2 * around[1] - around[0] - around[2]) / _STEP**2
        reach = float(ndtri((1 + mass) / 2)) / np.sqrt(bend) if bend > 0 else np.inf
        low, high = np.exp([max(peak - reach, self.ends[0]), min(peak + reach, self.ends[1])])
        n, k = len(self.sets), float(np.exp(peak))
        profile = tuple((float(np.exp(at)), float(log) / n) for at, log in zip(found, logs[:, 0], strict=True))
        return KFit(
            k, float(low), float(high), edge, self.c_high(k), float(around[1]) / n, decisions=n, profile=profile
        )

    def best_without(self, fold: int) -> float:
        """Return the k of highest likelihood without a fold, between the k looked at by a spline."""
        found, logs = self.search()
        fine = np.linspace(found[0], found[-1], 20_001)
        return float(np.exp(fine[CubicSpline(found, logs[:, 1 + fold])(fine).argmax()]))

    def held_out(self, k: float | None) -> HeldOut:
        """Return the held-out scores under a given k, or under one fitted without each fold."""
        assert self.folds is not None
        last: dict[float, tuple[Grid, Array]] = {}

        def curves_of(fold: int, groups: Ints, n: int) -> tuple[Grid, Array]:
            own = self.best_without(fold) if k is None else k
            if own not in last:  # a given k has the same curves in every fold
                last.clear()
                last[own] = self.curves(own, groups, n)
            return last[own]

        return held_out_scores(self.folds, self.decider, curves_of)
