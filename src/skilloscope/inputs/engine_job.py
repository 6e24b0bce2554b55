"""What an engine is asked to do: its settings, its store, its time; and positions analysed accordingly.

What belongs to an engine or to games is imported where there are games: a table needs nothing of it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from skilloscope.chess.engine.settings import DFH13, Settings
from skilloscope.core.errors import InputError
from skilloscope.inputs.file_kinds import Kind, by_kind

if TYPE_CHECKING:
    from skilloscope.chess.analysis.analyse import Progress
    from skilloscope.chess.analysis.analyses import Analyses
    from skilloscope.chess.pgn.games import Games
    from skilloscope.chess.pgn.positions import Positions

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class EngineJob:
    """How games are to be judged: the engine's settings, the store, what to import and how long it may take."""

    settings: Settings = DFH13
    store: Path | None = None
    engine: str | None = None
    imports: Sequence[Path] = ()
    deadline_seconds: float | None = None
    workers: int | None = None
    scheduler: str | None = None
    export: Path | None = None
    """Where the answers are written to, if anywhere."""
    progress: Callable[[Progress], None] | None = None
    skip_moves: int | None = None
    """How many moves of each side are left out as known; None: as the scope has it, 12 where there is a decision."""
    max_abs_value: float = 3.0
    """Positions whose best value lies beyond are left out as decided."""


@dataclass(frozen=True)
class EngineBudget:
    """How long engines may search, the seed of the sample that fits, and whether a missing engine is an error."""

    minutes: float | None = None
    """None: no limit."""
    seed: int = 1
    strict: bool = False


def analyse_as(work: EngineJob, batch: Positions) -> Analyses:
    """Return the analyses of positions, made as `work` says."""
    from skilloscope.chess.analysis.analyse import analyse
    from skilloscope.chess.analysis.files import export_analyses

    by_kind(work.imports, Kind.ANALYSES, Kind.ANALYSED)
    _LOG.info("%d positions of %d games; %s, store %s", len(batch), len(batch.games), work.settings, work.store)
    analyses = analyse(
        batch,
        settings=work.settings,
        store=work.store,
        engine=work.engine,
        imports=list(work.imports),
        progress=work.progress,
        deadline_seconds=work.deadline_seconds,
        workers=work.workers,
        scheduler=work.scheduler,
    )
    _LOG.info("answers of %s; %s", analyses.identity["engine"], analyses.about or "no notes")
    if work.export:
        export_analyses(work.export, analyses.settings, analyses.rows())
    return analyses


def check_games(games: Games) -> None:
    """Raise where there is no game, and say why the first could not be read."""
    if not len(games):
        first = f": {games.tally.faults[0]}" if games.tally.faults else ""
        raise InputError(
            f"no game could be read{first}", hint="give PGN files; `skilloscope demo` shows what they look like"
        )
