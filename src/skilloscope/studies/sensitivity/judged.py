"""The same games under several judges: from files, engines and longer lists to decisions with named alternatives.

In: PGN files (analysed as asked), games that come with their analysis, or tables of decisions. Out: decisions that keep
their depth axis and, for chess, the names of the listed moves.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.analysis.given import read_analysed
from skilloscope.chess.decisions import decisions
from skilloscope.chess.pgn.games import read_games
from skilloscope.chess.positions import positions
from skilloscope.core.errors import InputError
from skilloscope.core.files import BinaryDataError, open_lines
from skilloscope.decision import Decisions
from skilloscope.decision.text import read_decisions, table_kind
from skilloscope.sources.judge import Work, analyse_as, check_games


def read_judged(paths: Sequence[Path], work: Work) -> Decisions:
    """Return the decisions of games, of analysed games and of tables, with depth axis and names of alternatives."""
    real = [path.resolve() for path in paths]
    twice = [path for at, path in enumerate(paths) if real[at] in real[:at]]
    if twice:
        raise InputError(f"{twice[0]} is given twice", hint="put each file in once")
    batches = [_table(path) for path in paths if table_kind(path)]
    games = [path for path in paths if not table_kind(path)]
    if games:
        batches.append(_named(_analysed(games, work)))
    if len({batch.depths for batch in batches}) > 1:
        batches = [batch.at_depths() for batch in batches]
    return Decisions.concat(batches)


def searched_again(
    paths: Sequence[Path], work: Work, *, engine: str | None = None, lines: int | None = None
) -> Decisions:
    """Return the decisions of the same games, searched by another engine or with another number of lines."""
    tables = [path for path in paths if table_kind(path)]
    if tables:
        raise InputError(
            f"{tables[0]} is a table: its positions cannot be searched again", hint="give the games as PGN files"
        )
    settings = work.settings if lines is None else replace(work.settings, multipv=lines)
    return _named(_analysed(paths, replace(work, engine=engine or work.engine, settings=settings)))


def _table(path: Path) -> Decisions:
    return _named(read_analysed(path)) if _holds_games(path) else read_decisions(path)


def _holds_games(path: Path) -> bool:
    """Return whether a file of JSON lines holds analysed games: objects with rows."""
    if table_kind(path) != ".jsonl" or not path.is_file():
        return False
    try:
        with open_lines(path) as lines:
            first = json.loads(next(lines, "null"))
    except (ValueError, OSError, BinaryDataError):
        return False
    return isinstance(first, dict) and "rows" in first


def _analysed(paths: Sequence[Path], work: Work) -> Analyses:
    games = read_games(list(paths))
    check_games(games)
    return analyse_as(work, positions(games, scope=work.settings.scope))


def _named(analyses: Analyses) -> Decisions:
    return decisions(analyses, named_moves=True)
