"""Evidence about Elo from every move of games: the human model for all of them, the engine where it was asked.

In: games, and analyses of some of their positions. Out: curves on ELO for each group (a player, a player's endgames …)
and game, by source: `opening` (the first moves, what people play), `human` (later moves, what people play) and `joint`
(later moves with the engine's answer); sources.evaluated adds `evaluated`. Only the mover's own choices count, and
every legal move is an alternative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.facts import PIECE_VALUES
from skilloscope.chess.human.encoding import Boards
from skilloscope.chess.human.joint import first_choices, joint_choices
from skilloscope.chess.human.kernels import add_choice_curves
from skilloscope.chess.human.model import ELO_RANGE, Human, HumanChoices, elo_basis, human
from skilloscope.chess.pgn.games import Games
from skilloscope.inference import Grid
from skilloscope.models.joint import JointChoices, JointWeights, joint_curves
from skilloscope.ratings.elo_axis.effects import ELO

SOURCES = ("opening", "human", "joint", "evaluated")
_GRID = Grid(*ELO_RANGE, 48)
_BASIS = elo_basis(_GRID.nodes)
_PIECES = np.array([0, *(PIECE_VALUES.get(piece, 0) for piece in "pnbrqk" * 2)], dtype=np.int64)

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class PlayedMoves:
    """Moves of games, with all legal moves beside each and what the engine says of some of them."""

    games: Games
    game: npt.NDArray[np.int64]
    """The row of the game in `games.headers`."""
    ply: npt.NDArray[np.int64]
    """How many moves of the game were made before, both sides counted."""
    black: npt.NDArray[np.bool_]
    move_number: npt.NDArray[np.int64]
    """The number of the move as it is written, counted from 1."""
    pieces: npt.NDArray[np.int64]
    """The value of all pieces but kings and pawns, both sides together, before the move."""
    choices: HumanChoices
    chosen: npt.NDArray[np.int64]
    joint: JointChoices | None = None
    judged: npt.NDArray[np.int64] | None = None
    """The moves that `joint` holds, by their place here."""
    preferred: npt.NDArray[np.int64] | None = None
    """Of each move that `joint` holds the place of the engine's first choice among the legal moves."""
    answer: npt.NDArray[np.int64] | None = None
    """The place of their answers in the analyses."""

    def __len__(self) -> int:
        return len(self.game)

    def __repr__(self) -> str:
        judged = 0 if self.judged is None else len(self.judged)
        return f"<PlayedMoves: {len(self):,} moves of {len(self.games):,} games, {judged:,} judged by an engine>"

    @property
    def free(self) -> npt.NDArray[np.bool_]:
        """Whether there was a choice at all."""
        return np.diff(self.choices.offsets) > 1

    def with_engine(self, analyses: Analyses, depths: int) -> PlayedMoves:
        """Return the moves with the engine's answers joined by game and ply; what has no answer goes without."""
        place = {key: at for at, key in enumerate(zip(self.game.tolist(), self.ply.tolist(), strict=True))}
        keys = zip(analyses.positions.game.tolist(), analyses.positions.ply.tolist(), strict=True)
        pairs = [(place[key], row) for row, key in enumerate(keys) if key in place and analyses.answered[row]]
        at, rows = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        some = self.choices.take(at)
        played = some.moves[some.offsets[:-1] + self.chosen[at]]
        joint, first = joint_choices(some, played, analyses, rows, depths), first_choices(some, analyses, rows, depths)
        return replace(self, joint=joint, judged=at, preferred=first, answer=rows)

    def sources(self, opening_moves: int) -> npt.NDArray[np.int64]:
        """Return which of SOURCES each move belongs to; −1 where there was no choice."""
        found = np.where(self.move_number <= opening_moves, 0, 1)
        if self.judged is not None:
            found[self.judged[found[self.judged] == 1]] = 2
        return np.where(self.free, found, -1)


