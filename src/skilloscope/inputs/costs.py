"""What each move cost, by the best values at hand, and how likely people of several levels play it.

In: games, the engine's answers or evaluations where there are any, and a level (Elo) for each player. Out: MoveCosts, a
row for each unforced move. There is one definition of a costly move, which reports, games and the web share:

    cost = (W(value before) − W(value after)) · (1 − p),   W(v) = 1 / (1 + exp(−0.368208·v)), v in pawns

W are the winning chances as Lichess defines them, p is the share of people of the player's level who play the move, by
the human model. What began decided (W below 5 % or above 95 %) costs nothing. Values are, in this order, those in the
games' comments (`evaluations`) and the engine's (`engine`). A cheap search only names candidates: what is shown as a
mistake or a find was confirmed by a deep search (inputs/deep.py), where there is an engine.

Where no value is known, `people` say it: how much more likely the move is 200 Elo below the player's level than 200
above, in log units. Opening moves are not compared in this way.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

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
from skilloscope.models.joint import HumanChoices, JointWeights, elo_basis, log_alternatives

LEVELS = (1200.0, 1600.0, 2000.0, 2400.0)  # the levels at which reports give the probability of a move
JUDGES = ("engine", "evaluations", "people")  # who says what a move cost
MOST = 10  # moves of each kind that a report shows; where fewer have values, people say what was costly
APART = 200.0  # Elo below and above the player's level between which people's choices are compared
DECIDED = 0.05  # winning chances below which, and above 1 less which, a position is decided
MARKS = {0.2: "??", 0.1: "?", 0.05: "?!"}
"""The least cost of each mark: a blunder, a mistake, an inaccuracy."""
FIND = 0.1  # worth of a find from which the move is marked "!"
CANDIDATE = 0.04  # cost by a cheap search from which a longer one is asked
_SLOPE = 0.368208  # of Lichess' logistic curve, per pawn
_GAMES = 64  # at a time


def winning_chances(pawns: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """W(v) = 1 / (1 + exp(−0.368208·v)): the winning chances of who is v pawns ahead, as Lichess defines them.

    >>> winning_chances([0.0, 1.0, -3.0]).round(3).tolist()
    [0.5, 0.591, 0.249]
    """
    return np.asarray(1.0 / (1.0 + np.exp(-_SLOPE * np.asarray(pawns, dtype=float))))


def accuracy(lost: npt.ArrayLike) -> Array:
    """A(ΔW) = 103.1668·exp(−4.354·ΔW) − 3.1669, cut to 0 … 100: the accuracy of moves, as Lichess defines it.

    The accuracy of a player in a game is the mean over the player's moves whose values are known.

    >>> accuracy([0.0, 0.1, 0.5]).round().tolist()
    [100.0, 64.0, 9.0]
    """
    found = 103.1668 * np.exp(-4.354 * np.maximum(np.asarray(lost, dtype=float), 0.0)) - 3.1669
    return np.asarray(np.clip(found, 0.0, 100.0))


def mark_of(cost: float) -> str:
    """Return the mark of a cost; none where the move cost little."""
    return next((mark for least, mark in MARKS.items() if cost >= least), "")


@dataclass(frozen=True)
class MoveJudgement:
    """What an unforced move cost, and what people of the level play instead; empty for a forced move."""

    people_play: str | None = None
    people_probability: float | None = None
    judge: str | None = None
    cost: float | None = None
    chances: float | None = None  # winning chances before the move, the mover's view
    chances_after: float | None = None
    mark: str = ""  # `?!`, `?`, `??` or `!`; nothing where the cost is unknown, small, or not confirmed
    checked: bool = False  # whether a deep search has looked at the move
    pawns_lost: float | None = None
    better: str | None = None
    better_uci: str | None = None
    line: str = ""  # the best move and what follows it
    reply: str | None = None  # the best answer to the move played
    found_by: Mapping[str, float] | None = None  # the share of people who find the best move, by level

    @property
    def verdict(self) -> str:
        """What a marked move cost, and the better one, in words."""
        if not self.mark or self.chances is None or self.chances_after is None:
            return ""
        better = f": better {self.line or self.better}" if self.better else ""
        return f"winning chances {100 * self.chances:.0f} % → {100 * self.chances_after:.0f} %{better}"


FORCED = MoveJudgement()


@dataclass(frozen=True, eq=False, repr=False)
class MoveCosts:
    """Unforced moves of games, as columns."""

    game: Ints  # the row of the game in `games.headers`
    ply: Ints
    black: Bools
    level: Array  # the Elo whose choices the move is compared with
    judge: Ints  # the place in JUDGES
    suspect: Array  # the larger damage by the list of moves and by the positions before and after; NaN where unknown
    ranked: Bools  # whether the move can be called costly or a find: not opening moves that only people judge, …
    played: npt.NDArray[np.uint16]
    best: npt.NDArray[np.uint16]
    """The engine's first move (of equally good ones the one played); 0 where no engine listed the moves."""
    loss: Array  # scaled, by the engine's list (an unlisted move counts as the worst listed); NaN without it
    expected: Array  # the mean scaled loss of people of the level in this position by the joint model; the same
    first: Array  # how likely people of the level play the first move of the list by the joint model; the same
    value: Array  # pawns, the mover's view, before the move: that of the best move
    played_value: Array  # the same after the move
    margin: Array  # winning chances between the best move and the next, where the best was played; else NaN
    checked: Bools  # whether a deep search has looked at the move
    trusted: Bools  # whether the values may be shown: False where a deep search was at hand and did not look here
    p_played: Array  # how likely people play the move by the human model: at the player's level, then at LEVELS
    p_best: Array  # how likely they find the best move; NaN where it is unknown
    popular: npt.NDArray[np.uint16]  # the move that people of the level play most
    p_popular: Array
    style: Array  # how much more likely the move is below the player's level than above
    line: npt.NDArray[np.object_]  # moves as UCI writes them: the best one and what follows; empty where unknown
    reply: npt.NDArray[np.uint16]  # the best answer to the move played; 0 where unknown

    def __len__(self) -> int:
        return len(self.game)

    def __repr__(self) -> str:
        return f"<MoveCosts: {len(self):,} moves>"

    @property
    def lost(self) -> Array:
        """The winning chances that each move gave away; NaN where no value is known."""
        return np.maximum(winning_chances(self.value) - winning_chances(self.played_value), 0.0)

    @property
    def open(self) -> Bools:
        """Whether the game was undecided before the move."""
        chances = winning_chances(self.value)
        return np.asarray((chances >= DECIDED) & (chances <= 1 - DECIDED))

    @property
    def cost(self) -> Array:
        """What each move cost: winning chances times the share of people who avoid the move; or by people."""
        return np.where(self.judge == 2, self.style, self.open * self.damage)

    @property
    def damage(self) -> Array:
        """The cost as if the game had been undecided: a cheap search may be wrong about that."""
        return np.asarray(self.lost * (1 - self.p_played[:, 0]))

    @property
    def hard(self) -> Array:
        """How good a find each move is: what the next best move loses, times the share of people who miss the best."""
        by_value = np.where(self.open & (self.played == self.best), self.margin, 0.0) * (1 - self.p_played[:, 0])
        return np.where(self.judge == 2, -self.style, by_value)

    def select(self, rows: npt.NDArray[np.integer] | npt.NDArray[np.bool_]) -> "MoveCosts":
        """Return some of the moves."""
        return MoveCosts(*(getattr(self, column.name)[rows] for column in fields(self)))

    def replaced(self, rows: Ints, new: "MoveCosts") -> "MoveCosts":
        """Return all moves with others in the place of some rows."""
        columns = [getattr(self, column.name).copy() for column in fields(self)]
        for column, other in zip(columns, fields(self), strict=True):
            column[rows] = getattr(new, other.name)
        return MoveCosts(*columns)

    def best_judge(self) -> str:
        """Return who values most of the moves, `people` only where fewer than MOST have a value."""
        seen = np.bincount(self.judge[self.ranked], minlength=len(JUDGES))
        return JUDGES[int(np.argmax(seen[:2]))] if seen[:2].sum() >= min(MOST, seen[2] + 1) else JUDGES[2]

    def judged(self) -> "MoveCosts":
        """Return the moves that can be ranked with each other: those with values, or those that people judge."""
        by_people = self.best_judge() == JUDGES[2]
        return self.select(self.ranked & ((self.judge == 2) == by_people))

    def candidates(self, most: int) -> Ints:
        """Return the rows that may be costly, then those that may be finds, at most so many of each."""
        chances = winning_chances(self.value)
        likely = self.ranked & (self.judge < 2) & (np.abs(chances - 0.5) <= 0.5 - DECIDED / 3)
        costly = np.where(likely, self.suspect, 0.0)
        finds = np.where(self.ranked & (self.judge < 2), np.nan_to_num(self.hard), 0.0)
        found = [np.argsort(-worth, kind="stable")[: np.sum(worth >= CANDIDATE)][:most] for worth in (costly, finds)]
        return np.unique(np.concatenate(found))

    def costliest(self, most: int = MOST) -> "MoveCosts":
        """Return the moves that cost most, the costliest first; the engine's best is never among them."""
        return self._first(self.cost, self.played != self.best, most)

    def best_finds(self, most: int = MOST) -> "MoveCosts":
        """Return the finds, the best first."""
        return self._first(self.hard, np.ones(len(self), dtype=bool), most)

    def _first(self, worth: Array, fits: Bools, most: int) -> "MoveCosts":
        worth = np.nan_to_num(worth)
        good = fits & self.ranked & self.trusted & (worth >= np.where(self.judge == 2, 1e-9, min(MARKS)))
        order = np.argsort(-worth, kind="stable")
        return self.select(order[good[order]][:most])

    def _mark(self, row: int) -> str:
        if self.played[row] == self.best[row]:
            return "!" if self.hard[row] >= FIND else ""
        return mark_of(float(self.cost[row]))

    def judgement(self, row: int, board: chess.Board) -> MoveJudgement:
        """Return the judgement of one move in words; `board` is the position before it."""
        best, cost, trusted = int(self.best[row]), float(self.cost[row]), bool(self.trusted[row])
        valued, known = self.judge[row] < 2, best != 0 and trusted
        better = move_of_code(best) if known and best != int(self.played[row]) else None
        found_by = {f"{level:.0f}": float(p) for level, p in zip(LEVELS, self.p_best[row, 1:], strict=True)}
        line, reply = board.copy(stack=False), board.copy(stack=False)
        reply.push(move_of_code(int(self.played[row])))
        answer = move_of_code(int(self.reply[row])) if self.reply[row] else None
        return MoveJudgement(
            people_play=board.san(move_of_code(int(self.popular[row]))),
            people_probability=float(self.p_popular[row]),
            judge=JUDGES[self.judge[row]],
            cost=cost,
            chances=float(winning_chances(self.value[row])) if valued else None,
            chances_after=float(winning_chances(self.played_value[row])) if valued else None,
            mark=self._mark(row) if valued and trusted else "",
            checked=bool(self.checked[row]),
            pawns_lost=max(float(self.value[row] - self.played_value[row]), 0.0) if valued else None,
            better=board.san(better) if better else None,
            better_uci=better.uci() if better else None,
            line=line.variation_san([chess.Move.from_uci(uci) for uci in self.line[row].split()]),
            reply=reply.san(answer) if answer else None,
            found_by=found_by if known else None,
        )


