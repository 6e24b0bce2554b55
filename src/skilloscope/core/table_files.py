"""Tables on disk: Parquet with a digest, and CSV that is safe to open in a spreadsheet.

Parquet: a page's checksum covers its values, not its header nor the file's footer. So the footer of a file that is
written here holds a digest of all bytes before it and of its own content: columns, types, rows and metadata. Files of
other programs have no digest; they are checked by the checksums they have. A damaged file is an InputError.

CSV: a spreadsheet takes a cell that begins with `=`, `+`, `-`, `@`, a tab or a carriage return for a formula, and a
name can hold one. Such texts get a leading apostrophe, which our reader removes again.
"""

import contextlib
import hashlib
import io
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from skilloscope.core.errors import InputError, OptionError
from skilloscope.core.paths import appearing, check_writable

_DIGEST = b"skilloscope.digest"
_ARROW = b"ARROW:schema"
_BLOCK = 1 << 20
_TAIL = 8  # the length of the footer and the magic word
_UNREADABLE = (pa.ArrowException, OSError, ValueError, KeyError, TypeError, OverflowError, MemoryError)
"""What pyarrow raises on bytes that are not what they say."""


def write_checked(table: pa.Table, target: str | os.PathLike[str] | IO[bytes], **options: Any) -> None:
    """Write a table with checksums and a digest, a file whole or not at all; the options are those of pyarrow."""
    with checked_writer(target, table.schema, **options) as write:
        write(table)


@contextlib.contextmanager
def checked_writer(target: str | os.PathLike[str] | IO[bytes], schema: pa.Schema, **options: Any) -> Iterator[Any]:
    """Give a function that writes tables, each a row group or several, to a file with checksums and a digest."""
    with contextlib.ExitStack() as stack:
        file: Any = target
        if not hasattr(target, "write"):
            part = stack.enter_context(appearing(target))
            file = stack.enter_context(part.open("wb"))
        sink = _Hashing(file)
        pages = pa.PythonFile(sink, mode="w")
        writer = stack.enter_context(pq.ParquetWriter(pages, schema, write_page_checksum=True, **options))
        rows = 0

        def write(table: pa.Table) -> None:
            nonlocal rows
            writer.write_table(table)
            rows += len(table)

        yield write
        sink.hash.update(_described(schema, rows))
        writer.add_key_value_metadata({_DIGEST: sink.hash.hexdigest().encode()})


def read_checked(path: str | os.PathLike[str], columns: Sequence[str] | None = None, **options: Any) -> pa.Table:
    """Return the table of a file, without our digest among its metadata; columns that it lacks are left out."""
    with open_checked(path, **options) as file:
        wanted = None if columns is None else [name for name in file.schema_arrow.names if name in columns]
        table = file.read(columns=wanted)
        check_rows(path, file.metadata.num_rows, len(table))
        table.validate(full=True)
        kept = {key: value for key, value in (table.schema.metadata or {}).items() if key != _DIGEST}
        return table.replace_schema_metadata(kept or None)


@contextlib.contextmanager
def open_checked(path: str | os.PathLike[str], *, digest: bool = True, **options: Any) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file; one that cannot be read, or whose digest (if compared) is wrong, is an InputError."""
    try:
        with pq.ParquetFile(path, page_checksum_verification=True, **options) as file:
            if digest:
                _check_digest(path, file)
            yield file
    except FileNotFoundError as error:
        raise InputError(f"no file {path}", hint="check the path") from error
    except InputError:
        raise
    except _UNREADABLE as error:
        raise InputError(
            f"{path} is damaged: not a Parquet file that can be read ({error})", hint="get the file again"
        ) from error


def check_rows(path: str | os.PathLike[str], stated: int, read: int) -> None:
    """Refuse a file of which not as many rows were read as it says: damaged pages may end early without a word."""
    if read != stated:
        raise InputError(f"{path} is damaged: of {stated:,} rows {read:,} could be read", hint="get the file again")


def file_mark(path: str | os.PathLike[str]) -> str | None:
    """Return the text under `mark` in a file's metadata; None where there is none, or no such file."""
    try:
        return ((pq.read_schema(path).metadata or {}).get(b"mark") or b"").decode() or None
    except (*_UNREADABLE, OSError):  # whoever reads it says what is wrong
        return None


def parquet_names(path: str | os.PathLike[str]) -> list[str]:
    """Return the names of a file's columns; nothing but its footer is looked at."""
    with open_checked(path, digest=False) as file:
        return list(file.schema_arrow.names)


