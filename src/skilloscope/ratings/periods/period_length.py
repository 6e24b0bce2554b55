"""How long a rating period should be: the length that foretells results best, by the criterion of GLI99 sect. 4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skilloscope.ratings.periods.variances import VarianceFit, fit_variances
from skilloscope.results.period_games import ByPeriod

LENGTHS = ("1W", "1M", "2M", "3M", "6M", "1Y")


@dataclass(frozen=True)
class PeriodChoice:
    """The fits by length, the best length, and the lengths that could not be compared with the others.

    Totals of different numbers of games cannot be compared: a game whose date is known to the month only has no week.
    """

    best: str
    fits: dict[str, VarianceFit]
    incomparable: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the choice as reports send it."""
        return {
            "best": self.best,
            "lengths": {length: fit.as_dict() for length, fit in self.fits.items()},
            "incomparable": list(self.incomparable),
        }


def choose_period(
    results: ByPeriod,
    lengths: Sequence[str] = LENGTHS,
    *,
    mean: float = 1500.0,
    advantage: float | None = 0.0,
    entry: Mapping[str, float] | None = None,
) -> PeriodChoice:
    """Fit the variances with each length of period, and return the one with the least total discrepancy.

    The paper asks besides for at least 5–10 games per player and period; each fit says so in its warnings.
    """
    fits = {
        length: fit_variances(results.by_period(length), mean=mean, advantage=advantage, entry=entry)
        for length in lengths
    }
    most = max(fit.games for fit in fits.values())
    comparable = [length for length in lengths if fits[length].games == most]
    best = min(comparable, key=lambda length: fits[length].discrepancy)
    return PeriodChoice(best, fits, tuple(length for length in lengths if length not in comparable))
