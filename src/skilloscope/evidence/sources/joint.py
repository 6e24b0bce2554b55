"""What people play and what moves lose, in one choice: the source of evidence of moves that an engine has judged.

In: moves with all legal ones, what people play, and the engine's values. Out: for each row the sum of log p(move | Elo)
under the joint model (models/joint.py), at the nodes of the human model's curves.
"""

from __future__ import annotations

from skilloscope.core.columns import Array, Ints
from skilloscope.evidence.sources.human import BASIS, NODES
from skilloscope.models.joint import JointChoices, JointWeights, joint_curves


def judged_curves(choices: JointChoices, weights: JointWeights, row: Ints, rows: int) -> Array:
    """Return what the judged moves of each row say at NODES; `row` is the row of each move."""
    return joint_curves(choices, weights, row, rows, NODES.nodes, BASIS)
