"""The same searches on a cluster: positions go to the workers of a Dask scheduler, outcomes come back as they are done.

One position is one task. A worker keeps one engine per thread, each behind a Runner, and ends them when the run or the
worker ends. Only as many positions as keep every engine busy are under way. A worker that dies costs the positions that
it had not handed back: Dask gives them to another one. An answer of an engine that is not the others' is an error.
"""

import asyncio
import contextlib
import os
import queue
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from skilloscope.chess.engine.engine import find_engine
from skilloscope.chess.engine.runner import HOPELESS, Runner, SearchOutcome, SearchRunner
from skilloscope.chess.engine.settings import SearchKey, Settings
from skilloscope.core.errors import EngineError, MissingExtraError
from skilloscope.core.paths import Closing

try:
    from distributed import Client, Future, KilledWorker, Worker, WorkerPlugin, get_worker
except ModuleNotFoundError as error:
    raise MissingExtraError(
        f"a cluster needs Dask: {error.name} is not installed", hint="pip install 'skilloscope[cluster]'"
    ) from error

CONNECT_SECONDS = 10.0  # a scheduler that does not answer for so long is not there
WORKER_SECONDS = 60.0
"""So long a cluster may be without any worker: some start when there is work, and lost ones are replaced."""

IDLE_SECONDS = 60.0
"""A worker ends an engine that had nothing to do for so long: the process that gave it work may have been killed."""

AHEAD = 2  # positions under way per engine: one that is searched, and one that is at hand when it is done
_LOOK_SECONDS = 1.0
_KEPT_HINT = "what was finished before is kept; run the same command again to resume"
_WORKER_HINT = "every machine of the cluster needs the same skilloscope with the extra 'cluster', and the same engine"


class ClusterRunner(SearchRunner):
    """The engines of a cluster's workers as one runner; a context manager that leaves none of them behind.

    The engine is found by name or path on each worker.

    `with ClusterRunner("tcp://HOST:8786", Settings(depth=10)) as runner: outcomes = list(runner.search(fens))`
    """

    def __init__(self, scheduler: str, settings: Settings, engine: str | os.PathLike[str] | None = None) -> None:
        self._scheduler = scheduler
        self._name = f"skilloscope-{uuid.uuid4().hex}"
        self._client = connect(scheduler)
        self._capacity = _Capacity(self._client, scheduler)
        self._searches = 0
        try:
            with self._connected():
                while not self._capacity.engines():
                    time.sleep(0.1)
                engines = _WorkerEngines(None if engine is None else os.fspath(engine), settings)
                try:
                    self._client.register_plugin(engines, name=self._name)
                except OSError:
                    raise
                except Exception as error:  # Dask wraps in this whatever a worker raises, an ImportError of ours too
                    raise EngineError(f"a worker does not accept the work: {error}", hint=_WORKER_HINT) from error
                self.key = self._common_key()
        except BaseException:
            self.close()
            raise

    def search(self, problems: Iterable[str], *, until: float | None = None) -> Iterator[SearchOutcome]:
        """Yield the outcomes as they are done; when the clock (time.monotonic) reaches `until`, no search begins."""
        self._searches += 1
        flight = _Flight(self._client, self._name, self._searches)
        waiting = iter(problems)
        failures: Counter[str] = Counter()
        with self._connected(), flight:
            while True:
                wanted = AHEAD * max(self._capacity.engines(), 1) - len(flight)
                if until is not None and time.monotonic() >= until and not flight.stopped:
                    flight.stop()
                if not flight.stopped:
                    flight.submit(islice(waiting, max(wanted, 0)))
                if not len(flight):
                    return
                for reply in flight.landed(until):
                    yield from self._checked(reply, failures)

    def close(self) -> None:
        """End every engine of this run; one that is searching ends with its search."""
        with contextlib.suppress(OSError, ValueError, KeyError):  # the scheduler has gone, or never had our plugin
            if self._client.status == "running":
                self._client.unregister_worker_plugin(self._name)
        self._client.close()

    def _common_key(self) -> SearchKey:
        """Return the key of every worker's engine, started for this: an error where two are not the same."""
        answers = self._client.run(_key_of_worker, self._name, on_error="return")
        replies = [r if isinstance(r, _Reply) else _Reply(worker, {}, error=str(r)) for worker, r in answers.items()]
        for reply in replies:
            self._check_worker(reply, replies[0].key)
        if not replies:
            raise EngineError("the cluster has lost all its workers", hint=_KEPT_HINT)
        return replies[0].key

    def _check_worker(self, reply: "_Reply", key: SearchKey) -> None:
        if reply.error:
            raise EngineError(f"the worker {reply.worker} cannot search: {reply.error}", hint=_WORKER_HINT)
        own: Mapping[str, object] = reply.key
        if differ := [(name, wanted) for name, wanted in key.items() if own.get(name) != wanted]:
            text = ", ".join(f"{name} {own.get(name)!r}, not {wanted!r}" for name, wanted in differ)
            raise EngineError(
                f"the worker {reply.worker} searches differently from the others: {text}", hint=_WORKER_HINT
            )

    def _checked(self, reply: "_Reply", failures: Counter[str]) -> Iterator[SearchOutcome]:
        """Yield the outcome, if the search has begun; an error where the worker's engine is another, or hopeless."""
        if reply.worker and not reply.stopped:
            self._check_worker(reply, self.key)
        if reply.outcome is None:
            return
        yield reply.outcome
        if not reply.worker:
            return
        failures[reply.worker] = 0 if reply.outcome.answer else failures[reply.worker] + 1
        if failures[reply.worker] == HOPELESS:
            raise EngineError(
                f"the engine of the worker {reply.worker} failed on {HOPELESS} positions in a row; the last time: "
                f"{reply.outcome.reason}",
                hint=f"{_KEPT_HINT}; try without this worker, another engine, or a smaller depth",
            )

    @contextlib.contextmanager
    def _connected(self) -> Iterator[None]:
        """Say it in our words where Dask cannot reach the scheduler any more."""
        try:
            yield
        except OSError as error:
            raise EngineError(f"the scheduler at {self._scheduler} has gone: {error}", hint=_KEPT_HINT) from error


