"""Games that come with their analysis: one JSON object per game, each position with the lines of every depth.

In: a file of `{"file", "white", "black", "white_elo", …, "rows": [{"ply", "fen", "n_legal", "played", "values":
{depth: [[move, "cp" or "mate", score], …]}}, …]}`. Out: the Analyses that a search would have given.

The moves between the rows are not in such a file, so its games have headers and positions but no moves. A game's
`index` there is not its number in the PGN file, so the id is made of this file and the line; the PGN file's name is
the `event`. A search of the played move alone (`restricted`) is not on the list's scale and is left where it is.
"""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
import pyarrow as pa

from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.engine.lines import LineArray, code_from_uci, lines_from_lists
from skilloscope.chess.engine.settings import DFH13
from skilloscope.chess.pgn.games import Games, unique_games
from skilloscope.chess.pgn.reading import HEADERS, header_from_tags
from skilloscope.chess.pgn.text import MainLine
from skilloscope.chess.positions import Positions
from skilloscope.core.errors import InputError, Tally
from skilloscope.core.files import BinaryDataError, open_lines

_STOCKFISH = {"engine": "Stockfish 15.1", "net": "nn-ad9b42354671.nnue"}
_TAGS = {
    "white": "White",
    "black": "Black",
    "white_elo": "WhiteElo",
    "black_elo": "BlackElo",
    "result": "Result",
    "date": "Date",
    "file": "Event",
}


def read_analysed(path: str | os.PathLike[str], settings_key: dict[str, Any] | None = None) -> Analyses:
    """Read analysed games; without a key the answers are those of Stockfish 15.1 under the settings of DFH13."""
    key = DFH13.key(_STOCKFISH) if settings_key is None else settings_key
    columns = _Columns()
    try:
        with open_lines(path) as lines:
            for number, line in enumerate(lines, start=1):
                columns.read(line, str(path), number)
    except BinaryDataError as error:
        raise InputError(f"{path} is not a file of analysed games: {error}") from error
    positions = columns.positions()
    return Analyses.from_answers(positions, key, columns.answers, imported=len(columns.answers))


class _Columns:
    """Columns that grow game by game."""

    def __init__(self) -> None:
        self.headers: list[dict[str, Any]] = []
        self.rows: list[tuple[int, int, str, int, int]] = []
        self.answers: dict[str, LineArray] = {}
        self.tally = Tally()

    def read(self, line: str, file: str, number: int) -> None:
        """Append one game; one that cannot be read is a fault."""
        try:
            record = json.loads(line)
            header = _header(record, file, number)
            rows, answers = _rows(record["rows"], len(self.headers))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            self.tally.fault("unreadable analysis", file, f"line {number}", str(error))
            return
        self.headers.append(header)
        self.rows += rows
        self.answers |= answers

    def positions(self) -> Positions:
        """Return the positions, with games that have headers but no moves."""
        game, ply, fen, played, legal = zip(*self.rows, strict=True) if self.rows else ((), (), (), (), ())
        none = np.zeros(0, dtype=np.float32)
        offsets = np.zeros(len(self.headers) + 1, dtype=np.int64)
        headers = unique_games(pa.Table.from_pylist(self.headers, schema=HEADERS))
        games = Games(headers, none.astype(np.uint16), offsets, none, none, none.astype(np.int16), self.tally)
        return Positions(
            games,
            np.array(game, dtype=np.int32),
            np.array(ply, dtype=np.int32),
            np.array([text.split(" ")[1] == "b" for text in fen], dtype=np.int8),
            pa.array(fen, type=pa.string()),
            np.array(played, dtype=np.uint16),
            np.array(legal, dtype=np.int32),
            np.full(len(fen), np.nan, dtype=np.float32),
        )


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
        answers[row["fen"]] = lines_from_lists(depths)
        listed.append((game, int(row["ply"]), row["fen"], code_from_uci(row["played"]), int(row["n_legal"])))
    return listed, answers
