"""CSV that is safe to open in a spreadsheet.

A spreadsheet takes a cell that begins with `=`, `+`, `-`, `@`, a tab or a carriage return for a formula, and a name can
hold one. In CSV such texts get a leading apostrophe, which spreadsheets read as "text follows"; numbers stay numbers.
Whoever reads our CSV takes the apostrophe off again.
"""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

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
