"""Events by gain: who would score what against whom, and how strong each played. [FER12 Algorithms 1 to 4]

In: Gained. Out: EventGains, as columns: pairs with expected scores (tables 1 and 3), perceived Elo, scores against the
engine (tables 4, 5 and 6), and players who were in two events (table 2), each with an interval over games.

A player in an event is an entry; two entries who met are a pair. A player's gains are pooled by event, as in table 1,
or by match, as in table 3: then each pair of players has its own distributions, from the games that they played against
each other. Against the engine it is always the whole event.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, ClassVar

import numpy as np

from skilloscope.chess.pgn.games import Games
from skilloscope.core.columns import Array, Bools, Ints
from skilloscope.core.errors import InputError, OptionError, Tally, check_mass
from skilloscope.inputs.gains import NEVER_ERRS, EngineGains, Gained
from skilloscope.models.gain import Curve, GainHistogram
from skilloscope.ratings.gain_table import GainTable, Slopes
from skilloscope.ratings.perceived import (
    EngineStrength,
    Perceived,
    engine_strength,
    perceived_least_squares,
    perceived_weights,
)
from skilloscope.results.columns import PGN_SCORES

EVENTS = ("file", "event", "all")
"""What makes games one event: the file that they are in, the header's name, or simply all of them."""
POOLS = ("event", "match")
_Compared = tuple[int, int, float, float, float, float]


@dataclass(frozen=True)
class GainRequest:
    """How an event is computed: pooling, curve, the engine, and how much the intervals hold."""

    pool: str = "event"
    events: str = "file"
    curve: Curve = "normal"
    engine: EngineGains = NEVER_ERRS
    engine_elo: float | None = None
    mass: float = 0.95

    FIELDS: ClassVar = ("pool", "curve", "mass")

    def __post_init__(self) -> None:
        if self.pool not in POOLS or self.events not in EVENTS:
            known = f"gains are pooled by {' or '.join(POOLS)}, events are {', '.join(EVENTS)}"
            raise OptionError(f"no pool {self.pool!r} by {self.events!r}", hint=known)
        check_mass(self.mass)


@dataclass(frozen=True)
class Entrant:
    """A player in an event: games, points and rating from the headers; a game without a result gives no points."""

    player: str
    event: str
    games: int
    points: float
    elo: float  # the mean of the ratings in the headers; NaN where there is none


@dataclass(frozen=True)
class Pair:
    """Two entries of one event who met: how often, in how many games with a result, and the first one's points."""

    first: int
    second: int
    games: int
    finished: int
    points: float


@dataclass(frozen=True, eq=False)
class Field:
    """Who played whom in which event, from the headers."""

    entries: Sequence[Entrant]
    pairs: Sequence[Pair]
    number: Mapping[tuple[str, str], int]  # the entry of a player in an event
    event_of_game: Sequence[str]
    left: int  # games without two different names

    @classmethod
    def of(cls, games: Games, by: str) -> "Field":
        """Read the headers."""
        headers, left = games.headers, 0
        events = _events(headers["file" if by == "all" else by].to_pylist(), by)
        columns = [headers[name].to_pylist() for name in ("white", "black", "white_elo", "black_elo", "result")]
        played: dict[tuple[str, str], list[tuple[float, float]]] = {}
        met: dict[tuple[tuple[str, str], tuple[str, str]], list[float]] = {}
        for event, white, black, white_elo, black_elo, result in zip(events, *columns, strict=True):
            if white is None or black is None or white == black:
                left += 1
                continue
            score = PGN_SCORES.get(result, np.nan)
            one, two = (white, event), (black, event)
            played.setdefault(one, []).append((score, np.nan if white_elo is None else white_elo))
            played.setdefault(two, []).append((1 - score, np.nan if black_elo is None else black_elo))
            if (two, one) in met:
                met[two, one].append(1 - score)
            else:
                met.setdefault((one, two), []).append(score)
        if not met:
            raise InputError("no game of two named players", hint="a tournament needs players with names")
        number = {key: at for at, key in enumerate(played)}
        entries = []
        for key, rows in played.items():
            scores, elo = np.array(rows, dtype=float).T
            mean = float(np.nanmean(elo)) if np.isfinite(elo).any() else float("nan")
            entries.append(Entrant(*key, len(rows), float(np.nansum(scores)), mean))
        pairs = []
        for (one, two), points in met.items():
            finished = int(np.isfinite(points).sum())
            pairs.append(Pair(number[one], number[two], len(points), finished, float(np.nansum(points))))
        return cls(entries, pairs, number, events, left)


