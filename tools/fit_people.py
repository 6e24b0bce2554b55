"""Fit what is known of a person besides the moves: the prior from the opponents' ratings, and what all moves share.

    .venv/bin/python tools/fit_people.py [--kept FOLDER] [--write] [--folds 4] [--effort instant]

In: ../shared/data (people, human) and measurements/. The network saw none of these people. The prior is a regression of
ratings on the ratings of the opponents, fitted to people of one event each and, with a quarter of the weight, to people
of human/ drawn alike over the ratings. The effects (temper of each source, what the opening has to itself, and
`PersonEffect`) maximise the log-density of the true rating with one, four and all games of a person, half under that
prior and half under a normal one, by moves alone and by moves and results. With --folds the figures are of people of
other events than those fitted on. --write puts all of it into the axis that ships.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.stats import t as student

import axis_data
from skilloscope.chess.human.played import move_evidence
from skilloscope.chess.pgn.games import Games
from skilloscope.evidence.axis import (
    ELO,
    Effects,
    EloAxis,
    OpponentsPrior,
    PersonEffect,
    blurred,
    elo_axis,
    result_curve,
)
from skilloscope.models.joint import JointWeights
from skilloscope.studies.fusion import RATED_SD, WHITE

Array = npt.NDArray[np.float64]

TARGET = axis_data.ROOT / "src" / "skilloscope" / "data" / "scales" / "axis-default.json"
EVERY = 2
GRID: Array = ELO[::EVERY]
STEP = float(GRID[1] - GRID[0])
KNOTS = (1300.0, 1700.0, 2100.0, 2500.0)
SIZES = (1, 4, 99)
DEPTHS = {"instant": 0, "quick": 6, "full": 10}
STRATA = 22
"""People of human/ of each 100 Elo."""
_COLUMNS = ("person", "event", "elo", "opponent", "score", "black", "row")
_SCORES = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}
_NORMAL = np.asarray(-0.5 * ((GRID - 1950.0) / 420.0) ** 2)
_POPULATION = np.asarray(elo_axis().prior().log_density(GRID))


@dataclass(frozen=True, eq=False)
class PlayerGames:
    """Player-games of people of known rating, person by person: who, ratings, score, colour, and the curves on GRID."""

    person: npt.NDArray[Any]
    event: npt.NDArray[Any]
    elo: Array
    opponent: Array
    score: Array
    black: npt.NDArray[np.bool_]
    row: npt.NDArray[np.int64]
    curves: Mapping[str, Array]

    def take(self, rows: npt.NDArray[Any]) -> PlayerGames:
        """Return some of them."""
        columns = {name: getattr(self, name)[rows] for name in _COLUMNS}
        return PlayerGames(**columns, curves={name: own[rows] for name, own in self.curves.items()})

    @classmethod
    def concat(cls, parts: Sequence[PlayerGames]) -> PlayerGames:
        """Return the player-games of all."""
        names = {name for part in parts for name in part.curves}
        empty = {
            name: [part.curves.get(name, np.zeros((len(part.elo), len(GRID)))) for part in parts] for name in names
        }
        columns = {n: np.concatenate([getattr(p, n) for p in parts]) for n in _COLUMNS}
        return cls(**columns, curves={name: np.concatenate(rows) for name, rows in empty.items()})


def evidence(
    known: axis_data.Known, effort: str, kept: Path | None, events: Sequence[Any] | None = None
) -> PlayerGames:
    """Return what the moves of rated people say at an effort; from the file where it is there, else it is made."""
    if kept is not None and kept.is_file():
        found = np.load(kept)
        names = [name for name in found.files if name.startswith("curve ")]
        columns = {name: found[name] for name in _COLUMNS}
        return PlayerGames(**columns, curves={name[6:]: found[name].astype(float) for name in names})
    parts, weights = [], elo_axis().effort(effort).weights
    for first in range(0, len(known.games), 200):
        rows = np.arange(first, min(first + 200, len(known.games)))
        analyses = None if known.analyses is None else known.analyses.of_games(rows)
        some = axis_data.Known(known.games.select(rows), analyses)
        own = None if events is None else [events[row] for row in rows]
        parts.append(with_curves(axis_data.judged(some).at_depth(DEPTHS[effort]), weights, own))
        print(f"{rows[-1] + 1:,} of {len(known.games):,} games", flush=True)
    found_all = PlayerGames.concat(parts)
    if kept is not None:
        columns = {name: getattr(found_all, name) for name in _COLUMNS}
        small = {f"curve {name}": rows.astype(np.float32) for name, rows in found_all.curves.items()}
        np.savez(kept, **columns, **small)
    return found_all


def with_curves(
    judged: axis_data.JudgedPeople, weights: JointWeights | None, events: Sequence[Any] | None
) -> PlayerGames:
    """Return the player-games with what their moves say."""
    table, games = (
        move_evidence(judged.moves, judged.names, weights=weights),
        without_curves(judged.moves.games, events),
    )
    place = {key: at for at, key in enumerate(zip(games.person.tolist(), games.row.tolist(), strict=True))}
    at = [place[key] for key in zip(table.people, table.games.tolist(), strict=True)]
    curves = {name: np.zeros((len(games.elo), len(GRID))) for name in dict.fromkeys(table.sources)}
    for row, source, curve in zip(at, table.sources, table.curves, strict=True):
        curves[source][row] = curve[::EVERY]
    return replace(games, curves=curves)


def without_curves(games: Games, events: Sequence[Any] | None = None) -> PlayerGames:
    """Return the player-games of rated people as the headers have them."""
    pairs = axis_data.Known(games).sides
    row, side = np.array([(g, s) for g, pair in enumerate(pairs) for s, name in enumerate(pair) if name is not None]).T
    elos = np.array([games.headers[name].to_pylist() for name in ("white_elo", "black_elo")], dtype=float)
    score = np.array([_SCORES.get(text or "", np.nan) for text in games.headers["result"].to_pylist()])[row]
    person = np.array([pairs[g][s] for g, s in zip(row.tolist(), side.tolist(), strict=True)])
    event = person if events is None else np.array([str(events[g]) for g in row.tolist()])
    return PlayerGames(person, event, elos[side, row], elos[1 - side, row], np.abs(side - score), side == 1, row, {})


@dataclass(frozen=True, eq=False)
class Sample:
    """People with at most so many of their games: the sums of their curves, the prior and the results."""

    elo: Array
    event: npt.NDArray[Any]
    games: npt.NDArray[np.int64]
    curves: Mapping[str, Array]
    prior: Array
    results: Array

    def __len__(self) -> int:
        return len(self.elo)

    @classmethod
    def of(cls, games: PlayerGames, most: int, opponents: OpponentsPrior) -> Sample:
        """Return everybody with that many games, or with all."""
        people = [rows[:most] for rows in own_rows(games) if len(rows) >= most or most == SIZES[-1]]
        rows, first = np.concatenate(people), np.cumsum([0, *(len(own) for own in people)])[:-1]
        against = games.opponent + np.where(games.black, WHITE, -WHITE)
        results = [
            result_curve(against[own], np.full(len(own), RATED_SD), games.score[own], GRID)
            for own in (one[np.isfinite(games.score[one])] for one in people)
        ]
        return cls(
            np.array([games.elo[own].mean() for own in people]),
            games.event[[own[0] for own in people]],
            np.array([len(own) for own in people]),
            {name: np.add.reduceat(curves[rows], first, axis=0) for name, curves in games.curves.items()},
            np.array([opponents.prior(games.opponent[own]).log_density(GRID) for own in people]),
            np.array(results),
        )


def own_rows(games: PlayerGames) -> list[npt.NDArray[np.int64]]:
    """Return the rows of each person."""
    people = np.unique(games.person, return_inverse=True)[1]
    return [
        np.asarray(rows) for rows in np.split(np.argsort(people, kind="stable"), np.cumsum(np.bincount(people))[:-1])
    ]


def known_opponents() -> OpponentsPrior:
    """Return the prior fitted to people of events, and to people of human/ drawn alike over the ratings."""
    drawn = axis_data.strata(STRATA, 0.0, axis_data.HELD_OUT, 1)
    return fit_opponents(
        [(without_curves(axis_data.people_of_events().games), 1.0), (without_curves(drawn.games), 0.25)]
    )


_PRIOR_START = np.array([2000.0, 1.2, 0.0, 0.0, np.log(120), np.log(0.3), np.log(150), 1.5])


def fit_opponents(parts: Sequence[tuple[PlayerGames, float]]) -> OpponentsPrior:
    """Return the regression under which ratings are likeliest, given those of the first 1, 2, … 9 opponents.

    Each part has a weight; people of all but the first are weighted so that their ratings are spread as those there.
    """
    bands = [
        np.array([games.elo[rows].mean() // 100 for rows in own_rows(games)], dtype=np.int64) for games, _ in parts
    ]
    share = [np.bincount(band, minlength=40) for band in bands]
    cases: list[tuple[float, ...]] = []
    for (games, weight), band, count in zip(parts, bands, share, strict=True):
        alike = share[0] / np.maximum(count, 1)
        scale = weight * share[0].sum() / alike[band].sum()
        for rows, at in zip(own_rows(games), band.tolist(), strict=True):
            sizes = range(1, min(9, len(rows)) + 1)
            for n in sizes:
                met = games.opponent[rows[:n]]
                squares = float(((met - met.mean()) ** 2).sum())
                cases.append((float(games.elo[rows].mean()), n, met.mean(), squares, scale * alike[at] / len(sizes)))
    elo, n_met, mean, squared, weights = np.array(cases).T

    def cost(free: Array) -> float:
        regression = unpacked_prior(free)
        middle, sd = regression.moments(n_met, mean, squared)
        df = regression.df
        logs = student.logpdf((elo - middle) / sd * np.sqrt(df / (df - 2)), df) - np.log(sd * np.sqrt((df - 2) / df))
        return -float(np.average(logs, weights=weights)) + 1e-4 * float(((free - _PRIOR_START)[4:] ** 2).sum())

    options = {"maxiter": 4000, "maxfev": 4000, "xatol": 1e-3, "fatol": 1e-7, "adaptive": True}
    return unpacked_prior(minimize(cost, _PRIOR_START, method="Nelder-Mead", options=options).x)


def unpacked_prior(free: Array) -> OpponentsPrior:
    """Return the regression of the free numbers."""
    pull, stays, spread, once = np.exp([free[2], *free[4:7]]).tolist()
    return OpponentsPrior(*free[:2].tolist(), pull, float(free[3]), stays, spread, once, 2 + float(np.exp(free[7])))


@dataclass(frozen=True)
class Fitted:
    """The effects of an effort: of each source, and of the person."""

    effects: Mapping[str, Effects]
    person: PersonEffect

    def logs(self, sample: Sample) -> tuple[Array, Array]:
        """Return the posteriors given the moves, and given moves and results, under the prior from opponents."""
        total, shared = self.moves(sample), self.person.shared
        both = (shared(total, GRID, results, sample.prior) for results in (None, sample.results))
        alone, fused = (one + sample.prior for one in both)
        return alone, fused

    def moves(self, sample: Sample) -> Array:
        """Return what the moves say of each person before what they share, on GRID."""
        total = np.zeros((len(sample), len(GRID)))
        for name, rows in sample.curves.items():
            own = self.effects[name]
            total += blurred(own.temper * rows, own.person_sd, STEP)
        return total


def start_of(sources: Sequence[str], like: PersonEffect | None) -> tuple[Array, Array]:
    """Return where the free numbers start, and how far (as sds) they are expected from there.

    With an engine fewer people are known: there what people share is expected about where it is without one.
    """
    first = like or PersonEffect(
        KNOTS, (0.0,) * 4, (100.0,) * 4, (0.05,) * 4, 250.0, style=60.0, results=0.9, opponents=0.4
    )
    loose = [0.7] * 4 + [200.0] * 4 + [1.0, 1.0, 0.3, 0.7, 0.3, 1.0]
    if like is not None:
        loose = [0.2] * 4 + [40.0] * 4 + [0.3, 0.3, 0.1, 0.3, 0.1, 0.1]
    ends = (
        first.tail[0],
        first.tail[-1],
        first.tail_sd,
        max(first.style, 10.0),
        first.results,
        max(first.opponents, 0.05),
    )
    start = [np.log(0.9)] * len(sources) + [np.log(60.0), *np.log(first.sd), *first.mean, *np.log(ends)]
    return np.array(start), np.array([0.3] * len(sources) + [0.7, *loose])


def unpacked(free: Array, sources: Sequence[str], fixed: Mapping[str, Effects]) -> Fitted:
    """Return the effects of the free numbers."""
    n = len(sources)
    opening = float(np.exp(free[n]))
    effects = {
        name: Effects(float(np.exp(free[at])), 0.0, opening if name == "opening" else 0.0)
        for at, name in enumerate(sources)
    }
    sd, mean, ends = np.exp(free[n + 1 : n + 5]), free[n + 5 : n + 9], np.minimum(np.exp(free[n + 9 : n + 11]), 0.5)
    tail = np.interp(KNOTS, [KNOTS[0], KNOTS[-1]], ends)
    columns = [tuple(float(value) for value in column) for column in (mean, sd, tail)]
    tail_sd, style, results, opponents = np.exp(free[n + 11 :]).tolist()
    more = {"style": style, "results": results, "opponents": min(opponents, 1.0)}
    return Fitted({**fixed, **effects}, PersonEffect(KNOTS, *columns, tail_sd, **more))


def fit_effects(
    samples: Sequence[Sample], sources: Sequence[str], fixed: Mapping[str, Effects], like: PersonEffect | None
) -> Fitted:
    """Return the effects under which the true ratings have the largest log-density."""
    start, spread = start_of(sources, like)
    people = max(len(sample) for sample in samples)

    def cost(step: Array) -> float:
        fitted = unpacked(start + step * spread, sources, fixed)
        scores = []
        for sample in samples:
            moves, both = fitted.logs(sample)
            found = (moves, fitted.person.shared(fitted.moves(sample), GRID) + _NORMAL, both, both)
            scores += [scored(logs, sample.elo).mean() for logs in found]
        return float(-np.mean(scores) + 0.5 * step @ step / people)

    options = {"maxiter": 60, "eps": 3e-3, "ftol": 1e-7}
    found = minimize(cost, np.zeros(len(start)), method="L-BFGS-B", bounds=[(-5.0, 5.0)] * len(start), options=options)
    return unpacked(start + found.x * spread, sources, fixed)


def scored(logs: Array, elo: Array) -> Array:
    """Return the log-density of each true rating under posteriors on GRID."""
    top = logs.max(axis=1)
    total = np.log(np.exp(logs - top[:, None]).sum(axis=1) * STEP) + top
    return np.array([np.interp(at, GRID, row) for at, row in zip(elo, logs, strict=True)]) - total


@dataclass(frozen=True, eq=False)
class Estimates:
    """Posteriors of people of known rating, and how good they are; `weight` is how much each person counts."""

    elo: Array
    logs: Array
    weight: Array | None = None

    def row(self, name: str, bands: bool = False) -> list[str]:
        """Return a row of a table, and one for each 200 points of rating where they are wanted."""
        density = np.exp(self.logs - self.logs.max(axis=1, keepdims=True))
        density /= density.sum(axis=1, keepdims=True)
        mean = density @ GRID
        sd = np.sqrt(np.maximum(density @ GRID**2 - mean**2, 1.0))
        below = np.cumsum(density, axis=1) - density / 2
        place = np.array([np.interp(at, GRID, row) for at, row in zip(self.elo, below, strict=True)])
        error, inside = mean - self.elo, (place > 0.025) & (place < 0.975)

        weight = np.ones(len(error)) if self.weight is None else self.weight

        def line(label: str, own: npt.NDArray[Any]) -> str:
            e, w = error[own], weight[own] / weight[own].sum()
            n = 1 / float(w @ w)  # so many people of equal weight
            rmse, bias = float(np.sqrt(w @ e**2)), float(w @ e)
            sides = f"± {np.sqrt((w @ e**4 - rmse**4) / n) / 2 / rmse:.0f}", f"± {np.sqrt((rmse**2 - bias**2) / n):.0f}"
            said = f"{rmse:.0f} {sides[0]} | {w @ np.abs(e):.0f} | {w @ sd[own]:.0f} | {bias:+.0f} {sides[1]}"
            z, score = np.sqrt(w @ (e / sd[own]) ** 2), np.average(scores[own], weights=w)
            return f"| {label} | {len(e)} | {said} | {z:.2f} | {w @ inside[own]:.3f} | {score:.3f} |"

        scores = scored(self.logs, self.elo)
        found = [line(name, self.elo > 0)]
        for low in range(1000, 2800, 200) if bands else ():
            own = (self.elo >= low) & (self.elo < low + 200)
            found += [line(f"{name}, rated {low} to {low + 199}", own)] if own.sum() >= 20 else []
        return found


HEAD = """| games, what is used | people | RMSE | MAE | posterior sd | bias | rms z | 95 % covers | log-score |
|---|---|---|---|---|---|---|---|---|"""


@dataclass(frozen=True, eq=False)
class Effort:
    """What is fitted at an effort: the people (of many events first), and the weights of sources that are known."""

    name: str
    parts: Sequence[PlayerGames]
    opponents: OpponentsPrior
    known: Mapping[str, Effects]
    like: PersonEffect | None

    def fitted(self, parts: Sequence[PlayerGames]) -> Fitted:
        """Return the effects fitted to these people."""
        whole = PlayerGames.concat(parts)
        free = [name for name in ("opening", "human", "joint") if name in whole.curves and name not in self.known]
        return fit_effects([Sample.of(whole, size, self.opponents) for size in SIZES], free, self.known, self.like)

    def held_out(self, folds: int, of: int = 0) -> dict[str, Estimates]:
        """Return the posteriors of the people of a part, judged by fits to people of other events, by what is used."""
        first = self.parts[of]
        events, code = np.unique(first.event, return_inverse=True)
        fold = np.random.default_rng(1).permutation(len(events))[code] % folds
        found: dict[str, list[tuple[Array, Array]]] = {}
        for number in range(folds):
            out = first.event[fold == number]
            rest = [part.take(~np.isin(part.event, out)) for part in self.parts]
            fit = self.fitted(rest)
            for size in SIZES:
                sample = Sample.of(first.take(fold == number), size, self.opponents)
                for name, logs in used(sample, fit).items():
                    label = f"{'all games' if size > SIZES[1] else f'{size} games' if size > 1 else '1 game'}, {name}"
                    found.setdefault(label, []).append((sample.elo, logs))
        return {
            name: Estimates(*(np.concatenate(column) for column in zip(*own, strict=True)))
            for name, own in found.items()
        }


def used(sample: Sample, fit: Fitted) -> dict[str, Array]:
    """Return the posteriors of people by what is used, next to simple alternatives."""
    moves, both = fit.logs(sample)
    return {
        "population alone": _POPULATION + 0 * moves,
        "opponents' ratings alone": sample.prior,
        "moves, prior population": fit.person.shared(fit.moves(sample), GRID) + _POPULATION,
        "moves, prior opponents": moves,
        "moves and results": both,
    }


def effort_of(name: str, opponents: OpponentsPrior, axis: EloAxis, kept: Path | None) -> Effort:
    """Return what is fitted at an effort; with an engine what is fitted without one is known."""
    parts = parts_of(name, kept)
    if name == "instant":
        return Effort(name, parts, opponents, {}, None)
    # Moves that no engine judged are few among the others: their weight is that without an engine.
    without = axis.effort("instant")
    return Effort(name, parts, opponents, {"human": without.effects["human"]}, without.person)


def main() -> None:
    """Fit, print the figures of held-out people, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kept", type=Path, help="a folder that keeps the curves of the moves")
    parser.add_argument("--folds", type=int, default=4, help="0: fit only")
    parser.add_argument("--effort", choices=DEPTHS, action="append")
    parser.add_argument("--write", action="store_true", help="write what was fitted into the axis that ships")
    asked = parser.parse_args()
    opponents = known_opponents()
    print(opponents, flush=True)
    axis = replace(elo_axis(), opponents=rounded(opponents))
    for name in asked.effort or DEPTHS:
        effort = effort_of(name, opponents, axis, asked.kept)
        if asked.folds:
            print(f"\n{name}, people of other events than those fitted on\n{HEAD}")
            for part in range(1 if name == "instant" else len(axis_data.EVENT_PEOPLE)):
                for label, found in effort.held_out(asked.folds, part).items():
                    print("\n".join(found.row(label, bands=label.endswith("and results"))), flush=True)
        best = effort.fitted(effort.parts)
        print(f"{name}: {best}", flush=True)
        effects = {source: rounded(own) for source, own in best.effects.items()}
        changed = replace(axis.effort(name), effects=effects, person=rounded(best.person))
        axis = replace(axis, efforts={**axis.efforts, name: changed})
    if asked.write:
        TARGET.write_text(axis.to_json(), encoding="utf-8")


def parts_of(effort: str, kept: Path | None) -> list[PlayerGames]:
    """Return the people fitted on: of many events first, which the figures are of; of human/ last."""

    def path(name: str) -> Path | None:
        return None if kept is None else kept / f"{name}-{effort}.npz"

    if effort != "instant":
        drawn = {name: axis_data.people_searched(name) for name in axis_data.EVENT_PEOPLE}
        of_events = [evidence(known, effort, path(name), events) for name, (known, events) in drawn.items()]
        return [*of_events, evidence(axis_data.people(), effort, path("people"))]
    events = np.load(axis_data.SHARED / "people" / "games.npz")["event"].tolist()
    everybody = evidence(axis_data.people_of_events(), effort, path("events"), events)
    return [everybody, evidence(axis_data.people(), effort, path("people"))]


def rounded(one: Any) -> Any:
    """Return a dataclass of numbers with four significant digits."""

    def short(value: Any) -> Any:
        return tuple(map(short, value)) if isinstance(value, tuple) else float(f"{value:.4g}")

    return replace(one, **{name: short(value) for name, value in vars(one).items()})


if __name__ == "__main__":
    main()
