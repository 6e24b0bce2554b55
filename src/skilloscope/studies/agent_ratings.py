"""Ratings by the papers' agent: evidence from decisions, read along a scale, with statistics of the same decisions.

In: decisions of any chess games. Out: `AgentRatings`: for each player (or group) the posterior of c and of Elo, move
match and mean loss; players without a usable decision are named.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from scipy.stats import binomtest

from skilloscope.core.errors import InputError, check_mass
from skilloscope.decision import Decisions
from skilloscope.evidence import Evidence, EvidenceTable, Posterior, Prior, Uniform, agent_evidence
from skilloscope.evidence.scales import Scale, elo_prior
from skilloscope.evidence.scales import scale as load_scale
from skilloscope.inputs.load import AnalysedDecisions, engine_of
from skilloscope.models.agent import Agent
from skilloscope.report import table as report_table
from skilloscope.report.charts import MOST_ROWS, Densities, Dot, Figure, Forest, Lines, Series
from skilloscope.report.page import Section
from skilloscope.report.study import Study
from skilloscope.report.table import Column, CompetenceEstimate, EloEstimate, Table, engine_line, group_name, percent
from skilloscope.studies.basis import pool_warnings

NO_DECISION = "no decision after the opening in an undecided position"  # why a player cannot be rated by losses
FEWEST = 10  # decisions below which tables show neither move match nor mean loss: they would be noise
_FEW = 20  # decisions, below which a rating is little more than its prior and is noted
_MOST_LINES = 8
CANNOT_TELL = (
    "A few dozen decisions carry little information: look at the interval before the number.",
    "The rating is of the play in these games under this engine, depth and list, not of the person.",
    "It does not know how hard the positions were for a human, the clock, or the aim of the game.",
)


@dataclass(frozen=True)
class MoveStatistics:
    """How often the engine's first move was played, with its interval, and what a move lost on average, in pawns."""

    move_match: float | None = None
    move_match_low: float | None = None
    move_match_high: float | None = None
    mean_loss: float | None = None

    @classmethod
    def of(cls, batch: Decisions, mass: float) -> "MoveStatistics":
        """Return the statistics of some decisions."""
        matched = int((batch.chosen == 0).sum())
        match = binomtest(matched, len(batch)).proportion_ci(mass, method="wilson")
        loss = float(batch.loss_with_floor().mean())
        return cls(matched / len(batch), float(match.low), float(match.high), loss)

    def cells(self, decisions: int, *, interval: bool = False) -> tuple[str, str]:
        """Return both as tables show them; a dash where fewer than ten decisions count."""
        if self.move_match is None or self.mean_loss is None or decisions < FEWEST:
            return "–", "–"
        low, high = self.move_match_low or 0.0, self.move_match_high or 0.0
        reach = f" ({percent(low)} to {percent(high)})" if interval else ""
        return percent(self.move_match) + reach, f"{self.mean_loss:.2f}"


@dataclass(frozen=True)
class MethodElo:
    """An Elo by one method, without its edge."""

    elo: float
    elo_low: float
    elo_high: float

    @classmethod
    def of(cls, posterior: Posterior, mass: float) -> "MethodElo":
        """Return the estimate that a posterior gives."""
        return cls(posterior.mean, *posterior.interval(mass))

    def __str__(self) -> str:
        return f"{self.elo:.0f} ({self.elo_low:.0f} to {self.elo_high:.0f})"


@dataclass(frozen=True)
class AgentFigures:
    """The agent's competence, and its Elo where its scale fits the search."""

    c: CompetenceEstimate
    elo: MethodElo | None

    FIELDS: ClassVar = ("*c", "*elo")

    def __str__(self) -> str:
        return "–" if self.elo is None else str(self.elo)


