"""How far evidence about Elo is to be believed: within a game, from game to game, and from person to person.

A model judges some people kindlier than others, and goes on doing so: the evidence of twenty games of one person is not
that of twenty people. So a source of evidence has three numbers. Its curves are multiplied by `temper` (moves of a game
are not independent), blurred by `game_sd` (form differs from game to game), added over the games of a person, and
blurred again by `person_sd` (style and repertoire stay). Curves live on ELO, equally spaced: there a blur is a
convolution.

    log L(E) = log [ N(0, person_sd²) ∗ Π_g ( N(0, game_sd²) ∗ exp(temper·ℓ_g) ) ](E)

Ratings of another pool are not those that the models know: there the curves are read at M(E) = E + shift +
(stretch − 1)·(E − 2000), the Elo of the models that people rated E in the pool play like.

Moves and results of the same games are not independent: a lost game has its blunder in the moves. So in one posterior
both curves are tempered, by two numbers fitted to the ratings of people (`Beside`; tools/forecast_fused.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.ndimage import convolve1d

from skilloscope.core.errors import InputError
from skilloscope.evidence import Normal, Posterior, Prior
from skilloscope.evidence.posterior import posterior_from_log_density
from skilloscope.evidence.table import EqualSteps
from skilloscope.models.paired_comparison import discrepancy, expected_against

Array = npt.NDArray[np.float64]

STEP = 10.0
ELO: Array = np.arange(700.0, 3000.0 + STEP / 2, STEP)  # the Elos at which curves are kept while they are blurred
ELO_GRID = EqualSteps(float(ELO[0]), float(ELO[-1]), len(ELO))

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


_MOST = 1000
_BEND = 200.0  # Elo over which the bend of a curve is measured: one game says little of anything finer


def game_precisions(
    people: Iterable[tuple[float, Mapping[str, Array]]], effects: Mapping[str, Effects]
) -> dict[str, float]:
    """Return what a game says by source, over all people: each with his estimate and the curves of his games.

    One person's games bend as chance will have it; those of all together say what a game is worth.
    """
    bend: dict[str, float] = {}
    games: dict[str, int] = {}
    for elo, sources in people:
        for name, rows in sources.items():
            bend[name] = bend.get(name, 0.0) + _bend(rows, effects[name], elo)
            games[name] = games.get(name, 0) + len(rows)
    return {name: max(0.0, bend[name] / games[name]) for name in games}


def games_for_sd(
    goal: float,
    precisions: Mapping[str, float],
    effects: Mapping[str, Effects],
    prior: Prior,
    games: int,
    sources: Collection[str] | None = None,
) -> int | None:
    """Return how many games beside these bring one person's sd to the goal; None where no number of them does.

    >>> from skilloscope.evidence import Uniform
    >>> flat = Uniform(700, 3000)
    >>> games_for_sd(100.0, {"a": 1 / 300**2}, {"a": Effects()}, flat, 4)
    5
    >>> games_for_sd(100.0, {"a": 1 / 300**2}, {"a": Effects(person_sd=120)}, flat, 4) is None
    True
    """
    before = 1.0 / prior.sd**2 if isinstance(prior, Normal) else 0.0
    used = precisions if sources is None else sources
    own = [(p, effects[name].person_sd ** 2) for name, p in precisions.items() if p > 0 and name in used]
    for more in range(1, _MOST + 1):
        total = before + sum(1.0 / (stays + 1.0 / (p * (games + more))) for p, stays in own)
        if total > 0 and total >= (1 - 1e-9) / goal**2:
            return more
    return None


def _bend(rows: Array, effects: Effects, elo: float) -> float:
    """Return how sharply the games together bend about an estimate, before the person's own effect."""
    curve = blurred(effects.temper * np.atleast_2d(rows), effects.game_sd).sum(axis=0)
    centre = float(np.clip(elo, ELO[0] + _BEND, ELO[-1] - _BEND))
    low, middle, high = np.interp([centre - _BEND, centre, centre + _BEND], ELO, curve)
    return float(2 * middle - low - high) / _BEND**2


@dataclass(frozen=True)
class Beside:
    """How far moves and results of the same games count beside each other: what their curves are multiplied by."""

    moves: float
    results: float


def result_curve(mean: npt.ArrayLike, sd: npt.ArrayLike, score: npt.ArrayLike, elo: npt.ArrayLike = ELO) -> Array:
    """Σ_j s_j·log E_j + (1 − s_j)·log(1 − E_j) on `elo`, opponents being N(mean, sd²) [GLI99 (17)–(20)].

    >>> curve = result_curve([1700, 1900], [50, 50], [1, 0])
    >>> float(ELO[curve.argmax()])
    1800.0
    """
    opponents, scores = np.asarray(mean, dtype=float), np.asarray(score, dtype=float)
    if opponents.shape != scores.shape:
        raise InputError(f"{opponents.size} opponents for {scores.size} scores")
    variance = np.broadcast_to(np.asarray(sd, dtype=float) ** 2, opponents.shape)
    expected = expected_against(np.asarray(elo, dtype=float)[:, None], opponents, variance)
    return np.asarray(-discrepancy(expected, scores).sum(axis=1))


def fused_posterior(moves: Posterior, prior: Prior, results: npt.ArrayLike, beside: Beside) -> Posterior:
    """p(θ)·L_moves(θ)^a·L_results(θ)^b, normalised: a posterior from moves under its prior, and results on ELO."""
    curve = beside.results * np.asarray(results, dtype=float)

    def log_density(at: Array) -> Array:
        with np.errstate(divide="ignore"):  # beyond its grid the posterior is nothing
            known = np.log(np.interp(at, moves.at, moves.density, left=0.0, right=0.0))
        before = prior.log_density(at)
        return np.asarray(before + beside.moves * (known - before) + np.interp(at, ELO, curve))

    # Only where the posterior has its mass: a coarse look at the whole range could miss a narrow one.
    found = posterior_from_log_density(log_density, float(moves.at[0]), float(moves.at[-1]), prior=moves.prior)
    return replace(found, low=moves.low, high=moves.high)
