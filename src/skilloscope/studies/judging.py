"""From files to decisions: games are read and analysed, tables of decisions are taken as they are."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from skilloscope.chess.analysis import Analyses, Progress, analyse
from skilloscope.chess.decisions import decisions
from skilloscope.chess.exchange import export_analyses
from skilloscope.chess.games import Games, read_games
from skilloscope.chess.positions import Positions, positions
from skilloscope.chess.settings import DFH13, Settings
from skilloscope.decision import Decisions
from skilloscope.decision.text import read_decisions
from skilloscope.errors import InputError

__all__ = ["Judged", "Work", "analyse_as", "check_games", "check_name", "is_table", "judge", "judge_games"]

_TABLES = (".parquet", ".jsonl", ".ndjson", ".csv")


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
    tables = [path for path in paths if is_table(path)]
    games = [path for path in paths if path not in tables]
    batches = [_one_players(_chess_table(path), player) for path in tables]
    if not games:
        return Judged(Decisions.concat(batches))
    judged = judge_games(read_games(games), work, player=player)
    if not tables:
        return judged
    axes = [batch.at_depths() for batch in (judged.decisions, *batches)]
    return Judged(Decisions.concat(axes), judged.searched, judged.cached, judged.imported, judged.failed)


def is_table(path: Path) -> bool:
    """Return whether a file is a table of decisions by its name; all others are games."""
    return path.name.removesuffix(".gz").endswith(_TABLES)


def judge_games(games: Games, work: Work, *, player: str | None = None) -> Judged:
    """Return the decisions of games, or of one player in them, analysing what is not in the store."""
    check_games(games)
    if player is not None:
        check_name(player, [name for side in ("white", "black") for name in games.headers[side].to_pylist() if name])
    judged = _judged(analyse_as(work, positions(games, player=player, scope=work.settings.scope)))
    if player is None or work.settings.scope == "decisions":
        return judged
    # The positions after the player's moves are the opponents' decisions.
    return replace(judged, decisions=_one_players(judged.decisions, player))


def analyse_as(work: Work, batch: Positions) -> Analyses:
    """Return the analyses of positions, made as `work` says."""
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


def _chess_table(path: Path) -> Decisions:
    """Read a table that says it is chess: a scale of chess must not be put under other decisions in silence."""
    batch = read_decisions(path)
    if batch.about.get("domain") != "chess":
        raise InputError(
            f"{path}: the table does not say that its decisions are chess, so they have no Elo",
            hint="rate them with `skilloscope decisions rate`; `analyse --out FILE.parquet` writes tables that say so",
        )
    return batch


def _judged(analyses: Analyses) -> Judged:
    return Judged(decisions(analyses), analyses.searched, analyses.cached, analyses.imported, analyses.failed)