@dataclass(frozen=True, eq=False)
class OverGames:
    """Numbers with their intervals over games, their standard deviations, and what each game adds to them."""

    value: Array  # NaN where nothing is known, ±inf where an expected score is 0 or 1
    low: Array
    high: Array
    sd: Array
    by_game: Array  # one row for each number, one column for each game: weighing the games again adds a draw from these

    @classmethod
    def of(cls, value: Array, slopes: Slopes, mass: float, alone: Bools) -> "OverGames":
        """Return the numbers with intervals; those from a single game have none."""
        low, high, sd = (np.where(alone, np.nan, column) for column in slopes.interval(value, mass))
        return cls(value, low, high, sd, slopes.by_game())


@dataclass(frozen=True, eq=False)
class EventGains:
    """Everything that was computed, as columns next to the entries and the pairs."""

    request: GainRequest
    entries: Sequence[Entrant]
    pairs: Sequence[Pair]
    decisions: Ints
    mean_gain: Array
    score: Array  # each pair's expected score, the first one's
    leads: OverGames
    perceived: Perceived
    strengths: OverGames  # the perceived Elo
    relatives: OverGames  # the same, to the mean of those who met
    engine_score: Array
    engine_leads: OverGames
    engine: EngineStrength
    engine_elo: OverGames  # the engine's strength, one number
    comparison: Sequence[_Compared]
    """Entries of two events: both, expected score, difference, low, high. [FER12 table 2]"""
    histograms: Mapping[int, GainHistogram]
    values: Mapping[str, Any]  # whose values the gains are computed from
    tally: Tally

    @property
    def disagreement(self) -> float:
        """The mean distance of a pair's difference from the one by way of the engine. [FER12 sect. 7: 29]"""
        first, second = _ends(self.pairs)
        to_engine = self.engine_leads.value
        with np.errstate(invalid="ignore"):
            apart = np.abs(self.leads.value - (to_engine[first] - to_engine[second]))
        return float(apart[np.isfinite(apart)].mean()) if np.isfinite(apart).any() else float("nan")

    @property
    def expected_points(self) -> Array:
        """The sum of each entry's expected scores over its games with a result, as in table 1's column Total."""
        expected = np.zeros(len(self.entries))
        for pair, score in zip(self.pairs, self.score.tolist(), strict=True):
            if pair.finished:  # a pair without a result counts nothing, its score known or not
                expected[pair.first] += pair.finished * score
                expected[pair.second] += pair.finished * (1 - score)
        return expected


