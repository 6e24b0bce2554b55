"""How many moves beyond the list of ten do people play, and what do they lose? (simulate/people.py)

    cd tools && python fit_unlisted.py [--draws 250] [--seed 5]

The joint model counts a move that is not listed as the worst that is; simulated people look again where one is drawn.
In positions of people of the axis such moves are drawn as they would draw them and searched, and so are those that
people played. Printed for bands of Elo: the share that stays when their own loss counts, minus its logarithm (what
their log P gains before; UNLISTED is a line through it), and the mean loss of what stays beside that of people's.
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
from skilloscope.chess.pgn.positions import positions_of
from skilloscope.evidence.axis import elo_axis
from skilloscope.inputs.load import EngineJob
from skilloscope.models.joint import JointChoices, elo_basis, elo_terms, log_alternatives, scaled_roots
from skilloscope.simulate.games import values_after
from skilloscope.simulate.people import log_less

BANDS = {"people": ((1000, 1500),), "analysed": ((1500, 1800), (1800, 2200), (2200, 2500), (2500, 2800))}
EFFORT = elo_axis().effort("full")

Array = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Known:
    """Every legal move in positions of real games: its code, and the engine's answer to the position it belongs to."""

    joint: JointChoices
    elo: Array
    number: Array
    codes: npt.NDArray[np.uint16]
    answer: Places
    analyses: Analyses

    @classmethod
    def read(cls, name: str) -> Known:
        """Return people of the axis."""
        known = getattr(axis_data, name)()
        people = axis_data.judged(known).at_depth(10)
        moves = people.moves
        assert moves.joint is not None
        assert moves.judged is not None
        assert moves.answer is not None
        codes, number = moves.choices.take(moves.judged).moves, moves.move_number[moves.judged].astype(float)
        return cls(moves.joint, people.judged_elo, number, codes, moves.answer, known.analyses)

    def best(self) -> Array:
        """Return what each position is worth to its mover."""
        return np.array([value_of(self.analyses.answer(row)) for row in self.answer.tolist()])

    def losses(self, places: Places, best: Array) -> Array:
        """Return δ of some moves by a search of what they lead to."""
        owner = self.joint.owner[places]
        fens = self.analyses.positions.fen
        boards = [chess.Board(str(fens[row])) for row in self.answer[owner].tolist()]
        return scaled_roots(best[owner], values_after(boards, self.codes[places].tolist(), searched)) ** 2


def main() -> None:
    """Draw, search and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=250)
    parser.add_argument("--seed", type=int, default=5)
    given = parser.parse_args()
    print("| Elo | beyond the list: model, people | stays | gain | loss: all drawn, what stays, people |")
    print("|---|---|---|---|---|")
    for name, bands in BANDS.items():
        compare(Known.read(name), bands, given.draws, np.random.default_rng(given.seed))


def compare(known: Known, bands: Sequence[tuple[int, int]], draws: int, rng: np.random.Generator) -> None:
    """Print the lines of some bands."""
    joint, best = known.joint, known.best()
    assert EFFORT.weights is not None
    p = np.exp(log_alternatives(joint, EFFORT.weights, known.elo, elo_basis(known.elo)))
    share = (EFFORT.weights.lines(joint)[0] * elo_terms(known.elo)).sum(axis=2)
    played = np.zeros(len(p), dtype=bool)
    played[joint.offsets[:-1] + joint.chosen] = True
    for low, high in bands:
        inside = (known.elo >= low) & (known.elo < high)
        unlisted = inside[joint.owner] & ~joint.listed
        chances, real = np.where(unlisted, p, 0.0), np.flatnonzero(played & unlisted)
        drawn = rng.choice(len(p), draws, p=chances / chances.sum())
        own = known.losses(drawn, best)
        owner, root = joint.owner[drawn], joint.roots[drawn, -1].astype(float)
        kept = np.exp(log_less(root, np.sqrt(own), EFFORT.weights, share[:, owner], known.elo[owner]))
        theirs = known.losses(rng.permutation(real)[:draws], best)
        shares = f"{chances.sum() / inside.sum():.3f}, {len(real) / inside.sum():.3f}"
        losses = f"{own.mean():.2f}, {np.average(own, weights=kept):.2f}, {theirs.mean():.2f}"
        print(f"| {low}–{high} | {shares} | {kept.mean():.2f} | {-np.log(kept.mean()):.2f} | {losses} |", flush=True)


def searched(boards: Sequence[chess.Board]) -> Analyses:
    """Return the engine's answers as the effort has them."""
    return EngineJob(Settings.from_key(EFFORT.settings)).analyse(positions_of(boards))


if __name__ == "__main__":
    main()
