"""Following a feed: the loop between a feed, the state of its boards and an engine that is asked against the clock.

In: a feed, a Follower and an engine's path. Out: events as soon as they are known, with the delay since the news.

New moves come first. While older positions of a game are searched, the engine is stopped as soon as the feed has news;
while a new move is searched, once that has had half of its time. An engine that fails is restarted; a position on which
it fails twice is given up. After a given number of seconds a bell rings, which interrupts any wait for the engine.
"""

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skilloscope.chess.engine.engine import QuickAnswer, QuickEngine, SearchStopped
from skilloscope.chess.engine.lines import last_depth, sound_lines
from skilloscope.chess.engine.settings import Settings
from skilloscope.core.errors import EngineError, SkilloscopeError
from skilloscope.store import Store
from skilloscope.studies.live.feed import Feed
from skilloscope.studies.live.live import Event, Follower, Problem, Task

POLL_SECONDS = 0.02
ONCE_SECONDS = 30.0
"""How long a feed that is read once may take to settle; then its latest text counts."""


@dataclass(frozen=True)
class Stopping:
    """When to stop: when the present text is evaluated, when every game has a result, or after some seconds."""

    once: bool = False
    finished: bool = False
    seconds: float | None = None
    stall_seconds: float = 60.0
    """A feed without news for this long is reported as stalled; it is still followed."""


