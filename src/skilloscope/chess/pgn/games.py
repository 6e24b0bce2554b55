"""Games: what was played, as columns. One row per game in `headers`, one entry per move in the rest.

What is good is kept: a game with an illegal move keeps the moves before it, a damaged file the games before the
damage, and every fault has its reason, its file and its place.

Two games are the same where all moves are, from the same start, and both players (letters and digits of their names,
ignoring case), unless both have a year and the years differ. Games of fewer than MOST_SHORT plies are never taken for
the same: short draws are repeated.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from skilloscope.chess.moves import MATE_CAP, value_pawns
from skilloscope.chess.pgn.blocks import GameBlock, columns_block, joined, read_blocks
from skilloscope.chess.pgn.text import HEADERS, NO_MATE, GameColumns
from skilloscope.core.columns import Array, Bools, Ints, Selection, ragged_take, selection_index
from skilloscope.core.errors import InputError, Tally
from skilloscope.core.files import Source, source_name
from skilloscope.core.frames import is_frame
from skilloscope.core.paths import given_once, named_files
from skilloscope.results.columns import PGN_SCORES

_PER_MOVE = ("moves", "clocks", "evals", "mates")
_SHARED = ("game", "date", "year", "event", "site", "round", "time_control", "termination", "file")
_BY_SIDE = {
    "player": ("white", "black"),
    "elo": ("white_elo", "black_elo"),
    "opponent": ("black", "white"),
    "opponent_elo": ("black_elo", "white_elo"),
}
MOST_SHORT = 20
SAME_GAME = "the same game again"
Keys = npt.NDArray[np.uint64]


@dataclass(frozen=True, eq=False, repr=False)
class Games:
    """A columnar batch of games; game i owns the entries `offsets[i]:offsets[i + 1]` of the move columns.

    >>> import io
    >>> games = read_games(io.StringIO('[White "Ann"] \\n\\n1. e4 {[%clk 0:05:00]} e5 2. Qh5 1-0'))
    >>> len(games), games.counts, games.clocks[:2], games.headers["white"].to_pylist()
    (1, array([3]), array([300., nan], dtype=float32), ['Ann'])
    """

    headers: pa.Table
    moves: npt.NDArray[np.uint16]
    offsets: Ints
    clocks: npt.NDArray[np.float32]  # seconds that the mover has left after the move; NaN where absent
    evals: npt.NDArray[np.float32]
    """The evaluation in a comment after the move: pawns, white's view; NaN where absent or a mate."""
    mates: npt.NDArray[np.int16]
    """The mate in a comment after the move: moves to mate, positive for white; NO_MATE where absent."""
    tally: Tally = field(default_factory=Tally)
    comments: pa.StringArray | None = None
    """What comments say of each position, from the first of each game to the last (null where nothing): game i owns the
    entries `offsets[i] + i:offsets[i + 1] + i + 1`. None unless they were asked for."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        return f"<Games: {len(self):,} with {len(self.moves):,} moves; skipped: {self.tally}>"

    def refuse_empty(self) -> None:
        """Raise where there is no game, and say why the first could not be read."""
        if not len(self):
            first = f": {self.tally.faults[0]}" if self.tally.faults else ""
            hint = "give PGN files; `skilloscope demo` shows what they look like"
            raise InputError(f"no game could be read{first}", hint=hint)

    @property
    def counts(self) -> Ints:
        """How many moves (of either side) each game has."""
        return np.diff(self.offsets)

    @property
    def game_of_move(self) -> Ints:
        """The row of the game that each entry of the move columns belongs to."""
        return np.repeat(np.arange(len(self)), self.counts)

    @property
    def movers(self) -> npt.NDArray[np.int8]:
        """Who made each move: 0 white, 1 black."""
        fens = self.headers["start_fen"].to_pylist()
        first = np.array([bool(fen) and fen.split(" ")[1] == "b" for fen in fens], dtype=np.int64)
        ply = np.arange(len(self.moves)) - np.repeat(self.offsets[:-1], self.counts)
        return ((ply + np.repeat(first, self.counts)) % 2).astype(np.int8)

    def eval_values(self, mate_cap: float = MATE_CAP) -> Array:
        """Return the comments' evaluations in pawns, white's view, mates (`#0`: the mover has won) at ± the cap."""
        mated = self.mates != NO_MATE
        white_mates = np.where(self.mates == 0, 1 - 2 * self.movers, self.mates)
        centipawns = np.round(self.evals.astype(float) * 100, 2)  # undoes the rounding to float32
        value = value_pawns(mated, np.where(mated, white_mates, centipawns), mate_cap)
        return np.where(mated | ~np.isnan(self.evals), value, np.nan)

    def by_mover(self, game: npt.NDArray[Any], mover: npt.NDArray[np.int8]) -> dict[str, pa.Array]:
        """Return for moves of these games, by white (0) or black (1), what the headers say from the mover's view."""
        headers = self.headers.take(pa.array(game)).combine_chunks()
        white = pa.array(mover == 0)
        own: dict[str, pa.Array] = {name: headers[name].combine_chunks() for name in _SHARED}
        for name, sides in _BY_SIDE.items():
            own[name] = pc.if_else(white, *(headers[side].combine_chunks() for side in sides))
        scores = np.array([PGN_SCORES.get(result, np.nan) for result in headers["result"].to_pylist()])
        scores = np.where(mover == 0, scores, 1 - scores)
        result = pa.array(scores, mask=np.isnan(scores))
        return own | {"mover": pc.if_else(white, "white", "black"), "result": result}

    def select(self, selection: Selection, *, reason: str = "") -> "Games":
        """Return the selected games; with a `reason` those left out are counted under it."""
        index = selection_index(selection, len(self))
        offsets, flat = ragged_take(self.offsets, index)
        left = len(self) - len(index)
        _, places = ragged_take(self.offsets + np.arange(len(self) + 1), index)
        return replace(
            self,
            headers=self.headers.take(index),
            offsets=offsets,
            comments=None if self.comments is None else self.comments.take(pa.array(places)),
            tally=self.tally + Tally({reason: left} if reason and left > 0 else {}),
            **{name: getattr(self, name)[flat] for name in _PER_MOVE},
        )

    def renamed(self, names: Mapping[str, str]) -> "Games":
        """Return the games with players renamed: one person under several spellings becomes one player."""
        headers = self.headers
        for side in ("white", "black"):
            column = [names.get(name, name) for name in headers[side].to_pylist()]
            headers = headers.set_column(HEADERS.get_field_index(side), side, pa.array(column, type=pa.string()))
        return replace(self, headers=headers)

    @classmethod
    def from_blocks(cls, blocks: Sequence[GameBlock], tally: Tally, files: Sequence[str] = ()) -> "Games":
        """Return the games that were read in blocks, each with its id, unique among those of all `files`."""
        whole = joined(list(blocks))
        columns = {name: getattr(whole, name) for name in (*_PER_MOVE, "comments")}
        tally = tally + Tally(read=len(whole.headers))
        return cls(headers=unique_games(whole.headers, files), offsets=whole.offsets, tally=tally, **columns)

    @classmethod
    def without_moves(cls, headers: pa.Table, tally: Tally | None = None) -> "Games":
        """Return games of which nothing but the headers is known."""
        none = np.zeros(0, dtype=np.float32)
        starts = np.zeros(len(headers) + 1, dtype=np.int64)
        moves, mates = none.astype(np.uint16), none.astype(np.int16)
        return cls(headers, moves, starts, clocks=none, evals=none, mates=mates, tally=tally or Tally())

    @classmethod
    def from_columns(cls, columns: GameColumns, tally: Tally) -> "Games":
        """Return the games that were put into columns one by one, each with its id."""
        return cls.from_blocks([columns_block(columns)], tally)

    @classmethod
    def concat(cls, batches: "Sequence[Games]") -> "Games":
        """Return the batches one after another; tallies add. The same game twice is refused."""
        if not batches:
            return read_games([])
        counts = np.concatenate([batch.counts for batch in batches])
        comments = [batch.comments for batch in batches]
        return cls(
            comments=None if any(part is None for part in comments) else pa.concat_arrays(comments),
            headers=unique_games(pa.concat_tables([batch.headers for batch in batches])),
            offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            tally=Tally.sum(batch.tally for batch in batches),
            **{name: np.concatenate([getattr(batch, name) for batch in batches]) for name in _PER_MOVE},
        )


