"""The boards of a feed's text: PGN that may be cut anywhere, with one game after another or one game again and again.

In: text. Out: BoardText by name, the last state of each board, with the positions of its game.

A board is told by event, round and players. The same game further down in the text is its newer state, as streams
send it; another game of the same players after a finished one is a board of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import chess

from skilloscope.chess.engine.lines import move_of_code, value_pawns
from skilloscope.chess.evaluations import final_value
from skilloscope.chess.pgn.reading import header_from_tags
from skilloscope.chess.pgn.text import NO_MATE, MainLine, RawGame, main_line, split_games

_NO_CAP = 1e6  # the follower cuts values, and a mate is worth whatever its cap is


@dataclass(frozen=True)
class BoardText:
    """A game as far as the feed has it."""

    white: str
    black: str
    event: str | None
    round: str | None
    result: str
    moves: tuple[int, ...]
    san: tuple[str, ...]
    fens: tuple[str, ...]
    """The position before the first move, and after each."""
    values: tuple[float | None, ...]
    """What comments say of each position, pawns, white's view; a mate is beyond every cap."""
    final: float | None
    """Where the game is over on the board: 1 if White has mated, −1 if Black has, 0 for stalemate."""
    first_ply: int
    fault: str

    @property
    def name(self) -> str:
        """What the board is called: round and players, with the event where it is known."""
        where = " ".join(part for part in (self.event, f"({self.round})" if self.round else "") if part)
        return f"{self.white} – {self.black}" + (f", {where}" if where else "")


def read_boards(text: str) -> dict[str, BoardText]:
    """Return the boards of a text by name; games without two named players, or with an unusable start, are no boards.

    >>> boards = read_boards('[White "A"]\\n[Black "B"]\\n\\n1. e4 e5 2. N')
    >>> [(name, board.san) for name, board in boards.items()]
    [('A – B', ('e4', 'e5'))]
    """
    boards: dict[str, BoardText] = {}
    for raw in split_games(text.splitlines()):
        board = _board(tuple(raw.tags.items()), "\n".join(raw.movetext)) if _usable(raw) else None
        if board is None:
            continue
        name, number = board.name, 1
        while name in boards and not _newer(boards[name], board):
            number += 1
            name = f"{board.name} #{number}"
        boards[name] = board
    return boards


def _usable(raw: RawGame) -> bool:
    """Return whether it is a board: without a word after the tags more of them may be to come."""
    return bool(raw.tags.get("White") and raw.tags.get("Black") and raw.movetext)


def _newer(old: BoardText, new: BoardText) -> bool:
    """Return whether a text may be a newer state of the same game."""
    shared = min(len(old.moves), len(new.moves))
    return old.result == "*" or old.moves[:shared] == new.moves[:shared]


@lru_cache(maxsize=1024)  # of a broadcast's boards only those that moved are read again
def _board(tags: tuple[tuple[str, str], ...], movetext: str) -> BoardText | None:
    known = dict(tags)
    try:
        board = chess.Board(known.get("FEN", "").strip() or chess.STARTING_FEN)
    except ValueError:
        return None
    if not board.is_valid() or known.get("Variant", "standard").lower() not in ("standard", "from position", "chess"):
        return None
    start, first_ply = board.copy(), board.ply()
    line = main_line(movetext, board)
    header = header_from_tags(known, line, "", 0)
    if header["white"] is None or header["black"] is None:
        return None
    final = final_value(board, 1.0)
    fens, san = _replayed(start, line)
    fault = " ".join(part for part in line.fault if part) if line.fault else ""
    return BoardText(
        white=header["white"],
        black=header["black"],
        event=header["event"],
        round=header["round"],
        result=header["result"],
        moves=tuple(line.moves),
        san=san,
        fens=fens,
        values=_values(line),
        final=final,
        first_ply=first_ply,
        fault=fault,
    )


def _replayed(board: chess.Board, line: MainLine) -> tuple[tuple[str, ...], tuple[str, ...]]:
    fens, san = [board.fen()], []
    for code in line.moves:
        move = move_of_code(code)
        san.append(board.san_and_push(move))
        fens.append(board.fen())
    return tuple(fens), tuple(san)


def _values(line: MainLine) -> tuple[float | None, ...]:
    def pawns(mate: int | None, value: float | None) -> float | None:
        if mate is not None and mate != NO_MATE:
            return float(value_pawns(True, mate, _NO_CAP))
        return None if value is None or value != value else float(value)

    after = [pawns(mate, value) for mate, value in zip(line.mates, line.evals, strict=True)]
    for ply, mate in enumerate(line.mates):
        if mate == 0:  # `#0` stands after a mating move: whoever moved has won; the board says so too
            after[ply] = None
    return (pawns(line.start_mate, line.start_eval), *after)
