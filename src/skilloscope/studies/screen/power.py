"""How much help would have been seen: the player's own games played again, with help of several kinds.

In: the statistics of one player's moves, their sums with tables of normal scores. Out: for each kind of help and
each statistic the share of such players whose p lies below a level. The moves are drawn from the model at the player's
rating with the scatter of the baseline; helped ones are another engine's first choice, for which the first choice of a
search two plies shallower stands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

from skilloscope.studies.screen.statistics import Statistic, too_rare

if TYPE_CHECKING:
    from skilloscope.studies.screen.screen import GroupSums

HELP = {"1 move in 10": 0.1, "1 move in 5": 0.2, "1 move in 3": 1 / 3, "1 move in 2": 0.5, "every move": 1.0}
"""The kinds of help: the share of moves that an engine chose."""
LEVELS = (0.05, 0.01, 0.001)
_REPEATED = 400

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Power:
    """The share of helped players that would be seen, by kind of help, statistic and level; and the mean of z."""

    seen: Mapping[str, Mapping[str, Mapping[str, float]]]
    shift: Mapping[str, float]
    """The mean normal score of the first statistic under each kind of help."""

    def rows(self, *, first_only: bool = True) -> list[dict[str, Any]]:
        """Return the table as rows, of the first statistic alone or of all."""
        names = list(next(iter(self.seen.values())))
        return [
            {"help": kind, "statistic": name, "level": float(level), "seen": share}
            for kind, own in self.seen.items()
            for name in (names[:1] if first_only else names)
            for level, share in own[name].items()
        ]

    @classmethod
    def mean(cls, tables: Sequence[Power]) -> Power:
        """Return the mean of several tables."""
        seen = {
            kind: {
                name: {level: float(np.mean([one.seen[kind][name][level] for one in tables])) for level in levels}
                for name, levels in own.items()
            }
            for kind, own in tables[0].seen.items()
        }
        return cls(seen, {kind: float(np.mean([one.shift[kind] for one in tables])) for kind in tables[0].shift})


def simulated_power(
    statistics: Mapping[str, Statistic],
    sums: Mapping[str, tuple[GroupSums, int]],
    *,
    rng: np.random.Generator,
    repeated: int = _REPEATED,
) -> Power:
    """Play the moves again with each kind of help, and count what would have been seen."""
    first = next(iter(statistics))
    draws = statistics[first].draws
    chosen = drawn_places(draws.offsets, draws.p, repeated, rng)
    common, counted = rng.standard_normal(repeated), rng.random(chosen.shape)
    seen: dict[str, dict[str, dict[str, float]]] = {}
    shift: dict[str, float] = {}
    for kind, share in HELP.items():
        helped = rng.random(chosen.shape) < share
        seen[kind] = {}
        for name, one in statistics.items():
            own, row = sums[name]
            mean, phi = one.draws.mean, max(float(own.dispersion[row]), 1.0)
            # Moves scatter as if every φ of them were one: some count φ-fold, the others not at all.
            weight = np.where(counted < 1 / phi, phi, 0.0)
            value = np.where(helped, one.assisted - mean, weight * (one.draws.x[chosen] - mean))
            # What people play beyond the model, as the baseline says, they do where nobody helps them.
            total = value.sum(axis=1) - share * (own.expected[row] - float(mean.sum()))
            z = own.table.of(row, total + common * own.effect[row])
            shown = not too_rare(name, one.draws.variance.sum())
            seen[kind][name] = {f"{level:g}": float(shown * (norm.sf(z) <= level).mean()) for level in LEVELS}
            if name == first:
                shift[kind] = float(z.mean())
    return Power(seen, shift)


def likelihood_ratio(z: float, shift: Mapping[str, float]) -> float:
    """Return how much likelier the score is with help than without: the mean over the kinds of help.

    Under help of a kind z is N(μ, 1), without it N(0, 1). Kinds that would not raise z say nothing.

    >>> likelihood_ratio(2.0, {"some": 2.0})  # exp(2·2 − 2²/2)
    7.38905609893065
    """
    if not np.isfinite(z):
        return 1.0
    means = np.maximum(np.array(list(shift.values()), dtype=float), 0.0)
    return float(np.exp(means * z - 0.5 * means**2).mean())


def drawn_places(
    offsets: npt.NDArray[np.int64], p: Array, repeated: int, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Return a value drawn for each decision by its place among all, a row for each repetition."""
    summed = np.cumsum(p)
    before = np.concatenate([[0.0], summed])[offsets]
    at = before[:-1] + rng.random((repeated, len(offsets) - 1)) * np.diff(before)
    return np.minimum(np.searchsorted(summed, at, side="right"), offsets[1:] - 1).astype(np.int64)
