"""The past again, with what came later: three ways under three names.

`rts` is the Kalman smoother that GLI99 sect. 3.5 describes, and the default. `eq14` is (14) as printed, which counts
the past twice (its nominal 95 % cover far less); table 3 was computed with it. `whole` is beyond the paper: all games
of all periods speak to both their players until nothing moves, so that also what an opponent showed later counts. Its
deviations are those of the joint posterior up to 4,000 rows; beyond they leave out what goes round in loops, and a
warning says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from skilloscope.core.errors import InputError, OptionError
from skilloscope.models.kernels.messages import links, sweep
from skilloscope.models.kernels.smoothing import eq14, rts
from skilloscope.ratings.periods.histories import History
from skilloscope.ratings.periods.whole import MOST_ROWS, precision_of, row_variances
from skilloscope.results.period_games import PeriodGames

SMOOTHINGS = ("rts", "eq14", "whole")

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Sweeps:
    """How the sweeps of `whole` ended: how many, the largest move of a mean in the last, in Elo, and if it is small."""

    done: int
    moved: float
    converged: bool
    exact: bool = True
    """Whether the deviations are those of the joint posterior."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What must be said where they did not converge."""
        moving = f"after {self.done} sweeps a strength still moved by {self.moved:.1f} Elo: not converged"
        loops = "the deviations leave out what goes round in loops of games: among few players they are too small"
        return (*(() if self.converged else (moving,)), *(() if self.exact else (loops,)))


def smoothed_history(
    history: History, games: PeriodGames, method: str | None, *, from_last_active: bool = False
) -> tuple[History, Sweeps | None]:
    """Return the history smoothed in one of the three ways, or as it is for None; and how `whole` ended."""
    if method is None:
        return history, None
    if method == "whole":
        return whole(history, games)
    return smooth(history, method, from_last_active=from_last_active), None


def smooth(history: History, method: str = "rts", *, from_last_active: bool = False) -> History:
    """Return the history smoothed backwards by `rts` or `eq14`, from the end or from each player's last active period.

    For `rts` the two are the same, since a time without games tells nothing; (14) as printed goes on through the
    periods after a player's last game, and each makes him look surer.
    """
    mean, variance = history.filtered_mean.copy(), history.filtered_variance.copy()
    nu2 = history.state.nu**2
    if method == "rts":
        rts(history.offsets, history.period, nu2, mean, variance)
    elif method == "eq14":
        end = -(2**62) if from_last_active or not len(history) else int(history.period.max())
        eq14(history.offsets, history.period, nu2, end, mean, variance)
    else:
        raise OptionError(
            f"no smoothing is called {method!r}", hint=f"one of {', '.join(SMOOTHINGS)}; `whole` needs the games"
        )
    return replace(history, mean=mean, variance=variance, method=method)


def whole(history: History, games: PeriodGames, *, tol: float = 0.1, sweeps: int = 50) -> tuple[History, Sweeps]:
    """Return the history with all games weighed together, and how it converged.

    `games` must be those of which the history was made. It ends when no mean moves by more than `tol` Elo in a sweep.
    The games of a period are put in one order first, so that theirs does not matter.
    """
    if history.state.published is not None:
        raise InputError("`whole` does not look at published ratings", hint="smooth by rts, or leave --observed out")
    if int(history.games.sum()) != 2 * len(games):
        raise InputError("the history was not made of these games", hint="give the games that it was made of")
    rows = np.lexsort((history.player, history.period))
    player, period = history.player[rows], history.period[rows]
    codes = _codes(history, games)
    one, two, when = codes[games.player_1], codes[games.player_2], games.period
    order = np.lexsort((games.score, two, one, when))
    one, two, score = one[order], two[order], games.score[order]
    previous, row_1, row_2 = links(player, period - games.first, len(history.players), one, two, when)
    later = np.flatnonzero(previous >= 0)
    following = np.full(len(rows), -1, dtype=np.int64)
    following[previous[later]] = later
    noise = np.zeros(len(rows))
    noise[later] = history.state.nu**2 * (period[later] - period[previous[later]])
    precision = 1 / history.prior_variance[rows]
    entry = np.column_stack([precision, precision * history.prior_mean[rows]])
    ends = np.searchsorted(period - games.first, np.arange(games.n_periods + 1))
    past, future, site, sent = (np.zeros((n, m)) for n, m in ((len(rows), 2),) * 3 + ((len(games), 4),))
    moved, done = np.inf, 0
    while moved > tol and done < sweeps:
        moved = sweep(
            previous=previous,
            following=following,
            noise=noise,
            entry=entry,
            row_ends=ends,
            row_1=row_1,
            row_2=row_2,
            score=score,
            game_ends=games.offsets,
            advantage=history.state.advantage,
            past=past,
            future=future,
            site=site,
            sent=sent,
        )
        done += 1
    total = past + future + site
    mean, variance = np.empty(len(rows)), np.empty(len(rows))
    mean[rows], variance[rows] = total[:, 1] / total[:, 0], 1 / total[:, 0]
    smoothed = replace(history, mean=mean, variance=variance, method="whole")
    honest = row_variances(precision_of(smoothed, games)) if len(rows) <= MOST_ROWS else None
    if honest is not None:
        smoothed = replace(smoothed, variance=honest)
    return smoothed, Sweeps(done, float(moved), bool(moved <= tol), honest is not None)


def _codes(history: History, games: PeriodGames) -> npt.NDArray[np.int64]:
    """Return the history's code of each player of the games."""
    if list(history.players) == list(games.players):
        return np.arange(len(games.players))
    where = {name: i for i, name in enumerate(history.players)}
    return np.array([where[name] for name in games.players], dtype=np.int64)
