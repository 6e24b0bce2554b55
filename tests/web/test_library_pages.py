"""The library in the web: a second upload lands on the same player, games come by name, and all can be taken away."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from online_sites import Site, online_sites
from skilloscope.web.app import create_app
from skilloscope.web.jobs import Job, Jobs
from skilloscope.web.library.players import Libraries
from skilloscope.web.safety import Safety
from web.conftest import HOSTILE, ITALIAN, SLAV, do, pgn

HEADERS = {"X-Skilloscope": "1"}


class Server:
    """An application with its jobs, whose work is done when a test says so."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.jobs = folder, Jobs(folder / "web" / "jobs.sqlite")
        self.app = create_app(self.jobs, Safety(b"secret of the tests"))
        self.client = self.browser()

    def browser(self) -> TestClient:
        client = TestClient(self.app, base_url="http://localhost", raise_server_exceptions=False)
        client.get("/")
        return client

    def post(self, path: str, client: TestClient | None = None, **form: str) -> Any:
        client = client or self.client
        token = re.search(r'name="csrf" value="(\w+)"', client.get("/").text)
        assert token is not None
        return client.post(path, data={"csrf": token[1], **form}, follow_redirects=False)

    def done(self, name: str) -> Job:
        job = self.jobs[name]
        while job.state == "waiting":
            job = do(self.jobs, job, self.folder)
        return job

    def upload(self, text: str, keep: str = "true", effort: str = "instant") -> Job:
        reply = self.client.post(f"/api/jobs?effort={effort}&keep={keep}&name=may.pgn", content=text, headers=HEADERS)
        return self.done(reply.json()["id"])

    def players(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.client.get("/api/library").json()["players"]
        return found


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return Server(tmp_path)


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("SKILLOSCOPE_PRIVATE_FEEDS", "1")
    with online_sites(monkeypatch) as found:
        yield found


def games(first: int, last: int, name: str = "Ann") -> str:
    both = ((name, "Ben @", ITALIAN), ("Cid @", name, SLAV))
    rows = ((at, *both[at % 2]) for at in range(first, last))
    return "".join(
        pgn(
            white.replace("@", str(at)), black.replace("@", str(at)), moves, Date=f"2024.{1 + at // 4:02d}.{1 + at:02d}"
        )
        for at, white, black, moves in rows
    )


def test_a_second_upload_lands_on_the_same_player_and_says_what_changed(server):
    job = server.upload(games(0, 8))
    assert job.state == "done", job
    view = server.client.get("/api/library/players/1").json()
    assert (view["player"], view["me"], view["kept"]) == ("Ann", True, 8)
    assert view["study"]["pools"][0]["since"] is None
    assert "Nothing to compare yet" in server.client.get("/library/players/1").text
    again = server.upload(games(4, 12))
    said = server.client.get(f"/api/jobs/{again.id}/ratings").json()["library"]
    assert (said["new"], said["again"]) == (4, 4)
    view = server.client.get("/api/library/players/1").json()
    since = view["study"]["pools"][0]["since"]
    assert (view["kept"], since["first"]["games"], since["second"]["games"]) == (12, 8, 4)
    assert since["low"] < since["difference"] < since["high"]
    assert [one["games"] for one in view["snapshots"]] == [8, 12]
    page = server.client.get("/library/players/1").text
    assert "4 new games" in page
    assert len(server.players()) == 1
    assert server.players()[0]["change"] is not None
    third = server.upload(games(0, 12))  # nothing new: what was said still holds
    assert server.client.get(f"/api/jobs/{third.id}/ratings").json()["library"]["new"] == 0
    assert server.client.get("/api/library/players/1").json()["study"]["pools"][0]["since"] == since


def test_the_player_has_the_elo_of_a_job_with_the_same_games(server):
    job = server.upload(games(0, 6))
    rating = server.client.get(f"/api/jobs/{job.id}/ratings?search=Ann").json()["players"][0]
    own = server.client.get("/api/library/players/1").json()["study"]["pools"][0]["rating"]
    assert {name: own[name] for name in ("elo", "elo_low", "elo_high", "games")} == pytest.approx(
        {name: rating[name] for name in ("elo", "elo_low", "elo_high", "games")}
    )


def test_nothing_is_kept_unasked_and_nothing_is_anybody_elses(server):
    server.upload(games(0, 4), keep="false")
    assert server.players() == []
    server.upload(games(0, 4))
    other = server.browser()
    assert other.get("/api/library").json()["players"] == []
    assert other.get("/library/players/1").status_code == 404
    key = re.search(r"<code>([\w-]+)</code>", server.client.get("/library").text)
    assert key is not None
    assert server.post("/library/open", other, key="guess").status_code == 404
    assert server.post("/library/open", other, key=key[1]).status_code == 303
    assert len(other.get("/api/library").json()["players"]) == 1


def test_export_and_delete_are_one_click_each(server):
    server.upload(games(0, 4))
    with zipfile.ZipFile(io.BytesIO(server.client.get("/library/export.zip").content)) as archive:
        assert archive.read("games.pgn").count(b"[Event") == 0
        assert archive.read("games.pgn").count(b"[White ") == 4
        assert b'"called": "Ann"' in archive.read("library.json")
    assert server.client.post("/library/forget").status_code == 403  # without the token of a form of ours
    assert server.post("/library/forget").status_code == 303
    assert server.players() == []
    assert b"Ann" not in (server.folder / "web" / "library.sqlite").read_bytes()


def test_names_of_one_person_are_put_together_on_the_page(server):
    server.upload(games(0, 4))
    server.upload(games(0, 4, "ann_online"))
    assert [one["player"] for one in server.players()] == ["Ann", "ann_online"]
    reply = server.post("/library/players/1/name", name="ann_online")
    job = server.done(reply.headers["location"].rpartition("/")[2])
    assert job.state == "done"
    assert [(one["player"], one["games"]) for one in server.players()] == [("Ann", 8)]
    assert server.client.get("/api/library/players/1").json()["study"]["pools"][0]["rating"]["games"] == 8
    server.done(server.post("/library/players/1/drop", name="ann_online").headers["location"].rpartition("/")[2])
    assert server.players()[0]["games"] == 4
    assert server.post("/library/players/1/dance").status_code == 422
    assert server.post("/library/players/1/remove").headers["location"] == "/library"
    assert server.players() == []


def test_any_player_of_a_job_can_be_followed(server):
    job = server.upload(pgn("Ann", "Ben") + pgn("Ben", "Cid", SLAV), keep="false")
    reply = server.post("/library/keep", job=job.id, name="Cid")
    server.done(reply.headers["location"].rpartition("/")[2])
    assert [(one["player"], one["games"]) for one in server.players()] == [("Cid", 1)]


def test_names_may_hold_anything(server):
    server.upload(games(0, 4, HOSTILE[0]))
    server.upload(games(0, 4, HOSTILE[1]))
    for path in ("/library", "/library/players/1", "/library/players/2"):
        page = server.client.get(path)
        assert page.status_code == 200
        assert not any(name in page.text for name in ("<img src=x", "<script>alert", "\x1b", "\u202e"))


@pytest.mark.parametrize("account", ["lichess:Ann", "chesscom:Ann"])
def test_games_come_by_name_and_the_next_time_the_new_ones(server, site, account):
    name = account.partition(":")[0]
    for games_there, kept in ((12, 12), (15, 15)):
        site.games = games_there
        reply = server.post("/library/import", site=name, name="Ann", most="30", effort="instant")
        job = server.done(reply.headers["location"].rpartition("/")[2])
        assert job.state == "done", job
        assert [(one["player"], one["games"]) for one in server.players()] == [("Ann", kept)]
    assert server.client.get("/api/library/players/1").json()["study"]["last"]["games"] == 3
    reply = server.client.post(f"/api/library/import?account={account}&most=30&effort=instant", headers=HEADERS)
    job = server.done(reply.json()["id"])
    assert (job.state, "no rated games of Ann after 2024.01.15" in job.error) == ("failed", True)
    assert server.client.get(f"/jobs/{job.id}").status_code == 200


def test_an_import_that_is_begun_again_goes_on_from_what_was_kept(server, site):
    options = {"effort": "instant", "keep": True, "account": "lichess:Ann", "most": 30, "since": ""}
    visitor = "a visitor of the tests"
    Libraries(server.folder / "web" / "library.sqlite").opened(visitor)
    from skilloscope.web.library.accounts import Fetching
    from skilloscope.web.safe_fetch import checked_opener

    job = server.jobs.add("games", "lichess:Ann", [], owner=visitor, lane="live", options=options)
    first = Fetching("lichess:Ann", checked_opener(private=True), 30)
    kept = "".join(one for one, _ in zip(first.games(), range(10), strict=False))
    server.jobs.replace_inputs(job.id, [("lichess-Ann.pgn", kept.encode())])
    assert server.done(job.id).state == "done"
    assert "until=" in site.asked[-1]
    assert server.jobs.inputs(job.id)[0][1].count(b"[Event ") == 30


def test_an_account_that_is_none_is_refused_at_once(server, site):
    for form in ({"site": "elsewhere", "name": "Ann"}, {"site": "lichess", "name": "../x"}):
        assert server.post("/library/import", most="30", effort="quick", **form).status_code == 422
    assert server.post("/library/import", site="lichess", name="Ann", most="x", effort="quick").status_code == 422
    assert server.post("/library/import", site="lichess", name="Ann", most="30", effort="x").status_code == 422
    reply = server.post("/library/import", site="lichess", name="Nobody", most="30", effort="instant")
    job = server.done(reply.headers["location"].rpartition("/")[2])
    assert job.error == "Lichess has no player Nobody"
    assert site.asked[0].startswith("/api/games/user/Nobody")
