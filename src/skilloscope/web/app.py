"""The application and its server: pages, the API, the guard in front of them, and the workers."""

import contextlib
import fcntl
import os
import socket
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.staticfiles import StaticFiles
from uvicorn.protocols.http.h11_impl import H11Protocol

from skilloscope.__about__ import __version__
from skilloscope.core.errors import InputError, SkilloscopeError, StoreError
from skilloscope.web import api, pages
from skilloscope.web.jobs import KEEP_DAYS, Jobs, shown_text
from skilloscope.web.library import pages as library_pages
from skilloscope.web.library import sharing, sparring, training
from skilloscope.web.library.players import Libraries
from skilloscope.web.safety import LOOPBACK, Guard, Safety, allowed_hosts, host_name, kept_secret
from skilloscope.web.workers import Workers

STATIC = Path(__file__).parent / "static"
_MOST_AT_ONCE = 512
_MOST_IDLE = 128  # connections without a request
_IDLE_SECONDS = 15.0


@dataclass(frozen=True)
class ServeOptions:
    """Where a server listens, what it is called, where it keeps things, and what it allows."""

    store: Path
    host: str = "127.0.0.1"
    port: int = 8000
    names: Sequence[str] = ()
    password: str | None = None
    private: bool = False  # whether feeds of private addresses may be followed
    keep_days: int = KEEP_DAYS  # for how long jobs that have ended are kept; 0: for ever

    def __post_init__(self) -> None:
        if host_name(self.host) not in LOOPBACK and self.host not in LOOPBACK and not self.password:
            raise InputError(
                f"{self.host} can be reached from outside, and no password is set",
                hint="write one to a file and name it with --password-file, or use 127.0.0.1",
            )


def create_app(jobs: Jobs, safety: Safety) -> FastAPI:
    """Return the application."""

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        warming = threading.Thread(target=_warm_up)
        warming.start()
        yield
        await run_in_threadpool(warming.join)  # ending while a model is being loaded crashes

    app = FastAPI(
        title="skilloscope",
        version=__version__,
        description="Playing strength from moves: what the pages show, as JSON. "
        "Requests that change anything need the header `X-Skilloscope: 1`.",
        docs_url=None,  # they would load scripts from elsewhere
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.jobs, app.state.safety = jobs, safety
    app.state.libraries = Libraries(jobs.path.with_name("library.sqlite"))
    app.include_router(api.router)
    app.include_router(library_pages.router)
    app.include_router(sparring.router)
    app.include_router(training.router)
    app.include_router(pages.router, include_in_schema=False)
    app.include_router(sharing.router, include_in_schema=False)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    app.add_exception_handler(SkilloscopeError, _answer_error)
    app.add_exception_handler(HTTPException, _answer_error)
    app.add_middleware(Guard, safety=safety, folder=jobs.path.parent)
    return app


def _answer_error(request: Request, error: Exception) -> Response:
    """Return what is wrong: as JSON from the API, as a page elsewhere."""
    status, text, hint = 500, "", ""
    if isinstance(error, HTTPException):
        status, text, hint = error.status_code, str(error.detail), ""
    elif isinstance(error, SkilloscopeError):
        own = 500 if isinstance(error, StoreError) else 422
        status, text, hint = getattr(error, "status", own), shown_text(str(error)), shown_text(error.hint)
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": text, "hint": hint}, status)
    return pages.error_page(request, status, text, hint)


def _warm_up() -> None:
    """Use the human model once, so that the first slider does not wait for it to load."""
    from skilloscope.chess.human.model import human

    human().moves("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")


class Server:
    """A server with its workers; `address` is where it listens."""

    def __init__(self, options: ServeOptions) -> None:
        folder = options.store / "web"
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = _alone(folder)
        self.jobs = Jobs(folder / "jobs.sqlite", keep_days=options.keep_days)
        hosts = allowed_hosts(options.host, options.names)
        safety = Safety(kept_secret(folder), hosts, options.password)
        self._socket = _listening(options.host, options.port)
        self.port = self._socket.getsockname()[1]
        shown = f"[{options.host}]" if ":" in options.host else options.host
        self.address = f"http://{shown}:{self.port}"
        self._workers = Workers(self.jobs, str(options.store), private=options.private)
        config = uvicorn.Config(
            create_app(self.jobs, safety),
            log_level="warning",
            server_header=False,
            http="h11",  # the same limits everywhere
            ws="none",
            limit_concurrency=_MOST_AT_ONCE,
            timeout_graceful_shutdown=2,
        )
        self._server = _Listener(config)

    def run(self, seconds: float | None = None) -> None:
        """Serve until stopped, or for so many seconds."""
        self._workers.start()
        timer = threading.Timer(seconds, self.stop) if seconds is not None else None
        try:
            if timer:
                timer.start()
            self._server.run(sockets=[self._socket])
        finally:
            if timer:
                timer.cancel()
            self.close()

    def stop(self) -> None:
        """Let the server end."""
        self._server.should_exit = True

    def close(self) -> None:
        """End the workers and release the folder."""
        self._workers.close()
        self._socket.close()
        self.jobs.close()
        os.close(self._lock)


class _Listener(uvicorn.Server):
    """Drops connections that keep us waiting: for their headers, or for reading what they asked for."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._since: dict[tuple[H11Protocol, Any], float] = {}

    async def on_tick(self, counter: int) -> bool:
        """Look at all connections ten times a second; where too many wait, drop the oldest of who has most."""
        now, found = time.monotonic(), [one for one in self.server_state.connections if isinstance(one, H11Protocol)]
        idle = [one for one in found if not one.cycle or one.cycle.response_complete or one.flow.write_paused]
        self._since = {(one, one.cycle): self._since.get((one, one.cycle), now) for one in idle}
        of = Counter(one.client and one.client[0] for one in idle)
        idle.sort(key=lambda one: (-of[one.client and one.client[0]], self._since[one, one.cycle]))
        for at, one in enumerate(idle):
            if at < len(idle) - _MOST_IDLE or now - self._since[one, one.cycle] > _IDLE_SECONDS:
                one.transport.abort()
        return await super().on_tick(counter)


def _alone(folder: Path) -> int:
    """Return a lock on the folder: two servers would compete for the same jobs."""
    handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise StoreError(
            f"another server works in {folder}", hint="stop it, or name another folder with --store"
        ) from None
    return handle


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
        found.listen(_MOST_AT_ONCE)  # clients may connect as soon as the address is known
    except OSError as error:
        found.close()
        raise InputError(
            f"cannot listen on {host}, port {port}: {error.strerror}", hint="another --port, or 0 for any that is free"
        ) from error
    return found


@contextlib.contextmanager
def serving(options: ServeOptions) -> Iterator[Server]:
    """Give a server that runs in a thread, for tests and tools."""
    server = Server(options)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server._server.started and thread.is_alive():
            threading.Event().wait(0.02)
        yield server
    finally:
        server.stop()
        thread.join()
