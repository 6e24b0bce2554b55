"""Ratings over time, and tables made of them: who leads, who peaked when, and who cannot be compared with whom.

A History has one row per player and period in which the player had games, player by player. Time passes between two
rows: the variance grows by ν² a period and the mean stays. A Board ranks players by a state or by a history.
"""

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.special import ndtri

from skilloscope.core.columns import Array, Ints
from skilloscope.core.errors import InputError, OptionError
from skilloscope.core.frames import Framed, table_html
from skilloscope.core.table_files import read_checked, write_checked
from skilloscope.core.text import read_object
from skilloscope.models.kernels.histories import order_by_player
from skilloscope.models.kernels.paired_comparison import new_state
from skilloscope.ratings.periods.states import State, kept_file
from skilloscope.results.periods import PeriodGames

_COLUMNS = (
    *("period", "games", "seen", "prior_mean", "prior_variance"),
    *("filtered_mean", "filtered_variance", "mean", "variance"),
)
_KEY = b"skilloscope.history"
_LINES, _TICKS = 7, 9
_DASHES = ("-", "--", "-.", ":")
_SHOWN = 20  # players or rows in a notebook
_FIGURE = (7.5, 4.2)  # inches


class Drawable(Framed):
    """A table that can be drawn: a notebook shows its first rows and the figure, `plot` gives the axes."""

    def draw(self, axes: Any, names: Sequence[str]) -> None:
        """Draw these players, or the leading ones if none is named."""
        raise NotImplementedError

    def plot(self, *names: str) -> Any:
        """Return a matplotlib Axes with these players, or with the leading ones if none is named."""
        import matplotlib.pyplot as plt  # slow to load, and only notebooks draw

        _, axes = plt.subplots(figsize=_FIGURE, layout="constrained")
        self.draw(axes, names)
        return axes

    def _repr_html_(self) -> str:
        from matplotlib.figure import Figure

        table = self.to_arrow()
        cells = [
            ["–" if x is None else f"{x:.1f}" if isinstance(x, float) else str(x) for x in row.values()]
            for row in table.slice(0, _SHOWN).to_pylist()
        ]
        more = f"<p><small>{len(table) - _SHOWN:,} more rows</small></p>" if len(table) > _SHOWN else ""
        figure, text = Figure(figsize=_FIGURE, layout="constrained"), io.StringIO()
        self.draw(figure.subplots(), ())
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
        drawn = text.getvalue()
        return f"{table_html(table.column_names, cells)}{more}<figure>{drawn[drawn.index('<svg') :]}</figure>"


