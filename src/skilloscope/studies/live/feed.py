"""Feeds of games in progress: where the text comes from, and the boards in it.

A feed is a file that grows or an address. It gives its whole text whenever that has changed, and once more when it has
settled: a text that is seen twice is accepted where a passing one is not (see live.py). The text is PGN that may be cut
anywhere, with one game after another or one game again and again. A board is identified by event, round and players.
The same game further down in the text is its newer state, as streams send it; another game of the same players after a
finished one is a board of its own.
"""

import http.client
import os
import socket
import threading
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import chess

from skilloscope.chess.analysis.evaluations import final_value
from skilloscope.chess.moves import move_of_code, value_pawns
from skilloscope.chess.pgn.text import NO_MATE, MainLine, header_from_tags, main_line, split_games
from skilloscope.core.errors import InputError

SETTLED_SECONDS = 0.5
_TIMEOUT = 10.0
_MOST_BYTES = 50_000_000
_ANY_ZLIB = 47  # gzip or zlib, detected from the first bytes
_NO_CAP = 1e6  # the follower cuts values, and a mate is worth whatever its cap is


class Feed:
    """A text that changes: `poll` returns it if there is something new."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: object = None
        self._settles: float | None = None
        self._problem: str | None = None

    def changed(self) -> bool:
        """Return whether the text is another than at the last call of `poll`, or has just settled."""
        return self._state() != self._seen or (self._settles is not None and self._clock() >= self._settles)

    def poll(self) -> str | None:
        """Return the whole text if it has changed since the last call, or has just settled; else None."""
        if not self.changed():
            return None
        state = self._state()
        self._settles = self._clock() + SETTLED_SECONDS if state != self._seen else None
        self._seen = state
        return self._text()

    def problem(self) -> str | None:
        """Return what is wrong with the feed now, if anything."""
        return self._problem

    def close(self) -> None:
        """End whatever runs in the background."""

    def _state(self) -> object:
        """Return something that changes with the text."""
        raise NotImplementedError

    def _text(self) -> str | None:
        raise NotImplementedError


class FileFeed(Feed):
    """A file that another program writes: its size and time show whether it has changed."""

    def __init__(self, path: str | os.PathLike[str], clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(clock)
        self.path = Path(path)

    def _state(self) -> tuple[int, int, int] | None:
        try:
            found = os.stat(self.path)
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _text(self) -> str | None:
        self._problem = None
        try:
            return self.path.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            self._problem = f"{self.path} is not there"
        except OSError as error:
            self._problem = f"{self.path}: {error.strerror or error}"
        return None


class UrlFeed(Feed):
    """An address that is fetched repeatedly, or that goes on sending: a thread reads, so that nobody waits for it."""

    def __init__(
        self,
        address: str,
        every_seconds: float = 2.0,
        clock: Callable[[], float] = time.monotonic,
        *,
        opener: urllib.request.OpenerDirector | None = None,
    ) -> None:
        super().__init__(clock)
        self.address, self.every = address, every_seconds
        self._got: str | None = None
        self._etag: str | None = None
        self._ended = threading.Event()
        self._opener = opener or urllib.request.build_opener(_WebOnly)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Let the thread end; it may still wait for an answer, and is not waited for."""
        self._ended.set()

    def _state(self) -> str | None:
        return self._got

    def _text(self) -> str | None:
        return self._got

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                self._fetch()
                self._problem = None
            except (OSError, http.client.HTTPException, ValueError) as error:  # URLError and timeouts are OSErrors
                self._problem = f"{self.address}: {plain_fault(error)}; asked again every {self.every:g} seconds"
            self._ended.wait(self.every)

    def _fetch(self) -> None:
        headers = {"User-Agent": "skilloscope", "Accept": "application/x-chess-pgn, text/plain, */*"}
        headers["Accept-Encoding"] = "identity"  # some servers compress all the same
        if self._etag:
            headers["If-None-Match"] = self._etag
        try:
            with self._opener.open(urllib.request.Request(self.address, headers=headers), timeout=_TIMEOUT) as reply:
                self._read(reply)
                self._etag = reply.headers.get("ETag")
        except urllib.error.HTTPError as error:
            error.close()
            if error.code != 304:  # not modified
                raise

    def _read(self, reply: http.client.HTTPResponse) -> None:
        """Take the text as it comes: an address that never ends is a feed too."""
        got, unpack = bytearray(), _Unpacking(reply.headers.get("Content-Encoding"))
        whole = reply.headers.get("Content-Length") is not None
        while not self._ended.is_set():
            piece = reply.read1(65536)
            got += unpack(piece)
            if len(got) > _MOST_BYTES:
                raise ValueError(f"more than {_MOST_BYTES:,} bytes")
            if got and not (piece and whole):
                self._got = bytes(got).decode("utf-8", "replace")
            if not piece:
                return


