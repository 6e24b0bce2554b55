"""A second, deep search: it confirms what a cheap one names as costly or as a find, or drops it.

In: MoveCosts, the games and the engine's job. Out: the same moves; those that were looked at have the values, the best
move and the margin of the deep search, the line that follows the best move and the best reply to the move played. The
position before a move and the one after it are searched for a million nodes each, by one thread, a new game before
each. The answers are in the store like all others, so that reports and the web share them.

Values in the games' comments are not replaced: for mistakes the search that chooses the candidates gives the better
move, and what it does not find costly is dropped all the same. Finds have the deep search in any case.
"""

from collections.abc import Sequence
from dataclasses import replace

import chess
import numpy as np
import numpy.typing as npt

from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.analysis.evaluations import (
    Evaluations,
    best_of_rows,
    evaluations_from_analyses,
    evaluations_from_comments,
    final_value,
)
from skilloscope.chess.engine.lines import last_depth
from skilloscope.chess.engine.settings import Settings
from skilloscope.chess.human.model import Human
from skilloscope.chess.human.played import played_moves
from skilloscope.chess.moves import MATE_CAP, board_of_fen, make_move, move_of_code, value_pawns
from skilloscope.chess.pgn.games import Games
from skilloscope.chess.pgn.positions import positions, positions_of
from skilloscope.core.columns import Array
from skilloscope.core.errors import EngineError
from skilloscope.inputs.costs import MARKS, MoveCosts, shares_at, winning_chances
from skilloscope.inputs.load import EngineJob
from skilloscope.inputs.pipeline import AnalysedGames

DEEP = Settings(depth=None, nodes=1_000_000, multipv=2)
FIRST_LOOK = Settings(depth=None, nodes=100_000, multipv=2)
"""How the moves are chosen that the deep search looks at."""
LINE = Settings(depth=None, nodes=20_000, multipv=1)
"""How each move of the line after the best one is found."""
OPENING = Settings(depth=10, multipv=1, scope="every position")
"""How the first moves are valued, which the search for ratings leaves out."""
CANDIDATES = 15
"""Moves of each kind, costly ones and finds, that a report has confirmed."""
_PLIES = 4


def position_values(found: AnalysedGames) -> Evaluations:
    """Return the value of every position: that of a comment, else the engine's; first moves are searched for it."""
    values, judged = evaluations_from_comments(found.games), found.judged
    if judged is None or judged.analyses is None:
        return values
    values = values.filled(evaluations_from_analyses(judged.analyses))
    if found.work is None:
        return values
    batch, searched = positions(found.games, scope=OPENING.scope), judged.analyses.positions.game
    first = batch.ply <= 2 * found.asked.axis.opening_moves
    if found.sample:  # within a budget the games that were searched
        first &= np.isin(batch.game, searched)
    unknown = first & np.isnan(values.values[values.starts[batch.game] + batch.ply])
    try:
        return values.filled(evaluations_from_analyses(_searched(found.work, OPENING).analyse(batch.select(unknown))))
    except EngineError:
        return values


def confirmed(
    costs: MoveCosts, games: Games, most: int, work: EngineJob | None, model: Human | None = None
) -> MoveCosts:
    """Return the moves with deep values of at most so many costly ones, and as many finds.

    A search a tenth as long chooses them among up to three times as many candidates. The engine's values of all other
    moves are not to be shown then. Without an engine that answers the moves are as they were.
    """
    if work is None:
        return costs
    found, rows = replace(costs, trusted=costs.judge != 0), costs.candidates(3 * most)
    try:
        looked = _looked_at(costs.select(rows), games, work, FIRST_LOOK)
        if rows.size and not looked.checked.any():
            return costs
        of_rows = looked.candidates(most)
        chosen, new = rows[of_rows], looked.select(of_rows)
        deep = np.flatnonzero((new.judge != 1) | (new.best == new.played))
        new = new.replaced(deep, _looked_at(costs.select(chosen[deep]), games, work, DEEP))
        if not new.checked.any():  # or the first look has left none: nothing is confirmed then
            return found
        boards = [board_before(games, *at) for at in zip(new.game.tolist(), new.ply.tolist(), strict=True)]
        lines = _lines(boards, new.best, new.checked & (np.fmax(new.cost, new.hard) >= min(MARKS)), work)
    except EngineError:
        return costs
    new = replace(new, line=lines, p_best=_shares_of_best(new, games, model))
    return found.replaced(chosen[new.checked], new.select(new.checked))


