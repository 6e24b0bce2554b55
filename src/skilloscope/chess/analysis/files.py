"""Analyses in files: exported, imported, and moved between a store and files; and games that come with their analysis.

An export holds the answers under one key, no names and no games. The file's ending decides the format: JSON lines for
people, where each line ends with a check of its bytes, so that one flipped bit costs one answer, or Parquet for
programs, with one digest of everything. docs/data.md describes both. Answers that go into a store are checked as an
engine's own are: complete lists, legal moves, the depth of the key.

Games with their analysis are JSON lines, one object a game: `{"file", "white", "black", "white_elo", …, "rows":
[{"ply", "fen", "n_legal", "played", "values": {depth: [[move, "cp" or "mate", score], …]}}, …]}`. They have headers and
positions but no moves; a game's id is made of this file and the line, and the PGN file's name is the `event`. Whose
answers these are, `"settings"` or `"engine"` in a game says, or the caller; otherwise they are read but never stored.
"""

import gzip
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, cast

import chess
import numpy as np
import pyarrow as pa

from skilloscope.chess.analysis.analyses import Analyses, stored_keys
from skilloscope.chess.engine import lines as engine_lines
from skilloscope.chess.engine.lines import LINE, AnalysedPosition, LineArray, checked_answer, lines_from_lists
from skilloscope.chess.engine.settings import UNKNOWN, SearchKey, Settings
from skilloscope.chess.moves import code_from_uci, legal_moves, moves_uci
from skilloscope.chess.pgn.games import Games, unique_games
from skilloscope.chess.pgn.positions import Positions
from skilloscope.chess.pgn.text import HEADERS, GameHeader, MainLine, header_from_tags
from skilloscope.core.errors import InputError, OptionError, SkilloscopeError, Tally
from skilloscope.core.files import DAMAGE, BinaryDataError, is_parquet, open_lines
from skilloscope.core.paths import appearing, check_writable
from skilloscope.core.table_files import checked_writer, open_checked
from skilloscope.core.text import read_object
from skilloscope.store import Store, StoredAnalysis

_FORMAT = "skilloscope analyses"
_VERSION = 1
_ENDINGS = (".parquet", ".jsonl", ".gz")
_MARK = ',"check":'
_MOST_LEGAL, _MOST_PLIES = 2**16 - 1, 2**15
_TAGS = {
    "white": "White", "black": "Black", "white_elo": "WhiteElo", "black_elo": "BlackElo", "result": "Result",
    "date": "Date", "file": "Event",
}  # fmt: skip
_MISFITS = (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError)
_LISTS = {"depth": pa.uint8(), "rank": pa.uint8(), "move": pa.string(), "mate": pa.bool_(), "score": pa.int32()}
_KINDS = {"fen": pa.string(), "n_legal": pa.uint16()} | {name: pa.list_(kind) for name, kind in _LISTS.items()}
SCHEMA = pa.schema([pa.field(name, kind, nullable=False) for name, kind in _KINDS.items()])
_META = b"skilloscope"
_GROUP = 20_000  # positions per row group: large enough to pack well, small enough to write without all in memory
_LEVEL = 19  # half a millisecond a position, where its search took a hundred and more
_CHUNK = 1000  # answers per transaction: a kill while importing loses the last ones at most


@dataclass(frozen=True, eq=False)
class Export:
    """What an export file holds: the settings of its answers, the answers, and what could not be read."""

    settings: SearchKey
    rows: list[AnalysedPosition]
    tally: Tally = field(default_factory=Tally)


