"""An opponent of a given Elo: a move for the position on the board, within a time; chess programs load it by UCI.

`UciPlayer` is the engine's side of the UCI protocol: lines of text in, lines out through `say`. A search runs while
further lines are read, so that `stop` and `quit` are heard. Whatever is not understood is answered with `info string`
and left. The clock comes first: if a reply is not there when the time ends, any legal move is played in its place.
"""

import random
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import chess
import numpy as np

from skilloscope.chess.analysis.analyses import Analyses
from skilloscope.chess.boards import Boards, playable_board
from skilloscope.chess.engine.engine import QuickEngine, find_engine
from skilloscope.chess.engine.lines import last_depth
from skilloscope.chess.engine.settings import DFH13
from skilloscope.chess.human.model import human
from skilloscope.chess.moves import move_code, move_of_code
from skilloscope.chess.pgn.facts import FIDE, checked_pool
from skilloscope.chess.pgn.positions import positions_of
from skilloscope.core.errors import EngineError, InputError, OptionError, SkilloscopeError
from skilloscope.core.paths import Closing
from skilloscope.evidence.axis import Effort, elo_axis
from skilloscope.evidence.scales import scale
from skilloscope.models.joint import checked_elo, elo_range
from skilloscope.simulate.people import STYLES, MoveChances, agent_chances, curve_chances, human_chances, joint_chances

FULL_SECONDS = 0.3
"""From so much time on the joint style looks as deep as `rate --effort full` does, below it as `quick`."""

LEAST_SECONDS = 0.08  # with less time than this the engine is not asked
KNOWN_MOVES = 6
"""So many first moves people of the joint style make from memory, without what an engine sees: the human model alone
predicts them better than the joint model, which is better from move 7 on."""

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
    """Whom an opponent plays: rating, style, the seed of the draws (0: another game every time), and whose rating."""

    elo: float = 1500.0
    style: str = "human"
    seed: int = 0
    pool: str = FIDE

    def __post_init__(self) -> None:
        checked_elo(self.elo, elo_range(self.pool))
        if self.style not in STYLES:
            raise OptionError(f"no style {self.style!r}", hint=f"the styles: {', '.join(STYLES)}")
        if checked_pool(self.pool) != FIDE and self.style != "human":
            raise OptionError(f"people of {self.pool} play without an engine, not {self.style!r}", hint="--style human")
        if self.seed < 0:
            raise OptionError(f"a seed is 0 or more, got {self.seed}")


def usual_style(engine: str | None = None) -> str:
    """Return the style that is used by default: `joint` where an engine is found, else `human`."""
    try:
        find_engine(engine)
    except EngineError:
        return "human"
    return "joint"


class Opponent(Closing):
    """A player to play against; a context manager that leaves no engine behind."""

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
        human(self.persona.pool).choices(Boards.from_boards([chess.Board()]))
        if self.persona.style != "human":
            self._seen(chess.Board(), 1, _MOST_SECONDS, None)

    def reply(self, board: chess.Board, seconds: float, *, interrupted: Interrupted = None) -> Reply:
        """Return a move for the side to move, found in so many seconds or when `interrupted` says that it is time."""
        playable_board(board.fen())
        seconds = min(seconds, _MOST_SECONDS)
        effort = elo_axis().effort("full" if seconds >= FULL_SECONDS else "quick")
        seen = None
        style = self.persona.style
        known = style == "joint" and board.fullmove_number <= KNOWN_MOVES  # people know their first moves without it
        if style != "human" and seconds >= LEAST_SECONDS and not known:
            depth = int(effort.settings["depth"]) if self.persona.style == "joint" else _LIST_DEPTH
            seen = self._seen(board, depth, seconds, interrupted)
        move = move_of_code(int(self._chances(board, seen, effort).drawn([self._rng(board)])[0]))
        for line in () if seen is None else last_depth(seen.answer(0)):
            if int(line["move"]) == move_code(move):
                return Reply(move, int(line["depth"]), bool(line["mate"]), int(line["score"]))
        return Reply(move)

    def reply_without_engine(self, board: chess.Board) -> Reply:
        """Return a move as the style `human` plays it, whatever the style is."""
        choices = human(self.persona.pool).choices(Boards.from_boards([board]))
        return Reply(move_of_code(int(human_chances(choices, self.persona.elo).drawn([self._rng(board)])[0])))

    def successor(self) -> "Opponent":
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

    def _seen(self, board: chess.Board, depth: int, seconds: float, interrupted: Interrupted) -> Analyses:
        try:
            if self._engine is None:
                self._engine = QuickEngine(find_engine(self._engine_name), DFH13)
            lines = self._engine.lines_within(board.fen(), depth, seconds, interrupted=interrupted)
        except EngineError:
            self.close()  # one that failed is started again for the next move
            raise
        return Analyses.from_answers(positions_of([board]), self._engine.key, {board.fen(): lines})

    def _chances(self, board: chess.Board, seen: Analyses | None, effort: Effort) -> MoveChances:
        elo, style = self.persona.elo, self.persona.style
        if seen is not None and style == "agent":
            return agent_chances(seen, elo, scale())
        if seen is not None and style == "curves":
            return curve_chances(seen, elo, scale("curves"))
        choices = human(self.persona.pool).choices(Boards.from_boards([board]))
        if seen is None or effort.weights is None:
            return human_chances(choices, elo)
        return joint_chances(choices, seen, elo, effort.weights)