@dataclass(frozen=True, eq=False, repr=False)
class History(Drawable):
    """Rows offsets[i]:offsets[i + 1] are those of players[i], in order of time.

    `prior_…` is before the games of the period, `filtered_…` after them; `mean` and `variance` are the same as the
    filtered ones, or smoothed by `method`. No passage of time after the games is in any of them.
    """

    players: Sequence[str]
    offsets: Ints
    period: Ints
    games: Ints
    seen: Array  # the rating published elsewhere that was last seen before the games, 0 where there was none
    prior_mean: Array
    prior_variance: Array
    filtered_mean: Array
    filtered_variance: Array
    mean: Array
    variance: Array
    state: State  # after the last row
    method: str = "filter"

    @classmethod
    def from_rows(cls, rows: npt.NDArray[np.void], state: State) -> "History":
        """Put the rows of a run player by player."""
        order, offsets = order_by_player(rows["player"], len(state))
        rows = rows[order]
        columns = {name: np.ascontiguousarray(rows[name]) for name in rows.dtype.names or () if name != "player"}
        columns |= {"period": rows["period"].astype(np.int64)}
        columns |= {"filtered_mean": columns["mean"], "filtered_variance": columns["variance"]}
        return cls(state.players, offsets, **columns, state=state, method="filter")

    @classmethod
    def played(cls, games: PeriodGames, state: State, entry: Mapping[str, float] | None = None) -> "History":
        """Return the history of these games, played on a state; its own state is that after them."""
        after, rows = state.play(games, entry=entry, history=True)
        assert rows is not None
        return cls.from_rows(rows, after)

    def __len__(self) -> int:
        return len(self.period)

    def to_arrow(self) -> pa.Table:
        """Return a row for each player and period: player, label of the period, rating, rd, games."""
        labels = {number: self.state.label(number) for number in np.unique(self.period).tolist()}
        return pa.table(
            {
                "player": np.repeat(np.asarray(self.players, dtype=object), np.diff(self.offsets)),
                "period": np.array([labels[number] for number in self.period.tolist()], dtype=object),
                "rating": self.mean,
                "rd": self.rd,
                "games": self.games,
            }
        )

    def __repr__(self) -> str:
        return f"<History: {len(self):,} rows of {len(self.players):,} players, {self.method}>"

    def draw(self, axes: Any, names: Sequence[str], *, bands: bool = True) -> None:
        """Draw the strengths of some players, or of the strongest, with bands of one sd. [GLI99 figure 2]"""
        who = np.flatnonzero(np.diff(self.offsets))
        strongest = who[np.argsort(-self.mean[self.offsets[who + 1] - 1], kind="stable")][:_LINES]
        for place, name in enumerate(names or [self.players[i] for i in strongest]):
            rows = self.of(name)
            time, mean, sd = self.period[rows], self.mean[rows], self.rd[rows]
            dash = _DASHES[place // 7 % len(_DASHES)]
            line = axes.plot(time, mean, dash, label=name, marker="." if len(time) < 3 else "")[0]
            if bands:
                axes.fill_between(time, mean - sd, mean + sd, color=line.get_color(), alpha=0.10, linewidth=0)
        first, last = (int(end) for end in np.clip(axes.get_xlim(), self.period.min(), self.period.max()))
        step = 1 + (last - first) // _TICKS
        ticks = [t for t in range(first, last + 1) if t % step == 0]
        axes.set_xticks(ticks, [self.state.label(t) for t in ticks], fontsize=8)
        axes.set_ylabel("rating" if self.method == "filter" else f"rating, smoothed ({self.method})")
        axes.legend(fontsize=8, ncols=2)

    @property
    def player(self) -> Ints:
        """The player's code in each row."""
        return np.repeat(np.arange(len(self.players)), np.diff(self.offsets))

    @property
    def rd(self) -> Array:
        """The standard deviation in each row."""
        return np.asarray(np.sqrt(self.variance))

    def of(self, name: str) -> slice:
        """Return the rows of one player."""
        if (i := self._where.get(name)) is None:
            raise InputError(f"no player is called {name!r}", hint="names are compared letter by letter")
        return slice(int(self.offsets[i]), int(self.offsets[i + 1]))

    @cached_property
    def _where(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.players)}

    def codes_of(self, players: Sequence[str]) -> Ints:
        """Return the codes of players by their names."""
        return np.array([self._where[name] for name in players], dtype=np.int64)

    def rows_of(self, games: PeriodGames) -> tuple[Ints, Ints]:
        """Return the rows in which each game's two players are."""
        codes, when = self.codes_of(games.players), games.first + games.period
        span = int(max(self.period.max(initial=0), games.first + games.n_periods)) + 1
        keys = self.player * span + self.period
        one, two = (np.searchsorted(keys, codes[side] * span + when) for side in (games.player_1, games.player_2))
        return one, two

    def at(self, name: str, periods: npt.ArrayLike) -> tuple[Array, Array]:
        """Return one player's mean and variance at any periods from his first row on: exact for filter and `rts`."""
        rows, wanted = self.of(name), np.asarray(periods, dtype=np.int64)
        time = self.period[rows]
        place = np.searchsorted(time, wanted, side="right") - 1
        if np.any(place < 0):
            raise InputError(f"{name} had not played yet", hint=f"his first period is {self.state.label(time[0])}")
        return self._between(rows.start + place, np.minimum(rows.start + place + 1, rows.stop - 1), wanted)

    def everybody_at(self, period: int) -> tuple[Ints, Array, Array]:
        """Return the codes of all who had played by this period, and their means and variances at it, as `at` does."""
        early = np.bincount(self.player[self.period <= period], minlength=len(self.players))
        who = np.flatnonzero(early)
        before = self.offsets[who] + early[who] - 1
        mean, variance = self._between(before, np.minimum(before + 1, self.offsets[who + 1] - 1), np.int64(period))
        return who, mean, variance

    def _between(self, before: Ints, after: Ints, wanted: Ints | np.int64) -> tuple[Array, Array]:
        """Return mean and variance at periods from row `before` on; `after` is the player's next row, if he has one."""
        nu2, time = self.state.nu**2, self.period
        mean, variance, noise = self.mean[before], self.variance[before], nu2 * (wanted - time[before])
        if self.method == "filter":
            return mean, variance + noise
        filtered = self.filtered_variance[before] + noise
        left = nu2 * (time[after] - wanted)
        inside = (after > before) & (time[before] != wanted)
        c = np.where(inside, filtered / (filtered + np.where(inside, left, 0.0)), 0.0)
        start = self.filtered_mean[before]
        inside_mean = start + c * (self.mean[after] - start)
        inside_variance = filtered + c * c * (self.variance[after] - filtered - left)
        return np.where(inside, inside_mean, mean), np.where(inside, inside_variance, variance + noise)

    def before(self, period: int) -> "History":
        """Return the rows of the periods before this one; the state stays that of the end."""
        rows = self.period < period
        return _with_rows(self, self.player[rows], {name: getattr(self, name)[rows] for name in _COLUMNS})

    def of_players(self, chosen: Ints, state: State) -> "History":
        """Return the history of these players alone, who are those of the state."""
        rows = np.isin(self.player, chosen)
        codes = np.searchsorted(chosen, self.player[rows])
        columns = {name: getattr(self, name)[rows] for name in _COLUMNS}
        return _with_rows(replace(self, players=state.players, state=state), codes, columns)

    def state_before(self, period: int) -> State:
        """Return the state before the games of this period, exactly as it was: from here late results are played."""
        if int(self.games.sum()) != 2 * self.state.games:
            raise InputError("this history does not reach back to the first game", hint="play all games again")
        rows = np.flatnonzero(self.period < period)
        # Everybody's line before his first game: where he entered, or will enter.
        state, played = self.state, np.flatnonzero(np.diff(self.offsets))
        never = state.lines["games"] == 0
        lines = new_state(np.where(never, state.lines["mean"], state.mean))
        lines["variance"][never] = state.lines["variance"][never]
        first = self.offsets[played]
        mean = self.prior_mean[first]
        own = (self.seen[first] == 0) & (mean != state.mean + state.drifted(self.period[first]))
        lines["mean"][played[own]], lines["variance"][played[own]] = mean[own], state.sigma0**2
        player = self.player[rows]
        last = rows[np.append(player[1:] != player[:-1], True)] if len(rows) else rows
        who = self.player[last]
        lines["mean"][who] = self.filtered_mean[last]
        lines["variance"][who] = self.filtered_variance[last]
        lines["seen"][who] = self.seen[last]
        lines["first"][who] = self.period[self.offsets[who]]
        lines["last"][who] = self.period[last]
        lines["games"] = np.bincount(player, weights=self.games[rows], minlength=len(lines)).astype(np.int64)
        return replace(
            self.state,
            lines=lines,
            since=period,
            games=int(self.games[rows].sum()) // 2,
            units={number: n for number, n in state.units.items() if number < period},
            labels={number: label for number, label in state.labels.items() if number < period},
        )

    def final(self) -> State:
        """Return a state of what the history says last about everybody, for predictions alone."""
        end = int(self.period.max()) + 1 if len(self) else 0
        lines = self.state.lines.copy()
        seen = np.flatnonzero(np.diff(self.offsets))
        last = self.offsets[seen + 1] - 1
        lines["mean"][seen], lines["variance"][seen] = self.mean[last], self.variance[last]
        lines["gain"][seen] = lines["information"][seen] = 0
        return replace(self.state, lines=lines, since=end)

    def save(self, path: Path | str, mark: str | None = None) -> None:
        """Write all columns as one Parquet file, to be rewound to any period later; `mark` is that of its state."""
        names = pa.array(list(self.players), pa.string())
        player = pa.DictionaryArray.from_arrays(pa.array(self.player, pa.int32()), names)
        columns = {"player": player} | {name: pa.array(getattr(self, name)) for name in _COLUMNS}
        kept = {"method": self.method, "state": self.state.as_dict(), "players": list(self.players), "mark": mark}
        write_checked(pa.table(columns).replace_schema_metadata({_KEY: json.dumps(kept)}), path)

    @classmethod
    def load(cls, path: Path | str) -> "History":
        """Read what `save` wrote. The state in it is that of the end, with every period closed."""
        table = read_checked(path)
        if _KEY not in (table.schema.metadata or {}):
            raise InputError(f"{path} is not a history of ratings", hint="`save` of a history writes one")
        with kept_file(path, "history"):
            kept = read_object(table.schema.metadata[_KEY])
            players = list(kept["players"])
            empty = State.from_dict(players, new_state(np.full(len(players), kept["state"]["mean"])), kept["state"])
            empty.check()
            codes = {name: i for i, name in enumerate(players)}
            player = np.array([codes[name] for name in table["player"].to_pylist()], dtype=np.int64)
            columns = {name: table[name].to_numpy() for name in _COLUMNS}
            if np.any(np.diff(player) < 0) or not all(np.isfinite(column).all() for column in columns.values()):
                raise InputError("rows out of order, or a number that is not finite")
            offsets = np.append(0, np.cumsum(np.bincount(player, minlength=len(players)))).astype(np.int64)
            loaded = cls(players, offsets, **columns, state=empty, method=str(kept["method"]))
            end = int(loaded.period.max()) + 1 if len(loaded) else 0
            return replace(loaded, state=loaded.state_before(end))


