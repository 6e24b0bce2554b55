"""Columns: types of arrays, names as codes, selections of rows, and rows of different lengths laid end to end."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skilloscope.core.errors import InputError

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


Selection = Bools | npt.NDArray[np.integer[Any]] | Sequence[int] | slice
Codes = npt.NDArray[np.int32]
About = Mapping[str, Any]
"""What is known of where values come from or how a model is set, as JSON has it: it travels into every report."""


def encode(names: Sequence[str] | npt.NDArray[Any]) -> tuple[tuple[str, ...], Codes]:
    """Return the distinct names, in order of first appearance, and a code for each entry."""
    encoded = pa.array(names, type=pa.string()).dictionary_encode()
    return tuple(encoded.dictionary.to_pylist()), encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32)


def selection_index(selection: Selection, rows: int) -> Ints:
    """Return row numbers for a mask, an index or a slice."""
    if isinstance(selection, slice):
        return np.arange(rows, dtype=np.int64)[selection]
    chosen = np.asarray(selection)
    if chosen.dtype == np.bool_:
        if len(chosen) != rows:
            raise InputError(f"the mask has {len(chosen):,} entries, the batch {rows:,}")
        return np.flatnonzero(chosen)
    return chosen.astype(np.int64)


def ragged_take(offsets: Ints, index: Ints, counts: Ints | None = None) -> tuple[Ints, Ints]:
    """Return the new offsets, and where the entries of the rows `index` stand; with `counts` only so many of each row.

    >>> ragged_take(np.array([0, 2, 5, 6]), np.array([2, 1]))
    (array([0, 1, 4]), array([5, 2, 3, 4]))
    """
    counts = np.diff(offsets)[index] if counts is None else counts
    taken = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return taken, np.repeat(offsets[index] - taken[:-1], counts) + np.arange(taken[-1])


def one_dictionary(column: pa.ChunkedArray) -> tuple[pa.Array, pa.Array]:
    """Return the distinct values of a column, and each row's place among them, null where it has none."""
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    whole = encoded.chunk(0) if encoded.num_chunks == 1 else encoded.unify_dictionaries().combine_chunks()
    return whole.dictionary, whole.indices
