"""What the tests of the web application share: a few short games, jobs that are done, an application, a browser."""

from __future__ import annotations

import contextlib
import http.server
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from skilloscope.web.app import ServeOptions, create_app, serving
from skilloscope.web.jobs import Job, Jobs, JobTask
from skilloscope.web.safety import Safety
from skilloscope.web.uploads import add_upload
from skilloscope.web.workers import work_of_job

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "'\"><script>alert(2)</script>",
    "=HYPERLINK(1)",
    "\u202egro.live",
    "{{ 7 * 7 }}",
    "Kas\x1b[31mparov\x07",
)
ITALIAN = "1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. c3 Nf6 5. d3 d6 6. O-O O-O 7. Re1 a6 8. Bb3 Ba7 9. h3 h6 10. Nbd2 Re8"
ITALIAN += " 11. Nf1 Be6 12. Bc2 d5 13. exd5 Bxd5 14. Ng3 Qd7 15. Nh4 Rad8 16. Nhf5 Kh7 17. Qf3 Bxf3 18. gxf3 Qxd3"
SLAV = "1. d4 d5 2. c4 c6 3. Nf3 Nf6 4. Nc3 dxc4 5. a4 Bf5 6. e3 e6 7. Bxc4 Bb4 8. O-O Nbd7 9. Qe2 Bg6 10. e4 O-O"
SLAV += " 11. Bd3 Bh5 12. e5 Nd5 13. Nxd5 cxd5 14. Qe3 Re8 15. Ng5 Bg6 16. Bxg6 hxg6 17. Qh3 Qxg5 18. Bxg5 f6"


def pgn(white: str, black: str, moves: str = ITALIAN, result: str = "1-0", **tags: str) -> str:
    given = {"White": white, "Black": black, "Result": result, "Date": "2024.05.01", **tags}
    head = "".join('[{} "{}"]\n'.format(name, text.replace('"', '\\"')) for name, text in given.items())
    return f"{head}\n{moves} {result}\n\n"


def few_games() -> str:
    """Return four games of three players and two of hostile names."""
    people = pgn("Ann", "Ben") + pgn("Ben", "Ann", SLAV, "1/2-1/2") + pgn("Ann", "Cecil, Long Name", SLAV, "0-1")
    hostile = pgn(HOSTILE[0], HOSTILE[1], Event=HOSTILE[3]) + pgn(HOSTILE[2], HOSTILE[5], Event=HOSTILE[4])
    return people + pgn("Cecil, Long Name", "Ben", ITALIAN, "1-0") + hostile


START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
MEMBERS = ("Ann", "B", "C", "D")
ROWS = [
    f"2024-{1 + at % 12:02d}-{1 + at % 27:02d},{MEMBERS[at % 4]},{MEMBERS[(at + 1 + at % 2) % 4]},{(1, 0.5, 0)[at % 3]}"
    for at in range(60)
]
RESULTS = "\n".join(["date,player_1,player_2,score", *ROWS, f'2024-05-05,"{HOSTILE[0]}",B,1\n'])
DECISIONS = "".join(
    f'{{"decider": "{who}", "utilities": [3, 2.5, {at % 3}, 1], '
    f'"chosen": {(at * (1 + len(who))) % 4 if at % 2 else 0}}}\n'
    for at in range(40)
    for who in ("Ann", "Bob")
)
HOSTILE_DECISIONS = "".join(
    f'{{"decider": "{HOSTILE[0]}", "utilities": [2, 1], "chosen": {at % 2}}}\n' for at in range(9)
)


@dataclass
class Filled:
    """An application with jobs that are done, by kind."""

    app: Any
    jobs: Jobs
    safety: Safety
    done: dict[str, Job]

    def client(self, **more: Any) -> TestClient:
        return TestClient(self.app, base_url="http://localhost", raise_server_exceptions=False, **more)


