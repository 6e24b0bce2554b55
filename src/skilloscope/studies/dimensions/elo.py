"""Elo by phase, colour, opening family, clock, time spent, opponents or any column of games.

In: judged games. Out: `EloParts`: the groups of a player lie about what is common to them, with one fitted sd.
"""

from __future__ import annotations

from collections.abc import Sequence

from skilloscope.ratings.elo_axis.parts import BETWEEN
from skilloscope.studies.rate.front import JudgedGames
from skilloscope.studies.rate.parts import EloParts, rate_parts


def elo_dimensions(found: JudgedGames, by: str = "phase", players: Sequence[str] = ()) -> EloParts:
    """Return the Elo of each player in each group of a dimension; without players everybody together."""
    return rate_parts(found, by, players, "star", BETWEEN)
