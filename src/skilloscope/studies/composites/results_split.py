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
    apparent = _Apparent(rows, means, sds, mass, rng)
    found = [
        apparent.row(result, known & (rows.result == score))
        for result, score in RESULTS.items()
        if (known & (rows.result == score)).any()
    ]
    if not found:
        raise InputError("no player-game of known result", hint="results stand in the games' headers")
    return ResultsSplit(
        name=name,
        rows=found,
        mean=float(means[known].mean()),
        player_games=int(known.sum()),
        differences=apparent.differences(known, tally),
        tally=tally,
        mass=mass,
    )


@dataclass(frozen=True, eq=False)
class _Apparent:
    """The c̄ of player-games, and the generator that draws games anew for the intervals."""

    games: PlayerGames
    means: Array
    sds: Array
    mass: float
    rng: np.random.Generator

    def row(self, name: str, own: npt.NDArray[np.bool_]) -> ResultRow:
        """Return what the player-games of one result are like."""
        table, means = self.games.table, self.means[own]
        low, high = cluster_interval(*self._by_game(own), rng=self.rng, mass=self.mass) or (None, None)
        pooled = table.regrouped(own)[True].posterior()
        several = len(means) > 1
        return ResultRow(
            result=name,
            player_games=len(means),
            decisions=int(table.decisions[own].sum()),
            mean=float(means.mean()),
            low=low,
            high=high,
            sd=float(means.std(ddof=1)) if several else None,
            variance=float(means.var(ddof=1)) if several else None,
            sampling_sd=float(np.sqrt((self.sds[own] ** 2).mean())),
            pooled=pooled.mean,
            pooled_sd=pooled.sd,
        )

    def differences(self, known: npt.NDArray[np.bool_], tally: Tally) -> list[Difference]:
        """Return how much better winners and drawers look than losers, with what could not be paired counted."""
        score, game = self.games.result, self.games.game
        lost, won = (
            {game[i]: float(self.means[i]) for i in np.flatnonzero(known & (score == own)).tolist()}
            for own in (0.0, 1.0)
        )
        both = [one for one in won if one in lost]
        tally.count("decisive game with one side's decisions only", len(lost) + len(won) - 2 * len(both))
        found = []
        if both:
            pairs = np.array([won[one] - lost[one] for one in both])
            low, high = cluster_interval(pairs, np.ones(len(pairs)), rng=self.rng, mass=self.mass) or (None, None)
            found.append(Difference("won − lost, same game", len(both), float(pairs.mean()), low, high))
        return found + self._drawn_and_lost(*(self._by_game(known & (score == own)) for own in (0.5, 0.0)))

    def _drawn_and_lost(self, drawn: tuple[Array, Array], lost: tuple[Array, Array]) -> list[Difference]:
        games = len(drawn[0]), len(lost[0])
        if not min(games):
            return []
        replicates = np.array(
            [resampled_mean(*drawn, rng=self.rng) - resampled_mean(*lost, rng=self.rng) for _ in range(_DRAWS)]
        )
        low, high = replicate_interval(replicates, self.mass, min(games)) or (None, None)
        mean = float(drawn[0].sum() / drawn[1].sum() - lost[0].sum() / lost[1].sum())
        return [Difference("drawn − lost", sum(games), mean, low, high)]

    def _by_game(self, own: npt.NDArray[np.bool_]) -> tuple[Array, Array]:
        """Return for each game the sum of c̄ over its player-games and their number, two in a draw."""
        values: dict[Any, list[float]] = {}
        for i in np.flatnonzero(own).tolist():
            values.setdefault(self.games.game[i], []).append(float(self.means[i]))
        return np.array([sum(of) for of in values.values()]), np.array([float(len(of)) for of in values.values()])
