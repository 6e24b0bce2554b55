"""What every batch shares: who acted, the context columns and the tally of what was left out.

A batch is columns, never a list of objects. Deciders are codes into a short list of names; context is an
Arrow table, so that every column of it may be null and a million rows cost megabytes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from skilloscope.core.errors import InputError

LABELS = "alternatives"
"""The context column that may hold the names of each decision's alternatives, in the order of their values."""

Selection = npt.NDArray[np.bool_] | npt.NDArray[np.integer[Any]] | Sequence[int] | slice
Codes = npt.NDArray[np.int32]


class Coded(Protocol):
    """A batch whose deciders are codes into a list of names."""

    @property
    def deciders(self) -> tuple[str, ...]:
        """The names."""

    @property
    def decider(self) -> Codes:
        """The code of each row."""


def encode(names: Sequence[str] | npt.NDArray[Any]) -> tuple[tuple[str, ...], Codes]:
    """Return the distinct names, in order of first appearance, and a code for each entry."""
    encoded = pa.array(names, type=pa.string()).dictionary_encode()
    return tuple(encoded.dictionary.to_pylist()), encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32)


def empty_context(rows: int = 0) -> pa.Table:
    """Return a context of no columns for that many rows."""
    return pa.table({"_": pa.nulls(rows)}).select([])


def as_context(context: pa.Table | Mapping[str, Any] | None, rows: int) -> pa.Table:
    """Return the context as an Arrow table of that many rows; one without columns fits any number of them."""
    table = context if isinstance(context, pa.Table) else pa.table(dict(context or {}))
    if not table.num_columns:
        return empty_context(rows)
    if table.num_rows != rows:
        raise InputError(f"the context has {table.num_rows:,} rows, the batch {rows:,}")
    return table


def selection_index(selection: Selection, rows: int) -> npt.NDArray[np.int64]:
    """Return row numbers for a mask, an index or a slice."""
    if isinstance(selection, slice):
        return np.arange(rows, dtype=np.int64)[selection]
    chosen = np.asarray(selection)
    if chosen.dtype == np.bool_:
        if len(chosen) != rows:
            raise InputError(f"the mask has {len(chosen):,} entries, the batch {rows:,}")
        return np.flatnonzero(chosen)
    return chosen.astype(np.int64)


