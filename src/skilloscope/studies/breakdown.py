"""A player's strength by part of the game: phase, colour, opening, clock, opponents, or any column.

In: analysed games, whose parts are rated on the Elo axis, or decisions, whose groups have a competence c by the papers'
agent. Out: a Breakdown. By default parts are pooled: the level of a part is the player's own level plus a difference
whose sd is fitted, so that parts with few moves are shrunk towards the others. Otherwise each part is rated
independently, from its own moves alone.

Both papers leave skill in several dimensions for later. The agent's groups have no Elo: its scale was fitted on whole
games, and c differs by phase or complexity for all players.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skilloscope.chess.pgn.facts import CLOCKS, PHASES, phases_of, time_classes
from skilloscope.core.columns import Array
from skilloscope.core.errors import InputError, OptionError, check_dispersion
from skilloscope.core.frames import table_of_rows
from skilloscope.decision import Decisions
from skilloscope.evidence import Posterior, Uniform, agent_evidence
from skilloscope.evidence.lattice import Pooled, pool_groups
from skilloscope.evidence.parts import BETWEEN
from skilloscope.inputs.load import AnalysedDecisions
from skilloscope.inputs.pipeline import AnalysedGames, GamesGiven, analysed_given
from skilloscope.models.agent import Agent, scaled_losses
from skilloscope.report.charts import Dot, Figure, Forest
from skilloscope.report.page import Section
from skilloscope.report.study import Study, json_fields
from skilloscope.report.table import Column, EloEstimate, Table, edge_mark, number, skipped_line
from skilloscope.studies.basis import AgentBasis, Basis, EloBasis
from skilloscope.studies.elo_ratings import INDEPENDENT, WHOLE, EloRatings, rate_on_axis
from skilloscope.studies.parts import EVERYBODY, SHARED_NOTE, AgentPart, EloPart, FittedSpread, rate_parts

PARTS = ("pooled", "independent")  # how the parts of a player are related
_MOST = 6  # players in one figure
_GROUP = "group of the breakdown"
_BINS = 4  # of complexity, equally many decisions in each
_CAVEATS = {
    "Elo": (
        "Why parts differ: openings, opponents and clocks come with other positions and other days.",
        "Differences of phases below about 50 Elo: what all players share in one was measured to within 20 to 40.",
    ),
    "c": (
        "Elo by group: the scale was fitted on whole games, and c differs by phase or complexity for all players.",
        "Whether a difference is the player's own: compare with others, or with all players, by the same groups.",
    ),
}


@dataclass(frozen=True, eq=False)
class Group:
    """One part of a player's moves, and its level."""

    player: str
    group: str
    part: EloPart | AgentPart

    FIELDS: ClassVar = ("group", "*rank", "*part")

    @property
    def rank(self) -> dict[str, float]:
        """The place of the part among the others, on the Elo axis."""
        return {"time": self.part.played.time} if isinstance(self.part, EloPart) else {}


@dataclass(frozen=True, eq=False)
class PlayerGroups:
    """One player's parts, and the level that is common to them."""

    player: str
    groups: Sequence[Group]
    common_level: Posterior | None  # None where parts are independent, or there is only one

    FIELDS: ClassVar = ("player", "*counts", "common", "groups")

    @property
    def counts(self) -> dict[str, int]:
        """How many moves there are, and on the Elo axis in how many games."""
        played = [group.part.played for group in self.groups if isinstance(group.part, EloPart)]
        games = {"games": len({game for one in played for game in one.rows.games.tolist()})} if played else {}
        return {**games, "decisions": sum(group.part.decisions for group in self.groups)}

    @property
    def common(self) -> EloEstimate | dict[str, float] | None:
        """The level that is common to the parts, as JSON sends it."""
        if self.common_level is None:
            return None
        part = self.groups[0].part
        if isinstance(part, EloPart):
            return EloEstimate.of(self.common_level, part.mass)
        return {"c": self.common_level.mean, "sd": self.common_level.sd}


