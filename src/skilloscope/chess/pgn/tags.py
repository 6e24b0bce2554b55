"""Tags of PGN found in bytes, compiled: one line, one tag; and their values as columns.

In: bytes, and where a line lies. Out: which tag it holds, and where its value stands; afterwards the values themselves.

`read_tags` in text.py is the readable twin. What only it can read (several tags on a line, names beyond ASCII, no tag
at all) is said to be no single tag, and whoever asked goes to it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skilloscope.core.compiled import njit

Places = npt.NDArray[np.int32]
TagNames = tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]

NEWLINE, BLANK, TAB = 10, 32, 9
_RETURN, _QUOTE, _OPEN, _SHUT = 13, 34, 91, 93
TEXTS = pa.dictionary(pa.int32(), pa.binary())
"""How the values of a tag come: few distinct ones, as bytes."""


def tag_names(tags: Sequence[str]) -> TagNames:
    """Return the names of tags as compiled code takes them: one after another, and where each begins."""
    ends = np.cumsum([0, *(len(tag) for tag in tags)]).astype(np.int64)
    return np.frombuffer("".join(tags).encode(), dtype=np.uint8), ends


def tag_values(data: bytes, begins: Places, ends: Places) -> pa.Array:
    """Return the values of a tag as a dictionary of bytes; absent ones, which begin below 0, are empty."""
    if not len(begins) or begins.max() < 0:
        return pa.DictionaryArray.from_arrays(np.zeros(len(begins), dtype=np.int32), pa.array([b""]))
    begins = np.ascontiguousarray(begins)
    offsets = np.zeros(len(begins) + 1, dtype=np.int32)
    np.cumsum(np.where(begins < 0, 0, ends - begins), out=offsets[1:])
    found = np.empty(int(offsets[-1]), dtype=np.uint8)
    _gathered(np.frombuffer(data, dtype=np.uint8), begins, offsets, found)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(found)]
    return pa.Array.from_buffers(pa.binary(), len(begins), buffers).dictionary_encode()


@njit(cache=True)
def _gathered(view, begins, offsets, out):  # type: ignore[no-untyped-def] # pragma: no cover
    for row in range(len(begins)):
        shift = begins[row] - offsets[row]
        for at in range(offsets[row], offsets[row + 1]):
            out[at] = view[at + shift]


@njit(cache=True, inline="always")
def is_event(view, first, stop):  # type: ignore[no-untyped-def] # pragma: no cover
    """Does `[Event ` stand here?"""
    return (
        stop - first > 7
        and view[first + 1] == 69
        and view[first + 2] == 118
        and view[first + 3] == 101
        and view[first + 4] == 110
        and view[first + 5] == 116
        and view[first + 6] == 32
    )


@njit(cache=True)
def line_end(view, at, size):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return where the line that goes on at `at` ends; −1 where it holds a zero or a bare carriage return."""
    while at < size and view[at] != NEWLINE:
        if view[at] == 0 or (view[at] == _RETURN and at + 1 < size and view[at + 1] != NEWLINE):
            return -1
        at += 1
    return at


@njit(cache=True)
def without_blanks(view, first, last):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return where a line begins and ends without the blanks around it."""
    while first < last and (view[first] == BLANK or view[first] == TAB or view[first] == _RETURN):
        first += 1
    while last > first and (view[last - 1] == BLANK or view[last - 1] == TAB or view[last - 1] == _RETURN):
        last -= 1
    return first, last


@njit(cache=True)
def tag_line(view, first, size, names):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return what `tag_at` does for the line that begins at `first`, and where it ends (−1: it holds no text)."""
    high = first + 1
    while high < size and _is_letter(view[high]):
        high += 1
    at = high + 2
    if at < size and view[high] == BLANK and view[high + 1] == _QUOTE and high > first + 1:
        # As programs write it: one blank, no quote within, the line ends after the bracket. One look at each byte.
        while at < size and view[at] >= BLANK and view[at] != _QUOTE:
            at += 1
        if at + 2 < size and view[at] == _QUOTE and view[at + 1] == _SHUT and view[at + 2] == NEWLINE:
            column = _column(view, first + 1, high, names)
            return column, high + 2, at, _name(view, first + 1, high) if column < 0 else np.uint64(0), at + 2
    stop = line_end(view, first, size)
    if stop < 0:
        return -1, -1, -1, np.uint64(0), stop
    _, last = without_blanks(view, first, stop)
    column, low, end, name = tag_at(view, first, last, names)
    return column, low, end, name, stop


@njit(cache=True, inline="always")
def _is_letter(byte):  # type: ignore[no-untyped-def] # pragma: no cover
    return (97 <= byte <= 122) or (65 <= byte <= 90) or (48 <= byte <= 57) or byte == 95


@njit(cache=True)
def _name(view, low, high):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return a number for the name of a tag."""
    name = np.uint64(14695981039346656037)
    for at in range(low, high):
        name = (name ^ np.uint64(view[at])) * np.uint64(1099511628211)
    return name


@njit(cache=True)
def tag_at(view, first, last, names):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return the column of a tag (−1: not ours), where its value lies (−1: no single tag), and its name's hash if it is
    not ours.
    """
    low, name = first + 1, np.uint64(0)
    while low < last and (view[low] == BLANK or view[low] == TAB):
        low += 1
    high = low
    while high < last and _is_letter(view[high]):
        high += 1
    quote = high
    while quote < last and (view[quote] == BLANK or view[quote] == TAB):
        quote += 1
    end = last - 2
    while end > quote and (view[end] == BLANK or view[end] == TAB):
        end -= 1
    if high == low or quote == high or end <= quote or view[quote] != _QUOTE or view[end] != _QUOTE:
        return -1, -1, -1, name
    if view[last - 1] != _SHUT or _several(view, quote + 1, end):
        return -1, -1, -1, name
    column = _column(view, low, high, names)
    return column, quote + 1, end, _name(view, low, high) if column < 0 else name


@njit(cache=True)
def _column(view, low, high, names):  # type: ignore[no-untyped-def] # pragma: no cover
    letters, starts = names
    for column in range(len(starts) - 1):
        start = starts[column]
        if starts[column + 1] - start == high - low and letters[start] == view[low]:
            same = True
            for i in range(high - low):
                if view[low + i] != letters[start + i]:
                    same = False
                    break
            if same:
                return column
    return -1


@njit(cache=True)
def _several(view, start, stop):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return whether a value may hold the end of one tag and the beginning of another: a quote and a bracket."""
    at = start
    while at < stop and view[at] != _QUOTE:
        at += 1
    if at == stop:
        return False
    at = start
    while at < stop and view[at] != _OPEN:
        at += 1
    return at < stop
