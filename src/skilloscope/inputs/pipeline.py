"""From files to analysed games: read once, searched where the method needs an engine, within a budget of time.

In: files or games, a request, and the engine's job. Out: `AnalysedGames`, from which all evidence about Elo is made:
the command line, Python functions and the web all come this way. Where no engine is found and none was asked for by
name, the human model is used alone, and a note says so.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from skilloscope.chess.boards import Boards
from skilloscope.chess.engine.engine import find_engine
from skilloscope.chess.engine.settings import Settings
from skilloscope.chess.human.model import Human, cached_human, human, human_on
from skilloscope.chess.pgn.games import Games, distinct_games, read_games
from skilloscope.core.arrays import Ints
from skilloscope.core.errors import EngineError, InputError
from skilloscope.evidence.axis import Effort, EloAxis
from skilloscope.inputs.budget import fair_order, plan, sample_games
from skilloscope.inputs.engine_job import EngineBudget, EngineJob, check_games
from skilloscope.inputs.load import AnalysedDecisions, analyse_games, games_of, resolve_player
from skilloscope.inputs.load import players as known_players
from skilloscope.inputs.request import RatingRequest
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
    if asked.model is None:
        model = cached_human(work.store) if work.scheduler is None else HumanOnCluster(work.scheduler)
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

    def __init__(self, scheduler: str) -> None:
        super().__init__(human().network)
        self._scheduler = scheduler

    def choices(self, boards: Boards, *, progress: Callable[[int], None] | None = None) -> HumanChoices:
        """Return all legal moves of the positions with their coefficients."""
        with human_on(self._scheduler) as model:
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
