"""Finds words that readers stumble over: `python tools/check_words.py` lists file, line and what to write instead.

It reads the pages, the docstrings and strings of the package, and its templates. Spelling is British.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORDS = {  # a pattern, and what to write instead
    r"fore(tells?|telling|told)": "predict",
    r"(un)?told": "given, shown, listed, known",
    r"(?<!cannot\s)tells?(?! (you|us)\b)": "shows, gives, indicates",
    r"anew": "again",
    r"(of|to|for|from|about|by) whom": "whose, or another sentence",
    r"beside": "next to, besides, alongside",
    r"(stands?|stood|standing) (on|in(?! for)|behind|beside)": "rests on, uses, is in, is next to",
    r"lean(s|ed|ing|ings)? (on|to|towards?)|leanings?": "is at the edge of, depends on, bias",
    r"kindl(y|ier|iest)": "biased upwards",
    r"drawn towards?": "shrunk to",
    r"(dis)?believe[sd]?": "weighted, discounted, assumed, posterior",
    r"(is|are|be|been|was|nothing) said (of|about)": "reported for",
    r"surer|surest": "more precise",
    r"blur(s|red)?": "convolved",
    r"who(so)?ever": "anyone who, players who",
    r"somebody(?! else\b)": "a player, a person, someone",
    r"wherefore|thereof|therein|whereof|whence|betwixt|amongst|whilst": "plain words",
    r"behaviors?|neighbors?|analyz(e|es|ed|ing|er)|label(ed|ing)": "British spelling",
}
PATTERN = re.compile(
    "|".join(rf"(?P<w{i}>(?<![\w.`/-])(?:{word})(?![\w`/(=]))".replace(" ", r"\s+") for i, word in enumerate(WORDS)),
    re.I,
)
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`|<style>.*?</style>", re.MULTILINE | re.DOTALL)


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Yield what a reader sees of a file: the line where it begins, and the text."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield 1, CODE.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), text) if path.suffix == ".md" else text
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value


def main() -> int:
    """Print what is found; return 1 if there is anything."""
    pages = [path for place in ("*.md", "docs/**/*.md", ".github/**/*.md") for path in ROOT.glob(place)]
    package = [path for end in ("py", "html", "js") for path in (ROOT / "src").rglob(f"*.{end}")]
    package = [path for path in package if "vendor" not in path.parts]
    found = 0
    for path in sorted({*pages, *package} - {ROOT / name for name in ("CHANGELOG.md", "THIRD_PARTY.md")}):
        for line, text in texts(path):
            for hit in PATTERN.finditer(text):
                found += 1
                better = list(WORDS.values())[int(hit.lastgroup[1:])]
                at = line + text.count("\n", 0, hit.start())
                print(f"{path.relative_to(ROOT)}:{at}: {hit[0]!r}: {better}")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
