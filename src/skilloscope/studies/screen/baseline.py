"""The baseline of a screening: how far fair play scatters about what the model predicts, measured on other people.

    E = Σ e_i + offset·U,   σ² = φ·Σ v_i + (person_sd·U)² + (sd·Σ s_i)² + g'Cg,   U = Σ √v_i

e_i and v_i are mean and variance of one draw. φ is the dispersion (moves of a game are not independent). What stays
with a person (style, and the usual error of a rating) is a share `person_sd` of a move's standard deviation, and so is
the `offset` of the model. s_i is the slope in Elo and sd the standard error of a rating where one was given; g is the
gradient of E by the weights of the joint model and C their covariance. The numbers ship, fitted to other people than
those who are screened; how a pool differs from them is estimated from the other players of the same games: by how much
they play better or worse than expected (`pool_shift`), and how widely they scatter (`pool_scatter`). `group_sums` puts
all of it together for one statistic of the screened moves.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import ClassVar

import numpy as np

from skilloscope.core.columns import Array, Ints
from skilloscope.core.errors import OptionError
from skilloscope.studies.screen.moves import ScreenedMoves
from skilloscope.studies.screen.saddlepoint import ScoreTable, score_table
from skilloscope.studies.screen.statistics import RARE, too_rare

_CLIPPED = 2.0  # standard deviations: beyond, one player does not move the baseline of the others any further
_CLIPPED_SQUARE = 0.9205  # the mean of min(z², 2²) of a normal z
_SHIPPED_COUNTS = 100  # players: the weight of the scatter that ships against that of a pool


@dataclass(frozen=True)
class FairSpread:
    """How far one statistic scatters; the last three are shares of a move's standard deviation."""

    dispersion: float
    person_sd: float
    offset: float = 0.0
    pool_sd: float = 0.0  # how far pools differ: a part of `person_sd`, which was measured across pools


@dataclass(frozen=True, eq=False)
class Baseline:
    """The spreads of the statistics of one effort, and the covariance of the joint model's weights."""

    effort: str
    spreads: Mapping[str, FairSpread]
    covariance: Array
    data: str

    FIELDS: ClassVar = ("effort", "data", "spreads")

    def weights_variance(self, gradient: Array) -> Array:
        """g'Cg of each group, a row of the gradient for each."""
        if not gradient.shape[1]:
            return np.zeros(len(gradient))
        return np.asarray(np.einsum("gi,ij,gj->g", gradient, self.covariance, gradient))


def shipped_baseline(effort: str) -> Baseline:
    """Return the baseline of an effort that ships."""
    file = resources.files("skilloscope") / "data" / "scales" / "screen-default.json"
    held = json.loads(file.read_text(encoding="utf-8"))["efforts"]
    if effort not in held:
        raise OptionError(f"no baseline for the effort {effort!r}", hint=f"efforts: {', '.join(held)}")
    given = held[effort]
    spreads = {name: FairSpread(**numbers) for name, numbers in given["spreads"].items()}
    return Baseline(effort, spreads, np.array(given["covariance"], dtype=float), str(given["data"]))


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


def pool_scatter(z: Array, player: Ints) -> Array:
    """Return for each group how widely other players' normal scores scatter: 1 where they do as the baseline says.

    The baseline counts as much as a hundred players, so that small pools change little. A group further out counts as
    one at 2 σ, so that players with help do not hide each other.

    >>> pool_scatter(np.array([0.0, 9.0, np.nan]), np.arange(3)).round(3).tolist()
    [1.016, 0.995, 1.011]
    """
    known = np.isfinite(z)
    square = np.where(known, np.minimum(np.square(z), _CLIPPED**2) / _CLIPPED_SQUARE, 0.0)
    players = _others(known.astype(float), player)
    return np.asarray(np.sqrt((_SHIPPED_COUNTS + _others(square, player)) / (_SHIPPED_COUNTS + players)))


@dataclass(frozen=True, eq=False)
class GroupSums:
    """One statistic summed over groups: differences from the expectation, their σ, and normal scores."""

    difference: Array
    expected: Array
    effect: Array  # the standard deviation of what all moves of a group share
    dispersion: Array  # the variance of the rest over that of independent draws
    sd: Array
    scatter: Array
    """How widely the other players of the pool scatter, over what the baseline says; all of the above include it."""
    table: ScoreTable
    z: Array


def group_sums(moves: ScreenedMoves, name: str, group: Ints, player: Ints, baseline: Baseline) -> GroupSums:
    """Return the sums of a statistic over groups of moves; `player` is the player of each group.

    Shift and scatter of the pool are estimated from the other players of the same moves. A player who is alone has no
    pool to be compared with, and a wider σ.
    """
    one, spread, n = moves.statistics[name], baseline.spreads[name], len(player)
    variance = one.draws.variance

    def summed(column: Array) -> Array:
        return np.bincount(group, column, n).astype(float)

    unit = summed(np.sqrt(variance))
    expected = summed(one.draws.mean) + spread.offset * unit
    difference = summed(one.actual) - expected
    gradient = np.array([summed(column) for column in one.by_weights.T]).reshape(-1, n).T
    shared = baseline.weights_variance(gradient) + summed(one.slope * moves.elo_sd) ** 2
    free = spread.dispersion * summed(variance)
    total = free + (spread.person_sd * unit) ** 2 + shared
    # A pool may differ from all others as much as a person does, even where those of the baseline were more alike.
    widest = max(spread.pool_sd, spread.person_sd)
    shift, error = pool_shift(difference, np.where(total > 0, total, np.inf), unit, player, widest)
    effect = np.sqrt(np.maximum(spread.person_sd**2 - spread.pool_sd**2 + error, 0.0) * unit**2 + shared)
    difference, expected = difference - shift * unit, expected + shift * unit
    table = score_table(one.draws, group, n, dispersion=spread.dispersion, effect=effect)
    first = np.where(too_rare(name, summed(variance)), np.nan, table.z(difference))
    scatter = pool_scatter(first, player)
    table = table.scored_over(scatter) if name == RARE else table.scaled(scatter)
    return GroupSums(
        difference=difference,
        expected=expected,
        effect=scatter * effect,
        dispersion=spread.dispersion * scatter**2,
        sd=scatter * np.sqrt(free + effect**2),
        scatter=scatter,
        table=table,
        z=table.z(difference),
    )


def _others(column: Array, player: Ints) -> Array:
    """Return for each group the sum over the groups of other players."""
    return np.asarray(column.sum() - np.bincount(player, column)[player])
