"""`skilloscope decisions judges`: which of two judges explains the same choices better."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skilloscope.cli.options import Json, command


def register_on(group: typer.Typer) -> None:
    """Add the command to the group of decisions."""
    group.command(epilog="Example: skilloscope decisions judges 0-ply.parquet 2-ply.parquet --json")(command(judges))


def judges(
    tables: Annotated[
        list[Path],
        typer.Argument(help="Two tables of the same choices, or one with a depth axis.", metavar="TABLE [TABLE]"),
    ],
    *,
    depths: Annotated[
        str | None, typer.Option(help="Compare two depths of one table, as in 0,2.", metavar="A,B")
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="Whole what is held out and resampled (game, else problem, else decider).")
    ] = None,
    folds: Annotated[int, typer.Option(help="How many folds.")] = 5,
    seed: Annotated[int, typer.Option(help="Seed of the folds and of the resampling.", min=0)] = 1,
    mass: Annotated[float, typer.Option(help="Mass of the interval.")] = 0.95,
    as_json: Json = False,
) -> int:
    """Compare two judges of the same choices: k fitted for each, held-out log-likelihood, difference with interval."""
    from skilloscope.cli.console import exit_code, report_faults, show_report
    from skilloscope.core.errors import OptionError, Tally
    from skilloscope.sources.judge import told_tables
    from skilloscope.studies.judges.judges import compare_depths, compare_judges
    from skilloscope.studies.judges.tables import judges_sheet

    if len(tables) != (1 if depths else 2):
        wanted = "one table with a depth axis" if depths else "two tables of the same choices, or one and --depths A,B"
        raise OptionError(f"{len(tables)} tables are given", hint=f"give {wanted}")
    batches = told_tables(tables)
    tally = Tally.sum(batch.tally for batch in batches)
    report_faults(tally)
    if depths:
        report = compare_depths(batches[0], _two(depths), by=by, folds=folds, seed=seed, mass=mass)
    else:
        names = (tables[0].stem, tables[1].stem)
        report = compare_judges(batches[0], batches[1], names, by=by, folds=folds, seed=seed, mass=mass)
    show_report(report, judges_sheet(report), as_json=as_json)
    return exit_code(tally)


def _two(depths: str) -> tuple[int, int]:
    from skilloscope.core.errors import OptionError

    pair = whole_numbers(depths, "--depths")
    if len(pair) != 2:
        raise OptionError(f"--depths takes two depths, got {depths!r}", hint="as in --depths 0,2")
    return pair[0], pair[1]


def whole_numbers(text: str, option: str) -> list[int]:
    """Return the whole numbers of a list as a user writes it."""
    from skilloscope.core.errors import OptionError

    try:
        return [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise OptionError(f"{option}: {text!r} is not a list of whole numbers", hint="as in 4,6,8") from None
