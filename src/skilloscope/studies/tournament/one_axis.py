"""The Elo of the one axis beside what gain measures: the same games, rated by what people play, without an engine.

In: games, and the event of each. Out: AxisElo: the posterior of every player in every event, or why there is none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.chess.pgn.games import Games
from skilloscope.core.errors import InputError, MissingExtraError
from skilloscope.sources.running_elo import UNKNOWN
from skilloscope.studies.rate.games import AxisRating, rate_on_axis


@dataclass(frozen=True, eq=False)
class AxisElo:
    """Everybody's Elo on the one axis, by event and player."""

    players: Mapping[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)
    """Axis, effort and prior; or the `problem`."""

    def of(self, event: str, player: str) -> dict[str, Any]:
        """Return the fields of one player as JSON sends them."""
        return dict(self.players.get((event, player), UNKNOWN))


def axis_elo(games: Games, events: Sequence[str], *, mass: float = 0.95) -> AxisElo:
    """Rate the players of each event by the moves that they played there; no engine is asked."""
    asked = AxisRating.of(None, None, "instant", mass=mass)
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for event in dict.fromkeys(events):
        try:
            rated = rate_on_axis(games.select([row for row, one in enumerate(events) if one == event]), None, asked)
        except (MissingExtraError, InputError) as error:
            return AxisElo(about={"problem": str(error)})
        for one in rated.players:
            low, high = one.elo.interval(mass)
            found[event, one.player] = dict(zip(UNKNOWN, (one.elo.mean, low, high), strict=True))
    about = {"axis": asked.axis.axis, "effort": asked.effort.name, "prior": asked.prior}
    return AxisElo(found, about)


def rated_field(
    elo: npt.ArrayLike, perceived: npt.ArrayLike, ends: tuple[npt.ArrayLike, npt.ArrayLike]
) -> dict[str, Any] | None:
    """Return how the perceived Elo of rated players compares with their ratings: both spreads, and how many inside.

    >>> rated_field([2200.0, 2400.0], [2290.0, 2310.0], ([2270.0, 2300.0], [2310.0, 2320.0]))
    {'players': 2, 'ratings_spread': 200.0, 'perceived_spread': 20.0, 'ratings_inside': 0}
    """
    ratings, found, low, high = (np.asarray(column, dtype=np.float64) for column in (elo, perceived, *ends))
    both = np.isfinite(ratings) & np.isfinite(found) & np.isfinite(low) & np.isfinite(high)
    if both.sum() < 2:
        return None
    inside = (low[both] <= ratings[both]) & (ratings[both] <= high[both])
    return {
        "players": int(both.sum()),
        "ratings_spread": float(np.ptp(ratings[both])),
        "perceived_spread": float(np.ptp(found[both])),
        "ratings_inside": int(inside.sum()),
    }
