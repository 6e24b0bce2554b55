"""What each move cost, by the best judge at hand, and how likely people of several levels play it.

In: games, the engine's answers or evaluations where there are any, and a level (Elo) for each player. Out: MoveCosts, a
row for each unforced move. There is one definition of a costly move, which reports, games and the web share:

- `engine`: the loss of the move less the mean loss of people of the player's level in the same position, by the joint
  model. A move that is hard to find at that level costs little. Needs an answer that lists several moves.
- `evaluations`: the loss alone, where only the values before and after the move are known ([%eval] comments, or an
  engine that lists one move).
- `people`: where no value is known, how much more likely the move is 200 Elo below the player's level than 200 above,
  in log units. Opening moves are not compared in this way.

Losses are scaled (see models/joint.py): a pawn counts less the more decided the game is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import chess
import numpy as np
import numpy.typing as npt

from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.analysis.evaluations import Evaluations, evaluations_from_comments
from skilloscope.chess.human.model import Human
from skilloscope.chess.human.played import PlayedMoves, listed_values, movers_of, played_moves
from skilloscope.chess.moves import move_of_code
from skilloscope.chess.pgn.games import Games
from skilloscope.core.columns import Array, Bools, Ints
from skilloscope.inputs.pipeline import moves_of, playable_games
from skilloscope.models.joint import JointWeights, elo_basis, log_alternatives, scaled_loss

LEVELS = (1200.0, 1600.0, 2000.0, 2400.0)  # the levels at which reports give the probability of a move
JUDGES = ("engine", "evaluations", "people")  # who says what a move cost, the best judge first
MOST = 10  # moves of each kind that a report shows; a judge who saw fewer gives way to one who saw more
APART = 200.0  # Elo below and above the player's level between which people's choices are compared
_GAMES = 64  # at a time


@dataclass(frozen=True)
class MoveJudgement:
    """What an unforced move cost, and what people of the level play instead; empty for a forced move."""

    people_play: str | None = None
    people_probability: float | None = None
    judge: str | None = None
    cost: float | None = None
    loss: float | None = None  # scaled
    pawns_lost: float | None = None
    listed: bool = True  # False where the engine does not list the move, which then lost at least so much
    better: str | None = None
    better_uci: str | None = None
    found_by: Mapping[str, float] | None = None  # the share of people who find the best move, by level


FORCED = MoveJudgement()


@dataclass(frozen=True, eq=False, repr=False)
class MoveCosts:
    """Unforced moves of games, as columns."""

    game: Ints  # the row of the game in `games.headers`
    ply: Ints
    black: Bools
    level: Array  # the Elo whose choices the move is compared with
    judge: Ints  # the place in JUDGES
    cost: Array  # what the move cost by its judge; below 0 where it is better than what the level plays
    ranked: Bools  # whether the move can be called costly or a find: all but opening moves that only people judge
    played: npt.NDArray[np.uint16]
    best: npt.NDArray[np.uint16]
    """The engine's first move (of equally good ones the one played); 0 where no engine listed the moves."""
    loss: Array  # scaled; a move that the engine does not list counts as the worst listed. NaN where no value is known
    expected: Array  # the mean scaled loss of people of the level in this position; NaN without an engine
    value: Array  # pawns, the mover's view, before the move: that of the best move
    played_value: Array  # the same after the move; NaN where the engine does not list it
    p_played: Array  # how likely people play the move: at the player's level, then at LEVELS
    p_best: Array  # how likely they find the best move; NaN where it is unknown
    probability: Array  # how likely people of the level play the move by the human model alone
    popular: npt.NDArray[np.uint16]  # the move that people of the level play most
    p_popular: Array

    def __len__(self) -> int:
        return len(self.game)

    def __repr__(self) -> str:
        return f"<MoveCosts: {len(self):,} moves>"

    def select(self, rows: npt.NDArray[np.integer] | npt.NDArray[np.bool_]) -> MoveCosts:
        """Return some of the moves."""
        return MoveCosts(*(getattr(self, column.name)[rows] for column in fields(self)))

    def judged_by(self, judge: str) -> MoveCosts:
        """Return the moves that one judge has rated and that can be ranked."""
        return self.select(self.ranked & (self.judge == JUDGES.index(judge)))

    def best_judge(self) -> str:
        """Return the best judge who saw at least MOST moves, or else the one who saw most."""
        seen = np.bincount(self.judge[self.ranked], minlength=len(JUDGES))
        return JUDGES[int(np.argmax(seen >= MOST)) if (seen >= MOST).any() else int(np.argmax(seen))]

    def costliest(self, most: int = MOST) -> MoveCosts:
        """Return the moves that cost most by one judge, the costliest first; the engine's best is never among them."""
        order = np.argsort(-self.cost, kind="stable")
        return self.select(order[((self.cost > 0) & (self.played != self.best))[order]][:most])

    def best_finds(self, most: int = MOST) -> MoveCosts:
        """Return the finds by one judge, the best first.

        By the engine these are its best moves in positions in which people of the level lose most on average; by people
        the moves that stronger players play more often. Evaluations alone do not say what was hard to find.
        """
        found = np.where(self.judge == 0, self.played == self.best, (self.judge == 2) & (self.cost < 0))
        order = np.argsort(self.cost, kind="stable")
        return self.select(order[found[order]][:most])

    def judgement(self, row: int, board: chess.Board) -> MoveJudgement:
        """Return the judgement of one move in words; `board` is the position before it."""
        judge, best = JUDGES[self.judge[row]], int(self.best[row])
        better = move_of_code(best) if best not in (0, int(self.played[row])) else None
        found_by = {f"{level:.0f}": float(p) for level, p in zip(LEVELS, self.p_best[row, 1:], strict=True)}
        return MoveJudgement(
            people_play=board.san(move_of_code(int(self.popular[row]))),
            people_probability=float(self.p_popular[row]),
            judge=judge,
            cost=float(self.cost[row]),
            loss=None if np.isnan(self.loss[row]) else float(self.loss[row]),
            pawns_lost=self.pawns_lost(row),
            listed=judge != "engine" or bool(np.isfinite(self.played_value[row])),
            better=board.san(better) if better else None,
            better_uci=better.uci() if better else None,
            found_by=found_by if judge == "engine" else None,
        )

    def pawns_lost(self, row: int) -> float | None:
        """Return the pawns that a move gave away, at least where the engine does not list it; None if unknown."""
        value, after = float(self.value[row]), float(self.played_value[row])
        if np.isnan(value):
            return None
        if np.isfinite(after):
            return max(value - after, 0.0)
        top = np.sign(value) * np.log1p(abs(value)) - float(self.loss[row])  # δ = ∫ dz/(1 + |z|), inverted
        return float(value - np.sign(top) * np.expm1(abs(top)))