@dataclass(frozen=True, eq=False)
class Breakdown(Study):
    """Some players' strength by part of the game."""

    by: str
    players: Sequence[PlayerGroups]
    basis: Basis
    parts: str = "pooled"
    spread: FittedSpread | None = None  # the fitted sd between the parts of a player; None where there was none to fit

    FIELDS: ClassVar = ("by", "*basis", "spread", "skipped", "players")

    @property
    def title(self) -> str:
        """What the page is called."""
        return f"{'Elo' if isinstance(self.basis, EloBasis) else 'Competence'} by {self.by}"

    @property
    def head(self) -> str:
        """How many positions were searched."""
        return self.basis.head

    @property
    def caveats(self) -> Sequence[str]:
        """What the study cannot tell."""
        return _CAVEATS[self.basis.name]

    @property
    def together(self) -> bool:
        """Whether all players were taken together."""
        return [player.player for player in self.players] == [EVERYBODY]

    @property
    def model(self) -> str:
        """How the parts of a player are related, in words."""
        if self.parts == "independent":
            return INDEPENDENT
        return "parts pooled towards " + ("the common level" if self.together else "the player's own level")

    @property
    def groups(self) -> list[Group]:
        """The parts of all players."""
        return [group for player in self.players for group in player.groups]

    def to_arrow(self) -> pa.Table:
        """Return a row for each part of each player, as JSON has them."""
        return table_of_rows([{"player": group.player, **json_fields(group)} for group in self.groups])

    def tables(self, top: int | None = None) -> Sequence[Table]:
        """Return the table with a row for each part of each player."""
        basis, rows = self.basis, self.groups
        elo, pooled = isinstance(basis, EloBasis), self.parts == "pooled"
        level = f"{basis.name} ({100 * basis.mass:g} % interval)"
        column, changes = Column[Group], any(row.part.change for row in rows)
        columns = [
            column("player", lambda row: row.player, label=True),
            column(self.by, lambda row: row.group, label=True),
            column(level, lambda row: row.part.text(basis.digits)),
            column("alone", self._alone) if pooled else None,
            column("against common", lambda row: str(row.part.change or "–")) if changes else None,
            column("games", lambda row: f"{row.part.games:,}") if elo else None,
            column(f"{basis.unit}s", lambda row: f"{row.part.decisions:,}"),
            column("PGN Elo", lambda row: number(row.part.header_elo, 0)) if elo else None,
        ]
        return [Table.of(f"{basis.heading}, by {self.by}: {self.model}", rows, columns, notes=self._notes())]

    def _alone(self, row: Group) -> str:
        alone, digits = row.part.alone, self.basis.digits
        return "–" if alone is None else f"{alone.mean:.{digits}f} ± {alone.sd:.{digits}f}{edge_mark(alone.edge)}"

    def _notes(self) -> list[str]:
        parts = [row.part for row in self.groups]
        edges = [posterior.edge for part in parts for posterior in (part.posterior, part.alone) if posterior]
        notes = [skipped_line(sum(part.decisions for part in parts), self.skipped, what=f"{self.basis.unit}s")]
        if self.parts == "pooled":
            notes.append("alone: from the moves of that part only, ± one standard deviation")
        if self.spread is not None:
            notes.append(f"between parts: {self.spread.text(self.basis.mass)}")
            notes += [SHARED_NOTE[self.together]] if isinstance(self.basis, EloBasis) else []
        common = [player.common_level for player in self.players if player.common_level]
        if len(common) == 1:
            low, high = common[0].interval(self.basis.mass)
            digits = self.basis.digits
            notes.append(f"common to the parts: {common[0].mean:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})")
        return [*notes, *self.basis.notes(edges, extrapolated=any(part.extrapolated for part in parts))]

    def figures(self) -> Sequence[Figure]:
        """Return the level of every part with its interval, and next to it the level from its own moves alone."""
        rows: list[tuple[str, list[Dot]]] = []
        bands = []
        for place, player in enumerate(self.players[:_MOST]):
            first = len(rows)
            for group in player.groups:
                name = f"{player.player}: {group.group}" if len(self.players) > 1 else group.group
                part = group.part
                dots = [Dot(part.posterior.mean, *part.posterior.interval(part.mass), colour=place, filled=True)]
                if part.alone is not None and part.alone is not part.posterior:
                    dots.insert(0, Dot(part.alone.mean, colour=place))
                rows.append((name, dots))
            if common := player.common_level:
                spread = common.mean - common.sd, common.mean + common.sd
                bands.append((first, len(rows) - 1, *spread, place))
        caption = f"The level of each part with its interval: {self.model}."
        if self.parts == "pooled":
            caption += " Open: from the moves of that part alone. Shaded: what is common to the parts, ± one sd."
        return [Figure(f"By {self.by}", Forest(rows, f"{self.basis.axis}, by {self.by}", bands=bands), caption)]

    def sections(self) -> Sequence[Section]:
        """Return the figure, then the table."""
        return [*map(Section.from_figure, self.figures()), *map(Section.from_table, self.tables())]


