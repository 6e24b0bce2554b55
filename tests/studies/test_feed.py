"""Where `skilloscope live` reads from: files that grow and are written anew, addresses that stall and fail."""

from __future__ import annotations

import gzip
import http.server
import socket
import threading
import time
import zlib
from collections.abc import Iterator
from typing import Any

import pytest

from skilloscope.core.errors import InputError
from skilloscope.studies.live import feed as feed_module
from skilloscope.studies.live.feed import FileFeed, UrlFeed, open_feed


class Server(http.server.BaseHTTPRequestHandler):
    """Serves `body`, and says 304 where the reader has it already."""

    body = b""

    def do_GET(self) -> None:
        tag = f'"{hash(self.body)}"'
        if self.headers.get("If-None-Match") == tag:
            self.send_response(304)
            self.end_headers()
            return
        if self.path == "/missing":
            self.send_error(404)
            return
        if self.path.startswith("/to/"):
            self.send_response(302)
            self.send_header("Location", self.path.removeprefix("/to/"))
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("ETag", tag)
        if self.path.startswith("/as/"):
            self.send_header("Content-Encoding", self.path.removeprefix("/as/"))
        if self.path != "/stream":
            self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    found = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    thread = threading.Thread(target=found.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{found.server_port}"
    found.shutdown()
    found.server_close()


def wait_for(condition: Any, seconds: float = 240.0) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.01)
    return False


class TestSources:
    def test_a_file_is_read_when_it_changes_and_once_more_when_it_stands(self, tmp_path):
        now, path = [0.0], tmp_path / "feed.pgn"
        path.write_text("one")
        feed = FileFeed(path, lambda: now[0])
        assert feed.poll() == "one"
        assert feed.poll() is None
        now[0] = 1.0
        assert (feed.poll(), feed.poll()) == ("one", None)
        path.write_text("one two")
        assert feed.poll() == "one two"

    def test_a_file_that_goes_away_is_a_problem_until_it_comes_back(self, tmp_path):
        path = tmp_path / "feed.pgn"
        path.write_text("one")
        feed = FileFeed(path)
        feed.poll()
        path.unlink()
        assert feed.poll() is None
        assert "not there" in (feed.problem() or "")
        path.write_text("two")
        assert feed.poll() == "two"
        assert feed.problem() is None
        feed.close()

    @pytest.mark.parametrize("place", ["/feed", "/stream"])
    def test_an_address_is_fetched_again_and_again(self, server, place):
        Server.body = b"one"
        feed = UrlFeed(server + place, 0.05)
        assert wait_for(feed.changed)
        assert feed.poll() == "one"
        Server.body = b"two"
        assert wait_for(lambda: feed.poll() == "two")
        feed.close()

    def test_an_address_that_fails_is_a_problem_and_is_tried_again(self, server):
        feed = UrlFeed(server + "/missing", 0.05)
        assert wait_for(lambda: "404" in (feed.problem() or ""))
        feed.close()

    def test_what_is_neither_file_nor_address_is_refused(self, tmp_path, server):
        with pytest.raises(InputError):
            open_feed("ftp://somewhere/feed.pgn")
        with pytest.raises(InputError):
            open_feed(str(tmp_path / "nothing.pgn"))
        feed = open_feed(server)
        assert isinstance(feed, UrlFeed)
        feed.close()


def test_an_address_does_not_lead_to_ftp(server):
    with socket.create_server(("127.0.0.1", 0)) as other:
        other.setblocking(False)
        elsewhere = f"ftp://127.0.0.1:{other.getsockname()[1]}/games.pgn"
        feed = UrlFeed(f"{server}/to/{elsewhere}", every_seconds=60)
        try:
            assert wait_for(lambda: feed.problem())
        finally:
            feed.close()
        assert "not a web address" in (feed.problem() or "")
        with pytest.raises(BlockingIOError):
            other.accept()


@pytest.mark.parametrize("elsewhere", ["file:///etc/passwd", "gopher://127.0.0.1/", "data:,1. e4 *"])
def test_an_address_does_not_lead_to_a_file(server, elsewhere):
    feed = UrlFeed(f"{server}/to/{elsewhere.replace(' ', '%20')}", every_seconds=60)
    try:
        assert wait_for(lambda: feed.problem())
        assert feed.poll() is None
    finally:
        feed.close()


@pytest.mark.parametrize("path", ["/as/gzip", "/as/deflate", "/games.pgn.gz"])
def test_a_packed_reply_is_unpacked(server, monkeypatch, path):
    pack = zlib.compress if "deflate" in path else gzip.compress
    monkeypatch.setattr(Server, "body", pack(b"1. e4 ") + (b"" if "deflate" in path else pack(b"e5 *")))
    feed = UrlFeed(server + path, every_seconds=60)
    try:
        assert wait_for(feed.changed)
        assert feed.poll() == ("1. e4 " if "deflate" in path else "1. e4 e5 *")
    finally:
        feed.close()


@pytest.mark.parametrize(("path", "said"), [("/as/br", "'br'"), ("/as/gzip", "cannot be decompressed")])
def test_a_packing_that_cannot_be_read_is_said(server, monkeypatch, path, said):
    monkeypatch.setattr(Server, "body", b"something")
    feed = UrlFeed(server + path, every_seconds=60)
    try:
        assert wait_for(lambda: feed.problem())
        assert said in (feed.problem() or "")
    finally:
        feed.close()


def test_a_small_reply_that_unpacks_to_far_too_much_is_refused(server, monkeypatch):
    monkeypatch.setattr(feed_module, "_MOST_BYTES", 1_000_000)
    monkeypatch.setattr(Server, "body", gzip.compress(bytes(50_000_000)))
    feed = UrlFeed(f"{server}/as/gzip", every_seconds=60)
    try:
        assert wait_for(lambda: feed.problem())
        assert "more than 1,000,000 bytes" in (feed.problem() or "")
    finally:
        feed.close()
