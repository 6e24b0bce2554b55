"""Games of an account on Lichess or Chess.com, by their public interfaces, the newest first.

In: an account such as `lichess:NAME`, and an opener that connects (see web/safe_fetch.py). Out: the PGN of one rated
game after another, each whole. A stream that is cut goes on from the last game that came; where a site asks to wait,
it is waited for. There is one request at a time, and none to any other host.
"""

import http.client
import json
import re
import time
import urllib.error
import urllib.request
from calendar import timegm
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from skilloscope.core.errors import InputError
from skilloscope.core.paths import write_whole

SITES = {"lichess": "https://lichess.org", "chesscom": "https://api.chess.com"}
"""The addresses that are asked, by what accounts of the site begin with."""
TITLES = {"lichess": "Lichess", "chesscom": "Chess.com"}
MOST_GAMES = 3000
"""The most games of one import."""
_ACCOUNT = re.compile(rf"({'|'.join(SITES)}):([A-Za-z0-9_-]{{2,30}})")
_MOST_BYTES = 64 << 20  # of all replies of one import
_TIMEOUT = 30.0  # seconds of silence
_LONGEST = 3600.0  # seconds of one import
_WAIT = 60.0  # seconds at least after "too many requests"
_TRIES = 5  # without a new game
_LINK = re.compile(r'^\[(?:Link|Site) "(https?://[^"]+)"\]', re.MULTILINE)
_STARTED = re.compile(r'^\[UTCDate "([\d.]+)"\]\n(?:\[.*\]\n)*?\[UTCTime "([\d:]+)"\]', re.MULTILINE)
_ENDED = re.compile(r"(?:1-0|0-1|1/2-1/2|\*)\s*$")


def is_account(text: str) -> bool:
    """Return whether a text names an account instead of a file.

    >>> is_account("lichess:Ann_B"), is_account("games.pgn")
    (True, False)
    """
    return text.partition(":")[0] in SITES


def started(pgn: str) -> str:
    """Return when a game began, UTC; empty where it does not say."""
    found = _STARTED.search(pgn)
    return f"{found[1]} {found[2]}" if found else ""


def split_texts(text: str) -> list[str]:
    """Return the texts of the games of a file that a site has sent."""
    return [pgn for pgn in re.split(r"^(?=\[Event )", text, flags=re.MULTILINE) if pgn.strip()]


