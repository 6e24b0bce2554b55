"""How many more games it takes: from what the games so far say, and from what no number of games can say.

With n games of one person a source has the precision p, and n + N games have p·(n + N)/n; but the person's own effect
stays, so the source never says more than 1/person_sd². With the prior's precision q the standard deviation is

    sd(N)² = 1 / (q + Σ_s 1 / (person_sd_s² + n / (p_s·(n + N))))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from skilloscope.inference import Normal, Posterior, Prior
from skilloscope.ratings.axis.effects import ELO, Effects, blurred

Array = npt.NDArray[np.float64]

_MOST = 1000
_STEPS = (50.0, 200.0)  # the least and the most, in Elo, over which a curve's bend is measured


def games_for_sd(
    goal: float,
    sources: Mapping[str, Sequence[Array] | Array],
    effects: Mapping[str, Effects],
    posterior: Posterior,
    prior: Prior,
    games: int,
) -> int | None:
    """Return about how many more games bring one person's sd to the goal; None where no number of them does."""
    if posterior.sd <= goal:
        return 0
    own = [(_precision(np.asarray(rows), effects[name], posterior), effects[name]) for name, rows in sources.items()]
    before = 1.0 / prior.sd**2 if isinstance(prior, Normal) else 0.0

    def sd(more: float) -> float:
        share = games / (games + more)
        told = [1.0 / (effect.person_sd**2 + share / p) for p, effect in own if p > 0]
        total = before + sum(told)
        return float(1.0 / np.sqrt(total)) if total > 0 else np.inf

    if sd(_MOST) > goal:
        return None
    counts = np.arange(1, _MOST + 1)
    return int(counts[np.argmax([sd(float(n)) <= goal for n in counts])])


def _precision(rows: Array, effects: Effects, posterior: Posterior) -> float:
    """Return how sharply the games together bend about the estimate, before the person's own effect."""
    curve = blurred(effects.temper * np.atleast_2d(rows), effects.game_sd).sum(axis=0)
    step = float(np.clip(posterior.sd, *_STEPS))
    centre = float(np.clip(posterior.mean, ELO[0] + step, ELO[-1] - step))
    low, middle, high = np.interp([centre - step, centre, centre + step], ELO, curve)
    return max(0.0, float(2 * middle - low - high) / step**2)
