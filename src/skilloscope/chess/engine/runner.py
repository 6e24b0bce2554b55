"""The runner: positions in, outcomes out, whatever the engine does meanwhile.

An engine that crashes, hangs or answers nonsense is ended and started again, and the position tried once more. A
position that fails twice has failed; an engine on which nothing works is given up.
"""

import os
import time
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from skilloscope.chess.engine.engine import Answer, Engine, SearchStopped
from skilloscope.chess.engine.settings import SearchKey, Settings
from skilloscope.core.errors import EngineError, InputError
from skilloscope.core.paths import Closing

HOPELESS = 10  # after so many failed positions in a row the engine is given up


@dataclass(frozen=True, eq=False)
class SearchOutcome:
    """The answer to a problem, or the reason why there is none."""

    problem: str
    answer: Answer | None
    reason: str = ""


class AnotherEngineError(EngineError):
    """The program that was started again is not the engine that it was."""


class SearchRunner(Closing):
    """What searches: one engine, several side by side, or a cluster. The order of outcomes is the runner's own."""

    key: SearchKey

    @abstractmethod
    def search(self, problems: Iterable[str], *, until: float | None = None) -> Iterator[SearchOutcome]:
        """Yield an outcome for each problem; when the clock (time.monotonic) reaches `until`, no search begins."""


class Runner(SearchRunner):
    """One engine process, replaced when it fails; a context manager that leaves no process behind.

    With a `key` the engine is started when it is first needed, and must be of that key. `stop` is the descriptor
    that stops a search from another thread (see Engine).
    """

    def __init__(
        self, path: str | os.PathLike[str], settings: Settings, *, key: SearchKey | None = None, stop: int | None = None
    ) -> None:
        self._path, self._settings, self._stop = path, settings, stop
        self._engine = Engine(path, settings, stop=stop) if key is None else None
        self.key = self._engine.key if self._engine else key or {}

    def search(self, problems: Iterable[str], *, until: float | None = None) -> Iterator[SearchOutcome]:
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

    def _ask_twice(self, problem: str) -> SearchOutcome:
        reason = ""
        for _ in range(2):
            try:
                if self._engine is None:
                    self._engine = Engine(self._path, self._settings, stop=self._stop)
                    if self._engine.key != self.key:
                        raise AnotherEngineError(
                            f"{self._path} is another engine than before: {self._engine.key} instead of {self.key}",
                            hint="what was finished before is kept; do not replace an engine while it works",
                        )
                return SearchOutcome(problem, self._engine.analyse(problem))
            except InputError as error:  # the position is at fault, not the engine: it need not be asked again
                return SearchOutcome(problem, None, str(error))
            except (SearchStopped, AnotherEngineError):
                self.close()
                raise
            except EngineError as error:
                reason = str(error)
                self.close()
        return SearchOutcome(problem, None, reason)
