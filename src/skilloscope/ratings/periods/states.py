"""The ratings of all players at some moment, to be saved and continued: yesterday's ratings plus today's games.

A state is exact: continued with further games it gives, bit for bit, what one run over all games gives. Only games of
the latest period or of later ones can be added; late or corrected results need a state from before them
(`History.state_before`).

Ratings published elsewhere can count as observations of strength (not in GLI99): with one deviation for a new player,
and another for a known one, whose own results already contain most of their information.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skilloscope.core.columns import Array, Bools
from skilloscope.core.errors import InputError, OptionError
from skilloscope.core.table_files import read_checked, write_checked
from skilloscope.core.text import read_object
from skilloscope.models.kernels import paired_comparison
from skilloscope.models.kernels.paired_comparison import DISCREPANCY_UNIT, STATE, Published, copy_state, new_state
from skilloscope.models.paired_comparison import Moments, observed, passage_of_time
from skilloscope.results.periods import Calendar, PeriodGames


def with_published(moments: Moments, rating: Array, seen: Array, *, new: Bools, published: Published) -> Moments:
    """Return means and variances after looking at published ratings, 0 where there is none; `seen` are the last ones.

    >>> known = (np.array([2400.0]), np.array([60.0**2]))
    >>> fresh = Published(slope=1.0, deviation=60.0, trend=0.0)
    >>> with_published(known, np.array([2500.0]), np.array([2480.0]), new=np.array([False]), published=fresh)
    (array([2450.]), array([1800.]))
    """
    p, (mean, variance) = published, moments
    said = p.origin + p.slope * (rating - p.origin)
    trend = np.where(seen > 0, p.trend * (rating - seen), 0.0)
    later = observed(mean, variance, said + trend, p.deviation)
    first = said + p.newcomer
    spread = p.entry**2 * np.exp(-p.weak * (first - p.origin) / 400)
    changed = (rating > 0) & (rating != seen)
    enters = new & (rating > 0)
    return tuple(
        np.where(enters, entering, np.where(changed & ~new, after, before))
        for entering, after, before in zip((first, spread), later, moments, strict=True)
    )  # type: ignore[return-value]


SCHEMA = 2
_KEY = b"skilloscope.state"
_PARAMETERS = ("sigma0", "nu", "advantage", "drift", "epoch", "until", "published")
_KEPT = [name for name in STATE.names or () if name != "row"]


@dataclass(frozen=True, eq=False, repr=False)
class State:
    """The lines of all players, in order of their names, and the parameters under which they came about."""

    players: Sequence[str]
    lines: npt.NDArray[np.void]
    sigma0: float
    nu: float
    mean: float = 1500.0
    advantage: float = 0.0
    drift: float = 0.0  # how much higher newcomers enter with each period after `epoch`
    epoch: int = 0
    until: int | None = None  # the last period of the games that the drift was fitted to: it goes no further
    published: Published | None = None  # how ratings published elsewhere count; None: ignored
    period: str = ""  # the length of a period, for the record
    since: int | None = None  # games of this period and of later ones can be added
    labels: Mapping[int, str] = field(default_factory=dict)
    games: int = 0
    units: Mapping[int, int] = field(default_factory=dict)  # discrepancy by period in units of 2^-40: parts add exactly

    @classmethod
    def empty(cls, *, sigma0: float, nu: float, mean: float = 1500.0, **parameters: Any) -> "State":
        """Return the state before the first game; further parameters are fields of a state."""
        if not (sigma0 > 0 and nu >= 0):
            raise OptionError(f"sigma0 = {sigma0} and nu = {nu}: the first must be above 0, the second not below")
        parameters |= {name: float(parameters[name]) for name in ("advantage", "drift") if name in parameters}
        return cls([], new_state([]), float(sigma0), float(nu), float(mean), **parameters)

    def __len__(self) -> int:
        return len(self.players)

    def __repr__(self) -> str:
        end = "nothing yet" if self.latest is None else f"up to {self.label(self.latest)}"
        return f"<State: {len(self):,} players, {self.games:,} games, {end}>"

    @property
    def latest(self) -> int | None:
        """The latest period that holds a game, or None before the first."""
        return int(self.lines["last"].max()) if self.games else None

    @property
    def discrepancy(self) -> float:
        """The total predictive discrepancy (15) of all games so far."""
        return sum(self.units.values()) / DISCREPANCY_UNIT

    def label(self, number: int) -> str:
        """Return the label of a period by its number."""
        if int(number) in self.labels or not self.period:
            return self.labels.get(int(number), str(int(number)))
        return Calendar.from_text(self.period).label(number)

    def moments(self, at: int | None = None) -> tuple[Array, Array]:
        """Return means and variances after each player's last period; with `at`, time has passed until that period."""
        mean, variance = paired_comparison.posterior(self.lines)
        if at is None:
            return mean, variance
        return mean, passage_of_time(variance, self.nu, np.maximum(at - self.lines["last"].astype(np.int64), 0))

    def beliefs(
        self, names: Sequence[str], at: npt.ArrayLike | None = None, *, entry: Mapping[str, float] | None = None
    ) -> tuple[Array, Array]:
        """Return means and variances of these players, at one period or each at his own; who has not played is new.

        New players have their mean of `entry`, where it has one; without `at` they enter now.
        """
        mean, variance = self.moments()
        codes = np.array([self._where.get(name, -1) for name in names], dtype=np.int64)
        known = codes >= 0
        known[known] = self.lines["games"][codes[known]] > 0
        own = np.array([name in (entry or {}) for name in names], dtype=bool)
        waiting = (codes >= 0) & ~known  # in the state, yet without a game: after a rewinding
        out_mean = np.array([(entry or {}).get(name, self.mean) for name in names], dtype=float)
        out_mean[waiting] = self.lines["mean"][codes[waiting]]
        own[waiting] = self.lines["variance"][codes[waiting]] > 0
        when = np.asarray(self.since if self.since is not None else self.epoch) if at is None else np.asarray(at)
        out_mean += np.where(own, 0.0, self.drifted(when))
        out_variance = np.full(len(codes), self.sigma0**2)
        out_mean[known], out_variance[known] = mean[codes[known]], variance[codes[known]]
        if at is not None:
            last = self.lines["last"][codes] if len(self) else np.zeros(len(codes))
            gap = np.maximum(np.asarray(at) - np.where(known, last, at), 0)
            out_variance = passage_of_time(out_variance, self.nu, gap)
        return out_mean, out_variance

    def play(
        self, games: PeriodGames, *, entry: Mapping[str, float] | None = None, history: bool = False
    ) -> "tuple[State, npt.NDArray[np.void] | None]":
        """Return the state after these games, and rows if wanted; `entry` gives newcomers' means; self is kept."""
        played = np.flatnonzero(np.diff(games.offsets))
        if len(played) and self.since is not None and games.first + played[0] < self.since:
            raise InputError(
                f"the state continues from period {self.label(self.since)}, and games of {games.labels[played[0]]} "
                "come before it",
                hint="take a state from before them, and play all games from there on",
            )
        names, lines, codes = self._joined(games.players, entry or {})
        sides, about = (codes[games.player_1], codes[games.player_2]), {n: getattr(self, n) for n in _PARAMETERS}
        units, rows = paired_comparison.advance(
            lines, *sides, games.score, games.offsets,
            first=games.first, ratings=games.ratings, history=history, **about,
        )  # fmt: skip
        lines["row"] = -1
        total = dict(self.units)
        for t, n in enumerate(units, games.first):
            if n:
                total[t] = total.get(t, 0) + n
        state = replace(
            self,
            players=names,
            lines=lines,
            since=games.first + int(played[-1]) if len(played) else self.since,
            labels={**self.labels, **{games.first + int(t): games.labels[t] for t in played.tolist()}},
            games=self.games + len(games),
            units=total,
        )
        if names is self.players:
            state.__dict__["_where"] = self._where
        return state, rows

    def _joined(
        self, players: Sequence[str], entry: Mapping[str, float]
    ) -> tuple[Sequence[str], npt.NDArray[np.void], npt.NDArray[np.int32]]:
        """Return all names in order (as in a stream, where it goes on), their lines, and the codes of `players`."""
        n = len(self.players)
        if len(players) > n and list(players[:n]) == list(self.players):
            names: Sequence[str] = list(players)
            more = self._newcomers(names[n:], entry)
            lines = more if not n else copy_state(np.concatenate([self.lines, more]))
            return names, lines, np.arange(len(names), dtype=np.int32)
        if list(players) == list(self.players):
            return self.players, copy_state(self.lines), np.arange(n, dtype=np.int32)
        codes = [self._where.get(name, -1) for name in players]
        if min(codes, default=0) >= 0:  # nobody new: a small batch costs little, however many players there are
            return self.players, copy_state(self.lines), np.array(codes, dtype=np.int32)
        names = sorted({*self.players, *players})
        where = {name: i for i, name in enumerate(names)}
        lines = self._newcomers(names, entry)
        lines[[where[name] for name in self.players]] = self.lines
        return names, lines, np.array([where[name] for name in players], dtype=np.int32)

    def in_order(self) -> "State":
        """Return the same state with its players in the order of their names."""
        order = sorted(range(len(self)), key=self.players.__getitem__)
        return replace(self, players=[self.players[i] for i in order], lines=self.lines[order])

    def _newcomers(self, names: Sequence[str], entry: Mapping[str, float]) -> npt.NDArray[np.void]:
        """Return the lines of players who have not played yet; those of `entry` have a mean of their own."""
        if not entry:
            return new_state(np.full(len(names), self.mean))
        lines = new_state([entry.get(name, self.mean) for name in names])
        lines["variance"] = np.where([name in entry for name in names], self.sigma0**2, 0.0)
        return lines

    def drifted(self, period: npt.ArrayLike) -> Array:
        """Return how much higher newcomers of these periods enter than those of `epoch`."""
        end = np.inf if self.until is None else self.until
        return np.asarray(self.drift * (np.minimum(np.asarray(period, dtype=float), end) - self.epoch))

    @cached_property
    def _where(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.players)}

    @property
    def mark(self) -> str:
        """A digest of the whole state, by which a history says to which state it belongs."""
        text = json.dumps([self.as_dict(), list(self.players)], sort_keys=True).encode()
        lines = b"".join(np.ascontiguousarray(self.lines[name]).tobytes() for name in _KEPT)
        return hashlib.sha256(text + lines).hexdigest()

    def as_dict(self) -> dict[str, Any]:
        """Return everything but the lines, as it is saved with them."""
        sent = {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in ("players", "lines")}
        for name in ("labels", "units"):
            sent[name] = {str(number): value for number, value in sent[name].items()}
        return {"schema": SCHEMA, **sent, "published": self.published and self.published.as_dict()}

    @classmethod
    def from_dict(cls, players: Sequence[str], lines: npt.NDArray[np.void], kept: Mapping[str, Any]) -> "State":
        """Return the state of these lines and of what `as_dict` gave."""
        about = {key: value for key, value in kept.items() if key != "schema"}
        for key in ("labels", "units"):
            about[key] = {int(number): value for number, value in about[key].items()}
        return cls(players, lines, **about | {"published": about["published"] and Published(**about["published"])})

    def save(self, path: Path | str) -> None:
        """Write the state as one Parquet file: a row per player, the parameters as JSON in the file's metadata."""
        columns: dict[str, pa.Array] = {"player": pa.array(list(self.players), pa.string())}
        columns |= {name: pa.array(np.ascontiguousarray(self.lines[name])) for name in _KEPT}
        table = pa.table(columns).replace_schema_metadata({_KEY: json.dumps(self.as_dict(), sort_keys=True)})
        write_checked(table, path)

    @classmethod
    def load(cls, path: Path | str) -> "State":
        """Read what `save` wrote."""
        table = read_checked(path)
        with kept_file(path, "state"):
            kept = read_object((table.schema.metadata or {}).get(_KEY) or b"{}")
            if kept.get("schema") != SCHEMA:
                raise InputError(
                    f"{path} is not a state of ratings that this version reads", hint="rate the games again"
                )
            lines = new_state(np.zeros(len(table)))
            for name in _KEPT:
                lines[name] = table[name].to_numpy()
            state = cls.from_dict(table["player"].to_pylist(), lines, kept)
            state.check()
        return state

    def check(self) -> None:
        """Raise where the numbers cannot be those of a state."""
        numbers = (self.sigma0, self.nu, self.mean, self.advantage, self.drift, *(self.published or ()))
        if not all(np.isfinite(number) for number in numbers) or not (self.sigma0 > 0 and self.nu >= 0):
            raise InputError(f"sigma0, nu, mean, advantage and drift cannot be {numbers}")
        if len(set(self.players)) < len(self.players) or not all(isinstance(name, str) for name in self.players):
            raise InputError("a player without a name, or one who is there twice")
        if not all(np.isfinite(self.lines[name]).all() for name in ("mean", "variance", "gain", "information", "seen")):
            raise InputError("a rating that is not finite")
        whole = [self.games, self.epoch, *self.units.values(), self.since or 0, self.until or 0]
        if not all(isinstance(number, int) for number in whole) or not isinstance(self.period, str):
            raise InputError("a count that is not a whole number")


@contextmanager
def kept_file(path: Path | str, what: str) -> Iterator[None]:
    """Turn whatever a damaged file of kept ratings raises into one error that names the file."""
    try:
        yield
    except (InputError, ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError) as error:
        if isinstance(error, InputError) and str(path) in str(error):
            raise
        raise InputError(f"{path} is not a {what} of ratings: {error}", hint="restore a copy, or rate again") from error
