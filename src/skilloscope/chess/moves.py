"""How moves are written: 16-bit codes, UCI, SAN, the castling of Chess960; and what a raw score is worth in pawns.

Everything else in chess/ is built on this file, and it imports nothing of ours but core. A move is coded as
from | to << 6 | promotion << 12 with the squares and pieces of python-chess; the null move is 0.

Chess960: only castling rights distinguish it from standard chess. A position without such rights, or with king and
rooks on their usual squares, is one of standard chess whatever game it comes from. So the FEN alone is enough: where a
castling is possible in Chess960 only, the rooks are named by their files (`HAha`) and the king castles by capturing
its own rook (`g1h1`), as engines write it under UCI_Chess960. After the last such right is lost, all is as usual.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import chess
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skilloscope.core.columns import Array
from skilloscope.core.errors import InputError

MATE_CAP = 39.0
"""The value of a mate in pawns: all the material of one side at the start [FER12 sect. 3]."""


def move_code(move: chess.Move) -> int:
    """Return a move as 16 bits: from | to << 6 | promotion << 12; the null move is 0."""
    return move.from_square | move.to_square << 6 | (move.promotion or 0) << 12


def move_of_code(code: int) -> chess.Move:
    """Return the move of a code."""
    return chess.Move(code & 63, code >> 6 & 63, code >> 12 or None)


def move_uci(code: int | np.integer[Any]) -> str:
    """Return the move of a code in UCI notation.

    >>> move_uci(code_from_uci("e7e8q"))
    'e7e8q'
    """
    return move_of_code(int(code)).uci()


def moves_uci(codes: npt.NDArray[np.uint16]) -> pa.Array:
    """Return the moves in UCI notation, null for null moves; each distinct move is formatted once."""
    distinct, places = np.unique(codes, return_inverse=True)
    return pa.array([move_uci(code) if code else None for code in distinct], type=pa.string()).take(pa.array(places))


@cache
def code_from_uci(uci: str) -> int:
    """Return the code of a move in UCI notation; castling is a king's move by two squares (`e1g1`)."""
    try:
        return move_code(chess.Move.from_uci(uci))
    except ValueError as error:
        raise InputError(f"{uci!r} is not a move as UCI writes it") from error


def legal_moves(fen: str) -> set[int]:
    """Return the codes of the legal moves; an engine may crash on a FEN that this refuses."""
    try:
        board = board_of_fen(fen)
    except ValueError as error:
        raise InputError(f"not a FEN: {fen!r} ({error})") from error
    if not board.is_valid():
        raise InputError(f"not a position that chess allows: {fen!r}")
    legal = {move_code(move) for move in board.legal_moves}
    if not legal:
        raise InputError(f"no legal move in {fen!r}")
    return legal


def san(fen: str, move: str) -> str:
    """Return a move (in UCI notation) in standard algebraic notation.

    >>> san("4k3/8/8/8/8/8/8/R4K1R w HA - 0 1", "f1h1")
    'O-O'
    """
    board = board_of_fen(fen)
    try:
        return board.san(board.parse_uci(move))
    except ValueError as error:
        raise InputError(f"{move!r} is not a move in {fen}") from error


def sans(start: str | None, moves: Sequence[str]) -> list[str]:
    """Return the moves of a game (in UCI notation) in standard algebraic notation.

    >>> sans(None, ["g1f3", "d7d5"])
    ['Nf3', 'd5']
    """
    board, written = board_of_fen(start), []
    for uci in moves:
        move = board.parse_uci(uci)
        written.append(board.san(move))
        make_move(board, move)
    return written


def is_chess960(fen: str | None) -> bool:
    """Return whether a FEN has a castling right that exists in Chess960 only.

    >>> is_chess960("bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w HFhf - 0 1"), is_chess960(chess.STARTING_FEN)
    (True, False)
    """
    fields = fen.split(" ") if fen else []
    return len(fields) > 2 and not set(fields[2]) <= set("KQkq-")


def board_of_fen(fen: str | None) -> chess.Board:
    """Return the board of a FEN, with the castling rules that the FEN implies; None is the usual starting position.

    >>> board_of_fen("4k3/8/8/8/8/8/8/R4K1R w HA - 0 1").san(chess.Move.from_uci("f1h1"))
    'O-O'
    """
    return chess.Board(fen or chess.STARTING_FEN, chess960=is_chess960(fen))


def position_fen(board: chess.Board) -> str:
    """Return the FEN of a board; castling rights of Chess960 name the files of the rooks.

    >>> position_fen(chess.Board.from_chess960_pos(0))
    'bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w HFhf - 0 1'
    >>> position_fen(chess.Board.from_chess960_pos(518)) == chess.STARTING_FEN
    True
    """
    return board.shredder_fen() if board.has_chess960_castling_rights() else board.fen()


def make_move(board: chess.Board, move: chess.Move) -> None:
    """Play a move; once it ends the last castling right of Chess960, the board is one of standard chess."""
    board.push(move)
    board.chess960 = board.chess960 and board.has_chess960_castling_rights()


def value_pawns(mate: npt.ArrayLike, score: npt.ArrayLike, cap: float = MATE_CAP) -> Array:
    """Return raw scores as pawns, mover's view: clipped to ± cap; a mate is + cap, or − cap (in 0: mated).

    >>> value_pawns([0, 0, 1, 1, 1], [25, -9000, 3, -2, 0])
    array([  0.25, -39.  ,  39.  , -39.  , -39.  ])
    """
    raw = np.asarray(score, dtype=np.float64)
    return np.where(np.asarray(mate, dtype=bool), np.where(raw > 0, cap, -cap), np.clip(raw / 100, -cap, cap))