@dataclass(frozen=True, eq=False)
class PlayerRating:
    """One player's (or group's) rating: the posteriors of c and of Elo, and statistics of the same decisions."""

    player: str
    games: int
    decisions: int
    evidence: Evidence
    c: Posterior
    elo: Posterior
    mass: float
    statistics: MoveStatistics
    unlisted: int
    extrapolated: bool

    FIELDS: ClassVar = (
        "player", "games", "decisions", "*estimate", "extrapolated", "elo.prior", "*statistics", "unlisted", "methods",
    )  # fmt: skip

    @property
    def estimate(self) -> EloEstimate:
        """The Elo with its interval."""
        return EloEstimate.of(self.elo, self.mass)

    @property
    def figures(self) -> AgentFigures:
        """Competence and Elo."""
        return AgentFigures(CompetenceEstimate.of(self.c, self.mass), MethodElo.of(self.elo, self.mass))

    @property
    def methods(self) -> Mapping[str, AgentFigures]:
        """The agent's figures, under its name."""
        return {"agent": self.figures}


@dataclass(frozen=True)
class Unrated:
    """A player who cannot be rated, with the reason."""

    player: str
    reason: str


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AgentRatings(Study):
    """Everybody's ratings by the agent, strongest first."""

    players: Sequence[PlayerRating]
    unrated: Sequence[Unrated]  # players of whom no decision could be used
    scale: Scale
    engine: Mapping[str, Any]
    model: Mapping[str, Any]
    mass: float
    by: str = "player"
    decisions: Decisions | None = None
    analysed: AnalysedDecisions | None = None  # where the answers came from, for reports of files

    method: ClassVar[str] = "agent"
    ROWS: ClassVar = "players"

    @property
    def FIELDS(self) -> tuple[str, ...]:  # type: ignore[override]
        """What JSON sends: where the answers came from, too, where that is known."""
        more = ("positions",) if self.analysed else ()
        return ("method", "engine", "model", "scale", "mass", "warnings", "skipped", "players", "unrated", *more)

    def __repr__(self) -> str:
        return f"<AgentRatings: {len(self.players):,} by the agent, scale {self.scale.name}; skipped: {self.tally}>"

    @property
    def positions(self) -> Mapping[str, int]:
        """How many positions were searched, and how many answers were known."""
        return self.analysed.as_dict() if self.analysed else {}

    @property
    def title(self) -> str:
        """How many are rated."""
        return ratings_title(len(self.players), self.by)

    @property
    def head(self) -> str:
        """Where the answers came from."""
        return f"{self.analysed}; {engine_line(self.engine)}" if self.analysed else ""

    caveats = CANNOT_TELL

    def tables(self, top: int | None = None, *, full: bool = False) -> Sequence[Table]:
        """Return the table; in `full` with the interval of the move match, and how to read the numbers."""
        level = f"Elo ({100 * self.mass:g} % interval)"
        columns: list[Column[PlayerRating]] = [
            Column(self.by, lambda one: one.player, label=True),
            Column("games", lambda one: f"{one.games:,}"),
            Column("decisions", lambda one: f"{one.decisions:,}"),
            Column(level, lambda one: f"{one.estimate}{' *' if one.extrapolated else ''}"),
            Column("c", lambda one: str(one.figures.c)),
            Column("move match", lambda one: one.statistics.cells(one.decisions, interval=full)[0]),
            Column("mean loss", lambda one: one.statistics.cells(one.decisions)[1]),
        ]
        priors = list(dict.fromkeys(one.elo.prior for one in self.players))
        prior = priors[0] if len(priors) == 1 else "each player's own, in the JSON" if priors else "none"
        low, high = self.scale.valid
        edges = any(one.elo.edge or one.c.edge for one in self.players)
        notes = [
            report_table.skipped_line(sum(one.decisions for one in self.players), self.skipped),
            "* outside the range in which the scale was fitted" if any(p.extrapolated for p in self.players) else "",
            report_table.EDGE_NOTE if edges else "",
            f"prior: {prior}; scale {self.scale.name!r} of the agent, fitted from {low:.0f} to {high:.0f}",
            f"no usable decision of: {'; '.join(one.player for one in self.unrated)}" if self.unrated else "",
            *(self._explained(priors) if full else []),
        ]
        return [Table.of(self.scale.axis, self.players[:top], columns, notes=notes)]

    def _explained(self, priors: Sequence[str]) -> list[str]:
        low, high = self.scale.valid
        return [
            "Mean loss in pawns",
            f"Prior of Elo: {'; '.join(priors)}",
            f"The scale was fitted from {low:.0f} to {high:.0f}: outside of that an Elo is a direction, not a number",
            f"The intervals include the dispersion between games ({self.scale.dispersion:.2f} times the model's "
            "variance) and the scale's own error. They assume that a player's games scatter independently about one "
            "strength; a bias of this engine for or against a player's style is the same in every game, and more "
            "games do not reduce it",
        ]

    def figures(self) -> Sequence[Figure]:
        """Return Elo with intervals, the densities of c, and how often they lost how much."""
        if not self.players:
            return ()
        several = self.players[:_MOST_LINES]
        density = Densities([(one.player, one.c) for one in several], "competence c of the reference agent")
        caption = "The posterior of c before it is read as Elo and widened by the scale's dispersion."
        return [
            elo_forest([(one.player, one.estimate) for one in self.players], self.scale.axis, self.scale.valid),
            Figure("Competence", density, caption),
            *([loss_lines(self.decisions, [p.player for p in several], self.by)] if self.decisions is not None else []),
        ]

    def sections(self) -> Sequence[Section]:
        """Return the table with all its notes, then the figures."""
        (table,) = self.tables(full=True)
        heading = f"Ratings: {table.title}"
        return [Section.from_table(table, heading), *map(Section.from_figure, self.figures())]

    def page(self, source: str = "", *, title: str = "") -> str:
        """Return the page; below the source it says which engine and which model."""
        model = f"k = {self.model['k']}, choice-set rule “{self.model['rule']}”"
        return super().page(f"{source}\n{engine_line(self.engine)} · {model}", title=title)


