"""Clocks and evaluations in the comments of movetext, compiled; `annotations` in text.py is the readable twin.

In: bytes at `[%clk` or `[%eval`. Out: the number, and where the text goes on; or the word that python must read it.
"""

from __future__ import annotations

from skilloscope.core.compiled import njit

NOT_KNOWN = -1
"""In place of where the text goes on: the comment is written as no program writes it."""

_MOST_DIGITS = 9  # of one number, as in text.py
_MOST_EXACT = 15  # digits of a number that a float holds exactly


@njit(cache=True, inline="always")
def begins_clock(view, at, size):  # type: ignore[no-untyped-def] # pragma: no cover
    """Does `[%clk` stand here?"""
    return at + 4 < size and view[at + 1] == 37 and view[at + 2] == 99 and view[at + 3] == 108 and view[at + 4] == 107


@njit(cache=True, inline="always")
def begins_eval(view, at, size):  # type: ignore[no-untyped-def] # pragma: no cover
    """Does `[%eval` stand here?"""
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
