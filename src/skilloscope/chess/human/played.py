"""Every move of games with all legal ones: what people play there, the engine's answer, labels, and rows of evidence.

The sources of evidence are `opening` (the first moves, what people play), `human` (later moves, what people play),
`joint` (later moves with the engine's answer), `evaluated` (what moves lost, by evaluations in the games' comments) and
`clocks` (how long moves took, by the clocks there).
Only the mover's own choices count, and every legal move is an alternative.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import ne
from typing import Any

import numpy as np
import numpy.typing as npt

from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.analysis.evaluations import Evaluations
from skilloscope.chess.boards import Boards
from skilloscope.chess.human.model import Human, human
from skilloscope.chess.moves import MATE_CAP, value_pawns
from skilloscope.chess.pgn.facts import (
    CLOCKS,
    PHASES,
    PIECE_VALUES,
    SPENT,
    game_facts,
    phase_of,
    time_classes,
)
from skilloscope.chess.pgn.games import Games
from skilloscope.core.columns import Array, Bools, Ints, ragged_take
from skilloscope.core.errors import InputError, OptionError
from skilloscope.evidence import EvidenceTable
from skilloscope.evidence.axis import ELO_GRID
from skilloscope.evidence.sources.human import BASIS, NODES, human_curves, on_elo
from skilloscope.evidence.sources.losses import expected_of_people, observed_curves
from skilloscope.models.bins import BinWeights, loss_features, paces, time_features
from skilloscope.models.joint import HumanChoices, JointChoices, JointWeights, joint_curves, scaled_loss

SOURCES = ("opening", "human", "joint", "evaluated", "clocks")
_PIECES = np.array([0, *(PIECE_VALUES.get(piece, 0) for piece in "pnbrqk" * 2)], dtype=np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class PlayedMoves:
    """Moves of games, with all legal moves of each and the engine's values of some of them."""

    games: Games
    game: Ints  # the row of the game in `games.headers`
    ply: Ints  # how many moves of the game were made before, both sides counted
    black: Bools
    move_number: Ints  # the number of the move as it is written, counted from 1
    pieces: Ints  # the value of all pieces but kings and pawns, both sides together, before the move
    choices: HumanChoices
    chosen: Ints
    joint: JointChoices | None = None
    judged: Ints | None = None  # the moves that `joint` holds, by their place here
    preferred: Ints | None = None
    """Of each move that `joint` holds the place of the engine's first choice among the legal moves."""
    answer: Ints | None = None  # the place of their answers in the analyses

    def __len__(self) -> int:
        return len(self.game)

    def __repr__(self) -> str:
        judged = 0 if self.judged is None else len(self.judged)
        return f"<PlayedMoves: {len(self):,} moves of {len(self.games):,} games, {judged:,} judged by an engine>"

    @property
    def free(self) -> Bools:
        """Whether there was a choice at all."""
        return np.diff(self.choices.offsets) > 1

    def with_engine(self, analyses: Analyses, depths: int) -> "PlayedMoves":
        """Return the moves with the engine's answers joined by game and ply; what has no answer goes without."""
        place = dict(zip(zip(self.game.tolist(), self.ply.tolist(), strict=True), range(len(self.game)), strict=True))
        keys = zip(analyses.positions.game.tolist(), analyses.positions.ply.tolist(), strict=True)
        pairs = [(place[key], row) for row, key in enumerate(keys) if key in place and analyses.answered[row]]
        at, rows = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        some = self.choices.take(at)
        played = some.moves[some.offsets[:-1] + self.chosen[at]]
        number, pieces = self.move_number[at], self.pieces[at]
        joint = joint_choices(some, played, analyses, rows, depths, number=number, pieces=pieces)
        first = first_choices(some, analyses, rows, depths)
        return replace(self, joint=joint, judged=at, preferred=first, answer=rows)

    def sources(self, opening_moves: int) -> Ints:
        """Return which of SOURCES each move belongs to; −1 where there was no choice."""
        found = np.where(self.move_number <= opening_moves, 0, 1)
        if self.judged is not None:
            found[self.judged[found[self.judged] == 1]] = 2
        return np.where(np.diff(self.choices.offsets) > 1, found, -1)


