"""Boards: many positions as columns, from python-chess boards, FENs or the moves of games, and their legal moves."""

from collections.abc import Sequence
from dataclasses import dataclass

import chess
import numpy as np
import numpy.typing as npt

from skilloscope.chess.rules import I16, MOST_MOVES, N_FROM_TO, NO_SQUARE, U8, legal_places, play
from skilloscope.core.columns import Bools, Ints
from skilloscope.core.compiled import njit
from skilloscope.core.errors import InputError

PAST = 8  # moves of both sides before the position that are kept
LAST_PLY = 240  # later plies count as this one: the games on which the human model was trained end there


@dataclass(frozen=True, eq=False, repr=False)
class Boards:
    """A columnar batch of positions, each from its mover's view; see rules.py for the codes.

    >>> boards = Boards.from_fens([chess.STARTING_FEN])
    >>> len(boards), boards.board[0, :5].tolist(), int(boards.rights[0])
    (1, [4, 2, 3, 5, 6], 15)
    """

    board: npt.NDArray[np.uint8]
    rights: npt.NDArray[np.uint8]
    passant: npt.NDArray[np.uint8]
    past: npt.NDArray[np.int16]
    """The last PAST moves of both sides, the latest first: from + 64·to, mover's view; −1 where it is not known."""
    ply: npt.NDArray[np.uint8]
    black: Bools
    """Whether Black is to move. The network never sees this; it turns moves into the board's own squares."""

    def __len__(self) -> int:
        return len(self.board)

    def __repr__(self) -> str:
        return f"<Boards: {len(self):,} positions>"

    def __getitem__(self, rows: slice | npt.NDArray[np.integer]) -> "Boards":
        return Boards(
            self.board[rows], self.rights[rows], self.passant[rows], self.past[rows], self.ply[rows], self.black[rows]
        )

    def legal_places(self) -> tuple[Ints, npt.NDArray[np.int16]]:
        """Return how many legal moves each position has, and their places (see rules.py) one after another."""
        counts = np.zeros(len(self), dtype=np.int64)
        places = np.empty((len(self) + 1) * MOST_MOVES, dtype=np.int16)
        total = _listed(self.board, self.rights, self.passant, counts, places)
        return counts, places[:total]

    def move_codes(self, counts: Ints, places: npt.NDArray[np.int16]) -> npt.NDArray[np.uint16]:
        """Return the codes of moves given as places from the mover's view, so many of each position."""
        place = places.astype(np.int64)
        rest = place - N_FROM_TO
        under = rest >= 0
        start = np.where(under, 48 + (rest >> 3 & 7), place >> 6)
        end = np.where(under, 56 + (rest & 7), place & 63)
        row = np.repeat(np.arange(len(self)), counts)
        queen = ~under & (end >= 56) & (self.board[row, start] == 1)
        promotion = np.where(under, (rest >> 6) + chess.KNIGHT, np.where(queen, chess.QUEEN, 0))
        flip = np.where(np.repeat(self.black, counts), 56, 0)
        return ((start ^ flip) | (end ^ flip) << 6 | promotion << 12).astype(np.uint16)

    @classmethod
    def from_fens(cls, fens: Sequence[str]) -> "Boards":
        """Return positions given as FEN: nothing is known of the moves before."""
        return cls.from_boards([playable_board(fen) for fen in fens])

    @classmethod
    def from_boards(cls, boards: Sequence[chess.Board]) -> "Boards":
        """Return the positions of python-chess boards; the last move is read off their move stacks."""
        rows = [_row(board) for board in boards]
        codes = np.array([row[0] for row in rows], dtype=np.uint8).reshape(-1, 64)
        past = np.array([row[1] for row in rows], dtype=np.int16).reshape(-1, PAST)
        rest = np.array([row[2:] for row in rows], dtype=np.uint8).reshape(-1, 4)
        rights, passant, ply = (rest[:, i].copy() for i in range(3))
        return cls(codes, rights, passant, past, ply, rest[:, 3].astype(bool))

    @classmethod
    def from_moves(cls, moves: npt.NDArray[np.uint16], offsets: Ints, fens: Sequence[str] | None = None) -> "Boards":
        """Return the position before every move of games: game i owns the moves offsets[i]:offsets[i + 1].

        Moves are from + 64·to + 4096·promotion (as python-chess numbers pieces) and must be legal; `fens` are the
        positions the games start from, empty for the usual one.

        >>> e4, e5 = 12 + 64 * 28, 52 + 64 * 36
        >>> boards = Boards.from_moves(np.array([e4, e5], dtype=np.uint16), np.array([0, 2]))
        >>> boards.black.tolist(), boards.past[:, 0].tolist() == [-1, e4 ^ (56 + 64 * 56)]
        ([False, True], True)
        """
        names = list(fens) if fens is not None else [""] * (len(offsets) - 1)
        distinct = {name: n for n, name in enumerate(dict.fromkeys(names))}
        starts = cls.from_boards([_playable(name or chess.STARTING_FEN) for name in distinct])
        first = starts[np.array([distinct[name] for name in names], dtype=np.int64)]
        n, counts = len(moves), np.diff(offsets)
        half = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        black = np.asarray((half + np.repeat(first.black, counts)) % 2, dtype=bool)
        made = cls(
            np.empty((n, 64), dtype=np.uint8), np.empty(n, dtype=np.uint8), np.empty(n, dtype=np.uint8),
            np.empty((n, PAST), dtype=np.int16), np.empty(n, dtype=np.uint8), black,
        )  # fmt: skip
        state = (first.board, first.rights, first.passant, first.black, first.ply)
        out = (made.board, made.rights, made.passant, made.past, made.ply)
        _replay(np.asarray(moves), np.asarray(offsets), *state, *out)
        return made


