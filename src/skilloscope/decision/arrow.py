"""Decisions and losses as tables: Arrow, Parquet and frames, and back without loss.

One row per decision: `decider`, `values` (a list, best first; with a depth axis a list of lists, one per
alternative), `chosen` (−1: not listed), `n_legal` (0: unknown), `unlisted_value`, then the context columns. What the
columns cannot carry (depths, provenance, the tally) travels in the schema's metadata.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skilloscope.core.columns import About
from skilloscope.core.errors import InputError, Tally
from skilloscope.core.frames import arrow_from_frame, is_frame
from skilloscope.core.table_files import read_checked, write_checked
from skilloscope.core.text import read_object
from skilloscope.decision.decisions import BATCH_KEY, BATCH_SCHEMA, UNLISTED, Decisions
from skilloscope.decision.losses import Losses

_MOST_LEGAL = 2**31 - 1
_DECISION_COLUMNS = ("decider", "values", "chosen", "n_legal", "unlisted_value")
_LOSS_COLUMNS = ("decider", "before", "after")
_OUT = 2**40  # beyond every number of alternatives
_SEE = "docs/data.md describes the tables"
_MISFITS = (pa.ArrowException, ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError)
"""What columns of other types than ours raise."""


def decisions_from_arrow(table: pa.Table, *, name: str = "<table>") -> Decisions:
    """Return the batch that an Arrow table holds; a table of another producer needs only decider, values and chosen.

    Without `n_legal` the lists are taken to be complete, except where the choice is not on them. Rows at fault are left
    out, counted and named.
    """
    meta = _metadata(table, ("decider", "values", "chosen"), name)
    with _fitting_columns(name, "decisions"):
        table, faults = _without_faults(table.combine_chunks(), name)
        lists = _whole(table.column("values"))
        counts = np.diff(lists.offsets.to_numpy().astype(np.int64))
        chosen = _integers(table.column("chosen"), UNLISTED)
        unknown = np.where(chosen < 0, 0, counts)
        has = set(table.column_names)
        return Decisions.from_columns(
            _codes(table.column("decider")),
            _flat_values(lists),
            counts,
            chosen,
            _integers(table.column("n_legal"), 0) if "n_legal" in has else unknown,
            depths=meta.depths,
            unlisted_value=table.column("unlisted_value").to_numpy().astype(float) if "unlisted_value" in has else None,
            context=_context(table, _DECISION_COLUMNS),
            tally=meta.tally + faults,
            about=meta.about,
        )


def _without_faults(table: pa.Table, name: str) -> tuple[pa.Table, Tally]:
    """Return the rows that can be used, their lists as large lists of floats, and a fault for each of the others."""
    kind = table.schema.field("values").type
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)):
        raise InputError(f"{name}: the column values holds {kind}, not lists of numbers")
    by_depth, entry = pa.types.is_nested(kind.value_type), kind.value_type
    fixed = pa.types.is_fixed_size_list(entry) and pa.types.is_floating(entry.value_type) and entry.list_size
    if by_depth and not fixed:
        raise InputError(f"{name}: the column values holds lists of {entry}, not of numbers or of numbers by depth")
    if not by_depth and not pa.types.is_floating(entry):
        entry = pa.float64()
    lists = _whole(table.column("values").cast(pa.large_list(entry)))
    if by_depth and lists.flatten().null_count:
        raise InputError(f"{name}: an alternative has no values at all", hint="leave such decisions out")
    table = table.set_column(table.schema.get_field_index("values"), "values", lists)
    counts = pc.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False)
    values = _flat_values(lists)
    not_finite = np.repeat(np.arange(len(counts)), counts)[~np.isfinite(values if values.ndim == 1 else values[:, -1])]
    chosen = _integers(table.column("chosen"), UNLISTED)
    legal = _integers(table.column("n_legal"), 0) if "n_legal" in table.column_names else np.zeros(len(counts), int)
    reasons = {
        "no decider": table.column("decider").is_null().to_numpy(),
        "no alternatives": counts == 0,
        "utility is not a finite number": np.bincount(not_finite, minlength=len(counts)) > 0,
        "chosen index out of range": (chosen >= counts) | (chosen < UNLISTED),
        "n_legal is not a whole number": (legal < 0) | (legal > _MOST_LEGAL),
        "n_legal is smaller than the list": (legal > 0) & (legal < counts),
        "nothing chosen": (chosen == UNLISTED) & (legal == counts),
    }
    tally, good = Tally(), np.ones(len(counts), dtype=bool)
    for reason, bad in reasons.items():
        for row in np.flatnonzero(bad & good):
            tally.fault(reason, name, f"row {row + 1}")
        good &= ~bad
    return (table if good.all() else table.filter(pa.array(good))), tally


def _flat_values(lists: Any) -> np.ndarray[Any, Any]:
    """Return the values of all lists end to end, one column per depth where there is a depth axis."""
    items = lists.flatten()
    if pa.types.is_nested(items.type):
        return np.asarray(items.flatten().to_numpy(zero_copy_only=False).reshape(-1, items.type.list_size))
    return np.asarray(items.to_numpy(zero_copy_only=False))


def _integers(column: pa.ChunkedArray, missing: int) -> np.ndarray[Any, Any]:
    """Return whole numbers; one that is none counts as out of every range."""
    if pa.types.is_floating(column.type):
        found = column.fill_null(float(missing)).to_numpy().astype(float)
        whole = np.isfinite(found) & (found == np.round(found)) & (np.abs(found) < _OUT)
        return np.where(whole, np.where(whole, found, 0).astype(np.int64), -_OUT)
    return np.asarray(column.cast(pa.int64()).fill_null(missing).to_numpy())


def losses_from_arrow(table: pa.Table, *, name: str = "<table>") -> Losses:
    """Return the batch that an Arrow table holds."""
    meta = _metadata(table, _LOSS_COLUMNS, name)
    with _fitting_columns(name, "losses"):
        return Losses(
            *_codes(table.column("decider")),
            table.column("before").cast(pa.float64()).to_numpy(),
            table.column("after").cast(pa.float64()).to_numpy(),
            context=_context(table, _LOSS_COLUMNS),
            tally=meta.tally,
            about=meta.about,
        )


@contextmanager
def _fitting_columns(name: str, kind: str) -> Iterator[None]:
    """Say of columns of other types than ours that they are no table of this kind."""
    try:
        yield
    except InputError:
        raise
    except _MISFITS as error:
        raise InputError(f"{name}: not a table of {kind} ({error})", hint=_SEE) from error


def batch_to_parquet(batch: Decisions | Losses, path: str | Path) -> None:
    """Write a batch to a Parquet file (zstd)."""
    write_checked(batch.to_arrow(), path, compression="zstd")


def batch_from_parquet(path: str | Path) -> Decisions | Losses:
    """Read a batch from a Parquet file; its metadata or columns determine the kind."""
    # Without buffers ahead, and put together here, so that the pieces are given back before they are used.
    table = read_checked(path, pre_buffer=False).combine_chunks()
    pa.default_memory_pool().release_unused()
    if "before" in table.column_names:
        return losses_from_arrow(table, name=str(path))
    return decisions_from_arrow(table, name=str(path))


def as_decisions(what: Any) -> Decisions:
    """Return decisions as they are, and those of a frame."""
    if not isinstance(what, Decisions) and not is_frame(what):
        raise InputError(
            f"{type(what).__name__} is not a batch of decisions", hint="give Decisions, or a frame with their columns"
        )
    return what if isinstance(what, Decisions) else decisions_from_frame(what)


def decisions_from_frame(frame: Any) -> Decisions:
    """Return the batch that a pandas or polars frame with the columns decider, values and chosen holds."""
    return decisions_from_arrow(arrow_from_frame(frame))


class _Metadata(NamedTuple):
    depths: tuple[int, ...]
    tally: Tally
    about: About


def _metadata(table: pa.Table, needed: tuple[str, ...], name: str) -> _Metadata:
    """Return what comes with the columns (depths, tally, about), each of its type; raise where it is broken."""
    missing = [column for column in needed if column not in table.column_names]
    if missing:
        raise InputError(
            f"{name}: the table lacks the column{'s' if len(missing) > 1 else ''} {', '.join(missing)}",
            hint=f"it has: {', '.join(table.column_names)}; {_SEE}",
        )
    if twice := [column for column in table.column_names if table.column_names.count(column) > 1]:
        raise InputError(f"{name}: the table has the column {twice[0]} twice", hint=_SEE)
    raw = (table.schema.metadata or {}).get(BATCH_KEY)
    meta = read_object(raw) if raw else {}
    if meta.get("schema", BATCH_SCHEMA) != BATCH_SCHEMA:
        raise InputError(f"{name}: the table has schema {meta['schema']}, this version reads {BATCH_SCHEMA}")
    try:
        depths = tuple(int(depth) for depth in meta.get("depths", ()))
        return _Metadata(depths, Tally.from_dict(meta.get("tally", {})), dict(meta.get("about", {})))
    except _MISFITS as error:
        raise InputError(f"{name}: broken metadata ({error})", hint="write the table again") from error


def _context(table: pa.Table, own: tuple[str, ...]) -> pa.Table | None:
    names = [name for name in table.column_names if name not in own]
    return table.select(names).replace_schema_metadata(None) if names else None


def _whole(column: pa.ChunkedArray) -> pa.Array:
    """Return a column in one piece; one that is in one piece already is not copied."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _codes(column: pa.ChunkedArray) -> tuple[tuple[str, ...], Any]:
    array = _whole(column)
    if not pa.types.is_dictionary(array.type):
        array = array.cast(pa.string()).dictionary_encode()
    if array.null_count:
        raise InputError("a decision has no decider", hint="leave such decisions out and count them")
    return tuple(array.dictionary.cast(pa.string()).to_pylist()), array.indices.to_numpy().astype(np.int32)
