"""The tags of PGN games found by a scan of lines: no move is read, so that a CPU-second is enough for many games.

In: bytes. Out: for each game where the values of a few tags stand, and whether it has no move, one, or more.

What a game is, `split_games` says, for whoever reads games or results. `scan` is its compiled twin for text as programs
write it: it either finds the same games, or says that it does not know (a line that ends in a bare carriage return,
several tags on a line, a tag that is none, letters beyond ASCII where a line begins, zeros, an unknown tag twice).
`scan_plain` then reads what it left. A test holds the two together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from skilloscope.chess.pgn.text import split_games
from skilloscope.core.compiled import njit

TAGS: Final = ("Event", "White", "Black", "Result", "Date", "UTCDate", "Termination", "WhiteElo", "BlackElo")
"""The tags whose values are found, in the order of the columns."""

Places = npt.NDArray[np.int32]

_NAMES = np.frombuffer("".join(TAGS).encode(), dtype=np.uint8)
_STARTS = np.cumsum([0, *(len(tag) for tag in TAGS)]).astype(np.int64)
_NEWLINE, _BLANK, _RETURN, _TAB, _QUOTE, _OPEN, _SHUT = 10, 32, 13, 9, 34, 91, 93
_COMMENT = re.compile(r"\{[^}]*\}?|;[^\n]*")
_BETWEEN = re.compile(r"[\x00-\x20.()]+")
_MOVERS = frozenset("abcdefghKQRBNOP")
_MOST_TAGS = 64  # of other names than ours in one header


def scan(data: bytes, *, final: bool) -> tuple[Places, Places, npt.NDArray[np.uint8], int, bool]:
    """Return where the value of each tag begins and ends (rows games, columns TAGS; −1: no such tag), how many moves
    each game has (0, 1, or 2 for more), how many bytes hold those games (all of them where `final`), and whether the
    scan can go on: where not, `scan_plain` must read what follows.
    """
    view = np.frombuffer(data, dtype=np.uint8)
    room = len(data) // 8 + 2  # the shortest tag has eight bytes; memory that is not touched costs nothing
    begins = np.empty((room, len(TAGS)), dtype=np.int32)
    ends = np.empty((room, len(TAGS)), dtype=np.int32)
    moves = np.empty(room, dtype=np.uint8)
    games, used, known = _scan(view, final, begins, ends, moves)
    return begins[:games], ends[:games], moves[:games], int(used), bool(known)


def scan_plain(lines: Iterable[str]) -> Iterator[tuple[dict[str, str], int]]:
    """Yield the tags and the number of moves (2: two or more) of each game that has tags.

    >>> list(scan_plain(['[White "Ann"]', '[Result "1-0"]', "", "1. e4 1-0"]))
    [({'White': 'Ann', 'Result': '1-0'}, 1)]
    """
    for game in split_games(lines):
        if game.tags:
            yield game.tags, _plies("\n".join(game.movetext))


def _plies(movetext: str) -> int:
    """Return how many words are moves, at most two: a piece or a file first, after the move's number."""
    words: list[str] = _BETWEEN.split(_COMMENT.sub(" ", movetext))
    moves = (word.lstrip("0123456789") for word in words)
    return min(2, sum(len(word) > 1 and word[0] in _MOVERS and "\x20" < word[1] < "\x80" for word in moves))


