"""From files to evidence about Elo: games read once, searched where the method needs an engine, in a budget of time.

In: files or games, a request, and the engine's job. Out: `AnalysedGames`, then `GameEvidence`: an `EvidenceTable` for
each method that was asked for, the label of each move, and a tally of moves that count for nobody. The command line,
Python functions and the web all come this way. Where no engine is found and none was asked for by name, the human model
is used alone, and a note says so. Games are read a few at a time; any number of workers gives the same.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import chess
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.analysis.evaluations import evaluations_from_comments
from skilloscope.chess.boards import Boards, playable_board
from skilloscope.chess.engine.engine import find_engine
from skilloscope.chess.engine.settings import Settings
from skilloscope.chess.human.model import Human, cached_human, human_on, shipped_network
from skilloscope.chess.human.played import (
    TIMED,
    PlayedMoves,
    header_columns,
    move_evidence,
    move_labels,
    move_losses,
    move_times,
    movers_of,
    observed_evidence,
    played_moves,
    unused_moves,
)
from skilloscope.chess.pgn.facts import split_pools
from skilloscope.chess.pgn.games import Games, distinct_games, read_games
from skilloscope.core.columns import Bools, Ints
from skilloscope.core.errors import EngineError, InputError, Tally
from skilloscope.decision import Decisions
from skilloscope.evidence import EvidenceTable, Normal, Prior
from skilloscope.evidence.axis import ELO_GRID, Effort, EloAxis, pool_priors
from skilloscope.evidence.sources.registry import DECISION_SOURCES
from skilloscope.inputs.budget import fair_order, plan, sample_games
from skilloscope.inputs.load import AnalysedDecisions, EngineBudget, EngineJob, analyse_games, games_of, resolve_player
from skilloscope.inputs.load import players as known_players
from skilloscope.inputs.request import RatingRequest
from skilloscope.models.joint import HumanChoices
from skilloscope.results.table import Results

PathLike = str | os.PathLike[str]
GamesGiven = Games | PathLike | Sequence[PathLike]


@dataclass(frozen=True, eq=False)
class AnalysedGames:
    """Games on their way to the axis: what the engine said of them, and how they are to be read."""

    games: Games
    judged: AnalysedDecisions | None  # None where no engine was asked
    asked: RatingRequest
    told: Sequence[str] = ()  # why something is otherwise than asked for
    sample: Mapping[str, Any] = field(default_factory=dict)
    others: "Sequence[AnalysedGames]" = ()  # the games of other pools in the same files, the most frequent first
    work: EngineJob | None = None
    """The engine's job, with which single moves are searched again; None where no engine was asked."""
    results: Results | Games | None = None
    """Results that count in place of those of the games themselves."""

    def of_games(self, rows: Ints) -> "AnalysedGames":
        """Return some of the games, by row in ascending order, with their analyses and decisions."""
        games, judged = self.games.select(rows), self.judged
        if judged is not None and judged.analyses is not None:
            known = pc.is_in(judged.decisions.context.column("game"), games.headers["game"])
            some = judged.decisions.select(known.to_numpy(zero_copy_only=False))
            judged = replace(judged, decisions=some, analyses=judged.analyses.of_games(rows))
        return AnalysedGames(games, judged, self.asked, self.told, work=self.work)


def analysed_files(
    what: GamesGiven,
    asked: RatingRequest,
    work: EngineJob,
    *,
    players: Sequence[str] = (),
    aliases: Mapping[str, str] | None = None,
    both_sides: bool = False,
    limit: EngineBudget | None = None,
) -> tuple[AnalysedGames, list[str]]:
    """Return games, searched where the method needs an engine, and the players' full names; only theirs if named."""
    games = distinct_games((what if isinstance(what, Games) else read_games(what)).renamed(aliases or {}))
    games.refuse_empty()
    names = list(dict.fromkeys(map(partial(resolve_player, known=known_players(games)), players))) if players else []
    parts = []
    for pool, own in split_pools(games, asked.pool):
        here, mine = with_priors(asked.for_pool(pool), own), [name for name in names if name in known_players(own)]
        if names and not mine:
            continue
        if mine:
            own = own.select(games_of(own, mine))
        found = analysed_games(own, here, work, players=[] if both_sides else mine, limit=limit)
        if limit and limit.strict and asked.needs_engine and not here.needs_engine:
            unread = f"no engine's evidence is fitted for {here.axis.axis}: rated by what people play alone"
            found = replace(found, told=[*found.told, unread])
        parts.append(found)
    if len(parts) == 1:
        return parts[0], names
    parts.sort(key=lambda part: -len(part.games))
    told = [*parts[0].told, *pools_told([(part.asked.axis.pool, part.games) for part in parts])]
    return replace(parts[0], told=told, others=parts[1:]), names


