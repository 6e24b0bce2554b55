"""The one door from files to decisions: what a file holds, the engine's job, games analysed, tables as they are.

What belongs to an engine or to games is imported where there are games: a table needs nothing of it. What a command
cannot take is refused here, in one sentence that says what the file is and who takes it.
"""

from __future__ import annotations

import contextlib
import difflib
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from skilloscope.chess.engine.settings import DFH13, Settings
from skilloscope.core.columns import encode
from skilloscope.core.errors import InputError, OptionError
from skilloscope.core.files import head_lines, is_parquet
from skilloscope.core.paths import given_once
from skilloscope.core.table_files import parquet_names
from skilloscope.core.text import read_object
from skilloscope.decision import Decisions
from skilloscope.decision.text import read_decisions, table_kind

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
    progress: Callable[[Progress], None] | None = None
    skip_moves: int | None = None
    """How many moves of each side are left out as known; None: as the scope has it, 12 where there is a decision."""
    max_abs_value: float = 3.0  # positions whose best value lies beyond are left out as decided

    def refuse_single_lines(self) -> None:
        """Refuse a search that lists one move: it cannot be used for ratings."""
        if self.settings.multipv < 2:
            raise OptionError(
                "one line is not a choice set: it cannot be used for ratings",
                hint="let the engine list more moves, as --multipv 10 does; `analyse` takes single lines",
            )

    def analyse(self, batch: Positions) -> Analyses:
        """Return the analyses of positions, made as the job says."""
        from skilloscope.chess.analysis.analyse import analyse
        from skilloscope.chess.analysis.files import export_analyses

        by_kind(self.imports, Kind.ANALYSES, Kind.ANALYSED)
        _LOG.info("%d positions of %d games; %s, store %s", len(batch), len(batch.games), self.settings, self.store)
        analyses = analyse(
            batch,
            settings=self.settings,
            store=self.store,
            engine=self.engine,
            imports=list(self.imports),
            progress=self.progress,
            deadline_seconds=self.deadline_seconds,
            workers=self.workers,
            scheduler=self.scheduler,
        )
        _LOG.info("answers of %s; %s", analyses.identity["engine"], analyses.about or "no notes")
        if self.export:
            export_analyses(self.export, analyses.settings, analyses.rows())
        return analyses


@dataclass(frozen=True)
class EngineBudget:
    """How long engines may search, the seed of the sample that fits, and whether a missing engine is an error."""

    minutes: float | None = None  # None: no limit
    seed: int = 1
    strict: bool = False


class Kind(Enum):
    """What a file may hold, in words, and which command takes it."""

    GAMES = "games (PGN)", "`rate`, `analyse`, `game`, `results fit` and most other commands take games"
    DECISIONS = "a table of decisions", "`rate` takes those of chess, `decisions rate` those of any domain"
    LOSSES = "losses (two numbers a move), not choice sets", "gain statistics take losses, in Python"
    ANALYSED = "analysed games", "`rate`, `papers ipr` and other studies of decisions take them"
    ANALYSES = "exported analyses, without games", "`cache import` takes them, or --import next to the games"
    EVALUATED = "games with evaluations", "`game` and `papers gain` take them"
    RESULTS = "a table of results", "`results fit` takes it"


_OF_RECORD = {"rows": Kind.ANALYSED, "format": Kind.ANALYSES, "moves": Kind.EVALUATED, "utilities": Kind.DECISIONS}
"""What a file of JSON lines holds, by a key of its first line."""


def by_kind(paths: Sequence[Path], *takes: Kind) -> dict[Kind, list[Path]]:
    """Return the files by kind; the first of `takes` is the default for a file whose content is ambiguous."""
    found: dict[Kind, list[Path]] = {kind: [] for kind in takes}
    for path in given_once(paths):
        kind = kind_of(path)
        if kind is None:  # a table by its name, where tables are taken
            kind = Kind.DECISIONS if Kind.DECISIONS in takes and table_kind(path) else takes[0]
        if kind not in found:
            what, takers = kind.value
            raise InputError(f"{path} holds {what}: that is not what is asked for here", hint=takers)
        found[kind].append(path)
    return found


def kind_of(path: Path) -> Kind | None:
    """Return what a file holds by its content; None where that is ambiguous, or where it can be read only once."""
    if not path.is_file():
        return None
    if is_parquet(path):
        return _of_columns(path)
    head = head_lines(path)
    for line in head:
        if line.startswith("{"):
            with contextlib.suppress(InputError):
                record = read_object(line)
                if key := next(filter(record.__contains__, _OF_RECORD), ""):
                    return _OF_RECORD[key]
    columns = set(re.split(r'[ "]*[,;\t][ "]*', head[0].strip(' "'))) if head else set()
    if {"decider", "utility"} <= columns:
        return Kind.DECISIONS
    if {"player_1", "player_2"} <= columns:
        return Kind.RESULTS
    return Kind.GAMES if any(map(re.compile(r'\[.*"\]').fullmatch, head)) else None


