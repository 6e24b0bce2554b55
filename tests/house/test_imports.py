"""What tests, tools and benchmarks take from the package is there: also inside functions that seldom run."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def imported_names(file: Path) -> Iterator[tuple[int, str, str]]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "skilloscope":
            yield from ((node.lineno, str(node.module), alias.name) for alias in node.names)


def is_there(module: str, name: str) -> bool:
    try:
        if hasattr(importlib.import_module(module), name):
            return True
        importlib.import_module(f"{module}.{name}")
    except ModuleNotFoundError:
        return False
    return True


@pytest.mark.parametrize("folder", ["tests", "tools", "benchmarks"])
def test_everything_that_is_imported_exists(folder: str) -> None:
    files = sorted((ROOT / folder).rglob("*.py"))
    assert files
    missing = [
        f"{file.relative_to(ROOT)}:{line}: {module} has no {name}"
        for file in files
        for line, module, name in imported_names(file)
        if not is_there(module, name)
    ]
    assert not missing
