"""The same games under several judges: from files, engines and longer lists to decisions with named alternatives.

In: PGN files (analysed as asked), games that come with their analysis, or tables of decisions. Out: decisions that keep
their depth axis and, for chess, the names of the listed moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.decisions import decisions
from skilloscope.chess.pgn.games import read_games
from skilloscope.chess.positions import positions
from skilloscope.core.errors import InputError
from skilloscope.decision import Decisions
from skilloscope.sources.judge import Work, analyse_as, check_games, told_tables
from skilloscope.sources.kinds import Kind, by_kind


def read_judged(paths: Sequence[Path], work: Work) -> Decisions:
    """Return the decisions of games, of analysed games and of tables, with depth axis and names of alternatives."""
    found = by_kind(paths, Kind.GAMES, Kind.DECISIONS, Kind.ANALYSED)
    batches = told_tables([*found[Kind.DECISIONS], *found[Kind.ANALYSED]])
    if found[Kind.GAMES]:
        batches.append(_named(_analysed(found[Kind.GAMES], work)))
    if len({batch.depths for batch in batches}) > 1:
        batches = [batch.at_depths() for batch in batches]
    return Decisions.concat(batches)


def searched_again(
    paths: Sequence[Path], work: Work, *, engine: str | None = None, lines: int | None = None
) -> Decisions:
    """Return the decisions of the same games, searched by another engine or with another number of lines."""
    found = by_kind(paths, Kind.GAMES, Kind.DECISIONS, Kind.ANALYSED)
    if tables := [*found[Kind.DECISIONS], *found[Kind.ANALYSED]]:
        raise InputError(
            f"{tables[0]} is a table: its positions cannot be searched again", hint="give the games as PGN files"
        )
    settings = work.settings if lines is None else replace(work.settings, multipv=lines)
    return _named(_analysed(paths, replace(work, engine=engine or work.engine, settings=settings)))


def _analysed(paths: Sequence[Path], work: Work) -> Analyses:
    games = read_games(list(paths))
    check_games(games)
    return analyse_as(work, positions(games, scope=work.settings.scope))


def _named(analyses: Analyses) -> Decisions:
    return decisions(analyses, named_moves=True)
