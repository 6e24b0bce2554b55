"""Fit the baseline of `skilloscope screen`: how far fair play scatters about the models' predictions.

    .venv/bin/python tools/fit_screen.py

In: ../shared/data (human, analysed), measurements/people_depth10_sf151.parquet and the axis that ships. Out:
src/skilloscope/data/scales/screen-default.json. The people are those of the axis; the weights that judge one half of
them are fitted to the other half. Without an engine: people of human/ whom the network has not seen (the half of them
that nothing is reported on). Pools are data sets and decades.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

import axis_data
from fit_axis import EFFORT_DEPTHS, stacked
from model_fits import fit_weights, weights_covariance
from skilloscope.evidence.axis import elo_axis
from skilloscope.models.joint import JointChoices, elo_basis
from skilloscope.studies.screen.baseline import FairSpread
from skilloscope.studies.screen.statistics import Statistic, human_statistics, joint_statistics

TARGET = axis_data.ROOT / "src" / "skilloscope" / "data" / "scales" / "screen-default.json"
OPENING = 12
NOTHING = 1e-4
"""A share of a move's standard deviation that is none."""
PEOPLE = 15
"""People of each 100 Elo whose moves are read without an engine."""

Array = npt.NDArray[np.float64]
Names = npt.NDArray[np.object_]


def fit_spread(difference: Array, variance: Array, unit: Array, person: npt.NDArray[np.int64]) -> FairSpread:
    """Return dispersion, person_sd and offset by likelihood, from player-games: sums about their expectation.

    The games of a person share one effect, proportional to `unit`; the rest of each is normal with φ times its draws'
    variance.
    """
    n = int(person.max()) + 1

    def cost(free: Array) -> float:
        own, tau, rest = np.exp(free[0]) * variance, np.exp(free[1]), difference - free[2] * unit
        square = np.bincount(person, unit**2 / own, n)
        cross = np.bincount(person, unit * rest / own, n)
        inner = 1.0 + tau**2 * square
        games = np.log(own) + rest**2 / own
        return 0.5 * float(games.sum() + (np.log(inner) - tau**2 * cross**2 / inner).sum())

    options = {"xatol": 1e-4, "fatol": 1e-5, "maxfev": 2000}
    best = minimize(cost, np.array([0.1, -3.0, 0.0]), method="Nelder-Mead", options=options).x
    return FairSpread(float(np.exp(best[0])), float(np.exp(best[1])), float(best[2]))


@dataclass(frozen=True, eq=False)
class Rows:
    """Moves of known people: who, in which game and pool, at which rating."""

    name: Names
    game: Names
    pool: Names
    elo: Array

    @classmethod
    def of(cls, batch: axis_data.JudgedPeople, places: npt.NDArray[np.int64], label: str) -> Rows:
        """Return the rows of some moves of a batch."""
        years = np.array([year or 0 for year in batch.moves.games.headers["year"].to_pylist()])
        game = batch.moves.game[places]
        name = np.array([str(batch.names[at]) for at in places.tolist()], dtype=object)
        games = np.array(
            [f"{label} {row} {who}" for row, who in zip(game.tolist(), name.tolist(), strict=True)], object
        )
        pools = np.array([f"{label} {year // 10}" for year in years[game].tolist()], dtype=object)
        return cls(name, games, pools, batch.elo[places].astype(float))

    @classmethod
    def concat(cls, parts: Sequence[Rows]) -> Rows:
        """Return several as one."""
        return cls(
            *(np.concatenate([getattr(part, name) for part in parts]) for name in ("name", "game", "pool", "elo"))
        )


def main() -> None:
    """Fit everything and write the baseline."""
    axis, efforts = elo_axis(), {}
    batches = {name: axis_data.judged(getattr(axis_data, name)()) for name in ("analysed", "people")}
    for name, depth in EFFORT_DEPTHS.items():
        rows, choices, preferred = joined(batches, depth)
        shipped = axis.effort(name).weights
        assert shipped is not None
        weights = replace(shipped, adjustments=())
        cluster = codes(rows.name)
        covariance = weights_covariance(choices, weights, rows.elo, elo_basis(rows.elo), cluster)
        spreads = fitted(cross_fitted(rows, choices, preferred, depth), rows)
        print(name, json.dumps(spreads, indent=1), flush=True)
        data = f"{len(rows.elo):,} moves of {cluster.max() + 1:,} people, the weights that judge each fitted to others"
        efforts[name] = {"data": data, "spreads": spreads, "covariance": rounded(covariance)}
    drawn = axis_data.judged(axis_data.strata(PEOPLE, 0.0, axis_data.HELD_OUT / 2, 1))
    rows, found = without_engine(drawn)
    spreads = fitted(found, rows)
    print("instant", json.dumps(spreads, indent=1), flush=True)
    data = f"{len(rows.elo):,} moves of {len(set(rows.name)):,} people"
    efforts["instant"] = {"data": data, "spreads": spreads, "covariance": []}
    TARGET.write_text(json.dumps({"schema": 1, "name": "default", "efforts": efforts}, indent=1) + "\n")


