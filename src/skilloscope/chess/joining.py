"""Joining: what a position is worth, who moved and what was played, matched by identity.

In: Positions, and lists of valued moves. Out: the columns that every producer of chess decisions needs: who decides,
the context, and the place of the played move in its list.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skilloscope.chess.engine.lines import moves_uci
from skilloscope.chess.openings import game_facts
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
    "round",
    "termination",
    "time_class",
    "eco",
    "opening",
)
"""The context columns of decisions in chess; every one may be null."""


def movers(positions: Positions) -> pa.Array:
    """Return the name of the player to move in each position, null where it is unknown."""
    return positions.games.by_mover(positions.game, positions.mover)["player"]


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
    clock, games = positions.clock.astype(np.float32), pa.array(positions.game)
    columns = {
        **positions.games.by_mover(positions.game, positions.mover),
        "ply": pa.array(positions.ply),
        "fen": positions.fen,
        "clock": pa.array(clock, mask=np.isnan(clock)),
        "move": moves_uci(positions.played),
        **{name: pa.array(of, type=pa.string()).take(games) for name, of in game_facts(positions.games).items()},
    }
    return pa.table({name: columns[name] for name in CONTEXT})
