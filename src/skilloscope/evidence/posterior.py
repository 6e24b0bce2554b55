"""Posteriors: a density on a fine grid that was found adaptively, with mean, sd and equal-tailed intervals.

The papers start with a wide range and a coarse step δ = 0.1, then narrow the range and refine the step
([DFHR09 IV.A], [DFH13 III.C.1]). So do we, on the curve that the evidence carries: no decision is read again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy.integrate import cumulative_simpson, simpson
from scipy.interpolate import CubicHermiteSpline
from scipy.signal import fftconvolve

from skilloscope.core.columns import Array
from skilloscope.core.errors import OptionError, check_mass

_DEPTH = 30.0  # a point whose log-density lies this far below the peak carries no mass that matters (1e-13)
_POINTS = 1024  # of the final grid
_EDGE = 0.05  # the density at an end of the range, relative to the peak, from which on the estimate is "at the edge"
_STEPS = 2048  # across the narrower of two posteriors
_MOST = 2**16  # points of the difference, where one posterior is very much narrower than the other


@dataclass(frozen=True, eq=False, repr=False)
class Posterior:
    """The posterior: a density after the evidence, under a named prior.

    >>> posterior = posterior_from_log_density(lambda c: -0.5 * ((c - 1.2) / 0.01) ** 2, 0.0, 4.0)
    >>> round(posterior.mean, 6), round(posterior.sd, 6), [round(x, 4) for x in posterior.interval(0.95)]
    (1.2, 0.01, [1.1804, 1.2196])
    """

    at: Array
    density: Array
    prior: str = ""
    low: float = 0.0
    high: float = 0.0

    def __repr__(self) -> str:
        low, high = self.interval()
        edge = f", at the {self.edge} edge" if self.edge else ""
        return f"<{type(self).__name__}: {self.mean:.4g} ± {self.sd:.2g}, 95 % {low:.4g} to {high:.4g}{edge}>"

    @property
    def edge(self) -> str | None:
        """`low`, `high` or `both` for a boundary estimate, else None."""
        return None

    @property
    def mean(self) -> float:
        """The posterior mean: the papers' c̄."""
        return float(simpson(self.at * self.density, x=self.at))

    @property
    def sd(self) -> float:
        """The posterior standard deviation."""
        return float(np.sqrt(max(simpson((self.at - self.mean) ** 2 * self.density, x=self.at), 0.0)))

    def interval(self, mass: float = 0.95) -> tuple[float, float]:
        """Return the equal-tailed interval that holds `mass`."""
        check_mass(mass)
        low, high = self.quantile([(1 - mass) / 2, (1 + mass) / 2])
        return float(low), float(high)

    def quantile(self, probabilities: npt.ArrayLike) -> Array:
        """Return the values below which these probabilities lie."""
        cumulative = np.maximum.accumulate(cumulative_simpson(self.density, x=self.at, initial=0.0))
        return np.asarray(np.interp(np.asarray(probabilities) * cumulative[-1], cumulative, self.at))

    def widened(self, sd: float) -> "Posterior":
        """Return the posterior convolved with a normal error of this sd, truncated to the same range."""
        if sd <= 0:
            return self
        low, high = max(self.low, self.at[0] - 5 * sd), min(self.high, self.at[-1] + 5 * sd)
        at = np.linspace(low, high, _POINTS + 1)
        steps = (at - at[0])[: 1 + int(6 * sd / (at[1] - at[0]))]
        half = np.exp(-0.5 * (steps / sd) ** 2)
        resampled = np.interp(at, self.at, self.density, left=0.0, right=0.0)
        density = np.maximum(fftconvolve(resampled, np.concatenate([half[:0:-1], half]), mode="same"), 0.0)
        return _finished(at, density, self.prior, self.low, self.high)


@dataclass(frozen=True, eq=False, repr=False)
class EdgePosterior(Posterior):
    """A posterior at the end of its range: the estimate is a bound, not a value."""

    side: str = "high"

    @property
    def edge(self) -> str | None:
        """The end of the range at which the estimate is."""
        return self.side


def competences(c_min: float, c_max: float, step: float) -> Array:
    """c_i = c_min + i·δ_c, 0 ≤ i ≤ (c_max − c_min)/δ_c. [DFH13 (5), DFHR09 (5)]"""
    return np.asarray(c_min + step * np.arange(int(np.floor((c_max - c_min) / step + 1e-9)) + 1))


