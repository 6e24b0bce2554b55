"""Fit what simulated people lean to beyond the joint model (simulate/people.py).

    cd tools && python fit_style_adjustments.py

In: ../shared/data (human, analysed, persons), measurements/ and the axis that ships, whose weights stay as they are.
The moves from move 13 on are those of the axis; first moves those of its people, searched for this purpose. Prints the
log-likelihood a move of persons/ without and with the adjustments that were fitted without them, then fits all; those
of people below 1600 is fitted after that, to games between people of 1100 to 1300. Writes
src/skilloscope/data/style_adjustments.json.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

import axis_data
from fit_axis import EFFORT_DEPTHS, stacked
from model_fits import fit_logit
from skilloscope.chess.human.played import listed_values
from skilloscope.evidence.axis import elo_axis
from skilloscope.models.joint import JointChoices, elo_basis, log_alternatives, log_sums
from skilloscope.simulate.people import Alternatives, StyleAdjustments, alternatives_of

Array = npt.NDArray[np.float64]
TARGET = axis_data.ROOT / "src" / "skilloscope" / "data" / "style_adjustments.json"
RIDGE = 1e-5


@dataclass(frozen=True, eq=False)
class Moves:
    """Moves that people made, all alternatives beside them, and log P of these by the joint model."""

    joint: JointChoices
    alternatives: Alternatives
    log_p: Array

    @classmethod
    def of(cls, people: axis_data.JudgedPeople, effort: str) -> Moves:
        """Return the judged moves of some people."""
        depth, weights = EFFORT_DEPTHS[effort], elo_axis().effort(effort).weights
        judged = people.at_depth(depth)
        moves, elo = judged.moves, judged.judged_elo
        assert moves.joint is not None
        assert moves.judged is not None
        assert moves.answer is not None
        assert people.analyses is not None
        assert weights is not None
        choices = moves.choices.take(moves.judged)
        values = listed_values(choices, people.analyses, moves.answer, depth)[0][:, -1]
        best = np.fmax.reduceat(values, choices.offsets[:-1])
        number = moves.move_number[moves.judged].astype(float)
        log_p = log_alternatives(moves.joint, weights, elo, elo_basis(elo))
        return cls(moves.joint, alternatives_of(moves.joint, best, number, elo), log_p)

    @classmethod
    def together(cls, parts: list[Moves]) -> Moves:
        """Return the moves of several batches as one."""
        columns = [[getattr(one.alternatives, field.name) for one in parts] for field in fields(Alternatives)]
        return cls(
            stacked([one.joint for one in parts]),
            Alternatives(*(np.concatenate(column) for column in columns)),
            np.concatenate([one.log_p for one in parts]),
        )

    def fitted(self, start: StyleAdjustments | None = None) -> StyleAdjustments:
        """Return the adjustments under which these moves are likeliest; with a start only those of weak players."""
        columns = self.alternatives.columns()
        wanted = [name for name in columns if ("below" in name) == (start is not None)]
        design = np.column_stack([columns[name] for name in wanted])
        base = self.log_p if start is None else self.log_p + start.added(self.alternatives)
        w = fit_logit(design, self.joint.offsets, self.joint.chosen, ridge=RIDGE, base=base)
        found = {name: round(float(value), 4) for name, value in zip(wanted, w, strict=True)}
        return StyleAdjustments({**dict.fromkeys(columns, 0.0), **(start.weights if start else {}), **found})

    def likelihood(self, adjustments: StyleAdjustments | None = None) -> float:
        """Return the mean log P of the moves made."""
        z = self.log_p if adjustments is None else self.log_p + adjustments.added(self.alternatives)
        chosen = self.joint.offsets[:-1] + self.joint.chosen
        return float((z[chosen] - log_sums(z, self.joint.offsets)).mean())


def main() -> None:
    """Fit, print and write."""
    names = ("analysed", "people", "people_early", "persons")
    known = {name: axis_data.judged(getattr(axis_data, name)()) for name in names}
    weak = [axis_data.judged(games) for games in axis_data.band_games()[::2]]
    depths, about = {}, {}
    for effort, depth in EFFORT_DEPTHS.items():
        moves = {name: Moves.of(people, effort) for name, people in known.items()}
        others = Moves.together([one for name, one in moves.items() if name != "persons"]).fitted()
        gains = {name: [one.likelihood(), one.likelihood(others)] for name, one in moves.items()}
        print(effort, {name: [round(value, 4) for value in pair] for name, pair in gains.items()}, flush=True)
        most = Moves.together(list(moves.values())).fitted()
        low = Moves.together([Moves.of(people, effort) for people in weak])
        found = low.fitted(most)
        print("1100 to 1300:", [round(low.likelihood(one), 4) for one in (None, most, found)], flush=True)
        depths[str(depth)] = found.weights
        about = {name: len(one.joint) for name, one in moves.items()} | {"1100 to 1300": len(low.joint)}
    TARGET.write_text(json.dumps({"schema": 1, "about": {"moves": about}, "depths": depths}, indent=1) + "\n")


if __name__ == "__main__":
    main()
