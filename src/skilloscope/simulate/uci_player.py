"""An opponent that chess programs can load: the engine's side of the UCI protocol.

In: lines of text, as a chess program sends them. Out: lines of text, through `say`. A search runs beside the reading of
further lines, so that `stop` and `quit` are heard. Whatever is not understood is answered with `info string` and left.

The clock comes first: if a reply is not there when the time ends, any legal move is played in its place.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import chess

from skilloscope.chess.human.encoding import playable_board
from skilloscope.chess.human.model import ELO_RANGE
from skilloscope.core.closing import Closing
from skilloscope.core.errors import EngineError, InputError, SkilloscopeError
from skilloscope.simulate.opponent import Opponent, Persona, Reply
from skilloscope.simulate.people import STYLES

OVERHEAD_SECONDS = 0.05
"""Between an answer that is written and one that is read there may lie so much."""

OUT_OF_TIME = "out of time: any legal move"

_USUAL_SECONDS = 2.0  # for a move where nothing is said of time
_MOVES_TO_GO = 40
_LARGEST_SEED = 2**31 - 1
_PATIENCE = 1.0  # for a thought that was told to end
_CLOCKS = ("wtime", "btime", "winc", "binc", "movestogo", "movetime")


@dataclass(frozen=True)
class ThinkingTime:
    """How long a move may take: the seconds it is given, and those after which it must be answered (None: no end)."""

    given: float
    latest: float | None

    @classmethod
    def from_go(cls, clock: dict[str, int], turn: chess.Color) -> ThinkingTime:
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
        self._usual = persona

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
        low, high = ELO_RANGE
        told = self._usual
        for line in (
            f"id name {self._name}",
            "id author the skilloscope authors",
            f"option name Elo type spin default {told.elo:.0f} min {low:.0f} max {high:.0f}",
            f"option name Style type combo default {told.style} {' '.join(f'var {style}' for style in STYLES)}",
            f"option name Seed type spin default {told.seed} min 0 max {_LARGEST_SEED}",
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
        known = {"elo": _whole, "style": str.lower, "seed": _whole}
        if name.lower() not in known:
            raise InputError(f"no option {name!r}")
        change = {name.lower(): known[name.lower()](value.strip())}
        self.opponent.persona = replace(self.opponent.persona, **change)  # type: ignore[arg-type]

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
        allowed = ThinkingTime.from_go(self._clocks(words), self._board.turn)
        waits = "infinite" in words or "ponder" in words
        search = _Search(self.opponent, self._board.copy(), allowed, waits=waits)
        self._search = search
        self._answering = threading.Thread(target=self._answer, args=[search], daemon=True)
        self._answering.start()

    def _clocks(self, words: Sequence[str]) -> dict[str, int]:
        found = {}
        for name, value in pairwise(words):
            if name in _CLOCKS:
                try:
                    found[name] = max(_whole(value), 0)
                except InputError as error:
                    self._note(f"{name}: {error}")
        return found

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
    """Return the board of a FEN; one in which the game is over will do, one that cannot be is refused."""
    try:
        board = chess.Board(fen)
    except ValueError as error:
        raise InputError(f"{fen!r} is no FEN: the position stays as it was") from error
    if any(board.generate_legal_moves()):
        return playable_board(fen)
    if not board.is_valid():
        raise InputError(f"{fen!r} cannot arise in chess: the position stays as it was")
    return board


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise InputError(f"{text!r} is no whole number") from error
