"""The opening of a game, told by its moves: the last of its positions that has a name.

In: the moves of games from the usual position. Out: for each the code of the Encyclopaedia and the name, or None.

Positions are named, not move orders, so that transpositions find their way. The table is Lichess's chess-openings
(public domain, CC0); tools/make_openings.py makes the file that ships.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from skilloscope.chess.facts import time_class
from skilloscope.chess.pgn.games import Games
from skilloscope.chess.pgn.kernel import START, scan_games
from skilloscope.chess.rules import NO_SQUARE, play
from skilloscope.core.compiled import njit

_MOST_PLIES = 40  # the longest line of the table has fewer

Keys = npt.NDArray[np.uint64]


def openings_of(games: Games) -> tuple[list[str | None], list[str | None]]:
    """Return the code and the name of each game's opening, as its moves tell.

    >>> import io
    >>> from skilloscope.chess.pgn.games import read_games
    >>> openings_of(read_games(io.StringIO("1. Nf3 d5 2. d4 *")))
    (['D02'], ["Queen's Pawn Game: Zukertort Variation"])
    """
    keys, codes, names = _table()
    starts = games.headers["start_fen"].is_valid().to_numpy() if len(games) else np.zeros(0, dtype=bool)
    row = np.full(len(games), -1, dtype=np.int64)
    _last_named(games.moves, games.offsets, starts.astype(bool), keys, row)
    found = row.tolist()
    return [codes[at] if at >= 0 else None for at in found], [names[at] if at >= 0 else None for at in found]


def game_facts(games: Games) -> dict[str, list[str | None]]:
    """Return what is known of each game's opening and speed: its group of codes (B9 for B90 to B99), family and class.

    The code is that of the tag, and where there is none that of the moves; the family is that of the moves.
    """
    codes, names = openings_of(games)
    told = games.headers["eco"].to_pylist()
    groups = [
        (tag if tag and len(tag) >= 2 else code or "")[:2].upper() or None
        for tag, code in zip(told, codes, strict=True)
    ]
    speeds = {text: time_class(text) for text in set(games.headers["time_control"].to_pylist())}
    return {
        "eco": groups,
        "opening": opening_families(names),
        "time_class": [speeds[text] for text in games.headers["time_control"].to_pylist()],
    }


def opening_families(names: Sequence[str | None]) -> list[str | None]:
    """Return the family of each opening, which stands before the colon of its name.

    >>> opening_families(["Sicilian Defense: Najdorf Variation, English Attack", None])
    ['Sicilian Defense', None]
    """
    return [name.partition(":")[0] if name else None for name in names]


@functools.cache
def _table() -> tuple[Keys, list[str], list[str]]:
    """Return the named positions in the order of their keys, with code and name."""
    text = (files("skilloscope") / "data" / "openings.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines()[1:]]
    pgn = "".join(f'[Event "{at}"]\n\n{moves} *\n\n' for at, (_, _, moves) in enumerate(rows))
    scanned = scan_games(pgn.encode(), final=True)
    keys = np.empty(len(rows), dtype=np.uint64)
    _final_keys(scanned.moves, scanned.offsets, keys)
    order = np.argsort(keys, kind="stable")
    return keys[order], [rows[at][0] for at in order], [rows[at][1] for at in order]


@njit(cache=True)
def _key(board, rights, black):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return a number for a position: pieces, castling and whose move it is."""
    key = np.uint64(14695981039346656037) ^ np.uint64(rights | black << 4)
    for square in range(64):
        key = (key ^ np.uint64(board[square])) * np.uint64(1099511628211)
    return key


@njit(cache=True)
def _final_keys(moves, offsets, out):  # type: ignore[no-untyped-def] # pragma: no cover
    for game in range(len(out)):
        board, rights, passant, black = START.copy(), 15, NO_SQUARE, 0
        for at in range(offsets[game], offsets[game + 1]):
            flip = 56 | 56 << 6 if black else 0
            rights, passant = play(board, rights, passant, np.int64(moves[at]) ^ flip)
            black = 1 - black
        out[game] = _key(board, rights, black)


@njit(cache=True)
def _last_named(moves, offsets, other_start, keys, out):  # type: ignore[no-untyped-def] # pragma: no cover
    """Write for each game from the usual start the row of its last named position."""
    for game in range(len(out)):
        if other_start[game]:
            continue
        board, rights, passant, black = START.copy(), 15, NO_SQUARE, 0
        for at in range(offsets[game], min(offsets[game + 1], offsets[game] + _MOST_PLIES)):
            flip = 56 | 56 << 6 if black else 0
            rights, passant = play(board, rights, passant, np.int64(moves[at]) ^ flip)
            black = 1 - black
            key = _key(board, rights, black)
            place = np.searchsorted(keys, key)
            if place < len(keys) and keys[place] == key:
                out[game] = place