def read_games(sources: Source | Sequence[Source], *, comments: bool = False) -> Games:
    """Read the games of one or more PGN files or streams; a folder means all PGN files in it.

    A missing file raises InputError, and so does one given twice; everything else that is wrong is a fault in `tally`,
    and the reading goes on. Variants of chess are left out and counted. With `comments` their texts are kept, too,
    which takes fifty times as long.

    >>> import io
    >>> read_games(io.StringIO("{Well.} 1. e4 {Best by test.} *"), comments=True).comments.to_pylist()
    ['Well.', 'Best by test.']
    """
    tally = Tally()
    named = _named(sources)
    blocks = [block for name, source in named for block in read_blocks(source, name, tally, comments=comments)]
    return Games.from_blocks(blocks, tally)


def iter_games(sources: Source | Sequence[Source], *, comments: bool = False) -> Iterator[Games]:
    """Yield the games of PGN files or streams some thousands at a time, so that memory does not grow with the files.

    Ids are those of `read_games`, and so are the tallies, which add: the last batch may hold nothing but a tally.

    >>> import io
    >>> sum(len(games) for games in iter_games([io.StringIO("1. e4 *"), io.StringIO("1. d4 *")]))
    2
    """
    named = _named(sources)
    names = [name for name, _ in named]
    for name, source in named:
        tally = Tally()
        for block in read_blocks(source, name, tally, comments=comments):
            yield Games.from_blocks([block], tally + Tally(), names)
            tally.counts.clear()  # it was handed on, and the reader goes on writing into it
            tally.faults.clear()
        if tally.counts:
            yield Games.from_blocks([], tally, names)