def do(jobs: Jobs, job: Job, store: Path) -> Job:
    """Do a job's work here and now, in the lane where it waits."""
    taken = jobs.take(job.lane)
    assert taken is not None
    assert taken.id == job.id
    JobTask(taken, jobs, str(store)).run(work_of_job(taken))
    return jobs[job.id]


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Filled:
    store = tmp_path_factory.mktemp("web")
    jobs = Jobs(store / "jobs.sqlite")
    done = {}
    texts = {"games": few_games(), "results": RESULTS, "decisions": DECISIONS + HOSTILE_DECISIONS}
    for kind, text in texts.items():
        options = {"effort": "instant"} if kind == "games" else {}
        job = add_upload(jobs, kind, [(f"{kind} of <b>May</b>", text.encode())], owner="me", options=options)
        done[kind] = do(jobs, job, store)
        assert done[kind].state == "done", done[kind]
    done["live"] = jobs.add("live", HOSTILE[0], [], owner="me", lane="live")
    sides = [
        {"axis_elo": None, "header_elo": 2683, "clock": 3725.0},
        {"axis_elo": None, "header_elo": None, "clock": None},
    ]
    board = {"event": HOSTILE[1], "round": HOSTILE[5], "white": HOSTILE[0], "black": HOSTILE[3], "players": sides}
    board |= {
        "moves": 1,
        "last": "e4",
        "last_uci": "e2e4",
        "number": 1,
        "fen": START,
        "white_value_cp": None,
        "result": HOSTILE[1],
        "in_feed": True,
    }
    line = {"fens": [START, START], "san": ["e4"], "first_ply": 0, "values": [0.2, None]}
    jobs.put(done["live"].id, {"live": {"boards": [board], "problem": HOSTILE[1], "engine": True}, "board/1": line})
    jobs.end(done["live"].id, "done")
    broken = do(jobs, add_upload(jobs, "games", [("no.pgn", b"nothing of chess")], owner="me"), store)
    assert broken.state == "failed"
    safety = Safety(b"secret of the tests")
    return Filled(create_app(jobs, safety), jobs, safety, {**done, "broken": broken})


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running server with its workers, on which private feeds may be followed."""
    with serving(ServeOptions(tmp_path_factory.mktemp("served"), port=0, private=True)) as server:
        yield server.address


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A tab of a new visitor; whatever the console says against the page fails the test."""
    context = browser.new_context(viewport={"width": 1100, "height": 850}, reduced_motion="reduce")
    context.set_default_timeout(300_000)
    tab, said = context.new_page(), []
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    tab.on("dialog", lambda dialog: dialog.accept())
    yield tab
    context.close()
    assert [text for text in said if "status of 4" not in text] == []


def upload(page: Any, address: str, text: str, *, path: str = "/", effort: str = "instant") -> None:
    page.goto(address + path)
    body = {"name": "may.pgn" if path == "/" else "may.csv", "mimeType": "text/plain", "buffer": text.encode()}
    page.set_input_files("#files", body)
    if path == "/":
        page.select_option("#effort", effort)
    page.click("button.go")


@pytest.fixture(scope="module")
def job(served: str, browser: Any) -> str:
    """The address of a job of games that is done."""
    tab = browser.new_page()
    upload(tab, served, few_games())
    tab.wait_for_selector(".state.done", timeout=300_000)
    address = tab.url
    tab.close()
    return address


class Feed(http.server.BaseHTTPRequestHandler):
    """A game that grows."""

    moves = ITALIAN[:60]
    names = ("Ann", "Ben")

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(pgn(*type(self).names, type(self).moves, "*").encode())

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def feeding(*names: str) -> Iterator[tuple[str, type[Feed]]]:
    """Give the address of a game that is being played, and the feed, whose moves may be changed."""
    feed = type("OwnFeed", (Feed,), {"names": names} if names else {})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), feed)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/games.pgn", feed
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def start_server(
    store: Path, *more: str, port: int = 0, before: tuple[str, ...] = ()
) -> tuple[subprocess.Popen[str], str]:
    """Start `skilloscope serve` in a process of its own, by the command `before`; return it, and its address."""
    code = "from skilloscope.cli.app import main; main()"
    command = [
        *before,
        sys.executable,
        "-c",
        code,
        "serve",
        "--store",
        str(store),
        "--port",
        str(port),
        "--json",
        *more,
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    assert process.stdout is not None
    lines = [process.stdout.readline()]
    while not lines[-1].startswith("}"):
        lines.append(process.stdout.readline())
        assert lines[-1], "the server has ended"
    return process, json.loads("".join(lines))["address"]


def kill(process: subprocess.Popen[str], sign: signal.Signals) -> None:
    """Send a process a signal, and wait for its end."""
    process.send_signal(sign)
    process.communicate()


def wait_for(happened: Any, seconds: float = 300.0) -> Any:
    """Wait until something is true, and return it."""
    end = time.monotonic() + seconds
    while not (found := happened()):
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.05)
    return found
