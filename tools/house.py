"""Print the measurements of the source tree, each with its target: how far a command walks, cycles, sizes.

    .venv/bin/python tools/house.py [--root FOLDER] [--json]

Two commands are traced, each in a fresh process: `rate` on the demo games with the analyses that come with them (a
stand-in engine gives the name of the engine that made them and never has to search), and `results rate` on four games.
Only code of `src/skilloscope` counts, and what an import runs does not. All four figures come from the functions in the
order in which they are first entered, which is the order in which a newcomer would read them:

- functions: distinct functions, methods and comprehensions, by file and qualified name;
- modules: the files that hold them;
- depth: most of our frames on the stack at once;
- changes of room: how often the next function in that order is in another first-level folder.

Modules loaded are those of ours in `sys.modules` when a command has ended. Import cycles are groups of modules that
import each other at the top or inside functions. Knots are groups of folders that import each other in any way, also
for types only; a folder with its own subfolders makes no knot, two of its subfolders do. Any-dicts are occurrences of
`dict[str, Any]` and `Mapping[str, Any]`. Frame is blanks, comments, docstrings, imports, decorators and the signatures
of functions; substance is every other line.

Lines of src are those outside web/library, a room that is newer than the review and has a limit of its own.

The column "before" has what this script measured at the time of the review of the house.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

from answers_inputs import ENGINE

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "skilloscope"
RESULTS = """white,black,result,date
Ann,Bob,1-0,2020-01-01
Bob,Cid,1-0,2020-01-05
Ann,Cid,1/2-1/2,2020-02-01
Cid,Ann,0-1,2020-03-01
"""


@dataclass(frozen=True)
class Walk:
    """What running a command visits."""

    functions: int
    modules: int
    depth: int
    changes: int
    loaded: int


@dataclass(frozen=True)
class Shape:
    """What the files of the source add up to."""

    any_dicts: int
    lines: int
    own_games: int
    files: int
    frame: float


def main() -> None:
    """Measure a tree and print the table."""
    parser = argparse.ArgumentParser(description="Print the measurements of the source tree, each with its target.")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository to measure (default: this one)")
    parser.add_argument("--json", action="store_true", help="write JSON")
    asked = parser.parse_args()
    source = asked.root.resolve() / "src"
    measured = measurements(source)
    if asked.json:
        cycles, knots = import_cycles(source), folder_knots(source)
        print(json.dumps({"measured": measured, "import_cycles": cycles, "folder_knots": knots}, indent=2))
        return
    print(f"{'':42}{'before':>8}{'now':>8}  target")
    for name, (before, target) in TARGETS.items():
        wanted = "" if target is None else f"≤ {target:,}{'' if measured[name] <= target else '  not yet'}"
        print(f"{name:42}{before:>8,}{measured[name]:>8,}  {wanted}".rstrip())
    for group in (*import_cycles(source), *folder_knots(source)):
        print("import each other:", ", ".join(group))


TARGETS: dict[str, tuple[float, float | None]] = {
    "rate: functions": (644, 450),
    "rate: modules": (73, 45),
    "rate: depth": (30, 20),
    "rate: changes of room": (171, 90),
    "results rate: functions": (274, None),
    "results rate: modules": (44, 34),
    "results rate: depth": (21, None),
    "results rate: changes of room": (67, None),
    "modules loaded by rate": (194, 110),
    "modules loaded by results rate": (124, 70),
    "modules loaded by --help": (49, 15),
    "import cycles": (15, 0),
    "knots of folders": (3, 0),
    "Any-dicts": (637, 150),
    "lines of src": (55942, 48000),
    "lines of web/library": (1900, None),
    "files of src": (442, 230),
    "lines of frame per line of substance": (0.96, 0.8),
    "first-level commands": (28, 22),
}
"""What is measured: its value at the time of the review, and the most that it should be."""


def measurements(source: Path) -> dict[str, float]:
    """Return every figure of a source folder by its name."""
    walks, shape = {name: walk(source, name) for name in ("rate", "results rate")}, shape_of(source)
    return {
        **{f"{name}: functions": one.functions for name, one in walks.items()},
        **{f"{name}: modules": one.modules for name, one in walks.items()},
        **{f"{name}: depth": one.depth for name, one in walks.items()},
        **{f"{name}: changes of room": one.changes for name, one in walks.items()},
        **{f"modules loaded by {name}": one.loaded for name, one in walks.items()},
        "modules loaded by --help": walk(source, "--help").loaded,
        "import cycles": len(import_cycles(source)),
        "knots of folders": len(folder_knots(source)),
        "Any-dicts": shape.any_dicts,
        "lines of src": shape.lines,
        "lines of web/library": shape.own_games,
        "files of src": shape.files,
        "lines of frame per line of substance": shape.frame,
        "first-level commands": len(first_level_commands(source)),
    }


def walk(source: Path, command: str) -> Walk:
    """Trace a command (`rate`, `results rate` or `--help`) in a process of its own."""
    demo = source / PACKAGE / "data" / "demo"
    with TemporaryDirectory() as name:
        folder = Path(name)
        engine, results, answer = folder / "engine", folder / "results.csv", folder / "walk.json"
        engine.write_text(ENGINE)
        engine.chmod(0o755)
        results.write_text(RESULTS)
        words = {
            "rate": ["rate", demo / "simulated.pgn", "--import", demo / "analyses.jsonl.gz"],
            "results rate": ["results", "rate", results],
            "--help": ["--help"],
        }[command]
        run = [sys.executable, str(Path(__file__).resolve()), "--trace", str(answer), *map(str, words)]
        own = {"HOME": name, "XDG_DATA_HOME": name, "XDG_CONFIG_HOME": name, "SKILLOSCOPE_STORE": str(folder / "s")}
        own |= {"STOCKFISH_EXECUTABLE": str(engine)}
        done = subprocess.run(run, env=os.environ | own | _path(source), capture_output=True, text=True, check=False)
        if not answer.is_file():
            raise SystemExit(f"{command} did not run:\n{done.stderr}")
        return Walk(**json.loads(answer.read_text()))


def first_level_commands(source: Path) -> list[str]:
    """Return the names of the first-level commands, those of groups as one."""
    code = (
        "import typer, typer.main\nfrom skilloscope.cli.app import app\n"
        "group = typer.main.get_command(app)\nprint(*group.list_commands(typer.Context(group)))"
    )
    run = [sys.executable, "-c", code]
    done = subprocess.run(run, env=os.environ | _path(source), capture_output=True, text=True, check=True)
    return done.stdout.split()


def import_cycles(source: Path) -> list[list[str]]:
    """Return the groups of modules that import each other at the top or inside functions."""
    return _knots((one, other) for one, other, kind in _imports(source) if kind != "types")


def folder_knots(source: Path) -> list[list[str]]:
    """Return the groups of folders that import each other, other than a folder and what lies inside it."""
    homes = {name: file.parent.relative_to(source).as_posix() for name, file in _modules(source).items()}
    pairs = [(homes[one], homes[other]) for one, other, _ in _imports(source)]
    knots = _knots((one, other) for one, other in pairs if PACKAGE not in (one, other))
    return [group for group in knots if any(not _inside(one, other) for one in group for other in group)]


def shape_of(source: Path) -> Shape:
    """Return what the Python files add up to."""
    files = _modules(source)
    texts = [file.read_text(encoding="utf-8") for file in files.values()]
    lines, frame = sum(len(text.splitlines()) for text in texts), sum(map(_frame_lines, texts))
    own_games = sum(len(text.splitlines()) for name, text in zip(files, texts, strict=True) if ".web.library" in name)
    any_dicts = sum(len(re.findall(r"\b(?:dict|Mapping)\[str, Any\]", text)) for text in texts)
    return Shape(any_dicts, lines - own_games, own_games, len(texts), round(frame / (lines - frame), 2))


def _path(source: Path) -> dict[str, str]:
    return {"PYTHONPATH": str(source), "OPENBLAS_NUM_THREADS": "1", "NO_COLOR": "1"}


def _inside(one: str, other: str) -> bool:
    return f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")


def _modules(source: Path) -> dict[str, Path]:
    files = sorted((source / PACKAGE).rglob("*.py"))
    return {".".join(file.relative_to(source).with_suffix("").parts).removesuffix(".__init__"): file for file in files}


@cache
def _imports(source: Path) -> list[tuple[str, str, str]]:
    """Return which module of ours imports which, and how: top, function or types."""
    modules, found = _modules(source), []
    for name, file in modules.items():
        for imported, kind in _imported_names(ast.parse(file.read_text(encoding="utf-8")), "top"):
            while imported not in modules:  # a name in a module
                imported = imported.rpartition(".")[0]
            if imported != name:
                found.append((name, imported, kind))
    return found


def _imported_names(tree: ast.AST, kind: str) -> Iterator[tuple[str, str]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == PACKAGE:
            yield from ((f"{node.module}.{alias.name}", kind) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, kind) for alias in node.names if alias.name.split(".")[0] == PACKAGE)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _imported_names(node, "function")
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from _imported_names(node, "types")
        else:
            yield from _imported_names(node, kind)


def _knots(pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Return the strongly connected components of more than one name."""
    targets: dict[str, set[str]] = {}
    for one, other in pairs:
        targets.setdefault(one, set()).add(other)
    reached: dict[str, set[str]] = {}
    for start in targets:
        seen: set[str] = set()
        left = list(targets[start])
        while left:
            name = left.pop()
            if name not in seen:
                seen.add(name)
                left += targets.get(name, ())
        reached[start] = seen
    groups = {tuple(sorted(other for other in seen if one in reached.get(other, ()))) for one, seen in reached.items()}
    return sorted(list(group) for group in groups if len(group) > 1)


