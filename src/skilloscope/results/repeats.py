"""Games that repeat an earlier one of their table, found in one pass: the fast twin of `reading.repeated_games`.

In: columns of a table. Out: which rows repeat one before them. A table of places, twice as large as the games and
more, holds the first row of each kind; a row that finds its like there repeats it. The twin sorts all rows instead.
"""

import numpy as np

from skilloscope.core.columns import Array, Bools, Codes, Ints
from skilloscope.core.compiled import njit


def repeated_rows(player_1: Codes, player_2: Codes, score: Array, day: Ints) -> Bools:
    """Return which rows have the players, score and day of an earlier one."""
    repeated = np.zeros(len(score), dtype=np.bool_)
    bits = int(2 * len(score)).bit_length()
    one, two, points, days = (np.ascontiguousarray(column) for column in (player_1, player_2, score, day))
    places = np.full(1 << bits, -1, dtype=np.int32)
    _mark(one, two, points, days, repeated=repeated, first=places, shift=np.uint64(64 - bits))
    return repeated


@njit(cache=True)
def _mark(player_1, player_2, score, day, repeated, first, shift):  # type: ignore[no-untyped-def] # pragma: no cover
    """Mark the rows that find their like at the place that all of its kind come to."""
    for i in range(len(score)):
        mixed = np.uint64(player_1[i]) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(player_2[i])
        mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9) + np.uint64(day[i])
        mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0x94D049BB133111EB) + np.uint64(score[i] * 4.0)
        place = (mixed * np.uint64(0xD6E8FEB86659FD93)) >> shift
        while True:
            row = first[place]
            if row < 0:
                first[place] = i
                break
            if (
                player_1[row] == player_1[i]
                and player_2[row] == player_2[i]
                and day[row] == day[i]
                and score[row] == score[i]
            ):
                repeated[i] = True
                break
            place = (place + np.uint64(1)) & np.uint64(len(first) - 1)
