"""Apparent skill by result: the c̄ of player-games that were won, lost and drawn.

In: player-games. Out: for each result how many, mean, sd and variance of c̄, each under its own name, and the difference
between both sides of decisive games with an interval. [DFHR09 V.D, Table III; DFH13 VI.C, Table IV]

The papers print a σ that is about the variance of c̄ (0.0686 = 0.262², and a game's two dozen decisions alone imply an
sd of some 0.24). c̄ of a short list depends on the range of the uniform prior, which the papers do not state; `pooled`
takes all decisions of a result together and hardly depends on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.core.errors import InputError, Tally
from skilloscope.inference.bootstrap import cluster_interval, replicate_interval, resampled_mean
from skilloscope.inference.many import means_and_sds
from skilloscope.studies.composites.game_evidence import PlayerGames

Array = npt.NDArray[np.float64]

RESULTS = {"lost": 0.0, "won": 1.0, "drawn": 0.5}
_DRAWS = 2000


@dataclass(frozen=True)
class ResultRow:
    """The player-games of one result: what their c̄ are like, and the c of all their decisions together."""

    result: str
    player_games: int
    decisions: int
    mean: float
    low: float | None
    high: float | None
    """The interval of the mean, over games; None where there is a single one."""
    sd: float | None
    """The standard deviation of the c̄ of player-games; None where there is a single one."""
    variance: float | None
    """Its square: what the papers seem to print as σ."""
    sampling_sd: float
    """The root mean posterior variance: the part of the sd that few decisions explain."""
    pooled: float
    pooled_sd: float

    def as_dict(self) -> dict[str, Any]:
        """Return the row as reports send it."""
        return dict(vars(self))


@dataclass(frozen=True)
class Difference:
    """A difference of mean c̄ with its bootstrap interval over games, None where a single one cannot tell."""

    of: str
    games: int
    mean: float
    low: float | None
    high: float | None

    def as_dict(self) -> dict[str, Any]:
        """Return the difference as reports send it."""
        return dict(vars(self))


@dataclass(frozen=True, eq=False)
class ResultsSplit:
    """Apparent skill by result in one group of games."""

    name: str
    """Which games: a group's name, or all."""
    rows: Sequence[ResultRow]
    mean: float
    """Of the c̄ of all player-games, whatever the result."""
    player_games: int
    differences: Sequence[Difference]
    tally: Tally
    mass: float = 0.95

    def __getitem__(self, result: str) -> ResultRow:
        return {row.result: row for row in self.rows}[result]

    def as_dict(self) -> dict[str, Any]:
        """Return what `composites --split result --json` sends."""
        return {
            "group": self.name,
            "player_games": self.player_games,
            "mean": self.mean,
            "results": [row.as_dict() for row in self.rows],
            "differences": [difference.as_dict() for difference in self.differences],
            "skipped": self.tally.as_dict(),
        }

    def figures(self) -> list[tuple[str, str]]:
        """Return the figures with their captions, as SVG."""
        from skilloscope.studies.composites.figures import results_split_figures

        return results_split_figures(self)


def results_split(
    rows: PlayerGames, *, name: str = "all", mass: float = 0.95, rng: np.random.Generator | None = None
) -> ResultsSplit:
    """Return the split of player-games by the player's own result; the generator draws the bootstrap's games."""
    rng = rng or np.random.default_rng(1)
    if not rows.has_games:
        raise InputError("the decisions do not say in which game they were made", hint="a column `game` is needed")
    tally = Tally()
    known = np.isin(rows.result, list(RESULTS.values())) & (rows.table.decisions > 0)
    tally.count("player-game of unknown result", int((~np.isin(rows.result, list(RESULTS.values()))).sum()))
    means, sds = means_and_sds(rows.table)
    found = [
        _row(rows, result, known & (rows.result == score), means, sds, mass, rng)
        for result, score in RESULTS.items()
        if (known & (rows.result == score)).any()
    ]
    if not found:
        raise InputError("no player-game of known result", hint="results stand in the games' headers")
    differences = _differences(rows, known, means, mass, rng, tally)
    return ResultsSplit(name, found, float(means[known].mean()), int(known.sum()), differences, tally, mass)


def _row(
    rows: PlayerGames,
    name: str,
    own: npt.NDArray[np.bool_],
    means: Array,
    sds: Array,
    mass: float,
    rng: np.random.Generator,
) -> ResultRow:
    low, high = cluster_interval(*_by_game(rows, own, means), rng=rng, mass=mass) or (None, None)
    pooled = rows.table.regrouped(own)[True].posterior()
    several = int(own.sum()) > 1
    return ResultRow(
        result=name,
        player_games=int(own.sum()),
        decisions=int(rows.table.decisions[own].sum()),
        mean=float(means[own].mean()),
        low=low,
        high=high,
        sd=float(means[own].std(ddof=1)) if several else None,
        variance=float(means[own].var(ddof=1)) if several else None,
        sampling_sd=float(np.sqrt((sds[own] ** 2).mean())),
        pooled=pooled.mean,
        pooled_sd=pooled.sd,
    )


def _by_game(rows: PlayerGames, own: npt.NDArray[np.bool_], means: Array) -> tuple[Array, Array]:
    """Return for each game the sum of c̄ over its player-games and their number, two in a draw."""
    values: dict[Any, list[float]] = {}
    for i in np.flatnonzero(own).tolist():
        values.setdefault(rows.game[i], []).append(float(means[i]))
    return np.array([sum(of) for of in values.values()]), np.array([float(len(of)) for of in values.values()])


def _differences(
    rows: PlayerGames,
    known: npt.NDArray[np.bool_],
    means: Array,
    mass: float,
    rng: np.random.Generator,
    tally: Tally,
) -> list[Difference]:
    sides = {
        score: {rows.game[i]: float(means[i]) for i in np.flatnonzero(known & (rows.result == score)).tolist()}
        for score in (0.0, 1.0)
    }
    both = [game for game in sides[1.0] if game in sides[0.0]]
    tally.count("decisive game with one side's decisions only", len(sides[0.0]) + len(sides[1.0]) - 2 * len(both))
    found = []
    if both:
        pairs = np.array([sides[1.0][game] - sides[0.0][game] for game in both])
        low, high = cluster_interval(pairs, np.ones(len(pairs)), rng=rng, mass=mass) or (None, None)
        found.append(Difference("won − lost, same game", len(both), float(pairs.mean()), low, high))
    drawn, lost = (_by_game(rows, known & (rows.result == score), means) for score in (0.5, 0.0))
    games = len(drawn[0]), len(lost[0])
    if min(games):
        replicates = np.array([resampled_mean(*drawn, rng=rng) - resampled_mean(*lost, rng=rng) for _ in range(_DRAWS)])
        low, high = replicate_interval(replicates, mass, min(games)) or (None, None)
        mean = float(drawn[0].sum() / drawn[1].sum() - lost[0].sum() / lost[1].sum())
        found.append(Difference("drawn − lost", sum(games), mean, low, high))
    return found