def pools_told(parts: Sequence[tuple[str, Games]]) -> list[str]:
    """Return what must be said where games are of several pools."""
    first, *rest = (f"{pool} ({len(games):,} games)" for pool, games in parts)
    return [f"several pools, each with ratings of its own: first {first}; then {', '.join(rest)}"] if rest else []


def analysed_games(
    games: Games,
    asked: RatingRequest,
    work: EngineJob,
    *,
    players: Sequence[str] = (),
    limit: EngineBudget | None = None,
) -> AnalysedGames:
    """Return games searched where the method needs an engine; within a budget of minutes it searches some only."""
    limit = limit or EngineBudget()
    games.refuse_empty()
    names = [resolve_player(player, known_players(games)) for player in players]
    judged, rows, sample, told = None, None, dict[str, Any](), list[str]()
    try:
        if asked.needs_engine and limit.minutes is not None:
            planned = plan(games, work, seed=limit.seed, player=names or None)
            order = fair_order(games, limit.seed)
            found = sample_games(games, planned, limit.minutes, seed=limit.seed, order=order)
            rows, sample = found.rows, found.as_dict()
        if asked.needs_engine:
            judged = analyse_games(games, work, player=names, rows=rows)
    except EngineError as error:
        if limit.strict or work.scheduler or engine_found(work.engine):
            raise
        asked, sample, told = asked.without_engine(), {}, [f"{error}: rated by the human model alone, effort instant"]
    if asked.model is None:
        pool = asked.axis.pool
        model = cached_human(work.store, pool) if work.scheduler is None else HumanOnCluster(work.scheduler, pool)
        asked = replace(asked, model=model)
    job = None if judged is None else work
    return AnalysedGames(games, judged, with_priors(asked, games), told, sample, work=job)


def with_priors(asked: RatingRequest, games: Games) -> RatingRequest:
    """Return the request with what the games say of each player before any move of that player is read."""
    if asked.priors is not None:
        return asked
    priors: dict[str, Prior] = {}
    population = asked.axis.prior()
    if asked.prior == "opponents" and asked.axis.opponents is not None:
        met: dict[str, dict[tuple[str | None, float], None]] = {}
        sides = games.headers.select(["white", "black", "white_elo", "black_elo"]).to_pydict()
        for white, black, white_elo, black_elo in zip(*sides.values(), strict=True):
            for name, opponent, rating in ((white, black, black_elo), (black, white, white_elo)):
                if name and rating:
                    # Many games with one opponent, a match, say no more of the player's level than one.
                    met.setdefault(name, {})[opponent, float(rating)] = None
        priors = {name: asked.axis.opponents.prior([elo for _, elo in own]) for name, own in met.items()}
    elif asked.prior == "file" and isinstance(population, Normal):
        plain = replace(asked.without_engine(), by="player", priors={})
        people = elo_evidence(AnalysedGames(games, None, plain)).main.groups()
        curves = [plain.elo.curve(rows) for rows in people.values()]
        priors = dict(zip(people, pool_priors(curves, population) if curves else (), strict=True))
    return replace(asked, priors=priors)


def analysed_given(
    what: GamesGiven,
    players: Sequence[str] = (),
    *,
    axis: EloAxis | None = None,
    method: str | None = None,
    effort: str | None = None,
    aliases: Mapping[str, str] | None = None,
    both_sides: bool = False,
    engine: str | None = None,
    store: PathLike | None = None,
    imports: Sequence[PathLike] = (),
    workers: int = 1,
    minutes: float | None = None,
    scheduler: str | None = None,
    **asking: Any,
) -> tuple[AnalysedGames, list[str]]:
    """Return games given to a Python function, analysed, and full names; `asking` are fields of the request."""
    if method == "agent":
        raise InputError("the papers' agent rates decisions", hint="give decisions(analyse(games))")
    asked = RatingRequest.of(axis, method, effort, workers=workers, **asking)
    job = EngineJob(
        settings=effort_settings(asked.effort),
        store=None if store is None else Path(store),
        engine=engine,
        imports=tuple(Path(path) for path in imports),
        workers=workers,
        scheduler=scheduler,
    )
    budget = EngineBudget(minutes, strict=method is not None or effort is not None)
    return analysed_files(what, asked, job, players=players, aliases=aliases, both_sides=both_sides, limit=budget)


class HumanOnCluster(Human):
    """The human model run by the workers of a scheduler's cluster; every call makes a new connection."""

    def __init__(self, scheduler: str, pool: str) -> None:
        super().__init__(shipped_network(pool), pool)
        self._scheduler = scheduler

    def choices(self, boards: Boards, *, progress: Callable[[int], None] | None = None) -> HumanChoices:
        """Return all legal moves of the positions with their coefficients."""
        with human_on(self._scheduler, self.pool) as model:
            return model.choices(boards, progress=progress)


