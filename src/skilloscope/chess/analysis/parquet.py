"""Exported analyses as Parquet: one row a position, its lines as lists, about 200 bytes for ten moves at ten depths.

Columns: `fen`, `n_legal`, and one entry a line in each of `depth`, `rank` (1 is best), `move` (as UCI writes it),
`mate` (whether the score is one) and `score` (centipawns, or moves to mate; the mover's view). The schema's metadata
hold the same head as the first line of a JSON-lines export, under the key `skilloscope`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import IO, Any

import numpy as np
import pyarrow as pa

from skilloscope.chess.engine.lines import LINE, AnalysedPosition, code_from_uci, moves_uci
from skilloscope.core.errors import InputError, Tally
from skilloscope.core.parquet import checked_writer, open_checked
from skilloscope.core.records import read_object

SCHEMA = pa.schema(
    [
        pa.field("fen", pa.string(), nullable=False),
        pa.field("n_legal", pa.uint16(), nullable=False),
        pa.field("depth", pa.list_(pa.uint8()), nullable=False),
        pa.field("rank", pa.list_(pa.uint8()), nullable=False),
        pa.field("move", pa.list_(pa.string()), nullable=False),
        pa.field("mate", pa.list_(pa.bool_()), nullable=False),
        pa.field("score", pa.list_(pa.int32()), nullable=False),
    ]
)
_META = b"skilloscope"
_GROUP = 20_000  # positions per row group: large enough to pack well, small enough to write without all in memory
_LEVEL = 19  # half a millisecond a position, where its search took a hundred and more


def write_parquet(file: IO[bytes], head: Mapping[str, Any], rows: Iterable[AnalysedPosition]) -> int:
    """Write the rows under the head and return how many."""
    schema = SCHEMA.with_metadata({_META: json.dumps(head).encode()})
    # Plain values: a dictionary of moves packs worse than the moves themselves (131 against 87 bytes a position).
    options = {"compression": "zstd", "compression_level": _LEVEL, "use_dictionary": False}
    written, source = 0, iter(rows)
    with checked_writer(file, schema, **options) as write:
        while group := list(islice(source, _GROUP)):
            write(_table(group, schema))
            written += len(group)
    return written


def read_parquet(path: str | os.PathLike[str], tally: Tally) -> tuple[dict[str, Any], list[AnalysedPosition]]:
    """Return the head and the rows; a row that cannot be read is a fault in the tally."""
    rows: list[AnalysedPosition] = []
    with open_checked(path) as file:
        head = _head(file.schema_arrow)
        if head and not file.schema_arrow.equals(SCHEMA):
            raise InputError(f"{path}: the columns are not those of exported analyses")
        for number in range(file.num_row_groups if head else 0):
            group = file.read_row_group(number)
            group.validate(full=True)
            rows += _rows(group, len(rows) + tally.total, str(path), tally)
    return head, rows


def _head(schema: pa.Schema) -> dict[str, Any]:
    try:
        return read_object((schema.metadata or {}).get(_META, b"{}"))
    except InputError:
        return {}


def _table(rows: list[AnalysedPosition], schema: pa.Schema) -> pa.Table:
    lines = np.concatenate([row.lines for row in rows])
    offsets = pa.array(np.cumsum([0, *(len(row.lines) for row in rows)], dtype=np.int32))
    columns = {
        "depth": pa.array(lines["depth"]),
        "rank": pa.array(lines["rank"]),
        "move": moves_uci(lines["move"]),
        "mate": pa.array(lines["mate"].astype(bool)),
        "score": pa.array(lines["score"]),
    }
    return pa.table(
        {
            "fen": pa.array([row.fen for row in rows], type=pa.string()),
            "n_legal": pa.array([row.n_legal for row in rows], type=pa.uint16()),
            **{name: pa.ListArray.from_arrays(offsets, column) for name, column in columns.items()},
        },
        schema=schema,
    )


def _rows(table: pa.Table, before: int, file: str, tally: Tally) -> Iterator[AnalysedPosition]:
    lists = {name: table[name].combine_chunks() for name in LINE.names or ()}
    fens, legal = table["fen"].to_pylist(), table["n_legal"].to_pylist()
    for at in range(len(table)):
        columns = {name: column[at].as_py() for name, column in lists.items()}
        try:
            yield AnalysedPosition(fens[at], legal[at], _lines(columns))
        except (TypeError, ValueError, OverflowError) as error:
            tally.fault("unreadable analysis", file, f"row {before + at + 1}", str(error))


def _lines(columns: dict[str, list[Any]]) -> Any:
    counts = {len(column) for column in columns.values()}
    if len(counts) > 1 or counts == {0}:
        raise ValueError("the lists are empty, or not of one length")
    lines = np.empty(len(columns["move"]), dtype=LINE)
    for name, column in columns.items():
        lines[name] = [code_from_uci(move) for move in column] if name == "move" else column
    return lines
