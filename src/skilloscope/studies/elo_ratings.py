"""Ratings on the Elo axis: the evidence of analysed games becomes a posterior of Elo for each player or group.

In: `AnalysedGames`. Out: `EloRatings`. Players with enough evidence come first, by the lower bound of their interval;
those with little evidence are listed apart, and those without a usable move are listed with the reason. The
methods share the moves: `joint` reads the engine's losses and what people play in one choice, `human` what people play
alone, and the papers' `agent`, `curves` and `gain` the losses alone, each along its own scale.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from skilloscope.core.columns import encode
from skilloscope.core.errors import InputError
from skilloscope.decision import Decisions
from skilloscope.evidence import EvidenceTable, Posterior, Prior, agent_evidence
from skilloscope.evidence.axis import ELO, EloAxis, elo_posterior, game_precisions, games_for_sd
from skilloscope.evidence.scales import scale as agent_scale
from skilloscope.evidence.sources.registry import DECISION_SOURCES
from skilloscope.inputs.load import AnalysedDecisions, engine_of
from skilloscope.inputs.pipeline import UNPLAYABLE, AnalysedGames, MoveKey, elo_evidence
from skilloscope.inputs.request import RatingRequest
from skilloscope.models.agent import Agent
from skilloscope.report.charts import Figure
from skilloscope.report.study import Study
from skilloscope.report.table import Column, RatedElo, Table, group_name, number, plural, skipped_line
from skilloscope.studies.agent_ratings import (
    CANNOT_TELL,
    NO_DECISION,
    AgentFigures,
    MethodElo,
    MoveStatistics,
    PlayerRating,
    Unrated,
    elo_forest,
    loss_lines,
    rated_groups,
    ratings_title,
)
from skilloscope.studies.basis import EloBasis, agent_warnings, elo_warnings, left_out
from skilloscope.studies.fusion import Fusion, PlayerResults, counts_results, results_of

WIDE = 350.0
"""Half the width of an interval, in Elo, beyond which there is little evidence: that of about three games."""
FEW_MOVES = 20
"""Moves below which there is little evidence, whatever the interval."""
WHOLE = ("player", "decider", "event", "game", "site", "date", "round", "file")
"""What is rated by itself; anything else gives parts of a player's moves."""
INDEPENDENT = "each part rated independently"
"""The model of parts without pooling, as headings name it."""
GOAL = 100.0
"""The standard deviation, in Elo, for which `more_games` says how many games are missing."""
_MOST_NAMES = 8
_LITTLE = f"± {GOAL:.0f} is one standard deviation; a model's bias for a person's style is the same in every game"


