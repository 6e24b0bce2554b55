"""PGN read block by block: compiled code reads what it can, python-chess the games that it leaves, and small files.

The games of a block come in the order of the file, whichever reader read them, with the numbers that
one reader would give.
"""

import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from skilloscope.chess.pgn import text as pgn_text
from skilloscope.chess.pgn.kernel import GAME_TAGS, LEFT, NO_MOVES, READ, RESULT_WORDS, ScannedGames, scan_games
from skilloscope.chess.pgn.tags import tag_values
from skilloscope.chess.pgn.text import HEADERS, NO_MATE, UNKNOWN_NAMES, GameColumns, clean_text, day_of, elo_of
from skilloscope.core.columns import Ints, ragged_take
from skilloscope.core.errors import Tally
from skilloscope.core.files import DAMAGE, BinaryDataError, Source, as_text, lines_of, next_block, open_bytes

BLOCK = 1 << 21  # how many bytes are read at once
_MOST_HELD = 1 << 22  # bytes of one game
_COMMENTED_MOVES = 1 << 18  # of the games that come at once with their comments

_plain_bytes = pgn_text.PlainWork(
    1 << 17
)  # some 150 games, which python-chess reads while the compiled code would be loaded


@dataclass(frozen=True, eq=False)
class GameBlock:
    """Some games of a file as columns; clocks, evaluations and mates are None where no game has one."""

    headers: pa.Table
    offsets: Ints
    moves: npt.NDArray[np.uint16]
    clocks: npt.NDArray[np.float32] | None
    evals: npt.NDArray[np.float32] | None
    mates: npt.NDArray[np.int16] | None
    comments: pa.Array | None = None
    """What comments say of each position, from the first of each game to the last; None unless they are asked for."""


def read_blocks(source: Source, file: str, tally: Tally, *, comments: bool = False) -> Iterator[GameBlock]:
    """Yield the games of a source, called `file` in every fault, block by block; comments only python-chess reads."""
    reader = _Reader(file, tally)
    try:
        with open_bytes(source) as stream:
            yield from reader.plain(lines_of(stream), comments=True) if comments else reader.blocks(stream)
    except BinaryDataError as error:
        tally.fault("not a PGN file: binary data", file, f"byte {error.offset}")
    except DAMAGE as error:
        tally.fault("damaged file", file, f"after game {reader.index}", str(error))
    else:
        if not reader.words:
            tally.fault("empty file", file, "byte 0")
        elif reader.index == 0:
            tally.fault("no game in the file", file, "whole file")


