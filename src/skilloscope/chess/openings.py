"""The opening of a game, told by its moves: the last of its positions that has a name.

In: the moves of games from the usual position. Out: for each the code of the Encyclopaedia and the name, or None.

Positions are named, not move orders, so that transpositions find their way. The table is Lichess's chess-openings
(public domain, CC0); tools/make_openings.py makes the file that ships, with the key of each line's last position.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from skilloscope.chess.facts import time_class
from skilloscope.chess.human.encoding import Boards
from skilloscope.chess.pgn.games import Games

_MOST_PLIES = 40  # the longest line of the table has fewer
_AT_ONCE = 4096  # games

Keys = npt.NDArray[np.uint64]


def openings_of(games: Games) -> tuple[list[str | None], list[str | None]]:
    """Return the code and the name of each game's opening, as its moves tell.

    >>> import io
    >>> from skilloscope.chess.pgn.games import read_games
    >>> openings_of(read_games(io.StringIO("1. Nf3 d5 2. d4 *")))
    (['D02'], ["Queen's Pawn Game: Zukertort Variation"])
    """
    keys, codes, names = _table()
    found = _last_named(games, keys).tolist()
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


def opening_keys(moves: npt.NDArray[np.uint16], offsets: npt.NDArray[np.int64]) -> tuple[Keys, npt.NDArray[np.int64]]:
    """Return a number for the position after each move of games from the usual start, and the game it belongs to.

    Pieces, castling and whose move it is go into it.
    """
    counts = np.diff(offsets)
    # A move that nobody makes ends each game, so that the position before it is noted too.
    ended = np.insert(moves[offsets[0] : offsets[-1]], offsets[1:] - offsets[0], 0)
    boards = Boards.from_moves(ended, np.concatenate([[0], np.cumsum(counts + 1)]))
    after = np.ones(len(ended), dtype=bool)
    after[np.cumsum(counts + 1) - counts - 1] = False
    key = np.uint64(14695981039346656037) ^ (boards.rights[after] | boards.black[after] << 4).astype(np.uint64)
    for rank in boards.board.view("<u8")[after].T:
        key = (key ^ rank) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(32)  # a product carries upwards only
    return key, np.repeat(np.arange(len(counts)), counts)


def _last_named(games: Games, keys: Keys) -> npt.NDArray[np.int64]:
    """Return for each game the row of its last named position, −1 where none has a name."""
    row = np.full(len(games), -1, dtype=np.int64)
    usual = np.flatnonzero(games.headers["start_fen"].is_null().to_numpy()) if len(games) else row
    for some in np.split(usual, np.arange(_AT_ONCE, len(usual), _AT_ONCE)):
        few = np.minimum(games.counts[some], _MOST_PLIES)
        first = np.repeat(games.offsets[some] - np.cumsum(few) + few, few)
        found, game = opening_keys(games.moves[first + np.arange(len(first))], np.concatenate([[0], np.cumsum(few)]))
        place = np.minimum(np.searchsorted(keys, found), len(keys) - 1)
        named = keys[place] == found
        row[some[game[named]]] = place[named]  # of several the last remains
    return row


@functools.cache
def _table() -> tuple[Keys, list[str], list[str]]:
    """Return the named positions in the order of their keys, with code and name."""
    text = (files("skilloscope") / "data" / "openings.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines()[1:]]
    keys = np.array([int(row[3], 16) for row in rows], dtype=np.uint64)
    order = np.argsort(keys, kind="stable")
    return keys[order], [rows[at][0] for at in order], [rows[at][1] for at in order]
