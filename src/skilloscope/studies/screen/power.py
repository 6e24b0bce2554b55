"""What help and what chance produce: the power to detect help, and the most surprising run of first choices.

Power: the player's own games are played again with help of several kinds. In: one player's moves, their sums with
tables of normal scores, and the moves at any strength. Out: for each kind of help and each number the share of such
players whose p lies below a level. Each of them has a strength of their own, drawn from people of that rating, and
plays as people of that strength; a helped move is the first choice of a search of another depth.

Streaks: the run of the engine's first choices with the smallest joint probability, and the share of fair players who
show one as surprising anywhere in as many games, which corrects for the choice of the run. The false-discovery rate
over all players corrects for theirs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import norm

from skilloscope.core.columns import Array, Bools, Ints
from skilloscope.studies.screen.baseline import Baseline, GroupSums
from skilloscope.studies.screen.moves import ScreenedMoves
from skilloscope.studies.screen.own import STRENGTHS, OwnStrength
from skilloscope.studies.screen.statistics import ENGINE, Statistic, too_rare


@dataclass(frozen=True)
class Help:
    """A kind of help: on which share of moves, on which of them, and by which of HELPERS."""

    share: float
    where: str = "any"
    """`any`, `critical` (where people of that rating lose most), `late` (from move 15 on), or `usual` (critical, and
    only moves that at least one in ten of these people plays)."""
    helper: int = 1


HELP = {
    "1 move in 10": Help(0.1),
    "1 move in 5": Help(0.2),
    "1 move in 3": Help(1 / 3),
    "1 move in 2": Help(0.5),
    "every move": Help(1.0),
    "1 critical move in 5": Help(0.2, "critical"),
    "usual critical moves, 3 in 10": Help(0.3, "usual"),
    "every move from 15 on": Help(1.0, "late"),
    "1 move in 5, same engine": Help(0.2, helper=0),
    "1 move in 5, weak engine": Help(0.2, helper=2),
}
"""The kinds of help; unless the name says otherwise, by another engine than that of the screening."""
LEVELS = (0.05, 0.01, 0.001)
_LATE = 28  # plies before move 15
_USUAL = 0.1
_REPEATED = 200
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
    shift: Mapping[str, float]  # the mean normal score of the agreement with the engine under each kind of help

    def of(self, statistic: str) -> list[PowerRow]:
        """Return the rows of one statistic."""
        return [row for row in self.rows if row.statistic == statistic]


def mean_power(tables: Sequence[Power]) -> list[PowerRow]:
    """Return the mean of the tables of several players."""
    return [
        replace(same[0], seen=float(np.mean([row.seen for row in same])))
        for same in zip(*(table.rows for table in tables), strict=True)
    ]


def helped_moves(moves: ScreenedMoves, kind: Help, repeated: int, rng: np.random.Generator) -> Bools:
    """Return which moves of one player are helped: a row for each repetition."""
    n = len(moves)
    if kind.where == "any":
        return np.asarray(rng.random((repeated, n)) < kind.share)
    if kind.where == "late" or moves.helpers is None:
        return np.broadcast_to(moves.ply >= _LATE, (repeated, n))
    costly = -moves.statistics["loss"].draws.mean
    if kind.where == "usual":
        draws = moves.statistics["match"].draws
        costly = np.where(draws.p[draws.offsets[:-1] + moves.helpers[:, kind.helper]] >= _USUAL, costly, 0.0)
    least = np.quantile(costly, 1 - kind.share)
    return np.broadcast_to((costly > least) & (costly > 0), (repeated, n))


def simulated_power(
    moves: ScreenedMoves,
    sums: Mapping[str, GroupSums],
    row: int,
    own: OwnStrength,
    baseline: Baseline,
    *,
    rng: np.random.Generator,
    repeated: int = _REPEATED,
) -> Power:
    """Play the moves of one player (the row of the sums) again with each kind of help; count what is detected."""
    assert moves.helpers is not None
    elo, first = float(moves.elo.mean()), own.offsets[:-1]
    played = people_places(own, baseline, elo, repeated, rng)
    style, counted = rng.standard_normal(repeated), rng.random(played.shape)
    rows: list[PowerRow] = []
    shift: dict[str, float] = {}
    for kind, help_ in HELP.items():
        helped = helped_moves(moves, help_, repeated, rng)
        places = np.where(helped, first + moves.helpers[:, help_.helper], played)
        fair = 1 - helped.mean(axis=1)
        scores: dict[str, Array] = {}
        for name, one in moves.statistics.items():
            now, mean = sums[name], one.draws.mean
            beyond = float(now.expected[row] - mean.sum() - now.from_strength[row])  # a player's own moves have it
            value = _weights(counted, now.dispersion, helped) * (one.draws.x[places] - mean)
            total = value.sum(axis=1) - (1 - fair) * beyond - now.from_strength[row] + style * now.style[row]
            shown = not too_rare(name, one.draws.variance.sum())
            scores[name] = now.table.of(row, total) if shown else np.full(repeated, -np.inf)
        spread = baseline.spreads[ENGINE]
        stays = style * spread.person_sd + fair * baseline.offset(ENGINE, elo)
        scores[ENGINE], _ = own.z(places, _weights(counted, spread.dispersion, helped), stays)
        for name, z in scores.items():
            rows += [PowerRow(kind, name, level, float((norm.sf(z) <= level).mean())) for level in LEVELS]
        shift[kind] = float(scores[ENGINE].mean())
    return Power(rows, shift)


def people_places(own: OwnStrength, baseline: Baseline, elo: float, repeated: int, rng: np.random.Generator) -> Ints:
    """Draw the moves of people of a rating, each of a strength of their own: places among all legal moves."""
    (weight,), (mean,), (sd,) = baseline.strength.parts(elo)
    part = rng.choice(len(weight), repeated, p=weight)
    true = elo + mean[part] + sd[part] * rng.standard_normal(repeated)
    nearest = np.abs(true[:, None] - STRENGTHS).argmin(axis=1)
    found = np.empty((repeated, len(own.offsets) - 1), dtype=np.int64)
    for at in np.unique(nearest).tolist():
        rows = np.flatnonzero(nearest == at)
        found[rows] = drawn_places(own.offsets, np.exp(own.logs[:, at]), len(rows), rng)
    return found


def _weights(counted: Array, dispersion: float, helped: Bools) -> Array:
    """Return how often each move counts: a player's own scatter as if every φ of them were one, helped ones do not."""
    phi = max(dispersion, 1.0)
    return np.where(helped, 1.0, np.where(counted < 1 / phi, phi, 0.0))


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