class _Reader:
    """One file on its way: how many games and lines were read, and whether there was a word at all."""

    def __init__(self, file: str, tally: Tally) -> None:
        self.file, self.tally = file, tally
        self.index = self.lines = 0
        self.words = False

    def blocks(self, stream: Any) -> Iterator[GameBlock]:
        rest = b""
        for block, final, damage in _normal_blocks(stream):
            rest += block
            if _plain_bytes.covers(len(rest)) and final:
                yield from self.plain(io.StringIO(as_text(rest)))
            else:
                while True:
                    scanned = scan_games(rest, final=final)
                    if len(scanned):
                        yield self._block(rest, scanned)
                    self.lines += rest.count(b"\n", 0, scanned.used)
                    rest = rest[scanned.used :]  # it must be read with what follows
                    if not (scanned.used and rest and (final or len(rest) >= BLOCK)):  # one scan takes so many games
                        break
            if damage:
                raise damage
            if len(rest) > _MOST_HELD:  # longer than any game: what follows is read line by line
                yield from self.plain(lines_of(stream, rest))
                return

    def plain(self, lines: Iterator[str], *, comments: bool = False) -> Iterator[GameBlock]:
        columns, damage = GameColumns(), None
        try:
            for raw in pgn_text.split_games(lines, self.lines + 1):
                self.words = True
                self.index = pgn_text.read_raw(raw, self.index, self.file, columns, self.tally)
                if len(columns.moves) > (_COMMENTED_MOVES if comments else BLOCK):
                    yield columns_block(columns, comments=comments)
                    columns = GameColumns()
        except DAMAGE as error:
            damage = error
        if columns.rows or comments:
            yield columns_block(columns, comments=comments)
        if damage:
            raise damage

    def _block(self, data: bytes, scanned: ScannedGames) -> GameBlock:
        """Return the games that were found, those that were left being read in their places."""
        self.words = self.words or bool((scanned.status != LEFT).any())
        self.tally.count("no moves", int((scanned.status == NO_MOVES).sum()))
        steps = np.ones(len(scanned), dtype=np.int64)
        left, sizes = GameColumns(), []
        before = self.index
        for at in np.flatnonzero(scanned.status == LEFT).tolist():
            begin, end = int(scanned.begin[at]), int(scanned.begin[at + 1])
            self.index = before + int(steps[:at].sum())
            had = len(left.rows), self.index
            lines = io.StringIO(as_text(data[begin:end]))
            for raw in pgn_text.split_games(lines, self.lines + data.count(b"\n", 0, begin) + 1):
                self.words = True
                self.index = pgn_text.read_raw(raw, self.index, self.file, left, self.tally)
            sizes.append(len(left.rows) - had[0])
            steps[at] = self.index - had[1]
        self.index = before + int(steps.sum())
        number = before + np.cumsum(steps)
        read = np.flatnonzero(scanned.status == READ)
        found = GameBlock(
            _headers(data, scanned, read, number[read], self.file),
            np.concatenate([[0], scanned.offsets[read + 1]]).astype(np.int64),
            scanned.moves,
            *(_if_any(column) for column in (scanned.clocks, scanned.evals, scanned.mates)),
        )
        return _in_order(found, columns_block(left), scanned.status, sizes) if sizes else found


def _normal_blocks(stream: Any) -> Iterator[tuple[bytes, bool, Exception | None]]:
    """Yield blocks whose lines end in newlines, whether each is the last, and what damage ended it."""
    held = b""
    while True:
        block, damage = next_block(stream, BLOCK)
        final = len(block) < BLOCK
        if held or b"\r" in block:
            block, held = held + block, b""
            if block.endswith(b"\r") and not final:  # perhaps half of a line's end
                block, held = block[:-1], b"\r"
            block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        yield block, final, damage
        if final:
            return


class _Tags:
    """The values of a block's tags: what is done to a value is done once for all games that share it."""

    def __init__(self, data: bytes, scanned: ScannedGames, rows: Ints) -> None:
        self.data, self.begins, self.ends = data, scanned.tag_begins[rows], scanned.tag_ends[rows]
        self.known: dict[str, tuple[list[str], pa.Array]] = {}

    def column(self, tag: str, made: Callable[[str], Any], kind: pa.DataType) -> pa.Array:
        if tag not in self.known:
            place = GAME_TAGS.index(tag)
            coded = tag_values(self.data, self.begins[:, place], self.ends[:, place])
            self.known[tag] = (
                [pgn_text.unescaped(as_text(value)) for value in coded.dictionary.to_pylist()],
                coded.indices,
            )
        texts, codes = self.known[tag]
        return pa.array([made(text) for text in texts], type=kind).take(codes)