def _frame_lines(text: str) -> int:
    frame: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        ):
            frame.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first = min([node.lineno, *(mark.lineno for mark in node.decorator_list)])
            frame.update(range(first, node.lineno if isinstance(node, ast.ClassDef) else node.body[0].lineno))
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            frame.add(node.lineno)
    rows = enumerate(text.splitlines(), start=1)
    return len(frame | {number for number, row in rows if not row.strip() or row.strip().startswith("#")})


def _trace(answer: Path, words: Sequence[str]) -> None:
    """Run the command line in this process under a profiler, and write what it visited."""
    from skilloscope.cli.app import main as run_command_line

    folder = f"{Path(inspect.getfile(run_command_line)).resolve().parents[1]}{os.sep}"
    entered: dict[tuple[str, str], None] = {}
    depth, deepest, importing = 0, 0, 0

    def see(frame: FrameType, event: str, _: object) -> None:
        nonlocal depth, deepest, importing
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(folder):
            return
        step = 1 if event == "call" else -1
        if code.co_name == "<module>":
            importing += step
        elif not importing and code.co_flags & inspect.CO_OPTIMIZED:  # the body of a class is no function
            depth += step
            deepest = max(deepest, depth)
            entered.setdefault((code.co_filename.removeprefix(folder), code.co_qualname))

    sys.argv = [PACKAGE, *words]
    sys.setprofile(see)
    try:
        run_command_line()
    except SystemExit as end:
        sys.setprofile(None)
        if end.code:
            raise
    files = [file for file, _ in entered]
    rooms = [file.split(os.sep)[0] for file in files]
    changes = sum(one != other for one, other in pairwise(rooms))
    loaded = sum(name.split(".")[0] == PACKAGE for name in sys.modules)
    answer.write_text(json.dumps(asdict(Walk(len(entered), len(set(files)), deepest, changes, loaded))))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--trace"]:
        _trace(Path(sys.argv[2]), sys.argv[3:])
    else:
        main()
