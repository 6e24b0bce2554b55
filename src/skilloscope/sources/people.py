"""What the moves of games say about the Elo of people, or of any other groups of moves.

In: games, and what an engine says of some of their positions. Out: for each group the curves of its games by person and
source, how many moves stand behind them, the ratings in the headers, and a tally of moves that count for nobody.

The games are taken a few at a time, several at once where there are workers: what a position says does not depend on
its neighbours, so any number of workers gives the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import chess
import numpy as np
import numpy.typing as npt

from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.evaluations import evaluations_from_comments
from skilloscope.chess.human.encoding import playable_board
from skilloscope.chess.human.model import Human
from skilloscope.chess.pgn.games import Games
from skilloscope.core.errors import InputError, Tally
from skilloscope.ratings.elo_axis.axis import Effort
from skilloscope.ratings.elo_axis.effects import ELO, Effects, combined
from skilloscope.sources.evaluated import with_evaluations
from skilloscope.sources.labels import move_labels, movers_of
from skilloscope.sources.strength import SOURCES, GameCurves, PlayedMoves, game_curves, played_moves

GAMES_AT_ONCE = 64
UNPLAYABLE = "start position unknown to the human model"

Array = npt.NDArray[np.float64]
Part = TypeVar("Part")


@dataclass(frozen=True, eq=False)
class GroupEvidence:
    """What the games of one group of moves say, each person in it apart: his curves by source, a row for each game."""

    people: dict[str, dict[str, list[Array]]] = field(default_factory=dict)
    moves: Counter[str] = field(default_factory=Counter)
    """How many moves count, by source."""
    games: set[int] = field(default_factory=set)
    searched: set[int] = field(default_factory=set)
    """The games with an engine's answer."""
    headers: dict[tuple[str, int], int] = field(default_factory=dict)
    """The rating in the header, by person and game."""

    @property
    def header_elo(self) -> float | None:
        """The mean rating in the headers, a game counted once."""
        return float(np.mean(list(self.headers.values()))) if self.headers else None

    def curve(self, effects: Mapping[str, Effects]) -> Array:
        """Return what all say together: every person has an effect of his own."""
        total = np.zeros_like(ELO)
        for sources in self.people.values():
            total = total + combined({name: np.array(rows) for name, rows in sources.items()}, effects)
        return total


@dataclass(frozen=True, eq=False)
class AxisEvidence:
    """What games say: groups under one or two models of choice, the label of each move, and what counts for nobody."""

    groups: dict[str, dict[Any, GroupEvidence]]
    """By kind (`joint`, `human`) and label."""
    labels: dict[tuple[int, int], Any]
    """The label of each move by row of the game and ply; those that count for nobody are absent."""
    tally: Tally
    idle: dict[str, str]
    """Players of whom no move counts, with the reason."""


@dataclass(frozen=True)
class _Question:
    """What is asked of the games."""

    by: tuple[str, ...]
    opening_moves: int
    effort: Effort
    kinds: Sequence[str]
    wanted: frozenset[str]
    model: Human | None


