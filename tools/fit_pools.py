"""Curves of online people → the axes of the pools that ship, and how well they predict people not used for any of it.

    python tools/fit_pools.py --online FILES --fide FILES --data ONLINE --out FOLDER --report FILE

The files are written by `tools/pool_curves.py`, those of --fide with --over-the-board: for each game of a person what
the moves say along POOL_ELO; people are marked as for fitting (number mod 12 = 7) or for the report (mod 12 = 5).
The prior of a pool is the smoothed histogram of its people, one vote each, without those of the report. The effects
(temper of each source, what the opening has to itself, and `PersonEffect`) maximise the log-density of the true
ratings of the people for fitting, with one, five and twenty of their games. Evaluations and clocks become efforts where
they raise that of one game by more than two standard errors. Ways to FIDE of pools that --fide lacks stay.
"""

from __future__ import annotations

import argparse
import bz2
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from pool_curves import GAMES, YOUNG, pools_of_games
from pool_observed import FIT, REPORT, SOURCES, Observed, time_weights
from skilloscope.chess.human.model import shipped_network
from skilloscope.chess.pgn.facts import POOLS
from skilloscope.core.columns import Array
from skilloscope.evidence.axis import CLOCKS, EVALUATIONS, Effects, PersonEffect, blurred, elo_axis
from skilloscope.evidence.posterior import Tabulated
from skilloscope.models.joint import ONLINE_RANGE
from skilloscope.studies.calibrate import POOL_ELO, log_scores, posterior_accuracy

NAMES = {"lichess": "Lichess", "chesscom": "Chess.com"}
BAND = 400.0
LEAST_IN_BAND = 20
STEP = float(POOL_ELO[1] - POOL_ELO[0])
SMOOTH, FLOOR = 75.0, 0.02  # of the histogram of ratings: Elo, and the share that is spread evenly
LEAST_JUDGED = 1000  # games with evaluations for an effort that reads them: the weights are of the same people
LEAST_TIMED = 100  # people for fitting with clocks, for one that reads those
LEAST_YOUNG = 5  # games: a young pool's ratings of newcomers are provisional
KNOTS = 300.0  # ratings between two points of the way to FIDE
ENOUGH, LEAST_ELO = 60, 900.0  # people with five games for such a way; the Elo below which all look alike


TOGETHER = (
    ("lichess-rapid", "lichess-classical"),
    tuple(pool for pool in POOLS if pool.startswith("chesscom")),
    tuple(pool for pool in POOLS if pool.endswith("2013")),
)
"""Pools with few people that have the same effects: they are fitted together, each under its own prior."""


@dataclass(frozen=True, eq=False)
class Sample:
    """People with so many games each: the mean of their ratings, and the sums of their curves on POOL_ELO by source."""

    elo: Array
    curves: Mapping[str, Array]

    def __len__(self) -> int:
        return len(self.elo)

    @classmethod
    def of(cls, table: Mapping[str, Array], pool: int, parts: Sequence[int], games: int) -> Sample:
        """Return the people of one pool and parts who have as many games, with the first of them."""
        want = table["want"]  # part, pool, person, game, side, number of the game
        own = np.flatnonzero((want[:, 1] == pool) & np.isin(want[:, 0], parts))
        _, who, count = np.unique(want[own, 2], return_inverse=True, return_counts=True)
        young = LEAST_YOUNG if POOLS[pool].endswith("2013") else 1
        used = (count[who] >= max(games, young)) & (want[own, 5] < games)
        own, who = own[used], np.unique(who[used], return_inverse=True)[1]
        people = int(who.max(initial=-1)) + 1
        curves = np.zeros((people, *table["curves"].shape[1:]))
        np.add.at(curves, who, table["curves"][own])
        elo = np.bincount(who, table["rating"][own].astype(float), people) / games
        return cls(elo, {str(name): curves[:, at] for at, name in enumerate(table.get("sources", SOURCES))})


@dataclass(frozen=True)
class Fitted:
    """The effects of a pool: of each source, and of the person."""

    effects: Mapping[str, Effects]
    person: PersonEffect

    def logs(self, sample: Sample) -> Array:
        """Return what the moves say of each person, on POOL_ELO."""
        total = np.zeros((len(sample), len(POOL_ELO)))
        for name, rows in sample.curves.items():
            own = self.effects[name]
            total += blurred(own.temper * rows, own.person_sd, STEP)
        return self.person.shared(total, POOL_ELO)


def read_curves(paths: Sequence[Path]) -> dict[str, Array]:
    """Return the tables of several files as one."""
    tables, sides = [dict(np.load(path)) for path in paths], 0
    for table in tables:
        table["choices"] = table["choices"] + np.array([sides, 0, 0, 0])  # they name rows of sides
        sides += len(table["want"])
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


