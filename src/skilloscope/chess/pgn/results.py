"""Results from the headers of PGN games, without reading a move.

In: PGN files (plain, gzip, bzip2, zstd) and streams. Out: Results, player_1 being White, and a tally of every game that
could not be used; docs/results.md has the rules. A game without any move is left out where others of its file have
moves; in a file of bare headers all are games.

`split_games` defines what a game is, here as for `read_games`. `scan` is its compiled twin for text as programs write
it: it either finds the same games, or says that it does not know. `scan_plain` then reads what it left. A test holds
the two together.
"""

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skilloscope.chess.pgn.tags import (
    BLANK,
    NEWLINE,
    TAB,
    TEXTS,
    Places,
    is_event,
    line_end,
    tag_line,
    tag_names,
    tag_values,
)
from skilloscope.chess.pgn.text import split_games, unescaped
from skilloscope.core import files
from skilloscope.core.columns import Array, Ints
from skilloscope.core.compiled import njit
from skilloscope.core.dates import parse_dates
from skilloscope.core.errors import Tally
from skilloscope.core.files import DAMAGE, BinaryDataError, Source, as_text, lines_of, next_block, open_bytes
from skilloscope.results.columns import BYE, FORFEIT, is_fault, number_in, parse_scores
from skilloscope.results.reading import Screen, tidied
from skilloscope.results.table import YOURSELF, Results, sorted_codes

_CHUNK = 1 << 21
_MOST_HELD = _CHUNK  # of one game; what is longer, the plain reader takes line by line
TAGS: Final = ("Event", "White", "Black", "Result", "Date", "UTCDate", "Termination", "WhiteElo", "BlackElo")
"""The tags whose values are found, in the order of the columns."""
_PARTING = TAGS.index("Event")  # it separates games; its value is not needed
_BATCH = 50_000  # games of the plain reader that are put into columns at once
_UNKNOWN = {"", "?", "-", "NN", "N.N.", "N. N.", "N.N"}  # nomen nescio: not one player of many games
_FORFEITS = ("forfeit", "walkover", "unplayed", "default", "no show", "no-show")


def read_pgn_results(
    sources: Source | Sequence[Source], *, drop_duplicates: bool = False, observed: bool = False
) -> Results:
    """Read the results of all games of one or more PGN sources; with `observed` the ratings of the headers too.

    >>> import io
    >>> text = '[White "A"] [Black "B"] [Date "2024.05.01"] [Result "1-0"]'.replace("] ", "]\\n")
    >>> read_pgn_results(io.BytesIO(text.encode()))
    <Results: 1 games of 2 players; skipped: none>
    """
    several = sources if isinstance(sources, Sequence) and not isinstance(sources, str) else [sources]
    tables = [_read_source(source, observed) for source in several]
    return tidied(Results.concat(tables), drop_duplicates=drop_duplicates)


def _read_source(source: Source, observed: bool) -> Results:
    file, tally = files.source_name(source) or "<stream>", Tally()
    columns: list[list[pa.Array]] = [[] for _ in TAGS]
    moves: list[npt.NDArray[np.uint8]] = []
    try:
        with open_bytes(source) as stream:
            for values, plies in _scanned(stream):
                moves.append(plies)
                for column, value in zip(columns, values, strict=True):
                    column.append(value)
    except BinaryDataError as error:
        tally.fault("not a PGN file: binary data", file, f"byte {error.offset}")
    except DAMAGE as error:
        tally.fault("damaged file", file, f"after game {sum(map(len, moves))}", str(error))
    else:
        if not sum(map(len, moves)):
            tally.fault("no game in the file", file, "whole file")
    tags = {tag: pa.chunked_array(column, type=TEXTS) for tag, column in zip(TAGS, columns, strict=True)}
    plies = np.concatenate(moves) if moves else np.zeros(0, dtype=np.uint8)
    return _results(tags, plies, file, tally, observed=observed)


def _scanned(stream: Any) -> Iterator[tuple[list[pa.Array], npt.NDArray[np.uint8]]]:
    """Yield chunk after chunk of games: the values of each tag, and how many moves; damage is raised at the end."""
    rest, damage = b"", None
    while True:
        block, damage = next_block(stream, _CHUNK)
        data = rest + block
        final = len(block) < _CHUNK
        begins, ends, moves, used, known = scan(data, final=final)
        begins[:, _PARTING] = -1
        yield [tag_values(data, begins[:, place], ends[:, place]) for place in range(len(TAGS))], moves
        rest = data[used:]
        if not known or len(rest) > _MOST_HELD:
            yield from _scanned_plain(lines_of(stream if damage is None else io.BytesIO(), rest))
            final = True
        if damage:
            raise damage
        if final:
            return


def _scanned_plain(lines: Iterator[str]) -> Iterator[tuple[list[pa.Array], npt.NDArray[np.uint8]]]:
    games, damage = scan_plain(lines), None
    while damage is None:
        batch: list[tuple[dict[str, str], int]] = []
        try:
            for game in islice(games, _BATCH):
                batch.append(game)  # what came before the damage counts
        except DAMAGE as error:
            damage = error
        if not batch and damage is None:
            return
        # As they are written between the quotes of their tags.
        texts = [[tags.get(tag, "").replace("\\", "\\\\").replace('"', '\\"') for tags, _ in batch] for tag in TAGS]
        values = [pa.array([text.encode() for text in column], pa.binary()) for column in texts]
        found = np.array([plies for _, plies in batch], dtype=np.uint8)
        yield [value.dictionary_encode().cast(TEXTS) for value in values], found
    raise damage