def move_costs(
    games: Games,
    levels: Mapping[str, float],
    *,
    analyses: Analyses | None = None,
    weights: JointWeights | None = None,
    opening_moves: int = 12,
    model: Human | None = None,
) -> MoveCosts:
    """Return what the unforced moves of the players with a level cost; the moves of others are left out."""
    playable = playable_games(games)
    parts = []
    for first in range(0, len(games), _GAMES):
        rows = first + np.flatnonzero(playable[first : first + _GAMES])
        some = games.select(rows)
        wanted = moves_of(some, frozenset(levels)) if levels else np.zeros(len(some.moves), dtype=bool)
        moves = played_moves(some, wanted=wanted, model=model)
        level = np.array([levels.get(name, np.nan) if name else np.nan for name in movers_of(moves)], dtype=float)
        own = None if analyses is None else analyses.of_games(rows)
        values = evaluations_from_comments(some)
        found = costs_of_moves(moves, level, values, analyses=own, weights=weights, opening_moves=opening_moves)
        parts.append((found, rows))
    columns = [np.concatenate([getattr(part, one.name) for part, _ in parts]) for one in fields(MoveCosts)[1:]]
    return MoveCosts(np.concatenate([rows[part.game] for part, rows in parts]), *columns)


def costs_of_moves(
    moves: PlayedMoves,
    level: Array,
    evaluations: Evaluations,
    *,
    analyses: Analyses | None = None,
    weights: JointWeights | None = None,
    opening_moves: int = 12,
) -> MoveCosts:
    """Return what moves cost that have been read already; `level` is the Elo of each mover, NaN to leave it out."""
    use = np.flatnonzero(moves.free & np.isfinite(level))
    found = _by_values(moves, use, level[use], evaluations, opening_moves)
    if analyses is None or weights is None:
        return found
    judged = moves.with_engine(analyses, len(weights.depths))
    return _by_engine(found, use, judged, analyses, weights, level)