OVERHEAD_SECONDS = 0.05  # between an answer that is written and one that is read there may lie so much
OUT_OF_TIME = "out of time: any legal move"

_USUAL_SECONDS = 2.0  # for a move where nothing is said of time
_MOVES_TO_GO = 40
_LARGEST_SEED = 2**31 - 1
_PATIENCE = 1.0  # for a search that must end
_CLOCKS = ("wtime", "btime", "winc", "binc", "movestogo", "movetime")


@dataclass(frozen=True)
class ThinkingTime:
    """How long a move may take: the seconds it is given, and those after which it must be answered (None: no end)."""

    given: float
    latest: float | None

    @classmethod
    def from_go(cls, clock: dict[str, int], turn: chess.Color) -> "ThinkingTime":
        """Return the time for the side to move, from what `go` says in milliseconds.

        >>> ThinkingTime.from_go({"wtime": 60000, "winc": 1000}, chess.WHITE)
        ThinkingTime(given=2.3, latest=59.95)
        """
        if "movetime" in clock:
            latest = max(clock["movetime"] / 1000 - OVERHEAD_SECONDS, 0.0)
            return cls(latest, latest)
        left = clock.get("wtime" if turn else "btime")
        if left is None:
            return cls(_USUAL_SECONDS, None)
        latest = max(left / 1000 - OVERHEAD_SECONDS, 0.0)
        gain = clock.get("winc" if turn else "binc", 0) / 1000
        share = left / 1000 / max(clock.get("movestogo", _MOVES_TO_GO), 1)
        return cls(round(min(share + 0.8 * gain, latest / 2), 6), latest)


class _Search:
    """One `go`: a thread that thinks, and one that answers when the thought is there or the time has come."""

    def __init__(self, opponent: Opponent, board: chess.Board, allowed: ThinkingTime, *, waits: bool) -> None:
        self.board, self.waits = board, waits
        self.reply: Reply | None = None
        self.fault = ""
        self.stopped, self.thought = threading.Event(), threading.Event()
        self.begin, self.allowed = time.monotonic(), allowed
        self.thinking = threading.Thread(target=self._think, args=[opponent], daemon=True)
        self.thinking.start()

    def _think(self, opponent: Opponent) -> None:
        left = self.allowed.given - (time.monotonic() - self.begin)
        try:
            self.reply = opponent.reply(self.board, left, interrupted=self.stopped.is_set)
        except EngineError as error:
            self.fault = str(error)
            self.reply = opponent.reply_without_engine(self.board)
        except Exception as error:  # the outermost edge: whatever it is, a move must be played
            self.fault = f"{type(error).__name__}: {error}"
        finally:
            self.thought.set()

    def move(self) -> Reply:
        """Wait for the reply; where it does not come in time, take any legal move."""
        if self.waits:
            self.stopped.wait()
        end = self.allowed.latest
        self.thought.wait(None if end is None or self.waits else max(end - (time.monotonic() - self.begin), 0.0))
        if self.reply is None:
            self.fault = self.fault or OUT_OF_TIME
        return self.reply or Reply(random.choice(list(self.board.legal_moves)))


