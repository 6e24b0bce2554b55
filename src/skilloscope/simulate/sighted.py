"""Simulated people who see what an engine sees, as people of their Elo do: the move that each of them makes.

In: positions with the human model's and the engine's answers, an Elo for each. Out: a move drawn from the joint model
and what people lean to beyond it (simulate.leanings). A move that is not listed is worth no more than the worst that
is; where one is drawn it is looked at again, so nobody hangs a queen because ten other moves fill the list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.human.joint import listed_values
from skilloscope.chess.human.model import HumanChoices, elo_basis
from skilloscope.models.joint import (
    ORIGIN,
    UNIT,
    JointChoices,
    JointWeights,
    log_alternatives,
    log_people,
    scaled_roots,
)
from skilloscope.simulate.leanings import Alternatives, Leanings, shipped_leanings
from skilloscope.simulate.people import drawn_place, joint_of

Array = npt.NDArray[np.float64]

UNLISTED = (0.50, 0.10)
"""What log P of a move beyond the list gains before its own loss counts in place of the worst on the list, so that
people play as many of them as they do: at ORIGIN, and its slope by Elo. From tools/fit_unlisted.py."""

Valuing = Callable[[Sequence[tuple[int, int]]], Sequence[float]]
"""What moves (position, code) are worth to who makes them, in pawns."""


@dataclass(frozen=True)
class Sighted:
    """How they choose: the joint model's weights, and what people lean to beyond it."""

    weights: JointWeights
    leanings: Leanings

    @classmethod
    def shipped(cls, weights: JointWeights) -> Sighted:
        """Return people with the leanings that ship beside these weights."""
        return cls(weights, shipped_leanings(len(weights.depths)))

    def log_chances(self, joint: JointChoices, alternatives: Alternatives, elo: Array) -> Array:
        """Return log P′ of every alternative, up to a constant a position."""
        log_p = log_alternatives(joint, self.weights, elo, elo_basis(elo)) + self.leanings.added(alternatives)
        return log_p + np.where(joint.listed, 0.0, unlisted_gain(alternatives.elo))

    def drawn(
        self,
        choices: HumanChoices,
        analyses: Analyses,
        elo: Array,
        move_number: Array,
        rngs: Sequence[np.random.Generator],
        valued: Valuing,
    ) -> tuple[npt.NDArray[np.uint16], Array]:
        """Return a move for each position, drawn with a generator of its own, and the moves' values.

        Where a move that is not listed is drawn, `valued` says what it is worth, and it is played with the share of its
        chance that is left; otherwise there is another draw. The analyses answer the same positions, in order.
        """
        joint = joint_of(choices, analyses, self.weights)
        values = listed_values(choices, analyses, np.arange(len(choices)), len(self.weights.depths))[0][:, -1]
        best = np.fmax.reduceat(values, choices.offsets[:-1])
        alternatives = alternatives_of(joint, best, move_number, elo)
        log_p, known = self.log_chances(joint, alternatives, elo), joint.listed.copy()
        places, undecided = np.zeros(len(choices), dtype=np.int64), list(range(len(choices)))
        while undecided:
            for row in undecided:
                places[row] = drawn_place(log_p, choices.offsets[row], choices.offsets[row + 1], rngs[row])
            unlisted = [row for row in undecided if not known[places[row]]]
            if not unlisted:
                break
            at = places[unlisted]
            values[at] = valued([(row, int(choices.moves[places[row]])) for row in unlisted])
            less = self.log_less(alternatives.take(at), scaled_roots(best[unlisted], values[at]) ** 2)
            known[at], log_p[at] = True, log_p[at] + less
            undecided = [row for row, fall in zip(unlisted, less, strict=True) if np.log(rngs[row].random()) >= fall]
        return choices.moves[places], values[places]

    def log_less(self, taken: Alternatives, loss: Array) -> Array:
        """Return by how much log P′ falls where the loss is larger than the one taken, at all depths alike."""
        level, slope = np.sum(self.weights.losses, axis=0)
        by_weights = (level + slope * (taken.elo - ORIGIN) / UNIT) * (np.sqrt(taken.loss) - np.sqrt(loss))
        leaning = self.leanings.added(replace(taken, loss=loss)) - self.leanings.added(taken)
        return np.asarray(np.minimum(by_weights + leaning, 0.0))


def unlisted_gain(elo: npt.ArrayLike) -> Array:
    """Return what log P of a move beyond the list gains at these Elos."""
    return UNLISTED[0] + UNLISTED[1] * (np.asarray(elo, dtype=float) - ORIGIN) / UNIT


def alternatives_of(joint: JointChoices, value: Array, move_number: Array, elo: Array) -> Alternatives:
    """Return all moves of some positions as the leanings read them; value, number and Elo are one a position."""
    owner = joint.owner
    return Alternatives(
        log_people=log_people(joint, elo_basis(elo)),
        loss=joint.roots[:, -1].astype(float) ** 2,
        value=value[owner],
        move_number=move_number[owner],
        elo=elo[owner],
    )
