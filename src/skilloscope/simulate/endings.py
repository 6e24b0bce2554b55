"""How people end their games before the rules do: they resign, or they agree to a draw.

In: the material, the time in the game, both ratings and, where an engine looks on, what it says of the position, as
columns. Out: the chance that the mover resigns now, and that both agree to a draw. Logistic lines, fitted to rated
games by tools/fit_endings.py: two that know nothing of the position but its material, and two that know its value as
well, which tells far more.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib import resources

import chess
import numpy as np
import numpy.typing as npt
from scipy.special import expit

from skilloscope.chess.facts import PIECE_VALUES

Array = npt.NDArray[np.float64]

_MOST_PAWNS = 9.0  # what is more than a queen makes no difference
_UNIT_ELO, _ORIGIN_ELO = 450.0, 2100.0
_VALUES = {piece: PIECE_VALUES.get(chess.piece_symbol(piece), 1) for piece in chess.PIECE_TYPES if piece != chess.KING}


@dataclass(frozen=True, eq=False)
class Standing:
    """Where games stand, a row for each, from the view of the side to move."""

    ply: Array
    material: Array
    """Own material less the opponent's, in pawns."""
    material_before: Array
    """The same at the mover's turn before."""
    pieces: Array
    """The value of all pieces but kings and pawns, both sides together."""
    check: Array
    elo: Array
    opponent_elo: Array
    value: Array
    """What the engine says of the position, in pawns; NaN where it was not asked."""
    value_before: Array
    """The same at the mover's turn before."""

    @property
    def level(self) -> Array:
        """The mover's Elo in the units of the lines."""
        return (self.elo - _ORIGIN_ELO) / _UNIT_ELO

    def resigning(self) -> dict[str, Array]:
        """Return what the chance of a resignation is made of, by name."""
        lasting = np.log1p(np.clip(np.minimum(-self.material, -self.material_before), 0.0, _MOST_PAWNS))
        return {
            "constant": np.ones_like(self.elo),
            "behind for a move": lasting,
            "behind now": np.log1p(np.clip(-self.material, 0.0, _MOST_PAWNS)),
            "ahead now": np.log1p(np.clip(self.material, 0.0, _MOST_PAWNS)),
            "Elo": self.level,
            "behind for a move, by Elo": lasting * self.level,
            "ply": self.ply / 80,
            "log ply": np.log1p(self.ply),
            "opponent's Elo less own": (self.opponent_elo - self.elo) / 400,
            "check": self.check,
        }

    def agreeing(self) -> dict[str, Array]:
        """Return what the chance of a draw by agreement is made of, by name."""
        apart = np.log1p(np.minimum(np.abs(self.material), _MOST_PAWNS))
        return {
            "constant": np.ones_like(self.elo),
            "difference": apart,
            "difference, by Elo": apart * self.level,
            "Elo": self.level,
            "ply": self.ply / 80,
            "log ply": np.log1p(self.ply),
            "log ply, by Elo": np.log1p(self.ply) * self.level,
            "pieces": self.pieces / 62,
        }

    def resigning_seen(self, line: Array) -> dict[str, Array]:
        """Return what the chance of a resignation is made of where the value is known, the other line among it."""
        losing = np.log1p(np.clip(-self.value, 0.0, _MOST_PAWNS))
        return {
            "constant": np.ones_like(line),
            "by material": line,
            "losing": losing,
            "losing, by Elo": losing * self.level,
        }

    def agreeing_seen(self, line: Array) -> dict[str, Array]:
        """Return what the chance of a draw by agreement is made of where the value is known."""
        largest = np.fmax(np.abs(self.value), np.abs(self.value_before))
        apart = np.log1p(np.minimum(largest, _MOST_PAWNS))
        return {
            "constant": np.ones_like(line),
            "by material": line,
            "apart for a move": apart,
            "apart for a move, by Elo": apart * self.level,
        }


@dataclass(frozen=True)
class Endings:
    """The lines: coefficients by the names that `Standing` gives."""

    resign: Mapping[str, float]
    draw: Mapping[str, float]
    resign_seen: Mapping[str, float]
    draw_seen: Mapping[str, float]

    def chances(self, standing: Standing) -> tuple[Array, Array]:
        """Return the chances that the mover resigns, and that a draw is agreed."""
        resign, draw = weighed(standing.resigning(), self.resign), weighed(standing.agreeing(), self.draw)
        seen = np.isfinite(standing.value)
        return (
            expit(np.where(seen, weighed(standing.resigning_seen(resign), self.resign_seen), resign)),
            expit(np.where(seen, weighed(standing.agreeing_seen(draw), self.draw_seen), draw)),
        )


@cache
def shipped_endings() -> Endings:
    """Return the lines that ship with the package."""
    raw = json.loads((resources.files("skilloscope") / "data" / "endings.json").read_text(encoding="utf-8"))
    return Endings(**{field.name: raw[field.name] for field in fields(Endings)})


def material(board: chess.Board) -> tuple[int, int]:
    """Return White's material less Black's, and the value of all pieces but kings and pawns, in pawns.

    >>> material(chess.Board())
    (0, 62)
    """
    worth = [
        (value, board.pieces_mask(piece, True), board.pieces_mask(piece, False)) for piece, value in _VALUES.items()
    ]
    difference = sum(value * (white.bit_count() - black.bit_count()) for value, white, black in worth)
    whole = sum(value * (white | black).bit_count() for value, white, black in worth)
    return difference, whole - board.pawns.bit_count()


def standing_of(
    boards: Sequence[chess.Board],
    differences: Sequence[Sequence[int]],
    values: Sequence[Sequence[float]],
    elo: Array,
    opponent_elo: Array,
) -> Standing:
    """Return where games stand: White's material less Black's before each earlier move, and White's values since."""
    now = np.array([material(board) for board in boards], dtype=float).reshape(-1, 2)
    sign = np.array([1.0 if board.turn else -1.0 for board in boards])
    return Standing(
        ply=np.array([board.ply() for board in boards], dtype=float),
        material=sign * now[:, 0],
        material_before=sign * np.array([one[-2] for one in differences], dtype=float),
        pieces=now[:, 1],
        check=np.array([board.is_check() for board in boards], dtype=float),
        elo=elo,
        opponent_elo=opponent_elo,
        value=sign * np.array([one[-1] for one in values], dtype=float),
        value_before=sign * np.array([one[-3] for one in values], dtype=float),
    )


def weighed(columns: Mapping[str, Array], line: Mapping[str, float]) -> Array:
    """Return the line: the sum of its columns by their weights."""
    return np.asarray(np.sum([line[name] * column for name, column in columns.items()], axis=0))
