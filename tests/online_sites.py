"""A local server that behaves like the public interfaces of Lichess and Chess.com, and misbehaves when told to."""

from __future__ import annotations

import contextlib
import http.server
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

import pytest

from skilloscope.web.library import accounts as online

MOVES = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O 9. h3 Na5 10. Bc2 c5"


def game(number: int, name: str = "Ann", site: str = "lichess") -> str:
    """Return the PGN of a game; number 0 is the oldest, and each is played a day after the one before."""
    month, day = divmod(number, 28)
    date, link = f"2024.{month + 1:02d}.{day + 1:02d}", f"https://lichess.org/{number:08d}"
    tags = {"Event": "rated blitz game", "Site": link, "Date": date, "White": name, "Black": f"Opponent{number}"}
    if site == "chesscom":
        tags |= {"Event": "Live Chess", "Site": "Chess.com", "Link": f"https://www.chess.com/game/live/{number}"}
    tags |= {"Result": "1-0", "UTCDate": date, "UTCTime": "12:00:00", "WhiteElo": "1500", "BlackElo": "1510"}
    head = "".join(f'[{key} "{value}"]\n' for key, value in (tags | {"TimeControl": "300"}).items())
    return f"{head}\n{MOVES} 11. d{3 + number % 2} {{ [%clk 0:04:59] }} 1-0\n\n"


@dataclass
class Site:
    """What the server has, what it has been asked, and what it does wrong, once each."""

    address: str = ""
    games: int = 60
    asked: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    """`429`, `429 N`, `500`, `403`, `cut N` (after so many bytes), `chunks N` (the same, of a chunked reply), `slow N`,
    `redirect`, `garbage`."""
    agents: list[str] = field(default_factory=list)


class _Handler(http.server.BaseHTTPRequestHandler):
    site: Site
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        site, parts = self.site, urlsplit(self.path)
        site.asked.append(self.path)
        site.agents.append(self.headers["User-Agent"])
        fault, _, how = (site.faults.pop(0) if site.faults else "").partition(" ")
        if fault in ("429", "500", "403"):
            self._send(int(fault), b"no", {"Retry-After": how} if how else {})
        elif fault == "redirect":
            self._send(302, b"", {"Location": "http://127.0.0.1:9/elsewhere"})
        elif fault == "garbage":
            self._send(200, b"{]")
        else:
            self._answer(parts.path, parse_qs(parts.query), fault, how)

    def _answer(self, path: str, query: dict[str, list[str]], fault: str, how: str) -> None:
        words = path.strip("/").split("/")
        known = range(self.site.games)
        if path.startswith("/api/games/user/"):
            if words[-1].lower() != "ann":
                self._send(404, b'{"error": "Not found"}')
                return
            times = {number: time.strptime(f"{_date(number)} 12:00:00 UTC", "%Y.%m.%d %H:%M:%S %Z") for number in known}
            since, until = (
                int(query.get(name, [default])[0]) for name, default in (("since", "0"), ("until", "9" * 15))
            )
            wanted = [n for n in reversed(known) if since <= 1000 * online.timegm(times[n]) + 500 <= until]
            body = "".join(map(game, wanted[: int(query["max"][0])])).encode()
        elif words[:2] == ["pub", "player"]:
            if words[2] != "ann":
                self._send(404, b'{"code": 0}')
                return
            months = sorted({_date(number)[:7].replace(".", "/") for number in known})
            if words[-1] == "archives":
                found: object = {
                    "archives": [f"https://api.chess.com/pub/player/ann/games/{month}" for month in months]
                }
            else:
                own = [n for n in known if _date(n)[:7] == ".".join(words[-2:])]
                rows = [{"pgn": game(n, site="chesscom"), "end_time": n, "rules": "chess", "rated": True} for n in own]
                rows.append({"pgn": '[Event "x"]\n\n1. e4 *', "end_time": 0, "rules": "chess960", "rated": True})
                rows.append({"pgn": '[Event "y"]\n\n1. e4 *', "end_time": 0, "rules": "chess", "rated": False})
                found = {"games": rows}
            body = json.dumps(found).encode()
        else:
            self._send(404, b"")
            return
        self._send(200, body, fault=fault, how=how)

    def _send(
        self, status: int, body: bytes, headers: dict[str, str] | None = None, *, fault: str = "", how: str = ""
    ) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if fault == "chunks":
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            piece = body[: int(how)]
            self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            self.close_connection = True
            return
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if fault == "slow":
            for at in range(0, len(body), 4096):
                time.sleep(float(how))
                self.wfile.write(body[at : at + 4096])
            return
        self.wfile.write(body[: int(how)] if fault == "cut" else body)
        self.close_connection = fault == "cut"

    def log_message(self, *_: object) -> None:
        pass


def _date(number: int) -> str:
    return f"2024.{number // 28 + 1:02d}.{number % 28 + 1:02d}"


@contextlib.contextmanager
def online_sites(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """Give the server, which both sites' addresses lead to meanwhile."""
    site = Site()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"site": site}))
    site.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    monkeypatch.setattr(online, "SITES", dict.fromkeys(online.SITES, site.address))
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