def posterior_from_log_density(
    log_density: Callable[[Array], Array], low: float, high: float, *, prior: str = "", step: float | None = None
) -> Posterior:
    """Find where the mass is, from a wide range and a coarse step inwards, and return the normalised density there."""
    lowest, highest = low, high
    step = step if step is not None else (high - low) / 40  # δ = 0.1 on the papers' kind of range [0, 4]
    for _ in range(60):
        at = np.append(competences(low, high, step), high)
        logs = np.asarray(log_density(at))
        inside = np.flatnonzero(logs > logs.max() - _DEPTH)
        narrowed = max(low, at[inside[0]] - step), min(high, at[inside[-1]] + step)
        # Narrow until the range no longer shrinks by half: then the mass fills it and the step may be the final one.
        done = narrowed[1] - narrowed[0] > 0.5 * (high - low)
        low, high = narrowed
        step = (high - low) / 64
        if done:
            break
    at = np.linspace(low, high, _POINTS + 1)
    logs = np.asarray(log_density(at))
    return _finished(at, np.exp(logs - logs.max()), prior, lowest, highest)


def probability_greater(second: Posterior, first: Posterior) -> float:
    """P(x₂ > x₁) = ∫ p₂(x)·F₁(x) dx for independent posteriors, integrated on the finer of the two grids.

    >>> one, other = (posterior_from_log_density(lambda x, m=m: -0.5 * ((x - m) / 0.1) ** 2, 0, 4) for m in (1.0, 1.1))
    >>> round(probability_greater(other, one), 4)  # the normal probability below 0.1 / (0.1·√2)
    0.7602
    """
    if _step(second) <= _step(first):
        share = float(simpson(second.density * _cumulative(first, second.at), x=second.at))
    else:
        share = 1.0 - float(simpson(first.density * _cumulative(second, first.at), x=first.at))
    return min(max(share, 0.0), 1.0)


def difference(second: Posterior, first: Posterior) -> Posterior:
    """p(d) = ∫ p₂(x + d)·p₁(x) dx: the posterior of x₂ − x₁, both independent."""
    spans = [float(side.at[-1] - side.at[0]) for side in (second, first)]
    step = max(min(spans) / _STEPS, sum(spans) / _MOST)
    above, below = (_resampled(side, step) for side in (second, first))
    density = np.maximum(fftconvolve(above, below[::-1]), 0.0)
    lowest = float(second.at[0] - first.at[0]) - step * (len(below) - 1)
    at = np.asarray(lowest + step * np.arange(len(density)), dtype=np.float64)
    prior = f"{second.prior}, for each of the two"
    return Posterior(at, density / simpson(density, x=at), prior, second.low - first.high, second.high - first.low)


def _finished(at: Array, density: Array, prior: str, low: float, high: float) -> Posterior:
    density = density / simpson(density, x=at)
    limit = _EDGE * density.max()
    span = high - low
    sides = {
        "low": at[0] <= low + 1e-9 * span and density[0] > limit,
        "high": at[-1] >= high - 1e-9 * span and density[-1] > limit,
    }
    leaning = [side for side, leans in sides.items() if leans]
    if leaning:
        return EdgePosterior(at, density, prior, low, high, "both" if len(leaning) == 2 else leaning[0])
    return Posterior(at, density, prior, low, high)


def _step(side: Posterior) -> float:
    return float(side.at[1] - side.at[0])


def _cumulative(side: Posterior, at: Array) -> Array:
    """Return F(at), read between the grid's points by cubics whose slope is the density itself."""
    known = cumulative_simpson(side.density, x=side.at, initial=0.0)
    inside = CubicHermiteSpline(side.at, known / known[-1], side.density)(np.clip(at, side.at[0], side.at[-1]))
    return np.asarray(np.clip(inside, 0.0, 1.0))


def _resampled(side: Posterior, step: float) -> Array:
    """Return the density at equal steps, the ends at half weight as the trapezoid rule has them."""
    n = int(np.ceil((side.at[-1] - side.at[0]) / step - 1e-9)) + 1
    density = np.interp(side.at[0] + step * np.arange(n), side.at, side.density, right=0.0)
    density[[0, -1]] *= 0.5
    return np.asarray(density)


class Prior(Protocol):
    """The prior: a log-density on a range."""

    @property
    def low(self) -> float:
        """The lower end of the range."""

    @property
    def high(self) -> float:
        """The upper end of the range."""

    def log_density(self, at: npt.ArrayLike) -> Array:
        """Return the log-density up to a constant."""

    def __str__(self) -> str: ...


