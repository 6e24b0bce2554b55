"""The one opener of files: compressed or not, streams too, as bytes or as lines of text.

The first bytes say how a file is compressed, not its name. Text is UTF-8, or UTF-16 with a mark; a byte that is not
UTF-8 is read as Latin-1, one by one, because many collections concatenate files of both kinds.

Whatever decompresses to more than MOST_UNPACKED bytes and to more than MOST_TIMES its own size is stopped there, and no
line is longer than MOST_LINE. A file that is damaged or truncated yields what comes before the damage, down to half a
line, and then raises.
"""

import bz2
import codecs
import contextlib
import gzip
import io
import lzma
import os
import re
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from skilloscope.core.errors import InputError
from skilloscope.core.paths import STDIN, standard_input

MOST_UNPACKED = 1 << 28
MOST_TIMES = 1000

DAMAGE = (EOFError, OSError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, pa.ArrowException)
"""What reading a packed file raises where it is damaged or cut, holds too much, or where a line is too long."""

_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\xfd7zXZ\x00": "xz",
    b"PK\x03\x04": "zip",
}
_WIDE = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"[\x00": "utf-16-le", b"\x00[": "utf-16-be"}
_BLOCK = 1 << 16


def unpacked(raw: Any, stack: contextlib.ExitStack) -> Any:
    """Return what a stream holds, unpacked and as UTF-8 where it says that it is UTF-16; the stack closes it."""
    head = raw.peek(6)
    packing = next((name for magic, name in _MAGIC.items() if head.startswith(magic)), None)
    if packing is not None:
        raw = stack.enter_context(io.BufferedReader(_Unpacked(_opened(packing, raw, stack), raw), _BLOCK))
    wide = next((name for mark, name in _WIDE.items() if raw.peek(2).startswith(mark)), None)
    return io.BufferedReader(Encoded(codecs.getreader(wide)(raw, "replace")), _BLOCK) if wide is not None else raw


class Encoded(io.RawIOBase):
    """Text as a stream of bytes, UTF-8."""

    def __init__(self, text: Any) -> None:
        self._text, self._held = text, b""

    def readable(self) -> bool:
        """It can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Put the next bytes into the buffer."""
        if not self._held:
            self._held = self._text.read(_BLOCK).encode("utf-8", "replace")
        size = min(len(buffer), len(self._held))
        buffer[:size], self._held = self._held[:size], self._held[size:]
        return size


class _Unpacked(io.RawIOBase):
    """What comes out of a packed stream, as long as it is not too much."""

    def __init__(self, inner: Any, raw: Any) -> None:
        self._inner, self._raw, self._given = inner, raw, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._inner.read1(len(buffer)) if hasattr(self._inner, "read1") else self._inner.read(len(buffer))
        self._given += len(data)
        if self._given > MOST_UNPACKED and self._given > MOST_TIMES * self._size():
            raise OSError(f"it unpacks to more than {MOST_UNPACKED:,} bytes and {MOST_TIMES:,} times its size")
        buffer[: len(data)] = data
        return len(data)

    def _size(self) -> int:
        try:
            return os.fstat(self._raw.fileno()).st_size
        except (OSError, AttributeError):
            with contextlib.suppress(OSError, AttributeError):
                return int(self._raw.tell())
        return 0


def _opened(packing: str, raw: Any, stack: contextlib.ExitStack) -> Any:
    if packing == "gzip":
        return stack.enter_context(gzip.GzipFile(fileobj=raw))
    if packing == "bzip2":
        return stack.enter_context(bz2.BZ2File(raw))
    if packing == "xz":
        return stack.enter_context(lzma.LZMAFile(raw))
    if packing == "zstd":
        return stack.enter_context(pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd"))
    if raw.seekable():
        return _Chained(_members(raw, stack))
    copy: IO[bytes] = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - zip goes back and a pipe cannot
    shutil.copyfileobj(raw, copy)
    copy.seek(0)
    return _Chained(_members(copy, stack))


def _members(raw: Any, stack: contextlib.ExitStack) -> Iterator[Any]:
    """Yield the files of a zip archive, in its order; what a Mac adds is none of them."""
    archive = stack.enter_context(zipfile.ZipFile(raw))
    for member in archive.infolist():
        if not member.is_dir() and not member.filename.startswith("__MACOSX/"):
            if member.flag_bits & 1:
                raise OSError(f"{member.filename} in it needs a password")
            yield archive.open(member)


class _Chained:
    def __init__(self, streams: Iterator[Any]) -> None:
        self._streams, self._now = streams, None

    def read(self, size: int) -> bytes:
        while True:
            if self._now is None:
                self._now = next(self._streams, None)
                if self._now is None:
                    return b""
            try:
                data: bytes = self._now.read1(size)
            except NotImplementedError as error:  # a packing that zipfile does not know
                raise OSError(str(error)) from error
            if data:
                return data
            self._now.close()
            self._now = None
            return b"\n"


Source = str | os.PathLike[str] | IO[Any]

MOST_LINE = 1 << 24
"""The most bytes that a line may have; longer ones are archives made to fill the memory, or files that are no text."""

_FALLBACK = "skilloscope-latin-1"
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x19\x1c-\x1f]")  # 0x1a ends some old DOS files, 0x1b shifts some fonts
_TAG = re.compile(rb'^[ \t]*\[[ \t]*\w+[ \t]+"[^\n]*"', re.MULTILINE)
_HEAD_LINES = 20
_HEAD_BYTES = 8192


class BinaryDataError(ValueError):
    """The source holds no text; `offset` is the place of the first byte that cannot be text."""

    def __init__(self, offset: int) -> None:
        super().__init__(f"binary data at byte {offset}")
        self.offset = offset


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
    """Yield the lines of a stream that begins with `start`, newlines normalised; half a line before a damage too."""
    held, fresh = bytearray(start), 0
    while True:
        # Where the last whole line ends; a carriage return that stands last may yet be half of a line's end.
        since = max(fresh - 1, 0)
        newline = held.rfind(b"\n", since)
        cut = max(newline, held.rfind(b"\r", max(since, newline + 1), len(held) - 1)) + 1
        if cut:
            text = held[:cut].decode("utf-8", _FALLBACK)
            del held[:cut]
            yield from io.StringIO(text, newline=None)
        if len(held) > MOST_LINE:
            raise OSError(f"a line of more than {MOST_LINE:,} bytes")
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


def _short_lines(source: io.TextIOBase) -> Iterator[str]:
    while line := source.readline(MOST_LINE + 1):
        if len(line) > MOST_LINE:
            raise OSError(f"a line of more than {MOST_LINE:,} bytes")
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
    """Return the first lines that are not blank, to detect the kind; none if it is not text or cannot be read."""
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
        return (standard_input() if str(path) == STDIN else path).open("rb", buffering=_BLOCK)
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
