"""What leaves a page as a file says what the page does: PGN, CSV, cards, hand-outs."""

from __future__ import annotations

import csv
import io
import re
import zlib
from typing import Any
from xml.etree import ElementTree

import chess
import chess.pgn
import pytest

from skilloscope.core.table_files import safe_text
from skilloscope.web.library.sharing import annotated_pgn
from web.conftest import HOSTILE, Filled


def found(filled: Filled, path: str, kind: str = "games") -> Any:
    reply = filled.client().get(f"/jobs/{filled.done[kind].id}/{path}")
    assert reply.status_code == 200, reply.text
    return reply


def of_api(filled: Filled, path: str, kind: str = "games") -> Any:
    return filled.client().get(f"/api/jobs/{filled.done[kind].id}/{path}").json()


def test_the_pgn_of_a_game_has_its_moves_tags_and_names(filled: Filled):
    for number in (1, 5, 6):
        reply, view = found(filled, f"games/{number}/game.pgn"), of_api(filled, f"games/{number}")
        assert reply.headers["content-type"].startswith("application/x-chess-pgn")
        game = chess.pgn.read_game(io.StringIO(reply.text))
        assert game is not None
        assert not game.errors
        assert [move.uci() for move in game.mainline_moves()] == [move["uci"] for move in view["moves"]]
        assert game.headers["Result"] == view["game"]["result"]
    assert chess.pgn.read_game(io.StringIO(found(filled, "games/1/game.pgn").text)).headers["White"] == "Ann"


def marked_view(filled: Filled) -> dict[str, Any]:
    """Return a game whose third move is marked, as the API sends it."""
    view = of_api(filled, "games/1")
    judged = {"mark": "??", "chances": 0.55, "chances_after": 0.12, "better": "Nc3", "better_uci": "b1c3"}
    judged |= {"line": "2. Nc3 Nf6 3. f4", "probability": 0.25, "clock": 61.0, "white_value_cp": -180}
    view["moves"][2] |= judged
    view["moves"][3] |= {"white_value_cp": 3900, "mark": "!", "chances": 0.9, "chances_after": 0.9}
    view["players"][0]["level"] = 1700.0
    return view


def test_a_marked_move_has_a_comment_a_sign_an_evaluation_and_the_best_line_as_a_variation(filled: Filled):
    game = chess.pgn.read_game(io.StringIO(annotated_pgn(marked_view(filled))))
    node = game.next().next().next()
    assert node.nags == {chess.pgn.NAG_BLUNDER}
    assert node.eval().white() == chess.engine.Cp(-180)
    assert node.clock() == 61.0
    assert "Winning chances 55 % → 12 %. Best was 2. Nc3 Nf6 3. f4. Played by 25 % of players rated 1700." in (
        node.comment
    )
    (variation,) = [one for one in node.parent.variations if one is not node]
    assert [move.uci() for move in variation.mainline_moves()] == ["g8f6", "f2f4"]
    assert variation.san() == "Nc3"
    only = node.next()
    assert only.nags == {chess.pgn.NAG_GOOD_MOVE}
    assert only.eval().white() == chess.engine.Mate(1)
    assert "The only good move." in only.comment


def test_names_cannot_break_out_of_the_pgn(filled: Filled):
    view = of_api(filled, "games/1")
    view["game"] |= {"white": 'A "]\n[Result "0-1"', "event": "} 1-0 {"}
    game = chess.pgn.read_game(io.StringIO(annotated_pgn(view)))
    assert game.headers["Result"] == view["game"]["result"]
    assert sum(1 for _ in game.mainline_moves()) == len(view["moves"])


def test_all_games_of_a_player_are_in_one_file(filled: Filled):
    text = io.StringIO(found(filled, "players/1/games.pgn").text)
    games = []
    while (game := chess.pgn.read_game(text)) is not None:
        games.append(game)
    assert len(games) == len(of_api(filled, "players/1")["games"])
    assert all("Ann" in (game.headers["White"], game.headers["Black"]) for game in games)


