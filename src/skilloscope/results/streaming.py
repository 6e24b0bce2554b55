"""Games of very large tables, period by period in bounded memory.

In: Parquet files whose rows are in the order of their dates. Out: PeriodGames after PeriodGames, each of whole periods,
later ones having later periods. Players keep their code from the first batch in which they appear to the last, so that
a state can be carried from one to the next; the list of names only grows.

Files are read in shards, some row groups each. Reading is the larger part of the work and every shard is read by
itself, so others may do it (`read`); the games are given in the order of the files. Memory holds a batch of rows, or as
many shards as `read` has under way, and the longest period: not the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skilloscope.core.errors import InputError, Tally
from skilloscope.core.parquet import check_rows, open_checked, parquet_names
from skilloscope.results.coding import NameCodes
from skilloscope.results.layouts import find_layout
from skilloscope.results.period_games import PeriodGames
from skilloscope.results.reading import Reading, results_from_arrow
from skilloscope.results.table import Results


@dataclass(frozen=True)
class Shard:
    """Some row groups of a Parquet file, and how they are read; `row` is the number of the first row."""

    path: Path
    groups: tuple[int, ...]
    row: int
    how: Reading
    batch: int
    aliases: Mapping[str, str] | None = None

    def read(self) -> ShardGames:
        """Return all games of the shard under codes of their own."""
        names = NameCodes(self.aliases)
        return ShardGames(list(self.batches(names)), names.players, names.spellings)

    def batches(self, codes: NameCodes) -> Iterator[Results]:
        """Yield the games batch by batch, under these codes."""
        how, row = self.how, self.row
        layout = find_layout(parquet_names(self.path), how.columns, observed=how.observed, table=str(self.path))
        texts = [layout.player_1, layout.player_2, *filter(None, (layout.score, layout.score_2, layout.remark))]
        # With its own buffering the reader holds on to every byte of the file that it has read, and threads of its own
        # cost more time of the processor than they save.
        with open_checked(self.path, digest=False, read_dictionary=texts, pre_buffer=False) as file:
            for batch in file.iter_batches(
                self.batch, row_groups=self.groups, columns=layout.columns, use_threads=False
            ):
                rows = np.arange(row, row + batch.num_rows)
                row += batch.num_rows
                yield results_from_arrow(
                    pa.Table.from_batches([batch]), how=how, name=str(self.path), rows=rows, codes=codes
                )
            stated = sum(file.metadata.row_group(group).num_rows for group in self.groups)
            check_rows(self.path, stated, row - self.row)


class ShardGames(NamedTuple):
    """The games of a shard that was read by itself, its players, and all names by which they went there."""

    batches: Sequence[Results]
    players: Sequence[str]
    spellings: Sequence[str]


ReadShards = Callable[[Iterable[Shard]], Iterable[ShardGames]]
"""Reads shards and gives their games in the same order."""


class ResultStream:
    """The games of sorted Parquet files, a few periods at a time.

    After the iteration `tally` says what was left out, `noted` what was remarked, `games` how many were given.
    """

    def __init__(
        self,
        paths: Path | Sequence[Path],
        period: str | None = None,
        *,
        how: Reading | None = None,
        batch: int = 1_000_000,
        read: ReadShards | None = None,
        aliases: Mapping[str, str] | None = None,
    ) -> None:
        self.paths = [paths] if isinstance(paths, Path) else list(paths)
        self.tally, self.noted, self.games = Tally(), Tally(), 0
        self.dated = True
        self._names, self._aliases = NameCodes(aliases), aliases
        self._period, self._how, self._batch, self._read = period, how or Reading(), batch, read
        self._done: int | None = None  # the last period that was given

    def spelt(self) -> list[str]:
        """Return the name by which each player goes, after the iteration; spellings put together are noted."""
        names, noted = self._names.spelt()
        self.noted = self.noted + noted
        return names

    @property
    def players(self) -> list[str]:
        """The names behind the codes: everybody met so far."""
        return self._names.players

    def __iter__(self) -> Iterator[PeriodGames]:
        held: Results | None = None
        for results in map(self._own, self._read_here() if self._read is None else self._read_there(self._read)):
            if not len(results):
                continue
            held = results if held is None else self._joined(held, results)
            numbers = held.numbers(self._period)
            last = numbers.max()
            if numbers.min() < last:  # the last period may go on in the next batch
                before = numbers < last
                yield self._given(held.select(before))
                held = held.select(~before)
        if held is not None and len(held):
            yield self._given(held)

    def _given(self, results: Results) -> PeriodGames:
        games = results.by_period(self._period)
        if self._done is not None and games.first <= self._done:
            raise InputError(
                f"the table is not in the order of its dates: {games.labels[0]} comes after "
                f"{results.calendar(self._period).label(self._done)}",
                hint="sort it by date, or read it whole (without --stream)",
            )
        self._done = games.first + games.n_periods - 1
        self.games += len(games)
        return games

    def _shards(self) -> Iterator[Shard]:
        """Yield the row groups of every file in order, so many at once that a batch is full."""
        for path in self.paths:
            with open_checked(path) as file:  # the only time that a digest is compared with the whole file
                sizes = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
            starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
            begin = 0
            for end in range(1, len(sizes) + 1):
                if starts[end] - starts[begin] >= self._batch or end == len(sizes):
                    yield Shard(
                        path, tuple(range(begin, end)), int(starts[begin]) + 1, self._how, self._batch, self._aliases
                    )
                    begin = end

    def _read_here(self) -> Iterator[Results]:
        for shard in self._shards():
            yield from shard.batches(self._names)

    def _read_there(self, read: ReadShards) -> Iterator[Results]:
        """Yield what others have read, under the codes of the whole stream."""
        for games in read(self._shards()):
            self._names.of(pa.chunked_array([list(games.spellings)], type=pa.string()))
            code = self._names.of(pa.chunked_array([list(games.players)], type=pa.string()))
            for part in games.batches:
                yield replace(part, players=self.players, player_1=code[part.player_1], player_2=code[part.player_2])

    def _own(self, results: Results) -> Results:
        """Return the games whose date tells their period, and take what was left out and remarked to the others."""
        results = results.for_period(self._period)
        self.tally, self.noted = self.tally + results.tally, self.noted + results.noted
        self.dated = results.has_dates
        return replace(results, players=self.players, tally=Tally(), noted=Tally())

    def _joined(self, held: Results, results: Results) -> Results:
        """Put two batches of the stream together; they share their codes."""
        exact = [np.zeros(len(t), dtype=np.uint8) if t.precision is None else t.precision for t in (held, results)]
        periods = [t.period for t in (held, results) if t.period is not None]
        return replace(
            results,
            player_1=np.concatenate([held.player_1, results.player_1]),
            player_2=np.concatenate([held.player_2, results.player_2]),
            score=np.concatenate([held.score, results.score]),
            date=np.concatenate([held.date, results.date]),
            period=np.concatenate(periods) if periods else None,
            rating_1=_after(held.rating_1, results.rating_1),
            rating_2=_after(held.rating_2, results.rating_2),
            precision=np.concatenate(exact) if exact[0].any() or exact[1].any() else None,
        )


def _after(one: npt.NDArray[np.float64] | None, two: npt.NDArray[np.float64] | None) -> npt.NDArray[np.float64] | None:
    return None if one is None or two is None else np.concatenate([one, two])
