"""The Elo axis: for each effort, which evidence is used and how it is discounted; the population; the range.

In: a small JSON file that ships, or one that `skilloscope calibrate` wrote; curves of evidence. Out: one posterior of
Elo. The axis is FIDE Elo of over-the-board classical play unless the file says otherwise.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache, partial
from importlib import resources
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.ndimage import convolve1d

from skilloscope.core.columns import Array
from skilloscope.core.errors import InputError, OptionError
from skilloscope.core.text import read_object, typed
from skilloscope.evidence import Evidence, EvidenceTable, Grid, Normal, Posterior, Prior, Uniform
from skilloscope.evidence.posterior import Student, Tabulated, posterior_from_log_density
from skilloscope.evidence.table import EqualSteps
from skilloscope.models.bins import LOSS_FEATURES, TIME_FEATURES, BinWeights
from skilloscope.models.joint import ELO_RANGE, ONLINE_RANGE, JointWeights, elo_range
from skilloscope.models.paired_comparison import discrepancy, expected_against

STEP = 10.0
ELO: Array = np.arange(ONLINE_RANGE[0], ONLINE_RANGE[1] + STEP / 2, STEP)  # where curves are kept and blurred
ELO_GRID = EqualSteps(float(ELO[0]), float(ELO[-1]), len(ELO))

_MIDDLE = 2000.0  # where a stretch leaves ratings as they are
_WIDEST = 10_000.0  # Elo: no spread is wider
_SPREAD = 200.0  # of opponents' ratings, as long as few are known
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
    if sd < step / 100 or logs.size == 0:
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


@dataclass(frozen=True)
class PersonEffect:
    """What the games of a person share: the error of the rating itself, and of moves alone the style.

        L(E) = Σ_u K(u | E)·L_results(u − mean)^results·Σ_v N(v; u, style²)·L_moves(v)·(p(u)/p(E))^opponents
        K = (1 − w)·N(E + mean, sd²) + w·N(E + mean, sd² + tail_sd²)

    mean (of moves), sd and w are straight lines between the Elos of `elo`; u lies in `within`. The tail is of people
    who play at another level than they are rated; most are young. p is the prior from the opponents' ratings.
    """

    elo: tuple[float, ...]
    mean: tuple[float, ...]
    sd: tuple[float, ...]
    tail: tuple[float, ...]
    tail_sd: float
    within: tuple[float, float] = ELO_RANGE
    style: float = 0.0
    results: float = 0.0
    """How far results count; 0 where it was not fitted."""
    opponents: float = 0.0
    """The share of the prior from opponents that is about u: who is paired by score meets equals in strength."""

    def variance(self, elo: float) -> float:
        """Return the variance of the effect on the moves of people of an Elo."""
        sd, tail = (float(np.interp(elo, self.elo, line)) for line in (self.sd, self.tail))
        return sd**2 + tail * self.tail_sd**2 + self.style**2

    def shared(
        self,
        curve: npt.ArrayLike,
        grid: Array = ELO,
        results: npt.ArrayLike | None = None,
        opponents: npt.ArrayLike | None = None,
    ) -> Array:
        """Return what curves of moves on a grid of equal steps (the last axis), and of results, say of Elo.

        `opponents` is the log-density of a prior from opponents: what is returned goes with that prior.

        >>> effect = PersonEffect((700, 3000), (0, 0), (75, 75), (0, 0), 300)
        >>> peak = -0.5 * ((ELO - 1800) / 100) ** 2
        >>> float((effect.shared(peak) - -0.5 * ((ELO - 1800) / 125) ** 2)[80:140].std()) < 1e-3
        True
        """
        logs = blurred(curve, self.style, float(grid[1] - grid[0]))
        if results is not None:
            place = grid - np.interp(grid, self.elo, self.mean)
            logs = logs + self.results * np.apply_along_axis(partial(np.interp, place, grid), -1, np.asarray(results))
        share = 0.0 if opponents is None else self.opponents * np.asarray(opponents, dtype=float)
        logs = logs + share
        top = logs.max(axis=-1, keepdims=True)
        spread = np.exp(np.maximum(logs - top, _DEEPEST)) @ _person_kernel(
            self, float(grid[0]), float(grid[-1]), len(grid)
        )
        return np.asarray(np.log(np.maximum(spread, np.exp(_DEEPEST))) + top - share)


@lru_cache(maxsize=16)
def _person_kernel(effect: PersonEffect, low: float, high: float, size: int) -> Array:
    """Return K, a column for each E."""
    grid = np.linspace(low, high, size)
    mean, sd, tail = map(partial(np.interp, grid, effect.elo), (effect.mean, effect.sd, effect.tail))
    outside = (grid < effect.within[0]) | (grid > effect.within[1])
    found = np.zeros((size, size))
    for weight, wide in ((1 - tail, sd), (tail, np.hypot(sd, effect.tail_sd))):
        logs = -0.5 * ((grid[:, None] - grid - mean) / np.maximum(wide, (grid[1] - grid[0]) / 4)) ** 2
        logs[outside] = -np.inf
        mass = np.exp(logs - logs.max(axis=0))
        found += weight * mass / mass.sum(axis=0)
    return found


def combined(
    sources: Mapping[str, npt.ArrayLike],
    effects: Mapping[str, Effects],
    person: PersonEffect | None = None,
    results: npt.ArrayLike | None = None,
    opponents: npt.ArrayLike | None = None,
) -> Array:
    """Return what all sources say of one person: each has its own effects; all, and results, share the person's."""
    total = np.zeros_like(ELO)
    for name, games in sources.items():
        total = total + person_curve(games, effects[name])
    return total if person is None or not sources else person.shared(total, ELO, results, opponents)


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
    shared: float = 0.0,
    style: float = 0.0,
    result: float = 0.0,
) -> int | None:
    """Return how many further games bring one person's sd to the goal; None where no number of them does.

    `shared` is the variance of what moves and results share, `style` that of what moves alone do; `result` is the
    precision that one result adds.

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
        moves = sum(1.0 / (stays + 1.0 / (p * (games + more))) for p, stays in own)
        both = result * (games + more) + (1.0 / (style + 1.0 / moves) if moves > 0 else 0.0)
        if both > 0 and before + 1.0 / (shared + 1.0 / both) >= (1 - 1e-9) / goal**2:
            return more
    return None


def _bend(rows: Array, effects: Effects, elo: float) -> float:
    """Return how sharply the games together bend about an estimate, before the person's own effect."""
    curve = blurred(effects.temper * np.atleast_2d(rows), effects.game_sd).sum(axis=0)
    centre = float(np.clip(elo, ELO[0] + _BEND, ELO[-1] - _BEND))
    low, middle, high = np.interp([centre - _BEND, centre, centre + _BEND], ELO, curve)
    return float(2 * middle - low - high) / _BEND**2


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


