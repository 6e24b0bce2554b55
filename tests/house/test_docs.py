"""README and docs say what is true: their examples run, every command is there, the site builds and stays at home."""

from __future__ import annotations

import doctest
import importlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner

from skilloscope.cli.app import app
from skilloscope.inputs.bundled import demo_file

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
COMMAND_PAGES = sorted((DOCS / "commands").glob("*.md"))
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
PAPER_PAGES = [page for page in PAGES if page.parent.name == "papers" and page.stem != "README"]
BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# How many positions were searched, cached and imported depends on the machine and on what ran before.
COUNTS = re.compile(r"positions: [\d,]+ searched now, [\d,]+ from the cache, [\d,]+ imported")
# The keys of these objects are data (reasons, names, packages), not fields.
FREE_KEYS = {"skipped", "noted", "truth", "known_as", "packages", "settings", "options"}


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path, language: str) -> list[tuple[int, str]]:
    """Return the fenced blocks of a language: the line before the first of each, and the text."""
    text = page.read_text(encoding="utf-8")
    found = [match for match in BLOCK.finditer(text) if match[1] == language]
    return [(text.count("\n", 0, match.start(2)), match[2]) for match in found]


def pages_with(language: str) -> list[Path]:
    return [page for page in PAGES if blocks(page, language)]


@pytest.fixture
def without_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the machine one without an engine: what ships must be enough for every example."""
    monkeypatch.setenv("STOCKFISH_EXECUTABLE", "/nowhere/stockfish")


@pytest.mark.parametrize("page", pages_with("python"), ids=name)
def test_the_python_of_a_page_runs_and_gives_what_is_shown(page, tmp_path, monkeypatch, without_engine):
    monkeypatch.chdir(tmp_path)
    lines = [""] * page.read_text(encoding="utf-8").count("\n")
    for start, text in blocks(page, "python"):
        assert ">>> " in text, f"{name(page)}, line {start + 1}: Python that is not a doctest is not run"
        lines[start : start + text.count("\n")] = text.splitlines()
    test = doctest.DocTestParser().get_doctest("\n".join(lines) + "\n", {}, name(page), str(page), 0)
    said: list[str] = []
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    result = doctest.DocTestRunner(optionflags=flags).run(test, out=said.append)
    assert result.attempted > 0
    assert result.failed == 0, "".join(said)


@dataclass
class Command:
    """A `$ …` line of a console block and the output shown under it."""

    line: str
    shown: list[str] = field(default_factory=list)


def commands(page: Path) -> Iterator[Command]:
    """Yield the commands of a page's console blocks in their order."""
    for _, text in blocks(page, "console"):
        found: list[Command] = []
        for row in text.splitlines():
            if row.startswith("$ "):
                found.append(Command(row.removeprefix("$ ")))
            elif found:
                found[-1].shown.append(row)
        yield from found


def run(line: str) -> tuple[int, str, str]:
    """Run a `skilloscope …` line in this process; return exit code, stdout and stderr."""
    words = shlex.split(line, comments=True)
    assert words[0] == "skilloscope"
    result = CliRunner().invoke(app, words[1:], catch_exceptions=False)
    return result.exit_code, result.stdout, result.stderr


def plain(text: str) -> str:
    """Return text as it is compared: counts of positions and runs of blanks made equal."""
    return " ".join(COUNTS.sub("positions: …", text).split())


def appears(row: str, output: str) -> bool:
    """Return whether a shown row is one of the output's; … stands for anything."""
    pattern = ".*".join(re.escape(part) for part in plain(row).split("…"))
    return any(re.fullmatch(pattern, plain(said)) for said in output.splitlines())


def lay_out_files(folder: Path, page: Path) -> None:
    """Put what a page's commands read into the folder: files shown with `cat` here or among the commands, and games."""
    shutil.copy(demo_file("simulated.pgn"), folder / "games.pgn")
    shutil.copy(demo_file("analyses.jsonl.gz"), folder / "analyses.jsonl.gz")
    shutil.copy(demo_file("game_of_the_century.pgn"), folder / "century.pgn")
    for file in demo_file("simulated.pgn").parent.iterdir():  # the pages for getting started use them by their names
        shutil.copy(file, folder)
    for command in (*(found for reference in COMMAND_PAGES for found in commands(reference)), *commands(page)):
        words = shlex.split(command.line, comments=True)
        if words[0] == "cat":
            (folder / words[1]).write_text("\n".join(command.shown) + "\n", encoding="utf-8")


@cache
def runs(page: Path) -> list[tuple[Command, int, str, str]]:
    """Run a page's commands in their order in a folder of their own, once; return exit codes and what they said."""
    found = []
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("NO_COLOR", "1")
        lay_out_files(Path(folder), page)
        run("skilloscope cache import analyses.jsonl.gz")  # what stands in for an engine
        for command in commands(page):
            line = command.line.replace("make demo", "skilloscope demo")
            if line.startswith("skilloscope "):
                found.append((replace(command, line=line), *run(line)))
    return found