def unique_games(headers: pa.Table, files: Sequence[str] = ()) -> pa.Table:
    """Return the headers with an id for each game: its file (the whole path if names clash) and its number."""
    coded = pc.dictionary_encode(headers["file"].combine_chunks())
    own = coded.dictionary.to_pylist()
    names = Counter(os.path.basename(file) for file in {*own, *files})
    short = [os.path.basename(file) if names[os.path.basename(file)] == 1 else file for file in own]
    index = headers["index"].combine_chunks()
    ids = pc.binary_join_element_wise(
        pa.array(short, type=pa.string()).take(coded.indices), index.cast(pa.string()), "#"
    )
    pairs = coded.indices.to_numpy(zero_copy_only=False).astype(np.int64) << 32 | index.to_numpy(zero_copy_only=False)
    if len(np.unique(pairs)) < len(pairs):
        twice = next(game for game, n in Counter(ids.to_pylist()).items() if n > 1)
        raise InputError(f"the game {twice} is given twice", hint="put each file in once")
    return headers.set_column(HEADERS.get_field_index("game"), "game", ids)


def _named(sources: Source | Sequence[Source]) -> list[tuple[str, Source]]:
    one = isinstance(sources, str | bytes | os.PathLike | Mapping) or not isinstance(sources, Iterable)
    one = one or hasattr(sources, "read") or (not isinstance(sources, Sequence) and is_frame(sources))
    named: list[tuple[str, Source]] = []
    streams = 0
    for source in [cast(Source, sources)] if one else cast(Iterable[Source], sources):
        if isinstance(source, str | os.PathLike):
            named += [(str(path), path) for path in named_files([source])]
            continue
        if not hasattr(source, "read"):
            raise InputError(
                f"{type(source).__name__} is no games", hint="give paths of PGN files, open files, or several in a list"
            )
        name = source_name(source)
        streams += not name
        named.append((name or f"<stream {streams}>", source))
    given_once([path for _, path in named if isinstance(path, Path)])
    return named


