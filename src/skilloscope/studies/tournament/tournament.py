"""Tournaments, matches and knock-outs by gain: who would score what against whom, and how strong each played. [FER12]

In: Gained. Out: Tournament: pairs with expected scores (tables 1 and 3), players with perceived Elo, their scores
against the engine (tables 4, 5 and 6), and players who were in two events (table 2), each with an interval over games.

A player's gains are pooled by event, as in table 1, or by match, as in table 3: then each pair of players has its own
distributions, from the games that they played against each other. Against the engine it is always the whole event.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.core.checks import check_mass
from skilloscope.core.errors import InputError, OptionError, Tally
from skilloscope.models.gain import Curve, GainHistogram
from skilloscope.ratings.gain.gain_table import GainTable, Slopes
from skilloscope.ratings.gain.perceived import (
    EngineStrength,
    Perceived,
    engine_strength,
    perceived_least_squares,
    perceived_weights,
)
from skilloscope.sources.gains import NEVER_ERRS, EngineGains, Gained
from skilloscope.studies.tournament.field import EVENTS, Entrant, Field, Pair, pair_ends
from skilloscope.studies.tournament.one_axis import AxisElo

POOLS = ("event", "match")
Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class TournamentOptions:
    """How a tournament is computed: pooling, curve, the engine, and how much the intervals hold."""

    pool: str = "event"
    events: str = "file"
    curve: Curve = "normal"
    engine: EngineGains = NEVER_ERRS
    engine_elo: float | None = None
    mass: float = 0.95

    def __post_init__(self) -> None:
        if self.pool not in POOLS or self.events not in EVENTS:
            raise OptionError(
                f"no pool {self.pool!r} by {self.events!r}",
                hint=f"gains are pooled by {' or '.join(POOLS)}, events told by {', '.join(EVENTS)}",
            )
        check_mass(self.mass)


@dataclass(frozen=True, eq=False)
class OverGames:
    """Numbers with their intervals over games, their standard deviations, and what each game adds to them."""

    value: Array
    """NaN where nothing is known, ±inf where an expected score is 0 or 1."""
    low: Array
    high: Array
    sd: Array
    by_game: Array
    """One row for each number, one column for each game: weighing the games anew adds a draw from these."""

    @classmethod
    def of(cls, value: Array, slopes: Slopes, mass: float, alone: npt.NDArray[np.bool_]) -> OverGames:
        """Return the numbers with intervals; those that stand on a single game have none."""
        low, high, sd = (np.where(alone, np.nan, column) for column in slopes.interval(value, mass))
        return cls(value, low, high, sd, slopes.by_game())


@dataclass(frozen=True, eq=False)
class Tournament:
    """Everything that was computed, as columns beside the entries and the pairs."""

    entries: Sequence[Entrant]
    pairs: Sequence[Pair]
    options: TournamentOptions
    decisions: Indices
    mean_gain: Array
    score: Array
    """Each pair's expected score, the first one's."""
    leads: OverGames
    perceived: Perceived
    strengths: OverGames
    """The perceived Elo."""
    relatives: OverGames
    """The same, to the mean of those who met."""
    engine_score: Array
    engine_leads: OverGames
    engine: EngineStrength
    engine_elo: OverGames
    """The engine's strength, one number."""
    comparison: Sequence[tuple[int, int, float, float, float, float]]
    """Entries of two events: both, expected score, difference, low, high. [FER12 table 2]"""
    histograms: Mapping[int, GainHistogram]
    about: Mapping[str, Any]
    tally: Tally
    axis: AxisElo = field(default_factory=AxisElo)
    """The Elo of the one axis, from the same games."""

    @property
    def disagreement(self) -> float:
        """The mean distance between a pair's difference and the one by way of the engine. [FER12 sect. 7]

        In section 7 they are 113 and 142: a distance of 29 points. Pairs with an infinite difference do not count.
        """
        first, second = pair_ends(self.pairs)
        lead, to_engine = self.leads.value, self.engine_leads.value
        finite = np.isfinite(lead) & np.isfinite(to_engine[first]) & np.isfinite(to_engine[second])
        by_engine = to_engine[first[finite]] - to_engine[second[finite]]
        return float(np.abs(lead[finite] - by_engine).mean()) if finite.any() else float("nan")

    def figures(self) -> list[tuple[str, str]]:
        """Return the figures with their captions, as SVG."""
        from skilloscope.studies.tournament.figures import tournament_figures

        return tournament_figures(self)