def ragged_take(
    offsets: npt.NDArray[np.int64], index: npt.NDArray[np.int64], counts: npt.NDArray[np.int64] | None = None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the new offsets, and where the entries of the rows `index` stand; with `counts` only so many of each row.

    >>> ragged_take(np.array([0, 2, 5, 6]), np.array([2, 1]))
    (array([0, 1, 4]), array([5, 2, 3, 4]))
    """
    counts = np.diff(offsets)[index] if counts is None else counts
    taken = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return taken, np.repeat(offsets[index] - taken[:-1], counts) + np.arange(taken[-1])


def label_lists(labels: pa.Array | pa.ChunkedArray, offsets: npt.NDArray[np.int64]) -> pa.Array:
    """Return the names of all alternatives end to end, checked against the lists that they name."""
    lists = labels.combine_chunks() if isinstance(labels, pa.ChunkedArray) else labels
    if not _is_list(lists.type):
        raise InputError(f"the column {LABELS} holds {lists.type}, not lists of names")
    lengths = pc.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False)
    if not np.array_equal(lengths, np.diff(offsets)):
        row = int(np.flatnonzero(lengths != np.diff(offsets))[0])
        raise InputError(
            f"decision {row + 1} has {lengths[row]} names for {np.diff(offsets)[row]} alternatives",
            hint=f"give every alternative a name in the column {LABELS}, or leave the column out",
        )
    return lists.flatten()


def reorder_labels(context: pa.Table, offsets: npt.NDArray[np.int64], order: npt.NDArray[np.int64]) -> pa.Table:
    """Return the context with the names of the alternatives, where it has them, put in the order of the values."""
    if LABELS not in context.column_names or not _is_list(context.schema.field(LABELS).type):
        return context
    if np.array_equal(order, np.arange(len(order))):
        return context
    names = label_lists(context.column(LABELS), offsets).take(pa.array(order))
    at = context.schema.get_field_index(LABELS)
    return context.set_column(at, LABELS, pa.LargeListArray.from_arrays(pa.array(offsets), names))


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def concat_deciders(batches: Sequence[Coded]) -> tuple[tuple[str, ...], Codes]:
    """Return the names of several batches together, and every row's code among them; equal names are one."""
    names, codes = encode([name for batch in batches for name in batch.deciders])
    starts = np.cumsum([0, *(len(batch.deciders) for batch in batches)])
    parts = [codes[start:][batch.decider] for start, batch in zip(starts, batches, strict=False)]
    return names, np.concatenate(parts).astype(np.int32)


def decider_column(batch: Coded) -> pa.ChunkedArray:
    """Return every row's decider as a dictionary column."""
    names = pa.array(batch.deciders, type=pa.string())
    return pa.chunked_array([pa.DictionaryArray.from_arrays(pa.array(batch.decider), names)])


def concat_contexts(contexts: Sequence[pa.Table], rows: Sequence[int]) -> pa.Table:
    """Stack contexts; a column that one of them lacks is null there."""
    if not any(table.num_columns for table in contexts):
        return empty_context(sum(rows))
    full = [
        table if table.num_columns else pa.table({"_": pa.nulls(n)}) for table, n in zip(contexts, rows, strict=True)
    ]
    try:
        table = pa.concat_tables(full, promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # a column is a number here and a text there: text holds both
        table = pa.concat_tables([_as_text(part) for part in full], promote_options="permissive")
    return table.drop_columns("_") if "_" in table.column_names else table


def _as_text(table: pa.Table) -> pa.Table:
    return table.cast(pa.schema([(field.name, pa.string()) for field in table.schema]))


def group_codes(columns: Sequence[pa.ChunkedArray]) -> tuple[list[Any], Codes]:
    """Return the labels of the groups that these columns make together, and each row's group.

    One column gives its plain values as labels, several give tuples. Null is a label of its own: None.
    """
    if not len(columns[0]):
        return [], np.zeros(0, dtype=np.int32)
    coded = [_column_codes(column) for column in columns]
    combined = np.zeros(len(columns[0]), dtype=np.int64)
    for labels, codes in coded:
        combined = combined * max(len(labels), 1) + codes
    first, codes = _first_and_codes(combined, math.prod(max(len(labels), 1) for labels, _ in coded))
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(first), dtype=np.int32)
    rank[order] = np.arange(len(first), dtype=np.int32)
    rows = first[order]
    if len(coded) == 1:
        labels, column_codes = coded[0]
        return [labels[i] for i in column_codes[rows]], rank[codes]
    return [tuple(labels[c[row]] for labels, c in coded) for row in rows], rank[codes]


def _first_and_codes(
    combined: npt.NDArray[np.int64], possible: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return where each group that occurs is first seen, and each row's group; without sorting where that is cheap."""
    if possible > 4 * len(combined):
        _, first, codes = np.unique(combined, return_index=True, return_inverse=True)
        return first, codes
    seen = np.full(possible, -1, dtype=np.int64)
    # Of several assignments to one place the last stays, so that from the back it is the first row.
    seen[combined[::-1]] = np.arange(len(combined) - 1, -1, -1)
    occurs = np.flatnonzero(seen >= 0)
    place = np.empty(possible, dtype=np.int64)
    place[occurs] = np.arange(len(occurs))
    return seen[occurs], place[combined]


def _column_codes(column: pa.ChunkedArray) -> tuple[list[Any], npt.NDArray[np.int64]]:
    encoded = column.combine_chunks()
    if not pa.types.is_dictionary(encoded.type):
        encoded = pc.dictionary_encode(encoded, null_encoding="encode")
    labels = encoded.dictionary.to_pylist()
    codes = encoded.indices
    if codes.null_count:  # a dictionary column may carry its nulls in the codes
        codes = codes.fill_null(len(labels))
        labels = [*labels, None]
    return labels, codes.to_numpy(zero_copy_only=False).astype(np.int64)
