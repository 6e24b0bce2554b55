"""Results from CSV, Parquet, Arrow tables and frames: every row used, or counted and named.

In: a file or a table; `columns` says which of its columns is which. Out: Results. docs/results.md has the rules. Games
listed twice (the same day, players and score) are kept by default, since two such games in a match or a rapid event are
real.

Arrow's reader takes what programs write, a million rows in about a second. Whatever it refuses (bytes that are not
UTF-8, lines that end in a carriage return, blank lines before the header, a cell without an end) is read again row by
row, where only the bad rows fail.

Very large tables are read period by period in bounded memory: `ResultStream` takes Parquet files whose rows are in the
order of their dates and gives PeriodGames after PeriodGames, each of whole periods. Players keep their code from the
first batch to the last. Files are read in shards of some row groups, each by itself, so that others may do it (`read`).
"""

import codecs
import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv

from skilloscope.core.columns import Bools, Ints
from skilloscope.core.dates import DAY
from skilloscope.core.errors import InputError, Tally
from skilloscope.core.files import DAMAGE, BinaryDataError, is_parquet, open_bytes, open_lines
from skilloscope.core.frames import arrow_from_frame
from skilloscope.core.table_files import check_rows, from_safe_texts, open_checked, parquet_names, read_checked
from skilloscope.core.text import read_header, read_rows
from skilloscope.results.aliases import NameCodes, hits
from skilloscope.results.columns import BYE, Layout, dates_of, find_layout, is_fault, periods_of, ratings_of, scores_of
from skilloscope.results.periods import PeriodGames
from skilloscope.results.table import YOURSELF, Results

OUT_OF_ORDER = "row dated before the row above it"
AFTER_TODAY = "date after today"
TWICE = "game listed twice (same day, players and score)"


_NO_NUMBER = "period is not a whole number from 0 on"
_MANY = 50_000  # games from which on it pays to load what is compiled
_MOST_NAMED = 10_000  # faults of one reason that are named one by one; the others are counted


@dataclass(frozen=True)
class Reading:
    """How a table is read where its content is ambiguous."""

    columns: Mapping[str, str] = field(default_factory=dict)  # our names of columns with theirs
    observed: str | None = None  # two columns of ratings published elsewhere, or `header`; without, none are looked at
    date_format: str | None = None
    """`dmy` or `mdy` for dates such as 01/05/2024; without, the dates of a table together must decide."""
    drop_duplicates: bool = False


def read_results(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    drop_duplicates: bool = False,
    how: Reading | None = None,
) -> Results:
    """Read CSV (compressed or not) or Parquet, detected from the content; `columns` maps our names to theirs."""
    path, how = Path(path), how or Reading(columns or {}, drop_duplicates=drop_duplicates)
    if path.is_file() and path.stat().st_size == 0:
        raise InputError(
            f"{path}: the file is empty", hint="a results table has the columns date,player_1,player_2,score"
        )
    if is_parquet(path):
        layout = find_layout(parquet_names(path), how.columns, observed=how.observed, table=str(path))
        table, rows, tally = read_checked(path, layout.columns), None, Tally()
    else:
        table, rows, tally = read_csv(path)
    results = results_from_arrow(table, how=how, name=str(path), rows=rows)
    return replace(results, tally=tally + results.tally)


def results_from_frame(frame: Any) -> Results:
    """Return the results that a pandas or polars frame (or an Arrow table) holds."""
    return results_from_arrow(arrow_from_frame(frame), name="<frame>")


def results_from_arrow(
    table: pa.Table,
    *,
    how: Reading | None = None,
    name: str = "<table>",
    rows: Ints | None = None,
    codes: NameCodes | None = None,
) -> Results:
    """Return the results of a table, or a batch under `codes`; `rows` are its rows' numbers in the file."""
    how = how or Reading()
    layout = find_layout(table.column_names, how.columns, observed=how.observed, table=name)
    _checked(table, layout, name)
    numbers = np.arange(1, table.num_rows + 1) if rows is None else rows
    names = codes or NameCodes()
    one, two = (names.of(table.column(side)) for side in (layout.player_1, layout.player_2))
    nobody, bye = (hits(marks, one) | hits(marks, two) for marks in (names.blank, names.bye))
    score, reasons = scores_of(table, layout)
    dated, when_named = layout.dated, "date" if layout.dated else "period"
    times = table.column(layout.when)
    when = dates_of(times, how.date_format, name) if dated else periods_of(times)
    found = Screen(name, numbers)
    found.leave_out("blank row", hits(names.blank, one) & hits(names.blank, two) & when.missing, fault=False)
    found.leave_out(BYE, bye, fault=False)
    found.leave_out("no player", nobody)
    for reason, rows_of in reasons.items():
        cells = table.column(layout.score) if layout.score else None
        found.leave_out(reason, rows_of, cells, fault=is_fault(reason))
    found.leave_out(f"missing {when_named}", when.missing, times)
    found.leave_out("impossible date" if dated else _NO_NUMBER, when.bad, times)
    found.leave_out(YOURSELF, one == two, table.column(layout.player_1))
    days = when.value.astype("datetime64[D]") if dated else np.full(table.num_rows, "NaT", dtype="datetime64[D]")
    rating_1, rating_2 = (ratings_of(table.column(side)) for side in layout.ratings) if layout.ratings else (None, None)
    whole = Results(
        players=names.players,
        player_1=one,
        player_2=two,
        score=score,
        date=days,
        period=None if dated else when.value,
        precision=when.precision if dated and when.precision.any() else None,
        rating_1=rating_1,
        rating_2=rating_2,
        tally=found.tally,
    )
    good = whole if found.good.all() else whole.select(found.good)
    return tidied(good if codes else good.of_players(), drop_duplicates=how.drop_duplicates)