def prior_of(games: Mapping[str, npt.NDArray[Any]], pool: int) -> tuple[Tabulated, int]:
    """Return the density of a pool's people (one vote each, those of the report left out), and how many they are."""
    own = pools_of_games(games) == pool
    person = np.concatenate([games["white"][own], games["black"][own]])
    rating = np.concatenate([games["white_elo"][own], games["black_elo"][own]]).astype(float)
    rating, person = rating[person % 12 != 5], person[person % 12 != 5]
    _, who = np.unique(person, return_inverse=True)
    means = np.clip(np.bincount(who, rating) / np.bincount(who), POOL_ELO[0], POOL_ELO[-1])
    place = np.bincount(np.rint((means - POOL_ELO[0]) / STEP).astype(np.int64), minlength=len(POOL_ELO))
    kernel = np.exp(-0.5 * ((POOL_ELO[:, None] - POOL_ELO) / SMOOTH) ** 2)
    shares = (kernel / kernel.sum(axis=0)) @ (place / len(means))
    shares = ((1 - FLOOR) * shares + FLOOR / len(shares)).round(5)
    return Tabulated.of(POOL_ELO, shares), len(means)


def fitted(samples: Sequence[Sample], priors: Sequence[Array]) -> Fitted:
    """Return the effects that make the true ratings likeliest: of people with one, five and twenty of their games."""
    everybody = np.concatenate([one.elo for one in samples])
    knots = tuple(float(at) for at in np.round(np.percentile(everybody, [5, 35, 65, 95]), -1))
    n = len(knots)
    start = np.array([*np.log([0.9, 0.9, 60.0]), *[np.log(110.0)] * n, *[0.0] * n, np.log(0.05), np.log(250.0)])
    loose = np.array([0.3, 0.3, 0.7, *[0.5] * n, *[150.0] * n, 0.7, 0.3])

    def at(step: Array) -> Fitted:
        free = start + step * loose
        temper = np.exp(free[:3]).round(4).tolist()
        sd, mean = np.exp(free[3 : 3 + n]).round(1), free[3 + n : 3 + 2 * n].round(1)
        tail = (round(min(float(np.exp(free[-2])), 0.5), 4),) * n
        person = PersonEffect(
            knots, tuple(mean.tolist()), tuple(sd.tolist()), tail, round(float(np.exp(free[-1])), 1), ONLINE_RANGE
        )
        return Fitted(
            {"opening": Effects(temper[0], 0.0, temper[2]), "human": Effects(temper[1])},
            person,
        )

    def cost(step: Array) -> float:
        effects = at(step)
        return float(step @ step / 2 / len(samples[0]) - mean_score(effects, samples, priors))

    options = {"maxiter": 60, "eps": 0.02, "ftol": 1e-7}
    bounds = [(-4.0, 4.0)] * len(start)
    return at(minimize(cost, np.zeros(len(start)), method="L-BFGS-B", bounds=bounds, options=options).x)


def mean_score(effects: Fitted, samples: Sequence[Sample], priors: Sequence[Array]) -> float:
    """Return the mean log-density of the true ratings; a sample counts by the root of its people."""
    scores = [log_scores(effects.logs(one) + prior, one.elo) for one, prior in zip(samples, priors, strict=True)]
    weight = np.sqrt([len(one) for one in samples])
    return float(weight @ [one.mean() for one in scores] / weight.sum())


def fit_further(samples: Sequence[Sample], priors: Sequence[Array], plain: Fitted, name: str) -> Fitted:
    """Return the effects of a further source that go best with those of the moves."""
    start = np.array([np.log(0.6), np.log(80.0)])

    def at(free: Array) -> Fitted:
        temper, sd = np.exp(free).tolist()
        return Fitted({**plain.effects, name: Effects(round(temper, 4), 0.0, round(sd, 1))}, plain.person)

    def cost(free: Array) -> float:
        off = float(0.5 * ((free - start) ** 2).sum() / len(samples[0]))
        return off - mean_score(at(free), samples, priors)

    options = {"xatol": 0.01, "fatol": 1e-5, "maxfev": 120}
    return at(minimize(cost, start, method="Nelder-Mead", options=options).x)


