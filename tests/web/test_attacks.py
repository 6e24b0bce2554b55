"""What an attacker sends to a server: none of it keeps others waiting, takes the memory, or stops the queue."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import psutil
import pytest

from skilloscope.web import app, safety
from skilloscope.web.app import ServeOptions, create_app, serving
from skilloscope.web.jobs import Jobs
from skilloscope.web.library import sparring
from skilloscope.web.safety import COOKIE, SESSION, Safety
from web.conftest import Filled, wait_for

TOKEN = {"X-Skilloscope": "1"}


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a server whose lanes have no workers: nothing but its connections is of interest."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("skilloscope.web.workers.LANES", ())
        with serving(ServeOptions(tmp_path_factory.mktemp("attacked"), port=0)) as server:
            yield server.port


def seconds_of_a_page(port: int) -> float:
    begin = time.monotonic()
    with urlopen(f"http://127.0.0.1:{port}/login", timeout=60) as reply:
        assert reply.status == 200
    return time.monotonic() - begin


@contextmanager
def connected(port: int, *texts: bytes) -> Iterator[list[socket.socket]]:
    """Give connections on which these bytes have been sent, one for each text."""
    with ExitStack() as stack:
        made = [stack.enter_context(socket.create_connection(("127.0.0.1", port), 60)) for _ in texts]
        for one, text in zip(made, texts, strict=True):
            one.sendall(text)
        yield made


def head(path: str = "/api/jobs", **more: str) -> bytes:
    lines = {"Host": "127.0.0.1", **TOKEN, **{name.replace("_", "-"): value for name, value in more.items()}}
    return "".join([f"POST {path} HTTP/1.1\r\n", *(f"{n}: {v}\r\n" for n, v in lines.items()), "\r\n"]).encode()


@pytest.mark.parametrize("cookie", ['a="' + "\\" * 60_000 + '"', "=;" * 30_000, '"' * 60_000])
def test_a_cookie_keeps_nobody_waiting(port: int, cookie: str):
    asked = Request(f"http://127.0.0.1:{port}/", headers={"Cookie": cookie})
    begin = time.process_time()
    with pytest.raises(OSError, match=r"431|reset|Broken"):
        urlopen(asked, timeout=60)
    assert time.process_time() - begin < 2  # of this process, in which the server runs


def test_half_sent_headers_keep_nobody_out(port: int):
    half = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: "
    with connected(port, *[half] * 300):
        for _ in range(3):
            assert seconds_of_a_page(port) < 10


def test_a_connection_that_does_not_ask_is_dropped(port: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(app, "_IDLE_SECONDS", 0.3)
    with connected(port, b"", b"GET / HTTP/1.1\r\nHost: ") as made:
        for one in made:
            assert one.recv(1) == b""


def test_stalled_uploads_keep_nobody_waiting_and_are_told(port: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(safety, "STALL_SECONDS", 0.5)
    with connected(port, *[head(Content_Length="1000000") + b"1. e4"] * 8) as stalled:
        whole = Request(f"http://127.0.0.1:{port}/api/jobs", b"1. e4 e5 *", TOKEN)
        with urlopen(whole, timeout=60) as reply:
            assert reply.status == 202
        for one in stalled:
            assert b" 408 " in one.recv(4096).splitlines()[0]


def test_an_upload_that_trickles_is_dropped(port: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(safety, "STALL_SECONDS", 0.5)
    with connected(port, head(Content_Length="1000000")) as (slow,):
        slow.settimeout(0.05)
        told = b""
        while not told:
            slow.sendall(b"x")
            with suppress(TimeoutError):
                told = slow.recv(4096)
        assert b" 408 " in told.splitlines()[0]


def test_before_the_password_only_little_is_taken(tmp_path: Path):
    closed = Filled(create_app(Jobs(tmp_path / "jobs.sqlite"), Safety(b"x", password="correct")), None, None, {})  # type: ignore[arg-type]
    client = closed.client()
    long = b"password=" + b"x" * safety.MOST_FORM
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert client.post("/login", content=long, headers=form).status_code == 413
    assert client.post("/login", content=iter([long]), headers=form).status_code == 413
    assert client.post("/upload", content=iter([long] * 9)).status_code == 401


def test_what_curl_calls_a_form_is_no_form_of_the_api(port: int):
    kind = {**TOKEN, "Content-Type": "application/x-www-form-urlencoded"}
    address = f"http://127.0.0.1:{port}/api/jobs"
    with urlopen(Request(address, b"1. e4 e5 *\n\n" * 100_000, kind), timeout=60) as reply:
        assert reply.status == 202
    del kind["X-Skilloscope"]
    with pytest.raises(OSError, match="403"):
        urlopen(Request(address, b"csrf=1", kind), timeout=60)


def test_many_large_texts_at_once_take_little_memory(port: int):
    body = (
        b'--b\r\nContent-Disposition: form-data; name="text"\r\n\r\n' + b"1. e4 e5 *\n\n" * 600_000 + b"\r\n--b--\r\n"
    )
    kind = {**TOKEN, "Content-Type": "multipart/form-data; boundary=b", "Origin": f"http://127.0.0.1:{port}"}
    own, most, stopped = psutil.Process(), [0], threading.Event()

    def watch() -> None:
        while not stopped.wait(0.01):
            most[0] = max(most[0], own.memory_info().rss)

    def send() -> None:
        with pytest.raises(OSError, match="403"):  # it has no token, which is known when it has been parsed
            urlopen(Request(f"http://127.0.0.1:{port}/upload", body, kind), timeout=120)

    before = own.memory_info().rss
    threads = [threading.Thread(target=send) for _ in range(12)]
    for thread in (watching := threading.Thread(target=watch), *threads):
        thread.start()
    for thread in threads:
        thread.join()
    stopped.set()
    watching.join()
    assert most[0] - before < 400 << 20, "twelve of 7 MB"


def test_people_who_wait_for_an_opponent_take_no_page_from_others(port: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sparring, "_AT_ONCE", threading.BoundedSemaphore(1))
    monkeypatch.setattr(sparring, "_PATIENCE", 3.0)
    codes, asked = list[int](), f"http://127.0.0.1:{port}/api/reply?elo=1500&side=black"

    def ask() -> None:
        try:
            urlopen(Request(asked, b"", TOKEN), timeout=60).close()
        except HTTPError as error:
            codes.append(error.code)
            error.close()

    with sparring._AT_ONCE:  # somebody's opponent thinks
        threads = [threading.Thread(target=ask) for _ in range(60)]
        for thread in threads:
            thread.start()
        wait_for(lambda: len(codes) > 40, 30)
        assert seconds_of_a_page(port) < 10
        for thread in threads:
            thread.join()
    assert codes == [503] * 60


@pytest.mark.parametrize("charset", ["unicode_escape", "punycode", "idna", 'utf-8"; charset="utf-7'])
@pytest.mark.parametrize("path", ["/upload", "/login"])
def test_a_form_is_utf_8_or_refused(filled: Filled, charset: str, path: str):
    body = b'--b\r\nContent-Disposition: form-data; name="csrf"\r\n\r\nxn--\\ud800\\\r\n--b--\r\n'
    kind = {"Content-Type": f'multipart/form-data; boundary=b; charset="{charset}"'}
    assert filled.client().post(path, content=body, headers=kind).status_code == 415
    kind = {"Content-Type": "multipart/form-data; boundary=b; charset=UTF-8"}
    assert filled.client().post(path, content=body, headers=kind).status_code == 403


@pytest.mark.parametrize("origin", ["http://[", "http://[::1", "//", "", "http://localhost@evil.example"])
def test_an_origin_that_is_none_is_refused(filled: Filled, origin: str):
    reply = filled.client().post("/api/jobs", content=b"1. e4", headers={**TOKEN, "Origin": origin})
    assert reply.status_code == 403


def test_a_session_ends_with_the_logout(filled: Filled):
    kept = Safety(b"x", password="correct horse")
    client = Filled(create_app(filled.jobs, kept), filled.jobs, kept, {}).client(follow_redirects=False)
    client.get("/login")
    token = {"csrf": kept.token(client.cookies[COOKIE])}
    client.post("/login", data={**token, "password": "correct horse"})
    stolen = dict(client.cookies)
    assert client.get("/").status_code == 200
    assert client.post("/logout", data=token).status_code == 303
    client.cookies.update(stolen)
    assert client.cookies[SESSION] == stolen[SESSION]
    assert client.get("/").status_code == 303