def effort_settings(effort: Effort) -> Settings:
    """Return the settings of an effort's search; the papers' where it has none."""
    return Settings.from_key(effort.settings) if effort.settings else Settings()


def engine_found(name: str | None) -> bool:
    """Return whether there is an engine; one asked for by name is: if it is missing, that is an error of its own."""
    try:
        return name is not None or bool(find_engine(None))
    except EngineError:
        return False


GAMES_AT_ONCE = 64
UNPLAYABLE = "start position unknown to the human model"
_LABEL = "group on the axis"

Part = TypeVar("Part")
MoveKey = tuple[int, int]
"""The row of a game, and the ply of a move in it."""


@dataclass(frozen=True, eq=False)
class GameEvidence:
    """What games say: a table for each method, the label of each move, and what counts for nobody."""

    tables: dict[str, EvidenceTable]  # by method, that of the main figure first
    labels: dict[MoveKey, Any]  # the label of each move; those that count for nobody are absent
    tally: Tally
    idle: dict[str, str]  # players without a usable move, with the reason

    @property
    def main(self) -> EvidenceTable:
        """The table of the main figure."""
        return next(iter(self.tables.values()))


def elo_evidence(
    found: AnalysedGames, by: str | tuple[str, ...] | None = None, players: Sequence[str] = ()
) -> GameEvidence:
    """Return what moves of analysed games say about Elo, labelled by the column asked for, or by `by`."""
    games, asked = found.games, found.asked
    analyses = None if found.judged is None else found.judged.analyses
    columns = (by,) if isinstance(by, str) else by or (asked.by,)
    read = [kind for kind in asked.kinds if kind not in DECISION_SOURCES] or ["human"]
    question = _Question(columns, asked, read, frozenset(players), asked.model_for(len(games)))
    playable = playable_games(games)
    parts: dict[str, list[EvidenceTable]] = {kind: [] for kind in read}
    labels: dict[MoveKey, Any] = {}
    tally, seen = Tally(), dict[str, Counter[str]]()
    tally.count(UNPLAYABLE, int((~playable).sum()))
    for part in in_parts(partial(_part, games, analyses, question, playable), len(games), asked.workers):
        for kind in read:
            parts[kind].append(part.tables[kind])
        _count_moves(part, labels, tally, seen)
        if asked.progress:
            asked.progress(int(part.rows[-1]) + 1, len(games))
    idle, tables = _idle(games, question.wanted, seen), dict[str, EvidenceTable]()
    for kind in [*asked.kinds, *read]:
        if kind in parts:
            tables[kind] = EvidenceTable.concat(parts[kind]) if parts[kind] else _no_rows()
        else:
            judged = None if found.judged is None else found.judged.decisions
            tables[kind] = _no_rows() if judged is None else _of_decisions(kind, games, judged, labels)
    return GameEvidence(tables, labels, tally, idle)


@dataclass(frozen=True)
class _Question:
    by: tuple[str, ...]
    asked: RatingRequest
    kinds: Sequence[str]
    wanted: frozenset[str]
    model: Human


@dataclass(frozen=True, eq=False)
class _Part:
    rows: Ints
    moves: PlayedMoves
    labels: list[Any]
    people: list[Any]
    tables: dict[str, EvidenceTable]
    reasons: list[str]  # why each move counts for nobody; empty where it counts


def in_parts(ask: Callable[[int], Part | None], total: int, workers: int) -> Iterator[Part]:
    """Yield what is asked of a few games at a time, by the row of the first of them, in their order."""
    starts = range(0, total, GAMES_AT_ONCE)
    if workers < 2 or len(starts) < 2:
        yield from (part for part in map(ask, starts) if part is not None)
        return
    with ThreadPoolExecutor(workers) as pool:
        for begin in range(0, len(starts), workers):  # not all at once: their answers would wait in memory
            yield from (part for part in pool.map(ask, starts[begin : begin + workers]) if part is not None)