def _check_digest(path: str | os.PathLike[str], file: pq.ParquetFile) -> None:
    stated = (file.metadata.metadata or {}).get(_DIGEST)
    if stated is None:
        return
    digest = hashlib.blake2b(digest_size=16)
    with open(path, "rb") as source:
        source.seek(-_TAIL, os.SEEK_END)
        left = source.tell() - int.from_bytes(source.read(4), "little")
        source.seek(0)
        while left > 0 and (block := source.read(min(left, _BLOCK))):
            digest.update(block)
            left -= len(block)
    digest.update(_described(file.schema_arrow, file.metadata.num_rows))
    if digest.hexdigest().encode() != stated:
        raise InputError(f"{path} is damaged: its content is not what was written", hint="get the file again")


def _described(schema: pa.Schema, rows: int) -> bytes:
    """Return what a footer says of a table, in one form for who writes and who reads."""
    columns = [(field.name, _kind(field.type)) for field in schema]
    about = sorted((schema.metadata or {}).items())
    return repr((columns, rows, [entry for entry in about if entry[0] not in (_DIGEST, _ARROW)])).encode()


def _kind(kind: pa.DataType) -> str:
    """Return a type's name without the names of the entries of its lists, which writing changes."""
    if pa.types.is_fixed_size_list(kind):
        return f"{kind.list_size} of {_kind(kind.value_type)}"
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return f"{'large ' if pa.types.is_large_list(kind) else ''}list of {_kind(kind.value_type)}"
    if pa.types.is_dictionary(kind):
        return f"dictionary of {_kind(kind.value_type)}"
    return str(kind)


class _Hashing(io.RawIOBase):
    """A file to be written of which every byte goes into a hash too; who opened the file closes it."""

    def __init__(self, file: IO[bytes]) -> None:
        self.hash = hashlib.blake2b(digest_size=16)
        self._file, self._written = file, 0

    def write(self, data: Any) -> int:
        self.hash.update(data)
        self._written += len(data)
        return self._file.write(data)

    def tell(self) -> int:
        return self._written

    def writable(self) -> bool:
        return True


_DANGEROUS = re.escape("=+-@\t\r")
_BEFORE = re.compile(rf"\A('*+[{_DANGEROUS}])")
_AFTER = re.compile(rf"\A'('*+[{_DANGEROUS}])")


def safe_text(text: str) -> str:
    """Return a text with an apostrophe before it where a spreadsheet would take it for a formula.

    >>> safe_text("=1+1"), safe_text("Ann"), safe_text("'=1")
    ("'=1+1", 'Ann', "''=1")
    """
    return _BEFORE.sub(r"'\1", text)


def from_safe_text(text: str) -> str:
    """Return the text that `safe_text` made safe.

    >>> from_safe_text("'=1+1"), from_safe_text("'t Hart")
    ('=1+1', "'t Hart")
    """
    return _AFTER.sub(r"\1", text)


def safe_texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of texts with an apostrophe before each that a spreadsheet would take for a formula.

    >>> safe_texts(pa.chunked_array([["=1+1", "Ann", "'t Hart", "'=1"]])).to_pylist()
    ["'=1+1", 'Ann', "'t Hart", "''=1"]
    """
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not pa.types.is_string(column.type) and not pa.types.is_large_string(column.type):
        return column
    return pc.replace_substring_regex(column, rf"\A('*[{_DANGEROUS}])", r"'\1")


def from_safe_texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a dictionary column of the texts that `safe_texts` made safe."""
    if not column.num_chunks:
        return column
    whole = column.unify_dictionaries()
    names = pc.replace_substring_regex(whole.chunk(0).dictionary, rf"\A'('*[{_DANGEROUS}])", r"\1")
    return pa.chunked_array([pa.DictionaryArray.from_arrays(chunk.indices, names) for chunk in whole.chunks])


def check_table_format(path: Path) -> None:
    """Raise where the name does not say which format to write, or the file cannot be written."""
    if path.suffix not in (".csv", ".parquet"):
        raise OptionError(f"{path}: cannot tell the format from the name", hint="use .csv or .parquet")
    check_writable(path)


def write_table(table: pa.Table, path: str | Path) -> None:
    """Write a table to .csv (safe for spreadsheets) or .parquet, by its extension."""
    path = Path(path)
    check_table_format(path)
    if path.suffix == ".parquet":
        write_checked(table, path, compression="zstd")
        return
    safe = pa.table({name: safe_texts(table.column(name)) for name in table.column_names})
    with appearing(path) as part:
        pa.csv.write_csv(safe, part, pa.csv.WriteOptions(quoting_style="needed"))
