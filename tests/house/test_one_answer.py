"""One question has one answer: the command line, Python, the report and the web application give the same numbers.

docs/architecture.md ("One question, one function") says which function answers each question. Games are 18 of the demo
with dates and ratings, and the analyses that come with them; a stand-in engine never has to search.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

import skilloscope as sk
from answers_inputs import make_inputs
from skilloscope.cli.app import app
from skilloscope.core.errors import InputError
from skilloscope.web.app import create_app
from skilloscope.web.jobs import Jobs
from skilloscope.web.safety import Safety
from skilloscope.web.uploads import add_upload
from skilloscope.web.workers import JobTask, work_of_job

SOURCE = Path(sk.__file__).resolve().parents[1]
WHO, OTHER, DAY = "C20", "C06", "2020-01-01"
GAMES = "career.pgn"
KNOWN: Any = {"imports": ["analyses.jsonl.gz"]}
PARTS = ("phase", "colour", "year")
Row = Mapping[str, Any]


@dataclass
class Asked:
    """One set of games and one table of results, asked about in every way."""

    folder: Path
    client: TestClient
    games: str
    results: str
    said: dict[tuple[str, ...], Any] = field(default_factory=dict)

    def command(self, *words: str) -> Any:
        """Return what a command sends as JSON; each is run once."""
        if words in self.said:
            return self.said[words]
        done = CliRunner().invoke(app, [*words, "--json"], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return self.said.setdefault(words, json.loads(done.stdout))

    def web(self, path: str, job: str | None = None) -> Any:
        """Return the JSON of a page of the job of games, or of another job."""
        reply = self.client.get(f"/api/jobs/{job or self.games}/{path}")
        assert reply.status_code == 200, reply.text
        return reply.json()

    def web_player(self, name: str) -> Any:
        """Return the page of a player."""
        numbers = {row["player"]: row["number"] for row in self.web("ratings")["players"]}
        return self.web(f"players/{numbers[name]}")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    folder = tmp_path_factory.mktemp("asked")
    with pytest.MonkeyPatch.context() as patch:
        settle(patch, folder)
        make_inputs(SOURCE, folder / "engine")
        store = ["--store", str(folder / "store")]
        loaded = CliRunner().invoke(app, ["cache", "import", "analyses.jsonl.gz", *store], catch_exceptions=False)
        assert loaded.exit_code == 0, loaded.output
        jobs = Jobs(folder / "jobs.sqlite")
        games = web_job(jobs, "games", folder / GAMES, folder / "store", effort="full")
        results = web_job(jobs, "results", folder / "results.csv", folder / "store")
    return Asked(folder, TestClient(create_app(jobs, Safety(b"secret")), base_url="http://localhost"), games, results)


@pytest.fixture
def asked(place: Asked, monkeypatch: pytest.MonkeyPatch) -> Asked:
    settle(monkeypatch, place.folder)
    return place


def settle(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """Work in a folder, with its store and its engine."""
    patch.chdir(folder)
    patch.setenv("SKILLOSCOPE_STORE", str(folder / "store"))
    patch.setenv("STOCKFISH_EXECUTABLE", str(folder / "engine"))


def web_job(jobs: Jobs, kind: str, file: Path, store: Path, **options: str) -> str:
    """Upload a file and do the work here and now, in every lane that it passes through."""
    job = add_upload(jobs, kind, [(file.name, file.read_bytes())], owner="me", options=options)
    while jobs[job.id].state == "waiting":
        taken = jobs.take(jobs[job.id].lane)
        assert taken is not None
        JobTask(taken, jobs, str(store)).run(work_of_job(taken))
    assert jobs[job.id].state == "done", jobs[job.id]
    return job.id


def elos(rows: Iterable[Row], name: str) -> dict[str, tuple[float, float, float]]:
    """Return Elo and interval of each row by the name in one of its fields."""
    return {str(row[name]): (row["elo"], row["elo_low"], row["elo_high"]) for row in rows}


def same(found: Mapping[str, Sequence[float]], answer: Mapping[str, Sequence[float]]) -> None:
    """Check that all numbers are equal to the digit."""
    assert {*found} == {*answer}
    for name, numbers in answer.items():
        assert list(found[name]) == pytest.approx(list(numbers), rel=1e-9), name


def moves_of(rows: Sequence[Row]) -> list[tuple[str, int, float]]:
    """Return which moves are meant, and what they lost, in their order."""
    return [(row["player"], row["ply"], pytest.approx(row["cost"], rel=1e-9)) for row in rows]


@pytest.mark.parametrize("by", PARTS)
def test_a_part_of_a_player(asked: Asked, by: str):
    """Parts are pooled towards the player's own level: `studies.breakdown`."""
    broken_down = asked.command("breakdown", GAMES, "--player", WHO, "--by", by)["players"][0]["groups"]
    answer = elos(broken_down, "group")
    assert len(answer) > 1
    rated = asked.command("rate", GAMES, "--player", WHO, "--by", by)["players"][0]["groups"]
    same(elos(rated, "group"), answer)
    in_report = asked.command("report", GAMES, "--player", WHO)["parts"][by]["players"][0]["groups"]
    same(elos(in_report, "group"), answer)
    same(elos(asked.web_player(WHO)["report"]["parts"][by]["players"][0]["groups"], "group"), answer)
    study = sk.breakdown(GAMES, by, WHO, **KNOWN)
    same(elos(study.as_dict()["players"][0]["groups"], "group"), answer)
    report = sk.report(GAMES, player=WHO, **KNOWN)
    same(elos(report.as_dict()["parts"][by]["players"][0]["groups"], "group"), answer)