def playable_board(fen: str) -> chess.Board:
    """Return the board of a FEN with at least one legal move; raise InputError for any other."""
    board = _playable(fen)
    if not any(board.generate_legal_moves()):
        over = "checkmate" if board.is_check() else "stalemate"
        raise InputError(
            f"there is no legal move in {fen!r}: it is {over}", hint="give a position in which the game is not over"
        )
    return board


def _playable(fen: str) -> chess.Board:
    try:
        board = chess.Board(fen, chess960=True)
    except ValueError as error:
        raise InputError(f"{fen!r} is not a FEN: {error}", hint="write it as `skilloscope moves 'FEN'`") from error
    if board.has_chess960_castling_rights():
        raise InputError(
            f"{fen!r} is a position of Chess960: its castling is unknown to the human model",
            hint="give a position of usual chess, or one without castling rights (- in the third field)",
        )
    board.chess960 = False
    if not board.is_valid():
        wrong = str(board.status()).removeprefix("Status.").replace("|", ", ").lower()
        raise InputError(f"{fen!r} cannot arise in chess: {wrong}", hint="check the pieces and the side to move")
    return board


def _row(board: chess.Board) -> tuple[list[int], list[int], int, int, int, int]:
    black = board.turn == chess.BLACK
    flip = 56 if black else 0
    codes = [0] * 64
    for square, piece in board.piece_map().items():
        codes[square ^ flip] = piece.piece_type + (0 if piece.color == board.turn else 6)
    rights = 0
    for bit, (color, kings_side) in enumerate(
        [(board.turn, True), (board.turn, False), (not board.turn, True), (not board.turn, False)]
    ):
        has = board.has_kingside_castling_rights if kings_side else board.has_queenside_castling_rights
        rights |= has(color) << bit
    passant = NO_SQUARE
    if board.ep_square is not None and board.has_pseudo_legal_en_passant():
        passant = board.ep_square ^ flip
    past = [-1] * PAST
    for back, move in enumerate(board.move_stack[: -PAST - 1 : -1]):
        past[back] = (move.from_square ^ flip) + 64 * (move.to_square ^ flip)
    return codes, past, rights, passant, min(LAST_PLY, board.ply()), int(black)


@njit(cache=True)
def _replay(
    moves: npt.NDArray[np.uint16], offsets: Ints, board: U8, rights: U8, passant: U8,
    black: Bools, ply: U8,
    out_board: U8, out_rights: U8, out_passant: U8, out_past: I16, out_ply: U8,
) -> None:  # fmt: skip
    """Write the position before every move of the games; the states given are those at the games' starts."""
    for game in range(len(offsets) - 1):
        now = board[game].copy()
        right, passing = np.int64(rights[game]), np.int64(passant[game])
        for at in range(offsets[game], offsets[game + 1]):
            half = at - offsets[game]
            flip = 56 | 56 << 6 if (half + black[game]) % 2 else 0
            for square in range(64):
                out_board[at, square] = now[square]
            out_rights[at], out_passant[at] = right, passing
            for back in range(PAST):
                before = at - 1 - back
                out_past[at, back] = (moves[before] & 4095) ^ flip if before >= offsets[game] else -1
            out_ply[at] = min(LAST_PLY, ply[game] + half)
            right, passing = play(now, right, passing, np.int64(moves[at]) ^ flip)


@njit(cache=True)
def _listed(board: U8, rights: U8, passant: U8, counts: Ints, places: I16) -> int:
    """Write the places of the legal moves of every position one after another; return how many in all."""
    total = 0
    for i in range(len(board)):
        counts[i] = legal_places(board[i], np.int64(rights[i]), np.int64(passant[i]), places[total:])
        total += counts[i]
    return total
