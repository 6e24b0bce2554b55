"""Makes the pictures of the web application, every page and state, for docs/img and for the eye.

    python tools/make_screenshots.py docs/img [--only WORD]

The people in the pictures are invented, and their games are drawn from the human model. Needs Chromium and what the
tests need.
"""

from __future__ import annotations

import argparse
import http.server
import itertools
import json
import shutil
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import chess
import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

from skilloscope.chess.boards import Boards
from skilloscope.chess.human.model import human
from skilloscope.chess.moves import move_of_code
from skilloscope.web.app import ServeOptions, serving

WIDE, PHONE = {"width": 1100, "height": 800}, {"width": 390, "height": 800}
RESULTS = ("1-0", "0-1", "1/2-1/2")
LONG = "Wolfeschlegelsteinhausenbergerdorff, Hubert Blaine the Younger of Somewhere Rather Far Away"


def main() -> None:
    """Make all pictures, or those whose names hold a word."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="pictures whose names hold this")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    games, event = _export(), _event()
    with tempfile.TemporaryDirectory() as store, serving(ServeOptions(Path(store), port=0, private=True)) as server:
        jobs = _jobs(server.address, games, event)
        with _feed(event) as feed, sync_playwright() as playwright:
            jobs["live"] = _add(server.address, f"/api/live?address={feed}", "")
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            time.sleep(12)
            for name, path, more in _pictures(server.address, jobs):
                if given.only in name:
                    _shoot(browser, given.folder / f"web-{name}.png", path, **more)
            browser.close()


def _jobs(address: str, games: str, event: str) -> dict[str, str]:
    texts = {
        "games": ("/api/jobs?name=export.pgn&effort=quick", games),
        "event": ("/api/jobs?name=event.pgn&effort=quick", event),
        "one": (
            "/api/jobs?name=one.pgn&effort=instant",
            '[White "Ann"]\n[Black "?"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 1-0',
        ),
        "long": ("/api/jobs?name=long.pgn&effort=instant", _long()),
        "many": ("/api/jobs?name=many.pgn&effort=instant", _many()),
        "cancelled": ("/api/jobs?name=stopped.pgn&effort=instant", _many()),
        "failed": ("/api/jobs?name=broken.pgn", "this is no game"),
        "results": ("/api/jobs?kind=results&name=club.csv", _results()),
        "decisions": ("/api/jobs?kind=decisions&name=choices.jsonl", _decisions()),
    }
    made = {name: _add(address, path, text) for name, (path, text) in texts.items()}
    _add(address, f"/api/jobs/{made['cancelled']}/cancel", "")
    for name in made:
        while _state(address, made[name]) in ("waiting", "running"):
            time.sleep(0.5)
    # One that still runs while its picture is taken.
    made["loading"] = _add(address, "/api/jobs?name=large.pgn&effort=instant", _many())
    return made


def _pictures(address: str, jobs: dict[str, str]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    at = {name: f"{address}/jobs/{job}" for name, job in jobs.items()}
    yield "loading", at["loading"], {"wait": 300}
    yield "home-empty", address, {}
    yield "home", address, {"visitor": True}
    yield "ratings", at["games"], {}
    yield "player", f"{at['games']}/players/2", {"whole": True}
    yield "player-dark", f"{at['games']}/players/2", {"dark": True}
    yield "game", f"{at['games']}/games/3#41", {"whole": True}
    yield "game-dark", f"{at['games']}/games/3#41", {"dark": True, "whole": True}
    yield "game-phone", f"{at['games']}/games/3#41", {"phone": True, "whole": True}
    yield "player-phone", f"{at['games']}/players/2", {"phone": True}
    yield "ratings-phone", at["event"], {"phone": True}
    yield "ratings-dark", at["event"], {"dark": True}
    yield "event", f"{at['event']}/event", {"whole": True}
    yield "event-print", f"{at['event']}/event", {"printed": True}
    yield "player-print", f"{at['games']}/players/2", {"printed": True}
    yield "event-phone", f"{at['event']}/event", {"phone": True}
    yield "game-print", f"{at['games']}/games/3", {"printed": True}
    yield "compare", f"{at['event']}/compare", {"whole": True}
    yield "compare-dark", f"{at['event']}/compare", {"dark": True}
    yield "home-phone", address, {"phone": True}
    yield "one-player", at["one"], {}
    yield "one-compare", f"{at['one']}/compare", {}
    yield "long-names", at["long"], {}
    yield "long-names-game", f"{at['long']}/games/1", {}
    yield "long-names-phone", f"{at['long']}/players/1", {"phone": True}
    yield "many-players", at["many"], {"whole": True}
    yield "many-players-phone", at["many"], {"phone": True}
    yield "many-players-event", f"{at['many']}/event", {}
    yield "cancelled", at["cancelled"], {}
    yield "failed", at["failed"], {}
    yield "lost", f"{address}/jobs/nowhere", {}
    yield "results", at["results"], {}
    yield "member", f"{at['results']}/members/1", {"whole": True}
    yield "decisions", at["decisions"], {}
    yield "upload-results", f"{address}/results", {}
    yield "upload-decisions", f"{address}/decisions", {}
    yield "follow", f"{address}/live", {}
    yield "live", at["live"], {}
    yield "login", f"{address}/login", {}


def _shoot(
    browser: Any,
    file: Path,
    address: str,
    *,
    whole: bool = False,
    dark: bool = False,
    phone: bool = False,
    printed: bool = False,
    visitor: bool = False,
    wait: int = 900,
) -> None:
    page = browser.new_page(viewport=PHONE if phone else WIDE, color_scheme="dark" if dark else "light")
    if visitor:
        _upload(page, address)
    page.goto(address)
    page.wait_for_timeout(wait)
    if printed:
        page.emulate_media(media="print")
        page.set_viewport_size({"width": 720, "height": 1000})
    page.screenshot(path=file, full_page=whole or printed)
    page.close()
    Image.open(file).convert("RGB").quantize(224).save(file, optimize=True)  # a third of the size, and none sees it
    print(file)


def _upload(page: Any, address: str) -> None:
    """Let the page's visitor have work here."""
    for name, text in (("spring.pgn", _long()), ("no chess.pgn", "this is no game"), ("summer.pgn", _long())):
        page.goto(address)
        page.set_input_files("#files", {"name": name, "mimeType": "text/plain", "buffer": text.encode()})
        page.select_option("#effort", "instant")
        page.click("button.go")
        page.wait_for_selector(".state.done, [role=alert]")


