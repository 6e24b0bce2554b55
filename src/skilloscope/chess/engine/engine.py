"""One UCI engine in one process: found, started, asked, closed.

Reproducible to the bit: one thread, a new game before every position, a fixed depth or number of nodes. A guard
(guard.py) runs with each engine, so that it ends with us even where we are killed.

`QuickEngine` searches against the clock, for games that are being played. Its answers depend on the machine, so they
are never stored, and its hash table is kept from one position to the next.
"""

import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skilloscope.chess.engine import guard
from skilloscope.chess.engine import lines as engine_lines
from skilloscope.chess.engine import settings as engine_settings
from skilloscope.chess.engine.lines import LineArray, check_output, checked_answer, child_settings, read_answer
from skilloscope.chess.engine.settings import ARGUMENTS, DFH13, EngineOption, ListMethod, SearchKey, Settings
from skilloscope.chess.moves import is_chess960, legal_moves
from skilloscope.core.errors import EngineError, InputError
from skilloscope.core.paths import Closing

ENGINE_DIRECTORIES = (
    "/usr/games", "/usr/local/games", "/usr/local/bin", "/opt/homebrew/bin", "/home/linuxbrew/.linuxbrew/bin",
    "/opt/local/bin", "/snap/bin",
)  # fmt: skip
"""Where to look after PATH: Debian puts engines where root does not look, Homebrew where launchers do not."""

_OTHER_NAMES = {"ethereal": "ethereal-chess", "toga": "toga2", "fairy": "fairy-stockfish", "gnu": "gnuchess"}

SILENCE_SECONDS = 60.0  # an engine that says nothing for so long is taken to hang
SEARCH_SECONDS = 3600.0  # one position may take so long, however much the engine talks
START_SECONDS = 20.0  # an engine may take so long to start, and to take its options: a large hash, a slow disk
_QUIT_SECONDS = 1.0
_STATUS_SECONDS = 10.0  # between the end of an engine's output and that of its process there may lie a busy moment
_INSTALL_HINT = "install Stockfish (Debian: apt install stockfish; macOS: brew install stockfish) or give its path"
_PATIENCE = 10.0  # so many seconds beyond its time an engine may take before it is given up
_LOOK_SECONDS = 0.01  # between two looks at what may interrupt a search


@dataclass(frozen=True, eq=False)
class Answer:
    """The result of one search: lines of all depths, the number of legal moves, nodes and wall-clock seconds spent."""

    lines: LineArray
    n_legal: int
    nodes: int
    seconds: float


class SearchStopped(EngineError):
    """The search was stopped from outside: neither the engine nor the position is at fault."""


def find_engine(name_or_path: str | os.PathLike[str] | None = None) -> Path:
    """Return the engine's executable: the argument, STOCKFISH_EXECUTABLE, PATH, then the usual directories."""
    named = None if name_or_path is None else os.fspath(name_or_path)
    variable = os.environ.get("STOCKFISH_EXECUTABLE") if named in (None, "stockfish") else None
    asked = variable or named
    places = [*filter(None, os.environ.get("PATH", os.defpath).split(os.pathsep)), *ENGINE_DIRECTORIES]
    for name in (asked or "stockfish", _OTHER_NAMES.get(asked or "", "")):
        found = shutil.which(name, path=os.pathsep.join(places)) if name else None
        if found:
            return Path(found)
    if not asked:
        raise EngineError("no chess engine was found", hint=_INSTALL_HINT)
    source = " (from STOCKFISH_EXECUTABLE)" if variable else ""
    raise EngineError(f"no engine {asked!r}{source}: not a program that can be run", hint=_INSTALL_HINT)