def move_costs(
    games: Games,
    levels: Mapping[str, float],
    *,
    values: Evaluations | None = None,
    analyses: Analyses | None = None,
    weights: JointWeights | None = None,
    opening_moves: int = 12,
    model: Human | None = None,
) -> MoveCosts:
    """Return what the unforced moves of the players with a level cost; the moves of others are left out.

    `values` are those of all positions; by default the ones in the games' comments.
    """
    playable, known = playable_games(games), values or evaluations_from_comments(games)
    parts = []
    for first in range(0, len(games), _GAMES):
        rows = first + np.flatnonzero(playable[first : first + _GAMES])
        some = games.select(rows)
        wanted = moves_of(some, frozenset(levels)) if levels else np.zeros(len(some.moves), dtype=bool)
        moves = played_moves(some, wanted=wanted, model=model)
        level = np.array([levels.get(name, np.nan) if name else np.nan for name in movers_of(moves)], dtype=float)
        own = None if analyses is None else analyses.of_games(rows)
        found = costs_of_moves(
            moves, level, known.of_games(rows), analyses=own, weights=weights, opening_moves=opening_moves
        )
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
    depth, lines = (None, 1) if analyses is None else (analyses.settings.get("depth"), analyses.settings.get("multipv"))
    if analyses is None or depth is None or (lines or 1) < 2:  # no list of moves
        return found
    judged = moves.with_engine(analyses, depth)
    return _by_engine(found, use, judged, analyses, weights, level)