def ratings_title(n: int, by: str) -> str:
    """Return how many players or groups are rated, in words."""
    return (
        f"Ratings of {report_table.plural(n, 'player')}"
        if by == "player"
        else f"Ratings of {report_table.plural(n, 'group')} by {by}"
    )


def elo_forest(
    rows: Sequence[tuple[str, EloEstimate]],
    axis: str,
    valid: tuple[float, float],
    *,
    heading: str = "Elo from the moves",
    truth: Mapping[str, float] | None = None,
) -> Figure:
    """Return everybody's Elo with its interval; a cross where a simulated player's is known."""
    known, dots = truth or {}, []
    for name, one in rows[:MOST_ROWS]:
        cross = [Dot(known[name], colour=1, marker="x")] if name in known else []
        dots.append((name, [Dot(one.elo, one.elo_low, one.elo_high), *cross]))
    caption = "Point: posterior mean; line: interval; shaded: the range in which the scale was fitted."
    return Figure(heading, Forest(dots, axis, span=valid), caption + (" Cross: true Elo." if known else ""))


def loss_lines(decisions: Decisions, names: Sequence[str], by: str = "player") -> Figure:
    """Return how often each player (or group) lost at least so much: the share of choices by loss."""
    groups = {group_name(label): batch for label, batch in decisions.group_by(by).items()}
    at = np.geomspace(0.05, 3.0, 60)
    lines = [
        Series(name, at, [float((groups[name].loss_with_floor() >= t).mean()) for t in at])
        for name in [name for name in names if name in groups][:_MOST_LINES]
    ]
    ticks = [(tick, f"{tick:g}") for tick in (0.05, 0.1, 0.2, 0.5, 1, 2, 3)]
    chart = Lines(
        lines, "loss against the best move, in pawns, at least", "share of decisions", height=3.4, log_x=True,
        x_ticks=ticks, y_limits=(0, None),
    )  # fmt: skip
    caption = "Choices outside the engine's list count as the last listed move: the least they can have lost."
    return Figure("How often they lost how much", chart, caption)


