"""Games: what was played, as columns. One row per game in `headers`, one entry per move in the rest.

In: PGN files (plain, gzip, bzip2, zstd) and streams. Out: Games, and a tally of everything that could not be read.

What is good is kept: a game with an illegal move keeps the moves before it, a damaged file the games before the
damage, and every fault has its reason, its file and its place.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from skilloscope.chess.engine.lines import MATE_CAP, value_pawns
from skilloscope.chess.pgn.blocks import GameBlock, columns_block, joined, read_blocks
from skilloscope.chess.pgn.reading import HEADERS, GameColumns
from skilloscope.chess.pgn.text import NO_MATE
from skilloscope.core.columns import Selection, ragged_take, selection_index
from skilloscope.core.errors import InputError, Tally
from skilloscope.core.files import Source, source_name
from skilloscope.core.frames import is_frame
from skilloscope.core.inputs.paths import given_once, named_files

_PER_MOVE = ("moves", "clocks", "evals", "mates")
_SHARED = ("game", "date", "year", "event", "site", "round", "time_control", "termination", "file")
_BY_SIDE = {
    "player": ("white", "black"),
    "elo": ("white_elo", "black_elo"),
    "opponent": ("black", "white"),
    "opponent_elo": ("black_elo", "white_elo"),
}
_WHITE_SCORES = {"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}


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
    offsets: npt.NDArray[np.int64]
    clocks: npt.NDArray[np.float32]
    """Seconds that the mover has left after the move; NaN where absent."""
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

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """How many moves (of either side) each game has."""
        return np.diff(self.offsets)

    @property
    def game_of_move(self) -> npt.NDArray[np.int64]:
        """The row of the game that each entry of the move columns belongs to."""
        return np.repeat(np.arange(len(self)), self.counts)

    @property
    def movers(self) -> npt.NDArray[np.int8]:
        """Who made each move: 0 white, 1 black."""
        fens = self.headers["start_fen"].to_pylist()
        first = np.array([bool(fen) and fen.split(" ")[1] == "b" for fen in fens], dtype=np.int64)
        ply = np.arange(len(self.moves)) - np.repeat(self.offsets[:-1], self.counts)
        return ((ply + np.repeat(first, self.counts)) % 2).astype(np.int8)

    def eval_values(self, mate_cap: float = MATE_CAP) -> npt.NDArray[np.float64]:
        """Return the evaluations of the comments in pawns, white's view, mates at ± the cap; NaN where absent.

        `#0` stands after a mating move: the side that moved has won.
        """
        mated = self.mates != NO_MATE
        white_mates = np.where(self.mates == 0, 1 - 2 * self.movers, self.mates)
        centipawns = np.round(self.evals.astype(float) * 100, 2)  # the decimals of the comment, which float32 blurs
        value = value_pawns(mated, np.where(mated, white_mates, centipawns), mate_cap)
        return np.where(mated | ~np.isnan(self.evals), value, np.nan)

    def by_mover(self, game: npt.NDArray[Any], mover: npt.NDArray[np.int8]) -> dict[str, pa.Array]:
        """Return for moves of these games, by white (0) or black (1), what the headers say from the mover's view."""
        headers = self.headers.take(pa.array(game)).combine_chunks()
        white = pa.array(mover == 0)
        own: dict[str, pa.Array] = {name: headers[name].combine_chunks() for name in _SHARED}
        for name, sides in _BY_SIDE.items():
            own[name] = pc.if_else(white, *(headers[side].combine_chunks() for side in sides))
        scores = np.array([_WHITE_SCORES.get(result, np.nan) for result in headers["result"].to_pylist()])
        scores = np.where(mover == 0, scores, 1 - scores)
        return own | {
            "mover": pc.if_else(white, "white", "black"),
            "result": pa.array(scores, mask=np.isnan(scores)),
        }

    def select(self, selection: Selection, *, reason: str = "") -> Games:
        """Return the selected games; with a `reason` those left out are counted under it."""
        index = selection_index(selection, len(self))
        offsets, flat = ragged_take(self.offsets, index)
        left = len(self) - len(index)
        comments = self.comments
        if comments is not None:
            _, places = ragged_take(self.offsets + np.arange(len(self) + 1), index)
            comments = comments.take(pa.array(places))
        return replace(
            self,
            headers=self.headers.take(index),
            offsets=offsets,
            comments=comments,
            tally=self.tally + Tally({reason: left} if reason and left > 0 else {}),
            **{name: getattr(self, name)[flat] for name in _PER_MOVE},
        )

    def renamed(self, names: Mapping[str, str]) -> Games:
        """Return the games with players renamed: one person under several spellings becomes one player."""
        headers = self.headers
        for side in ("white", "black"):
            column = [names.get(name, name) for name in headers[side].to_pylist()]
            headers = headers.set_column(HEADERS.get_field_index(side), side, pa.array(column, type=pa.string()))
        return replace(self, headers=headers)

    @classmethod
    def from_blocks(cls, blocks: Sequence[GameBlock], tally: Tally) -> Games:
        """Return the games that were read in blocks, each with its id."""
        whole = joined(list(blocks))
        columns = {name: getattr(whole, name) for name in (*_PER_MOVE, "comments")}
        return cls(headers=unique_games(whole.headers), offsets=whole.offsets, tally=tally, **columns)

    @classmethod
    def from_columns(cls, columns: GameColumns, tally: Tally) -> Games:
        """Return the games that were put into columns one by one, each with its id."""
        return cls.from_blocks([columns_block(columns)], tally)

    @classmethod
    def concat(cls, batches: Sequence[Games]) -> Games:
        """Return the batches one after another; tallies add. The same game twice is refused."""
        if not batches:
            return read_games([])
        counts = np.concatenate([batch.counts for batch in batches])
        told = [batch.comments for batch in batches]
        return cls(
            comments=None if any(part is None for part in told) else pa.concat_arrays(told),
            headers=unique_games(pa.concat_tables([batch.headers for batch in batches])),
            offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            tally=Tally.sum(batch.tally for batch in batches),
            **{name: np.concatenate([getattr(batch, name) for batch in batches]) for name in _PER_MOVE},
        )


def read_games(sources: Source | Sequence[Source], *, comments: bool = False) -> Games:
    """Read the games of one or more PGN files or streams; a folder stands for the PGN files in it.

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
            yield _batch(block, tally, names)
            tally = _emptied(tally)
        if tally.counts:
            yield _batch(joined([]), tally, names)


def unique_games(headers: pa.Table, files: Sequence[str] = ()) -> pa.Table:
    """Return the headers with an id for each game: the file's name and the game's number in it.

    Where two files have the same name, among `files` too, the whole path stands in its place; the same path and number
    is the same game.
    """
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


def _batch(block: GameBlock, tally: Tally, files: Sequence[str]) -> Games:
    whole = joined([block])
    columns = {name: getattr(whole, name) for name in (*_PER_MOVE, "comments")}
    return Games(headers=unique_games(whole.headers, files), offsets=whole.offsets, tally=Tally() + tally, **columns)


def _emptied(tally: Tally) -> Tally:
    """Empty a tally that was handed on; its reader goes on writing into it."""
    tally.counts.clear()
    tally.faults.clear()
    return tally


def _named(sources: Source | Sequence[Source]) -> list[tuple[str, Source]]:
    """Return the sources with a name for each; streams without one are told apart by a number."""
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
