"""Is the interval of one year true, and do estimates follow a person's ratings? People with rated years, no engine.

    .venv/bin/python tools/years_check.py [--kept FOLDER]

The people are some of human/ whom the network has not seen and who have ten games in each of three years; three of
their years and ten games of each are drawn. Each half of the people is judged by effects fitted without it: those of
the axis that ships, which come from the first half, judge the second, and effects fitted to the second half judge the
first. Printed: how often the 95 % interval of a year holds that year's mean rating, with an interval that draws
people again, and the slope of ratings on estimates over all years and inside people.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from forecast_fused import HALVES, drawn_again
from people_evidence import PlayerGames, held_out_games, move_evidence
from skilloscope.ratings.elo_axis.axis import EloAxis, elo_axis
from skilloscope.ratings.elo_axis.effects import Effects
from skilloscope.ratings.elo_axis.pool import POOL_ELO, PoolEvidence, fit_pool, fitted_prior

YEARS, GAMES = 3, 10

Array = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]


def main() -> None:
    """Print the figures of both halves, each under effects of the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=100, help="people of each half")
    parser.add_argument("--kept", type=Path, help="a folder that keeps the curves of the moves")
    arguments = parser.parse_args()
    axis = elo_axis()
    halves = {name: people_years(name, arguments.people, arguments.kept) for name in HALVES}
    second, _ = halves["report"]
    ships = dict(axis.effort("instant").effects)
    effects = {"fit": fit_pool(second, fitted_prior(second.elo), ships, mapped=False), "report": ships}
    for name, found in effects.items():
        print(f"{name}: judged by {found}")
    both = [(halves[name], effects[name]) for name in HALVES]
    for prior in ("that ships", "ratings of the other half"):
        parts = []
        for at, ((evidence, person), found) in enumerate(both):
            other = both[1 - at][0][0].elo
            parts.append((evidence, person, posterior(evidence, found, axis, None if prior == "that ships" else other)))
            show(f"{list(HALVES)[at]}, prior {prior}", *parts[-1])
        show_all(f"both, prior {prior}", parts)


def people_years(half: str, people: int, kept: Path | None) -> tuple[PoolEvidence, Whole]:
    """Return the years of some people of a half as if each were somebody, and who it is."""
    games = drawn_years(*HALVES[half], people)
    evidence = move_evidence(games, kept and kept / f"years_{half}_{people}.npz")
    years, group = np.unique(games.player * 4000 + games.year, return_inverse=True)
    elo = np.bincount(group, games.elo) / np.bincount(group)
    return evidence.of_groups(np.arange(len(games)), group, elo), years // 4000


def drawn_years(low: float, high: float, most: int, seed: int = 1) -> PlayerGames:
    """Return GAMES games of each of YEARS years of those who have so many, by their anonymous numbers."""
    games = held_out_games(low, high)
    keys, first, count = np.unique(games.player * 4000 + games.year, return_index=True, return_counts=True)
    rng, rows = np.random.default_rng(seed), []
    long = np.flatnonzero(count >= GAMES)
    for person in np.unique(keys[long] // 4000):
        years = long[keys[long] // 4000 == person]
        if len(years) >= YEARS:
            for at in np.sort(rng.choice(years, YEARS, replace=False)):
                rows.append(first[at] + np.sort(rng.choice(count[at], GAMES, replace=False)))
    return games.take(np.concatenate(rows[: YEARS * most]))


def posterior(evidence: PoolEvidence, effects: Mapping[str, Effects], axis: EloAxis, ratings: Array | None) -> Array:
    """Return the log-posteriors of the years under the prior that ships, or that of some ratings."""
    prior = axis.prior() if ratings is None else fitted_prior(ratings)
    return np.asarray(evidence.logs(effects) + np.asarray(prior.log_density(POOL_ELO)))


def show(name: str, evidence: PoolEvidence, person: Whole, logs: Array) -> None:
    """Print coverage, error and slopes."""
    show_all(name, [(evidence, person, logs)])


def show_all(name: str, parts: list[tuple[PoolEvidence, Whole, Array]]) -> None:
    """Print coverage, error and slopes of several halves together."""
    elo, person, logs = (np.concatenate(column) for column in zip(*((e.elo, p, x) for e, p, x in parts), strict=True))
    density = np.exp(logs - logs.max(axis=1, keepdims=True))
    density /= density.sum(axis=1, keepdims=True)
    mean = density @ POOL_ELO
    below = np.cumsum(density, axis=1) - density / 2
    place = np.array([np.interp(at, POOL_ELO, row) for at, row in zip(elo, below, strict=True)])
    inside = ((place > 0.025) & (place < 0.975)).astype(float)
    low, high = drawn_again(inside, person)
    sd = np.sqrt(density @ POOL_ELO**2 - mean**2).mean()
    told = f"{inside.mean():.3f} ({low:.3f} to {high:.3f})  RMSE {np.sqrt(((mean - elo) ** 2).mean()):.0f} sd {sd:.0f}"
    years = f"{len(np.unique(person))} people {len(elo)} years"
    print(f"{name:40s} {years}  covers {told}  slope {slopes(mean, elo, person)}")


def slopes(mean: Array, elo: Array, person: Whole) -> str:
    """Return the slope of ratings on estimates over all years and inside people; the intervals draw people again."""
    _, place = np.unique(person, return_inverse=True)
    count = np.bincount(place)
    within = [x - (np.bincount(place, x) / count)[place] for x in (mean, elo)]
    whole = [x - x.mean() for x in (mean, elo)]
    told = []
    for x, y in (whole, within):
        up, down = np.bincount(place, x * y), np.bincount(place, x * x)
        drawn = np.random.default_rng(1).integers(0, len(count), (2000, len(count)))
        low, high = np.percentile(up[drawn].sum(axis=1) / down[drawn].sum(axis=1), [2.5, 97.5])
        told.append(f"{up.sum() / down.sum():.2f} ({low:.2f} to {high:.2f})")
    return f"{told[0]}, inside people {told[1]}"


if __name__ == "__main__":
    main()
