"""Several parts of one person's play: years, openings, colours, before and after.

What a source says of a part is about E_part + b_source. The person's effects b are the same in every part: of each
source one of its own, N(0, person_sd²), and one that all share (normal, as it is at the Elo of all parts together). So
two parts of one person are compared more surely than either is known. The parts hang together in one of
two ways: `chain` (E wanders from part to part, its variance grows by sd² in a unit of time) and `star` (E_part ~ N(E,
sd²) about what is common to all). The prior is that of the first part, or of what is common.

Given all b the parts are a small graph on cells of Elo, summed exactly. Over b it is summed by Gauss–Hermite points
that are laid where the posterior of b is, and corrected for that: log Σ_k w_k·N(y_k; 0, 1)/N(y_k; m, C)·L(b_k), b
linear in y.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from skilloscope.core.columns import Array
from skilloscope.evidence import Posterior, Prior
from skilloscope.evidence.axis import ELO, STEP, Effects, PersonEffect, blurred, read_for_pool
from skilloscope.evidence.lattice import Lattice, SdFit, fit_sd, reflected_walk
from skilloscope.models.joint import ELO_RANGE

_STEP = 2 * STEP
_LEAST = 10.0  # person effects smaller than this are as good as none
_POINTS, _ROUNDS = 5, 5
_TRIED: Array = np.concatenate([[0.0], np.geomspace(4.0, 500.0, 16)])
_SHRINK = 0.35  # no round lays the points closer than this share of the one before: they may have missed the middle


@dataclass(frozen=True)
class SdBelief:
    """The prior of an sd: its median, and the sd of its logarithm."""

    median: float
    spread: float
    source: str

    def log_density(self, sd: float) -> float:
        """Return the log-density of log sd, up to a constant; −inf for none at all."""
        return -0.5 * (np.log(sd / self.median) / self.spread) ** 2 if sd > 0 else -np.inf


DRIFT = SdBelief(40.0, 0.75, "yearly changes of rating of 3,114 players with six and more years")
"""How fast people change, in Elo a year: measured on ratings, by person."""
BETWEEN = SdBelief(50.0, 0.75, "no measurement: between 10 and 250 Elo")


@dataclass(frozen=True, eq=False)
class PersonParts:
    """One person's parts: what each source says of each part on the cells, before the person's effect."""

    logs: Array  # sources × parts × cells
    loads: Array  # b = mean + loads·y, y ~ N(0, 1): sources × (an effect of each source, and what all share)
    times: Array
    cells: Array  # Elos, equal steps of two of ELO
    mean: float = 0.0

    @classmethod
    def of(
        cls,
        parts: Sequence[Mapping[str, Sequence[Array] | Array]],
        effects: Mapping[str, Effects],
        times: npt.ArrayLike | None = None,
        person: PersonEffect | None = None,
        within: tuple[float, float] = ELO_RANGE,
    ) -> "PersonParts":
        """Return the parts of one person from the curves of his games on ELO, by part and source."""
        low, high = (round((end - ELO[0]) / STEP) for end in within)
        inside = slice(low, high + 1, 2)
        cells = ELO[inside]
        names = [name for name in effects if any(name in part for part in parts)]
        logs = np.zeros((len(names), len(parts), len(cells)))
        for s, name in enumerate(names):
            for t, part in enumerate(parts):
                if name in part:
                    own, rows = effects[name], np.atleast_2d(np.array(part[name], dtype=float))
                    games = blurred(own.temper * read_for_pool(rows, own), own.game_sd)
                    logs[s, t] = games.sum(axis=0)[inside]
        when = np.arange(len(parts), dtype=float) if times is None else np.asarray(times, dtype=float)
        sds, mean = np.array([effects[name].person_sd for name in names]), 0.0
        loads = np.diag(sds)[:, sds >= _LEAST]
        if person is not None and names:
            whole = sum(blurred(own.sum(axis=0), sd, _STEP) for own, sd in zip(logs, sds, strict=True))
            level = float(_normal(np.exp(whole - np.max(whole))) @ cells)
            loads = np.column_stack([loads, np.full(len(names), np.sqrt(person.variance(level)))])
            mean = float(np.interp(level, person.elo, person.mean))
        return cls(logs, loads, when, cells, mean)

    def __len__(self) -> int:
        return int(self.logs.shape[1])

    def at(self, b: Array) -> Array:
        """Return log L of each part (points × parts × cells), given the person's effects (points × sources)."""
        total = np.zeros((len(b), *self.logs.shape[1:]))
        for own, shift in zip(self.logs, b.T, strict=True):
            at = self.cells
            place = np.clip((at + shift[:, None] - at[0]) / _STEP, 0, len(at) - 1)
            low = np.minimum(place.astype(np.int64), len(at) - 2)
            share = (place - low)[:, None, :]
            total += np.moveaxis(own[:, low], 1, 0) * (1 - share) + np.moveaxis(own[:, low + 1], 1, 0) * share
        return total


