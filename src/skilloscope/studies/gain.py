"""The players of an event compared by gain, with their Elo on the one axis from the same moves. [FER12]

In: EventGains and AxisElo. Out: GainStudy, which `skilloscope papers gain` shows: crosstable, players, the engine's
strength, and players who were in two events.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from skilloscope.chess.pgn.games import Games
from skilloscope.core.errors import InputError, MissingExtraError
from skilloscope.inputs.pipeline import AnalysedGames, with_priors
from skilloscope.inputs.request import RatingRequest
from skilloscope.report import table as report_table
from skilloscope.report.charts import MOST_ROWS, Dot, Figure, Forest
from skilloscope.report.page import Section
from skilloscope.report.study import Study
from skilloscope.report.table import Column, EloSoFar, ScoreDifference, Table, finite_or_none, number, plural
from skilloscope.studies.elo_ratings import rate_on_axis
from skilloscope.studies.gain_event import EventGains
from skilloscope.studies.game import CAVEATS, histogram_chart, values_line

MEANING = (
    "perceived Elo: a difference measured by gain, put around the mean rating of those who met; compressed, so that "
    "it does not say where a rating lies; ± is sampling error over games alone, no interval for a rating"
)
ENGINE_MEANING = (
    "the engine's strength on the players' compressed scale, as the paper computes it: not its Elo, which is far higher"
)
_CAPTION = (
    "Point and thick line: perceived Elo, a difference measured by gain around the mean rating, with its sampling "
    "error over games. Bar: the rating in the headers. Square: Elo on the one axis, from what was played."
)


@dataclass(frozen=True)
class RatedField:
    """How the perceived Elo of rated players compares with their ratings: both spreads, and how many inside."""

    players: int
    ratings_spread: float
    perceived_spread: float
    ratings_inside: int

    @classmethod
    def of(
        cls, elo: npt.ArrayLike, perceived: npt.ArrayLike, low: npt.ArrayLike, high: npt.ArrayLike
    ) -> "RatedField | None":
        """Compare the players with all values known, if there are two.

        >>> RatedField.of([2200.0, 2400.0], [2290.0, 2310.0], [2270.0, 2300.0], [2310.0, 2320.0])
        RatedField(players=2, ratings_spread=200.0, perceived_spread=20.0, ratings_inside=0)
        """
        columns = np.array([elo, perceived, low, high], dtype=np.float64)
        ratings, found, below, above = columns[:, np.isfinite(columns).all(axis=0)]
        if len(ratings) < 2:
            return None
        inside = int(((below <= ratings) & (ratings <= above)).sum())
        return cls(len(ratings), float(np.ptp(ratings)), float(np.ptp(found)), inside)


@dataclass(frozen=True)
class GainEventRow:
    """An event."""

    event: str
    players: int
    games: int
    rated: RatedField | None


@dataclass(frozen=True)
class PairRow:
    """A player against an opponent of the same event."""

    event: str
    player: str
    opponent: str
    games: int
    finished: int
    points: float
    difference: ScoreDifference

    FIELDS: ClassVar = ("event", "player", "opponent", "games", "finished", "points", "*difference")


@dataclass(frozen=True)
class ComparedRow:
    """A player in one event against a player in another."""

    player: str
    event: str
    opponent: str
    opponent_event: str
    difference: ScoreDifference

    FIELDS: ClassVar = ("player", "event", "opponent", "opponent_event", "*difference")


@dataclass(frozen=True)
class PlayerRow:
    """A player in an event; None for what is unknown or infinite."""

    event: str
    player: str
    games: int
    decisions: int
    points: float
    expected_points: float | None
    elo: float | None
    perceived_elo: float | None
    low: float | None
    high: float | None
    sd: float | None
    relative_elo: float | None
    relative_low: float | None
    relative_high: float | None
    axis: EloSoFar
    component: int
    mean_gain: float | None
    expected_score_against_engine: float | None
    elo_difference_to_engine: float | None
    infinite: str | None
    engine_low: float | None
    engine_high: float | None
    engine_elo: float | None
    engine_elo_by_perceived: float | None
    strength: float | None

    FIELDS: ClassVar = (
        "event", "player", "games", "decisions", "points", "expected_points", "elo", "perceived_elo", "low", "high",
        "sd", "relative_elo", "relative_low", "relative_high", "*axis", "component", "mean_gain",
        "expected_score_against_engine", "elo_difference_to_engine", "infinite", "engine_low", "engine_high",
        "engine_elo", "engine_elo_by_perceived", "strength",
    )  # fmt: skip

    @property
    def difference(self) -> str:
        """The difference to the engine."""
        return ScoreDifference(None, self.elo_difference_to_engine, self.infinite).point

    @property
    def placed(self) -> float:
        """What players are ordered by: the perceived Elo, or that to the mean of those who met."""
        return self.perceived_elo if self.perceived_elo is not None else self.relative_elo or 0.0

    @property
    def perceived_text(self) -> str:
        """The perceived Elo with its sampling error; where no rating is known, to the mean of the players who met."""
        if self.perceived_elo is not None:
            return f"{self.perceived_elo:.0f}{_sampling(self.low, self.high)}"
        if self.relative_elo is None:
            return "–"
        return f"{self.relative_elo:+.0f}{_sampling(self.relative_low, self.relative_high)} to the mean"

    @property
    def strength_text(self) -> str:
        """The perceived Elo above its difference to the rating."""
        if self.perceived_elo is None:
            return "–" if self.relative_elo is None else f"{self.relative_elo:+z.0f} to the mean"
        change = "" if self.elo is None else f"\n{self.perceived_elo - self.elo:+z.0f}"
        return f"{self.perceived_elo:.0f}{change}"


@dataclass(frozen=True)
class EngineRow:
    """The engine: whose values these are, how it gains itself, and its strength by the players."""

    values: Mapping[str, object]
    elo: float | None
    low: float | None
    high: float | None
    elo_by_perceived: float | None
    distribution: str
    own_moves: int
    own_mean_gain: float
    given_elo: float | None
    disagreement: float | None

    FIELDS: ClassVar = (
        "*values", "elo", "low", "high", "elo_by_perceived", "distribution", "own_moves", "own_mean_gain", "given_elo",
        "disagreement",
    )  # fmt: skip

    @property
    def notes(self) -> Sequence[str]:
        """How the engine's strength is to be read."""
        if self.elo is None:
            return ["no player has a rating and a finite difference: the engine's is unknown"]
        moves = f" ({self.own_moves:,} moves, mean {self.own_mean_gain:.3f})" if self.own_moves else ""
        mean = f"engine, mean of all players: {self.elo:.0f}{_sampling(self.low, self.high)}"
        apart = f"differences by way of the engine are {number(self.disagreement, 0)} points from the direct ones"
        return [
            ENGINE_MEANING,
            f"{mean}; own gains: {self.distribution}{moves}",
            "" if self.disagreement is None else f"{apart}, on average",
        ]