def _part(games: Games, analyses: Analyses | None, question: _Question, playable: Bools, first: int) -> _Part | None:
    rows = first + np.flatnonzero(playable[first : first + GAMES_AT_ONCE])
    some = games if len(rows) == len(games) else games.select(rows)
    wanted = moves_of(some, question.wanted) if question.wanted else None
    if not (len(some.moves) if wanted is None else wanted.any()):
        return None
    asked, effort = question.asked, question.asked.effort
    opening_moves = asked.axis.opening_moves
    moves = played_moves(some, wanted=wanted, model=question.model)
    own = analyses if analyses is None or some is games else analyses.of_games(rows)
    if own is not None and effort.weights is not None and "joint" in question.kinds:
        moves = moves.with_engine(own, len(effort.weights.depths))
    labels, people = move_labels(moves, question.by, opening_moves), movers_of(moves)
    reasons, counted = unused_moves(moves, labels, people, question.by[-1], own)
    alone = replace(moves, joint=None, judged=None, preferred=None, answer=None)
    tables = {}
    for kind in question.kinds:
        read = moves if kind == "joint" else alone
        table = move_evidence(read, counted, weights=effort.weights, opening_moves=opening_moves)
        if effort.losses is not None:
            losses = move_losses(alone, evaluations_from_comments(some))
            table = EvidenceTable.concat([table, observed_evidence(alone, losses, counted, effort.losses)])
        if effort.times is not None and "time-spent" not in question.by:  # chosen by it, times say nothing
            times = observed_evidence(alone, move_times(alone), counted, effort.times, TIMED)
            table = EvidenceTable.concat([table, times])
        tables[kind] = replace(table, games=rows[table.games])
    return _Part(rows, moves, labels, people, tables, reasons)


def _count_moves(part: _Part, labels: dict[MoveKey, Any], tally: Tally, seen: dict[str, Counter[str]]) -> None:
    games = part.rows[part.moves.game].tolist()
    for row, key in enumerate(zip(games, part.moves.ply.tolist(), strict=True)):
        reason, person = part.reasons[row], part.people[row]
        if reason:
            tally.count(reason)
        else:
            labels[key] = part.labels[row]
        if person is not None:
            seen.setdefault(person, Counter())[reason] += 1


def _of_decisions(method: str, games: Games, batch: Decisions, labels: Mapping[MoveKey, Any]) -> EvidenceTable:
    """Return the rows of a method over decisions (after the opening, undecided); they are labelled as their moves."""
    rows = {name: row for row, name in enumerate(games.headers["game"].to_pylist())}
    keys = zip(*(batch.context.column(name).to_pylist() for name in ("game", "ply")), strict=True)
    own = [labels.get((rows[game], ply)) for game, ply in keys]
    distinct = [label for label in dict.fromkeys(own) if label is not None]
    names = {label: str(place) for place, label in enumerate(distinct)}
    some = batch.select(np.array([label is not None for label in own], dtype=bool))
    column = pa.array([names[label] for label in own if label is not None], type=pa.string())
    some = replace(some, context=some.context.append_column(_LABEL, column))
    groups, curves, counts = DECISION_SOURCES[method].rows(some, [_LABEL, "decider", "game"])
    kept = np.flatnonzero(counts)
    groups = [groups[at] for at in kept.tolist()]
    people, game = [group[1] for group in groups], np.array([rows[group[2]] for group in groups], dtype=np.int64)
    return EvidenceTable(
        ELO_GRID,
        [distinct[int(group[0])] for group in groups],
        curves[kept],
        counts[kept],
        people=people,
        games=game,
        sources=[method] * len(groups),
        **header_columns(games, game, people),
    )


def _no_rows() -> EvidenceTable:
    return EvidenceTable(ELO_GRID, [], np.zeros((0, ELO_GRID.size)), np.zeros(0, dtype=np.int64))


def _idle(games: Games, wanted: frozenset[str], seen: Mapping[str, Counter[str]]) -> dict[str, str]:
    """Return the players without a usable move, with the reason."""
    names = dict.fromkeys(name for side in ("white", "black") for name in games.headers[side].to_pylist() if name)
    idle = {}
    for name in names:
        counted = seen.get(name, Counter[str]())
        if (not wanted or name in wanted) and not counted[""]:
            worst = max(counted, key=lambda reason: counted[reason], default="")
            idle[name] = f"{counted[worst]:,} moves, {worst}" if worst else "no move in the games that could be used"
    return idle


def moves_of(games: Games, players: frozenset[str]) -> Bools:
    """Return for each move whether one of the players made it; all where none is named."""
    if not players:
        return np.ones(len(games.moves), dtype=bool)
    sides = [[name in players for name in games.headers[side].to_pylist()] for side in ("white", "black")]
    return np.asarray(np.array(sides)[games.movers, games.game_of_move])


def playable_games(games: Games) -> Bools:
    """Return which games start from a position that the human model takes."""
    starts: list[str | None] = games.headers["start_fen"].to_pylist()
    known: dict[str | None, bool] = {None: True, "": True, chess.STARTING_FEN: True}
    for fen in starts:
        if fen not in known:
            try:
                playable_board(fen or chess.STARTING_FEN)
                known[fen] = True
            except InputError:
                known[fen] = False
    return np.array([known[fen] for fen in starts], dtype=bool)
