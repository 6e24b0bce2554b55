"""Write the tables of options in docs/commands/ from the command line itself: what --help says, nothing by hand.

    .venv/bin/python tools/option_tables.py

A table stands between `<!-- options: COMMAND -->` and `<!-- end of options -->`. Options that many commands share have
a table of their own, under the name of their group, and one row in the tables of those commands. `commands` is the
table of all commands. Prose stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

import typer
import typer.main

from skilloscope.cli.app import app
from skilloscope.cli.options import EngineOptions, Options, Output, command
from skilloscope.cli.results import ResultsOptions

PAGES = Path(__file__).resolve().parent.parent / "docs" / "commands"
PLACE = re.compile(r"(<!-- options: ([\w -]+) -->\n).*?(<!-- end of options -->)", re.DOTALL)
GROUPS: dict[str, tuple[type[Options], str]] = {
    "results": (
        ResultsOptions,
        "[of every command that reads results](options.md#options-of-every-command-that-reads-results)",
    ),
    "page": (Output, "[of every command with a page](options.md#options-of-every-command-with-a-page)"),
    "engine": (EngineOptions, "[of every command with an engine](options.md#options-of-every-command-with-an-engine)"),
}
"""The groups that have a table of their own: what they hold, and where it stands."""


def main() -> None:
    """Write the tables into the pages."""
    for page in sorted(PAGES.glob("*.md")):
        page.write_text(with_tables(page.read_text(encoding="utf-8")), encoding="utf-8")


def with_tables(page: str) -> str:
    """Return the page with every table as the command line has it now."""
    known = commands(typer.main.get_command(app))
    return PLACE.sub(lambda place: f"{place[1]}\n{table(place[2], known)}\n\n{place[3]}", page)


def commands(group: Any, path: str = "") -> dict[str, Any]:
    """Return every command by its full name, those of groups too."""
    found: dict[str, Any] = {}
    for word, one in group.commands.items():
        found |= commands(one, f"{path}{word} ") if hasattr(one, "commands") else {path + word: one}
    return found


def table(name: str, known: dict[str, Any]) -> str:
    """Return the table of a command or of a group of options, its rows in the order of --help."""
    if name == "commands":
        return "\n".join(["| command | |", "|---|---|", *(summary(path, one) for path, one in known.items())])
    shared: list[str] = []
    if name in GROUPS and name not in known:
        left = parameters(GROUPS[name][0])
    else:
        left = list(known[name].params)
        for group, words in GROUPS.values():
            own = {(one.opts[0], one.help) for one in parameters(group)}
            if own <= {(one.opts[0], one.help) for one in left}:
                shared.append(row(", ".join(f"`{one.opts[0]}`" for one in parameters(group)), words, ""))
                left = [one for one in left if (one.opts[0], one.help) not in own]
    rows = [row(written(one), one.help or "", default(one)) for one in left]
    return "\n".join(["| option | | default |", "|---|---|---|", *rows, *shared])


def summary(path: str, one: Any) -> str:
    """Return the row of a command in the table of all: its name, linked to its page, and what it does."""
    words = path.split()
    anchor = f"#skilloscope-{'-'.join(words)}" if len(words) > 1 else ""
    return row(f"[`{path}`]({words[0]}.md{anchor})", one.help or "")


def parameters(group: type[Options]) -> list[Any]:
    """Return the options of a group as a command has them."""

    def alone(options: Any) -> None: ...

    alone.__annotations__ = {"options": group, "return": None}
    bare = typer.Typer()
    bare.command()(command(alone))
    found: list[Any] = [one for one in typer.main.get_command(bare).params if one.name.startswith("options_")]
    assert len(found) == len(fields(group))
    return found


def row(*cells: str) -> str:
    """Return one row; bars and angles inside it are no markup."""
    return "| " + " | ".join(cell.replace("|", r"\|").replace("<", "&lt;") for cell in cells) + " |"


def written(one: Any) -> str:
    """Return an option as it is typed, with the word for its value."""
    if one.param_type_name == "argument":
        return f"`{one.metavar or one.name.upper()}`"
    names: Iterable[str] = (*one.opts, *one.secondary_opts)
    return ", ".join(f"`{name} {one.metavar}`" if one.metavar else f"`{name}`" for name in names)


def default(one: Any) -> str:
    """Return what holds where the option is not given; nothing for switches and where its help tells."""
    value = one.default
    if value is None or value == "" or isinstance(value, bool) or callable(value):
        return ""
    return " ".join(f"{part:g}" if isinstance(part, float) else str(part) for part in _parts(value))


def _parts(value: Any) -> Iterable[Any]:
    return value if isinstance(value, tuple | list) else (value,)


if __name__ == "__main__":
    main()