@dataclass(frozen=True, eq=False)
class EloRating:
    """One player's (or group's) Elo, and what it is based on."""

    player: str
    elo: Posterior
    mass: float
    games: int
    sources: Mapping[str, int]  # how many moves count, by source
    decisions: int  # how many different moves count
    searched_games: int  # in how many of the games an engine judged moves
    header_elo: float | None  # the mean rating in the games' headers; it is used by the prior `header` only
    extrapolated: bool
    methods: Mapping[str, MethodElo | AgentFigures]
    statistics: MoveStatistics = field(default_factory=MoveStatistics)
    """Move match and mean loss in undecided positions after the opening; empty where no engine was asked."""
    judged: int = 0  # the decisions that the statistics count
    more_games: int | None = None
    """About how many more games bring the standard deviation to GOAL; None where games alone do not, or for groups."""
    results: PlayerResults | None = None  # the results that are in the Elo as well; None where moves alone are
    prior: Prior | None = None
    without_prior: float | None = None
    """The Elo under a flat prior: what the prior does is the difference."""
    plays_like_fide: tuple[float, float, float] | None = None
    """Of a rating of a server: which FIDE Elo moves like that in slow games, with its interval."""

    FIELDS: ClassVar = (
        "player", "*estimate", "little_evidence", "more_games", "games", "searched_games", "decisions", "sources",
        "elo.prior", "without_prior", "*statistics", "results", "methods", "?plays_like_fide",
    )  # fmt: skip

    @property
    def estimate(self) -> RatedElo:
        """The Elo with its interval and the rating in the headers."""
        return RatedElo.rated(self.elo, self.mass, extrapolated=self.extrapolated, header_elo=self.header_elo)

    @property
    def by_moves(self) -> float:
        """The Elo from the moves alone."""
        alone = self.methods.get("moves")
        return alone.elo if isinstance(alone, MethodElo) else self.elo.mean

    @property
    def little_evidence(self) -> bool:
        """Whether there is so little evidence that the row stands apart."""
        low, high = self.elo.interval(self.mass)
        return high - low > 2 * WIDE or self.decisions < FEW_MOVES

    @property
    def missing(self) -> str:
        """How many more games bring the standard deviation to GOAL, in words."""
        if self.more_games is None:
            return "not reachable by games alone"
        return f"about {plural(self.more_games, 'more game')}" if self.more_games else "reached"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class EloRatings(Study):
    """Everybody's Elo: players with enough evidence first, by the lower bound, then those with little."""

    players: Sequence[EloRating]
    idle: Mapping[str, str]  # players of whom no move could be used, with the reason
    basis: EloBasis
    scale: EloAxis
    fusion: Fusion | None = None
    others: "Sequence[EloRatings]" = ()

    ROWS: ClassVar = "players"

    @property
    def FIELDS(self) -> tuple[str, ...]:  # type: ignore[override]
        """What JSON sends: fusion where there is any."""
        more = [name for name in ("fusion", "others") if getattr(self, name)]
        return ("*basis", "skipped", "players", "unrated", *more)

    def __repr__(self) -> str:
        rated = plural(len(self.players), "player") if self.by == "player" else f"{len(self.players):,} by {self.by}"
        return f"<EloRatings: {rated}, effort {self.basis.effort.name}, method {self.method}; skipped: {self.tally}>"

    def __getitem__(self, player: str) -> EloRating:
        for one in self.players:
            if one.player == player:
                return one
        raise InputError(f"no player {player!r} is rated", hint="names are written as in `players`")

    @property
    def by(self) -> str:
        """What is rated: players, or groups of moves."""
        return self.basis.by

    @property
    def method(self) -> str:
        """The method by name."""
        return self.basis.method

    @property
    def mass(self) -> float:
        """The level of the intervals."""
        return self.basis.mass

    @property
    def unrated(self) -> Sequence[Unrated]:
        """Players without a usable move, with the reason."""
        return [Unrated(name, reason) for name, reason in self.idle.items()]

    @property
    def title(self) -> str:
        """How many are rated."""
        return ratings_title(len(self.players), self.by)

    @property
    def head(self) -> str:
        """Where the engine's answers came from."""
        return self.basis.head

    caveats = CANNOT_TELL

    def tables(self, top: int | None = None) -> Sequence[Table]:
        """Return the table of those with enough evidence, then of those with little; the notes come last."""
        known = [one for one in self.players if not one.little_evidence]
        little = [one for one in self.players if one.little_evidence]
        head = f"Little evidence: an interval wider than ± {WIDE:.0f}, or fewer than {FEW_MOVES} moves"
        axis = self.basis.axis if self.by in WHOLE else f"{self.basis.axis}, by {self.by}: {INDEPENDENT}"
        blocks = [(axis, known, self._columns(False))] if known else []
        if little:
            blocks.append((head if known else f"{axis}. {head}", little, self._columns(self.by == "player")))
        tables, notes = [], self.notes()
        for title, rows, columns in blocks:
            tables.append(Table.of(title, rows[:top], columns, notes=notes if rows is blocks[-1][1] else ()))
        for other in self.others:
            tables += other.tables(top)
        return tables

    def _columns(self, missing: bool) -> list[Column[EloRating]]:
        several = [name for name in ("human", "agent", "curves", "gain") if self.method == "all"]
        several += ["moves"] if self.fusion else []

        def method(name: str) -> Column[EloRating]:
            heading = "without results" if name == "moves" else name
            return Column(heading, lambda one: str(one.methods.get(name, "–")))

        bare: Column[EloRating] = Column("without prior", lambda one: number(one.without_prior, 0))
        columns: list[Column[EloRating]] = [
            Column(self.by, lambda one: one.player, label=True),
            Column(f"Elo ({100 * self.mass:g} % interval)", lambda one: str(one.estimate)),
            *map(method, several),
            Column("games", lambda one: f"{one.games:,}"),
            Column("moves", lambda one: f"{one.decisions:,}"),
            *([bare] if self.basis.prior.name != "flat" else []),
            Column("PGN Elo", lambda one: number(one.header_elo, 0)),
        ]
        if self.scale.across:

            def like(one: EloRating) -> str:
                return "{:.0f} ({:.0f} to {:.0f})".format(*one.plays_like_fide) if one.plays_like_fide else "–"

            columns.append(Column("plays like FIDE", like))
        if self.fusion:
            columns.append(Column("score", lambda one: str(one.results or "–")))
        if self.method != "human":
            columns.append(Column("move match", lambda one: one.statistics.cells(one.judged)[0]))
            columns.append(Column("mean loss", lambda one: one.statistics.cells(one.judged)[1]))
        if missing:
            columns.append(Column(f"games to reach ± {GOAL:.0f}", lambda one: one.missing, label=True))
        return columns

    def notes(self) -> list[str]:
        """Return what was used and left out, what the numbers are based on, and who could not be rated."""
        unrated = [f"{one.player} ({one.reason})" for one in self.unrated[:_MOST_NAMES]]
        more = f" and {len(self.idle) - _MOST_NAMES:,} others" if len(self.idle) > _MOST_NAMES else ""
        little = self.by == "player" and any(one.little_evidence for one in self.players)
        used, basis = sum(one.decisions for one in self.players), self.basis_notes
        return [
            skipped_line(used, self.skipped, what="moves"),
            *basis,
            str(self.fusion or ""),
            _LITTLE if little else "",
            f"not rated: {'; '.join(unrated)}{more}" if unrated else "",
        ]

    @property
    def basis_notes(self) -> list[str]:
        """What the Elo of all players is based on, as notes below a table."""
        outside = any(one.extrapolated for one in self.players)
        return self.basis.notes((one.elo.edge for one in self.players), extrapolated=outside)

    def figures(self) -> Sequence[Figure]:
        """Return everybody's Elo with intervals, and how often they lost how much where an engine judged."""
        heading = "Elo from moves and results" if self.fusion else "Elo from the moves"
        rows = [(one.player, one.estimate) for one in self.players]
        figures = [elo_forest(rows, self.basis.axis, self.basis.scale.valid, heading=heading)]
        batch: Decisions | None = None if self.basis.analysed is None else self.basis.analysed.decisions
        if batch is not None and len(batch) and self.by == "player":
            figures.append(loss_lines(batch, [one.player for one in self.players]))
        return figures


