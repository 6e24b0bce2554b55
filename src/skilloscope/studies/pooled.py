"""Pooled players: the decisions of many players of one Elo, or of one group, taken as one player's.

In: decisions, or their player-games. Out: PooledStudy, which `skilloscope papers pooled` shows: for each group games,
N, c̄, σ, its region, σ·√N, and over mileposts the line from c̄ to Elo. [DFHR09 V.B, Tables I and II, Figure 1;
DFH13 VI.A, Table III, Figure 2]
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from skilloscope.core.errors import InputError, OptionError, check_mass
from skilloscope.decision import Decisions
from skilloscope.evidence import Evidence, Posterior, Uniform
from skilloscope.inputs.load import engine_of
from skilloscope.models.agent import Agent
from skilloscope.ratings.mileposts import MILEPOST, EloLine, fit_elo_line, with_mileposts
from skilloscope.report.charts import Densities, Figure, Lines, Series
from skilloscope.report.study import Study
from skilloscope.report.table import EDGE_NOTE, Column, CompetenceEstimate, Table, edge_mark, group_name, skipped_line
from skilloscope.studies.player_games import (
    Convergence,
    PlayerGames,
    ResultsSplit,
    group_convergence,
    player_games,
    results_split,
)

_MOST = 16  # groups in one figure; more are in the table
_DENSITIES = "The posterior of c for each group, as if one agent had made all its decisions."
_LINE = "Each point is a milepost, its bar c̄ ± σ. Shaded: the error of the line; dotted: where a further milepost is "


@dataclass(frozen=True)
class PooledRequest:
    """What is taken as one player, and what else is asked of it."""

    by: str = MILEPOST
    tolerance: float = 10.0  # how far from a milepost an Elo may be
    both: bool = True  # whether the opponent's Elo must be near the milepost too
    span: tuple[float, float] = (0.0, 4.0)
    mass: float = 0.95
    split: str | None = None  # `result`: the player-games of `group`, or all, by result
    convergence: bool = False  # whether the c of `group`, or of the largest, is followed as decisions come in
    group: str | None = None

    def __post_init__(self) -> None:
        check_mass(self.mass)
        if self.split not in (None, "result"):
            raise OptionError(f"no split by {self.split!r}", hint="--split result")


@dataclass(frozen=True, eq=False)
class Composite:
    """One composite player: the evidence of a group as if one agent had chosen, and its posterior."""

    label: Any
    games: int  # 0 where the decisions have no game
    evidence: Evidence
    c: Posterior
    mass: float

    FIELDS: ClassVar = ("group", "games", "decisions", "*estimate", "sd_root_n")

    @property
    def group(self) -> str:
        """The group's name."""
        return group_name(self.label)

    @property
    def decisions(self) -> int:
        """N, the number of decisions."""
        return self.evidence.decisions

    @property
    def estimate(self) -> CompetenceEstimate:
        """c̄ with σ and region."""
        return CompetenceEstimate.of(self.c, self.mass)

    @property
    def sd_root_n(self) -> float:
        """σ·√N: about the same for every group where σ falls as it should. [DFH13 Table III]"""
        return float(self.c.sd * np.sqrt(self.decisions))


