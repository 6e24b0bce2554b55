"""The papers' line from competence to Elo: ordinary least squares over composite players, with its errors.

In: the apparent competence c̄ of groups of known Elo. Out: a line, its standard errors, and the interval in which the
Elo of a further group is expected.

This is figure 2b of [DFH13] and nothing more: every group weighs the same and c̄ counts as exact. The line of a `Scale`
is fitted by likelihood, c on Elo, over player-games: `ratings.line`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import linregress
from scipy.stats import t as student

from skilloscope.core.checks import check_mass
from skilloscope.core.errors import InputError

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class EloLine:
    """c2ELO = slope·c̄ + intercept, with the errors that the groups' scatter about it gives. [DFH13 VI.A, figure 2b]

    >>> line = fit_elo_line([1.0, 1.1, 1.2, 1.3], [2090, 2210, 2390, 2510])
    >>> round(line.slope), round(line.intercept), round(line.residual_sd)
    (1440, 644, 19)
    >>> low, high = line.prediction_interval(1.15)
    >>> round(low), round(high)
    (2209, 2391)
    """

    slope: float
    intercept: float
    slope_sd: float
    intercept_sd: float
    residual_sd: float
    groups: int
    centre: float
    """The mean c̄ of the groups, where the line is known best."""
    spread: float
    """Σ(c̄ − centre)²."""

    def elo(self, c: npt.ArrayLike) -> Array:
        """Return the line's Elo at a competence."""
        return np.asarray(self.slope * np.asarray(c, dtype=float) + self.intercept)

    def line_error(self, c: npt.ArrayLike) -> Array:
        """Return the standard error of the line itself at a competence: s·√(1/n + (c − centre)²/spread)."""
        return self.residual_sd * np.sqrt(self._leverage(c))

    def prediction_interval(
        self, c: npt.ArrayLike, mass: float = 0.95, *, sd: npt.ArrayLike = 0.0
    ) -> tuple[Array, Array]:
        """Return where the Elo of a further group with this c̄ is expected; `sd` is the error of its c̄.

        Its error about the line is √(s²·(1 + leverage) + slope²·sd²).
        """
        check_mass(mass)
        own = self.slope * np.asarray(sd, dtype=float)
        error = np.sqrt(self.residual_sd**2 * (1 + self._leverage(c)) + own**2)
        reach = student.ppf(0.5 + mass / 2, self.groups - 2) * error
        return self.elo(c) - reach, self.elo(c) + reach

    def as_dict(self) -> dict[str, Any]:
        """Return the line as reports send it."""
        return {
            "slope": self.slope,
            "slope_sd": self.slope_sd,
            "intercept": self.intercept,
            "intercept_sd": self.intercept_sd,
            "residual_sd": self.residual_sd,
            "groups": self.groups,
        }

    def _leverage(self, c: npt.ArrayLike) -> Array:
        return np.asarray(1 / self.groups + (np.asarray(c, dtype=float) - self.centre) ** 2 / self.spread)


def elo_line(c: npt.ArrayLike, elo: npt.ArrayLike) -> tuple[float, float]:
    """c2ELO = slope·c̄ + intercept, ordinary least squares of Elo on c̄. [DFH13 VI.A, figure 2b]

    >>> slope, intercept = elo_line([1.0, 1.5], [2000, 3000])
    >>> round(slope), round(intercept)
    (2000, 0)
    """
    slope, intercept = np.polyfit(np.asarray(c, dtype=float), np.asarray(elo, dtype=float), 1)
    return float(slope), float(intercept)


def fit_elo_line(c: npt.ArrayLike, elo: npt.ArrayLike) -> EloLine:
    """Return the line over groups with its errors; it needs three groups, and two distinct c̄."""
    c, elo = np.asarray(c, dtype=float), np.asarray(elo, dtype=float)
    if len(c) != len(elo) or len(c) < 3 or np.ptp(c) == 0:
        raise InputError(
            f"a line with errors needs three groups and two distinct competences, got {len(c)} groups",
            hint="take more groups, or elo_line for the bare line",
        )
    fit, centre = linregress(c, elo), float(c.mean())
    spread = float(((c - centre) ** 2).sum())
    return EloLine(
        slope=float(fit.slope),
        intercept=float(fit.intercept),
        slope_sd=float(fit.stderr),
        intercept_sd=float(fit.intercept_stderr),
        residual_sd=float(fit.stderr * np.sqrt(spread)),
        groups=len(c),
        centre=centre,
        spread=spread,
    )
