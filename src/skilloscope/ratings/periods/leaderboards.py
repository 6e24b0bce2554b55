"""Tables from states and histories: who leads now, who peaked when, and who cannot be compared with whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.special import ndtri

from skilloscope.core.errors import InputError, OptionError
from skilloscope.core.frames import Drawable, table_of_rows
from skilloscope.ratings.periods.histories import History
from skilloscope.ratings.periods.states import State
from skilloscope.results.period_games import PeriodGames

Array = npt.NDArray[np.float64]

_DRAWN = 20  # players in a figure


@dataclass(frozen=True, eq=False, repr=False)
class Board(Drawable):
    """Ranked players, best first, each with an interval; `left_out` counts those whom the rules exclude."""

    players: Sequence[str]
    rating: Array
    rd: Array
    low: Array
    high: Array
    games: npt.NDArray[np.int64]
    first_period: Sequence[str]
    last_period: Sequence[str]
    left_out: int = 0

    def __len__(self) -> int:
        return len(self.players)

    def __repr__(self) -> str:
        return f"<Board: {len(self):,} players, {self.left_out:,} left out>"

    def to_arrow(self) -> pa.Table:
        """Return a row a player, the best first."""
        return table_of_rows(self.rows())

    def draw(self, axes: Any, names: Sequence[str]) -> None:
        """Draw the ratings of some players with their intervals, of the first where none is named."""
        places = {name: i for i, name in enumerate(self.players)}
        missing = [name for name in names if name not in places]
        if missing:
            raise InputError(f"no player is called {missing[0]!r}", hint="names are compared letter by letter")
        chosen = np.sort([places[name] for name in names]) if names else np.arange(min(len(self), _DRAWN))
        for row, i in enumerate(chosen.tolist()):
            axes.plot([self.low[i], self.high[i]], [row, row], color="#1b6ca8", linewidth=2.5, solid_capstyle="butt")
            axes.plot(self.rating[i], row, "o", color="#1b6ca8", markerfacecolor="white", markeredgewidth=2)
        axes.set_yticks(range(len(chosen)), [self.players[i] for i in chosen])
        axes.set_ylim(len(chosen) - 0.5, -0.5)
        axes.set_xlabel("rating, with its interval")

    def rows(self) -> list[dict[str, Any]]:
        """Return the lines as reports send them."""
        return [
            {
                "player": self.players[i],
                "rating": float(self.rating[i]),
                "rd": float(self.rd[i]),
                "low": float(self.low[i]),
                "high": float(self.high[i]),
                "games": int(self.games[i]),
                "first_period": self.first_period[i],
                "last_period": self.last_period[i],
            }
            for i in range(len(self))
        ]


def leaderboard(
    state: State,
    *,
    top: int | None = None,
    active_within: int | None = None,
    fewest_games: int = 1,
    at: int | None = None,
    level: float = 0.95,
) -> Board:
    """Return the players by mean strength. `rd` is before the passage of time unless `at` names a period.

    `active_within=4` keeps those who played in one of the last four periods up to `at` (or up to the latest).
    """
    mean, variance = state.moments(at)
    played = state.lines["games"] > 0
    keep = played & (state.lines["games"] >= fewest_games)
    if active_within is not None and state.latest is not None:
        keep &= state.lines["last"] > (state.latest if at is None else at) - active_within
    chosen = np.flatnonzero(keep)
    chosen = chosen[np.argsort(-mean[chosen], kind="stable")][:top]
    left_out = int(played.sum() - keep.sum())
    return _board(state, chosen, mean[chosen], variance[chosen], level, left_out)


def peaks(
    history: History, *, top: int | None = None, fewest_games: int = 1, level: float = 0.95
) -> tuple[Board, list[str]]:
    """Return everybody's best mean of the (smoothed) history, ranked, and the period of each: table 3."""
    counts = np.diff(history.offsets)
    games = np.add.reduceat(np.append(history.games, 0), np.minimum(history.offsets[:-1], len(history)))
    who = np.flatnonzero((counts > 0) & (games >= fewest_games))
    order = np.lexsort((-history.mean, history.player))
    best = order[history.offsets[who]]
    rank = np.argsort(-history.mean[best], kind="stable")[:top]
    who_ranked, rows = who[rank], best[rank]
    left_out = int((counts > 0).sum() - len(who))
    board = _board(history.state, who_ranked, history.mean[rows], history.variance[rows], level, left_out)
    return board, [history.state.label(number) for number in history.period[rows]]


def components(games: PeriodGames) -> npt.NDArray[np.int64]:
    """Return the number of each player's component, the largest 0; −1 for one who did not play.

    Players of different components are linked by no chain of games: their ratings cannot be compared.
    """
    ones = np.ones(len(games), dtype=np.int8)
    graph = coo_array((ones, (games.player_1, games.player_2)), shape=(games.n_players, games.n_players))
    _, label = connected_components(graph.tocsr(), directed=False)
    played = np.zeros(games.n_players, dtype=bool)
    played[games.player_1] = played[games.player_2] = True
    size = np.bincount(label[played], minlength=label.max() + 1 if len(label) else 0)
    rank = np.empty(len(size), dtype=np.int64)
    rank[np.argsort(-size, kind="stable")] = np.arange(len(size))
    return np.where(played, rank[label], -1)


def half_width(rd: npt.ArrayLike, level: float = 0.95) -> Array:
    """Return how far the central interval of this level reaches to each side of a normal mean."""
    if not 0 < level < 1:
        raise OptionError(f"a level of {level} is no probability", hint="for example 0.95")
    return np.asarray(float(ndtri(0.5 + level / 2)) * np.asarray(rd))


def _board(
    state: State,
    codes: npt.NDArray[np.int64],
    mean: Array,
    variance: Array,
    level: float,
    left_out: int,
) -> Board:
    names = [state.players[i] for i in codes.tolist()]
    rd = np.sqrt(variance)
    half = half_width(rd, level)
    first = [state.label(number) for number in state.lines["first"][codes]]
    last = [state.label(number) for number in state.lines["last"][codes]]
    return Board(
        names,
        mean,
        rd,
        mean - half,
        mean + half,
        games=state.lines["games"][codes],
        first_period=first,
        last_period=last,
        left_out=left_out,
    )
