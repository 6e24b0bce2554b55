"""Text from unknown sources, and text that is safe to print.

In: lines of JSON and rows of CSV. Anything unusable is one bad record: JSON nested too deeply, numbers of a thousand
digits, lone surrogates, a CSV cell without an end. Out: text for a terminal without control sequences, which set
titles, fill the clipboard or move the cursor, and without controls of writing direction.
"""

import csv
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from itertools import repeat
from types import UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

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
    if "\\u" in text:
        try:
            json.dumps(record, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise InputError("half a character (a lone surrogate)") from error
    return record


def read_object(text: str | bytes) -> dict[str, Any]:
    """Return the object that a line of JSON holds; anything else is an InputError."""
    record = read_record(text)
    if not isinstance(record, dict):
        raise InputError("not a JSON object")
    return record


LARGEST = 1e9  # no number of a file of ours is larger


def typed(kind: Any, value: Any, name: str = "it") -> Any:
    """Return a JSON value as a type says, with finite numbers; InputError where it is of another.

    >>> typed(tuple[float, float], [1, 2.5])
    (1.0, 2.5)
    >>> typed(float, float("nan"), "slope")
    Traceback (most recent call last):
    skilloscope.core.errors.InputError: slope: nan is no float
    """
    origin, inside = get_origin(kind) or kind, get_args(kind)
    if origin is Any and isinstance(value, dict | list):
        origin, inside = (dict, (str, Any)) if isinstance(value, dict) else (list, (Any,))
    if origin is Any:
        origin = type(value)
    if origin in (Union, UnionType):
        return None if value is None else typed(inside[0], value, name)
    if origin in (int, float) and isinstance(value, int | float) and not isinstance(value, bool):
        if abs(value) <= LARGEST and (origin is float or value == int(value)):
            return origin(value)
    elif is_dataclass(origin) and isinstance(value, dict):
        kinds, known = get_type_hints(origin), {one.name: one for one in fields(origin)}
        missing = [n for n, one in known.items() if one.default is one.default_factory and n not in value]
        if missing or not value.keys() <= known.keys():
            raise InputError(f"{name}: fields that are missing or unknown: {missing or sorted({*value} - {*known})}")
        make: Any = origin
        return make(**dict(zip(value, map(typed, map(kinds.get, value), value.values(), value), strict=True)))
    elif getattr(origin, "__name__", "") == "ndarray" and isinstance(value, list) and value:
        import numpy as np  # commands that only print help do without

        rows = tuple(map(typed, repeat(tuple[float, ...]), value, repeat(name)))
        if len(set(map(len, rows))) == 1:
            return np.array(rows)
    elif isinstance(value, dict) and inside[:1] == (str,):
        names = [f"{name} {key}" for key in value]
        return dict(zip(value, map(typed, repeat(inside[1]), value.values(), names), strict=True))
    elif isinstance(value, list) and inside:
        each = inside if len(inside) > 1 and inside[1] is not Ellipsis else inside[:1] * len(value)
        if len(each) == len(value):
            return tuple(map(typed, each, value, repeat(name)))
    elif origin in (str, bool, type(None)) and isinstance(value, origin):
        return value
    raise InputError(f"{name}: {str(value)[:40]} is no {getattr(origin, '__name__', 'such value')}")


class CsvRow(NamedTuple):
    """The cells of a row, its number among the rows, and that of the line on which it ends; both from 1."""

    number: int
    line: int
    cells: list[str]


def read_rows(lines: Iterable[str], separator: str, file: str, tally: Tally, *, before: int = 0) -> Iterator[CsvRow]:
    """Yield the rows of CSV, blank ones too; bad ones are faults. `before` lines of the file were read already."""
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
    level = [value]
    for _ in range(levels + 1):
        inside = [one for one in level if isinstance(one, list | dict)]
        level = [entry for one in inside for entry in (one.values() if isinstance(one, dict) else one)]
        if not inside:
            return True
    return False


_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_LINES = "\u2028\u2029"
_OBEYED = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{_BIDI}{_LINES}\ufffe\uffff]")  # the last two are no XML
_IN_JSON = re.compile(f"[\x7f-\x9f{_BIDI}{_LINES}\ud800-\udfff]")  # json itself escapes what comes before the space


def visible(text: str) -> str:
    r"""Return the text without controls; lines and tabs stay.

    >>> visible("Kas\x1b]0;owned\x07parov\u202e\n")
    'Kas]0;ownedparov\n'
    """
    return _OBEYED.sub("", text)


def json_text(value: Any, *, indent: int | None = None) -> str:
    r"""Return JSON of exactly this value in which every control is written as an escape.

    >>> print(json_text({"name": "Kas\x9bparov"}))
    {"name": "Kas\u009bparov"}
    """
    text = json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)
    return _IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