def joined(batches: dict[str, axis_data.JudgedPeople], depth: int) -> tuple[Rows, JointChoices, npt.NDArray[np.int64]]:
    """Return the judged moves of all batches with the engine's first choices."""
    rows, choices, preferred = [], [], []
    for name, batch in batches.items():
        moves = batch.at_depth(depth).moves
        assert moves.joint is not None
        assert moves.judged is not None
        assert moves.preferred is not None
        rows.append(Rows.of(batch, moves.judged, name))
        choices.append(moves.joint)
        preferred.append(moves.preferred)
    return Rows.concat(rows), stacked(choices), np.concatenate(preferred)


def cross_fitted(
    rows: Rows, choices: JointChoices, preferred: npt.NDArray[np.int64], depth: int
) -> dict[str, Statistic]:
    """Return the statistics of each half of the people under weights of the other half, in the order of the rows."""
    half = np.random.default_rng(1).permutation(codes(rows.name).max() + 1)[codes(rows.name)] % 2
    parts: list[dict[str, Statistic]] = []
    for side in (0, 1):
        own, other = half == side, half != side
        elo = rows.elo[other]
        weights = fit_weights(choices.select(other), elo, elo_basis(elo), tuple(range(1, depth + 1)))
        parts.append(joint_statistics(choices.select(own), preferred[own], rows.elo[own], weights))
    order = np.argsort(np.argsort(half, kind="stable"), kind="stable")
    return {name: ordered(Statistic.concat([part[name] for part in parts]), order) for name in parts[0]}


def ordered(statistic: Statistic, order: npt.NDArray[np.int64]) -> Statistic:
    """Return the columns that the fit reads in another order; its draws become their mean and variance."""
    return replace(
        statistic, actual=(statistic.actual - statistic.draws.mean)[order], slope=statistic.draws.variance[order]
    )


def fitted(statistics: dict[str, Statistic], rows: Rows) -> dict[str, dict[str, float]]:
    """Return the spreads of all statistics; `actual` holds differences here, and `slope` variances."""
    game = codes(rows.game)
    n = int(game.max()) + 1
    first = np.unique(game, return_index=True)[1]
    person, pool = codes(rows.name)[first], codes(rows.pool)[first]
    found = {}
    for name, one in statistics.items():
        difference, variance = np.bincount(game, one.actual, n), np.bincount(game, one.slope, n)
        unit = np.bincount(game, np.sqrt(one.slope), n)
        use = variance > 1e-9
        spread = fit_spread(difference[use], variance[use], unit[use], codes(person[use]))
        rest = difference - spread.offset * unit
        spread = replace(spread, pool_sd=pool_sd(rest[use], spread, variance[use], unit[use], person[use], pool[use]))
        found[name] = {
            key: float(f"{value:.4g}") if abs(value) > NOTHING else 0.0 for key, value in asdict(spread).items()
        }
    return found


def pool_sd(
    rest: Array, spread: FairSpread, variance: Array, unit: Array, person: npt.NDArray[Any], pool: npt.NDArray[Any]
) -> float:
    """Return the sd of the pools' shifts: what their means scatter beyond the people's in them; at most person_sd."""
    both = codes(np.array([f"{a} {b}" for a, b in zip(person.tolist(), pool.tolist(), strict=True)], dtype=object))
    n = int(both.max()) + 1
    group = codes(pool[np.unique(both, return_index=True)[1]])
    own = [np.bincount(both, column, n) for column in (rest, variance, unit)]
    total = spread.dispersion * own[1] + (spread.person_sd * own[2]) ** 2
    precision = np.bincount(group, own[2] ** 2 / total)
    shift = np.bincount(group, own[2] * own[0] / total) / precision
    many = np.bincount(group) >= 10
    spare = float(np.average(shift[many] ** 2 - 1 / precision[many], weights=precision[many]))
    return min(float(np.sqrt(max(spare, 0.0))), spread.person_sd)


def without_engine(batch: axis_data.JudgedPeople) -> tuple[Rows, dict[str, Statistic]]:
    """Return the moves after the opening by what people play alone."""
    named = np.array([name is not None for name in batch.names])
    places = np.flatnonzero(batch.moves.free & named & (batch.moves.move_number > OPENING))
    rows = Rows.of(batch, places, "human")
    choices = batch.moves.choices.take(places)
    found = human_statistics(choices, batch.moves.chosen[places], rows.elo)
    return rows, {name: ordered(one, np.arange(len(places))) for name, one in found.items()}


def codes(names: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return a number for each different name."""
    return np.unique(names.astype(str), return_inverse=True)[1].astype(np.int64)


def rounded(matrix: Array) -> list[list[float]]:
    """Return the matrix with five digits."""
    return [[float(f"{value:.5g}") for value in row] for row in matrix.tolist()]


if __name__ == "__main__":
    main()
