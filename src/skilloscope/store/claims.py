"""Claims: several processes on one store divide the work, so that nothing is searched twice.

A claim ends with its answer, when its owner lets go of it, when its owner is dead, and where that cannot be seen
(another machine) when it was not renewed for a while. An answer that comes twice does no harm, so no doubt about an
owner ever blocks the work for long.
"""

import contextlib
import itertools
import os
import platform
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping

from skilloscope.core.paths import Closing
from skilloscope.store.store import Store, settings_digest

CLAIM_SECONDS = 600.0  # a claim that was not renewed for so long counts no more, whoever made it
_TABLE = """
CREATE TABLE IF NOT EXISTS claim (
    settings TEXT NOT NULL,
    problem TEXT NOT NULL,
    owner TEXT NOT NULL,
    renewed REAL NOT NULL,
    PRIMARY KEY (settings, problem)
) WITHOUT ROWID
"""
_ANSWERED = """SELECT 1 FROM analysis a JOIN settings s ON a.settings = s.id
               WHERE s.digest = ? AND a.problem = ? AND a.status = 'done'"""
_CLAIMED = "SELECT owner, renewed FROM claim WHERE settings = ? AND problem = ?"
_numbers = itertools.count()


class Claims(Closing):
    """What this process is answering under some settings, for any thread; a context manager that lets go of all."""

    def __init__(self, store: Store, settings: Mapping[str, object]) -> None:
        self.owner = f"{platform.node()} {os.getpid()} {process_start(os.getpid())} {next(_numbers)}"
        self._digest = settings_digest(settings)
        self._lock = threading.Lock()
        self._connection = store.second_connection()
        with self._lock:
            self._connection.execute(_TABLE)

    def granted(self, problems: Iterable[str]) -> Iterator[str]:
        """Yield the problems that nobody else answers or has answered, each claimed when it is asked for."""
        return filter(self.claim, problems)

    def claim(self, problem: str) -> bool:
        """Claim a problem; return whether it is ours to answer."""
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                answered = self._connection.execute(_ANSWERED, [self._digest, problem]).fetchone()
                claimed = self._connection.execute(_CLAIMED, [self._digest, problem]).fetchone()
                free = answered is None and (claimed is None or claimed[0] == self.owner or not _holds(*claimed))
                if free:
                    row = [self._digest, problem, self.owner, time.time()]
                    self._connection.execute("INSERT OR REPLACE INTO claim VALUES (?, ?, ?, ?)", row)
                self._connection.execute("UPDATE claim SET renewed = ? WHERE owner = ?", [time.time(), self.owner])
                self._connection.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):  # a full disk has rolled back already
                    self._connection.execute("ROLLBACK")
                raise
            return free

    def release(self, problem: str) -> None:
        """Let go of a problem: its answer is stored."""
        with self._lock:
            query = "DELETE FROM claim WHERE settings = ? AND problem = ? AND owner = ?"
            self._connection.execute(query, [self._digest, problem, self.owner])

    def close(self) -> None:
        """Let go of everything. Closing twice does no harm."""
        with self._lock:
            with contextlib.suppress(sqlite3.Error):  # closed, or a full disk: the claims end with us
                self._connection.execute("DELETE FROM claim WHERE owner = ?", [self.owner])
            self._connection.close()


def process_start(pid: int) -> str:
    """Return when a living process began, as its system counts; empty if there is none, `?` if it is not known."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        return "" if fields[0] in (b"Z", b"X") else fields[19].decode()
    except FileNotFoundError:
        if os.path.isdir("/proc/self"):
            return ""
    except (OSError, IndexError):
        pass
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except OSError:
        pass
    return "?"


def _holds(owner: str, renewed: float) -> bool:
    """Return whether a claim still counts: it was renewed lately, and its owner is not known to be dead."""
    if not 0 <= time.time() - renewed < CLAIM_SECONDS:
        return False
    node, _, rest = owner.partition(" ")
    pid, start = [*rest.split(" "), "", ""][:2]
    return node != platform.node() or not pid.isdigit() or process_start(int(pid)) == start
