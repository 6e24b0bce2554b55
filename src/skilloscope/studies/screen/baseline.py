"""The baseline of a screening: how strong people of a rating are, and how far fair play scatters about the models.

    E = Σ e_i + offset(R)·U + m_k·S,   σ² = φ·Σ v_i + (person_sd·U)² + (s_k·S)²,   U = Σ √v_i,   S = Σ slope_i

e_i and v_i are mean and variance of one draw at the rating R, slope_i is the change of e_i per point of Elo. People are
not as strong as rated: the difference (`TrueStrength`) is one of two normal ones, N(m_k, s_k²) with weight w_k,
and the second, wider one lies above: under-rated people. So p of a sum is Σ w_k·p_k. φ is the dispersion (moves of a
game are not independent); `person_sd` is style, what stays with a person besides strength; `offset` is what people play
beyond the model. The numbers ship, fitted to other people than those who are screened.

How a pool differs from them, by how much its players are stronger or weaker than rated, is estimated from the *other*
players of the same games and shrunk to what ships (`pool_shift`). How widely fair play scatters is never read from the
games that are screened: ten players cannot say it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from skilloscope.core.columns import Array, Ints
from skilloscope.core.errors import OptionError
from skilloscope.core.text import typed
from skilloscope.models.joint import JointWeights
from skilloscope.studies.screen.moves import ScreenedMoves
from skilloscope.studies.screen.saddlepoint import Cumulants, ScoreTable, mixed

_CLIPPED = 2.0  # standard deviations: beyond, one player does not move the baseline of the others any further


@dataclass(frozen=True)
class TrueStrength:
    """How much stronger people of a rating are than it says, in Elo: (1 − w)·N(m, s²) + w·N(m + above, s² + wide²).

    m, s and w are straight lines between the ratings of `elo`. Pools of players differ by N(0, pool_sd²).
    """

    elo: tuple[float, ...]
    mean: tuple[float, ...]
    sd: tuple[float, ...]
    tail: tuple[float, ...]
    above: float
    wide: float
    pool_sd: float

    def parts(self, elo: npt.ArrayLike) -> tuple[Array, Array, Array]:
        """Return weight, mean and sd of the two normal parts at each rating: a row a rating, a column a part.

        >>> TrueStrength((1400, 2400), (0, -20), (120, 80), (0.1, 0.02), 200, 100, 0).parts(1900)[1].round(1).tolist()
        [[-10.0, 190.0]]
        """
        at = np.atleast_1d(np.asarray(elo, dtype=float))
        mean, sd, tail = (np.interp(at, self.elo, line) for line in (self.mean, self.sd, self.tail))
        columns = (1 - tail, tail), (mean, mean + self.above), (sd, np.hypot(sd, self.wide))
        weight, middle, width = (np.stack(pair, axis=1) for pair in columns)
        return weight, middle, width

    def log_density(self, elo: float, at: Array) -> Array:
        """Return the log-density of the true strength at some Elos, given one rating."""
        (weight,), (mean,), (sd,) = self.parts(elo)
        apart = (at[:, None] - elo - mean) / sd
        return np.asarray(np.log((weight / sd * np.exp(-0.5 * apart**2)).sum(axis=1) + np.finfo(float).tiny))


@dataclass(frozen=True)
class FairSpread:
    """How far one statistic scatters; person_sd and offset are shares of a move's standard deviation."""

    dispersion: float
    person_sd: float
    offset: tuple[float, ...]
    """A straight line between the ratings of `TrueStrength`."""


@dataclass(frozen=True, eq=False)
class Baseline:
    """What people of a rating are like at one effort: how strong, how their play scatters, and the joint model."""

    effort: str
    data: str
    strength: TrueStrength
    spreads: Mapping[str, FairSpread]
    weights: JointWeights | None = None
    """The weights that the spreads were fitted with; None without an engine."""

    FIELDS: ClassVar = ("effort", "data", "strength", "spreads")

    def offset(self, name: str, elo: npt.ArrayLike) -> Array:
        """Return the offset of a statistic at some ratings."""
        return np.asarray(np.interp(np.asarray(elo, dtype=float), self.strength.elo, self.spreads[name].offset))


