"""One game of PGN at a time, through python-chess: whether it is kept, what its headers say, what is wrong with it.

In: a game as text. Out: a row of GameColumns, its faults in a tally. The compiled reader makes the same of most games;
what it leaves comes here.
"""

from __future__ import annotations

import re
from array import array
from typing import Any

import chess
import pyarrow as pa

from skilloscope.chess.pgn.text import MainLine, RawGame, main_line
from skilloscope.core.errors import Tally

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
        ("termination", pa.string()),
        ("start_fen", pa.string()),
        ("start_eval", pa.float64()),
        ("start_mate", pa.int16()),
    ]
)
"""The columns of a game's header; whatever is unknown is null, and so is `start_fen` of the usual position.

`start_eval` (pawns) and `start_mate` (moves) are the evaluation in a comment before the first move, white's view."""

UNKNOWN_TEXT = frozenset({"", "?", "-"})
UNKNOWN_NAMES = UNKNOWN_TEXT | {"NN", "N.N.", "N. N."}  # nomen nescio: not one player of many games
_STANDARD = {"", "standard", "normal", "chess", "from position", "fromposition", "classical", "?"}
_CHESS960 = {"chess960", "chess 960", "fischerandom", "fischerrandom", "fischer random", "freestyle", "freestyle chess"}
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
        self.comments: list[str | None] = []

    def append(self, header: dict[str, Any], line: MainLine) -> None:
        """Append one game."""
        self.rows.append(header)
        self.moves.extend(line.moves)
        self.clocks.extend(line.clocks)
        self.evals.extend(line.evals)
        self.mates.extend(line.mates)
        self.offsets.append(len(self.moves))
        said: dict[int, list[str]] = {}
        for at, text in line.comments:
            said.setdefault(at, []).append(text)
        self.comments.extend(" ".join(said.get(at, [])) or None for at in range(len(line.moves) + 1))

    def headers(self) -> pa.Table:
        """Return the headers as a table."""
        return pa.Table.from_pylist(self.rows, schema=HEADERS)


def read_raw(raw: RawGame, index: int, file: str, columns: GameColumns, tally: Tally) -> int:
    """Read a raw game, and the games without tags that may follow its result; return the number of the last."""
    tags, movetext, faults, at = raw.tags, "\n".join(raw.movetext).rstrip(), raw.faults, 0
    while True:
        board, reason = _start(tags)
        line = MainLine() if board is None else main_line(movetext, board, at=at)
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
    if variant not in _STANDARD | _CHESS960:
        return None, f"variant: {variant}"
    fen = tags.get("FEN", "").strip()
    if not fen:
        return (None, "Chess960 without a starting position") if variant in _CHESS960 else (chess.Board(), "")
    try:
        board = chess.Board(fen, chess960=variant in _CHESS960)
    except ValueError:
        return None, "unreadable FEN"
    board.chess960 = board.chess960 and board.has_chess960_castling_rights()
    possible = board.is_valid() and max(board.fullmove_number, board.halfmove_clock) <= _MOST_MOVES
    return (board, "") if possible else (None, "impossible starting position")


def header_from_tags(tags: dict[str, str], line: MainLine, file: str, index: int) -> dict[str, Any]:
    """Return a game's row of the headers, still without its id."""
    date = day_of(tags.get("Date", "")) or day_of(tags.get("UTCDate", "")) or ""
    return {
        "file": file,
        "index": index,
        **dict(zip(("white", "black"), _players(tags), strict=True)),
        "white_elo": elo_of(tags.get("WhiteElo", "")),
        "black_elo": elo_of(tags.get("BlackElo", "")),
        "date": date or None,
        "year": year_of(date),
        "event": clean_text(tags.get("Event", "")),
        "site": clean_text(tags.get("Site", "")),
        "round": clean_text(tags.get("Round", "")),
        "result": result_of(tags.get("Result", "")) or line.result or "*",
        "eco": clean_text(tags.get("ECO", "")),
        "time_control": clean_text(tags.get("TimeControl", "")),
        "termination": clean_text(tags.get("Termination", "")),
        "start_fen": line.start_fen,
        "start_eval": line.start_eval,
        "start_mate": line.start_mate,
    }


def clean_text(value: str, unknown: frozenset[str] = UNKNOWN_TEXT) -> str | None:
    """Return the text of a tag without superfluous blanks; None where it says that nothing is known."""
    text = " ".join(value.split())
    return None if text in unknown else text


def elo_of(value: str) -> int | None:
    """Return the rating that a tag tells."""
    match = re.match(r"\s*(\d{3,4})(?!\d)", value)
    return int(match[1]) or None if match else None


def day_of(value: str) -> str | None:
    """Return the date that a tag tells, as it is written; None where it has no digit."""
    return clean_text(value) if re.search(r"\d", value) else None


def year_of(value: str) -> int | None:
    """Return the year of a date."""
    match = re.match(r"\s*(\d{4})", value)
    return int(match[1]) or None if match else None


def result_of(value: str) -> str | None:
    """Return the result that a tag tells, None where it tells none."""
    result = value.replace("½", "1/2").strip()
    return result if result in _RESULTS else None


def _players(tags: dict[str, str]) -> tuple[str | None, str | None]:
    """Return White and Black, None where unknown."""
    return clean_text(tags.get("White", ""), UNKNOWN_NAMES), clean_text(tags.get("Black", ""), UNKNOWN_NAMES)
