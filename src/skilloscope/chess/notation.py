"""Moves as people write them: standard algebraic notation from a position and a move of the engine's form."""

from __future__ import annotations

import chess
from skilloscope.core.errors import InputError


def san(fen: str, move: str) -> str:
    """Return a move in standard algebraic notation.

    >>> san(chess.STARTING_FEN, "g1f3")
    'Nf3'
    """
    board = chess.Board(fen)
    try:
        return board.san(board.parse_uci(move))
    except ValueError as error:
        raise InputError(f"{move!r} is no move in {fen}") from error
