"""What a file holds, by its content: games, decisions, analyses, evaluations or results.

In: the files that a user names. Out: the same files by kind. What a command cannot take is refused here, in one
sentence that says what the file is and who takes it; so is a file that is given twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from pathlib import Path

from skilloscope.core.errors import InputError
from skilloscope.core.files import head_lines, is_parquet
from skilloscope.core.paths import given_once
from skilloscope.core.table_files import parquet_names
from skilloscope.core.text import read_object
from skilloscope.decision.text import table_kind


class Kind(Enum):
    """What a file may hold, in words, and which command takes it."""

    GAMES = "games (PGN)", "`rate`, `analyse`, `game`, `results fit` and most other commands take games"
    DECISIONS = "a table of decisions", "`rate` takes those of chess, `decisions rate` those of any domain"
    LOSSES = "losses (two numbers a move), not choice sets", "gain statistics take losses, in Python"
    ANALYSED = "analysed games", "`rate`, `papers ipr` and other studies of decisions take them"
    ANALYSES = "exported analyses, without games", "`cache import` takes them, or --import next to the games"
    EVALUATED = "games with evaluations", "`game` and `papers gain` take them"
    RESULTS = "a table of results", "`results fit` takes it"


def by_kind(paths: Sequence[Path], *takes: Kind) -> dict[Kind, list[Path]]:
    """Return the files by kind; the first of `takes` is what a file is taken for that its content does not tell."""
    found: dict[Kind, list[Path]] = {kind: [] for kind in takes}
    for path in given_once(paths):
        kind = kind_of(path)
        if kind is None:  # a table by its name, where tables are taken
            kind = Kind.DECISIONS if Kind.DECISIONS in takes and table_kind(path) else takes[0]
        if kind not in found:
            raise refusal(path, kind)
        found[kind].append(path)
    return found


def refusal(path: Path, kind: Kind) -> InputError:
    """Return the one message about a file that is not what a command takes."""
    what, takers = kind.value
    return InputError(f"{path} holds {what}: that is not what is asked for here", hint=takers)


def kind_of(path: Path) -> Kind | None:
    """Return what a file holds by its content; None where that does not tell, or where it can be read only once."""
    if not path.is_file():
        return None
    if is_parquet(path):
        return _of_columns(path)
    head = head_lines(path)
    for line in head:
        if (kind := _of_record(line)) is not None:
            return kind
    columns = {cell.strip(' "') for cell in (head[0] if head else "").replace(";", ",").replace("\t", ",").split(",")}
    if {"decider", "utility"} <= columns:
        return Kind.DECISIONS
    if {"player_1", "player_2"} <= columns:
        return Kind.RESULTS
    return Kind.GAMES if any(line.startswith("[") and line.endswith('"]') for line in head) else None


def _of_columns(path: Path) -> Kind | None:
    names = set(parquet_names(path))
    known = {
        Kind.DECISIONS: {"decider", "values", "chosen"},
        Kind.LOSSES: {"decider", "before", "after"},
        Kind.ANALYSES: {"fen", "depth", "rank", "score"},
        Kind.RESULTS: {"player_1", "player_2"},
    }
    return next((kind for kind, columns in known.items() if columns <= names), None)


def _of_record(line: str) -> Kind | None:
    """Return what a line of JSON belongs to."""
    if not line.startswith("{"):
        return None
    try:
        record = read_object(line)
    except InputError:
        return None
    known = {Kind.ANALYSED: "rows", Kind.ANALYSES: "format", Kind.EVALUATED: "moves", Kind.DECISIONS: "utilities"}
    return next((kind for kind, key in known.items() if key in record), None)
