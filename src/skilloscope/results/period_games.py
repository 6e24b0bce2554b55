"""Games cut into rating periods: the one input of every algorithm that rates from results.

Periods are consecutive: one without games is there too, since time passes in it as in any other [GLI99 sect. 3.2].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from skilloscope.core.errors import InputError


class ByPeriod(Protocol):
    """Results that can be cut into periods."""

    def by_period(self, period: str | None = None) -> PeriodGames:
        """Return the games cut into periods of this length."""


@dataclass(frozen=True, eq=False, repr=False)
class PeriodGames:
    """Games sorted by period: those of period t are offsets[t]:offsets[t + 1]. Scores are those of player_1.

    `first` is the absolute number of the first period, by which a state kept from earlier games is continued.

    >>> games = PeriodGames.build([0, 1, 0], [1, 2, 2], [1.0, 0.5, 0.0], [4, 2, 2], players=["a", "b", "c"])
    >>> games.n_periods, games.offsets.tolist(), games.labels
    (3, [0, 2, 2, 3], ['2', '3', '4'])
    """

    player_1: npt.NDArray[np.int32]
    player_2: npt.NDArray[np.int32]
    score: npt.NDArray[np.float64]
    offsets: npt.NDArray[np.int64]
    n_players: int
    labels: Sequence[str]
    players: Sequence[str]
    first: int = 0
    ratings: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None = None
    """The ratings published elsewhere of both players of each game, 0 without one; one a player and period."""

    def __post_init__(self) -> None:
        n = len(self.player_1)
        if len(self.player_2) != n or len(self.score) != n:
            raise InputError("a game needs two players and a score: the columns have different lengths")
        if len(self.labels) != len(self.offsets) - 1 or len(self.players) != self.n_players:
            raise InputError("every period needs a label and every player a name")
        if self.offsets[0] != 0 or self.offsets[-1] != n or np.any(np.diff(self.offsets) < 0):
            raise InputError("the offsets of the periods must rise from 0 to the number of games")
        if n and not 0 <= min(self.player_1.min(), self.player_2.min()) <= self.highest_code < self.n_players:
            raise InputError("a player's code is outside the list of players")
        if n and not (self.score.min() >= 0 and self.score.max() <= 1):
            raise InputError("a score must lie between 0 and 1", hint="1 is a win of player_1, 0.5 a draw, 0 a loss")
        if self.ratings is not None and any(len(side) != n for side in self.ratings):
            raise InputError("the columns of ratings have other lengths than the games")
        if np.any(self.player_1 == self.player_2):
            raise InputError("a player cannot play himself")

    @classmethod
    def build(
        cls,
        player_1: npt.ArrayLike,
        player_2: npt.ArrayLike,
        score: npt.ArrayLike,
        period: npt.ArrayLike,
        *,
        players: Sequence[str],
        first: int | None = None,
        labels: Sequence[str] | None = None,
    ) -> PeriodGames:
        """Sort games by their period number; `labels` name all periods from number `first` on (else the numbers do)."""
        number = np.asarray(period, dtype=np.int64)
        start = int(number.min()) if first is None and len(number) else int(first or 0)
        names = (
            labels
            if labels is not None
            else [str(start + t) for t in range(int(np.ptp(number)) + 1 if len(number) else 0)]
        )
        if len(number) and (number.min() < start or number.max() >= start + len(names)):
            raise InputError("a game lies outside the labelled periods")
        order = np.argsort(number, kind="stable")
        return cls(
            player_1=np.asarray(player_1, dtype=np.int32)[order],
            player_2=np.asarray(player_2, dtype=np.int32)[order],
            score=np.asarray(score, dtype=np.float64)[order],
            offsets=np.searchsorted(number[order], start + np.arange(len(names) + 1)).astype(np.int64),
            n_players=len(players),
            labels=names,
            players=players,
            first=start,
        )

    def __len__(self) -> int:
        return len(self.score)

    def __repr__(self) -> str:
        return f"<PeriodGames: {len(self):,} games, {self.n_players:,} players, {self.n_periods:,} periods>"

    @property
    def n_periods(self) -> int:
        """The number of periods, those without games among them."""
        return len(self.offsets) - 1

    @property
    def highest_code(self) -> int:
        """The highest player code that occurs, or −1 without games."""
        return int(max(self.player_1.max(), self.player_2.max())) if len(self) else -1

    @property
    def period(self) -> npt.NDArray[np.int64]:
        """The period of each game, counted from 0."""
        return np.repeat(np.arange(self.n_periods), np.diff(self.offsets))

    def between(self, start: int, stop: int) -> PeriodGames:
        """Return the games of periods start..stop − 1 alone; the players and their codes stay."""
        first, last = int(self.offsets[start]), int(self.offsets[stop])
        part = slice(first, last)
        return PeriodGames(
            player_1=self.player_1[part],
            player_2=self.player_2[part],
            score=self.score[part],
            offsets=self.offsets[start : stop + 1] - first,
            n_players=self.n_players,
            labels=self.labels[start:stop],
            players=self.players,
            first=self.first + start,
            ratings=None if self.ratings is None else (self.ratings[0][part], self.ratings[1][part]),
        )
