"""Analyses in files: exported, imported, and read with the games they belong to.

An export holds the answers under one key, no names and no games. The ending tells its form. Read by people, `.jsonl`
or `.jsonl.gz`: first the format and the settings, then one position a line with its legal-move count and its lines,
`{"fen": …, "n_legal": 31, "lines": {"1": [["e2e4", 31], ["d2d4", "#3"]], …}}`, centipawns or mates from the mover's
view, best first at each depth. Read by programs, `.parquet`: the same as columns, a third smaller.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skilloscope.chess.analysis.given import check_provenance, read_analysed
from skilloscope.chess.analysis.parquet import read_parquet, write_parquet
from skilloscope.chess.engine.lines import AnalysedPosition, lines_from_lists, lines_to_lists
from skilloscope.core.errors import InputError, Tally
from skilloscope.core.files import DAMAGE, BinaryDataError, is_parquet, open_lines
from skilloscope.core.outputs import appearing, check_writable

_FORMAT = "skilloscope analyses"
_VERSION = 1
_ENDINGS = (".parquet", ".jsonl", ".gz")


@dataclass(frozen=True, eq=False)
class Export:
    """What an export file holds: the settings of its answers, the answers, and what could not be read."""

    settings: Mapping[str, Any]
    rows: list[AnalysedPosition]
    tally: Tally = field(default_factory=Tally)


def export_analyses(
    path: str | os.PathLike[str], settings_key: Mapping[str, Any], rows: Iterable[AnalysedPosition]
) -> int:
    """Write the rows to a file and return how many; the same rows give the same bytes.

    The file appears when it is complete: what had that name before stays until then.
    """
    target = check_export(path)
    head = {"format": _FORMAT, "version": _VERSION, "settings": dict(settings_key)}
    with appearing(target) as part, part.open("wb") as file:
        if target.suffix == ".parquet":
            return write_parquet(file, head, rows)
        if target.suffix == ".gz":
            with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
                return _write_lines(packed, head, rows)
        return _write_lines(file, head, rows)


def check_export(path: str | os.PathLike[str]) -> Path:
    """Return the path where its ending names a form of export and it can be written; raise where not."""
    target = Path(path)
    if target.suffix not in _ENDINGS:
        raise InputError(f"{target}: analyses are not written as {target.suffix or 'a file without ending'}",
                         hint="use .parquet, .jsonl or .jsonl.gz")  # fmt: skip
    check_writable(target)
    return target


def read_export(path: str | os.PathLike[str], stated: Mapping[str, Any] | None = None) -> Export:
    """Read a file that `export_analyses` wrote, or one of analysed games; what cannot be read is in the tally.

    What the file is, its first bytes tell. Analysed games that do not say whose answers they hold are refused, unless
    the caller states it.
    """
    tally = Tally()
    if is_parquet(path):
        head, positions = read_parquet(path, tally)
        return Export(_settings(head, path), positions, tally)
    try:
        with open_lines(path) as lines:
            head = _head(next(lines, ""))
            if "rows" in head:
                return _analysed_export(path, stated)
            settings = _settings(head, path)
            return Export(settings, list(_rows(lines, str(path), tally)), tally)
    except BinaryDataError as error:
        raise InputError(f"{path} is not an export of analyses: {error}") from error


def _analysed_export(path: str | os.PathLike[str], stated: Mapping[str, Any] | None) -> Export:
    analyses = read_analysed(path, stated)
    check_provenance(analyses.settings, path)
    return Export(analyses.settings, list(analyses.rows()), analyses.games.tally)


def _write_lines(file: Any, head: Mapping[str, Any], rows: Iterable[AnalysedPosition]) -> int:
    file.write(_json(head))
    written = 0
    for row in rows:
        file.write(_json({"fen": row.fen, "n_legal": row.n_legal, "lines": lines_to_lists(row.lines)}))
        written += 1
    return written


def _rows(lines: Iterator[str], file: str, tally: Tally) -> Iterator[AnalysedPosition]:
    for number, text in _numbered(lines, file, tally):
        try:
            yield _row(json.loads(text))
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            tally.fault("unreadable analysis", file, f"line {number}", str(error))


def _row(record: dict[str, Any]) -> AnalysedPosition:
    lines = lines_from_lists(record["lines"])
    if not len(lines):
        raise ValueError("no lines")
    return AnalysedPosition(str(record["fen"]), int(record["n_legal"]), lines)


def _head(text: str) -> dict[str, Any]:
    try:
        head = json.loads(text)
    except ValueError:
        return {}
    return head if isinstance(head, dict) else {}


def _settings(head: Mapping[str, Any], path: str | os.PathLike[str]) -> dict[str, Any]:
    if head.get("format") != _FORMAT or not isinstance(head.get("settings"), dict):
        raise InputError(f"{path} is not an export of analyses", hint="`skilloscope store export` writes them")
    if head.get("version") != _VERSION:
        raise InputError(
            f"{path} is of version {head.get('version')}, this version reads {_VERSION}",
            hint="use the version of skilloscope that wrote it",
        )
    return dict(head["settings"])


def _numbered(lines: Iterator[str], file: str, tally: Tally) -> Iterator[tuple[int, str]]:
    """Yield the lines with their numbers; where the file is damaged, end with a fault."""
    number = 1
    while True:
        number += 1
        try:
            line = next(lines, None)
        except DAMAGE as error:
            tally.fault("damaged file", file, f"line {number}", str(error))
            return
        if line is None:
            return
        yield number, line


def _json(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"