def breakdown(
    what: AnalysedGames | AnalysedDecisions | Decisions | GamesGiven,
    by: str = "phase",
    players: str | Sequence[str] = (),
    parts: str = "pooled",
    **options: Any,
) -> Breakdown:
    """Break down the strength of players by part of the game.

    Parameters
    ----------
    what : games or PGN files, whose parts are rated on the Elo axis; or decisions, by the papers' agent
    by : what divides the moves: `phase`, `colour`, `eco`, `time-left`, `time-spent`, `opponent-rating`, `year`, `event`
        or another column; for decisions also `complexity`
    players : whose moves; without any everybody's together
    parts : `pooled` shrinks the parts of a player towards the player's own level, as far as the moves say that they are
        alike; `independent` rates each from its own moves alone
    options : for games those of `rate`: `effort`, `method`, `prior`, `mass`, `engine`, `store`, `imports`, `workers`;
        for decisions `model`, `span`, `dispersion` and `mass`

    Returns
    -------
    Breakdown : for each player the level of each part, and the fitted standard deviation between parts

    Examples
    --------
    >>> import skilloscope as sk
    >>> found = sk.breakdown(sk.demo_games(), "phase", "Fischer", effort="instant")
    >>> print(found.tables()[0].title)
    FIDE Elo, over-the-board classical play, by phase: parts pooled towards the player's own level
    """
    check_parts(parts)
    names = [players] if isinstance(players, str) else list(players)
    if isinstance(what, AnalysedGames):
        return _by_elo(what, by, names, parts)
    if isinstance(what, Decisions):
        return _by_agent(what, by, names, parts, **options)
    if isinstance(what, AnalysedDecisions):
        return _by_agent(what.decisions, by, names, parts, analysed=what, **options)
    found, names = analysed_given(what, names, **options)
    return _by_elo(found, by, names, parts)


def rate_analysed(found: AnalysedGames, players: Sequence[str] = (), parts: str = "pooled") -> EloRatings | Breakdown:
    """Rate players, events or games by themselves, and parts of the play as `breakdown` does, pooled or independent."""
    check_parts(parts)
    if found.asked.by in WHOLE or parts == "independent" or found.results is not None:
        return rate_on_axis(found, players)
    if found.asked.method == "all":
        raise OptionError("several methods rate each part independently", hint="--parts independent")
    return breakdown(found, found.asked.by, players)


def check_parts(parts: str) -> None:
    """Refuse what is no model of parts."""
    if parts not in PARTS:
        raise OptionError(f"no model of parts {parts!r}", hint=f"the models: {', '.join(PARTS)}")


def _by_elo(found: AnalysedGames, by: str, players: Sequence[str], parts: str) -> Breakdown:
    rated = rate_parts(found, by, players, "star", BETWEEN if parts == "pooled" else None)
    groups = [
        PlayerGroups(one.player, [Group(one.player, part.played.name, part) for part in one.parts], one.common)
        for one in rated.players
    ]
    basis = EloBasis.of(found, by, rated.warnings)
    return Breakdown(by, groups, basis, parts, rated.spread, warnings=basis.warnings, tally=rated.tally)