def plain_fault(error: Exception) -> str:
    """Return what is wrong with an address, in words.

    >>> plain_fault(urllib.error.URLError(ConnectionRefusedError(111, "Connection refused")))
    'the connection was refused'
    """
    if isinstance(error, urllib.error.HTTPError):
        return f"the server answers with the error {error.code} ({error.reason})"
    reason = getattr(error, "reason", error)
    known = {
        TimeoutError: "the server does not answer",
        ConnectionRefusedError: "the connection was refused",
        ConnectionError: "the connection was cut off",
        http.client.HTTPException: "the connection was cut off",
        socket.gaierror: "there is no server of this name",
    }
    text = next((text for kind, text in known.items() if isinstance(reason, kind)), "")
    return text or str(getattr(reason, "strerror", None) or reason)


class _WebOnly(urllib.request.HTTPRedirectHandler):
    """Follows an address to another one of the web, never to a file or to ftp."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        if not newurl.lower().startswith(("http://", "https://")):
            raise ValueError(f"it redirects to {newurl!r}, which is not a web address")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class _Unpacking:
    """Decompresses the pieces of a reply; what cannot be decompressed is an error, not an empty feed.

    A reply that does not say so may be compressed all the same, where the address is that of a .gz file.
    """

    def __init__(self, encoding: str | None) -> None:
        name = (encoding or "identity").strip().lower()
        if name not in ("identity", "gzip", "x-gzip", "deflate"):
            raise ValueError(f"it is compressed as {name!r}, which cannot be read")
        self._unpack = None if name == "identity" else zlib.decompressobj(wbits=_ANY_ZLIB)
        self._begun = False

    def __call__(self, piece: bytes) -> bytes:
        if not self._begun and piece.startswith(b"\x1f\x8b"):
            self._unpack = zlib.decompressobj(wbits=_ANY_ZLIB)
        self._begun = self._begun or bool(piece)
        got = b""
        try:
            while self._unpack is not None and piece and len(got) <= _MOST_BYTES:
                got += self._unpack.decompress(piece, _MOST_BYTES + 1 - len(got))
                piece = self._unpack.unused_data
                if self._unpack.eof:  # another one may follow it
                    self._unpack = zlib.decompressobj(wbits=_ANY_ZLIB)
        except zlib.error as error:
            raise ValueError(f"it is compressed and cannot be decompressed: {error}") from error
        return piece if self._unpack is None else got


def open_feed(source: str, *, every_seconds: float = 2.0) -> Feed:
    """Return the feed of a file or an http address."""
    if source.startswith(("http://", "https://")):
        return UrlFeed(source, every_seconds)
    if "://" in source:
        raise InputError(f"{source}: not an address that can be followed", hint="give http://…, https://… or a file")
    if not Path(source).is_file():
        raise InputError(f"{source}: no such file", hint="give a PGN file that grows, or an http address")
    return FileFeed(source)


@dataclass(frozen=True)
class BoardText:
    """A game as far as the feed has it."""

    white: str
    black: str
    event: str | None
    round: str | None
    result: str
    elos: tuple[int | None, int | None]
    """White's and Black's rating in the tags."""
    moves: tuple[int, ...]
    san: tuple[str, ...]
    fens: tuple[str, ...]
    """The position before the first move, and after each."""
    values: tuple[float | None, ...]
    """What comments say of each position, pawns, white's view; a mate is beyond every cap."""
    clocks: tuple[float | None, ...]
    """Seconds left after each move; None where no comment says."""
    final: float | None
    """Where the game is over on the board: 1 if White has mated, −1 if Black has, 0 for stalemate."""
    first_ply: int
    fault: str

    @property
    def name(self) -> str:
        """The name of the board: round and players, with the event where it is known."""
        where = " ".join(part for part in (self.event, f"({self.round})" if self.round else "") if part)
        return f"{self.white} – {self.black}" + (f", {where}" if where else "")