def _of_columns(path: Path) -> Kind | None:
    names = set(parquet_names(path))
    known = {
        Kind.DECISIONS: {"decider", "values", "chosen"},
        Kind.LOSSES: {"decider", "before", "after"},
        Kind.ANALYSES: {"fen", "depth", "rank", "score"},
        Kind.RESULTS: {"player_1", "player_2"},
    }
    return next((kind for kind, columns in known.items() if columns <= names), None)


_DECIDED = ("mate_cap", "max_abs_value", "skip_moves", "notes")  # what was decided about the values, beside the engine


@dataclass(frozen=True, eq=False)
class AnalysedDecisions:
    """Decisions, and how many different positions were searched now, taken from the store, imported, or failed."""

    decisions: Decisions
    searched: int = 0
    cached: int = 0
    imported: int = 0
    failed: int = 0
    analyses: Analyses | None = None
    players: tuple[str, ...] = ()  # the players that were asked for, by their whole names
    sample: Mapping[str, Any] = field(default_factory=dict)
    """The note about the games that fit a budget, where there was one."""

    def as_dict(self) -> dict[str, int]:
        """Return the counts."""
        return {"searched": self.searched, "cached": self.cached, "imported": self.imported, "failed": self.failed}

    def __str__(self) -> str:
        failed = f", {self.failed:,} failed" if self.failed else ""
        if not (self.searched or self.cached or self.imported or self.failed):
            return "positions: none searched, the values come with the table"
        known = f"{self.cached:,} from the cache, {self.imported:,} imported"
        return f"positions: {self.searched:,} searched now, {known}{failed}"


def load_decisions(
    paths: Sequence[Path],
    work: EngineJob,
    *,
    player: str | Sequence[str] | None = None,
    aliases: Mapping[str, str] | None = None,
    both_sides: bool = False,
    any_domain: bool = False,
    budget: EngineBudget | None = None,
) -> AnalysedDecisions:
    """Return the decisions of games (PGN, analysed as `work` says), of analysed games and of tables, together.

    With players only their decisions (with `both_sides` everybody's in their games); with a `budget` only games that
    fit it; a game that comes again counts once. Tables must say that they are chess, unless `any_domain` will do.
    """
    found = by_kind(paths, Kind.GAMES, Kind.DECISIONS, Kind.ANALYSED)
    files, others = found[Kind.GAMES], [*found[Kind.DECISIONS], *found[Kind.ANALYSED]]
    games = None
    if files or not others:
        from skilloscope.chess.pgn.games import distinct_games, read_games

        games = distinct_games(
            read_games(files).renamed(aliases or {})
        )  # renamed first: spellings part what is the same
        games.refuse_empty()
    told = renamed(told_decisions(others, any_domain=any_domain and not files), aliases or {}) if others else None
    here = [] if games is None else players(games)
    wanted = _wanted(player, [*here, *([] if told is None else told.names())])
    of = [] if both_sides else wanted
    absent = bool(wanted) and {*wanted}.isdisjoint(here)
    judged = None if games is None or absent else _judged_sample(games, work, wanted, both_sides, budget)
    if told is None:
        assert judged is not None  # a wanted name stands in the games where there is no table
        return judged
    told = _of(told, of)
    if judged is None:
        return AnalysedDecisions(without_repeats(told), players=tuple(wanted))
    together = Decisions.concat([judged.decisions.at_depths(), told])
    return replace(judged, decisions=without_repeats(together))


def told_decisions(paths: Sequence[Path], *, any_domain: bool = True) -> Decisions:
    """Return the decisions of tables and of analysed games, whose values are known, as one batch without depths."""
    batches = told_tables(paths)
    for batch, path in zip(batches, paths, strict=True):  # a scale of chess must not be put under other decisions
        if not any_domain and batch.about.get("domain") != "chess":
            raise InputError(
                f"{path}: the table does not say that its decisions are chess, so they have no Elo",
                hint="rate them with `skilloscope decisions rate`; `analyse --out FILE.parquet` writes tables that say "
                "so",
            )
    return Decisions.concat([batch.at_depths() for batch in batches])


def told_tables(paths: Sequence[Path]) -> list[Decisions]:
    """Return the decisions of each table, or file of analysed games, with its depths and the names it has."""
    games = by_kind(paths, Kind.DECISIONS, Kind.ANALYSED)[Kind.ANALYSED]
    if not games:
        return [read_decisions(path) for path in paths]
    from skilloscope.chess.analysis.analyses import decisions
    from skilloscope.chess.analysis.files import read_analysed

    return [
        decisions(read_analysed(path), named_moves=True) if path in games else read_decisions(path) for path in paths
    ]


