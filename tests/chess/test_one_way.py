"""chess/ flows one way: every file imports only what comes before it, inside functions too."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

CHESS = Path(__file__).resolve().parents[2] / "src" / "skilloscope" / "chess"
ORDER = ("moves", "rules", "boards", "pgn", "engine", "analysis", "human")


@pytest.mark.parametrize("file", sorted(CHESS.rglob("*.py")), ids=lambda file: str(file.relative_to(CHESS)))
def test_a_file_imports_only_what_comes_before_it(file: Path) -> None:
    own = file.relative_to(CHESS).parts[0].removesuffix(".py")
    if own == "__init__":
        return
    nodes = [node for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(node, ast.ImportFrom)]
    reached = {str(node.module).split(".")[2] for node in nodes if str(node.module).startswith("skilloscope.chess.")}
    assert reached <= set(ORDER[: ORDER.index(own) + 1])


def test_the_order_names_every_part_of_chess() -> None:
    parts = {path.name.removesuffix(".py") for path in CHESS.iterdir() if path.name != "__pycache__"}
    assert parts == {*ORDER, "__init__"}


def test_moves_import_nothing_of_ours_but_core() -> None:
    nodes = [node for node in ast.walk(ast.parse((CHESS / "moves.py").read_text())) if isinstance(node, ast.ImportFrom)]
    assert {str(node.module).split(".")[1] for node in nodes if str(node.module).startswith("skilloscope")} == {"core"}
