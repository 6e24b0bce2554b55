"""Forecasts of next year's results from few games: results alone, and results fused with the moves of the same games.

    .venv/bin/python tools/forecast_fused.py [--people 300] [--kept FOLDER]

The people are some of human/ whom the network has not seen, in years before which they had one to nine games. What is
known of them is the results of those games against opponents of known rating, and their own moves; their own rating
is never used. Everything is fitted on one half of the people and reported on the other: log-loss of each game of the
year, the gain of the fused forecast with its 95 % interval (people drawn again with all their games), and the slope
of the calibration.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import expit, logit

import axis_data
from effects_fitting import Tempers, fit_tempers
from people_evidence import MoveEvidence, PlayerGames, held_out_games, kept_evidence
from skilloscope.evidence.axis import EloAxis, elo_axis, result_curve
from skilloscope.models.paired_comparison import discrepancy, win_probability
from skilloscope.ratings.periods.periods import Periods
from skilloscope.ratings.periods.prediction import predicted
from skilloscope.results.periods import PeriodGames
from skilloscope.studies.calibrate import POOL_ELO, posterior_accuracy
from skilloscope.studies.fusion import RATED_SD

MOST = 9
"""Games of earlier years beyond which somebody is no newcomer."""
HALVES = {"fit": (0.0, axis_data.HELD_OUT / 2), "report": (axis_data.HELD_OUT / 2, axis_data.HELD_OUT)}

Array = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]
_EVERY = 5  # POOL_ELO is every fifth of ELO


@dataclass(frozen=True, eq=False)
class Newcomers:
    """Somebody in a year, once for each such year: what was known before, and the games of the year."""

    person: Whole
    elo: Array
    """The mean rating in the games of the year."""
    gap: Array
    """Years since the last game before."""
    opposition: Array
    """The mean rating of the opponents before."""
    results: Array
    """What the results before say, on POOL_ELO."""
    moves: Array
    """What the moves before say, on POOL_ELO."""
    next_games: PlayerGames
    owner: Whole
    """Whose each of the next games is."""


def main() -> None:
    """Fit on one half, print the figures of the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=300, help="people of each half")
    parser.add_argument("--kept", type=Path, help="a folder that keeps the curves of the moves")
    arguments = parser.parse_args()
    axis = elo_axis()
    fit, report = (newcomers(name, arguments.people, arguments.kept, axis) for name in HALVES)
    for name, half in (("fit", fit), ("report", report)):
        people = len(np.unique(half.person))
        print(f"{name}: {people:,} people, {len(half.elo):,} years, {len(half.next_games):,} games predicted")
    compare(fit, report)


@dataclass(frozen=True, eq=False)
class Foretold:
    """A configuration fitted on one half: the log-losses on both halves."""

    on_fit: float
    on_report: Array


def compare(fit: Newcomers, report: Newcomers) -> None:
    """Print every configuration on both halves."""
    found = {
        f"{name}, {kind}": configuration(f"{name}, {kind}", kind, prior, fit, report)
        for name, prior in priors(fit).items()
        for kind in ("results", "moves", "fused")
    }
    everything, score = all_results(report), report.next_games.score
    told = f"log-loss {discrepancy(everything, score).mean():.4f}  slope {slope(everything, score)}"
    print(f"{'all results, no rating':24s} {told}")
    best = [
        min((name for name in found if name.endswith(kind)), key=lambda name: found[name].on_fit)
        for kind in ("results", "fused")
    ]
    for one, other in (best, ("population, results", "population, fused")):
        gain = found[one].on_report - found[other].on_report
        low, high = drawn_again(gain, report.person[report.owner])
        print(f"gain on the report half, {one!r} → {other!r}: {gain.mean():.4f} ({low:.4f} to {high:.4f})")
    print(f"the first of these is the best of each on the fit half: {best}")


def configuration(
    name: str, kind: str, prior: Callable[[Newcomers], Array], fit: Newcomers, report: Newcomers
) -> Foretold:
    """Return what one configuration foretells, fitted on one half, and print it."""
    tempers = fitted(kind, prior(fit), fit)
    believed = [prior(half) + curve_of(half, tempers) for half in (fit, report)]
    free = fit_forecast(fit, believed[0])
    p = [forecast(half, logs, free) for half, logs in zip((fit, report), believed, strict=True)]
    losses = [discrepancy(q, half.next_games.score) for q, half in zip(p, (fit, report), strict=True)]
    print(
        f"{name:24s} moves {tempers.moves:.2f} results {tempers.results:.2f}  nu {free[0]:3.0f} White {free[1]:+3.0f}  "
        f"log-loss {losses[0].mean():.4f} (fit) {losses[1].mean():.4f}  slope {slope(p[1], report.next_games.score)}  "
        f"rating: {accuracy(believed[1], report)}",
        flush=True,
    )
    return Foretold(float(losses[0].mean()), losses[1])


