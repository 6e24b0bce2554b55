"""Results from the headers of PGN games, without reading a move.

In: PGN files (plain, gzip, bzip2, zstd) and streams. Out: Results, player_1 being White, and a tally of every game that
could not be used.

Left out and counted: forfeits (`+/-` and the like, a termination that says so, a game of one move), unfinished games
(`*`), games of unknown players. A game without any move is left out where others of its file have moves; in a file of
bare headers all are games. Missing and impossible dates, unknown results and a player against himself are faults, named
with file and game. What a game is, `split_games` says, here as for `read_games`.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skilloscope.chess.pgn.headers import TAGS, scan, scan_plain
from skilloscope.chess.pgn.tags import TEXTS, tag_values
from skilloscope.chess.pgn.text import unescaped
from skilloscope.core.dates import parse_dates
from skilloscope.core.errors import Tally
from skilloscope.core.files import BinaryDataError, Source, as_text, lines_of, next_block, open_bytes, source_name
from skilloscope.core.inputs.unpacking import DAMAGE
from skilloscope.results.cells import number_in
from skilloscope.results.reading import tidied
from skilloscope.results.scores import BYE, FORFEIT, is_fault, parse_scores
from skilloscope.results.table import Results, sorted_codes

_CHUNK = 1 << 21
_MOST_HELD = _CHUNK  # of one game; what is longer, the plain reader takes line by line
_PARTING = TAGS.index("Event")  # it parts games, and its value tells nothing of results
_BATCH = 50_000  # games of the plain reader that are put into columns at once
_UNKNOWN = {"", "?", "-", "NN", "N.N.", "N. N.", "N.N"}  # nomen nescio: not one player of many games
_FORFEITS = ("forfeit", "walkover", "unplayed", "default", "no show", "no-show")
_MOST_NAMED = 10_000


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
    file, tally = source_name(source) or "<stream>", Tally()
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


_Scanned = tuple[list[pa.Array], npt.NDArray[np.uint8]]


def _scanned(stream: Any) -> Iterator[_Scanned]:
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
            yield from _scanned_plain(_then(stream, rest, damage))
            return
        if damage:
            raise damage
        if final:
            return


def _then(stream: Any, rest: bytes, damage: Exception | None) -> Iterator[str]:
    """Yield the lines of what is left of a stream."""
    if damage is None:
        yield from lines_of(stream, rest)
        return
    yield from lines_of(io.BytesIO(), rest)
    raise damage


def _scanned_plain(lines: Iterator[str]) -> Iterator[_Scanned]:
    """Yield batches of games as the plain reader finds them."""
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
        values = [pa.array([_escaped(tags.get(tag, "")) for tags, _ in batch], pa.binary()) for tag in TAGS]
        found = np.array([plies for _, plies in batch], dtype=np.uint8)
        yield [value.dictionary_encode().cast(TEXTS) for value in values], found
    raise damage


def _results(
    tags: dict[str, pa.ChunkedArray], moves: npt.NDArray[np.uint8], file: str, tally: Tally, *, observed: bool
) -> Results:
    """Return the games that can be used; name or count the others."""
    games = len(moves)
    players, codes = sorted_codes(pa.chunked_array([*_names(tags["White"]).chunks, *_names(tags["Black"]).chunks]))
    one, two = codes[:games], codes[games:]
    texts, place = _texts(tags["Result"])
    score_of, why = parse_scores(texts)
    reason = np.array(why, dtype=object)[place]
    day, exact, there, blank = _dates(tags)
    forfeit = (moves == 1) | _says_forfeit(tags["Termination"])
    unknown = np.array([name in _UNKNOWN for name in players], dtype=bool)
    bye = np.array([name.lower() == "bye" for name in players], dtype=bool)
    left = _Left(games, file, tally)
    left.out(BYE, bye[one] | bye[two])
    left.out("unknown player", unknown[one] | unknown[two])
    for word in sorted(set(why) - {""}):
        left.out(word, reason == word, [texts[i] for i in place] if is_fault(word) else None)
    left.out(FORFEIT, forfeit)
    left.out("no moves", (moves == 0) & bool((moves > 1).any()))
    left.out("missing date", blank, [""] * games)
    left.out("impossible date", ~there, [str(value) for value in _joined(tags["Date"])] if not there.all() else None)
    left.out("a player against himself", one == two, [players[i] for i in one] if np.any(one == two) else None)
    dates = day.astype("datetime64[D]")
    whole = Results(
        players=players,
        player_1=one,
        player_2=two,
        score=score_of[place],
        date=dates,
        period=None,
        precision=exact if exact.any() else None,
        rating_1=_ratings(tags["WhiteElo"]) if observed else None,
        rating_2=_ratings(tags["BlackElo"]) if observed else None,
        tally=tally,
    )
    return whole.select(left.good).of_players()


class _Left:
    """Which games are still good; the first reason against one counts, and faults are named."""

    def __init__(self, games: int, file: str, tally: Tally) -> None:
        self.good = np.ones(games, dtype=bool)
        self._file, self._tally = file, tally

    def out(self, reason: str, bad: npt.NDArray[np.bool_], details: Sequence[str | None] | None = None) -> None:
        """Leave out the bad games; with details they are faults."""
        at = np.flatnonzero(bad & self.good)
        self.good[at] = False
        named = at[:0] if details is None else at[:_MOST_NAMED]
        for game in named:
            self._tally.fault(reason, self._file, f"game {game + 1}", str((details or [])[game] or "")[:60])
        self._tally.count(reason, len(at) - len(named))


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


def _ratings(column: pa.ChunkedArray) -> npt.NDArray[np.float64]:
    texts, place = _texts(column)
    return np.array([number_in(text) for text in texts], dtype=np.float64)[place]


def _says_forfeit(column: pa.ChunkedArray) -> npt.NDArray[np.bool_]:
    """Return whose termination says that nothing was played; a loss on time ("time forfeit") was a game."""
    texts, place = _texts(column)
    said = [(text or "").lower() for text in texts]
    return np.array([any(word in text for word in _FORFEITS) and "time" not in text for text in said], dtype=bool)[
        place
    ]


def _texts(column: pa.ChunkedArray) -> tuple[list[str | None], npt.NDArray[np.int64]]:
    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):  # no chunk at all
        return [""], np.zeros(0, dtype=np.int64)
    return [unescaped(as_text(value)) for value in whole.dictionary.to_pylist()], whole.indices.to_numpy().astype(
        np.int64
    )


def _names(column: pa.ChunkedArray) -> pa.ChunkedArray:
    texts, place = _texts(column)
    names = [" ".join((text or "").split()) for text in texts]
    distinct, where = np.unique(np.array(names, dtype=object), return_inverse=True)
    codes = pa.array(where[place].astype(np.int32))
    return pa.chunked_array([pa.DictionaryArray.from_arrays(codes, pa.array(distinct, type=pa.string()))])


def _joined(column: pa.ChunkedArray) -> list[str | None]:
    texts, place = _texts(column)
    return [texts[i] for i in place]


def _escaped(value: str) -> bytes:
    """Return a value as it stands between the quotes of its tag."""
    return value.replace("\\", "\\\\").replace('"', '\\"').encode()