def rate_on_axis(found: AnalysedGames, players: Sequence[str] = ()) -> EloRatings:
    """Rate every player (or group) of analysed games, or some players only."""
    asked, judged = found.asked, found.judged
    if found.others:
        return _with_others(found, players)
    engine, fused = {} if judged is None else engine_of(judged.decisions), counts_results(found)
    evidence = elo_evidence(found, players=players)
    groups = dict(zip(evidence.tables, map(EvidenceTable.groups, evidence.tables.values()), strict=True))
    tally = left_out(found, evidence)
    rated = [_rated(label, groups, asked) for label in groups[asked.kinds[0]]]
    if not rated:
        hint = "--method agent rates by the engine alone" if tally.counts.get(UNPLAYABLE) else ""
        raise InputError(f"no move left to rate; skipped: {tally}", hint=hint)
    if judged is not None:
        names = {key: group_name(label) for key, label in evidence.labels.items()}
        agents = agents_by_move(found, names)
        for place, one in enumerate(rated):
            if agent := agents.get(one.player):
                methods = {**one.methods, "agent": agent_figures(agent, judged, asked)}
                rated[place] = replace(one, methods=methods, statistics=agent.statistics, judged=agent.decisions)
    warnings = elo_warnings(found, evidence, asked.by)
    idle, fusion = dict[str, str](), None
    if asked.by in ("player", "decider"):
        main = groups[asked.kinds[0]]
        if fused:
            levels = {one.player: (one.elo.mean, one.elo.sd) for one in rated}
            results, fusion, told = results_of(found, levels)
            rated = [_with_results(one, main[one.player], asked, results.get(one.player)) for one in rated]
            fusion, tally = (fusion, tally + told) if results or found.results is not None else (None, tally)
        rated, idle = _with_more_games(rated, main, asked), dict(evidence.idle)
        if asked.kinds[0] in DECISION_SOURCES:  # who has moves, and none that this method reads
            idle |= {group_name(one): NO_DECISION for one in evidence.tables["human"] if one not in evidence.main}
    return EloRatings(
        players=in_order(rated),
        idle=idle,
        basis=replace(EloBasis.of(found, asked.by, warnings), engine=engine),
        scale=asked.axis,
        fusion=fusion,
        tally=tally,
        warnings=warnings,
    )


def _with_others(found: AnalysedGames, players: Sequence[str]) -> EloRatings:
    """Rate the main pool and, after it, each of the others; one without a move that counts is named."""
    first, others, said = rate_on_axis(replace(found, others=()), players), [], list[str]()
    for one in found.others:
        try:
            others.append(rate_on_axis(one, players))
        except InputError as error:
            said.append(f"{one.asked.axis.axis}: {error}")
    return replace(first, others=others, warnings=[*first.warnings, *said])


def in_order(players: Sequence[EloRating]) -> list[EloRating]:
    """Return the players as they are shown: first those with enough evidence, each block by the lower bound."""
    return sorted(players, key=lambda one: (one.little_evidence, -one.elo.interval(one.mass)[0]))