@dataclass
class Fetching:
    """An import on its way: games after `since`, a time as `started` gives it; `kept` is the PGN that has come."""

    account: str
    opener: urllib.request.OpenerDirector
    most: int = MOST_GAMES
    since: str = ""
    kept: str = ""
    sleep: Callable[[float], None] = field(default=lambda seconds: time.sleep(seconds))
    _seen: set[str] = field(default_factory=set)
    _until: str = ""
    _count: int = 0
    _bytes: int = 0

    def __post_init__(self) -> None:
        found = _ACCOUNT.fullmatch(self.account)
        if not found:
            raise InputError(f"{self.account!r} is no account", hint=f"{' or '.join(f'{site}:NAME' for site in SITES)}")
        if not 1 <= self.most <= MOST_GAMES:
            raise InputError(f"{self.most} games cannot be fetched at once", hint=f"from 1 to {MOST_GAMES:,}")
        self.site, self.name = found[1], found[2]
        self.base, self.title, self._end = SITES[self.site], TITLES[self.site], time.monotonic() + _LONGEST
        for pgn in split_texts(self.kept):
            list(self._fresh(pgn))

    def games(self) -> Iterator[str]:
        """Yield the games, the newest first; raise InputError where the site cannot or will not send more."""
        source = self._lichess if self.site == "lichess" else self._chesscom
        tries = 0
        while self._count < self.most:
            before = self._count
            try:
                yield from source()
                return
            except InputError:
                raise
            except (TypeError, AttributeError, RecursionError) as error:  # JSON of another form
                raise InputError(f"{self.title} sent what cannot be read", hint="try again later") from error
            except (OSError, http.client.HTTPException, ValueError) as error:  # a private address is a ValueError
                tries = 0 if self._count > before else tries + 1
                self._pause(error, tries)

    def _pause(self, error: Exception, tries: int) -> None:
        """Wait before the next try; raise where there is no sense in one."""
        code = error.code if isinstance(error, urllib.error.HTTPError) else 0
        if code in (404, 410):
            raise InputError(f"{self.title} has no player {self.name}", hint="look at how the name is spelt") from error
        if code and code != 429 and code < 500:
            raise InputError(f"{self.title} refuses to send the games (status {code})", hint="try later") from error
        if isinstance(error, urllib.error.URLError | ValueError) and not code and not self._count:
            hint = "is there a network? Or export the games on the site, and upload the file"
            raise InputError(f"{self.title} cannot be reached", hint=hint) from error
        if tries >= _TRIES:
            hint = "try again later: it goes on from there"
            raise InputError(f"{self.title} stopped sending after {self._count:,} games", hint=hint) from error
        asked = error.headers.get("Retry-After", "") if isinstance(error, urllib.error.HTTPError) else ""
        seconds = max(_WAIT, float(asked) if asked.isdecimal() else 0.0) if code == 429 else 2.0**tries
        if time.monotonic() + seconds > self._end:
            raise InputError(f"{self.title} asks to wait for {seconds / 60:,.0f} minutes", hint="try again later")
        self.sleep(seconds)

    def _lichess(self) -> Iterator[str]:
        asked = {"max": self.most - self._count + bool(self._count), "rated": "true", "clocks": "true"}
        # The time in a game is cut to the second: the last one comes again, and is left out.
        times = {"since": _milliseconds(self.since, 0), "until": _milliseconds(self._until, 999)}
        more = {"evals": "true", "perfType": "ultraBullet,bullet,blitz,rapid,classical,correspondence"}
        query = urlencode({**asked, **more, **{name: value for name, value in times.items() if value}})
        lines: list[str] = []
        with self._open(f"/api/games/user/{self.name}?{query}", "application/x-chess-pgn") as reply:
            for line in self._lines(reply):
                if line.startswith("[Event ") and lines:
                    yield from self._fresh("".join(lines))
                    lines.clear()
                lines.append(line)
        text = "".join(lines)
        if text.strip() and not _ENDED.search(text):
            raise http.client.IncompleteRead(text.encode())
        yield from self._fresh(text)

    def _chesscom(self) -> Iterator[str]:
        months = self._json(f"/pub/player/{self.name.lower()}/games/archives").get("archives", [])
        paths = [found[0] for month in months if (found := re.search(r"\d{4}/\d\d$", str(month)))]
        for path in sorted(paths, reverse=True):
            inside = path.replace("/", ".")
            if inside < self.since[:7]:
                return
            games = self._json(f"/pub/player/{self.name.lower()}/games/{path}").get("games", [])
            for game in sorted(games, key=lambda one: -int(one.get("end_time", 0))):
                if game.get("rules") == "chess" and game.get("rated") and game.get("pgn"):
                    yield from self._fresh(str(game["pgn"]).rstrip() + "\n\n")
                if self._count >= self.most:
                    return

    def _fresh(self, pgn: str) -> Iterator[str]:
        """Yield a game unless it has come before."""
        link, when = _LINK.search(pgn), started(pgn)
        name = link[1] if link else pgn
        if not pgn.strip() or name in self._seen or self._count >= self.most or (when and when <= self.since):
            return
        self._seen.add(name)
        self._count += 1
        self._until = min(when or self._until, self._until or when)
        yield pgn.strip().encode("utf-8", "replace").decode() + "\n\n"  # JSON may hold half a character

    def _json(self, path: str) -> dict[str, Any]:
        with self._open(path, "application/json") as reply:
            text = "".join(self._lines(reply))
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{self.title} sent what cannot be read", hint="try again later") from error
        return found if isinstance(found, dict) else {}

    def _open(self, path: str, accept: str) -> http.client.HTTPResponse:
        if time.monotonic() > self._end:
            raise InputError(f"{self.title} takes longer than an import may", hint="ask for fewer games")
        headers = {"User-Agent": "skilloscope", "Accept": accept, "Accept-Encoding": "identity"}
        reply: http.client.HTTPResponse = self.opener.open(
            urllib.request.Request(self.base + path, headers=headers), timeout=_TIMEOUT
        )
        return reply

    def _lines(self, reply: http.client.HTTPResponse) -> Iterator[str]:
        """Yield the lines of a reply; a reply that is cut raises after its last whole line."""
        rest, expected, came = list[bytes](), reply.headers.get("Content-Length"), 0
        while piece := reply.read1(1 << 16):
            came += len(piece)
            self._bytes += len(piece)
            if self._bytes > _MOST_BYTES or time.monotonic() > self._end:
                raise InputError(f"{self.title} sends more than an import may take", hint="ask for fewer games")
            *lines, last = piece.split(b"\n")
            for line in lines:
                yield f"{b''.join([*rest, line]).decode('utf-8', 'replace')}\n"
                rest.clear()
            rest.append(last)
        if expected is not None and came < int(expected):
            raise http.client.IncompleteRead(b"".join(rest))
        yield b"".join(rest).decode("utf-8", "replace")


def fetch_to(path: Path, account: str, most: int, opener: urllib.request.OpenerDirector, **more: Any) -> int:
    """Put the newest games of an account into a PGN file, next to those that are there; return how many are new.

    The first line of the file says whether it was stopped: then the next run goes on from there.
    """
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    state = re.match(r"% (\S+) (complete|after (.*))\n", old)
    if old and (state is None or state[1] != account):
        raise InputError(f"{path} does not hold games of {account} alone", hint="name another file")
    there, done = split_texts(old.partition("\n")[2]), False
    stopped = state is not None and state[2] != "complete"
    since = (state[3] if state and stopped else max(map(started, there), default="")) or ""
    games, new = Fetching(account, opener, most, since, "".join(there) if stopped else "", **more), list[str]()
    try:
        for pgn in games.games():
            new.append(pgn)
        done = True
    finally:
        if new or done:
            head = f"% {account} {'complete' if done else f'after {since}'}\n"
            write_whole(path, head + "".join(sorted([*new, *there], key=started, reverse=True)))
    return len(new) + (fetch_to(path, account, most, opener, **more) if stopped else 0)  # what was played since


def _milliseconds(when: str, more: int) -> int:
    return timegm(time.strptime(when, "%Y.%m.%d %H:%M:%S")) * 1000 + more if when else 0
