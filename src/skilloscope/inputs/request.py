"""What is asked of games: the axis, method, effort and prior, how moves are grouped, and what contradicts itself."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from skilloscope.chess.human.model import CachedHuman, Human, human
from skilloscope.chess.human.played import GROUPINGS
from skilloscope.chess.pgn.facts import AUTO, FIDE, checked_pool
from skilloscope.core.errors import InputError, OptionError, check_mass
from skilloscope.evidence import EvidenceTable, Posterior, Prior
from skilloscope.evidence.axis import CLOCKS, DEFAULT_PRIOR, EVALUATIONS, Axis, Effects, Effort, EloAxis, elo_axis
from skilloscope.evidence.scales import Scale
from skilloscope.evidence.sources.registry import DECISION_SOURCES

KEPT_GAMES = 2000
"""Games up to which what people play is kept next to the store: some 70 kB each."""
METHODS = ("joint", "human", "agent", "curves", "gain", "all")
_INSTANT = "instant"
COMPARED = ("engine", "net", "depth", "nodes", "multipv", "hash_mb", "fen_rule", "options")
"""What of a search changes its answers."""


def effort_for(axis: EloAxis, method: str | None, effort: str | None, depth: int | None = None) -> Effort:
    """Return the effort asked for, else by the method, else the deepest of that depth; contradictions are refused."""
    if method is not None and method not in METHODS:
        raise OptionError(f"no method {method!r}", hint=f"the methods: {', '.join(METHODS)}")
    if effort is not None:
        found = axis.effort(effort)
        if method == "human" and found.weights is not None:
            raise OptionError(f"the method 'human' asks no engine, the effort {effort!r} does", hint="leave one out")
        if method not in (None, "human") and found.weights is None:
            raise OptionError(
                f"the method {method!r} needs an engine, the effort {effort!r} has none", hint="quick or full"
            )
        return found
    if method == "human":
        return axis.effort(_INSTANT)
    searching = [one for one in axis.efforts.values() if one.weights is not None]
    if not searching:
        if method is not None:
            raise InputError(f"the axis {axis.name!r} has no effort with an engine", hint="--method human")
        return axis.effort(_INSTANT)
    searching.sort(key=lambda one: one.settings.get("depth") or 0)
    reached = [one for one in searching if depth is None or (one.settings.get("depth") or 0) <= depth]
    return (reached or searching[:1])[-1]


def settings_warnings(effort: Effort, settings: Mapping[str, Any]) -> list[str]:
    """Return how a search differs from the one that the effort was fitted with, in words."""
    return [
        f"{name} is {settings.get(name)!r}, the effort {effort.name!r} was fitted with {effort.settings[name]!r}: "
        "no scale was fitted for this"
        for name in COMPARED
        if name in effort.settings and settings.get(name) != effort.settings[name]
    ]


def source_warnings(method: str, settings: Mapping[str, Any]) -> list[str]:
    """Return how a search differs from the one that a method over decisions was fitted with."""
    own = DECISION_SOURCES[method].settings()
    return [
        f"{method}: {name} is {settings.get(name)!r}, the scale was fitted with {own[name]!r}"
        for name in COMPARED
        if name in own and settings.get(name) != own[name]
    ]


@dataclass(frozen=True)
class RatingRequest:
    """How games are to be rated: the axis, the effort on it, the method, the prior, the groups and the intervals."""

    axis: EloAxis
    effort: Effort
    method: str
    prior: str = DEFAULT_PRIOR
    by: str = "player"
    mass: float = 0.95
    agent_scale: Scale | None = None
    model: Human | None = None  # what people play, with a memory where there is a store
    workers: int = 1
    pool: str = ""  # the pool of the games: `auto` by their tags, a name, or nothing where the axis was asked for
    progress: Callable[[int, int], None] | None = None
    priors: Mapping[str, Prior] | None = None
    """What the games say of players before any move of theirs: by `opponents` or by `file`; None until it is known."""

    def __post_init__(self) -> None:
        check_mass(self.mass)
        if self.by not in GROUPINGS:
            raise OptionError(f"no column {self.by!r}", hint=f"the columns: {', '.join(GROUPINGS)}")
        self.axis.prior(self.prior)
        if self.pool not in ("", AUTO):
            checked_pool(self.pool)

    @classmethod
    def of(
        cls,
        axis: EloAxis | None = None,
        method: str | None = None,
        effort: str | None = None,
        *,
        depth: int | None = None,
        **more: Any,
    ) -> "RatingRequest":
        """Return the rating that was asked for, the rest by default; `depth` is the depth asked for."""
        found = axis or elo_axis()
        chosen = effort_for(found, method, effort, depth)
        pool = more.pop("pool", None) or (AUTO if axis is None and method in (None, "human") else "")
        return cls(found, chosen, method or ("joint" if chosen.weights else "human"), pool=pool, **more)

    def for_pool(self, pool: str) -> "RatingRequest":
        """Return the same on the axis of a pool; instead of an effort it lacks what the games bring is used."""
        if pool in ("", FIDE):
            return replace(self, pool="")
        axis = elo_axis(pool)
        known = (name for name in (self.effort.name, CLOCKS, EVALUATIONS, _INSTANT) if name in axis.efforts)
        effort = axis.efforts[next(known)]
        return replace(self, pool="", axis=axis, method="human", effort=effort, model=None)

    @property
    def needs_engine(self) -> bool:
        """Whether an engine is asked."""
        return self.method != "human"

    def without_engine(self) -> "RatingRequest":
        """Return the same by what people play alone."""
        return replace(self, method="human", effort=effort_for(self.axis, "human", None))

    @property
    def kinds(self) -> tuple[str, ...]:
        """The models of choice whose evidence is read, that of the main figure first."""
        return ("joint", "human", *DECISION_SOURCES) if self.method == "all" else (self.method,)

    @property
    def effects(self) -> dict[str, Effects]:
        """How far each source counts."""
        read = {kind: DECISION_SOURCES[kind].effects() for kind in self.kinds if kind in DECISION_SOURCES}
        return {**self.effort.effects, **read}

    @cached_property
    def elo(self) -> Axis:
        """The axis of Elo on which the evidence of the main method is read."""
        return self.elo_by(self.kinds[0])

    def elo_by(self, method: str) -> Axis:
        """Return the axis on which the evidence of a method is read; those over decisions have all effects inside."""
        return self.axis.measured_by(self.effects, person=None if method in DECISION_SOURCES else self.effort.person)

    def prior_of(self, rows: EvidenceTable) -> Prior:
        """Return the prior of the person whose evidence the rows are; of several people that of anybody."""
        people = set(rows.people)
        known = self.priors.get(people.pop()) if self.priors and len(people) == 1 else None
        return known or self.axis.prior(self.prior, header_elo=rows.header_elo if self.prior == "header" else None)

    def posteriors(self, rows: Mapping[str, EvidenceTable]) -> dict[str, Posterior]:
        """Return the posterior of Elo by each method, under one prior: the one place where an Elo is computed."""
        prior = self.prior_of(next(iter(rows.values())))
        axes = {method: self.elo if method == self.kinds[0] else self.elo_by(method) for method in rows}
        return {method: axes[method].posterior(own, prior) for method, own in rows.items()}

    def posterior(self, rows: EvidenceTable) -> Posterior:
        """Return the posterior of Elo given some rows of evidence of the main method."""
        return self.posteriors({self.kinds[0]: rows})[self.kinds[0]]

    def model_for(self, games: int) -> Human:
        """Return the human model to ask; one with a cache is not asked about more games than it should keep."""
        known = None if isinstance(self.model, CachedHuman) and games > KEPT_GAMES else self.model
        return known or human(self.axis.pool)