@pytest.mark.parametrize("page", pages_with("console"), ids=name)
def test_the_commands_of_a_page_run_and_print_what_is_shown(page, without_engine):
    for command, code, out, err in runs(page):
        assert code == 0, f"$ {command.line}\n{err}"
        missing = [row for row in command.shown if row.strip() and not appears(row, out + "\n" + err)]
        assert not missing, f"$ {command.line}\nshown but not printed: {missing}\n{out}{err}"


def test_the_errors_that_other_pages_quote_are_those_of_the_page_of_accuracy():
    one_person = (DOCS / "accuracy.md").read_text(encoding="utf-8").split("\n## ")[1]
    rows = re.findall(r"^\| (?:1|4|all) games?, ([^|]+) \| 524 \| (\d+) ", one_person, re.MULTILINE)
    measured = {used: [rmse for name, rmse in rows if name == used] for used, _ in rows}
    ours, simple = (", ".join(measured[used]) for used in ("moves and results", "opponents' ratings alone"))
    start = (DOCS / "index.md").read_text(encoding="utf-8")
    assert f"RMSE | {ours} | the opponents' ratings alone {simple} |" in start
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    named = ("moves and results", "moves, prior population", "opponents' ratings alone")
    for games, *errors in zip(("1", "4", "7 to 9"), *(measured[used] for used in named), strict=True):
        assert f"\n| {games} | {' | '.join(errors)} |\n" in readme


def test_every_json_field_is_named_on_the_pages_of_commands(without_engine):
    named = {word for page in COMMAND_PAGES for word in re.findall(r"`(\w+)`", page.read_text(encoding="utf-8"))}
    seen = set()
    for command, code, out, err in (found for page in COMMAND_PAGES for found in runs(page)):
        assert code == 0, err
        if "--json" in command.line:
            seen.add(max((leaf for leaf in leaves() if command.line.startswith(f"skilloscope {leaf} ")), key=len))
            unnamed = set(fields(documents(out))) - named
            assert not unnamed, f"$ {command.line}\nfields that the pages do not name: {sorted(unnamed)}"
    assert seen == set(leaves()), "every command needs an example with --json"


def documents(text: str) -> list[Any]:
    """Return the JSON documents of an output: usually one, with JSON lines one a line."""
    found, at, decoder = [], 0, json.JSONDecoder()
    while at < len(text.rstrip()):
        document, at = decoder.raw_decode(text, at)
        found.append(document)
        at += len(text[at:]) - len(text[at:].lstrip())
    return found


def fields(value: Any) -> Iterator[str]:
    """Yield the names of the fields in a JSON document."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield key
            if key not in FREE_KEYS:
                yield from fields(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from fields(inner)


def leaves(group: Any = None, path: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return every command of the application by its full name, those of groups too."""
    found: dict[str, Any] = {}
    for word, command in (group or typer.main.get_command(app)).commands.items():
        if hasattr(command, "commands"):
            found |= leaves(command, (*path, word))
        else:
            found[" ".join((*path, word))] = command
    return found


@pytest.mark.parametrize("command", leaves())
def test_every_command_is_documented_has_an_example_and_json(command):
    page = (DOCS / "commands" / f"{command.split()[0]}.md").read_text(encoding="utf-8")
    heading = f"# `skilloscope {command}`\n"
    assert heading in page
    assert f"\n$ skilloscope {command}" in page
    assert f"Example: skilloscope {command} " in (leaves()[command].epilog or "")
    options = [word for parameter in leaves()[command].params for word in parameter.opts if word.startswith("--")]
    assert "--json" in options
    section = page.split(heading, 1)[1].split("\n## `", 1)[0]
    shared = (DOCS / "commands" / "options.md").read_text(encoding="utf-8").split("\n## Settings\n", 1)[0]
    assert [option for option in options if f"`{option}" not in section + shared] == []


def test_the_tables_of_options_say_what_help_says(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    from option_tables import PLACE, with_tables

    pages = [page.read_text(encoding="utf-8") for page in COMMAND_PAGES]
    places = [place[2] for page in pages for place in PLACE.finditer(page)]
    assert sorted(places) == sorted([*leaves(), "commands", "engine", "page", "results"])
    assert pages == [with_tables(page) for page in pages], "run tools/option_tables.py"


def test_every_public_name_stands_in_the_reference_of_python():
    import skilloscope

    page = (DOCS / "api.md").read_text(encoding="utf-8")
    named = re.findall(r"^::: skilloscope\.(?:[\w.]+\.)?(\w+)$", page, flags=re.MULTILINE)
    values = {word for word in re.findall(r"`sk\.(\w+)`", page) if word.isupper() or word == "__version__"}
    assert set(named) | values == set(skilloscope.__all__)
    assert not set(named) & values
    assert len(named) == len(set(named))


def test_every_setting_is_documented():
    from skilloscope.core.paths import KNOWN

    page = (DOCS / "commands" / "options.md").read_text(encoding="utf-8")
    section = page.split("\n## Settings\n", 1)[1].split("\n## ", 1)[0]
    assert [setting for setting in KNOWN if f"| `{setting}` |" not in section] == []


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "measurements" / "README.md"], ids=name)
def test_every_file_of_ours_that_a_page_names_exists(page):
    """Paths are written from the root, or from the package; a bare name is a file somewhere in them."""
    named = re.findall(r"(?<![\w/.*-])((?:[\w-]+/)*[\w-]+\.(?:py|sh))(?!\w|::)", page.read_text(encoding="utf-8"))
    tops = [ROOT / "src", ROOT / "tests", ROOT / "tools", ROOT / "benchmarks"]
    for path in named:
        there = any((root / path).is_file() for root in (ROOT, ROOT / "src" / "skilloscope"))
        assert there or ("/" not in path and any(found for top in tops for found in top.rglob(path))), path


