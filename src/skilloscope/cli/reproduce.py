"""`skilloscope reproduce`: the papers' printed numbers beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skilloscope.cli.options import EngineOptions, Json, command

if TYPE_CHECKING:
    from skilloscope.papers.harness import Reproduction


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(epilog="Example: skilloscope reproduce DFH13.line")(command(reproduce))


def reproduce(
    key: Annotated[str, typer.Argument(help="A paper (DFH13) or one of its tables (DFH13.III); all without it.")] = "",
    data: Annotated[
        Path | None, typer.Option(help="Folder of real games and results; entries without it are empty.", metavar="DIR")
    ] = None,
    budget: Annotated[float, typer.Option(help="Engine time that may be spent, in minutes.", metavar="MINUTES")] = 0.0,
    seed: Annotated[int, typer.Option(help="Seed of whatever is sampled.")] = 1,
    html: Annotated[Path | None, typer.Option(help="Write a page with the figures.", metavar="FILE")] = None,
    *,
    engine: EngineOptions,
    as_json: Json = False,
) -> None:
    """Put every printed number of the papers that can be computed beside ours; – where nothing was computed."""
    from skilloscope.cli.console import run

    raise typer.Exit(run(lambda: _reproduce(key, data, budget, seed, html, engine, as_json)))


def _reproduce(
    key: str, data: Path | None, minutes: float, seed: int, html: Path | None, engine: EngineOptions, as_json: bool
) -> int:
    from skilloscope.cli.console import out, print_json
    from skilloscope.cli.work import working
    from skilloscope.core.checks import check_writable
    from skilloscope.core.errors import InputError
    from skilloscope.papers import ENTRIES, reproduce
    from skilloscope.papers.harness import Budget
    from skilloscope.papers.tables import reproduction_tables

    if data is not None and not data.is_dir():
        raise InputError(f"{data}: no such folder", hint="--data takes the folder of games and results")
    check_writable(html)
    with working(engine) as work:
        done = reproduce(ENTRIES, key, Budget(minutes, seed, data, work))
    report = done.as_dict()
    if as_json:
        print_json(report)
    else:
        for table in reproduction_tables(report):
            out().print(table)
    if html:
        _write_page(html, done)
    beyond = [row for entry in report["entries"] for row in entry["rows"] if row["within"] is False]
    return 1 if beyond else 0


def _write_page(path: Path, done: Reproduction) -> None:
    from skilloscope.cli.console import write_page
    from skilloscope.papers.page import reproduction_page

    write_page(path, reproduction_page(done))