@dataclass(frozen=True, eq=False)
class PooledStudy(Study):
    """The composite players of all groups, the line over them, and what was left out."""

    by: str
    groups: Sequence[Composite]
    unused: Sequence[str]  # groups without a usable decision
    line: EloLine | None  # Elo on c̄ over mileposts; None for other groups and for fewer than three mileposts
    model: Mapping[str, Any]
    engine: Mapping[str, object]
    prior: str
    mass: float
    tolerance: float | None = None
    positions: Mapping[str, int] = field(default_factory=dict)
    split: ResultsSplit | None = None
    convergence: Convergence | None = None
    head: str = ""

    FIELDS: ClassVar = (
        "by", "tolerance", "engine", "model", "prior", "mass", "groups", "line", "unused", "warnings", "skipped",
        "positions", "split", "convergence",
    )  # fmt: skip
    ROWS: ClassVar = "groups"
    caveats = (
        "How strong any one player is: a group is many people taken as one.",
        "How precise c̄ is for a group of games: σ counts decisions as independent. The spread between games shows how "
        "far they are from that.",
        "Elo in general: the line holds for this engine, depth, rule and these groups.",
        "Why games were lost: a lost game has fewer good moves because it was lost; the split shows an association.",
    )

    @property
    def title(self) -> str:
        """What the page is called."""
        return f"{len(self.groups):,} composite players by {self.by}"

    def named(self, name: str) -> Composite:
        """Return the group of that name."""
        known = {group.group: group for group in self.groups}
        if name not in known:
            raise InputError(f"no group {name!r} by {self.by}", hint=f"the groups: {', '.join(known)}")
        return known[name]

    def tables(self, top: int | None = None) -> Sequence[Table]:
        """Return the groups [DFH13 Table III], and the convergence and the split where they were asked for."""
        columns: list[Column[Composite]] = [
            Column(self.by, lambda row: row.group, label=True),
            Column("games", lambda row: f"{row.games:,}" if row.games else "–"),
            Column("N", lambda row: f"{row.decisions:,}"),
            Column("c̄", lambda row: f"{row.c.mean:.3f}{edge_mark(row.c.edge)}"),
            Column("σ", lambda row: f"{row.c.sd:.4f}"),
            Column(f"{100 * self.mass:g} % region", lambda row: f"{row.estimate.low:.3f} to {row.estimate.high:.3f}"),
            Column("σ·√N", lambda row: f"{row.sd_root_n:.3f}"),
        ]
        notes = [
            _line_words(self.line) if self.line else "",
            skipped_line(sum(group.decisions for group in self.groups), self.skipped),
            "σ and region treat all decisions of a group as those of one agent: games and players differ more",
            EDGE_NOTE if any(group.c.edge for group in self.groups) else "",
            f"no usable decision of: {'; '.join(self.unused)}" if self.unused else "",
        ]
        near = "" if self.tolerance is None else f" within ±{self.tolerance:g} Elo"
        agent = f"agent with k = {self.model['k']:g}, rule {self.model['rule']}, prior {self.prior}"
        title = f"composite players by {self.by}{near}; {agent}"
        parts = [part.table() for part in (self.convergence, self.split) if part]
        return [Table.of(title, self.groups[:top], columns, notes=notes), *parts]

    def figures(self) -> Sequence[Figure]:
        """Return the densities, the line over mileposts, and the figures of what else was asked for."""
        curves = [(group.group, group.c) for group in self.groups[:_MOST]]
        chart = Densities(curves, "competence c of the reference agent", ordered=True, legend=self.by)
        found = [Figure("Composite players", chart, _DENSITIES)]
        if self.line:
            text = f"{_line_words(self.line)}."
            found.append(Figure("From competence to Elo", self._line_chart(self.line), f"{_LINE}expected.", text))
        return [*found, *(figure for part in (self.convergence, self.split) if part for figure in part.figures())]

    def _line_chart(self, line: EloLine) -> Lines:
        """Return Elo against c̄ ± σ with the line, its error and the interval of a further group. [DFH13 Figure 2b]"""
        points = [(group.c.mean, group.c.sd, float(group.label)) for group in self.groups]
        low, high = min(c - 3 * sd for c, sd, _ in points), max(c + 3 * sd for c, sd, _ in points)
        at = np.linspace(low, high, 101)
        middle, error = line.elo(at), line.line_error(at)
        below, above = line.prediction_interval(at, self.mass)
        sign = "+" if line.intercept >= 0 else "−"
        equation = f"Elo = {line.slope:.0f}·c̄ {sign} {abs(line.intercept):.0f}, s = {line.residual_sd:.0f}; ± its error"
        further = f"{100 * self.mass:g} % prediction interval of a further group"
        lines = [
            Series(equation, at, middle, middle - error, middle + error, colour=0),
            Series(further, at, below, colour=0, look=":"),
            Series("", at, above, colour=0, look=":"),
            Series("c̄ ± σ", [c for c, _, _ in points], [elo for _, _, elo in points], colour=1, look="o"),
            *(Series("", [c - sd, c + sd], [elo, elo], colour=1) for c, sd, elo in points),
        ]
        return Lines(lines, "apparent competence c̄", "Elo milepost", height=4.2, x_limits=(low, high))


