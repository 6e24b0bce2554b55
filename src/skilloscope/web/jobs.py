"""The queue of jobs in one SQLite file: what was uploaded, how far it is, what came out; and a job being worked on.

In: texts that a visitor uploaded. Out: jobs that workers take one by one, and reports by name. A job is acknowledged
only when it is on disk; a job that was being worked on when its worker ended is worked on again.

Jobs wait in lanes: a long search of one person must not keep another from the first, quick answer. What has ended is
kept for some days; what waits or runs is never removed.

A worker does a job as a JobTask, which reports how far it is. Where a visitor has cancelled the job, reporting raises,
and the work ends there with what it has kept.
"""

import contextlib
import errno
import json
import logging
import os
import re
import secrets
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from skilloscope.core.errors import InputError, SkilloscopeError, StoreError
from skilloscope.core.text import json_text
from skilloscope.web.sqlite_file import SqliteFile, row_digest, sound

Json = dict[str, Any]  # a document as the API sends it
SCHEMA = 3
LANES = ("quick", "engine", "live")
ENDED = ("done", "failed", "cancelled")
KEEP_DAYS = 30  # how long a job is kept after its end by default
DAY = 86400.0
RESERVE = 2 << 20  # bytes that are kept free for deleting where the disk is full
MOST_ATTEMPTS = 3  # how often a job is started again whose worker ended in the middle of it, before it is given up
_LOG = logging.getLogger(__name__)
RETRY_SECONDS = 2.0
_EVERY = 0.2  # seconds between two notes of progress

_TABLES = """
CREATE TABLE IF NOT EXISTS jobs (
    id TEXT PRIMARY KEY, kind TEXT NOT NULL, title TEXT NOT NULL, owner TEXT NOT NULL, created REAL NOT NULL,
    lane TEXT NOT NULL, state TEXT NOT NULL, stage TEXT NOT NULL DEFAULT '', done INTEGER NOT NULL DEFAULT 0,
    total INTEGER NOT NULL DEFAULT 0, note TEXT NOT NULL DEFAULT '', error TEXT NOT NULL DEFAULT '',
    hint TEXT NOT NULL DEFAULT '', cancel INTEGER NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0,
    version INTEGER NOT NULL DEFAULT 0, found INTEGER NOT NULL DEFAULT 0, options TEXT NOT NULL DEFAULT '{}',
    ended REAL, digest BLOB);
CREATE INDEX IF NOT EXISTS waiting ON jobs (lane, state, created);
CREATE INDEX IF NOT EXISTS owners ON jobs (owner, created);
CREATE TABLE IF NOT EXISTS inputs (job TEXT NOT NULL, name TEXT NOT NULL, body BLOB NOT NULL, digest BLOB);
CREATE INDEX IF NOT EXISTS inputs_of ON inputs (job);
CREATE TABLE IF NOT EXISTS reports (
    job TEXT NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL, digest BLOB, PRIMARY KEY (job, name)) WITHOUT ROWID;
"""
_GIVEN = "id, kind, title, owner, created, options"
_ADDED = (("jobs", "ended REAL"), ("jobs", "digest BLOB"), ("inputs", "digest BLOB"), ("reports", "digest BLOB"))
_FIELDS = (
    "id, kind, title, owner, created, lane, state, stage, done, total, note, error, hint, cancel, version, found, "
    "options, ended, digest"
)


def disk_trouble(error: BaseException | None) -> tuple[int, str] | None:
    """Return the status and the text of a fault of the disk or of the queue's file, also where others follow from it.

    >>> disk_trouble(OSError(errno.ENOSPC, "no space"))
    (507, 'the disk of the server is full: nothing was kept; try again when there is room')
    """
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith(("SQLITE_FULL", "SQLITE_IOERR")) or getattr(error, "errno", 0) in (errno.ENOSPC, errno.EDQUOT):
        return 507, "the disk of the server is full: nothing was kept; try again when there is room"
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return 503, "another process holds the queue: try again in a while"
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return 500, "the queue of the server is damaged"
    return disk_trouble(error.__cause__) if error else None


class NotFoundError(InputError):
    """There is no such thing, or nothing is known of it yet."""

    status: ClassVar = 404


class BusyError(InputError):
    """Too many jobs are waiting."""

    status: ClassVar = 503


