"""An opponent of a given Elo: a move for the position on the board, within a time.

In: a board with the moves that led to it, and seconds. Out: a Reply. What it plays is drawn as simulate.people says;
with little time it looks less deep, with very little it does without the engine.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass

import chess
import numpy as np

from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.engine.engine import find_engine
from skilloscope.chess.engine.lines import last_depth, move_code, move_of_code
from skilloscope.chess.engine.quick import QuickEngine
from skilloscope.chess.engine.settings import DFH13
from skilloscope.chess.human.encoding import Boards, playable_board
from skilloscope.chess.human.model import checked_elo, human
from skilloscope.chess.positions import positions_of
from skilloscope.core.closing import Closing
from skilloscope.core.errors import EngineError, OptionError
from skilloscope.ratings.elo_axis.axis import Effort, elo_axis
from skilloscope.ratings.scale import scale
from skilloscope.simulate.people import (
    STYLES,
    MoveChances,
    agent_chances,
    curve_chances,
    human_chances,
    joint_chances,
)

FULL_SECONDS = 0.3
"""From so much time on the joint style looks as deep as `rate --effort full` does, below it as `quick`."""

LEAST_SECONDS = 0.08
"""With less time than this the engine is not asked."""

KNOWN_MOVES = 6
"""So many first moves people of the joint style make from memory, without what an engine sees: the human model alone
foretells them better than the joint model, which foretells those from 7 on better."""

_LIST_DEPTH = 10  # of the searches on which the scales of the agent and the curves stand
_MOST_SECONDS = 5.0  # for one move, however much time there is

Interrupted = Callable[[], bool] | None


@dataclass(frozen=True)
class Reply:
    """A move, and what the engine says of it where it was asked: the depth, and a score in centipawns or a mate."""

    move: chess.Move
    depth: int | None = None
    mate: bool = False
    score: int = 0


@dataclass(frozen=True)
class Persona:
    """Whom an opponent plays: Elo, style, and the seed of the draws (0: another game every time)."""

    elo: float = 1500.0
    style: str = "human"
    seed: int = 0

    def __post_init__(self) -> None:
        checked_elo(self.elo)
        if self.style not in STYLES:
            raise OptionError(f"no style {self.style!r}", hint=f"the styles: {', '.join(STYLES)}")
        if self.seed < 0:
            raise OptionError(f"a seed is 0 or more, got {self.seed}")


def usual_style(engine: str | None = None) -> str:
    """Return the style that is taken unless told: `joint` where an engine is found, else `human`."""
    try:
        find_engine(engine)
    except EngineError:
        return "human"
    return "joint"


class Opponent(Closing):
    """Somebody to play against; a context manager that leaves no engine behind."""

    def __init__(self, persona: Persona, *, engine: str | None = None) -> None:
        self.persona = persona
        self._engine_name = engine
        self._engine: QuickEngine | None = None
        self._games = 0
        self._entropy = secrets.randbits(63)

    def new_game(self) -> None:
        """Begin another game: with the same seed its draws are others than those of the game before."""
        self._games += 1

    def get_ready(self) -> None:
        """Load what is needed to answer: the network, and the engine where the style asks for one."""
        human().choices(Boards.from_boards([chess.Board()]))
        if self.persona.style != "human":
            self._seen(chess.Board(), 1, _MOST_SECONDS, None)

    def reply(self, board: chess.Board, seconds: float, *, interrupted: Interrupted = None) -> Reply:
        """Return a move for the side to move, found in so many seconds or when `interrupted` says that it is time."""
        playable_board(board.fen())
        seconds = min(seconds, _MOST_SECONDS)
        effort = elo_axis().effort("full" if seconds >= FULL_SECONDS else "quick")
        seen = None
        if self._asks(board, seconds):
            depth = int(effort.settings["depth"]) if self.persona.style == "joint" else _LIST_DEPTH
            seen = self._seen(board, depth, seconds, interrupted)
        move = move_of_code(int(self._chances(board, seen, effort).drawn([self._rng(board)])[0]))
        return Reply(move) if seen is None else _told(move, seen)

    def reply_without_engine(self, board: chess.Board) -> Reply:
        """Return a move as the style `human` plays it, whatever the style is."""
        choices = human().choices(Boards.from_boards([board]))
        return Reply(move_of_code(int(human_chances(choices, self.persona.elo).drawn([self._rng(board)])[0])))

    def successor(self) -> Opponent:
        """Return an opponent who goes on with this game with an engine of its own."""
        other = Opponent(self.persona, engine=self._engine_name)
        other._games, other._entropy = self._games, self._entropy
        return other

    def close(self) -> None:
        """End the engine."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def _rng(self, board: chess.Board) -> np.random.Generator:
        return np.random.default_rng([self.persona.seed or self._entropy, self._games, board.ply()])

    def _asks(self, board: chess.Board, seconds: float) -> bool:
        """Return whether the engine is asked: not without time, and people know their first moves without it."""
        style = self.persona.style
        known = style == "joint" and board.fullmove_number <= KNOWN_MOVES
        return style != "human" and seconds >= LEAST_SECONDS and not known

    def _seen(self, board: chess.Board, depth: int, seconds: float, interrupted: Interrupted) -> Analyses:
        try:
            if self._engine is None:
                self._engine = QuickEngine(find_engine(self._engine_name), DFH13)
            lines = self._engine.lines_within(board.fen(), depth, seconds, interrupted=interrupted)
        except EngineError:
            self.close()  # one that failed is started anew for the next move
            raise
        return Analyses.from_answers(positions_of([board]), self._engine.key, {board.fen(): lines})

    def _chances(self, board: chess.Board, seen: Analyses | None, effort: Effort) -> MoveChances:
        elo, style = self.persona.elo, self.persona.style
        if seen is not None and style == "agent":
            return agent_chances(seen, elo, scale())
        if seen is not None and style == "curves":
            return curve_chances(seen, elo, scale("curves"))
        choices = human().choices(Boards.from_boards([board]))
        if seen is None or effort.weights is None:
            return human_chances(choices, elo)
        return joint_chances(choices, seen, elo, effort.weights)


def _told(move: chess.Move, seen: Analyses) -> Reply:
    """Return the move with what the engine says of it, where it is on the list."""
    for line in last_depth(seen.answer(0)):
        if int(line["move"]) == move_code(move):
            return Reply(move, int(line["depth"]), bool(line["mate"]), int(line["score"]))
    return Reply(move)