@dataclass(frozen=True, eq=False, repr=False)
class GameCurves:
    """Curves on ELO of the games of each group, by source."""

    groups: Sequence[Any]
    group: npt.NDArray[np.int64]
    """The group of each row, by its place in `groups`."""
    game: npt.NDArray[np.int64]
    source: npt.NDArray[np.int64]
    curves: Array
    moves: npt.NDArray[np.int64]

    def of(self, group: int) -> dict[str, Array]:
        """Return the curves of one group by source, a row for each game."""
        own = self.group == group
        return {
            name: self.curves[own & (self.source == place)]
            for place, name in enumerate(SOURCES)
            if (own & (self.source == place)).any()
        }


def played_moves(
    games: Games,
    *,
    wanted: npt.NDArray[np.bool_] | None = None,
    model: Human | None = None,
    progress: Callable[[int], None] | None = None,
) -> PlayedMoves:
    """Return every move of the games (or those wanted, a flag for each) with what people play there."""
    fens = [fen or "" for fen in games.headers["start_fen"].to_pylist()]
    boards = Boards.from_moves(games.moves, games.offsets, fens)
    game = np.repeat(np.arange(len(games)), games.counts)
    ply = np.arange(len(game)) - games.offsets[:-1][game]
    number = boards.ply.astype(np.int64) // 2 + 1
    use = np.arange(len(game)) if wanted is None else np.flatnonzero(wanted)
    choices = (model or human()).choices(boards[use], progress=progress)
    chosen = choices.index_of(games.moves[use])
    pieces = _PIECES[boards.board[use]].sum(axis=1)
    return PlayedMoves(
        games=games,
        game=game[use],
        ply=ply[use],
        black=boards.black[use],
        move_number=number[use],
        pieces=pieces,
        choices=choices,
        chosen=chosen,
    )


def game_curves(
    moves: PlayedMoves, labels: Sequence[Any], *, weights: JointWeights | None = None, opening_moves: int = 12
) -> GameCurves:
    """Return the curves of each label, game and source; a move whose label is None counts for nobody."""
    source = moves.sources(opening_moves)
    names = {name: at for at, name in enumerate(dict.fromkeys(label for label in labels if label is not None))}
    group = np.array([-1 if label is None else names[label] for label in labels], dtype=np.int64)
    use = (source >= 0) & (group >= 0)
    keys = np.stack([group, moves.game, source], axis=1)
    rows, of = np.unique(keys[use], axis=0, return_inverse=True)
    row = np.full(len(moves), -1, dtype=np.int64)
    row[use] = of.reshape(-1)
    curves = np.zeros((len(rows), _GRID.size))
    alone = use & (source != 2)
    some = moves.choices.take(np.flatnonzero(alone))
    add_choice_curves(some.coefficients, some.offsets, moves.chosen[alone], row[alone], _BASIS, curves)
    if moves.joint is not None and moves.judged is not None and weights is not None:
        inside = use[moves.judged] & (source[moves.judged] == 2)
        owner = row[moves.judged][inside]
        curves += joint_curves(moves.joint.select(inside), weights, owner, len(rows), _GRID.nodes, _BASIS)
    fine = _GRID.interpolate(curves.T, ELO) if len(rows) else np.zeros((0, len(ELO)))
    counts = np.bincount(row[use], minlength=len(rows))
    return GameCurves(list(names), rows[:, 0], rows[:, 1], rows[:, 2], fine, counts)


def single_move_curves(choices: HumanChoices, chosen: npt.NDArray[np.int64]) -> Array:
    """Return what each single move says along ELO, by what people play: a row for each."""
    curves = np.zeros((len(chosen), _GRID.size))
    rows = np.arange(len(chosen), dtype=np.int64)
    add_choice_curves(choices.coefficients, choices.offsets, chosen, rows, _BASIS, curves)
    return np.asarray(_GRID.interpolate(curves.T, ELO) if len(rows) else np.zeros((0, len(ELO))))
