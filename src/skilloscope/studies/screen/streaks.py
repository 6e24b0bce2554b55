"""Streaks: the most surprising run of the engine's first choices, and how often chance alone gives one like it.

In: for each move of a player the probability of the engine's first choice and whether it was played, in order. Out: the
run whose joint probability is smallest, with the share of fair players who show one as surprising anywhere in as many
games: the look-elsewhere effect is in it, for the player's own games. Over everybody it is corrected as p is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.studies.screen.statistics import Statistic

_REPEATED = 1000
_EDGE = 1e-6  # a probability of the engine's move is never taken for certain

Array = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Streak:
    """The most surprising run of one player."""

    moves: int
    game: int
    """The row of the game."""
    ply: int
    """The ply of its first move."""
    probability: float
    """The product of the probabilities of its moves, as if one had looked nowhere else."""
    p: float
    """The share of fair players with as surprising a run anywhere in their games."""
    q: float = 1.0
    """The false-discovery rate over everybody screened."""

    def as_dict(self) -> dict[str, Any]:
        """Return the streak for JSON."""
        return dict(vars(self))


def longest_streak(
    match: Statistic, game: Places, ply: Places, sd: float, *, rng: np.random.Generator, repeated: int = _REPEATED
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


def _best_runs(matched: npt.NDArray[np.bool_], weight: Array, starts: npt.NDArray[np.bool_]) -> tuple[Array, Places]:
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
