"""Screening: what was played beside what is expected at a player's rating, with the scatter that fair play has.

In: moves with their statistics, the baseline, and how many of a hundred players are taken to have had help. Out:
`Screening`: for each player (or player and event) actual and expected values, σ, z, p, the false-discovery rate over
everybody, posterior odds, streaks, how much help would have been seen, and the positions that weigh most. It orders
what a person should look at; it says nothing about anybody's guilt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import false_discovery_control, norm

from skilloscope.core.errors import InputError, Tally
from skilloscope.studies.screen.baseline import Baseline, pool_scatter, pool_shift
from skilloscope.studies.screen.moves import ScreenedMoves
from skilloscope.studies.screen.power import Power, likelihood_ratio, simulated_power
from skilloscope.studies.screen.saddlepoint import ScoreTable, score_table
from skilloscope.studies.screen.statistics import RARE, WITH_ENGINE, WITHOUT_ENGINE, Statistic, too_rare
from skilloscope.studies.screen.streaks import Streak, longest_streak
from skilloscope.studies.screen.weighty import WeightyPosition, weighty_positions

SCHEMA = 1
FEW_MOVES = 20
"""Moves below which nothing is said of a player."""
_SHOWN = 10  # groups whose positions are listed

Array = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ScreenedValue:
    """One statistic of one player: a mean per move, what was expected, its σ, and the normal score."""

    actual: float
    expected: float
    sd: float
    z: float | None


@dataclass(frozen=True, eq=False)
class ScreenedPlayer:
    """One player (in one event): his statistics, and what follows from the first of them."""

    player: str
    event: str | None
    elo: float
    games: int
    moves: int
    extrapolated: bool
    values: Mapping[str, ScreenedValue]
    p: float
    """The share of fair players of that rating of whom as much or more is to be expected."""
    q: float
    """The false-discovery rate if everybody down to this p were looked at."""
    odds: float | None
    """Posterior odds of help at the stated prevalence, over the kinds of help of the power table."""
    power: Power | None
    streak: Streak | None
    positions: Sequence[WeightyPosition] = ()

    @property
    def z(self) -> float:
        """The normal score of the first statistic."""
        z = next(iter(self.values.values())).z
        return float("nan") if z is None else z

    def as_dict(self) -> dict[str, Any]:
        """Return the fields of the JSON document."""
        return {
            "player": self.player,
            "event": self.event,
            "elo": self.elo,
            "extrapolated": self.extrapolated,
            "games": self.games,
            "moves": self.moves,
            "statistics": {name: vars(value) for name, value in self.values.items()},
            "z": self.z,
            "p": self.p,
            "q": self.q,
            "posterior_odds": self.odds,
            "streak": None if self.streak is None else self.streak.as_dict(),
            "power": [] if self.power is None else self.power.rows(),
            "positions": [one.as_dict() for one in self.positions],
        }


@dataclass(frozen=True, eq=False)
class Screening:
    """Everybody screened, the smallest p first."""

    players: Sequence[ScreenedPlayer]
    effort: str
    baseline: Baseline
    ratings: str
    prevalence: float
    by_event: bool
    missing: Mapping[str, str]
    tally: Tally
    engine: Mapping[str, Any]
    scatter: Mapping[str, float]
    """How widely the players of the pool scatter in each statistic, over what the baseline says: the mean."""
    inputs: Sequence[tuple[str, str]] = ()
    """The files and their SHA-256."""
    versions: Mapping[str, str] = field(default_factory=dict)
    warnings: Sequence[str] = ()

    @property
    def statistics(self) -> tuple[str, ...]:
        """The statistics of this effort, the one that orders everybody first."""
        return WITH_ENGINE if self.engine else WITHOUT_ENGINE

    def as_dict(self) -> dict[str, Any]:
        """Return the dict that every report of the screening sends."""
        tables = [player.power for player in self.players if player.power is not None]
        return {
            "schema": SCHEMA,
            "inputs": [{"file": name, "sha256": digest} for name, digest in self.inputs],
            "versions": dict(self.versions),
            "effort": self.effort,
            "statistics": list(self.statistics),
            "engine": dict(self.engine),
            "baseline": self.baseline.as_dict(),
            "pool_scatter": dict(self.scatter),
            "ratings": self.ratings,
            "prevalence": self.prevalence,
            "by_event": self.by_event,
            "screened": len(self.players),
            "warnings": list(self.warnings),
            "players": [player.as_dict() for player in self.players],
            "power": [] if not tables else Power.mean(tables).rows(first_only=False),
            "not_screened": [{"player": name, "reason": reason} for name, reason in self.missing.items()],
            "skipped": self.tally.as_dict(),
        }


@dataclass(frozen=True, eq=False)
class GroupSums:
    """One statistic summed over groups: what happened about its expectation, the σ of that, and normal scores."""

    difference: Array
    expected: Array
    effect: Array
    """The standard deviation of what all moves of a group share."""
    dispersion: Array
    """The variance of the rest over that of independent draws."""
    sd: Array
    scatter: Array
    """How widely the other players of the pool scatter, over what the baseline says; it is in all of the above."""
    table: ScoreTable
    z: Array


def group_sums(moves: ScreenedMoves, name: str, group: Places, player: Places, baseline: Baseline) -> GroupSums:
    """Return the sums of a statistic over groups of moves; `player` says whose each group is.

    Shift and scatter of the pool are read from the other players of the same moves; who is alone has nobody to be
    compared with, and a wider σ.
    """
    one, spread, n = moves.statistics[name], baseline.spreads[name], len(player)
    variance = one.draws.variance

    def summed(column: Array) -> Array:
        return np.bincount(group, column, n).astype(float)

    unit = summed(np.sqrt(variance))
    expected = summed(one.draws.mean) + spread.offset * unit
    difference = summed(one.actual) - expected
    gradient = np.stack([summed(column) for column in one.by_weights.T], axis=1) if one.by_weights.size else _none(n)
    shared = baseline.weights_variance(gradient) + summed(one.slope * moves.elo_sd) ** 2
    free = spread.dispersion * summed(variance)
    total = free + (spread.person_sd * unit) ** 2 + shared
    # A pool may be as unlike all others as a person is, even where those of the baseline were more alike.
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


def screened(
    moves: ScreenedMoves,
    baseline: Baseline,
    *,
    by_event: bool = False,
    prevalence: float = 0.001,
    valid: tuple[float, float] = (1000.0, 2750.0),
    **about: Any,
) -> Screening:
    """Screen every player of the moves, or every player of each event."""
    labels, group, few = _groups(moves, by_event)
    if not labels:
        raise InputError(f"nobody has {FEW_MOVES} moves that can be screened", hint="more games of each player")
    use = group >= 0
    own = _selected(moves, use)
    group = group[use]
    names = sorted({player for player, _ in labels})
    player = np.array([names.index(name) for name, _ in labels], dtype=np.int64)
    sums = {name: group_sums(own, name, group, player, baseline) for name in own.statistics}
    p = norm.sf(sums[next(iter(sums))].z)
    q = false_discovery_control(p) if len(p) else p
    order = np.lexsort((np.arange(len(p)), p))
    everybody = _Everybody(own, group, labels, sums, baseline, prevalence=prevalence, valid=valid)
    rates = zip(p.tolist(), q.tolist(), strict=True)
    made = [everybody.player(row, *rate) for row, rate in enumerate(rates)]
    ordered = [made[row] for row in order.tolist()]
    found = _with_streak_rates(
        [everybody.with_positions(player, row) for player, row in zip(ordered[:_SHOWN], order.tolist(), strict=False)]
        + ordered[_SHOWN:]
    )
    missing = {**moves.missing, **dict.fromkeys(few, f"fewer than {FEW_MOVES} moves")}
    return Screening(
        found, baseline.effort, baseline, prevalence=prevalence, by_event=by_event, missing=missing,
        tally=moves.games.tally + moves.tally, scatter={name: float(one.scatter.mean()) for name, one in sums.items()},
        **about,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Everybody:
    """All moves in their groups, and the sums of every statistic."""

    moves: ScreenedMoves
    group: Places
    labels: list[tuple[str, str | None]]
    sums: Mapping[str, GroupSums]
    baseline: Baseline
    prevalence: float
    valid: tuple[float, float]

    @property
    def first(self) -> str:
        """The statistic that orders everybody."""
        return next(iter(self.sums))

    def player(self, row: int, p: float, q: float) -> ScreenedPlayer:
        """Return what is said of one group; what is drawn depends on its place among all alone."""
        mask = self.group == row
        own, statistics = np.flatnonzero(mask), {name: one.take(mask) for name, one in self.moves.statistics.items()}
        elo, rng = float(self.moves.elo[own].mean()), np.random.default_rng([1, row])
        power = odds = None
        if self.moves.statistics.keys() >= {"match"}:  # without an engine nobody knows what help would have played
            places = {name: (one, row) for name, one in self.sums.items()}
            power = simulated_power(statistics, places, rng=rng)
            ratio = likelihood_ratio(float(self.sums[self.first].z[row]), power.shift)
            odds = self.prevalence / (1 - self.prevalence) * ratio
        return ScreenedPlayer(
            player=self.labels[row][0],
            event=self.labels[row][1],
            elo=elo,
            games=len(np.unique(self.moves.game[own])),
            moves=len(own),
            extrapolated=not self.valid[0] <= elo <= self.valid[1],
            values={name: _value(statistics[name], one, row, len(own), name) for name, one in self.sums.items()},
            p=p,
            q=q,
            odds=odds,
            power=power,
            streak=self.streak(row, own, statistics, rng),
        )

    def streak(
        self, row: int, own: Places, statistics: Mapping[str, Statistic], rng: np.random.Generator
    ) -> Streak | None:
        """Return the most surprising run of a group; None without an engine."""
        if "match" not in statistics:
            return None
        sd = float(self.sums["match"].effect[row]) / len(own)
        return longest_streak(statistics["match"], self.moves.game[own], self.moves.ply[own], sd, rng=rng)

    def with_positions(self, player: ScreenedPlayer, row: int) -> ScreenedPlayer:
        """Return a player with the positions that weigh most."""
        return replace(player, positions=weighty_positions(self.moves, np.flatnonzero(self.group == row), self.first))


def _with_streak_rates(players: list[ScreenedPlayer]) -> list[ScreenedPlayer]:
    """Return the players with the false-discovery rate of their streaks, over everybody who has one."""
    p = [player.streak.p for player in players if player.streak is not None]
    rates = iter(false_discovery_control(p).tolist() if p else [])
    return [
        player if player.streak is None else replace(player, streak=replace(player.streak, q=next(rates)))
        for player in players
    ]


def _value(one: Statistic, sums: GroupSums, row: int, n: int, name: str) -> ScreenedValue:
    """Return a statistic as it is read: losses and blunders as they are counted, z larger for better play."""
    sign = -1.0 if name in ("loss", "blunders") else 1.0
    z = float(sums.z[row])
    return ScreenedValue(
        actual=sign * float(one.actual.sum()) / n,
        expected=sign * float(sums.expected[row]) / n,
        sd=float(sums.sd[row]) / n,
        z=None if too_rare(name, one.draws.variance.sum()) or not np.isfinite(z) else z,
    )


def _groups(moves: ScreenedMoves, by_event: bool) -> tuple[list[tuple[str, str | None]], Places, list[str]]:
    """Return the labels of groups with moves enough, the group of each move (−1: none), and who has too few."""
    events = moves.event.tolist() if by_event else [None] * len(moves)
    keys = list(zip(moves.player.tolist(), events, strict=True))
    counts: dict[tuple[str, str | None], int] = {}
    for key in keys:
        counts[key] = counts.get(key, 0) + 1
    labels = sorted((key for key, n in counts.items() if n >= FEW_MOVES), key=lambda key: (key[0], key[1] or ""))
    place = {key: at for at, key in enumerate(labels)}
    enough = {player for player, _ in labels}
    few = sorted({player for player, _ in counts} - enough)
    return labels, np.array([place.get(key, -1) for key in keys], dtype=np.int64), few


def _selected(moves: ScreenedMoves, use: npt.NDArray[np.bool_]) -> ScreenedMoves:
    names = ("game", "ply", "player", "event", "elo", "elo_sd")
    return ScreenedMoves(
        moves.games,
        **{name: getattr(moves, name)[use] for name in names},
        statistics={name: one.take(use) for name, one in moves.statistics.items()},
        tally=moves.tally,
        missing=moves.missing,
    )


def _none(n: int) -> Array:
    return np.zeros((n, 0))