def export_analyses(path: str | os.PathLike[str], settings_key: SearchKey, rows: Iterable[AnalysedPosition]) -> int:
    """Write the rows to a file, whole or not at all, and return how many; the same rows give the same bytes."""
    target = check_export(path)
    head = {"format": _FORMAT, "version": _VERSION, "settings": dict(settings_key), "checked": True}
    with appearing(target) as part, part.open("wb") as file:
        if target.suffix == ".parquet":
            schema = SCHEMA.with_metadata({_META: json.dumps(head).encode()})
            # Plain values: a dictionary of moves packs worse than the moves themselves.
            options = {"compression": "zstd", "compression_level": _LEVEL, "use_dictionary": False}
            written, source = 0, iter(rows)
            with checked_writer(file, schema, **options) as write:
                while group := list(islice(source, _GROUP)):
                    write(_table(group, schema))
                    written += len(group)
            return written
        written, packed = 0, gzip.GzipFile("", "wb", 6, file, mtime=0) if target.suffix == ".gz" else file
        with packed:
            packed.write(_marked(head))
            for written, row in enumerate(rows, start=1):  # noqa: B007 the last number is how many there were
                packed.write(
                    _marked({"fen": row.fen, "n_legal": row.n_legal, "lines": engine_lines.lines_to_lists(row.lines)})
                )
            packed.write(_marked({"end": written}))
        return written


def check_export(path: str | os.PathLike[str]) -> Path:
    """Return the path where its ending names a form of export and it can be written; raise where not."""
    target = Path(path)
    if target.suffix not in _ENDINGS:
        raise OptionError(f"{target}: analyses are not written as {target.suffix or 'a file without ending'}",
                         hint="use .parquet, .jsonl or .jsonl.gz")  # fmt: skip
    check_writable(target)
    return target


def read_export(path: str | os.PathLike[str], stated: SearchKey | None = None) -> Export:
    """Read an export, or analysed games that say (or the caller states) whose answers they hold."""
    tally = Tally()
    if is_parquet(path):
        return _read_parquet(path, tally)
    try:
        with open_lines(path) as lines:
            first = next(lines, "")
            head = _head(first)
            if "rows" in head:
                analyses = read_analysed(path, stated)
                if absent := [name for name in ("engine", "multipv", "hash_mb") if analyses.settings.get(name) is None]:
                    raise InputError(
                        f"{path} does not say whose answers it holds: no {', '.join(absent)}",
                        hint='give each game of the file "settings", as the first line of an export has them',
                    )
                return Export(analyses.settings, list(analyses.rows()), analyses.games.tally)
            settings = _settings(head, path)
            checked = "checked" in head or _MARK in first
            if checked:
                _unmarked(first, path)
            return Export(settings, list(_rows(lines, str(path), tally, checked=checked)), tally)
    except BinaryDataError as error:
        raise InputError(f"{path} is not an export of analyses: {error}") from error
    except DAMAGE as error:
        raise InputError(f"{path} is damaged: {error}", hint="get the file again") from error


def _rows(lines: Iterator[str], file: str, tally: Tally, *, checked: bool) -> Iterator[AnalysedPosition]:
    """Yield the rows, of a `checked` file those whose check holds; the others are faults, and so is a missing end."""
    seen, stated = 0, -1
    for number, text in _numbered(lines, file, tally):
        try:
            record = read_object(_unmarked(text, file) if checked else text)
            stated = int(record.get("end", -1)) if checked else -1
            seen += stated < 0
            if stated < 0:
                answer, legal = lines_from_lists(record["lines"]), record["n_legal"]
                if not len(answer):
                    raise ValueError("no lines")
                if not isinstance(legal, int) or not 0 < legal <= _MOST_LEGAL:
                    raise ValueError(f"n_legal is {str(legal)[:20]!r}")
                yield AnalysedPosition(str(record["fen"]), legal, answer)
        except _MISFITS as error:
            seen += 1
            tally.fault("unreadable analysis", file, f"line {number}", str(error)[:80])
    if checked and stated != seen:
        said = f"{stated:,} answers were written" if stated >= 0 else "its last line is missing"
        tally.fault("lines lost", file, f"after {seen:,} answers", said)


def _head(text: str | bytes) -> Mapping[str, object]:
    try:
        return read_object(text)
    except InputError:
        return {}