class _Reply(NamedTuple):
    """What a worker says: with which key it searches, and the outcome; or why it cannot search."""

    worker: str  # its address; empty where no worker has lived to say it
    key: SearchKey
    outcome: SearchOutcome | None = None
    error: str = ""
    stopped: bool = False  # whether the search was not begun because its flight was stopped


class _Flight(Closing):
    """The positions under way; a context manager that takes back what is not finished."""

    def __init__(self, client: Client, name: str, number: int) -> None:
        self.stopped = False
        self._client, self._name, self._number = client, name, number
        self._tasks: dict[str, tuple[str, Future[_Reply]]] = {}
        self._done: queue.SimpleQueue[str] = queue.SimpleQueue()

    def __len__(self) -> int:
        return len(self._tasks)

    def submit(self, problems: Iterable[str]) -> None:
        sent = list(problems)
        if not sent:
            return
        futures = self._client.map(_search_on_worker, sent, name=self._name, number=self._number, pure=False)
        for problem, future in zip(sent, futures, strict=True):
            self._tasks[str(future.key)] = problem, future
            future.add_done_callback(lambda done: self._done.put(str(done.key)))

    def landed(self, until: float | None) -> list[_Reply]:
        wait = _LOOK_SECONDS if until is None or self.stopped else min(_LOOK_SECONDS, until - time.monotonic())
        keys = []
        with contextlib.suppress(queue.Empty):
            keys.append(self._done.get(timeout=max(wait, 0.0)))
            while True:
                keys.append(self._done.get_nowait())
        tasks = {key: self._tasks.pop(key) for key in keys}
        futures = {key: future for key, (_, future) in tasks.items()}
        replies = self._client.gather(futures, errors="skip") if futures else {}
        return [replies[key] or _lost(future, problem) for key, (problem, future) in tasks.items()]

    def stop(self) -> None:
        self.stopped = True
        self._client.run(_stop_worker, self._name, self._number, on_error="ignore")

    def close(self) -> None:
        if self._tasks and self._client.status == "running":
            self._client.cancel([future for _, future in self._tasks.values()])


