"""The front door of ratings: decisions go to the papers' agent, games to the Elo axis.

In: decisions, games, or files of either. Out: ratings, and what the engine was asked on the way. Where no engine can be
had and none was asked for by name, what people play decides alone, and a line says so.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, overload

import numpy as np

from skilloscope.chess.duplicates import distinct_games, read_distinct
from skilloscope.chess.engine.engine import find_engine
from skilloscope.chess.engine.settings import Settings
from skilloscope.chess.human.cluster import human_on
from skilloscope.chess.human.kept import kept_human
from skilloscope.chess.pgn.games import Games, read_games
from skilloscope.core.errors import EngineError, InputError
from skilloscope.core.frames import is_frame
from skilloscope.decision import Decisions
from skilloscope.decision.arrow import decisions_from_frame
from skilloscope.ratings.elo_axis.axis import Effort, EloAxis
from skilloscope.ratings.scale import Scale
from skilloscope.sources.judge import Judged, Work, check_games, found_name, judge, judge_games
from skilloscope.sources.judge import players as known_players
from skilloscope.sources.plan import fair_order, plan, sample_games
from skilloscope.studies.rate.elo import EloRatings
from skilloscope.studies.rate.fusion import fuse, read_results_to_fuse
from skilloscope.studies.rate.games import AxisRating, rate_on_axis
from skilloscope.studies.rate.rate import Ratings, rate_decisions

PathLike = str | os.PathLike[str]


@overload
def rate(what: Decisions, scale: Scale | None = None, **options: Any) -> Ratings: ...
@overload
def rate(what: Games | PathLike | Sequence[PathLike], scale: EloAxis | None = None, **options: Any) -> EloRatings: ...
def rate(what: Any, scale: Any = None, **options: Any) -> Ratings | EloRatings:
    """Rate the players of games, given as Games or as PGN files, or the deciders of decisions.

    Games are rated on the Elo axis: `effort` (`instant` asks no engine), `method` (`joint`, `human`, `all`), `prior`,
    `by`, `player`, `mass`, `with_results` (a file of results to count too, see `fuse`), and for the engine `engine`,
    `store`, `imports`, `workers`. Decisions are rated by the papers' agent: `scale`, `model`, `prior`, `by`, `mass`; a
    pandas or polars frame of decisions too.
    """
    if is_frame(what):
        what = decisions_from_frame(what)
    if isinstance(what, Decisions):
        if unknown := {"effort", "method"} & set(options):
            raise InputError(
                f"decisions have no {' and no '.join(sorted(unknown))}: they are rated by the papers' agent",
                hint='give the games themselves: rate("games.pgn", effort="instant")',
            )
        return rate_decisions(what, scale, **options)
    return _rate_games(what, scale, **options)


def _rate_games(
    what: Games | PathLike | Sequence[PathLike],
    axis: EloAxis | None,
    *,
    effort: str | None = None,
    method: str | None = None,
    player: str | None = None,
    engine: str | None = None,
    store: PathLike | None = None,
    imports: Sequence[PathLike] = (),
    workers: int = 1,
    scheduler: str | None = None,
    with_results: PathLike | None = None,
    **more: Any,
) -> EloRatings:
    if method == "agent":
        raise InputError("the papers' agent rates decisions", hint="rate(decisions(analyse(games)))")
    asked = AxisRating.of(axis, method, effort, workers=workers, **more)
    games = what if isinstance(what, Games) else read_games(what)
    work = Work(
        settings=effort_settings(asked.effort),
        store=None if store is None else Path(store),
        engine=engine,
        imports=tuple(Path(path) for path in imports),
        workers=workers,
        scheduler=scheduler,
    )
    limit = Limit(strict=method is not None or effort is not None)
    ratings = rate_read_games(games, asked, work, player=player, limit=limit)[0]
    return ratings if with_results is None else fuse(ratings, read_results_to_fuse(Path(with_results)))


@dataclass(frozen=True, eq=False)
class JudgedGames:
    """Games on their way to the axis: what the engine said of them, and how they are to be read."""

    games: Games
    judged: Judged | None
    """None where no engine was asked."""
    asked: AxisRating
    told: Sequence[str] = ()
    """Why something is otherwise than asked for."""
    sample: Mapping[str, Any] = field(default_factory=dict)
    """What a budget took."""


def judged_files(
    paths: Sequence[Path],
    asked: AxisRating,
    work: Work,
    *,
    players: Sequence[str] = (),
    aliases: Mapping[str, str] | None = None,
    both_sides: bool = False,
    limit: Limit | None = None,
) -> tuple[JudgedGames, list[str]]:
    """Return the games of PGN files, judged where the method needs an engine, and the players' names written out.

    With players only their games, and only their moves are judged unless both sides are wanted. A player may be named
    by a part of his name that nobody else's has.
    """
    limit = limit or Limit()
    if asked.needs_engine and not players and not aliases and limit.minutes is None:
        judged, told = _judged(lambda: judge(paths, work), work, limit.strict)
        if judged is not None and judged.analyses is not None:
            return JudgedGames(judged.analyses.games, judged, asked), []
        return JudgedGames(read_distinct(list(paths)), None, asked.without_engine(), told), []
    games = distinct_games(read_games(list(paths)).renamed(aliases or {}))
    check_games(games)
    names = list(dict.fromkeys(found_name(player, known_players(games)) for player in players))
    if names:
        sides = zip(*(games.headers[side].to_pylist() for side in ("white", "black")), strict=True)
        games = games.select(np.array([not {*names}.isdisjoint(pair) for pair in sides], dtype=bool))
    return judged_games(games, asked, work, players=[] if both_sides else names, limit=limit), names


@dataclass(frozen=True)
class Limit:
    """How long an engine may search, and whether a missing engine is an error."""

    minutes: float | None = None
    seed: int = 1
    strict: bool = False


def judged_games(
    games: Games, asked: AxisRating, work: Work, *, players: Sequence[str] = (), limit: Limit | None = None
) -> JudgedGames:
    """Return games judged where the method needs an engine; within a budget of minutes it is asked about some only."""
    limit = limit or Limit()
    check_games(games)
    for player in players:
        found_name(player, known_players(games))
    if not asked.needs_engine:
        return JudgedGames(games, None, asked)
    asking = _Asking(games, work, list(players), limit.minutes, limit.seed)
    judged, told = _judged(asking, work, limit.strict)
    if judged is None:
        return JudgedGames(games, None, asked.without_engine(), told)
    return JudgedGames(games, judged, asked, sample=asking.sample)


def rate_files(
    paths: Sequence[Path], asked: AxisRating, work: Work, *, player: str | None = None, limit: Limit | None = None
) -> tuple[EloRatings, Judged | None]:
    """Rate the players of PGN files: read once, asked of the engine where the method needs one."""
    with modelled(asked, work) as asked:
        found, names = judged_files(paths, asked, work, players=_named(player), limit=limit)
        return _rated(found, names), found.judged


def rate_read_games(
    games: Games, asked: AxisRating, work: Work, *, player: str | None = None, limit: Limit | None = None
) -> tuple[EloRatings, Judged | None]:
    """Rate the players of games; within a budget of minutes the engine is asked about some games only."""
    with modelled(asked, work) as asked:
        found = judged_games(games, asked, work, players=_named(player), limit=limit)
        return _rated(found, _named(player)), found.judged


@contextmanager
def modelled(asked: AxisRating, work: Work) -> Iterator[AxisRating]:
    """Give the rating with the human model that it uses: on a cluster where one is named, otherwise with a memory."""
    if asked.model is not None:  # whoever asks several questions of the same games has opened it for all of them
        yield asked
        return
    if work.scheduler is None:
        yield replace(asked, model=kept_human(work.store))
        return
    with human_on(work.scheduler) as model:
        yield replace(asked, model=model)


def _rated(found: JudgedGames, players: Sequence[str]) -> EloRatings:
    ratings = rate_on_axis(found.games, found.judged, found.asked, players=players, sample=found.sample)
    return replace(ratings, warnings=[*found.told, *ratings.warnings])


@dataclass
class _Asking:
    """The engine asked about games, or about those that fit a budget of minutes, which it then remembers."""

    games: Games
    work: Work
    players: Sequence[str]
    budget: float | None
    seed: int
    sample: dict[str, Any] = field(default_factory=dict)

    def __call__(self) -> Judged:
        if self.budget is None:
            return judge_games(self.games, self.work, player=self.players)
        planned = plan(self.games, self.work, seed=self.seed, player=self.players or None)
        order = fair_order(self.games, self.seed)
        found = sample_games(self.games, planned, self.budget, seed=self.seed, order=order)
        self.sample = found.as_dict()
        return judge_games(self.games, self.work, player=self.players, rows=found.rows)


def effort_settings(effort: Effort) -> Settings:
    """Return the settings of an effort's search; the papers' where it has none."""
    return Settings.from_key(effort.settings) if effort.settings else Settings()


def engine_found(name: str | None) -> bool:
    """Return whether there is an engine; one asked for by name is: if it is missing, that is an error of its own."""
    if name is not None:
        return True
    try:
        find_engine(None)
    except EngineError:
        return False
    return True


def _judged(ask: Callable[[], Judged], work: Work, strict: bool) -> tuple[Judged | None, list[str]]:
    try:
        return ask(), []
    except EngineError as error:
        if strict or work.scheduler or engine_found(work.engine):
            raise
        return None, [f"{error}: rated by what people play alone, effort instant"]


def _named(player: str | None) -> list[str]:
    return [] if player is None else [player]
