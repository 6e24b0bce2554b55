"""The pool: several engines side by side, each with a thread that does nothing but talk to it.

A thread takes the next problem when its engine is free. Every engine starts from nothing at every position, so the
answers do not depend on which engine got which position, nor on the order.
"""

import os
import queue
import threading
import weakref
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

from skilloscope.chess.engine.engine import find_engine
from skilloscope.chess.engine.runner import Runner, SearchOutcome, SearchRunner
from skilloscope.chess.engine.settings import Settings
from skilloscope.core.errors import EngineError, OptionError


class EnginePool(SearchRunner):
    """So many engines behind one search; a context manager that leaves no process and no thread behind.

    The first engine starts with the pool and gives its key; the others start with the first problem that they get,
    and must be of the same key. Each is replaced and each gives up by itself, as a Runner does: `HOPELESS` failures
    in a row of one engine end the search.
    """

    def __init__(self, path: str | os.PathLike[str], settings: Settings, workers: int) -> None:
        if workers < 1:
            raise OptionError(f"workers is {workers}", hint="it must be at least 1")
        self._stopped, self._stopping = os.pipe()  # while the first can be read, every thread that polls it stops
        for end in (self._stopped, self._stopping):
            weakref.finalize(self, os.close, end)
        self._threads: list[threading.Thread] = []
        first = Runner(path, settings, stop=self._stopped)
        self.key = first.key
        others = (Runner(path, settings, key=first.key, stop=self._stopped) for _ in range(workers - 1))
        self._runners = [first, *others]

    def search(self, problems: Iterable[str], *, until: float | None = None) -> Iterator[SearchOutcome]:
        """Yield the outcomes as they come; when the clock (time.monotonic) has reached `until`, none begins."""
        if not self._runners:
            raise EngineError("the engines of this pool are closed")
        self._stop(self._threads)  # of a search that was left in the middle
        feed = _Feed(problems)
        outcomes: queue.SimpleQueue[SearchOutcome | BaseException | None] = queue.SimpleQueue()

        def work(runner: Runner) -> None:
            try:
                for outcome in runner.search(feed, until=until):
                    outcomes.put(outcome)
                outcomes.put(None)
            except BaseException as error:  # whatever it is, the thread that waits for outcomes must get it
                outcomes.put(error)

        threads = [threading.Thread(target=work, args=[runner], daemon=True) for runner in self._runners]
        self._threads = threads
        try:
            for thread in threads:
                thread.start()
            working = len(threads)
            while working:
                got = outcomes.get()
                if isinstance(got, BaseException):
                    raise got
                if got is None:
                    working -= 1
                else:
                    yield got
        finally:
            feed.end()
            self._stop(threads)

    def close(self) -> None:
        """End every engine, also those that search. Closing twice does no harm."""
        self._stop(self._threads)
        if self._runners:
            with ThreadPoolExecutor(len(self._runners)) as together:  # one that does not quit costs a second
                list(together.map(Runner.close, self._runners))
        self._runners = []

    def _stop(self, threads: list[threading.Thread]) -> None:
        """Make the threads give up what they search, and wait for them; the pool can search again afterwards."""
        running = [thread for thread in threads if thread.is_alive()]
        if running:
            os.write(self._stopping, b"!")
            for thread in running:
                thread.join()
            os.read(self._stopped, 1)


class _Feed:
    """An iterator that several threads may share, and that can be ended."""

    def __init__(self, problems: Iterable[str]) -> None:
        self._problems = iter(problems)
        self._lock = threading.Lock()
        self._ended = False

    def __iter__(self) -> "_Feed":
        return self

    def __next__(self) -> str:
        with self._lock:
            if self._ended:
                raise StopIteration
            return next(self._problems)

    def end(self) -> None:
        self._ended = True


def start_runner(
    engine: str | os.PathLike[str] | None, settings: Settings, *, workers: int = 1, scheduler: str | None = None
) -> SearchRunner:
    """Start what is to search: an engine found by name or path, so many times, here or on a cluster."""
    if scheduler is not None:
        from skilloscope.chess.engine.cluster import ClusterRunner  # loads Dask, so only when asked for

        return ClusterRunner(scheduler, settings, engine)
    if workers < 1:
        raise OptionError(f"workers is {workers}", hint="it must be at least 1")
    path = find_engine(engine)
    return Runner(path, settings) if workers == 1 else EnginePool(path, settings, workers)
