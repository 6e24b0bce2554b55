"""Pages and their JSON from jobs that are done; a search sharpens the numbers; a killed server goes on."""

from __future__ import annotations

import html
import io
import json
import re
import signal
import time
import urllib.request
import zipfile
from typing import Any

import chess
import numpy as np
import pytest
from starlette.testclient import TestClient

from skilloscope.chess.human.model import human
from skilloscope.chess.human.played import played_moves
from skilloscope.chess.pgn.games import read_games
from skilloscope.core.paths import store_file
from skilloscope.evidence.axis import elo_axis
from skilloscope.inputs.bundled import demo_file
from skilloscope.inputs.load import EngineBudget, EngineJob
from skilloscope.inputs.pipeline import analysed_games, effort_settings
from skilloscope.inputs.request import RatingRequest
from skilloscope.studies.game import game as one_game
from skilloscope.studies.moves import moves_study
from skilloscope.studies.report import report_on
from skilloscope.studies.screen.screen import screen
from skilloscope.web.api import game_view, player_view, ratings_view
from skilloscope.web.app import ServeOptions, create_app, serving
from skilloscope.web.jobs import Jobs
from skilloscope.web.pages import rendered
from skilloscope.web.safety import Safety
from skilloscope.web.uploads import add_upload
from web.conftest import DECISIONS, ITALIAN, SLAV, Filled, do, feeding, few_games, kill, pgn, start_server, wait_for

PARTS = {
    "games": ["", "/event", "/compare", "/players/1", "/players/5", "/games/1", "/games/5"],
    "results": ["", "/members/1"],
    "decisions": [""],
}


def test_every_page_is_there_and_links_to_the_same_as_json(filled: Filled):
    client = filled.client()
    paths = [f"/jobs/{filled.done[kind].id}{part}" for kind, parts in PARTS.items() for part in parts]
    for path in ["/", "/results", "/decisions", "/live", *paths]:
        reply = client.get(path)
        assert reply.status_code == 200, path
        twin = re.search(r'rel="alternate" type="application/json" href="([^"]+)"', reply.text)[1].replace("&amp;", "&")
        assert client.get(twin).status_code == 200, twin
        assert "This page as JSON" in reply.text


def test_the_ratings_are_those_of_the_command_line(filled: Filled, tmp_path):
    from skilloscope import rate

    job = filled.done["games"].id
    sent = filled.client().get(f"/api/jobs/{job}/ratings").json()
    ours = rate(read_games(io.StringIO(few_games())), effort="instant").as_dict()
    for row in ours["players"]:
        own = next(one for one in sent["players"] if one["player"] == row["player"])
        assert {name: own[name] for name in row} == json.loads(json.dumps(row))


