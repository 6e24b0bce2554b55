"""Fast twins of `comparison` for whole histories, compiled by numba and cached on disk.

A player's line of the state is the prior of the last period in which he played, and two sums over his games of that
period. The posterior follows from these when it is wanted (`posterior`), and the passage of time when he next plays:
a period costs its games, whatever the number of players, and a gap of any length costs nothing.

The sums are whole numbers in units of 2^−44. Whole numbers add exactly, so neither the order of the games in a period
nor a pause in the middle of one changes a single bit of what comes out.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from skilloscope.core.columns import Array, Ints
from skilloscope.core.compiled import njit
from skilloscope.models.paired_comparison import Q

StateArray = npt.NDArray[np.void]
RowArray = npt.NDArray[np.void]

UNIT = 2.0**44  # a sum of one player's period is exact up to half a million games
DISCREPANCY_UNIT = 2.0**40
_CHUNK = 1 << 22  # games whose discrepancy surely fits 63 bits in units of 2^-40
NEVER = -(2**31)
_BLOCK = 128  # games gathered, computed and given out at once: they stay in the nearest cache
_SERIES_LIMIT = 24.0  # 4,169 Elo
THREE_Q2_PI2 = 3 * Q * Q / np.pi**2

STATE = np.dtype(
    [
        ("mean", "f8"),  # prior of period `last`; of one who has not played yet, the mean to enter with
        ("variance", "f8"),  # of one who has not played yet: 0, unless he enters with a deviation of his own
        ("shrink", "f8"),  # g(variance)
        ("gain", "i8"),  # sum of g(s - E) over the games of period `last`
        ("information", "i8"),  # sum of g^2 E(1 - E) over the same
        ("seen", "f8"),  # the rating published elsewhere that was last seen, 0 where there was none
        ("games", "i4"),  # all games so far
        ("row", "i4"),  # while rows are kept: games of the player's open row, or -1 where he has none
        ("first", "i4"),  # period of the first game, NEVER before
        ("last", "i4"),  # period of the latest game, NEVER before
    ]
)
ROW = np.dtype(
    [
        ("player", "i4"),
        ("period", "i4"),
        ("prior_mean", "f8"),  # before the games of the period
        ("prior_variance", "f8"),
        ("mean", "f8"),  # after them, before the passage of time
        ("variance", "f8"),
        ("seen", "f8"),  # the published rating that was last seen before the games
        ("games", "i8"),
    ]
)


class Published(NamedTuple):
    """How a rating that is published elsewhere relates to a strength: an observation with its own deviation.

    A rating R says origin + slope·(R − origin), give or take `deviation`; a published rating lags, so `trend` times its
    last change is added. For a new player it says `newcomer` more, give or take `entry` at the origin:
    the variance grows by e with each 400/`weak` Elo below it. The values are those of over-the-board chess up to 2005.
    """

    origin: float = 2300.0
    slope: float = 1.04
    deviation: float = 83.0
    entry: float = 83.0
    weak: float = 1.0
    newcomer: float = -45.0
    trend: float = 0.5

    def as_dict(self) -> dict[str, float]:
        """Return the numbers by name."""
        return self._asdict()


def new_state(entry_mean: npt.ArrayLike) -> StateArray:
    """Return the state of players who have not played yet; `entry_mean` has one number per player."""
    mean = np.asarray(entry_mean, dtype=float)
    state = _lines(len(mean))
    state["mean"] = mean
    state["first"] = state["last"] = NEVER
    state["row"] = -1
    return state


def copy_state(state: StateArray) -> StateArray:
    """Return a copy whose lines lie in the memory as those of `new_state`."""
    copied = _lines(len(state))
    copied[:] = state
    return copied


def _lines(n: int) -> StateArray:
    """Return n empty lines, each in one line of the processor's cache: astride two, all takes twice as long."""
    room = np.zeros(STATE.itemsize * n + 64, dtype=np.uint8)
    start = -room.ctypes.data % 64
    return room[start : start + STATE.itemsize * n].view(STATE)


def posterior(state: StateArray) -> tuple[Array, Array]:
    """[GLI99 (9), (10)] from the sums: means and variances after everybody's last period, NaN before the first."""
    played = state["games"] > 0
    prior = np.where(played, state["variance"], np.nan)
    known = state["information"] > 0
    variance = np.where(known, 1 / (1 / prior + Q * Q * (state["information"] / UNIT)), prior)
    return np.where(played, state["mean"], np.nan) + variance * Q * (state["gain"] / UNIT), variance


