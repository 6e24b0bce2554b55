"""The front door of ratings: decisions go to the papers' agent, games to the Elo axis.

In: decisions, games, or files of either. Out: ratings, and what the engine was asked on the way. Where no engine can be
had and none was asked for by name, what people play decides alone, and a line says so.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, overload

from skilloscope.chess.engine.engine import find_engine
from skilloscope.chess.engine.settings import Settings
from skilloscope.chess.pgn.games import Games, read_games
from skilloscope.core.errors import EngineError, InputError
from skilloscope.core.frames import is_frame
from skilloscope.decision import Decisions
from skilloscope.decision.arrow import decisions_from_frame
from skilloscope.ratings.elo_axis.axis import Effort, EloAxis
from skilloscope.ratings.scale import Scale
from skilloscope.sources.judge import Judged, Work, check_games, check_name, judge, judge_games, players
from skilloscope.sources.plan import fair_order, plan, sample_games
from skilloscope.studies.rate.elo import EloRatings
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
    `by`, `player`, `mass`, and for the engine `engine`, `store`, `imports`, `workers`. Decisions are rated by the
    papers' agent: `scale`, `model`, `prior`, `by`, `mass`; a pandas or polars frame of decisions too.
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
    )
    return rate_read_games(games, asked, work, player=player, strict=method is not None or effort is not None)[0]


def rate_files(
    paths: Sequence[Path], asked: AxisRating, work: Work, *, player: str | None = None, strict: bool = False
) -> tuple[EloRatings, Judged | None]:
    """Rate the players of PGN files: read once, asked of the engine where the method needs one.

    With `strict` a missing engine is an error.
    """
    if not asked.needs_engine:
        return rate_read_games(read_games(list(paths)), asked, work, player=player)
    judged, told = _judged(lambda: judge(paths, work, player=player), work, strict)
    if judged is None or judged.analyses is None:
        return _without_engine(read_games(list(paths)), asked, told, player)
    ratings = rate_on_axis(judged.analyses.games, judged, asked, players=_named(player))
    return ratings, judged


def rate_read_games(
    games: Games,
    asked: AxisRating,
    work: Work,
    *,
    player: str | None = None,
    budget: float | None = None,
    seed: int = 1,
    strict: bool = False,
) -> tuple[EloRatings, Judged | None]:
    """Rate the players of games; within a budget of minutes the engine is asked about some games only."""
    check_games(games)
    if player is not None:
        check_name(player, players(games))
    if not asked.needs_engine:
        return rate_on_axis(games, None, asked, players=_named(player)), None
    asking = _Asking(games, work, player, budget, seed)
    judged, told = _judged(asking, work, strict)
    if judged is None:
        return _without_engine(games, asked, told, player)
    return rate_on_axis(games, judged, asked, players=_named(player), sample=asking.sample), judged


@dataclass
class _Asking:
    """The engine asked about games, or about those that fit a budget of minutes, which it then remembers."""

    games: Games
    work: Work
    player: str | None
    budget: float | None
    seed: int
    sample: dict[str, Any] = field(default_factory=dict)

    def __call__(self) -> Judged:
        if self.budget is None:
            return judge_games(self.games, self.work, player=self.player)
        planned = plan(self.games, self.work, seed=self.seed, player=self.player)
        order = fair_order(self.games, self.seed)
        found = sample_games(self.games, planned, self.budget, seed=self.seed, order=order)
        self.sample = found.as_dict()
        return judge_games(self.games, self.work, player=self.player, rows=found.rows)


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


def _without_engine(
    games: Games, asked: AxisRating, told: Sequence[str], player: str | None
) -> tuple[EloRatings, Judged | None]:
    ratings = rate_on_axis(games, None, asked.without_engine(), players=_named(player))
    return replace(ratings, warnings=[*told, *ratings.warnings]), None


def _named(player: str | None) -> list[str]:
    return [] if player is None else [player]