def _by_values(moves: PlayedMoves, use: Ints, level: Array, evaluations: Evaluations, opening_moves: int) -> MoveCosts:
    """Return all moves judged by the values around them, or by people where these are unknown."""
    some, n = moves.choices.take(use), len(use)
    first, chosen = some.offsets[:-1], some.offsets[:-1] + moves.chosen[use]
    below, own, above = (
        some.own_log_probabilities(np.clip(level + step, *some.elo_range)) for step in (-APART, 0.0, APART)
    )
    owner = np.repeat(np.arange(n), np.diff(some.offsets))
    top = np.maximum.reduceat(own, first) if n else np.zeros(0)
    popular = first_at(own == top[owner], owner, n)
    sign = np.where(moves.black[use], -1.0, 1.0)
    place = evaluations.starts[moves.game[use]] + moves.ply[use]
    before, after = sign * evaluations.values[place], sign * evaluations.values[place + 1]
    noted = evaluations.noted[place] & evaluations.noted[place + 1]
    valued = np.isfinite(before) & np.isfinite(after)
    move, at = moves.games.moves, moves.games.offsets[:-1][moves.game[use]] + moves.ply[use]
    recaptured = (moves.ply[use] > 0) & (_target(move[at]) == _target(move[at - 1]))
    unknown = np.full(n, np.nan)
    found = MoveCosts(
        game=moves.game[use],
        ply=moves.ply[use],
        black=moves.black[use],
        level=level,
        judge=np.where(valued, np.where(noted, 1, 0), 2),
        suspect=unknown,
        ranked=valued | (moves.move_number[use] > opening_moves),
        played=some.moves[chosen],
        best=np.zeros(n, dtype=np.uint16),
        loss=unknown,
        expected=unknown,
        first=unknown,
        value=np.where(valued, before, np.nan),
        played_value=np.where(valued, after, np.nan),
        margin=np.where(recaptured, 0.0, np.nan),
        checked=np.zeros(n, dtype=bool),
        trusted=np.ones(n, dtype=bool),
        p_played=shares_at(some, chosen, level),
        p_best=np.full((n, 1 + len(LEVELS)), np.nan),
        popular=some.moves[popular],
        p_popular=np.exp(top),
        style=(below - above)[chosen],
        line=np.full(n, "", dtype=object),
        reply=np.zeros(n, dtype=np.uint16),
    )
    return replace(found, suspect=found.damage)


