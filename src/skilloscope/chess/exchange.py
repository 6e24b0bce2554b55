"""Analyses in files: exported, imported, and read with the games they belong to.

An export is gzipped JSON lines: first the format and the settings, then one position a line with its legal-move
count and its lines, `{"fen": …, "n_legal": 31, "lines": {"1": [["e2e4", 31], ["d2d4", "#3"]], …}}`, centipawns or
mates from the mover's view, best first at each depth. It holds no names and no games.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skilloscope.chess.analysed import read_analysed
from skilloscope.chess.lines import AnalysedPosition, lines_from_lists, lines_to_lists
from skilloscope.chess.sources import DAMAGE, BinaryDataError, open_lines
from skilloscope.errors import InputError, Tally

__all__ = ["Export", "export_analyses", "read_analysed", "read_export"]

_FORMAT = "skilloscope analyses"
_VERSION = 1


@dataclass(frozen=True, eq=False)
class Export:
    """What an export file holds: the settings of its answers, the answers, and what could not be read."""

    settings: Mapping[str, Any]
    rows: list[AnalysedPosition]
    tally: Tally = field(default_factory=Tally)


def export_analyses(
    path: str | os.PathLike[str], settings_key: Mapping[str, Any], rows: Iterable[AnalysedPosition]
) -> int:
    """Write the rows to a file and return how many; the same rows give the same bytes."""
    head = {"format": _FORMAT, "version": _VERSION, "settings": dict(settings_key)}
    written = 0
    with Path(path).open("wb") as file, gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
        packed.write(_json(head))
        for row in rows:
            packed.write(_json({"fen": row.fen, "n_legal": row.n_legal, "lines": lines_to_lists(row.lines)}))
            written += 1
    return written


def read_export(path: str | os.PathLike[str]) -> Export:
    """Read a file that `export_analyses` wrote; a row that cannot be read is a fault in the tally."""
    tally, rows = Tally(), []
    try:
        with open_lines(path) as lines:
            settings = _settings(next(lines, ""), path)
            for number, text in _numbered(lines, str(path), tally):
                try:
                    rows.append(_row(json.loads(text)))
                except (ValueError, KeyError, TypeError, AttributeError) as error:
                    tally.fault("unreadable analysis", str(path), f"line {number}", str(error))
    except BinaryDataError as error:
        raise InputError(f"{path} is not an export of analyses: {error}") from error
    return Export(settings, rows, tally)


def _row(record: dict[str, Any]) -> AnalysedPosition:
    lines = lines_from_lists(record["lines"])
    if not len(lines):
        raise ValueError("no lines")
    return AnalysedPosition(str(record["fen"]), int(record["n_legal"]), lines)


def _settings(text: str, path: str | os.PathLike[str]) -> dict[str, Any]:
    try:
        head = json.loads(text)
    except ValueError:
        head = {}
    if not isinstance(head, dict) or head.get("format") != _FORMAT or not isinstance(head.get("settings"), dict):
        raise InputError(f"{path} is not an export of analyses", hint="exports are written by `export_analyses`")
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
