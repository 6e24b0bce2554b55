"""Check `skilloscope screen` on real and on simulated people: is z N(0, 1), are flags as rare, is power as promised?

    .venv/bin/python tools/check_screen.py [--effort full|quick|instant]

In: ../shared/data (analysed, persons, human), measurements/ and what ships. A player-event is what one real person
played in one year. Real people are judged by weights and baselines of other people: those of the axis cross-fitted
(each half by the other), those of persons/ by what ships.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import chi2, false_discovery_control, norm

import axis_data
from fit_axis import EFFORT_DEPTHS
from fit_screen import OPENING, Rows, codes, fitted, joined, ordered
from model_fits import fit_weights, weights_covariance
from skilloscope.core.errors import Tally
from skilloscope.evidence.axis import elo_axis
from skilloscope.models.joint import JointChoices, JointWeights, elo_basis
from skilloscope.studies.screen.baseline import Baseline, FairSpread, GroupSums, group_sums, shipped_baseline
from skilloscope.studies.screen.moves import ScreenedMoves
from skilloscope.studies.screen.power import HELP, LEVELS, drawn_places, simulated_power
from skilloscope.studies.screen.screen import FEW_MOVES
from skilloscope.studies.screen.statistics import Statistic, human_statistics, joint_statistics, too_rare

TAIL = 2.5

Array = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Batch:
    """Player-events: their moves, the group of each, the person of each group, and the baseline that judges them."""

    moves: ScreenedMoves
    group: Places
    person: Places
    baseline: Baseline

    @classmethod
    def of(cls, rows: Rows, years: npt.NDArray[Any], statistics: dict[str, Statistic], baseline: Baseline) -> Batch:
        """Return the player-events with moves enough."""
        events = np.array([f"{a} {b}" for a, b in zip(rows.name.tolist(), years.tolist(), strict=True)], dtype=object)
        counts = np.bincount(codes(events))
        use = counts[codes(events)] >= FEW_MOVES
        group = codes(events[use])
        first = np.unique(group, return_index=True)[1]
        n = int(use.sum())
        moves = ScreenedMoves(
            None, codes(rows.game[use]), np.arange(n), rows.name[use], events[use], rows.elo[use], np.zeros(n),  # type: ignore[arg-type]
            {name: one.take(use) for name, one in statistics.items()}, Tally(), {},
        )  # fmt: skip
        return cls(moves, group, codes(rows.name[use][first]), baseline)

    def rare(self, name: str) -> npt.NDArray[np.bool_]:
        """Return which player-events have no score in a statistic."""
        variance = self.moves.statistics[name].draws.variance
        return too_rare(name, np.bincount(self.group, variance, len(self.person)))

    def sums(self, name: str, statistics: Mapping[str, Statistic] | None = None) -> GroupSums:
        """Return a statistic over the player-events, the pool read from the others as the command does."""
        own = self.moves if statistics is None else replace(self.moves, statistics=dict(statistics))
        return group_sums(own, name, self.group, self.person, self.baseline)


def main() -> None:
    """Measure and print everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--effort", default="full", choices=["full", "quick", "instant"])
    effort = parser.parse_args().effort
    batches = instant_batches() if effort == "instant" else engine_batches(EFFORT_DEPTHS[effort], effort)
    names = list(batches[0].moves.statistics)
    print(f"effort {effort}: {sum(len(batch.person) for batch in batches)} player-events")
    for name in names:
        print(score_line(name, np.concatenate([z_of(batch, name) for batch in batches])), flush=True)
    print("each batch:", [len(batch.person) for batch in batches])
    for name in names:
        parts = [z_of(batch, name) for batch in batches]
        print(f"  {name}", [f"{z.mean():+.2f} {z.std(ddof=1):.2f}" for z in parts], flush=True)
    print(honest_line(batches[0], names[0]), flush=True)
    if effort != "instant":
        print_power(batches, names)