def advance(
    state: StateArray,
    player_1: npt.NDArray[np.int32],
    player_2: npt.NDArray[np.int32],
    score: Array,
    offsets: Ints,
    *,
    first: int,
    sigma0: float,
    nu: float,
    advantage: float = 0.0,
    drift: float = 0.0,
    epoch: int = 0,
    until: int | None = None,
    published: Published | None = None,
    ratings: tuple[Array, Array] | None = None,
    history: bool = False,
) -> tuple[list[int], RowArray | None]:
    """Play the periods `first`, `first` + 1, … on `state` in place, all games of a period at once.

    Newcomers enter `drift` higher with each period after `epoch`, up to `until` where it is given: a line is not
    followed beyond the games that it was fitted to. `ratings` are those `published` elsewhere before each game, of both
    players, 0 where there is none; a player's are equal within a period.

    Return the discrepancy of each period in whole units of 2^−40, which add without rounding, and the rows of the
    history if asked for: each when its player next plays, those of the last periods at the end, so that the rows of
    one player are in the order of time.
    """
    capacity = min(2 * len(score), len(state) * (len(offsets) - 1)) if history else 0
    rows = np.empty(capacity, ROW)
    counts = -(-np.diff(offsets) // _CHUNK)
    period_of = np.repeat(np.arange(len(counts)), counts)
    place = np.arange(len(period_of)) - np.repeat(np.cumsum(counts) - counts, counts)
    ends = np.minimum(offsets[period_of] + (place + 1) * _CHUNK, offsets[period_of + 1])
    ends, period_of = np.concatenate([offsets[:1], ends]).astype(np.int64), period_of
    state["row"] = -1
    one, two = ratings if ratings is not None and published is not None else (np.zeros(0), np.zeros(0))
    end = np.inf if until is None else float(until)
    numbers = (float(sigma0) ** 2, float(nu) ** 2, float(advantage), float(drift), float(epoch), end)
    used, totals = _play_periods(
        state=state,
        player_1=_frozen(player_1),
        player_2=_frozen(player_2),
        score=_frozen(score),
        ends=ends,
        periods=period_of + first,
        ratings=(_frozen(one), _frozen(two)),
        rules=_Rules(*numbers, Published(*(float(number) for number in published or Published()))),
        rows=rows,
    )
    units = [0] * (len(offsets) - 1)
    for t, total in zip(period_of.tolist(), totals.tolist(), strict=True):
        units[t] += total
    if not history:
        return units, None
    still = np.flatnonzero(state["row"] >= 0)  # the last period of these is still open
    last = rows[used : used + len(still)]
    last["player"] = still
    sources = {"period": "last", "prior_mean": "mean", "prior_variance": "variance", "seen": "seen", "games": "row"}
    for name, source in sources.items():
        last[name] = state[source][still]
    last["mean"], last["variance"] = posterior(state[still])
    return units, rows[: used + len(still)]


class _Rules(NamedTuple):
    """All numbers that a pass needs."""

    sigma0_2: float
    nu2: float
    advantage: float
    drift: float
    epoch: float
    until: float
    published: Published


def _frozen(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a read-only view: numba compiles once more for each mixture of columns that may and may not be written."""
    view = np.ascontiguousarray(column).view()
    view.flags.writeable = False
    return view


@njit(cache=True, error_model="numpy", inline="always")
def _open(state, i, t, rating, rules, keep, rows, used):  # type: ignore[no-untyped-def] # pragma: no cover
    """Make player i ready for period t: close the last one, with its row if rows are kept, and let time pass."""
    s = state[i]
    if s.last != t:
        if s.last == NEVER:
            s.first = t
            _enter(state, i, t, rating, rules)
        else:
            variance = s.variance
            if s.information > 0:  # a closed line, taken up again, keeps its variance to the last bit
                variance = 1.0 / (1.0 / s.variance + Q * Q * (s.information / UNIT))
            mean = s.mean + variance * Q * (s.gain / UNIT)
            if s.row >= 0:
                rows[used].player = i
                rows[used].period = s.last
                rows[used].prior_mean = s.mean
                rows[used].prior_variance = s.variance
                rows[used].mean = mean
                rows[used].variance = variance
                rows[used].seen = s.seen
                rows[used].games = s.row
                used += 1
            s.mean = mean
            s.variance = variance + rules.nu2 * (t - s.last)
            if rating > 0.0 and rating != s.seen:
                _observe(state, i, rating, rules.published)
        s.shrink = 1.0 / np.sqrt(1.0 + THREE_Q2_PI2 * s.variance)
        s.gain = 0
        s.information = 0
        s.last = t
        s.row = -1
    if keep:
        s.row = max(s.row, 0)
    return used


@njit(cache=True, error_model="numpy")
def _enter(state, i, t, rating, rules):  # type: ignore[no-untyped-def] # pragma: no cover
    """Put a new player where the published rating says, or where newcomers of this period enter."""
    s = state[i]
    if rating > 0.0:
        p = rules.published
        s.mean = p.origin + p.slope * (rating - p.origin) + p.newcomer
        s.variance = p.entry * p.entry * np.exp(-p.weak * (s.mean - p.origin) / 400.0)
        s.seen = rating
    elif s.variance == 0.0:
        s.mean += rules.drift * (min(float(t), rules.until) - rules.epoch)
        s.variance = rules.sigma0_2


@njit(cache=True, error_model="numpy")
def _observe(state, i, rating, p):  # type: ignore[no-untyped-def] # pragma: no cover
    """Take a newly published rating as an observation of the strength: the twin of `observed`."""
    s = state[i]
    said = p.origin + p.slope * (rating - p.origin)
    if s.seen > 0.0:
        said += p.trend * (rating - s.seen)
    share = s.variance / (s.variance + p.deviation * p.deviation)
    s.mean += share * (said - s.mean)
    s.variance *= 1.0 - share
    s.seen = rating


@njit(cache=True, error_model="numpy", inline="always")
def _exp_minus(y):  # type: ignore[no-untyped-def] # pragma: no cover
    """e^−y for y from 0 to _SERIES_LIMIT: a series at y/64, squared six times; plain arithmetic goes four at a time."""
    z = y * (-1.0 / 64.0)
    r = 1 / 720 + z * (1 / 5040 + z * (1 / 40320 + z * (1 / 362880 + z * (1 / 3628800 + z * (1 / 39916800)))))
    r = 1.0 + z * (1.0 + z * (1 / 2 + z * (1 / 6 + z * (1 / 24 + z * (1 / 120 + z * r)))))
    r *= r
    r *= r
    r *= r
    r *= r
    r *= r
    return r * r


@njit(cache=True, error_model="numpy", inline="always")
def _log_of_one_plus(z):  # type: ignore[no-untyped-def] # pragma: no cover
    """log(1 + z) for z from 0 to 1: 2·artanh(z/(2 + z)) by its series."""
    u = z / (2.0 + z)
    w = u * u
    r = 1 / 21 + w * (1 / 23 + w * (1 / 25 + w * (1 / 27 + w * (1 / 29 + w * (1 / 31 + w * (1 / 33))))))
    r = 1 / 11 + w * (1 / 13 + w * (1 / 15 + w * (1 / 17 + w * (1 / 19 + w * r))))
    r = 1.0 + w * (1 / 3 + w * (1 / 5 + w * (1 / 7 + w * (1 / 9 + w * r))))
    return 2.0 * u * r


@njit(cache=True, error_model="numpy")
def _expect(n, x, score, shrink_1, shrink_2, spread, work):  # type: ignore[no-untyped-def] # pragma: no cover
    """Fill work with gain and information of both sides and the discrepancy of n games, all in units."""
    for k in range(n):
        s = score[k]
        size = abs(x[k])
        won = x[k] >= 0.0  # the better player's chance is 1/(1 + z), the other's z/(1 + z), each without cancellation
        z = _exp_minus(shrink_2[k] * size)
        p = 1.0 / (1.0 + z)
        e = p if won else z * p
        work[0, k] = UNIT * shrink_2[k] * (s - e)
        work[1, k] = UNIT * shrink_2[k] * shrink_2[k] * (z * p * p)
        z = _exp_minus(shrink_1[k] * size)
        p = 1.0 / (1.0 + z)
        e = z * p if won else p
        work[2, k] = UNIT * shrink_1[k] * (1.0 - s - e)
        work[3, k] = UNIT * shrink_1[k] * shrink_1[k] * (z * p * p)
        y = size / np.sqrt(1.0 + THREE_Q2_PI2 * spread[k])
        work[4, k] = DISCREPANCY_UNIT * (_log_of_one_plus(_exp_minus(y)) + y * (1.0 - s if won else s))


@njit(cache=True, error_model="numpy")
def _expect_far(k, x, score, shrink_1, shrink_2, spread, work):  # type: ignore[no-untyped-def] # pragma: no cover
    """Do the same for one game whose players are too far apart for the series."""
    s = score[k]
    e = 1.0 / (1.0 + np.exp(-shrink_2[k] * x[k]))
    work[0, k] = UNIT * shrink_2[k] * (s - e)
    work[1, k] = UNIT * shrink_2[k] * shrink_2[k] * e * (1.0 - e)
    e = 1.0 / (1.0 + np.exp(shrink_1[k] * x[k]))
    work[2, k] = UNIT * shrink_1[k] * (1.0 - s - e)
    work[3, k] = UNIT * shrink_1[k] * shrink_1[k] * e * (1.0 - e)
    y = x[k] / np.sqrt(1.0 + THREE_Q2_PI2 * spread[k])
    work[4, k] = DISCREPANCY_UNIT * (np.log1p(np.exp(-abs(y))) + max(y, 0.0) - s * y)


@njit(cache=True, error_model="numpy")
def _play_periods(  # type: ignore[no-untyped-def] # pragma: no cover
    state, player_1, player_2, score, ends, periods, ratings, rules, rows
):
    """Play all pieces; return the rows used and each piece's discrepancy in whole units."""
    used = np.int64(0)  # as `_play` returns it, or that is compiled twice
    totals = np.zeros(len(periods), np.int64)
    buffers = (np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK), np.empty((5, _BLOCK)))
    for p in range(len(periods)):
        part = slice(ends[p], ends[p + 1])
        rated = ratings[0][part], ratings[1][part]
        used, totals[p] = _play(
            state, player_1[part], player_2[part], score[part], rated, periods[p], rules, rows, used, buffers
        )
    return used, totals


@njit(cache=True, error_model="numpy")
def _play(  # type: ignore[no-untyped-def] # pragma: no cover
    state, player_1, player_2, score, ratings, t, rules, rows, used, buffers
):
    """Play games of period t, opening each player when first met; return the rows used and the discrepancy."""
    x, shrink_1, shrink_2, spread, work = buffers
    rating_1, rating_2 = ratings
    keep, rated, advantage = len(rows) > 0, len(rating_1) > 0, rules.advantage
    total = np.int64(0)
    for start in range(0, len(score), _BLOCK):
        n = min(_BLOCK, len(score) - start)
        far = False
        for k in range(n):  # counting asks for all lines at once, so that the next loop need not wait for each
            state[player_1[start + k]].games += 1
            state[player_2[start + k]].games += 1
        for k in range(n):
            i = player_1[start + k]
            j = player_2[start + k]
            a = state[i]
            b = state[j]
            if a.last != t or (keep and a.row < 0):
                used = _open(state, i, t, rating_1[start + k] if rated else 0.0, rules, keep, rows, used)
            if b.last != t or (keep and b.row < 0):
                used = _open(state, j, t, rating_2[start + k] if rated else 0.0, rules, keep, rows, used)
            x[k] = Q * (a.mean - b.mean + advantage)
            shrink_1[k] = a.shrink
            shrink_2[k] = b.shrink
            spread[k] = a.variance + b.variance
            far |= abs(x[k]) > _SERIES_LIMIT
        _expect(n, x, score[start : start + n], shrink_1, shrink_2, spread, work)
        if far:
            for k in range(n):
                if abs(x[k]) > _SERIES_LIMIT:
                    _expect_far(k, x, score[start : start + n], shrink_1, shrink_2, spread, work)
        for k in range(n):
            a = state[player_1[start + k]]
            a.gain += np.int64(np.rint(work[0, k]))
            a.information += np.int64(np.rint(work[1, k]))
            b = state[player_2[start + k]]
            b.gain += np.int64(np.rint(work[2, k]))
            b.information += np.int64(np.rint(work[3, k]))
            total += np.int64(np.rint(work[4, k]))
            if keep:
                a.row += 1
                b.row += 1
    return used, total
