"""One source of PGN read into columns: which games are kept, what their headers say, what is wrong with the rest.

In: a source. Out: its games appended to GameColumns, its faults to a tally.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable
from typing import Any

import chess
import pyarrow as pa

from skilloscope.chess.pgn.text import MainLine, RawGame, Watcher, main_line, split_games
from skilloscope.core.errors import Tally
from skilloscope.core.files import DAMAGE, BinaryDataError, Source, open_lines

HEADERS = pa.schema(
    [
        ("game", pa.string()),
        ("file", pa.string()),
        ("index", pa.int32()),
        ("white", pa.string()),
        ("black", pa.string()),
        ("white_elo", pa.int32()),
        ("black_elo", pa.int32()),
        ("date", pa.string()),
        ("year", pa.int32()),
        ("event", pa.string()),
        ("site", pa.string()),
        ("round", pa.string()),
        ("result", pa.string()),
        ("eco", pa.string()),
        ("time_control", pa.string()),
        ("start_fen", pa.string()),
        ("start_eval", pa.float64()),
        ("start_mate", pa.int16()),
    ]
)
"""The columns of a game's header; whatever is unknown is null, and so is `start_fen` of the usual position.

`start_eval` (pawns) and `start_mate` (moves) are the evaluation in a comment before the first move, white's view."""

_UNKNOWN_TEXT = {"", "?", "-"}
_UNKNOWN_NAMES = _UNKNOWN_TEXT | {"NN", "N.N.", "N. N."}  # nomen nescio: not one player of many games
_STANDARD = {"", "standard", "normal", "chess", "from position", "fromposition", "classical", "?"}
_RESULTS = {"1-0", "0-1", "1/2-1/2"}
_MOST_MOVES = 10_000  # no game lasts longer, and a FEN may say any number


class GameColumns:
    """Columns that grow game by game."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.moves = array("H")
        self.clocks = array("f")
        self.evals = array("f")
        self.mates = array("h")
        self.offsets = array("q", [0])

    def append(self, header: dict[str, Any], line: MainLine) -> None:
        """Append one game."""
        self.rows.append(header)
        self.moves.extend(line.moves)
        self.clocks.extend(line.clocks)
        self.evals.extend(line.evals)
        self.mates.extend(line.mates)
        self.offsets.append(len(self.moves))

    def headers(self) -> pa.Table:
        """Return the headers as a table."""
        return pa.Table.from_pylist(self.rows, schema=HEADERS)


Watch = Callable[[int, str | None, str | None], Watcher | None]
"""Who is to see the boards of a game, if anybody: by the row that it will have, and by White and Black."""


def read_source(source: Source, file: str, columns: GameColumns, tally: Tally, watch: Watch | None = None) -> None:
    """Append the games of one source, called `file` in every fault."""
    index, words = 0, False
    try:
        with open_lines(source) as lines:
            for raw in split_games(lines):
                words = True
                index = _read_raw(raw, index, file, columns, tally, watch)
    except BinaryDataError as error:
        tally.fault("not a PGN file: binary data", file, f"byte {error.offset}")
    except DAMAGE as error:
        tally.fault("damaged file", file, f"after game {index}", str(error))
    else:
        if not words:
            tally.fault("empty file", file, "byte 0")
        elif index == 0:
            tally.fault("no game in the file", file, "whole file")


def _read_raw(raw: RawGame, index: int, file: str, columns: GameColumns, tally: Tally, watch: Watch | None) -> int:
    """Read a raw game, and the games without tags that may follow its result; return the number of the last."""
    tags, movetext, faults, at = raw.tags, "\n".join(raw.movetext).rstrip(), raw.faults, 0
    while True:
        board, reason = _start(tags)
        watcher = watch(len(columns.rows), *_players(tags)) if watch else None
        line = MainLine() if board is None else main_line(movetext, board, watcher, at=at)
        if not tags and not line.moves:  # words, but no game
            if line.fault and index:
                tally.fault("text outside any game", file, f"after game {index}", line.fault[2])
            return index
        index += 1
        for what, place, detail in [*faults, *line.odd]:
            tally.fault(what, file, f"game {index}, {place}", detail)
        _say_what_is_wrong(tags, line, reason, f"game {index}", file, tally)
        if line.moves:
            columns.append(header_from_tags(tags, line, file, index), line)
        if line.end is None or line.end >= len(movetext):
            return index
        tags, faults, at = {}, [], line.end


def _say_what_is_wrong(tags: dict[str, str], line: MainLine, reason: str, place: str, file: str, tally: Tally) -> None:
    """Count a game, or name its fault, if something is wrong with it; the moves before a fault are kept."""
    if reason.startswith("variant"):
        tally.count(reason)
    elif reason:
        tally.fault(reason, file, place, tags.get("FEN", "")[:90])
    elif line.fault:
        tally.fault(line.fault[0], file, f"{place}, {line.fault[1]}", line.fault[2])
    elif not line.moves:
        tally.count("no moves")


def _start(tags: dict[str, str]) -> tuple[chess.Board | None, str]:
    """Return the board before the first move, or why there is none."""
    variant = tags.get("Variant", "").strip().lower()
    if variant not in _STANDARD:
        return None, f"variant: {variant}"
    fen = tags.get("FEN", "").strip()
    if not fen:
        return chess.Board(), ""
    try:
        board = chess.Board(fen)
    except ValueError:
        return None, "unreadable FEN"
    possible = board.is_valid() and max(board.fullmove_number, board.halfmove_clock) <= _MOST_MOVES
    return (board, "") if possible else (None, "impossible starting position")


def header_from_tags(tags: dict[str, str], line: MainLine, file: str, index: int) -> dict[str, Any]:
    """Return a game's row of the headers, still without its id."""
    date = next((d for d in (tags.get("Date"), tags.get("UTCDate")) if d and re.search(r"\d", d)), None)
    result = tags.get("Result", "").replace("½", "1/2").strip()
    year = re.match(r"\s*(\d{4})", date or "")
    return {
        "file": file,
        "index": index,
        **dict(zip(("white", "black"), _players(tags), strict=True)),
        "white_elo": _elo(tags.get("WhiteElo")),
        "black_elo": _elo(tags.get("BlackElo")),
        "date": _text(date),
        "year": int(year[1]) if year and int(year[1]) else None,
        "event": _text(tags.get("Event")),
        "site": _text(tags.get("Site")),
        "round": _text(tags.get("Round")),
        "result": result if result in _RESULTS else line.result or "*",
        "eco": _text(tags.get("ECO")),
        "time_control": _text(tags.get("TimeControl")),
        "start_fen": line.start_fen,
        "start_eval": line.start_eval,
        "start_mate": line.start_mate,
    }


def _players(tags: dict[str, str]) -> tuple[str | None, str | None]:
    """Return White and Black, None where unknown."""
    return _text(tags.get("White"), _UNKNOWN_NAMES), _text(tags.get("Black"), _UNKNOWN_NAMES)


def _text(value: str | None, unknown: set[str] = _UNKNOWN_TEXT) -> str | None:
    text = " ".join((value or "").split())
    return None if text in unknown else text


def _elo(value: str | None) -> int | None:
    match = re.match(r"\s*(\d{3,4})(?!\d)", value or "")
    return int(match[1]) or None if match else None
