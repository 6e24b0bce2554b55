"""Run the examples of README and docs and put what they print today in place of what the pages show.

    .venv/bin/python tools/rerun_docs.py [PAGE …]

A row that is no longer printed is replaced by the row of today's output that is most like it, numbers aside; what has
no such row, or is shortened with …, is listed and left. The same rules decide as in tests/house/test_docs.py.
"""

from __future__ import annotations

import doctest
import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from difflib import SequenceMatcher
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "house"))

import test_docs  # noqa: E402

ALIKE = 0.7
"""How much of two rows must agree, digits and lengths of lines aside."""
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Examples(doctest.DocTestRunner):
    """Runs the examples of a page, all of them, and keeps what was printed instead of what was expected."""

    def __init__(self) -> None:
        super().__init__(optionflags=FLAGS)
        self.changed: list[tuple[doctest.Example, str]] = []

    def report_failure(self, out: object, test: object, example: doctest.Example, got: str) -> None:
        """Keep an output that differs."""
        self.changed.append((example, got))


def main() -> int:
    """Rewrite the pages; return 1 if a row is left to be looked at."""
    os.environ |= {"STOCKFISH_EXECUTABLE": "/nowhere/stockfish", "COLUMNS": "160"}
    left = 0
    for page in [Path(word).resolve() for word in sys.argv[1:]] or test_docs.PAGES:
        with TemporaryDirectory() as folder:
            os.environ |= {"HOME": folder, "XDG_DATA_HOME": folder, "XDG_CONFIG_HOME": folder}
            for row in [*_commands(page), *_python(page)]:
                print(f"{test_docs.name(page)}: {row}")
                left += 1
    return int(left > 0)


def _commands(page: Path) -> Iterator[str]:
    """Replace what the commands of a page print; yield what could not be."""
    text = page.read_text(encoding="utf-8")
    for command, code, out, err in test_docs.runs(page):
        if code:
            yield f"$ {command.line} ends with {code}: {err}"
            continue
        printed = [row for row in f"{out}\n{err}".splitlines() if row.strip()]
        kept = {test_docs.plain(row) for row in command.shown}
        free = [row for row in printed if test_docs.plain(row) not in kept]
        rows = []
        for row in command.shown:
            if not row.strip() or test_docs.appears(row, f"{out}\n{err}"):
                rows.append(row)
                continue
            best = max(free, key=lambda other, row=row: _alike(row, other), default="")
            if "…" in row or _alike(row, best) < ALIKE:
                yield f"$ {command.line}\n  shown  {row}\n  today? {best}"
                rows.append(row)
            else:
                rows.append(best.rstrip())
                free = [other for other in free if other is not best]
        for line in (command.line, command.line.replace("skilloscope demo", "make demo")):
            text = text.replace("\n".join([line, *command.shown]), "\n".join([line, *rows]))
    page.write_text(text, encoding="utf-8")


def _python(page: Path) -> Iterator[str]:
    """Replace what the Python of a page prints; yield what could not be."""
    lines = page.read_text(encoding="utf-8").splitlines()
    code = [""] * len(lines)
    for start, text in test_docs.blocks(page, "python"):
        code[start : start + text.count("\n")] = text.splitlines()
    test = doctest.DocTestParser().get_doctest("\n".join(code) + "\n", {}, test_docs.name(page), str(page), 0)
    runner, here = Examples(), Path.cwd()
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            with redirect_stdout(io.StringIO()):
                runner.run(test, out=lambda _: None)
        finally:
            os.chdir(here)
    for example, got in reversed(runner.changed):
        if "…" in example.want or "..." in example.want:
            yield f">>> {example.source.strip()}\n  shown  {example.want}\n  today  {got}"
            continue
        begin = example.lineno + example.source.count("\n")
        lines[begin : begin + example.want.count("\n")] = got.rstrip("\n").splitlines()
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _alike(row: str, other: str) -> float:
    """Return how alike two rows are if digits and the lengths of lines and gaps do not count."""
    one, two = (re.sub(r"([─━ ])\1+", r"\1", re.sub(r"\d+", "0", text)).strip() for text in (row, other))
    return SequenceMatcher(None, one, two, autojunk=False).ratio()


if __name__ == "__main__":
    sys.exit(main())
