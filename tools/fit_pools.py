"""Curves of online people → the axes of the pools that ship, and how well they predict people not used for any of it.

    python tools/fit_pools.py --online FILES --fide FILES --data ONLINE --out FOLDER --report FILE

The files are written by `tools/pool_curves.py`, those of --fide with --over-the-board: for each game of a person what
the moves say along POOL_ELO; people are marked as for fitting (number mod 12 = 7) or for the report (mod 12 = 5).
The prior of a pool is the mean and spread of its people, one
vote each, without those of the report. The effects maximise the density of the true ratings of the people for fitting.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

from pool_curves import YOUNG, pools_of_games
from skilloscope.chess.human.model import shipped_network
from skilloscope.chess.pgn.facts import POOLS
from skilloscope.core.columns import Array, Bools, Ints
from skilloscope.evidence import Normal
from skilloscope.evidence.axis import Effects, elo_axis
from skilloscope.models.joint import ONLINE_RANGE
from skilloscope.studies.calibrate import POOL_ELO, PoolEvidence, fit_pool, posterior_accuracy

SOURCES = ("opening", "human")
FIT, REPORT = 0, 1
NAMES = {"lichess": "Lichess", "chesscom": "chess.com"}
BAND = 400.0
MANY_PEOPLE, LEAST_IN_BAND = 80, 20
KNOTS = 300.0  # ratings between two points of the way to FIDE
ENOUGH, LEAST_ELO = 100, 900.0  # people with five games for such a way; the Elo below which all look alike
START = {"opening": Effects(0.8, 60.0, 150.0), "human": Effects(0.75, 150.0, 80.0)}


@dataclass(frozen=True, eq=False)
class People:
    """Games of people of one pool: person, rating and curves by source, in the order of the person's games."""

    person: Ints
    number: Ints  # of the game among the person's
    rating: Array
    curves: Array  # [games, sources, POOL_ELO]
    counts: Array

    def games(self) -> Ints:
        """Return for each game how many of its person's are here."""
        return np.asarray(np.bincount(self.person)[self.person])

    def first(self, games: int) -> People:
        """Return so many games of each person who has more."""
        return self.of((self.games() > games) & (self.number < games))

    def of(self, wanted: Bools) -> People:
        """Return some of the games."""
        return People(*(getattr(self, name)[wanted] for name in ("person", "number", "rating", "curves", "counts")))

    def evidence(self) -> PoolEvidence:
        """Return the evidence by person."""
        _, own = np.unique(self.person, return_inverse=True)
        elo = np.bincount(own, self.rating) / np.bincount(own)
        used = {name: self.counts[:, at] > 0 for at, name in enumerate(SOURCES)}
        curves = {name: self.curves[used[name], at] for at, name in enumerate(SOURCES)}
        return PoolEvidence(elo, curves, {name: own[used[name]] for name in SOURCES})


def read_curves(paths: Sequence[Path]) -> dict[str, Array]:
    """Return the tables of several files as one."""
    tables = [dict(np.load(path)) for path in paths]
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


def read_people(table: Mapping[str, Array], pool: int, part: int) -> People:
    """Return the games of one pool and part."""
    want = table["want"]  # part, pool, person, game, side, number of the game
    own = (want[:, 1] == pool) & (want[:, 0] == part)
    return People(
        want[own, 2], want[own, 5], table["rating"][own].astype(float), table["curves"][own], table["count"][own]
    )


def joined(parts: list[PoolEvidence]) -> PoolEvidence:
    """Return several samples of people as one: somebody may be in it with one game and with twenty."""
    shift = np.cumsum([0, *(len(part) for part in parts)])
    owner = {
        name: np.concatenate([part.owner[name] + first for part, first in zip(parts, shift, strict=False)])
        for name in SOURCES
    }
    curves = {name: np.concatenate([part.curves[name] for part in parts]) for name in SOURCES}
    return PoolEvidence(np.concatenate([part.elo for part in parts]), curves, owner)


def prior_of(games: Mapping[str, Array], pool: int) -> tuple[Normal, int]:
    """Return the mean and spread of a pool's people (one vote each, those of the report left out), and how many."""
    own = pools_of_games(games) == pool
    person = np.concatenate([games["white"][own], games["black"][own]])
    rating = np.concatenate([games["white_elo"][own], games["black_elo"][own]]).astype(float)
    rating, person = rating[person % 12 != 5], person[person % 12 != 5]
    _, who = np.unique(person, return_inverse=True)
    means = np.bincount(who, rating) / np.bincount(who)
    return Normal(round(float(means.mean()), -1), round(float(means.std()), -1), *ONLINE_RANGE), len(means)


