"""Fitting how far each source is believed: the effects under which people's ratings were foretold best.

In: games of people of known rating, as curves on ELO by source. Out: temper, game_sd and person_sd of each source that
maximise the mean log-density of the true rating under the posterior. That is a proper score: too narrow and too wide
both lose. People with one game and with many take part, so that the three numbers can be told apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from skilloscope.evidence import Prior
from skilloscope.evidence.axis import ELO, STEP, Effects, combined
from skilloscope.studies.calibrate import POOL_ELO, PoolEvidence, log_scores

Array = npt.NDArray[np.float64]

_START = (0.8, 60.0, 100.0)
_LARGEST = (1.5, 400.0, 500.0)


@dataclass(frozen=True, eq=False)
class KnownPerson:
    """Somebody of known rating: the curves of some of his games, by source, a row for each game."""

    elo: float
    sources: Mapping[str, Array]

    def with_games(self, most: int) -> KnownPerson:
        """Return the person with so many games at most."""
        return KnownPerson(self.elo, {name: curves[:most] for name, curves in self.sources.items()})


def rating_score(person: KnownPerson, effects: Mapping[str, Effects], prior: Prior) -> float:
    """Return the log-density of the true rating under the posterior."""
    logs = combined(person.sources, effects) + prior.log_density(ELO)
    top = float(logs.max())
    return float(np.interp(person.elo, ELO, logs) - top - np.log(np.exp(logs - top).sum() * STEP))


def fit_effects(
    people: Sequence[KnownPerson],
    names: Sequence[str],
    prior: Prior,
    *,
    fixed: Mapping[str, Effects] | None = None,
) -> dict[str, Effects]:
    """Return the effects of the named sources that foretell the ratings best, those of other sources being fixed."""

    def cost(free: Array) -> float:
        found = {**(fixed or {}), **unpacked(free)}
        return -float(np.mean([rating_score(person, found, prior) for person in people]))

    unpacked = _unpacker(names)
    start = np.tile(np.log(_START), len(names))
    best = minimize(cost, start, method="Nelder-Mead", options={"xatol": 0.03, "fatol": 1e-5, "maxfev": 400}).x
    return unpacked(best)


def fit_searches(
    searches: Mapping[str, Sequence[KnownPerson]], source: str, prior: Prior, *, fixed: Mapping[str, Effects]
) -> dict[str, Effects]:
    """Return the effects of one source under several searches of the same people: temper and game_sd of each its own.

    What stays with a person is one number for all. It is style, which every search sees, and a hundred people with a
    few games each do not tell it for one search alone: there the score hardly depends on it.
    """
    evidence = {name: pooled(people) for name, people in searches.items()}
    density = np.asarray(prior.log_density(POOL_ELO))

    def effects_at(free: Array) -> dict[str, Effects]:
        values = np.minimum(np.exp(free[1:]).reshape(-1, 2), _LARGEST[:2]).tolist()
        stays = float(min(np.exp(free[0]), _LARGEST[2]))
        return {name: Effects(temper, game_sd, stays) for name, (temper, game_sd) in zip(searches, values, strict=True)}

    def cost(free: Array) -> float:
        found = effects_at(free)
        logs = {name: one.logs({**fixed, source: found[name]}) + density for name, one in evidence.items()}
        return -float(np.mean([log_scores(logs[name], one.elo).mean() for name, one in evidence.items()]))

    start = np.log([_START[2], *np.tile(_START[:2], len(searches))])
    return effects_at(minimize(cost, start, method="Nelder-Mead", options={"xatol": 0.02, "fatol": 1e-6}).x)


def pooled(people: Sequence[KnownPerson]) -> PoolEvidence:
    """Return people as they are scored together: their curves on POOL_ELO."""
    names = sorted({name for person in people for name in person.sources})
    having = {name: [at for at, person in enumerate(people) if name in person.sources] for name in names}
    every = round((POOL_ELO[1] - POOL_ELO[0]) / STEP)
    curves = {n: np.concatenate([people[at].sources[n][:, ::every] for at in rows]) for n, rows in having.items()}
    owner = {n: np.repeat(rows, [len(people[at].sources[n]) for at in rows]) for n, rows in having.items()}
    return PoolEvidence(np.array([person.elo for person in people]), curves, owner)


def _unpacker(names: Sequence[str]) -> Callable[[Array], dict[str, Effects]]:
    def unpacked(free: Array) -> dict[str, Effects]:
        values = np.minimum(np.exp(free).reshape(-1, 3), _LARGEST)
        return {name: Effects(*(float(v) for v in row)) for name, row in zip(names, values, strict=True)}

    return unpacked


@dataclass(frozen=True)
class Tempers:
    """What the log-likelihoods of moves and of results are multiplied by."""

    moves: float
    results: float


def fit_tempers(prior: Array, moves: Array, results: Array, elo: Array) -> Tempers:
    """Return the tempers that predict the ratings `elo` best.

    `prior` is a log-density, `moves` and `results` are curves, all on POOL_ELO with a row for each person.
    """

    def cost(free: Array) -> float:
        return -float(log_scores(prior + free[0] * moves + free[1] * results, elo).mean())

    found = minimize(cost, np.ones(2), method="L-BFGS-B", bounds=[(0.0, 3.0)] * 2).x
    return Tempers(float(found[0]), float(found[1]))
