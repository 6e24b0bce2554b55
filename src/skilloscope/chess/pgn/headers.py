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

from skilloscope.chess.pgn.tags import BLANK, NEWLINE, TAB, Places, is_event, line_end, tag_line, tag_names
from skilloscope.chess.pgn.text import split_games
from skilloscope.core.compiled import njit

TAGS: Final = ("Event", "White", "Black", "Result", "Date", "UTCDate", "Termination", "WhiteElo", "BlackElo")
"""The tags whose values are found, in the order of the columns."""

_NAMES = tag_names(TAGS)
_OPEN, _PERCENT, _RETURN, _OPENED, _SHUT = 91, 37, 13, 123, 125
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
    words = np.frombuffer(data, dtype=np.uint64, count=len(data) // 8)
    games, used, known = _scan((view, words), final, (begins, ends), moves, _NAMES)
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
def _scan(text, final, places, moves, names):  # type: ignore[no-untyped-def] # pragma: no cover
    view, _ = text
    size = len(view)
    begins, ends = places
    others, n_others = np.empty(_MOST_TAGS, dtype=np.uint64), 0
    game, has_moves, inside, used, at = -1, False, False, 0, 0
    while at < size:
        first = at
        while first < size and (view[first] == BLANK or view[first] == TAB or _ends_line(view, first)):
            first += 1
        if first == size or view[first] == NEWLINE:
            at = first + 1
            used = min(at, size) if game < 0 else used
            continue
        if view[first] < BLANK or view[first] > 127:
            return max(game, 0), used, False  # what is blank beyond ASCII, the plain reader knows
        if view[first] == _OPEN and (not inside or is_event(view, first, size)):
            column, low, high, name, stop = tag_line(view, first, size, names)
            if stop == size and not final:
                break
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
            at = stop + 1
        elif view[at] == _PERCENT and not inside:
            at = line_end(view, at, size) + 1
            if at == 0:
                return max(game, 0), used, False
            used = min(at, size) if game < 0 else used
        else:
            if game < 0:  # words before the first tag
                return 0, used, False
            has_moves = True
            at, inside = _movetext(text, first, inside, moves, game)
            if at < 0:
                return game, used, False
    return (game + 1, size, True) if final else (max(game, 0), used, True)


@njit(cache=True, inline="always")
def _ends_line(view, at):  # type: ignore[no-untyped-def] # pragma: no cover
    """Is it the carriage return of a line's end?"""
    return view[at] == _RETURN and (at + 1 == len(view) or view[at + 1] == NEWLINE)


@njit(cache=True)
def _movetext(text, at, inside, moves, game):  # type: ignore[no-untyped-def] # pragma: no cover
    """Count the moves of lines, as long as there are fewer than two; return where to go on (−1: not known), and whether
    a comment is still open. Once there are two moves nothing but comments matters.
    """
    view, words = text
    size = len(view)
    word = True  # whether the next letter begins a word
    while at < size:
        if inside or moves[game] >= 2:
            at = _next_mark(view, words, at, _SHUT if inside else _OPENED)
            if at >= size:
                return size, inside
        byte = view[at]
        if byte < 14:
            if byte == 0 or (byte == _RETURN and not _ends_line(view, at)):
                return -1, inside
            last = moves[game] < 2 or at + 1 >= size or not _is_movetext(view[at + 1], inside)
            if byte == NEWLINE and last:
                return at + 1, inside
            word = True
        elif inside:
            inside = byte != _SHUT
            word = True
        elif byte == _OPENED:
            inside = True
        elif byte == 59:  # a comment to the end of the line
            stop = line_end(view, at, size)
            return (stop + 1 if stop >= 0 else -1), False
        elif byte <= BLANK or byte in (46, 40, 41):
            word = True
        elif 48 <= byte <= 57:
            pass  # a move's number goes on until its dot or blank
        elif word:
            letter = (97 <= byte <= 104) or byte == 75 or byte == 81 or byte == 82 or byte == 66 or byte == 78
            if (letter or byte == 79 or byte == 80) and at + 1 < size and _goes_on(view[at + 1]):
                moves[game] += 1
            word = False
        at += 1
    return at, inside


@njit(cache=True, inline="always")
def _is_movetext(byte, inside):  # type: ignore[no-untyped-def] # pragma: no cover
    """Does a line that begins with this byte surely go on with moves, or a comment?"""
    return BLANK < byte < 128 and byte != _OPEN and (byte != _PERCENT or inside)


@njit(cache=True)
def _next_mark(view, words, at, like):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return the next place of a byte below 14, or equal to `like` but for bit 6: { and ; are alike, and } and =.

    Eight bytes at a time: a byte is too small, or zero, where taking away 14, or 1, borrows from its top bit.
    """
    ones, tops = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
    bit, wanted = np.uint64(0x40) * ones, np.uint64(like) * ones
    size = len(view)
    while at < size:
        if at % 8 == 0:
            place = at // 8
            while place < len(words):
                word = words[place]
                other = (word | bit) ^ wanted
                if (((word - np.uint64(14) * ones) & ~word) | ((other - ones) & ~other)) & tops:
                    break
                place += 1
            at = 8 * place
            if at >= size:
                break
        byte = view[at]
        if byte < 14 or byte | 0x40 == like:
            return at
        at += 1
    return size


@njit(cache=True, inline="always")
def _goes_on(byte):  # type: ignore[no-untyped-def] # pragma: no cover
    # a letter of ASCII, not what parts words or begins a comment
    return BLANK < byte < 128 and byte != 46 and byte != 40 and byte != 41 and byte != 123 and byte != 59
