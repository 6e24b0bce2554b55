"""What every batch shares: who acted, the context columns and the tally of what was left out.

A batch is columns, never a list of objects. Deciders are codes into a short list of names; context is an
Arrow table, so that every column of it may be null and a million rows cost megabytes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skilloscope.core.arrays import Ints
from skilloscope.core.columns import About, Codes, Selection, encode
from skilloscope.core.errors import InputError, Tally
from skilloscope.core.frames import Framed

LABELS = "alternatives"
"""The context column that may hold the names of each decision's alternatives, in the order of their values."""
BATCH_KEY, BATCH_SCHEMA = b"skilloscope", 1
"""Under which key of a table's metadata a batch keeps what its columns cannot hold, and in which version."""


def empty_context(rows: int = 0) -> pa.Table:
    """Return a context of no columns for that many rows."""
    return pa.table({"_": pa.nulls(rows)}).select([])


def as_context(context: pa.Table | Mapping[str, object] | None, rows: int) -> pa.Table:
    """Return the context as an Arrow table of that many rows; one without columns fits any number of them."""
    table = context if isinstance(context, pa.Table) else pa.table(dict(context or {}))
    if not table.num_columns:
        return empty_context(rows)
    if table.num_rows != rows:
        raise InputError(f"the context has {table.num_rows:,} rows, the batch {rows:,}")
    return table


@dataclass(frozen=True, eq=False, repr=False)
class Batch(Framed):
    """What every batch has besides its own columns, and how it is grouped."""

    deciders: tuple[str, ...]
    decider: Codes
    context: pa.Table = field(default_factory=empty_context, kw_only=True)
    tally: Tally = field(default_factory=Tally, kw_only=True)
    about: About = field(default_factory=dict, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "context", as_context(self.context, len(self)))

    def __len__(self) -> int:
        return len(self.decider)

    @property
    def skipped(self) -> dict[str, int]:
        """What was left out and why."""
        return self.tally.as_dict()

    def names(self) -> list[str]:
        """Return the deciders that occur, in order of first appearance."""
        codes, first = np.unique(self.decider, return_index=True)
        return [self.deciders[c] for c in codes[np.argsort(first)]]

    def column(self, name: str) -> pa.ChunkedArray:
        """Return a context column; `decider` (or `player`) is one of them."""
        if name in ("decider", "player"):
            names = pa.array(self.deciders, type=pa.string())
            return pa.chunked_array([pa.DictionaryArray.from_arrays(pa.array(self.decider), names)])
        if name not in self.context.column_names:
            known = ", ".join(["decider", *self.context.column_names])
            raise InputError(f"no column {name!r} to group by", hint=f"the columns here: {known}")
        return self.context.column(name)

    def groups(self, by: str | Sequence[str] = "decider") -> tuple[list[Any], Codes]:
        """Return the labels of the groups that a column (or several) makes, and each row's group."""
        return group_codes([self.column(name) for name in ([by] if isinstance(by, str) else by)])

    def group_by(self, by: str | Sequence[str] = "decider") -> dict[Any, Self]:
        """Return one batch per group, in order of first appearance."""
        labels, codes = self.groups(by)
        rows = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes, minlength=len(labels)))[:-1])
        return {label: self.select(index) for label, index in zip(labels, rows, strict=False)}

    def select(self, selection: Selection, *, reason: str = "") -> Self:
        """Return the selected rows; with a `reason` those left out are counted under it."""
        raise NotImplementedError

    def _kept(self, index: Ints, reason: str, **own: Any) -> Self:
        """Return these rows; `own` has them of the columns of this kind of batch."""
        left_out = {reason: len(self) - len(index)} if reason and len(index) < len(self) else {}
        context, tally = self.context.take(index), self.tally + Tally(left_out)
        return replace(self, decider=self.decider[index], context=context, tally=tally, **own)

    def with_tally(self, tally: Tally) -> Self:
        """Return the same batch with `tally` added to what was left out."""
        return replace(self, tally=self.tally + tally)

    def _table(self, columns: Mapping[str, object], **about_kind: object) -> pa.Table:
        """Return these columns and the context as one table; provenance and tally go into the metadata."""
        context = {name: self.context.column(name) for name in self.context.column_names}
        clash = sorted({"decider", *columns} & set(context))
        if clash:
            raise InputError(f"context columns {clash} have the names of the batch's own columns")
        meta = {"schema": BATCH_SCHEMA, "about": dict(self.about), "tally": self.tally.as_dict(), **about_kind}
        table = pa.table({"decider": self.column("decider"), **columns, **context})
        return table.replace_schema_metadata({BATCH_KEY: json.dumps(meta).encode()})

    @classmethod
    def _stacked(cls, batches: Sequence[Self], **own: Any) -> Self:
        """Return batches put together, equal names as one; `own` has the columns of this kind of batch, and `about`."""
        names, codes = encode([name for batch in batches for name in batch.deciders])
        starts = np.cumsum([0, *(len(batch.deciders) for batch in batches)])
        parts = [codes[start:][batch.decider] for start, batch in zip(starts, batches, strict=False)]
        context = _concat_contexts([batch.context for batch in batches], [len(batch) for batch in batches])
        tally = Tally.sum(batch.tally for batch in batches)
        return cls(names, np.concatenate(parts).astype(np.int32), context=context, tally=tally, **own)


def label_lists(labels: pa.Array | pa.ChunkedArray, offsets: Ints) -> pa.Array:
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


def reorder_labels(context: pa.Table, offsets: Ints, order: Ints) -> pa.Table:
    """Return the context with the names of the alternatives, where it has them, put in the order of the values."""
    if LABELS not in context.column_names or not _is_list(context.schema.field(LABELS).type):
        return context
    names = label_lists(context.column(LABELS), offsets).take(pa.array(order))
    at = context.schema.get_field_index(LABELS)
    return context.set_column(at, LABELS, pa.LargeListArray.from_arrays(pa.array(offsets), names))


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _concat_contexts(contexts: Sequence[pa.Table], rows: Sequence[int]) -> pa.Table:
    """Stack contexts; a column that one of them lacks is null there."""
    if not any(table.num_columns for table in contexts):
        return empty_context(sum(rows))
    full = [
        table if table.num_columns else pa.table({"_": pa.nulls(n)}) for table, n in zip(contexts, rows, strict=True)
    ]
    try:
        table = pa.concat_tables(full, promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # a column is a number here and a text there: text holds both
        texts = [part.cast(pa.schema([(field.name, pa.string()) for field in part.schema])) for part in full]
        table = pa.concat_tables(texts, promote_options="permissive")
    return table.drop_columns("_") if "_" in table.column_names else table


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


def _first_and_codes(combined: Ints, possible: int) -> tuple[Ints, Ints]:
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


def _column_codes(column: pa.ChunkedArray) -> tuple[list[Any], Ints]:
    encoded = column.combine_chunks()
    if not pa.types.is_dictionary(encoded.type):
        encoded = pc.dictionary_encode(encoded, null_encoding="encode")
    labels = encoded.dictionary.to_pylist()
    codes = encoded.indices
    if codes.null_count:  # a dictionary column may carry its nulls in the codes
        codes = codes.fill_null(len(labels))
        labels = [*labels, None]
    return labels, codes.to_numpy(zero_copy_only=False).astype(np.int64)
