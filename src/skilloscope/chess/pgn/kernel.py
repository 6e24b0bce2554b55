"""PGN read by compiled code: bytes become columns, and every move is checked on a board.

`split_games` and `main_line` in text.py are the readable twins; a game that is read here is read there in the same way,
move by move, and tests hold it. What programs do not write is left to them: starting positions, variants, long
notation, glyphs in words, and everything that is at fault. Where even the end of a game is not clear both readers look
for the next clear beginning: an Event tag after a line of moves.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from skilloscope.chess.pgn.tags import (
    BLANK,
    NEWLINE,
    NOT_KNOWN,
    TAB,
    Places,
    begins_clock,
    begins_eval,
    clock_at,
    eval_at,
    is_event,
    line_end,
    tag_at,
    tag_line,
    tag_names,
    without_blanks,
)
from skilloscope.chess.pgn.text import NO_MATE
from skilloscope.chess.rules import NO_SQUARE, NOT_READ, play, san_move
from skilloscope.core.columns import Array, Ints
from skilloscope.core.compiled import njit

GAME_TAGS: Final = (
    "Event", "Site", "Date", "Round", "White", "Black", "Result", "WhiteElo", "BlackElo", "ECO", "TimeControl",
    "UTCDate", "Termination", "Variant", "FEN",
)  # fmt: skip
"""The tags whose values are found, in the order of the columns."""

READ, NO_MOVES, LEFT = 0, 1, 2  # what became of a game; what is LEFT, python-chess reads
RESULT_WORDS = (None, "1-0", "0-1", "1/2-1/2", "*")  # the results that end a game's moves, by their codes
START = np.array([4, 2, 3, 5, 6, 3, 2, 4, *[1] * 8, *[0] * 32, *[7] * 8, 10, 8, 9, 11, 12, 9, 8, 10], dtype=np.uint8)
"""The board before the first move."""

_NAMES = tag_names(GAME_TAGS)
_N_TAGS, _VARIANT, _FEN = len(GAME_TAGS), GAME_TAGS.index("Variant"), GAME_TAGS.index("FEN")
_STANDARD = np.frombuffer(b"Standard", dtype=np.uint8)
_MOST_TAGS = 64  # of other names than ours in one header
_BYTES_OF_GAME, _MOST_GAMES = 24, 1 << 14  # where there is room for; a block that holds more is read in several goes

# What is known while a game is read, by its place in an array: whether a comment is open, how many variations are, the
# result, whether the game is left to python, rights, passant, both kings, whether Black is to move, how many moves
# there are in all and before this game, and whether the comment has had a clock and an evaluation.
_INSIDE, _DEPTH, _RESULT, _BAD, _RIGHTS, _PASSANT, _KING, _OTHER, _BLACK, _MOVES, _FIRST, _CLOCK, _EVAL = range(13)

# Bytes with which blanks beyond ASCII begin: in UTF-8, and in Latin-1.
_ODD_BLANKS = (0x85, 0xA0, 0xC2, 0xE1, 0xE2, 0xE3, 0xEF)


@dataclass(frozen=True, eq=False)
class ScannedGames:
    """What compiled code found in a block of bytes: one row per game, and the moves of those that it read."""

    status: npt.NDArray[np.uint8]
    begin: Ints  # where each game begins, and after the last where it ends
    tag_begins: Places
    tag_ends: Places
    result: npt.NDArray[np.uint8]
    start: Array  # the evaluation and the mate given before the first move, NaN where none is
    offsets: Ints
    moves: npt.NDArray[np.uint16]
    clocks: npt.NDArray[np.float32]
    evals: npt.NDArray[np.float32]
    mates: npt.NDArray[np.int16]

    def __len__(self) -> int:
        return len(self.status)

    @property
    def used(self) -> int:
        """How many bytes hold these games; the rest must be read again, with what follows it."""
        return int(self.begin[-1])


def scan_games(data: bytes, *, final: bool) -> ScannedGames:
    """Return the games of the bytes; unless `final` without the last, which may go on."""
    view = np.frombuffer(data, dtype=np.uint8)
    room, most = min(len(data) // _BYTES_OF_GAME, _MOST_GAMES) + 2, len(data) // 3 + 2
    tags = np.empty((room, 2, _N_TAGS), dtype=np.int32)
    marks = np.empty((room, 2), dtype=np.uint8)
    places = np.zeros((room + 1, 2), dtype=np.int64)
    start = np.empty((room, 2), dtype=np.float64)
    moves, clocks = np.empty(most, dtype=np.uint16), np.empty(most, dtype=np.float32)
    evals, mates = np.empty(most, dtype=np.float32), np.empty(most, dtype=np.int16)
    n = int(_scan(view, final, tags, (marks, places, start), (moves, clocks, evals, mates), _NAMES))
    total = int(places[n, 1])
    return ScannedGames(
        status=marks[:n, 0],
        begin=places[: n + 1, 0],
        tag_begins=tags[:n, 0],
        tag_ends=tags[:n, 1],
        result=marks[:n, 1],
        start=start[:n],
        offsets=places[: n + 1, 1],
        moves=moves[:total],
        clocks=clocks[:total],
        evals=evals[:total],
        mates=mates[:total],
    )


@njit(cache=True)
def _scan(view, final, tags, rows, columns, names):  # type: ignore[no-untyped-def] # pragma: no cover
    """Write games row by row; return how many. The place after the last is where it ended."""
    size, room = len(view), len(tags)
    _, places, start = rows
    state, board = np.zeros(13, dtype=np.int64), START.copy()
    others, n_others = np.empty(_MOST_TAGS, dtype=np.uint64), 0
    game, has_moves, at = np.int64(-1), False, np.int64(0)
    words = parted = False  # as in `split_games`
    while at < size:
        first = at
        while first < size and (view[first] == BLANK or view[first] == TAB):
            first += 1
        if first == size or view[first] == NEWLINE:
            at = first + 1
            parted = parted or (words and state[_INSIDE] == 0)
            if game < 0:
                places[0, 0] = min(at, size)
            continue
        if view[first] == 91 and (state[_INSIDE] == 0 or is_event(view, first, size)):
            column, low, high, name, stop = tag_line(view, first, size, names)
            known = low >= 0
            if known and column < 0 and not has_moves:
                for i in range(n_others):
                    known = known and others[i] != name
                known = known and n_others < _MOST_TAGS
            if known:
                if game < 0 or has_moves or (column >= 0 and tags[game, 0, column] >= 0):
                    if game >= 0:
                        _close(view, game, tags, rows, state)
                    game += 1
                    if game == room:
                        places[game, 0] = at
                        return game
                    _begin(game, at, tags, rows, state, board)
                    has_moves, n_others = False, 0
                    words = parted = False
                if column >= 0:
                    tags[game, 0, column], tags[game, 1, column] = low, high
                else:
                    others[n_others] = name
                    n_others += 1
                at = stop + 1
                continue
        elif view[at] == 37 and state[_INSIDE] == 0:
            known = True
            stop = line_end(view, at, size)
            if stop >= 0:
                at = stop + 1
                if game < 0:
                    places[0, 0] = min(at, size)
                continue
            known = False
        else:
            known = game >= 0 and _clear_start(view[first], state[_INSIDE] == 1)
            if known:
                has_moves = True
                if state[_INSIDE] == 1 or view[at] != 59:  # a line that begins with ; is only a comment
                    words = True
                    state[_BAD] |= parted  # what follows a blank line is no part of this game
                at = _movetext(view, first, board, state, columns, start[game])
                known = at >= 0
        if known:
            continue
        # Where this game ends is not clear: what follows is left, up to the next clear beginning.
        if game < 0:
            game = np.int64(0)
            _begin(game, places[0, 0], tags, rows, state, board)
        state[_BAD], state[_INSIDE] = 1, 0
        at = _clear_beginning(view, first, names)
        has_moves = True
    if game >= 0 and final:
        _close(view, game, tags, rows, state)
        game += 1
        places[game, 0] = size
    elif game < 0:
        game = np.int64(0)
    places[game, 1] = state[_FIRST] if not final else places[game, 1]
    return game


@njit(cache=True)
def _begin(game, at, tags, rows, state, board):  # type: ignore[no-untyped-def] # pragma: no cover
    marks, places, start = rows
    for i in range(2):  # loops, for whole slices take long to compile
        marks[game, i], start[game, i] = 0, np.nan
        for tag in range(_N_TAGS):
            tags[game, i, tag] = -1
    places[game, 0] = at
    moves = state[_MOVES]
    for i in range(len(state)):
        state[i] = 0
    state[_RIGHTS], state[_PASSANT], state[_KING], state[_OTHER] = 15, NO_SQUARE, 4, 4
    state[_MOVES] = state[_FIRST] = moves
    places[game, 1] = moves
    for square in range(64):
        board[square] = START[square]


@njit(cache=True)
def _close(view, game, tags, rows, state):  # type: ignore[no-untyped-def] # pragma: no cover
    """Say what became of a game; the moves of one that is left are taken back."""
    marks, places, _ = rows
    left = state[_BAD] or state[_INSIDE] or not _usual_start(view, tags[game])
    if left:
        state[_MOVES] = state[_FIRST]
        marks[game, 0] = LEFT
    elif state[_MOVES] == state[_FIRST]:
        marks[game, 0] = NO_MOVES
    marks[game, 1] = state[_RESULT]
    state[_FIRST] = state[_MOVES]
    places[game + 1, 1] = state[_MOVES]


@njit(cache=True)
def _usual_start(view, tags):  # type: ignore[no-untyped-def] # pragma: no cover
    """Is it usual chess from the usual position, as far as a game's tags say?"""
    if tags[0, _FEN] >= 0:
        return False
    low, high = tags[0, _VARIANT], tags[1, _VARIANT]
    if low < 0:
        return True
    if high - low != len(_STANDARD):
        return False
    same = 0
    for i in range(len(_STANDARD)):
        same += view[low + i] == _STANDARD[i]
    return same == len(_STANDARD)


