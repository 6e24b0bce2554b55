"""A board as SVG for a page: the position, arrows for the move played and the better one. Drawn by python-chess."""

import re
from dataclasses import dataclass
from hashlib import blake2b
from html import escape

import chess
import chess.svg

LIGHT, DARK = "#eee8dc", "#b58863"
PLAYED, BETTER = "#d1495b", "#1b6ca8"
"""The colours of the arrows; the better move's arrow is named in words next to it, colour is never the only sign."""
_NAMED = re.compile(r' (?:id|class)="[^"]*"')
_STYLE = {"square light": LIGHT, "square dark": DARK, "margin": "#8d6a4f", "coord": "#fffaf0"}


def board_svg(
    fen: str, *, played: chess.Move | None = None, better: chess.Move | None = None, alt: str = "", size: int = 260
) -> str:
    """Return a position from the mover's side; `alt` says in words what is to be seen.

    >>> '<title>White to move</title>' in board_svg(chess.STARTING_FEN)
    True
    """
    board = chess.Board(fen)
    arrows = [
        chess.svg.Arrow(move.from_square, move.to_square, color=colour)
        for move, colour in ((better, BETTER), (played, PLAYED))
        if move is not None
    ]
    drawn = chess.svg.board(board, orientation=board.turn, arrows=arrows, size=size, colors=_STYLE)
    words = alt or f"{'White' if board.turn else 'Black'} to move"
    plain = re.sub(r"<desc>.*?</desc>", "", drawn, flags=re.DOTALL)
    head, rest = plain.split(">", 1)
    started = head.replace("<svg", '<svg role="img"', 1)
    named = f"{started}><title>{escape(words)}</title>{rest}"
    own = blake2b(named.encode(), digest_size=4).hexdigest()  # a page with many boards has each name once
    return re.sub(r'(\bid="|href="#)', rf"\1b{own}-", named)


@dataclass(frozen=True)
class BoardMove:
    """A move of a game as a page shows it: its notation, the remarks, the board after it."""

    name: str
    text: str  # the move as it is written, with its mark; empty for the position before the first
    words: str
    picture: str


def shared_pieces() -> str:
    """Return the squares and pieces that all boards of a game refer to, once a page."""
    dark = "".join(f"M{x} {y}h1v1h-1z" for y in range(8) for x in range(8) if (x + y) % 2)
    grid = f'<g id="squares"><path d="M0 0h8v8h-8z" fill="{LIGHT}"/><path d="{dark}" fill="{DARK}"/></g>'
    pieces = "".join(
        f'<g id="piece-{letter}"><g transform="scale({1 / 45:.5f})">{_NAMED.sub("", drawing)}</g></g>'
        for letter, drawing in chess.svg.PIECES.items()
    )
    return f'<svg width="0" height="0" aria-hidden="true" class="shared"><defs>{grid}{pieces}</defs></svg>'


def small_board(board: chess.Board, last: chess.Move | None, words: str) -> str:
    """Return a board from White's side that refers to the shared pieces: two kilobytes where a whole has thirty."""
    marked = [] if last is None else [last.from_square, last.to_square]
    marks = "".join(f'<rect {_at(square)} width="1" height="1" fill="#f6d55c" opacity=".7"/>' for square in marked)
    men = "".join(
        f'<use href="#piece-{piece.symbol()}" {_at(square)}/>' for square, piece in sorted(board.piece_map().items())
    )
    return (
        f'<svg role="img" viewBox="0 0 8 8" xmlns="http://www.w3.org/2000/svg"><title>{escape(words)}</title>'
        f'<use href="#squares"/>{marks}{men}</svg>'
    )


def _at(square: int) -> str:
    return f'x="{square & 7}" y="{7 - (square >> 3)}"'
