"""Where `skilloscope live` reads from: files that grow and are written anew, addresses that stall and fail."""

from __future__ import annotations

import http.server
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from skilloscope.core.errors import InputError
from skilloscope.studies.live.feed_sources import FileFeed, UrlFeed, open_feed


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
        self.send_response(200)
        self.send_header("ETag", tag)
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


def wait_for(condition: Any, seconds: float = 60.0) -> bool:
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
