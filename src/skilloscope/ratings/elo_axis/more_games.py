"""How many more games it takes: from what a game says, and from what no number of games can say.

A source says p of a game, its precision, and p·n of n games of one person; but the person's own effect stays, so it
never says more than 1/person_sd². With the prior's precision q the standard deviation is

    sd(n)² = 1 / (q + Σ_s 1 / (person_sd_s² + 1 / (p_s·n)))
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from skilloscope.inference import Normal, Prior
from skilloscope.ratings.elo_axis.effects import ELO, Effects, blurred

Array = npt.NDArray[np.float64]

_MOST = 1000
_STEP = 200.0  # Elo over which the bend of a curve is measured: one game says little of anything finer


def game_precisions(
    people: Iterable[tuple[float, Mapping[str, Sequence[Array]]]], effects: Mapping[str, Effects]
) -> dict[str, float]:
    """Return what a game says by source, over all people: each with his estimate and the curves of his games.

    One person's games bend as chance will have it; those of all together say what a game is worth.
    """
    bend: dict[str, float] = {}
    games: dict[str, int] = {}
    for elo, sources in people:
        for name, rows in sources.items():
            bend[name] = bend.get(name, 0.0) + _bend(np.array(rows), effects[name], elo)
            games[name] = games.get(name, 0) + len(rows)
    return {name: max(0.0, bend[name] / games[name]) for name in games}


def games_for_sd(
    goal: float, precisions: Mapping[str, float], effects: Mapping[str, Effects], prior: Prior, games: int
) -> int | None:
    """Return how many games beside these bring one person's sd to the goal; None where no number of them does.

    >>> from skilloscope.inference import Uniform
    >>> flat = Uniform(700, 3000)
    >>> games_for_sd(100.0, {"a": 1 / 300**2}, {"a": Effects()}, flat, 4)
    5
    >>> games_for_sd(100.0, {"a": 1 / 300**2}, {"a": Effects(person_sd=120)}, flat, 4) is None
    True
    """
    before = 1.0 / prior.sd**2 if isinstance(prior, Normal) else 0.0
    own = [(p, effects[name].person_sd ** 2) for name, p in precisions.items() if p > 0]
    for more in range(1, _MOST + 1):
        total = before + sum(1.0 / (stays + 1.0 / (p * (games + more))) for p, stays in own)
        if total > 0 and total >= (1 - 1e-9) / goal**2:
            return more
    return None


def _bend(rows: Array, effects: Effects, elo: float) -> float:
    """Return how sharply the games together bend about an estimate, before the person's own effect."""
    curve = blurred(effects.temper * np.atleast_2d(rows), effects.game_sd).sum(axis=0)
    centre = float(np.clip(elo, ELO[0] + _STEP, ELO[-1] - _STEP))
    low, middle, high = np.interp([centre - _STEP, centre, centre + _STEP], ELO, curve)
    return float(2 * middle - low - high) / _STEP**2
