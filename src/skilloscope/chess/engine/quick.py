"""An engine against the clock: the best answer within so many milliseconds, for games that are being played.

In: a FEN and a time. Out: the value of the deepest depth that was finished, or the list of every finished depth.

Such answers depend on the machine and on what else it does, so they are never put into the store. The hash table is
kept from one position to the next, which a broadcast wants and a measurement must not do.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from skilloscope.chess.engine.engine import Engine, SearchStopped, legal_moves
from skilloscope.chess.engine.lines import LineArray, last_depth
from skilloscope.chess.engine.uci import checked_answer, read_answer
from skilloscope.core.errors import EngineError

_PATIENCE = 10.0
"""So many seconds beyond its time an engine may take before it is given up."""

_LOOK_MS = 10
_MOST_BYTES = 64_000_000


@dataclass(frozen=True)
class QuickAnswer:
    """The best line's raw score, mover's view, the depth it was searched to, the seconds it took, and its move."""

    mate: bool
    score: int
    depth: int
    seconds: float
    move: int = 0
    """From + 64·to + 4096·promotion; 0 where it is not known."""


class QuickEngine(Engine):
    """An engine that is asked with a time in place of a depth."""

    def analyse_within(self, fen: str, seconds: float, *, interrupted: Callable[[], bool] | None = None) -> QuickAnswer:
        """Search one position for so long, or until `interrupted` says that something else has come up."""
        legal = legal_moves(fen)
        begin = time.perf_counter()
        self._send(f"position fen {fen}", f"go movetime {max(1, round(seconds * 1000))}")
        self._wait(seconds + _PATIENCE, interrupted)
        output = self._read_until(b"bestmove", _PATIENCE, _PATIENCE)
        # A bound is better than nothing where no depth was finished exactly.
        lines, _ = read_answer(output)
        if not len(lines):
            lines, _ = read_answer(output, flagged=True)
        any_depth = replace(self.settings, depth=None, nodes=1, multipv=1)
        best: Any = last_depth(checked_answer(lines, legal, any_depth))[0]
        took = time.perf_counter() - begin
        return QuickAnswer(bool(best["mate"]), int(best["score"]), int(best["depth"]), took, int(best["move"]))

    def lines_within(
        self, fen: str, depth: int, seconds: float, *, interrupted: Callable[[], bool] | None = None
    ) -> LineArray:
        """Search one position from nothing to a depth, but no longer than so; return the lists of finished depths.

        Where the depth is reached, the answer is the one that any search to that depth gives.
        """
        legal = legal_moves(fen)
        self._send("ucinewgame", "isready")
        self._read_until(b"readyok", _PATIENCE, _PATIENCE)
        self._send(f"position fen {fen}", f"go depth {depth} movetime {max(1, round(seconds * 1000))}")
        self._wait(seconds + _PATIENCE, interrupted)
        lines, _ = read_answer(self._read_until(b"bestmove", _PATIENCE, _PATIENCE))
        return checked_answer(lines, legal, replace(self.settings, depth=None, nodes=1))

    def _wait(self, seconds: float, interrupted: Callable[[], bool] | None) -> None:
        """Read until the engine has answered; tell it to stop when it is interrupted and has a first line to show."""
        assert self._process.stdout is not None
        deadline, told = time.monotonic() + seconds, False
        searched = 0
        while self._unread.find(b"\nbestmove", searched) < 0:
            searched = max(0, len(self._unread) - len(b"\nbestmove"))
            ready = [place for place, _ in self._poll.poll(_LOOK_MS)]
            if self._stop in ready:
                raise SearchStopped(f"{self.path.name} was stopped")
            if ready:
                data = os.read(self._process.stdout.fileno(), 65536)
                if not data:
                    raise self._ended()
                self._unread += data
            if len(self._unread) > _MOST_BYTES:
                raise EngineError(f"{self.path.name} printed more than {_MOST_BYTES:,} bytes without an answer")
            if time.monotonic() > deadline:  # also where the engine talks all the time
                raise EngineError(f"{self.path.name} did not answer in time")
            if interrupted and not told and b" pv " in self._unread and interrupted():
                told = True
                self._send("stop")