def points_to_fide(samples: Sequence[Sample]) -> dict[str, Any] | None:
    """Return rising points from ratings to Elo by the model for play over the board, with the scatter about them."""
    if len(samples[1]) < ENOUGH:
        return None
    effort = elo_axis().effort("instant")
    assert effort.person is not None
    effects = Fitted(effort.effects, effort.person)
    rating = np.concatenate([one.elo for one in samples])
    logs = np.concatenate([effects.logs(one) for one in samples])
    logs -= logs.max(axis=1, keepdims=True)
    knots = [at for at in np.arange(500.0, 3200.0, KNOTS) if (np.abs(rating - at) <= KNOTS / 2).sum() >= 12]

    def elo_of(free: Array) -> Array:
        return np.asarray(900 + 100 * free[0] + np.concatenate([[0.0], np.cumsum(KNOTS * np.exp(free[2:]))]))

    def cost(free: Array) -> float:
        sd = 100 * np.exp(free[1])
        apart = (POOL_ELO - np.interp(rating, knots, elo_of(free))[:, None]) / sd
        inside = np.exp(logs - 0.5 * apart**2).sum(axis=1) / np.exp(-0.5 * apart**2).sum(axis=1)
        return float(0.5 * (free[1:] ** 2).sum() - np.log(np.maximum(inside, 1e-300)).sum())

    free = minimize(cost, np.zeros(len(knots) + 1), method="L-BFGS-B", options={"maxiter": 500}).x
    points = [(float(at), round(float(elo))) for at, elo in zip(knots, elo_of(free), strict=True) if elo >= LEAST_ELO]
    ratings, elo = zip(*points, strict=True)
    return {"ratings": ratings, "elo": elo, "sd": round(float(100 * np.exp(free[1])))}


def with_further(
    effort: dict[str, Any], table: Mapping[str, Array], pool: int, name: str, plain: Fitted, prior: Tabulated
) -> tuple[dict[str, Any], float, float]:
    """Write the effects of a further source and its figures into an effort; return those of its games without it.

    Also by how much the source raises the log-density of the ratings of people for fitting, each of their games alone,
    with the standard error: a mean over people of means over their games.
    """
    density = prior.log_density(POOL_ELO)
    people = [one for one in (Sample.of(table, pool, [FIT], many) for many in GAMES) if len(one)]
    both = fit_further(people, [density] * len(people), plain, name)
    reported = [Sample.of(table, pool, [REPORT], many) for many in GAMES]
    effort |= {
        "effects": {source: vars(one) for source, one in both.effects.items()},
        "measured": accuracy(reported, both, prior),
    }
    rows = np.flatnonzero(table["want"][:, 0] == FIT)
    curves = {source: table["curves"][rows, at] for at, source in enumerate((*SOURCES, name))}
    each = Sample(table["rating"][rows].astype(float), curves)
    apart = log_scores(both.logs(each) + density, each.elo)
    apart -= log_scores(plain.logs(without(each, name)) + density, each.elo)
    who = np.unique(table["want"][rows, 2], return_inverse=True)[1]
    more = np.bincount(who, apart) / np.bincount(who)
    bare = accuracy([without(one, name) for one in reported], plain, prior)
    return bare, float(more.mean()), float(more.std() / len(more) ** 0.5)


def without(sample: Sample, name: str) -> Sample:
    """Return the sample without one source."""
    return Sample(sample.elo, {source: rows for source, rows in sample.curves.items() if source != name})


def accuracy(samples: Sequence[Sample], effects: Fitted, prior: Tabulated) -> dict[str, Any]:
    """Return the figures for people with one, five and twenty games, with the bias by band of ratings."""
    found: dict[str, Any] = {}
    for sample, name in zip(samples, ("one_game", "five_games", "twenty_games"), strict=True):
        if len(sample) >= LEAST_IN_BAND:
            logs = effects.logs(sample) + prior.log_density(POOL_ELO)
            found[name] = figures(logs, sample.elo, prior.mean)
    return found


def figures(logs: Array, elo: Array, constant: float) -> dict[str, Any]:
    """Return the figures of posteriors on POOL_ELO, all and by band of ratings."""
    whole = posterior_accuracy(logs, elo, constant)
    density = np.exp(logs - logs.max(axis=1, keepdims=True))
    error = density @ POOL_ELO / density.sum(axis=1) - elo
    bands = {}
    for low in np.arange(0.0, 3400.0, BAND):
        inside = (elo >= low) & (elo < low + BAND)
        if inside.sum() >= LEAST_IN_BAND:
            part = posterior_accuracy(logs[inside], elo[inside], constant)
            bands[f"{low:.0f}-{low + BAND - 1:.0f}"] = {
                "people": int(inside.sum()), "rmse": round(part.rmse), "bias": round(float(error[inside].mean())),
                "covers": round(part.covers, 3),
            }  # fmt: skip
    squares = error**2
    return {
        "people": whole.people, "rmse": round(whole.rmse),
        "rmse_error": round(float(squares.std() / np.sqrt(len(elo)) / 2 / whole.rmse)), "mae": round(whole.mae),
        "bias": round(float(error.mean())), "sd": round(whole.sd), "covers": round(whole.covers, 3),
        "constant_rmse": round(whole.constant_rmse), "bands": bands,
    }  # fmt: skip


