"""The positions that weigh most in a screening, with what people of that level play there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import chess
import numpy as np
import numpy.typing as npt

from skilloscope.chess.engine.lines import move_of_code
from skilloscope.chess.human.model import human
from skilloscope.studies.screen.moves import ScreenedMoves

_POSITIONS = 5
_USUAL = 3


@dataclass(frozen=True)
class WeightyPosition:
    """One move: where it was played, what it adds to the statistic, and what people of that rating play instead."""

    game: str
    move: str
    """As it is written, with its number."""
    fen: str
    weight: float
    """What it adds to the statistic beyond what was expected."""
    people: Mapping[str, float]
    """The likeliest moves of people of that rating, and the move played last, with their probabilities."""

    def as_dict(self) -> dict[str, Any]:
        """Return the position for JSON."""
        people = [{"move": move, "probability": share} for move, share in self.people.items()]
        return {**vars(self), "people": people}


def weighty_positions(moves: ScreenedMoves, rows: npt.NDArray[np.int64], statistic: str) -> list[WeightyPosition]:
    """Return the moves among the rows that raise the statistic most."""
    one = moves.statistics[statistic]
    beyond = (one.actual - one.draws.mean)[rows]
    order = np.lexsort((np.arange(len(rows)), -beyond))[:_POSITIONS]
    return [_position(moves, int(rows[at]), float(beyond[at])) for at in order.tolist() if beyond[at] > 0]


def _position(moves: ScreenedMoves, row: int, weight: float) -> WeightyPosition:
    game, ply = int(moves.game[row]), int(moves.ply[row])
    header = moves.games.headers.slice(game, 1).to_pylist()[0]
    board = chess.Board(header["start_fen"] or chess.STARTING_FEN)
    first = int(moves.games.offsets[game])
    for code in moves.games.moves[first : first + ply].tolist():
        board.push(move_of_code(code))
    played = move_of_code(int(moves.games.moves[first + ply]))
    answer = human().moves(board.fen(), float(moves.elo[row]))
    chances = dict(zip(answer.san, answer.probability[:, 0].tolist(), strict=True))
    san = board.san(played)
    shown = {name: chances[name] for name in list(chances)[:_USUAL] if name != san}
    number = f"{board.fullmove_number}{'.' if board.turn else '…'}"
    return WeightyPosition(header["game"], f"{number} {san}", board.fen(), weight, {**shown, san: chances[san]})