def tournament(gained: Gained, options: TournamentOptions | None = None, *, axis: AxisElo | None = None) -> Tournament:
    """Compute a tournament from the gains of its games; `axis` is what stands beside. [FER12 Algorithms 1 to 4]"""
    options = options or TournamentOptions()
    players = Field.of(gained.games, options.events)
    first, second = pair_ends(players.pairs)
    tables = _Tables.of(gained, players, options)
    score = tables.scores(first, second)
    lead, lead_slopes = tables.leads(first, second, options.curve)
    elo = np.array([entry.elo for entry in players.entries])
    known = np.flatnonzero(~np.isnan(lead))
    perceived = _compared(perceived_least_squares(first[known], second[known], lead[known], elo))
    alone_pair, alone = tables.alone(first, second)
    anchored, relative = _weights(first, second, lead, elo)
    engine_score, engine_leads = tables.against_engine(options)
    engine = engine_strength(elo, perceived.elo, engine_leads.value)
    tally = gained.losses.tally + perceived.tally
    tally.count("pair without a known gain", len(lead) - len(known))
    tally.count("game without two named players", players.left)
    tally.count("points and expected points of a game without a result", players.unfinished)
    moves, mean = tables.moves_and_means(len(elo))
    return Tournament(
        entries=players.entries,
        pairs=players.pairs,
        options=options,
        decisions=moves,
        mean_gain=mean,
        score=score,
        leads=OverGames.of(lead, lead_slopes, options.mass, alone_pair),
        perceived=perceived,
        strengths=_spread(perceived.elo, lead_slopes, anchored, options.mass, alone),
        relatives=_spread(perceived.relative, lead_slopes, relative, options.mass, alone),
        engine_score=engine_score,
        engine_leads=engine_leads,
        engine=engine,
        engine_elo=tables.engine_elo(engine, options),
        comparison=_comparison(players, tables, options),
        histograms={at: tables.by_entry.histogram(at) for at in np.flatnonzero(moves > 0).tolist()},
        about=gained.about(),
        tally=tally,
        axis=axis or AxisElo(),
    )


def with_surnames(gained: Gained) -> Gained:
    """Return the same with players called by surname: one person under several spellings becomes one player."""
    games = gained.games
    names = {name for side in ("white", "black") for name in games.headers[side].to_pylist() if name}
    renamed = games.renamed({name: name.split(",")[0].strip() for name in names})
    evaluations = replace(gained.evaluations, games=renamed)
    return replace(gained, evaluations=evaluations, losses=evaluations.losses())


