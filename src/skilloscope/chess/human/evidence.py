"""From moves of games to rows of evidence about Elo: a row for each label, person, game and source.

The sources are `opening` (the first moves, what people play), `human` (later moves, what people play), `joint` (later
moves with the engine's answer) and `evaluated` (what moves lost, by evaluations in the games' comments). Only the
mover's own choices count, and every legal move is an alternative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skilloscope.chess.analysis.evaluations import Evaluations
from skilloscope.chess.human.played import SOURCES, PlayedMoves, movers_of
from skilloscope.core.arrays import Array, Ints
from skilloscope.core.errors import InputError
from skilloscope.evidence import EvidenceTable
from skilloscope.evidence.discounting import ELO_GRID
from skilloscope.evidence.sources.human import human_curves, on_elo
from skilloscope.evidence.sources.joint import judged_curves
from skilloscope.evidence.sources.losses import expected_of_people, lost_curves
from skilloscope.models.joint import JointWeights, LossWeights, loss_features
from skilloscope.models.scaling import scaled_loss

JOINT, EVALUATED = SOURCES.index("joint"), SOURCES.index("evaluated")


def move_evidence(
    moves: PlayedMoves, labels: Sequence[Any], *, weights: JointWeights | None = None, opening_moves: int = 12
) -> EvidenceTable:
    """Return the rows of each label, person, game and source; a move whose label is None counts for nobody."""
    source = moves.sources(opening_moves)
    names, group = _groups(moves, labels)
    use = (source >= 0) & (group >= 0)
    rows, row = _rows(group, moves.game, source, use)
    alone = use & (source != JOINT)
    curves = human_curves(moves.choices.take(np.flatnonzero(alone)), moves.chosen[alone], row[alone], len(rows))
    if moves.joint is not None and moves.judged is not None and weights is not None:
        inside = use[moves.judged] & (source[moves.judged] == JOINT)
        curves += judged_curves(moves.joint.select(inside), weights, row[moves.judged][inside], len(rows))
    return _table(moves, names, rows, on_elo(curves), np.bincount(row[use], minlength=len(rows)))


@dataclass(frozen=True, eq=False)
class MoveLosses:
    """What moves lost and in which decisions, as far as both values are known."""

    at: Ints  # the moves, by their place in PlayedMoves
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


def loss_evidence(moves: PlayedMoves, found: MoveLosses, labels: Sequence[Any], weights: LossWeights) -> EvidenceTable:
    """Return the rows of what the moves of each label, person and game lost."""
    names, of_move = _groups(moves, labels)
    group = of_move[found.at]
    use = group >= 0
    rows, row = _rows(group, moves.game[found.at], np.full(len(group), EVALUATED), use)
    curves = lost_curves(found.losses[use], found.features[use], weights, row[use], len(rows))
    return _table(moves, names, rows, curves, np.bincount(row[use], minlength=len(rows)))


def _groups(moves: PlayedMoves, labels: Sequence[Any]) -> tuple[list[tuple[Any, str]], Ints]:
    """Return the distinct labels with their people, and the place of each move's; −1 where it counts for nobody."""
    pairs = [None if label is None else (label, who) for label, who in zip(labels, movers_of(moves), strict=True)]
    names = {pair: at for at, pair in enumerate(dict.fromkeys(pair for pair in pairs if pair is not None))}
    return list(names), np.array([-1 if pair is None else names[pair] for pair in pairs], dtype=np.int64)


def _rows(group: Ints, game: Ints, source: Ints, use: np.ndarray[Any, np.dtype[np.bool_]]) -> tuple[Ints, Ints]:
    """Return the rows (group, game, source), and the row of each move; −1 where it is not used."""
    rows, of = np.unique(np.stack([group, game, source], axis=1)[use], axis=0, return_inverse=True)
    row = np.full(len(group), -1, dtype=np.int64)
    row[use] = of.reshape(-1)
    return rows, row


def _table(
    moves: PlayedMoves, names: Sequence[tuple[Any, str]], rows: Ints, curves: Array, counts: Ints
) -> EvidenceTable:
    columns = ("white", "white_elo", "black_elo", "event")
    white, white_elo, black_elo, event = (moves.games.headers[name].to_pylist() for name in columns)
    groups, games = [names[group] for group in rows[:, 0].tolist()], rows[:, 1].tolist()
    people = [person for _, person in groups]
    elo = [
        (white_elo if white[game] == person else black_elo)[game] for person, game in zip(people, games, strict=True)
    ]
    return EvidenceTable(
        ELO_GRID,
        [label for label, _ in groups],
        curves,
        counts.astype(np.int64),
        people=people,
        games=rows[:, 1],
        events=[event[game] for game in games],
        sources=[SOURCES[source] for source in rows[:, 2].tolist()],
        headers=np.array([np.nan if rating is None else rating for rating in elo], dtype=float),
    )
