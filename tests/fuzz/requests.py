"""Mutated requests to a running `skilloscope serve`: none is answered with 500, or later than ten seconds.

`python -m fuzz.requests --port 8000 --requests 100000 --seed 7` in tests/ uploads a file of each kind first, so that
every page has something to show. It cancels and deletes the jobs that its own requests make.
"""

from __future__ import annotations

import argparse
import json
import random
import threading
import time
from collections import Counter
from http.client import HTTPConnection, HTTPException
from typing import Any

from fuzz.mutation import mutated
from web.conftest import DECISIONS, RESULTS, START, few_games, wait_for

MOST_SECONDS = 10.0
TOKEN = {"X-Skilloscope": "1"}
PAGES = [
    "/",
    "/results",
    "/decisions",
    "/live",
    "/jobs/{job}",
    "/jobs/{job}/table",
    "/jobs/{job}/games/{number}",
    "/jobs/{job}/event",
    "/jobs/{job}/players/{number}",
    "/jobs/{job}/compare",
    "/jobs/{job}/members/{number}",
    "/jobs/{job}/boards/{number}",
    "/jobs/{job}/handout.pdf",
    "/jobs/{job}/ratings.csv",
    "/jobs/{job}/games/{number}/game.pgn",
    "/jobs/{job}/games/{number}/card.svg",
    "/jobs/{job}/players/{number}/card.svg",
    "/jobs/{job}/players/{number}/games.pgn",
    "/jobs/{job}/players/{number}/games.csv",
    "/jobs/{job}/players/{number}/handout.pdf",
    "/library",
    "/library/players/{number}",
    "/library/export.zip",
    "/train",
    "/play",
    "/guess",
    "/board.svg",
    "/login",
    "/openapi.json",
]
FORMS = ("/upload", "/live", "/jobs/{job}/cancel", "/jobs/{job}/resume", "/jobs/{job}/delete", "/login", "/logout")
FORMS += ("/jobs/{job}/screen", "/library/open", "/library/keep", "/library/forget", "/library/players/{number}/name")
NAMES = ["fen", "flip", "sort", "q", "page", "one", "two", "search"]
NAMES += [
    "elo",
    "side",
    "pool",
    "moves",
    "move",
    "best",
    "last",
    "seed",
    "player",
    "job",
    "mistake",
    "solved",
    "name",
    "key",
]
ODD = [
    "-1",
    "0",
    "1",
    "2",
    "1e9",
    "99999999999999999999",
    "nan",
    "inf",
    "null",
    "%00",
    "%ff",
    "../../etc/passwd",
    "%2e%2e%2f",
    "'\"><script>",
    "{{7*7}}",
    "%E2%80%AE",
    "8/8/8/8/8/8/8/8%20w",
    "e2e4",
    "true",
    "[]",
    "{}",
    "elo",
    "-elo",
    "%F0%9F%98%80",
    "%c0%80",
    "%D9%A0",
    "1.5",
    "%0d%0aX:1",
    "9/9/9%20w",
]
ODD += ["", "a" * 3000, START.replace(" ", "%20")]
HEADERS = {
    "Origin": ["http://[", "null", "http://evil", ""],
    "Cookie": ["a=b", 'a="' + "\\" * 500 + '"', "=;=", "\xff\xfe"],
    "Content-Type": ["multipart/form-data", "multipart/form-data; boundary=\xff", "text/plain; charset=unicode_escape"],
    "Host": ["evil", "[::1]", "localhost:99999999", "\xff", "a b"],
    "Range": ["bytes=0-", "bytes=9-1"],
    "Sec-Fetch-Site": ["cross-site", "same-origin", "x"],
    "Content-Encoding": ["gzip", "x"],
}
FORM = b'--b\r\nContent-Disposition: form-data; name="files"; filename="a.pgn"\r\n\r\n1. e4\r\n--b--\r\n'
BODIES = (few_games().encode()[:800], RESULTS.encode()[:500], DECISIONS.encode()[:400], b"csrf=x&text=1.+e4", FORM)
KINDS = ["application/json", "multipart/form-data; boundary=b", "application/x-www-form-urlencoded", "text/plain"]


