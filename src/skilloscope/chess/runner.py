"""The runner: positions in, outcomes out, whatever the engine does meanwhile.

In: problems (FENs as the engine gets them). Out: an Outcome for each, as soon as it is known.

An engine that crashes, hangs or answers nonsense is ended and started anew, and the position tried once more. A
position that fails twice has failed; an engine on which nothing works is given up.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol

from skilloscope.chess.engine import Answer, Engine, find_engine
from skilloscope.chess.settings import Settings
from skilloscope.errors import EngineError, InputError

__all__ = ["Outcome", "Runner", "SearchRunner", "start_runner"]

HOPELESS = 10
"""After so many failed positions in a row the engine is given up."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """The answer to a problem, or the reason why there is none."""

    problem: str
    answer: Answer | None
    reason: str = ""


class SearchRunner(Protocol):
    """What searches: one engine, several side by side, or a cluster. The order of outcomes is the runner's own."""

    key: dict[str, Any]

    def search(self, problems: Iterable[str], *, until: float | None = None) -> Iterator[Outcome]:
        """Yield an outcome for each problem; when the clock has reached `until`, no further search begins."""

    def close(self) -> None:
        """End every engine."""

    def __enter__(self) -> SearchRunner: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def start_runner(
    engine: str | os.PathLike[str] | None, settings: Settings, *, workers: int = 1, scheduler: str | None = None
) -> SearchRunner:
    """Start what is to search: an engine found by name or path, so many times, here or on a cluster."""
    if scheduler is not None:
        from skilloscope.chess.cluster import ClusterRunner  # loads Dask, so only when asked for

        return ClusterRunner(scheduler, settings, engine)
    if workers != 1:
        raise InputError("several workers are not there yet", hint="use one worker")
    return Runner(find_engine(engine), settings)


class Runner:
    """One engine process, replaced when it fails; a context manager that leaves no process behind."""

    def __init__(self, path: str | os.PathLike[str], settings: Settings) -> None:
        self._path = path
        self._settings = settings
        self._engine: Engine | None = Engine(path, settings)
        self.key: dict[str, Any] = self._engine.key

    def search(self, problems: Iterable[str], *, until: float | None = None) -> Iterator[Outcome]:
        """Yield the outcomes; when the clock (time.monotonic) has reached `until`, no further search begins."""
        failures = 0
        for problem in problems:
            if until is not None and time.monotonic() >= until:
                return
            outcome = self._ask_twice(problem)
            failures = 0 if outcome.answer else failures + 1
            yield outcome
            if failures == HOPELESS:
                raise EngineError(
                    f"the engine failed on {HOPELESS} positions in a row; the last time: {outcome.reason}",
                    hint="what was finished before is kept; try another engine, or a smaller depth",
                )

    def close(self) -> None:
        """End the engine."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def __enter__(self) -> Runner:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _ask_twice(self, problem: str) -> Outcome:
        reason = ""
        for _ in range(2):
            try:
                if self._engine is None:
                    self._engine = Engine(self._path, self._settings)
                return Outcome(problem, self._engine.analyse(problem))
            except InputError as error:  # the position is at fault, not the engine: it need not be asked again
                return Outcome(problem, None, str(error))
            except EngineError as error:
                reason = str(error)
                self.close()
        return Outcome(problem, None, reason)