def _by_agent(
    batch: Decisions,
    by: str,
    players: Sequence[str],
    parts: str,
    *,
    model: Agent | None = None,
    span: tuple[float, float] = (0.0, 4.0),
    dispersion: float = 1.0,
    mass: float = 0.95,
    analysed: AnalysedDecisions | None = None,
) -> Breakdown:
    """Return the competence by the groups of one of `DIMENSIONS`, or of any context column.

    One sd between groups is fitted for all players. Colour, clock and phase are known before the choice; so is
    complexity, but for the c at which the entropy is taken.
    """
    check_dispersion(dispersion)
    model = model or Agent()
    if missing := [player for player in players if player not in batch.names()]:
        raise InputError(f"no decision of: {'; '.join(missing)}")
    if players:
        batch = batch.select(np.isin(batch.decider, [batch.deciders.index(player) for player in players]))
    else:
        batch = replace(batch, deciders=(EVERYBODY,), decider=np.zeros_like(batch.decider))
    labels, order = DIMENSIONS.get(by, _column(by))(batch, model)
    known = np.array([label is not None for label in labels], dtype=bool)
    grouped = replace(batch, context=batch.context.append_column(_GROUP, pa.array(labels, type=pa.string())))
    grouped = grouped.select(known, reason=f"no {by}")
    table = agent_evidence(grouped, model, by=["decider", _GROUP], span=(0.0, max(4.0, span[1])))
    groups = {
        name: [g for g in order if (name, g) in table.labels and table[name, g].decisions]
        for name in players or (EVERYBODY,)
    }
    groups = {name: own for name, own in groups.items() if own}
    if not groups:
        raise InputError(f"no decision with a known {by}; skipped: {grouped.tally}")
    evidence = [[table[name, label] for label in own] for name, own in groups.items()]
    if parts == "pooled":
        found, fit = pool_groups(evidence, span=span, dispersion=dispersion, mass=mass)
    else:
        alone = [[one.tempered(dispersion).posterior(Uniform(*span)) for one in own] for own in evidence]
        found, fit = [Pooled(own, own, own[0]) for own in alone], None
    rated = []
    for (name, own), one in zip(groups.items(), found, strict=True):
        counts = [table[name, label].decisions for label in own]
        sides = zip(counts, one.pooled, one.alone, strict=True)
        parts_of = [AgentPart(decisions=n, mass=mass, posterior=pooled, alone=alone) for n, pooled, alone in sides]
        common = one.common if fit else None
        rated.append(PlayerGroups(name, [Group(name, *pair) for pair in zip(own, parts_of, strict=True)], common))
    settings = dict(batch.about.get("settings", {}))
    basis = AgentBasis(table.about, mass, dispersion, range=span, engine=settings, analysed=analysed)
    spread = None if fit is None else FittedSpread(fit.sd, fit.low, fit.high)
    return Breakdown(by, rated, basis, parts, spread, tally=table.tally)


def entropies(batch: Decisions, c: npt.ArrayLike, *, k: float = 0.1) -> Array:
    """H = −Σ p(a|c)·log p(a|c) over the listed alternatives: how undecided the agent itself is, in nats."""
    b = scaled_losses(batch.losses(), k=k)
    weight = np.exp(-np.repeat(np.broadcast_to(np.asarray(c, dtype=float), len(batch)), batch.counts) * b)
    starts = batch.offsets[:-1]
    p = weight / np.repeat(np.add.reduceat(weight, starts), batch.counts)
    logs = np.log(p, out=np.zeros_like(p), where=p > 0)
    return np.asarray(-np.add.reduceat(p * logs, starts))


Labels = tuple[list[str | None], list[str]]
"""The group of each decision, None where it is unknown, and the groups in the order in which they are shown."""


def _complexities(batch: Decisions, model: Agent) -> Labels:
    """Return in which quarter of the entropies a decision's lies, each at its decider's own c."""
    table = agent_evidence(batch, model)
    c = {name: table[name].posterior().mean for name in table if table[name].decisions}
    of_decider = np.array([c.get(name, np.nan) for name in batch.deciders])
    entropy = entropies(batch, of_decider[batch.decider], k=model.k)
    edges = np.quantile(entropy[~np.isnan(entropy)], np.linspace(0, 1, _BINS + 1))
    names = [f"entropy {low:.2f} to {high:.2f}" for low, high in pairwise(edges)]
    place = np.clip(np.searchsorted(edges, entropy, side="right") - 1, 0, _BINS - 1)
    labels = [None if np.isnan(h) else names[at] for h, at in zip(entropy, place, strict=True)]
    return labels, list(dict.fromkeys(names))


def _column(name: str) -> Callable[[Decisions, Agent], Labels]:
    def labels(batch: Decisions, _: Agent) -> Labels:
        values = batch.column(name).to_pylist()
        distinct = sorted({value for value in values if value is not None})
        return [None if value is None else str(value) for value in values], [str(value) for value in distinct]

    return labels


DIMENSIONS: dict[str, Callable[[Decisions, Agent], Labels]] = {
    "phase": lambda batch, _: (phases_of(batch.column("fen").to_pylist()).tolist(), list(PHASES)),
    "colour": lambda batch, _: (batch.column("mover").to_pylist(), ["white", "black"]),
    # The time left after the move: games do not record what was left before it.
    "time-left": lambda batch, _: (
        time_classes(batch.column("clock").cast(pa.float64()).to_numpy(), CLOCKS),
        list(CLOCKS),
    ),
    "complexity": _complexities,
}
"""What decisions can be broken down by, next to their own columns."""
