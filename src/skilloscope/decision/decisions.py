"""Decisions: the centre of the flow. One row per decision, with the values of all its alternatives.

A decision is: who decided, what each listed alternative was worth (best first, the decider's view), which one
was chosen, and how many alternatives there were in all. The lists are ragged: `values` holds them end to end and
decision i owns `values[offsets[i]:offsets[i + 1]]`. With a depth axis `values` has one column per depth of thought,
shallowest first; the last column is the judgement, and only it must be complete.

`Batch` is what Decisions and Losses share: rows with context columns, selected, joined and grouped.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from skilloscope.core.columns import About, Array, Bools, Codes, Ints, Selection, encode, ragged_take, selection_index
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
    """Return the labels of the groups that columns make together (tuples if several), and each row's group."""
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


UNLISTED = -1  # the value of `chosen` where the choice is not among the listed alternatives
_PART = 1_000_000  # decisions that are checked at once, so that a check needs no memory of the batch's own size


@dataclass(frozen=True, eq=False, repr=False)
class Decisions(Batch):
    """A columnar batch of decisions.

    >>> batch = Decisions.from_lists(["Ann", "Ann", "Bob"], [[0.3, 0.1], [1.0, 0.9, -2.0], [0.0, 0.0]], [0, 2, 1])
    >>> len(batch), batch.losses()
    (3, array([0. , 0.2, 0. , 0.1, 3. , 0. , 0. ]))
    >>> batch.select(batch.chosen == 0).names()
    ['Ann']
    """

    values: npt.NDArray[np.floating[Any]]
    offsets: Ints
    chosen: npt.NDArray[np.int32]
    n_legal: npt.NDArray[np.int32]
    """How many alternatives existed; 0 where unknown."""
    depths: tuple[int, ...] = ()
    unlisted_value: npt.NDArray[np.floating[Any]] | None = None
    """The value of one unlisted alternative (the chosen one if it is unlisted), for the rule `sampled`; else NaN."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _check(self)

    def to_arrow(self) -> pa.Table:
        """Return the batch as an Arrow table, which `decisions_from_frame` reads back to the bit."""
        flat = pa.array(np.ascontiguousarray(self.values).reshape(-1))
        items = flat if self.values.ndim == 1 else pa.FixedSizeListArray.from_arrays(flat, self.values.shape[1])
        columns = {
            "values": pa.LargeListArray.from_arrays(pa.array(self.offsets), items),
            "chosen": self.chosen,
            "n_legal": self.n_legal,
        }
        if self.unlisted_value is not None:
            columns["unlisted_value"] = self.unlisted_value
        return self._table(columns, depths=list(self.depths), kind="decisions")

    @classmethod
    def from_lists(
        cls,
        deciders: Sequence[str],
        values: Sequence[Sequence[float]],
        chosen: Sequence[int],
        *,
        n_legal: Sequence[int] | None = None,
        context: pa.Table | Mapping[str, object] | None = None,
    ) -> "Decisions":
        """Build a batch from one list of values per decision, in any order; they are put best first."""
        counts = np.fromiter((len(v) for v in values), dtype=np.int64, count=len(values))
        flat = np.concatenate([np.asarray(v, dtype=float) for v in values]) if len(values) else np.zeros(0)
        legal = counts if n_legal is None else np.asarray(n_legal)
        return cls.from_columns(encode(deciders), flat, counts, np.asarray(chosen), legal, context=context)

    @classmethod
    def from_columns(
        cls,
        deciders: tuple[tuple[str, ...], Codes],
        values: npt.NDArray[np.floating[Any]],
        counts: npt.NDArray[np.integer[Any]],
        chosen: npt.NDArray[np.integer[Any]],
        n_legal: npt.NDArray[np.integer[Any]],
        **columns: Any,
    ) -> "Decisions":
        """Build a batch from flat columns, sorting alternatives (and their names) best first; ties keep their order."""
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        judged = values if values.ndim == 1 else values[:, -1]
        chosen = np.where(chosen < 0, UNLISTED, chosen).astype(np.int64)
        if np.all(np.asarray(counts) > 0) and not is_best_first(judged, offsets):
            order = np.lexsort((-judged, np.repeat(np.arange(len(counts)), counts)))  # stable, so ties stay
            where = np.empty(len(order), dtype=np.int64)
            where[order] = np.arange(len(order))
            listed = (chosen >= 0) & (chosen < counts)
            chosen[listed] = where[offsets[:-1][listed] + chosen[listed]] - offsets[:-1][listed]
            values = values[order]
            if columns.get("context") is not None:
                columns["context"] = reorder_labels(as_context(columns["context"], len(counts)), offsets, order)
        names, codes = deciders
        whole = (codes.astype(np.int32), values, offsets, chosen.astype(np.int32), np.asarray(n_legal).astype(np.int32))
        return cls(names, *whole, **columns)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        depths = f", depths {self.depths[0]} to {self.depths[-1]}" if self.depths else ""
        return f"<Decisions: {len(self):,} of {len(self.names()):,} deciders{depths}; skipped: {self.tally}>"

    @property
    def counts(self) -> Ints:
        """How many alternatives each decision lists."""
        return np.diff(self.offsets)

    @property
    def judged(self) -> npt.NDArray[np.floating[Any]]:
        """The values at the last depth: the judgement."""
        return self.values if self.values.ndim == 1 else self.values[:, -1]

    @property
    def best(self) -> npt.NDArray[np.floating[Any]]:
        """The value of each decision's best alternative."""
        return self.judged[self.offsets[:-1]]

    @property
    def listed(self) -> Bools:
        """Whether the choice is among the listed alternatives."""
        return self.chosen >= 0

    def losses(self) -> Array:
        """Return best value minus value for every listed alternative, end to end: never negative."""
        return np.asarray(np.repeat(self.best.astype(float), self.counts) - self.judged.astype(float))

    def loss_with_floor(self) -> Array:
        """Return each choice's loss; an unlisted one counts as the last listed, the least it can have lost."""
        last = self.best.astype(float) - self.judged[self.offsets[1:] - 1].astype(float)
        return np.where(self.listed, np.nan_to_num(self.chosen_loss()), last)

    def chosen_loss(self) -> Array:
        """Return the loss of each choice; an unlisted one is NaN (it has no value on the list's scale)."""
        loss = np.full(len(self), np.nan)
        listed = self.listed
        at = self.offsets[:-1][listed] + self.chosen[listed]
        loss[listed] = self.best[listed].astype(float) - self.judged[at].astype(float)
        return loss

    def select(self, selection: Selection, *, reason: str = "") -> "Decisions":
        """Return the selected decisions; with a `reason` those left out are counted under it."""
        index = selection_index(selection, len(self))
        offsets, flat = ragged_take(self.offsets, index)
        return self._kept(
            index,
            reason,
            values=self.values[flat],
            offsets=offsets,
            chosen=self.chosen[index],
            n_legal=self.n_legal[index],
            unlisted_value=None if self.unlisted_value is None else self.unlisted_value[index],
        )

    @classmethod
    def concat(cls, batches: "Sequence[Decisions]") -> "Decisions":
        """Return the batches one after another; names are matched, tallies add, contexts may differ in columns."""
        if not batches:
            raise InputError("no batches to put together")
        if len({batch.depths for batch in batches}) > 1:
            raise InputError(
                "batches with different depths cannot be put together",
                hint="give them the same depth axis with at_depths()",
            )
        sizes = np.cumsum([0, *(len(batch.values) for batch in batches)])
        offsets = [[0], *(batch.offsets[1:] + size for size, batch in zip(sizes, batches, strict=False))]
        unlisted = [np.full(len(b), np.nan) if b.unlisted_value is None else b.unlisted_value for b in batches]
        none = all(batch.unlisted_value is None for batch in batches)
        abouts = [dict(batch.about) for batch in batches]
        return cls._stacked(
            batches,
            values=np.concatenate([batch.values for batch in batches]),
            offsets=np.concatenate(offsets).astype(np.int64),
            chosen=np.concatenate([batch.chosen for batch in batches]),
            n_legal=np.concatenate([batch.n_legal for batch in batches]),
            depths=batches[0].depths,
            unlisted_value=None if none else np.concatenate(unlisted).astype(float),
            about=abouts[0] if all(about == abouts[0] for about in abouts) else {"mixed": abouts},
        )

    def at_depths(self, depths: Sequence[int] = ()) -> "Decisions":
        """Return the batch with these depths only (the last must be the judgement's); none drops the axis."""
        if not depths:
            return replace(self, values=self.judged.copy(), depths=())
        missing = [d for d in depths if d not in self.depths]
        if missing or depths[-1] != self.depths[-1]:
            raise InputError(f"depths {list(depths)} are not available: the batch has {list(self.depths)}")
        return replace(self, values=self.values[:, [self.depths.index(d) for d in depths]].copy(), depths=tuple(depths))


