"""Tags of PGN, and clocks and evaluations in its comments, found in bytes by compiled code.

`read_tags` and `main_line` in text.py are the readable twins. Whatever only they can read (several tags on a line,
names beyond ASCII, comments that no program writes) is reported as not known, and the caller goes to them.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skilloscope.core.columns import Ints
from skilloscope.core.compiled import njit

Places = npt.NDArray[np.int32]
TagNames = tuple[npt.NDArray[np.uint8], Ints]

NEWLINE, BLANK, TAB = 10, 32, 9
_RETURN, _QUOTE, _OPEN, _SHUT = 13, 34, 91, 93
TEXTS = pa.dictionary(pa.int32(), pa.binary())  # how the values of a tag come: few distinct ones, as bytes
NOT_KNOWN = -1  # in place of where the text goes on: the comment is written as no program writes it
_MOST_DIGITS = 9  # of one number, as in text.py
_MOST_EXACT = 15  # digits of a number that a float holds exactly


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
    """Is this the start of an Event tag?"""
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


@njit(cache=True, inline="always")
def begins_clock(view, at, size):  # type: ignore[no-untyped-def] # pragma: no cover
    """Is this the start of a clock, `[%clk`?"""
    return at + 4 < size and view[at + 1] == 37 and view[at + 2] == 99 and view[at + 3] == 108 and view[at + 4] == 107


@njit(cache=True, inline="always")
def begins_eval(view, at, size):  # type: ignore[no-untyped-def] # pragma: no cover
    """Is this the start of an evaluation, `[%eval`?"""
    return (
        at + 5 < size
        and view[at + 1] == 37
        and view[at + 2] == 101
        and view[at + 3] == 118
        and view[at + 4] == 97
        and view[at + 5] == 108
    )


@njit(cache=True)
def clock_at(view, at, size):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return the seconds of a `[%clk h:mm:ss]` and where the text goes on."""
    start = _blanks(view, at + 5, size)
    if start == at + 5:
        return 0.0, NOT_KNOWN
    hours, at, n = _whole(view, start, size)
    if not 0 < n <= _MOST_DIGITS or at >= size or view[at] != 58:
        return 0.0, NOT_KNOWN
    minutes, at, n = _whole(view, at + 1, size)
    if not 0 < n <= _MOST_DIGITS or at >= size or view[at] != 58:
        return 0.0, NOT_KNOWN
    seconds, at, known = _decimal(view, at + 1, size)
    at = _blanks(view, at, size)
    if not known or at >= size or view[at] != 93:
        return 0.0, NOT_KNOWN
    return hours * 3600 + minutes * 60 + seconds, at


@njit(cache=True)
def eval_at(view, at, size):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return whether a `[%eval …]` is a mate, its number, and where the text goes on."""
    start = _blanks(view, at + 6, size)
    mate = start < size and view[start] == 35
    sign_at = start + 1 if mate else start
    if start == at + 6 or sign_at >= size:
        return False, 0.0, NOT_KNOWN
    sign = -1.0 if view[sign_at] == 45 else 1.0
    at = sign_at + 1 if view[sign_at] == 45 or view[sign_at] == 43 else sign_at
    if mate:
        moves, at, n = _whole(view, at, size)
        value, known = float(moves), 0 < n <= _MOST_DIGITS
    else:
        value, at, known = _decimal(view, at, size)
    if at < size and view[at] == 44:  # the depth, after a comma
        _, at, n = _whole(view, at + 1, size)
        known = known and 0 < n <= _MOST_DIGITS
    at = _blanks(view, at, size)
    if not known or at >= size or view[at] != 93:
        return False, 0.0, NOT_KNOWN
    return mate, sign * value, at


@njit(cache=True)
def _blanks(view, at, size):  # type: ignore[no-untyped-def] # pragma: no cover
    while at < size and (view[at] == 32 or view[at] == 10 or view[at] == 9):
        at += 1
    return at


@njit(cache=True)
def _whole(view, at, size):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return a number of digits, where it ends, and how many digits it has; of too many only the first count."""
    value, n = 0, 0
    while at < size and 48 <= view[at] <= 57:
        if n < _MOST_DIGITS:
            value = 10 * value + (view[at] - 48)
        n += 1
        at += 1
    return value, at, n


@njit(cache=True)
def _decimal(view, at, size):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return a decimal number, where it ends, and whether it is known: rounded once, as Python's float is."""
    whole, at, n = _whole(view, at, size)
    part, digits = 0, 0
    if at < size and view[at] == 46:
        part, at, digits = _whole(view, at + 1, size)
    known = n <= _MOST_DIGITS and digits <= _MOST_DIGITS and 0 < n + digits <= _MOST_EXACT and n > 0
    scale = 1.0
    for _ in range(min(digits, _MOST_DIGITS)):
        scale *= 10.0
    return (whole * scale + part) / scale, at, known