def tidied(results: Results, *, drop_duplicates: bool = False) -> Results:
    """Return the games in the order of their dates, with notes of those out of order and of those listed twice."""
    when = results.date.astype(np.int64) if results.period is None else results.period
    late = int(np.count_nonzero(np.diff(when) < 0))
    noted = Tally()
    noted.count(OUT_OF_ORDER, late)
    if results.period is None:  # most often a slip of the pen, and it lets decades pass for whoever played
        noted.count(AFTER_TODAY, int(np.count_nonzero(results.date > np.datetime64("today", "D"))))
    if late:
        results = results.select(np.argsort(when, kind="stable"))
    twice = np.zeros(len(results), dtype=bool)
    if results.period is None:  # a period is too long to tell two games by it, and so is a date without its day
        exact = True if results.precision is None else results.precision == DAY
        twice = repeated_games(results) & exact
    if drop_duplicates and twice.any():
        results = replace(results.select(~twice), tally=results.tally + Tally({TWICE: int(twice.sum())}))
    else:
        noted.count(TWICE, int(twice.sum()))
    return replace(results, noted=results.noted + noted)


class Screen:
    """Which rows are still good, and why the others are not; a row has one reason, the first that is found."""

    def __init__(self, name: str, rows: Ints, word: str = "row") -> None:
        self.good = np.ones(len(rows), dtype=bool)
        self.tally = Tally()
        self._name, self._rows, self._word = name, rows, word

    def leave_out(self, reason: str, bad: Bools, cells: Any = None, *, fault: bool = True) -> None:
        """Leave out the bad rows among the good ones; name each where it is a fault, with what its cell holds."""
        at = np.flatnonzero(bad & self.good)
        self.good[at] = False
        named = at[:_MOST_NAMED] if fault else at[:0]
        for row in named.tolist():
            cell = cells[row].as_py() if isinstance(cells, pa.ChunkedArray) else "" if cells is None else cells[row]
            self.tally.fault(reason, self._name, f"{self._word} {self._rows[row]}", str(cell or "")[:60])
        self.tally.count(reason, len(at) - len(named))


def repeated_games(results: Results) -> Bools:
    """Return which games have an earlier one's day, its players in the same seats, and its score."""
    day = results.date.astype(np.int64)
    if len(results) > _MANY:
        from skilloscope.results.repeats import repeated_rows

        return repeated_rows(results.player_1, results.player_2, results.score, day)
    columns = (results.score, day, results.player_2, results.player_1)
    order = np.lexsort(columns)  # stable: of games alike the first in the table comes first
    alike = np.ones(max(len(order) - 1, 0), dtype=bool)
    for column in columns:
        alike &= column[order[1:]] == column[order[:-1]]
    repeated = np.zeros(len(results), dtype=bool)
    repeated[order[1:]] = alike
    return repeated


def _checked(table: pa.Table, layout: Layout, name: str) -> None:
    """Raise where a column that is read is there twice or holds more than one value a game."""
    for theirs in layout.columns:
        if table.column_names.count(theirs) > 1:
            raise InputError(f"{name}: the table has the column {theirs} twice", hint="take one of them out")
        if pa.types.is_nested(kind := table.schema.field(theirs).type):
            raise InputError(f"{name}: the column {theirs} holds {kind}, not one value a game")


_BLOCK = 1 << 16
_CELLS = "wrong number of cells"
_TEXTS = pa.dictionary(pa.int32(), pa.string())
CsvTable = tuple[pa.Table, Ints, Tally]


def read_csv(path: Path) -> CsvTable:
    """Read a CSV file; the header is row 1, unless blank rows stand before it."""
    try:
        try:
            return _read_fast(path)
        except (pa.ArrowException, UnicodeDecodeError, csv.Error, _Unusual):
            return _read_rows(path)
    except BinaryDataError as error:
        raise InputError(f"{path}: not a CSV file that can be read ({error})") from error
    except DAMAGE as error:
        raise InputError(f"{path}: damaged file ({error})") from error


