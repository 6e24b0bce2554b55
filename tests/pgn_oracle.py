"""PGN as the readable reader reads it, game by game through python-chess: the oracle of the compiled one."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from unittest.mock import patch

import chess.pgn

from skilloscope.chess.moves import move_code
from skilloscope.chess.pgn import blocks
from skilloscope.chess.pgn import positions as replay
from skilloscope.chess.pgn.games import Games
from skilloscope.chess.pgn.text import GameColumns, PlainWork, read_raw, split_games
from skilloscope.core.errors import Tally
from skilloscope.core.files import DAMAGE, BinaryDataError, Source, open_lines, source_name

COLUMNS = ("moves", "offsets", "clocks", "evals", "mates")


def plain_games(source: Source) -> Games:
    """Return the games of a source without a compiled line of code."""
    file, columns, tally, index, words = source_name(source) or "<stream 1>", GameColumns(), Tally(), 0, False
    try:
        with open_lines(source) as lines:
            for raw in split_games(lines):
                words = True
                index = read_raw(raw, index, file, columns, tally)
    except BinaryDataError as error:
        tally.fault("not a PGN file: binary data", file, f"byte {error.offset}")
    except DAMAGE as error:
        tally.fault("damaged file", file, f"after game {index}", str(error))
    else:
        if not words:
            tally.fault("empty file", file, "byte 0")
        elif index == 0:
            tally.fault("no game in the file", file, "whole file")
    return Games.from_columns(columns, tally)


def games_of_python_chess(text: str) -> list[tuple[str | None, list[int]]]:
    """Return White's name and the moves of each game with moves that python-chess itself finds in a text."""
    file, found = io.StringIO(text), []
    while game := chess.pgn.read_game(file):
        moves = [move_code(move) for move in game.mainline_moves()]
        name = game.headers.get("White", "?")
        found += [(None if name == "?" else name, moves)] if moves else []
    return found


@contextlib.contextmanager
def plainly() -> Iterator[None]:
    """Let plain code do what is little work, as it does in a fresh process."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(patch.object(PlainWork, "over", False))
        for module, name, amount in ((blocks, "_plain_bytes", 1 << 17), (replay, "_plain_plies", 2000)):
            stack.enter_context(patch.object(module, name, PlainWork(amount)))
        yield


def difference(one: Games, two: Games) -> str:
    """Return in which column two batches of games differ; nothing where they are the same to the bit."""
    if not one.headers.equals(two.headers):
        return "headers"
    for name in COLUMNS:
        if getattr(one, name).tobytes() != getattr(two, name).tobytes():
            return name
    return "" if one.tally == two.tally else f"tally: {one.tally} and {two.tally}"