class UciPlayer(Closing):
    """The conversation with a chess program; `run` ends with `quit`, or with the lines."""

    def __init__(
        self, persona: Persona, say: Callable[[str], None], *, engine: str | None = None, name: str = "skilloscope"
    ) -> None:
        self._name, self._say, self._lock = name, say, threading.Lock()
        self.opponent = Opponent(persona, engine=engine)
        self._board = chess.Board()
        self._search: _Search | None = None
        self._answering: threading.Thread | None = None
        self._usual = self._asked = persona
        self._limited = True

    def run(self, lines: Iterable[str]) -> None:
        """Answer line after line."""
        for line in lines:
            words = line.split()
            if words and words[0] == "quit":
                break
            if words:
                self._obey(words)

    def close(self) -> None:
        """End the search, if there is one, and the engine."""
        self._end_search()
        self.opponent.close()

    def _obey(self, words: Sequence[str]) -> None:
        known: dict[str, Callable[[Sequence[str]], None]] = {
            "uci": self._greet,
            "isready": self._get_ready,
            "ucinewgame": lambda _: self.opponent.new_game(),
            "setoption": self._set_option,
            "position": self._set_position,
            "go": self._go,
            "stop": lambda _: self._end_search(),
            "ponderhit": lambda _: self._end_search(),
            "debug": lambda _: None,
            "register": lambda _: None,
        }
        if words[0] not in known:
            self._note(f"unknown command {words[0]!r}")
            return
        try:
            known[words[0]](words[1:])
        except SkilloscopeError as error:
            self._note(str(error))

    def _greet(self, _: Sequence[str]) -> None:
        usual = self._usual
        low, high = elo_range(usual.pool)
        for line in (
            f"id name {self._name}",
            "id author the skilloscope authors",
            f"option name Elo type spin default {usual.elo:.0f} min {low:.0f} max {high:.0f}",
            "option name UCI_LimitStrength type check default true",
            f"option name UCI_Elo type spin default {usual.elo:.0f} min {low:.0f} max {high:.0f}",
            f"option name Style type combo default {usual.style} {' '.join(f'var {style}' for style in STYLES)}",
            f"option name Seed type spin default {usual.seed} min 0 max {_LARGEST_SEED}",
            "uciok",
        ):
            self._tell(line)

    def _get_ready(self, _: Sequence[str]) -> None:
        if self._search is None:
            try:
                self.opponent.get_ready()
            except EngineError as error:
                self._note(f"{error}: playing without an engine")
        self._tell("readyok")

    def _set_option(self, words: Sequence[str]) -> None:
        self._end_search()
        text = " ".join(words)
        name, _, value = text.removeprefix("name ").partition(" value ")
        known = {"elo": _whole, "style": str.lower, "seed": _whole, "limitstrength": _is_true}
        field = name.lower().removeprefix("uci_")
        if field not in known:
            raise InputError(f"no option {name!r}")
        given = known[field](value.strip())
        if field == "limitstrength":
            self._limited = bool(given)
        else:
            self._asked = replace(self._asked, **{field: given})  # type: ignore[arg-type]
        top = elo_range(self._asked.pool)[1]
        self.opponent.persona = self._asked if self._limited else replace(self._asked, elo=top)

    def _set_position(self, words: Sequence[str]) -> None:
        self._end_search()
        at = words.index("moves") if "moves" in words else len(words)
        if words[:1] == ["startpos"]:
            board = chess.Board()
        elif words[:1] == ["fen"]:
            board = _board(" ".join(words[1:at]))
        else:
            raise InputError("position wants `startpos` or `fen`")
        for text in words[at + 1 :]:
            try:
                board.push_uci(text)
            except ValueError as error:
                raise InputError(
                    f"{text!r} is no legal move in {board.fen()!r}: the position stays as it was"
                ) from error
        self._board = board

    def _go(self, words: Sequence[str]) -> None:
        self._end_search()
        if "ponder" in words:
            self._note("no pondering: the answer comes with ponderhit or stop, and nothing is gained by it")
        if not any(self._board.generate_legal_moves()):
            self._note("there is no legal move")
            self._tell("bestmove 0000")
            return
        found = {}
        for name, value in pairwise(words):
            if name in _CLOCKS:
                try:
                    found[name] = max(_whole(value), 0)
                except InputError as error:
                    self._note(f"{name}: {error}")
        allowed = ThinkingTime.from_go(found, self._board.turn)
        waits = "infinite" in words or "ponder" in words
        search = _Search(self.opponent, self._board.copy(), allowed, waits=waits)
        self._search = search
        self._answering = threading.Thread(target=self._answer, args=[search], daemon=True)
        self._answering.start()

    def _answer(self, search: _Search) -> None:
        reply = search.move()
        if search.fault:
            self._note(search.fault)
        if reply.depth is not None:
            kind = "mate" if reply.mate else "cp"
            self._tell(f"info depth {reply.depth} score {kind} {reply.score} pv {reply.move.uci()}")
        self._tell(f"bestmove {reply.move.uci()}")

    def _end_search(self) -> None:
        """Have the search answered now, where there is one, and wait until its thought has ended too."""
        if self._search is None or self._answering is None:
            return
        self._search.stopped.set()
        self._answering.join()
        self._search.thinking.join(_PATIENCE)
        if self._search.thinking.is_alive():  # an engine that hangs must not cost the next move its time
            self.opponent = self.opponent.successor()
        self._search = self._answering = None

    def _note(self, text: str) -> None:
        self._tell(f"info string {' '.join(text.split())}")

    def _tell(self, line: str) -> None:
        with self._lock:
            self._say(line)


def _board(fen: str) -> chess.Board:
    try:
        board = chess.Board(fen)
    except ValueError as error:
        raise InputError(f"{fen!r} is not a FEN: the position stays as it was") from error
    if any(board.generate_legal_moves()):
        return playable_board(fen)
    if not board.is_valid():
        raise InputError(f"{fen!r} cannot arise in chess: the position stays as it was")
    return board


def _is_true(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise InputError(f"{text!r} is neither true nor false")
    return text.lower() == "true"


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise InputError(f"{text!r} is not a whole number") from error
