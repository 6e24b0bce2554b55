"""Where a feed comes from: a file that grows, or an address. Each tells when there is something new.

In: a path or an http address. Out: the feed's whole text whenever it has changed, and once more when it has settled:
a text that stands is believed where a passing one is not (see studies/live/live.py).
"""

from __future__ import annotations

import http.client
import os
import threading
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from skilloscope.core.errors import InputError

SETTLED_SECONDS = 0.5
_TIMEOUT = 10.0
_MOST_BYTES = 50_000_000
_ANY_ZLIB = 47  # gzip or zlib, told by the first bytes


class FeedSource(Protocol):
    """What a feed can do."""

    def changed(self) -> bool:
        """Return whether `poll` would return something."""

    def poll(self) -> str | None:
        """Return the whole text if it has changed since the last call, or has just settled; else None."""

    def problem(self) -> str | None:
        """Return what is wrong with the feed now, if anything."""

    def close(self) -> None:
        """End whatever runs beside."""


class FileFeed:
    """A file that another program writes: its size and its time say whether it has changed."""

    def __init__(self, path: str | os.PathLike[str], clock: Callable[[], float] = time.monotonic) -> None:
        self.path = Path(path)
        self._clock = clock
        self._seen: tuple[int, int, int] | None = None
        self._settles: float | None = None
        self._problem: str | None = None

    def changed(self) -> bool:
        """Return whether the file is another than at the last look, or has stood still for a while since."""
        return self._state() != self._seen or (self._settles is not None and self._clock() >= self._settles)

    def poll(self) -> str | None:
        """Return the text if there is something new."""
        if not self.changed():
            return None
        state = self._state()
        self._settles = self._clock() + SETTLED_SECONDS if state != self._seen else None
        self._seen = state
        if state is None:
            self._problem = f"{self.path} is not there"
            return None
        try:
            text = self.path.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            self._problem = f"{self.path}: {error.strerror or error}"
            return None
        self._problem = None
        return text

    def problem(self) -> str | None:
        """Return why there is nothing to read."""
        return self._problem

    def close(self) -> None:
        """Do nothing: no file is held open."""

    def _state(self) -> tuple[int, int, int] | None:
        try:
            found = os.stat(self.path)
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino


class UrlFeed:
    """An address that is fetched again and again, or that goes on sending: a thread reads, nobody waits for it."""

    def __init__(
        self,
        address: str,
        every_seconds: float = 2.0,
        clock: Callable[[], float] = time.monotonic,
        *,
        opener: urllib.request.OpenerDirector | None = None,
    ) -> None:
        self.address, self.every = address, every_seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._text: str | None = None
        self._given: str | None = None
        self._settles: float | None = None
        self._problem: str | None = None
        self._ended = threading.Event()
        self._etag: str | None = None
        self._opener = opener or urllib.request.build_opener(_WebOnly)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def changed(self) -> bool:
        """Return whether another text has come, or the last one has stood for a while."""
        with self._lock:
            settled = self._settles is not None and self._clock() >= self._settles
            return self._text is not None and (self._text != self._given or settled)

    def poll(self) -> str | None:
        """Return the text if there is something new."""
        if not self.changed():
            return None
        with self._lock:
            self._settles = self._clock() + SETTLED_SECONDS if self._text != self._given else None
            self._given = self._text
            return self._text

    def problem(self) -> str | None:
        """Return what went wrong with the last fetch."""
        with self._lock:
            return self._problem

    def close(self) -> None:
        """Let the thread end; it may still wait for an answer, and is not waited for."""
        self._ended.set()

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                self._fetch()
                with self._lock:
                    self._problem = None
            except (OSError, http.client.HTTPException, ValueError) as error:  # URLError and timeouts are OSErrors
                with self._lock:
                    self._problem = f"{self.address}: {error}"
            self._ended.wait(self.every)

    def _fetch(self) -> None:
        headers = {"User-Agent": "skilloscope", "Accept": "application/x-chess-pgn, text/plain, */*"}
        headers["Accept-Encoding"] = "identity"  # some servers pack all the same
        if self._etag:
            headers["If-None-Match"] = self._etag
        try:
            with self._opener.open(urllib.request.Request(self.address, headers=headers), timeout=_TIMEOUT) as reply:
                self._read(reply)
                self._etag = reply.headers.get("ETag")
        except urllib.error.HTTPError as error:
            error.close()
            if error.code != 304:  # not modified
                raise

    def _read(self, reply: http.client.HTTPResponse) -> None:
        """Take the text as it comes: an address that never ends is a feed too."""
        got, unpack = bytearray(), _Unpacking(reply.headers.get("Content-Encoding"))
        whole = reply.headers.get("Content-Length") is not None
        while not self._ended.is_set():
            piece = reply.read1(65536)
            got += unpack(piece)
            if len(got) > _MOST_BYTES:
                raise ValueError(f"more than {_MOST_BYTES:,} bytes")
            if not piece or not whole:
                with self._lock:
                    self._text = bytes(got).decode("utf-8", "replace") if got else self._text
            if not piece:
                return


class _WebOnly(urllib.request.HTTPRedirectHandler):
    """Follows an address to another one of the web, never to a file or to ftp."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        if not newurl.lower().startswith(("http://", "https://")):
            raise ValueError(f"it sends us on to {newurl!r}, which is not an address of the web")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class _Unpacking:
    """Unpacks the pieces of a reply; what cannot be unpacked is an error, not an empty feed.

    A reply that does not say so may be packed all the same, where the address is that of a .gz file.
    """

    def __init__(self, encoding: str | None) -> None:
        self.name = (encoding or "identity").strip().lower()
        if self.name not in ("identity", "gzip", "x-gzip", "deflate"):
            raise ValueError(f"it is sent packed as {self.name!r}, which cannot be read")
        self._unpack = None if self.name == "identity" else zlib.decompressobj(wbits=_ANY_ZLIB)
        self._begun = False

    def __call__(self, piece: bytes) -> bytes:
        if not self._begun and piece.startswith(b"\x1f\x8b"):
            self._unpack = zlib.decompressobj(wbits=_ANY_ZLIB)
        self._begun = self._begun or bool(piece)
        got = b""
        try:
            while self._unpack is not None and piece and len(got) <= _MOST_BYTES:
                got += self._unpack.decompress(piece, _MOST_BYTES + 1 - len(got))
                piece = self._unpack.unused_data
                if self._unpack.eof:  # another one may be glued to it
                    self._unpack = zlib.decompressobj(wbits=_ANY_ZLIB)
        except zlib.error as error:
            raise ValueError(f"it is sent packed and cannot be unpacked: {error}") from error
        return piece if self._unpack is None else got


def open_feed(source: str, *, every_seconds: float = 2.0) -> FeedSource:
    """Return the feed of a file or an http address."""
    if source.startswith(("http://", "https://")):
        return UrlFeed(source, every_seconds)
    if "://" in source:
        raise InputError(f"{source}: not an address that can be followed", hint="give http://…, https://… or a file")
    if not Path(source).is_file():
        raise InputError(f"{source}: no such file", hint="give a PGN file that grows, or an http address")
    return FileFeed(source)