@dataclass(frozen=True, eq=False)
class PartsUnder:
    """The posterior of a person's parts under one structure, with one sd."""

    log_marginal: float
    weights: Array  # of the points of b
    parts: Array
    common: Array  # mass on the cells of what is common to the parts: in a star its middle, else the last part
    changes: Array
    """Mass of differences: to the part before, in a star to what is common; the first of a chain has none."""


@dataclass(frozen=True, eq=False)
class PartBeliefs:
    """Posteriors of a person's parts, of what is common to them, and of the differences, averaged over the sd."""

    parts: Sequence[Posterior]
    common: Posterior
    changes: Sequence[Posterior | None]


def fit_parts(
    people: Sequence[PersonParts], priors: Sequence[Prior], way: str, belief: SdBelief, *, mass: float = 0.95
) -> tuple[list[PartBeliefs], SdFit]:
    """Return the posterior of all people's parts, averaged over the sd, and the sd: one for all people."""
    points = [effect_points(*pair, way, belief.median) for pair in zip(people, priors, strict=True)]
    under: dict[float, list[PartsUnder]] = {}

    def total(sd: float) -> float:
        pairs = zip(people, priors, points, strict=True)
        under[sd] = [parts_under(one, prior, way, sd, own) for one, prior, own in pairs]
        return belief.log_density(sd) + sum(one.log_marginal for one in under[sd])

    fit = fit_sd(total, _TRIED, mass=mass)
    tried = [under[float(sd)] for sd in _TRIED]
    said = f"sd {fit.sd:.0f} {'in a unit of time' if way == 'chain' else 'between parts'}"
    beliefs = [
        averaged_beliefs(one.cells, [at[place] for at in tried], fit.weights, prior=f"{prior}; {said}")
        for place, (one, prior) in enumerate(zip(people, priors, strict=True))
    ]
    return beliefs, fit


@dataclass(frozen=True, eq=False)
class EffectPoints:
    """Points of the person's effects (points × effects), their log-weights, and the evidence about the parts there."""

    y: Array
    log_weights: Array
    likelihood: Array  # of each part (points × parts × cells), over its largest, the log of which is in the weights

    @classmethod
    def of(cls, person: PersonParts, y: Array, log_weights: Array) -> "EffectPoints":
        """Return the points with what the parts' evidence says there."""
        logs = person.at(person.mean + y @ person.loads.T)
        peak = logs.max(axis=2, keepdims=True)
        return cls(y, log_weights + peak.sum(axis=(1, 2)), np.exp(logs - peak))


def parts_under(person: PersonParts, prior: Prior, way: str, sd: float, points: EffectPoints) -> PartsUnder:
    """Return the posterior under one sd: of the step in a unit of time (chain), or between parts (star)."""
    start = np.exp(np.asarray(prior.log_density(person.cells)))
    start = start / start.sum()
    found = {"chain": _chain, "star": _star}[way](points.likelihood, start, np.diff(person.times), sd)
    scores = points.log_weights + found.log_totals
    total = float(logsumexp(scores))
    weights = np.exp(scores - total)
    parts = np.einsum("k,ktn->tn", weights, found.parts)
    changes = [_difference(weights, *pair) for pair in found.pairs]
    return PartsUnder(total, weights, parts, weights @ found.common, np.array(changes))


