"""Training in the browser: playing on, guessing what others play, solving one's own mistakes."""

from __future__ import annotations

import time
from collections.abc import Iterator

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from skilloscope.chess.human.model import human
from skilloscope.core.errors import EngineError
from skilloscope.web.jobs import DAY
from skilloscope.web.library import sparring, training
from skilloscope.web.library.players import Library
from skilloscope.web.library.records import BOXES, Drill, Mistake, Player
from skilloscope.web.library.training import MOST, due_first
from web.conftest import Filled
from web.test_looks import serious

HEADER = {"X-Skilloscope": "1"}
TAKES = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR w KQkq - 0 4"


def test_the_opponent_answers_a_move_with_a_legal_one(filled: Filled):
    client = filled.client()
    found = client.post("/api/reply?elo=1500&moves=e2e4%20e7e5%20g1f3", headers=HEADER).json()
    board = chess.Board()
    for uci in found["moves"]:
        board.push_uci(uci)
    assert len(found["moves"]) == len(found["sans"]) == 4
    assert found["fen"] == board.fen()
    assert set(found["legal"]) == {move.uci() for move in board.legal_moves}
    assert found["result"] == "*"


def test_nobody_answers_where_it_is_the_visitors_turn_or_the_game_is_over(filled: Filled):
    client = filled.client()
    assert client.post("/api/reply?elo=1500", headers=HEADER).json()["moves"] == []
    assert len(client.post("/api/reply?elo=1500&side=black", headers=HEADER).json()["moves"]) == 1
    mate = client.post("/api/reply?elo=1500&moves=f2f3%20e7e5%20g2g4%20d8h4&side=black", headers=HEADER).json()
    assert (mate["result"], mate["ended"], mate["legal"]) == ("0-1", "checkmate", {})


@pytest.mark.parametrize(
    ("query", "wrong"),
    [
        ("elo=1500&moves=e2e5", "no move here"),
        ("elo=1500&moves=0000", "no move here"),
        ("elo=99999", "700 to 3000"),
        ("elo=1500&fen=8/8/8/8/8/8/8/8%20w%20-%20-%200%201", "cannot arise"),
        ("elo=1500&pool=nowhere", "pool"),
    ],
)
def test_a_reply_that_cannot_be_given_says_why(filled: Filled, query: str, wrong: str):
    reply = filled.client().post(f"/api/reply?{query}", headers=HEADER)
    assert reply.status_code == 422
    assert wrong in reply.text


def test_pages_of_other_sites_cannot_make_the_server_play(filled: Filled):
    assert filled.client().post("/api/reply?elo=1500").status_code == 403
    assert filled.client().post(f"/api/weigh?fen={TAKES}&move=d2d3&best=f3f7").status_code == 403


def test_too_many_who_play_at_once_are_told_to_wait(filled: Filled, monkeypatch):
    monkeypatch.setattr(sparring, "_PATIENCE", 0.01)
    with sparring.a_turn(), sparring.a_turn():
        reply = filled.client().post("/api/reply?elo=1500&moves=e2e4", headers=HEADER)
    assert reply.status_code == 503
    assert filled.client().post("/api/reply?elo=1500&moves=e2e4", headers=HEADER).status_code == 200


def test_a_move_as_good_as_the_best_is_right_and_a_bad_one_is_not(filled: Filled):
    def weighed(move: str, best: str = "f3f7", fen: str = TAKES) -> dict:
        return filled.client().post(f"/api/weigh?fen={fen}&move={move}&best={best}", headers=HEADER).json()

    assert weighed("f3f7") | {"fen": ""} == {"san": "Qxf7#", "best": "Qxf7#", "lost": 0.0, "right": True, "fen": ""}
    bad = weighed("d2d3")
    assert (bad["right"], bad["san"], bad["best"]) == (False, "d3", "Qxf7#")
    assert bad["lost"] > 0.2
    quiet = weighed("d2d4", "e2e4", chess.STARTING_FEN)
    assert quiet["right"]
    assert 0 <= quiet["lost"] < sparring.RIGHT


def test_without_an_engine_only_the_best_move_is_right(filled: Filled, monkeypatch):
    def none(_: object) -> None:
        raise EngineError("no engine")

    monkeypatch.setattr(sparring, "engine_found", lambda _: False)
    monkeypatch.setattr("skilloscope.simulate.opponent.find_engine", none)
    ask = f"/api/weigh?fen={chess.STARTING_FEN}&best=e2e4&move="
    assert filled.client().post(f"{ask}e2e4", headers=HEADER).json()["right"]
    assert filled.client().post(f"{ask}d2d4", headers=HEADER).json() | {"fen": ""} == {
        "san": "d4", "best": "e4", "lost": None, "right": False, "fen": ""
    }  # fmt: skip
    assert filled.client().post("/api/reply?elo=1500&moves=e2e4", headers=HEADER).json()["style"] == "human"


