"""How far evidence about Elo is to be believed: within a game, from game to game, and from person to person.

A model judges some people kindlier than others, and goes on doing so: the evidence of twenty games of one person is not
that of twenty people. So a source of evidence has three numbers. Its curves are multiplied by `temper` (moves of a game
are not independent), blurred by `game_sd` (form differs from game to game), added over the games of a person, and
blurred again by `person_sd` (style and repertoire stay). Curves live on ELO, equally spaced: there a blur is a
convolution.

    log L(E) = log [ N(0, person_sd²) ∗ Π_g ( N(0, game_sd²) ∗ exp(temper·ℓ_g) ) ](E)

Ratings of another pool are not those that the models know: there the curves are read at M(E) = E + shift +
(stretch − 1)·(E − 2000), the Elo of the models that people rated E in the pool play like.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.ndimage import convolve1d

Array = npt.NDArray[np.float64]

STEP = 10.0
ELO: Array = np.arange(700.0, 3000.0 + STEP / 2, STEP)
"""The Elos at which curves are kept while they are blurred."""

_MIDDLE = 2000.0  # where a stretch leaves ratings as they are
_REACH = 5.0  # standard deviations of a blur that are summed
_DEEPEST = -700.0  # exp of less is nothing


@dataclass(frozen=True)
class Effects:
    """The three numbers of a source of evidence, and where the ratings of a pool lie among those of the models."""

    temper: float = 1.0
    game_sd: float = 0.0
    person_sd: float = 0.0
    shift: float = 0.0
    stretch: float = 1.0


def blurred(curves: npt.ArrayLike, sd: float, step: float = STEP) -> Array:
    """Return log (exp(curve) ∗ N(0, sd²)) for curves on equal steps (the last axis); beyond the ends they stay.

    >>> peak = -0.5 * ((ELO - 1800) / 100) ** 2
    >>> wide = blurred(peak, 75.0)
    >>> float((wide - -0.5 * ((ELO - 1800) / 125) ** 2)[80:140].std()) < 1e-3
    True
    """
    logs = np.asarray(curves, dtype=float)
    if sd <= 0 or logs.size == 0:
        return logs
    steps = np.arange(-np.ceil(_REACH * sd / step), np.ceil(_REACH * sd / step) + 1) * step
    weights = np.exp(-0.5 * (steps / sd) ** 2)
    top = logs.max(axis=-1, keepdims=True)
    spread = convolve1d(np.exp(np.maximum(logs - top, _DEEPEST)), weights / weights.sum(), axis=-1, mode="nearest")
    return np.asarray(np.log(np.maximum(spread, np.exp(_DEEPEST))) + top)


def read_for_pool(curves: npt.ArrayLike, effects: Effects, elo: Array = ELO) -> Array:
    """Return curves on `elo` (equally spaced, the last axis) read at M(E); beyond the ends they go on as at the ends.

    >>> line = read_for_pool(ELO, Effects(shift=100.0))
    >>> float(line[50] - ELO[50])
    100.0
    """
    logs = np.asarray(curves, dtype=float)
    if effects.shift == 0 and effects.stretch == 1:
        return logs
    place = (elo + effects.shift + (effects.stretch - 1) * (elo - _MIDDLE) - elo[0]) / (elo[1] - elo[0])
    place = np.clip(place, 0, len(elo) - 1)
    low = np.minimum(place.astype(np.int64), len(elo) - 2)
    return np.asarray(logs[..., low] * (low + 1 - place) + logs[..., low + 1] * (place - low))


def person_curve(games: npt.ArrayLike, effects: Effects) -> Array:
    """Return what the games of one person say about Elo: a row of `games` for each game, curves on ELO."""
    rows = read_for_pool(np.atleast_2d(np.asarray(games, dtype=float)), effects)
    return blurred(blurred(effects.temper * rows, effects.game_sd).sum(axis=0), effects.person_sd)


def combined(sources: Mapping[str, npt.ArrayLike], effects: Mapping[str, Effects]) -> Array:
    """Return what all sources say of one person: each has its own effects, and they are independent of each other."""
    total = np.zeros_like(ELO)
    for name, games in sources.items():
        total = total + person_curve(games, effects[name])
    return total
