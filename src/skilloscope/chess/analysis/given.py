"""Games that come with their analysis: one JSON object per game, each position with the lines of every depth.

In: a file of `{"file", "white", "black", "white_elo", …, "rows": [{"ply", "fen", "n_legal", "played", "values":
{depth: [[move, "cp" or "mate", score], …]}}, …]}`. Out: the Analyses that a search would have given.

The moves between the rows are not in such a file, so its games have headers and positions but no moves. A game's
`index` there is not its number in the PGN file, so the id is made of this file and the line; the PGN file's name is
the `event`. A search of the played move alone (`restricted`) is not on the list's scale and is left where it is.

Whose answers these are, the file says: `"settings": {"engine": …, "net": …, "depth": …, …}` in a game is the key of its
search, as exports have it; or `"engine"` alone. Where it does not, whoever reads it may know and say so. Otherwise
only what the lines show is known, the depth: such answers are read, but nobody stores them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import chess
import numpy as np
import pyarrow as pa

from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.engine.lines import LineArray, code_from_uci, lines_from_lists
from skilloscope.chess.pgn.games import Games, unique_games
from skilloscope.chess.pgn.reading import HEADERS, header_from_tags
from skilloscope.chess.pgn.text import MainLine
from skilloscope.chess.positions import Positions
from skilloscope.core.errors import InputError, Tally
from skilloscope.core.files import BinaryDataError, open_lines
from skilloscope.core.inputs.unpacking import DAMAGE
from skilloscope.core.records import read_object

_UNKNOWN: Mapping[str, Any] = {
    "engine": None,
    "net": None,
    "depth": None,
    "nodes": None,
    "multipv": None,
    "hash_mb": None,
    "threads": None,
    "fen_rule": "full",
    "options": {},
}
"""The key of a search of which nothing is known; the positions are written in full."""

_MOST = 2**15
_TAGS = {
    "white": "White",
    "black": "Black",
    "white_elo": "WhiteElo",
    "black_elo": "BlackElo",
    "result": "Result",
    "date": "Date",
    "file": "Event",
}


def read_analysed(path: str | os.PathLike[str], settings_key: Mapping[str, Any] | None = None) -> Analyses:
    """Read analysed games; with a `settings_key` the caller states whose answers they are, where the file does not."""
    columns = _Columns()
    try:
        with open_lines(path) as lines:
            for number, line in enumerate(lines, start=1):
                columns.read(line, str(path), number)
    except BinaryDataError as error:
        raise InputError(f"{path} is not a file of analysed games: {error}") from error
    except DAMAGE as error:
        columns.tally.fault("damaged file", str(path), f"after game {len(columns.headers)}", str(error))
    key = columns.key(str(path), settings_key)
    return Analyses.from_answers(columns.positions(), key, columns.answers, imported=len(columns.answers))


def check_provenance(key: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Raise where nobody says which engine gave a file's answers and under which settings."""
    if absent := [name for name in ("engine", "multipv", "hash_mb") if key.get(name) is None]:
        raise InputError(
            f"{path} does not say whose answers it holds: no {', '.join(absent)}",
            hint='give each game of the file "settings", as the first line of an export has them',
        )


class _Columns:
    """Columns that grow game by game."""

    def __init__(self) -> None:
        self.headers: list[dict[str, Any]] = []
        self.rows: list[tuple[int, int, str, int, int]] = []
        self.answers: dict[str, LineArray] = {}
        self.stated: dict[str, dict[str, Any]] = {}
        self.tally = Tally()

    def read(self, line: str, file: str, number: int) -> None:
        """Append one game; one that cannot be read is a fault."""
        try:
            record = read_object(line)
            header = _header(record, file, number)
            rows, answers = _rows(record["rows"], len(self.headers))
            stated = _stated(record)
        except (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError) as error:
            self.tally.fault("unreadable analysis", file, f"line {number}", str(error)[:80])
            return
        self.stated.setdefault(json.dumps(stated, sort_keys=True), stated)
        self.headers.append(header)
        self.rows += rows
        self.answers |= answers

    def key(self, file: str, known: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the key of the answers: what the file states, else what the caller knows, else what the lines show."""
        if len(self.stated) > 1:
            raise InputError(f"{file} holds answers of several engines or settings", hint="one file, one of them")
        stated = next(iter(self.stated.values()), {})
        if stated and known and any(known.get(name) != value for name, value in stated.items()):
            raise InputError(f"{file} says {stated}, which is not what its answers are said to be: {dict(known)}")
        depth = max((int(lines["depth"].max()) for lines in self.answers.values()), default=None)
        return {**_UNKNOWN, "depth": depth, **(known or {}), **stated}

    def positions(self) -> Positions:
        """Return the positions, with games that have headers but no moves."""
        game, ply, fen, played, legal = zip(*self.rows, strict=True) if self.rows else ((), (), (), (), ())
        none = np.zeros(0, dtype=np.float32)
        offsets = np.zeros(len(self.headers) + 1, dtype=np.int64)
        headers = unique_games(pa.Table.from_pylist(self.headers, schema=HEADERS))
        games = Games(
            headers=headers,
            moves=none.astype(np.uint16),
            offsets=offsets,
            clocks=none,
            evals=none,
            mates=none.astype(np.int16),
            tally=self.tally,
        )
        return Positions(
            games=games,
            game=np.array(game, dtype=np.int32),
            ply=np.array(ply, dtype=np.int32),
            mover=np.array([text.split(" ")[1] == "b" for text in fen], dtype=np.int8),
            fen=pa.array(fen, type=pa.string()),
            played=np.array(played, dtype=np.uint16),
            n_legal=np.array(legal, dtype=np.int32),
            clock=np.full(len(fen), np.nan, dtype=np.float32),
        )


def _stated(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a game says of its judge: the whole key, or the name of the engine."""
    settings = dict(record.get("settings") or {})
    return settings | ({"engine": str(record["engine"])} if record.get("engine") else {})


def _header(record: dict[str, Any], file: str, number: int) -> dict[str, Any]:
    tags = {tag: str(record[name]) for name, tag in _TAGS.items() if record.get(name) is not None}
    return header_from_tags(tags, MainLine(), file, number)


def _rows(rows: list[dict[str, Any]], game: int) -> tuple[list[tuple[int, int, str, int, int]], dict[str, LineArray]]:
    listed, answers = [], {}
    for row in rows:
        depths = {
            depth: [[move, score if kind == "cp" else f"#{score}"] for move, kind, score in lines]
            for depth, lines in row["values"].items()
        }
        chess.Board(row["fen"])  # raises where it is no position
        if not any(depths.values()):
            raise InputError("no lines")
        answers[row["fen"]] = lines_from_lists(depths)
        listed.append((game, _small(row["ply"]), row["fen"], code_from_uci(row["played"]), _small(row["n_legal"])))
    return listed, answers


def _small(number: Any) -> int:
    if not isinstance(number, int) or not 0 <= number <= _MOST:
        raise InputError(f"{str(number)[:20]!r} is no number of moves")
    return number
