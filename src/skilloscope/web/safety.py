"""Security of the server: hosts, origins, tokens, sizes, a password if one is set, and the headers of replies.

The server listens on this machine alone by default. A page of another site must not reach it through the reader's
browser: the Host must be one of ours (a foreign name that points at 127.0.0.1 is not), a request that changes anything
must come from one of our pages with its token, and a reply may load nothing from elsewhere.
"""

import asyncio
import contextlib
import hashlib
import hmac
import logging
import os
import re
import secrets
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TypeVar

from starlette.datastructures import FormData, Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from skilloscope.core.errors import StoreError
from skilloscope.web.jobs import disk_trouble

LOOPBACK = ("localhost", "127.0.0.1", "::1")
MOST_BYTES = 32 * 1024 * 1024  # the most that one upload may hold
COOKIE = "skilloscope"
SESSION = "skilloscope-in"
MOST_FORM = 64 * 1024  # the most of a form without files, and of what is sent before the password
MOST_HEADERS = 16 * 1024
MOST_ASKING = 128  # requests of one client at once
MOST_ARRIVING = 8 * MOST_BYTES  # bytes of unfinished uploads on disk; half of it for one client
MOST_PARSED = 2 * MOST_BYTES  # bytes of uploads in memory at once
STALL_SECONDS = 10.0
SLOWEST = 32 * 1024  # bytes a second below which an upload counts as stalled
MOST_SESSIONS = 10_000
MOST_GUESSES = 10  # wrong passwords in a minute, by anybody, after which none is accepted
_LOG = logging.getLogger(__name__)
logging.getLogger("python_multipart").setLevel(logging.ERROR)  # or every odd form would be a line of the log
UNSAFE = ("POST", "PUT", "PATCH", "DELETE")
_OPEN = ("/login", "/static/")  # shown without the password
_BLOCK = 1 << 16
T = TypeVar("T")
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^\s:\[\]/@?#]+))(?::\d+)?")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # with none at all, forms of ours would come from nowhere
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


@dataclass
class Safety:
    """What a server allows."""

    secret: bytes
    hosts: frozenset[str] = frozenset(LOOPBACK)
    password: str | None = None
    most_bytes: int = MOST_BYTES
    sessions: dict[str, str] = field(default_factory=dict)  # the visitors who are in, by their cookies
    _guesses: list[float] = field(default_factory=list)

    def token(self, visitor: str) -> str:
        """Return what a form of ours carries for this visitor."""
        return hmac.new(self.secret, f"form:{visitor}".encode(), hashlib.sha256).hexdigest()

    def let_in(self, visitor: str) -> str:
        """Return the cookie of a visitor who has given the password; it counts until the logout, or the server ends."""
        self.sessions[session := secrets.token_urlsafe(24)] = visitor
        if len(self.sessions) > MOST_SESSIONS:
            del self.sessions[next(iter(self.sessions))]
        return session

    def is_in(self, visitor: str, session: str, bearer: str) -> bool:
        """Return whether a visitor may look: everyone where no password is set."""
        return self.password is None or self.sessions.get(session) == visitor or (bool(bearer) and self.accepts(bearer))

    def accepts(self, password: str) -> bool:
        """Return whether it is the password; after too many wrong ones in a minute nothing is."""
        now = time.monotonic()
        self._guesses[:] = [then for then in self._guesses if now - then < 60]
        if len(self._guesses) >= MOST_GUESSES:
            raise HTTPException(429, "too many wrong passwords: wait a minute")
        if hmac.compare_digest(password.encode(), (self.password or "").encode()):
            return True
        self._guesses.append(now)
        return False


def kept_secret(folder: Path) -> bytes:
    """Return the server's own secret, made once and readable by its user alone."""
    path = folder / "web.secret"
    folder.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        with tempfile.NamedTemporaryFile(dir=folder) as file, contextlib.suppress(FileExistsError):
            file.write(secrets.token_bytes(32))
            file.flush()
            os.link(file.name, path)  # whole or not at all
    if len(secret := path.read_bytes()) < 32:
        raise StoreError(f"{path}: the secret is cut", hint="remove the file: the next start makes a new one")
    return secret


def visitor_of(request: Request) -> str:
    """Return the random name of a browser, which nobody else knows."""
    return str(request.scope["visitor"])


async def check_token(request: Request) -> AsyncIterator[None]:
    """Refuse what changes anything and does not come from a form of ours; scripts say who they are by a header."""
    try:
        if request.method in UNSAFE and not await _is_meant(request):
            raise HTTPException(403, "this form is not from this server, or too old: reload the page")
        yield
    finally:
        await request.close()  # with the files of a form


