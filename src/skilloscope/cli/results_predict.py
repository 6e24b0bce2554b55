"""The work of `skilloscope results predict`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skilloscope.cli.results_work import Asked
    from skilloscope.studies.results.runs import Rated


def kept(state: Path, asked: Asked) -> Rated:
    """Return kept ratings as they are."""
    from dataclasses import replace

    from skilloscope.cli.console import report_faults
    from skilloscope.core.errors import InputError
    from skilloscope.ratings.periods.kept import load_kept
    from skilloscope.studies.results.runs import as_rated

    if not state.is_file():
        raise InputError(f"{state}: no such file", hint="`results rate --state` keeps ratings")
    enter, tally = asked.entering()
    report_faults(tally)
    found = as_rated(load_kept(state))
    return replace(found, entry=enter, results=replace(found.results, tally=tally))


def pairs(rate: Callable[[], Rated], path: Path, at: str | None, out: Path | None, draws: bool, as_json: bool) -> int:
    """Predict the games of a table of pairs."""
    from skilloscope.cli.console import err, exit_code, print_json
    from skilloscope.cli.console import out as console
    from skilloscope.cli.results_work import remark
    from skilloscope.results.writing import check_table_format, write_table
    from skilloscope.sources.results import read_pairs, with_probability
    from skilloscope.studies.results.results import predictions
    from skilloscope.studies.results.tables import predictions_table

    if out:
        check_table_format(out)
    table, player_1, player_2 = read_pairs(path)
    rated = rate()
    report = predictions(rated, player_1, player_2, at=at, draws=draws)
    remark(report)
    if report["new"]:
        err().print(f"note: new players: {'; '.join(report['new'][:10])}{' …' if len(report['new']) > 10 else ''}")
    if as_json:
        print_json(report)
    elif not out:
        console().print(predictions_table(report))
    if out:
        write_table(with_probability(table, report), out)
        err().print(f"{len(player_1):,} predictions written to {out}")
    return exit_code(rated.results.tally)


def holdout(asked: Asked, periods: int, draws: bool, html: Path | None, as_json: bool) -> int:
    """Say how well the last periods are foretold."""
    from skilloscope.cli.console import exit_code, out, print_json, write_page
    from skilloscope.cli.results_work import check_files, remark
    from skilloscope.studies.results.results import holdout_report
    from skilloscope.studies.results.tables import holdout_table

    check_files(None, html)
    results, enter = asked.read()
    report = holdout_report(
        results,
        periods,
        asked.period,
        sigma0=asked.sigma0,
        nu=asked.nu,
        advantage=asked.advantage,
        entry=enter,
        draws=draws,
    )
    remark(report)
    if as_json:
        print_json(report)
    else:
        out().print(holdout_table(report))
    if html:
        from skilloscope.studies.results.page import holdout_page

        write_page(html, holdout_page(report))
    return exit_code(results.tally)
