"""What each move cost, and what people of the mover's level would have lost in its place.

In: games, the engine's answers to their positions, the joint model's weights, a level for each player. Out: MoveCosts,
a row for each judged move: its scaled loss, the mean of that loss over the choices of people of the level, and how
likely people of several levels find the move played and the best one. A hard position forgives, an easy one does not.

Losses are scaled (see models/scaling.py): a pawn counts less the more decided the game is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.human.joint import listed_values
from skilloscope.chess.human.model import Human, elo_basis
from skilloscope.chess.pgn.games import Games
from skilloscope.models.joint import JointWeights, log_alternatives
from skilloscope.sources.labels import movers_of
from skilloscope.sources.strength import PlayedMoves, played_moves

LEVELS = (1200.0, 1600.0, 2000.0, 2400.0)
"""The levels at which the likelihood of a move is told."""
_GAMES = 64  # at a time

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class MoveCosts:
    """Judged moves of games, as columns."""

    game: npt.NDArray[np.int64]
    """The row of the game in `games.headers`."""
    ply: npt.NDArray[np.int64]
    position: npt.NDArray[np.int64]
    """The place in the analyses."""
    black: npt.NDArray[np.bool_]
    level: Array
    """The Elo at which people are asked."""
    played: npt.NDArray[np.uint16]
    best: npt.NDArray[np.uint16]
    """The engine's first move; of several equally good ones the one that was played."""
    loss: Array
    """Scaled, of the move played; one that is not listed counts as the worst listed: the least it can have lost."""
    expected: Array
    """The mean scaled loss of people of the level in this position."""
    value: Array
    """Pawns, the mover's view, of the best move."""
    played_value: Array
    """The same of the move played; NaN where the engine does not list it."""
    p_played: Array
    """How likely people find the move played: the mover's own level first, then LEVELS."""
    p_best: Array

    def __len__(self) -> int:
        return len(self.game)

    def __repr__(self) -> str:
        return f"<MoveCosts: {len(self):,} moves>"

    @property
    def cost(self) -> Array:
        """How much more than people of the level the move lost: below 0 where it lost less."""
        return self.loss - self.expected

    def select(self, rows: npt.NDArray[np.integer] | npt.NDArray[np.bool_]) -> MoveCosts:
        """Return some of the moves."""
        return MoveCosts(*(getattr(self, column.name)[rows] for column in fields(self)))

    def costliest(self, most: int) -> MoveCosts:
        """Return the moves that cost most for their level, the dearest first; a best move is never among them."""
        order = np.argsort(-self.cost, kind="stable")
        return self.select(order[(self.played != self.best)[order]][:most])

    def best_finds(self, most: int) -> MoveCosts:
        """Return the best moves in positions in which people of the level lose most on average."""
        order = np.argsort(self.cost, kind="stable")
        return self.select(order[(self.played == self.best)[order]][:most])


def move_costs(
    games: Games,
    analyses: Analyses,
    weights: JointWeights,
    levels: Mapping[str, float],
    *,
    model: Human | None = None,
) -> MoveCosts:
    """Return what the judged moves of the players with a level cost; others are left out."""
    parts = [
        _part(games, analyses, weights, levels, np.arange(first, min(first + _GAMES, len(games))), model)
        for first in range(0, len(games), _GAMES)
    ]
    return MoveCosts(*(np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(MoveCosts)))


def _part(
    games: Games,
    analyses: Analyses,
    weights: JointWeights,
    levels: Mapping[str, float],
    rows: npt.NDArray[np.int64],
    model: Human | None,
) -> MoveCosts:
    own = analyses.of_games(rows)
    some = games.select(rows)
    wanted = _judged_moves(some, own)
    moves = played_moves(some, wanted=wanted, model=model).with_engine(own, len(weights.depths))
    level = np.array([levels.get(name, np.nan) if name else np.nan for name in movers_of(moves)], dtype=float)
    first = int(np.searchsorted(analyses.positions.game, rows[0]))
    return _costs(moves, own, weights, level, rows[0], first)


def _judged_moves(games: Games, analyses: Analyses) -> npt.NDArray[np.bool_]:
    wanted = np.zeros(len(games.moves), dtype=np.bool_)
    known = analyses.answered
    wanted[games.offsets[:-1][analyses.positions.game[known]] + analyses.positions.ply[known]] = True
    return wanted


def _costs(
    moves: PlayedMoves, own: Analyses, weights: JointWeights, level: Array, first_game: int, first_position: int
) -> MoveCosts:
    assert moves.joint is not None
    assert moves.judged is not None
    assert moves.answer is not None
    keep = np.isfinite(level[moves.judged])
    at, rows, joint = moves.judged[keep], moves.answer[keep], moves.joint.select(keep)
    some = moves.choices.take(at)
    first, owner = some.offsets[:-1], joint.owner
    values = listed_values(some, own, rows, len(weights.depths))[0][:, -1]
    best_value = np.maximum.reduceat(np.nan_to_num(values, nan=-np.inf), first) if len(at) else np.zeros(0)
    best = first_at(np.nan_to_num(values, nan=-np.inf) == np.repeat(best_value, np.diff(some.offsets)), owner, len(at))
    chosen = first + joint.chosen
    best = np.where(values[chosen] == best_value, chosen, best)
    losses = joint.roots[:, -1].astype(float) ** 2
    asked = [level[at], *(np.full(len(at), elo) for elo in LEVELS)]
    logs = np.stack([log_alternatives(joint, weights, elo, elo_basis(elo)) for elo in asked], axis=1)
    p = np.exp(logs)
    return MoveCosts(
        game=moves.game[at] + first_game,
        ply=moves.ply[at],
        position=rows + first_position,
        black=moves.black[at],
        level=level[at],
        played=some.moves[chosen],
        best=some.moves[best],
        loss=losses[chosen],
        expected=np.bincount(owner, p[:, 0] * losses, minlength=len(at)).astype(float),
        value=best_value,
        played_value=values[chosen],
        p_played=p[chosen],
        p_best=p[best],
    )


def first_at(hit: npt.NDArray[np.bool_], owner: npt.NDArray[np.int64], n_owners: int) -> npt.NDArray[np.int64]:
    """Return the first place of each owner at which `hit` holds; every owner must have one.

    >>> first_at(np.array([False, True, True, True]), np.array([0, 0, 0, 1]), 2).tolist()
    [1, 3]
    """
    places = np.flatnonzero(hit)
    owners, at = np.unique(owner[places], return_index=True)
    assert len(owners) == n_owners
    return np.asarray(places[at])
