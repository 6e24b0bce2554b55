"""Simulated careers: a competence that wanders from year to year, with the truth beside the decisions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.decision import Decisions
from skilloscope.simulate.agents import made_up_spreads, simulate_choices

Array = npt.NDArray[np.float64]

_GAME = (10, 40)  # decisions of one player in a game


@dataclass(frozen=True, eq=False)
class Career:
    """A simulated player: decisions with the columns `year` and `game`, and the true competence of each year."""

    decisions: Decisions
    truth: Mapping[int, float]
    drift: float


def simulate_career(
    rng: np.random.Generator,
    *,
    years: tuple[int, int] = (10, 40),
    games: tuple[int, int] = (1, 40),
    pause: float = 0.15,
    drift: tuple[float, float] = (0.01, 0.1),
    between_games: float = 0.0,
    name: str = "simulated",
) -> Career:
    """Return a career: c begins near 1.2 and makes a random walk, some years have no game, others few or many.

    The sd of a year's change is drawn between the bounds of `drift` (log-uniform), the games of a year likewise;
    `between_games` is the sd of c from game to game, which the agent does not know of.
    """
    length = int(rng.integers(years[0], years[1] + 1))
    step = float(np.exp(rng.uniform(*np.log(drift))))
    walk = rng.normal(1.2, 0.2) + np.concatenate([[0.0], np.cumsum(rng.normal(0.0, step, length - 1))])
    truth = dict(zip(range(1950, 1950 + length), np.clip(walk, 0.2, 3.0).tolist(), strict=True))
    counts = np.exp(rng.uniform(np.log(games[0]), np.log(games[1] + 1), size=length)).astype(np.int64)
    counts[1:][rng.random(length - 1) < pause] = 0
    year = np.repeat(list(truth), counts)
    c = np.array([truth[y] for y in year.tolist()]) + rng.normal(0.0, between_games, len(year))
    moves = rng.integers(_GAME[0], _GAME[1] + 1, len(year))
    spreads = made_up_spreads(int(moves.sum()), rng=rng, name=name)
    chosen = simulate_choices(spreads, np.repeat(np.clip(c, 0.0, None), moves), rng=rng)
    labels = np.array([f"{name}#{i}" for i in range(1, len(year) + 1)])
    context: Any = {"game": np.repeat(labels, moves), "year": np.repeat(year, moves)}
    return Career(replace(chosen, context=context), truth, step)
