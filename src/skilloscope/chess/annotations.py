"""Evaluations that games carry in their comments ([%eval]), as losses: before and after each move, the mover's view.

A comment after a move values the position that the move led to; the value before a move is the one after the move
before. Where either is missing the gain is unknown: it is counted, never taken as zero.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skilloscope.chess.games import Games
from skilloscope.chess.lines import MATE_CAP
from skilloscope.decision import Losses
from skilloscope.decision.columns import encode
from skilloscope.errors import Tally

__all__ = ["losses_from_comments"]


def losses_from_comments(games: Games, *, mate_cap: float = MATE_CAP) -> Losses:
    """Return one row per move whose evaluation before and after is known. [FER12 Algorithm 1, steps 1–2]"""
    after = games.eval_values(mate_cap)
    before = np.concatenate([[np.nan], after[:-1]]) if len(after) else after
    before[games.offsets[:-1][games.counts > 0]] = np.nan  # the value before a game's first move is not a comment
    game, mover = games.game_of_move, games.movers
    ply = np.arange(len(after)) - games.offsets[:-1][game]
    names = _movers_names(games, game, mover)
    known = np.array([name is not None for name in names], dtype=bool)
    usable = np.isfinite(after) & np.isfinite(before)
    tally = games.tally + Tally()
    tally.count("no evaluation after the move", int(np.isnan(after).sum()))
    tally.count("no evaluation before the move", int((np.isfinite(after) & np.isnan(before)).sum()))
    tally.count("unknown player", int((usable & ~known).sum()))
    kept = np.flatnonzero(usable & known)
    sign = np.where(mover[kept] == 0, 1.0, -1.0)
    deciders, codes = encode([names[i] or "" for i in kept])
    context = pa.table({"game": games.headers["game"].take(game[kept]), "ply": pa.array(ply[kept].astype(np.int32))})
    about = {"source": "[%eval] comments", "mate_cap": mate_cap}
    return Losses(deciders, codes, sign * before[kept], sign * after[kept], context, tally, about)


def _movers_names(games: Games, game: npt.NDArray[np.int64], mover: npt.NDArray[np.int8]) -> list[str | None]:
    white, black = games.headers["white"].to_pylist(), games.headers["black"].to_pylist()
    return [(white, black)[side][row] for row, side in zip(game.tolist(), mover.tolist(), strict=True)]
