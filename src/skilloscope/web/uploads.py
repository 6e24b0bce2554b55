"""What people upload: files or a pasted text become a job, or a message that says why not.

In: names and bytes. Out: a job in the queue. A ZIP archive is unpacked up to a bound, since a small one can hold
gigabytes; other compressed and binary files are refused.
"""

import io
import re
import urllib.request
import zipfile
import zlib
from collections.abc import Sequence

from skilloscope.core.errors import InputError
from skilloscope.inputs.pipeline import engine_found
from skilloscope.web.jobs import BusyError, Job, Jobs, Json
from skilloscope.web.library.accounts import Fetching

KINDS = ("games", "results", "decisions")
EFFORTS = ("instant", "quick", "full")
MOST_WAITING = 200  # how many jobs may wait at once, of all people together
_MOST_NAME = 120
MOST_UNZIPPED = 64 << 20  # bytes of all files in a ZIP archive
_MOST_FILES = 100
NAMELESS = b'[White "White"]\n[Black "Black"]\n\n'
PASTED = "pasted"  # what a text is called that came without a file
_TAG = re.compile(rb"^\s*\[\w+ +\"", re.MULTILINE)
_FIRST_MOVE, _RESULT = re.compile(rb"1\s*\.(?!\.)"), (b"1-0", b"0-1", b"1/2", "½".encode(), b"*")
_SUFFIX = {"games": ".pgn", "results": ".csv"}


class NamedBytes(io.BytesIO):
    """Bytes that were uploaded under a name."""

    def __init__(self, name: str, body: bytes) -> None:
        super().__init__(body)
        self.name = name


def add_upload(
    jobs: Jobs, kind: str, files: Sequence[tuple[str, bytes]], *, owner: str, options: Json | None = None
) -> Job:
    """Put what was uploaded into the queue."""
    if kind not in KINDS:
        raise InputError(f"no kind {kind!r}", hint=f"the kinds: {', '.join(KINDS)}")
    given = [one for name, body in files if body.strip() for one in _unzipped(name, body)]
    if not given:
        raise InputError("there is nothing in it", hint="choose a file, or paste its text")
    for name, body in given:
        _check_text(name, body)
    _check_room(jobs)
    if kind == "games":  # moves that are pasted alone are a game of White and Black
        given = [(name, body if name or _TAG.search(body) else NAMELESS + body) for name, body in given]
    named = _apart([(_short(name) or PASTED + suffix_of(kind, body), body) for name, body in given])
    title = named[0][0] + (f" and {len(named) - 1} more" if len(named) > 1 else "")
    return jobs.add(kind, title, named, owner=owner, options=options)


def add_screening(jobs: Jobs, job: Job) -> Job:
    """Put the screening of a job's games into the queue."""
    lane = "engine" if engine_found(None) else "quick"
    return jobs.add("screening", f"Screening of {job.title}", jobs.inputs(job.id), owner=job.owner, lane=lane)


def add_feed(jobs: Jobs, address: str, *, owner: str) -> Job:
    """Put an address that is to be followed into the queue."""
    if not re.match(r"https?://[^\s/]+", address) or len(address) > 2000:
        raise InputError("this is not a web address", hint="it begins with https:// or http://")
    _check_room(jobs)
    return jobs.add("live", address, [], owner=owner, lane="live", options={"address": address})


def add_import(jobs: Jobs, options: Json, *, owner: str) -> Job:
    """Put an account whose games are to be fetched into the queue (see import_job.py)."""
    if options["effort"] not in EFFORTS:
        raise InputError(f"no effort {options['effort']!r}", hint=f"the efforts: {', '.join(EFFORTS)}")
    Fetching(options["account"], urllib.request.OpenerDirector(), options["most"])  # which checks both
    _check_room(jobs)
    return jobs.add("games", options["account"], [], owner=owner, lane="live", options=options)


def suffix_of(kind: str, body: bytes) -> str:
    """Return how a file of this kind and with this text is called at its end.

    >>> suffix_of("decisions", b'{"decider": "Ann"}'), suffix_of("decisions", b"decider,problem")
    ('.jsonl', '.csv')
    """
    return _SUFFIX.get(kind) or (".jsonl" if body.lstrip()[:1] == b"{" else ".csv")


def pasted_games(body: bytes) -> bytes:
    """Return pasted games without the blank lines among their moves, each of which would end a game in a file.

    >>> pasted_games(b"1. e4 e5\\n\\n2. Nf3 *\\n\\n1. d4 *")
    b'1. e4 e5\\n2. Nf3 *\\n\\n1. d4 *'
    """
    found, going_on, blank = bytearray(), False, False
    for line in io.BytesIO(body):
        if not (text := line.strip()):
            blank = True
            continue
        if blank and not (going_on and not _FIRST_MOVE.match(text)):
            found += b"\n"
        found += line
        going_on, blank = not text.startswith(b"[") and not text.endswith(_RESULT), False
    return bytes(found)


def _check_room(jobs: Jobs) -> None:
    if jobs.counts().get("waiting", 0) >= MOST_WAITING:
        raise BusyError(f"{MOST_WAITING} jobs are waiting already", hint="try again in a while")


def _unzipped(name: str, body: bytes) -> list[tuple[str, bytes]]:
    """Return the files of a ZIP archive, of bounded size whatever it says of itself; any other file as it is."""
    if body[:4] != b"PK\x03\x04":
        return [(name, body)]
    found, left = list[tuple[str, bytes]](), MOST_UNZIPPED
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            for one in [inside for inside in archive.infolist() if not inside.is_dir()]:
                with archive.open(one) as file:
                    text = file.read(left + 1)
                left -= len(text)
                if left < 0 or len(found) >= _MOST_FILES:
                    raise InputError(f"{_short(name)} holds too much", hint="unpack it and give some of its files")
                found.append((one.filename, text))
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error) as error:
        raise InputError(f"{_short(name)} cannot be unpacked ({error})", hint="unpack it first") from error
    return found


def _check_text(name: str, body: bytes) -> None:
    if b"\x00" in body[:4096] or body[:2] == b"\x1f\x8b" or body[:4] in (b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"PAR1"):
        raise InputError(
            f"{_short(name) or 'the file'} is packed, or no text", hint="unpack it first: PGN, CSV or JSON lines"
        )


def _short(name: str) -> str:
    """Return the last part of a file's name, of bounded length."""
    return re.split(r"[/\\]", name)[-1].strip()[-_MOST_NAME:]


def _apart(files: Sequence[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    """Return the files under names that differ: two uploads may both be called games.pgn."""
    seen: dict[str, int] = {}
    named = []
    for name, body in files:
        seen[name] = seen.get(name, 0) + 1
        named.append((name if seen[name] == 1 else f"{seen[name]} {name}", body))
    return named
