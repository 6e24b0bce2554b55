"""Gains by group and game, and intervals for the numbers that follow from them. FER12 has no intervals.

In: gains with the group (a player in an event, a player in a match, the engine) and the game of each. Out: a GainTable:
expected scores between groups, and a Slopes for each such number: how it changes as one game counts a little more.
Games are the unit: the moves of one game are not independent of each other, nor are the two players in it.

The variance of a number is a sum of parts V = Σ s_i, estimated by Σ s_i χ²(ν_i) / ν_i. With parts of one degree of
freedom, matches of two games, Satterthwaite is far off: 6.8 where 3.5 is right for shares of .85 (ν = 1) and .15
(ν = 13). `t_mixture_quantile` solves for the quantile itself.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.special import ndtri, stdtrit

from skilloscope.core.columns import Array, Ints
from skilloscope.core.errors import InputError
from skilloscope.models.gain import Curve, GainHistogram, elo_difference, elo_slope

_HALVINGS = 24
_NODES, _WEIGHTS = (np.asarray(column) / 2 for column in np.polynomial.legendre.leggauss(32))
_SQUARED_SINES = np.sin(np.pi / 2 * (_NODES + 0.5)) ** 2


def t_mixture_quantile(parts: csr_array, freedom: Array, mass: float) -> Array:
    """q with P(|Z| ≤ q·√(Σ s_i χ²_i / ν_i / Σ s_i)) = mass, for each row of s; NaN for a row without parts.

    >>> t_mixture_quantile(csr_array([[1.0, 0.0], [0.85, 0.15]]), np.array([1.0, 13.0]), 0.95).round(2)
    array([12.71,  3.55])
    """
    total = np.asarray(parts.sum(axis=1)).ravel()
    entries = parts.tocoo()
    found = entries.data > 0
    row, free = entries.row[found], freedom[entries.col[found]]
    share = entries.data[found] / total[row] / free
    fewest = np.full(len(total), np.inf)
    np.minimum.at(fewest, row, free)
    degrees = csr_array((-free / 2, (row, np.arange(len(row)))), shape=(len(total), len(row)))
    # The logs of what it cannot be below, the normal quantile, and above, Student's with the fewest degrees.
    low = np.full(len(total), np.log(ndtri((1 + mass) / 2)))
    high = np.log(stdtrit(np.where(np.isfinite(fewest), fewest, 1), (1 + mass) / 2))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        # P(|Z| > q√W) = (2/π) ∫ E exp(−q²W / (2 sin²θ)) dθ over [0, π/2] (Craig 1991), W's transform being a product.
        scaled = np.exp(2 * middle[row]) * share
        beyond = np.exp(degrees @ np.log1p(scaled[:, None] / _SQUARED_SINES)) @ _WEIGHTS > 1 - mass
        low, high = np.where(beyond, middle, low), np.where(beyond, high, middle)
    return np.where(total > 0, np.exp((low + high) / 2), np.nan)


@dataclass(frozen=True, eq=False)
class GainTable:
    """How often each gain occurred, by group and game, as one sparse table of centipawns."""

    bins: Ints  # the gains that occur, centipawns, ascending
    counts: csr_array  # one row for each group in each game, one column for each bin
    group: Ints  # the group of each row
    game: Ints  # the game of each row
    groups: int
    games: int

    @classmethod
    def from_gains(
        cls, gains: npt.ArrayLike, group: npt.ArrayLike, game: npt.ArrayLike, *, groups: int = 0, games: int = 0
    ) -> "GainTable":
        """Return the table of gains in pawns, with the group and the game of each; so many of each at least."""
        of, where = np.asarray(group, dtype=np.int64), np.asarray(game, dtype=np.int64)
        pawns = np.asarray(gains, dtype=np.float64)
        if not len(pawns) == len(of) == len(where):
            raise InputError("gains, group and game must have one entry per move")
        games = max(games, int(where.max(initial=-1)) + 1)
        bins, column = np.unique(np.rint(pawns * 100).astype(np.int64), return_inverse=True)
        keys, row = np.unique(of * max(games, 1) + where, return_inverse=True)
        counts = csr_array((np.ones(len(pawns)), (row, column)), shape=(len(keys), len(bins)))
        groups = max(groups, int(of.max(initial=-1)) + 1)
        return cls(bins, counts, keys // max(games, 1), keys % max(games, 1), groups, games)

    @property
    def totals(self) -> Array:
        """The groups' histograms as rows of one table."""
        return np.asarray((_adding(self.group, self.groups).T @ self.counts).toarray())

    def histogram(self, group: int) -> GainHistogram:
        """Return one group's histogram."""
        own = np.asarray(self.counts[np.flatnonzero(self.group == group)].sum(axis=0)).ravel()
        kept = own > 0
        return GainHistogram(self.bins[kept], own[kept].astype(np.int64))

    @property
    def games_of_group(self) -> Ints:
        """In how many games each group has a known gain."""
        return np.bincount(self.group, minlength=self.groups)

    def expected_scores(self, first: Ints, second: Ints) -> Array:
        """p of the first group of each pair against the second; NaN where either has no move. [FER12 (2)]"""
        totals = self.totals
        moves, beaten = totals.sum(axis=1), 2 * np.cumsum(totals, axis=1) - totals
        if len(first) * 8 > len(totals) ** 2:  # most pairs are asked for: one product of two tables
            won = (totals @ beaten.T)[first, second]
        else:
            won = np.einsum("ij,ij->i", totals[first], beaten[second])
        below = 2 * moves[first] * moves[second]
        return np.asarray(np.divide(won, below, out=np.full(len(won), np.nan), where=below > 0))

    def leads(self, first: Ints, second: Ints, curve: Curve) -> "tuple[Array, Slopes]":
        """Return each pair's Elo difference, NaN where there is none, and how the games move it."""
        p = self.expected_scores(first, second)
        lead = differences(p, curve)
        totals = self.totals
        moves = totals.sum(axis=1)
        own = np.asarray(self.counts.sum(axis=1)).ravel()
        starts = np.searchsorted(self.group, np.arange(self.groups + 1))
        parts: list[tuple[Array, Array, Array]] = []
        ends = np.column_stack([first, second]).ravel()
        steepness = np.zeros(len(first))
        for pair in np.flatnonzero(np.isfinite(lead)).tolist():
            steep = steepness[pair] = float(elo_slope(p[pair], curve))
            for me, other, sign in ((first[pair], second[pair], 1.0), (second[pair], first[pair], -1.0)):
                rows = np.arange(starts[me], starts[me + 1])
                score = (2 * np.cumsum(totals[other]) - totals[other]) / (2 * moves[other])
                mean = p[pair] if sign > 0 else 1 - p[pair]
                change = (self.counts[rows] @ score - mean * own[rows]) / moves[me]
                parts.append((np.full(len(rows), pair), rows, sign * steep * change))
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)] if parts else [np.zeros(0)] * 3
        shape = (len(first), len(self.group))
        found = csr_array((columns[2], (columns[0].astype(np.int64), columns[1].astype(np.int64))), shape=shape)
        rows = np.repeat(np.arange(len(first)), 2)
        signed = np.column_stack([steepness, -steepness]).ravel()
        return lead, Slopes(found, csr_array((signed, (rows, ends)), shape=(len(first), self.groups)), self)