@pytest.mark.parametrize(
    ("table", "kind", "path", "part"),
    [("ratings", "games", "ratings", "players"), ("event", "games", "event", "table"),
     ("games", "games", "games", "games"), ("leaderboard", "results", "results", "players"),
     ("deciders", "decisions", "deciders", "deciders")],
)  # fmt: skip
def test_a_table_as_csv_has_the_rows_of_its_page(filled: Filled, table: str, kind: str, path: str, part: str):
    rows = list(csv.DictReader(io.StringIO(found(filled, f"{table}.csv", kind).text)))
    sent = of_api(filled, path, kind)[part]
    assert len(rows) == len(sent)
    name = {"games": "game", "deciders": "decider"}.get(table, "player")
    assert sorted(row[name] for row in rows) == sorted(safe_text(one[name]) for one in sent)
    assert not any(text.startswith("=") for row in rows for text in row.values())


def test_a_table_that_is_not_there_is_not_found(filled: Filled):
    client, job = filled.client(), filled.done["results"].id
    assert client.get(f"/jobs/{job}/ratings.csv").status_code == 404
    assert client.get(f"/jobs/{job}/passwords.csv").status_code == 404


def test_the_games_of_a_player_as_csv_say_the_elo_of_each(filled: Filled):
    rows = list(csv.DictReader(io.StringIO(found(filled, "players/1/games.csv").text)))
    sent = of_api(filled, "players/1")["games"]
    assert [float(row["elo_elo"]) for row in rows] == pytest.approx([game["elo"]["elo"] for game in sent])


def test_cards_are_pictures_that_load_nothing_and_say_what_the_page_does(filled: Filled):
    for path in ("games/1/card.svg", "games/5/card.svg", "players/1/card.svg", "players/4/card.svg"):
        reply = found(filled, path)
        assert reply.headers["content-type"] == "image/svg+xml"
        ElementTree.fromstring(reply.text)
        assert re.findall(r"(?:href|src)=\"(?!#)[^\"]*", reply.text) == []
        assert HOSTILE[0] not in reply.text
        assert "url(" not in reply.text.replace("url(#", "")
    rating = of_api(filled, "players/1")["rating"]
    assert f">{rating['elo']:.0f}</text>" in found(filled, "players/1/card.svg").text


def test_a_hand_out_has_six_diagrams_and_their_solutions(filled: Filled):
    job = filled.done["games"].id
    empty = filled.client().get(f"/jobs/{job}/players/1/handout.pdf")
    assert empty.status_code == 422
    assert "no confirmed mistake" in empty.text
    report = filled.jobs.report(job, "player/1")
    one = {"fen": chess.STARTING_FEN, "side": "white", "number": "1.", "played": "f3", "played_uci": "f2f3"}
    one |= {"better": "e4", "better_uci": "e2e4", "line": "1. e4 e5", "mark": "?", "chances": 0.5, "reply": "e5"}
    one |= {"chances_after": 0.4, "p_played": 0.2, "level": 1500.0, "white": HOSTILE[0], "black": "B", "event": None}
    one |= {"date": "2024.05.01", "game": "g"}
    filled.jobs.put(job, {"player/1": {**report, "costliest": [one] * 9}})
    try:
        reply = found(filled, "players/1/handout.pdf")
        card = found(filled, "players/1/card.svg")
    finally:
        filled.jobs.put(job, {"player/1": report})
    assert reply.headers["content-type"] == "application/pdf"
    assert reply.content.startswith(b"%PDF")
    packed = re.findall(rb"stream\n(.*?)\nendstream", reply.content, re.DOTALL)
    objects = b" ".join(zlib.decompress(one) for one in packed if one.startswith(b"x"))
    assert len(re.findall(rb"/Type /Page\b(?!s)", objects)) == 2
    assert "Better (blue): 1. e4 e5" in card.text