def _results(
    tags: dict[str, pa.ChunkedArray], moves: npt.NDArray[np.uint8], file: str, tally: Tally, *, observed: bool
) -> Results:
    games = len(moves)
    players, codes = sorted_codes(pa.chunked_array([*_names(tags["White"]).chunks, *_names(tags["Black"]).chunks]))
    one, two = codes[:games], codes[games:]
    texts, place = _texts(tags["Result"])
    score_of, why = parse_scores(texts)
    reason = np.array(why, dtype=object)[place]
    day, exact, there, blank = _dates(tags)
    endings, ended = _texts(tags["Termination"])
    said = [(text or "").lower() for text in endings]  # a loss on time ("time forfeit") was a game
    unplayed = np.array([any(word in text for word in _FORFEITS) and "time" not in text for text in said], dtype=bool)
    unknown = np.array([name in _UNKNOWN for name in players], dtype=bool)
    bye = np.array([name.lower() == "bye" for name in players], dtype=bool)
    found = Screen(file, np.arange(1, games + 1), "game")
    found.leave_out(BYE, bye[one] | bye[two], fault=False)
    found.leave_out("unknown player", unknown[one] | unknown[two], fault=False)
    for word in sorted(set(why) - {""}):
        found.leave_out(word, reason == word, np.array(texts, dtype=object)[place], fault=is_fault(word))
    found.leave_out(FORFEIT, (moves == 1) | unplayed[ended], fault=False)
    found.leave_out("no moves", (moves == 0) & bool((moves > 1).any()), fault=False)
    found.leave_out("missing date", blank)
    dates, at = _texts(tags["Date"])
    found.leave_out("impossible date", ~there, np.array(dates, dtype=object)[at])
    found.leave_out(YOURSELF, one == two, np.array(players, dtype=object)[one])
    whole = Results(
        players=players,
        player_1=one,
        player_2=two,
        score=score_of[place],
        date=day.astype("datetime64[D]"),
        period=None,
        precision=exact if exact.any() else None,
        rating_1=_ratings(tags["WhiteElo"]) if observed else None,
        rating_2=_ratings(tags["BlackElo"]) if observed else None,
        tally=tally + found.tally,
    )
    return whole.select(found.good).of_players()


def _dates(tags: dict[str, pa.ChunkedArray]) -> tuple[Any, Any, Any, Any]:
    """Return days, precision, whether there is a date and whether it is blank: Date, else UTCDate."""
    found = []
    for tag in ("Date", "UTCDate"):
        texts, place = _texts(tags[tag])
        blank = np.array([not (text or "").strip("?-./ ") for text in texts], dtype=bool)
        found.append((*(column[place] for column in parse_dates(texts)), blank[place]))
    use = found[0][3] & ~found[1][3]
    day, exact, there, blank = (np.where(use, second, first) for first, second in zip(*found, strict=True))
    return day, exact.astype(np.uint8), there, blank


def _ratings(column: pa.ChunkedArray) -> Array:
    texts, place = _texts(column)
    return np.array([number_in(text) for text in texts], dtype=np.float64)[place]


def _texts(column: pa.ChunkedArray) -> tuple[list[str | None], Ints]:
    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):  # no chunk at all
        return [""], np.zeros(0, dtype=np.int64)
    texts: list[str | None] = [unescaped(as_text(value)) for value in whole.dictionary.to_pylist()]
    return texts, whole.indices.to_numpy().astype(np.int64)


def _names(column: pa.ChunkedArray) -> pa.ChunkedArray:
    texts, place = _texts(column)
    names = [" ".join((text or "").split()) for text in texts]
    distinct, where = np.unique(np.array(names, dtype=object), return_inverse=True)
    codes = pa.array(where[place].astype(np.int32))
    return pa.chunked_array([pa.DictionaryArray.from_arrays(codes, pa.array(distinct, type=pa.string()))])


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
            # A move is a word with a piece or a file first, after the move's number.
            words: list[str] = _BETWEEN.split(_COMMENT.sub(" ", "\n".join(game.movetext)))
            moves = (word.lstrip("0123456789") for word in words)
            plies = sum(len(word) > 1 and word[0] in _MOVERS and "\x20" < word[1] < "\x80" for word in moves)
            yield game.tags, min(2, plies)


@njit(cache=True)
def _scan(text, final, places, moves, names):  # type: ignore[no-untyped-def] # pragma: no cover
    view, _ = text
    size = len(view)
    begins, ends = places
    others, n_others = np.empty(_MOST_TAGS, dtype=np.uint64), 0
    game, has_moves, inside, used, at = -1, False, False, 0, 0
    worded = parted = False  # as in `split_games`
    while at < size:
        first = at
        while first < size and (view[first] == BLANK or view[first] == TAB or _ends_line(view, first)):
            first += 1
        if first == size or view[first] == NEWLINE:
            at = first + 1
            used = min(at, size) if game < 0 else used
            parted = parted or (worded and not inside)
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
                worded = parted = False
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
            worded, before = worded or inside or view[at] != 59, moves[game]
            at, inside = _movetext(text, first, inside, moves, game)
            if parted:  # what follows a blank line is no part of this game
                moves[game] = before
            if at < 0:
                return game, used, False
    return (game + 1, size, True) if final else (max(game, 0), used, True)


@njit(cache=True, inline="always")
def _ends_line(view, at):  # type: ignore[no-untyped-def] # pragma: no cover
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
            last = moves[game] < 2 or at + 1 >= size
            if not last:  # does the next line surely go on with moves, or a comment?
                after = view[at + 1]
                last = not (BLANK < after < 128 and after != _OPEN and (after != _PERCENT or inside))
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
            if (letter or byte == 79 or byte == 80) and at + 1 < size:
                after = view[at + 1]  # a letter of ASCII, not what parts words or begins a comment
                moves[game] += BLANK < after < 128 and after not in (46, 40, 41, 123, 59)
            word = False
        at += 1
    return at, inside


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
