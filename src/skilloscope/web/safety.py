"""Security of the server: hosts, origins, tokens, sizes, a password if one is set, and the headers of replies.

The server listens on this machine alone by default. A page of another site must not reach it through the reader's
browser: the Host must be one of ours (a name that somebody points at 127.0.0.1 is not), a request that changes anything
must come from one of our pages with its token, and a reply may load nothing from elsewhere.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import re
import secrets
import time
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("localhost", "127.0.0.1", "::1")
MOST_BYTES = 32 * 1024 * 1024
"""The most that one upload may hold."""
COOKIE = "skilloscope"
SESSION = "skilloscope-in"
MOST_GUESSES = 10
"""Wrong passwords in a minute, by anybody, after which none is accepted."""
_LOG = logging.getLogger(__name__)
UNSAFE = ("POST", "PUT", "PATCH", "DELETE")
_OPEN = ("/login", "/static/")  # shown without the password
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
    _guesses: list[float] = field(default_factory=list)

    def token(self, visitor: str) -> str:
        """Return what a form of ours carries for this visitor."""
        return self._signed(f"form:{visitor}")

    def session(self, visitor: str) -> str:
        """Return the cookie of a visitor who has given the password; another password makes it void."""
        return self._signed(f"in:{visitor}:{self.password}")

    def is_in(self, visitor: str, session: str, bearer: str) -> bool:
        """Return whether somebody may look: everybody where no password is set."""
        if self.password is None or hmac.compare_digest(session.encode(), self.session(visitor).encode()):
            return True
        return bool(bearer) and self.accepts(bearer)

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

    def _signed(self, text: str) -> str:
        return hmac.new(self.secret, text.encode(), hashlib.sha256).hexdigest()


def kept_secret(folder: Path) -> bytes:
    """Return the server's own secret, made once and readable by its user alone."""
    path = folder / "web.secret"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_bytes()
    with os.fdopen(handle, "wb") as file:
        file.write(made := secrets.token_bytes(32))
    return made


def visitor_of(request: Request) -> str:
    """Return the random name of a browser, which nobody else knows."""
    return str(request.scope["visitor"])


async def check_token(request: Request) -> AsyncIterator[None]:
    """Refuse what changes anything and does not come from a form of ours; scripts say who they are by a header."""
    try:
        if request.method in UNSAFE and not await _is_meant(request):
            raise HTTPException(403, "this form is not of a page of ours, or is too old: load the page again")
        yield
    finally:
        await request.close()  # with the files of a form


async def _is_meant(request: Request) -> bool:
    if request.url.path.startswith("/api/") and request.headers.get("x-skilloscope"):
        return True  # no page of another site can send it: the browser would ask us first, and we refuse
    safety: Safety = request.app.state.safety
    token = request.headers.get("x-csrf-token", "")
    if not token and request.headers.get("content-type", "").startswith(("multipart/form-data", "application/x-www")):
        form = await request.form(max_files=50, max_fields=50, max_part_size=safety.most_bytes)
        token = str(form.get("csrf", ""))
    return hmac.compare_digest(token.encode(), safety.token(visitor_of(request)).encode())


class Guard:
    """Middleware that checks every request and completes every reply."""

    def __init__(self, app: ASGIApp, safety: Safety) -> None:
        self.app, self.safety = app, safety

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on and add our headers to the reply."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers, cookies = Headers(scope=scope), HTTPConnection(scope).cookies
        known = cookies.get(COOKIE, "")
        visitor = known if 20 <= len(known) <= 64 and known.isascii() else secrets.token_urlsafe(24)
        scope["visitor"] = visitor
        body = _Counted(receive, self.safety.most_bytes)

        begun = False

        async def replied(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                if body.too_large:
                    message["status"] = 413
                _finish(MutableHeaders(scope=message), scope["path"], visitor if visitor != known else "")
            await send(message)

        try:
            refused = self._refusal(scope, headers, cookies, visitor)
        except HTTPException as error:
            refused = _said(scope["path"], error.status_code, str(error.detail))
        try:
            await (refused or self.app)(scope, body, replied)
        except Exception:
            if begun:
                raise
            _LOG.exception("%s %s", scope["method"], scope["path"])
            await _said(scope["path"], 500, "unexpected error; it is in the server's log")(scope, body, replied)

    def _refusal(self, scope: Scope, headers: Headers, cookies: dict[str, str], visitor: str) -> Response | None:
        path = scope["path"]
        if host_name(headers.get("host", "")) not in self.safety.hosts:
            return PlainTextResponse("this server does not go by that name (see `skilloscope serve --name`)\n", 421)
        if scope["method"] in UNSAFE and not _of_ours(headers):
            return _said(path, 403, "this comes from a page of another site")
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > self.safety.most_bytes:
            return _said(path, 413, f"more than {self.safety.most_bytes // 2**20} MB: cut the file")
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        if path.startswith(_OPEN) or self.safety.is_in(visitor, cookies.get(SESSION, ""), bearer):
            return None
        if path.startswith("/api/") or scope["method"] != "GET":
            return _said(path, 401, "a password is needed")
        return RedirectResponse("/login", 303)


class _Counted:
    """Receives a body and counts its bytes, also where the request does not state its length."""

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive, self._left, self.too_large = receive, most, False

    async def __call__(self) -> Message:
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            self.too_large = True
            raise HTTPException(413, "too large: cut the file")
        return message


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
    return origin is None or urlsplit(origin).netloc == headers.get("host")


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
