"""Is the interval of one year true, and do estimates follow a person's ratings? People with rated years, no engine.

    .venv/bin/python tools/years_check.py [--kept FOLDER]

The people are some of human/ whom the network has not seen and who have ten games in each of three years; three of
their years and ten games of each are drawn. Each half is judged by effects fitted without it: those of the axis that
ships, which come from the first half, judge the second, and effects fitted to the second half judge the first.
Printed: how often the 95 % interval of a year holds that year's mean rating, with an interval that draws
people again, and the slope of ratings on estimates over all years and inside people; once each year for itself, and
once all years of a person together, as in a profile: a level, a random walk, and what the model sees in the person.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from forecast_fused import HALVES, drawn_again
from people_evidence import PlayerGames, held_out_games, kept_evidence
from skilloscope.evidence import Normal
from skilloscope.evidence.axis import Effects, EloAxis, elo_axis
from skilloscope.studies.calibrate import POOL_ELO, START, PoolEvidence, fit_pool, fitted_prior

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
    second = halves["report"].evidence
    ships = dict(START)
    effects = {"fit": fit_pool(second, fitted_prior(second.elo), ships, mapped=False), "report": ships}
    for name, found in effects.items():
        print(f"{name}: judged by {found}")
    for prior in ("that ships", "ratings of the other half"):
        parts = []
        for name, other in (("fit", "report"), ("report", "fit")):
            ratings = None if prior == "that ships" else halves[other].evidence.elo
            own = halves[name]
            parts.append((own.evidence, own.person, posterior(own.evidence, effects[name], axis, ratings)))
            show_all(f"{name}, prior {prior}", parts[-1:])
        show_all(f"both, prior {prior}", parts)
    as_profiles(halves, effects)


@dataclass(frozen=True, eq=False)
class Years:
    """Years of people, each as if it were somebody: what its games say, whose it is, and when."""

    evidence: PoolEvidence
    person: Whole
    year: Whole


def people_years(half: str, people: int, kept: Path | None) -> Years:
    """Return the years of some people of a half."""
    games = drawn_years(*HALVES[half], people)
    evidence = kept_evidence(games, kept and kept / f"years_{half}_{people}.npz")
    years, group = np.unique(games.player * 4000 + games.year, return_inverse=True)
    elo = np.bincount(group, games.elo) / np.bincount(group)
    return Years(evidence.of_groups(np.arange(len(games)), group, elo), years // 4000, years % 4000)


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


def show_all(name: str, parts: list[tuple[PoolEvidence, Whole, Array]]) -> None:
    """Print coverage, error and slopes of one half, or of both together."""
    elo, person, logs = (np.concatenate(column) for column in zip(*((e.elo, p, x) for e, p, x in parts), strict=True))
    density = np.exp(logs - logs.max(axis=1, keepdims=True))
    density /= density.sum(axis=1, keepdims=True)
    mean = density @ POOL_ELO
    below = np.cumsum(density, axis=1) - density / 2
    place = np.array([np.interp(at, POOL_ELO, row) for at, row in zip(elo, below, strict=True)])
    sd = np.sqrt(density @ POOL_ELO**2 - mean**2)
    show_years(name, elo, person, mean, sd, (place > 0.025) & (place < 0.975))


def show_years(name: str, elo: Array, person: Whole, mean: Array, sd: Array, covered: npt.NDArray[np.bool_]) -> None:
    """Print coverage, error and slopes of estimates."""
    inside = covered.astype(float)
    low, high = drawn_again(inside, person)
    rmse = np.sqrt(((mean - elo) ** 2).mean())
    told = f"{inside.mean():.3f} ({low:.3f} to {high:.3f})  RMSE {rmse:.0f} sd {sd.mean():.0f}"
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


@dataclass(frozen=True)
class Walk:
    """How ratings lie and move, and how the evidence of a year strays: fitted on other people."""

    mean: float
    level_sd: float
    """Of people's first years."""
    drift: float
    """A year."""
    bias: float
    person_sd: float
    """What the model sees in a person, all years alike."""
    spread: float
    """What the variance of a year's evidence is multiplied by."""

    def moved(self, year: Whole) -> Array:
        """Return the covariance of a person's ratings."""
        since = year - year.min()
        return np.asarray(self.level_sd**2 + self.drift**2 * np.minimum.outer(since, since))


