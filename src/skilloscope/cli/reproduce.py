"""`skilloscope reproduce`: the papers' printed numbers beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skilloscope.cli.options import EngineOptions, Output, command


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
    *,
    output: Output,
    engine: EngineOptions,
) -> int:
    """Put every printed number of the papers that can be computed beside ours; – where nothing was computed."""
    from skilloscope.cli.console import show_report, write_outputs
    from skilloscope.cli.work import working
    from skilloscope.core.errors import InputError
    from skilloscope.papers import ENTRIES
    from skilloscope.papers import reproduce as reproduced
    from skilloscope.papers.harness import Budget
    from skilloscope.papers.tables import reproduction_sheets

    if data is not None and not data.is_dir():
        raise InputError(f"{data}: no such folder", hint="--data takes the folder of games and results")
    with working(engine) as work:
        done = reproduced(ENTRIES, key, Budget(budget, seed, data, work))
    report = done.as_dict()
    show_report(report, *reproduction_sheets(report), as_json=output.as_json)
    if output.wanted:
        from skilloscope.papers.page import reproduction_page

        write_outputs(output, lambda: reproduction_page(done))
    return int(any(row["within"] is False for entry in report["entries"] for row in entry["rows"]))
