"""Many people of known rating at once: how far evidence is believed in their pool, and where its ratings lie.

In: curves of games by source, each owned by a person. Out: the effects, with shift and stretch, that maximise the mean
log-density of the ratings; they are held near those of the axis that ships as long as the data do not say otherwise.
All people are scored together on every fifth Elo of the axis, so a fit takes seconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from skilloscope.inference import Normal, Prior
from skilloscope.ratings.elo_axis.effects import ELO, Effects, blurred, read_for_pool

Array = npt.NDArray[np.float64]

POOL_ELO: Array = ELO[::5]
_STEP = float(POOL_ELO[1] - POOL_ELO[0])
_LOOSE, _SHIFT_SD, _STRETCH_SD = 0.7, 500.0, 0.3  # how far from the start: factors (log), Elo, factor (log)
_LEAST = (0.01, 1.0, 1.0)  # temper and standard deviations from which a factor can start


@dataclass(frozen=True, eq=False)
class PoolEvidence:
    """Ratings of people and the curves of their games on POOL_ELO, by source: row r belongs to person owner[r]."""

    elo: Array
    curves: Mapping[str, Array]
    owner: Mapping[str, npt.NDArray[np.int64]]

    def __len__(self) -> int:
        return len(self.elo)

    def of(self, wanted: npt.NDArray[np.bool_]) -> PoolEvidence:
        """Return some of the people."""
        place = np.cumsum(wanted) - 1
        keep = {name: wanted[owner] for name, owner in self.owner.items()}
        curves = {name: rows[keep[name]] for name, rows in self.curves.items()}
        return PoolEvidence(self.elo[wanted], curves, {n: place[o[keep[n]]] for n, o in self.owner.items()})

    def logs(self, effects: Mapping[str, Effects]) -> Array:
        """Return what all sources say of each person, a column for each of POOL_ELO: the coarse twin of `combined`."""
        total = np.zeros((len(self), len(POOL_ELO)))
        for name, rows in self.curves.items():
            own = effects[name]
            games = blurred(own.temper * read_for_pool(rows, own, POOL_ELO), own.game_sd, _STEP)
            added = np.zeros_like(total)
            np.add.at(added, self.owner[name], games)
            total += blurred(added, own.person_sd, _STEP)
        return total


@dataclass(frozen=True)
class PoolAccuracy:
    """How well ratings are foretold, beside a constant guess."""

    people: int
    rmse: float
    mae: float
    sd: float
    covers: float
    slope: float | None
    score: float
    constant_rmse: float
    constant_mae: float

    def as_dict(self) -> dict[str, float | None]:
        """Return the figures for JSON."""
        return {name: None if value is None else round(value, 3) for name, value in vars(self).items()}


def fitted_prior(elo: npt.ArrayLike) -> Normal:
    """Return the normal population of ratings."""
    ratings = np.asarray(elo, dtype=float)
    return Normal(float(ratings.mean()), float(ratings.std()), float(ELO[0]), float(ELO[-1]))


def fit_pool(
    evidence: PoolEvidence, prior: Prior, start: Mapping[str, Effects], *, free: Sequence[str] = (), mapped: bool = True
) -> dict[str, Effects]:
    """Return the effects of the sources `free` (all, unless said), and with `mapped` one shift and stretch for all."""
    names = [name for name in evidence.curves if not free or name in free]
    known = {name: start[name] for name in evidence.curves}
    about = np.log(np.maximum([_three(known[name]) for name in names], _LEAST))
    loose = np.array([*([_SHIFT_SD, _STRETCH_SD] if mapped else []), *[_LOOSE] * about.size])
    density = np.asarray(prior.log_density(POOL_ELO))

    def effects_at(step: Array) -> dict[str, Effects]:
        moved = step * loose
        shift, stretch = (float(moved[0]), float(np.exp(moved[1]))) if mapped else (0.0, 1.0)
        values = np.exp(about + moved[2 * mapped :].reshape(-1, 3)).tolist()
        found = {**known, **{name: Effects(*row) for name, row in zip(names, values, strict=True)}}
        return {name: replace(one, shift=shift, stretch=stretch) for name, one in found.items()}

    def cost(step: Array) -> float:
        score = log_scores(evidence.logs(effects_at(step)) + density, evidence.elo).mean()
        return float(step @ step / 2 / len(evidence) - score)

    options = {"maxiter": 40, "eps": 0.02, "ftol": 1e-7}
    bounds = [(-4.0, 4.0)] * len(loose)
    return effects_at(minimize(cost, np.zeros(len(loose)), method="L-BFGS-B", bounds=bounds, options=options).x)


def log_scores(logs: Array, elo: Array) -> Array:
    """Return the log-density of each true rating under posteriors on POOL_ELO."""
    top = logs.max(axis=1)
    total = np.log(np.exp(logs - top[:, None]).sum(axis=1) * _STEP) + top
    return np.asarray(_read(logs, elo) - total)


def posterior_accuracy(logs: Array, elo: Array, guess: float | Array) -> PoolAccuracy:
    """Return the figures of posteriors; `guess` is what is said of everybody without evidence."""
    density = np.exp(logs - logs.max(axis=1, keepdims=True))
    density /= density.sum(axis=1, keepdims=True)
    mean = density @ POOL_ELO
    sd = np.sqrt(np.maximum(density @ POOL_ELO**2 - mean**2, 0.0))
    below = np.cumsum(density, axis=1) - density / 2
    middle = np.array([np.interp(0.5, row, POOL_ELO) for row in below])
    place, error, apart = _read(below, elo), mean - elo, np.asarray(guess) - elo
    slope = float(np.polyfit(mean, elo, 1)[0]) if np.ptp(mean) > 0 else None
    return PoolAccuracy(
        people=len(elo),
        rmse=float(np.sqrt((error**2).mean())),
        mae=float(np.abs(middle - elo).mean()),
        sd=float(sd.mean()),
        covers=float(((place > 0.025) & (place < 0.975)).mean()),
        slope=slope,
        score=float(log_scores(logs, elo).mean()),
        constant_rmse=float(np.sqrt((apart**2).mean())),
        constant_mae=float(np.abs(apart).mean()),
    )


def _three(effects: Effects) -> tuple[float, float, float]:
    return effects.temper, effects.game_sd, effects.person_sd


def _read(logs: Array, elo: Array) -> Array:
    """Return the rows read at one Elo each."""
    place = np.clip((elo - POOL_ELO[0]) / _STEP, 0, len(POOL_ELO) - 1)
    low = np.minimum(place.astype(np.int64), len(POOL_ELO) - 2)
    rows = np.arange(len(elo))
    return np.asarray(logs[rows, low] * (low + 1 - place) + logs[rows, low + 1] * (place - low))