SCHEMA = 1
EFFORTS = ("instant", "quick", "full")
EVALUATIONS = "evaluations"
"""The effort of games that bring their evaluations: no engine is asked, what moves lost is evidence as well."""
CLOCKS = "clocks"
"""The effort of a pool in which the time that moves took is evidence as well, where games bring their clocks."""
PRIORS = ("opponents", "population", "flat", "header", "file")
DEFAULT_PRIOR = "opponents"
HEADER_SD = 100.0


@dataclass(frozen=True)
class Axis:
    """What evidence is about: a parameter with its grid, prior, effects, range and wording."""

    parameter: str  # `Elo`, or `c` of the papers' agent
    wording: str  # what the parameter measures, in words: `FIDE Elo, over-the-board classical play`
    grid: Grid
    prior: Prior
    effects: Mapping[str, Effects]
    """How far each source counts; none where curves are added as they are, divided by the dispersion."""
    valid: tuple[float, float]
    dispersion: float = 1.0
    person: PersonEffect | None = None

    def curve(
        self, table: EvidenceTable, results: npt.ArrayLike | None = None, opponents: npt.ArrayLike | None = None
    ) -> Array:
        """Return what the rows of a table say together, with one person's results: people are independent."""
        if not self.effects:
            return np.asarray(table.curves.sum(axis=0) / self.dispersion)
        total = np.zeros(self.grid.size)
        for sources in table.by_person().values():
            total = total + combined(sources, self.effects, self.person, results, opponents)
        return total

    def posterior(
        self, table: EvidenceTable, prior: Prior | None = None, results: npt.ArrayLike | None = None
    ) -> Posterior:
        """Return the posterior of the parameter given the rows, under the axis's prior unless another is given."""
        met = prior.log_density(self.grid.nodes) if isinstance(prior, Student) else None
        return Evidence(self.grid, self.curve(table, results, met), table.moves).posterior(prior or self.prior)

    def extrapolates(self, value: float) -> bool:
        """Return whether a value lies outside the range in which the axis was fitted."""
        return not self.valid[0] <= value <= self.valid[1]


