"""The same game twice: collections overlap, and a game that counts twice makes intervals too narrow.

In: Games. Out: which of them stand there for the first time. Two games are one where all moves are the same, from the
same start, and so are both players (letters and digits of their names alone, whatever the case), unless both have a
year and the years differ. Games of fewer than MOST_SHORT plies are never taken for one: short draws are repeated.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skilloscope.chess.pgn.games import Games, read_games
from skilloscope.core.compiled import njit
from skilloscope.core.files import Source

MOST_SHORT = 20
SAME_GAME = "the same game again"

Keys = npt.NDArray[np.uint64]


class KnownGames:
    """The games that were seen so far; what comes block by block is compared with all before."""

    def __init__(self) -> None:
        self._years: dict[tuple[int, str, str], set[int | None]] = {}

    def first_time(self, games: Games) -> npt.NDArray[np.bool_]:
        """Return which games are new, and remember them."""
        long = games.counts >= MOST_SHORT
        keys = _move_keys(games)
        names = [_letters(games.headers[side]) for side in ("white", "black")]
        years = games.headers["year"].to_pylist()
        fresh = np.ones(len(games), dtype=bool)
        for at in np.flatnonzero(long).tolist():
            key = (int(keys[at]), names[0][at], names[1][at])
            known = self._years.setdefault(key, set())
            fresh[at] = not (known and (years[at] is None or None in known or years[at] in known))
            known.add(years[at])
        return fresh


def read_distinct(sources: Source | Sequence[Source]) -> Games:
    """Read PGN files as `read_games` does, each game once."""
    return distinct_games(read_games(sources))


def distinct_games(games: Games) -> Games:
    """Return each game once; those that came again are counted.

    >>> import io
    >>> text = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O 9. h3 Na5 10. Bc2 d5"
    >>> distinct_games(read_games([io.StringIO(text), io.StringIO(text)]))
    <Games: 1 with 20 moves; skipped: 1 the same game again>
    """
    fresh = KnownGames().first_time(games)
    return games if fresh.all() else games.select(fresh, reason=SAME_GAME)


def _letters(column: pa.ChunkedArray) -> list[str]:
    coded = column.combine_chunks().dictionary_encode()
    plain = ["".join(letter for letter in name.casefold() if letter.isalnum()) for name in coded.dictionary.to_pylist()]
    return ["" if code is None else plain[code] for code in coded.indices.to_pylist()]


def _move_keys(games: Games) -> Keys:
    """Return a number for the moves of each game and the position it starts from."""
    coded = games.headers["start_fen"].combine_chunks().dictionary_encode()
    first = [0, *(hash(fen) & 0xFFFFFFFF for fen in coded.dictionary.to_pylist())]
    start = np.array([first[0 if code is None else code + 1] for code in coded.indices.to_pylist()], dtype=np.uint64)
    keys = np.empty(len(games), dtype=np.uint64)
    _hashed(games.moves, games.offsets, start, keys)
    return keys


@njit(cache=True)
def _hashed(moves, offsets, start, out):  # type: ignore[no-untyped-def] # pragma: no cover
    for game in range(len(out)):
        key = np.uint64(14695981039346656037) ^ start[game]
        for at in range(offsets[game], offsets[game + 1]):
            key = (key ^ np.uint64(moves[at])) * np.uint64(1099511628211)
        out[game] = key