@dataclass(frozen=True, eq=False)
class _Tables:
    """The gains by entry, the engine's own last, and by entry and opponent where they are pooled by match."""

    by_entry: GainTable
    by_match: GainTable | None
    engine: int

    @classmethod
    def of(cls, gained: Gained, players: Field, options: TournamentOptions) -> _Tables:
        losses, game = gained.losses, gained.game_of_move()
        events = players.event_of_game
        opponents = losses.context.column("opponent").to_pylist()
        names = [losses.deciders[code] for code in losses.decider.tolist()]
        entry, other = (
            np.array([players.number.get((n, events[g]), -1) for n, g in zip(who, game.tolist(), strict=True)])
            for who in (names, opponents)
        )
        kept = np.flatnonzero((entry >= 0) & (other >= 0))
        if not len(kept):
            raise InputError("no move has a known gain", hint="let an engine value the games: --values engine")
        gains, game, engine = losses.gain[kept], game[kept], options.engine
        size, last = len(gained.games), len(players.entries)
        by_entry = GainTable.from_gains(
            np.concatenate([gains, engine.gains]),
            np.concatenate([entry[kept], np.full(len(engine.gains), last)]),
            np.concatenate([game, engine.game]),
            groups=last + 1,
            games=size,
        )
        if options.pool == "event":
            return cls(by_entry, None, last)
        sides = {(pair.first, pair.second): 2 * at for at, pair in enumerate(players.pairs)}
        sides |= {(pair.second, pair.first): 2 * at + 1 for at, pair in enumerate(players.pairs)}
        side = np.array([sides[a, b] for a, b in zip(entry[kept].tolist(), other[kept].tolist(), strict=True)])
        by_match = GainTable.from_gains(gains, side, game, groups=2 * len(players.pairs), games=size)
        return cls(by_entry, by_match, last)

    def pairs(self, first: Indices, second: Indices) -> tuple[GainTable, Indices, Indices]:
        """Return the table that the pairs are compared in, and their places there."""
        if self.by_match is None:
            return self.by_entry, first, second
        sides = 2 * np.arange(len(first))
        return self.by_match, sides, sides + 1

    def scores(self, first: Indices, second: Indices) -> Array:
        table, one, two = self.pairs(first, second)
        return table.expected_scores(one, two)

    def leads(self, first: Indices, second: Indices, curve: Curve) -> tuple[Array, Slopes]:
        table, one, two = self.pairs(first, second)
        return table.leads(one, two, curve)

    def alone(self, first: Indices, second: Indices) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Return for each pair and each entry whether something of it stands on fewer than two games."""
        table, one, two = self.pairs(first, second)
        few = table.games_of_group < 2
        pair = few[one] | few[two]
        entry = self.by_entry.games_of_group[: self.engine] < 2
        if self.by_match is not None:
            for side in (first, second):
                np.logical_or.at(entry, side, pair)
        return pair, entry

    def against_engine(self, options: TournamentOptions) -> tuple[Array, OverGames]:
        """Return everybody's expected score and difference against the engine."""
        who, engine = np.arange(self.engine), np.full(self.engine, self.engine)
        lead, slopes = self.by_entry.leads(who, engine, options.curve)
        alone = self.by_entry.games_of_group[: self.engine] < 2
        return self.by_entry.expected_scores(who, engine), OverGames.of(lead, slopes, options.mass, alone)

    def engine_elo(self, found: EngineStrength, options: TournamentOptions) -> OverGames:
        """Return the engine's strength with its interval: the mean of r − d over the players who count."""
        who, engine = np.arange(self.engine), np.full(self.engine, self.engine)
        counts = np.isfinite(found.by_rating)
        _, slopes = self.by_entry.leads(who, engine, options.curve)
        weights = np.where(counts, -1.0, 0.0)[None, :] / max(1, int(counts.sum()))
        return OverGames.of(np.array([found.elo]), slopes.combined(weights), options.mass, np.array([not counts.any()]))

    def moves_and_means(self, entries: int) -> tuple[Indices, Array]:
        """Return how many known gains each entry has, and their mean."""
        totals = self.by_entry.totals[:entries]
        moves = totals.sum(axis=1)
        mean = np.full(entries, np.nan)
        np.divide(totals @ self.by_entry.bins / 100, moves, out=mean, where=moves > 0)
        return moves.astype(np.int64), mean


def _weights(first: Indices, second: Indices, lead: Array, elo: Array) -> tuple[Array, Array]:
    """Return how much each pair counts in everybody's perceived and relative Elo; infinite differences do not."""
    finite = np.flatnonzero(np.isfinite(lead))
    found = []
    for own in perceived_weights(first[finite], second[finite], elo):
        every = np.zeros((len(elo), len(lead)))
        every[:, finite] = np.nan_to_num(own)  # a group without a rating has no perceived Elo
        found.append(every)
    return found[0], found[1]


def _spread(value: Array, slopes: Slopes, weights: Array, mass: float, alone: npt.NDArray[np.bool_]) -> OverGames:
    return OverGames.of(value, slopes.combined(weights), mass, alone | ~np.isfinite(value))


def _compared(found: Perceived) -> Perceived:
    """Return the strengths without those of players whom nothing connects to another: their rating is no finding."""
    alone = np.bincount(found.component)[found.component] == 1
    elo, relative = (np.where(alone, np.nan, column) for column in (found.elo, found.relative))
    return replace(found, elo=elo, relative=relative)


def _comparison(
    players: Field, tables: _Tables, options: TournamentOptions
) -> list[tuple[int, int, float, float, float, float]]:
    """Return everybody who was in two events, in one of them against everybody of these in the other."""
    events = list(dict.fromkeys(entry.event for entry in players.entries))
    wanted: list[tuple[int, int]] = []
    for at, event in enumerate(events):
        for other in events[at + 1 :]:
            both = [e.player for e in players.entries if e.event == event and (e.player, other) in players.number]
            wanted += [(players.number[a, event], players.number[b, other]) for a in sorted(both) for b in sorted(both)]
    if not wanted:
        return []
    first, second = (np.array(side, dtype=np.int64) for side in zip(*wanted, strict=True))
    lead, slopes = tables.by_entry.leads(first, second, options.curve)
    few = tables.by_entry.games_of_group < 2
    found = OverGames.of(lead, slopes, options.mass, few[first] | few[second])
    columns = (first, second, tables.by_entry.expected_scores(first, second), lead, found.low, found.high)
    return [tuple(column[at].item() for column in columns) for at in range(len(first))]