def rate_decisions(
    decisions: Decisions,
    scale: Scale | None = None,
    *,
    model: Agent | None = None,
    by: str = "player",
    prior: str = "population",
    mass: float = 0.95,
    everybody: Sequence[str] = (),
) -> AgentRatings:
    """Rate players (or groups) by the papers' agent on a scale; `everybody` without a usable decision is unrated."""
    check_mass(mass)
    scale = scale or load_scale()
    if not len(decisions):
        raise InputError(f"no decisions left to rate; skipped: {decisions.tally}")
    table = agent_evidence(decisions, model or Agent.from_about(scale.model), by=by)
    players = rated_groups(table, decisions.group_by(by), scale, prior=prior, mass=mass)
    few = [f"{one.player} ({one.decisions})" for one in players if one.decisions < _FEW]
    warnings = scale_warnings(decisions, scale, table.about)
    if few:
        warnings.append(f"fewer than {_FEW} decisions: {'; '.join(few[:8])}{' and others' if len(few) > 8 else ''}")
    rated, names = {one.player for one in players}, [*map(group_name, table), *everybody]
    return AgentRatings(
        players=sorted(players, key=lambda one: -one.elo.mean),
        unrated=[Unrated(name, NO_DECISION) for name in dict.fromkeys(names) if name not in rated],
        scale=scale,
        engine=engine_of(decisions),
        model=table.about,
        mass=mass,
        by=by,
        decisions=decisions,
        tally=table.tally,
        warnings=[*warnings, *provisional_note(scale)],
    )


def rated_groups(
    table: EvidenceTable,
    groups: Mapping[Any, Decisions],
    scale: Scale,
    *,
    prior: str,
    mass: float,
    priors: Mapping[str, Prior] | None = None,
) -> list[PlayerRating]:
    """Return the rating of each group of decisions with evidence; `priors` are of players whose prior is known."""
    found = []
    for label in table:
        name, batch, curve, header = group_name(label), groups[label], table[label], None
        if not curve.decisions:
            continue
        columns = batch.context.column_names
        if "elo" in columns:
            known = batch.context.column("elo").cast(pa.float64()).drop_null().to_numpy()
            header = float(known.mean()) if len(known) else None
        elo = scale.posterior(curve, (priors or {}).get(name) or elo_prior(prior, scale, header_elo=header))
        outside = scale.extrapolates(elo.mean)
        rating = PlayerRating(
            player=name,
            games=len(batch.groups("game")[0]) if "game" in columns else 0,
            decisions=curve.decisions,
            evidence=curve,
            c=curve.posterior(Uniform(curve.grid.low, curve.grid.high)),
            elo=elo,
            mass=mass,
            statistics=MoveStatistics.of(batch, mass),
            unlisted=int((~batch.listed).sum()),
            extrapolated=outside,
        )
        found.append(rating)
    return found


def scale_warnings(decisions: Decisions, scale: Scale, model: Mapping[str, Any]) -> list[str]:
    """Return what must be said where decisions are read along a scale: how they differ from its own data, and notes."""
    own, blank = decisions.context, [None] * len(decisions)
    speeds, sites = (own.column(n).to_pylist() if n in own.column_names else blank for n in ("time_control", "site"))
    return [
        *scale.warnings(model, dict(decisions.about.get("settings", {}))),
        *scale.filter_warnings(decisions.about),
        *pool_warnings(speeds, sites, [1] * len(decisions), what="decisions"),
        *decisions.about.get("notes", []),
    ]


def provisional_note(scale: Scale) -> list[str]:
    """Return the warning about a scale that was fitted to little data."""
    return [f"the scale {scale.name!r} is provisional ({scale.data})"] if scale.provisional else []
