"""Games of very large tables, period by period in bounded memory.

In: Parquet files whose rows are in the order of their dates. Out: PeriodGames after PeriodGames, each of whole periods,
later ones having later periods. Players keep their code from the first batch in which they appear to the last, so that
a state can be carried from one to the next; the list of names only grows.

Memory holds a batch of rows and the longest period, not the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skilloscope.core.errors import InputError, Tally
from skilloscope.core.parquet import check_rows, open_checked, parquet_names
from skilloscope.results.layouts import find_layout
from skilloscope.results.period_games import PeriodGames
from skilloscope.results.reading import Reading, results_from_arrow
from skilloscope.results.table import Results


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
    ) -> None:
        self.paths = [paths] if isinstance(paths, Path) else list(paths)
        self.tally, self.noted, self.games = Tally(), Tally(), 0
        self.dated = True
        self.players: list[str] = []
        self._codes: dict[str, int] = {}
        self._period, self._how, self._batch = period, how or Reading(), batch
        self._done: int | None = None  # the last period that was given

    def __iter__(self) -> Iterator[PeriodGames]:
        held: Results | None = None
        for results in self._batches():
            if not len(results):
                continue
            held = results if held is None else self._joined(held, results)
            numbers = held.numbers(self._period)
            last = numbers.max()
            if numbers.min() < last:  # the last period may go on in the next batch
                yield self._given(held.select(numbers < last))
                held = held.select(numbers == last)
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

    def _batches(self) -> Iterator[Results]:
        for path in self.paths:
            row = 1
            layout = find_layout(parquet_names(path), self._how.columns, observed=self._how.observed, table=str(path))
            sides = [layout.player_1, layout.player_2]
            # With its own buffering the reader holds on to every byte of the file that it has read.
            with open_checked(path, read_dictionary=sides, pre_buffer=False) as file:
                for batch in file.iter_batches(self._batch, columns=layout.columns):
                    rows = np.arange(row, row + batch.num_rows)
                    row += batch.num_rows
                    yield self._own(pa.Table.from_batches([batch]), str(path), rows)
                check_rows(path, file, row - 1)

    def _own(self, table: pa.Table, name: str, rows: npt.NDArray[np.int64]) -> Results:
        """Return a batch under the codes of the whole stream."""
        results = results_from_arrow(table, how=self._how, name=name, rows=rows).for_period(self._period)
        self.tally, self.noted = self.tally + results.tally, self.noted + results.noted
        self.dated = results.has_dates
        code = np.array([self._code(player) for player in results.players], dtype=np.int32)
        return replace(
            results,
            players=self.players,
            player_1=code[results.player_1],
            player_2=code[results.player_2],
            tally=Tally(),
            noted=Tally(),
        )

    def _code(self, player: str) -> int:
        code = self._codes.setdefault(player, len(self.players))
        if code == len(self.players):
            self.players.append(player)
        return code

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
