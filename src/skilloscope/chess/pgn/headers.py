"""The tags of PGN games found by a scan of lines: no move is read, so that a CPU-second is enough for many games.

In: bytes. Out: for each game where the values of a few tags stand, and whether it has no move, one, or more. `scan` is
compiled by numba; `scan_plain` is its readable twin, and a test holds them together.

A tag after moves begins a new game, and so does a tag given twice; `[Event ` begins one even inside a comment, which
may never have been closed.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np
import numpy.typing as npt

from skilloscope.core.compiled import njit

TAGS: Final = ("Event", "White", "Black", "Result", "Date", "UTCDate", "Termination")
"""The tags whose values are found, in the order of the columns."""

Places = npt.NDArray[np.int32]

_NAMES = np.frombuffer("".join(TAGS).encode(), dtype=np.uint8)
_STARTS = np.cumsum([0, *(len(tag) for tag in TAGS)]).astype(np.int64)
_NEWLINE, _BLANK, _RETURN, _TAB, _QUOTE = 10, 32, 13, 9, 34
_TAG_LINE = re.compile(rb'\[\s*(\w+)\s+"(.*)"[^"]*')
_MOVERS = [bytes([letter]) for letter in b"abcdefghKQRBNOP"]


def scan(data: bytes, *, final: bool) -> tuple[Places, Places, npt.NDArray[np.uint8], int]:
    """Return where the value of each tag begins and ends (rows games, columns TAGS; −1: no such tag), how many moves
    each game has (0, 1, or 2 for more), and how many bytes hold whole games; all of them where `final`.
    """
    view = np.frombuffer(data, dtype=np.uint8)
    room = len(data) // 8 + 2  # the shortest tag has eight bytes; memory that is not touched costs nothing
    begins = np.empty((room, len(TAGS)), dtype=np.int32)
    ends = np.empty((room, len(TAGS)), dtype=np.int32)
    moves = np.empty(room, dtype=np.uint8)
    games, used = _scan(view, final, begins, ends, moves)
    return begins[:games], ends[:games], moves[:games], used


def scan_plain(data: bytes) -> list[tuple[dict[str, bytes], int]]:
    """Return the tags and the number of moves (2: two or more) of each game, one line after another.

    >>> scan_plain(b'[White "Ann"]\\n[Result "1-0"]\\n\\n1. e4 1-0\\n')
    [({'White': b'Ann', 'Result': b'1-0'}, 1)]
    """
    games: list[tuple[dict[str, bytes], list[bytes]]] = []
    inside = False
    for line in data.split(b"\n"):
        text = line.strip()
        match = _TAG_LINE.fullmatch(text)
        if match and (not inside or text.startswith(b"[Event ")):
            tag, inside = match[1].decode("latin-1"), False
            if not games or games[-1][1] or tag in games[-1][0]:
                games.append(({}, []))
            if tag in TAGS:
                games[-1][0][tag] = match[2]
        elif text and games and (inside or not line.startswith(b"%")):
            bare, inside = _without_comments(text, inside)
            games[-1][1].append(bare)
    return [(tags, _plies(b" ".join(lines))) for tags, lines in games]


def _without_comments(text: bytes, inside: bool) -> tuple[bytes, bool]:
    """Return a line without its comments, and whether one is still open at its end."""
    kept = b""
    while text:
        if inside:
            _, closed, text = text.partition(b"}")
            inside = not closed
            continue
        opening = re.search(rb"[{;]", text)
        kept += text[: opening.start()] if opening else text
        if not opening or opening[0] == b";":
            break
        kept, text, inside = kept + b" ", text[opening.end() :], True
    return kept, inside


def _plies(movetext: bytes) -> int:
    """Return how many words are moves, at most two: a piece or a file first, after the move's number."""
    words = [word.lstrip(b"0123456789") for word in re.split(rb"[\s.()]+", movetext)]
    return min(2, sum(len(word) > 1 and word[:1] in _MOVERS for word in words))


@njit(cache=True)
def _scan(view, final, begins, ends, moves):  # type: ignore[no-untyped-def] # pragma: no cover
    size = len(view)
    game, has_moves, inside, used, at = -1, False, False, 0, 0
    while at < size:
        stop = at
        while stop < size and view[stop] != _NEWLINE:
            stop += 1
        if stop == size and not final:
            break
        first = at
        while first < stop and (view[first] == _BLANK or view[first] == _TAB or view[first] == _RETURN):
            first += 1
        if first < stop and view[first] == 91 and (not inside or _is_event(view, first, stop)):
            column, low, high = _tag(view, first, stop)
            if low >= 0:
                if game < 0 or has_moves or (column >= 0 and begins[game, column] >= 0):
                    game += 1
                    moves[game] = 0
                    begins[game, :] = -1
                    ends[game, :] = -1
                    used = at
                    has_moves = False
                inside = False
                if column >= 0:
                    begins[game, column], ends[game, column] = low, high
                at = stop + 1
                continue
        if first < stop and game >= 0 and not (view[at] == 37 and not inside):
            has_moves = True
            inside = _movetext(view, first, stop, inside, moves, game)
        at = stop + 1
    return (game + 1, size) if final else (max(game, 0), used)


@njit(cache=True, inline="always")
def _is_event(view, first, stop):  # type: ignore[no-untyped-def] # pragma: no cover
    # "[Event " in bytes
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
def _tag(view, first, stop):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return the column of a tag (−1: not one of ours) and where its value lies (−1: the line is no tag)."""
    low = first + 1
    while low < stop and (view[low] == _BLANK or view[low] == _TAB):
        low += 1
    high = low
    while high < stop and (
        (97 <= view[high] <= 122) or (65 <= view[high] <= 90) or (48 <= view[high] <= 57) or view[high] == 95
    ):
        high += 1
    quote = high
    while quote < stop and (view[quote] == _BLANK or view[quote] == _TAB):
        quote += 1
    if high == low or quote == high or quote >= stop or view[quote] != _QUOTE:
        return -1, -1, -1
    last = stop - 1
    while last > quote and view[last] != _QUOTE:
        last -= 1
    if last == quote:
        return -1, -1, -1
    for column in range(len(_STARTS) - 1):
        width = _STARTS[column + 1] - _STARTS[column]
        if width == high - low:
            same = True
            for i in range(width):
                if view[low + i] != _NAMES[_STARTS[column] + i]:
                    same = False
                    break
            if same:
                return column, quote + 1, last
    return -1, quote + 1, last


@njit(cache=True)
def _movetext(view, at, stop, inside, moves, game):  # type: ignore[no-untyped-def] # pragma: no cover
    """Count the moves of a line, as long as there are fewer than two; return whether a comment is still open."""
    word = True  # whether the next letter begins a word
    while at < stop:
        byte = view[at]
        if inside:
            inside = byte != 125
            word = True
        elif byte == 123:
            inside = True
        elif byte == 59:  # a comment to the end of the line
            return False
        elif moves[game] >= 2:
            pass  # nothing but comments matters any more
        elif byte in (_BLANK, _TAB, 46, 40, 41):
            word = True
        elif 48 <= byte <= 57:
            pass  # a move's number goes on until its dot or blank
        elif word:
            letter = (97 <= byte <= 104) or byte == 75 or byte == 81 or byte == 82 or byte == 66 or byte == 78
            if (letter or byte == 79 or byte == 80) and at + 1 < stop and view[at + 1] > _BLANK:
                moves[game] += 1
            word = False
        at += 1
    return inside