def history_mark(path: Path | str) -> str | None:
    """Return the mark of the state that a history was saved with; None where there is none, or no history."""
    try:
        kept = json.loads((pq.read_schema(path).metadata or {}).get(_KEY, b"{}"))
    except (pa.ArrowException, OSError, ValueError):  # whoever loads it says what is wrong
        return None
    return str(kept["mark"]) if isinstance(kept, dict) and kept.get("mark") else None


def joined_history(before: History, after: History) -> History:
    """Return one history of both: `after` was played on the end of `before`, perhaps in a period still open."""
    player = np.concatenate([after.codes_of(before.players)[before.player], after.player])
    columns = {name: np.concatenate([getattr(before, name), getattr(after, name)]) for name in _COLUMNS}
    order = np.lexsort((np.arange(len(player)), columns["period"], player))
    player, columns = player[order], {name: column[order] for name, column in columns.items()}
    same = (np.diff(player) == 0) & (np.diff(columns["period"]) == 0)
    columns["games"][1:][same] += columns["games"][:-1][same]
    last = np.append(~same, True) if len(order) else np.zeros(0, dtype=bool)
    return _with_rows(after, player[last], {name: column[last] for name, column in columns.items()})


def _with_rows(like: History, player: Ints, columns: Mapping[str, Any]) -> History:
    """Return a history of these rows, in order of their players, and of the other's players and state."""
    counts = np.bincount(player, minlength=len(like.players))
    return replace(like, offsets=np.append(0, np.cumsum(counts)).astype(np.int64), **columns)


