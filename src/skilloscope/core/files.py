"""The one opener of files: packed or not, streams too, as bytes or as lines of text.

In: a path or a stream. Out: its name and its content, whatever the packing, the encoding and the line ends.

How a file is packed, its first bytes tell (unpacking.py). Text is UTF-8; a byte that is not is taken as Latin-1, one by
one, for many collections are glued together from files of both kinds.

A small archive can hold a line of gigabytes. No line is longer than MOST_LINE; where one is, the file is damaged there.
A file that is damaged, or cut, gives what stands before the damage, down to half a line, and then says so.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any

from skilloscope.core.errors import InputError
from skilloscope.core.inputs.paths import real_path
from skilloscope.core.inputs.unpacking import DAMAGE, Encoded, unpacked

Source = str | os.PathLike[str] | IO[Any]

MOST_LINE = 1 << 24
"""The most bytes that a line may have."""

_FALLBACK = "skilloscope-latin-1"
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x19\x1c-\x1f]")  # 0x1a ends some old DOS files, 0x1b shifts some fonts
_TAG = re.compile(rb'^[ \t]*\[[ \t]*\w+[ \t]+"[^\n]*"', re.MULTILINE)
_HEAD_LINES = 20
_HEAD_BYTES = 8192
_BLOCK = 1 << 16


class BinaryDataError(ValueError):
    """The source holds no text; `offset` is the place of the first byte that cannot be text."""

    def __init__(self, offset: int) -> None:
        super().__init__(f"binary data at byte {offset}")
        self.offset = offset


class LongLineError(OSError):
    """A line is longer than any text has: an archive made to fill the memory, or a file that is no text."""

    def __init__(self) -> None:
        super().__init__(f"a line of more than {MOST_LINE:,} bytes")


def source_name(source: Source) -> str:
    """Return the path, or the name of the stream, for reports; empty where it has none."""
    if isinstance(source, str | os.PathLike):
        return os.fspath(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else ""


@contextlib.contextmanager
def open_lines(source: Source) -> Iterator[Iterator[str]]:
    """Open the source and give its lines; BinaryDataError if it is no text, InputError if it cannot be opened."""
    if isinstance(source, io.TextIOBase):
        yield _short_lines(source)
        return
    with open_bytes(source) as stream:
        yield lines_of(stream)


def lines_of(stream: Any, start: bytes = b"") -> Iterator[str]:
    """Yield the lines of a stream of bytes that begins with `start`, whatever ends them; each ends with a newline.

    Where the stream is damaged, what was read of the last line comes before the error.
    """
    held, fresh = bytearray(start), 0
    while True:
        cut = _last_end(held, fresh)
        if cut:
            text = held[:cut].decode("utf-8", _FALLBACK)
            del held[:cut]
            yield from io.StringIO(text, newline=None)
        if len(held) > MOST_LINE:
            raise LongLineError
        fresh = len(held)
        try:
            block = stream.read1(_BLOCK)
        except DAMAGE:
            yield from io.StringIO(held.decode("utf-8", _FALLBACK), newline=None)
            raise
        if not block:
            yield from io.StringIO(held.decode("utf-8", _FALLBACK), newline=None)
            return
        held += block


def next_block(stream: Any, size: int) -> tuple[bytes, Exception | None]:
    """Return the next bytes of a stream, fewer than `size` only at its end, and what damage ended them."""
    pieces, had = [], 0
    try:
        while had < size and (piece := stream.read1(size - had)):
            pieces.append(piece)
            had += len(piece)
    except DAMAGE as error:
        return b"".join(pieces), error
    return b"".join(pieces), None


def as_text(data: bytes) -> str:
    """Return bytes as text: UTF-8, and Latin-1 where they are not."""
    return data.decode("utf-8", _FALLBACK)


def _last_end(held: bytearray, fresh: int) -> int:
    """Return where the last whole line ends; a carriage return that stands last may yet be half of a line's end."""
    start = max(fresh - 1, 0)
    newline = held.rfind(b"\n", start)
    return max(newline, held.rfind(b"\r", max(start, newline + 1), len(held) - 1)) + 1


def _short_lines(source: io.TextIOBase) -> Iterator[str]:
    while line := source.readline(MOST_LINE + 1):
        if len(line) > MOST_LINE:
            raise LongLineError
        yield line


@contextlib.contextmanager
def open_bytes(source: Source) -> Iterator[Any]:
    """Open the source and give it unpacked; BinaryDataError if it is no text, InputError if it cannot be opened."""
    given: Any = source
    with contextlib.ExitStack() as stack:
        if isinstance(given, str | os.PathLike):
            raw: Any = stack.enter_context(_open_file(Path(given)))
        elif isinstance(given, io.TextIOBase):
            raw = io.BufferedReader(Encoded(given), _BLOCK)
        else:
            raw = given if hasattr(given, "peek") else io.BufferedReader(given)
        text = unpacked(raw, stack)
        head = text.peek(_HEAD_BYTES)[:_HEAD_BYTES]
        if head.startswith(codecs.BOM_UTF8):
            text.read(len(codecs.BOM_UTF8))
        match = _BINARY.search(head)
        if match and not _TAG.search(head, 0, match.start()):  # after a tag it is damage, and the games before it count
            raise BinaryDataError(match.start())
        yield text


def numbered_lines(source: Source, name: str = "") -> Iterator[tuple[int, str]]:
    """Yield the lines with their numbers from 1; a binary or damaged file is an error that says after which line."""
    name = name or source_name(source) or "<stream>"
    number = 0
    try:
        with open_lines(source) as lines:
            for number, line in enumerate(lines, 1):
                if "\0" in line:
                    raise InputError(f"{name}, line {number}: binary data, not text", hint="is this the right file?")
                yield number, line
    except (BinaryDataError, UnicodeDecodeError, *DAMAGE) as error:
        raise InputError(f"{name}, after line {number}: not readable as text ({error})") from error


def head_lines(path: Path) -> list[str]:
    """Return the first lines that are not blank, to tell what a file is; none of what is no text or cannot be read."""
    try:
        with open_lines(path) as lines:
            return list(islice((line.strip() for line in lines if line.strip()), _HEAD_LINES))
    except (BinaryDataError, *DAMAGE):
        return []


def is_parquet(path: str | os.PathLike[str]) -> bool:
    """Return whether the file begins as Parquet does."""
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"PAR1"
    except OSError:
        return False  # whoever opens it next says what is wrong


def _open_file(path: Path) -> IO[bytes]:
    try:
        return real_path(path).open("rb", buffering=1 << 16)
    except FileNotFoundError as error:
        raise InputError(f"no file {path}", hint="check the path") from error
    except IsADirectoryError as error:
        raise InputError(f"{path} is a folder", hint=f"give the files in it, e.g. {path}/*") from error
    except OSError as error:
        raise InputError(f"{path} cannot be opened: {error.strerror}", hint="check its permissions") from error


def _as_latin_1(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error(_FALLBACK, _as_latin_1)
