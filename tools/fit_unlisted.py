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

import chess
import numpy as np
import numpy.typing as npt

import axis_data
from skilloscope.chess.engine.lines import move_of_code, value_of
from skilloscope.chess.engine.settings import Settings
from skilloscope.chess.human.model import elo_basis
from skilloscope.chess.positions import positions_of
from skilloscope.models.joint import log_alternatives, scaled_roots
from skilloscope.ratings.elo_axis.axis import elo_axis
from skilloscope.simulate.people import log_less
from skilloscope.sources.judge import Work, analyse_as

BANDS = ((1500, 1800), (1800, 2200), (2200, 2500), (2500, 2800))

Array = npt.NDArray[np.float64]


def main() -> None:
    """Draw, search and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=250)
    parser.add_argument("--seed", type=int, default=5)
    given = parser.parse_args()
    rng, known, effort = np.random.default_rng(given.seed), axis_data.analysed(), elo_axis().effort("full")
    people, weights, work = (
        axis_data.judged(known).at_depth(10),
        effort.weights,
        Work(Settings.from_key(effort.settings)),
    )
    moves, elo, analyses = people.moves, people.judged_elo, known.analyses
    joint, judged, answer = moves.joint, moves.judged, moves.answer
    assert joint is not None and judged is not None and answer is not None  # noqa: PT018
    assert analyses is not None and weights is not None  # noqa: PT018
    owner, codes = joint.owner, moves.choices.take(judged).moves
    p = np.where(joint.listed, 0.0, np.exp(log_alternatives(joint, weights, elo, elo_basis(elo))))
    played = np.zeros(len(p), dtype=bool)
    played[joint.offsets[:-1] + joint.chosen] = True
    fens = analyses.positions.fen.to_pylist()
    print("| Elo | played beyond the list: model, people | stays | constant | loss: all drawn, what stays, people |")
    print("|---|---|---|---|---|")
    for low, high in BANDS:
        band = (elo >= low) & (elo < high)
        chances = np.where(band[owner], p, 0.0)
        real = np.flatnonzero(played & ~joint.listed & band[owner])
        losses, kept = [], np.ones(0)
        for places in (
            rng.choice(len(p), given.draws, p=chances / chances.sum()),
            rng.permutation(real)[: given.draws],
        ):
            rows = owner[places]
            best = np.array([value_of(analyses.answer(row)) for row in answer[rows].tolist()])
            boards = [chess.Board(fens[row]) for row in answer[rows].tolist()]
            roots = scaled_roots(best, _values(work, boards, codes[places].tolist()))
            columns = zip(elo[rows], joint.roots[places, -1], roots, strict=True)
            less = [log_less(weights, level, listed, true) for level, listed, true in columns]
            losses.append(roots**2)
            kept = kept if len(kept) else np.exp(less)
        shares = f"{chances.sum() / band.sum():.3f}, {len(real) / band.sum():.3f}"
        means = f"{losses[0].mean():.2f}, {np.average(losses[0], weights=kept):.2f}, {losses[1].mean():.2f}"
        print(f"| {low}–{high} | {shares} | {kept.mean():.2f} | {-np.log(kept.mean()):.2f} | {means} |", flush=True)


def _values(work: Work, boards: Sequence[chess.Board], codes: Sequence[int]) -> Array:
    """Return what is left after each move, to who made it, in pawns."""
    for board, code in zip(boards, codes, strict=True):
        board.push(move_of_code(code))
    going = [board for board in boards if any(board.legal_moves)]
    found = analyse_as(work, positions_of(going))
    values = iter([value_of(found.answer(row)) for row in range(len(going))])
    return np.array([-next(values) if any(board.legal_moves) else 0.0 for board in boards])


if __name__ == "__main__":
    main()