@pytest.mark.parametrize("page", [DOCS / "architecture.md", *PAPER_PAGES], ids=name)
def test_every_function_and_test_that_a_page_names_exists(page):
    text = page.read_text(encoding="utf-8")
    layers = "|".join(path.stem for path in (ROOT / "src" / "skilloscope").iterdir() if path.name[0] != "_")
    for dotted in re.findall(rf"`((?:{layers})\.[\w.]+)`", text):
        assert found_in_package(dotted), f"{name(page)}: there is no skilloscope.{dotted}"
    for file, test in re.findall(r"`(test_\w+\.py)::(\w+)`", text):
        sources = [source.read_text(encoding="utf-8") for source in (ROOT / "tests").rglob(file)]
        assert any(re.search(rf"(def|class) {test}\b", source) for source in sources), f"there is no {file}::{test}"
    for key in re.findall(r"skilloscope papers reproduce (\w+\.\w+)", text):
        from skilloscope.papers import ENTRIES

        assert key in {entry.key for entry in ENTRIES}


def found_in_package(dotted: str) -> bool:
    """Return whether skilloscope has what a dotted name says: modules first, then attributes and annotated fields."""
    words = ["skilloscope", *dotted.split(".")]
    depth = max(d for d in range(1, len(words) + 1) if is_module(words[:d]))
    value: Any = importlib.import_module(".".join(words[:depth]))
    for word in words[depth:]:
        if not hasattr(value, word) and word not in getattr(value, "__annotations__", {}):
            return False
        value = getattr(value, word, None)
    return True


def is_module(words: list[str]) -> bool:
    path = ROOT / "src" / Path(*words)
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def test_the_picture_shows_what_the_demo_gives(without_engine):
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        from make_docs_figures import demo_ratings, described
    finally:
        sys.path.pop(0)
    picture = (DOCS / "img" / "demo.svg").read_text(encoding="utf-8")
    assert f"<title>{described(demo_ratings())}</title>" in picture
    assert "docs/img/demo.svg" in (ROOT / "README.md").read_text(encoding="utf-8")


def nav_pages(entry: Any) -> Iterator[str]:
    """Yield the files that a navigation names."""
    if isinstance(entry, str):
        yield entry
    elif isinstance(entry, Mapping):
        for inner in entry.values():
            yield from nav_pages(inner)
    else:
        for inner in entry:
            yield from nav_pages(inner)


def test_every_page_is_in_the_navigation_and_data_come_first():
    import yaml

    nav = list(nav_pages(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]))
    assert sorted(nav) == sorted(str(page.relative_to(DOCS)) for page in PAGES if page.is_relative_to(DOCS))
    assert [page for page in nav if not page.startswith("start/")][:2] == ["index.md", "data.md"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built documentation."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stdout + done.stderr
    return folder


def test_the_site_builds_without_a_warning_and_has_every_page(site):
    built = {str(path.relative_to(site)) for path in site.rglob("*.html")}
    wanted = {str(page.relative_to(DOCS).with_suffix(".html")) for page in PAGES if page.is_relative_to(DOCS)}
    assert {file.replace("README.html", "index.html") for file in wanted} <= built


def test_every_page_of_the_site_links_to_the_glossary(site):
    pages = [page for page in site.rglob("*.html") if page.name != "404.html"]
    assert len(pages) > 60
    assert [page.name for page in pages if "glossary.html" not in page.read_text(encoding="utf-8")] == []


def test_the_readme_is_short():
    assert (ROOT / "README.md").read_text(encoding="utf-8").count("\n") <= 120


def test_the_site_fetches_nothing_from_elsewhere(site):
    loading = re.compile(r"""<(?:script|link|img|iframe|source)\b[^>]*?\b(?:src|href)=["']?((?:https?:)?//[^"'\s>]+)""")
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert "fonts.googleapis" not in text
        assert loading.findall(text) == [], page.name
    for sheet in site.rglob("*.css"):
        imported = re.findall(r"(?:@import|url\()\s*[\"']?(?:https?:)?//", sheet.read_text(encoding="utf-8"))
        assert imported == [], sheet.name