@dataclass(frozen=True, eq=False)
class AxisElo:
    """Everybody's Elo on the one axis, by event and player."""

    players: Mapping[tuple[str, str], EloSoFar] = field(default_factory=dict)
    about: Mapping[str, str] = field(default_factory=dict)  # axis, effort and prior; or the `problem`

    FIELDS: ClassVar = ("*about",)


def axis_elo(games: Games, events: Sequence[str], *, mass: float = 0.95) -> AxisElo:
    """Rate the players of each event by the moves that they played there; no engine is asked."""
    asked = RatingRequest.of(None, None, "instant", mass=mass)
    found: dict[tuple[str, str], EloSoFar] = {}
    for event in dict.fromkeys(events):
        try:
            own = games.select([row for row, one in enumerate(events) if one == event])
            rated = rate_on_axis(AnalysedGames(own, None, with_priors(asked, own)))
        except (MissingExtraError, InputError) as error:
            return AxisElo(about={"problem": str(error)})
        found |= {(event, one.player): EloSoFar(one.elo.mean, *one.elo.interval(mass)) for one in rated.players}
    return AxisElo(found, {"axis": asked.axis.axis, "effort": asked.effort.name, "prior": asked.prior})


@dataclass(frozen=True, eq=False)
class GainStudy(Study):
    """Events by gain."""

    gains: EventGains
    axis: AxisElo = field(default_factory=AxisElo)  # the Elo of the one axis, from the same games
    positions: Mapping[str, int] = field(default_factory=dict)  # how many were searched, cached, imported, failed
    with_engine: bool = False  # whether the table of the engine's strength is shown

    FIELDS: ClassVar = (
        "*gains.request", "events", "axis", "engine", "pairs", "players", "comparison", "skipped", "positions",
    )  # fmt: skip
    ROWS: ClassVar = "players"
    caveats = CAVEATS

    @cached_property
    def events(self) -> Sequence[GainEventRow]:
        """The events."""
        entries, found = self.gains.entries, []
        for event in dict.fromkeys(entry.event for entry in entries):
            own = [at for at, entry in enumerate(entries) if entry.event == event]
            strengths = self.gains.strengths
            elo = [entries[at].elo for at in own]
            rated = RatedField.of(elo, self.gains.perceived.elo[own], strengths.low[own], strengths.high[own])
            games = sum(pair.games for pair in self.gains.pairs if entries[pair.first].event == event)
            found.append(GainEventRow(event, len(own), games, rated))
        return found

    @cached_property
    def engine(self) -> EngineRow:
        """The engine."""
        gains, own = self.gains, self.gains.request.engine
        return EngineRow(
            values=gains.values,
            elo=finite_or_none(gains.engine.elo),
            low=finite_or_none(gains.engine_elo.low[0]),
            high=finite_or_none(gains.engine_elo.high[0]),
            elo_by_perceived=finite_or_none(gains.engine.elo_by_strength),
            distribution=own.kind,
            own_moves=len(own.gains) if own.kind != "peak" else 0,
            own_mean_gain=float(own.gains.mean()),
            given_elo=gains.request.engine_elo,
            disagreement=finite_or_none(gains.disagreement),
        )

    @cached_property
    def pairs(self) -> Sequence[PairRow]:
        """Both directions of each pair."""
        rows, entries, leads = [], self.gains.entries, self.gains.leads
        for at, pair in enumerate(self.gains.pairs):
            one, two = entries[pair.first], entries[pair.second]
            p, d, low, high = (float(c[at]) for c in (self.gains.score, leads.value, leads.low, leads.high))
            for player, opponent, points, difference in (
                (one, two, pair.points, ScoreDifference.of(p, d, low, high)),
                (two, one, pair.finished - pair.points, ScoreDifference.of(1 - p, -d, -high, -low)),
            ):
                names = (one.event, player.player, opponent.player)
                rows.append(PairRow(*names, pair.games, pair.finished, points, difference))
        return rows

    @cached_property
    def players(self) -> Sequence[PlayerRow]:
        """The players by event, those with most points first; pooled by match, the strongest first."""
        rows = [self._player(at) for at in range(len(self.gains.entries))]
        points = 1.0 if self.gains.request.pool == "event" else 0.0
        return sorted(rows, key=lambda row: (row.event, row.component, -points * row.points, -row.placed, row.player))

    def _player(self, at: int) -> PlayerRow:
        gains, entry, given = self.gains, self.gains.entries[at], self.gains.request.engine_elo
        leads = gains.engine_leads
        lead = ScoreDifference.of(*(float(c[at]) for c in (gains.engine_score, leads.value, leads.low, leads.high)))
        return PlayerRow(
            event=entry.event,
            player=entry.player,
            games=entry.games,
            decisions=int(gains.decisions[at]),
            points=entry.points,
            expected_points=finite_or_none(gains.expected_points[at]),
            elo=finite_or_none(entry.elo),
            perceived_elo=finite_or_none(gains.perceived.elo[at]),
            low=finite_or_none(gains.strengths.low[at]),
            high=finite_or_none(gains.strengths.high[at]),
            sd=finite_or_none(gains.strengths.sd[at]),
            relative_elo=finite_or_none(gains.perceived.relative[at]),
            relative_low=finite_or_none(gains.relatives.low[at]),
            relative_high=finite_or_none(gains.relatives.high[at]),
            axis=self.axis.players.get((entry.event, entry.player), EloSoFar()),
            component=int(gains.perceived.component[at]),
            mean_gain=finite_or_none(gains.mean_gain[at]),
            expected_score_against_engine=lead.expected_score,
            elo_difference_to_engine=lead.elo_difference,
            infinite=lead.infinite,
            engine_low=lead.low,
            engine_high=lead.high,
            engine_elo=finite_or_none(gains.engine.by_rating[at]),
            engine_elo_by_perceived=finite_or_none(gains.engine.by_strength[at]),
            strength=None if lead.elo_difference is None or given is None else given + lead.elo_difference,
        )

    @cached_property
    def comparison(self) -> Sequence[ComparedRow]:
        """Players who were in two events, in one against the other. [FER12 table 2]"""
        rows = []
        for first, second, p, d, low, high in self.gains.comparison:
            one, two = self.gains.entries[first], self.gains.entries[second]
            difference = ScoreDifference.of(p, d, low, high)
            rows.append(ComparedRow(one.player, one.event, two.player, two.event, difference))
        return rows

    @property
    def title(self) -> str:
        """What the page is called."""
        return f"{plural(len(self.players), 'player')} compared by gain"

    @property
    def head(self) -> str:
        """Whose values these are, and what was left out."""
        known = sum(row.decisions for row in self.players)
        return f"{values_line(self.gains.values)}; {report_table.skipped_line(known, self.skipped)}"

    def tables(self, top: int | None = None) -> Sequence[Table]:
        """Return the tables of each event, then those of players in two events."""
        return [*(table for event in self.events for table in self._event_tables(event)), *self._two_events()]

    def _event_tables(self, event: GainEventRow) -> Iterator[Table]:
        players = [row for row in self.players if row.event == event.event]
        name = event.event or "all games"
        yield self._crosstable(name, players)
        yield Table.of(f"{name}: players", players, self._columns(), notes=self._player_notes(players, event.rated))
        if self.with_engine:
            title = f"{name}: the engine's strength by each player"
            yield Table.of(title, players, _ENGINE_COLUMNS, notes=self.engine.notes)

    def _crosstable(self, name: str, players: Sequence[PlayerRow]) -> Table:
        """Return a table 1: (points), expected score and difference of everybody against everybody."""
        met = {(pair.event, pair.player, pair.opponent): pair for pair in self.pairs}
        rows = []
        for place, row in enumerate(players, start=1):
            pairs = [met.get((row.event, row.player, other.player)) for other in players]
            cells = ["–" if pair is None else f"({pair.points:g})\n{_cell(pair.difference)}" for pair in pairs]
            total = f"({row.points:g})\n{number(row.expected_points, 2)}"
            rows.append([f"{place} {row.player}", number(row.elo, 0), *cells, total, row.strength_text])
        columns = ["player", "Elo", *(str(place + 1) for place in range(len(players))), "total", "strength"]
        pooled = "all games of the event" if self.gains.request.pool == "event" else "the games against each other"
        note = "cell: (points), expected score, Elo difference; total: points and expected points"
        title = f"{name}: crosstable, gains of {pooled}"
        return Table(title, columns, rows, [f"{note}; strength: perceived Elo"], wide=True)

    def _columns(self) -> list[Column[PlayerRow]]:
        mass = f"{100 * self.gains.request.mass:g} %"
        columns: list[Column[PlayerRow]] = [
            Column("player", lambda row: row.player, label=True),
            Column("games", lambda row: f"{row.games:,}"),
            Column("moves", lambda row: f"{row.decisions:,}"),
            Column("rating", lambda row: number(row.elo, 0)),
        ]
        if self.axis.players:
            columns.append(Column(f"Elo, one axis ({mass})", lambda row: str(row.axis)))
        columns += [
            Column("mean gain", lambda row: number(row.mean_gain, 3)),
            Column("perceived Elo", lambda row: row.perceived_text),
            Column("exp. score against engine", lambda row: number(row.expected_score_against_engine, 3)),
            Column("difference", lambda row: row.difference + _sampling(row.engine_low, row.engine_high)),
        ]
        given = [Column[PlayerRow]("strength", lambda row: number(row.strength, 0))]
        return columns + (given if self.engine.given_elo is not None else [])

    def _player_notes(self, players: Sequence[PlayerRow], rated: RatedField | None) -> list[str]:
        notes, groups, axis = [MEANING], len({row.component for row in players}), self.axis.about
        if rated is not None:
            notes.append(
                f"the ratings of {rated.players} players spread over {rated.ratings_spread:.0f}, their perceived Elo "
                f"over {rated.perceived_spread:.0f}; "
                f"{rated.ratings_inside} of the ratings lie within the sampling error"
            )
        if "problem" in axis:
            notes.append(f"without Elo on the one axis: {axis['problem']}")
        elif axis:
            notes.append(f"Elo, one axis: {axis['axis']}, from what was played, no engine asked (as `rate`)")
        if groups > 1:
            notes.append(f"{groups} groups of players who never met are not compared")
        if any(row.engine_low is None for row in players):
            notes.append("no sampling error where there are fewer than two games")
        return notes

    def _two_events(self) -> Iterator[Table]:
        """Yield tables 2: players of both events, in one against the other."""
        for one, two in dict.fromkeys((row.event, row.opponent_event) for row in self.comparison):
            own = [row for row in self.comparison if (row.event, row.opponent_event) == (one, two)]
            players = list(dict.fromkeys(row.player for row in own))
            cells = {(row.player, row.opponent): _cell(row.difference) for row in own}
            rows = [[f"{player} @ {one}", *(cells[player, other] for other in players)] for player in players]
            title = f"players of {one} (rows) against those of {two} (columns)"
            yield Table(title, ["", *(f"{player} @ {two}" for player in players)], rows, (), wide=True)

    def figures(self) -> Sequence[Figure]:
        """Return for each event the strengths, and how often each player gained how much. [FER12 figure 3]"""
        found = []
        for event in self.events:
            name = event.event or "All games"
            values = values_line(self.gains.values)
            found.append(Figure(f"{name}: strength", self._strengths(event.event), _CAPTION, values))
            known = [(self.gains.entries[at], histogram) for at, histogram in self.gains.histograms.items()]
            own = {entry.player: histogram for entry, histogram in known if entry.event == event.event}
            found.append(Figure(f"{name}: how often they gained how much", histogram_chart(own)))
        return found

    def _strengths(self, event: str) -> Forest:
        """Return perceived Elo with intervals, the strongest on top, with the rating and the Elo of the axis."""
        own = [row for row in self.players if row.event == event and row.relative_elo is not None]
        rated = any(row.perceived_elo is not None for row in own)
        rows = []
        for row in sorted(own, key=lambda row: -row.placed)[:MOST_ROWS]:
            ends = (row.low, row.high) if rated else (row.relative_low, row.relative_high)
            dots = [Dot(row.placed, *ends, name="by gain")]
            if rated and row.elo is not None:
                dots.append(Dot(row.elo, colour=1, marker="|", name="rating"))
            if rated and row.axis.axis_elo is not None:
                axis = (row.axis.axis_elo, row.axis.axis_low, row.axis.axis_high)
                dots.append(Dot(*axis, 2, "s", filled=True, name="Elo, one axis", shift=0.18, thin=True))
            rows.append((row.player, dots))
        anchor = "Elo; by gain: around the mean rating of the event's players"
        unrated = "Elo difference to the mean of the event's players; no rating is known"
        return Forest(rows, anchor if rated else unrated)

    def sections(self) -> Sequence[Section]:
        """Return the figures, then the tables."""
        return [*map(Section.from_figure, self.figures()), *map(Section.from_table, self.tables())]


_ENGINE_COLUMNS: list[Column[PlayerRow]] = [
    Column("player", lambda row: row.player, label=True),
    Column("Elo", lambda row: number(row.elo, 0)),
    Column("perceived", lambda row: number(row.perceived_elo, 0)),
    Column("exp. score", lambda row: number(row.expected_score_against_engine, 3)),
    Column("difference", lambda row: row.difference),
    Column("engine by Elo", lambda row: number(row.engine_elo, 0)),
    Column("engine by perceived", lambda row: number(row.engine_elo_by_perceived, 0)),
]
"""A table 4: the engine's strength by each player's rating and perceived Elo."""


def _cell(difference: ScoreDifference) -> str:
    return f"{number(difference.expected_score, 2)}\n{difference.point}"


def _sampling(low: float | None, high: float | None) -> str:
    """Return half of an interval over games; nothing where an end is unknown."""
    return "" if low is None or high is None else f" ± {(high - low) / 2:.0f}"
