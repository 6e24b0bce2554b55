"""Results on a cluster: shards of large tables read, and variances fitted, by the workers of a Dask scheduler.

In: shards of Parquet files that every worker can reach under the same path, or pieces of work that do not need each
other. Out: what they give, in the order in which they were asked for, equal to the bit to the same work done here.

Reading goes out, rating stays: a period needs everybody's strength from the one before, so the games are played here,
period by period. Only so many shards are under way as keep every thread busy, whatever the number of files.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

from skilloscope.core.errors import EngineError, SkilloscopeError
from skilloscope.results.streaming import Shard, ShardGames

_AHEAD = 2  # pieces under way for each thread of the cluster
_HINT = "every machine of the cluster needs the same skilloscope with the extra 'cluster', and the same files"

Item = TypeVar("Item")
Done = TypeVar("Done")


@contextlib.contextmanager
def cluster_work(scheduler: str) -> Iterator[ClusterWork]:
    """Give what a scheduler's workers can do for results, and let them go at the end."""
    from skilloscope.chess.engine.cluster import WORKER_SECONDS, connect

    with connect(scheduler) as client:
        try:
            client.wait_for_workers(1, timeout=WORKER_SECONDS)
        except TimeoutError as error:
            raise EngineError(
                f"the cluster at {scheduler} has no worker", hint="start some: dask worker ADDRESS --nthreads 1"
            ) from error
        yield ClusterWork(client)


class ClusterWork:
    """The workers of a Dask client as readers of shards and as many hands for one kind of work."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def read(self, shards: Iterable[Shard]) -> Iterator[ShardGames]:
        """Yield the games of the shards in order, each read by some worker."""
        return self.each(Shard.read, shards)

    def each(self, work: Callable[[Item], Done], items: Iterable[Item]) -> Iterator[Done]:
        """Yield what the work gives for each item, in order; so many are under way as keep the workers busy."""
        waiting, flying = iter(items), deque[Any]()
        try:
            while True:
                free = _AHEAD * max(sum(self._client.nthreads().values()), 1) - len(flying)
                flying.extend(self._client.submit(work, item, pure=False) for item in islice(waiting, max(free, 0)))
                if not flying:
                    return
                yield self._landed(flying.popleft())
        finally:
            self._client.cancel(list(flying))

    def _landed(self, future: Any) -> Any:
        try:
            return future.result()
        except SkilloscopeError:
            raise
        except Exception as error:  # whatever Dask says of a worker that died, or of a scheduler that has gone
            first_line = str(error).partition("\n")[0]
            raise EngineError(f"the cluster cannot take the work: {first_line}", hint=_HINT) from error
