"""pandas and polars frames at the edge: Arrow tables inside, frames on request.

A frame loses what a table has besides its columns (depths, provenance, exact types). So a frame of ours carries the
table's schema in a column of its own, `skilloscope`, the same text in every row; it takes one number a row. A frame
that comes back with it is the same table to the bit; without it the columns alone count.
"""

import base64
import binascii
import importlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from html import escape
from typing import Any

import pyarrow as pa

from skilloscope.core.errors import InputError, MissingExtraError

CARRIED = "skilloscope"  # the column in which a frame carries the schema of the table that it was made of


class Framed:
    """What has one table, `to_arrow`, and so goes out as a frame of any library."""

    def to_arrow(self) -> pa.Table:
        """Return the table."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """Return a pandas frame."""
        return to_pandas(self.to_arrow())

    def to_polars(self) -> Any:
        """Return a polars frame."""
        return to_polars(self.to_arrow())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand the table to anything that speaks Arrow's PyCapsule interface: polars, DuckDB, pandas, pyarrow."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)


def table_html(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table as HTML without any style of its own.

    >>> table_html(["a"], [["<b>"]])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def is_frame(what: Any) -> bool:
    """Return whether something is a frame of another library, or an Arrow table."""
    ours = isinstance(what, Framed)
    return not ours and (hasattr(what, "__arrow_c_stream__") or type(what).__module__.split(".")[0] == "pandas")


def arrow_from_frame(frame: Any) -> pa.Table:
    """Return a frame of any library as an Arrow table; one that carries the schema of a table of ours, as that one."""
    if type(frame).__module__.split(".")[0] == "pandas":
        return _restored(pa.Table.from_pandas(frame, preserve_index=False))
    if hasattr(frame, "__arrow_c_stream__"):
        return _restored(pa.table(frame))
    raise InputError(
        f"{type(frame).__name__} is not a frame", hint="give a pandas or polars frame, or an Arrow table; docs/data.md"
    )


def to_pandas(table: pa.Table) -> Any:
    """Return a table as a pandas frame; whole numbers stay whole where some are missing."""
    pandas = _need("pandas")
    frame = _carrying(table).to_pandas()
    for field in table.schema:
        if pa.types.is_integer(field.type) and table.column(field.name).null_count:
            whole = getattr(pandas, f"{str(field.type).replace('int', 'Int').replace('u', 'U')}Dtype")()
            frame[field.name] = pandas.array(table.column(field.name).to_pylist(), dtype=whole)
    return frame


def to_polars(table: pa.Table) -> Any:
    """Return a table as a polars frame."""
    return _need("polars").from_arrow(_carrying(table))


def table_of_rows(rows: Sequence[Mapping[str, object]]) -> pa.Table:
    """Return rows of a report as a table: what is nested stays nested, a column that no row fills is left out."""
    table = pa.Table.from_pylist(rows)
    return table.select([field.name for field in table.schema if not pa.types.is_null(field.type)])


def _carrying(table: pa.Table) -> pa.Table:
    text = base64.b64encode(table.schema.serialize().to_pybytes()).decode()
    codes = pa.array([0] * len(table), type=pa.int8())
    return table.append_column(CARRIED, pa.DictionaryArray.from_arrays(codes, pa.array([text])))


def _restored(table: pa.Table) -> pa.Table:
    """Return a table with the types and the metadata that it carries, as far as its columns still allow it."""
    if CARRIED not in table.column_names:
        return table
    carried = table.column(CARRIED).unique().drop_null().to_pylist()
    table = table.drop_columns([CARRIED])
    if len(carried) != 1:
        raise InputError(
            f"the column {CARRIED!r} holds {len(carried)} schemas: frames of several tables were put together",
            hint="turn each back on its own and use Decisions.concat, or drop the column",
        )
    try:
        schema = pa.ipc.read_schema(pa.BufferReader(base64.b64decode(carried[0], validate=True)))
    except (pa.ArrowException, binascii.Error, OSError, ValueError) as error:
        raise InputError(
            f"the column {CARRIED!r} is broken ({error})", hint="drop it: the columns alone count"
        ) from error
    for place, name in enumerate(table.column_names):
        if name in schema.names:
            with suppress(pa.ArrowException):  # a column that somebody has filled with something else stays as it is
                table = table.set_column(place, name, table.column(name).cast(schema.field(name).type))
    return table.replace_schema_metadata(schema.metadata)


def _need(package: str) -> Any:
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise MissingExtraError(f"{package} is not installed", hint="pip install 'skilloscope[frames]'") from error
