"""Evidence about Elo from single evaluations: what each move lost, where a value stands before and after it.

In: moves with what people play there, and evaluations of the same games ([%eval] comments, files with evaluations).
Out: curves on ELO for each group and game, as a source `evaluated` beside `opening` and `human`. No engine is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.chess.evaluations import Evaluations
from skilloscope.chess.human.model import HumanChoices
from skilloscope.core.errors import InputError
from skilloscope.models.losses import LossWeights, loss_curves, loss_features
from skilloscope.models.scaling import scaled_loss
from skilloscope.ratings.elo_axis.effects import ELO
from skilloscope.sources.strength import SOURCES, GameCurves, PlayedMoves

Array = npt.NDArray[np.float64]
EVALUATED = SOURCES.index("evaluated")
REFERENCE_ELO = 2250.0
"""The Elo at which the human model says how likely a move and how open a choice is."""
_EVERY = 5  # curves are smooth: every 50 Elo is enough


@dataclass(frozen=True, eq=False)
class MoveLosses:
    """What moves lost and in which decisions, as far as both values are known."""

    at: npt.NDArray[np.int64]
    """The moves, by their place in PlayedMoves."""
    losses: Array
    features: Array

    def __len__(self) -> int:
        return len(self.at)


def move_losses(moves: PlayedMoves, evaluations: Evaluations) -> MoveLosses:
    """Return the scaled losses of the free moves whose value before and after is known, mover's view."""
    if len(evaluations.games) != len(moves.games):
        raise InputError(f"evaluations of {len(evaluations.games):,} games for {len(moves.games):,}")
    first = evaluations.starts[moves.game] + moves.ply
    sign = np.where(moves.black, -1.0, 1.0)
    before, after = sign * evaluations.values[first], sign * evaluations.values[first + 1]
    at = np.flatnonzero(np.isfinite(before) & np.isfinite(after) & moves.free)
    log_p, entropy = expected_of_people(moves.choices, moves.chosen)
    features = loss_features(log_p[at], entropy[at], before[at], moves.ply[at])
    return MoveLosses(at, scaled_loss(before[at], after[at]), features)


def expected_of_people(choices: HumanChoices, chosen: npt.NDArray[np.int64]) -> tuple[Array, Array]:
    """Return the log-probability of each move and the entropy of its choice, among people of REFERENCE_ELO."""
    logs = choices.log_probabilities(REFERENCE_ELO)[:, 0]
    starts = choices.offsets[:-1]
    entropy = -np.add.reduceat(np.exp(logs) * logs, starts) if len(starts) else np.zeros(0)
    return logs[starts + chosen], entropy


def grouped_loss_curves(
    losses: Array, features: Array, weights: LossWeights, group: npt.NDArray[np.int64], groups: int
) -> Array:
    """Return what the losses of each group say along ELO, a row for each."""
    coarse = ELO[::_EVERY]
    curves = loss_curves(losses, features, weights, group, groups, coarse)
    return np.array([np.interp(ELO, coarse, curve) for curve in curves]).reshape(groups, len(ELO))


def evaluated_curves(moves: PlayedMoves, found: MoveLosses, labels: Sequence[Any], weights: LossWeights) -> GameCurves:
    """Return the curves of what the moves of each label and game lost; a move whose label is None counts for nobody."""
    names = {name: at for at, name in enumerate(dict.fromkeys(label for label in labels if label is not None))}
    group = np.array([-1 if label is None else names[label] for label in labels], dtype=np.int64)[found.at]
    use = group >= 0
    keys = np.stack([group, moves.game[found.at]], axis=1)[use]
    rows, of = np.unique(keys, axis=0, return_inverse=True)
    row = of.reshape(-1)
    fine = grouped_loss_curves(found.losses[use], found.features[use], weights, row, len(rows))
    counts = np.bincount(row, minlength=len(rows))
    return GameCurves(list(names), rows[:, 0], rows[:, 1], np.full(len(rows), EVALUATED), fine, counts)


def with_evaluations(
    known: GameCurves, moves: PlayedMoves, evaluations: Evaluations, labels: Sequence[Any], weights: LossWeights
) -> GameCurves:
    """Return the curves of the same labels with those of their losses added."""
    more = evaluated_curves(moves, move_losses(moves, evaluations), labels, weights)
    if list(known.groups) != list(more.groups):
        raise InputError("the labels are not those of the curves")
    names = ("group", "game", "source", "curves", "moves")
    both = {name: np.concatenate([getattr(known, name), getattr(more, name)]) for name in names}
    return GameCurves(known.groups, **both)
