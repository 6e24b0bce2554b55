"""Estimates as reports send and write them: a number with its interval, made from any posterior."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from skilloscope.report.words import edge_mark


def finite_or_none(value: float) -> float | None:
    """Return the number, None where it is infinite or unknown."""
    return float(value) if math.isfinite(value) else None


class Estimated(Protocol):
    """What an estimate is made from: a posterior, for instance."""

    @property
    def mean(self) -> float:
        """Its mean."""

    @property
    def sd(self) -> float:
        """Its standard deviation."""

    @property
    def edge(self) -> str | None:
        """`low`, `high` or `both` where it is at the edge of the allowed range."""

    def interval(self, mass: float = 0.95, /) -> tuple[float, float]:
        """Return the equal-tailed interval that holds `mass`."""


@dataclass(frozen=True)
class EloEstimate:
    """An Elo with its interval, and the edge of the range where it is a boundary estimate.

    >>> print(EloEstimate(2310.4, 2104.9, 2528.0, "high"))
    2310 (2105 to 2528) ↑
    """

    elo: float
    elo_low: float
    elo_high: float
    elo_edge: str | None = None

    @classmethod
    def of(cls, posterior: Estimated, mass: float) -> EloEstimate:
        """Return the estimate that a posterior gives."""
        return cls(posterior.mean, *posterior.interval(mass), posterior.edge)

    def __str__(self) -> str:
        return f"{self.elo:.0f} ({self.elo_low:.0f} to {self.elo_high:.0f}){edge_mark(self.elo_edge)}"


@dataclass(frozen=True, kw_only=True)
class EloAndSd(EloEstimate):
    """An Elo with its interval and its standard deviation."""

    elo_sd: float

    @classmethod
    def of(cls, posterior: Estimated, mass: float) -> EloAndSd:
        """Return the estimate that a posterior gives."""
        return EloAndSd(posterior.mean, *posterior.interval(mass), posterior.edge, elo_sd=posterior.sd)


@dataclass(frozen=True, kw_only=True)
class RatedElo(EloAndSd):
    """An Elo on an axis, next to the mean Elo in the PGN headers of the same games.

    >>> print(RatedElo(2810.4, 2604.9, 3000.0, elo_sd=101.0, extrapolated=True, header_elo=None))
    2810 (2605 to 3000) *
    """

    extrapolated: bool
    """Whether the Elo is outside the range in which the axis was fitted."""
    header_elo: float | None

    @classmethod
    def rated(cls, posterior: Estimated, mass: float, *, extrapolated: bool, header_elo: float | None) -> RatedElo:
        """Return the estimate that a posterior gives."""
        known = EloAndSd.of(posterior, mass)
        return RatedElo(**vars(known), extrapolated=extrapolated, header_elo=header_elo)

    def __str__(self) -> str:
        return super().__str__() + (" *" if self.extrapolated else "")


@dataclass(frozen=True)
class CompetenceEstimate:
    """A competence c with its standard deviation and interval.

    >>> print(CompetenceEstimate(1.214, 0.083, 1.05, 1.38))
    1.21 ± 0.08
    """

    c: float
    sd: float
    low: float
    high: float
    edge: str | None = None

    @classmethod
    def of(cls, posterior: Estimated, mass: float) -> CompetenceEstimate:
        """Return the estimate that a posterior gives."""
        return cls(posterior.mean, posterior.sd, *posterior.interval(mass), posterior.edge)

    def with_interval(self, digits: int = 2) -> str:
        """Return c with its interval, e.g. `1.21 (1.05 to 1.38)`."""
        return f"{self.c:.{digits}f} ({self.low:.{digits}f} to {self.high:.{digits}f})"

    def __str__(self) -> str:
        return f"{self.c:.2f} ± {self.sd:.2f}{edge_mark(self.edge)}"


@dataclass(frozen=True)
class DifferenceEstimate:
    """A difference with its interval and the probability that it is above 0."""

    difference: float
    sd: float
    low: float
    high: float
    probability_above: float

    @classmethod
    def of(cls, posterior: Estimated, mass: float, probability_above: float) -> DifferenceEstimate:
        """Return the difference that a posterior gives."""
        return cls(posterior.mean, posterior.sd, *posterior.interval(mass), probability_above)

    def __str__(self) -> str:
        return f"{self.difference:+.0f} ({self.low:+.0f} to {self.high:+.0f})"


@dataclass(frozen=True)
class ScoreDifference:
    """An expected score and the Elo difference it stands for, which is infinite where the score is 0 or 1.

    >>> print(ScoreDifference.of(0.0, float("-inf"), float("-inf"), -210.0))
    −∞ (−∞ to -210)
    """

    expected_score: float | None = None
    elo_difference: float | None = None
    """None where it is infinite or unknown."""
    infinite: str | None = None
    """`above` or `below` where it is infinite."""
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, p: float, d: float, low: float = math.nan, high: float = math.nan) -> ScoreDifference:
        """Return the difference of these numbers; what is not finite is None."""
        score, difference, *ends = map(finite_or_none, (p, d, low, high))
        return cls(score, difference, ("above" if d > 0 else "below") if math.isinf(d) else None, *ends)

    @property
    def point(self) -> str:
        """The difference with its sign, ±∞ where it is infinite, – where nothing is known."""
        if self.infinite:
            return "+∞" if self.infinite == "above" else "−∞"
        return "–" if self.elo_difference is None else f"{self.elo_difference:+z.0f}"

    def __str__(self) -> str:
        if not self.infinite and self.elo_difference is None:
            return "–"
        low = "−∞" if self.low is None else f"{self.low:+z.0f}"
        return f"{self.point} ({low} to {'+∞' if self.high is None else f'{self.high:+z.0f}'})"


@dataclass(frozen=True)
class EloSoFar:
    """An Elo on the one axis from some of a player's moves, as games and live boards send it."""

    axis_elo: float | None = None
    axis_low: float | None = None
    axis_high: float | None = None

    def __str__(self) -> str:
        return "–" if self.axis_elo is None else f"{self.axis_elo:.0f} ({self.axis_low:.0f} to {self.axis_high:.0f})"
