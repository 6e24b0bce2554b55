"""Chess960: which positions are its own, and how they and their castling are written.

Only the right to castle tells Chess960 from usual chess: a position without it, or with king and rooks where they
usually stand, is one of usual chess, whatever game it comes from. So a FEN tells by itself what it is: where a castling
is one of Chess960 alone, the rooks are named by their files (`HAha`), and a king castles by taking his own rook
(`g1h1`), as engines write it under UCI_Chess960. Once the last such right is lost, all is as usual.
"""

from __future__ import annotations

import chess


def is_chess960(fen: str | None) -> bool:
    """Return whether a FEN gives a right to castle that only Chess960 knows.

    >>> is_chess960("bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w HFhf - 0 1"), is_chess960(chess.STARTING_FEN)
    (True, False)
    """
    fields = fen.split(" ") if fen else []
    return len(fields) > 2 and not set(fields[2]) <= set("KQkq-")


def board_of_fen(fen: str | None) -> chess.Board:
    """Return the board of a FEN, which castles as the FEN says; without one the usual start.

    >>> board_of_fen("4k3/8/8/8/8/8/8/R4K1R w HA - 0 1").san(chess.Move.from_uci("f1h1"))
    'O-O'
    """
    return chess.Board(fen or chess.STARTING_FEN, chess960=is_chess960(fen))


def position_fen(board: chess.Board) -> str:
    """Return the FEN of a board, with the files of the rooks where a castling is one of Chess960.

    >>> position_fen(chess.Board.from_chess960_pos(0))
    'bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w HFhf - 0 1'
    >>> position_fen(chess.Board.from_chess960_pos(518)) == chess.STARTING_FEN
    True
    """
    return board.shredder_fen() if board.has_chess960_castling_rights() else board.fen()


def make_move(board: chess.Board, move: chess.Move) -> None:
    """Play a move; where the last right to castle of Chess960 is lost by it, the board is one of usual chess."""
    board.push(move)
    board.chess960 = board.chess960 and board.has_chess960_castling_rights()
