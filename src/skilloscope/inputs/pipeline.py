"""From files to analysed games: read once, searched where the method needs an engine, within a budget of time.

In: files or games, a request, and the engine's job. Out: `AnalysedGames`, from which all evidence about Elo is made:
the command line, Python functions and the web all come this way. Where no engine is found and none was asked for by
name, the human model is used alone, and a note says so.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc

from skilloscope.chess.boards import Boards
from skilloscope.chess.engine.engine import find_engine
from skilloscope.chess.engine.settings import Settings
from skilloscope.chess.human.model import Human, cached_human, human_on, shipped_network
from skilloscope.chess.pgn.facts import FIDE, pools_of
from skilloscope.chess.pgn.games import Games, distinct_games, read_games
from skilloscope.core.arrays import Ints
from skilloscope.core.errors import EngineError, InputError, Tally
from skilloscope.evidence.axis import Effort, EloAxis
from skilloscope.inputs.budget import fair_order, plan, sample_games
from skilloscope.inputs.engine_job import EngineBudget, EngineJob, check_games
from skilloscope.inputs.load import AnalysedDecisions, analyse_games, games_of, resolve_player
from skilloscope.inputs.load import players as known_players
from skilloscope.inputs.request import AUTO, RatingRequest
from skilloscope.models.joint import HumanChoices

PathLike = str | os.PathLike[str]
GamesGiven = Games | PathLike | Sequence[PathLike]
"""Games, or one or several PGN files."""


@dataclass(frozen=True, eq=False)
class AnalysedGames:
    """Games on their way to the axis: what the engine said of them, and how they are to be read."""

    games: Games
    judged: AnalysedDecisions | None
    """None where no engine was asked."""
    asked: RatingRequest
    told: Sequence[str] = ()
    """Why something is otherwise than asked for."""
    sample: Mapping[str, Any] = field(default_factory=dict)
    """The games that fit a budget."""
    others: Sequence[AnalysedGames] = ()
    """The games of other pools in the same files, the most frequent first."""

    def of_games(self, rows: Ints) -> AnalysedGames:
        """Return some of the games, by row in ascending order, with their analyses and decisions."""
        games, judged = self.games.select(rows), self.judged
        if judged is not None and judged.analyses is not None:
            known = pc.is_in(judged.decisions.context.column("game"), games.headers["game"])
            some = judged.decisions.select(known.to_numpy(zero_copy_only=False))
            judged = replace(judged, decisions=some, analyses=judged.analyses.of_games(rows))
        return AnalysedGames(games, judged, self.asked, self.told)


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
    """Return games or those of PGN files, searched where the method needs an engine, and the players' full names.

    With players only their games, and only their moves are searched unless both sides are wanted. A player may be named
    by a part of the name that nobody else's has.
    """
    games = distinct_games((what if isinstance(what, Games) else read_games(what)).renamed(aliases or {}))
    check_games(games)
    names = list(dict.fromkeys(resolve_player(player, known_players(games)) for player in players))
    if names:
        games = games.select(games_of(games, names))
    return analysed_games(games, asked, work, players=[] if both_sides else names, limit=limit), names


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
    check_games(games)
    names = [resolve_player(player, known_players(games)) for player in players]
    if asked.pool:
        return _of_pools(games, asked, work, names, limit)
    if asked.model is None:
        pool = asked.axis.pool
        model = cached_human(work.store, pool) if work.scheduler is None else HumanOnCluster(work.scheduler, pool)
        asked = replace(asked, model=model)
    if not asked.needs_engine:
        return AnalysedGames(games, None, asked)
    rows, sample = None, dict[str, Any]()
    try:
        if limit.minutes is not None:
            planned = plan(games, work, seed=limit.seed, player=names or None)
            order = fair_order(games, limit.seed)
            found = sample_games(games, planned, limit.minutes, seed=limit.seed, order=order)
            rows, sample = found.rows, found.as_dict()
        judged = analyse_games(games, work, player=names, rows=rows)
    except EngineError as error:
        if limit.strict or work.scheduler or engine_found(work.engine):
            raise
        said = f"{error}: rated by the human model alone, effort instant"
        return AnalysedGames(games, None, asked.without_engine(), [said])
    return AnalysedGames(games, judged, asked, sample=sample)


def _of_pools(
    games: Games, asked: RatingRequest, work: EngineJob, players: Sequence[str], limit: EngineBudget
) -> AnalysedGames:
    """Return the games of the most frequent pool, with those of the others: ratings of pools are never mixed."""
    parts = []
    for at, (pool, own, counted) in enumerate(split_pools(games, asked.pool)):
        here = asked.for_pool(pool)
        named = [name for name in players if at == 0 or name in known_players(own)]
        found = analysed_games(own, here, work, players=named, limit=limit)
        told = [*found.told, *counted]
        if limit.strict and asked.needs_engine and not here.needs_engine:
            told.append(f"no engine's evidence is fitted for {here.axis.axis}: rated by what people play alone")
        parts.append(replace(found, told=told))
    return replace(parts[0], others=parts[1:])


def split_pools(games: Games, wanted: str = AUTO) -> list[tuple[str, Games, list[str]]]:
    """Return the pools of games, the most frequent first: name, games and what must be said of the others.

    A pool that was asked for is that of all games unless some are recognised as of it; then the others are left out.
    """
    pools = np.array([pool or "" for pool in pools_of(games)], dtype=object)
    if wanted != AUTO:
        own = pools == wanted
        return [(wanted, games.select(own, reason="game of another pool") if own.any() else games, [])]
    counts = Counter(pools[pools != ""].tolist()) or Counter({FIDE: len(games)})
    if len(counts) == 1 and (pools != "").all():
        return [(pools[0], games, [])]
    kept = games.select(pools != "", reason="unrated game or variant of a server") if (pools != "").any() else games
    known = pools[pools != ""] if (pools != "").any() else np.full(len(games), FIDE, dtype=object)
    order = [pool for pool, _ in counts.most_common()]
    found = [(pool, kept.select(known == pool), list[str]()) for pool in order]
    found[1:] = [(pool, replace(own, tally=Tally()), said) for pool, own, said in found[1:]]
    if len(order) > 1:
        rest = ", ".join(f"{pool} ({counts[pool]:,} games)" for pool in order[1:])
        found[0][2].append(f"{counts[order[0]]:,} games are of the pool {order[0]}; rated by themselves: {rest}")
    return found


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
    """Return games as Python functions are given them, analysed, and the players' full names.

    `asking` are further fields of the request: prior, by, mass. An engine that was not asked for, by `method` or
    `effort`, may be missing: then the human model is used alone.
    """
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
    """The human model run by the workers of a scheduler's cluster; every call connects anew."""

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
