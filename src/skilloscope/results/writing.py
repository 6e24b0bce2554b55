"""Results and other tables written as Arrow, Parquet, and CSV that is safe to open in a spreadsheet.

A spreadsheet takes a cell that begins with `=`, `+`, `-`, `@`, a tab or a carriage return for a formula, and a name can
hold one. In CSV such texts get a leading apostrophe, which spreadsheets read as "text follows"; numbers stay numbers.
`read_results` takes the apostrophe off again.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from skilloscope.core.errors import InputError
from skilloscope.core.outputs import appearing, check_writable
from skilloscope.results.table import Results

DANGEROUS = "=+-@\t\r"
"""What makes a spreadsheet take a cell for a formula."""


def results_to_arrow(results: Results) -> pa.Table:
    """Return results as a table `date,player_1,player_2,score`, or `period` in place of `date`."""
    names = pa.array(results.players, type=pa.string())
    when = {"date": _dates(results)} if results.period is None else {"period": pa.array(results.period)}
    sides = {
        side: pa.DictionaryArray.from_arrays(pa.array(codes), names)
        for side, codes in (("player_1", results.player_1), ("player_2", results.player_2))
    }
    return pa.table({**when, **sides, "score": results.score})


def write_table(table: pa.Table, path: str | Path) -> None:
    """Write a table to .csv (safe for spreadsheets) or .parquet, told by the name."""
    path = Path(path)
    check_table_format(path)
    if path.suffix == ".parquet":
        with appearing(path) as part:
            pq.write_table(table, part, compression="zstd")
        return
    safe = pa.table({name: safe_texts(table.column(name)) for name in table.column_names})
    with appearing(path) as part:
        pa.csv.write_csv(safe, part, pa.csv.WriteOptions(quoting_style="needed"))


def check_table_format(path: Path) -> None:
    """Raise where the format to write cannot be told from the name, or the file cannot be written."""
    if path.suffix not in (".csv", ".parquet"):
        raise InputError(f"{path}: cannot tell the format from the name", hint="use .csv or .parquet")
    check_writable(path)


def safe_texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of texts with an apostrophe before each that a spreadsheet would take for a formula.

    >>> safe_texts(pa.chunked_array([["=1+1", "Ann", "'t Hart", "'=1"]])).to_pylist()
    ["'=1+1", 'Ann', "'t Hart", "''=1"]
    """
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not pa.types.is_string(column.type) and not pa.types.is_large_string(column.type):
        return column
    return pc.replace_substring_regex(column, rf"\A('*[{re.escape(DANGEROUS)}])", r"'\1")


def _dates(results: Results) -> pa.Array:
    """Return the dates as dates where all are exact, else as texts that say no more than is known."""
    if results.precision is None:
        return pa.array(results.date)
    texts = np.datetime_as_string(results.date)
    widths = np.array([10, 7, 4])[results.precision]
    return pa.array([text[:width] for text, width in zip(texts, widths, strict=True)])