def pair_beliefs(person: PersonParts, prior: Prior, sd: float) -> PartBeliefs:
    """Return the posterior of two parts that vary around a common level with an sd; last change: second − first."""
    points = effect_points(person, prior, "star", sd)
    found = parts_under(person, prior, "star", sd, points)
    elo = person.cells
    step, start = _kernel(float(sd), 1.0, len(elo)), np.exp(np.asarray(prior.log_density(elo)))
    both = step @ (step * start[:, None])
    pair = _difference(found.weights, points.likelihood[:, 0], both, points.likelihood[:, 1])
    beliefs = averaged_beliefs(person.cells, [found], np.ones(1), prior=f"{prior}; sd {sd:.0f} between parts")
    return PartBeliefs(beliefs.parts, beliefs.common, [None, _differences(person.cells).posterior(pair, prior="")])


def effect_points(person: PersonParts, prior: Prior, way: str, sd: float) -> EffectPoints:
    """Return points of the person's effects near their posterior."""
    free = person.loads.shape[1]
    mean, spread = np.zeros(free), np.eye(free)
    points = _points(person, mean, spread)
    for _ in range(_ROUNDS if free else 0):
        weights = parts_under(person, prior, way, sd, points).weights
        mean = weights @ points.y
        apart = points.y - mean
        least = _SHRINK**2 * spread @ spread.T
        covariance = (apart * weights[:, None]).T @ apart
        root = np.linalg.cholesky(least)  # no direction of the covariance may be narrower than `least` has it
        inverse = np.linalg.inv(root)
        values, vectors = np.linalg.eigh(inverse @ covariance @ inverse.T)
        wide = (root @ vectors * np.maximum(values, 1.0)) @ (root @ vectors).T
        spread = np.asarray(np.linalg.cholesky(wide), dtype=np.float64)
        points = _points(person, mean, spread)
    return points


def _lattice(cells: Array) -> Lattice:
    return Lattice(float(cells[0] - _STEP / 2), float(cells[-1] + _STEP / 2), len(cells))


def _differences(cells: Array) -> Lattice:
    reach = float(cells[-1] - cells[0]) + _STEP / 2
    return Lattice(-reach, reach, 2 * len(cells) - 1)


def averaged_beliefs(cells: Array, found: Sequence[PartsUnder], weights: Array, *, prior: str) -> PartBeliefs:
    """Return the posteriors averaged over what was tried for the sd."""
    used = [(one, w) for one, w in zip(found, weights, strict=True) if w > 0]

    def mixed(name: str) -> Array:
        return np.asarray(sum(w * getattr(one, name) for one, w in used))

    changes = [_differences(cells).posterior(row, prior=prior) if row.sum() > 0 else None for row in mixed("changes")]
    parts = [_lattice(cells).posterior(row, prior=prior) for row in mixed("parts")]
    return PartBeliefs(parts, _lattice(cells).posterior(mixed("common"), prior=prior), changes)


@dataclass(frozen=True, eq=False)
class _Graph:
    """Given the points of b: log of each one's total, masses of parts and of what is common, pairs that differ."""

    log_totals: Array
    parts: Array
    common: Array
    pairs: Sequence[tuple[Array, Array | None, Array]]