def _settings(head: Mapping[str, object], path: str | os.PathLike[str]) -> SearchKey:
    settings = head.get("settings")
    if head.get("format") != _FORMAT or not isinstance(settings, dict):
        raise InputError(f"{path} is not an export of analyses", hint="`skilloscope cache export` writes them")
    if head.get("version") != _VERSION:
        raise InputError(
            f"{path} is of version {head.get('version')}, this version reads {_VERSION}",
            hint="use the version of skilloscope that wrote it",
        )
    return cast(SearchKey, dict(settings))


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


def _marked(record: Mapping[str, object]) -> bytes:
    text = json.dumps(record, separators=(",", ":"))[:-1].encode()
    return text + f"{_MARK}{zlib.crc32(text)}}}\n".encode()


def _unmarked(line: str, file: str | os.PathLike[str]) -> str:
    text, mark, tail = line.rstrip("\n").rpartition(_MARK)
    if not mark or tail != f"{zlib.crc32(text.encode('utf-8', 'surrogatepass'))}}}":
        raise InputError(f"{file}: a line is not what was written", hint="get the file again")
    return text + "}"


def _read_parquet(path: str | os.PathLike[str], tally: Tally) -> Export:
    rows: list[AnalysedPosition] = []
    with open_checked(path) as file:
        head = _head((file.schema_arrow.metadata or {}).get(_META, b"{}"))
        if head and not file.schema_arrow.equals(SCHEMA):
            raise InputError(f"{path}: the columns are not those of exported analyses")
        for number in range(file.num_row_groups if head else 0):
            group = file.read_row_group(number)
            group.validate(full=True)
            rows += _table_rows(group, len(rows) + tally.total, str(path), tally)
    return Export(_settings(head, path), rows, tally)


def _table(rows: list[AnalysedPosition], schema: pa.Schema) -> pa.Table:
    lines = np.concatenate([row.lines for row in rows])
    offsets = pa.array(np.cumsum([0, *(len(row.lines) for row in rows)], dtype=np.int32))
    columns = {name: pa.array(lines[name]) for name in ("depth", "rank", "score")}
    columns |= {"move": moves_uci(lines["move"]), "mate": pa.array(lines["mate"].astype(bool))}
    lists = {name: pa.ListArray.from_arrays(offsets, column) for name, column in columns.items()}
    rest = {"fen": [row.fen for row in rows], "n_legal": [row.n_legal for row in rows]}
    return pa.table(rest | lists, schema=schema)


def _table_rows(table: pa.Table, before: int, file: str, tally: Tally) -> Iterator[AnalysedPosition]:
    lists = {name: table[name].combine_chunks() for name in _LISTS}
    fens, legal = table["fen"].to_pylist(), table["n_legal"].to_pylist()
    for at in range(len(table)):
        columns = {name: column[at].as_py() for name, column in lists.items()}
        try:
            if len({len(column) for column in columns.values()}) > 1 or not columns["move"]:
                raise ValueError("the lists are empty, or not of one length")
            lines = np.empty(len(columns["move"]), dtype=LINE)
            for name, column in columns.items():
                lines[name] = [code_from_uci(move) for move in column] if name == "move" else column
            yield AnalysedPosition(fens[at], legal[at], lines)
        except (TypeError, ValueError, OverflowError) as error:
            tally.fault("unreadable analysis", file, f"row {before + at + 1}", str(error))


@dataclass(frozen=True, eq=False)
class Imported:
    """What came out of a file: the key of its answers, how many there were and how many were new to the store."""

    file: str
    settings: SearchKey
    read: int
    new: int
    tally: Tally = field(default_factory=Tally)

    def as_dict(self) -> dict[str, object]:
        """Return the counts for JSON."""
        return {"file": self.file, "settings": dict(self.settings), "read": self.read, "new": self.new}


