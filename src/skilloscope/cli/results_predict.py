"""`skilloscope results predict`: games to come, or how well past ones were foretold."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skilloscope.cli.options import Output
from skilloscope.cli.results_options import AtDate, ResultsOptions, StateFile

if TYPE_CHECKING:
    import pyarrow as pa

    from skilloscope.results.table import Results
    from skilloscope.studies.results.held_out import FitOptions
    from skilloscope.studies.results.runs import Rated


def results_predict(
    files: Annotated[
        list[Path] | None, typer.Argument(help="Results to rate by; not needed with --state.", metavar="RESULTS…")
    ] = None,
    pairs: Annotated[
        Path | None, typer.Option(help="Table player_1,player_2 to predict: .csv or .parquet.", metavar="FILE")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Write the pairs with their probability: .csv or .parquet.", metavar="FILE"),
    ] = None,
    holdout: Annotated[
        str | None,
        typer.Option(help="Predict the last so many periods, or all since a date, and say how well.", metavar="N|DATE"),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(help="Predict so many stretches of time, each from all before it.", metavar="N", min=1),
    ] = None,
    *,
    how: ResultsOptions,
    draws: Annotated[
        bool, typer.Option("--draws", help="Beyond the paper: win, draw and loss, each with its own probability.")
    ] = False,
    whole: Annotated[
        bool, typer.Option("--whole", help="Beyond the paper: weigh all games of all periods together.")
    ] = False,
    at: AtDate = None,
    state: StateFile = None,
    output: Output,
) -> int:
    """Predict games: the probability that the first player wins, or how well past periods were foretold."""
    from skilloscope.cli.results_work import rated
    from skilloscope.results.writing import check_table_format
    from skilloscope.sources.results import read_pairs
    from skilloscope.studies.results.results import predictions

    if output.wanted and holdout is None:
        raise typer.BadParameter("--html goes with --holdout")
    if sum(asked is not None for asked in (pairs, holdout, folds)) != 1:
        raise typer.BadParameter("give --pairs, --holdout or --folds, one of the three")
    if holdout is not None:
        return _held_out(files or [], how, holdout, draws, output)
    if folds is not None:
        return _in_folds(files or [], how, folds, output)
    assert pairs is not None
    if out:
        check_table_format(out)
    wanted = read_pairs(pairs)  # what is wrong with them is said before anybody is rated
    found = kept_as_rated(state, how) if not files and state is not None else rated(files or [], how, state, save=False)
    report = predictions(found, *wanted[1:], at=at, draws=draws, whole=whole)
    return _pairs(found, wanted[0], report, out=out, as_json=output.as_json)


def kept_as_rated(state: Path, how: ResultsOptions) -> Rated:
    """Return kept ratings as they are."""
    from dataclasses import replace

    from skilloscope.cli.console import report_faults
    from skilloscope.core.errors import InputError
    from skilloscope.ratings.periods.kept import load_kept
    from skilloscope.studies.results.runs import as_rated

    if not state.is_file():
        raise InputError(f"{state}: no such file", hint="`results rate --state` keeps ratings")
    enter, tally = how.entering()
    report_faults(tally)
    found = as_rated(load_kept(state))
    return replace(found, entry=enter, results=replace(found.results, tally=tally))


def _pairs(rated: Rated, table: pa.Table, report: Mapping[str, Any], *, out: Path | None, as_json: bool) -> int:
    """Show the predicted games of a table of pairs, or write them."""
    from skilloscope.cli.console import err, exit_code, print_json, show
    from skilloscope.cli.results_work import remark
    from skilloscope.results.writing import write_table
    from skilloscope.sources.results import with_probability
    from skilloscope.studies.results.tables import predictions_sheet

    remark(report)
    if report["new"]:
        err().print(f"note: new players: {'; '.join(report['new'][:10])}{' …' if len(report['new']) > 10 else ''}")
    if as_json:
        print_json(report)
    elif not out:
        show(predictions_sheet(report))
    if out:
        write_table(with_probability(table, report), out)
        err().print(f"{len(table):,} predictions written to {out}")
    return exit_code(rated.results.tally)


def _held_out(files: list[Path], how: ResultsOptions, periods: str, draws: bool, output: Output) -> int:
    """Say how well the last periods are foretold."""
    from skilloscope.cli.console import exit_code, show_report, write_outputs
    from skilloscope.cli.results_work import remark
    from skilloscope.studies.results.held_out import holdout_report
    from skilloscope.studies.results.tables import holdout_sheet

    results, fit = _read_to_fit(files, how)
    report = holdout_report(results, periods, how.length(results), fit=fit, draws=draws)
    remark(report)
    show_report(report, holdout_sheet(report), as_json=output.as_json)
    if output.wanted:
        from skilloscope.studies.results.page import holdout_page

        write_outputs(output, lambda: holdout_page(report))
    return exit_code(results.tally)


def _in_folds(files: list[Path], how: ResultsOptions, folds: int, output: Output) -> int:
    """Say how well stretches of time are foretold, one after another."""
    from skilloscope.cli.console import exit_code, show_report
    from skilloscope.cli.results_work import remark
    from skilloscope.studies.results.held_out import folds_report
    from skilloscope.studies.results.tables import folds_sheet

    results, fit = _read_to_fit(files, how)
    report = folds_report(results, folds, how.length(results), fit=fit)
    remark(report)
    show_report(report, folds_sheet(report), as_json=output.as_json)
    return exit_code(results.tally)


def _read_to_fit(files: list[Path], how: ResultsOptions) -> tuple[Results, FitOptions]:
    """Return the results, and what is held when they are fitted."""
    from skilloscope.studies.results.held_out import FitOptions

    results, enter = how.read(files)
    return results, FitOptions(how.sigma0, how.nu, how.advantage or "auto", how.drift or "auto", enter)