@dataclass(frozen=True)
class Ranked:
    """A player on a board, with the interval of the rating."""

    player: str
    rating: float
    rd: float
    low: float
    high: float
    games: int
    first_period: str
    last_period: str


@dataclass(frozen=True, eq=False, repr=False)
class Board(Drawable):
    """Ranked players, best first; `left_out` counts those whom the rules exclude."""

    players: Sequence[str]
    rating: Array
    rd: Array
    low: Array
    high: Array
    games: Ints
    first_period: Sequence[str]
    last_period: Sequence[str]
    left_out: int = 0

    @classmethod
    def of(cls, state: State, codes: Ints, mean: Array, variance: Array, level: float, left_out: int) -> "Board":
        """Return the board of these players of a state, in the order in which they come."""
        if not 0 < level < 1:
            raise OptionError(f"a level of {level} is not a probability", hint="for example 0.95")
        rd, lines = np.sqrt(variance), state.lines[codes]
        half = float(ndtri(0.5 + level / 2)) * rd
        names = [state.players[i] for i in codes.tolist()]
        first, last = ([state.label(number) for number in lines[name]] for name in ("first", "last"))
        low, high = mean - half, mean + half
        return cls(names, mean, rd, low, high, lines["games"], first_period=first, last_period=last, left_out=left_out)

    def __len__(self) -> int:
        return len(self.players)

    def __repr__(self) -> str:
        return f"<Board: {len(self):,} players, {self.left_out:,} left out>"

    def to_arrow(self) -> pa.Table:
        """Return a row for each player, the best first."""
        columns = {name: getattr(self, name) for name in Ranked.__dataclass_fields__ if name != "player"}
        return pa.table({"player": list(self.players), **columns})

    def rows(self) -> list[Ranked]:
        """Return a row for each player, the best first."""
        numbers = (column.tolist() for column in (self.rating, self.rd, self.low, self.high, self.games))
        return [Ranked(*row) for row in zip(self.players, *numbers, self.first_period, self.last_period, strict=True)]

    def draw(self, axes: Any, names: Sequence[str]) -> None:
        """Draw the ratings of some players with their intervals, of the first ones if none is named."""
        places = {name: i for i, name in enumerate(self.players)}
        missing = [name for name in names if name not in places]
        if missing:
            raise InputError(f"no player is called {missing[0]!r}", hint="names are compared letter by letter")
        chosen = np.sort([places[name] for name in names]) if names else np.arange(min(len(self), _SHOWN))
        for row, i in enumerate(chosen.tolist()):
            axes.plot([self.low[i], self.high[i]], [row, row], color="#1b6ca8", linewidth=2.5, solid_capstyle="butt")
            axes.plot(self.rating[i], row, "o", color="#1b6ca8", markerfacecolor="white", markeredgewidth=2)
        axes.set_yticks(range(len(chosen)), [self.players[i] for i in chosen])
        axes.set_ylim(len(chosen) - 0.5, -0.5)
        axes.set_xlabel("rating, with its interval")


