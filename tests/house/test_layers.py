"""Who may import whom: the table of docs/architecture.md, held against every import in the source."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "skilloscope"
WITHOUT_CHESS = ("decision", "models", "evidence", "ratings", "results", "store")


def allowed_imports() -> dict[str, set[str]]:
    """Return the table `module | may import` of the architecture page."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = page.split("| module | may import |", 1)[1].split("\n\n", 1)[0]
    rows = [re.findall(r"`(\w+)`", row) for row in table.splitlines()[2:]]
    return {names[0]: set(names[1:]) for names in rows}


def module_of(file: Path) -> str:
    """Return the layer that a file belongs to: its folder or its own name; the face is `skilloscope`."""
    first = file.relative_to(SOURCE).parts[0].partition(".py")[0]
    return {"__init__": "skilloscope", "__main__": "cli"}.get(first, first)


def imported_names(file: Path) -> Iterator[str]:
    """Yield the full dotted names that a file imports anywhere, also inside functions and for types only."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative imports hide the layer they reach into"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


FILES = sorted([*SOURCE.rglob("*.py"), SOURCE / "__init__.pyi"])


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_a_file_imports_only_what_the_table_allows(file):
    own = module_of(file)
    reached = {name.split(".")[1] for name in imported_names(file) if name.startswith("skilloscope.")}
    assert reached - {own} <= allowed_imports()[own]


def test_the_table_names_every_module_that_exists_and_no_other():
    folders = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").is_file()}
    assert set(allowed_imports()) == folders | {module_of(file) for file in FILES}


def test_the_layers_have_no_cycle():
    table = allowed_imports()
    done: set[str] = set()
    while len(done) < len(table):
        ready = {module for module, below in table.items() if module not in done and below <= done}
        assert ready, f"these import each other: {sorted(set(table) - done)}"
        done |= ready


@pytest.mark.parametrize("layer", WITHOUT_CHESS)
def test_what_is_not_chess_imports_nothing_of_chess(layer):
    assert "chess" not in allowed_imports()[layer]
    for file in (file for file in FILES if module_of(file) == layer):
        roots = {tuple(name.split(".")[:2]) for name in imported_names(file)}
        assert ("skilloscope", "chess") not in roots
        assert "chess" not in {root[0] for root in roots}


def test_rating_decisions_of_any_domain_loads_nothing_of_chess():
    modules = [".".join(file.relative_to(SOURCE.parent).with_suffix("").parts) for file in FILES]
    wanted = [name for name in modules if name.split(".")[1] in WITHOUT_CHESS and not name.endswith("__init__")]
    code = f"import sys, {', '.join(wanted)}; print([name for name in sys.modules if 'chess' in name.split('.')])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_the_architecture_page_shows_every_folder_and_no_other():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    listing = page.split("src/skilloscope/\n", 1)[1].split("```", 1)[0]
    shown = {name for line in listing.splitlines() for name in re.findall(r"(?:^|(?<= ))(\w+)/(?=\s|$)", line)}
    folders = {path.parent.name for path in SOURCE.rglob("__init__.py")} - {SOURCE.name}
    assert shown - {"data"} == folders


def test_only_the_face_of_the_library_lists_its_names():
    listing = [file for file in FILES if re.search(r"^__all__\b", file.read_text(encoding="utf-8"), re.MULTILINE)]
    assert listing == [SOURCE / "__init__.py"]


def test_a_public_function_or_class_has_a_name_of_its_own():
    """A command's function is called as the command: the files of `cli` are left out."""
    homes: dict[str, list[str]] = {}
    for file in (file for file in FILES if module_of(file) != "cli"):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            kinds = [getattr(mark, "id", "") for mark in getattr(node, "decorator_list", [])]
            if (
                isinstance(node, ast.FunctionDef | ast.ClassDef)
                and not node.name.startswith("_")
                and "overload" not in kinds
            ):
                homes.setdefault(node.name, []).append(str(file.relative_to(SOURCE)))
    assert {name: files for name, files in homes.items() if len(files) > 1} == {}


def test_no_call_has_more_than_six_positional_arguments():
    long = [
        f"{file.relative_to(SOURCE)}:{node.lineno}"
        for file in FILES
        if "kernels" not in str(file)  # compiled loops hand columns on by position
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and len(node.args) > 6
    ]
    assert long == []
