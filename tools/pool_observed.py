"""What moves of online games lost and how long they took: the data and weights of the sources besides the moves."""

from __future__ import annotations

import bz2
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from model_fits import fit_bin_weights
from pool_curves import LEAST_PLIES, PARTS, pools_of_games
from skilloscope.chess.analysis.evaluations import MATE_CAP
from skilloscope.core.columns import Array, Bools, Ints
from skilloscope.models.bins import (
    LOSS_EDGES,
    LOSS_FEATURES,
    TIME_EDGES,
    TIME_FEATURES,
    BinWeights,
    bin_curves,
    loss_features,
    paces,
    time_features,
)
from skilloscope.models.joint import scaled_loss
from skilloscope.studies.calibrate import POOL_ELO

SOURCES = ("opening", "human")
FIT, REPORT = 0, 1
TIMED_SIDES, OF_A_PERSON = 9000, 8  # for the weights of times
RARE, BAND = 0.7, 200  # rare ratings are drawn more often for them: by this power of a band's people


@dataclass(frozen=True, eq=False)
class Observed:
    """The games of a pool that bring evaluations or clocks: what their moves lost or how long they took."""

    table: Mapping[str, npt.NDArray[Any]]
    side: Ints
    values: Array
    features: Array

    @classmethod
    def losses(
        cls, table: Mapping[str, npt.NDArray[Any]], games: Mapping[str, npt.NDArray[Any]], data: Path, pool: int
    ) -> Observed:
        """Return the games of one pool with evaluations."""
        some, place = rows_with(table, games["has_eval"].astype(bool), pool)
        values = np.frombuffer(bz2.decompress((data / "evals.i16.bz2").read_bytes()), dtype="<i2").astype(float)
        pawns = np.where(values == -32768, np.nan, np.clip(values / 100, -MATE_CAP, MATE_CAP))
        starts = starts_of(games, "has_eval")
        choices = table["choices"]
        side, ply = place[choices[:, 0].astype(np.int64)], choices[:, 1].astype(np.int64)
        use = (side >= 0) & (ply > 0)
        side, ply, choices = side[use], ply[use], choices[use]
        at = starts[some["want"][side, 3]] + ply
        sign = np.where(ply % 2, -1.0, 1.0)
        before, after = sign * pawns[at - 1], sign * pawns[at]
        found = np.isfinite(before) & np.isfinite(after)
        features = loss_features(choices[:, 2], choices[:, 3], before, ply)[found]
        return cls(some, side[found], scaled_loss(before, after)[found], features)

    @classmethod
    def times(
        cls, table: Mapping[str, npt.NDArray[Any]], games: Mapping[str, npt.NDArray[Any]], clocks: Array, pool: int
    ) -> Observed:
        """Return the games of one pool with clocks."""
        some, _ = rows_with(table, games["has_clock"].astype(bool) & (games["base"] > 0), pool)
        return cls(some, *times_of(games, clocks, some["want"][:, 3], some["want"][:, 4]))

    def weights(self) -> BinWeights:
        """Return the weights of the people for fitting."""
        use = self.table["want"][self.side, 0] == FIT
        elo = self.table["rating"][self.side[use]].astype(float)
        return fit_bin_weights(self.values[use], self.features[use], elo, (LOSS_EDGES, LOSS_FEATURES))

    def with_source(self, name: str, weights: BinWeights) -> Mapping[str, npt.NDArray[Any]]:
        """Return the table with what the values say as a further source."""
        sides = len(self.table["want"])
        more = bin_curves(self.values, self.features, weights, self.side, sides, POOL_ELO)
        curves = np.concatenate([self.table["curves"], more[:, None]], axis=1)
        return {**self.table, "curves": curves, "sources": np.array([*SOURCES, name])}


def rows_with(
    table: Mapping[str, npt.NDArray[Any]], known: Bools, pool: int
) -> tuple[dict[str, npt.NDArray[Any]], Ints]:
    """Return the sides of some games of one pool, each person's numbered again, and the new place of every old one."""
    want = table["want"]
    rows = np.flatnonzero((want[:, 1] == pool) & known[want[:, 3]])
    rows = rows[np.lexsort((want[rows, 5], want[rows, 2], want[rows, 0]))]
    some = {name: table[name][rows] for name in ("want", "curves", "rating")}
    _, first, who = np.unique(some["want"][:, [0, 2]], axis=0, return_index=True, return_inverse=True)
    some["want"][:, 5] = np.arange(len(rows)) - first[who.reshape(-1)]
    place = np.full(len(want), -1)
    place[rows] = np.arange(len(rows))
    return some, place


def starts_of(games: Mapping[str, npt.NDArray[Any]], has: str) -> Ints:
    """Return where the values of each game begin in a file that holds only games that have them."""
    known, plies = games[has].astype(bool), games["plies"].astype(np.int64)
    starts = np.zeros(len(known), dtype=np.int64)
    starts[known] = np.cumsum(plies[known]) - plies[known]
    return starts


def times_of(games: Mapping[str, npt.NDArray[Any]], clocks: Array, game: Ints, side: Ints) -> tuple[Ints, Array, Array]:
    """Return the place of the side of each of its moves, how long it took, and the features."""
    plies = games["plies"].astype(np.int64)[game]
    of = np.repeat(np.arange(len(game)), plies)
    ply = np.arange(len(of)) - np.repeat(np.cumsum(plies) - plies, plies)
    use = (ply % 2 == side[of]) & (ply >= 2)
    of, ply = of[use], ply[use]
    at = starts_of(games, "has_clock")[game[of]] + ply
    now, left, opponent = (clocks[at - back] for back in (0, 2, 1))
    base, increment = (games[name][game[of]].astype(float) for name in ("base", "increment"))
    spent = left - now + increment
    found = np.isfinite(spent + opponent)
    features = time_features(base, increment, left, opponent, ply)[found]
    return of[found], paces(spent, base, increment)[found], features


def time_weights(games: Mapping[str, npt.NDArray[Any]], clocks: Array, pool: int) -> BinWeights:
    """Return the weights of times of people of a pool who are neither for fitting nor for the report."""
    rng = np.random.default_rng(pool)
    own = (pools_of_games(games) == pool) & (games["plies"] >= LEAST_PLIES) & games["has_clock"].astype(bool)
    game = np.repeat(np.flatnonzero(own & (games["base"] > 0)), 2)
    side = np.arange(len(game)) % 2
    person = np.where(side == 0, games["white"][game], games["black"][game])
    elo = np.where(side == 0, games["white_elo"][game], games["black_elo"][game]).astype(float)
    rows = np.flatnonzero(~np.isin(person % 12, PARTS))
    rows = rows[np.lexsort((rng.random(len(rows)), person[rows]))]
    rows = rows[np.arange(len(rows)) - np.searchsorted(person[rows], person[rows]) < OF_A_PERSON]
    band = (elo[rows] // BAND).astype(np.int64)
    rare = np.bincount(band)[band] ** -RARE
    rows = np.sort(rng.choice(rows, min(TIMED_SIDES, len(rows)), replace=False, p=rare / rare.sum()))
    of, values, features = times_of(games, clocks, game[rows], side[rows])
    return fit_bin_weights(values, features, elo[rows][of], (TIME_EDGES, TIME_FEATURES), ridge=1e-5, steps=150)