def _headers(data: bytes, scanned: ScannedGames, rows: Ints, number: Ints, file: str) -> pa.Table:
    """Return the headers of the games in these rows, as `header_from_tags` makes them one by one."""
    tags, text = _Tags(data, scanned, rows), pa.string()
    dated = tags.column("Date", lambda value: bool(re.search(r"\d", value)), pa.bool_())
    ended = pa.array([word or "*" for word in RESULT_WORDS], type=text).take(pa.array(scanned.result[rows]))
    start, mate = scanned.start[rows, 0], scanned.start[rows, 1]
    limit = float(-NO_MATE - 1)
    made = {
        "game": pa.nulls(len(rows), text),
        "file": pa.DictionaryArray.from_arrays(np.zeros(len(rows), dtype=np.int32), [file]).cast(text),
        "index": pa.array(number.astype(np.int32)),
        "white": tags.column("White", lambda value: clean_text(value, UNKNOWN_NAMES), text),
        "black": tags.column("Black", lambda value: clean_text(value, UNKNOWN_NAMES), text),
        "white_elo": tags.column("WhiteElo", elo_of, pa.int32()),
        "black_elo": tags.column("BlackElo", elo_of, pa.int32()),
        "date": pc.if_else(dated, tags.column("Date", day_of, text), tags.column("UTCDate", day_of, text)),
        "year": pc.if_else(dated, *(tags.column(tag, pgn_text.year_of, pa.int32()) for tag in ("Date", "UTCDate"))),
        "result": pc.coalesce(tags.column("Result", pgn_text.result_of, text), ended),
        "start_fen": pa.nulls(len(rows), text),
        "start_eval": pa.array(start, mask=np.isnan(start)),
        "start_mate": pa.array(np.clip(np.nan_to_num(mate), -limit, limit).astype(np.int16), mask=np.isnan(mate)),
    }
    plain = ("Event", "Site", "Round", "ECO", "Termination")
    made |= {tag.lower(): tags.column(tag, clean_text, text) for tag in plain}
    made["time_control"] = tags.column("TimeControl", clean_text, text)
    return pa.table([made[name] for name in HEADERS.names], schema=HEADERS)


def columns_block(columns: GameColumns, *, comments: bool = False) -> GameBlock:
    """Return games that came one by one as a block."""
    return GameBlock(
        columns.headers(),
        np.array(columns.offsets, dtype=np.int64),
        np.array(columns.moves, dtype=np.uint16),
        _if_any(np.array(columns.clocks, dtype=np.float32)),
        _if_any(np.array(columns.evals, dtype=np.float32)),
        _if_any(np.array(columns.mates, dtype=np.int16)),
        comments=pa.array(columns.comments, type=pa.string()) if comments else None,
    )


def _if_any(column: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
    known = column != NO_MATE if column.dtype == np.int16 else ~np.isnan(column)
    return column if known.any() else None


def joined(blocks: list[GameBlock]) -> GameBlock:
    """Return blocks one after another."""
    counts = [np.diff(block.offsets) for block in blocks]
    comments = [block.comments for block in blocks if block.comments is not None]
    return GameBlock(
        pa.concat_tables([block.headers for block in blocks]) if blocks else HEADERS.empty_table(),
        np.concatenate([[0], np.cumsum(np.concatenate(counts))] if blocks else [[0]]).astype(np.int64),
        np.concatenate([np.zeros(0, dtype=np.uint16), *(block.moves for block in blocks)]),
        _together(blocks, "clocks", np.float32(np.nan)),
        _together(blocks, "evals", np.float32(np.nan)),
        _together(blocks, "mates", np.int16(NO_MATE)),
        comments=pa.concat_arrays(comments) if comments else None,
    )


def _together(blocks: list[GameBlock], name: str, absent: Any) -> npt.NDArray[Any]:
    """Return a column of all blocks; where no block has it, one value is broadcast and takes no memory."""
    sizes = [len(block.moves) for block in blocks]
    columns = [getattr(block, name) for block in blocks]
    if all(column is None for column in columns):
        return np.broadcast_to(absent, (sum(sizes),))
    filled = [np.broadcast_to(absent, (n,)) if c is None else c for c, n in zip(columns, sizes, strict=True)]
    return np.concatenate(filled)


def _in_order(read: GameBlock, left: GameBlock, status: npt.NDArray[np.uint8], sizes: list[int]) -> GameBlock:
    both = joined([read, left])
    rows = np.zeros(len(status), dtype=np.int64)
    rows[status == READ] = 1
    rows[status == LEFT] = sizes
    is_left = np.repeat(status == LEFT, rows)
    order = np.empty(len(is_left), dtype=np.int64)
    order[~is_left] = np.arange((~is_left).sum())
    order[is_left] = len(read.headers) + np.arange(is_left.sum())
    offsets, flat = ragged_take(both.offsets, order)
    columns = {name: _if_any(getattr(both, name)[flat]) for name in ("clocks", "evals", "mates")}
    return GameBlock(both.headers.take(order), offsets, both.moves[flat], **columns)
