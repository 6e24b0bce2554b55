"""What estimates are based on: the Elo axis, or the papers' agent. How they are written, and the notes below tables.

A study has one basis. It holds what was asked of the games (method, effort, prior, engine), so that every table of Elo
and every JSON document name the same things in the same words.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from skilloscope.chess.human.model import shipped_network
from skilloscope.chess.pgn.facts import FIDE, is_classical
from skilloscope.core.errors import Tally
from skilloscope.evidence import Normal
from skilloscope.evidence.axis import CLOCKS, EVALUATIONS, Across, Effects, PersonEffect
from skilloscope.evidence.scales import scale as agent_scale
from skilloscope.evidence.sources.registry import DECISION_SOURCES
from skilloscope.inputs.load import AnalysedDecisions, engine_of
from skilloscope.inputs.pipeline import AnalysedGames, GameEvidence
from skilloscope.inputs.request import RatingRequest, settings_warnings, source_warnings
from skilloscope.report.table import EDGE_NOTE, engine_line, plural

METHOD_WORDS = {
    "joint": "engine and what people play; in the opening what people play",
    "human": "what people play, no engine",
    "curves": "RH11's curves, what the moves lost after the opening in undecided positions",
    "gain": "FER12's gains against a fixed field, after the opening in undecided positions",
    "all": "all methods side by side; first engine and what people play",
}

_SERVERS = ("lichess.org", "chess.com", "freechess.org", "chessclub.com")
_HARDLY = 0.9  # of a constant's error
_LIKE_FIDE = (
    "plays like FIDE: whose moves in slow games are like these, by the model for play over the board; faster play is "
    "weaker, so the same person may well have a higher FIDE rating"
)
_OF_AXIS = ("name", "axis", "data", "opening_moves", "valid", "pool", "across")
_UNASKED = ("not analysed", "not analysed (time)")


_FROM_GAMES = {
    "opponents": "each player's from the ratings of the opponents, the own rating unused",
    "file": "each player's from what the other players of the games play",
}
_MISSING = {"opponents": "no opponent is rated", "file": "no other player"}


@dataclass(frozen=True)
class PriorUsed:
    """The prior of Elo as reports name it."""

    name: str
    mean: float | None
    sd: float | None
    source: str

    @classmethod
    def of(cls, asked: RatingRequest) -> "PriorUsed":
        """Return the prior of a request; one that needs what the games do not have is the population's."""
        axis, name = asked.axis, asked.prior
        prior = axis.prior(name)
        people = f"{axis.population['name']}: {axis.population['source']}"
        if name == "header":
            own = axis.prior(name, header_elo=0.5 * (prior.low + prior.high))
            sd = own.sd if isinstance(own, Normal) else None
            return cls(name, None, sd, f"the ratings in the games; otherwise: {people}")
        if not isinstance(prior, Normal):
            return cls(name, None, None, f"constant from {prior.low:g} to {prior.high:g}")
        if name in _FROM_GAMES and asked.priors:
            known = [one for one in asked.priors.values() if isinstance(one, Normal)]
            mean, sd = (float(np.mean([getattr(one, what) for one in known])) for what in ("mean", "sd"))
            return cls(
                name, mean, sd, f"{_FROM_GAMES[name]}, on average of {plural(len(known), 'player')}; others: {prior}"
            )
        missing = f"{_MISSING[name]}; " if name in _MISSING and (axis.opponents or name == "file") else ""
        return cls("population", prior.mean, prior.sd, missing + people)

    def __str__(self) -> str:
        numbers = [f"{name} {value:.0f}" for name, value in (("mean", self.mean), ("sd", self.sd)) if value is not None]
        return f"{', '.join([self.name, *numbers])} ({self.source})"


@dataclass(frozen=True)
class EffortUsed:
    """The effort on the axis: how its sources are weighted, and the settings of its search."""

    name: str
    effects: Mapping[str, Effects]
    settings: Mapping[str, object]
    person: PersonEffect | None


@dataclass(frozen=True)
class AxisUsed:
    """The axis as reports name it."""

    name: str
    axis: str
    data: str
    opening_moves: int
    valid: tuple[float, float]
    human_model: str
    pool: str = FIDE
    across: Across | None = None

    FIELDS: ClassVar = ("name", "axis", "data", "opening_moves", "valid", "human_model", "pool", "?across")