def choose_settings(store: Store, number: int | None = None) -> SearchKey:
    """Return the settings with this number, from 1 in the order of `all_settings`; without one the only ones."""
    known = stored_keys(store)
    if number is None and len(known) == 1:
        return known[0]
    if number is not None and 1 <= number <= len(known):
        return known[number - 1]
    words = []
    for n, key in enumerate(known, start=1):
        limit = f"depth {key.get('depth')}" if key.get("depth") else f"{key.get('nodes')} nodes"
        words.append(f"{n}: {key.get('engine')}, {limit}, {key.get('multipv')} lines")
    listed = "; ".join(words) or "none"
    said = f"no settings with the number {number}" if number is not None else "an export holds answers of one kind"
    raise InputError(f"{store.path}: {said}", hint=f"choose by number; there are {listed}")


def export_store(store: Store, key: SearchKey, path: str | os.PathLike[str], tally: Tally | None = None) -> int:
    """Write all answers under the key to a file and return how many; what is damaged is in the tally."""
    return export_analyses(path, key, _stored(store, key, Tally() if tally is None else tally))


def damaged_answers(store: Store) -> Iterator[tuple[SearchKey, str, str]]:
    """Yield the settings, the position and the reason of every answer that no engine can have given."""
    for key in stored_keys(store):
        found: list[tuple[str, str]] = []
        try:
            settings = Settings.from_key(key)
        except InputError as error:
            yield key, "", str(error)
            continue
        for row in store.iterate(key, lambda *fault, to=found: to.append(fault)):
            try:
                if row.status == "done":
                    _check(
                        AnalysedPosition(row.problem, row.alternatives, engine_lines.unpack_lines(row.lines)), settings
                    )
            except SkilloscopeError as error:
                found.append((row.problem, str(error)))
        yield from ((key, problem, reason) for problem, reason in found)


def import_file(store: Store, path: str | os.PathLike[str], stated: SearchKey | None = None) -> Imported:
    """Put a file's answers into the store, under its key or the `stated` one; an unusable answer is a fault."""
    export = read_export(path, stated)
    settings = Settings.from_key(export.settings)
    new, tally = 0, Tally()
    for begin in range(0, len(export.rows), _CHUNK):
        chunk: list[StoredAnalysis] = []
        for row in export.rows[begin : begin + _CHUNK]:
            try:
                packed = engine_lines.pack_lines(_check(row, settings))
                chunk.append(StoredAnalysis(row.fen, row.n_legal, packed, origin="imported"))
            except SkilloscopeError as error:
                tally.fault("unusable analysis", str(path), row.fen, str(error))
        new += store.put_many(export.settings, chunk) if chunk else 0
    return Imported(str(path), export.settings, len(export.rows), new, export.tally + tally)


def _stored(store: Store, key: SearchKey, tally: Tally) -> Iterator[AnalysedPosition]:
    def faulty(problem: str, reason: str) -> None:
        tally.fault("damaged answer", str(store.path), problem, reason)

    for row in store.iterate(key, faulty):
        lines = engine_lines.sound_lines(row.lines)
        if row.status == "done" and lines is None:
            faulty(row.problem, "its lines are damaged")
        elif row.status == "done" and lines is not None:
            yield AnalysedPosition(row.problem, row.alternatives, lines)


def _check(row: AnalysedPosition, settings: Settings) -> LineArray:
    """Return the lines of an answer that an engine may have given under these settings; raise where it cannot."""
    legal = legal_moves(row.fen)
    if len(legal) != row.n_legal:
        raise InputError(f"{len(legal)} legal moves, not {row.n_legal}")
    if settings.problem(row.fen) != row.fen:
        raise InputError("the position is not written by the settings' FEN rule")
    return checked_answer(row.lines, legal, settings)


