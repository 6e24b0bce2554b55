"""The human model: the probability of every legal move at any Elo.

logit(m, E) = Σ_j b_j(E)·L_j(m),  b = (1, x, x² − ½, x³ − x),  x = (E − 2100) / 450, and a softmax over exactly the
legal moves. The network gives four numbers a move, once; every Elo is then free.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import chess
import numpy as np
import numpy.typing as npt

from skilloscope.chess.human import kernels
from skilloscope.chess.human.encoding import Boards, playable_board
from skilloscope.chess.human.network import BATCH, Network, shipped_network
from skilloscope.chess.rules import MOST_MOVES, N_FROM_TO
from skilloscope.core.columns import ragged_take
from skilloscope.core.errors import InputError, OptionError

Array = npt.NDArray[np.float64]

ELO_RANGE = (700.0, 3000.0)
"""Where the cubic in Elo may be read; the training's ratings lie between 700 and 2900."""

AXIS_SHARE, AXIS_KNEE, AXIS_WIDTH = 0.35, 1550.0, 80.0
"""The network draws ratings below about 1500 towards the middle, where most games are; fitted on held-out players."""

_CHUNK = 64 * BATCH


@dataclass(frozen=True, eq=False, repr=False)
class HumanChoices:
    """All legal moves of many positions, four coefficients each: position i owns offsets[i]:offsets[i + 1]."""

    offsets: npt.NDArray[np.int64]
    moves: npt.NDArray[np.uint16]
    """from + 64·to + 4096·promotion, in the board's own squares, pieces as python-chess numbers them."""
    coefficients: npt.NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        return f"<HumanChoices: {len(self):,} positions, {len(self.moves):,} legal moves>"

    def take(self, rows: npt.NDArray[np.int64]) -> HumanChoices:
        """Return the choices of some positions, in the order given."""
        offsets, entries = ragged_take(self.offsets, rows)
        return HumanChoices(offsets, self.moves[entries], self.coefficients[entries])

    def log_probabilities(self, elo: npt.ArrayLike) -> Array:
        """Return log p of every legal move, a column for each Elo."""
        logits = self.coefficients.astype(np.float64) @ elo_basis(elo).T
        first, counts = self.offsets[:-1], np.diff(self.offsets)
        top = np.maximum.reduceat(logits, first)
        total = np.add.reduceat(np.exp(logits - np.repeat(top, counts, axis=0)), first)
        return np.asarray(logits - np.repeat(top + np.log(total), counts, axis=0))

    def own_log_probabilities(self, elo: npt.NDArray[np.float64]) -> Array:
        """Return log p of every legal move, each position at an Elo of its own."""
        counts = np.diff(self.offsets)
        basis = np.repeat(elo_basis(elo), counts, axis=0)
        logits = (self.coefficients.astype(np.float64) * basis).sum(axis=1)
        top = np.maximum.reduceat(logits, self.offsets[:-1]) if len(self) else np.zeros(0)
        total = np.add.reduceat(np.exp(logits - np.repeat(top, counts)), self.offsets[:-1]) if len(self) else top
        return np.asarray(logits - np.repeat(top + np.log(total), counts))

    def index_of(self, moves: npt.NDArray[np.uint16]) -> npt.NDArray[np.int64]:
        """Return the place of one move per position among its legal moves; −1 where it is not legal."""
        counts = np.diff(self.offsets)
        hit = self.moves == np.repeat(np.asarray(moves, dtype=np.uint16), counts)
        out = np.full(len(self), -1, dtype=np.int64)
        rows = np.repeat(np.arange(len(self)), counts)[hit]
        out[rows] = np.flatnonzero(hit) - self.offsets[rows]
        return out


@dataclass(frozen=True)
class HumanMoves:
    """What people play in one position: a row per legal move, likeliest first, a column per Elo."""

    fen: str
    elo: tuple[float, ...]
    moves: tuple[str, ...]
    san: tuple[str, ...]
    probability: Array


