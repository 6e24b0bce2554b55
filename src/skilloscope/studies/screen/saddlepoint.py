"""Sums of many unlike draws: how far out a sum lies, as a normal score in which skewness and tails are counted.

In: draws, each with its own values and probabilities, in groups. Out: for each group a table from the sum to its normal
score. Rare and unequal contributions (losses, blunders) make sums whose tails are not those of their variance; the
saddlepoint knows all cumulants.

    K(t) = 1/φ·Σ_i log Σ_m p_im·exp(φ·t·x_im) + m·t + s²t²/2,   w = sign(t)·√(2(tD − K(t))) at K'(t) = D
    z = w + log(t·√K''(t) / w) / w

z is N(0, 1) to third order (Barndorff-Nielsen's r*). φ is a dispersion: draws that scatter as if every φ of them were
one; m and s are mean and sd of a normal effect that all draws of a group share. Where the effect is one of several
normal ones, p is the mean over them, and z the normal score of that p (`mixed`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

from skilloscope.core.columns import Array, Ints

_HALF = np.concatenate([np.arange(0.2, 4.1, 0.2), [4.5, 5.0, 6.0, 7.0, 8.5, 10.0, 13.0, 18.0, 30.0, 70.0]])
_TINY = np.finfo(float).tiny
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

    def z(self, difference: npt.ArrayLike) -> Array:
        """Return the normal scores of one difference for each group, or of a row; NaN where nothing could vary."""
        return np.array([self.of(row, one) for row, one in enumerate(np.asarray(difference, dtype=float))], dtype=float)

    def of(self, row: int, difference: npt.ArrayLike) -> Array:
        """Return the normal scores of any differences of one group."""
        if not np.isfinite(self.score[row]).all():
            return np.full(np.shape(difference), np.nan)
        return np.asarray(np.interp(np.asarray(difference, dtype=float), self.difference[row], self.score[row]))


def score_table(draws: Draws, group: Ints, n_groups: int, *, dispersion: float, effect: Array) -> ScoreTable:
    """Return the table of each group's sum; `effect` is the sd of what its draws share, `dispersion` is φ."""
    return Cumulants.of(draws, group, n_groups, dispersion=dispersion).table(effect)


@dataclass(frozen=True, eq=False)
class Cumulants:
    """K, K' and K'' of the draws of each group at its own t: a row a group. What all its draws share comes later."""

    t: Array
    k0: Array
    k1: Array
    k2: Array

    @classmethod
    def of(cls, draws: Draws, group: Ints, n_groups: int, *, dispersion: float) -> "Cumulants":
        """Return the cumulant functions of the sums; `dispersion` is φ."""
        sd = np.sqrt(dispersion * np.bincount(group, draws.variance, n_groups))
        t = _STEPS / np.where(sd > 0, sd, np.nan)[:, None]
        sums = _Sums(draws, draws.x - draws.mean[draws.owner], draws.owner, group, dispersion, n_groups)
        k0, k1, k2 = np.stack([sums.at(column) for column in np.where(sd > 0, t.T, 0.0)], axis=2)
        return cls(t, k0, k1, k2)

    def table(self, effect: Array, shift: Array | float = 0.0) -> ScoreTable:
        """Return the table of sums that share a normal effect of this sd, about `shift`, for each group."""
        t, s2 = self.t, np.asarray(effect, dtype=float)[:, None] ** 2
        k0, k1, k2 = self.k0 + 0.5 * s2 * t**2, self.k1 + s2 * t, self.k2 + s2
        w = np.sign(t) * np.sqrt(np.maximum(2 * (t * k1 - k0), 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            score = w + np.log(t * np.sqrt(k2) / w) / w
        return ScoreTable(k1 + np.broadcast_to(shift, len(t))[:, None], _rising(score))


def mixed(tables: Sequence[ScoreTable], weight: Array) -> ScoreTable:
    """Return the table of sums that follow one of several tables, each with its weight: a column for each table.

    >>> plain = ScoreTable(np.array([[-2.0, 2.0]]), np.array([[-2.0, 2.0]]))
    >>> mixed([plain, plain], np.array([[0.9, 0.1]])).z([1.5]).round(6).tolist()
    [1.5]
    """
    if len(tables) == 1:
        return tables[0]
    at = np.sort(np.concatenate([table.difference for table in tables], axis=1), axis=1)
    scores = [table.z(at) for table in tables]
    logs = []
    for sign in (1.0, -1.0):
        each = [
            norm.logsf(sign * z) + np.log(np.maximum(w, _TINY))[:, None] for z, w in zip(scores, weight.T, strict=True)
        ]
        logs.append(np.logaddexp.reduce(each))
    outer = norm.isf(np.exp(np.maximum(np.minimum(*logs), np.log(_TINY))))
    return ScoreTable(at, np.where(logs[0] < logs[1], outer, -outer))


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
    n_groups: int

    def at(self, t: Array) -> Array:
        """Return K, K' and K'' of each group at its own t."""
        first, owner, centred = self.draws.offsets[:-1], self.owner, self.centred
        tilt = self.dispersion * t[self.group][owner] * centred
        top = np.maximum.reduceat(tilt, first)
        weight = self.draws.p * np.exp(tilt - top[owner])
        total = np.add.reduceat(weight, first)
        mean = np.add.reduceat(weight * centred, first) / total
        square = np.add.reduceat(weight * centred**2, first) / total - mean**2
        columns = (top + np.log(total)) / self.dispersion, mean, self.dispersion * np.maximum(square, 0.0)
        return np.stack([np.bincount(self.group, column, self.n_groups).astype(float) for column in columns])