def test_the_position_to_guess_is_of_a_game_and_its_shares_are_the_models(filled: Filled):
    client = filled.client()
    one, other = (client.get(f"/api/guess?seed={seed}").json() for seed in (4, 5))
    assert one == client.get("/api/guess?seed=4").json()
    assert one != other
    board = chess.Board(one["before"])
    board.push_uci(one["last"])
    assert board.fen() == one["fen"]
    assert chess.Move.from_uci(one["played"]) in board.legal_moves
    asked = {"fen": one["before"], "move": one["last"], "elo": 2000}
    found = client.get("/api/moves", params=asked).json()
    ours = human().moves(board, [2000.0])
    assert [move["probability"][0] for move in found["moves"]] == pytest.approx(ours.probability[:, 0].tolist())


def test_the_pages_say_whom_one_plays(filled: Filled):
    client = filled.client()
    page = client.get("/play", params={"fen": TAKES, "side": "black", "elo": 3900}).text
    assert 'value="3000"' in page
    assert '<option value="black" selected>' in page
    assert client.get("/play?fen=nonsense").status_code == 422
    assert "most players" in client.get("/guess").text


def test_a_drill_comes_again_later_each_time_it_is_solved_and_tomorrow_where_it_is_not():
    now, found = 0.0, Drill("00001/k/010")
    for days in (*BOXES, BOXES[-1]):
        found = found.after(True, now)
        assert found.due == now + days
        now = found.due
    assert (found.box, found.tries, found.solved) == (len(BOXES) + 1,) * 3
    found = found.after(False, now)
    assert (found.box, found.due, found.tries, found.solved) == (
        0,
        now + BOXES[0],
        len(BOXES) + 2,
        len(BOXES) + 1,
    )


@given(st.lists(st.booleans(), min_size=1, max_size=30))
def test_the_box_is_the_run_of_solved_tries_and_nothing_is_due_before_tomorrow(answers):
    found, now = Drill("m"), 0.0
    for solved in answers:
        before, found = found, found.after(solved, now)
        assert found.due >= now + 1
        assert found.box == (before.box + 1 if solved else 0)
        now = found.due
    assert found.tries == len(answers)
    assert found.solved == sum(answers)


@given(st.dictionaries(st.sampled_from("abcdefghijklmnop"), st.floats(0, 20)), st.floats(0, 20))
def test_a_sitting_has_what_is_due_and_then_what_is_new(due, now):
    names = list("abcdefghijklmnop")
    found = due_first(names, {name: Drill(name, due=at) for name, at in due.items()}, now)
    assert len(found) == len(set(found)) <= MOST
    late = [due[name] for name in found if name in due]
    assert late == sorted(late)
    assert all(at <= now for at in late)
    assert all(name in due for name in found[: len(late)])


def test_a_player_who_solves_all_that_comes_sees_every_mistake_within_a_month():
    names, drills, now, seen = [f"{at:03d}" for at in range(40)], dict[str, Drill](), 0.0, set[str]()
    for _ in range(30):
        for name in due_first(names, drills, now):
            drills[name] = drills.get(name, Drill(name)).after(True, now)
            seen.add(name)
        now += 1
    assert seen == set(names)


def mistake(player: int, ply: int, cost: float) -> Mistake:
    return Mistake(
        player=player, game="k", ply=ply, side="white", fen=TAKES, played="d2d3", played_san="d3", best="f3f7",
        best_san="Qxf7#", line="4. Qxf7#", chances=0.99, chances_after=0.5, cost=cost, mark="??", phase="middlegame",
        spent=None, number=4,
    )  # fmt: skip


@pytest.fixture
def trainee(filled: Filled) -> Iterator[tuple[TestClient, Library, Player]]:
    """A visitor with a library of two mistakes."""
    client = filled.client()
    client.cookies.set("skilloscope", "v" * 32)
    library = filled.app.state.libraries.opened("v" * 32)
    player = library.add_player("Ann")
    library.put(mistake(player.number, 10, 0.2), mistake(player.number, 20, 0.4))
    yield client, library, player
    library.forget()