def fitted(kind: str, prior: Array, half: Newcomers) -> Tempers:
    """Return how far each counts: results alone, moves alone as they ship, or both together."""
    if kind == "moves":
        return Tempers(1.0, 0.0)
    if kind == "results":
        return Tempers(0.0, fit_tempers(prior, np.zeros_like(half.moves), half.results, half.elo).results)
    return fit_tempers(prior, half.moves, half.results, half.elo)


def curve_of(half: Newcomers, tempers: Tempers) -> Array:
    """Return what moves and results say together."""
    return np.asarray(tempers.moves * half.moves + tempers.results * half.results)


def accuracy(logs: Array, half: Newcomers) -> str:
    """Return how well the rating of the year is told."""
    one = posterior_accuracy(logs, half.elo, 0.0)
    return f"RMSE {one.rmse:.0f} covers {one.covers:.3f}"


def newcomers(half: str, people: int, kept: Path | None, axis: EloAxis) -> Newcomers:
    """Return some people of a half in every year before which they had one to MOST games."""
    games, earlier = early_games(*HALVES[half], people)
    known = known_games(games, earlier)
    evidence = kept_evidence(known, kept and kept / f"newcomers_{half}_{people}.npz")
    print(f"{half}: moves and result of one game correlate by {dependence(evidence, axis):.3f} beyond the ratings")
    key = games.player * 4000 + games.year
    years, first, owner = np.unique(key[earlier > 0], return_index=True, return_inverse=True)
    following = games.take(np.flatnonzero(earlier > 0))
    person, count = years // 4000, earlier[earlier > 0][first]
    start = np.searchsorted(known.player, person)
    rows = [np.arange(at, at + n) for at, n in zip(start.tolist(), count.tolist(), strict=True)]
    elo = np.bincount(owner, following.elo) / np.bincount(owner)
    return Newcomers(
        person=person,
        elo=elo,
        gap=np.array([years[at] % 4000 - known.year[own[-1]] for at, own in enumerate(rows)], dtype=float),
        opposition=np.array([known.opponent[own].mean() for own in rows]),
        results=np.array([result_curve(known.opponent[own], RATED_SD, known.score[own], POOL_ELO) for own in rows]),
        moves=moves_of(evidence, rows, elo, axis),
        next_games=following,
        owner=owner,
    )


def moves_of(evidence: MoveEvidence, rows: list[Whole], elo: Array, axis: EloAxis) -> Array:
    """Return what the moves of the games `rows` say of each, by the effects of `instant`."""
    group = np.repeat(np.arange(len(rows)), [len(own) for own in rows])
    return evidence.of_groups(np.concatenate(rows), group, elo).logs(axis.effort("instant").effects)


def early_games(low: float, high: float, most: int, seed: int = 1) -> tuple[PlayerGames, Whole]:
    """Return the games of some people as long as they had at most MOST in earlier years, and how many they had."""
    games = held_out_games(low, high)
    key = games.player * 4000 + games.year
    earlier = np.searchsorted(key, key) - np.searchsorted(games.player, games.player)
    use = earlier <= MOST
    games, earlier = games.take(np.flatnonzero(use)), earlier[use]
    drawn = np.random.default_rng(seed).permutation(np.unique(games.player[earlier > 0]))[:most]
    own = np.flatnonzero(np.isin(games.player, drawn))
    return games.take(own), earlier[own]


def known_games(games: PlayerGames, earlier: Whole) -> PlayerGames:
    """Return the games that are known before a year that is foretold: at most MOST of each person."""
    last = dict(zip(games.player.tolist(), earlier.tolist(), strict=True))  # the years come in order: the last stays
    place = np.arange(len(games)) - np.searchsorted(games.player, games.player)
    return games.take(np.flatnonzero(place < np.array([last[player] for player in games.player.tolist()])))


def priors(fit: Newcomers) -> dict[str, Callable[[Newcomers], Array]]:
    """Return priors fitted to the ratings of the fit half: one for all, and one about the opponents met."""
    slope_, level = np.polyfit(fit.opposition, fit.elo, 1)
    around = float(np.std(fit.elo - level - slope_ * fit.opposition))
    mean, sd = float(fit.elo.mean()), float(fit.elo.std())
    print(f"population: {mean:.0f} ± {sd:.0f}; by the opponents: {level:.0f} + {slope_:.2f}·opponents ± {around:.0f}")
    return {
        "population": lambda half: normal(np.full(len(half.elo), mean), sd),
        "opponents met": lambda half: normal(level + slope_ * half.opposition, around),
    }


