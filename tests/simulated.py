"""What several tests simulate: populations whose strengths wander, rated games, values seen through noise.

Deciders and careers come from `skilloscope.simulate`; what is here puts them into the situations that tests ask about.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from skilloscope.decision import Decisions
from skilloscope.models.paired_comparison import elo_expected
from skilloscope.results.periods import PeriodGames
from skilloscope.simulate.deciders import simulated_deciders


def wandering_games(rng, n, players, periods, sigma0=300.0, nu=40.0, *, advantage=0.0, each=None, first=0):
    """Return games between players who walk at random, and their true strengths by period.

    The n games fall into periods at random, or `each` into every one.
    """
    theta = np.cumsum(np.vstack([rng.normal(1500, sigma0, players), rng.normal(0, nu, (periods - 1, players))]), axis=0)
    period = np.sort(rng.integers(0, periods, n)) if each is None else np.repeat(np.arange(periods), each)
    a = rng.integers(0, players, len(period))
    b = (a + rng.integers(1, players, len(period))) % players
    p = elo_expected(theta[period, a] + advantage, theta[period, b])
    score = (rng.random(len(period)) < p).astype(float)
    names = [f"player {i:05d}" for i in range(players)]
    return PeriodGames.build(a, b, score, period + first, players=names), theta


def in_games(batch: Decisions, games: int, **columns) -> Decisions:
    """Return the decisions dealt out to so many games, with further columns."""
    return replace(batch, context=pa.table({"game": np.arange(len(batch)) % games, **columns}))


def in_pairs(batch: Decisions, **columns) -> Decisions:
    """Return the decisions with deciders 2i and 2i + 1 as White and Black of game i, and columns by decider."""
    rows = batch.decider
    context = {
        "game": pa.array([f"g{i // 2}" for i in rows]),
        "mover": pa.array(["white" if i % 2 == 0 else "black" for i in rows]),
        **{name: pa.array(np.asarray(values)[rows]) for name, values in columns.items()},
    }
    return replace(batch, context=pa.table(context))


def seen_through_noise(c, n: int, *, alternatives: int, noise: float, seed: int) -> Decisions:
    """Return deciders who chose by the values of the second depth; the first sees them through noise."""
    rng = np.random.default_rng(seed)
    batch = simulated_deciders(c, n, alternatives=alternatives, rng=rng)
    shallow = batch.values + rng.normal(0, noise, len(batch.values))
    return replace(batch, values=np.column_stack([shallow, batch.values]), depths=(2, 4))
