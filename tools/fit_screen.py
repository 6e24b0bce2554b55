"""Fit the baseline of `skilloscope screen`: how strong people of a rating are, and how far fair play scatters.

    .venv/bin/python tools/fit_screen.py [--kept FOLDER]

In: ../shared/data (people, human), measurements/ and the joint model that the baseline ships with. Out:
src/skilloscope/data/scales/screen-default.json. With an engine: people of data/people who were searched, on whom the
weights of the joint model were not fitted, and persons/. Without: data/people and half of the people of human/ whom the
network has not seen. `check_screen.py` reports on others, by folds of events.

The dispersion φ is what games of one person differ by. `TrueStrength` maximises the likelihood of each person's sum of
`stronger` (its saddlepoint density, a mixture of two), with a little ridge. Given both, offsets and style of the other
statistics are those of a normal likelihood.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import norm

import axis_data
from screen_people import People, engine_people, instant_people
from skilloscope.evidence.axis import elo_axis
from skilloscope.models.joint import JointWeights
from skilloscope.studies.screen.baseline import Baseline, FairSpread, TrueStrength, group_sums
from skilloscope.studies.screen.own import STRENGTHS, OwnStrength
from skilloscope.studies.screen.saddlepoint import Cumulants, ScoreTable
from skilloscope.studies.screen.statistics import ENGINE, STRONGER

TARGET = axis_data.ROOT / "src" / "skilloscope" / "data" / "scales" / "screen-default.json"
NOTHING = 1e-6
"""A number so small is none."""
KNOTS = (1300.0, 1700.0, 2100.0, 2500.0)
FLAT = FairSpread(1.2, 0.0, (0.0,) * len(KNOTS))
_START = np.array([0.0] * 4 + [np.log(130.0)] * 4 + [-2.7, -2.7, np.log(250.0), np.log(150.0)])
_RIDGE = np.array([150.0] * 4 + [0.5] * 4 + [1.0, 1.0, 0.3, 0.3])

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def main() -> None:
    """Fit everything and write the baseline."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kept", type=Path, help="a folder that keeps what was read of the people")
    kept, efforts = parser.parse_args().kept, dict[str, Any]()
    for effort in ("quick", "full", "instant"):
        weights = weights_of(effort)
        people = instant_people("fit", kept) if weights is None else engine_people(effort, weights, kept)
        found = fitted(people, effort, weights)
        print(effort, json.dumps(shown(found), indent=1), flush=True)
        efforts[effort] = shown(found) | ({} if weights is None else {"weights": weights.as_dict()})
    TARGET.write_text(json.dumps({"schema": 1, "name": "default", "efforts": efforts}, indent=1) + "\n")


def weights_of(effort: str) -> JointWeights | None:
    """Return the joint model that the screening keeps; where none is kept yet, that of the axis."""
    held = json.loads(TARGET.read_text())["efforts"].get(effort, {}).get("weights")
    if held is None:
        return elo_axis().effort(effort).weights
    pairs = {name: tuple(held[name]) for name in ("depths", "human", "unlisted")}
    rows = {name: tuple(map(tuple, held[name])) for name in ("losses", "adjustments")}
    return JointWeights(**pairs, **rows)


def fitted(people: People, effort: str, weights: JointWeights | None) -> Baseline:
    """Return the baseline of some people."""
    moves = people.moves
    spreads = {STRONGER: replace(FLAT, dispersion=dispersion(people, STRONGER))}
    strength = fit_strength(people, spreads[STRONGER].dispersion)
    for name in moves.statistics:
        if name != STRONGER:
            spreads[name] = fit_spread(people, name, strength)
    strength = replace(strength, pool_sd=pool_sd(people, Baseline(effort, "", strength, spreads)))
    if weights is not None:
        spreads[ENGINE] = fit_engine(people, Baseline(effort, "", strength, spreads, weights))
    data = f"{len(moves):,} moves of {people.size} people of {len(set(people.events.tolist()))} events"
    return Baseline(effort, data, strength, spreads, weights)


