"""Results from files of any kind: tables, and games by their headers."""

from __future__ import annotations

import contextlib
import math
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from skilloscope.core.errors import InputError, OptionError, Tally
from skilloscope.core.files import is_parquet
from skilloscope.core.inputs.paths import RESULT_ENDINGS, named_files
from skilloscope.core.parquet import read_checked
from skilloscope.results.csv_text import read_csv
from skilloscope.results.players import renamed_players
from skilloscope.results.reading import Reading, read_results
from skilloscope.results.table import Results
from skilloscope.sources.kinds import Kind, by_kind

_SIDES = ("player_1", "player_2")


def read_files(paths: Sequence[Path], how: Reading | None = None, aliases: Mapping[str, str] | None = None) -> Results:
    """Read tables of results and the headers of games, and put them together; a file given twice is refused.

    A folder stands for the tables and games in it, `-` for the standard input. Spellings of a name that differ by
    blanks, capitals, commas and dots only are one player; `aliases` say who else is the same.
    """
    with contextlib.ExitStack() as stack:
        files = [file for path in paths for file in _files(path, stack)]
        games = by_kind(files, Kind.RESULTS, Kind.GAMES)[Kind.GAMES]
        tables = [_read(path, how or Reading(), pgn=path in games) for path in files]
    return renamed_players(Results.concat(tables), aliases or {})


def _files(path: Path, stack: contextlib.ExitStack) -> list[Path]:
    """Return the files that a path stands for."""
    if str(path) == "-":
        held = stack.enter_context(tempfile.NamedTemporaryFile(prefix="stdin-"))  # noqa: SIM115 the stack closes it
        shutil.copyfileobj(sys.stdin.buffer, held)
        held.flush()
        return [Path(held.name)]
    return named_files([path], RESULT_ENDINGS)


def pair_columns(texts: Sequence[str]) -> dict[str, str]:
    """Return a mapping of columns from texts such as `player_1=white`.

    >>> pair_columns(["player_1=white", "score=result"])
    {'player_1': 'white', 'score': 'result'}
    """
    pairs = [text.partition("=") for item in texts for text in item.split(",")]
    bad = [own for own, equals, theirs in pairs if not (own and equals and theirs)]
    if bad:
        raise OptionError(f"--columns {bad[0]}: no column given for it", hint="write --columns player_1=white")
    return {own.strip(): theirs.strip() for own, _, theirs in pairs}


def read_pairs(path: Path) -> tuple[pa.Table, list[str], list[str]]:
    """Read a table of pairs to predict; return it with the names of both sides, and keep its other columns."""
    table = read_checked(path) if is_parquet(path) else read_csv(path)[0]
    missing = [name for name in ("player_1", "player_2") if name not in table.column_names]
    if missing:
        raise InputError(
            f"{path}: the table lacks {', '.join(missing)}", hint=f"it has: {', '.join(table.column_names)}"
        )
    sides = [[" ".join(str(name or "").split()) for name in table.column(side).to_pylist()] for side in _SIDES]
    for row, (one, two) in enumerate(zip(*sides, strict=True), start=2):
        if not (one and two) or one == two:
            what = f"{one} against himself" if one and two else "no player"
            raise InputError(f"{path}, row {row}: {what}", hint="a pair has two players; take the row out")
    return table, sides[0], sides[1]


def read_entry(path: Path) -> tuple[dict[str, float], Tally]:
    """Read a table player,rating of first ratings from elsewhere; rows at fault are left out and counted."""
    table, rows, tally = (read_checked(path), None, Tally()) if is_parquet(path) else read_csv(path)
    missing = [name for name in ("player", "rating") if name not in table.column_names]
    if missing:
        raise InputError(
            f"{path}: the table lacks {', '.join(missing)}", hint=f"it has: {', '.join(table.column_names)}"
        )
    entry: dict[str, float] = {}
    for at, (player, text) in enumerate(zip(*(table.column(n).to_pylist() for n in ("player", "rating")), strict=True)):
        name, rating = " ".join(str(player or "").split()), _number(text)
        reason = "no player" if not name else "first rating is no number" if rating is None else ""
        if not reason and entry.get(name, rating) != rating:
            reason = "a second first rating of the same player"
        if reason:
            tally.fault(reason, str(path), f"row {at + 1 if rows is None else rows[at]}", f"{name} {text}".strip()[:60])
        elif rating is not None:
            entry[name] = rating
    return entry, tally


def _number(text: object) -> float | None:
    try:
        value = float(str(text).strip().replace(",", "."))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def with_probability(table: pa.Table, report: Mapping[str, Any]) -> pa.Table:
    """Return the table of pairs with the column `probability`, and `win`, `draw` and `loss` where they are there."""
    added = ("probability", "win", "draw", "loss") if "kappa" in report else ("probability",)
    table = table.drop_columns([name for name in added if name in table.column_names])
    for name in added:
        table = table.append_column(name, pa.array([row[name] for row in report["predictions"]], pa.float64()))
    return table


def _read(path: Path, how: Reading, *, pgn: bool) -> Results:
    if not pgn:
        return read_results(path, how=how)
    from skilloscope.chess.pgn.results import read_pgn_results

    return read_pgn_results(path, drop_duplicates=how.drop_duplicates, observed=how.observed is not None)