class Human:
    """What people of a given strength play.

    >>> answer = human().moves(chess.STARTING_FEN, [1500, 2500])  # doctest: +SKIP
    >>> answer.san[:2]  # doctest: +SKIP
    ('e4', 'd4')
    """

    def __init__(self, network: Network) -> None:
        self.network = network

    def choices(self, boards: Boards, *, progress: Callable[[int], None] | None = None) -> HumanChoices:
        """Return all legal moves of the positions with their coefficients; `progress` is told how many are done."""
        parts = []
        for begin in range(0, len(boards), _CHUNK):
            parts.append(self._chunk(boards[begin : begin + _CHUNK]))
            if progress:
                progress(min(begin + _CHUNK, len(boards)))
        counts = np.concatenate([np.zeros(1, dtype=np.int64), *(part[0] for part in parts)])
        moves = np.concatenate([np.zeros(0, dtype=np.uint16), *(part[1] for part in parts)])
        none = np.zeros((0, kernels.N_MAPS), dtype=np.float32)
        return HumanChoices(np.cumsum(counts), moves, np.concatenate([none, *(part[2] for part in parts)]))

    def moves(self, fen: str, elo: float | Sequence[float] = (1200, 1600, 2000, 2400)) -> HumanMoves:
        """Return the probability of every legal move at one or several Elos, likeliest (on average) first."""
        levels = checked_elo(elo)
        board = playable_board(fen)
        choices = self.choices(Boards.from_boards([board]))
        probability = np.exp(choices.log_probabilities(levels))
        order = np.argsort(-probability.mean(axis=1), kind="stable")
        listed = [_move(int(code)) for code in choices.moves[order]]
        return HumanMoves(
            fen, tuple(levels), tuple(m.uci() for m in listed), tuple(board.san(m) for m in listed), probability[order]
        )

    def _chunk(self, boards: Boards) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint16], npt.NDArray[np.float32]]:
        counts = np.zeros(len(boards), dtype=np.int64)
        places = np.empty((len(boards) + 1) * MOST_MOVES, dtype=np.int16)
        total = kernels.listed_moves(boards.board, boards.rights, boards.passant, counts, places)
        if not counts.all():
            raise InputError("a position has no legal move", hint="leave out positions in which the game is over")
        offsets = np.concatenate([[0], np.cumsum(counts)])
        coefficients = np.empty((total, kernels.N_MAPS), dtype=np.float32)
        for at in range(0, len(boards), BATCH):
            part = offsets[at : at + BATCH + 1]
            inside = slice(part[0], part[-1])
            maps, under = self.network.maps(boards[at : at + BATCH].planes())
            kernels.picked(maps, under, part - part[0], places[inside], coefficients[inside])
        return counts, _codes(places[:total], np.repeat(boards.black, counts), boards, counts), coefficients


@cache
def human() -> Human:
    """Return the human model that ships with the package."""
    return Human(shipped_network())


def positions_per_second(model: Human, positions: int = 8 * BATCH) -> float:
    """Return how many positions the model answers in a second of one core, by a quick measurement."""
    boards = Boards.from_boards([chess.Board()] * positions)
    model.choices(boards[:BATCH])  # opens the network and compiles what is not compiled yet
    begin = time.process_time()
    model.choices(boards)
    return positions / max(time.process_time() - begin, 1e-9)


def network_elo(elo: npt.ArrayLike) -> Array:
    """E + 0.35·80·log(1 + exp((1550 − E) / 80)): the Elo at which the network plays as people rated E do.

    >>> network_elo([1200, 1600, 2400]).round().tolist()
    [1323.0, 1612.0, 2400.0]
    """
    rated = np.atleast_1d(np.asarray(elo, dtype=np.float64))
    return np.asarray(rated + AXIS_SHARE * AXIS_WIDTH * np.logaddexp(0.0, (AXIS_KNEE - rated) / AXIS_WIDTH))


def elo_basis(elo: npt.ArrayLike) -> Array:
    """b(E) = (1, x, x² − ½, x³ − x) with x = (E − 2100) / 450 and E the network's: a row for each Elo."""
    x = (network_elo(elo) - 2100.0) / 450.0
    return np.stack([np.ones_like(x), x, x * x - 0.5, x * x * x - x], axis=1)


def checked_elo(elo: float | Sequence[float]) -> list[float]:
    """Return the Elos asked for; refuse those the model knows nothing about."""
    levels = [float(level) for level in np.atleast_1d(np.asarray(elo, dtype=np.float64))]
    low, high = ELO_RANGE
    for level in levels:
        if not low <= level <= high:
            raise OptionError(f"the human model knows Elo {low:.0f} to {high:.0f}, not {level:g}")
    return levels


def _codes(
    places: npt.NDArray[np.int16], black: npt.NDArray[np.bool_], boards: Boards, counts: npt.NDArray[np.int64]
) -> npt.NDArray[np.uint16]:
    """Places (mover's view) → moves in the board's own squares."""
    place = places.astype(np.int64)
    rest = place - N_FROM_TO
    under = rest >= 0
    start = np.where(under, 48 + (rest >> 3 & 7), place >> 6)
    end = np.where(under, 56 + (rest & 7), place & 63)
    row = np.repeat(np.arange(len(boards)), counts)
    queen = ~under & (end >= 56) & (boards.board[row, start] == 1)
    promotion = np.where(under, (rest >> 6) + chess.KNIGHT, np.where(queen, chess.QUEEN, 0))
    flip = np.where(black, 56, 0)
    return ((start ^ flip) | (end ^ flip) << 6 | promotion << 12).astype(np.uint16)


def _move(code: int) -> chess.Move:
    return chess.Move(code & 63, code >> 6 & 63, code >> 12 or None)