@dataclass(frozen=True, eq=False)
class Slopes:
    """For each of several numbers, how it changes as one game counts a little more: by group and game, as the table."""

    by_row: csr_array
    by_group: csr_array  # how each number changes with a group's expected score as a whole
    table: GainTable

    def combined(self, weights: npt.ArrayLike) -> "Slopes":
        """Return the slopes of sums of these numbers, one row of weights for each sum."""
        adding = csr_array(np.asarray(weights, dtype=np.float64))
        return Slopes(csr_array(adding @ self.by_row), csr_array(adding @ self.by_group), self.table)

    def by_game(self) -> Array:
        """Return what each game adds to each number, widened for the few games of the group that brings it."""
        table, share = self.table, self._shares()
        games = table.games_of_group[table.group]
        alone = games < 2  # √((n − 1) / n) / (1 − h) as the jackknife has it, h being the game's share of the moves
        factor = np.where(alone, 1.0, np.sqrt((games - 1) / games) / np.where(alone, 1.0, 1 - share))
        return np.asarray((self.by_row.multiply(factor[None, :]) @ _adding(table.game, table.games)).toarray())

    def sd(self) -> Array:
        """Return each number's sd: the root of the sum over games of what each adds, squared; NaN where none varies."""
        variance = (self.by_game() ** 2).sum(axis=1)
        return np.where(variance > 0, np.sqrt(variance), np.nan)

    def interval(self, at: Array, mass: float) -> tuple[Array, Array, Array]:
        """Return the ends of each number's interval, Student's of its parts, and its sd; NaN where there is none."""
        sd = self.sd()
        half = t_mixture_quantile(*self.parts(), mass) * sd
        return at - half, at + half, sd

    def parts(self) -> tuple[csr_array, Array]:
        """Return how much of each number's variance comes from which part, and the freedom of the parts.

        A part is a group of n games, or several groups that have the same n games, as the sides of a match; it has
        n − 1 degrees of freedom. How much comes from it is not asked of the same few games, of which two that happen
        to agree would look like certainty, but follows from the lengths of the games as if all moves varied alike
        (Bell and McCaffrey 2002).
        """
        table, games = self.table, self.table.games_of_group
        sets: dict[bytes, int] = {}  # groups with gains in exactly the same games are one part, called by its first
        own = np.split(table.game, np.searchsorted(table.group, np.arange(1, table.groups)))
        part = np.array([sets.setdefault(one.tobytes(), at) for at, one in enumerate(own)])
        spread = np.where(games > 1, np.bincount(table.group, self._shares() ** 2, table.groups), 0.0)
        free = np.ones(table.groups)
        free[part] = np.maximum(games - 1, 1)
        return csr_array(self.by_group.power(2) @ _adding(part, table.groups, spread)), free

    def _shares(self) -> Array:
        own, group = np.asarray(self.table.counts.sum(axis=1)).ravel(), self.table.group
        return np.asarray(own / np.bincount(group, own, self.table.groups)[group])


def _adding(to: Ints, size: int, times: Array | None = None) -> csr_array:
    """Return the table that adds up columns by where each belongs, each so many times."""
    return csr_array((np.ones(len(to)) if times is None else times, (np.arange(len(to)), to)), shape=(len(to), size))


def differences(p: Array, curve: Curve) -> Array:
    """Return the Elo differences of expected scores, NaN where there is none."""
    d = np.full(len(p), np.nan)
    known = np.isfinite(p)
    d[known] = elo_difference(np.clip(p[known], 0, 1), curve)
    return d
