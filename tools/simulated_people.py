"""Are simulated people like people? What the joint model expects in positions of real games, beside what was played.

    cd tools && python simulated_people.py

Reads ../shared/data/analysed: 229 games between players of equal rating, every position from move 13 with Stockfish's
answers. At each move the model of an effort, at the mover's own rating, gives the chance of every legal move; expected
match, loss (scaled, to depth 6 or 10 as the effort looks) and blunders (a pawn from an even position) follow.
"""

from __future__ import annotations

import numpy as np

import axis_data
from skilloscope.chess.human.model import elo_basis
from skilloscope.models.joint import log_alternatives
from skilloscope.ratings.elo_axis.axis import elo_axis
from skilloscope.sources.strength import played_moves

BANDS = ((1500, 1750), (1750, 2050), (2050, 2350), (2350, 2750))
BLUNDER = np.log(2.0)


def main() -> None:
    """Print a table of expected / actual figures by effort and band."""
    known = axis_data.analysed()
    moves = played_moves(known.games)
    sides = [np.array(known.games.headers[f"{side}_elo"].to_pylist(), dtype=float) for side in ("white", "black")]
    elo = np.where(moves.black, sides[1][moves.game], sides[0][moves.game])
    print("| effort | Elo | moves | match | loss | blunders |\n|---|---|---|---|---|---|")
    for name in ("quick", "full"):
        weights = elo_axis().effort(name).weights
        assert weights is not None
        assert known.analyses is not None
        judged = moves.with_engine(known.analyses, len(weights.depths))
        joint, at = judged.joint, judged.judged
        assert joint is not None
        assert at is not None
        level, first = elo[at], joint.offsets[:-1]
        p = np.exp(log_alternatives(joint, weights, level, elo_basis(level)))
        loss = joint.roots[:, -1].astype(float) ** 2
        for low, high in BANDS:
            own = (level >= low) & (level < high)
            cells = []
            for what, unit in ((loss == 0, 100), (loss, 1), (loss >= BLUNDER, 100)):
                expected = np.add.reduceat(p * what, first)[own].mean()
                actual = what[first + joint.chosen][own].mean()
                cells.append(f"{unit * expected:.3g} / {unit * actual:.3g}")
            print(f"| {name} | {low}–{high} | {own.sum():,} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
