"""Joining: what a position is worth, who moved and what was played, matched by identity.

In: Positions, and lists of valued moves. Out: the columns that every producer of chess decisions needs: who decides,
the context, and the place of the played move in its list.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from skilloscope.chess.engine.lines import move_uci
from skilloscope.chess.positions import Positions
from skilloscope.decision.decisions import UNLISTED

CONTEXT = (
    "game",
    "ply",
    "mover",
    "elo",
    "opponent",
    "opponent_elo",
    "date",
    "year",
    "event",
    "site",
    "time_control",
    "result",
    "fen",
    "clock",
    "move",
)
"""The context columns of decisions in chess; every one may be null."""


def movers(positions: Positions) -> pa.Array:
    """Return the name of the player to move in each position, null where it is unknown."""
    return _by_side(positions, "white", "black")


def chosen_places(
    moves: npt.NDArray[np.uint16], counts: npt.NDArray[np.int64], played: npt.NDArray[np.uint16]
) -> npt.NDArray[np.int64]:
    """Return the place of each played move in its list, or UNLISTED."""
    chosen = np.full(len(counts), UNLISTED, dtype=np.int64)
    decision = np.repeat(np.arange(len(counts)), counts)
    hits = np.flatnonzero(moves == played[decision])
    starts = np.cumsum(counts) - counts
    chosen[decision[hits]] = hits - starts[decision[hits]]
    return chosen


def context_of(positions: Positions) -> pa.Table:
    """Return the context columns of decisions in these positions."""
    headers = positions.games.headers.take(pa.array(positions.game))
    white = pa.array(positions.mover == 0)
    clock = positions.clock.astype(np.float32)
    return pa.table(
        {
            "game": headers["game"],
            "ply": pa.array(positions.ply),
            "mover": pc.if_else(white, "white", "black"),
            "elo": _by_side(positions, "white_elo", "black_elo"),
            "opponent": _by_side(positions, "black", "white"),
            "opponent_elo": _by_side(positions, "black_elo", "white_elo"),
            "date": headers["date"],
            "year": headers["year"],
            "event": headers["event"],
            "site": headers["site"],
            "time_control": headers["time_control"],
            "result": _scores(headers["result"], positions.mover),
            "fen": positions.fen,
            "clock": pa.array(clock, mask=np.isnan(clock)),
            "move": _moves(positions.played),
        }
    )


def _by_side(positions: Positions, white: str, black: str) -> pa.Array:
    """Return a header for each position: the first column where white is to move, the second where black is."""
    at = pa.array(positions.game)
    columns = [positions.games.headers[name].combine_chunks().take(at) for name in (white, black)]
    return pc.if_else(pa.array(positions.mover == 0), *columns)


def _moves(played: npt.NDArray[np.uint16]) -> pa.Array:
    """Return the moves as an engine writes them, null where none was made; each different one is written once."""
    codes, places = np.unique(played, return_inverse=True)
    written = pa.array([move_uci(code) if code else None for code in codes], type=pa.string())
    return written.take(pa.array(places))


def _scores(results: pa.ChunkedArray, mover: npt.NDArray[np.int8]) -> pa.Array:
    """Return the mover's score in the game, null where the result is unknown."""
    white = {"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}
    scores = np.array([white.get(result, np.nan) for result in results.to_pylist()], dtype=np.float64)
    own = np.where(mover == 0, scores, 1 - scores)
    return pa.array(own, mask=np.isnan(own))
