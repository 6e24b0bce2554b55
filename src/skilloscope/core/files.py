"""Where games come from: files, packed files and streams, opened as lines of text.

In: a path or a stream. Out: its name and its lines, whatever the packing, the encoding and the line ends.

The packing is told by the first bytes, not by the name. Text is UTF-8; a byte that is not is taken as Latin-1, one
by one, for many collections are glued together from files of both kinds.
"""

from __future__ import annotations

import bz2
import codecs
import contextlib
import gzip
import io
import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa

from skilloscope.core.errors import InputError

Source = str | os.PathLike[str] | IO[Any]

DAMAGE = (EOFError, OSError, zlib.error, pa.ArrowException)
"""What reading a packed file raises where it is damaged or cut."""

_FALLBACK = "skilloscope-latin-1"
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x19\x1c-\x1f]")  # 0x1a ends some old DOS files, 0x1b shifts some fonts
_TAG = re.compile(rb'\[\s*\w+\s+"[^\n]*"\s*\]')
_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\x28\xb5\x2f\xfd": "zstd"}


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
        yield iter(source)
        return
    with open_bytes(source) as text:
        wrapper = io.TextIOWrapper(text, encoding="utf-8", errors=_FALLBACK)
        try:
            yield iter(wrapper)
        finally:
            wrapper.detach()  # who opened the source closes it


@contextlib.contextmanager
def open_bytes(source: Source) -> Iterator[Any]:
    """Open the source and give it unpacked; BinaryDataError if it is no text, InputError if it cannot be opened."""
    with contextlib.ExitStack() as stack:
        if isinstance(source, str | os.PathLike):
            raw: Any = stack.enter_context(_open_file(Path(source)))
        else:
            raw = source if hasattr(source, "peek") else io.BufferedReader(cast(io.RawIOBase, source))
        text = _unpacked(raw, stack)
        head = text.peek(8192)
        match = _BINARY.search(head)
        if match and not _TAG.search(head, 0, match.start()):  # after a tag it is damage, and the games before it count
            raise BinaryDataError(match.start())
        yield text


def _open_file(path: Path) -> IO[bytes]:
    try:
        return path.open("rb", buffering=1 << 16)
    except FileNotFoundError as error:
        raise InputError(f"no file {path}", hint="check the path") from error
    except IsADirectoryError as error:
        raise InputError(f"{path} is a folder", hint=f"give the files in it, e.g. {path}/*.pgn") from error
    except OSError as error:
        raise InputError(f"{path} cannot be opened: {error.strerror}", hint="check its permissions") from error


def _unpacked(raw: Any, stack: contextlib.ExitStack) -> Any:
    head = raw.peek(4)
    packing = next((name for magic, name in _MAGIC.items() if head.startswith(magic)), None)
    if packing == "gzip":
        return stack.enter_context(gzip.GzipFile(fileobj=raw))
    if packing == "bzip2":
        return stack.enter_context(bz2.BZ2File(raw))
    if packing == "zstd":
        packed = stack.enter_context(pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd"))
        return stack.enter_context(io.BufferedReader(packed, 1 << 16))
    return raw


def _as_latin_1(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error(_FALLBACK, _as_latin_1)