def sent_and_reported(filled: Filled, path: str, player: str | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what the API sends and what `skilloscope report` does, as JSON has it, of the same games."""
    from skilloscope import report

    ours = report(read_games(io.StringIO(few_games())), player, effort="instant").as_dict()
    sent = filled.client().get(f"/api/jobs/{filled.done['games'].id}/{path}").json()
    return sent, json.loads(json.dumps(ours))


def without_files(found: Any) -> Any:
    """Return JSON without the ids of games, which hold the name of the file, and without what was skipped."""
    if isinstance(found, dict):
        return {name: without_files(one) for name, one in found.items() if name not in ("game", "skipped")}
    return [without_files(one) for one in found] if isinstance(found, list) else found


def test_a_player_is_the_one_of_the_report(filled: Filled):
    sent, ours = sent_and_reported(filled, "players/1", "Ann")
    assert list(sent["report"]["parts"]) == list(ours["parts"]) == ["phase", "colour", "opening"]
    for name in ("parts", "judge", "judged", "costliest", "finds", "beside"):
        assert without_files(sent["report"][name]) == without_files(ours[name]), name


EVALUATED = " ".join(
    f"{word} {{[%eval {0.2 + 0.01 * at:.2f}]}}" if "." not in word else word for at, word in enumerate(ITALIAN.split())
)


@pytest.mark.parametrize(
    "tags", [{"WhiteElo": "1700", "BlackElo": "1650"}, {"Event": "Rated Rapid game", "Site": "https://lichess.org/x",
             "TimeControl": "600+5", "WhiteElo": "1700", "BlackElo": "1650"}]
)  # fmt: skip
def test_one_game_has_one_elo_on_its_page_and_by_the_command(tmp_path, tags: dict[str, str]):
    jobs, text = Jobs(tmp_path / "jobs.sqlite"), pgn("Ann", "Ben", EVALUATED, **tags)
    job = do(
        jobs, add_upload(jobs, "games", [("one.pgn", text.encode())], owner="", options={"effort": "instant"}), tmp_path
    )
    page = game_view(jobs, job, 1)
    ours = one_game(read_games(io.StringIO(text))).as_dict()
    assert page["human"]["effort"] == ours["human"]["effort"] == "evaluations"
    for field in ("axis_elo", "axis_low", "axis_high"):
        assert [side[field] for side in page["players"]] == pytest.approx([side[field] for side in ours["players"]])


def test_an_event_is_the_one_of_the_report(filled: Filled):
    sent, ours = sent_and_reported(filled, "event")
    for name in ("games", "table", "best_games", "judge", "judged", "turning", "finds"):
        assert without_files(sent[name]) == without_files(ours[name]), name


def test_the_elo_in_a_game_is_the_same_on_its_page_and_in_the_event(filled: Filled):
    client, job = filled.client(), filled.done["games"].id
    for game in client.get(f"/api/jobs/{job}/games").json()["games"]:
        players = client.get(f"/api/jobs/{job}/games/{game['number']}").json()["players"]
        for side, player in zip((game["white"], game["black"]), players, strict=True):
            assert player["axis_elo"] == pytest.approx(side["elo"])
            assert player["axis_low"] == pytest.approx(side["elo_low"])


def test_a_page_that_is_not_there_yet_or_never_says_so(filled: Filled):
    client = filled.client()
    job, other = filled.done["games"].id, filled.done["results"].id
    for path in (f"/jobs/{job}/games/99", f"/jobs/{job}/players/99", f"/jobs/{other}/event", "/jobs/nowhere", "/no"):
        assert client.get(path).status_code == 404, path
        assert client.get(f"/api{path}").status_code == 404, path
    assert "alert" in client.get(f"/jobs/{filled.done['broken'].id}").text


def test_the_api_takes_a_text_and_says_what_is_wrong(filled: Filled):
    client, header = filled.client(), {"X-Skilloscope": "1"}
    assert client.post("/api/jobs", content=" ", headers=header).json()["error"] == "there is nothing in it"
    assert client.post("/api/jobs?effort=magic", content="x", headers=header).status_code == 422
    assert client.post("/api/jobs?kind=magic", content="x", headers=header).status_code == 422
    form = client.post("/api/jobs", files={"file": ("a.pgn", pgn("A", "B"))}, headers=header)
    assert form.json()["error"] == "the body is a form"
    made = client.post("/api/jobs?name=a.pgn&effort=instant", content=pgn("A", "B"), headers=header)
    assert made.status_code == 202
    name = made.json()["id"]
    assert [job["id"] for job in client.get("/api/jobs").json()["jobs"]] == [name]
    assert client.post(f"/api/jobs/{name}/cancel", headers=header).json()["state"] == "cancelled"
    assert client.post(f"/api/jobs/{name}/resume", headers=header).json()["state"] == "waiting"
    assert client.delete(f"/api/jobs/{name}", headers=header).json() == {"deleted": name}
    assert client.get("/api/moves", params={"fen": "no position"}).status_code == 422


def test_the_slider_asks_for_what_the_command_moves_sends(filled: Filled):
    fen = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3"
    sent = filled.client().get("/api/moves", params={"fen": fen, "elo": [1000, 2600]}).json()
    assert sent == json.loads(json.dumps(moves_study(fen, [1000, 2600]).as_dict()))


def test_each_position_at_an_elo_of_its_own_is_the_model_at_that_elo():
    moves = played_moves(read_games(io.StringIO(pgn("A", "B"))), model=human())
    levels = np.linspace(800, 2800, len(moves))
    own = moves.choices.own_log_probabilities(levels)
    for at in range(0, len(moves), 7):
        inside = slice(moves.choices.offsets[at], moves.choices.offsets[at + 1])
        np.testing.assert_allclose(own[inside], moves.choices.log_probabilities(levels[at])[inside, 0], atol=1e-9)


def test_a_game_holds_every_move_its_position_and_a_strength_with_its_interval(filled: Filled):
    game = filled.client().get(f"/api/jobs/{filled.done['games'].id}/games/1").json()
    assert [move["san"] for move in game["moves"][:3]] == ["e4", "e5", "Nf3"]
    board = chess.Board(game["start_fen"])
    for move in game["moves"]:
        assert board.push_san(move["san"]).uci() == move["uci"]
        assert board.fen() == move["fen"]
    last = game["moves"][-1]
    assert last["axis_low"] < last["axis_elo"] < last["axis_high"]
    assert [game["players"][1][name] for name in ("axis_elo", "axis_low")] == [last["axis_elo"], last["axis_low"]]
    assert {player["level_source"] for player in game["players"]} == {"ratings"}
    assert 0 < game["moves"][5]["probability"] <= game["moves"][5]["people_probability"] <= 1


def test_evaluations_in_the_comments_say_what_a_move_cost(tmp_path):
    from skilloscope.inputs.bundled import demo_file

    jobs = Jobs(tmp_path / "jobs.sqlite")
    body = demo_file("game_of_the_century.pgn").read_bytes()
    job = add_upload(jobs, "games", [("century.pgn", body)], owner="me", options={"effort": "instant"})
    assert do(jobs, job, tmp_path).state == "done"
    assert jobs.report(job.id, "ratings")["effort"]["name"] == "evaluations"
    white = jobs.report(job.id, "player/1")
    assert white["judge"] == "evaluations"
    assert white["costliest"][0]["played"] == "Bxb6"
    assert white["costliest"][0]["pawns_lost"] == pytest.approx(5.56, abs=0.01)


def test_the_engine_sharpens_the_numbers_and_what_was_found_before_stays(tmp_path, stockfish):
    jobs = Jobs(tmp_path / "jobs.sqlite")
    text = (pgn("Ann", "Ben") + pgn("Ben", "Ann")).encode()
    job = add_upload(jobs, "games", [("x.pgn", text)], owner="me", options={"effort": "quick"})
    between = do(jobs, job, tmp_path)
    assert (between.state, between.lane) == ("waiting", "engine")
    instant = jobs.report(job.id, "ratings")
    assert instant["effort"]["name"] == "instant"
    done = do(jobs, between, tmp_path)
    assert done.state == "done", done
    quick = jobs.report(job.id, "ratings")
    assert quick["effort"]["name"] == "quick"
    assert quick["positions"]["searched"] + quick["positions"]["cached"] > 10
    moved = {row["player"]: row["elo"] for row in quick["players"]}
    assert all(abs(moved[row["player"]] - row["elo"]) > 1 for row in instant["players"])
    game = jobs.report(job.id, "game/1")
    blunder = next(move for move in game["moves"] if move["san"] == "Qf3")
    assert blunder["judge"] == "engine"
    assert blunder["pawns_lost"] > 1
    assert blunder["better"] not in (None, "Qf3")
    assert blunder["white_value_cp"] is not None
    own = jobs.report(job.id, "player/1")
    assert own["judge"] == "engine"
    asked = RatingRequest.of(None, "joint", "quick")
    work = EngineJob(settings=effort_settings(asked.effort), store=store_file(tmp_path), workers=1)
    games, strict = read_games(io.StringIO(text.decode())), EngineBudget(strict=True)
    told = report_on(analysed_games(games, asked, work, players=["Ann"], limit=strict), ["Ann"]).as_dict()
    for name in ("costliest", "finds"):
        assert [move["played"] for move in own[name]] == [move["played"] for move in told[name]]
        assert all(move["checked"] for move in own[name])
    assert own["costliest"]
    assert own["costliest"][0]["found_by"] == pytest.approx(told["costliest"][0]["found_by"])
    assert blunder["mark"] == "??"
    assert blunder["line"].startswith("17. ")
    marked = [move for move in game["moves"] if move["mark"]]
    assert all(move["checked"] for move in marked)
    assert all(move["white_value_cp"] is not None for move in game["moves"][:24])  # the first moves have values too
    assert {name: part["players"] for name, part in own["parts"].items()} == {
        name: json.loads(json.dumps(part["players"])) for name, part in told["parts"].items()
    }


Shares = dict[tuple[str, int, str], set[float]]


def shares_of(document: object, found: Shares, came: dict[str, tuple[str, str]]) -> None:
    """Collect every probability of a move that a document has, by position, level and move; `came`: the move before."""
    if isinstance(document, list):
        for part in document:
            shares_of(part, found, came)
    if not isinstance(document, dict):
        return
    for part in document.values():
        shares_of(part, found, came)
    if "p_played" in document:  # a decision of a report
        place, level = document["fen"], round(document["level"], 3)
        found.setdefault((place, level, document["played"]), set()).add(document["p_played"])
        found.setdefault((place, level, document["people_play"]), set()).add(document["people_probability"])
        if document["better"]:
            found.setdefault((place, level, document["better"]), set()).add(document["p_better"])
        for elo, p in (document["found_by"] or {}).items() if document["better"] else ():
            found.setdefault((place, float(elo), document["better"]), set()).add(p)
        for elo, p in zip((1200.0, 1600.0, 2000.0, 2400.0), document["p_played_by_level"], strict=True):
            found.setdefault((place, elo, document["played"]), set()).add(p)
    if "start_fen" in document and "moves" in document and "players" in document:  # a page of a game
        place = document["start_fen"]
        levels = {player["side"]: round(player["level"], 3) for player in document["players"]}
        for move in document["moves"]:
            if move["people_play"]:
                at = levels[move["side"]]
                found.setdefault((place, at, move["san"]), set()).add(move["probability"])
                found.setdefault((place, at, move["people_play"]), set()).add(move["people_probability"])
                for elo, p in (move["found_by"] or {}).items() if move["better"] else ():
                    found.setdefault((place, float(elo), move["better"]), set()).add(p)
            came[move["fen"]] = place, move["uci"]
            place = move["fen"]


def test_no_two_pages_give_different_probabilities_for_the_same_move(tmp_path, stockfish):
    """Cards, games and the slider: the share that plays a move and that which finds the best are of one model."""
    jobs = Jobs(tmp_path / "jobs.sqlite")
    text = pgn("Ann", "Ben") + pgn("Ben", "Cecil", SLAV, "1/2-1/2")
    job = add_upload(jobs, "games", [("x.pgn", text.encode())], owner="me", options={"effort": "quick"})
    while jobs[job.id].state == "waiting":
        do(jobs, jobs[job.id], tmp_path)
    assert jobs[job.id].state == "done"
    client = TestClient(create_app(jobs, Safety(b"secret")), base_url="http://localhost")
    pages = ["ratings", "event", *(f"players/{n}" for n in (1, 2, 3)), *(f"games/{n}" for n in (1, 2))]
    found: Shares = {}
    came: dict[str, tuple[str, str]] = {}
    for page in pages:
        shares_of(client.get(f"/api/jobs/{job.id}/{page}").json(), found, came)
    assert sum(len(shares) for shares in found.values()) > 60
    for (fen, level, move), shares in found.items():
        before, last = came.get(fen, (fen, ""))
        answer = client.get("/api/moves", params={"fen": before, "move": last, "elo": level}).json()["moves"]
        (slider,) = next(one["probability"] for one in answer if one["san"] == move)
        assert max(shares) - min(shares) < 1e-6
        assert min(shares) == pytest.approx(slider, abs=5e-4), (fen, level, move)  # what pages show


def test_a_move_can_be_made_before_people_are_asked(filled: Filled):
    client, start = filled.client(), chess.STARTING_FEN
    after = client.get("/api/moves", params={"fen": start, "move": "e2e4", "elo": 1500}).json()
    board = chess.Board()
    board.push_san("e4")
    assert after["fen"] == board.fen()
    assert {move["san"] for move in after["moves"]} == {board.san(move) for move in board.legal_moves}
    assert client.get("/api/moves", params={"fen": start, "move": "e2e5"}).status_code == 422


def test_a_game_that_is_uploaded_twice_counts_once_and_moves_need_no_tags(tmp_path):
    jobs = Jobs(tmp_path / "jobs.sqlite")
    text = pgn("Ann", "Ben").encode()
    files = [("a.pgn", text), ("b.pgn", text + pgn("Ben", "Ann", SLAV).encode())]
    done = do(jobs, add_upload(jobs, "games", files, owner="me", options={"effort": "instant"}), tmp_path)
    assert len(jobs.report(done.id, "event")["games"]) == 2
    assert jobs.report(done.id, "ratings")["skipped"]["the same game again"] == 1
    parted = ITALIAN.replace(" 5.", "\r\n\r\n5.").replace(" 10.", "\n\n\n10.")
    pasted = add_upload(jobs, "games", [("", parted.encode())], owner="me", options={"effort": "instant"})
    done = do(jobs, pasted, tmp_path)
    assert done.state == "done"
    assert {row["player"] for row in jobs.report(done.id, "ratings")["players"]} == {"White", "Black"}
    assert len(jobs.report(done.id, "game/1")["moves"]) == len(re.findall(r"[a-hO]\S+", ITALIAN))


def test_of_too_many_games_the_newest_are_taken(tmp_path, monkeypatch):
    monkeypatch.setattr("skilloscope.web.rated_games.MOST_GAMES", 2)
    jobs = Jobs(tmp_path / "jobs.sqlite")
    text = pgn("Ann", "Ben", Date="2024.01.01") + pgn("Ben", "Ann", SLAV, Date="2022.01.01")
    text += pgn("Ann", "Cecil", SLAV, Date="2023.01.01")
    done = do(
        jobs, add_upload(jobs, "games", [("a.pgn", text.encode())], owner="me", options={"effort": "instant"}), tmp_path
    )
    assert done.state == "done"
    games = jobs.report(done.id, "event")["games"]
    assert sorted(game["date"] for game in games) == ["2023.01.01", "2024.01.01"]
    assert any("older than the newest" in reason for reason in jobs.report(done.id, "ratings")["skipped"])


def test_a_game_is_compared_with_the_players_other_games(filled: Filled):
    """Not all games of all players lie on one side of the Elo by the moves of all of them."""
    client, job = filled.client(), filled.done["games"].id
    sides = set()
    for number in range(1, 4):
        page = client.get(f"/api/jobs/{job}/players/{number}").json()
        elos = [game["elo"]["elo"] for game in page["games"] if game["elo"]]
        usual = page["rating"]["methods"].get("moves", page["rating"])["elo"]
        assert len(elos) > 1
        assert {game["elo"]["usual"] for game in page["games"]} == {usual}
        if number == 1:  # of others two games are equal and share a place
            assert sorted(game["elo"]["place"] for game in page["games"]) == list(range(1, len(elos) + 1))
        sides |= {elo > usual for elo in elos}
    assert sides == {False, True}
    shown = client.get(f"/jobs/{job}/games/1").text
    assert "the usual" in shown


def test_a_k_that_cannot_be_used_is_told_with_what_to_do(tmp_path):
    jobs = Jobs(tmp_path / "jobs.sqlite")
    for k, state in (("0.5", "done"), ("fit", "failed"), ("banana", "failed")):  # these decisions do not tell k
        job = add_upload(jobs, "decisions", [("x.jsonl", DECISIONS.encode())], owner="me", options={"k": k})
        done = do(jobs, job, tmp_path)
        assert done.state == state
        assert bool(done.hint) == (state == "failed")


def _ask(address: str, path: str, body: bytes | None = None) -> dict[str, object]:
    request = urllib.request.Request(address + path, body, {"X-Skilloscope": "1"})
    for _ in range(200):
        try:
            with urllib.request.urlopen(request, timeout=300) as reply:
                return dict(json.load(reply))
        except ConnectionError:  # it listens before it answers
            time.sleep(0.05)
    raise AssertionError("no answer")


def test_a_killed_server_goes_on_with_its_jobs_after_a_restart(tmp_path, living):
    process, address = start_server(tmp_path)
    texts = [pgn(f"A{at}", f"B{at}", ITALIAN[:90]).encode() for at in range(2)]
    names = [_ask(address, "/api/jobs?effort=instant", text)["id"] for text in texts]
    kill(process, signal.SIGKILL)
    wait_for(lambda: not living(str(tmp_path)))  # no worker outlives it
    process, address = start_server(tmp_path)
    try:
        for at, name in enumerate(names):
            wait_for(lambda name=name: _ask(address, f"/api/jobs/{name}")["state"] == "done")
            ratings = _ask(address, f"/api/jobs/{name}/ratings")
            assert {row["player"] for row in ratings["players"]} == {f"A{at}", f"B{at}"}
    finally:
        kill(process, signal.SIGTERM)
    wait_for(lambda: not living(str(tmp_path)))


def test_games_are_followed_again_when_a_killed_server_is_back(tmp_path, living):
    with feeding() as (feed_address, feed):
        process, address = start_server(tmp_path, "--private-feeds")
        name = _ask(address, f"/api/live?address={feed_address}", b"")["id"]
        wait_for(lambda: _ask(address, f"/api/jobs/{name}/live")["boards"])
        kill(process, signal.SIGKILL)
        wait_for(lambda: not living(str(tmp_path)))
        feed.moves = ITALIAN[:120]
        process, address = start_server(tmp_path, "--private-feeds")
        try:
            moves = len(feed.moves.replace(".", ". ").split()) * 2 // 3
            wait_for(lambda: _ask(address, f"/api/jobs/{name}/live")["boards"][0]["moves"] >= moves - 2)
            (board,) = _ask(address, f"/api/jobs/{name}/live")["boards"]
            for player in board["players"]:  # the Elo that `live` sends
                assert player["axis_low"] < player["axis_elo"] < player["axis_high"]
            with urllib.request.urlopen(f"{address}/jobs/{name}/events", timeout=60) as events:
                said = [events.readline().decode() for _ in range(2)]
            assert said[0] == "event: progress\n"
            assert "running" in said[1]
        finally:
            kill(process, signal.SIGTERM)


def test_serve_says_where_it_is_and_keeps_its_folder_to_itself(tmp_path):
    from typer.testing import CliRunner

    from skilloscope.cli.app import app

    line = ["serve", "--port", "0", "--seconds", "0", "--json", "--store", str(tmp_path)]
    said = CliRunner().invoke(app, line, catch_exceptions=False)
    assert said.exit_code == 0, said.stderr
    assert json.loads(said.stdout)["address"].startswith("http://127.0.0.1:")
    with serving(ServeOptions(tmp_path, port=0)):
        again = CliRunner().invoke(app, line)
        assert again.exit_code == 1
        assert "another server" in again.stderr
    (tmp_path / "word").write_text("short")
    assert "at least eight" in CliRunner().invoke(app, [*line, "--password-file", str(tmp_path / "word")]).stderr
    assert "no password" in CliRunner().invoke(app, [*line, "--host", "0.0.0.0"]).stderr


def test_an_export_of_a_server_is_answered_in_its_own_rating_first(tmp_path, stockfish):
    from typer.testing import CliRunner

    from skilloscope.cli.app import app

    speeds = [("Rapid", "600+0")] * 3 + [("Blitz", "180+2"), ("Blitz", "180+2")]
    known = re.sub(r"([KQRBNOa-h][^ ]+)", r"\1 { [%eval 0.31] [%clk 0:02:50] }", ITALIAN)
    site = "https://lichess.org/x"
    texts = [
        pgn("Stranger", f"Other {n}", known, Event=f"Rated {speed} game", Site=site, TimeControl=time)
        for n, (speed, time) in enumerate(speeds)
    ]
    texts.append(
        pgn("Stranger", "Friend", Event="Casual Rapid game", Site="https://lichess.org/x", TimeControl="600+0")
    )
    texts.append(pgn("Stranger", "Foe", Event="Rated Atomic game", Variant="Atomic", TimeControl="180+0"))
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as archive:
        archive.writestr("lichess_stranger.pgn", "".join(texts))
    jobs = Jobs(tmp_path / "jobs.sqlite")
    job = add_upload(jobs, "games", [("games.zip", body.getvalue())], owner="me", options={"effort": "quick"})
    do(jobs, job, tmp_path)
    ratings = jobs.report(job.id, "ratings")
    (tmp_path / "games.zip").write_bytes(body.getvalue())
    said = CliRunner().invoke(app, ["rate", str(tmp_path / "games.zip"), "--json"], catch_exceptions=False)
    assert said.exit_code == 0, said.stderr
    printed = json.loads(said.stdout)
    assert (ratings["scale"]["pool"], printed["scale"]["pool"]) == ("lichess-rapid", "lichess-rapid")
    named = [{one["player"]: one for one in found["players"]}["Stranger"] for found in (ratings, printed)]
    assert {**named[0], **named[1]} == named[0], "every digit, whoever is asked"
    assert named[0]["sources"]["evaluated"] > 0
    others = [[one["elo"] for one in found["others"][0]["players"]] for found in (ratings, printed)]
    assert others[0] == others[1]
    assert ratings["others"][0]["scale"]["pool"] == "lichess-blitz"
    assert ratings["skipped"]["unrated game or variant of a server"] == 1
    assert any("several pools" in line for line in ratings["warnings"])
    assert any("the engine reviews" in line for line in ratings["warnings"])
    assert do(jobs, jobs[job.id], tmp_path).state == "done"  # the engine's part, which leaves the ratings as they are
    assert jobs.report(job.id, "ratings") == ratings
    assert jobs.report(job.id, "game/1")["moves"]
    shown = rendered("_ratings.html", job=jobs[job.id], view=ratings_view(jobs, jobs[job.id]))
    first = re.search(r'<p class="lead">(.*?)</p>', shown)
    assert first is not None
    assert first[1].startswith("<bdi>Stranger</bdi>: Lichess rapid rating ")
    assert "Lichess blitz rating" in shown


@pytest.mark.parametrize(("time", "pool"), [("600", "chesscom-rapid"), ("60", "chesscom-bullet")])
def test_pages_of_a_pool_that_is_not_compared_with_fide_are_shown(tmp_path, time, pool):
    moves = re.sub(r"([KQRBNOa-h][^ ]+)", r"\1 {[%clk 0:00:41.5]}", ITALIAN)
    game = pgn("Ann", "Bob", moves, Event="Live Chess", Site="Chess.com", TimeControl=time)
    jobs = Jobs(tmp_path / "jobs.sqlite")
    job = add_upload(jobs, "games", [("games.pgn", game.encode())], owner="me", options={"effort": "instant"})
    do(jobs, job, tmp_path)
    view = ratings_view(jobs, jobs[job.id])
    assert view["scale"]["pool"] == pool
    assert ("clocks" in view["players"][0]["sources"]) == ("clocks" in elo_axis(pool).efforts)
    assert "plays_like_fide" not in view["players"][0]
    base = {"token": "", "path": "/", "has_password": False, "most_mb": 1, "keep_days": 1}
    page = rendered("player.html", job=jobs[job.id], view=player_view(jobs, jobs[job.id], 1), **base)
    assert ("the clocks in the games" in page) == ("clocks" in elo_axis(pool).efforts)
    shown = rendered("_ratings.html", job=jobs[job.id], view=view)
    assert "slow games" not in shown.split('<p class="lead">')[1].split("</p>")[0]


def test_the_games_of_one_player_are_no_event(tmp_path):
    jobs, names = Jobs(tmp_path / "jobs.sqlite"), [f"Opponent {at}" for at in range(6)]
    text = "".join(pgn("Ann", name) for name in names)
    job = do(
        jobs,
        add_upload(jobs, "games", [("mine.pgn", text.encode())], owner="", options={"effort": "instant"}),
        tmp_path,
    )
    client = TestClient(create_app(jobs, Safety(b"secret")), base_url="http://localhost")
    assert client.get(f"/api/jobs/{job.id}/event").json()["whose"] == ["Ann"]
    page = client.get(f"/jobs/{job.id}/event").text
    assert "Crosstable" not in page
    assert "6 of 6" in page
    games = client.get(f"/api/jobs/{job.id}/players/1").json()["games"]
    assert all(game["opening"].startswith("Italian Game") for game in games)


def test_an_event_is_screened_on_request_in_the_words_of_the_study(filled: Filled, tmp_path):
    text = demo_file("club.pgn").read_text()
    added = add_upload(filled.jobs, "games", [("club.pgn", text.encode())], owner="", options={"effort": "instant"})
    job = do(filled.jobs, added, tmp_path)
    client = filled.client()
    page = client.get(f"/jobs/{job.id}/event").text
    assert "Screen these games" in page
    assert client.post(f"/jobs/{job.id}/screen").status_code == 403
    token = re.search(r'name="csrf" value="([^"]+)"', page)[1]
    address = client.post(f"/jobs/{job.id}/screen", data={"csrf": token}, follow_redirects=False).headers["location"]
    screening = do(filled.jobs, filled.jobs[address.rsplit("/", 1)[1]], tmp_path)
    assert screening.state == "done", screening
    shown = client.get(address)
    assert shown.status_code == 200
    assert "no verdict" in shown.text
    sent = client.get(f"/api{address}/screening").json()
    ours = screen(read_games(io.StringIO(text)), effort=sent["study"]["effort"], store=store_file(tmp_path))
    assert without_files(sent["study"]["players"]) == without_files(json.loads(json.dumps(ours.as_dict()["players"])))
    assert sent["caveats"] == list(ours.caveats)
    assert all(caveat in html.unescape(shown.text) for caveat in sent["caveats"])
