"""Packed files and other encodings: whatever a file is, its bytes come as a stream of UTF-8, or nearly.

In: a stream of bytes. Out: what it holds. The first bytes tell the packing, not the name: gzip, bzip2, zstd, xz, of
one piece or of several glued together, or zip, whose files come one after another. UTF-16 becomes UTF-8.

A small archive can hold more than any disk. What unpacks to more than MOST_UNPACKED bytes and to more than MOST_TIMES
its own size is stopped there: no text is packed so well.
"""

from __future__ import annotations

import bz2
import codecs
import contextlib
import gzip
import io
import lzma
import os
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, Any

import pyarrow as pa

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


class BombError(OSError):
    """A packed file holds far more than a file of its size can hold of text."""

    def __init__(self) -> None:
        super().__init__(f"it unpacks to more than {MOST_UNPACKED:,} bytes and {MOST_TIMES:,} times its size")


def unpacked(raw: Any, stack: contextlib.ExitStack) -> Any:
    """Return what a stream holds, unpacked and as UTF-8 where it says that it is UTF-16; the stack closes it."""
    head = raw.peek(6)
    packing = next((name for magic, name in _MAGIC.items() if head.startswith(magic)), None)
    if packing is not None:
        source = _Unpacked(_opened(packing, raw, stack), raw)
        raw = stack.enter_context(io.BufferedReader(source, _BLOCK))
    wide = next((name for mark, name in _WIDE.items() if raw.peek(2).startswith(mark)), None)
    if wide is not None:
        decoder = codecs.getreader(wide)(raw, "replace")
        raw = io.BufferedReader(Encoded(decoder), _BLOCK)
    return raw


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
            raise BombError
        buffer[: len(data)] = data
        return len(data)

    def _size(self) -> int:
        """Return how large the packed stream is, as far as it tells."""
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
    if packing == "zip":
        return _Chained(_members(_seekable(raw, stack), stack))
    return stack.enter_context(pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd"))


def _seekable(raw: Any, stack: contextlib.ExitStack) -> Any:
    """Return a stream in which one can go back, as zip needs; what comes from a pipe is copied to disk."""
    if raw.seekable():
        return raw
    copy: IO[bytes] = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - the stack closes it
    while block := raw.read(_BLOCK):
        copy.write(block)
    copy.seek(0)
    return copy


def _members(raw: Any, stack: contextlib.ExitStack) -> Iterator[Any]:
    """Yield the files of a zip archive, in its order; what a Mac adds is none of them."""
    archive = stack.enter_context(zipfile.ZipFile(raw))
    for member in archive.infolist():
        if not member.is_dir() and not member.filename.startswith("__MACOSX/"):
            if member.flag_bits & 1:
                raise OSError(f"{member.filename} in it needs a password")
            yield archive.open(member)


class _Chained:
    """Streams one after another, each ending in a newline."""

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