def z_of(batch: Batch, name: str) -> Array:
    """Return the normal scores that the screen would show."""
    z = batch.sums(name).z
    return np.asarray(z[np.isfinite(z) & ~batch.rare(name)])


def score_line(name: str, z: Array) -> str:
    """Return mean, sd and tail of normal scores, with the Poisson interval of the tail."""
    tail, n = int((np.abs(z) > TAIL).sum()), len(z)
    low = 0.5 * chi2.ppf(0.025, 2 * tail) / n if tail else 0.0
    high = 0.5 * chi2.ppf(0.975, 2 * tail + 2) / n
    share = 2 * norm.sf(TAIL)
    inside = "holds" if low <= share <= high else "MISSES"
    upper = ", ".join(f"p<={level:g} {np.mean(norm.sf(z) <= level):.4f}" for level in LEVELS)
    return (
        f"{name:10s} n {n}, mean {z.mean():+.3f}, sd {z.std(ddof=1):.3f}, beyond {TAIL}: {tail / n:.4f} "
        f"({low:.4f} to {high:.4f}, {inside} {share:.4f}); {upper}"
    )


def honest_line(batch: Batch, name: str, *, people: int = 1000, elo_sd: float = 100.0, seed: int = 5) -> str:
    """Return what 1,000 simulated fair players raise, whose strength differs from their rating by N(0, 100²)."""
    rng = np.random.default_rng(seed)
    one, n = batch.moves.statistics[name], len(batch.person)
    own, found = batch.sums(name), []
    while len(found) < people:
        apart = rng.normal(0.0, elo_sd, n)[batch.group]
        chosen = drawn_places(one.draws.offsets, one.draws.p, 1, rng)[0]
        total = np.bincount(batch.group, one.draws.x[chosen] + apart * one.slope, n)
        found += own.table.z(total - own.expected).tolist()
    p = norm.sf(np.array(found[:people]))
    q = false_discovery_control(p)
    flags = ", ".join(f"{level:g}: {np.mean(p <= level):.4f}" for level in LEVELS)
    return f"{people} simulated fair players, share of p at most {flags}; q at most 0.05: {int((q <= 0.05).sum())}"


def print_power(batches: list[Batch], names: list[str], seed: int = 7) -> None:
    """Print what is seen of real games with one move in five replaced, beside what the power table promises."""
    rng = np.random.default_rng(seed)
    share = HELP["1 move in 5"]
    seen: dict[tuple[str, float], list[float]] = {}
    promised: dict[tuple[str, float], list[float]] = {}
    for batch in batches:
        helped = rng.random(len(batch.moves)) < share
        changed = {
            name: replace(one, actual=np.where(helped, one.assisted, one.actual))
            for name, one in batch.moves.statistics.items()
        }
        fair = {name: batch.sums(name) for name in names}
        for name in names:
            now = np.bincount(batch.group, changed[name].actual, len(batch.person)) - fair[name].expected
            z = fair[name].table.z(now)
            for level in LEVELS:
                seen.setdefault((name, level), []).extend(((norm.sf(z) <= level) & ~batch.rare(name)).tolist())
        for row in range(len(batch.person)):
            mask = batch.group == row
            own = {name: one.take(mask) for name, one in batch.moves.statistics.items()}
            power = simulated_power(own, fair, row, rng=rng, repeated=100)
            for found in power.rows:
                if found.help == "1 move in 5":
                    promised.setdefault((found.statistic, found.level), []).append(found.seen)
    for name in names:
        line = ", ".join(
            f"p<={level:g} seen {np.mean(seen[name, level]):.3f} promised {np.mean(promised[name, level]):.3f}"
            for level in LEVELS
        )
        print(f"one move in five replaced, {name}: {line}", flush=True)


