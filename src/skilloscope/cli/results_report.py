"""`skilloscope results report`: what changed since a date, or one member's page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skilloscope.cli.options import Output
from skilloscope.cli.results_options import ResultsOptions, StateFile


def results_report(
    files: Annotated[
        list[Path] | None, typer.Argument(help="Results to rate by; not needed with --state.", metavar="RESULTS…")
    ] = None,
    since: Annotated[str | None, typer.Option(help="Since when: a date, a month or a year.", metavar="DATE")] = None,
    player: Annotated[str | None, typer.Option(help="One member: history and opponents.", metavar="NAME")] = None,
    *,
    how: ResultsOptions,
    state: StateFile = None,
    output: Output,
) -> int:
    """Say who rose and fell since a date, who is new and who has gone; or one member's history and opponents."""
    from skilloscope.cli.console import exit_code, show_report, write_outputs
    from skilloscope.cli.results_predict import kept_as_rated
    from skilloscope.cli.results_work import rated, remark
    from skilloscope.studies.results.changes import changes_report, member_report
    from skilloscope.studies.results.page import changes_page, member_page
    from skilloscope.studies.results.tables import changes_sheets, member_sheets

    if since is None and player is None:
        raise typer.BadParameter("give --since, --player or both")
    found = kept_as_rated(state, how) if not files and state is not None else rated(files or [], how, state, save=False)
    if player is not None:
        report, sheets, page = member_report(found, player, since), member_sheets, member_page
    else:
        report, sheets, page = changes_report(found, str(since)), changes_sheets, changes_page
    remark(report)
    show_report(report, *sheets(report), as_json=output.as_json)
    if output.wanted:
        write_outputs(output, lambda: page(found, report))
    return exit_code(found.results.tally)
