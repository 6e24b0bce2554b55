"""Results and other tables written as Arrow, Parquet, and CSV that is safe to open in a spreadsheet.

`read_results` takes off again what makes a cell safe.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from skilloscope.core.errors import OptionError
from skilloscope.core.outputs import appearing, check_writable
from skilloscope.core.parquet import write_checked
from skilloscope.core.spreadsheets import safe_texts
from skilloscope.results.table import Results


def results_to_arrow(results: Results) -> pa.Table:
    """Return results as a table `date,player_1,player_2,score`, or `period` in place of `date`; with ratings if any."""
    names = pa.array(results.players, type=pa.string())
    when = {"date": _dates(results)} if results.period is None else {"period": pa.array(results.period)}
    sides = {
        side: pa.DictionaryArray.from_arrays(pa.array(codes), names)
        for side, codes in (("player_1", results.player_1), ("player_2", results.player_2))
    }
    ratings = {name: column for name in ("rating_1", "rating_2") if (column := getattr(results, name)) is not None}
    return pa.table({**when, **sides, "score": results.score, **ratings})


def write_table(table: pa.Table, path: str | Path) -> None:
    """Write a table to .csv (safe for spreadsheets) or .parquet, told by the name."""
    path = Path(path)
    check_table_format(path)
    if path.suffix == ".parquet":
        write_checked(table, path, compression="zstd")
        return
    safe = pa.table({name: safe_texts(table.column(name)) for name in table.column_names})
    with appearing(path) as part:
        pa.csv.write_csv(safe, part, pa.csv.WriteOptions(quoting_style="needed"))


def check_table_format(path: Path) -> None:
    """Raise where the format to write cannot be told from the name, or the file cannot be written."""
    if path.suffix not in (".csv", ".parquet"):
        raise OptionError(f"{path}: cannot tell the format from the name", hint="use .csv or .parquet")
    check_writable(path)


def _dates(results: Results) -> pa.Array:
    """Return the dates as dates where all are exact, else as texts that say no more than is known."""
    if results.precision is None:
        return pa.array(results.date)
    texts = np.datetime_as_string(results.date)
    widths = np.array([10, 7, 4])[results.precision]
    return pa.array([text[:width] for text, width in zip(texts, widths, strict=True)])
