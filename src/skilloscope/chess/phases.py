"""Phases of a game by what is left on the board: full board, middlegame, endgame.

The value of all pieces but kings and pawns, both sides together, decides: 62 at the start with queen 9, rook 5, bishop
and knight 3. More than 52 is a full board (at most three minor pieces gone), 26 or less is an endgame (two rooks and a
minor piece each, or less), the rest is middlegame. The move number plays no part.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

PHASES = ("full board", "middlegame", "endgame")

_VALUES = {"q": 9, "r": 5, "b": 3, "n": 3}
_MIDDLEGAME, _ENDGAME = 52, 26  # at most


def piece_value(fen: str) -> int:
    """Return the value of all pieces but kings and pawns in a position, both sides together.

    >>> piece_value("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")
    62
    """
    board = fen.split(" ", 1)[0].lower()
    return sum(value * board.count(piece) for piece, value in _VALUES.items())


def phases_of(fens: Sequence[str | None]) -> npt.NDArray[np.object_]:
    """Return the phase of each position, None where the position is not known.

    >>> phases_of(["8/5k2/8/8/8/2R5/4K3/8 w - - 0 60", None]).tolist()
    ['endgame', None]
    """
    found = np.empty(len(fens), dtype=object)
    for row, fen in enumerate(fens):
        if fen:
            value = piece_value(fen)
            found[row] = PHASES[0] if value > _MIDDLEGAME else PHASES[1] if value > _ENDGAME else PHASES[2]
    return found
