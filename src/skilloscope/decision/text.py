"""Decisions of any domain from text: JSON lines and long CSV, read with every fault named, written and read back.

docs/data.md describes both. A missing `n_legal` means that the list is complete, 0 that nobody knows; a choice outside
the list is `"chosen": null`, or no row marked. A decision with a fault is left out, counted and named with its file and
line; the others go on.
"""

import csv
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from skilloscope.core.errors import InputError, OptionError, Tally
from skilloscope.core.files import Source, head_lines, is_parquet, numbered_lines, source_name
from skilloscope.core.paths import appearing, check_writable
from skilloscope.core.table_files import from_safe_text, safe_text
from skilloscope.core.text import read_header, read_object, read_rows
from skilloscope.decision.arrow import batch_from_parquet, batch_to_parquet
from skilloscope.decision.decisions import LABELS, UNLISTED, Decisions
from skilloscope.decision.losses import Losses

_JSON_KEYS = ("decider", "utilities", "chosen", "n_legal")
_CSV_COLUMNS = ("decider", "problem", "alternative", "utility", "chosen", "n_legal")
_KINDS = {".csv": ".csv", ".tsv": ".csv", ".jsonl": ".jsonl", ".ndjson": ".jsonl", ".parquet": ".parquet"}
_PACKED = (".gz", ".bz2", ".zst", ".xz")
_WRITTEN = (".jsonl", ".csv", ".parquet")
_MOST_LEGAL = 2**31 - 1
_LARGEST = 1e300  # a utility beyond this overflows as soon as two of them are subtracted
_TRUE, _FALSE = {"1", "true", "yes", "x"}, {"0", "false", "no", ""}


def read_decisions(path: str | Path, *, columns: Mapping[str, str] | None = None) -> Decisions:
    """Read Parquet, JSON lines or long CSV, by the content; `columns` maps our names to those of a text table."""
    path = Path(path)
    if is_parquet(path):
        batch = batch_from_parquet(path)
        if isinstance(batch, Losses):
            raise InputError(
                f"{path}: these are losses (two numbers a move), not choice sets",
                hint="the agent needs the value of every alternative; gain statistics take losses",
            )
        return batch
    if path.is_file() and path.stat().st_size == 0:
        raise InputError(f"{path}: the file is empty", hint="docs/data.md shows what a table of decisions holds")
    kind = table_kind(path)
    if kind is None and path.is_file():
        raise InputError(f"{path}: cannot tell the format of the table", hint="use .csv, .jsonl or .parquet")
    return read_jsonl(path, columns=columns) if kind == ".jsonl" else read_long_csv(path, columns=columns)


def table_kind(path: Path) -> str | None:
    """Return the form of a table by its content, .csv, .jsonl or .parquet; otherwise by its name."""
    if path.is_file():
        if is_parquet(path):
            return ".parquet"
        head = head_lines(path)
        for line in head:  # a bad line among the first makes no table of another kind
            with suppress(InputError):
                if line.startswith("{") and read_object(line):
                    return ".jsonl"
        if head and "decider" in re.split(r"[,\t]", head[0]):
            return ".csv"
    named = next((ending for ending in reversed(path.suffixes) if ending.lower() not in _PACKED), "")
    return _KINDS.get(named.lower())


def write_decisions(batch: Decisions, path: str | Path) -> None:
    """Write decisions to .jsonl, .csv or .parquet, by the extension."""
    path = Path(path)
    check_format(path)
    if path.suffix == ".parquet":
        batch_to_parquet(batch, path)
        return
    with appearing(path) as part, part.open("w", encoding="utf-8", newline="") as stream:
        (write_long_csv if path.suffix == ".csv" else write_jsonl)(batch, stream)


def check_format(path: Path) -> None:
    """Raise where the name does not say which format to write, or the file cannot be written."""
    if path.suffix not in _WRITTEN:
        raise OptionError(f"{path}: cannot tell the format from the name", hint="use .jsonl, .csv or .parquet")
    check_writable(path)