def axis_evidence(
    games: Games,
    analyses: Analyses | None,
    effort: Effort,
    *,
    by: str | tuple[str, ...] = "player",
    opening_moves: int = 12,
    kinds: Sequence[str] = ("human",),
    players: Sequence[str] = (),
    model: Human | None = None,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> AxisEvidence:
    """Return what the moves of the games, or of some players in them, say about Elo, by group.

    With several columns a label is a tuple.
    """
    columns = (by,) if isinstance(by, str) else by
    question = _Question(columns, opening_moves, effort, tuple(kinds), frozenset(players), model=model)
    playable = playable_games(games)
    ask = partial(_part, games, analyses, question, playable)
    found = AxisEvidence({kind: {} for kind in kinds}, {}, Tally(), {})
    found.tally.count(UNPLAYABLE, int((~playable).sum()))
    seen: dict[str, Counter[str]] = {}
    for part in in_parts(ask, len(games), workers):
        _add(found, part, seen)
        if progress:
            progress(int(part.rows[-1]) + 1, len(games))
    found.idle.update(_idle(games, question.wanted, seen))
    return found


@dataclass(frozen=True, eq=False)
class _Part:
    """What a few games say."""

    rows: npt.NDArray[np.int64]
    """The rows of the games among all."""
    moves: PlayedMoves
    labels: list[Any]
    people: list[Any]
    curves: dict[str, GameCurves]
    reasons: list[str]
    """Why each move counts for nobody; empty where it counts."""


def in_parts(ask: Callable[[int], Part | None], total: int, workers: int) -> Iterator[Part]:
    """Yield what is asked of a few games at a time, by the row of the first of them, in their order."""
    starts = range(0, total, GAMES_AT_ONCE)
    if workers < 2 or len(starts) < 2:
        yield from (part for part in map(ask, starts) if part is not None)
        return
    with ThreadPoolExecutor(workers) as pool:
        for begin in range(0, len(starts), workers):  # not all at once: their answers would wait in memory
            yield from (part for part in pool.map(ask, starts[begin : begin + workers]) if part is not None)


def _part(
    games: Games, analyses: Analyses | None, question: _Question, playable: npt.NDArray[np.bool_], first: int
) -> _Part | None:
    rows = first + np.flatnonzero(playable[first : first + GAMES_AT_ONCE])
    some = games.select(rows)
    wanted = moves_of(some, question.wanted)
    if not wanted.any():
        return None
    moves = played_moves(some, wanted=wanted, model=question.model)
    own = None if analyses is None else analyses.of_games(rows)
    weights = question.effort.weights
    if own is not None and weights is not None and "joint" in question.kinds:
        moves = moves.with_engine(own, len(weights.depths))
    labels, people = _labels(moves, question), movers_of(moves)
    reasons = _reasons(moves, labels, people, question.by[-1], own)
    pairs = [None if reason else pair for reason, pair in zip(reasons, zip(labels, people, strict=True), strict=True)]
    alone = replace(moves, joint=None, judged=None, preferred=None, answer=None)
    curves = {
        kind: game_curves(
            moves if kind == "joint" else alone, pairs, weights=weights, opening_moves=question.opening_moves
        )
        for kind in question.kinds
    }
    if question.effort.losses is not None:
        values = evaluations_from_comments(some)
        curves = {
            kind: with_evaluations(known, alone, values, pairs, question.effort.losses)
            for kind, known in curves.items()
        }
    return _Part(rows, moves, labels, people, curves, reasons)


def _labels(moves: PlayedMoves, question: _Question) -> list[Any]:
    columns = [move_labels(moves, name, question.opening_moves) for name in question.by]
    if len(columns) == 1:
        return columns[0]
    return [None if None in label else label for label in zip(*columns, strict=True)]


def _reasons(moves: PlayedMoves, labels: list[Any], people: list[Any], by: str, analyses: Analyses | None) -> list[str]:
    failed = _given_up(analyses)
    keys = zip(moves.game.tolist(), moves.ply.tolist(), strict=True)
    return [
        "forced" if not free
        else "unknown player" if person is None
        else f"no {by}" if label is None
        else "engine failed" if key in failed
        else ""
        for free, person, label, key in zip(moves.free.tolist(), people, labels, keys, strict=True)
    ]  # fmt: skip


def _given_up(analyses: Analyses | None) -> set[tuple[int, int]]:
    if analyses is None or analyses.given_up is None:
        return set()
    game, ply = (column[analyses.given_up].tolist() for column in (analyses.positions.game, analyses.positions.ply))
    return set(zip(game, ply, strict=True))


def _add(found: AxisEvidence, part: _Part, seen: dict[str, Counter[str]]) -> None:
    """Put what a few games say to the rest."""
    for kind, curves in part.curves.items():
        _add_curves(found.groups[kind], curves, part)
    games = part.rows[part.moves.game].tolist()
    for row, key in enumerate(zip(games, part.moves.ply.tolist(), strict=True)):
        reason, person = part.reasons[row], part.people[row]
        if reason:
            found.tally.count(reason)
        else:
            found.labels[key] = part.labels[row]
        if person is not None:
            seen.setdefault(person, Counter())[reason] += 1


def _add_curves(groups: dict[Any, GroupEvidence], curves: GameCurves, part: _Part) -> None:
    headers = part.moves.games.headers
    white, white_elo, black_elo = (headers[name].to_pylist() for name in ("white", "white_elo", "black_elo"))
    for row, place in enumerate(curves.group.tolist()):
        (label, person), own = curves.groups[place], int(curves.game[row])
        game, source = int(part.rows[own]), SOURCES[curves.source[row]]
        group = groups.setdefault(label, GroupEvidence())
        group.people.setdefault(person, {}).setdefault(source, []).append(curves.curves[row])
        group.moves[source] += int(curves.moves[row])
        group.games.add(game)
        if source == "joint":
            group.searched.add(game)
        elo = white_elo[own] if white[own] == person else black_elo[own]
        if elo is not None:
            group.headers[person, game] = elo


def _idle(games: Games, wanted: frozenset[str], seen: Mapping[str, Counter[str]]) -> dict[str, str]:
    """Return the players of whom no move counts, with the reason."""
    names = dict.fromkeys(name for side in ("white", "black") for name in games.headers[side].to_pylist() if name)
    idle = {}
    for name in names:
        counted = seen.get(name, Counter[str]())
        if (not wanted or name in wanted) and not counted[""]:
            worst = max(counted, key=lambda reason: counted[reason], default="")
            idle[name] = f"{counted[worst]:,} moves, {worst}" if worst else "no move in the games that could be used"
    return idle


def moves_of(games: Games, players: frozenset[str]) -> npt.NDArray[np.bool_]:
    """Return for each move whether one of the players made it; all where none is named."""
    if not players:
        return np.ones(len(games.moves), dtype=bool)
    sides = [[name in players for name in games.headers[side].to_pylist()] for side in ("white", "black")]
    return np.asarray(np.array(sides)[games.movers, games.game_of_move])


def _starts(games: Games) -> list[str | None]:
    starts: list[str | None] = games.headers["start_fen"].to_pylist()
    return starts


def playable_games(games: Games) -> npt.NDArray[np.bool_]:
    """Return which games start from a position that the human model takes."""
    known: dict[str | None, bool] = {None: True, "": True, chess.STARTING_FEN: True}
    for fen in _starts(games):
        if fen not in known:
            known[fen] = _takes(fen)
    return np.array([known[fen] for fen in _starts(games)], dtype=bool)


def _takes(fen: str | None) -> bool:
    try:
        playable_board(fen or chess.STARTING_FEN)
    except InputError:
        return False
    return True
