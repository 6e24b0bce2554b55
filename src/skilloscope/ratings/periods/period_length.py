"""How long a rating period should be: the length that foretells results best, all lengths looking equally far ahead.

Short periods foretell a game from yesterday's results, long ones from last year's: their total discrepancies measure
how far ahead they look before anything else. So all lengths foretell the same games at the same distance: every game
from what was known before the longest of the periods, in which it lies, began.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.core.errors import InputError
from skilloscope.models.comparison import discrepancy, win_probability
from skilloscope.ratings.periods.histories import History
from skilloscope.ratings.periods.states import State
from skilloscope.ratings.periods.variances import VarianceFit, fit_variances
from skilloscope.results.calendar import Calendar
from skilloscope.results.period_games import PeriodGames
from skilloscope.results.table import Results

LENGTHS = ("1D", "1W", "1M", "2M", "3M", "6M", "1Y")


@dataclass(frozen=True)
class PeriodChoice:
    """The fits by length, how well each foretells at the same distance, the best, and those that cannot be compared.

    Losses of different games cannot be compared: a game whose date is known to the month only has no week.
    """

    best: str
    horizon: str
    """The longest length: so far ahead all of them look."""
    losses: dict[str, float]
    """Discrepancy per game at that distance."""
    fits: dict[str, VarianceFit]
    incomparable: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the choice as reports send it."""
        return {
            "best": self.best,
            "horizon": self.horizon,
            "losses": self.losses,
            "lengths": {length: fit.as_dict() for length, fit in self.fits.items()},
            "incomparable": list(self.incomparable),
        }


def choose_period(
    results: Results,
    lengths: Sequence[str] = LENGTHS,
    *,
    mean: float = 1500.0,
    advantage: float | None = 0.0,
    drift: float | None = 0.0,
    entry: Mapping[str, float] | None = None,
) -> PeriodChoice:
    """Fit with each length of period, and return the one that foretells best at the distance of the longest."""
    if not results.has_dates or not lengths:
        raise InputError("lengths of periods are compared where games have dates")
    horizon = max(lengths, key=_days)
    fits, losses = {}, {}
    for length in lengths:
        own = results.for_period(length)
        games = own.by_period(length)
        fits[length] = fit_variances(games, mean=mean, advantage=advantage, drift=drift, entry=entry)
        order = np.argsort(own.numbers(length), kind="stable")
        blocks = own.numbers(horizon)[order]
        losses[length] = _loss(games, blocks, fits[length], (length, horizon), entry)
    most = max(fit.games for fit in fits.values())
    comparable = [length for length in lengths if fits[length].games == most]
    best = min(comparable, key=losses.__getitem__)
    incomparable = tuple(length for length in lengths if length not in comparable)
    return PeriodChoice(best, horizon, losses, fits, incomparable)


def _loss(
    games: PeriodGames,
    blocks: npt.NDArray[np.int64],
    fit: VarianceFit,
    lengths: tuple[str, str],
    entry: Mapping[str, float] | None,
) -> float:
    """Return the discrepancy per game, each foretold from the periods before its block began."""
    state, rows = State.empty(**fit.parameters()).play(games, entry=entry, history=True)
    assert rows is not None
    history = History.from_rows(rows, state)
    length, horizon = (Calendar.from_text(text) for text in lengths)
    known, place = np.unique(blocks, return_inverse=True)
    starts = np.array([horizon.start(block) for block in known], dtype="datetime64[D]")
    limit = length.numbers(starts)[place]
    sides = [
        _known_before(history, side, games.first + games.period, limit) for side in (games.player_1, games.player_2)
    ]
    p = win_probability(*sides[0], *sides[1], advantage=fit.advantage)
    return float(np.mean(discrepancy(p, games.score)))


def _known_before(
    history: History, player: npt.NDArray[np.int32], when: npt.NDArray[np.int64], limit: npt.NDArray[np.int64]
) -> tuple[Any, Any]:
    """Return what was known of each player from periods before `limit`, with time passed until `when`."""
    span = int(history.period.max(initial=0)) + 2
    keys = history.player * span + history.period
    row = np.searchsorted(keys, player.astype(np.int64) * span + limit) - 1
    seen = (row >= 0) & (history.player[np.maximum(row, 0)] == player)
    row = np.where(seen, row, history.offsets[player])  # who is new then enters as he did
    nu2 = history.state.nu**2
    mean = np.where(seen, history.filtered_mean[row], history.prior_mean[row])
    gap = np.maximum(when - history.period[row], 0)
    return mean, np.where(seen, history.filtered_variance[row] + nu2 * gap, history.prior_variance[row])


def _days(length: str) -> int:
    calendar = Calendar.from_text(length)
    return calendar.count * {"D": 1, "W": 7, "M": 30, "Y": 365}.get(calendar.unit, 1)