def normal(mean: Array, sd: float) -> Array:
    """Return normal log-densities on POOL_ELO, a row for each mean."""
    return np.asarray(-0.5 * ((POOL_ELO - mean[:, None]) / sd) ** 2)


def moments(logs: Array) -> tuple[Array, Array]:
    """Return mean and variance of posteriors on POOL_ELO."""
    density = np.exp(logs - logs.max(axis=1, keepdims=True))
    density /= density.sum(axis=1, keepdims=True)
    mean = density @ POOL_ELO
    return mean, np.maximum(density @ POOL_ELO**2 - mean**2, 1.0)


def forecast(half: Newcomers, logs: Array, free: Array) -> Array:
    """Return the probability of each next game by (16) of GLI99, time passed since the last game before."""
    mean, variance = moments(logs)
    later = variance + free[0] ** 2 * half.gap
    advantage = np.where(half.next_games.black, -free[1], free[1])
    opponent, own = half.next_games.opponent, half.owner
    return win_probability(mean[own] + advantage, later[own], opponent, RATED_SD**2)


def fit_forecast(fit: Newcomers, logs: Array) -> Array:
    """Return ν a year and the advantage of White that foretell the fit half best."""

    def cost(free: Array) -> float:
        return float(discrepancy(forecast(fit, logs, free), fit.next_games.score).mean())

    return np.abs(minimize(cost, np.array([60.0, 30.0]), method="Nelder-Mead", options={"xatol": 1.0, "fatol": 1e-7}).x)


def slope(p: Array, score: Array) -> str:
    """Return the slope of a logistic regression of scores on logit p, with two standard errors."""
    x = np.stack([np.ones_like(p), logit(p)], axis=1)
    free = np.array([0.0, 1.0])
    for _ in range(20):  # Newton's steps
        expected = expit(x @ free)
        information = (x * (expected * (1 - expected))[:, None]).T @ x
        free = free + np.linalg.solve(information, x.T @ (score - expected))
    return f"{free[1]:.2f} ± {2 * np.sqrt(np.linalg.inv(information)[1, 1]):.2f}"


def all_results(half: Newcomers) -> Array:
    """Return the forecasts of the same games by GLI99 from everybody's results in earlier years, without a rating."""
    table = np.load(axis_data.SHARED / "human" / "games.npz")
    white, black, result, year = (table[name].astype(np.int64) for name in ("white", "black", "result", "year"))
    rows = np.flatnonzero((result <= 2) & (white != black))
    rows = rows[np.argsort(year[rows], kind="stable")]
    players, codes = np.unique(np.concatenate([white[rows], black[rows]]), return_inverse=True)
    one, two = codes.reshape(2, -1)
    games = PeriodGames.build(one, two, result[rows] / 2, year[rows], players=[str(name) for name in players])
    periods = Periods(advantage=None, smoothing=None).fit(games)
    of_white = np.full(len(result), np.nan)
    of_white[rows] = predicted(periods.filtered_, games)
    found = of_white[half.next_games.game]
    return np.where(half.next_games.black, 1 - found, found)


def drawn_again(gain: Array, person: Whole, times: int = 2000) -> tuple[float, float]:
    """Return the 95 % interval of a mean over games, people drawn again with all their games."""
    _, place = np.unique(person, return_inverse=True)
    total, count = np.bincount(place, gain), np.bincount(place)
    rng = np.random.default_rng(1)
    drawn = rng.integers(0, len(total), (times, len(total)))
    low, high = np.percentile(total[drawn].sum(axis=1) / count[drawn].sum(axis=1), [2.5, 97.5])
    return float(low), float(high)


def dependence(evidence: MoveEvidence, axis: EloAxis) -> float:
    """Return the correlation in single games of what the moves and the result say beyond the ratings."""
    games, effects = evidence.games, axis.effort("instant").effects
    curve = sum(effects[name].temper * rows for name, rows in evidence.curves.items())
    at = np.clip(np.searchsorted(POOL_ELO, games.elo), 2, len(POOL_ELO) - 3)
    rows = np.arange(len(games))
    rise = np.asarray(curve)[rows, at + 2] - np.asarray(curve)[rows, at - 2]
    surprise = games.score - win_probability(games.elo, 0.0, games.opponent, 0.0)
    return float(np.corrcoef(rise, surprise)[0, 1])


if __name__ == "__main__":
    main()
