"""Sums of many unlike draws: how far out a sum lies, as a normal score in which skewness and tails are counted.

In: draws, each with its own values and probabilities, in groups. Out: for each group a table from the sum to its normal
score. Rare and unequal contributions (losses, blunders) make sums whose tails are not those of their variance; the
saddlepoint knows all cumulants.

    K(t) = 1/φ·Σ_i log Σ_m p_im·exp(φ·t·x_im) + s²t²/2,   w = sign(t)·√(2(tD − K(t))) at K'(t) = D
    z = w + log(t·√K''(t) / w) / w

z is N(0, 1) to third order (Barndorff-Nielsen's r*). φ is a dispersion: draws that scatter as if every φ of them were
one; s is a normal effect that all draws of a group share.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skilloscope.core.columns import Array, Ints

_HALF = np.concatenate([np.arange(0.2, 6.1, 0.2), [7.0, 8.0, 10.0, 12.0, 15.0, 20.0, 30.0, 45.0, 70.0]])
_STEPS = np.concatenate([-_HALF[::-1], _HALF])
"""Where the tables are made: t in units of 1/σ, without 0, where the formula is a limit."""


@dataclass(frozen=True, eq=False)
class Draws:
    """Draws with values x and probabilities p: draw i owns offsets[i]:offsets[i + 1]."""

    offsets: Ints
    p: Array
    x: Array

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def owner(self) -> Ints:
        """The draw of each value."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    @property
    def mean(self) -> Array:
        """Σ p·x of each draw."""
        return np.asarray(np.add.reduceat(self.p * self.x, self.offsets[:-1]))

    @property
    def variance(self) -> Array:
        """Σ p·(x − mean)² of each draw."""
        apart = self.x - self.mean[self.owner]
        return np.asarray(np.add.reduceat(self.p * apart**2, self.offsets[:-1]))


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """For each group sums about their mean (rising) and their normal scores: a row a group."""

    difference: Array
    score: Array

    def scaled(self, scatter: Array) -> "ScoreTable":
        """Return the table of sums that scatter so many times as widely, a factor for each group."""
        return ScoreTable(self.difference * scatter[:, None], self.score)

    def scored_over(self, scatter: Array) -> "ScoreTable":
        """Return the table of counts that scatter so many times as widely: none falls below 0, so the scores give way.

        Sums that were scaled would end before 0 where a pool scatters little, and 0 would score like a wonder.
        """
        return ScoreTable(self.difference, self.score / scatter[:, None])

    def z(self, difference: npt.ArrayLike) -> Array:
        """Return the normal score of one difference from the mean for each group; NaN where nothing could vary."""
        asked = np.asarray(difference, dtype=float)
        return np.array([self.of(row, one) for row, one in enumerate(asked.tolist())], dtype=float)

    def of(self, row: int, difference: npt.ArrayLike) -> Array:
        """Return the normal scores of any differences of one group."""
        if not np.isfinite(self.score[row]).all():
            return np.full(np.shape(difference), np.nan)
        return np.asarray(np.interp(np.asarray(difference, dtype=float), self.difference[row], self.score[row]))


def score_table(draws: Draws, group: Ints, n_groups: int, *, dispersion: float, effect: Array) -> ScoreTable:
    """Return the table of each group's sum; `effect` is the sd of what its draws share, `dispersion` is φ."""
    sums = _Sums(draws, draws.x - draws.mean[draws.owner], draws.owner, group, dispersion, effect)
    sd = np.sqrt(dispersion * np.bincount(group, draws.variance, n_groups) + effect**2)
    table = np.stack([sums.at(u / np.where(sd > 0, sd, 1.0)) for u in _STEPS], axis=2)
    table[:, sd <= 0] = np.nan
    return ScoreTable(table[0], _rising(table[1]))


def _rising(score: Array) -> Array:
    """Return scores that rise outwards from the middle: at the end of what can be drawn the formula breaks down."""
    middle = len(_STEPS) // 2
    below = np.minimum.accumulate(score[:, :middle][:, ::-1], axis=1)[:, ::-1]
    return np.concatenate([below, np.maximum.accumulate(score[:, middle:], axis=1)], axis=1)


@dataclass(frozen=True, eq=False)
class _Sums:
    """The sums of groups of draws, and their cumulants at any t."""

    draws: Draws
    centred: Array
    owner: Ints
    group: Ints
    dispersion: float
    effect: Array

    def at(self, t: Array) -> Array:
        """Return the sum and the score of each group at its own t."""
        first, owner, centred = self.draws.offsets[:-1], self.owner, self.centred
        tilt = self.dispersion * t[self.group][owner] * centred
        top = np.maximum.reduceat(tilt, first)
        weight = self.draws.p * np.exp(tilt - top[owner])
        total = np.add.reduceat(weight, first)
        mean = np.add.reduceat(weight * centred, first) / total
        square = np.add.reduceat(weight * (centred - mean[owner]) ** 2, first) / total
        k0 = self._summed(top + np.log(total)) / self.dispersion + 0.5 * self.effect**2 * t**2
        k1 = self._summed(mean) + self.effect**2 * t
        k2 = self.dispersion * self._summed(square) + self.effect**2
        w = np.sign(t) * np.sqrt(np.maximum(2 * (t * k1 - k0), 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            score = w + np.log(t * np.sqrt(k2) / w) / w
        return np.stack([k1, score])

    def _summed(self, column: Array) -> Array:
        return np.bincount(self.group, column, len(self.effect)).astype(float)
