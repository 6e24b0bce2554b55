"""How many moves beyond the list of ten do people play, and what do they lose? (simulate/people.py)

    cd tools && python fit_unlisted.py [--draws 250] [--seed 5]

The joint model counts a move that is not listed as the worst that is; simulated people look again where one is drawn
(`joint_drawn`). In positions of the analysed games such moves are drawn from the model and searched, and so are those
that people played. Printed for bands of Elo: the share that stays when their own loss counts, minus its logarithm (the
constant), and the mean loss of what stays beside that of people's.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import chess
import numpy as np
import numpy.typing as npt

import axis_data
from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.engine.lines import value_of
from skilloscope.chess.engine.settings import Settings
from skilloscope.chess.human.model import elo_basis
from skilloscope.chess.positions import positions_of
from skilloscope.models.joint import JointChoices, JointWeights, log_alternatives, scaled_roots
from skilloscope.ratings.elo_axis.axis import elo_axis
from skilloscope.simulate.games import values_after
from skilloscope.simulate.people import log_less
from skilloscope.sources.judge import Work, analyse_as

BANDS = ((1500, 1800), (1800, 2200), (2200, 2500), (2500, 2800))
EFFORT = elo_axis().effort("full")

Array = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Known:
    """Every legal move in positions of real games: its code, and the engine's answer to the position it belongs to."""

    joint: JointChoices
    elo: Array
    codes: npt.NDArray[np.uint16]
    answer: Places
    analyses: Analyses

    @classmethod
    def read(cls) -> Known:
        """Return the analysed games of the bands."""
        known = axis_data.analysed()
        people = axis_data.judged(known).at_depth(10)
        moves = people.moves
        assert moves.joint is not None
        assert moves.judged is not None
        assert moves.answer is not None
        assert known.analyses is not None
        codes = moves.choices.take(moves.judged).moves
        return cls(moves.joint, people.judged_elo, codes, moves.answer, known.analyses)

    def roots(self, places: Places) -> Array:
        """Return √δ of some moves by a search of what they lead to."""
        answers = self.answer[self.joint.owner[places]].tolist()
        best = [value_of(self.analyses.answer(row)) for row in answers]
        fens = self.analyses.positions.fen
        boards = [chess.Board(str(fens[row])) for row in answers]
        return scaled_roots(best, values_after(boards, self.codes[places].tolist(), searched))

    def staying(self, places: Places, roots: Array, weights: JointWeights) -> Array:
        """Return the share of each move's chance that stays when its own loss counts."""
        listed, elo = self.joint.roots[places, -1], self.elo[self.joint.owner[places]]
        return np.exp([log_less(weights, *row) for row in zip(elo, listed, roots, strict=True)])


def main() -> None:
    """Draw, search and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=250)
    parser.add_argument("--seed", type=int, default=5)
    given = parser.parse_args()
    rng, known, weights = np.random.default_rng(given.seed), Known.read(), EFFORT.weights
    assert weights is not None
    joint = known.joint
    p = np.exp(log_alternatives(joint, weights, known.elo, elo_basis(known.elo)))
    played = np.zeros(len(p), dtype=bool)
    played[joint.offsets[:-1] + joint.chosen] = True
    print("| Elo | beyond the list: model, people | stays | constant | loss: all drawn, what stays, people |")
    print("|---|---|---|---|---|")
    for low, high in BANDS:
        inside = (known.elo >= low) & (known.elo < high)
        unlisted = inside[joint.owner] & ~joint.listed
        chances, real = np.where(unlisted, p, 0.0), np.flatnonzero(played & unlisted)
        drawn = rng.choice(len(p), given.draws, p=chances / chances.sum())
        roots = known.roots(drawn)
        kept = known.staying(drawn, roots, weights)
        people = known.roots(rng.permutation(real)[: given.draws]) ** 2
        shares = f"{chances.sum() / inside.sum():.3f}, {len(real) / inside.sum():.3f}"
        losses = f"{(roots**2).mean():.2f}, {np.average(roots**2, weights=kept):.2f}, {people.mean():.2f}"
        print(f"| {low}–{high} | {shares} | {kept.mean():.2f} | {-np.log(kept.mean()):.2f} | {losses} |", flush=True)


def searched(boards: Sequence[chess.Board]) -> Analyses:
    """Return the engine's answers as the effort has them."""
    return analyse_as(Work(Settings.from_key(EFFORT.settings)), positions_of(boards))


if __name__ == "__main__":
    main()
