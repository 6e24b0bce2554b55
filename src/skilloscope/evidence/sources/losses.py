"""What moves lost as a source of evidence, where a value before and after each is known: no engine is asked.

In: losses of moves, and features of the decisions in which they were made. Out: for each row what its losses say, on
ELO. The moves themselves are counted by another source, which reads them as people's choices.
"""

import numpy as np

from skilloscope.core.columns import Array, Ints
from skilloscope.evidence.axis import ELO
from skilloscope.models.joint import HumanChoices, LossWeights, loss_curves

REFERENCE_ELO = 2250.0  # the Elo at which the human model says how likely a move and how open a choice is
_EVERY = 5  # curves are smooth: every 50 Elo is enough


def expected_of_people(choices: HumanChoices, chosen: Ints) -> tuple[Array, Array]:
    """Return the log-probability of each move and the entropy of its choice, among people of REFERENCE_ELO."""
    logs = choices.log_probabilities(REFERENCE_ELO)[:, 0]
    starts = choices.offsets[:-1]
    entropy = -np.add.reduceat(np.exp(logs) * logs, starts) if len(starts) else np.zeros(0)
    return logs[starts + chosen], entropy


def lost_curves(losses: Array, features: Array, weights: LossWeights, row: Ints, rows: int) -> Array:
    """Return what the losses of each row say along ELO; `row` is the row of each loss."""
    coarse = ELO[::_EVERY]
    curves = loss_curves(losses, features, weights, row, rows, coarse)
    return np.array([np.interp(ELO, coarse, curve) for curve in curves]).reshape(rows, len(ELO))
