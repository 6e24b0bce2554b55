"""Elo mileposts, and the papers' regression line from competence to Elo over the groups at them.

A milepost is a round figure near which players count as one group: the nearest multiple of 100, midway the one above.
[DFHR09 V.A, RH11 sect. 5] The papers differ in how near a rating must be, and whether the opponent must be near the
same milepost too.

The line is ordinary least squares over composite players, figure 2b of [DFH13]: every group has the same weight and c̄
counts as exact. The line of a `Scale` is fitted by likelihood, c on Elo, over player-games.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from scipy.stats import linregress
from scipy.stats import t as student

from skilloscope.core.columns import Array
from skilloscope.core.errors import InputError, OptionError, check_mass
from skilloscope.decision import Decisions

MILEPOST = "milepost"


def nearest_milepost(elo: npt.ArrayLike) -> Array:
    """Return the nearest multiple of 100; midway the one above, NaN where the rating is unknown.

    >>> nearest_milepost([2449, 2450, float("nan")]).tolist()
    [2400.0, 2500.0, nan]
    """
    return np.asarray(np.floor(np.asarray(elo, dtype=float) / 100.0 + 0.5) * 100.0)


def shared_milepost(elo: Array, other: Array, within: float) -> Array:
    """Return the milepost nearest to a rating, NaN where it or the other one is farther from it than `within`."""
    post = nearest_milepost(elo)
    return np.where((np.abs(elo - post) <= within) & (np.abs(other - post) <= within), post, np.nan)


def beyond_reason(within: float) -> str:
    """Return the name under which players far from every milepost are counted."""
    return f"beyond ±{within:g} Elo of a milepost"


def with_mileposts(
    decisions: Decisions, within: float | None = 10.0, *, both: bool = True, reason: str | None = None
) -> Decisions:
    """Return the decisions of players near a milepost, with a column that names it.

    DFHR09 and DFH13 take games "in which both players had Elo ratings within 10 points of some Elo figure"; RH11 asks
    for the mover's rating alone (`both=False`). Where `within` is None nobody is left out, and the milepost of an
    unrated mover is null. Unrated players and those far from every milepost are counted apart, or under one `reason`.
    """
    own = _ratings(decisions, "elo")
    if within is None:
        return _with_column(decisions, nearest_milepost(own))
    if not 0 <= within < 50:
        raise OptionError(f"a tolerance lies between 0 and 50 Elo points, got {within:g}")
    other = _ratings(decisions, "opponent_elo") if both else own
    post, rated = shared_milepost(own, other, within), ~np.isnan(own + other)
    near = ~np.isnan(post)
    if reason is not None:
        return _with_column(decisions.select(near, reason=reason), post[near])
    kept = decisions.select(rated, reason="no rating").select(near[rated], reason=beyond_reason(within))
    return _with_column(kept, post[near])


def _with_column(decisions: Decisions, post: Array) -> Decisions:
    posts = pa.array(np.nan_to_num(post).astype(np.int32), mask=np.isnan(post))
    others = [name for name in decisions.context.column_names if name != MILEPOST]
    return replace(decisions, context=decisions.context.select(others).append_column(MILEPOST, posts))


def _ratings(decisions: Decisions, name: str) -> Array:
    column = decisions.column(name).cast(pa.float64())
    return np.asarray(pc.fill_null(column, np.nan).to_numpy(), dtype=np.float64)


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
    centre: float  # the mean c̄ of the groups, where the line is known best
    spread: float  # Σ(c̄ − centre)²

    FIELDS: ClassVar = ("slope", "slope_sd", "intercept", "intercept_sd", "residual_sd", "groups")

    def elo(self, c: npt.ArrayLike) -> Array:
        """Return the line's Elo at a competence."""
        return np.asarray(self.slope * np.asarray(c, dtype=float) + self.intercept)

    def line_error(self, c: npt.ArrayLike) -> Array:
        """Return the standard error of the line itself at a competence: s·√(1/n + (c − centre)²/spread)."""
        return self.residual_sd * np.sqrt(self._leverage(c))

    def prediction_interval(
        self, c: npt.ArrayLike, mass: float = 0.95, *, sd: npt.ArrayLike = 0.0
    ) -> tuple[Array, Array]:
        """Return where the Elo of a further group with this c̄ (give or take `sd`) is expected."""
        check_mass(mass)
        own = self.slope * np.asarray(sd, dtype=float)
        error = np.sqrt(self.residual_sd**2 * (1 + self._leverage(c)) + own**2)
        reach = student.ppf(0.5 + mass / 2, self.groups - 2) * error
        return self.elo(c) - reach, self.elo(c) + reach

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
    slope, intercept, slope_sd, intercept_sd = map(float, (fit.slope, fit.intercept, fit.stderr, fit.intercept_stderr))
    residual_sd = slope_sd * float(np.sqrt(spread))
    return EloLine(slope, intercept, slope_sd, intercept_sd, residual_sd, len(c), centre=centre, spread=spread)
