"""Analyses in files: exported, imported, and read with the games they belong to.

An export holds the answers under one key, no names and no games. The ending tells its form. Read by people, `.jsonl`
or `.jsonl.gz`: first the format and the settings, then one position a line with its legal-move count and its lines,
`{"fen": …, "n_legal": 31, "lines": {"1": [["e2e4", 31], ["d2d4", "#3"]], …}}`, centipawns or mates from the mover's
view, best first at each depth. Read by programs, `.parquet`: the same as columns, a third smaller.

Answers that come in are kept for good, so each line ends with a check of its bytes, `"check"`, and the last line says
how many there were: one flipped bit costs one answer, and an end that is cut off is known. In Parquet a digest of
everything does the same for the whole file.
"""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skilloscope.chess.analysis.given import check_provenance, read_analysed
from skilloscope.chess.analysis.parquet import read_parquet, write_parquet
from skilloscope.chess.engine.lines import AnalysedPosition, lines_from_lists, lines_to_lists
from skilloscope.core.errors import InputError, OptionError, Tally
from skilloscope.core.files import BinaryDataError, is_parquet, open_lines
from skilloscope.core.inputs.unpacking import DAMAGE
from skilloscope.core.outputs import appearing, check_writable
from skilloscope.core.records import read_object

_FORMAT = "skilloscope analyses"
_VERSION = 1
_ENDINGS = (".parquet", ".jsonl", ".gz")
_MARK = ',"check":'
_MOST_LEGAL = 2**16 - 1
_MISFITS = (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError)


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
    head = {"format": _FORMAT, "version": _VERSION, "settings": dict(settings_key), "checked": True}
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
        raise OptionError(f"{target}: analyses are not written as {target.suffix or 'a file without ending'}",
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
            first = next(lines, "")
            head = _head(first)
            if "rows" in head:
                return _analysed_export(path, stated)
            settings = _settings(head, path)
            if "checked" in head or _MARK in first:
                _unmarked(first, path)
                return Export(settings, list(_checked_rows(lines, str(path), tally)), tally)
            return Export(settings, list(_rows(lines, str(path), tally)), tally)
    except BinaryDataError as error:
        raise InputError(f"{path} is not an export of analyses: {error}") from error
    except DAMAGE as error:
        raise InputError(f"{path} is damaged: {error}", hint="get the file again") from error


def _analysed_export(path: str | os.PathLike[str], stated: Mapping[str, Any] | None) -> Export:
    analyses = read_analysed(path, stated)
    check_provenance(analyses.settings, path)
    return Export(analyses.settings, list(analyses.rows()), analyses.games.tally)


def _write_lines(file: Any, head: Mapping[str, Any], rows: Iterable[AnalysedPosition]) -> int:
    file.write(_marked(head))
    written = 0
    for row in rows:
        file.write(_marked({"fen": row.fen, "n_legal": row.n_legal, "lines": lines_to_lists(row.lines)}))
        written += 1
    file.write(_marked({"end": written}))
    return written


def _checked_rows(lines: Iterator[str], file: str, tally: Tally) -> Iterator[AnalysedPosition]:
    """Yield the rows whose check holds; each of the others is a fault, and so is an end that is not there."""
    seen, stated = 0, -1
    for number, text in _numbered(lines, file, tally):
        try:
            record = read_object(_unmarked(text, file))
            stated = int(record.get("end", -1))
            seen += stated < 0
            if stated < 0:
                yield _row(record)
        except _MISFITS as error:
            seen += 1
            tally.fault("unreadable analysis", file, f"line {number}", str(error)[:80])
    if stated != seen:
        said = f"{stated:,} answers were written" if stated >= 0 else "its last line is missing"
        tally.fault("lines lost", file, f"after {seen:,} answers", said)


def _rows(lines: Iterator[str], file: str, tally: Tally) -> Iterator[AnalysedPosition]:
    for number, text in _numbered(lines, file, tally):
        try:
            yield _row(read_object(text))
        except _MISFITS as error:
            tally.fault("unreadable analysis", file, f"line {number}", str(error)[:80])


def _row(record: dict[str, Any]) -> AnalysedPosition:
    lines = lines_from_lists(record["lines"])
    legal = record["n_legal"]
    if not len(lines):
        raise ValueError("no lines")
    if not isinstance(legal, int) or not 0 < legal <= _MOST_LEGAL:
        raise ValueError(f"n_legal is {str(legal)[:20]!r}")
    return AnalysedPosition(str(record["fen"]), legal, lines)


def _head(text: str) -> dict[str, Any]:
    try:
        return read_object(text)
    except InputError:
        return {}


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


def _marked(record: Mapping[str, Any]) -> bytes:
    """Return a record as a line of JSON that ends with the check of what stands before."""
    text = json.dumps(record, separators=(",", ":"))[:-1].encode()
    return text + f"{_MARK}{zlib.crc32(text)}}}\n".encode()


def _unmarked(line: str, file: str | os.PathLike[str]) -> str:
    """Return a line without its check, which must hold."""
    text, mark, tail = line.rstrip("\n").rpartition(_MARK)
    if not mark or tail != f"{zlib.crc32(text.encode('utf-8', 'surrogatepass'))}}}":
        raise InputError(f"{file}: a line is not what was written", hint="get the file again")
    return text + "}"