@dataclass(frozen=True, eq=False)
class EloBasis:
    """Estimates on the Elo axis."""

    method: str
    effort: EffortUsed
    scale: AxisUsed
    prior: PriorUsed
    engine: Mapping[str, object]  # the settings of the search; none without an engine
    mass: float
    by: str = ""  # what divides the moves, where something does
    warnings: Sequence[str] = ()
    sample: Mapping[str, object] = field(default_factory=dict)  # what a budget took; empty without one
    analysed: AnalysedDecisions | None = None

    FIELDS: ClassVar = (
        "method", "effort", "scale", "prior", "engine", "mass", "warnings", "*optional",
    )  # fmt: skip
    name: ClassVar = "Elo"
    unit: ClassVar = "move"
    person: ClassVar = "player"
    digits: ClassVar = 0

    @classmethod
    def of(cls, found: AnalysedGames, by: str = "", warnings: Sequence[str] = ()) -> "EloBasis":
        """Return what Elo of these games is based on."""
        asked, analysed = found.asked, found.judged
        axis, effort = asked.axis, asked.effort
        return cls(
            method=asked.method,
            effort=EffortUsed(effort.name, effort.effects, effort.settings, effort.person),
            scale=AxisUsed(human_model=axis.model, **{name: getattr(axis, name) for name in _OF_AXIS}),
            prior=PriorUsed.of(asked),
            engine={} if analysed is None else dict(analysed.decisions.about.get("settings", {})),
            by=by,
            mass=asked.mass,
            warnings=warnings,
            sample=found.sample,
            analysed=analysed,
        )

    @property
    def optional(self) -> Mapping[str, object]:
        """What JSON sends only where there is any: the parts, what a budget took, how many positions were searched."""
        known = {"by": self.by, "sample": self.sample, "positions": self.analysed}
        return {name: value for name, value in known.items() if value}

    @property
    def axis(self) -> str:
        """What is estimated, in words."""
        return self.scale.axis

    @property
    def heading(self) -> str:
        """The heading of a table of such estimates."""
        return self.scale.axis

    @property
    def head(self) -> str:
        """The line above the tables: how many positions were searched."""
        return str(self.analysed or "")

    def notes(self, edges: Iterable[str | None], *, extrapolated: bool = False) -> list[str]:
        """Return the notes below every table of Elo: prior, axis, effort, method, range, and what the marks mean."""
        prior, (low, high) = str(self.prior), self.scale.valid
        words = METHOD_WORDS[self.method]
        words += f"; {self.effort.name} in comments" if self.effort.name in (EVALUATIONS, CLOCKS) else ""
        words += f"; {engine_line(self.engine)}" if self.engine else ""
        return [
            f"prior: {prior}",
            f"axis {self.scale.name!r}, effort {self.effort.name!r}, method {self.method!r}: {words}",
            f"fitted from {low:.0f} to {high:.0f}",
            *([_LIKE_FIDE] if self.scale.across else []),
            *(["* outside the range in which the axis was fitted: a direction, not a number"] if extrapolated else []),
            *([EDGE_NOTE] if any(edges) else []),
        ]


@dataclass(frozen=True, eq=False)
class AgentBasis:
    """Estimates of the competence c of the papers' agent."""

    model: Mapping[str, object]
    mass: float
    dispersion: float | None = None  # all evidence was divided by this
    prior: str | None = None
    range: tuple[float, float] | None = None
    engine: Mapping[str, object] | None = None
    analysed: AnalysedDecisions | None = None
    FIELDS: ClassVar = ("model", "?prior", "mass", "?range", "?dispersion", "?engine", "?positions")
    warnings: ClassVar[Sequence[str]] = ()
    name: ClassVar = "c"
    unit: ClassVar = "decision"
    person: ClassVar = "decider"
    digits: ClassVar = 2
    axis: ClassVar = "competence c of the reference agent"

    @property
    def positions(self) -> AnalysedDecisions | None:
        """How many positions were searched, as JSON sends it."""
        return self.analysed

    @property
    def heading(self) -> str:
        """The heading of a table of such estimates."""
        return f"competence c (k = {self.model['k']:g}, rule {self.model['rule']})"

    @property
    def head(self) -> str:
        """The line above the tables: how many positions were searched, and with which engine."""
        return "" if self.analysed is None else f"{self.analysed}; {engine_line(engine_of(self.analysed.decisions))}"

    def notes(self, edges: Iterable[str | None], *, extrapolated: bool = False) -> list[str]:
        """Return the notes below every table of c: prior, dispersion, and what the marks mean."""
        prior = [f"prior of each c: {self.prior}"] if self.prior else []
        dispersion = [] if self.dispersion is None else [f"dispersion {self.dispersion:.2f}"]
        outside = ["* outside the range in which the scale was fitted"] if extrapolated else []
        return ["; ".join([*prior, *dispersion]), *outside, *([EDGE_NOTE] if any(edges) else [])]