def _chain(likelihood: Array, start: Array, gaps: Array, sd: float) -> _Graph:
    k, n_parts, n = likelihood.shape
    steps = [_kernel(float(sd), float(gap), n) for gap in gaps]
    forward, backward = np.empty((n_parts, k, n)), np.ones((n_parts, k, n))
    log_totals, mass = np.zeros(k), np.tile(start, (k, 1))
    for t in range(n_parts):
        forward[t] = mass if t == 0 else forward[t - 1] * likelihood[:, t - 1] @ steps[t - 1]
        total = (forward[t] * likelihood[:, t]).sum(axis=1, keepdims=True)
        forward[t] /= np.maximum(total, np.finfo(float).tiny)
        with np.errstate(divide="ignore"):
            log_totals += np.log(total[:, 0])  # −inf where a part cannot follow: that point has no weight
    for t in range(n_parts - 2, -1, -1):
        message = (backward[t + 1] * likelihood[:, t + 1]) @ steps[t]
        backward[t] = message / np.maximum(message.max(axis=1, keepdims=True), np.finfo(float).tiny)
    parts = np.stack([_normal(forward[t] * likelihood[:, t] * backward[t]) for t in range(n_parts)], axis=1)
    nothing = np.zeros((k, n))
    pairs: list[tuple[Array, Array | None, Array]] = [(nothing, None, nothing)]
    for t in range(1, n_parts):
        before = forward[t - 1] * likelihood[:, t - 1]
        pairs.append((before, steps[t - 1], likelihood[:, t] * backward[t]))
    return _Graph(log_totals, parts, parts[:, -1], pairs)


def _star(likelihood: Array, start: Array, gaps: Array, sd: float) -> _Graph:
    step = _kernel(float(sd), 1.0, likelihood.shape[2])
    messages = likelihood @ step
    log_messages = np.log(np.maximum(messages, np.finfo(float).tiny))
    everything = log_messages.sum(axis=1) + np.log(start)
    log_totals = logsumexp(everything, axis=1)
    common = _normal(np.exp(everything - everything.max(axis=1, keepdims=True)))
    others = everything[:, None, :] - log_messages
    rest = np.exp(others - others.max(axis=2, keepdims=True))
    parts = _normal(likelihood * (rest @ step))
    pairs = [(rest[:, t], step, likelihood[:, t]) for t in range(likelihood.shape[1])]
    return _Graph(np.asarray(log_totals), parts, common, pairs)


def _difference(weights: Array, first: Array, step: Array | None, second: Array) -> Array:
    """Return the mass of second − first: Σ_k w_k·first_k(i)·step(i, j)·second_k(j), each point's total being 1."""
    carried = first if step is None else first @ step
    total = (carried * second).sum(axis=1)
    if not total.any():
        return np.zeros(2 * first.shape[1] - 1)
    scale = weights / np.maximum(total, np.finfo(float).tiny)
    both = (first * scale[:, None]).T @ second
    both = both if step is None else both * step
    n = first.shape[1]
    place = np.arange(n)[None, :] - np.arange(n)[:, None] + n - 1
    return np.asarray(np.bincount(place.ravel(), both.ravel(), 2 * n - 1), dtype=np.float64)


@lru_cache(maxsize=256)
def _kernel(sd: float, gap: float, cells: int) -> Array:
    return reflected_walk(sd**2 * gap / _STEP**2, cells)


def _normal(mass: Array) -> Array:
    return np.asarray(mass / np.maximum(mass.sum(axis=-1, keepdims=True), np.finfo(float).tiny))


def _points(person: PersonParts, mean: Array, spread: Array) -> EffectPoints:
    """Return y = mean + spread·z at the Gauss–Hermite points z, with log w + log N(y; 0, 1) − log N(y; mean, C)."""
    z, w = np.polynomial.hermite_e.hermegauss(_POINTS)
    grid = np.array(list(product(z, repeat=len(mean)))).reshape(_POINTS ** len(mean), len(mean))
    log_w = np.log(w / w.sum())
    weights = np.array([sum(row) for row in product(log_w, repeat=len(mean))], dtype=float)
    own = mean + grid @ spread.T
    log_prior, log_laid = -0.5 * (own**2).sum(axis=1), -0.5 * (grid**2).sum(axis=1) - np.log(np.diag(spread)).sum()
    return EffectPoints.of(person, own, weights + log_prior - log_laid)