def engine_batches(depth: int, effort: str) -> list[Batch]:
    """Return the player-events with an engine's analyses, each judged by others'."""
    known = {name: axis_data.judged(getattr(axis_data, name)()) for name in ("analysed", "people")}
    found = cross_fitted_batches(known, depth, effort)
    weights = elo_axis().effort(effort).weights
    assert weights is not None
    persons = {"persons": axis_data.judged(axis_data.persons())}
    rows, choices, preferred = joined(persons, depth)
    statistics = joint_statistics(choices, preferred, rows.elo, weights, helpers(persons, depth))
    return [*found, Batch.of(rows, years_of(persons, depth), statistics, shipped_baseline(effort))]


def cross_fitted_batches(known: dict[str, axis_data.JudgedPeople], depth: int, effort: str) -> list[Batch]:
    """Return the people of the axis in two halves, each under weights and spreads of the other."""
    rows, choices, preferred = joined(known, depth)
    other, years = helpers(known, depth), years_of(known, depth)
    half = np.random.default_rng(1).permutation(codes(rows.name).max() + 1)[codes(rows.name)] % 2
    sides = [half == side for side in (0, 1)]
    fits = [fit_half(rows, choices, side, depth) for side in sides]
    statistics = [
        joint_statistics(choices.select(side), preferred[side], rows.elo[side], fits[1 - at][0], other[side])
        for at, side in enumerate(sides)
    ]
    spreads = []
    for side, own in zip(sides, statistics, strict=True):
        plain = {name: ordered(one, np.arange(int(side.sum()))) for name, one in own.items()}
        spreads.append({name: FairSpread(**found) for name, found in fitted(plain, taken(rows, side)).items()})
    return [
        Batch.of(
            taken(rows, side),
            years[side],
            statistics[at],
            Baseline(effort, spreads[1 - at], fits[1 - at][1], "the other half"),
        )
        for at, side in enumerate(sides)
    ]


def fit_half(rows: Rows, choices: JointChoices, side: npt.NDArray[np.bool_], depth: int) -> tuple[JointWeights, Array]:
    """Return the weights of some of the people, and their covariance."""
    own, elo = choices.select(side), rows.elo[side]
    weights = fit_weights(own, elo, elo_basis(elo), tuple(range(1, depth + 1)))
    return weights, weights_covariance(own, weights, elo, elo_basis(elo), codes(rows.name[side]))


def taken(rows: Rows, wanted: npt.NDArray[np.bool_]) -> Rows:
    """Return some of the rows."""
    return Rows(rows.name[wanted], rows.game[wanted], rows.pool[wanted], rows.elo[wanted])


def helpers(known: Mapping[str, axis_data.JudgedPeople], depth: int) -> Places:
    """Return the first choices two plies earlier, which stand for another engine's."""
    found = [batch.at_depth(depth - 2).moves.preferred for batch in known.values()]
    return np.concatenate([one for one in found if one is not None])


def years_of(known: Mapping[str, axis_data.JudgedPeople], depth: int) -> npt.NDArray[Any]:
    """Return the year of each judged move."""
    found = []
    for batch in known.values():
        moves = batch.at_depth(depth).moves
        assert moves.judged is not None
        years = np.array([year or 0 for year in moves.games.headers["year"].to_pylist()])
        found.append(years[moves.game[moves.judged]])
    return np.concatenate(found)


def instant_batches() -> list[Batch]:
    """Return people whom neither the network nor the baseline without an engine has seen."""
    drawn = axis_data.strata(15, axis_data.HELD_OUT / 2, axis_data.HELD_OUT, 2)
    found = []
    for batch in (axis_data.judged(known) for known in (drawn, axis_data.analysed(), axis_data.persons())):
        named = np.array([name is not None for name in batch.names])
        places = np.flatnonzero(batch.moves.free & named & (batch.moves.move_number > OPENING))
        rows = Rows.of(batch, places, "human")
        years = np.array([year or 0 for year in batch.moves.games.headers["year"].to_pylist()])
        statistics = human_statistics(batch.moves.choices.take(places), batch.moves.chosen[places], rows.elo)
        found.append(Batch.of(rows, years[batch.moves.game[places]], statistics, shipped_baseline("instant")))
    return found


if __name__ == "__main__":
    main()