@dataclass(frozen=True)
class Uniform:
    """The papers' 'know nothing' prior: constant on a stated range. [DFH13 III.C, DFHR09 IV]"""

    low: float
    high: float

    def __post_init__(self) -> None:
        _check_range(self.low, self.high)

    def log_density(self, at: npt.ArrayLike) -> Array:
        """Return zeros: the density is constant."""
        return np.zeros_like(np.asarray(at, dtype=float))

    def __str__(self) -> str:
        return f"uniform on [{self.low:g}, {self.high:g}]"


@dataclass(frozen=True)
class Normal:
    """A normal prior, cut to the range. [DFH13 VII.A uses N(μ, 2σ) from year to year]"""

    mean: float
    sd: float
    low: float
    high: float

    def __post_init__(self) -> None:
        _check_range(self.low, self.high)
        if not (np.isfinite(self.mean) and np.isfinite(self.sd) and self.sd > 0):
            raise OptionError(f"a normal prior needs a finite mean and a positive sd, got {self.mean} and {self.sd}")

    def log_density(self, at: npt.ArrayLike) -> Array:
        """Return −½((x − mean)/sd)²."""
        return np.asarray(-0.5 * ((np.asarray(at, dtype=float) - self.mean) / self.sd) ** 2)

    def __str__(self) -> str:
        return f"normal, mean {self.mean:g}, sd {self.sd:g}, on [{self.low:g}, {self.high:g}]"


@dataclass(frozen=True)
class Student(Normal):
    """A prior with heavier tails: Student's t with `df` > 2 degrees of freedom, of this mean and sd, cut to the range.

    >>> wide, narrow = Student(0, 1, -9, 9, df=4), Normal(0, 1, -9, 9)
    >>> bool(wide.log_density(5) - wide.log_density(0) > narrow.log_density(5) - narrow.log_density(0))
    True
    """

    df: float

    def log_density(self, at: npt.ArrayLike) -> Array:
        """Return −½(ν + 1)·log(1 + z²/(ν − 2)), z = (x − mean)/sd."""
        z = (np.asarray(at, dtype=float) - self.mean) / self.sd
        return np.asarray(-0.5 * (self.df + 1) * np.log1p(z**2 / (self.df - 2)))

    def __str__(self) -> str:
        said = f"t with {self.df:.3g} degrees of freedom, mean {self.mean:.0f}, sd {self.sd:.0f}"
        return f"{said}, on [{self.low:g}, {self.high:g}]"


@dataclass(frozen=True, eq=False)
class Tabulated(Normal):
    """A prior given by its log-density at points of the range, straight lines between them."""

    at: Array
    logs: Array

    @classmethod
    def of(cls, at: Array, density: Array) -> "Tabulated":
        """Return the prior with this density at equal steps."""
        mass = density / density.sum()
        mean = float(mass @ at)
        sd = float(np.sqrt(mass @ (at - mean) ** 2))
        with np.errstate(divide="ignore"):
            return cls(mean, sd, float(at[0]), float(at[-1]), at, np.log(mass))

    def log_density(self, at: npt.ArrayLike) -> Array:
        """Return the log-density up to a constant."""
        return np.asarray(np.interp(np.asarray(at, dtype=float), self.at, self.logs))

    def __str__(self) -> str:
        return f"mean {self.mean:.0f}, sd {self.sd:.0f}, on [{self.low:g}, {self.high:g}]"


def prior_from_text(text: str, low: float, high: float) -> Prior:
    """Return the prior a user named: `uniform` or `normal:MEAN,SD`, on the range.

    >>> print(prior_from_text("normal:1.2,0.3", 0, 4))
    normal, mean 1.2, sd 0.3, on [0, 4]
    """
    name, _, rest = text.partition(":")
    if name in ("uniform", "flat") and not rest:
        return Uniform(low, high)
    if name == "normal":
        try:
            mean, sd = (float(part) for part in rest.split(","))
        except ValueError:
            raise OptionError(
                f"cannot read the prior {text!r}", hint="write normal:MEAN,SD, e.g. normal:1.2,0.3"
            ) from None
        return Normal(mean, sd, low, high)
    raise OptionError(f"no prior {text!r}", hint="the priors: uniform, normal:MEAN,SD")


def _check_range(low: float, high: float) -> None:
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise OptionError(f"a prior needs a range with low < high, got [{low}, {high}]")
