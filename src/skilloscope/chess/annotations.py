"""Evaluations that games carry in their comments ([%eval]), as losses: before and after each move, the mover's view.

A comment after a move values the position that the move led to; one before the first move the position that the game
starts from. Where either side of a move is missing its gain is unknown: it is counted, never taken as zero.
"""

from __future__ import annotations

from skilloscope.chess.engine.lines import MATE_CAP
from skilloscope.chess.evaluations import evaluations_from_comments
from skilloscope.chess.pgn.games import Games
from skilloscope.decision import Losses


def losses_from_comments(games: Games, *, mate_cap: float = MATE_CAP) -> Losses:
    """Return one row per move whose evaluation before and after is known. [FER12 Algorithm 1, steps 1–2]"""
    return evaluations_from_comments(games, mate_cap=mate_cap).losses()