class _Capacity:
    """How many engines the cluster has now; the scheduler is asked once in a while."""

    def __init__(self, client: Client, scheduler: str) -> None:
        self._client, self._scheduler = client, scheduler
        self._engines = 0
        self._asked = -_LOOK_SECONDS
        self._seen = time.monotonic()

    def engines(self) -> int:
        now = time.monotonic()
        if now - self._asked >= _LOOK_SECONDS:
            self._asked, self._engines = now, sum(self._client.nthreads().values())
            self._seen = now if self._engines else self._seen
        if now - self._seen > WORKER_SECONDS:
            raise EngineError(
                f"the cluster has had no worker for {WORKER_SECONDS:g} seconds",
                hint=f"start workers: dask worker {self._scheduler} --nthreads 1; {_KEPT_HINT}",
            )
        return self._engines


class _WorkerEngines(WorkerPlugin):
    """What a worker keeps for a run: its engines, at most one for each of its threads."""

    def __init__(self, engine: str | None, settings: Settings) -> None:
        self._engine, self._settings = engine, settings

    def setup(self, worker: Worker) -> None:
        self._address = worker.address
        self._lock = threading.Lock()
        self._idle: list[Runner] = []
        self._used = time.monotonic()
        self._closed = False
        self._stopped = 0
        self._watch = asyncio.create_task(self._end_idle_engines())

    async def teardown(self, worker: Worker) -> None:
        """End the engines; one that is searching is ended by its thread."""
        self._watch.cancel()
        self._closed = True
        await asyncio.to_thread(self._end)

    def search(self, problem: str, number: int) -> _Reply:
        if number <= self._stopped:
            return _Reply(self._address, {}, stopped=True)
        return self._with_runner(lambda runner: next(iter(runner.search([problem]))))

    def key(self) -> _Reply:
        return self._with_runner(lambda runner: None)

    def stop(self, number: int) -> None:
        self._stopped = number

    def _with_runner(self, work: Callable[[Runner], SearchOutcome | None]) -> _Reply:
        try:
            with self._lock:
                runner = self._idle.pop() if self._idle else None
            runner = runner or Runner(find_engine(self._engine), self._settings)
            try:
                return _Reply(self._address, runner.key, work(runner))
            finally:
                with self._lock:
                    self._idle.append(runner)
                    self._used = time.monotonic()
                if self._closed:
                    self._end()
        except EngineError as error:  # not a failed search, which is an outcome: there is no engine, or another one
            return _Reply(self._address, {}, error=str(error))

    def _end(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for runner in idle:
            runner.close()

    async def _end_idle_engines(self) -> None:
        while True:
            await asyncio.sleep(IDLE_SECONDS / 4)
            if time.monotonic() - self._used > IDLE_SECONDS:
                await asyncio.to_thread(self._end)


def _search_on_worker(problem: str, *, name: str, number: int) -> _Reply:
    return _engines_of(get_worker(), name).search(problem, number)


async def _key_of_worker(name: str, dask_worker: Worker) -> _Reply:
    return await asyncio.to_thread(_engines_of(dask_worker, name).key)


def _stop_worker(name: str, number: int, dask_worker: Worker) -> None:
    _engines_of(dask_worker, name).stop(number)


def _engines_of(worker: Worker, name: str) -> _WorkerEngines:
    engines = worker.plugins[name]
    assert isinstance(engines, _WorkerEngines)
    return engines


def connect(scheduler: str) -> Client:
    """Return a client of a scheduler; an error of ours where none answers."""
    try:
        return Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        hint = "start one: dask scheduler; its address is like tcp://HOST:8786"
        raise EngineError(f"no scheduler answers at {scheduler}", hint=hint) from error


def _lost(future: Future[_Reply], problem: str) -> _Reply:
    """Return the reply of a task without a result: the workers died on it, or the scheduler is gone."""
    if future.cancelled():
        raise OSError("it does not answer any more")
    error = future.exception()
    if isinstance(error, KilledWorker):
        reason = f"a worker that had this position has ended, {error.allowed_failures + 1} times"
        return _Reply("", {}, outcome=SearchOutcome(problem, None, reason))
    first_line = str(error).partition("\n")[0]
    raise EngineError(f"the cluster does not accept the work: {first_line}", hint=_WORKER_HINT) from error
