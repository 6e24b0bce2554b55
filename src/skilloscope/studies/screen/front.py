"""The front door of screening: from files, what was asked for and an engine's work to a `Screening`."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from skilloscope.__about__ import __version__
from skilloscope.chess.human.network import shipped_network
from skilloscope.chess.pgn.games import Games, read_games
from skilloscope.core.errors import EngineError, InputError, OptionError
from skilloscope.ratings.elo_axis.axis import Effort, EloAxis
from skilloscope.sources.judge import Judged, Work, engine_of, judge_games
from skilloscope.sources.kinds import Kind, by_kind
from skilloscope.studies.rate.front import engine_found
from skilloscope.studies.rate.methods import effort_for, settings_warnings
from skilloscope.studies.rate.rate import pool_warnings
from skilloscope.studies.screen.baseline import shipped_baseline
from skilloscope.studies.screen.moves import GivenRatings, screened_moves
from skilloscope.studies.screen.screen import Screening, screened


@dataclass(frozen=True)
class ScreenRequest:
    """How games are to be screened."""

    axis: EloAxis
    effort: Effort
    ratings: GivenRatings
    by_event: bool = False
    prevalence: float = 0.001
    strict: bool = False
    """Whether a missing engine is an error."""
    workers: int = 1
    progress: Callable[[int, int], None] | None = None


def screen_files(paths: Sequence[Path], asked: ScreenRequest, work: Work) -> tuple[Screening, Judged | None]:
    """Screen the players of PGN files; where no engine can be had, by what people play alone, and a line says so."""
    files = by_kind(paths, Kind.GAMES)[Kind.GAMES]
    games = read_games(list(files))
    effort, judged, told = asked.effort, None, list[str]()
    if effort.weights is not None:
        try:
            judged = judge_games(games, work)
        except EngineError as error:
            if asked.strict or work.scheduler or engine_found(work.engine):
                raise
            told.append(f"{error}: screened by what people play alone, effort instant")
            effort = effort_for(asked.axis, "human", None)
    return screen_read(games, judged, effort, asked, inputs=digests(files), warnings=told), judged


def screen_read(
    games: Games,
    judged: Judged | None,
    effort: Effort,
    asked: ScreenRequest,
    *,
    inputs: Sequence[tuple[str, str]] = (),
    warnings: Sequence[str] = (),
) -> Screening:
    """Screen the players of games that were read, with what the engine said of them."""
    check_prevalence(asked.prevalence)
    if not len(games):
        raise InputError("no game could be read", hint="give PGN files")
    analyses = None if judged is None else judged.analyses
    moves = screened_moves(
        games, analyses, effort, asked.ratings, opening_moves=asked.axis.opening_moves, workers=asked.workers,
        progress=asked.progress,
    )  # fmt: skip
    told = list(warnings)
    if judged is not None:
        told += settings_warnings(effort, judged.decisions.about.get("settings", {}))
    counts = games.counts.tolist()
    speeds, sites = (games.headers[name].to_pylist() for name in ("time_control", "site"))
    told += pool_warnings(speeds, sites, counts, what="moves")
    return screened(
        moves,
        shipped_baseline(effort.name),
        by_event=asked.by_event,
        prevalence=asked.prevalence,
        valid=asked.axis.valid,
        ratings=asked.ratings.name,
        engine={} if judged is None else engine_of(judged.decisions),
        inputs=inputs,
        versions=versions(),
        warnings=told,
    )


def check_prevalence(prevalence: float) -> None:
    """Refuse what is no share."""
    if not 0 <= prevalence < 1:
        raise OptionError(f"a prevalence is a share from 0 to below 1, got {prevalence:g}")


def digests(paths: Sequence[Path]) -> list[tuple[str, str]]:
    """Return name and SHA-256 of each file."""
    return [(path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in paths]


def versions() -> dict[str, str]:
    """Return the versions that a report depends on."""
    return {
        "skilloscope": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "human_model": shipped_network().sha256,
    }