def game_sums(people: People, column: Array) -> Array:
    """Return the sum of a column over each game of each person."""
    return np.bincount(people.game, column, int(people.game.max()) + 1)


def dispersion(people: People, name: str) -> float:
    """Return φ: how much more the games of one person differ than independent draws would."""
    one = people.moves.statistics[name]
    person = np.zeros(int(people.game.max()) + 1, dtype=np.int64)
    person[people.game] = people.group
    variance, unit = game_sums(people, one.draws.variance), game_sums(people, np.sqrt(one.draws.variance))
    difference, use = game_sums(people, one.beyond), variance > 1e-9
    return scatter_within(difference[use], variance[use], unit[use], person[use])


def scatter_within(difference: Array, variance: Array, unit: Array, person: Ints) -> float:
    """Return the variance of games about their person's level (proportional to `unit`) over that of draws."""
    n = int(person.max()) + 1
    level = np.bincount(person, unit * difference / variance, n) / np.maximum(
        np.bincount(person, unit**2 / variance, n), 1e-300
    )
    square = (difference - level[person] * unit) ** 2 / variance
    # Of rare events a few games hold nearly all: games of little variance do not count in full.
    weight = np.minimum(variance / np.median(variance), 1.0)
    spare = weight.sum() * (1 - len(np.unique(person)) / len(person))
    return float((weight * square).sum() / spare)


def unpacked(free: Array) -> TrueStrength:
    """Return the distribution of strength of the free numbers."""
    tail = np.interp(KNOTS, [KNOTS[0], KNOTS[-1]], expit(free[8:10]))
    lines = [tuple(float(v) for v in line) for line in (free[:4], np.exp(free[4:8]), tail)]
    return TrueStrength(KNOTS, *lines, float(np.exp(free[10])), float(np.exp(free[11])), 0.0)


def fit_strength(people: People, phi: float) -> TrueStrength:
    """Return the distribution of strength given the rating under which the sums of `stronger` are likeliest."""
    one, group, n = people.moves.statistics[STRONGER], people.group, people.size
    cumulants = Cumulants.of(one.draws, group, n, dispersion=phi)
    difference, slope = np.bincount(group, one.beyond, n), np.bincount(group, one.slope, n)

    def cost(step: Array) -> float:
        weight, mean, sd = unpacked(_START + step * _RIDGE).parts(people.elo)
        logs = [
            log_density(cumulants.table(sd[:, k] * slope, mean[:, k] * slope), difference) + np.log(weight[:, k])
            for k in range(2)
        ]
        return float(-np.logaddexp(*logs).sum() + 0.5 * step @ step)

    best = minimize(cost, np.zeros(len(_START)), method="L-BFGS-B", options={"maxiter": 60, "eps": 1e-3}).x
    return unpacked(_START + best * _RIDGE)


def log_density(table: ScoreTable, at: Array) -> Array:
    """Return the log-density of a sum of each group: φ(z)·dz/dD between the points of the table."""
    row = np.arange(len(at))
    place = np.clip((table.difference < at[:, None]).sum(axis=1), 1, table.difference.shape[1] - 1)
    low, high = table.difference[row, place - 1], table.difference[row, place]
    below, above = table.score[row, place - 1], table.score[row, place]
    slope = np.maximum((above - below) / (high - low), 1e-9)
    return np.asarray(norm.logpdf(below + slope * (at - low)) + np.log(slope))


def fit_spread(people: People, name: str, strength: TrueStrength) -> FairSpread:
    """Return the spread of a statistic, given how strong people are."""
    one, group, n = people.moves.statistics[name], people.group, people.size
    phi = dispersion(people, name)
    variance, unit, slope = (
        np.bincount(group, column, n) for column in (one.draws.variance, np.sqrt(one.draws.variance), one.slope)
    )
    weight, mean, sd = strength.parts(people.elo)
    centre = (weight * mean).sum(axis=1)
    wide = (weight * (sd**2 + (mean - centre[:, None]) ** 2)).sum(axis=1)
    difference = np.bincount(group, one.beyond, n) - centre * slope
    return offset_and_style(difference, phi * variance + wide * slope**2, unit, people.elo, phi)


