"""Fit the weights of the joint model of the Elo axis that ships.

    .venv/bin/python tools/fit_axis.py

In: ../shared/data (analysed, human, people) and measurements/. Out: the weights of `quick` and `full` in
src/skilloscope/data/scales/axis-default.json, fitted to the moves of the analysed games and of the people searched for
it; the network saw none of these people. The adjustments to the context are fitted to these, to people of many events
and to first moves; those below 1600, after that, to games between people of 1100 to 1300. What
other tools wrote into the axis stays, and wants to be fitted again: fit_people.py --write (prior from opponents,
effects, results beside moves), fit_evaluations.py --write.
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
from effects_fitting import KnownPerson
from model_fits import fit_adjustments, fit_weights
from skilloscope.chess.human.model import shipped_network
from skilloscope.evidence import Normal
from skilloscope.evidence.axis import ELO, elo_axis
from skilloscope.models.joint import BENDS, CONTEXT, JointChoices, JointWeights, elo_basis
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
    """Fit the weights and write the axis."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=TARGET)
    arguments = parser.parse_args()
    analysed, people = (axis_data.judged(known) for known in (axis_data.analysed(), axis_data.people()))
    more = [axis_data.judged(known) for known in (axis_data.people_early(), axis_data.people_searched("evenly")[0])]
    weak = [axis_data.judged(known) for known in axis_data.band_games()[::2]]
    before = elo_axis(str(arguments.out)) if arguments.out.is_file() else elo_axis()
    efforts = dict(before.efforts)
    for name, depth in EFFORT_DEPTHS.items():
        both = analysed.at_depth(depth), people.at_depth(depth)
        settings = {**SHARED_ANALYSES, "depth": depth}
        weights = weights_of(both, depth)
        for batches, names in (((*both, *more), (*BENDS[:2], *CONTEXT)), (weak, BENDS[2:])):
            joint, elo = judged_moves([batch.at_depth(depth) for batch in batches])
            weights = fit_adjustments(joint, weights, elo, elo_basis(elo), names)
        efforts[name] = replace(efforts[name], settings=settings, weights=weights)
        print(name, weights, flush=True)
    judged = sum(len(batch.judged_elo) for batch in both)
    data = f"{judged:,} judged moves of {sum(len(set(batch.names)) for batch in both):,} people, 1000 to 2750"
    axis = replace(before, efforts=efforts, population=POPULATION, data=data, model=shipped_network().sha256)
    arguments.out.write_text(axis.to_json(), encoding="utf-8")


def weights_of(batches: Sequence[axis_data.JudgedPeople], depth: int) -> JointWeights:
    """Return the joint weights fitted to all judged moves of the batches, without adjustments."""
    joint, elo = judged_moves(batches)
    return fit_weights(joint, elo, elo_basis(elo), tuple(range(1, depth + 1)))


def judged_moves(batches: Sequence[axis_data.JudgedPeople]) -> tuple[JointChoices, npt.NDArray[np.float64]]:
    """Return all judged moves of the batches, and the rating of who made each."""
    parts = [(batch.moves.joint, batch.judged_elo) for batch in batches if batch.moves.joint is not None]
    return stacked([joint for joint, _ in parts]), np.concatenate([elo for _, elo in parts])


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
    names = ("chosen", "human", "roots", "listed", "context")
    return JointChoices(
        np.concatenate(offsets),
        *(np.concatenate([getattr(part, name) for part in parts]) for name in names),
    )


if __name__ == "__main__":
    main()