def test_the_mistakes_of_the_library_come_as_puzzles_and_again_when_they_are_due(trainee):
    client, library, player = trainee
    view = client.get("/api/train").json()
    assert [one["name"][-3:] for one in view["puzzles"]] == ["020", "010"]
    assert view["known"] == 2
    assert client.get("/train").status_code == 200
    name = view["puzzles"][0]["name"]
    assert client.post("/api/train", params={"mistake": name, "solved": True}).status_code == 403
    found = client.post("/api/train", params={"mistake": name, "solved": True}, headers=HEADER).json()
    assert (found["box"], found["tries"]) == (1, 1)
    after = client.get("/api/train").json()
    assert [one["name"][-3:] for one in after["puzzles"]] == ["010"]
    assert after["later"] == 1
    assert after["next"] == pytest.approx(time.time() + DAY, abs=60)
    library.put(Drill(name, box=1, tries=1, solved=1, due=0.0))
    assert [one["name"][-3:] for one in client.get("/api/train").json()["puzzles"]] == ["020", "010"]
    library.remove_player(player.number)
    assert library.records(Drill) == []


def test_nobody_else_sees_or_changes_what_one_trains(trainee, filled: Filled):
    client, _, _ = trainee
    name = client.get("/api/train").json()["puzzles"][0]["name"]
    other = filled.client()
    assert other.get("/api/train").json()["puzzles"] == []
    assert other.post("/api/train", params={"mistake": name, "solved": True}, headers=HEADER).status_code == 404
    assert "No confirmed mistakes yet" in other.get("/train").text


def test_the_costly_decisions_of_a_job_can_be_trained_without_a_library(filled: Filled):
    job = filled.done["games"].id
    report = filled.jobs.report(job, "player/1")
    one = {"fen": TAKES, "side": "white", "number": "4.", "played": "d3", "played_uci": "d2d3", "better": "Qxf7#"}
    one |= {"better_uci": "f3f7", "line": "4. Qxf7#", "mark": "??", "chances": 0.99, "chances_after": 0.5}
    one |= {"white": "Ann", "black": "Ben", "date": "2024.05.01"}
    filled.jobs.put(job, {"player/1": {**report, "costliest": [one]}})
    try:
        view = filled.client().get(f"/api/train?job={job}&player=1").json()
        assert filled.client().get(f"/train?job={job}&player=1").status_code == 200
    finally:
        filled.jobs.put(job, {"player/1": report})
    assert [(puzzle["best"], puzzle["played_san"]) for puzzle in view["puzzles"]] == [("f3f7", "d3??")]


def test_games_and_guesses_go_by_keyboard_alone(page, served):
    page.goto(f"{served}/train")
    assert "No confirmed mistakes yet" in page.content()
    page.goto(f"{served}/play")
    page.wait_for_selector("[data-ready]")
    page.keyboard.type("Nf3")
    page.keyboard.press("Enter")
    page.wait_for_selector("#played li:nth-child(2)")
    assert page.locator("#played li").first.inner_text() == "1. Nf3"
    page.wait_for_selector("#move:enabled")
    page.fill("#move", "Qh8")
    page.press("#move", "Enter")
    assert "no legal move" in page.inner_text("#move-form output")
    page.click("#back")
    page.wait_for_selector("#played li", state="detached")
    page.goto(f"{served}/guess")
    page.wait_for_selector("[data-ready]")
    first = page.inner_text("#verdict")
    assert "What do most players rated 2000 play?" in first


def test_a_puzzle_is_tried_wrongly_then_rightly_and_says_so(page, served, monkeypatch):
    puzzle = {"name": "", "fen": TAKES, "side": "white", "number": "4.", "played": "d2d3", "played_san": "d3??"}
    puzzle |= {"best": "f3f7", "best_san": "Qxf7#", "line": "4. Qxf7#", "chances": 0.99, "chances_after": 0.5}
    puzzle |= {"white": "Ann", "black": "Ben", "date": "2024.05.01"}
    view = {
        "player": 1,
        "players": [{"number": 1, "player": "Ann"}],
        "puzzles": [puzzle, {**puzzle, "number": "5."}],
        "known": 2,
        "later": 0,
    }
    monkeypatch.setattr(training, "training_view", lambda *_: {**view, "next": None, "job": "x"})
    page.route("**/api/train*", lambda route: route.fulfill(json={**view, "next": None, "job": "x"}))
    page.goto(f"{served}/train")
    page.wait_for_selector("[data-ready]")
    assert "4. d3?? was played, and the winning chances fell from 99 % to 50 %" in page.inner_text("#verdict")
    page.keyboard.type("d3")
    page.keyboard.press("Enter")
    page.wait_for_selector("#verdict >> text=Try another move")
    page.keyboard.type("Qxf7")
    page.keyboard.press("Enter")
    page.wait_for_selector("#verdict >> text=Right: Qxf7#")
    page.keyboard.press("Enter")  # the button of the next puzzle has the focus
    page.wait_for_selector("#place >> text=Puzzle 2 of 2")
    page.click("#solution")
    page.wait_for_selector("#verdict >> text=Qxf7# was better")
    page.click("#next")
    page.wait_for_selector("#verdict >> text=Done: 0 of 2 solved at the first try")
    assert serious(page) == []