def main() -> None:
    """Fit, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--online", type=Path, nargs="+", required=True)
    parser.add_argument("--fide", type=Path, nargs="*", default=[])
    parser.add_argument("--data", type=Path, required=True, help="folder with games.npz")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--report", type=Path, required=True)
    options = parser.parse_args()
    games, report = dict(np.load(options.data / "games.npz")), {}
    online, pools = read_curves(options.online), pools_of_games(games)
    tenths = np.frombuffer(bz2.decompress((options.data / "clocks.u16.bz2").read_bytes()), dtype="<u2")
    clocks = np.where(tenths == 65535, np.nan, tenths / 10.0)
    fide = read_curves(options.fide) if options.fide else None
    found = np.unique(online["want"][:, 1]).tolist()
    priors = {number: prior_of(games, number) for number in found}
    shared: dict[tuple[str, ...], Fitted] = {}
    for number in found:
        pool = POOLS[number]
        target = options.out / f"axis-{pool}.json"
        platform, speed, *young = pool.split("-")
        title = f"{NAMES[platform]} {speed}" + (f" until {YOUNG}" if young else "")
        prior, population = priors[number]
        together = next((some for some in TOGETHER if pool in some), (pool,))
        if together not in shared:
            members = [(other, many) for other in found if POOLS[other] in together for many in GAMES]
            some = [(Sample.of(online, other, [FIT], many), other) for other, many in members]
            shared[together] = fitted(
                [one for one, _ in some if len(one) >= LEAST_IN_BAND],
                [priors[other][0].log_density(POOL_ELO) for one, other in some if len(one) >= LEAST_IN_BAND],
            )
        effects, samples = shared[together], [Sample.of(online, number, [FIT], many) for many in GAMES]
        measured = accuracy([Sample.of(online, number, [REPORT], many) for many in GAMES], effects, prior)
        across = json.loads(target.read_text()).get("across") if target.is_file() else None
        if fide is not None and number in fide["want"][:, 1]:
            across = points_to_fide([Sample.of(fide, number, [FIT, REPORT], many) for many in GAMES])
        sources = {name: vars(one) for name, one in effects.effects.items()}
        instant = {
            "effects": sources, "settings": {}, "weights": None, "measured": measured, "person": asdict(effects.person),
        }  # fmt: skip
        efforts = {"instant": instant}
        tried = []
        judged = Observed.losses(online, games, options.data, number)
        if (judged.table["want"][:, 0] == FIT).sum() >= LEAST_JUDGED:
            tried.append((EVALUATIONS, "losses", "evaluated", judged, judged.weights()))
        timed = Observed.times(online, games, clocks, number)
        if len(Sample.of(timed.table, number, [FIT], 1)) >= LEAST_TIMED:
            tried.append((CLOCKS, "times", "clocks", timed, time_weights(games, clocks, number)))
        for name, kind, source, observed, weights in tried:
            effort = {**instant, kind: weights.as_dict()}
            bare, gain, error = with_further(
                effort, observed.with_source(source, weights), number, source, effects, prior
            )
            report[f"{pool}, {name}"] = {"gain": [gain, error], "without": bare, "with": effort["measured"]}
            print(f"{pool}, {name}: {gain:+.3f} ± {error:.3f} nats a game of people for fitting", flush=True)
            if gain > 2 * error:
                efforts[name] = effort
        report[pool] = {"across": across, "efforts": efforts}
        low, high = (float(round(v, -2)) for v in np.percentile(samples[0].elo, [2, 98]))
        sides = int(((online["want"][:, 1] == number) & (online["want"][:, 0] == FIT)).sum())
        text = {
            "name": pool,
            "population": {
                "name": f"players of {title}", "mean": round(prior.mean), "sd": round(prior.sd), "players": population,
                "source": f"the ratings of {population:,} people of {(pools == number).sum():,} games, one vote each",
                "shares": np.exp(prior.logs).round(5).tolist(),
            },
            "valid": [low, high],
            "data": f"{sides:,} games of {len(samples[0]):,} people",
            "model": shipped_network(pool).sha256,
            "opening_moves": elo_axis().opening_moves,
            "axis": f"{title} rating",
            "schema": 1,
            "pool": pool,
            "across": across,
            "efforts": efforts,
        }  # fmt: skip
        target.write_text(json.dumps(text, indent=1, ensure_ascii=False) + "\n")
        short = {n: {k: v for k, v in own.items() if k != "bands"} for n, own in measured.items()}
        for more in {EVALUATIONS, CLOCKS} & set(efforts):
            short |= {f"{n}, {more}": own for n, own in efforts[more]["measured"].items()}
        print(pool, prior, *short.items(), effects, across, sep="\n  ", flush=True)
    options.report.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
