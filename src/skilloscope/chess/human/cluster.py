"""The human model on a cluster: positions go to the workers of a Dask scheduler, some hundreds a task.

In: boards. Out: the same choices to the bit, for a position says the same in any company. Every worker runs the network
that ships with its own skilloscope; where that is another than here, it is an error, never an answer.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from skilloscope.chess.human.encoding import Boards
from skilloscope.chess.human.model import Human, HumanChoices, human
from skilloscope.core.errors import EngineError

_TASK = 512  # positions: about a second of one core
_AHEAD = 2  # tasks under way for each thread of the cluster


@contextlib.contextmanager
def human_on(scheduler: str) -> Iterator[Human]:
    """Give the human model that ships, run by the workers of a scheduler's cluster."""
    from skilloscope.chess.engine.cluster import connect

    with connect(scheduler) as client:
        yield ClusterHuman(client)


class ClusterHuman(Human):
    """The human model that ships, run by the workers of a Dask client."""

    def __init__(self, client: Any) -> None:
        super().__init__(human().network)
        self._client = client

    def choices(self, boards: Boards, *, progress: Callable[[int], None] | None = None) -> HumanChoices:
        """Return all legal moves of the positions with their coefficients, as the workers find them."""
        tasks = [boards[begin : begin + _TASK] for begin in range(0, len(boards), _TASK)]
        at_once = max(_AHEAD * sum(self._client.nthreads().values()), 1)
        parts: list[HumanChoices] = []
        for begin in range(0, len(tasks), at_once):
            parts += self._answers(tasks[begin : begin + at_once])
            if progress:
                progress(min(len(parts) * _TASK, len(boards)))
        return _together(parts) if parts else super().choices(boards)

    def _answers(self, tasks: list[Boards]) -> list[HumanChoices]:
        futures = self._client.map(_choices_on_worker, tasks, sha256=self.network.sha256, pure=False)
        try:
            found: list[HumanChoices] = self._client.gather(futures)
        except EngineError:
            raise
        except Exception as error:  # whatever Dask says of a worker that died, or of a scheduler that has gone
            raise EngineError(
                f"the cluster cannot run the human model: {error}",
                hint="every machine of the cluster needs the same skilloscope with the extra 'cluster'",
            ) from error
        return found


def _choices_on_worker(boards: Boards, *, sha256: str) -> HumanChoices:
    own = human()
    if own.network.sha256 != sha256:
        raise EngineError(
            "a worker has another human model than this machine", hint="install the same skilloscope on every machine"
        )
    return own.choices(boards)


def _together(parts: list[HumanChoices]) -> HumanChoices:
    counts = np.concatenate([np.diff(part.offsets) for part in parts])
    return HumanChoices(
        np.concatenate([[0], np.cumsum(counts)]),
        np.concatenate([part.moves for part in parts]),
        np.concatenate([part.coefficients for part in parts]),
    )
