"""Priors by name. Every posterior says which one it stands on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from skilloscope.core.errors import OptionError

Array = npt.NDArray[np.float64]


class Prior(Protocol):
    """What was believed before the evidence: a log-density on a range."""

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