class Following:
    """The loop; `events` yields until it is time to stop. Use it as a context manager, so that no engine is left."""

    def __init__(
        self,
        feed: Feed,
        follower: Follower,
        settings: Settings,
        *,
        find: Callable[[], Path],
        store: Path | None = None,
        stopping: Stopping | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.feed, self.follower, self.settings = feed, follower, settings
        self.stopping = stopping or Stopping()
        self._find, self._clock, self._sleep = find, clock, sleep
        self._store = Store(store, read_only=True) if store is not None and store.is_file() else None
        self._engine: QuickEngine | None = None
        self._path: Path | None = None
        self._bell = _Bell()
        self._begin = clock()
        self.was_read = False
        """Whether a text of the feed was read completely."""
        self._seen = False
        self._news = clock()
        self._stalled = False
        self._problem: str | None = None

    def __enter__(self) -> "Following":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the engine, the feed, the store and the bell."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None
        if self._store is not None:
            self._store.close()
            self._store = None
        self.feed.close()
        self._bell.close()

    def events(self) -> Iterator[Event]:
        """Yield events; those that follow from news of the feed say how many seconds after it they come."""
        self._begin = self._clock()
        if self.stopping.seconds is not None:
            self._bell.ring_after(self.stopping.seconds)
        with contextlib.suppress(SearchStopped):
            while not self._is_out_of_time():
                if not self._is_read_out():
                    yield from self._from_feed()
                task = self.follower.wanted()
                if task is not None:
                    yield from self._timed(self._value(task))
                elif self._is_over():
                    return
                else:
                    yield from self._stall()
                    self._sleep(POLL_SECONDS)

    def _from_feed(self) -> Iterator[Event]:
        text = self.feed.poll()
        problem = self.feed.problem()
        if problem != self._problem:
            self._problem = problem
            if problem:
                yield Event("problem", None, Problem(problem))
        if text is None:
            return
        self._seen = True
        now = self._clock()
        events = self.follower.snapshot(text)
        self.was_read = True
        if events or self.follower.wanted() is not None:
            self._news = now
            if self._stalled:
                self._stalled = False
                yield Event("resumed")
        yield from self._timed(events)

    def _value(self, task: Task) -> list[Event]:
        """Evaluate a position: from the store, or by the engine within its time."""
        stored = self._stored(task.fen)
        if stored is not None:
            return self._taken(task, stored, 0.0)
        self._path = self._path or self._find()  # an error if there is no engine at all
        begin, reason = self._clock(), ""
        for _ in range(2):
            try:
                answer = self._ask(task)
            except SearchStopped:
                raise
            except EngineError as error:
                reason = str(error)
                if self._engine is not None:
                    self._engine.close()
                self._engine = None
            except SkilloscopeError as error:  # the position is at fault: no second attempt
                reason = str(error)
                break
            else:
                # None: news of the feed came first
                return [] if answer is None else self._taken(task, answer, self._clock() - begin)
        return self.follower.gave_up(task, reason, self._clock() - begin)

    def _taken(self, task: Task, answer: QuickAnswer, seconds: float) -> list[Event]:
        """Hand an answer to the boards."""
        mate, score, depth, choice = answer.mate, answer.score, answer.depth, answer.move
        return self.follower.valued(task, mate=mate, score=score, depth=depth, seconds=seconds, choice=choice)

    def _started(self) -> QuickEngine:
        """Return the engine, started if it is not running."""
        if self._engine is None:
            self._path = self._path or self._find()
            self._engine = QuickEngine(self._path, self.settings, stop=self._bell.descriptor)
        return self._engine

    def _ask(self, task: Task) -> QuickAnswer | None:
        engine = self._started()
        if task.fresh:
            # After half of its time a new move makes room for other news, and what was found by then counts: so no
            # other move waits longer than half a budget.
            half = self._clock() + task.seconds / 2
            waiting = lambda: self._clock() >= half and self.feed.changed()  # noqa: E731
            return engine.analyse_within(task.fen, task.seconds, interrupted=waiting)
        stopped = False

        def interrupted() -> bool:
            nonlocal stopped
            stopped = self.feed.changed()
            return stopped

        answer = engine.analyse_within(task.fen, task.seconds, interrupted=interrupted)
        return None if stopped else answer

    def warm_up(self) -> dict[str, Any]:
        """Start the engine before the first move comes; return its identity and settings."""
        if self._engine is None:
            self._started().analyse_within("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 0.01)
        return dict(self._started().key)

    def _stored(self, fen: str) -> QuickAnswer | None:
        """Return the store's answer under the same engine and settings, if it has one."""
        if self._store is None:
            return None
        key = self.warm_up()
        problem = self.settings.problem(fen)
        row = self._store.get_many(key, [problem]).get(problem)
        lines = None if row is None or row.status != "done" else sound_lines(row.lines)
        if lines is None:
            return None
        best: Any = last_depth(lines)[0]
        return QuickAnswer(bool(best["mate"]), int(best["score"]), int(best["depth"]), 0.0, int(best["move"]))

    def _timed(self, events: list[Event]) -> Iterator[Event]:
        delay = self._clock() - self._news
        for event in events:
            yield replace(event, delay_seconds=round(delay, 4))

    def _is_out_of_time(self) -> bool:
        return self.stopping.seconds is not None and self._clock() - self._begin >= self.stopping.seconds

    def _is_read_out(self) -> bool:
        """Return whether a feed that is read once has had its time."""
        return self.stopping.once and self._clock() - self._begin >= ONCE_SECONDS

    def _is_over(self) -> bool:
        if self.stopping.finished and self.follower.finished():
            return True
        if not self.stopping.once:
            return False
        return self._is_read_out() or ((self._seen or self._problem is not None) and not self.feed.changed())

    def _stall(self) -> Iterator[Event]:
        if not self._stalled and self._clock() - self._news > self.stopping.stall_seconds:
            self._stalled = True
            yield Event("stalled")


class _Bell:
    """A descriptor that becomes readable after some seconds, for polling."""

    def __init__(self) -> None:
        self.descriptor, self._ours = os.pipe()
        self._timer: threading.Timer | None = None
        self._closed = False

    def ring_after(self, seconds: float) -> None:
        self._timer = threading.Timer(seconds, os.write, [self._ours, b"!"])
        self._timer.daemon = True
        self._timer.start()

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()
        if not self._closed:
            self._closed = True
            os.close(self.descriptor)
            os.close(self._ours)
