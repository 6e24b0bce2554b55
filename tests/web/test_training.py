"""Training in the browser: playing on, guessing what others play, solving one's own mistakes."""

from __future__ import annotations

import chess
import pytest

from skilloscope.chess.human.model import human
from skilloscope.core.errors import EngineError
from skilloscope.web import sparring
from web.conftest import Filled

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
    with sparring._an_engine(), sparring._an_engine():
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
