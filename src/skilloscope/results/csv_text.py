"""CSV files as Arrow tables of texts: packed or not, UTF-8 or Latin-1, comma, semicolon or tab.

In: a path. Out: a table whose columns are dictionaries of texts, the row of each of its rows in the file, and a tally
of rows with too few or too many cells. A million rows take about a second; every distinct text is kept once.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from skilloscope.core.errors import InputError, Tally
from skilloscope.core.files import DAMAGE, BinaryDataError, open_bytes

_CELLS = "wrong number of cells"


def read_csv(path: Path) -> tuple[pa.Table, npt.NDArray[np.int64], Tally]:
    """Read a CSV file; the header is row 1."""
    header = _header(path)
    separator = max(";\t,", key=header.count)  # ties go to the semicolon only where there are no commas at all
    for encoding in ("utf8", "latin-1"):
        try:
            return _read(path, header, separator, encoding)
        except (pa.ArrowInvalid, UnicodeDecodeError) as error:
            if encoding == "utf8" and "UTF8" in str(error).upper().replace("-", ""):
                continue
            raise InputError(f"{path}: not a CSV file that can be read ({error})") from error
        except DAMAGE as error:
            raise InputError(f"{path}: damaged file ({error})") from error
    raise AssertionError("unreachable: every byte is Latin-1")


def _read(path: Path, header: str, separator: str, encoding: str) -> tuple[pa.Table, npt.NDArray[np.int64], Tally]:
    tally, gaps = Tally(), []

    def odd(row: Any) -> str:
        gaps.append(row.number)
        if row.text.strip():
            found = f"{row.actual_columns} in place of {row.expected_columns}"
            tally.fault(_CELLS, str(path), f"row {row.number}", found)
        return "skip"

    names = _names(header, separator)
    texts = pa.dictionary(pa.int32(), pa.string())
    with open_bytes(path) as stream:
        table = pa.csv.read_csv(
            stream,
            read_options=pa.csv.ReadOptions(use_threads=False, encoding=encoding, block_size=1 << 22),
            parse_options=pa.csv.ParseOptions(
                delimiter=separator, newlines_in_values=True, invalid_row_handler=odd, ignore_empty_lines=len(names) < 2
            ),
            convert_options=pa.csv.ConvertOptions(column_types=dict.fromkeys(names, texts), strings_can_be_null=False),
        )
    table = pa.table([_without_apostrophes(column) for column in table.columns], names=[n.strip() for n in names])
    rows = np.arange(2, table.num_rows + len(gaps) + 2)
    rows = np.delete(rows, np.array(gaps, dtype=np.int64) - 2)[: table.num_rows]
    return table, rows, tally


def _without_apostrophes(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Take off the apostrophe that `writing` puts before a cell which a spreadsheet would take for a formula."""
    if not column.num_chunks:
        return column
    whole = column.unify_dictionaries()
    names = pc.replace_substring_regex(whole.chunk(0).dictionary, r"\A'('*[=+\-@\t\r])", r"\1")
    return pa.chunked_array([pa.DictionaryArray.from_arrays(chunk.indices, names) for chunk in whole.chunks])


def _names(header: str, separator: str) -> list[str]:
    return next(csv.reader([header], delimiter=separator), [])


def _header(path: Path) -> str:
    """Return the first line."""
    try:
        with open_bytes(path) as stream:
            line = bytes(stream.readline(1 << 16)).rstrip(b"\r\n")
    except BinaryDataError as error:
        raise InputError(f"{path}: not a CSV file that can be read ({error})") from error
    except DAMAGE as error:
        raise InputError(f"{path}: damaged file ({error})") from error
    try:
        return line.decode("utf-8-sig")
    except UnicodeDecodeError:
        return line.decode("latin-1")