class KnownGames:
    """The games that were seen so far, at 18 bytes each; what comes block by block is compared with all before.

    A game is known by a hash of 128 bits of its start, its moves and its players, and by its year.
    """

    def __init__(self) -> None:
        self._runs: list[Marks] = []  # each sorted by the first half of the hash, and at least as long as the next

    def first_time(self, games: Games) -> Bools:
        """Return which games are new, and remember them."""
        rows = np.flatnonzero(games.counts >= MOST_SHORT)
        marks = _marks(games, rows)
        first, second, years = marks
        _, place, times = np.unique(first, return_inverse=True, return_counts=True)
        again = times[place] > 1
        known: dict[tuple[int, int], set[int]] = {}
        for run in self._runs:
            begin, end = (np.searchsorted(run[0], first, side) for side in (_LEFT, _RIGHT))
            again |= end > begin
            for at in np.flatnonzero(end > begin).tolist():
                for mark, other, year in zip(*(column[begin[at] : end[at]].tolist() for column in run), strict=True):
                    known.setdefault((mark, other), set()).add(year)
        fresh, noted = np.ones(len(games), dtype=bool), ~again
        for at in np.flatnonzero(again).tolist():
            year, own = int(years[at]), known.setdefault((int(first[at]), int(second[at])), set())
            fresh[rows[at]] = not (own and (year == _NO_YEAR or _NO_YEAR in own or year in own))
            noted[at] = year not in own
            own.add(year)
        self._runs.append(_sorted([(first[noted], second[noted], years[noted])]))
        while len(self._runs) > 1 and len(self._runs[-2][0]) < 2 * len(self._runs[-1][0]):
            self._runs[-2:] = [_sorted(self._runs[-2:])]
        return fresh


Marks = tuple[Keys, Keys, npt.NDArray[np.int16]]
_NO_YEAR = 0
_LEFT: Literal["left"] = "left"
_RIGHT: Literal["right"] = "right"


def _marks(games: Games, rows: Ints) -> Marks:
    """Return what games are known by: two halves of a hash, and the year."""
    fens = games.headers["start_fen"].take(rows).to_pylist()
    names = [_letters(games.headers[side].take(rows)) for side in ("white", "black")]
    moves, size = games.moves.tobytes(), games.moves.itemsize
    spans = zip((games.offsets[rows] * size).tolist(), (games.offsets[rows + 1] * size).tolist(), strict=True)
    hashes = b"".join(
        blake2b(f"{fen or ''}\n{white}\n{black}\n".encode() + moves[begin:end], digest_size=16).digest()
        for fen, white, black, (begin, end) in zip(fens, *names, spans, strict=True)
    )
    halves = np.frombuffer(hashes, dtype="<u8").reshape(-1, 2)
    years = games.headers["year"].take(rows).fill_null(_NO_YEAR).to_numpy().astype(np.int16)
    return halves[:, 0].copy(), halves[:, 1].copy(), years


def _sorted(runs: Sequence[Marks]) -> Marks:
    first, second, years = (np.concatenate(column) for column in zip(*runs, strict=True))
    order = np.argsort(first, kind="stable")
    return first[order], second[order], years[order]


def read_distinct(sources: Source | Sequence[Source]) -> Games:
    """Read PGN files as `read_games` does, each game once."""
    return distinct_games(read_games(sources))


def distinct_games(games: Games) -> Games:
    """Return each game once; those that came again are counted.

    >>> import io
    >>> text = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O 9. h3 Na5 10. Bc2 d5"
    >>> distinct_games(read_games([io.StringIO(text), io.StringIO(text)]))
    <Games: 1 with 20 moves; skipped: 1 the same game again>
    """
    fresh = KnownGames().first_time(games)
    return games if fresh.all() else games.select(fresh, reason=SAME_GAME)


def _letters(column: pa.ChunkedArray) -> list[str]:
    coded = column.combine_chunks().dictionary_encode()
    plain = ["".join(letter for letter in name.casefold() if letter.isalnum()) for name in coded.dictionary.to_pylist()]
    return ["" if code is None else plain[code] for code in coded.indices.to_pylist()]
