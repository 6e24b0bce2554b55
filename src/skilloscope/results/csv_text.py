"""CSV files as Arrow tables of texts: packed or not, UTF-8 or Latin-1, comma, semicolon or tab.

In: a path. Out: a table whose columns are dictionaries of texts, the row of each of its rows in the file, and a tally
of rows with too few or too many cells. A million rows take about a second; every distinct text is kept once.

The header is the first line that is not blank. The fast reader takes what programs write; whatever it refuses (bytes
that are not UTF-8, lines that end in a carriage return, blank lines before the header, a cell without an end) is read
again row by row, where only the bad rows fail.
"""

from __future__ import annotations

import codecs
import csv
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv

from skilloscope.core.errors import InputError, Tally
from skilloscope.core.files import BinaryDataError, open_bytes, open_lines
from skilloscope.core.inputs.unpacking import DAMAGE
from skilloscope.core.records import read_header, read_rows
from skilloscope.core.spreadsheets import from_safe_texts

_BLOCK = 1 << 16
_CELLS = "wrong number of cells"
_TEXTS = pa.dictionary(pa.int32(), pa.string())
CsvTable = tuple[pa.Table, npt.NDArray[np.int64], Tally]


def read_csv(path: Path) -> CsvTable:
    """Read a CSV file; the header is row 1, unless blank rows stand before it."""
    try:
        try:
            return _read_fast(path)
        except (pa.ArrowException, UnicodeDecodeError, csv.Error, _Unusual):
            return _read_rows(path)
    except BinaryDataError as error:
        raise InputError(f"{path}: not a CSV file that can be read ({error})") from error
    except DAMAGE as error:
        raise InputError(f"{path}: damaged file ({error})") from error


class _Unusual(Exception):
    """The fast reader would not read this file as it is meant."""


def _read_fast(path: Path) -> CsvTable:
    with open_bytes(path) as stream:
        header = bytes(stream.readline(_BLOCK)).removesuffix(b"\n").removesuffix(b"\r").decode("utf-8")
        text = codecs.getincrementaldecoder("utf-8")()
        while block := stream.read1(_BLOCK):
            text.decode(block)  # the fast reader's own error would come too late, and be lost in another thread
        text.decode(b"", final=True)
    if not header.strip() or "\r" in header or header.count('"') % 2:
        raise _Unusual
    separator = _separator(header)
    names = read_header(header, separator)
    tally, gaps = Tally(), []

    def odd(row: Any) -> str:
        gaps.append(row.number)
        if row.text.strip():
            found = f"{row.actual_columns} in place of {row.expected_columns}"
            tally.fault(_CELLS, str(path), f"row {row.number}", found)
        return "skip"

    with open_bytes(path) as stream:
        table = pa.csv.read_csv(
            stream,
            read_options=pa.csv.ReadOptions(use_threads=False, block_size=1 << 22),
            parse_options=pa.csv.ParseOptions(
                delimiter=separator, newlines_in_values=True, invalid_row_handler=odd, ignore_empty_lines=len(names) < 2
            ),
            convert_options=pa.csv.ConvertOptions(
                column_types=dict.fromkeys(_written(header, separator), _TEXTS), strings_can_be_null=False
            ),
        )
    if table.num_columns != len(names) or any(column.type != _TEXTS for column in table.columns):
        raise _Unusual  # it took the header for another than we do
    rows = np.arange(2, table.num_rows + len(gaps) + 2)
    rows = np.delete(rows, np.array(gaps, dtype=np.int64) - 2)[: table.num_rows]
    return _named(list(table.columns), names), rows, tally


def _read_rows(path: Path) -> CsvTable:
    """Read row by row what the fast reader refuses; bad rows are faults, and the others stay."""
    tally = Tally()
    with open_lines(path) as lines:
        first, header = next(((n, line) for n, line in enumerate(lines, 1) if line.strip()), (1, ""))
        separator = _separator(header)
        names = read_header(header.rstrip("\n"), separator)
        cells: list[list[str]] = [[] for _ in names]
        rows = []
        for number, _, row in read_rows(lines, separator, str(path), tally, before=first):
            if len(row) == len(names):
                rows.append(number)
                for column, cell in zip(cells, row, strict=True):
                    column.append(cell)
            elif any(cell.strip() for cell in row):
                tally.fault(_CELLS, str(path), f"row {number}", f"{len(row)} in place of {len(names)}")
    columns = [pa.chunked_array([pa.array(column, pa.string()).dictionary_encode()]) for column in cells]
    return _named(columns, names), np.array(rows, dtype=np.int64), tally


def _named(columns: list[pa.ChunkedArray], names: list[str]) -> pa.Table:
    return pa.table([from_safe_texts(column) for column in columns], names=names)


def _separator(header: str) -> str:
    return max(";\t,", key=header.count)  # ties go to the semicolon only where there are no commas at all


def _written(header: str, separator: str) -> list[str]:
    """Return the names as they stand in the file, with their blanks."""
    return next(csv.reader([header], delimiter=separator), [])
