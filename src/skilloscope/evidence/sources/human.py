"""What people play as a source of evidence: how likely each move is at every Elo, by the model of human moves.

In: moves with all legal ones and what people of every Elo play. Out: for each row the sum of log p(move | Elo) over its
moves, on ELO. The curves are summed on a few Chebyshev nodes, which carry them exactly enough, and read off once.
"""

import numpy as np

from skilloscope.core.columns import Array, Ints
from skilloscope.evidence.axis import ELO
from skilloscope.evidence.table import Grid
from skilloscope.models.joint import ONLINE_RANGE, HumanChoices, elo_basis
from skilloscope.models.kernels.choices import add_choice_curves

NODES = Grid(*ONLINE_RANGE, 60)
BASIS = elo_basis(NODES.nodes)


def human_curves(choices: HumanChoices, chosen: Ints, row: Ints, rows: int) -> Array:
    """Return what the moves of each row say at NODES; `row` is the row of each move."""
    curves = np.zeros((rows, NODES.size))
    add_choice_curves(choices.coefficients, choices.offsets, chosen, row, BASIS, curves)
    return curves


def on_elo(curves: Array, within: tuple[float, float]) -> Array:
    """Return curves given at NODES on ELO; beyond the range of their model they stay as at its ends."""
    return np.asarray(NODES.interpolate(curves.T, np.clip(ELO, *within)) if len(curves) else np.zeros((0, len(ELO))))


def single_move_curves(choices: HumanChoices, chosen: Ints) -> Array:
    """Return what each single move says along ELO: a row for each."""
    rows = np.arange(len(chosen), dtype=np.int64)
    return on_elo(human_curves(choices, chosen, rows, len(chosen)), choices.elo_range)