def _check(batch: Decisions) -> None:
    """Raise where the columns do not fit together: a producer's mistake, not bad data."""
    rows, flat = len(batch), len(batch.values)
    for name in ("decider", "chosen", "n_legal"):
        if len(getattr(batch, name)) != rows:
            raise InputError(f"{name} has {len(getattr(batch, name)):,} entries for {rows:,} decisions")
    if batch.offsets[0] != 0 or batch.offsets[-1] != flat or np.any(np.diff(batch.offsets) < 1):
        raise InputError("every decision must list at least one alternative, and the offsets must span the values")
    if batch.values.ndim == 2 and batch.values.shape[1] != len(batch.depths):
        raise InputError(f"values have {batch.values.shape[1]} depths, {len(batch.depths)} are named")
    if not np.all(np.isfinite(batch.judged)):
        raise InputError("a value is not finite", hint="leave such decisions out and count them")
    if np.any(batch.chosen >= batch.counts):
        raise InputError("a chosen index is out of range", hint=f"unlisted choices are {UNLISTED}")
    if np.any((batch.n_legal > 0) & (batch.n_legal < batch.counts)):
        raise InputError("a decision lists more alternatives than n_legal says there were")
    if np.any((batch.chosen < 0) & (batch.n_legal == batch.counts)):
        raise InputError("a choice is unlisted although every alternative is listed")
    if not is_best_first(batch.judged, batch.offsets):
        raise InputError("alternatives must be best first", hint="build the batch with Decisions.from_columns")


def is_best_first(judged: npt.NDArray[np.floating[Any]], offsets: Ints) -> bool:
    """Return whether no value is greater than the one before it in its decision; looked at part by part."""
    for start in range(0, len(offsets) - 1, _PART):
        part = offsets[start : start + _PART + 1]
        rises = np.diff(judged[part[0] : part[-1]]) > 0
        rises[part[1:-1] - part[0] - 1] = False  # a step from one decision to the next
        if rises.any():
            return False
    return True
