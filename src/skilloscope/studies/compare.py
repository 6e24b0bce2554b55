"""Who played better: two players, one player before and after a date, or two sets of decisions.

In: analysed games, compared on the Elo axis, or two sets of decisions, compared by the papers' agent. Out: Comparisons,
with the level of each side, the difference with its interval, and the probability that the second is stronger.

Two players are rated on their own. The two sides of one player are a pair: the prior is counted once, for what is
common to both, and the sides are not shrunk towards each other; style bias is common to them, so the difference is more
precise than either level. By the agent each side has a posterior of its own, as in [DFH13 VII.C, figure 8b]; the
probability, the interval of the difference and the caveats that such a figure needs are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from skilloscope.core.columns import Bools
from skilloscope.core.dates import read_date
from skilloscope.core.errors import InputError, OptionError, check_dispersion
from skilloscope.decision import Decisions
from skilloscope.decision.align import UNDATED, chosen_values, first_day, split_decisions
from skilloscope.evidence import Evidence, EvidenceTable, Posterior, Prior, Uniform, agent_evidence
from skilloscope.evidence.held_out import game_dispersion
from skilloscope.evidence.parts import pair_beliefs
from skilloscope.evidence.posterior import difference, probability_greater
from skilloscope.evidence.scales import Scale
from skilloscope.inputs.load import AnalysedDecisions, engine_of
from skilloscope.inputs.pipeline import AnalysedGames, GamesGiven, analysed_given
from skilloscope.models.agent import Agent
from skilloscope.report.charts import COLOURS, Chart, Densities, Figure, Panels, thinned
from skilloscope.report.page import Section
from skilloscope.report.study import Study
from skilloscope.report.table import Column, Table, caveats_table, number, plural, probability_text, skipped_line
from skilloscope.studies.basis import AgentBasis, Basis, EloBasis
from skilloscope.studies.fusion import counts_results, results_of
from skilloscope.studies.parts import (
    SHARED_NOTE,
    AgentPart,
    EloPart,
    Place,
    difference_estimate,
    person_parts,
    rate_parts,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SIDES: tuple[Place, Place] = ("before", 0.0), ("after", 1.0)
_MOST = 12  # figures on one page; more are in the table


@dataclass(frozen=True, eq=False)
class Side:
    """One of the two sides: its label, how much there is of it, and its level."""

    label: str
    part: EloPart | AgentPart

    FIELDS: ClassVar = ("label", "*part")


@dataclass(frozen=True)
class Change:
    """A difference, second minus first, with its interval."""

    difference: float
    low: float
    high: float

    def text(self, digits: int) -> str:
        """Return it with its interval, e.g. `+41 (-12 to +95)`."""
        return f"{self.difference:+.{digits}f} ({self.low:+.{digits}f} to {self.high:+.{digits}f})"


@dataclass(frozen=True)
class EloChange(Change):
    """A difference of Elo."""

    sd: float


@dataclass(frozen=True)
class CompetenceChange(Change):
    """A difference of c; in Elo points too where a scale says what c is worth."""

    elo: Change | None


@dataclass(frozen=True, eq=False)
class Comparison:
    """One comparison: both sides, the posterior of the difference, and which is probably stronger."""

    decider: str
    first: Side
    second: Side
    difference: Posterior  # of second minus first
    second_stronger: float  # the probability that the second side is stronger
    elo_per_c: float | None = None

    FIELDS: ClassVar = ("decider", "first", "second", "*change", "second_stronger")

    @property
    def change(self) -> EloChange | CompetenceChange:
        """The difference with its interval, as JSON sends it."""
        mean, (low, high) = self.difference.mean, self.difference.interval(self.first.part.mass)
        if isinstance(self.first.part, EloPart):
            return EloChange(mean, low, high, self.difference.sd)
        worth = self.elo_per_c
        elo = None if worth is None else Change(worth * mean, worth * low, worth * high)
        return CompetenceChange(mean, low, high, elo)


@dataclass(frozen=True)
class EloSides:
    """How the sides on the Elo axis are related."""

    shared_effects: bool  # whether both sides are one player's
    sides_sd: float | None  # the prior sd of each side about what is common to both


@dataclass(frozen=True)
class AgentSets:
    """How the two sets of decisions are related."""

    unpaired: Sequence[str]  # deciders with usable decisions in one of the two sets only
    notes: Sequence[str] = ()

    FIELDS: ClassVar = ("unpaired",)


@dataclass(frozen=True, eq=False)
class Comparisons(Study):
    """All comparisons that were made, what they are based on, and how the sides are related."""

    comparisons: Sequence[Comparison]
    basis: Basis
    sides: EloSides | AgentSets

    FIELDS: ClassVar = ("*basis", "comparisons", "*sides", "caution", "skipped")
    ROWS: ClassVar = "comparisons"

    @property
    def title(self) -> str:
        """What the page is called."""
        first = self.comparisons[0]
        labels = f"{first.first.label} and {first.second.label}"
        name = first.decider if len(self.comparisons) == 1 else "Comparison"
        return labels if self.two_players else f"{name}: {labels}"

    @property
    def two_players(self) -> bool:
        """Whether the sides are two players, and not two sets of moves of the same."""
        return isinstance(self.sides, EloSides) and not self.sides.shared_effects

    @property
    def head(self) -> str:
        """How many positions were searched."""
        return self.basis.head

    @property
    def model(self) -> str:
        """How the sides are related, in words."""
        if isinstance(self.sides, AgentSets) or self.two_players:
            return "each side rated independently"
        return "pair model, the prior counted once, sides not shrunk towards each other"

    @property
    def caveats(self) -> Sequence[str]:
        """What must be known to read the numbers."""
        elo = isinstance(self.basis, EloBasis)
        data, choices, of = ("games", "moves", "") if elo else ("decisions", "choices", "of the agent's c ")
        lines = [
            f"The split must be chosen before the {data} are looked at. A date that was picked because play seemed to "
            "change there finds a change in records of pure chance.",
            f"Other things differ between two sets of {data}: opponents, positions, time controls, age and health. "
            f"The figure says that the {choices} differ, not why.",
            f"It is a probability {of}under this model and prior. It is evidence, never a verdict on a person.",
        ]
        if isinstance(self.sides, EloSides):
            return lines[1:] if self.two_players else lines
        return [*lines, *self._agent_caveats(), *self.sides.notes]

    caution = caveats  # the name that JSON has for them

    def _agent_caveats(self) -> Iterator[str]:
        assert isinstance(self.basis, AgentBasis)
        if self.basis.dispersion == 1.0:
            yield "Games of one player scatter more than the agent alone would; no dispersion was allowed for."
        else:
            yield (
                "Games scatter more than the agent alone would; all evidence was divided by a dispersion of "
                f"{self.basis.dispersion:.2f}, which widens the posteriors."
            )
        if len(self.comparisons) > 1:
            yield (
                f"{len(self.comparisons):,} comparisons were made. Where nothing changed, one in forty shows a "
                "probability beyond 97.5 %, and one in forty below 2.5 %."
            )

    def tables(self, top: int | None = None) -> Sequence[Table]:
        """Return a row for each side, a row for each difference, and the caveats."""
        return [self._sides_table(), self._differences_table(), caveats_table(self.caveats)]

    def _sides_table(self) -> Table:
        basis, elo = self.basis, isinstance(self.basis, EloBasis)
        rows = [(one.decider, side) for one in self.comparisons for side in (one.first, one.second)]
        parts = [side.part for _, side in rows]
        column = Column[tuple[str, Side]]
        columns = [
            column(basis.person, lambda row: row[0], label=True) if len(self.comparisons) > 1 else None,
            column("", lambda row: row[1].label, label=True),
            column(f"{basis.name} ({100 * basis.mass:g} % interval)", lambda row: row[1].part.text(basis.digits)),
            column("games", lambda row: f"{row[1].part.games:,}") if any(part.games for part in parts) else None,
            column(f"{basis.unit}s", lambda row: f"{row[1].part.decisions:,}"),
            column("PGN Elo", lambda row: number(row[1].part.header_elo, 0)) if elo else None,
        ]
        notes = [skipped_line(sum(part.decisions for part in parts), self.skipped, what=f"{basis.unit}s")]
        notes += basis.notes([p.posterior.edge for p in parts], extrapolated=any(p.extrapolated for p in parts))
        if isinstance(self.sides, AgentSets) and self.sides.unpaired:
            notes.append(f"in one of the two sets only: {'; '.join(self.sides.unpaired)}")
        if isinstance(self.sides, EloSides) and self.sides.sides_sd is not None:
            notes += [SHARED_NOTE[0], f"prior sd of each side about what is common: {self.sides.sides_sd:.0f} Elo"]
        return Table.of(f"{basis.heading}: {self.model}", rows, columns, notes=notes)

    def _differences_table(self) -> Table:
        first, second, digits = self.comparisons[0].first.label, self.comparisons[0].second.label, self.basis.digits
        points = any(one.elo_per_c is not None for one in self.comparisons)
        column = Column[Comparison]
        columns = [
            None if self.two_players else column(self.basis.person, lambda one: one.decider, label=True),
            column(f"difference ({100 * self.basis.mass:g} % interval)", lambda one: one.change.text(digits)),
            column("in Elo points", _in_elo) if points else None,
            column(f"{second} stronger", lambda one: probability_text(one.second_stronger)),
        ]
        return Table.of(f"difference of {self.basis.name}: {second} − {first}", self.comparisons, columns)

    def figures(self) -> Sequence[Figure]:
        """Return for each comparison both posteriors, and below that of the difference. [DFH13 8b]"""
        interval = f"{100 * self.basis.mass:g} % interval"
        caption = f"Above: the posterior of each side. Below: that of the difference, its {interval} as a bar."
        figures = []
        for one in self.comparisons[:_MOST]:
            curves = [
                (f"{side.label} ({plural(side.part.decisions, self.basis.unit)})", side.part.posterior)
                for side in (one.first, one.second)
            ]
            charts = [Densities(curves, self.basis.axis), DifferenceChart(one, self.basis)]
            figures.append(Figure(one.decider, Panels(charts, height=2.6, ratios=(3, 2)), caption))
        return figures

    def sections(self) -> Sequence[Section]:
        """Return both tables, then the figures."""
        tables = Section.from_table(self._sides_table()), Section.from_table(self._differences_table())
        return [*tables, *map(Section.from_figure, self.figures())]


@dataclass(frozen=True, eq=False)
class DifferenceChart(Chart):
    """The posterior of a difference, shaded by which side is stronger."""

    one: Comparison
    basis: Basis

    def draw(self, axes: Axes) -> None:
        """Draw the density, its interval and the line at zero."""
        posterior, stronger = self.one.difference, self.one.second_stronger
        first, second = self.one.first.label, self.one.second.label
        at, density = thinned(posterior)
        axes.plot(at, density, color="#444444", linewidth=1.3)
        sides = (first, at <= 0, 1 - stronger), (second, at >= 0, stronger)
        for colour, (label, where, share) in zip(COLOURS, sides, strict=False):
            where = where | np.concatenate([[False], where[:-1]])  # one point more: the shades meet without a gap
            name = f"{label} stronger: {probability_text(share)}"
            axes.fill_between(at, density, where=where, color=colour, alpha=0.3, linewidth=0, label=name)
        axes.axvline(0.0, color="#222222", linewidth=1.0)
        bar = posterior.interval(self.basis.mass)
        axes.plot(bar, [0, 0], color="#222222", linewidth=3.5, solid_capstyle="butt", clip_on=False, zorder=5)
        axes.set_xlim(*posterior.interval(0.999))
        axes.set_ylim(bottom=0)
        axes.set_xlabel(f"difference of {self.basis.name}, {second} − {first}")
        axes.set_ylabel("density")
        axes.legend(fontsize=8)


def compare(
    what: AnalysedGames | AnalysedDecisions | Decisions | GamesGiven,
    other: Decisions | None = None,
    *,
    players: str | Sequence[str] = (),
    split_on: str | None = None,
    by: str | None = None,
    values: Sequence[str] | None = None,
    **options: Any,
) -> Comparisons:
    """Compare two players, or one player before and after a date; or two sets of decisions.

    Parameters
    ----------
    what : games or PGN files, compared on the Elo axis; or decisions, compared by the papers' agent
    other : the second set of decisions, where there are two
    players : two players, or one whose games are split; a part of a name is enough where only one player has it
    split_on : a date such as `2006-07-01`: what was played before it is compared with what was played from it on
    by, values : a column to split on, such as `colour`, and which two of its values if it has more
    options : for games those of `rate`: `effort`, `method`, `prior`, `mass`, `engine`, `store`, `imports`, `workers`;
        for decisions those of `compare_sets`: `model`, `scale`, `labels`, `prior`, `dispersion`, `mass`

    Returns
    -------
    Comparisons : both levels, the difference with its interval, and the probability that the second side is stronger

    Examples
    --------
    >>> import skilloscope as sk
    >>> found = sk.compare(sk.demo_games(), players=["Byrne", "Fischer"], effort="instant")
    >>> print(f"{found.comparisons[0].second_stronger:.2f}")
    0.53
    """
    names = [players] if isinstance(players, str) else list(players)
    if isinstance(what, AnalysedDecisions | Decisions):
        analysed = what if isinstance(what, AnalysedDecisions) else None
        batch = what.decisions if isinstance(what, AnalysedDecisions) else what
        if other is not None:
            return compare_sets(batch, other, analysed=analysed, **options)
        first, second, labels = split_decisions(batch, split_on, by, values)
        return compare_sets(first, second, analysed=analysed, **{"labels": labels, **options})
    check_sides(names, split_on, by)
    if not isinstance(what, AnalysedGames):
        what, names = analysed_given(what, names, **options)
    if len(names) == 2:
        return compare_players(what, names)
    return compare_split(what, names[0], at=split_on, by=by, values=values)


def check_sides(players: Sequence[str], split_on: str | None, by: str | None) -> None:
    """Refuse what does not have exactly two sides."""
    splits = (split_on is not None) + (by is not None)
    if len(players) not in (1, 2) or (len(players) == 2) + splits != 1:
        raise OptionError(
            "a comparison has two sides: two players, or one player and a date or a column to split on",
            hint="e.g. --player Ann --player Bob, or --player Ann --split-on 2006-07-01",
        )
    if split_on is not None:
        first_day(split_on)


def compare_players(found: AnalysedGames, names: Sequence[str]) -> Comparisons:
    """Return the second player compared with the first, each rated on their own."""
    if len(names) != 2:
        raise OptionError(f"{len(names)} players, and a comparison has two", hint="--player A --player B")
    rated = rate_parts(found, "player", names, "star", None)
    own = {one.player: one.parts[0] for one in rated.players}
    if missing := [name for name in names if name not in own]:
        raise InputError(f"no move of {missing[0]!r} that counts; skipped: {rated.tally}")
    levels = {name: (part.posterior.mean, part.posterior.sd) for name, part in own.items()}
    results = results_of(found, levels)[0] if counts_results(found) else {}
    for name in results:  # as `rate` has them
        rows = own[name].played.rows
        fused = found.asked.elo.posterior(rows, found.asked.prior_of(rows), results[name].curve)
        own[name] = replace(own[name], posterior=fused)
    first, second = (Side(name, own[name]) for name in names)
    change = difference(second.part.posterior, first.part.posterior)
    basis = EloBasis.of(found, "player", rated.warnings)
    stronger = difference_estimate(change, basis.mass).probability_above
    one = Comparison(f"{names[1]} and {names[0]}", first, second, change, stronger)
    return Comparisons([one], basis, EloSides(False, None), warnings=basis.warnings, tally=rated.tally)


def compare_split(
    found: AnalysedGames,
    player: str,
    *,
    at: str | None = None,
    by: str | None = None,
    values: Sequence[str] | None = None,
    new: Bools | None = None,
) -> Comparisons:
    """Return one player's games from a day on compared with those before, or two values of a column.

    Instead of a day, `new` may say which games are those of the second side.
    """
    if at is not None or new is not None:
        place = _sides_of_day(found, at or "") if new is None else lambda game: _SIDES[int(new[game])]
        rated = rate_parts(found, "date", [player], "star", None, place=place)
        names, labels = ["before", "after"], [f"before {at}", f"from {at} on"] if at else ["earlier games", "new games"]
    else:
        rated = rate_parts(found, by or "", [player], "star", None)
        names = chosen_values([one.played.name for one in rated.players[0].parts], values, by or "")
        labels = [f"{by} {name}" for name in names]
    parts = {one.played.name: one for one in rated.players[0].parts}
    if missing := [label for name, label in zip(names, labels, strict=True) if name not in parts]:
        raise InputError(f"no move of {player!r} {missing[0]}; skipped: {rated.tally}", hint="split elsewhere")
    asked, sides = found.asked, [parts[name] for name in names]
    prior = asked.prior_of(sides[0].played.rows)
    # As far apart as two people: neither side is shrunk towards the other, and the prior is counted once.
    sd = float(asked.axis.population["sd"])
    beliefs = pair_beliefs(person_parts([side.played for side in sides], asked.elo), prior, sd)
    change = beliefs.changes[1]
    assert change is not None
    first, second = (
        Side(label, replace(side, posterior=posterior))
        for label, side, posterior in zip(labels, sides, beliefs.parts, strict=True)
    )
    basis = EloBasis.of(found, by or "date", rated.warnings)
    one = Comparison(player, first, second, change, difference_estimate(change, basis.mass).probability_above)
    return Comparisons([one], basis, EloSides(True, sd), warnings=basis.warnings, tally=rated.tally)


def compare_sets(
    first: Decisions,
    second: Decisions,
    model: Agent | None = None,
    *,
    labels: tuple[str, str] = ("first", "second"),
    prior: Prior | None = None,
    dispersion: float | None = 1.0,
    mass: float = 0.95,
    scale: Scale | None = None,
    analysed: AnalysedDecisions | None = None,
) -> Comparisons:
    """Compare the decisions of everybody who is in both sets; a single decider in each is one comparison by itself.

    The evidence is divided by the `dispersion`; None fits it to the scatter between games. A `scale` says what a
    difference is worth in Elo points. `analysed` is where the decisions come from, to be named in the report.

    >>> before = Decisions.from_lists(["Ann"] * 8, [[0.0, -0.5]] * 8, [0, 1, 0, 1, 0, 1, 0, 1])
    >>> after = Decisions.from_lists(["Ann"] * 8, [[0.0, -0.5]] * 8, [0, 0, 0, 1, 0, 0, 0, 1])
    >>> found = compare_sets(before, after).comparisons[0]
    >>> round(found.second_stronger, 3), round(found.difference.mean, 2)
    (0.804, 0.44)
    """
    if dispersion is not None:
        check_dispersion(dispersion)
    prior = prior or Uniform(0.0, 4.0)
    batch = _together(first, second)
    table = agent_evidence(batch, model, by=["part", "decider", "game"], span=(prior.low, prior.high))
    rows: dict[str, tuple[list[int], list[int]]] = {}
    for row, (part, name, _) in enumerate(table.labels):
        if table.decisions[row] > 0:
            rows.setdefault(name, ([], []))[part].append(row)
    paired = {name: sides for name, sides in rows.items() if all(sides)}
    if not paired:
        raise InputError("no decider has usable decisions in both sets", hint=f"left out: {table.tally}")
    if dispersion is None:
        dispersion = game_dispersion(table, [side for sides in paired.values() for side in sides])
    found = []
    for name, sides in paired.items():
        one, other = (_agent_part(table, side, dispersion, prior, mass) for side in sides)
        change = difference(other.posterior, one.posterior)
        probability = probability_greater(other.posterior, one.posterior)
        worth = None if scale is None else 1 / scale.slope
        found.append(Comparison(name, Side(labels[0], one), Side(labels[1], other), change, probability, worth))
    engine = None if analysed is None else engine_of(analysed.decisions)
    basis = AgentBasis(table.about, mass, dispersion, prior=str(prior), engine=engine, analysed=analysed)
    unpaired, notes = [name for name in rows if name not in paired], []
    if scale is not None:
        notes = scale.warnings(table.about, first.about.get("settings", {})) + scale.filter_warnings(first.about)
    return Comparisons(found, basis, AgentSets(unpaired, notes), tally=table.tally)


def _together(first: Decisions, second: Decisions) -> Decisions:
    """Return both sets as one batch with the columns `part` and `game`; one decider in each is one and the same."""
    parts = [batch.at_depths() for batch in (first, second)]
    names = [batch.names() for batch in parts]
    if all(len(known) == 1 for known in names):
        one = names[0][0] if names[0] == names[1] else f"{names[0][0]} and {names[1][0]}"
        parts = [replace(b, deciders=(one,), decider=np.zeros(len(b), dtype=np.int32)) for b in parts]
    batch = Decisions.concat(parts)
    game = batch.context.column("game") if "game" in batch.context.column_names else pa.nulls(len(batch))
    part = np.repeat([0, 1], [len(parts[0]), len(parts[1])])
    return replace(batch, context=pa.table({"part": part, "game": game}))


def _agent_part(table: EvidenceTable, rows: Sequence[int], dispersion: float, prior: Prior, mass: float) -> AgentPart:
    total = Evidence(table.grid, table.curves[list(rows)].sum(axis=0), int(table.decisions[list(rows)].sum()))
    games = sum(table.labels[row][2] is not None for row in rows)
    posterior = total.tempered(dispersion).posterior(prior)
    return AgentPart(decisions=total.decisions, games=games, mass=mass, posterior=posterior)


def _sides_of_day(found: AnalysedGames, at: str) -> Callable[[int], Place | str]:
    day = first_day(at)
    dates = [read_date(str(date)) if date else None for date in found.games.headers["date"].to_pylist()]

    def place(game: int) -> Place | str:
        date = dates[game]
        if date is not None and date.last < day:
            return _SIDES[0]
        return _SIDES[1] if date is not None and date.first >= day else UNDATED

    return place


def _in_elo(one: Comparison) -> str:
    points = one.change.elo if isinstance(one.change, CompetenceChange) else None
    return "–" if points is None else points.text(0)
