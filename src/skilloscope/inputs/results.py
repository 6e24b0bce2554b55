"""Results from files of any kind: tables, and games by their headers; read here or by the workers of a cluster.

On a cluster only the reading goes out: a period needs everybody's strength from the one before, so it is rated here.
"""

import contextlib
import math
import shutil
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from skilloscope.core.errors import EngineError, InputError, OptionError, SkilloscopeError, Tally
from skilloscope.core.files import is_parquet
from skilloscope.core.paths import RESULT_ENDINGS, named_files
from skilloscope.core.table_files import read_checked
from skilloscope.inputs.load import Kind, by_kind
from skilloscope.results.aliases import renamed_players
from skilloscope.results.reading import Reading, Shard, ShardGames, read_csv, read_results
from skilloscope.results.table import Results

_SIDES = ("player_1", "player_2")
_AHEAD = 2  # pieces under way for each thread of the cluster
_HINT = "every machine of the cluster needs the same skilloscope with the extra 'cluster', and the same files"

Item = TypeVar("Item")
Done = TypeVar("Done")


def read_files(paths: Sequence[Path], how: Reading | None = None, aliases: Mapping[str, str] | None = None) -> Results:
    """Read tables of results and headers of games (in a folder, or `-`) as one; `aliases` say who is the same."""
    with contextlib.ExitStack() as stack:
        files = [file for path in paths for file in _files(path, stack)]
        games = by_kind(files, Kind.RESULTS, Kind.GAMES)[Kind.GAMES]
        tables = [_read(path, how or Reading(), pgn=path in games) for path in files]
    return renamed_players(Results.concat(tables), aliases or {})


def _files(path: Path, stack: contextlib.ExitStack) -> list[Path]:
    if str(path) == "-":
        held = stack.enter_context(tempfile.NamedTemporaryFile(prefix="stdin-"))  # noqa: SIM115 the stack closes it
        shutil.copyfileobj(sys.stdin.buffer, held)
        held.flush()
        return [Path(held.name)]
    return named_files([path], RESULT_ENDINGS)


def pair_columns(texts: Sequence[str]) -> dict[str, str]:
    """Return a mapping of columns from texts such as `player_1=white`.

    >>> pair_columns(["player_1=white", "score=result"])
    {'player_1': 'white', 'score': 'result'}
    """
    pairs = [text.partition("=") for item in texts for text in item.split(",")]
    bad = [own for own, equals, theirs in pairs if not (own and equals and theirs)]
    if bad:
        raise OptionError(f"--columns {bad[0]}: no column given for it", hint="write --columns player_1=white")
    return {own.strip(): theirs.strip() for own, _, theirs in pairs}


def read_pairs(path: Path) -> tuple[pa.Table, list[str], list[str]]:
    """Read a table of pairs to predict; return it with the names of both sides, and keep its other columns."""
    table = read_checked(path) if is_parquet(path) else read_csv(path)[0]
    _check_columns(table, path, *_SIDES)
    sides = [[" ".join(str(name or "").split()) for name in table.column(side).to_pylist()] for side in _SIDES]
    for row, (one, two) in enumerate(zip(*sides, strict=True), start=2):
        if not (one and two) or one == two:
            what = f"{one} against himself" if one and two else "no player"
            raise InputError(f"{path}, row {row}: {what}", hint="a pair has two players; take the row out")
    return table, sides[0], sides[1]


def read_entry(path: Path) -> tuple[dict[str, float], Tally]:
    """Read a table player,rating of first ratings from elsewhere; rows at fault are left out and counted."""
    table, rows, tally = (read_checked(path), None, Tally()) if is_parquet(path) else read_csv(path)
    _check_columns(table, path, "player", "rating")
    entry: dict[str, float] = {}
    for at, (player, text) in enumerate(zip(*(table.column(n).to_pylist() for n in ("player", "rating")), strict=True)):
        name, rating = " ".join(str(player or "").split()), _number(text)
        reason = "no player" if not name else "first rating is not a number" if rating is None else ""
        if not reason and entry.get(name, rating) != rating:
            reason = "a second first rating of the same player"
        if reason:
            tally.fault(reason, str(path), f"row {at + 1 if rows is None else rows[at]}", f"{name} {text}".strip()[:60])
        elif rating is not None:
            entry[name] = rating
    return entry, tally


def _check_columns(table: pa.Table, path: Path, *names: str) -> None:
    if missing := ", ".join(name for name in names if name not in table.column_names):
        raise InputError(f"{path}: the table lacks {missing}", hint=f"it has: {', '.join(table.column_names)}")


def _number(text: object) -> float | None:
    try:
        value = float(str(text).strip().replace(",", "."))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _read(path: Path, how: Reading, *, pgn: bool) -> Results:
    if not pgn:
        return read_results(path, how=how)
    from skilloscope.chess.pgn.results import read_pgn_results

    return read_pgn_results(path, drop_duplicates=how.drop_duplicates, observed=how.observed is not None)


@contextlib.contextmanager
def cluster_work(scheduler: str) -> "Iterator[ClusterWork]":
    """Give what a scheduler's workers can do for results, and let them go at the end."""
    from skilloscope.chess.engine.cluster import WORKER_SECONDS, connect

    with connect(scheduler) as client:
        try:
            client.wait_for_workers(1, timeout=WORKER_SECONDS)
        except TimeoutError as error:
            start = "start some: dask worker ADDRESS --nthreads 1"
            raise EngineError(f"the cluster at {scheduler} has no worker", hint=start) from error
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
            raise EngineError(f"the cluster does not accept the work: {first_line}", hint=_HINT) from error