Basis = EloBasis | AgentBasis


def left_out(found: AnalysedGames, evidence: GameEvidence) -> Tally:
    """Return what counts for nobody; positions that no engine was asked about are read by the human model."""
    tally = found.games.tally + evidence.tally
    if found.judged is None or found.judged.analyses is None:
        return tally
    counts = found.judged.analyses.tally.counts
    faults = {reason: n for reason, n in counts.items() if reason not in (*_UNASKED, "engine failed")}
    return tally + Tally(faults, found.judged.analyses.tally.faults)


SELECTS = (
    "parts by result select: games are won because the moves were good that day, so for everybody won games come out "
    "above and lost games below the player's level"
)


def elo_warnings(found: AnalysedGames, evidence: GameEvidence, by: str = "") -> list[str]:
    """Return what must be known to read an Elo: another search than the axis's, moves without an answer, pools."""
    games, judged, asked = found.games, found.judged, found.asked
    warnings = [*found.told, *([SELECTS] if by == "result" else [])]
    if judged is not None:
        settings = judged.decisions.about.get("settings", {})
        warnings += settings_warnings(asked.effort, settings)
        warnings += [
            said for kind in asked.kinds if kind in DECISION_SOURCES for said in source_warnings(kind, settings)
        ]
        warnings += judged.decisions.about.get("notes", [])
        warnings += _unsearched(judged, evidence, found.sample)
        warnings += agent_warnings(judged, asked) if asked.method == "all" else []
    if shipped_network(asked.axis.pool).sha256 != asked.axis.model:
        warnings.append(f"the human model is not the one that the axis {asked.axis.name!r} was fitted with")
    if asked.axis.pool != FIDE:
        one = asked.effort.measured.get("one_game", {})
        if one.get("rmse", 0.0) > _HARDLY * one.get("constant_rmse", np.inf):
            worth = f"RMSE {one['rmse']} from one game, a constant {one['constant_rmse']}"
            warnings.append(f"{asked.axis.axis}: hardly better than a constant guess where it was tested ({worth})")
        return warnings
    speeds, sites = (games.headers[name].to_pylist() for name in ("time_control", "site"))
    return [*warnings, *pool_warnings(speeds, sites, games.counts.tolist(), what="moves")]


def agent_warnings(judged: AnalysedDecisions, asked: RatingRequest) -> list[str]:
    """Return how the search differs from the one that the agent's scale was fitted with."""
    line = asked.agent_scale or agent_scale()
    return [f"agent: {said}" for said in line.warnings(line.model, judged.decisions.about.get("settings", {}))]


def pool_warnings(
    time_controls: Sequence[str | None], sites: Sequence[str | None], counts: Sequence[int], *, what: str
) -> list[str]:
    """Return what is known to differ from over-the-board classical play: faster games, games on a server."""
    served = [any(server in (site or "").lower() for server in _SERVERS) for site in sites]
    online = sum(n for on, n in zip(served, counts, strict=True) if on)
    fast = sum(n for text, n in zip(time_controls, counts, strict=True) if is_classical(text) is False)
    warnings = []
    for n, how in ((fast, "at rapid or faster speed"), (online, "played on a server")):
        if n:
            other = "the axis is over-the-board classical play"
            warnings.append(f"{n:,} of {sum(counts):,} {what} are of games {how}; {other}")
    return warnings


def _unsearched(judged: AnalysedDecisions, evidence: GameEvidence, sample: Mapping[str, float]) -> list[str]:
    """Return what the engine was not asked, or did not get to: those moves are read by the human model alone."""
    found = []
    if sample:
        groups = evidence.tables["joint"].groups().items() if "joint" in evidence.tables else ()
        none = [str(label) for label, group in groups if not group.searched and not isinstance(label, tuple)]
        without = f"; without any: {'; '.join(none[:8])}{' and others' if len(none) > 8 else ''}" if none else ""
        found.append(
            f"the budget of {sample['budget_minutes']:g} minutes took {sample['games']:,} games "
            f"of {sample['games_in_all']:,}; the moves of the others are read by the human model alone{without}"
        )
    unasked = 0 if judged.analyses is None else sum(judged.analyses.tally.counts.get(name, 0) for name in _UNASKED)
    if unasked:
        found.append(f"{unasked:,} moves have no answer of the engine: they are read by the human model alone")
    return found