def as_profiles(halves: Mapping[str, Years], effects: Mapping[str, Mapping[str, Effects]]) -> None:
    """Print the figures of years taken together by person, the walk fitted to the other half."""
    parts = []
    for name, other in (("fit", "report"), ("report", "fit")):
        own = halves[name]
        walk = fit_walk(halves[other], *normal_evidence(halves[other].evidence, effects[name]))
        mean, sd = smoothed(own, *normal_evidence(own.evidence, effects[name]), walk)
        parts.append((own.evidence.elo, own.person, mean, sd, np.abs(mean - own.evidence.elo) < 1.96 * sd))
        print(f"{name}: {walk}")
        show_years(f"{name}, as a profile", *parts[-1])
    show_years("both, as a profile", *(np.concatenate(column) for column in zip(*parts, strict=True)))


def normal_evidence(evidence: PoolEvidence, effects: Mapping[str, Effects]) -> tuple[Array, Array]:
    """Return what each year says as a normal: mean and variance, without what stays with a person."""
    logs = evidence.logs({name: replace(one, person_sd=0.0) for name, one in effects.items()})
    wide = Normal(2000.0, 400.0, float(POOL_ELO[0]), float(POOL_ELO[-1]))
    density = np.exp(logs - logs.max(axis=1, keepdims=True) + np.asarray(wide.log_density(POOL_ELO)))
    density /= density.sum(axis=1, keepdims=True)
    mean = density @ POOL_ELO
    variance = density @ POOL_ELO**2 - mean**2
    precision = 1 / variance - 1 / wide.sd**2
    return (mean / variance - wide.mean / wide.sd**2) / precision, 1 / precision


def fit_walk(years: Years, mean: Array, variance: Array) -> Walk:
    """Return the walk of the ratings and the errors of the evidence by maximum likelihood."""
    elo = years.evidence.elo
    rows = [np.flatnonzero(years.person == one) for one in np.unique(years.person)]

    def cost(x: Array, *, ratings: bool) -> float:
        walk = Walk(x[0], np.exp(x[1]), np.exp(x[2]), x[0], np.exp(x[1]), np.exp(x[2]))
        total = 0.0
        for own in rows:
            errors = walk.person_sd**2 + np.diag(walk.spread * variance[own])
            covariance = walk.moved(years.year[own]) + np.eye(len(own)) if ratings else errors
            left = (elo[own] if ratings else mean[own] - elo[own]) - x[0]
            total += float(np.linalg.slogdet(covariance)[1] + left @ np.linalg.solve(covariance, left))
        return total

    start = np.array([elo.mean(), np.log(200.0), np.log(50.0)])
    moves = minimize(lambda x: cost(x, ratings=True), start, method="Nelder-Mead").x
    errs = minimize(lambda x: cost(x, ratings=False), np.array([0.0, np.log(150.0), 0.0]), method="Nelder-Mead").x
    return Walk(moves[0], *np.exp(moves[1:]).tolist(), errs[0], *np.exp(errs[1:]).tolist())


def smoothed(years: Years, mean: Array, variance: Array, walk: Walk) -> tuple[Array, Array]:
    """Return mean and standard deviation of every year's rating, from all years of the person."""
    out, sd = np.zeros(len(mean)), np.zeros(len(mean))
    for one in np.unique(years.person):
        own = np.flatnonzero(years.person == one)
        moved = walk.moved(years.year[own])
        gain = moved @ np.linalg.inv(moved + walk.person_sd**2 + np.diag(walk.spread * variance[own]))
        out[own] = walk.mean + gain @ (mean[own] - walk.bias - walk.mean)
        sd[own] = np.sqrt(np.diag(moved - gain @ moved))
    return out, sd


if __name__ == "__main__":
    main()
