"""Live games in the browser: they start from the ratings, open on a click, and survive a feed that stops."""

from __future__ import annotations

import http.client
import socket
import urllib.error
from email.message import Message

import pytest

from skilloscope.inputs.running_elo import FORM, EloOfBoards
from skilloscope.studies.live.feed import plain_fault, read_boards
from web.conftest import ITALIAN, Filled, feeding, pgn


def test_a_game_starts_from_the_rating_in_the_feed():
    strong, weak = ("2683", "1400")
    boards = EloOfBoards()
    (board,) = read_boards(pgn("A", "B", ITALIAN[:40], "*", WhiteElo=strong, BlackElo=weak)).values()
    assert board.elos == (2683, 1400)
    rated = boards.sides(board.moves, board.fens, board.values, board.first_ply, board.elos)
    unrated = boards.sides(board.moves, board.fens, board.values, board.first_ply)
    assert abs(rated[0]["axis_elo"] - 2683) < 150
    assert abs(rated[1]["axis_elo"] - 1400) < 150
    assert unrated[0]["axis_elo"] < rated[0]["axis_elo"]
    wide = rated[0]["axis_high"] - rated[0]["axis_low"]
    assert wide < 4 * 1.96 * (FORM**2 + 100**2) ** 0.5
    (one_sided,) = read_boards(pgn("A", "B", ITALIAN[:40], "*", WhiteElo=strong)).values()
    assert one_sided.elos == (2683, None)


def test_clocks_of_the_feed_are_those_of_the_last_moves():
    text = pgn("A", "B", "1. e4 {[%clk 1:30:00]} e5 {[%clk 1:29:10]} 2. Nf3 {[%clk 1:28:05]}", "*")
    (board,) = read_boards(text).values()
    assert board.clocks == (5400.0, 5350.0, 5285.0)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (urllib.error.URLError(ConnectionRefusedError(111, "Connection refused")), "the connection was refused"),
        (urllib.error.URLError(socket.gaierror(-2, "Name or service not known")), "there is no server of this name"),
        (TimeoutError("timed out"), "the server does not answer"),
        (http.client.IncompleteRead(b"abc"), "the connection was cut off"),
        (ConnectionResetError(104, "Connection reset by peer"), "the connection was cut off"),
        (urllib.error.HTTPError("http://x", 503, "Service Unavailable", Message(), None),
         "the server answers with the error 503 (Service Unavailable)"),
        (ValueError("it redirects to 'file:///etc'"), "it redirects to 'file:///etc'"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_feed_is_said_in_words(error: Exception, words: str):
    assert plain_fault(error) == words
    assert "Errno" not in plain_fault(error)


def test_a_board_shows_rating_clock_and_moves_and_opens_from_the_list(filled: Filled):
    client, job = filled.client(), filled.done["live"].id
    page = client.get(f"/jobs/{job}").text
    assert "2683" in page
    assert "1:02:05" in page
    assert f'href="/jobs/{job}/boards/1"' in page
    board = client.get(f"/jobs/{job}/boards/1")
    assert board.status_code == 200
    assert "1. e4" in board.text
    assert client.get(f"/jobs/{job}/boards/2").status_code == 404
    assert client.get(f"/api/jobs/{job}/boards/1").json()["san"] == ["e4"]


def test_a_feed_that_stops_is_told_in_words_and_goes_on_when_it_is_back(page, served):
    with feeding() as (address, feed):
        page.goto(f"{served}/live")
        page.fill("#address", address)
        page.click("button.go")
        page.wait_for_selector(".boards .card")
        answer = feed.do_GET
        feed.do_GET = lambda self: self.send_error(503)
        page.wait_for_selector("text=The server answers with the error 503")
        assert page.locator(".boards .card").count() == 1
        assert "urlopen" not in page.content()
        feed.moves, feed.do_GET = ITALIAN[:90], answer
        page.wait_for_selector("p.caution", state="detached")
        page.click(".boards a.boardwrap")
        page.wait_for_selector("table >> text=Nf3")
        page.goto(page.url.split("/boards")[0])
        page.click("text=Stop following")
        page.wait_for_selector(".state.cancelled")
