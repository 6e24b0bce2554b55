"""Fit the Elo axis that ships: weights of the joint model, and how far each source of evidence is believed.

    .venv/bin/python tools/fit_axis.py

In: ../shared/data (human, analysed) and measurements/people_depth10_sf151.parquet. Out:
src/skilloscope/data/scales/axis-default.json. The network saw none of these people. The weights are fitted to the moves
of the analysed games and of the people searched for it; the effects of the human model's sources to other people of
human/ (up to ten games each in one year, as many of each 100 Elo), those of the joint source to the people searched,
cross-fitted: weights of one half judge the other. The people of persons/ are kept for the report (tools/accuracy.py).
What other tools wrote into the axis stays, and wants to be fitted anew: fit_evaluations.py --write, forecast_fused.py
--write.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import axis_data
from effects_fitting import KnownPerson, fit_effects, fit_searches
from model_fits import fit_weights
from skilloscope.chess.human.model import shipped_network
from skilloscope.evidence import Normal
from skilloscope.evidence.axis import ELO, Effects, Effort, EloAxis, elo_axis
from skilloscope.models.joint import JointChoices, JointWeights, elo_basis
from skilloscope.papers.harness import SHARED_ANALYSES

TARGET = axis_data.ROOT / "src" / "skilloscope" / "data" / "scales" / "axis-default.json"
EFFORT_DEPTHS = {"quick": 6, "full": 10}
SIZES = (1, 4, 10)
"""How many games of a person take part: so that what stays with the person and what does not can be told apart."""
FLAT = Normal(1950.0, 420.0, float(ELO[0]), float(ELO[-1]))
"""The ratings of the people drawn: as many of each 100 Elo."""
POPULATION = {
    "name": "players of rated over-the-board games",
    "mean": 1900.0,
    "sd": 400.0,
    "source": "the 98,013 players of 559,648 collected games have mean 2008 and sd 259; lowered and widened for club "
    "players, of whom collections hold few",
}


def main() -> None:
    """Fit everything and write the axis."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=45, help="people of each 100 Elo for the human sources")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=TARGET)
    arguments = parser.parse_args()
    human = human_effects(arguments.people, arguments.seed)
    print("human sources:", human, flush=True)
    analysed, people = (axis_data.judged(known) for known in (axis_data.analysed(), axis_data.people()))
    efforts = {"instant": Effort("instant", human)}
    searches = {name: cross_judged(analysed, people, depth) for name, depth in EFFORT_DEPTHS.items()}
    joint = fit_searches(searches, "joint", FLAT, fixed=human)
    for name, depth in EFFORT_DEPTHS.items():
        both = analysed.at_depth(depth), people.at_depth(depth)
        print(name, joint[name], flush=True)
        settings = {**SHARED_ANALYSES, "depth": depth}
        efforts[name] = Effort(name, {**human, "joint": joint[name]}, settings, weights_of(both, depth))
    judged = sum(len(batch.judged_elo) for batch in both)
    data = f"{judged:,} judged moves of {sum(len(set(batch.names)) for batch in both):,} people, 1000 to 2750"
    axis = EloAxis(
        "default", with_others(efforts, arguments.out), POPULATION, (1000.0, 2750.0), data, shipped_network().sha256
    )
    arguments.out.write_text(axis.to_json(), encoding="utf-8")


def with_others(efforts: dict[str, Effort], path: Path) -> dict[str, Effort]:
    """Return the efforts with what other tools wrote into the axis before: `evaluations`, and results beside moves."""
    before = elo_axis(str(path)).efforts if path.is_file() else {}
    fitted = {
        name: replace(one, beside=before[name].beside if name in before else None) for name, one in efforts.items()
    }
    return {**before, **fitted}


def human_effects(people: int, seed: int) -> dict[str, Effects]:
    """Return the effects of `opening` and `human`, from people of human/ whom the network has not seen."""
    drawn = axis_data.judged(axis_data.strata(people, 0.0, axis_data.HELD_OUT / 2, seed))
    return fit_effects(sized(drawn.people()), ["opening", "human"], FLAT)


def weights_of(batches: Sequence[axis_data.JudgedPeople], depth: int) -> JointWeights:
    """Return the joint weights fitted to all judged moves of the batches."""
    parts = [(batch.moves.joint, batch.judged_elo) for batch in batches if batch.moves.joint is not None]
    elo = np.concatenate([elo for _, elo in parts])
    return fit_weights(stacked([joint for joint, _ in parts]), elo, elo_basis(elo), tuple(range(1, depth + 1)))


def cross_judged(analysed: axis_data.JudgedPeople, people: axis_data.JudgedPeople, depth: int) -> list[KnownPerson]:
    """Return the people, each half judged by weights of the other half and of the analysed games."""
    analysed, people = analysed.at_depth(depth), people.at_depth(depth)
    names = sorted({name for name in people.names if name})
    half = dict(zip(names, np.random.default_rng(1).permutation(len(names)) % 2, strict=True))
    known: list[KnownPerson] = []
    for side in (0, 1):
        others = people.of({name for name in names if half[name] != side})
        weights = weights_of([analysed, others], depth)
        own = people.of({name for name in names if half[name] == side})
        known += sized(own.people(weights))
    return known


def sized(people: Sequence[KnownPerson]) -> list[KnownPerson]:
    """Return each person with one, four and ten of his games, as far as there are so many."""
    found = []
    for person in people:
        games = max(len(curves) for curves in person.sources.values())
        found += [person.with_games(size) for size in SIZES if size <= games + 3]
    return found


def stacked(parts: Sequence[JointChoices]) -> JointChoices:
    """Return the choices of several batches as one."""
    sizes = np.cumsum([0, *(len(part.listed) for part in parts)])
    offsets: list[npt.NDArray[Any]] = [np.zeros(1, dtype=np.int64)]
    offsets += [part.offsets[1:] + size for part, size in zip(parts, sizes, strict=False)]
    return JointChoices(
        np.concatenate(offsets),
        *(np.concatenate([getattr(part, name) for part in parts]) for name in ("chosen", "human", "roots", "listed")),
    )


if __name__ == "__main__":
    main()