def read_jsonl(source: Source, *, name: str = "", columns: Mapping[str, str] | None = None) -> Decisions:
    """Read decisions from JSON lines; `columns` maps our names of fields to theirs.

    >>> import io
    >>> batch = read_jsonl(io.StringIO('{"decider": "Ann", "utilities": [0.1, 0.3], "chosen": 1}'))
    >>> batch.judged, batch.chosen
    (array([0.3, 0.1]), array([0], dtype=int32))
    """
    name = name or source_name(source) or "<stream>"
    rows, theirs = _Rows(name), {there: own for own, there in (columns or {}).items()}
    for number, line in numbered_lines(source, name):
        if not line.strip():
            continue
        place = f"line {number}"
        try:
            given = read_object(line)
        except InputError as error:
            rows.tally.fault("not a JSON object", name, place, str(error))
            continue
        entry = {theirs.get(key, key): value for key, value in given.items()}
        if not {"decider", "utilities", "chosen"} <= entry.keys():
            rows.tally.fault("decider, utilities or chosen is missing", name, place)
            continue
        extra = {key: value for key, value in entry.items() if key not in _JSON_KEYS}
        rows.add(place, entry["decider"], entry["utilities"], entry["chosen"], entry.get("n_legal"), extra)
    return rows.decisions()


def read_long_csv(source: Source, *, name: str = "", columns: Mapping[str, str] | None = None) -> Decisions:
    """Read decisions from a long table; `columns` maps our names to theirs. Cells end in comma, semicolon or tab.

    >>> import io
    >>> text = "decider,problem,alternative,utility,chosen\\nAnn,1,a,0.1,0\\nAnn,1,b,0.3,1"
    >>> read_long_csv(io.StringIO(text)).chosen
    array([0], dtype=int32)
    """
    name = name or source_name(source) or "<stream>"
    lines = (line for _, line in numbered_lines(source, name))
    header = next(lines, "")
    separator = next((mark for mark in ("\t", ";") if mark in header), ",")
    theirs = {there: own for own, there in (columns or {}).items()}
    names = [theirs.get(column, column) for column in read_header(header, separator)]
    missing = [column for column in ("decider", "problem", "utility", "chosen") if column not in names]
    if missing:
        raise InputError(
            f"{name}: the header lacks {', '.join(missing)}; it has {', '.join(names)}",
            hint=f"say which columns they are: --columns {','.join(f'{column}=…' for column in missing)}",
        )
    if twice := [column for column in names if names.count(column) > 1]:
        raise InputError(f"{name}: the header has {twice[0]!r} twice", hint="give every column a name of its own")
    problems: dict[tuple[str, str], _Problem] = {}
    tally = Tally()
    for _, line, row in read_rows(lines, separator, name, tally, before=1):
        place = f"line {line}"
        if not row:
            continue
        if len(row) != len(names):
            tally.fault("a row with the wrong number of fields", name, place, f"{len(row)} instead of {len(names)}")
            continue
        entry = {column: from_safe_text(cell) for column, cell in zip(names, row, strict=True)}
        if separator == ";":
            entry["utility"] = entry["utility"].replace(",", ".")
        problem = problems.setdefault((entry["decider"], entry["problem"]), _Problem(place))
        problem.add(place, entry)
    rows = _Rows(name, tally)
    for (decider, label), problem in problems.items():
        problem.hand_over(rows, decider, label)
    return rows.decisions()


def write_jsonl(batch: Decisions, stream: IO[str]) -> None:
    """Write one JSON object per decision, readable by `read_jsonl` (the judgement only, without a depth axis)."""
    context = batch.context.to_pylist() if batch.context.num_columns else [{}] * len(batch)
    values, offsets = batch.judged.tolist(), batch.offsets.tolist()
    for row, extra in enumerate(context):
        entry = {
            "decider": batch.deciders[batch.decider[row]],
            "utilities": values[offsets[row] : offsets[row + 1]],
            "chosen": None if batch.chosen[row] == UNLISTED else int(batch.chosen[row]),
            "n_legal": int(batch.n_legal[row]),
        }
        stream.write(json.dumps({**entry, **extra}, default=str) + "\n")


