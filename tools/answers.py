"""Record what every command answers with --json on fixed inputs, and compare two recordings to the digit.

    .venv/bin/python tools/answers.py record FOLDER [--root CHECKOUT] [--only 'compare*']
    .venv/bin/python tools/answers.py compare BEFORE AFTER [--only 'compare*']

A recording has one JSON file per case: the exit code, the answer, what was written to files, and the messages. All
cases of a recording run in one process with the sources of the checkout, each with an empty store of its own. Games and
tables are made by `answers_inputs` or ship with the package. The analyses of the demo are imported; a stand-in engine
gives the name of the engine that made them and never searches. Cases whose name starts with `searched` run a real
Stockfish.

A case is written with today's names. Where a checkout does not know them, the names that they replaced are
tried, so that commits before and after a renaming can be compared. `compare` lists keys that are missing or added, and
numbers that differ by more than 1e-9 of their size; its exit code is 1 when there are any. Fields that cannot be equal
are left out by name (`UNEQUAL`).
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import json
import logging
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow.parquet as pq

from answers_inputs import make_inputs

ROOT = Path(__file__).resolve().parents[1]
UNEQUAL = frozenset({"delay_seconds", "path", "messages"})
"""Fields that differ between two runs: timings, temporary folders and messages of progress."""

RENAMES: tuple[dict[str, str], ...] = (
    {"by-game": "within", "papers reproduce": "reproduce"},
    {
        "results aliases": "names",
        "papers pooled": "composites",
        "papers ipr": "intrinsic",
        "papers gain": "tournament",
        "papers likelihood": "sequence",
        "decisions compare-engines": "decisions judges",
        "decisions sensitivity": "sensitivity",
        "breakdown": "dimensions",
        "^export": "games",
        "^cache": "store",
        "--level": "--mass",
        "--split-on": "--at",
        "--per": "--every",
        "--highlight": "--mark",
        "--game": "--follow",
        "--initial-ratings": "--entry",
        "--known-ratings": "--observed",
        "--allow-repeats": "--again",
        "--joint": "--whole",
        "opponent-rating": "opposition",
        "time-spent": "spent",
        "time-left": "clock",
    },
)
"""Names of commands, options and values with those that they replaced, the latest renaming first."""

CASES = Path(__file__).with_suffix(".txt")
"""The names of the cases, and their command lines."""

PROSE = frozenset({"notes", "note", "reason", "title", "warnings"})
"""Fields that hold sentences: their wording is not compared."""

SHOWN = 12


def main() -> None:
    """Record or compare."""
    parser = argparse.ArgumentParser(description="Record what every command answers, and compare two recordings.")
    actions = parser.add_subparsers(dest="action", required=True)
    record = actions.add_parser("record", help="run all cases and write one JSON file for each")
    record.add_argument("folder", type=Path)
    record.add_argument("--root", type=Path, default=ROOT, help="the checkout to run (default: this one)")
    both = actions.add_parser("compare", help="list the differences between two recordings")
    both.add_argument("before", type=Path)
    both.add_argument("after", type=Path)
    for one in (record, both):
        one.add_argument("--only", default="*", help="a pattern of names of cases")
    asked = parser.parse_args()
    if asked.action == "compare":
        sys.exit(compare_folders(asked.before, asked.after, asked.only))
    source = asked.root.resolve() / "src"
    if os.environ.get("PYTHONPATH") != str(source):  # a fresh process, so that the checkout's own modules are loaded
        own = {"PYTHONPATH": str(source), "OPENBLAS_NUM_THREADS": "1", "NO_COLOR": "1", "COLUMNS": "200"}
        sys.exit(subprocess.run([sys.executable, *sys.argv], env=os.environ | own, check=False).returncode)
    record_cases(asked.folder.resolve(), source, asked.only)


def cases() -> dict[str, str]:
    """Return the command lines by the names of the cases."""
    text = CASES.read_text().replace("CAREER", "career.pgn --import analyses.jsonl.gz")
    text = text.replace("SIMULATED", "simulated.pgn --import analyses.jsonl.gz")
    rows = (row.split("|", 1) for row in text.splitlines() if not row.startswith("#"))
    return {name.strip(): words.strip() for name, words in rows}


def record_cases(folder: Path, source: Path, only: str) -> None:
    """Run the cases whose names match, and write what each answers."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, words in cases().items():
        if fnmatch(name, only):
            start = time.process_time()
            with TemporaryDirectory() as place:
                os.chdir(place)
                engine = shutil.which("stockfish", path=f"{os.environ['PATH']}:/usr/games")
                make_inputs(source, None if name.startswith("searched") else Path(place) / "engine")
                own = dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"), place)
                os.environ |= {**own, "SKILLOSCOPE_STORE": f"{place}/store"}
                os.environ["STOCKFISH_EXECUTABLE"] = str(engine if name.startswith("searched") else f"{place}/engine")
                answer = answer_to(words)
                os.chdir(folder)
            (folder / f"{name}.json").write_text(json.dumps(answer, indent=1, ensure_ascii=False) + "\n")
            print(f"{name:32}{answer['code']:>3}{time.process_time() - start:8.1f} s", file=sys.stderr)