def shipped_baseline(effort: str) -> Baseline:
    """Return the baseline of an effort that ships."""
    file = resources.files("skilloscope") / "data" / "scales" / "screen-default.json"
    held = json.loads(file.read_text(encoding="utf-8"))["efforts"]
    if effort not in held:
        raise OptionError(f"no baseline for the effort {effort!r}", hint=f"efforts: {', '.join(held)}")
    found: Baseline = typed(Baseline, {"effort": effort, **held[effort]})
    return found


def pool_shift(difference: Array, variance: Array, unit: Array, player: Ints, pool_sd: float) -> tuple[Array, Array]:
    """Return for each group the shift of its pool, in units, and its variance: from other players' groups alone.

    The prior of the shift is N(0, pool_sd²). A group further out counts as one at 2 σ.
    """
    if pool_sd <= 0:
        return np.zeros(len(unit)), np.zeros(len(unit))
    sd = np.sqrt(variance)
    held = np.clip(difference, -_CLIPPED * sd, _CLIPPED * sd)
    precision = 1.0 / pool_sd**2 + np.maximum(_others(unit**2 / variance, player), 0.0)
    return _others(unit * held / variance, player) / precision, 1.0 / precision


@dataclass(frozen=True, eq=False)
class GroupSums:
    """One statistic summed over groups: differences from the expectation, their σ, and normal scores."""

    difference: Array
    expected: Array
    """What people of the rating play; not all are as strong as it says."""
    from_strength: Array
    """How much of that is because people of a rating are not on average as strong as it says."""
    style: Array  # the sd of what stays with a person besides strength
    effect: Array  # the sd of all that stays with a person
    dispersion: float  # the variance of the rest over that of independent draws
    sd: Array
    table: ScoreTable
    z: Array


def group_sums(moves: ScreenedMoves, name: str, group: Ints, player: Ints, baseline: Baseline) -> GroupSums:
    """Return the sums of a statistic over groups of moves; `player` is the player of each group.

    A player who is alone has no pool to be compared with, and a wider σ.
    """
    one, spread, strength, n = moves.statistics[name], baseline.spreads[name], baseline.strength, len(player)

    def summed(column: Array) -> Array:
        return np.bincount(group, column, n).astype(float)

    cumulants = Cumulants.of(one.draws, group, n, dispersion=spread.dispersion)
    variance = summed(one.draws.variance)
    unit, slope = summed(np.sqrt(one.draws.variance)), summed(one.slope)
    elo = summed(moves.elo) / summed(np.ones(len(group)))
    weight, mean, sd = strength.parts(elo)
    centre = (weight * mean).sum(axis=1)
    expected = summed(one.draws.mean) + baseline.offset(name, elo) * unit + centre * slope
    difference, style = summed(one.actual) - expected, spread.person_sd * unit
    given = summed(one.slope * moves.elo_sd)
    free = spread.dispersion * variance + style**2 + given**2
    wide = (weight * (sd**2 + (mean - centre[:, None]) ** 2)).sum(axis=1)  # the variance of strength
    total = free + wide * slope**2
    shift, error = pool_shift(difference, np.where(total > 0, total, np.inf), slope, player, strength.pool_sd)
    difference, expected = difference - shift * slope, expected + shift * slope
    # Where the shift of a pool is known, that much less of what people differ by is left.
    known = np.maximum(sd**2 - strength.pool_sd**2 + error[:, None], 0.0) if strength.pool_sd > 0 else sd**2
    apart, effect = mean - centre[:, None], np.sqrt(known * slope[:, None] ** 2 + (style**2 + given**2)[:, None])
    tables = [cumulants.table(effect[:, k], apart[:, k] * slope) for k in range(2)]
    table = mixed(tables, weight)
    stays = style**2 + given**2 + (weight * (known + apart**2)).sum(axis=1) * slope**2
    return GroupSums(
        difference=difference,
        expected=expected,
        from_strength=centre * slope,
        style=style,
        effect=np.sqrt(stays),
        dispersion=spread.dispersion,
        sd=np.sqrt(spread.dispersion * variance + stays),
        table=table,
        z=table.z(difference),
    )


def _others(column: Array, player: Ints) -> Array:
    """Return for each group the sum over the groups of other players."""
    return np.asarray(column.sum() - np.bincount(player, column)[player])