class _Unusual(Exception):
    """The fast reader would not read this file as it is meant."""


def _read_fast(path: Path) -> CsvTable:
    with open_bytes(path) as stream:
        header = bytes(stream.readline(_BLOCK)).removesuffix(b"\n").removesuffix(b"\r").decode("utf-8")
        text = codecs.getincrementaldecoder("utf-8")()
        while block := stream.read1(_BLOCK):
            text.decode(block)  # the fast reader's own error would come too late, and be lost in another thread
        text.decode(b"", final=True)
    if not header.strip() or "\r" in header or header.count('"') % 2:
        raise _Unusual
    separator = _separator(header)
    names = read_header(header, separator)
    tally, gaps = Tally(), []

    def odd(row: Any) -> str:
        gaps.append(row.number)
        if row.text.strip():
            tally.fault(
                _CELLS, str(path), f"row {row.number}", f"{row.actual_columns} in place of {row.expected_columns}"
            )
        return "skip"

    with open_bytes(path) as stream:
        table = pa.csv.read_csv(
            stream,
            read_options=pa.csv.ReadOptions(use_threads=False, block_size=1 << 22),
            parse_options=pa.csv.ParseOptions(
                delimiter=separator, newlines_in_values=True, invalid_row_handler=odd, ignore_empty_lines=len(names) < 2
            ),
            convert_options=pa.csv.ConvertOptions(
                column_types=dict.fromkeys(next(csv.reader([header], delimiter=separator), []), _TEXTS),
                strings_can_be_null=False,
            ),
        )
    if table.num_columns != len(names) or any(column.type != _TEXTS for column in table.columns):
        raise _Unusual  # it took the header for another than we do
    rows = np.arange(2, table.num_rows + len(gaps) + 2)
    rows = np.delete(rows, np.array(gaps, dtype=np.int64) - 2)[: table.num_rows]
    return _named(list(table.columns), names), rows, tally


def _read_rows(path: Path) -> CsvTable:
    """Read row by row what the fast reader refuses; bad rows are faults, and the others stay."""
    tally = Tally()
    with open_lines(path) as lines:
        first, header = next(((n, line) for n, line in enumerate(lines, 1) if line.strip()), (1, ""))
        separator = _separator(header)
        names = read_header(header.rstrip("\n"), separator)
        cells: list[list[str]] = [[] for _ in names]
        rows = []
        for number, _, row in read_rows(lines, separator, str(path), tally, before=first):
            if len(row) == len(names):
                rows.append(number)
                for column, cell in zip(cells, row, strict=True):
                    column.append(cell)
            elif any(cell.strip() for cell in row):
                tally.fault(_CELLS, str(path), f"row {number}", f"{len(row)} in place of {len(names)}")
    columns = [pa.chunked_array([pa.array(column, pa.string()).dictionary_encode()]) for column in cells]
    return _named(columns, names), np.array(rows, dtype=np.int64), tally


def _named(columns: list[pa.ChunkedArray], names: list[str]) -> pa.Table:
    return pa.table([from_safe_texts(column) for column in columns], names=names)


def _separator(header: str) -> str:
    return max(";\t,", key=header.count)  # ties go to the semicolon only where there are no commas at all


@dataclass(frozen=True)
class Shard:
    """Some row groups of a Parquet file, and how they are read; `row` is the number of the first row."""

    path: Path
    groups: tuple[int, ...]
    row: int
    how: Reading
    batch: int
    aliases: Mapping[str, str] | None = None

    def read(self) -> "ShardGames":
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


ReadShards = Callable[[Iterable[Shard]], Iterable[ShardGames]]  # reads shards and gives their games in the same order


class ResultStream:
    """The games of sorted Parquet files, a few periods at a time; afterwards `tally`, `noted` and `games`."""

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
        here = (batch for shard in self._shards() for batch in shard.batches(self._names))
        for results in map(self._own, here if self._read is None else self._read_there(self._read)):
            if not len(results):
                continue
            held = results if held is None else Results.concat([held, results], same_codes=True)
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

    def _read_there(self, read: ReadShards) -> Iterator[Results]:
        """Yield what others have read, under the codes of the whole stream."""
        for games in read(self._shards()):
            self._names.of(pa.chunked_array([list(games.spellings)], type=pa.string()))
            code = self._names.of(pa.chunked_array([list(games.players)], type=pa.string()))
            for part in games.batches:
                yield replace(part, players=self.players, player_1=code[part.player_1], player_2=code[part.player_2])

    def _own(self, results: Results) -> Results:
        """Return the games whose date determines the period, and take what was left out and remarked to the others."""
        results = results.for_period(self._period)
        self.tally, self.noted = self.tally + results.tally, self.noted + results.noted
        self.dated = results.has_dates
        return replace(results, players=self.players, tally=Tally(), noted=Tally())