@njit(cache=True)
def _scan(view, final, begins, ends, moves):  # type: ignore[no-untyped-def] # pragma: no cover
    size = len(view)
    others, n_others = np.empty(_MOST_TAGS, dtype=np.uint64), 0
    game, has_moves, inside, used, at = -1, False, False, 0, 0
    while at < size:
        stop = at
        while stop < size and view[stop] != _NEWLINE:
            if view[stop] == 0 or (view[stop] == _RETURN and stop + 1 < size and view[stop + 1] != _NEWLINE):
                return max(game, 0), used, False
            stop += 1
        if stop == size and not final:
            break
        first, last = at, stop
        while first < stop and (view[first] == _BLANK or view[first] == _TAB or view[first] == _RETURN):
            first += 1
        while last > first and (view[last - 1] == _BLANK or view[last - 1] == _TAB or view[last - 1] == _RETURN):
            last -= 1
        if first < last and (view[first] < _BLANK or view[first] > 127):
            return max(game, 0), used, False  # what is blank beyond ASCII, the plain reader knows
        if first < last and view[first] == _OPEN and (not inside or _is_event(view, first, last)):
            column, low, high, name = _tag(view, first, last)
            if low < 0:
                return max(game, 0), used, False
            twice = column >= 0 and game >= 0 and begins[game, column] >= 0
            if game < 0 or has_moves or twice:
                game += 1
                moves[game] = 0
                begins[game, :] = -1
                ends[game, :] = -1
                used = at
                has_moves, n_others = False, 0
            inside = False
            if column >= 0:
                begins[game, column], ends[game, column] = low, high
            else:
                for i in range(n_others):
                    if others[i] == name:
                        return game, used, False
                if n_others == _MOST_TAGS:
                    return game, used, False
                others[n_others] = name
                n_others += 1
        elif first < last and not (view[at] == 37 and not inside):
            if game < 0:  # words before the first tag
                return 0, used, False
            has_moves = True
            inside = _movetext(view, first, last, inside, moves, game)
        at = stop + 1
        if game < 0:
            used = min(at, size)
    return (game + 1, size, True) if final else (max(game, 0), used, True)


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
def _tag(view, first, last):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return the column of a tag (−1: not ours), where its value lies (−1: no single tag), and its name's hash."""
    low = first + 1
    while low < last and (view[low] == _BLANK or view[low] == _TAB):
        low += 1
    high, name = low, np.uint64(14695981039346656037)
    while high < last and (
        (97 <= view[high] <= 122) or (65 <= view[high] <= 90) or (48 <= view[high] <= 57) or view[high] == 95
    ):
        name = (name ^ np.uint64(view[high])) * np.uint64(1099511628211)
        high += 1
    quote = high
    while quote < last and (view[quote] == _BLANK or view[quote] == _TAB):
        quote += 1
    end = last - 2
    while end > quote and (view[end] == _BLANK or view[end] == _TAB):
        end -= 1
    if high == low or quote == high or end <= quote or view[quote] != _QUOTE or view[end] != _QUOTE:
        return -1, -1, -1, name
    if view[last - 1] != _SHUT or _several(view, quote + 1, end):
        return -1, -1, -1, name
    for column in range(len(_STARTS) - 1):
        width = _STARTS[column + 1] - _STARTS[column]
        if width == high - low:
            same = True
            for i in range(width):
                if view[low + i] != _NAMES[_STARTS[column] + i]:
                    same = False
                    break
            if same:
                return column, quote + 1, end, name
    return -1, quote + 1, end, name


@njit(cache=True)
def _several(view, at, stop):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return whether a value may hold the end of one tag and the beginning of another."""
    quoted = opened = False
    while at < stop:
        quoted |= view[at] == _QUOTE
        opened |= view[at] == _OPEN
        at += 1
    return quoted and opened


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
        elif byte <= _BLANK or byte in (46, 40, 41):
            word = True
        elif 48 <= byte <= 57:
            pass  # a move's number goes on until its dot or blank
        elif word:
            letter = (97 <= byte <= 104) or byte == 75 or byte == 81 or byte == 82 or byte == 66 or byte == 78
            if (letter or byte == 79 or byte == 80) and at + 1 < stop and _goes_on(view[at + 1]):
                moves[game] += 1
            word = False
        at += 1
    return inside


@njit(cache=True, inline="always")
def _goes_on(byte):  # type: ignore[no-untyped-def] # pragma: no cover
    # a letter of ASCII, not what parts words or begins a comment
    return _BLANK < byte < 128 and byte != 46 and byte != 40 and byte != 41 and byte != 123 and byte != 59
