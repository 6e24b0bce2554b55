"""From files to decisions: games are read and analysed, tables of decisions are taken as they are."""

from __future__ import annotations

import difflib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from skilloscope.chess.analysis import Analyses, Progress, analyse
from skilloscope.chess.decisions import decisions
from skilloscope.chess.exchange import export_analyses
from skilloscope.chess.games import Games, read_games
from skilloscope.chess.positions import Positions, positions
from skilloscope.chess.settings import DFH13, Settings
from skilloscope.decision import Decisions
from skilloscope.decision.text import read_tables, table_kind
from skilloscope.errors import InputError

__all__ = ["Judged", "Work", "analyse_as", "check_games", "check_name", "judge", "judge_games"]

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Work:
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


@dataclass(frozen=True, eq=False)
class Judged:
    """Decisions, and how many different positions were searched now, taken from the store, imported, or failed."""

    decisions: Decisions
    searched: int = 0
    cached: int = 0
    imported: int = 0
    failed: int = 0

    def as_dict(self) -> dict[str, int]:
        """Return the counts."""
        return {"searched": self.searched, "cached": self.cached, "imported": self.imported, "failed": self.failed}

    def __str__(self) -> str:
        failed = f", {self.failed:,} failed" if self.failed else ""
        if not (self.searched or self.cached or self.imported or self.failed):
            return "positions: none searched, the values come with the table"
        known = f"{self.cached:,} from the cache, {self.imported:,} imported"
        return f"positions: {self.searched:,} searched now, {known}{failed}"


def judge(paths: Sequence[Path], work: Work, *, player: str | None = None) -> Judged:
    """Return the decisions of games (PGN, analysed as `work` says) and of tables of decisions, together.

    With a `player` only that player's decisions: the moves of others are not analysed.
    """
    tables = [path for path in paths if table_kind(path)]
    games = [path for path in paths if path not in tables]
    if not tables:
        return judge_games(read_games(games), work, player=player)
    batches = [_chess(batch, path).at_depths() for batch, path in zip(read_tables(tables), tables, strict=True)]
    judged = Judged(Decisions.concat(batches))
    if games:
        found = read_games(games)
        if player is None or player in players(found):
            judged = judge_games(found, work, player=player)
            together = Decisions.concat([judged.decisions.at_depths(), *batches])
            judged = replace(judged, decisions=together)
    return replace(judged, decisions=_one_players(without_repeats(judged.decisions), player))


def without_repeats(batch: Decisions) -> Decisions:
    """Return the batch without decisions that stand in it twice, which are counted: the same move says a thing once."""
    assert batch.context is not None
    names = ["decider", *(name for name in ("game", "ply", "fen") if name in batch.context.column_names)]
    if len(names) < 4:
        return batch
    _, codes = batch.groups(names)
    first = np.sort(np.unique(codes, return_index=True)[1])
    return batch.select(first, reason="decision given twice")


def judge_games(games: Games, work: Work, *, player: str | None = None) -> Judged:
    """Return the decisions of games, or of one player in them, analysing what is not in the store."""
    check_games(games)
    if player is not None:
        check_name(player, players(games))
    judged = _judged(analyse_as(work, positions(games, player=player, scope=work.settings.scope)))
    if player is None or work.settings.scope == "decisions":
        return judged
    # The positions after the player's moves are the opponents' decisions.
    return replace(judged, decisions=_one_players(judged.decisions, player))


def analyse_as(work: Work, batch: Positions) -> Analyses:
    """Return the analyses of positions, made as `work` says."""
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


def check_name(name: str, known: Sequence[str]) -> None:
    """Raise where a name is not among the known ones, and offer the nearest."""
    if name not in known:
        distinct = list(dict.fromkeys(known))
        near = difflib.get_close_matches(name, distinct, n=3, cutoff=0.4) or distinct[:5]
        raise InputError(f"no decisions of a player {name!r}", hint=f"the nearest names here: {'; '.join(near)}")


def _one_players(batch: Decisions, player: str | None) -> Decisions:
    if player is None:
        return batch
    check_name(player, batch.names())
    return batch.select(batch.decider == batch.deciders.index(player))


def players(games: Games) -> list[str]:
    """Return the names of all players."""
    return [name for side in ("white", "black") for name in games.headers[side].to_pylist() if name]


def _chess(batch: Decisions, path: Path) -> Decisions:
    """Refuse a table that does not say it is chess: a scale of chess must not be put under other decisions."""
    if batch.about.get("domain") != "chess":
        raise InputError(
            f"{path}: the table does not say that its decisions are chess, so they have no Elo",
            hint="rate them with `skilloscope decisions rate`; `analyse --out FILE.parquet` writes tables that say so",
        )
    return batch


def _judged(analyses: Analyses) -> Judged:
    return Judged(decisions(analyses), analyses.searched, analyses.cached, analyses.imported, analyses.failed)