@dataclass(frozen=True)
class Job:
    """A job and how far it is."""

    id: str
    kind: str
    """`games`, `results`, `decisions` or `live`."""
    title: str
    owner: str
    created: float
    lane: str
    state: str
    """`waiting`, `running`, `done`, `failed` or `cancelled`."""
    stage: str
    done: int
    total: int
    note: str
    error: str
    hint: str
    cancel: bool
    version: int  # grows with every change
    found: int  # grows with every report
    options: Json
    expires: float | None = None  # when it will be removed; None where it has not ended, or is kept for ever

    @property
    def ended(self) -> bool:
        """Whether it is done, failed or cancelled."""
        return self.state in ENDED

    def as_dict(self) -> Json:
        """Return what the API sends of a job: all but whose it is."""
        names = "id kind title created state stage done total note error hint version found options expires"
        return {name: getattr(self, name) for name in names.split()}


class Jobs(SqliteFile):
    """The jobs of one file; every thread has its own connection, every process its own object."""

    def __init__(self, path: Path, *, keep_days: int = 0) -> None:
        self.keep_days, self._reserve = keep_days, path.with_name("reserve")
        super().__init__(path)

    def _make(self) -> None:
        base = self._base()
        (version,) = base.execute("PRAGMA user_version").fetchone()
        tables = {name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if version not in (0, 1, 2, SCHEMA) or bool(version) != ("jobs" in tables) or (tables and not version):
            raise StoreError(f"{self.path}: no jobs, or of another version", hint="name another folder with --store")
        if version == SCHEMA:  # nothing is written: the disk may be full
            return
        for table, column in _ADDED if version else ():
            if column.split()[0] not in {row[1] for row in base.execute(f"PRAGMA table_info({table})")}:
                base.execute(f"ALTER TABLE {table} ADD COLUMN {column}")
        if version == 1:  # it did not say when a job ended: these days count from now
            base.execute("UPDATE jobs SET ended = ? WHERE state IN ('done', 'failed', 'cancelled')", (time.time(),))
        base.executescript(_TABLES)
        base.execute(f"PRAGMA user_version = {SCHEMA}")

    def add(
        self,
        kind: str,
        title: str,
        inputs: Sequence[tuple[str, bytes]],
        *,
        owner: str = "",
        lane: str = "quick",
        options: Json | None = None,
    ) -> Job:
        """Put a job into the queue and return it; once this returns, it is on disk."""
        name = secrets.token_urlsafe(16)
        given = name, kind, title, owner, time.time(), json_text(dict(options or {}))
        with self._write() as base:
            base.execute(
                "INSERT INTO jobs (id, kind, title, owner, created, options, digest, lane, state) "
                "VALUES (?,?,?,?,?,?,?,?,'waiting')",
                (*given, row_digest(*given), lane),
            )
            self.replace_inputs(name, inputs)
        return self[name]

    def replace_inputs(self, name: str, inputs: Sequence[tuple[str, bytes]]) -> None:
        """Put uploads in the place of those that a job has."""
        of = len(inputs)
        rows = [(name, *one, row_digest(name, at, of, *one)) for at, one in enumerate(inputs)]
        with self._write() as base:
            base.execute("DELETE FROM inputs WHERE job = ?", (name,))
            if base.execute("SELECT 1 FROM jobs WHERE id = ?", (name,)).fetchone():  # or it has been deleted
                base.executemany("INSERT INTO inputs VALUES (?,?,?,?)", rows)

    def __getitem__(self, name: str) -> Job:
        row = self._base().execute(f"SELECT {_FIELDS} FROM jobs WHERE id = ?", (name,)).fetchone()
        if row is None:
            raise NotFoundError("there is no such job", hint="the address may be incomplete, or the job was deleted")
        return self._job(row)

    def of_owner(self, owner: str, most: int = 50) -> list[Job]:
        """Return a visitor's jobs, the newest first."""
        rows = self._base().execute(
            f"SELECT {_FIELDS} FROM jobs WHERE owner = ? ORDER BY created DESC LIMIT ?", (owner, most)
        )
        return [self._job(row) for row in rows]

    def counts(self) -> dict[str, int]:
        """Return how many jobs there are by state."""
        return dict(self._base().execute("SELECT state, COUNT(*) FROM jobs GROUP BY state ORDER BY state"))

    def inputs(self, name: str) -> list[tuple[str, bytes]]:
        """Return what was uploaded for a job."""
        query = "SELECT name, body, digest FROM inputs WHERE job = ? ORDER BY rowid"
        rows = self._base().execute(query, (name,)).fetchall()
        return [(row[0], sound(row[2], name, at, len(rows), *row[:2])) for at, row in enumerate(rows)]

    def report(self, name: str, part: str) -> Any:
        """Return a report of a job, None where there is none (yet)."""
        query = "SELECT body, digest FROM reports WHERE job = ? AND name = ?"
        row = self._base().execute(query, (name, part)).fetchone()
        return None if row is None else json.loads(sound(row[1], name, part, row[0]))

    def put(self, name: str, reports: Json) -> None:
        """Keep reports of a job, in place of older ones of the same names."""
        texts = [(name, part, json_text(body)) for part, body in reports.items()]
        rows = [(*text, row_digest(*text)) for text in texts]
        with self._write() as base:
            base.executemany("INSERT OR REPLACE INTO reports VALUES (?,?,?,?)", rows)
            base.execute("UPDATE jobs SET version = version + 1, found = found + 1 WHERE id = ?", (name,))

    def take(self, lane: str) -> Job | None:
        """Return the oldest job that waits in a lane, now running; None where none waits."""
        waits = "SELECT id FROM jobs WHERE lane = ? AND state = 'waiting' ORDER BY created LIMIT 1"
        if self._base().execute(waits, (lane,)).fetchone() is None:  # asked all the time: no lock for nothing
            return None
        with self._write() as base:
            row = base.execute(
                "UPDATE jobs SET state = 'running', attempts = attempts + 1, version = version + 1 "
                f"WHERE id = ({waits}) RETURNING id",
                (lane,),
            ).fetchone()
        job = None if row is None else self[row[0]]
        if job is None or job.state == "running":
            return job
        self.end(job.id, "failed", error=job.error, hint=job.hint)
        return None

    def advance(self, name: str, **fields: Any) -> bool:
        """Change fields of a job, e.g. stage, done, total, note; return whether it is to be cancelled."""
        names = ", ".join(f"{field} = ?" for field in fields)
        with self._write() as base:
            row = base.execute(
                f"UPDATE jobs SET {names}, version = version + 1 WHERE id = ? RETURNING cancel",
                (*fields.values(), name),
            ).fetchone()
        return row is None or bool(row[0])

    def unwanted(self, name: str) -> bool:
        """Return whether a job is to be cancelled, or has been deleted."""
        row = self._base().execute("SELECT cancel FROM jobs WHERE id = ?", (name,)).fetchone()
        return row is None or bool(row[0])

    def end(self, name: str, state: str, *, error: str = "", hint: str = "") -> None:
        """Say that a job is done, failed or cancelled."""
        ended = {"state": state, "ended": time.time()}
        self.advance(name, **ended, error=error, hint=hint, cancel=0, note="", attempts=0)

    def cancel(self, name: str) -> None:
        """Ask for a job to be stopped: one that waits is cancelled at once, one that runs when its worker sees it."""
        with self._write() as base:
            base.execute(
                "UPDATE jobs SET cancel = (state = 'running'), version = version + 1, "
                "ended = CASE state WHEN 'waiting' THEN ? END, "
                "state = CASE state WHEN 'waiting' THEN 'cancelled' ELSE state END "
                "WHERE id = ? AND state IN ('waiting', 'running')",
                (time.time(), name),
            )

    def resume(self, name: str) -> None:
        """Let a job that was cancelled or has failed wait again, in the lane it was in."""
        with self._write() as base:
            base.execute(
                "UPDATE jobs SET state = 'waiting', cancel = 0, attempts = 0, error = '', hint = '', ended = NULL, "
                "version = version + 1 WHERE id = ? AND state IN ('cancelled', 'failed')",
                (name,),
            )

    def delete(self, name: str) -> None:
        """Forget a job with all that was uploaded and found, also on a full disk; a worker that has it stops."""
        try:
            with self._write() as base:
                _forget(base, name)
        except sqlite3.OperationalError:
            self._reserve.unlink(missing_ok=True)
            self._base().execute("PRAGMA secure_delete = FAST").fetchall()  # to overwrite what is deleted takes room
            try:
                with self._write() as base:
                    _forget(base, name)
            finally:
                self._base().execute("PRAGMA secure_delete = ON").fetchall()
            with contextlib.suppress(sqlite3.OperationalError):  # for which there may be no room yet
                self._base().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def damaged(self) -> Iterator[tuple[str, str]]:
        """Yield what is damaged in the file and why: the file itself, jobs, uploads, reports."""
        base = self._base()
        yield from (
            (str(self.path), found) for (found,) in base.execute("PRAGMA integrity_check(100)") if found != "ok"
        )
        for (name,) in base.execute("SELECT DISTINCT job FROM inputs"):
            try:
                self.inputs(name)
            except StoreError as error:
                yield f"uploads of job {name!r}", str(error)
        for table, columns in (("jobs", _GIVEN), ("reports", "job, name, body")):
            for row in base.execute(f"SELECT {columns}, digest FROM {table}"):
                if row[-1] not in (None, row_digest(*row[:-1])):
                    yield f"{table} of job {row[0]!r}", "it is not what was stored"

    def keep_reserve(self) -> None:
        """Take some room on the disk where there is enough, so that jobs can be deleted when there is none."""
        if not self._reserve.exists() and shutil.disk_usage(self.path.parent).free > 2 * RESERVE:
            handle = os.open(self._reserve, os.O_RDWR | os.O_CREAT, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(bytes(RESERVE))

    def expire(self, now: float | None = None) -> int:
        """Forget the jobs that ended longer ago than they are kept; return how many."""
        if not self.keep_days:
            return 0
        before = (time.time() if now is None else now) - self.keep_days * DAY
        asked = "SELECT id FROM jobs WHERE state IN ('done', 'failed', 'cancelled') AND ended < ?"
        names = [name for (name,) in self._base().execute(asked, (before,))]
        for name in names:  # one at a time: nobody waits for the lock while a thousand are removed
            with self._write() as base:
                if base.execute(f"{asked} AND id = ?", (before, name)).fetchone():  # or somebody went on with it
                    _forget(base, name)
        return len(names)

    def take_back(self, lanes: Sequence[str] = LANES) -> None:
        """Let the jobs of lanes whose worker has ended wait again; one that was begun too often is given up."""
        marks = ", ".join("?" for _ in lanes)
        with self._write() as base:
            base.execute(
                f"UPDATE jobs SET ended = CASE WHEN cancel THEN ? END, version = version + 1, "
                f"state = CASE WHEN cancel THEN 'cancelled' ELSE 'waiting' END, cancel = 0 "
                f"WHERE state = 'running' AND (cancel OR attempts < ?) AND lane IN ({marks})",
                (time.time(), MOST_ATTEMPTS, *lanes),
            )
            base.execute(
                f"UPDATE jobs SET state = 'failed', ended = ?, error = ?, hint = ?, version = version + 1 "
                f"WHERE state = 'running' AND lane IN ({marks})",
                (
                    time.time(),
                    "its worker ended in the middle of it, several times",
                    "resume it, with fewer games",
                    *lanes,
                ),
            )

    def _job(self, row: Sequence[Any]) -> Job:
        fields: Json = dict(zip(_FIELDS.split(", "), row, strict=True))
        ended, digest = fields.pop("ended"), fields.pop("digest")
        try:
            sound(digest, *(fields[name] for name in _GIVEN.split(", ")))
        except StoreError as error:  # in a list of jobs the others must stay visible
            fields |= {"kind": "games", "title": "damaged", "owner": "", "created": 0.0, "options": "{}"}
            fields |= {"state": "failed", "error": str(error), "hint": error.hint}
        expires = ended + self.keep_days * DAY if ended is not None and self.keep_days else None
        known = {"cancel": bool(fields["cancel"]), "options": json.loads(fields["options"]), "expires": expires}
        return Job(**{**fields, **known})


def _forget(base: sqlite3.Connection, name: str) -> None:
    for table, column in (("jobs", "id"), ("inputs", "job"), ("reports", "job")):
        base.execute(f"DELETE FROM {table} WHERE {column} = ?", (name,))


class JobCancelled(Exception):
    """The job was cancelled or deleted."""


@dataclass
class JobTask:
    """A job that a worker does."""

    job: Job
    jobs: Jobs
    store: str  # the folder of the store of analyses
    _noted: float = field(default=0.0)
    _looked: float = field(default=0.0)
    _lane: str = ""

    def inputs(self) -> list[tuple[str, bytes]]:
        """Return what was uploaded; there is no job without."""
        if not (found := self.jobs.inputs(self.job.id)):
            raise StoreError("what was uploaded is lost by damage to the server's disk", hint="upload it again")
        return found

    @contextlib.contextmanager
    def folder(self) -> Iterator[Path]:
        """Give an empty folder for as long as the work lasts; what a killed worker leaves its successor removes."""
        place = work_folder(self.jobs, self.job.lane)
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place) as found:
            yield Path(found)

    def keep(self, reports: Json) -> None:
        """Keep reports; what was kept stays, whatever happens after."""
        self.check()
        self.jobs.put(self.job.id, reports)

    def tell(self, stage: str, done: int | None = None, total: int | None = None, note: str = "") -> None:
        """Record how far the work is, at most five times a second; raise where the job was cancelled."""
        now = time.monotonic()
        if now - self._noted < _EVERY and done != total:
            return
        self._noted = now
        counts = {} if done is None else {"done": done, "total": total}
        if self.jobs.advance(self.job.id, stage=stage, note=note, **counts):
            raise JobCancelled

    def check(self) -> None:
        """Raise where the job was cancelled or deleted."""
        if self.jobs.unwanted(self.job.id):
            raise JobCancelled

    def look(self) -> None:
        """The same at most five times a second: may be called all the time."""
        now = time.monotonic()
        if now - self._looked > _EVERY:
            self._looked = now
            self.check()

    def go_on_in(self, lane: str) -> None:
        """Let the job wait in another lane when this task is done."""
        self._lane = lane

    def run(self, work: "Callable[[JobTask], None]") -> None:
        """Do the work, and record how it ended; for a full or locked disk it waits."""
        record = self._outcome(work)
        while True:
            try:
                record()
                return
            except sqlite3.Error as error:
                _LOG.warning("job of kind %s: %s", self.job.kind, error)
                time.sleep(RETRY_SECONDS)

    def _outcome(self, work: "Callable[[JobTask], None]") -> Callable[[], object]:
        """Do the work, and return what records its end."""
        name, jobs = self.job.id, self.jobs
        try:
            work(self)
        except JobCancelled:
            return partial(jobs.end, name, "cancelled")
        except Exception as error:
            trouble = disk_trouble(error)
            if trouble and trouble[0] != 500:  # no fault of the job: it waits, and is begun again
                time.sleep(RETRY_SECONDS)
                return partial(jobs.advance, name, state="waiting", attempts=0, note=trouble[1])
            if isinstance(error, SkilloscopeError):
                return partial(
                    jobs.end,
                    name,
                    "failed",
                    error=shown_text(str(error)) or "this cannot be used",
                    hint=shown_text(error.hint),
                )
            _LOG.exception("job of kind %s", self.job.kind)
            return partial(jobs.end, name, "failed", error="unexpected error", hint="it is in the server's log")
        if self._lane:
            return partial(jobs.advance, name, lane=self._lane, state="waiting", attempts=0, done=0, total=0, note="")
        return partial(jobs.end, name, "done")


def shown_text(text: str) -> str:
    """Return an error or a hint as visitors see it: without folders of the server, and options of the command line.

    >>> shown_text("/home/ann/store/work/games.pgn: no game"), shown_text("correct the table, or use --allow-loss")
    ('games.pgn: no game', 'correct the table')
    >>> shown_text("leave --period out")
    'leave period out'
    """
    text = re.sub(r"(?<![^\s'\"(])(?:/[^\s/:]+)+/", "", text)
    option = re.search(r"(?<![\w-])--?[a-z]|`skilloscope ", text)
    clauses = re.split(r"[;,:.]\s", text[: option.start()] if option else "")[:-1]
    return text if option is None else text[: len("; ".join(clauses))] or re.sub(r"(?<![\w-])--?(?=[a-z])", "", text)


def work_folder(jobs: Jobs, lane: str) -> Path:
    """Return where the workers of a lane keep their temporary files."""
    return jobs.path.parent / "work" / lane
