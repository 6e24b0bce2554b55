"""`skilloscope reproduce`: the papers' printed numbers beside ours."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(epilog="Example: skilloscope reproduce DFH13.line")(reproduce)


def reproduce(
    key: Annotated[str, typer.Argument(help="A paper (DFH13) or one of its tables (DFH13.III); all without it.")] = "",
    budget: Annotated[float, typer.Option(help="Engine time that may be spent, in minutes.", metavar="MINUTES")] = 0.0,
    seed: Annotated[int, typer.Option(help="Seed of whatever is sampled.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON to stdout.")] = False,
) -> None:
    """Put every printed number of the papers that can be computed beside ours; – where nothing was computed."""
    from skilloscope.cli.console import run

    raise typer.Exit(run(lambda: _reproduce(key, budget, seed, as_json)))


def _reproduce(key: str, minutes: float, seed: int, as_json: bool) -> int:
    from skilloscope.cli.console import out, print_json
    from skilloscope.reports.tables import reproduction_tables
    from skilloscope.studies.reproduction import ENTRIES, reproduce
    from skilloscope.studies.reproduction.harness import Budget

    report = reproduce(ENTRIES, key, Budget(minutes, seed))
    if as_json:
        print_json(report)
    else:
        for table in reproduction_tables(report):
            out().print(table)
    beyond = [row for entry in report["entries"] for row in entry["rows"] if row["within"] is False]
    return 1 if beyond else 0