def _looked_at(some: MoveCosts, games: Games, work: EngineJob, settings: Settings) -> MoveCosts:
    """Return the moves as a search of the positions before and after each values them."""
    boards = [board_before(games, game, ply) for game, ply in zip(some.game.tolist(), some.ply.tolist(), strict=True)]
    value, best, second = _best(boards, work, settings)
    after = [_pushed(board, code) for board, code in zip(boards, some.played.tolist(), strict=True)]
    reply_value, reply, _ = _best(after, work, settings)
    known, played_value, noted = np.isfinite(value) & np.isfinite(reply_value), -reply_value, some.judge == 1
    best = np.where(played_value > value, some.played, best)  # seen from one move on, the move played is the best
    value = np.fmax(value, played_value)
    lost = winning_chances(value) - winning_chances(played_value)
    new = replace(
        some,
        best=best,
        value=np.where(noted, some.value, value),
        played_value=np.where(noted, some.played_value, played_value),
        margin=np.where(some.margin == 0, 0.0, winning_chances(value) - winning_chances(second)),
        checked=known,
        trusted=known & (~noted | (lost >= min(MARKS) / 2) | (best == some.played)),
        reply=reply,
    )
    return replace(new, suspect=np.where(new.trusted, new.cost, np.nan))


def board_before(games: Games, row: int, ply: int) -> chess.Board:
    """Return the board of a game before one of its moves."""
    board, first = board_of_fen(games.headers["start_fen"][row].as_py()), int(games.offsets[row])
    for code in games.moves[first : first + ply].tolist():
        make_move(board, move_of_code(code))
    return board


def _searched(work: EngineJob, settings: Settings) -> EngineJob:
    return replace(work, settings=settings, imports=(), export=None)


def _pushed(board: chess.Board, code: int) -> chess.Board:
    after = board.copy(stack=False)
    make_move(after, move_of_code(code))
    return after


def _best(
    boards: Sequence[chess.Board], work: EngineJob, settings: Settings
) -> tuple[Array, npt.NDArray[np.uint16], Array]:
    """Return the mover's value, the best move (0 where there is none) and the next best value of each position."""
    value, second = np.full(len(boards), np.nan), np.full(len(boards), np.nan)
    move = np.zeros(len(boards), dtype=np.uint16)
    alive = np.array([any(board.legal_moves) for board in boards], dtype=bool)
    for at in np.flatnonzero(~alive).tolist():
        value[at] = (final_value(boards[at]) or 0.0) * (1 if boards[at].turn else -1)
    asked = np.flatnonzero(alive)
    if len(asked):
        answers = _searched(work, settings).analyse(positions_of([boards[at] for at in asked.tolist()]))
        values, moves = best_of_rows(answers, MATE_CAP)
        got, row = asked[answers.answered], answers.row[answers.answered]
        value[got], move[got], second[got] = values[row], moves[row], _seconds(answers)[answers.answered]
    return value, move, second


def best_values(boards: Sequence[chess.Board], work: EngineJob, settings: Settings) -> Array:
    """Return the value of each position for the side to move, NaN where the engine has no answer."""
    return _best(boards, work, settings)[0]


def _seconds(answers: Analyses) -> Array:
    """Return the value of the second line of each position; where there is one move only, nothing is lost by it."""
    found = np.full(len(answers), np.nan)
    for at in np.flatnonzero(answers.answered).tolist():
        last = last_depth(answers.answer(at))[:2]
        found[at] = value_pawns(last["mate"], last["score"], MATE_CAP)[-1]
    return found


def _shares_of_best(some: MoveCosts, games: Games, model: Human | None) -> Array:
    """Return the shares of people who find the best moves, at the players' levels and at those of reports."""
    if not len(some):
        return some.p_best
    own = np.unique(some.game)
    part = games.select(own)
    wanted = np.zeros(len(part.moves), dtype=bool)
    wanted[part.offsets[:-1][np.searchsorted(own, some.game)] + some.ply] = True
    choices = played_moves(part, wanted=wanted, model=model).choices
    return shares_at(choices, choices.offsets[:-1] + choices.index_of(some.best), some.level)


def _lines(
    boards: Sequence[chess.Board], best: npt.NDArray[np.uint16], wanted: npt.NDArray[np.bool_], work: EngineJob
) -> npt.NDArray[np.object_]:
    """Return the best move and what follows it, as UCI writes the moves; nothing for the moves that are not wanted."""
    rows = np.flatnonzero(wanted).tolist()
    ends, moves = [boards[at].copy(stack=False) for at in rows], best[rows]
    lines: list[list[str]] = [[] for _ in rows]
    for ply in range(_PLIES + 1):
        for line, board, code in zip(lines, ends, moves.tolist(), strict=True):
            if code:
                line.append(move_of_code(code).uci())
                make_move(board, move_of_code(code))
        if ply < _PLIES:
            moves = _best(ends, work, LINE)[1]
    found = np.full(len(boards), "", dtype=object)
    found[rows] = [" ".join(line) for line in lines]
    return found