def write_long_csv(batch: Decisions, stream: IO[str]) -> None:
    """Write one row per alternative, readable by `read_long_csv`; the context is not written."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(_CSV_COLUMNS)
    values, offsets = batch.judged.tolist(), batch.offsets.tolist()
    for row in range(len(batch)):
        name, legal = batch.deciders[batch.decider[row]], int(batch.n_legal[row])
        for rank, value in enumerate(values[offsets[row] : offsets[row + 1]]):
            writer.writerow([safe_text(name), row, rank, repr(value), int(rank == batch.chosen[row]), legal])


class _Problem:
    """The rows of one problem of a long table, as they come in."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.utilities: list[Any] = []
        self.chosen: list[int] = []
        self.bad: tuple[str, str, str] | None = None
        self.n_legal: int | None = None
        self.extra: dict[str, object] = {}
        self.labels: list[str] = []

    def add(self, place: str, entry: dict[str, str]) -> None:
        mark = entry["chosen"].strip().lower()
        if mark in _TRUE:
            self.chosen.append(len(self.utilities))
        elif mark not in _FALSE:
            self.bad = self.bad or ("chosen is neither 0 nor 1", place, entry["chosen"][:40])
        utility = _number(entry["utility"])
        if utility is None:
            self.bad = self.bad or ("utility is not a finite number", place, entry["utility"][:40])
        self.utilities.append(utility)
        legal = entry.get("n_legal", "").strip()
        whole = legal.isdecimal() and len(legal) <= len(str(_MOST_LEGAL))
        if legal and not whole:
            self.bad = self.bad or ("n_legal is not a whole number", place, legal[:40])
        self.n_legal = int(legal) if whole else self.n_legal
        if "alternative" in entry:
            self.labels.append(entry["alternative"])
        if not self.extra:
            self.extra = {key: value for key, value in entry.items() if key not in _CSV_COLUMNS}

    def hand_over(self, rows: "_Rows", decider: str, label: str) -> None:
        if self.bad is None and len(self.chosen) > 1:
            self.bad = ("more than one alternative chosen", self.place, f"decider {decider}, problem {label}"[:80])
        if self.bad:
            reason, place, detail = self.bad
            rows.tally.fault(reason, rows.name, place, detail)
            return
        chosen = self.chosen[0] if self.chosen else None
        extra = {"problem": label, **({LABELS: self.labels} if self.labels else {}), **self.extra}
        rows.add(self.place, decider, self.utilities, chosen, self.n_legal, extra)


class _Rows:
    """Decisions on their way into columns, each checked as it comes."""

    def __init__(self, name: str, tally: Tally | None = None) -> None:
        self.name, self.tally = name, tally or Tally()
        self.deciders: list[str] = []
        self.values: list[list[float]] = []
        self.chosen: list[int] = []
        self.n_legal: list[int] = []
        self.extra: list[dict[str, object]] = []

    def add(
        self, place: str, decider: Any, utilities: Any, chosen: Any, n_legal: Any, extra: dict[str, object]
    ) -> None:
        fault = _fault(decider, utilities, chosen, n_legal, extra.get(LABELS))
        if fault:
            self.tally.fault(fault[0], self.name, place, fault[1])
            return
        self.deciders.append(str(decider))
        self.values.append([float(u) for u in utilities])
        self.chosen.append(UNLISTED if chosen is None else chosen)
        self.n_legal.append(len(utilities) if n_legal is None else n_legal)
        self.extra.append(extra)

    def decisions(self) -> Decisions:
        if not self.values:
            first = f": {self.tally.faults[0]}" if self.tally.faults else ""
            raise InputError(f"{self.name}: no decision could be read{first}", hint="docs/data.md describes the tables")
        keys = {key: None for extra in self.extra for key in extra}
        context = {key: _column([extra.get(key) for extra in self.extra]) for key in keys}
        batch = Decisions.from_lists(
            self.deciders, self.values, self.chosen, n_legal=self.n_legal, context=context or None
        )
        return batch.with_tally(self.tally)


def _fault(decider: Any, utilities: Any, chosen: Any, n_legal: Any, labels: Any) -> tuple[str, str] | None:
    if decider is None or not str(decider).strip():
        return "no decider", ""
    if not isinstance(utilities, list) or not utilities:
        return "no alternatives", ""
    for utility in utilities:
        if isinstance(utility, bool) or not isinstance(utility, int | float) or not abs(utility) < _LARGEST:
            return "utility is not a finite number", repr(utility)[:40]
    if chosen is not None and (isinstance(chosen, bool) or not isinstance(chosen, int)):
        return "chosen is not an index", repr(chosen)[:40]
    if chosen is not None and not 0 <= chosen < len(utilities):
        return "chosen index out of range", f"{chosen} of {len(utilities)} alternatives"
    whole = isinstance(n_legal, int) and not isinstance(n_legal, bool) and 0 <= n_legal <= _MOST_LEGAL
    if n_legal is not None and not whole:
        return "n_legal is not a whole number", repr(n_legal)[:40]
    if n_legal and n_legal < len(utilities):
        return "n_legal is smaller than the list", repr(n_legal)
    if chosen is None and (n_legal is None or n_legal == len(utilities)):
        return "nothing chosen", "an unlisted choice needs n_legal to exceed the list"
    if isinstance(labels, list) and len(labels) != len(utilities):
        return "alternatives without a name", f"{len(labels)} names, {len(utilities)} utilities"
    return None


def _column(values: list[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError, ValueError, TypeError):  # mixed types in a free column: keep them as text
        return pa.array([None if value is None else str(value) for value in values])


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if abs(number) < _LARGEST else None
