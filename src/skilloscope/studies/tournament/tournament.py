"""Tournaments, matches and knock-outs by gain: who would score what against whom, and how strong each played. [FER12]

In: Gained. Out: Tournament: pairs with expected scores (tables 1 and 3), players with perceived Elo, their scores
against the engine (tables 4, 5 and 6), and players who were in two events (table 2), each with an interval.

A player's gains are pooled by event, as in table 1, or by match, as in table 3: then each pair of players has its own
distributions, from the games that they played against each other. Against the engine it is always the whole event.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.core.checks import check_mass
from skilloscope.core.columns import group_codes
from skilloscope.core.errors import InputError, Tally
from skilloscope.models.gain import PEAK, Curve, GainHistogram
from skilloscope.ratings.gain.perceived import (
    EngineStrength,
    Perceived,
    engine_strength,
    perceived_again,
    perceived_least_squares,
)
from skilloscope.ratings.gain.resampling import GainTable, PairGames, Totals, differences, draw_weights, interval
from skilloscope.sources.gains import Gained
from skilloscope.studies.tournament.field import EVENTS, Entrant, Field, Pair, pair_ends

POOLS = ("event", "match")
Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class TournamentOptions:
    """How a tournament is computed: pooling, curve, the engine, and how the intervals are drawn."""

    pool: str = "event"
    events: str = "file"
    curve: Curve = "normal"
    engine: GainHistogram = PEAK
    engine_gains: str = "peak"
    engine_elo: float | None = None
    mass: float = 0.95
    replicates: int = 400
    seed: int = 1

    def __post_init__(self) -> None:
        if self.pool not in POOLS or self.events not in EVENTS:
            raise InputError(
                f"no pool {self.pool!r} by {self.events!r}",
                hint=f"gains are pooled by {' or '.join(POOLS)}, events told by {', '.join(EVENTS)}",
            )
        check_mass(self.mass)


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
    lead: Array
    lead_low: Array
    lead_high: Array
    perceived: Perceived
    perceived_low: Array
    perceived_high: Array
    relative_low: Array
    relative_high: Array
    engine_score: Array
    engine_lead: Array
    engine_lead_low: Array
    engine_lead_high: Array
    engine: EngineStrength
    engine_low: float
    engine_high: float
    comparison: Sequence[tuple[int, int, float, float, float, float]]
    """Entries of two events: both, expected score, difference, low, high. [FER12 table 2]"""
    drawn: Redrawn
    histograms: Mapping[int, GainHistogram]
    about: Mapping[str, Any]
    tally: Tally

    @property
    def disagreement(self) -> float:
        """The mean distance between a pair's difference and the one by way of the engine. [FER12 sect. 7]

        In section 7 they are 113 and 142: a distance of 29 points. Pairs with an infinite difference do not count.
        """
        first, second = pair_ends(self.pairs)
        apart = np.full(len(self.lead), np.nan)
        finite = np.isfinite(self.lead) & np.isfinite(self.engine_lead[first]) & np.isfinite(self.engine_lead[second])
        by_engine = self.engine_lead[first[finite]] - self.engine_lead[second[finite]]
        apart[finite] = np.abs(self.lead[finite] - by_engine)
        return float(np.nanmean(apart)) if finite.any() else float("nan")

    def figures(self) -> list[tuple[str, str]]:
        """Return the figures with their captions, as SVG."""
        from skilloscope.studies.tournament.figures import tournament_figures

        return tournament_figures(self)


def tournament(gained: Gained, options: TournamentOptions | None = None) -> Tournament:
    """Compute a tournament from the gains of its games. [FER12 Algorithms 1 to 4]"""
    options = options or TournamentOptions()
    field = Field.of(gained.games, options.events)
    first, second = pair_ends(field.pairs)
    tables = _Tables.of(gained, field, options.pool)
    score, engine_score = tables.scores(None, first, second, options.engine)
    lead, engine_lead = differences(score, options.curve), differences(engine_score, options.curve)
    elo = np.array([entry.elo for entry in field.entries])
    known = np.flatnonzero(~np.isnan(lead))
    perceived = _compared(perceived_least_squares(first[known], second[known], lead[known], elo))
    drawn = Redrawn.of(tables, field, options, lead, elo)
    games = tables.by_entry.games_of_group
    shared = np.minimum(games[first], games[second]) if options.pool == "event" else tables.pair_games()
    tally = gained.losses.tally + perceived.tally
    tally.count("pair without a known gain", len(lead) - len(known))
    tally.count("game without two named players", field.left)
    engine = engine_strength(elo, perceived.elo, engine_lead)
    lead_low, lead_high = interval(drawn.leads, options.mass, shared)
    perceived_low, perceived_high = interval(drawn.strengths, options.mass, games)
    relative_low, relative_high = interval(drawn.relatives, options.mass, games)
    engine_lead_low, engine_lead_high = interval(drawn.engine_leads, options.mass, games)
    engine_low, engine_high = interval(drawn.engine_elo[:, None], options.mass, [len(gained.games)])
    totals = tables.by_entry.totals()
    moves = totals.moves
    mean = np.full(len(moves), np.nan)
    np.divide(totals.counts @ totals.bins / 100, moves, out=mean, where=moves > 0)
    return Tournament(
        entries=field.entries,
        pairs=field.pairs,
        options=options,
        decisions=moves.astype(np.int64),
        mean_gain=mean,
        score=score,
        lead=lead,
        lead_low=lead_low,
        lead_high=lead_high,
        perceived=perceived,
        perceived_low=perceived_low,
        perceived_high=perceived_high,
        relative_low=relative_low,
        relative_high=relative_high,
        engine_score=engine_score,
        engine_lead=engine_lead,
        engine_lead_low=engine_lead_low,
        engine_lead_high=engine_lead_high,
        engine=engine,
        engine_low=float(engine_low[0]),
        engine_high=float(engine_high[0]),
        comparison=_comparison(field, tables, options, drawn),
        drawn=drawn,
        histograms={at: tables.by_entry.histogram(at) for at in np.flatnonzero(moves > 0).tolist()},
        about=gained.about(),
        tally=tally,
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
    """The gains by entry, and by entry and opponent where they are pooled by match."""

    by_entry: GainTable
    by_match: GainTable | None
    pairs: Sequence[Pair]

    @classmethod
    def of(cls, gained: Gained, field: Field, pool: str) -> _Tables:
        losses = gained.losses
        rows = {name: row for row, name in enumerate(gained.games.headers["game"].to_pylist())}
        labels, codes = group_codes([losses.context.column("game")])
        game = np.array([rows[label] for label in labels], dtype=np.int64)[codes] if labels else codes.astype(np.int64)
        events = field.event_of_game
        opponents = losses.context.column("opponent").to_pylist()
        names = [losses.deciders[code] for code in losses.decider.tolist()]
        entry = np.array([field.number.get((n, events[g]), -1) for n, g in zip(names, game.tolist(), strict=True)])
        other = np.array([field.number.get((o, events[g]), -1) for o, g in zip(opponents, game.tolist(), strict=True)])
        kept = np.flatnonzero((entry >= 0) & (other >= 0))
        if not len(kept):
            raise InputError("no move has a known gain", hint="let an engine value the games: --values engine")
        gains, game = losses.gain[kept], game[kept]
        by_entry = _table(gains, entry[kept], game, len(field.entries), len(gained.games))
        if pool == "event":
            return cls(by_entry, None, field.pairs)
        sides = {(pair.first, pair.second): 2 * at for at, pair in enumerate(field.pairs)}
        sides |= {(pair.second, pair.first): 2 * at + 1 for at, pair in enumerate(field.pairs)}
        side = np.array([sides[a, b] for a, b in zip(entry[kept].tolist(), other[kept].tolist(), strict=True)])
        return cls(by_entry, _table(gains, side, game, 2 * len(field.pairs), len(gained.games)), field.pairs)

    def scores(
        self, weight: Array | None, first: Indices, second: Indices, engine: GainHistogram
    ) -> tuple[Array, Array]:
        """Return the pairs' expected scores, and each entry's against the engine, with the games weighted."""
        totals = self.by_entry.totals(weight)
        return self.pair_scores(totals, weight, first, second), totals.engine_scores(engine)

    def pair_scores(self, totals: Totals, weight: Array | None, first: Indices, second: Indices) -> Array:
        if self.by_match is None:
            return totals.expected_scores(first, second)
        sides = 2 * np.arange(len(self.pairs))
        return self.by_match.totals(weight).expected_scores(sides, sides + 1)

    def counted(self, first: Indices, second: Indices) -> PairGames | None:
        """Return the pairs of games counted, if they are few enough."""
        if self.by_match is None:
            return PairGames.of(self.by_entry, first, second)
        sides = 2 * np.arange(len(self.pairs))
        return PairGames.of(self.by_match, sides, sides + 1)

    def pair_games(self) -> Indices:
        """Return in how many games each pair has gains of both, where they are pooled by match."""
        assert self.by_match is not None
        games = self.by_match.games_of_group
        return np.minimum(games[0::2], games[1::2])


@dataclass(frozen=True, eq=False)
class Redrawn:
    """The same numbers from games weighed anew, one row for each time."""

    leads: Array
    strengths: Array
    relatives: Array
    engine_leads: Array
    engine_elo: Array
    weights: Array

    @classmethod
    def of(cls, tables: _Tables, field: Field, options: TournamentOptions, lead: Array, elo: Array) -> Redrawn:
        """Weigh the games anew and compute again, so many times."""
        rng = np.random.default_rng(options.seed)
        first, second = pair_ends(field.pairs)
        counted = tables.counted(first, second)
        known, endless = np.flatnonzero(np.isfinite(lead)), np.isinf(lead)
        solve = perceived_again(first[known], second[known], elo)
        n = options.replicates
        leads, weights = np.full((n, len(first)), np.nan), np.zeros((n, len(field.event_of_game)))
        strengths, relatives, engine_leads = (np.full((n, len(elo)), np.nan) for _ in range(3))
        engine_elo = np.full(n, np.nan)
        for row in range(n):
            weights[row] = draw_weights(weights.shape[1], rng)
            if counted is None:
                score = tables.pair_scores(tables.by_entry.totals(weights[row]), weights[row], first, second)
            else:
                score = counted.expected_scores(weights[row])
            engine_score = tables.by_entry.engine_scores(weights[row], options.engine)
            # Who gained more at every move does so under any weights; rounding must not make that finite.
            leads[row] = np.where(endless, lead, differences(score, options.curve))
            strengths[row], relatives[row] = solve(leads[row][known])
            engine_leads[row] = differences(engine_score, options.curve)
            engine_elo[row] = engine_strength(elo, elo, engine_leads[row]).elo
        return cls(leads, strengths, relatives, engine_leads, engine_elo, weights)


def _compared(found: Perceived) -> Perceived:
    """Return the strengths without those of players whom nothing connects to another: their rating is no finding."""
    alone = np.bincount(found.component)[found.component] == 1
    elo, relative = (np.where(alone, np.nan, column) for column in (found.elo, found.relative))
    return replace(found, elo=elo, relative=relative)


def _comparison(
    field: Field, tables: _Tables, options: TournamentOptions, drawn: Redrawn
) -> list[tuple[int, int, float, float, float, float]]:
    """Return everybody who was in two events, in one of them against everybody of these in the other."""
    events = list(dict.fromkeys(entry.event for entry in field.entries))
    wanted: list[tuple[int, int]] = []
    for at, event in enumerate(events):
        for other in events[at + 1 :]:
            both = [e.player for e in field.entries if e.event == event and (e.player, other) in field.number]
            wanted += [(field.number[a, event], field.number[b, other]) for a in sorted(both) for b in sorted(both)]
    if not wanted:
        return []
    first, second = (np.array(side, dtype=np.int64) for side in zip(*wanted, strict=True))
    table = tables.by_entry
    score = table.totals().expected_scores(first, second)
    again = np.array(
        [differences(table.totals(w).expected_scores(first, second), options.curve) for w in drawn.weights]
    )
    games = table.games_of_group
    low, high = interval(again.reshape(len(drawn.weights), -1), options.mass, np.minimum(games[first], games[second]))
    lead = differences(score, options.curve)
    columns = (first, second, score, lead, low, high)
    return [tuple(column[at].item() for column in columns) for at in range(len(first))]


def _table(gains: Array, group: Indices, game: Indices, groups: int, games: int) -> GainTable:
    """Return the table with room for every group and game, those without a known gain too."""
    return replace(GainTable.from_gains(gains, group, game), groups=groups, games=games)