def played_moves(
    games: Games,
    *,
    wanted: Bools | None = None,
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


_CODES = 1 << 16


def joint_choices(
    choices: HumanChoices,
    played: npt.NDArray[np.uint16],
    analyses: Analyses,
    rows: Ints,
    depths: int,
    *,
    number: npt.ArrayLike,
    pieces: npt.ArrayLike,
) -> JointChoices:
    """Return the choices with the losses of depths 1 to `depths`; rows[i] is the place of position i in the analyses.

    Every row must have an answer, and the move played must be legal. Each position has the number of the move and the
    value of all pieces.
    """
    values, listed = listed_values(choices, analyses, rows, depths)
    first, counts = choices.offsets[:-1], np.diff(choices.offsets)
    known = ~np.isnan(values)
    best = np.maximum.reduceat(np.where(known, values, -np.inf), first)
    worst = np.minimum.reduceat(np.where(known, values, np.inf), first)
    filled = np.where(known, values, np.repeat(worst, counts, axis=0))
    roots = np.sqrt(np.maximum(scaled_loss(np.repeat(best, counts, axis=0), filled), 0.0)).astype(np.float32)
    context = np.column_stack([number, pieces, best[:, -1]])
    return JointChoices(choices.offsets, choices.index_of(played), choices.coefficients, roots, listed, context)


def first_choices(choices: HumanChoices, analyses: Analyses, rows: Ints, depth: int) -> Ints:
    """Return the place of the engine's first choice at that depth among the legal moves of each position.

    A search that ended early, with a mate, prefers at every later depth what it preferred last.
    """
    offsets, entries = ragged_take(analyses.offsets, analyses.row[rows])
    lines, owner = analyses.lines[entries], np.repeat(np.arange(len(rows)), np.diff(offsets))
    first = np.flatnonzero((lines["rank"] == 1) & (lines["depth"] <= depth))
    order = np.lexsort((lines["depth"][first], owner[first]))
    first = first[order]
    last = first[np.append(np.diff(owner[first]) > 0, True)] if len(first) else first
    return _entries(choices, owner[last], lines["move"][last]) - choices.offsets[:-1]


def listed_values(choices: HumanChoices, analyses: Analyses, rows: Ints, depths: int) -> tuple[Array, Bools]:
    """Return the value of each legal move at each depth (NaN where not listed), and whether the last list has it."""
    answer = analyses.row[rows]
    offsets, entries = ragged_take(analyses.offsets, answer)
    lines, owner = analyses.lines[entries], np.repeat(np.arange(len(rows)), np.diff(offsets))
    keep = lines["depth"] <= depths
    lines, owner = lines[keep], owner[keep]
    values = np.full((len(choices.moves), depths), np.nan)
    at = _entries(choices, owner, lines["move"])
    values[at, lines["depth"].astype(np.int64) - 1] = value_pawns(lines["mate"], lines["score"], MATE_CAP)
    for depth in range(1, depths):  # a search that ended early, with a mate, keeps its last values
        absent = np.logical_and.reduceat(np.isnan(values[:, depth]), choices.offsets[:-1])
        gap = np.repeat(absent, np.diff(choices.offsets))
        values[gap, depth] = values[gap, depth - 1]
    return values, ~np.isnan(values[:, -1])


def _entries(choices: HumanChoices, owner: Ints, moves: npt.NDArray[np.uint16]) -> Ints:
    """Return the place of each move among the choices."""
    own = np.repeat(np.arange(len(choices)), np.diff(choices.offsets)) * _CODES + choices.moves
    order = np.argsort(own)
    found = order[np.searchsorted(own, owner * _CODES + moves, sorter=order)]
    return np.asarray(found)


HEADER_COLUMNS = (
    "player", "event", "year", "opponent", "mover", "result", "game", "date", "site", "round", "time_control",
    "termination", "file", "elo", "opponent_elo",
)  # fmt: skip
_CLASS = 200  # Elo points of a class of opponents

ORDERS = {
    "phase": ("opening", *PHASES[1:]),
    "colour": ("white", "black"),
    "time-spent": tuple(SPENT),
    "time-left": tuple(CLOCKS),
}
"""The labels of some columns in the order in which they are shown; the others come as they sort."""

Labels = list[Any]


def move_labels(moves: PlayedMoves, by: Sequence[str], opening_moves: int) -> Labels:
    """Return the label of each move, a tuple if it is by several columns; None where it is not known."""
    for name in by:
        if name not in GROUPINGS:
            raise OptionError(f"no column {name!r}", hint=f"the columns: {', '.join(GROUPINGS)}")
    columns = [GROUPINGS[name](moves, name, opening_moves) for name in by]
    return columns[0] if len(columns) == 1 else [None if None in row else row for row in zip(*columns, strict=True)]


def unused_moves(
    moves: PlayedMoves, labels: Labels, people: Labels, by: str, analyses: Analyses | None
) -> tuple[list[str], Labels]:
    """Return why each move counts for nobody, empty where it counts, and the labels without those of such moves."""
    failed: set[tuple[int, int]] = set()
    if analyses is not None and analyses.given_up is not None:
        where = analyses.positions.game, analyses.positions.ply
        failed = set(zip(*(column[analyses.given_up].tolist() for column in where), strict=True))
    reasons, counted, free = list[str](), Labels(), moves.free.tolist()
    for at, key in enumerate(zip(moves.game.tolist(), moves.ply.tolist(), strict=True)):
        if not free[at]:
            reason = "forced"
        elif people[at] is None:
            reason = "unknown player"
        else:
            reason = f"no {by}" if labels[at] is None else "engine failed" if key in failed else ""
        reasons.append(reason)
        counted.append(None if reason else labels[at])
    return reasons, counted


def movers_of(moves: PlayedMoves) -> Labels:
    """Return who made each move, None where the games do not name him."""
    return _header(moves, "player", 0)


def _header(moves: PlayedMoves, by: str, _: int) -> Labels:
    found: Labels = moves.games.by_mover(moves.game, moves.black.astype(np.int8))[by].to_pylist()
    return found


def _phase(moves: PlayedMoves, by: str, opening_moves: int) -> Labels:
    """The first moves are the opening; afterwards what is left on the board decides."""
    opening = (moves.move_number <= opening_moves).tolist()
    later = [PHASES[2] if phase_of(value) == PHASES[2] else PHASES[1] for value in moves.pieces.tolist()]
    return ["opening" if first else phase for first, phase in zip(opening, later, strict=True)]


def _fact(moves: PlayedMoves, by: str, _: int) -> Labels:
    """The opening, by its group of codes or its family, or the class of the time control."""
    known = game_facts(moves.games)[by]
    return [known[game] for game in moves.game.tolist()]


def _opponent_rating(moves: PlayedMoves, by: str, _: int) -> Labels:
    ratings = _header(moves, "opponent_elo", 0)
    floors = [None if elo is None else int(elo) // _CLASS * _CLASS for elo in ratings]
    return [None if floor is None else f"{floor} to {floor + _CLASS - 1}" for floor in floors]


def _time_spent(moves: PlayedMoves, by: str, _: int) -> Labels:
    """The time that the move took: the clock after one's last move less the clock after this, with the increment."""
    return list(time_classes(clocks_of(moves.games, moves.game, moves.ply)[0], SPENT))


def clocks_of(games: Games, game: Ints, ply: Ints) -> tuple[Array, Array, Array, Array, Array]:
    """Return seconds: spent, left to the mover and to the opponent before, base, increment; NaN where not known."""
    clocks, at = games.clocks.astype(float), games.offsets[:-1][game] + ply
    left, opponent = (np.where(ply >= 2, clocks[np.maximum(at - back, 0)], np.nan) for back in (2, 1))
    steps = np.array([time_control_of(text) for text in games.headers["time_control"].to_pylist()], dtype=float)
    base, increment = steps.reshape(-1, 2)[game].T
    return left - clocks[at] + increment, left, opponent, base, increment


def _places(moves: PlayedMoves) -> Ints:
    """Return the rows of the moves in the columns of their games."""
    return np.asarray(moves.games.offsets[:-1][moves.game] + moves.ply)


def time_control_of(text: str | None) -> tuple[float, float]:
    """Return the seconds of a game in one stage (NaN of others), and what each move adds: 0 where it is not said.

    >>> [time_control_of(text) for text in ("5400+30", "600", "40/7200:1800", None)]
    [(5400.0, 30.0), (600.0, 0.0), (nan, 0.0), (nan, 0.0)]
    """
    stages = re.fullmatch(r"(\d+/)?(\d+)(?:\+(\d+))?(:.*)?", text or "")
    if stages is None:
        return np.nan, 0.0
    return np.nan if stages[1] or stages[4] else float(stages[2]), float(stages[3] or 0)


GROUPINGS: dict[str, Callable[[PlayedMoves, str, int], Labels]] = {
    **dict.fromkeys(HEADER_COLUMNS, _header),
    "decider": lambda moves, by, first: _header(moves, "player", first),
    "colour": lambda moves, *_: ["black" if black else "white" for black in moves.black.tolist()],
    "phase": _phase,
    **dict.fromkeys(("eco", "opening", "time_class"), _fact),
    "opponent-rating": _opponent_rating,
    "time-spent": _time_spent,
    # The time that was left after the move: games do not say what was left before it.
    "time-left": lambda moves, *_: list(time_classes(moves.games.clocks[_places(moves)], CLOCKS)),
    "ply": lambda moves, *_: list(moves.ply.tolist()),
}
"""What `rate --by` takes, and how the labels are found."""


JOINT, EVALUATED, TIMED = map(SOURCES.index, ("joint", "evaluated", "clocks"))


def move_evidence(
    moves: PlayedMoves, labels: Sequence[Any], *, weights: JointWeights | None = None, opening_moves: int = 12
) -> EvidenceTable:
    """Return the rows of each label, person, game and source; a move whose label is None counts for nobody."""
    source = moves.sources(opening_moves)
    names, group = _groups(moves, labels)
    use = (source >= 0) & (group >= 0)
    rows, row = _rows(group, moves.game, source, use)
    alone, judged = use & (source != JOINT), None
    if moves.joint is not None and moves.judged is not None and weights is not None:
        inside = use[moves.judged] & (source[moves.judged] == JOINT)
        judged = moves.joint.select(inside), weights, row[moves.judged][inside], len(rows)
    curves = human_curves(moves.choices.take(np.flatnonzero(alone)), moves.chosen[alone], row[alone], len(rows))
    if judged is not None:
        curves += joint_curves(*judged, NODES.nodes, BASIS)
    counts = np.bincount(row[use], minlength=len(rows))
    return _table(moves, names, rows, on_elo(curves, moves.choices.elo_range), counts)


@dataclass(frozen=True, eq=False)
class Observed:
    """What moves lost, or how long they took, and in which decisions, as far as it is known."""

    at: Ints  # the moves, by their place in PlayedMoves
    values: Array
    features: Array

    def __len__(self) -> int:
        return len(self.at)


def move_losses(moves: PlayedMoves, evaluations: Evaluations) -> Observed:
    """Return the scaled losses of the free moves whose value before and after is known, mover's view."""
    if len(evaluations.games) != len(moves.games):
        raise InputError(f"evaluations of {len(evaluations.games):,} games for {len(moves.games):,}")
    first = evaluations.starts[moves.game] + moves.ply
    sign = np.where(moves.black, -1.0, 1.0)
    before, after = sign * evaluations.values[first], sign * evaluations.values[first + 1]
    at = np.flatnonzero(np.isfinite(before) & np.isfinite(after) & moves.free)
    log_p, entropy = expected_of_people(moves.choices, moves.chosen)
    features = loss_features(log_p[at], entropy[at], before[at], moves.ply[at])
    return Observed(at, scaled_loss(before[at], after[at]), features)


def move_times(moves: PlayedMoves) -> Observed:
    """Return how long the free moves took, where both clocks before them and the time control are known."""
    found = clocks_of(moves.games, moves.game, moves.ply)
    at = np.flatnonzero(np.isfinite(found[0] + found[2]) & (found[3] > 0) & moves.free)
    spent, left, opponent, base, increment = (column[at] for column in found)
    features = time_features(base, increment, left, opponent, moves.ply[at])
    return Observed(at, paces(spent, base, increment), features)


def observed_evidence(
    moves: PlayedMoves, found: Observed, labels: Sequence[Any], weights: BinWeights, source: int = EVALUATED
) -> EvidenceTable:
    """Return the rows of what the moves of each label, person and game lost, or how long they took."""
    names, of_move = _groups(moves, labels)
    group = of_move[found.at]
    use = group >= 0
    rows, row = _rows(group, moves.game[found.at], np.full(len(group), source), use)
    curves = observed_curves(found.values[use], found.features[use], weights, row[use], len(rows))
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
    groups, games = [names[group] for group in rows[:, 0].tolist()], rows[:, 1]
    people = [person for _, person in groups]
    return EvidenceTable(
        ELO_GRID,
        [label for label, _ in groups],
        curves,
        counts.astype(np.int64),
        people=people,
        games=games,
        sources=[SOURCES[source] for source in rows[:, 2].tolist()],
        **header_columns(moves.games, games, people),
    )


def header_columns(games: Games, rows: Ints, people: Sequence[str]) -> dict[str, Any]:
    """Return for people in games (by row) what the headers say: the columns of `EvidenceTable` that hold it."""
    white = games.headers["white"].to_pylist()
    black = np.array(list(map(ne, map(white.__getitem__, rows.tolist()), people)), dtype=np.int8)
    known = games.by_mover(rows, black)
    return {"events": known["event"].to_pylist(), "headers": np.array(known["elo"].to_pylist(), dtype=float)}
