"""Everybody's ratings over time: one row per player and period in which he played, player by player.

Between two rows of a player time passed: his variance grew by ν² a period and his mean stayed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skilloscope.core.errors import InputError
from skilloscope.core.frames import Drawable
from skilloscope.core.records import read_object
from skilloscope.models.kernels.comparison import new_state
from skilloscope.models.kernels.counting import order_by_player
from skilloscope.ratings.periods.states import State, kept_file

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
_COLUMNS = (
    *("period", "games", "seen", "prior_mean", "prior_variance"),
    *("filtered_mean", "filtered_variance", "mean", "variance"),
)
_KEY = b"skilloscope.history"
_LINES, _TICKS = 7, 9
_DASHES = ("-", "--", "-.", ":")


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
    def from_rows(cls, rows: npt.NDArray[np.void], state: State) -> History:
        """Put the rows of a run player by player."""
        order, offsets = order_by_player(rows["player"], len(state))
        rows = rows[order]
        prior_mean, prior_variance, mean, variance = (
            np.ascontiguousarray(rows[name]) for name in ("prior_mean", "prior_variance", "mean", "variance")
        )
        period, games = rows["period"].astype(np.int64), np.ascontiguousarray(rows["games"])
        return cls(
            state.players,
            offsets,
            period,
            games,
            np.ascontiguousarray(rows["seen"]),
            prior_mean=prior_mean,
            prior_variance=prior_variance,
            filtered_mean=mean,
            filtered_variance=variance,
            mean=mean,
            variance=variance,
            state=state,
        )

    def __len__(self) -> int:
        return len(self.period)

    def to_arrow(self) -> pa.Table:
        """Return a row for each player and period: player, period, rating, rd, games."""
        return pa.table(self.columns())

    def __repr__(self) -> str:
        return f"<History: {len(self):,} rows of {len(self.players):,} players, {self.method}>"

    def draw(self, axes: Any, names: Sequence[str], *, bands: bool = True) -> None:
        """Draw the strengths of some players over time, with a band of one standard deviation. [GLI99 figure 2]

        Where none is named, of those who are strongest at the end.
        """
        for place, name in enumerate(names or self._strongest(_LINES)):
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

    def _strongest(self, n: int) -> list[str]:
        who = np.flatnonzero(np.diff(self.offsets))
        last = self.mean[self.offsets[who + 1] - 1]
        return [self.players[i] for i in who[np.argsort(-last, kind="stable")][:n]]

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
        try:
            i = self._where[name]
        except KeyError:
            raise InputError(f"no player is called {name!r}", hint="names are compared letter by letter") from None
        return slice(int(self.offsets[i]), int(self.offsets[i + 1]))

    @cached_property
    def _where(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.players)}

    def at(self, name: str, periods: npt.ArrayLike) -> tuple[Array, Array]:
        """Return one player's mean and variance at any periods from his first row on, also those without games.

        Exact for the filter and for `rts`: between two rows the strength is a random walk tied at both ends.
        """
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

    def columns(self) -> dict[str, Any]:
        """Return the rows as columns for a frame or a file: names, labels of periods, rating, rd, games."""
        labels = {number: self.state.label(number) for number in np.unique(self.period).tolist()}
        return {
            "player": np.repeat(np.asarray(self.players, dtype=object), np.diff(self.offsets)),
            "period": np.array([labels[number] for number in self.period.tolist()], dtype=object),
            "rating": self.mean,
            "rd": self.rd,
            "games": self.games,
        }

    @property
    def density(self) -> float | None:
        """The games per player and period in which he played; None without a game."""
        return float(self.games.sum() / len(self)) if len(self) else None

    def before(self, period: int) -> History:
        """Return the rows of the periods before this one; the state stays that of the end."""
        rows = self.period < period
        return _with_rows(self, self.player[rows], {name: getattr(self, name)[rows] for name in _COLUMNS})

    def of_players(self, chosen: Ints, state: State) -> History:
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
        lines = self._before_anything()
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
            units={number: n for number, n in self.state.units.items() if number < period},
            labels={number: label for number, label in self.state.labels.items() if number < period},
        )

    def _before_anything(self) -> npt.NDArray[np.void]:
        """Return everybody's line before his first game: where he entered, or will enter."""
        state = self.state
        never = state.lines["games"] == 0
        lines = new_state(np.where(never, state.lines["mean"], state.mean))
        lines["variance"][never] = state.lines["variance"][never]
        played = np.flatnonzero(np.diff(self.offsets))
        first = self.offsets[played]
        mean = self.prior_mean[first]
        own = (self.seen[first] == 0) & (mean != state.mean + state.drifted(self.period[first]))
        lines["mean"][played[own]], lines["variance"][played[own]] = mean[own], state.sigma0**2
        return lines

    def final(self) -> State:
        """Return a state of what the history says last about everybody: with `whole`, all games weighed together.

        It foretells; later games that are played on it take its beliefs as if the filter had come to them.
        """
        end = int(self.period.max()) + 1 if len(self) else 0
        lines = self.state.lines.copy()
        seen = np.flatnonzero(np.diff(self.offsets))
        last = self.offsets[seen + 1] - 1
        lines["mean"][seen], lines["variance"][seen] = self.mean[last], self.variance[last]
        lines["gain"][seen] = lines["information"][seen] = 0
        return replace(self.state, lines=lines, since=end)

    def save(self, path: Path | str, mark: str | None = None) -> None:
        """Write all columns as one Parquet file, to be rewound to any period later; `mark` is that of its state."""
        import pyarrow as pa

        from skilloscope.core.parquet import write_checked

        names = pa.array(list(self.players), pa.string())
        columns: dict[str, Any] = {"player": pa.DictionaryArray.from_arrays(pa.array(self.player, pa.int32()), names)}
        columns |= {name: pa.array(getattr(self, name)) for name in _COLUMNS}
        kept = {"method": self.method, "state": self.state.as_dict(), "players": list(self.players), "mark": mark}
        write_checked(pa.table(columns).replace_schema_metadata({_KEY: json.dumps(kept)}), path)

    @classmethod
    def load(cls, path: Path | str) -> History:
        """Read what `save` wrote. The state in it is that of the end, with every period closed."""
        from skilloscope.core.parquet import read_checked

        table = read_checked(path)
        if _KEY not in (table.schema.metadata or {}):
            raise InputError(f"{path} is not a history of ratings", hint="`save` of a history writes one")
        with kept_file(path, "history"):
            return cls._from_table(table, read_object(table.schema.metadata[_KEY]))

    @classmethod
    def _from_table(cls, table: Any, kept: Mapping[str, Any]) -> History:
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
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        kept = json.loads((pq.read_schema(path).metadata or {}).get(_KEY, b"{}"))
    except (pa.ArrowException, OSError, ValueError):  # whoever loads it says what is wrong
        return None
    return str(kept["mark"]) if isinstance(kept, dict) and kept.get("mark") else None


def joined_history(before: History, after: History) -> History:
    """Return one history of both: `after` was played on the state at the end of `before`.

    A player's row in a period that was still open then is in both: its prior is the same, its games add, and the later
    one knows all of them.
    """
    code = {name: i for i, name in enumerate(after.players)}
    moved = np.array([code[name] for name in before.players], dtype=np.int64)
    player = np.concatenate([moved[before.player], after.player])
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
