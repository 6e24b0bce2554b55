"""A SQLite file of the server: readable by its user alone, a connection for each thread, a digest for each row."""

import contextlib
import os
import sqlite3
import threading
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

from skilloscope.core.errors import StoreError

_WAIT = 5.0  # seconds that a lock is waited for


class SqliteFile:
    """A file with tables that `_make` makes; every process has its own object."""

    def __init__(self, path: Path) -> None:
        self.path, self._local = path, threading.local()
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))  # what is next to it gets the same rights
        try:
            self._make()
        except (sqlite3.Error, UnicodeDecodeError) as error:  # SQLite quotes damaged text in its errors
            raise StoreError(
                f"{path} cannot be used: {error}", hint="is it damaged, locked, or not ours? name another --store"
            ) from error

    def _make(self) -> None:
        raise NotImplementedError

    def close(self) -> None:
        """Close this thread's connection."""
        base = getattr(self._local, "base", None)
        if base is not None:
            base.close()
            self._local.base = None

    def _base(self) -> sqlite3.Connection:
        base: sqlite3.Connection | None = getattr(self._local, "base", None)
        if base is None:
            base = sqlite3.connect(self.path, timeout=_WAIT, isolation_level=None, check_same_thread=False)
            base.execute("PRAGMA journal_mode = WAL")
            base.execute("PRAGMA synchronous = FULL")  # what is acknowledged outlives a power cut too
            base.text_factory = lambda raw: raw.decode("utf-8", "replace")  # what is damaged fails by its digest
            self._local.base = base
        return base

    @contextlib.contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        """Give the connection for changes that are made together or not at all."""
        base = self._base()
        begun = base.in_transaction  # by a larger change, of which this one is a part
        if not begun:
            base.execute("BEGIN IMMEDIATE")
        try:
            yield base
            if not begun:
                base.execute("COMMIT")
        except BaseException:
            if not begun:
                with contextlib.suppress(sqlite3.Error):  # a full disk has rolled back already
                    base.execute("ROLLBACK")
            raise


def row_digest(*values: Any) -> bytes:
    """Return a value that shows whether any bit of a row has changed."""
    return blake2b(repr(values).encode(), digest_size=8).digest()


def sound(digest: bytes | None, *values: Any) -> Any:
    """Return the last value of a row; raise where it is not what was put there."""
    if digest is not None and digest != row_digest(*values):
        raise StoreError("what the server kept of this is damaged on its disk", hint="upload it again")
    return values[-1]
