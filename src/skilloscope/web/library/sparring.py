"""Playing in the browser: an opponent's reply in a game, what a move costs compared with the best, a position to guess.

In: positions and moves that a page sends; nothing of them is kept. At most two engines work for all pages together; a
request that waits too long gets an error.
"""

import contextlib
import random
import threading
from collections.abc import Iterator
from typing import Annotated

import chess
from fastapi import APIRouter, Depends, Query, Request

from skilloscope.chess.boards import playable_board
from skilloscope.chess.engine.settings import Settings
from skilloscope.chess.moves import make_move, move_of_code
from skilloscope.chess.pgn.facts import FIDE
from skilloscope.core.errors import InputError
from skilloscope.core.paths import effective_settings, store_file
from skilloscope.inputs.bundled import gallery_games
from skilloscope.inputs.costs import winning_chances
from skilloscope.inputs.deep import best_values
from skilloscope.inputs.load import EngineJob
from skilloscope.inputs.pipeline import engine_found
from skilloscope.simulate.opponent import Opponent, Persona, usual_style
from skilloscope.web.jobs import BusyError, Jobs, Json
from skilloscope.web.safety import check_token

RIGHT = 0.03
"""A move is as good as the best one where it costs less than this in winning chances."""
SECONDS = 0.5
"""How long the opponent may search."""
WEIGHED = Settings(depth=None, nodes=300_000, multipv=1)
"""How the positions after two moves are searched that are compared."""
_AT_ONCE, _PATIENCE = threading.BoundedSemaphore(2), 8.0
_MOST = threading.BoundedSemaphore(8)  # at once or waiting: each holds one of the threads that all pages need
_OPENING = 20  # plies after which people have to think for themselves
router = APIRouter(prefix="/api", dependencies=[Depends(check_token)])
Fen = Annotated[str, Query(max_length=120)]
Uci = Annotated[str, Query(max_length=5, description="as UCI writes it")]
Elo = Annotated[float, Query(description="of the opponent, within the range of the pool")]


@router.post("/reply")
def api_reply(
    elo: Elo,
    side: Annotated[str, Query(pattern="^(white|black)$", description="whom the visitor plays")] = "white",
    fen: Fen = chess.STARTING_FEN,
    moves: Annotated[str, Query(max_length=6000, description="the game so far, as UCI writes moves")] = "",
    pool: Annotated[str, Query(max_length=40)] = FIDE,
) -> Json:
    """Go on with a game: the opponent's reply where it is its turn, the position then, and the legal moves in it."""
    board, style = playable_board(fen), usual_style() if pool == FIDE else "human"
    persona = Persona(elo, style, pool=pool)
    played = [_pushed(board, uci) for uci in moves.split()]
    outcome, mine = board.outcome(claim_draw=True), board.turn == (side == "white")
    if outcome is None and not mine:
        with a_turn(), Opponent(persona) as opponent:
            move = opponent.reply(board, SECONDS).move
        played.append(_pushed(board, move.uci()))
        outcome = board.outcome(claim_draw=True)
    return {
        "elo": elo, "style": style, "fen": board.fen(), "moves": [uci for uci, _ in played],
        "sans": [san for _, san in played], "legal": {} if outcome else _legal(board),
        "result": outcome.result() if outcome else "*",
        "ended": outcome.termination.name.lower().replace("_", " ") if outcome else "",
    }  # fmt: skip


@router.post("/weigh")
def api_weigh(request: Request, fen: Fen, move: Uci, best: Uci) -> Json:
    """What a move costs compared with the best, in winning chances; without an engine only the best one is right."""
    board = playable_board(fen)
    sides = [board.copy(stack=False), board.copy(stack=False)]
    (uci, san), (best_uci, best_san) = (_pushed(one, text) for one, text in zip(sides, (move, best), strict=True))
    lost = 0.0 if uci == best_uci else None
    if lost is None and engine_found(None):
        jobs: Jobs = request.app.state.jobs
        store, engine = store_file(jobs.path.parent.parent), effective_settings()["engine"].value
        work = EngineJob(settings=WEIGHED, store=store, engine=engine, workers=1)
        with a_turn():
            found = winning_chances(-best_values(sides, work, WEIGHED))
        lost = max(float(found[1] - found[0]), 0.0)
    right = lost is not None and lost < RIGHT
    return {"san": san, "best": best_san, "lost": lost, "right": right, "fen": sides[0].fen()}


@router.get("/guess")
def api_guess(seed: Annotated[int, Query(ge=0, le=2**31)]) -> Json:
    """A position of a game that ships, with the move that led to it; what people play there `/api/moves` knows."""
    games, rng = gallery_games(), random.Random(seed)
    rows = [row for row in range(len(games)) if games.offsets[row + 1] - games.offsets[row] > _OPENING + 2]
    row = rng.choice(rows)
    first, end = int(games.offsets[row]), int(games.offsets[row + 1])
    ply = rng.randrange(_OPENING, end - first - 1)
    board, tags = chess.Board(), games.headers.slice(row, 1).to_pylist()[0]
    for code in games.moves[first : first + ply].tolist():
        make_move(board, move_of_code(code))
    last, next_move = (move_of_code(int(games.moves[first + at])) for at in (ply, ply + 1))
    before = board.fen()
    make_move(board, last)
    names = {side: tags[side] for side in ("white", "black", "date")}
    return {**names, "before": before, "last": last.uci(), "fen": board.fen(), "played": next_move.uci()}


@contextlib.contextmanager
def a_turn() -> Iterator[None]:
    """Let a request do some seconds of work, or raise where too many wait."""
    for free, seconds in ((_MOST, 0.0), (_AT_ONCE, _PATIENCE)):
        if not free.acquire(timeout=seconds):
            if free is _AT_ONCE:
                _MOST.release()
            raise BusyError("too many people play at once", hint="try again in a while")
    try:
        yield
    finally:
        _AT_ONCE.release()
        _MOST.release()


def _pushed(board: chess.Board, uci: str) -> tuple[str, str]:
    """Make a move; return it as UCI and as people write it."""
    try:
        move = board.parse_uci(uci)
    except ValueError:
        move = chess.Move.null()
    if not move:
        raise InputError(f"{uci!r} is no move here", hint="a legal move as UCI writes it: e2e4")
    return move.uci(), board.san_and_push(move)


def _legal(board: chess.Board) -> dict[str, str]:
    return {move.uci(): board.san(move) for move in board.legal_moves}
