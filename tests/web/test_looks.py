"""How every page looks to everybody: in light and dark, on a phone, on paper, and to those who hear it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Error

from web.conftest import DECISIONS, RESULTS, feeding, pgn, upload

Pages = dict[str, str]
LONG = "Wolfeschlegelsteinhausenbergerdorff, Hubert Blaine the Younger of Somewhere Rather Far Away"
BEYOND = """width => document.documentElement.scrollWidth <= width ? []
    : Array.from(document.querySelectorAll("body *")).filter(one => one.getBoundingClientRect().right > width + 1)
        .map(one => one.outerHTML.slice(0, 90))"""  # what cannot be seen without scrolling sideways
MM = 96 / 25.4  # pixels
LOOKS = 20


@pytest.fixture(scope="module")
def pages(served: str, browser: Any, job: str) -> Iterator[Pages]:
    """The address of every kind of page, and of each in the states that look different."""
    tab = browser.new_context().new_page()
    tab.set_default_timeout(300_000)
    found = {"empty": served, "nowhere": f"{served}/jobs/nowhere", "login": f"{served}/login", "ratings": job}
    found |= {name: f"{served}/{name}" for name in ("results", "decisions", "live", "library")}
    found |= {name: f"{served}/{name}" for name in ("play", "guess", "train")}
    found |= {part: f"{job}/{part}" for part in ("event", "compare", "players/1", "players/4", "games/1", "games/5")}
    for name, text, path in (("leaderboard", RESULTS, "/results"), ("deciders", DECISIONS, "/decisions")):
        upload(tab, served, text, path=path)
        tab.wait_for_selector(".state.done")
        found[name] = tab.url
    found["member"] = f"{found['leaderboard']}/members/1"
    upload(tab, served, "no chess at all")
    tab.wait_for_selector("[role=alert]")
    found["failed"] = tab.url
    names = [LONG, LONG.replace("Hubert", "Humbert"), *(f"Member {at}" for at in range(8))]
    upload(tab, served, "".join(pgn(*pair, "1. e4 e5 2. Nf3 Nc6") for pair in itertools.combinations(names, 2)))
    tab.wait_for_selector(".state.done")
    found |= {f"long {part}": f"{tab.url}{part}" for part in ("", "/event", "/compare", "/players/1", "/games/1")}
    with feeding() as (address, _):
        tab.goto(f"{served}/live")
        tab.fill("#address", address)
        tab.click("button.go")
        tab.wait_for_selector(".boards .card")
        found["followed"], found["board"] = tab.url, f"{tab.url}/boards/1"
        tab.goto(served)
        tab.context.close()
        yield found


def serious(page: Any) -> list[str]:
    """Return what axe finds serious or critical on a page; it looks again where the page has changed meanwhile."""
    for _ in range(LOOKS):
        with suppress(Error):  # axe fails on an element that an update of the page has taken away
            rows = Axe().run(page).response["violations"]
            break
    else:
        raise AssertionError(f"{page.url} never keeps still for axe")
    return [
        f"{page.url}: {row['id']}, {node['target']}"
        for row in rows
        if row["impact"] in ("serious", "critical")
        for node in row["nodes"]
    ]


def opened(page: Any, address: str) -> None:
    page.goto(address)
    if "/games/" in address:
        page.wait_for_selector("#people li", state="attached")
    if address.endswith(("/play", "/guess")):
        page.wait_for_selector("[data-ready]")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious_stands_in_the_way_of_anybody(page, pages, scheme):
    page.emulate_media(color_scheme=scheme)
    kinds = (
        "empty",
        "ratings",
        "event",
        "compare",
        "players/1",
        "games/1",
        "member",
        "followed",
        "failed",
        "nowhere",
        "play",
        "guess",
        "train",
        "board",
    )
    found = []
    for address in (pages[kind] for kind in (kinds if scheme == "dark" else pages)):
        opened(page, address)
        found += serious(page)
    assert found == []


def test_a_job_that_is_being_worked_on_can_be_heard_too(page, served):
    upload(page, served, "".join(pgn(f"P{at}", f"Q{at}") for at in range(60)))
    assert serious(page) == []
    page.click("text=Cancel")
    page.wait_for_selector(".state.cancelled")
    assert serious(page) == []


def test_the_library_can_be_seen_and_heard_by_everybody_and_used_by_keyboard(page, served):
    for month in (1, 2):  # two uploads of one player, of a name that is hard to show
        upload(page, served, "".join(pgn(LONG, f"Ben {month}{at}", Date=f"2024.{month:02d}.01") for at in range(3)))
        page.wait_for_selector(".state.done")
    page.click("text=In your library >> a")
    page.wait_for_selector("text=3 new games")
    player = page.url
    for address in (f"{served}/library", player):
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.goto(address)
            page.wait_for_selector("h1")
            assert serious(page) == []
        for width in (390, 768, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate(BEYOND, width) == [], address
    page.goto(f"{served}/library")
    page.focus("#main a")
    page.keyboard.press("Enter")
    page.wait_for_url(player)
    page.focus("#alias")
    page.keyboard.type("Ann Other")
    page.keyboard.press("Enter")
    page.wait_for_selector(".state.done")
    page.goto(player)
    assert page.locator("text=Ann Other").count() > 0


def test_a_phone_shows_all_without_scrolling_sideways(page, pages):
    page.set_viewport_size({"width": 360, "height": 740})
    for address in pages.values():
        opened(page, address)
        assert page.evaluate(BEYOND, 360) == [], address


def test_on_paper_no_table_is_cut(page, pages):
    page.emulate_media(media="print")
    for kind, address in pages.items():
        opened(page, address)
        turned = page.locator(".across").count() > 0
        width = int((297 if turned else 210) * MM - 24 * MM)
        page.set_viewport_size({"width": width, "height": 1000})
        assert page.evaluate(BEYOND, width) == [], kind
        assert page.locator("header.bar").is_hidden()