def event_gains(gained: Gained, request: GainRequest | None = None) -> EventGains:
    """Compute the events of some games from their gains. [FER12 Algorithms 1 to 4]"""
    request = request or GainRequest()
    players = Field.of(gained.games, request.events)
    first, second = _ends(players.pairs)
    elo = np.array([entry.elo for entry in players.entries])
    tables = _Tables.of(gained, players, request)
    table, one, two = tables.pairs(first, second)
    lead, slopes = table.leads(one, two, request.curve)
    known = np.flatnonzero(~np.isnan(lead))
    perceived = perceived_least_squares(first[known], second[known], lead[known], elo)
    # Players whom nothing connects to another have no perceived Elo: their rating is no finding.
    apart = np.bincount(perceived.component)[perceived.component] == 1
    strength, relative = (np.where(apart, np.nan, column) for column in (perceived.elo, perceived.relative))
    alone_pair, alone = tables.alone(first, second)
    engine_score, engine_leads, engine_slopes = tables.against_engine(request)
    engine = engine_strength(elo, strength, engine_leads.value)
    counts = np.isfinite(engine.by_rating)
    of_engine = engine_slopes.combined(np.where(counts, -1.0, 0.0)[None, :] / max(1, int(counts.sum())))
    tally = gained.losses.tally + perceived.tally
    tally.count("pair without a known gain", len(lead) - len(known))
    tally.count("game without two named players", players.left)
    unfinished = sum(pair.games - pair.finished for pair in players.pairs)
    tally.count("points and expected points of a game without a result", unfinished)
    totals = tables.by_entry.totals[: len(elo)]
    moves, mean = totals.sum(axis=1), np.full(len(elo), np.nan)
    np.divide(totals @ tables.by_entry.bins / 100, moves, out=mean, where=moves > 0)
    weights = _weights(first, second, lead, elo)
    strengths, relatives = (
        OverGames.of(value, slopes.combined(own), request.mass, alone | ~np.isfinite(value))
        for value, own in zip((strength, relative), weights, strict=True)
    )
    return EventGains(
        request=request,
        entries=players.entries,
        pairs=players.pairs,
        decisions=moves.astype(np.int64),
        mean_gain=mean,
        score=table.expected_scores(one, two),
        leads=OverGames.of(lead, slopes, request.mass, alone_pair),
        perceived=replace(perceived, elo=strength, relative=relative),
        strengths=strengths,
        relatives=relatives,
        engine_score=engine_score,
        engine_leads=engine_leads,
        engine=engine,
        engine_elo=OverGames.of(np.array([engine.elo]), of_engine, request.mass, np.array([not counts.any()])),
        comparison=_comparison(players, tables, request),
        histograms={at: tables.by_entry.histogram(at) for at in np.flatnonzero(moves > 0).tolist()},
        values=gained.about(),
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
    """The gains by entry, the engine's own last, and by entry and opponent where they are pooled by match."""

    by_entry: GainTable
    by_match: GainTable | None
    engine: int

    @classmethod
    def of(cls, gained: Gained, players: Field, request: GainRequest) -> "_Tables":
        losses, game, events = gained.losses, gained.game_of_move(), players.event_of_game
        opponents = losses.context.column("opponent").to_pylist()
        names = [losses.deciders[code] for code in losses.decider.tolist()]
        entry, other = (
            np.array([players.number.get((n, events[g]), -1) for n, g in zip(who, game.tolist(), strict=True)])
            for who in (names, opponents)
        )
        kept = np.flatnonzero((entry >= 0) & (other >= 0))
        if not len(kept):
            raise InputError("no move has a known gain", hint="let an engine value the games: --values engine")
        gains, game, engine = losses.gain[kept], game[kept], request.engine
        size, last = len(gained.games), len(players.entries)
        by_entry = GainTable.from_gains(
            np.concatenate([gains, engine.gains]),
            np.concatenate([entry[kept], np.full(len(engine.gains), last)]),
            np.concatenate([game, engine.game]),
            groups=last + 1,
            games=size,
        )
        if request.pool == "event":
            return cls(by_entry, None, last)
        sides = {(pair.first, pair.second): 2 * at for at, pair in enumerate(players.pairs)}
        sides |= {(pair.second, pair.first): 2 * at + 1 for at, pair in enumerate(players.pairs)}
        side = np.array([sides[a, b] for a, b in zip(entry[kept].tolist(), other[kept].tolist(), strict=True)])
        by_match = GainTable.from_gains(gains, side, game, groups=2 * len(players.pairs), games=size)
        return cls(by_entry, by_match, last)

    def pairs(self, first: Ints, second: Ints) -> tuple[GainTable, Ints, Ints]:
        """Return the table that the pairs are compared in, and their places there."""
        if self.by_match is None:
            return self.by_entry, first, second
        sides = 2 * np.arange(len(first))
        return self.by_match, sides, sides + 1

    def alone(self, first: Ints, second: Ints) -> tuple[Bools, Bools]:
        """Return for each pair and each entry whether something of it comes from fewer than two games."""
        table, one, two = self.pairs(first, second)
        few = table.games_of_group < 2
        pair = few[one] | few[two]
        entry = self.by_entry.games_of_group[: self.engine] < 2
        if self.by_match is not None:
            for side in (first, second):
                np.logical_or.at(entry, side, pair)
        return pair, entry

    def against_engine(self, request: GainRequest) -> tuple[Array, OverGames, Slopes]:
        who, engine = np.arange(self.engine), np.full(self.engine, self.engine)
        lead, slopes = self.by_entry.leads(who, engine, request.curve)
        alone = self.by_entry.games_of_group[: self.engine] < 2
        return self.by_entry.expected_scores(who, engine), OverGames.of(lead, slopes, request.mass, alone), slopes


def _weights(first: Ints, second: Ints, lead: Array, elo: Array) -> list[Array]:
    """Return how much each pair counts in everybody's perceived and relative Elo; infinite differences do not."""
    finite = np.flatnonzero(np.isfinite(lead))
    found = []
    for own in perceived_weights(first[finite], second[finite], elo):
        every = np.zeros((len(elo), len(lead)))
        every[:, finite] = np.nan_to_num(own)  # a group without a rating has no perceived Elo
        found.append(every)
    return found


def _comparison(players: Field, tables: _Tables, request: GainRequest) -> list[_Compared]:
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
    lead, slopes = tables.by_entry.leads(first, second, request.curve)
    few = tables.by_entry.games_of_group < 2
    found = OverGames.of(lead, slopes, request.mass, few[first] | few[second])
    columns = (first, second, tables.by_entry.expected_scores(first, second), lead, found.low, found.high)
    return [tuple(column[at].item() for column in columns) for at in range(len(first))]


def _ends(pairs: Sequence[Pair]) -> tuple[Ints, Ints]:
    ends = np.array([(pair.first, pair.second) for pair in pairs], dtype=np.int64)
    return ends[:, 0], ends[:, 1]


def _events(labels: Sequence[str | None], by: str) -> list[str]:
    """Return the event of each game; a file is called by its name without folder and endings, where that is enough."""
    if by != "file":
        return ["" if by == "all" else str(label or "?") for label in labels]
    short = {label: PurePath(label or "?").name.split(".")[0] for label in dict.fromkeys(labels)}
    alone = len(set(short.values())) == len(short)
    return [short[label] if alone else str(label) for label in labels]
