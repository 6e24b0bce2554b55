"""Lines of JSON and rows of CSV from elsewhere: what cannot be used is one bad record, whatever is wrong with it.

JSON may nest as deep as it likes, write numbers of a thousand digits and halves of characters that no text can hold;
a cell of CSV may have no end. Each would break something behind the reader.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from skilloscope.core.errors import InputError, Tally

_DEEPEST = 24


def read_record(text: str | bytes) -> Any:
    """Return what a line of JSON holds; InputError where it is none, nests too deep or holds half a character.

    >>> read_record('{"decider": "Ann"}')
    {'decider': 'Ann'}
    """
    try:
        record = json.loads(text)
    except RecursionError as error:
        raise InputError("JSON that nests too deep") from error
    except ValueError as error:  # JSONDecodeError is one; others are a number of too many digits, and bytes of no text
        raise InputError(f"not JSON that can be read: {error}") from error
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    if text.count("[") + text.count("{") > _DEEPEST and not _is_flat(record, _DEEPEST):
        raise InputError("JSON that nests too deep")
    if "\\u" in text and _has_half_a_character(record):
        raise InputError("half a character (a lone surrogate)")
    return record


def read_object(text: str | bytes) -> dict[str, Any]:
    """Return the object that a line of JSON holds; anything else is an InputError."""
    record = read_record(text)
    if not isinstance(record, dict):
        raise InputError("not a JSON object")
    return record


class CsvRow(NamedTuple):
    """The cells of a row, its number among the rows, and that of the line on which it ends; both from 1."""

    number: int
    line: int
    cells: list[str]


def read_rows(lines: Iterable[str], separator: str, file: str, tally: Tally, *, before: int = 0) -> Iterator[CsvRow]:
    """Yield the rows of CSV, blank ones too; one that CSV cannot hold, as a cell without an end, is a fault.

    `before` is how many lines of the file were read already.
    """
    body = csv.reader(iter(lines), delimiter=separator)
    number = before
    while True:
        number += 1
        try:
            cells = next(body, None)
        except csv.Error as error:
            tally.fault("a row that is not CSV", file, f"line {body.line_num + before}", str(error))
            continue
        if cells is None:
            return
        yield CsvRow(number, body.line_num + before, cells)


def read_header(line: str, separator: str) -> list[str]:
    """Return the cells of one line of CSV, trimmed; none where it is not CSV."""
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=separator), [])]
    except csv.Error:
        return []


def _is_flat(value: Any, levels: int) -> bool:
    if not isinstance(value, list | dict):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(_is_flat(entry, levels - 1) for entry in inner)


def _has_half_a_character(record: Any) -> bool:
    try:
        json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False
