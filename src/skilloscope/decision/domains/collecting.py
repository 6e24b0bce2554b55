"""Decisions of a domain on their way into columns: what every adapter collects, and its CSV files row by row."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from skilloscope.core.columns import encode
from skilloscope.core.errors import InputError, Tally
from skilloscope.core.files import numbered_lines
from skilloscope.core.text import read_rows
from skilloscope.decision.decisions import LABELS, Decisions


class Collected:
    """Columns that grow decision by decision; the names of the alternatives go along."""

    def __init__(self) -> None:
        self.tally = Tally()
        self.deciders: list[str] = []
        self.values: list[Any] = []
        self.counts: list[int] = []
        self.labels: list[str] = []
        self.chosen: list[int] = []
        self.n_legal: list[int] = []
        self.context: dict[str, list[object]] = {}

    def add(
        self, decider: str, values: Sequence[Any], labels: Sequence[str], chosen: int, n_legal: int, **context: object
    ) -> None:
        """Append one decision; `values` are numbers, or one row of numbers per alternative under a depth axis."""
        self.deciders.append(decider)
        self.values.extend(values)
        self.counts.append(len(values))
        self.labels.extend(labels)
        self.chosen.append(chosen)
        self.n_legal.append(n_legal)
        for name, value in context.items():
            self.context.setdefault(name, []).append(value)

    def decisions(self, source: str, about: Mapping[str, object], depths: tuple[int, ...] = ()) -> Decisions:
        """Return the batch; no decision at all is an error that says what was found first."""
        if not self.deciders:
            first = f"; {self.tally.faults[0]}" if self.tally.faults else f"; left out: {self.tally}"
            raise InputError(f"{source}: no decision could be read{first}", hint="docs/domains.md shows the formats")
        counts = np.array(self.counts, dtype=np.int64)
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        names = pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(self.labels, type=pa.string()))
        return Decisions.from_columns(
            encode(self.deciders),
            np.array(self.values, dtype=float),
            counts,
            np.array(self.chosen, dtype=np.int64),
            np.array(self.n_legal, dtype=np.int64),
            depths=depths,
            context=pa.table({**self.context, LABELS: names}),
            tally=self.tally,
            about=dict(about),
        )


def finite(value: Any) -> float:
    """Return a number that is finite; anything else is a ValueError, and so a fault of its row."""
    if isinstance(value, bool):
        raise ValueError(f"{value!r} is not a number")
    number = float(value)
    if not abs(number) < 1e300:  # larger ones overflow as soon as two of them are subtracted
        raise ValueError(f"{value!r} is not a finite number")
    return number


def csv_rows(path: Path, needed: Sequence[str], tally: Tally) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the rows of a CSV file by column, with their places; one of the wrong length is a fault."""
    rows = read_rows((line for _, line in numbered_lines(path)), ",", str(path), tally)
    columns = [column.strip() for column in next((row.cells for row in rows), [])]
    missing = [column for column in needed if column not in columns]
    if missing:
        raise InputError(f"{path}: the header lacks {', '.join(missing)}", hint=f"it has: {', '.join(columns)}")
    for _, line, row in rows:
        place = f"line {line}"
        if len(row) != len(columns):
            found = f"{len(row)} instead of {len(columns)}"
            tally.fault("a row with the wrong number of fields", str(path), place, found)
            continue
        yield place, {column: cell.strip() for column, cell in zip(columns, row, strict=True)}