def read_boards(text: str) -> dict[str, BoardText]:
    """Return the boards of a text by name; games without two named players, or with an unusable start, are no boards.

    >>> boards = read_boards('[White "A"]\\n[Black "B"]\\n\\n1. e4 e5 2. N')
    >>> [(name, board.san) for name, board in boards.items()]
    [('A – B', ('e4', 'e5'))]
    """
    boards: dict[str, BoardText] = {}
    for raw in split_games(text.splitlines()):
        if not (raw.tags.get("White") and raw.tags.get("Black") and raw.movetext):
            continue  # without a word after the tags more of them may be to come
        board = _board(tuple(raw.tags.items()), "\n".join(raw.movetext))
        if board is None:
            continue
        name, number = board.name, 1
        while name in boards and not _newer(boards[name], board):
            number += 1
            name = f"{board.name} #{number}"
        boards[name] = board
    return boards


def _newer(old: BoardText, new: BoardText) -> bool:
    """Return whether a text may be a newer state of the same game."""
    shared = min(len(old.moves), len(new.moves))
    return old.result == "*" or old.moves[:shared] == new.moves[:shared]


@lru_cache(maxsize=1024)  # of a broadcast's boards only those that moved are read again
def _board(tags: tuple[tuple[str, str], ...], movetext: str) -> BoardText | None:
    known = dict(tags)
    try:
        board = chess.Board(known.get("FEN", "").strip() or chess.STARTING_FEN)
    except ValueError:
        return None
    if not board.is_valid() or known.get("Variant", "standard").lower() not in ("standard", "from position", "chess"):
        return None
    start, first_ply = board.copy(), board.ply()
    line = main_line(movetext, board)
    header = header_from_tags(known, line, "", 0)
    if header["white"] is None or header["black"] is None:
        return None
    san, fens = [], [start.fen()]
    for code in line.moves:
        san.append(start.san_and_push(move_of_code(code)))
        fens.append(start.fen())
    return BoardText(
        white=header["white"],
        black=header["black"],
        event=header["event"],
        round=header["round"],
        result=header["result"],
        elos=(header["white_elo"], header["black_elo"]),
        moves=tuple(line.moves),
        san=tuple(san),
        fens=tuple(fens),
        values=_values(line),
        clocks=tuple(None if left != left else left for left in line.clocks),
        final=final_value(board, 1.0),
        first_ply=first_ply,
        fault=" ".join(part for part in line.fault if part) if line.fault else "",
    )


def _values(line: MainLine) -> tuple[float | None, ...]:
    def pawns(mate: int | None, value: float | None) -> float | None:
        if mate == 0:  # `#0` follows a mating move: the player who moved has won, which the board shows too
            return None
        if mate is not None and mate != NO_MATE:
            return float(value_pawns(True, mate, _NO_CAP))
        return None if value is None or value != value else float(value)

    after = zip(line.mates, line.evals, strict=True)
    return (pawns(line.start_mate, line.start_eval), *(pawns(mate, value) for mate, value in after))
