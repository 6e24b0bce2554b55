"""`skilloscope names`: which names of results or games may be one person's."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skilloscope.cli.options import Json, command
from skilloscope.cli.results_options import ResultFiles, ResultsOptions


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(epilog="Example: skilloscope names results.csv --out aliases.csv")(command(names))


def names(
    files: ResultFiles,
    *,
    alias: Annotated[
        list[str] | None, typer.Option(help="Aliases that are confirmed already.", metavar="SPELLING=NAME|FILE")
    ] = None,
    columns: Annotated[
        list[str] | None, typer.Option(help="Where a column has another name: player_1=white.", metavar="OURS=THEIRS")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the list to be confirmed: .csv or .parquet.", metavar="FILE")
    ] = None,
    top: Annotated[int, typer.Option(help="How many names the table shows.", metavar="N", min=1)] = 40,
    as_json: Json = False,
) -> int:
    """List names that may be one person's, with games and years; a confirmed list is what --alias takes."""
    from skilloscope.cli.console import err, exit_code, show_report
    from skilloscope.reports.words import plural
    from skilloscope.results.writing import check_table_format, write_table
    from skilloscope.studies.names.names import alias_table, names_report
    from skilloscope.studies.names.tables import names_sheet

    if out:
        check_table_format(out)
    table, _ = ResultsOptions(alias=alias, columns=columns).read(files)
    report = names_report(table)
    show_report(report, names_sheet(report, top), as_json=as_json)
    if out:
        write_table(alias_table(report), out)
        err().print(
            f"{plural(report['listed'], 'name')} written to {out}: write yes into `confirmed` where they are one person"
        )
    return exit_code(table.tally)