async def _is_meant(request: Request) -> bool:
    if request.url.path.startswith("/api/") and request.headers.get("x-skilloscope"):
        return True  # no page of another site can send it: the browser would ask us first, and we refuse
    safety: Safety = request.app.state.safety
    token = request.headers.get("x-csrf-token", "")
    is_form = request.headers.get("content-type", "").startswith(("multipart/form-data", "application/x-www"))
    if not token and is_form and not request.url.path.startswith("/api/"):
        token = str((await form_of(request)).get("csrf", ""))
    return hmac.compare_digest(token.encode(), safety.token(visitor_of(request)).encode())


async def form_of(request: Request) -> FormData:
    """Return the form that was sent; a text pasted into it may be as long as a file."""
    return await request.form(max_files=50, max_fields=50, max_part_size=request.app.state.safety.most_bytes)


class Guard:
    """Middleware that checks every request, reads its body, and completes every reply."""

    def __init__(self, app: ASGIApp, safety: Safety, folder: Path) -> None:
        self.app, self.safety, self._folder = app, safety, folder
        self._asking: Counter[str] = Counter()  # requests under way, by client
        self._arriving: Counter[str] = Counter()  # bytes of bodies on disk, by client
        self._parsed = 0
        self._room = asyncio.Condition()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on and add our headers to the reply."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers, client, path = Headers(scope=scope), (scope.get("client") or [""])[0], scope["path"]
        cookies = _cookies(headers.get("cookie", "")[:MOST_HEADERS])
        known = cookies.get(COOKIE, "")
        visitor = known if 20 <= len(known) <= 64 and known.isascii() else secrets.token_urlsafe(24)
        scope["visitor"], scope["session"] = visitor, cookies.get(SESSION, "")
        begun = False

        async def replied(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                _finish(MutableHeaders(scope=message), path, visitor if visitor != known else "")
            await send(message)

        self._asking[client] += 1
        try:
            if refused := self._refusal(scope, headers, client):
                await refused(scope, receive, replied)
            elif scope["method"] in UNSAFE or {"content-length", "transfer-encoding"} & {*headers}:
                async with self._whole(receive, self._most(path, headers), client) as body:
                    await self.app(scope, body, replied)
            else:
                await self.app(scope, receive, replied)
        except ClientDisconnect:
            return
        except Exception as error:
            if begun:
                raise
            status, text = disk_trouble(error) or (500, "unexpected error; it is in the server's log")
            if isinstance(error, HTTPException):
                status, text = error.status_code, str(error.detail)
            elif status == 500:
                _LOG.exception("%s %s", scope["method"], path)
            refused = _said(path, status, text)
            refused.headers["Connection"] = "close"  # the rest of a body that is not wanted is not read
            await refused(scope, receive, replied)
        finally:
            self._asking -= Counter([client])  # which forgets who asks for nothing

    def _most(self, path: str, headers: Headers) -> int:
        """Return how long a body may be: short, unless it is an upload of a visitor who may look."""
        multipart = headers.get("content-type", "").startswith("multipart/")
        large = path == "/api/jobs" or (path == "/upload" and multipart)  # which curl calls a form whatever it sends
        return self.safety.most_bytes if large else min(MOST_FORM, self.safety.most_bytes)

    def _refusal(self, scope: Scope, headers: Headers, client: str) -> Response | None:
        path, kind = scope["path"], headers.get("content-type", "").lower()
        if sum(len(name) + len(value) for name, value in scope["headers"]) > MOST_HEADERS:
            return _said(path, 431, "the headers are too long")
        if host_name(headers.get("host", "")) not in self.safety.hosts:
            return PlainTextResponse("unknown host name (see `skilloscope serve --name`)\n", 421)
        if self._asking[client] > MOST_ASKING:
            return _said(path, 429, "too many requests at once: wait for the others")
        if scope["method"] in UNSAFE and not _of_ours(headers):
            return _said(path, 403, "this comes from a page of another site")
        if kind.startswith("multipart/") and "charset" in re.sub('charset="?utf-8"?', "", kind):
            return _said(path, 415, "forms must be UTF-8")  # among Python's codecs are some that fail or take hours
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 15 or int(length) > self._most(path, headers):
            return _said(path, 413, f"more than {self._most(path, headers):,} bytes: cut the file")
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        if path.startswith(_OPEN) or self.safety.is_in(scope["visitor"], scope["session"], bearer):
            return None
        if path.startswith("/api/") or scope["method"] != "GET":
            return _said(path, 401, "a password is needed")
        return RedirectResponse("/login", 303)

    @contextlib.asynccontextmanager
    async def _whole(self, receive: Receive, most: int, client: str) -> AsyncIterator[Receive]:
        """Read a body to the disk, then give it to be parsed: who sends slowly keeps nobody waiting and no memory."""
        begin, size, more, full = time.monotonic(), 0, True, OSError()
        with tempfile.SpooledTemporaryFile(_BLOCK, dir=str(self._folder)) as spooled:
            try:
                while more:
                    patience = min(STALL_SECONDS, STALL_SECONDS + size / SLOWEST - (time.monotonic() - begin))
                    message = await _soon(receive(), patience, 408, "the upload stalled: send it again")
                    if message["type"] != "http.request":
                        raise ClientDisconnect
                    try:
                        if not full.errno:  # a file that could not grow once cannot be written again
                            spooled.write(message.get("body", b""))
                    except OSError as error:  # read on: who is still sending would not see what is answered
                        full = error
                    size += (fresh := len(message.get("body", b"")))
                    self._arriving[client] += fresh
                    if size > most:
                        raise HTTPException(413, f"more than {most:,} bytes: cut the file")
                    if self._arriving.total() > MOST_ARRIVING or self._arriving[client] > MOST_ARRIVING // 2:
                        raise HTTPException(503, "too many uploads at once: send it again in a while")
                    more = message.get("more_body", False)
                if full.errno:
                    raise full
                async with self._parsing(size):
                    yield _replayed(spooled, size, receive)
            finally:
                self._arriving -= Counter({client: size})

    @contextlib.asynccontextmanager
    async def _parsing(self, size: int) -> AsyncIterator[None]:
        """Wait until there is memory for a body; short ones need not wait."""
        size = size if size > MOST_FORM else 0
        async with self._room:
            free = self._room.wait_for(lambda: not size or not self._parsed or self._parsed + size <= MOST_PARSED)
            await _soon(free, STALL_SECONDS, 503, "too many uploads at once: send it again in a while")
            self._parsed += size
        try:
            yield
        finally:
            self._parsed -= size
            async with self._room:
                self._room.notify_all()


async def _soon(happening: Awaitable[T], seconds: float, status: int, text: str) -> T:
    try:
        return await asyncio.wait_for(happening, max(seconds, 0.01))
    except TimeoutError:
        raise HTTPException(status, text) from None


def _replayed(spooled: IO[bytes], size: int, receive: Receive) -> Receive:
    spooled.seek(0)
    left: int | None = size

    async def replayed() -> Message:
        nonlocal left
        if left is None:
            return await receive()  # where the reader goes away
        await asyncio.sleep(0)  # others come in between
        left -= len(block := spooled.read(_BLOCK))
        more, left = bool(left), left or None
        return {"type": "http.request", "body": block, "more_body": more}

    return replayed


def host_name(host: str) -> str:
    """Return the name in a Host header, without the port.

    >>> host_name("localhost:8000"), host_name("[::1]:8000"), host_name("club.example")
    ('localhost', '::1', 'club.example')
    """
    found = _HOST.fullmatch(host.lower())
    return (found[1] or found[2]).rstrip(".") if found else ""


def allowed_hosts(bound: str, names: Iterable[str]) -> frozenset[str]:
    """Return the names a server goes by: those of this machine, the address it is bound to, and those given."""
    return frozenset(host_name(name) or name for name in (*LOOPBACK, bound, *names)) - {"0.0.0.0", "::"}


def _of_ours(headers: Headers) -> bool:
    """Return whether a request comes from a page of ours, or from no page at all."""
    if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        return False
    origin = headers.get("origin")
    return origin is None or origin.partition("://")[2] == headers.get("host")


def _cookies(header: str) -> dict[str, str]:
    """Return the cookies of a header in one pass; ours are never quoted."""
    return dict(part.strip().partition("=")[::2] for part in header.split(";"))


def _said(path: str, status: int, error: str) -> Response:
    if path.startswith("/api/"):
        return JSONResponse({"error": error, "hint": ""}, status)
    return PlainTextResponse(f"{error}\n", status)


def _finish(headers: MutableHeaders, path: str, visitor: str) -> None:
    for name, value in _HEADERS.items():
        headers[name] = value
    headers.setdefault("Cache-Control", "max-age=3600" if path.startswith("/static/") else "no-store")
    if visitor:
        headers.append("Set-Cookie", cookie_text(COOKIE, visitor))


def cookie_text(name: str, value: str) -> str:
    """Return a cookie that no script reads and no other site sends along, but for a link that is followed."""
    return f"{name}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=31536000"