def _judged_sample(
    games: Games, work: EngineJob, wanted: Sequence[str], both_sides: bool, budget: EngineBudget | None
) -> AnalysedDecisions:
    """Return the decisions of the wanted players, or of everybody in their games; within a budget of some games."""
    from skilloscope.inputs.budget import NOT_SAMPLED, plan, sample_games

    sample: dict[str, Any] = {}
    if budget is not None and budget.minutes is not None:
        if wanted:
            games = games.select(games_of(games, wanted))
        planned = plan(games, work, seed=budget.seed, player=wanted or None, both_sides=both_sides)
        found = sample_games(games, planned, budget.minutes, seed=budget.seed)
        games, sample = games.select(found.rows, reason=NOT_SAMPLED), found.as_dict()
    return replace(analyse_games(games, work, player=wanted, both_sides=both_sides), sample=sample)


def games_of(games: Games, names: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Return which games one of these people plays in."""
    sides = [pc.is_in(games.headers[side], pa.array(names, type=pa.string())).to_numpy() for side in ("white", "black")]
    return np.asarray(sides[0] | sides[1], dtype=bool)


def without_repeats(batch: Decisions) -> Decisions:
    """Return the batch without duplicate decisions, which are counted: the same move counts once."""
    names = ["decider", *(name for name in ("game", "ply", "fen") if name in batch.context.column_names)]
    if len(names) < 4:
        return batch
    _, codes = batch.groups(names)
    first = np.sort(np.unique(codes, return_index=True)[1])
    return batch.select(first, reason="decision given twice")


def analyse_games(
    games: Games,
    work: EngineJob,
    *,
    player: str | Sequence[str] | None = None,
    rows: npt.NDArray[np.int64] | None = None,
    both_sides: bool = False,
) -> AnalysedDecisions:
    """Return the decisions of games (of some players, of these `rows`), searching what is not in the store."""
    from skilloscope.chess.analysis.analyses import decisions
    from skilloscope.chess.pgn.positions import positions

    games.refuse_empty()
    wanted = _wanted(player, players(games))
    scope = work.settings.scope
    batch = positions(games, skip_moves=work.skip_moves, player=wanted or None, both_sides=both_sides, scope=scope)
    found = work.analyse(batch if rows is None else batch.select(np.isin(batch.game, rows)))
    own = decisions(found, max_abs_value=work.max_abs_value)
    if scope != "decisions" and not both_sides:  # with every position, those after a move are the opponent's decisions
        own = _of(own, wanted)
    counts = found.searched, found.cached, found.imported, found.failed
    return AnalysedDecisions(own, *counts, found, players=tuple(wanted))


def _wanted(player: str | Sequence[str] | None, known: Sequence[str]) -> list[str]:
    asked = [player] if isinstance(player, str) else list(player or ())
    return list(dict.fromkeys(resolve_player(name, known) for name in asked))


def resolve_player(asked: str, known: Sequence[str]) -> str:
    """Return the one name that is asked for: the name itself, or a part of it that only one name has, in any case.

    >>> resolve_player("petr", ["Petrosian, Tigran V", "Spassky, Boris V"])
    'Petrosian, Tigran V'
    """
    distinct = list(dict.fromkeys(known))
    if asked in distinct:
        return asked
    near = [name for name in distinct if asked.strip() and asked.strip().casefold() in name.casefold()]
    if len(near) > 1:
        shown = "; ".join(near[:8]) + ("; …" if len(near) > 8 else "")
        raise InputError(f"{len(near):,} players have {asked!r} in their name", hint=f"say which: {shown}")
    if not near:
        near = difflib.get_close_matches(asked, distinct, n=3, cutoff=0.4) or distinct[:5]
        raise InputError(f"no decisions of a player {asked!r}", hint=f"the nearest names here: {'; '.join(near)}")
    return near[0]


def renamed(batch: Decisions, aliases: Mapping[str, str]) -> Decisions:
    """Return the decisions with deciders and opponents renamed: several spellings become one name."""
    if not aliases:
        return batch
    names, codes = encode([aliases.get(name, name) for name in batch.deciders])
    context = batch.context
    if "opponent" in context.column_names:
        opponents = [aliases.get(name, name) for name in context.column("opponent").to_pylist()]
        place = context.column_names.index("opponent")
        context = context.set_column(place, "opponent", pa.array(opponents, type=pa.string()))
    return replace(batch, deciders=names, decider=codes[batch.decider], context=context)


def engine_of(batch: Decisions) -> dict[str, Any]:
    """Return what judged the decisions, and what was decided about the values."""
    about = batch.about
    return {**about.get("settings", {}), **{name: about[name] for name in _DECIDED if name in about}}


def _of(batch: Decisions, wanted: Sequence[str]) -> Decisions:
    if not wanted:
        return batch
    codes = [code for code, name in enumerate(batch.deciders) if name in wanted]
    return batch.select(np.isin(batch.decider, codes))


def players(games: Games) -> list[str]:
    """Return the names of all players."""
    return [name for side in ("white", "black") for name in games.headers[side].to_pylist() if name]
