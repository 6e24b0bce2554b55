"""What help and what chance produce: the power to detect help, and the most surprising run of first choices.

Power: the player's own games are played again with help of several kinds. In: the statistics of one player's moves,
their sums with tables of normal scores. Out: for each kind of help and each statistic the share of such players whose p
lies below a level. The moves are drawn from the model at the player's rating with the scatter of the baseline; helped
ones are another engine's first choice, approximated by the first choice of a search two plies shallower.

Streaks: the run of the engine's first choices with the smallest joint probability, and the share of fair players who
show one as surprising anywhere in as many games, which corrects for the choice of the run. The false-discovery rate
over all players corrects for theirs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import norm

from skilloscope.core.columns import Array, Bools, Ints
from skilloscope.studies.screen.baseline import GroupSums
from skilloscope.studies.screen.statistics import Statistic, too_rare

HELP = {"1 move in 10": 0.1, "1 move in 5": 0.2, "1 move in 3": 1 / 3, "1 move in 2": 0.5, "every move": 1.0}
"""The kinds of help: the share of moves that an engine chose."""
LEVELS = (0.05, 0.01, 0.001)
_REPEATED = 400
_RUNS = 1000  # repetitions for a streak
_EDGE = 1e-6  # probabilities of the engine's move are kept away from 0 and 1


@dataclass(frozen=True)
class PowerRow:
    """The share of players with help of a kind whose p in a statistic is at most the level."""

    help: str
    statistic: str
    level: float
    seen: float


@dataclass(frozen=True, eq=False)
class Power:
    """The share of helped players that would be detected, by kind of help, statistic and level; and the mean of z."""

    rows: Sequence[PowerRow]
    shift: Mapping[str, float]  # the mean normal score of the first statistic under each kind of help

    def of(self, statistic: str) -> list[PowerRow]:
        """Return the rows of one statistic."""
        return [row for row in self.rows if row.statistic == statistic]


def mean_power(tables: Sequence[Power]) -> list[PowerRow]:
    """Return the mean of the tables of several players."""
    return [
        replace(same[0], seen=float(np.mean([row.seen for row in same])))
        for same in zip(*(table.rows for table in tables), strict=True)
    ]


def simulated_power(
    statistics: Mapping[str, Statistic],
    sums: Mapping[str, GroupSums],
    row: int,
    *,
    rng: np.random.Generator,
    repeated: int = _REPEATED,
) -> Power:
    """Play the moves of a group (its row in the sums) again with each kind of help; count what would be detected."""
    first = next(iter(statistics))
    draws = statistics[first].draws
    chosen = drawn_places(draws.offsets, draws.p, repeated, rng)
    common, counted = rng.standard_normal(repeated), rng.random(chosen.shape)
    rows: list[PowerRow] = []
    shift: dict[str, float] = {}
    for kind, share in HELP.items():
        helped = rng.random(chosen.shape) < share
        for name, one in statistics.items():
            own, mean = sums[name], one.draws.mean
            phi = max(float(own.dispersion[row]), 1.0)
            # Moves scatter as if every φ of them were one: some count φ-fold, the others not at all.
            weight = np.where(counted < 1 / phi, phi, 0.0)
            value = np.where(helped, one.assisted - mean, weight * (one.draws.x[chosen] - mean))
            # The offset of the baseline applies to a player's own moves only.
            total = value.sum(axis=1) - share * (own.expected[row] - float(mean.sum()))
            z = own.table.of(row, total + common * own.effect[row])
            shown = not too_rare(name, one.draws.variance.sum())
            rows += [PowerRow(kind, name, level, float(shown * (norm.sf(z) <= level).mean())) for level in LEVELS]
            if name == first:
                shift[kind] = float(z.mean())
    return Power(rows, shift)


def likelihood_ratio(z: float, shift: Mapping[str, float]) -> float:
    """Return the likelihood ratio of the score with help to that without, as a mean over the kinds of help.

    Under help of a kind z is N(μ, 1), without it N(0, 1). Kinds that do not raise z have a ratio of 1.

    >>> likelihood_ratio(2.0, {"some": 2.0})  # exp(2·2 − 2²/2)
    7.38905609893065
    """
    if not np.isfinite(z):
        return 1.0
    means = np.maximum(np.array(list(shift.values()), dtype=float), 0.0)
    return float(np.exp(means * z - 0.5 * means**2).mean())


def drawn_places(offsets: Ints, p: Array, repeated: int, rng: np.random.Generator) -> Ints:
    """Return a value drawn for each decision by its place among all, a row for each repetition."""
    summed = np.cumsum(p)
    before = np.concatenate([[0.0], summed])[offsets]
    at = before[:-1] + rng.random((repeated, len(offsets) - 1)) * np.diff(before)
    return np.minimum(np.searchsorted(summed, at, side="right"), offsets[1:] - 1).astype(np.int64)


@dataclass(frozen=True)
class Streak:
    """The most surprising run of one player."""

    moves: int
    game: int  # the row of the game
    ply: int  # the ply of its first move
    probability: float
    """The product of the probabilities of its moves, uncorrected for the choice of this run out of all."""
    p: float  # the share of fair players with as surprising a run anywhere in their games
    q: float = 1.0  # the false-discovery rate over everybody screened


def longest_streak(
    match: Statistic, game: Ints, ply: Ints, sd: float, *, rng: np.random.Generator, repeated: int = _RUNS
) -> Streak | None:
    """Return the most surprising run, None where nothing matched; `sd` is the player's own effect on a probability."""
    p = np.clip(match.draws.mean, _EDGE, 1 - _EDGE)
    order = np.lexsort((ply, game))
    p, matched, game, ply = p[order], (match.actual > 0)[order], game[order], ply[order]
    weight = -np.log(p)
    starts = np.append(True, game[1:] != game[:-1])
    best, last = _best_runs(matched[None, :], weight, starts)
    if not best[0] > 0:
        return None
    people = np.clip(p + sd * rng.standard_normal((repeated, 1)), 0.0, 1.0)
    drawn, _ = _best_runs(rng.random((repeated, len(p))) < people, weight, starts)
    end = int(last[0])
    begin = end
    while not starts[begin] and matched[begin - 1]:
        begin -= 1
    exceeded = int((drawn >= best[0] - 1e-9).sum())
    return Streak(
        end - begin + 1, int(game[begin]), int(ply[begin]), float(np.exp(-best[0])), (1 + exceeded) / (1 + repeated)
    )


def _best_runs(matched: Bools, weight: Array, starts: Bools) -> tuple[Array, Ints]:
    """Return the largest sum of weights over a run in each row, and where that run ends."""
    now, best = np.zeros(len(matched)), np.zeros(len(matched))
    last = np.zeros(len(matched), dtype=np.int64)
    for at in range(len(weight)):
        if starts[at]:
            now = np.zeros(len(matched))
        now = np.where(matched[:, at], now + weight[at], 0.0)
        better = now > best
        best, last = np.where(better, now, best), np.where(better, at, last)
    return best, last