def answer_to(line: str) -> dict[str, object]:
    """Run commands separated by `;` by today's names or earlier ones, and return the answer of the last."""
    before = set(Path().rglob("*"))
    code, out, err = 0, "", ""
    for words in line.split(" ; "):
        command = words if words.startswith("play") else f"{words} --json"
        for form in forms(command):
            answer = run(shlex.split(form))
            if form == command or answer[0] != 2:
                code, out, err = answer
            if code != 2:
                break
    written = {str(file): content(file) for file in sorted(set(Path().rglob("*")) - before) if kept(file)}
    return {"code": code, "answer": parsed(out), "written": written, "messages": err.splitlines()}


def forms(command: str) -> Iterator[str]:
    """Yield the command line by today's names, then by those before each renaming."""
    yield command
    for names in RENAMES:
        renamed = command
        for new, old in names.items():
            renamed = re.sub(rf"(?<![\w-]){new}(?![\w-])", old, renamed)
        if renamed != command:
            yield renamed
        command = renamed


def run(words: Sequence[str]) -> tuple[int, str, str]:
    """Run one line of the command line in this process and return exit code, stdout and stderr."""
    from skilloscope.cli.app import main as command_line

    out, err, code = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8"), 0
    stdin, logging.root.handlers = sys.stdin, []
    sys.argv, sys.stdin = ["skilloscope", *words], io.TextIOWrapper(io.BytesIO(UCI), "utf-8")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            command_line()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    sys.stdin = stdin
    for stream in (out, err):
        stream.seek(0)
    return code, out.read(), err.read()


def parsed(text: str) -> object:
    """Return JSON, or a list of lines, each as JSON where it is."""
    with contextlib.suppress(ValueError):
        return json.loads(text)
    rows: list[object] = []
    for row in text.splitlines():
        try:
            rows.append(json.loads(row))
        except ValueError:
            rows.append(row)
    return rows


def kept(file: Path) -> bool:
    """Return whether what a file holds is recorded."""
    return file.suffix in (".csv", ".jsonl", ".pgn", ".parquet", ".json") and not {"store", ".cache"} & {*file.parts}


def content(file: Path) -> object:
    """Return the rows of a table, or the lines of a text."""
    if file.suffix == ".parquet":
        return json.loads(json.dumps(pq.read_table(file).to_pylist(), default=str))
    text = file.read_text(encoding="utf-8")
    return [*csv.reader(text.splitlines())] if file.suffix == ".csv" else parsed(text)


def compare_folders(before: Path, after: Path, only: str) -> int:
    """Print the differences by case; return 1 when there are any."""
    names = sorted({file.stem for folder in (before, after) for file in folder.glob("*.json")})
    differing = 0
    for name in (name for name in names if fnmatch(name, only)):
        one, other = before / f"{name}.json", after / f"{name}.json"
        if not (one.is_file() and other.is_file()):
            print(f"{name}: only in {before if one.is_file() else after}")
            differing += 1
            continue
        found = summed(differences(json.loads(one.read_text()), json.loads(other.read_text())))
        if found:
            print(name, *found[:SHOWN], sep="\n    ")
        if len(found) > SHOWN:
            print(f"    … and {len(found) - SHOWN} more")
        differing += bool(found)
    print(f"{len(names)} cases, {differing} differ")
    return int(differing > 0)


def differences(before: object, after: object, place: str = "") -> Iterator[str]:
    """Yield what differs: keys, lengths, numbers beyond the tolerance, and texts that are not prose."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in (key for key in {**before, **after} if key not in UNEQUAL):
            if key not in after or key not in before:
                yield f"{place}.{key} {'missing' if key in before else 'added'}"
            else:
                yield from differences(before[key], after[key], f"{place}.{key}")
    elif isinstance(before, list) and isinstance(after, list):
        if len(before) != len(after):
            yield f"{place} has {len(after)} entries, before {len(before)}"
        for i, (one, other) in enumerate(zip(before, after, strict=False)):
            yield from differences(one, other, f"{place}[{i}]")
    elif not same(before, after) and not (isinstance(before, str) and set(re.findall(r"\w+", place)) & PROSE):
        yield f"{place}: {before!r} → {after!r}"


def summed(found: Iterable[str]) -> list[str]:
    """Return differences with keys that are missing or added in many rows told once, with how often."""
    counts = Counter(re.sub(r"\[\d+\]", "[]", row) if row.endswith((" missing", " added")) else row for row in found)
    return [row if n == 1 else f"{row} ({n} times)" for row, n in counts.items()]


def same(before: object, after: object) -> bool:
    """Return whether two values are equal, numbers and texts of numbers within the tolerance."""
    with contextlib.suppress(TypeError, ValueError):
        if not isinstance(before, bool) and not isinstance(after, bool):
            return math.isclose(float(str(before)), float(str(after)), rel_tol=1e-9, abs_tol=1e-12) or str(
                before
            ) == str(after)
    return type(before) is type(after) and before == after


UCI = b"uci\nisready\nposition startpos moves e2e4 e7e5\ngo depth 1\nquit\n"
"""What `play` reads."""

if __name__ == "__main__":
    main()