def _by_values(moves: PlayedMoves, use: Ints, level: Array, evaluations: Evaluations, opening_moves: int) -> MoveCosts:
    """Return all moves judged by the values around them, or by people where these are unknown."""
    some = moves.choices.take(use)
    first, chosen = some.offsets[:-1], some.offsets[:-1] + moves.chosen[use]
    below, own, above = (
        some.own_log_probabilities(np.clip(level + step, *some.elo_range)) for step in (-APART, 0.0, APART)
    )
    owner = np.repeat(np.arange(len(use)), np.diff(some.offsets))
    top = np.maximum.reduceat(own, first) if len(use) else np.zeros(0)
    popular = first_at(own == top[owner], owner, len(use))
    at_levels = np.exp(some.log_probabilities(np.array(LEVELS))[chosen])
    sign = np.where(moves.black[use], -1.0, 1.0)
    place = evaluations.starts[moves.game[use]] + moves.ply[use]
    before, after = sign * evaluations.values[place], sign * evaluations.values[place + 1]
    valued = np.isfinite(before) & np.isfinite(after)
    loss = np.full(len(use), np.nan)
    loss[valued] = scaled_loss(before[valued], after[valued])
    unknown = np.full(len(use), np.nan)
    return MoveCosts(
        game=moves.game[use],
        ply=moves.ply[use],
        black=moves.black[use],
        level=level,
        judge=np.where(valued, 1, 2),
        cost=np.where(valued, loss, (below - above)[chosen]),
        ranked=valued | (moves.move_number[use] > opening_moves),
        played=some.moves[chosen],
        best=np.zeros(len(use), dtype=np.uint16),
        loss=loss,
        expected=unknown,
        value=np.where(valued, before, np.nan),
        played_value=np.where(valued, after, np.nan),
        p_played=np.column_stack([np.exp(own[chosen]), at_levels]),
        p_best=np.full((len(use), 1 + len(LEVELS)), np.nan),
        probability=np.exp(own[chosen]),
        popular=some.moves[popular],
        p_popular=np.exp(top),
    )


def _by_engine(
    known: MoveCosts, use: Ints, moves: PlayedMoves, answers: Analyses, weights: JointWeights, level: Array
) -> MoveCosts:
    """Return the same moves, judged by the engine where it listed the moves of the position."""
    assert moves.joint is not None
    assert moves.judged is not None
    assert moves.answer is not None
    keep = np.isfinite(level[moves.judged]) & moves.free[moves.judged]
    at, rows, joint = moves.judged[keep], moves.answer[keep], moves.joint.select(keep)
    some = moves.choices.take(at)
    first, owner = some.offsets[:-1], joint.owner
    values = listed_values(some, answers, rows, len(weights.depths))[0][:, -1]
    best_value = np.maximum.reduceat(np.nan_to_num(values, nan=-np.inf), first) if len(at) else np.zeros(0)
    best = first_at(np.nan_to_num(values, nan=-np.inf) == np.repeat(best_value, np.diff(some.offsets)), owner, len(at))
    chosen = first + joint.chosen
    best = np.where(values[chosen] == best_value, chosen, best)
    losses = joint.roots[:, -1].astype(float) ** 2
    asked = [level[at], *(np.full(len(at), elo) for elo in LEVELS)]
    p = np.exp(np.stack([log_alternatives(joint, weights, elo, elo_basis(elo)) for elo in asked], axis=1))
    expected = np.bincount(owner, p[:, 0] * losses, minlength=len(at)).astype(float)
    columns: dict[str, npt.NDArray[np.generic]] = {
        "judge": np.zeros(len(at), dtype=np.int64),
        "cost": losses[chosen] - expected,
        "ranked": np.ones(len(at), dtype=bool),
        "best": some.moves[best],
        "loss": losses[chosen],
        "expected": expected,
        "value": best_value,
        "played_value": values[chosen],
        "p_played": p[chosen],
        "p_best": p[best],
    }
    place = np.searchsorted(use, at)
    merged = {column.name: getattr(known, column.name).copy() for column in fields(known)}
    for name, column in columns.items():
        merged[name][place] = column
    return MoveCosts(**merged)


def first_at(hit: Bools, owner: Ints, n_owners: int) -> Ints:
    """Return the first place of each owner at which `hit` holds; every owner must have one.

    >>> first_at(np.array([False, True, True, True]), np.array([0, 0, 0, 1]), 2).tolist()
    [1, 3]
    """
    places = np.flatnonzero(hit)
    owners, at = np.unique(owner[places], return_index=True)
    assert len(owners) == n_owners
    return np.asarray(places[at])
