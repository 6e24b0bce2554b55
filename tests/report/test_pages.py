"""Pages that stand alone, in a real Chromium: tables that sort without a script, paper on which nothing is cut."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from skilloscope.report.page import Card, Headline, Section, report_page, sorted_places
from skilloscope.report.table import Table

LONG = "Wolfeschlegelsteinhausenbergerdorff, Hubert Blaine the Younger of Somewhere Rather Far Away"
HOSTILE = ("<img src=x onerror=alert(1)>", "\u202egro.live", "Kas\x1b[31mparov", "=HYPERLINK(1)")
ROWS = [
    ["Zoe", "1,200 (900 to 1500)", "5", "–"],
    [LONG, "987 (700 to 1400) ↓", "12", "–"],
    ["anna", "2310 (2105 to 2528)", "9", "–"],
    [HOSTILE[0], "–", "100", "–"],
]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    ratings = Table("Ratings", ["player", "Elo", "games", "header"], ROWS, ["a note"])
    cross = Table("Crosstable", ["player", *map(str, range(24))], [[LONG, *"½" * 24] for _ in range(24)], wide=True)
    names = Table("Games", ["White", "Black", "Elo", "Elo of Black"], [[LONG, LONG, *ROWS[2][1:3]]] * 60, labels=(0, 1))
    cards = [Card("1. e4", '<svg role="img" viewBox="0 0 9 9"><title>e4</title></svg>', [("by", LONG)])] * 7
    sections = [Section.from_table(sheet) for sheet in (ratings, cross, names)]
    sections += [Section("Cards", "What stands above cards.", cards=cards), Section("Names", " ".join(HOSTILE))]
    page = report_page(HOSTILE[1], "\n".join(HOSTILE), sections, headline=Headline("1309", LONG, LONG))
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(page, encoding="utf-8")
    return path


@pytest.fixture
def page(browser: Any, written: Path) -> Any:
    context = browser.new_context(viewport={"width": 1100, "height": 850}, java_script_enabled=True)
    tab = context.new_page()
    tab.on("dialog", lambda dialog: pytest.fail(f"a name has spoken: {dialog.message}"))
    tab.goto(written.as_uri())
    yield tab
    context.close()


def seen(page: Any) -> list[str]:
    """Return the first cells of the first table as they are seen, from the top."""
    cells = page.locator("table").first.locator("tbody tr")
    rows = [(cells.nth(at).bounding_box()["y"], cells.nth(at).locator("td").first.inner_text()) for at in range(4)]
    return [text for _, text in sorted(rows)]


def test_a_click_on_a_column_sorts_the_table_without_a_script(page):
    assert "<script" not in page.content()
    head = page.locator("table").first.locator("th")
    given = [row[0] for row in ROWS]
    assert seen(page) == given
    for column, order in ((0, [3, 2, 1, 0]), (1, [2, 0, 1, 3]), (2, [3, 1, 2, 0])):
        head.nth(column).locator("label").click()
        assert seen(page) == [given[at] for at in order]
    page.locator("text=as it was").first.click()
    assert seen(page) == given
    page.locator("input[type=radio]").first.focus()
    page.keyboard.press("ArrowRight")
    assert seen(page)[0] == "anna"


def test_what_is_unknown_comes_last_and_equal_rows_stay_as_they_are():
    assert [places[0] for places in sorted_places([["–"], ["3"], ["½"], ["3"]], labels=())] == [3, 0, 2, 1]
    assert [places[0] for places in sorted_places([["round 10"], [""], ["Round 2"]], labels=(0,))] == [1, 2, 0]


def test_a_column_in_which_nothing_stands_is_left_out(page):
    assert page.locator("table").first.locator("th").all_inner_texts() == ["player", "Elo", "games"]


def test_nothing_serious_stands_in_the_way_of_a_reader(page):
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        rows = Axe().run(page).response["violations"]
        assert [row["id"] for row in rows if row["impact"] in ("serious", "critical")] == []


def test_on_paper_every_table_is_whole(page):
    page.emulate_media(media="print")
    for turned, width in ((False, 186), (True, 273)):  # millimetres of A4 between the margins
        pixels = int(width * 96 / 25.4)
        page.set_viewport_size({"width": pixels, "height": 1000})
        tables = page.locator(".turned table" if turned else "section:not(.turned) table")
        assert tables.count() > 0
        assert all(
            tables.nth(at).evaluate("one => one.getBoundingClientRect().right") <= pixels
            for at in range(tables.count())
        )
    assert page.locator("table").first.evaluate("one => getComputedStyle(one).display") == "table"
    assert page.pdf().startswith(b"%PDF")


def test_the_fonts_of_a_pdf_are_inside(written):
    pytest.importorskip("weasyprint")
    from weasyprint import HTML

    document = HTML(string=written.read_text(encoding="utf-8")).write_pdf(uncompressed_pdf=True)
    fonts = document.count(b"/Type /FontDescriptor") + document.count(b"/Type/FontDescriptor")
    assert fonts > 0
    assert document.count(b"/FontFile") >= fonts


def test_hostile_names_are_only_ever_text(written, page):
    text = written.read_text(encoding="utf-8")
    assert "<img src=x" not in text
    assert not {"\u202e", "\x1b"} & set(text)
    assert "&lt;img src=x onerror=alert(1)&gt;" in text
    assert page.title() == "gro.live – skilloscope"