def read_analysed(path: str | os.PathLike[str], settings_key: SearchKey | None = None) -> Analyses:
    """Read analysed games; with a `settings_key` the caller states whose answers they are, where the file does not."""
    columns = _Columns()
    try:
        with open_lines(path) as lines:
            for number, line in enumerate(lines, start=1):
                columns.read(line, str(path), number)
    except BinaryDataError as error:
        raise InputError(f"{path} is not a file of analysed games: {error}") from error
    except DAMAGE as error:
        columns.tally.fault("damaged file", str(path), f"after game {len(columns.headers)}", str(error))
    key = columns.key(str(path), settings_key)
    return Analyses.from_answers(columns.positions(), key, columns.answers, imported=len(columns.answers))


class _Columns:
    """Columns that grow game by game."""

    def __init__(self) -> None:
        self.headers: list[GameHeader] = []
        self.rows: list[tuple[int, int, str, int, int]] = []
        self.answers: dict[str, LineArray] = {}
        self.stated: dict[str, SearchKey] = {}
        self.tally = Tally()

    def read(self, line: str, file: str, number: int) -> None:
        """Append one game; one that cannot be read is a fault."""
        rows, answers = [], {}
        try:
            record = read_object(line)
            tags = {tag: str(record[name]) for name, tag in _TAGS.items() if record.get(name) is not None}
            header = header_from_tags(tags, MainLine(), file, number)
            for row in record["rows"]:
                depths = {
                    depth: [[move, score if kind == "cp" else f"#{score}"] for move, kind, score in lines]
                    for depth, lines in row["values"].items()
                }
                fen, played = row["fen"], code_from_uci(row["played"])
                chess.Board(fen)  # raises where it is no position
                if not any(depths.values()):
                    raise InputError("no lines")
                answers[fen] = lines_from_lists(depths)
                rows.append((len(self.headers), _small(row["ply"]), fen, played, _small(row["n_legal"])))
            stated = cast(SearchKey, dict[str, object](record.get("settings") or {}))
            if record.get("engine"):
                stated["engine"] = str(record["engine"])
        except _MISFITS as error:
            self.tally.fault("unreadable analysis", file, f"line {number}", str(error)[:80])
            return
        self.stated.setdefault(json.dumps(stated, sort_keys=True), stated)
        self.headers.append(header)
        self.rows += rows
        self.answers |= answers

    def key(self, file: str, known: SearchKey | None) -> SearchKey:
        """Return the key of the answers: what the file states, else what the caller knows, else what the lines show."""
        if len(self.stated) > 1:
            raise InputError(f"{file} holds answers of several engines or settings", hint="one file, one of them")
        stated = next(iter(self.stated.values()), SearchKey())
        if stated and known and any(known.get(name) != value for name, value in stated.items()):
            raise InputError(f"{file} says {stated}, which is not what its answers are said to be: {dict(known)}")
        depth = max((int(lines["depth"].max()) for lines in self.answers.values()), default=None)
        return {**UNKNOWN, "fen_rule": "full", "options": {}, "depth": depth, **(known or {}), **stated}

    def positions(self) -> Positions:
        game, ply, fen, played, legal = zip(*self.rows, strict=True) if self.rows else ((), (), (), (), ())
        headers = unique_games(pa.Table.from_pylist(self.headers, schema=HEADERS))
        return Positions(
            games=Games.without_moves(headers, self.tally),
            game=np.array(game, dtype=np.int32),
            ply=np.array(ply, dtype=np.int32),
            mover=np.array([text.split(" ")[1] == "b" for text in fen], dtype=np.int8),
            fen=pa.array(fen, type=pa.string()),
            played=np.array(played, dtype=np.uint16),
            n_legal=np.array(legal, dtype=np.int32),
            clock=np.full(len(fen), np.nan, dtype=np.float32),
        )


def _small(number: Any) -> int:
    if not isinstance(number, int) or not 0 <= number <= _MOST_PLIES:
        raise InputError(f"{str(number)[:20]!r} is not a number of moves")
    return number