@dataclass(frozen=True)
class Effort:
    """What one effort costs and uses: the engine's settings (none: the human model alone), sources and weights."""

    name: str
    effects: Mapping[str, Effects]
    settings: Mapping[str, Any] = field(default_factory=dict)
    weights: JointWeights | None = None
    measured: Mapping[str, Any] = field(default_factory=dict)
    losses: BinWeights | None = None  # the weights of single evaluations
    times: BinWeights | None = None  # the weights of the time that single moves took
    person: PersonEffect | None = None  # what all sources share; None where each source has all of it to itself


@dataclass(frozen=True)
class OpponentsPrior:
    """The prior of a player who met n opponents, their ratings having mean m and variance v: Student's t with

        mean = centre + slope·n/(n + pull)·(m − 2000) + tilt·(S − 200),   variance = stays² + spread·S² + once²/n

    and S² = ((n − 1)·v + 3·200²)/(n + 2): the spread as far as n ratings show it.
    """

    centre: float
    slope: float
    pull: float
    tilt: float
    stays: float
    spread: float
    once: float
    df: float

    def prior(self, ratings: npt.ArrayLike) -> Student:
        """Return the prior of a player who met opponents of these ratings.

        >>> regression = OpponentsPrior(2000, 1.4, 0.7, 0.6, 100, 0.25, 200, 12)
        >>> print(regression.prior([2200, 2100, 2300, 2250]))
        t with 12 degrees of freedom, mean 2225, sd 161, on [700, 3000]
        """
        met = np.asarray(ratings, dtype=float)
        mean, sd = self.moments(len(met), met.mean(), ((met - met.mean()) ** 2).sum())
        return Student(float(np.clip(mean, *ELO_RANGE)), float(sd), *ELO_RANGE, self.df)

    def moments(self, n: npt.ArrayLike, mean: npt.ArrayLike, squares: npt.ArrayLike) -> tuple[Array, Array]:
        """Return mean and sd of priors, given how many opponents, their mean, and their squared distances from it."""
        met = np.asarray(n, dtype=float)
        s2 = (np.asarray(squares) + 3 * _SPREAD**2) / (met + 2)
        middle = self.centre + self.slope * met / (met + self.pull) * (np.asarray(mean) - _MIDDLE)
        return middle + self.tilt * (np.sqrt(s2) - _SPREAD), np.sqrt(
            self.stays**2 + self.spread * s2 + self.once**2 / met
        )


def pool_priors(curves: npt.ArrayLike, population: Normal) -> list[Tabulated]:
    """Return what the others of a file say of each of its players, whose curves on ELO are the rows.

    The Elos of a pool are N(m, s²); s is one of eight shares of the population's sd and m is such that a pool nobody
    has seen is the population. Each is weighted by the likelihood of all curves but the player's own.
    """
    share = np.arange(2, 10) / 10 * population.sd
    middle = population.mean + np.linspace(-2.5, 2.5, 51) * population.sd
    m, s = (column.ravel() for column in np.meshgrid(middle, share, indexing="ij"))
    log_weight = -0.5 * ((m - population.mean) / population.sd) ** 2 * (1 / (1 - (s / population.sd) ** 2))
    log_weight -= 0.5 * np.log(1 - (s / population.sd) ** 2)
    inside = (population.low <= ELO) & (population.high >= ELO)
    pools = np.where(inside, np.exp(-0.5 * ((ELO - m[:, None]) / s[:, None]) ** 2), 0.0)
    pools /= pools.sum(axis=1, keepdims=True)
    logs = np.atleast_2d(np.asarray(curves, dtype=float))
    own = np.log(np.maximum(np.exp(logs - logs.max(axis=1, keepdims=True)) @ pools.T, np.finfo(float).tiny))
    others = own.sum(axis=0) - own + log_weight
    weights = np.exp(others - others.max(axis=1, keepdims=True))
    return [Tabulated.of(ELO, row) for row in weights / weights.sum(axis=1, keepdims=True) @ pools]