class Server:
    """A server, the jobs it has done for us, and what it answered."""

    def __init__(self, port: int) -> None:
        self.port, self.codes, self.bad = port, Counter[str](), list[str]()
        self.operations = [("GET", page) for page in PAGES] + [("POST", form) for form in FORMS]
        paths = json.loads(self.ask("GET", "/openapi.json")[1])["paths"]
        self.operations += [(method.upper(), path) for path, known in paths.items() for method in known]
        self.ids, self.made, self.gone = [], list[str](), set[str]()
        for kind, text in (("games", few_games()), ("results", RESULTS), ("decisions", DECISIONS)):
            more = "&effort=instant" if kind == "games" else ""
            reply = self.ask("POST", f"/api/jobs?kind={kind}{more}", text.encode(), TOKEN)[1]
            self.ids.append(json.loads(reply)["id"])
            wait_for(lambda: self.job(self.ids[-1])["state"] == "done", 120)

    def ask(self, method: str, path: str, body: bytes | None = None, headers: Any = None) -> tuple[int, bytes]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, headers or {})
            reply = connection.getresponse()
            return reply.status, reply.read()
        finally:
            connection.close()

    def job(self, name: str) -> Any:
        return json.loads(self.ask("GET", f"/api/jobs/{name}")[1])

    def attack(self, rng: random.Random) -> None:
        """Ask once, in a way that the random numbers say, and note what came of it."""
        method, path = rng.choice(self.operations)
        changes = method in ("POST", "DELETE")
        name = rng.choice([*self.made, "nowhere"] if changes else self.ids) if rng.random() < 0.7 else rng.choice(ODD)
        number = str(rng.randrange(-1, 9)) if rng.random() < 0.7 else rng.choice(ODD)
        path = path.replace("{job}", name).replace("{number}", number)
        path += "?" + "&".join(f"{rng.choice(NAMES)}={rng.choice(ODD)}" for _ in range(rng.randrange(3)))
        method = method if rng.random() < 0.95 else rng.choice(["PUT", "HEAD", "OPTIONS", "TRACE", "X"])
        headers = TOKEN | {name: rng.choice(HEADERS[name]) for name in rng.sample([*HEADERS], rng.randrange(3))}
        body = mutated(rng.choice(BODIES), BODIES, rng)[:4000] if method == "POST" else None
        if body:
            headers.setdefault("Content-Type", rng.choice(KINDS))
        begin = time.monotonic()
        try:
            status, reply = self.ask(method, path, body, headers)
        except (OSError, HTTPException) as error:
            self.codes[type(error).__name__] += 1
            return
        self.codes[str(status)] += 1
        if status == 500 or time.monotonic() - begin > MOST_SECONDS:
            self.bad.append(f"{status} after {time.monotonic() - begin:.1f} s: {method} {path} {headers} {body!r}")
        if status == 202 and path.startswith("/api/jobs?"):
            self.made.append(json.loads(reply)["id"])
        if status in (200, 303) and (method == "DELETE" or "/delete?" in path):
            self.gone.add(name)


def main() -> None:
    """Ask as often as is wanted on sixteen connections; print what came of it, and what was lost."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--port", type=int, required=True)
    options.add_argument("--requests", type=int, default=1000)
    options.add_argument("--seed", type=int, default=1)
    asked = options.parse_args()
    server = Server(asked.port)

    def work(part: int) -> None:
        rng = random.Random(asked.seed * 1_000 + part)
        for _ in range(asked.requests // 16):
            server.attack(rng)

    threads = [threading.Thread(target=work, args=(part,)) for part in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lost = [name for name in server.made if name not in server.gone and "state" not in server.job(name)]
    print(
        f"{sum(server.codes.values()):,} requests: {dict(server.codes)}; {len(server.made)} accepted, {len(lost)} lost"
    )
    print(*server.bad[:20], sep="\n")


if __name__ == "__main__":
    main()