class Engine(Closing):
    """A running engine, set up by `settings`; use it as a context manager, so that no process stays behind.

    It belongs to one thread. Others stop it through `stop`, a file descriptor: once that can be read, whatever
    waits for the engine raises SearchStopped at once.

    `with Engine(find_engine(), Settings(depth=4, multipv=2)) as engine: answer = engine.analyse(fen)`
    """

    def __init__(self, path: str | os.PathLike[str], settings: Settings = DFH13, *, stop: int | None = None) -> None:
        self.path = Path(path)
        self.settings = settings
        self._unread = bytearray(b"\n")  # every line then begins after a newline, the first one too
        self._stop = stop
        self._chess960 = False
        self._process, lifeline = _start(self.path)
        self._closing = weakref.finalize(self, _shut_down, self._process, lifeline)
        self._poll = _poll(self._process, stop)
        try:
            self.identity, self.options = self._shake_hands()
            self.quirks = engine_settings.quirks_of(str(self.identity["engine"]))
            self._set_options()
        except BaseException:
            self.close()
            raise

    @property
    def key(self) -> SearchKey:
        """Everything that changes this engine's answers under its settings."""
        key = self.settings.key(self.identity, {name: option.default for name, option in self.options.items()})
        return key if self.method == "list" else {**key, "method": self.method}

    @property
    def method(self) -> ListMethod:
        """How the values of several moves are had; one line is always the engine's own."""
        if self.settings.multipv == 1:
            return "list"
        return self.quirks.method if "multipv" in self.options else "children"

    def analyse(self, fen: str) -> Answer:
        """Search one position from nothing and return the answer; EngineError if it fails."""
        if self.method != "children":
            return self._search(fen, self.settings)
        self._castling(fen)  # refuses what cannot be searched so
        legal = legal_moves(fen)
        start = time.perf_counter()

        def search(child: str, settings: Settings) -> tuple[LineArray, int]:
            answer = self._search(child, settings)
            return answer.lines, answer.nodes

        lines, nodes = engine_lines.search_children(fen, self.settings, search)
        return Answer(checked_answer(lines, legal, self.settings), len(legal), nodes, time.perf_counter() - start)

    def _search(self, fen: str, settings: Settings) -> Answer:
        self._send(*self._castling(fen), "ucinewgame", "isready")
        try:
            legal = legal_moves(fen)  # while the engine clears its tables
        finally:
            self._read_until(b"readyok", SILENCE_SECONDS, SILENCE_SECONDS)
        start = time.perf_counter()
        self._send(f"position fen {fen}", f"go {settings.limit}")
        output = self._read_until(b"bestmove", SEARCH_SECONDS, SILENCE_SECONDS)
        seconds = time.perf_counter() - start
        lines, nodes = read_answer(output, flagged=self.quirks.flags_values and settings.depth is not None)
        if self.method == "ranked":
            lines = engine_lines.ranked(lines.tolist(), settings.multipv)
        return Answer(checked_answer(lines, legal, settings), len(legal), nodes, seconds)

    def _castling(self, fen: str) -> list[str]:
        """Return the commands that set how kings castle in this position, where that changes."""
        wanted = is_chess960(fen)
        if wanted == self._chess960:
            return []
        if "uci_chess960" not in self.options or self.method == "children":
            raise InputError(f"{self.identity['engine']} does not know how kings castle in Chess960")
        self._chess960 = wanted
        return [f"setoption name {self._known('UCI_Chess960').checked(wanted)}"]

    def close(self) -> None:
        """End the process: ask it to quit, then kill it. Closing twice does no harm."""
        self._closing()

    def _shake_hands(self) -> tuple[SearchKey, dict[str, EngineOption]]:
        with contextlib.suppress(EngineError):  # what has ended already says why in its output
            self._send("uci")
        text = self._read_until(b"uciok", START_SECONDS, START_SECONDS).decode("utf-8", "replace")
        rows = [row.strip() for row in text.splitlines()]
        names = [row.removeprefix("id name").strip() for row in rows if row.startswith("id name")]
        options = {option.name.lower(): option for option in map(engine_settings.parse_option, rows) if option}
        chosen = {name.lower(): engine_settings.option_text(value) for name, value in self.settings.options.items()}
        nets = [chosen.get(name, options[name].default) for name in options if name.startswith("evalfile")]
        return {"engine": names[0] if names else self.path.name, "net": ", ".join(nets) or None}, options

    def _set_options(self) -> None:
        if self.settings.nodes is not None and not self.quirks.nodes:
            raise EngineError(
                f"{self.identity['engine']} cannot be held to a number of nodes", hint="limit its searches by depth"
            )
        wanted: dict[str, engine_settings.OptionValue] = dict(self.settings.options)
        if self.method == "children":
            child_settings(self.settings)  # refuses what cannot be searched so
        elif "multipv" in self.options:
            wanted["MultiPV"] = self.settings.multipv
        ours = (("Hash", self.settings.hash_mb), ("Threads", self.settings.threads), ("OwnBook", False))
        wanted |= {name: value for name, value in ours if name.lower() in self.options}
        for name, value in wanted.items():
            self._send(f"setoption name {self._known(name).checked(value)}")
        self._send("isready")
        self._read_until(b"readyok", START_SECONDS, START_SECONDS)

    def _known(self, name: str) -> EngineOption:
        if name.lower() not in self.options:
            raise EngineError(
                f"{self.identity['engine']} has no option {name!r}",
                hint="its options: " + ", ".join(option.name for option in self.options.values()),
            )
        return self.options[name.lower()]

    def _send(self, *commands: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write("".join(f"{command}\n" for command in commands).encode())
        except (OSError, ValueError) as error:  # a broken pipe, or a pipe closed by close()
            raise EngineError(f"{self.path.name} has ended") from error

    def _read_until(
        self, word: bytes, seconds: float, silence: float, interrupted: Callable[[], bool] | None = None
    ) -> bytes:
        """Return the output up to the line that begins with `word`; once `interrupted`, ask the engine to stop."""
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        deadline, searched = time.monotonic() + seconds, 0
        while True:
            begin = self._unread.find(b"\n" + word, searched)
            end = self._unread.find(b"\n", begin + 1) if begin >= 0 else -1
            if end >= 0:
                taken = bytes(self._unread[: end + 1])
                del self._unread[:end]
                return taken
            searched = max(0, len(self._unread) - len(word)) if begin < 0 else begin
            if interrupted and b" pv " in self._unread and interrupted():
                interrupted = None
                self._send("stop")
            left = min(silence, deadline - time.monotonic())
            ready = self._poll.poll(1000 * (min(left, _LOOK_SECONDS) if interrupted else left)) if left > 0 else []
            if any(place == self._stop for place, _ in ready):
                raise SearchStopped(f"{self.path.name} was stopped")
            if not ready and interrupted and left > 0:
                continue
            if not ready:
                raise EngineError(f"{self.path.name} did not answer with {word.decode()!r} in time")
            data = os.read(descriptor, 65536)
            if not data:
                raise self._ended()
            self._unread += data
            check_output(self._unread)

    def _ended(self) -> EngineError:
        _, failed, reason = self._unread.decode("utf-8", "replace").partition(f"\n{guard.FAILED_TO_START}")
        if failed:
            return EngineError(f"{self.path} cannot be started: {reason.strip()}", hint=_INSTALL_HINT)
        status = ""
        with contextlib.suppress(subprocess.TimeoutExpired):
            status = f" (exit status {self._process.wait(_STATUS_SECONDS)})"
        return EngineError(f"{self.path.name} ended without an answer{status}")


def _poll(process: subprocess.Popen[bytes], stop: int | None) -> select.poll:
    poll = select.poll()
    assert process.stdout is not None
    poll.register(process.stdout, select.POLLIN | select.POLLHUP)
    if stop is not None:
        poll.register(stop, select.POLLIN | select.POLLHUP)
    return poll


def _start(path: Path) -> tuple[subprocess.Popen[bytes], int]:
    """Start the program under guard, in a session of its own (Ctrl-C); return the guard and our end of the pipe."""
    theirs, ours = os.pipe()
    script = [sys.executable or "python3", "-I", "-S", guard.__file__]
    try:
        process = subprocess.Popen(
            [*script, str(theirs), str(os.getpid()), os.fspath(path), *ARGUMENTS.get(path.name, ())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,
            pass_fds=[theirs],
        )
    except OSError as error:
        os.close(ours)
        raise EngineError(f"{path} cannot be started: {error.strerror or error}", hint=_INSTALL_HINT) from error
    finally:
        os.close(theirs)
    return process, ours


def _shut_down(process: subprocess.Popen[bytes], lifeline: int) -> None:
    """End the process and everything that it started; also called when the Engine is forgotten or Python ends."""
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(OSError):
        process.stdin.write(b"quit\n")
    with contextlib.suppress(OSError):
        process.stdin.close()
    try:
        if process.wait(_QUIT_SECONDS) < 0:  # the guard was killed: the engine may still be there
            _kill_group(process.pid)
    except subprocess.TimeoutExpired:
        _kill_group(process.pid)
        process.wait()
    finally:
        process.stdout.close()
        os.close(lifeline)


def _kill_group(leader: int) -> None:
    guard.end_session(leader)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


@dataclass(frozen=True)
class QuickAnswer:
    """The best line's raw score, mover's view, the depth it was searched to, the seconds it took, and its move."""

    mate: bool
    score: int
    depth: int
    seconds: float
    move: int = 0  # from + 64·to + 4096·promotion; 0 where it is not known


class QuickEngine(Engine):
    """An engine that is asked with a time in place of a depth."""

    def analyse_within(self, fen: str, seconds: float, *, interrupted: Callable[[], bool] | None = None) -> QuickAnswer:
        """Search one position for so long, or until `interrupted` says that something else has come up."""
        legal = legal_moves(fen)
        begin = time.perf_counter()
        self._send(f"position fen {fen}", f"go movetime {max(1, round(seconds * 1000))}")
        output = self._read_until(b"bestmove", seconds + _PATIENCE, seconds + _PATIENCE, interrupted)
        # A bound is better than nothing where no depth was finished exactly.
        lines, _ = read_answer(output)
        if not len(lines):
            lines, _ = read_answer(output, flagged=True)
        any_depth = replace(self.settings, depth=None, nodes=1, multipv=1)
        best: Any = engine_lines.last_depth(checked_answer(lines, legal, any_depth))[0]
        took = time.perf_counter() - begin
        return QuickAnswer(bool(best["mate"]), int(best["score"]), int(best["depth"]), took, int(best["move"]))

    def lines_within(
        self, fen: str, depth: int, seconds: float, *, interrupted: Callable[[], bool] | None = None
    ) -> LineArray:
        """Search one position from nothing to a depth, within so many seconds; return the lists of finished depths."""
        legal = legal_moves(fen)
        self._send("ucinewgame", "isready")
        self._read_until(b"readyok", _PATIENCE, _PATIENCE)
        self._send(f"position fen {fen}", f"go depth {depth} movetime {max(1, round(seconds * 1000))}")
        output = self._read_until(b"bestmove", seconds + _PATIENCE, seconds + _PATIENCE, interrupted)
        lines, _ = read_answer(output)
        return checked_answer(lines, legal, replace(self.settings, depth=None, nodes=1))