@dataclass(frozen=True)
class Across:
    """From ratings of a pool to the FIDE Elo that moves alike in slow games: lines between points, ± sd of people."""

    ratings: tuple[float, ...]
    elo: tuple[float, ...]
    sd: float

    def fide(self, found: Posterior, mass: float) -> tuple[float, float, float] | None:
        """Return which FIDE Elo moves like a posterior of the pool, with an interval; None beyond the points."""
        if not self.ratings[0] <= found.mean <= self.ratings[-1]:
            return None
        at, weight = np.interp(found.at, self.ratings, self.elo), found.density / found.density.sum()
        mean = float(weight @ at)
        apart = NormalDist().inv_cdf(0.5 + mass / 2) * float(np.sqrt(weight @ (at - mean) ** 2 + self.sd**2))
        return mean, mean - apart, mean + apart


@dataclass(frozen=True)
class EloAxis:
    """Efforts by name, the population that the default prior describes, and the range in which all was fitted."""

    name: str
    efforts: Mapping[str, Effort]
    population: Mapping[str, Any]
    valid: tuple[float, float]
    data: str
    model: str  # the hash of the human model's weights: evidence by another is not on this axis
    opening_moves: int = 12
    opponents: OpponentsPrior | None = None  # what the ratings of opponents say; None where it was not fitted
    axis: str = "FIDE Elo, over-the-board classical play"
    schema: int = SCHEMA
    pool: str = "fide"  # whose ratings these are: it decides which human model is asked
    across: Across | None = None
    """Where its ratings lie among FIDE's; None for FIDE itself and where it was not measured."""

    @classmethod
    def from_json(cls, text: str, *, source: str = "axis") -> "EloAxis":
        """Read an axis; one of another schema or with fields missing is refused."""
        try:
            raw = read_object(text)
            if raw.get("schema") != SCHEMA:
                raise InputError(f"schema {raw.get('schema')}, this version reads {SCHEMA}")
            for name, given in raw["efforts"].items():
                given["name"] = name
            found: EloAxis = typed(cls, raw)
            found._check()
            return found
        except (ValueError, KeyError, TypeError, AttributeError) as error:  # InputError is a ValueError
            raise InputError(
                f"{source}: not an Elo axis ({error})", hint="`skilloscope calibrate` writes one"
            ) from error

    def _check(self) -> None:
        """Raise where a number cannot be what it stands for: an axis is a file that people edit."""
        people = self.population
        typed(tuple[str, str, float, float], list(map(people.get, ("name", "source", "mean", "sd"))), "population")
        shares: tuple[float, ...] = typed(tuple[float, ...], list(people.get("shares", [0.0])), "population")
        if min(shares) < 0 or not (
            1 <= people["sd"] <= _WIDEST and self.valid[0] < self.valid[1] and 0 <= self.opening_moves <= 1000
        ):
            raise InputError("an sd of the population below 1, an empty range of validity, or moves of no opening")
        for effort in self.efforts.values():
            for one in effort.effects.values():
                if min(one.temper, one.game_sd, one.person_sd) < 0 or max(one.game_sd, one.person_sd) > _WIDEST:
                    raise InputError("an effect that is negative or too wide")
            for weights, names in ((effort.losses, LOSS_FEATURES), (effort.times, TIME_FEATURES)):
                if weights is not None and tuple(weights.features) != names:
                    raise InputError("weights of losses and of times that are mistaken for each other")
            if (person := effort.person) is not None:
                lists = person.elo, person.mean, person.sd, person.tail
                if {*map(len, lists)} != {max(1, len(set(person.elo)))} or list(person.elo) != sorted(person.elo):
                    raise InputError("the effect of a person is not by ascending Elos")
                least = min(*person.sd, *person.tail, person.tail_sd, person.style, person.results, person.opponents)
                if least < 0 or max(*person.sd, person.tail_sd, person.style, person.results) > _WIDEST:
                    raise InputError("an effect of a person that is negative or too wide")
                if max(*person.tail, person.opponents) > 1 or person.within[0] >= person.within[1]:
                    raise InputError("an effect of a person with a share above 1, or within an empty range")

    def to_json(self) -> str:
        """Return the axis as JSON text."""
        plain = {name: value for name, value in vars(self).items() if name not in ("efforts", "across")}
        plain["opponents"] = asdict(self.opponents) if self.opponents else None
        plain |= {"across": asdict(self.across)} if self.across else {}
        efforts = {
            name: {
                "effects": {source: vars(effects) for source, effects in effort.effects.items()},
                "settings": dict(effort.settings),
                "weights": effort.weights.as_dict() if effort.weights else None,
                "measured": dict(effort.measured),
                **({"losses": effort.losses.as_dict()} if effort.losses else {}),
                **({"times": effort.times.as_dict()} if effort.times else {}),
                **({"person": asdict(effort.person)} if effort.person else {}),
            }
            for name, effort in self.efforts.items()
        }
        return json.dumps({**plain, "efforts": efforts}, indent=1, ensure_ascii=False) + "\n"

    def effort(self, name: str) -> Effort:
        """Return an effort by name."""
        if name not in self.efforts:
            raise OptionError(
                f"no effort {name!r} on the axis {self.name!r}", hint=f"efforts: {', '.join(self.efforts)}"
            )
        return self.efforts[name]

    def prior(self, name: str = "population", *, header_elo: float | None = None) -> Prior:
        """Return a prior of Elo by name: `population` (named in the axis), `flat`, or `header` (the player's rating).

        `opponents` and `file` are of a player among others; of anybody, as `header` without one, they are `population`.
        """
        if name not in PRIORS:
            raise OptionError(f"no prior {name!r} for Elo", hint=f"the priors: {', '.join(PRIORS)}")
        within = elo_range(self.pool)
        if name == "flat":
            return Uniform(*within)
        if name == "header" and header_elo is not None:
            return Normal(header_elo, HEADER_SD, *within)
        if "shares" in self.population:
            shares = np.array(self.population["shares"], dtype=float)
            return Tabulated.of(np.linspace(*within, len(shares)), shares)
        return Normal(self.population["mean"], self.population["sd"], *within)

    def posterior(self, sources: Mapping[str, npt.ArrayLike], effort: str, prior: Prior) -> Posterior:
        """Return the posterior of one person's Elo from the curves of his games, by source (a row for each game)."""
        used = self.effort(effort)
        return elo_posterior(combined(sources, used.effects, used.person), prior)

    def measured_by(
        self, effects: Mapping[str, Effects], prior: str = "population", person: PersonEffect | None = None
    ) -> Axis:
        """Return the axis on which evidence with these effects is read; the prior is that of anybody."""
        return Axis("Elo", self.axis, ELO_GRID, self.prior(prior), effects, self.valid, person=person)

    def extrapolates(self, elo: float) -> bool:
        """Return whether an Elo lies outside the range in which the axis was fitted."""
        return not self.valid[0] <= elo <= self.valid[1]


def elo_posterior(curve: npt.ArrayLike, prior: Prior) -> Posterior:
    """Return the posterior of Elo from a curve on ELO."""
    logs = np.asarray(curve, dtype=float)
    return posterior_from_log_density(
        lambda at: np.interp(at, ELO, logs) + prior.log_density(at), prior.low, prior.high, prior=str(prior)
    )


def elo_axis(name: str = "default") -> EloAxis:
    """Return the axis that ships, or the one in a JSON file.

    >>> elo_axis().axis
    'FIDE Elo, over-the-board classical play'
    """
    if name.endswith(".json"):
        path = Path(name)
        if not path.is_file():
            raise InputError(f"{name}: no such file", hint="an axis is a JSON file, or `default`")
        return EloAxis.from_json(path.read_text(encoding="utf-8", errors="replace"), source=name)
    file = resources.files("skilloscope") / "data" / "scales" / f"axis-{'default' if name == 'fide' else name}.json"
    if not file.is_file():
        raise OptionError(f"no Elo axis {name!r}", hint="`default` and the pools are bundled; any other is a JSON file")
    return EloAxis.from_json(file.read_text(encoding="utf-8"), source=name)
