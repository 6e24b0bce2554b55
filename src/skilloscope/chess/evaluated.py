"""Games with an evaluation per move as JSON lines, one game a line.

In: a file (.ndjson, .jsonl, packed or not) whose objects hold `moves` (as UCI writes them) and `stockfish_eval`
(centipawns, white's view). Out: Evaluations.

The lists that are about repeat every value: where all values stand twice, one of each is taken. They begin after the
first moves (usually six) and end with the last: a list that is shorter than the game is set against its end. The
values before it are unknown.
"""

from __future__ import annotations

import json
import os
from typing import Any

import chess
import numpy as np

from skilloscope.chess.engine.lines import MATE_CAP, move_code
from skilloscope.chess.evaluations import Evaluations, with_ends
from skilloscope.chess.pgn.games import Games, unique_games
from skilloscope.chess.pgn.reading import GameColumns, header_from_tags
from skilloscope.chess.pgn.text import NO_MATE, MainLine
from skilloscope.core.errors import Tally
from skilloscope.core.files import DAMAGE, BinaryDataError, open_lines, source_name

_TAGS = {
    "white": "White",
    "black": "Black",
    "white_elo": "WhiteElo",
    "black_elo": "BlackElo",
    "result": "Result",
    "event": "Event",
    "date": "Date",
    "ECO": "ECO",
}
_NO_NAMES = {"?", "??", ""}


def read_evaluated(path: str | os.PathLike[str], *, mate_cap: float = MATE_CAP) -> Evaluations:
    """Read games with their evaluations; a line that cannot be read is a fault, and the reading goes on.

    Players without a name are called after their game, so that their moves are not lost: `game 12, white`.
    """
    file = source_name(path)
    columns, tally = GameColumns(), Tally()
    lists: list[list[float]] = []
    try:
        with open_lines(path) as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    _append(line, number, file, columns, lists, tally)
    except BinaryDataError as error:
        tally.fault("binary data", file, f"byte {error.offset}")
    except DAMAGE as error:
        tally.fault("damaged file", file, f"after game {len(lists)}", str(error))
    games = Games(
        unique_games(columns.headers()),
        np.array(columns.moves, dtype=np.uint16),
        np.array(columns.offsets, dtype=np.int64),
        np.array(columns.clocks, dtype=np.float32),
        np.array(columns.evals, dtype=np.float32),
        np.array(columns.mates, dtype=np.int16),
        tally,
    )
    values = np.full(len(games.moves) + len(games), np.nan)
    for game, centipawns in enumerate(lists):
        end = int(games.offsets[game + 1]) + game + 1
        values[end - len(centipawns) : end] = np.clip(np.array(centipawns) / 100, -mate_cap, mate_cap)
    about = {"source": "evaluations in the file", "mate_cap": mate_cap}
    return Evaluations(games, with_ends(games, values, mate_cap), None, tally, about)


def without_doubles(values: list[Any]) -> list[Any]:
    """Return the values once each, where the list repeats all of them.

    >>> without_doubles([16, 16, 15, 15]), without_doubles([16, 15, 15])
    ([16, 15], [16, 15, 15])
    """
    doubled = len(values) % 2 == 0 and all(values[i] == values[i + 1] for i in range(0, len(values), 2))
    return values[::2] if doubled else values


def _append(line: str, number: int, file: str, columns: GameColumns, lists: list[list[float]], tally: Tally) -> None:
    place = f"line {number}"
    try:
        row = json.loads(line)
        played, values = row["moves"], without_doubles(row.get("stockfish_eval") or [])
        moves = _moves(played)
        centipawns = [float(value) for value in values]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        tally.fault("unreadable game", file, place, str(error)[:80])
        return
    if not moves:
        tally.count("no moves")
        return
    if len(centipawns) > len(moves) + 1:
        tally.fault("more evaluations than positions", file, place, f"{len(centipawns)} for {len(moves)} moves")
        return
    if not centipawns:
        tally.count("game without evaluations")
    main = MainLine(moves, [np.nan] * len(moves), [np.nan] * len(moves), [NO_MATE] * len(moves))
    tags = {tag: str(row[name]) for name, tag in _TAGS.items() if row.get(name) is not None}
    for side in ("White", "Black"):
        if tags.get(side, "") in _NO_NAMES:
            tags[side] = f"game {number}, {side.lower()}"
    columns.append(header_from_tags(tags, main, file, number), main)
    lists.append(centipawns)


def _moves(played: list[str]) -> list[int]:
    """Return the codes of the moves, each checked on the board."""
    board = chess.Board()
    codes = []
    for uci in played:
        move = board.parse_uci(uci)
        codes.append(move_code(move))
        board.push(move)
    return codes