@njit(cache=True)
def _clear_start(byte, inside):  # type: ignore[no-untyped-def] # pragma: no cover
    """May a line that begins with this byte be read here? Blanks beyond ASCII, only Python knows."""
    if byte < BLANK:
        return False
    if byte < 128:
        return True
    for odd in _ODD_BLANKS:
        if byte == odd:
            return False
    return inside


@njit(cache=True)
def _clear_beginning(view, at, names):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return where the next game begins for certain: an Event tag, the last line before it being one of moves."""
    size, moves = len(view), False
    while at < size and view[at] != NEWLINE:
        at += 1
    at += 1
    while at < size:
        stop, clean = at, True
        while stop < size and view[stop] != NEWLINE:
            clean = clean and view[stop] != 0
            stop += 1
        first, last = without_blanks(view, at, stop)
        if first < last:
            event = clean and first == at and view[at] == 91 and is_event(view, at, stop)
            if event and moves and tag_at(view, at, last, names)[1] >= 0:
                return at
            moves = clean and BLANK < view[first] < 127 and view[first] != 91 and view[first] != 37
        at = stop + 1
    return size


@njit(cache=True)
def _movetext(view, at, board, state, columns, start):  # type: ignore[no-untyped-def] # pragma: no cover
    """Read a line of moves; return where the next line begins, −1 where that is not clear."""
    size = len(view)
    while at < size:
        byte = view[at]
        if byte == NEWLINE:
            return at + 1
        if byte == 0:
            return -1
        if state[_INSIDE] == 1:
            at = _comment(view, at, state, columns, start)
        elif byte == 123:  # {
            state[_INSIDE], state[_CLOCK], state[_EVAL] = 1, 0, 0
            at += 1
        elif byte == 59:  # a comment to the end of the line
            stop = line_end(view, at, size)
            return stop + 1 if stop >= 0 else -1
        elif byte == 40:
            state[_DEPTH] += 1
            at += 1
        elif byte == 41:
            state[_DEPTH] = max(0, state[_DEPTH] - 1)
            at += 1
        elif byte == 36:  # a glyph by its number
            at += 1
            while at < size and 48 <= view[at] <= 57:
                at += 1
        elif byte in (BLANK, TAB, 125):
            at += 1
        else:
            stop = _word_end(view, at)
            if state[_DEPTH] == 0 and state[_BAD] == 0:
                _word(view, at, stop, board, state, columns)
            at = stop
    return at


@njit(cache=True)
def _word_end(view, at):  # type: ignore[no-untyped-def] # pragma: no cover
    at += 1
    while at < len(view):
        byte = view[at]
        if byte <= BLANK or (byte < 64 and (byte == 40 or byte == 41 or byte == 36 or byte == 59)):
            break
        if byte == 123 or byte == 125:
            break
        at += 1
    return at


@njit(cache=True)
def _comment(view, at, state, columns, start):  # type: ignore[no-untyped-def] # pragma: no cover
    """Read on in a comment, to its end or that of the line; note its clock and evaluation."""
    size = len(view)
    counts = state[_DEPTH] == 0 and state[_BAD] == 0 and state[_RESULT] == 0
    while at < size:
        byte = view[at]
        if byte == NEWLINE or byte == 0:
            break
        if byte == 125:
            state[_INSIDE] = 0
            return at + 1
        if byte == 91 and counts:
            if state[_CLOCK] == 0 and begins_clock(view, at, size):
                state[_CLOCK] = 1
                seconds, end = clock_at(view, at, size)
                if end == NOT_KNOWN:
                    state[_BAD] = 1
                elif state[_MOVES] > state[_FIRST]:
                    columns[1][state[_MOVES] - 1] = seconds
            elif state[_EVAL] == 0 and begins_eval(view, at, size):
                state[_EVAL] = 1
                mate, value, end = eval_at(view, at, size)
                if end == NOT_KNOWN:
                    state[_BAD] = 1
                elif state[_MOVES] == state[_FIRST]:
                    start[1 if mate else 0] = value
                elif mate:
                    columns[3][state[_MOVES] - 1] = max(NO_MATE + 1, min(value, -NO_MATE - 1))
                else:
                    columns[2][state[_MOVES] - 1] = value
        at += 1
    return at


@njit(cache=True)
def _word(view, at, stop, board, state, columns):  # type: ignore[no-untyped-def] # pragma: no cover
    """Read a word of the main line: a number, a result, or a move, which is played; otherwise the game is left."""
    if state[_RESULT]:  # a second game without tags may follow
        state[_BAD] = 1
        return
    first = at
    while first < stop and 48 <= view[first] <= 57:
        first += 1
    if first == stop:
        state[_BAD] = 1 if stop - at == 4 and view[at] == 48 and view[at + 1] == 48 else 0  # 0000 is a null move
        return
    if view[first] == 46:
        while first < stop and view[first] == 46:
            first += 1
        if first == stop:
            return
    else:
        code = _result(view, at, stop)
        if code:
            state[_RESULT] = code
            return
        first = at
    while stop > first and _is_mark(view[stop - 1]):
        stop -= 1
    if stop == first:
        return
    flip = 56 if state[_BLACK] else 0
    move = san_move(view, first, stop, flip, board, (state[_RIGHTS], state[_PASSANT], state[_KING]))
    if move == NOT_READ:
        state[_BAD] = 1
        return
    _append(move, flip, board, state, columns)


@njit(cache=True, inline="always")
def _is_mark(byte):  # type: ignore[no-untyped-def] # pragma: no cover
    return byte == 43 or byte == 35 or byte == 33 or byte == 63


@njit(cache=True)
def _result(view, at, stop):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return the code of a word that is a result, 0 where it is none."""
    if stop - at == 1:
        return 4 if view[at] == 42 else 0
    if stop - at == 3 and view[at + 1] == 45:
        if view[at] == 49 and view[at + 2] == 48:
            return 1
        return 2 if view[at] == 48 and view[at + 2] == 49 else 0
    if stop - at != 7 or view[at + 3] != 45:
        return 0
    for half in (at, at + 4):
        if view[half] != 49 or view[half + 1] != 47 or view[half + 2] != 50:
            return 0
    return 3


@njit(cache=True)
def _append(move, flip, board, state, columns):  # type: ignore[no-untyped-def] # pragma: no cover
    at = state[_MOVES]
    columns[0][at] = move ^ (flip | flip << 6)
    columns[1][at] = np.nan
    columns[2][at] = np.nan
    columns[3][at] = NO_MATE
    state[_MOVES] = at + 1
    king = (move >> 6) & 63 if move & 63 == state[_KING] else state[_KING]
    state[_RIGHTS], state[_PASSANT] = play(board, state[_RIGHTS], state[_PASSANT], move)
    # The board is seen from the other side now, so that the kings change places.
    state[_KING], state[_OTHER] = state[_OTHER], king
    state[_BLACK] = 1 - state[_BLACK]
