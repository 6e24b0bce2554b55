"""A board as SVG for a page: the position, arrows for the move played and the better one. Drawn by python-chess."""

from __future__ import annotations

import re
from hashlib import blake2b

import chess
import chess.svg

PLAYED, BETTER = "#d1495b", "#1b6ca8"
"""The colours of the arrows; the better move's arrow is named in words beside it, colour is never the only sign."""
_STYLE = {"square light": "#eee8dc", "square dark": "#b58863", "margin": "#8d6a4f", "coord": "#fffaf0"}


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
    return _titled(drawn, words)


def _titled(drawn: str, words: str) -> str:
    """Name the picture for those who hear it; python-chess writes the position as a diagram of letters there."""
    plain = re.sub(r"<desc>.*?</desc>", "", drawn, flags=re.DOTALL)
    safe = words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    named = re.sub(r"<svg ([^>]*)>", rf'<svg role="img" \1><title>{safe}</title>', plain, count=1)
    own = blake2b(named.encode(), digest_size=4).hexdigest()  # a page with many boards has each name once
    return re.sub(r'(\bid="|href="#)', rf"\1b{own}-", named)