def pooled_players(
    decisions: Decisions, request: PooledRequest | None = None, model: Agent | None = None
) -> PooledStudy:
    """Return the composite players of decisions, by Elo milepost or by any column.

    >>> batch = Decisions.from_lists(["Ann"] * 2, [[0.0, -0.1], [0.0, -0.9]], [0, 0], context={"year": [2001, 2002]})
    >>> [group.group for group in pooled_players(batch, PooledRequest(by="year")).groups]
    ['2001', '2002']
    """
    request = request or PooledRequest()
    posts, batch = request.by == MILEPOST, decisions
    if posts:
        batch = with_mileposts(decisions, request.tolerance, both=request.both)
    model = (model or Agent()).prepared(batch) if len(batch) else model
    rows = player_games(batch, model, by=request.by, span=request.span)
    study = pooled_from(rows, batch, mass=request.mass, tolerance=request.tolerance if posts else None)
    own, split, followed = None if request.group is None else study.named(request.group), None, None
    if request.split:
        some = rows if own is None else rows.of(own.label)
        split = results_split(some, name=own.group if own else "all", mass=request.mass)
    if request.convergence:
        shown = own or max(study.groups, key=lambda one: one.decisions)
        followed = group_convergence(batch, rows, shown.label, model, mass=request.mass)
    return replace(study, split=split, convergence=followed)


def pooled_from(
    rows: PlayerGames, decisions: Decisions, *, mass: float = 0.95, tolerance: float | None = None
) -> PooledStudy:
    """Return the composite players whose player-games are known; `decisions` say what judged them."""
    if not rows.table.decisions.sum():
        wider = "" if tolerance is None else f"--tolerance accepts more than ±{tolerance:g} points"
        wider = f"{wider}; --by groups by a column" if wider else ""
        raise InputError(f"no decisions left to rate; skipped: {rows.table.tally}", hint=wider)
    prior = Uniform(rows.table.grid.low, rows.table.grid.high)
    table = rows.table.regrouped(rows.group)
    games: dict[Any, set[Any]] = {}
    for label, game, n in zip(rows.group, rows.game, rows.table.decisions, strict=True):
        if game is not None and n:
            games.setdefault(label, set()).add(game)
    groups = [
        Composite(label, len(games.get(label, ())), table[label], table[label].posterior(prior), mass)
        for label in rows.labels()
        if table[label].decisions
    ]
    fits = rows.by == MILEPOST and len(groups) >= 3
    return PooledStudy(
        by=rows.by,
        groups=groups,
        unused=[group_name(label) for label in rows.labels() if not table[label].decisions],
        line=fit_elo_line([one.c.mean for one in groups], [float(one.label) for one in groups]) if fits else None,
        model=table.about,
        engine=engine_of(decisions),
        prior=str(prior),
        mass=mass,
        tolerance=tolerance,
        warnings=list(decisions.about.get("notes", [])),
        tally=table.tally,
    )


def _line_words(line: EloLine) -> str:
    sign = "+" if line.intercept >= 0 else "−"
    return (
        f"Elo = {line.slope:.0f} (± {line.slope_sd:.0f}) · c̄ {sign} {abs(line.intercept):.0f} "
        f"(± {line.intercept_sd:.0f}) over {line.groups} mileposts, standard error {line.residual_sd:.0f} Elo"
    )