def test_parts_that_are_independent_are_asked_for_by_name(asked: Asked):
    alone = asked.command("breakdown", GAMES, "--player", WHO, "--parts", "independent")["players"][0]["groups"]
    rated = asked.command("rate", GAMES, "--player", WHO, "--by", "phase", "--parts", "independent")["players"]
    same(elos(rated, "player"), elos(alone, "group"))
    study = sk.rate(GAMES, player=WHO, by="phase", parts="independent", **KNOWN)
    same(elos(study.as_dict()["players"], "player"), elos(alone, "group"))
    assert "each part rated independently" in study.tables()[0].title
    with pytest.raises(InputError, match="pooled"):
        sk.rate(GAMES, player=WHO, by="phase", **KNOWN)
    pooled = asked.command("breakdown", GAMES, "--player", WHO)["players"][0]["groups"]
    for part, (elo, *_) in elos(pooled, "group").items():
        assert abs(elo - elos(alone, "group")[part][0]) > 5


def test_the_best_played_game(asked: Asked):
    best = asked.command("report", GAMES)["best_played"]
    assert best
    assert asked.web("event")["best_played"] == best
    assert sk.report(GAMES, **KNOWN).as_dict()["best_played"] == best


def test_the_moves_that_cost_most(asked: Asked):
    """Winning chances lost, times the share of people of that level who avoid the move: `inputs.costs`."""
    event, player = asked.command("report", GAMES), asked.command("report", GAMES, "--player", WHO)
    turning, costliest = moves_of(event["turning"]), moves_of(player["costliest"])
    assert len(turning) > 5
    assert len(costliest) > 5
    assert moves_of(asked.web("event")["turning"]) == turning
    assert moves_of(sk.report(GAMES, **KNOWN).as_dict()["turning"]) == turning
    assert moves_of(asked.web_player(WHO)["report"]["costliest"]) == costliest
    assert moves_of(sk.report(GAMES, player=WHO, **KNOWN).as_dict()["costliest"]) == costliest
    own = [move for move in event["turning"] if move["player"] == WHO]
    assert moves_of(own) == costliest[: len(own)]


def test_the_table_of_an_event(asked: Asked):
    reported, page, in_python = asked.command("report", GAMES), asked.web("event"), sk.report(GAMES, **KNOWN).as_dict()
    for other in (page, in_python):
        assert other["table"] == reported["table"]
        for game, own in zip(other["games"], reported["games"], strict=True):
            for side in ("white", "black"):
                same(elos([game[side]], "player"), elos([own[side]], "player"))


