"""The pages in a real Chromium: from an upload to the slider, with all that may go wrong on the way."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest
from playwright.sync_api import expect

from skilloscope.web.app import ServeOptions, serving
from web.conftest import (
    DECISIONS,
    HOSTILE,
    ITALIAN,
    RESULTS,
    SLAV,
    feeding,
    kill,
    pgn,
    start_server,
    upload,
    wait_for,
)

expect.set_options(timeout=300_000)


def test_three_clicks_lead_from_a_file_to_the_elo_and_the_worst_decisions(page, served):
    others = "".join(pgn("Ann", f"P{at}", (ITALIAN, SLAV)[at % 2]) for at in range(5))
    upload(page, served, pgn("Ann", "Ben") + pgn("Ben", "Ann") + others)  # the choice of a file, and Rate
    page.click("table.ratings >> text=Ann")  # before all is worked out: the page goes on by itself
    page.wait_for_selector(".decisions li")
    assert re.fullmatch(r"\d{3,4}( [↑↓↕])?", page.inner_text("#elo"))
    assert page.locator("text=The decisions that cost most").count() == 1
    assert page.locator(".decisions li").count() > 0
    assert page.locator("ol.decisions img").first.evaluate("picture => picture.complete && picture.naturalWidth") > 0


def test_a_table_sorts_and_filters(page, job):
    page.goto(job)
    names = lambda: page.locator("table.ratings tbody td:first-child").all_inner_texts()  # noqa: E731
    page.click("th >> text=Player")
    assert names() == sorted(names(), key=str.casefold)
    page.click("th >> text=Player")
    assert names() == sorted(names(), key=str.casefold, reverse=True)
    page.fill("#search", "cec")
    expect(page.locator("table.ratings tbody tr")).to_have_count(1)
    assert names() == ["Cecil, Long Name"]
    page.fill("#search", "nobody at all")
    page.wait_for_selector("text=No matching player")


def test_the_board_follows_the_moves_and_the_slider_shows_what_people_play(page, job):
    page.goto(f"{job}/games/1")
    page.wait_for_selector("[data-ready]")
    assert page.locator("cg-board piece").count() == 32
    page.click("[data-ply='35']")
    expect(page.locator("cg-board piece")).to_have_count(28)
    assert page.locator(".move[aria-current]").inner_text().startswith("gxf3")
    page.keyboard.press("ArrowRight")
    assert page.locator(".move[aria-current]").inner_text().startswith("Qxd3")
    page.click("[data-step='first']")
    page.wait_for_selector("#people li")

    def shares() -> dict[str, float]:
        rows = page.locator("#people li").all_inner_texts()
        return {row.split()[0]: float(re.findall(r"([\d.]+) %", row)[0]) for row in rows}

    page.locator("#level").fill("1000")
    weak = shares()
    page.locator("#level").fill("2600")
    strong = shares()
    assert page.inner_text("#level-shown") == "2600"
    assert weak != strong
    assert weak["e4"] > strong["e4"]
    start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    ask = "async fen => (await fetch('/api/moves?elo=2600&fen=' + encodeURIComponent(fen))).json()"
    answer = next(move["probability"][0] for move in page.evaluate(ask, start)["moves"] if move["san"] == "e4")
    assert strong["e4"] == pytest.approx(100 * answer, abs=0.051)
    assert page.locator("#strength-chart canvas").count() == 1


def test_a_job_is_cancelled_and_goes_on(page, served):
    upload(page, served, "".join(pgn(f"P{at}", f"Q{at}") for at in range(40)))
    page.click("text=Cancel")
    page.wait_for_selector(".state.cancelled")
    page.click("text=Resume")
    page.wait_for_selector(".state.running, .state.waiting, .state.done")
    page.click("text=Delete")
    page.wait_for_url(served + "/")
    assert page.locator("table.list").count() == 0


def test_progress_and_ratings_come_without_a_reload(page, served):
    upload(page, served, "".join(pgn(f"P{at}", f"Q{at}") for at in range(8)))
    page.evaluate("window.same = true")
    page.wait_for_selector("progress")
    page.wait_for_selector(".state.done")
    page.wait_for_selector("table.ratings >> text=P7")
    assert page.evaluate("window.same") is True


@pytest.mark.parametrize(
    ("text", "said"),
    [("no chess at all", "No game could be read"), ('[White "?"]\n[Black "?"]\n\n1. e4 e5 *', "names its players")],
)
def test_a_fault_says_what_is_wrong_and_what_to_do(page, served, text, said):
    upload(page, served, text)
    page.wait_for_selector("[role=alert]")
    assert said in page.inner_text("[role=alert]")
    assert page.locator("text=Try again").count() == 1


def test_an_empty_form_and_a_lost_address_are_told(page, served):
    page.goto(served)
    page.click("button.go")
    assert "nothing in it" in page.inner_text("[role=alert]")
    page.goto(f"{served}/jobs/nowhere")
    assert "no such job" in page.inner_text("[role=alert]").lower()


def test_results_give_a_leaderboard_and_each_member_a_history(page, served):
    upload(page, served, RESULTS, path="/results")
    page.wait_for_selector("text=Fitted")
    page.wait_for_selector("tbody >> text=Ann")
    page.click("tbody >> text=Ann")
    page.wait_for_selector("#history-chart canvas")
    assert page.locator("tbody tr").count() > 3


def test_decisions_of_any_domain_are_rated(page, served):
    upload(page, served, DECISIONS, path="/decisions")
    page.wait_for_selector("tbody >> text=Bob")
    assert page.locator("tbody tr").count() == 2


def test_live_games_move_before_the_eye(page, served):
    with feeding() as (address, feed):
        page.goto(f"{served}/live")
        page.fill("#address", address)
        page.click("button.go")
        page.wait_for_selector(".boards .card")
        expect(page.locator(".card .form strong").first).to_have_text(re.compile(r"\d{4}"))
        before = page.locator(".card img").get_attribute("src")
        feed.moves = ITALIAN[:120]
        expect(page.locator(".card img")).not_to_have_attribute("src", before)
        page.click("text=Stop following")
        page.wait_for_selector(".state.cancelled")


def test_a_private_address_is_not_followed_unless_allowed(page, tmp_path):
    with serving(ServeOptions(tmp_path, port=0, password="correct horse")) as server:
        page.goto(server.address)
        page.fill("#password", "wrong")
        page.click("button.go")
        assert "not the password" in page.inner_text("[role=alert]")
        page.fill("#password", "correct horse")
        page.click("button.go")
        page.wait_for_selector("text=How strong is this play?")
        page.goto(f"{server.address}/live")
        page.fill("#address", "http://127.0.0.1:9/games.pgn")
        page.click("button.go")
        page.wait_for_selector("text=which is not followed")
        page.click("text=Log out")
        page.wait_for_selector("#password")


def test_hostile_names_do_nothing_in_a_browser(page, job):
    page.on("dialog", lambda dialog: pytest.fail(f"a name has spoken: {dialog.message}"))
    for path in ("", "/event", "/compare", "/games/5", "/games/6", "/players/4", "/players/5", "/players/6"):
        page.goto(job + path)
    page.wait_for_load_state("networkidle")
    page.goto(f"{job}/players/4")
    assert page.inner_text("h1") == HOSTILE[0]


def test_the_pages_say_the_same_as_their_json(page, job):
    page.goto(f"{job}/players/1")
    twin = page.get_attribute("link[rel=alternate]", "href")
    answer = page.evaluate("async twin => (await fetch(twin)).json()", twin)
    assert page.inner_text("#elo").split()[0] == f"{answer['rating']['elo']:.0f}"
    assert wait_for(lambda: page.locator("footer >> text=This page as JSON").count()) == 1
    assert Path(twin).name == "1"


def test_a_player_has_elo_by_part_of_the_play(page, job):
    page.goto(f"{job}/players/1")
    captions = page.locator(".parts caption").all_inner_texts()
    assert captions == ["Elo by phase", "Elo by colour", "Elo by opening"]
    rows = page.locator(".parts section", has_text="by phase").locator("tbody tr")
    assert rows.locator("th").all_inner_texts() == ["opening", "middlegame"]
    assert re.fullmatch(r"\d{3,4} to \d{3,4}", rows.first.locator("td").nth(1).inner_text())
    assert page.locator("text=analysis board").first.get_attribute("href").startswith("https://lichess.org/analysis/")


def test_a_page_that_is_open_goes_on_when_its_server_was_killed_and_is_back(browser, tmp_path):
    page = browser.new_page()  # whose console may say that the server is gone
    page.set_default_timeout(300_000)
    process, address = start_server(tmp_path)
    upload(page, address, "".join(pgn(f"P{at}", f"Q{at}") for at in range(12)))
    page.wait_for_selector(".status")
    page.evaluate("window.same = true")
    kill(process, signal.SIGKILL)
    process, _ = start_server(tmp_path, port=int(address.rsplit(":", 1)[1]))
    try:
        page.wait_for_selector(".state.done")
        page.wait_for_selector("table.ratings >> text=P7")
        assert page.evaluate("window.same") is True
    finally:
        page.close()
        kill(process, signal.SIGTERM)