def leaderboard(
    state: State,
    *,
    active_within: int | None = None,
    at: int | None = None,
    level: float = 0.95,
    added: npt.ArrayLike = 0.0,
) -> Board:
    """Return the players by mean strength. `rd` is before the passage of time unless `at` names a period.

    `added` is a further variance of each, as that of fitted parameters.
    `active_within=4` keeps those who played in one of the last four periods up to `at` (or up to the latest).
    """
    mean, variance = state.moments(at)
    variance = variance + np.asarray(added)
    played = state.lines["games"] > 0
    keep = played.copy()
    if active_within is not None and state.latest is not None:
        keep &= state.lines["last"] > (state.latest if at is None else at) - active_within
    chosen = np.flatnonzero(keep)
    chosen = chosen[np.argsort(-mean[chosen], kind="stable")]
    return Board.of(state, chosen, mean[chosen], variance[chosen], level, int(played.sum() - keep.sum()))


def past_leaderboard(
    history: History, *, active_within: int | None = None, at: int | None = None, level: float = 0.95
) -> Board:
    """Return the players who had played, by their strength in their last period or in period `at`."""
    everybody = np.flatnonzero(np.diff(history.offsets))
    if at is None:
        who, last = everybody, history.offsets[everybody + 1] - 1
        mean, variance = history.mean[last], history.variance[last]
    else:
        who, mean, variance = history.everybody_at(at)
    if active_within is not None:
        end = history.period.max() if at is None else at
        recent = (history.period > end - active_within) & (history.period <= end)
        keep = np.bincount(history.player[recent], minlength=len(history.players))[who] > 0
        who, mean, variance = who[keep], mean[keep], variance[keep]
    order = np.argsort(-mean, kind="stable")  # names are in order, so equals stay so
    return Board.of(history.state, who[order], mean[order], variance[order], level, len(everybody) - len(who))


def peaks(history: History) -> tuple[Board, list[str]]:
    """Return everybody's best mean of the (smoothed) history, ranked, and the period of each. [GLI99 table 3]"""
    who = np.flatnonzero(np.diff(history.offsets))
    best = np.lexsort((-history.mean, history.player))[history.offsets[who]]
    rank = np.argsort(-history.mean[best], kind="stable")
    rows = best[rank]
    board = Board.of(history.state, who[rank], history.mean[rows], history.variance[rows], 0.95, 0)
    return board, [history.state.label(number) for number in history.period[rows]]


def components(games: PeriodGames) -> Ints:
    """Return each player's component, the largest 0, −1 without a game; no chain of games links two of them."""
    ones = np.ones(len(games), dtype=np.int8)
    graph = coo_array((ones, (games.player_1, games.player_2)), shape=(games.n_players, games.n_players))
    _, label = connected_components(graph.tocsr(), directed=False)
    played = np.zeros(games.n_players, dtype=bool)
    played[games.player_1] = played[games.player_2] = True
    size = np.bincount(label[played], minlength=label.max() + 1 if len(label) else 0)
    rank = np.empty(len(size), dtype=np.int64)
    rank[np.argsort(-size, kind="stable")] = np.arange(len(size))
    return np.where(played, rank[label], -1)