def test_the_elo_in_one_game(asked: Asked):
    games = {game["game"]: game for game in asked.command("report", GAMES)["games"]}
    shown = asked.command("by-game", GAMES, "--player", WHO)["games"]
    assert len(shown) == sum(WHO in (game["white"]["player"], game["black"]["player"]) for game in games.values())
    in_python = sk.by_game(GAMES, WHO, **KNOWN).as_dict()["games"]
    for row, twin in zip(shown, in_python, strict=True):
        own = next(side for side in (games[row["game"]][name] for name in ("white", "black")) if side["player"] == WHO)
        for found in (row["own"], twin["own"]):
            same(elos([{**found, "player": WHO}], "player"), elos([own], "player"))


def test_the_elo_of_a_player(asked: Asked):
    ratings = elos(asked.command("rate", GAMES)["players"], "player")
    for rows in (
        asked.command("report", GAMES)["ratings"]["players"],
        asked.web("ratings")["players"],
        asked.web("event")["players"].values(),
        sk.rate(GAMES, **KNOWN).as_dict()["players"],
        sk.report(GAMES, **KNOWN).as_dict()["ratings"]["players"],
    ):
        same(elos(rows, "player"), ratings)
    for page in (
        asked.command("report", GAMES, "--player", WHO)["ratings"]["players"],
        [asked.web_player(WHO)["rating"]],
    ):
        same(elos(page, "player"), {WHO: ratings[WHO]})


def test_the_leaderboard_of_results(asked: Asked):
    shown = asked.command("results", "rate", "results.csv")
    answer = [(row["player"], row["rating"], row["rd"]) for row in shown["players"]]
    for other in (asked.web("results", asked.results), sk.results("results.csv").as_dict()):
        for (name, *numbers), row in zip(answer, other["players"], strict=True):
            assert row["player"] == name
            assert [row["rating"], row["rd"]] == pytest.approx(numbers, rel=1e-9)
        assert other["period"] == shown["period"]
        for name in ("sigma0", "nu", "advantage", "drift"):
            assert other[name] == pytest.approx(shown[name], rel=1e-9)


def test_a_profile(asked: Asked):
    answer = elos(asked.command("profile", GAMES, "--player", WHO)["players"][0]["periods"], "period")
    assert [*answer] == ["2019", "2020"]
    study = sk.profile(GAMES, WHO, **KNOWN)
    same(elos(study.as_dict()["players"][0]["periods"], "period"), answer)


def test_before_and_after(asked: Asked):
    (answer,) = asked.command("compare", GAMES, "--player", WHO, "--split-on", DAY)["comparisons"]
    (found,) = sk.compare(GAMES, players=WHO, split_on=DAY, **KNOWN).as_dict()["comparisons"]
    for name in ("difference", "low", "high", "second_stronger"):
        assert found[name] == pytest.approx(answer[name], rel=1e-9)


def test_two_players(asked: Asked):
    (answer,) = asked.command("compare", GAMES, "--player", OTHER, "--player", WHO)["comparisons"]
    (found,) = sk.compare(GAMES, players=[OTHER, WHO], **KNOWN).as_dict()["comparisons"]
    numbers = {row["player"]: row["number"] for row in asked.web("ratings")["players"]}
    page = asked.web(f"compare?first={numbers[OTHER]}&second={numbers[WHO]}")["difference"]
    for name in ("difference", "low", "high", "second_stronger"):
        assert found[name] == pytest.approx(answer[name], rel=1e-9)
        assert page[name] == pytest.approx(answer[name], rel=1e-9)


def test_the_pages_show_the_elo_from_the_moves_alone_where_results_count(asked: Asked):
    row = next(row for row in asked.web("ratings")["players"] if row["results"])
    alone = f"{row['methods']['moves']['elo']:.0f}"
    page = asked.client.get(f"/jobs/{asked.games}").text
    assert "Moves alone" in page
    assert f">{alone}<" in page
    person = asked.client.get(f"/jobs/{asked.games}/players/{row['number']}").text
    assert f"from the moves alone {alone}" in person