def points_to_fide(people: Sequence[People], effects: Mapping[str, Effects]) -> dict[str, Any] | None:
    """Return rising points from ratings to Elo by the model for play over the board, with the scatter about them."""
    evidence = joined([one.evidence() for one in people])
    logs = evidence.logs(effects)
    logs -= logs.max(axis=1, keepdims=True)
    knots = [at for at in np.arange(800.0, 2900.0, KNOTS) if (np.abs(evidence.elo - at) <= KNOTS / 2).sum() >= 6]
    if sum(len(np.unique(one.person[one.games() >= 5])) for one in people) < ENOUGH:
        return None

    def elo_of(free: Array) -> Array:
        return np.asarray(900 + 100 * free[0] + np.concatenate([[0.0], np.cumsum(KNOTS * np.exp(free[2:]))]))

    def cost(free: Array) -> float:
        sd = 100 * np.exp(free[1])
        apart = (POOL_ELO - np.interp(evidence.elo, knots, elo_of(free))[:, None]) / sd
        inside = np.exp(logs - 0.5 * apart**2).sum(axis=1) / np.exp(-0.5 * apart**2).sum(axis=1)
        return float(0.5 * (free[1:] ** 2).sum() - np.log(np.maximum(inside, 1e-300)).sum())

    free = minimize(cost, np.zeros(len(knots) + 1), method="L-BFGS-B", options={"maxiter": 500}).x
    points = [(float(at), round(float(elo))) for at, elo in zip(knots, elo_of(free), strict=True) if elo >= LEAST_ELO]
    ratings, elo = zip(*points, strict=True)
    return {"ratings": ratings, "elo": elo, "sd": round(float(100 * np.exp(free[1])))}


def accuracy(people: People, effects: Mapping[str, Effects], prior: Normal) -> dict[str, Any]:
    """Return the figures for people with one, five and twenty games, with the bias by band of ratings."""
    found: dict[str, Any] = {}
    for games, name in ((1, "one_game"), (5, "five_games"), (20, "twenty_games")):
        some = people.of(people.games() == games)
        if len(np.unique(some.person)) < LEAST_IN_BAND:
            continue
        evidence = some.evidence()
        logs = evidence.logs(effects) + np.asarray(prior.log_density(POOL_ELO))
        whole = posterior_accuracy(logs, evidence.elo, prior.mean)
        about = {
            key: value for key, value in whole.as_dict().items() if key not in ("mae", "constant_mae", "slope", "score")
        }
        density = np.exp(logs - logs.max(axis=1, keepdims=True))
        mean = density @ POOL_ELO / density.sum(axis=1)
        bands = {}
        for low in np.arange(0.0, 3400.0, BAND):
            inside = (evidence.elo >= low) & (evidence.elo < low + BAND)
            if inside.sum() >= LEAST_IN_BAND:
                part = posterior_accuracy(logs[inside], evidence.elo[inside], prior.mean)
                bias = float((mean - evidence.elo)[inside].mean())
                name_of_band = f"{low:.0f}-{low + BAND - 1:.0f}"
                covers, rmse = round(part.covers, 3), round(part.rmse)
                bands[name_of_band] = {"people": int(inside.sum()), "rmse": rmse, "bias": round(bias), "covers": covers}
        found[name] = {
            **{
                key: round(value, 3) if value is not None and value < 2 else value and round(value)
                for key, value in about.items()
            },
            "bands": bands,
        }
    return found


def fitted(people: People, prior: Normal) -> dict[str, Effects]:
    """Return the effects that make the true ratings likeliest, over people with all, five and one of their games.

    The network was trained on ratings of the pool: a line between the two is fitted only where people are many.
    """
    samples = [people.evidence(), people.first(5).evidence(), people.first(1).evidence()]
    mapped = len(samples[0]) >= MANY_PEOPLE
    found = fit_pool(joined([one for one in samples if len(one)]), prior, START, mapped=mapped)
    return {name: Effects(*(round(value, 4) for value in vars(own).values())) for name, own in found.items()}


def main() -> None:
    """Fit, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--online", type=Path, nargs="+", required=True)
    parser.add_argument("--fide", type=Path, nargs="+", required=True)
    parser.add_argument("--data", type=Path, required=True, help="folder with games.npz")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--report", type=Path, required=True)
    options = parser.parse_args()
    games, report = dict(np.load(options.data / "games.npz")), {}
    online, fide, pools = read_curves(options.online), read_curves(options.fide), pools_of_games(games)
    for number, pool in enumerate(POOLS[1:], start=1):
        platform, speed, *young = pool.split("-")
        title = f"{NAMES[platform]} {speed}" + (f" until {YOUNG}" if young else "")
        prior, population = prior_of(games, number)
        people = read_people(online, number, FIT)
        effects = fitted(people, prior)
        measured = accuracy(read_people(online, number, REPORT), effects, prior)
        start = elo_axis().effort("instant").effects
        across = points_to_fide([read_people(fide, number, part) for part in (FIT, REPORT)], start)
        report[pool] = {
            "measured": measured,
            "across": across,
            "effects": {n: vars(e) for n, e in effects.items()},
        }
        rating = people.evidence().elo
        source = f"the ratings of {population:,} people of {int((pools == number).sum()):,} games, one vote each"
        instant = {"effects": report[pool]["effects"], "settings": {}, "weights": None, "measured": measured}
        low, high = (float(np.clip(round(v, -2), *ONLINE_RANGE)) for v in np.percentile(rating, [2, 98]))
        text = {
            "name": pool,
            "population": {
                "name": f"players of {title}", "mean": prior.mean, "sd": prior.sd, "players": population,
                "source": source,
            },
            "valid": [low, high],
            "data": f"{len(people.person):,} games of {len(rating):,} people",
            "model": shipped_network(pool).sha256,
            "opening_moves": elo_axis().opening_moves,
            "axis": f"{title} rating",
            "schema": 1,
            "pool": pool,
            "across": across,
            "efforts": {"instant": instant},
        }  # fmt: skip
        (options.out / f"axis-{pool}.json").write_text(json.dumps(text, indent=1, ensure_ascii=False) + "\n")
        short = {n: {k: v for k, v in own.items() if k != "bands"} for n, own in measured.items()}
        print(pool, prior, short, across, effects, flush=True)
    options.report.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