def _add(address: str, path: str, text: str) -> str:
    request = urllib.request.Request(address + path, text.encode(), {"X-Skilloscope": "1"})
    with urllib.request.urlopen(request) as reply:
        return str(json.load(reply)["id"])


def _state(address: str, job: str) -> str:
    with urllib.request.urlopen(f"{address}/api/jobs/{job}") as reply:
        return str(json.load(reply)["state"])


@contextmanager
def _feed(text: str) -> Iterator[str]:
    games = [f"[Event {part}" for part in text.split("[Event ")[1:5]]

    class Sends(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write("\n".join(games).encode())

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Sends)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/round.pgn"
    server.shutdown()


PEOPLE = {"Anja": 1500, "Bo": 1300, "Carmen": 1700, "Dmitri": 1900, "Esi": 1400, "Farid": 1600}


def _export() -> str:
    """Return games of one person against others, as a server exports them."""
    others = [name for name in PEOPLE if name != "Anja"]
    return _played([("Anja", others[at % 5]) if at % 2 else (others[at % 5], "Anja") for at in range(10)], seed=7)


def _event() -> str:
    return _played(list(itertools.combinations(PEOPLE, 2)), seed=8)


def _played(pairs: list[tuple[str, str]], seed: int) -> str:
    """Return games as the human model plays them, up to forty moves: all of them a move further at a time."""
    rng, boards = np.random.default_rng(seed), [chess.Board() for _ in pairs]
    while going := [at for at, one in enumerate(boards) if not one.is_game_over() and one.fullmove_number <= 40]:
        choices = human().choices(Boards.from_boards([boards[at] for at in going]))
        levels = np.array([PEOPLE[pairs[at][0 if boards[at].turn else 1]] for at in going], dtype=float)
        share = np.exp(choices.own_log_probabilities(levels))
        for row, at in enumerate(going):
            inside = slice(choices.offsets[row], choices.offsets[row + 1])
            boards[at].push(move_of_code(int(rng.choice(choices.moves[inside], p=share[inside] / share[inside].sum()))))
    return "".join(_written(*pair, boards[at], f"2026.05.{at + 1:02d}") for at, pair in enumerate(pairs))


def _written(white: str, black: str, board: chess.Board, date: str) -> str:
    """Return a game as PGN; one without a mate goes to who has more pieces."""
    tags = f'[Event "Spring in the club"]\n[Date "{date}"]\n[White "{white}"]\n[Black "{black}"]\n'
    elo = f'[WhiteElo "{PEOPLE[white]}"]\n[BlackElo "{PEOPLE[black]}"]\n'
    result = board.result() if board.is_game_over() else _by_pieces(board)
    moves = chess.Board().variation_san(board.move_stack)
    return f'{tags}{elo}[Result "{result}"]\n\n{moves} {result}\n\n'


def _by_pieces(board: chess.Board) -> str:
    worth = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9, chess.KING: 0}
    lead = sum(worth[piece.piece_type] * (1 if piece.color else -1) for piece in board.piece_map().values())
    return "1-0" if lead > 2 else "0-1" if lead < -2 else "1/2-1/2"


_MOVES = (
    "1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. c3 Nf6 5. d3 d6 6. O-O O-O 7. Re1 a6 8. Bb3 Ba7 9. h3 h6 10. Nbd2 Re8 11. Nf1 d5"
)


def _game(white: str, black: str, result: str) -> str:
    return f'[Event "Club evening"]\n[White "{white}"]\n[Black "{black}"]\n[Result "{result}"]\n\n{_MOVES} {result}\n\n'


def _long() -> str:
    return _game(LONG, "Ng, A", "1-0") + _game("Ng, A", LONG, "1/2-1/2")


def _many() -> str:
    """Return games of two hundred people, each of whom plays once."""
    return "".join(_game(f"Member {at + 1:03d}", f"Member {at + 101:03d}", RESULTS[at % 3]) for at in range(100))


def _results() -> str:
    rows = ["date,player_1,player_2,score"]
    names = [f"Member {letter}" for letter in "ABCDEFGHIJKL"]
    for at in range(400):
        one, two = at % 12, (at * 5 + 1 + at // 12) % 12
        if one != two:
            score = 1 if (at * 7919) % 12 > two - one + 5 else 0 if at % 4 else 0.5
            rows.append(
                f"{2022 + at // 144}-{1 + at // 12 % 12:02d}-{1 + at % 28:02d},{names[one]},{names[two]},{score}"
            )
    return "\n".join(rows)


def _decisions() -> str:
    rows = []
    for at in range(300):
        who, values = ("Ann", "Bob", "Cleo")[at % 3], [3.0, 3 - at % 5 / 5, 2 - at % 7 / 7, 1.0]
        rows.append(
            json.dumps({"decider": who, "utilities": values, "chosen": (at * 31) % 4 if at % (3 + at % 3) == 0 else 0})
        )
    return "\n".join(rows)


if __name__ == "__main__":
    main()