def offset_and_style(difference: Array, variance: Array, unit: Array, elo: Array, phi: float) -> FairSpread:
    """Return the offset (a line between KNOTS, with a little ridge) and the style that are likeliest."""
    hats = np.stack([np.interp(elo, KNOTS, hat) for hat in np.eye(len(KNOTS))], axis=1) * unit[:, None]

    def line(style: float) -> tuple[Array, Array]:
        total = variance + (style * unit) ** 2
        both = (hats / total[:, None]).T
        return np.linalg.solve(both @ hats + np.eye(len(KNOTS)) / 0.1**2, both @ difference), total

    def cost(free: Array) -> float:
        offset, total = line(float(np.exp(free[0])))
        return float((np.log(total) + (difference - hats @ offset) ** 2 / total).sum())

    found = min(
        (minimize(cost, np.array([np.log(start)]), method="Nelder-Mead") for start in (0.003, 0.04)),
        key=lambda f: f.fun,
    )
    style = float(np.exp(found.x[0]))
    return FairSpread(phi, style, tuple(line(style)[0].tolist()))


def pool_sd(people: People, baseline: Baseline) -> float:
    """Return the sd in Elo of what people of one event share, by the products of their differences."""
    one, group, n = people.moves.statistics[STRONGER], people.group, people.size
    sums = group_sums(people.moves, STRONGER, group, np.arange(n), baseline)
    slope = np.bincount(group, one.slope, n)
    elo, weight = sums.difference / slope, slope**2 / sums.sd**2
    event = np.unique(people.events, return_inverse=True)[1]
    total, square, own = (np.bincount(event, column) for column in (weight * elo, (weight * elo) ** 2, weight))
    pairs = np.bincount(event, weight**2)
    spare = own**2 - pairs > 1e-12
    found = ((total**2 - square)[spare].sum()) / ((own**2 - pairs)[spare].sum()) if spare.any() else 0.0
    return float(np.sqrt(max(found, 0.0)))


def fit_engine(people: People, baseline: Baseline) -> FairSpread:
    """Return the spread of the agreement with the engine at each person's own strength."""
    rows = engine_rows(people, replace(baseline, spreads={**baseline.spreads, ENGINE: FLAT}))  # φ is about as there
    phi = scatter_within(*(game_sums(people, rows[:, at]) for at in range(3)), people_of_games(people))
    difference, variance, unit = (np.bincount(people.group, rows[:, at], people.size) for at in range(3))
    return offset_and_style(difference, phi * variance, unit, people.elo, phi)


def engine_rows(people: People, baseline: Baseline) -> Array:
    """Return for each move what it adds at its player's own strength, the variance of that, and its root."""
    found = np.zeros((len(people.moves), 3))
    for row in range(people.size):
        mask = people.group == row
        own = OwnStrength.of(people.moves.take(mask), baseline)
        assert own is not None
        _, elo, beyond = own.played(people.moves.take(mask))
        at = int(np.abs(STRENGTHS - elo).argmin())
        variance = np.add.reduceat(np.exp(own.logs[:, at]) * own.values[:, at] ** 2, own.offsets[:-1])
        found[mask] = np.stack([beyond, variance, np.sqrt(variance)], axis=1)
    return found


def people_of_games(people: People) -> Ints:
    """Return the person of each game."""
    person = np.zeros(int(people.game.max()) + 1, dtype=np.int64)
    person[people.game] = people.group
    return person


def shown(baseline: Baseline) -> dict[str, Any]:
    """Return the baseline as JSON, with four digits."""
    return {
        "data": baseline.data,
        "strength": rounded(asdict(baseline.strength)),
        "spreads": {name: rounded(asdict(spread)) for name, spread in baseline.spreads.items()},
    }


def rounded(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers with four digits."""

    def short(value: float) -> float:
        return float(f"{value:.4g}") if abs(value) > NOTHING else 0.0

    return {name: [*map(short, value)] if isinstance(value, tuple) else short(value) for name, value in given.items()}


if __name__ == "__main__":
    main()