def _target(moves: npt.NDArray[np.uint16]) -> Ints:
    return (moves.astype(np.int64) >> 6) & 63


def shares_at(choices: HumanChoices, places: Ints, level: Array) -> Array:
    """Return how likely people choose the alternative at a place: at each decision's own level, then at LEVELS."""
    own, at_levels = choices.own_log_probabilities(level), choices.log_probabilities(np.array(LEVELS))
    return np.exp(np.column_stack([own[places], at_levels[places]]))


def _by_engine(
    known: MoveCosts, use: Ints, moves: PlayedMoves, answers: Analyses, weights: JointWeights | None, level: Array
) -> MoveCosts:
    """Return the same moves, judged by the engine where it listed the moves of the position and no comment has both."""
    assert moves.joint is not None
    assert moves.judged is not None
    assert moves.answer is not None
    keep = np.isfinite(level[moves.judged]) & moves.free[moves.judged]
    at, rows, joint = moves.judged[keep], moves.answer[keep], moves.joint.select(keep)
    some = moves.choices.take(at)
    first, owner, n = some.offsets[:-1], joint.owner, len(at)
    values = np.nan_to_num(listed_values(some, answers, rows, joint.roots.shape[1])[0][:, -1], nan=-np.inf)
    best_value = np.maximum.reduceat(values, first) if n else np.zeros(0)
    best = first_at(values == np.repeat(best_value, np.diff(some.offsets)), owner, n)
    chosen = first + joint.chosen
    best = np.where(values[chosen] == best_value, chosen, best)
    others = values.copy()
    others[best] = -np.inf
    second = np.maximum.reduceat(others, first) if n else np.zeros(0)
    losses = joint.roots[:, -1].astype(float) ** 2
    p = np.full(len(losses), np.nan)  # by the joint model, which was fitted to some searches only
    if weights is not None:
        p = np.exp(log_alternatives(joint, weights, level[at], elo_basis(level[at])))
    place = np.searchsorted(use, at)
    by_list = np.where(np.isfinite(values[chosen]), values[chosen], unlisted_value(best_value, losses[chosen]))
    old = known.select(place)
    keep_noted = old.judge == 1
    new = replace(
        old,
        judge=np.where(keep_noted, 1, 0),
        ranked=np.ones(n, dtype=bool),
        best=some.moves[best],
        loss=losses[chosen],
        expected=np.bincount(owner, p * losses, minlength=n).astype(float),
        first=p[best],
        value=np.where(keep_noted, old.value, best_value),
        played_value=np.where(keep_noted, old.played_value, by_list),
        margin=np.fmin(old.margin, winning_chances(best_value) - winning_chances(second)),
        p_best=shares_at(some, best, level[at]),
    )
    new = replace(new, suspect=np.fmax(old.suspect, new.damage))
    return known.replaced(place, new)


def unlisted_value(best: Array, loss: Array) -> Array:
    """Return the value that a scaled loss leaves of the best one: δ = ∫ dz/(1 + |z|), inverted."""
    top = np.sign(best) * np.log1p(np.abs(best)) - loss
    return np.asarray(np.sign(top) * np.expm1(np.abs(top)))


def first_at(hit: Bools, owner: Ints, n_owners: int) -> Ints:
    """Return the first place of each owner at which `hit` holds; every owner must have one.

    >>> first_at(np.array([False, True, True, True]), np.array([0, 0, 0, 1]), 2).tolist()
    [1, 3]
    """
    places = np.flatnonzero(hit)
    owners, at = np.unique(owner[places], return_index=True)
    assert len(owners) == n_owners
    return np.asarray(places[at])