def agents_by_move(found: AnalysedGames, labels: Mapping[MoveKey, str]) -> dict[str, PlayerRating]:
    """Return the papers' agent for each group of moves (by row of the game and ply), with statistics of the same."""
    if found.judged is None:
        return {}
    asked, batch = found.asked, found.judged.decisions
    if not len(batch) or not {"game", "ply"} <= set(batch.context.column_names):
        return {}
    rows = {name: row for row, name in enumerate(found.games.headers["game"].to_pylist())}
    keys = zip(*(batch.context.column(name).to_pylist() for name in ("game", "ply")), strict=True)
    own_labels = [labels.get((rows[game], ply)) for game, ply in keys]
    known = np.array([label is not None for label in own_labels], dtype=bool)
    if not known.any():
        return {}
    names, codes = encode([label for label in own_labels if label is not None])
    own = replace(batch.select(known), deciders=names, decider=codes)
    groups = own.group_by("player")
    line = replace(asked.agent_scale or agent_scale(), population=asked.axis.population)  # one prior for all methods
    table = agent_evidence(own, Agent.from_about(line.model), by="player")
    rated = rated_groups(table, groups, line, prior=asked.prior, mass=asked.mass, priors=asked.priors)
    return {one.player: one for one in rated}


def agent_figures(agent: PlayerRating, judged: AnalysedDecisions, asked: RatingRequest) -> AgentFigures:
    """Return the agent's figures; its Elo only where its scale fits the search, or where it was asked for by name."""
    kept = asked.method == "all" or not agent_warnings(judged, asked)
    return agent.figures if kept else replace(agent.figures, elo=None)


def _rated(label: Any, groups: Mapping[str, Mapping[Any, EvidenceTable]], asked: RatingRequest) -> EloRating:
    rows = {kind: groups[kind][label] for kind in asked.kinds if label in groups[kind]}
    name = group_name(label)
    main, posteriors = rows[asked.kinds[0]], asked.posteriors(rows)
    elo, prior = posteriors[asked.kinds[0]], asked.prior_of(main)
    return EloRating(
        player=name,
        elo=elo,
        mass=asked.mass,
        games=len(np.unique(main.games)),
        sources=main.by_source,
        decisions=main.moves,
        searched_games=len(main.searched),
        header_elo=main.header_elo,
        extrapolated=asked.axis.extrapolates(elo.mean),
        methods={kind: MethodElo.of(posterior, asked.mass) for kind, posterior in posteriors.items()},
        prior=prior,
        without_prior=asked.elo.posterior(main, asked.axis.prior("flat")).mean,
        plays_like_fide=asked.axis.across.fide(elo, asked.mass) if asked.axis.across else None,
    )


def _with_results(
    one: EloRating, rows: EvidenceTable, asked: RatingRequest, results: PlayerResults | None
) -> EloRating:
    """Return a rating by moves and results; that by the moves alone is kept next to it."""
    if results is None:
        return one
    axis, prior, person = asked.elo, asked.prior_of(rows), asked.elo.person
    assert person is not None  # without one results have no weight
    elo = axis.posterior(rows, prior, results.curve)
    alone = elo_posterior(person.shared(np.zeros_like(ELO), results=results.curve), prior)
    methods = {"moves": MethodElo.of(one.elo, one.mass), "results": MethodElo.of(alone, one.mass)}
    return replace(
        one,
        elo=elo,
        extrapolated=asked.axis.extrapolates(elo.mean),
        methods={**one.methods, **methods},
        results=results,
        without_prior=axis.posterior(rows, asked.axis.prior("flat"), results.curve).mean,
    )


def _with_more_games(
    rated: Sequence[EloRating], groups: Mapping[Any, EvidenceTable], asked: RatingRequest
) -> list[EloRating]:
    effects = asked.effects
    people = [(one.elo.mean, sources) for one in rated for sources in groups[one.player].by_person().values()]
    worth = game_precisions(people, effects)

    found = []
    for one in rated:
        prior = asked.prior_of(groups[one.player])
        more: int | None = 0
        person = asked.elo.person
        if one.elo.sd > GOAL:
            style = person.style**2 if person else 0.0
            shared = person.variance(one.elo.mean) - style if person else 0.0
            result = person.results * one.results.precision(one.elo.mean) if person and one.results else 0.0
            extra = {"shared": shared, "style": style, "result": result}
            more = games_for_sd(GOAL, worth, effects, prior, one.games, one.sources, **extra)
        found.append(replace(one, more_games=more))
    return found
