"""`skilloscope results`: ratings from results, for populations of any size."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from skilloscope.results.table import Results
    from skilloscope.studies.continued import Kept
    from skilloscope.studies.rating_runs import Rated

__all__ = ["register"]

group = typer.Typer(help="Ratings from results: who played whom, when, and how it ended.", no_args_is_help=True)

Files = Annotated[
    list[Path],
    typer.Argument(help="Tables date,player_1,player_2,score (.csv, .parquet), or PGN files.", metavar="RESULTS…"),
]
Period = Annotated[
    str | None, typer.Option(help="Length of a rating period: 1D, 1W, 1M (default), 2M, 1Y …", metavar="LENGTH")
]
Sigma0 = Annotated[
    float | None,
    typer.Option("--sigma0", help="Standard deviation of new players' strength; fitted without.", min=0.01),
]
Nu = Annotated[
    float | None, typer.Option("--nu", help="Standard deviation of its change in a period; fitted without.", min=0.0)
]
Columns = Annotated[
    list[str] | None, typer.Option(help="Where a column has another name: player_1=white.", metavar="OURS=THEIRS")
]
DropDuplicates = Annotated[
    bool, typer.Option("--drop-duplicates", help="Leave out games listed twice; they are kept without.")
]
At = Annotated[str | None, typer.Option(help="Let time pass until this date's period.", metavar="DATE")]
Active = Annotated[int | None, typer.Option(help="Only who played in the last so many periods.", metavar="N", min=1)]
Top = Annotated[int, typer.Option(help="How many players the table shows.", metavar="N", min=1)]
HistoryFile = Annotated[
    Path | None,
    typer.Option("--history", help="Write everybody's ratings by period: .csv or .parquet.", metavar="FILE"),
]
StateFile = Annotated[
    Path | None, typer.Option("--state", help="Keep the ratings here; continue them where they exist.", metavar="FILE")
]
From = Annotated[
    str | None,
    typer.Option(
        "--from", help="Rewind kept ratings to before this period, and play all from there.", metavar="PERIOD"
    ),
]
Html = Annotated[Path | None, typer.Option(help="Write a page with leaderboard and history.", metavar="FILE")]
Json = Annotated[bool, typer.Option("--json", help="Write JSON to stdout.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.add_typer(group, name="results")


@group.callback()
def results() -> None:
    """Ratings from results: who played whom, when, and how it ended."""


@group.command(epilog="Example: skilloscope results fit results.csv --period 2M")
def fit(
    files: Files,
    period: Period = None,
    sigma0: Sigma0 = None,
    nu: Nu = None,
    method: Annotated[str, typer.Option(help="quick, or nelder-mead as in the paper; the same optimum.")] = "quick",
    intervals: Annotated[bool, typer.Option("--intervals", help="Say how sure the fit is: 95 % intervals.")] = False,
    lengths: Annotated[
        str | None, typer.Option(help="Compare how well periods of these lengths foretell: 1M,2M,1Y.", metavar="LIST")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page with the joint posterior.", metavar="FILE")] = None,
    columns: Columns = None,
    drop_duplicates: DropDuplicates = False,
    as_json: Json = False,
) -> None:
    """Fit how much new players differ (sigma0) and how fast strength changes (nu), by what they foretell."""
    from skilloscope.cli.console import run

    def work() -> int:
        from skilloscope.cli.console import exit_code, out, print_json, write_page
        from skilloscope.cli.results_predict import remark
        from skilloscope.reports.tables.results import fit_table
        from skilloscope.studies.results import fit_posterior, fit_report

        _check_files(None, html)
        if (intervals or html) and not (sigma0 is None and nu is None):
            raise typer.BadParameter("intervals are of both parameters: leave --sigma0 and --nu out")
        table = _read(files, columns, drop_duplicates)
        posterior = fit_posterior(table, period) if intervals or html else None
        tried = [length.strip() for length in (lengths or "").split(",") if length.strip()]
        report = fit_report(table, period, sigma0=sigma0, nu=nu, method=method, posterior=posterior, lengths=tried)
        remark(report)
        if as_json:
            print_json(report)
        else:
            out().print(fit_table(report))
        if html and posterior is not None:
            from skilloscope.reports.results_page import fit_page

            write_page(html, fit_page(report, posterior))
        return exit_code(table.tally)

    raise typer.Exit(run(work))


@group.command(epilog="Example: skilloscope results rate results.csv --at 2024-12-31 --active 4 --html ratings.html")
def rate(
    files: Files,
    period: Period = None,
    sigma0: Sigma0 = None,
    nu: Nu = None,
    at: At = None,
    active: Active = None,
    top: Top = 20,
    history: HistoryFile = None,
    state: StateFile = None,
    rewind: From = None,
    stream: Annotated[
        bool, typer.Option("--stream", help="Read sorted Parquet period by period, in little memory.")
    ] = False,
    html: Html = None,
    columns: Columns = None,
    drop_duplicates: DropDuplicates = False,
    as_json: Json = False,
) -> None:
    """Rate everybody from results: a rating with its standard deviation, period by period."""
    from skilloscope.cli.console import run

    def work() -> int:
        _check_files(history, html, state)
        if stream and (history or html or state or rewind):
            raise typer.BadParameter("a stream keeps no history: leave out --history, --html, --state and --from")
        if stream:
            rated = _streamed(files, period, sigma0, nu, columns)
        else:
            rated = _rated(files, period, sigma0, nu, state, rewind, columns, drop_duplicates)
        return _show(rated, at=at, active=active, top=top, history=history, html=html, as_json=as_json)

    raise typer.Exit(run(work))


@group.command(epilog="Example: skilloscope results smooth results.csv --period 1Y --history history.csv")
def smooth(
    files: Files,
    period: Period = None,
    sigma0: Sigma0 = None,
    nu: Nu = None,
    method: Annotated[
        str, typer.Option(help="rts; eq14 as printed in the paper, which counts the past twice; joint.")
    ] = "rts",
    from_last_active: Annotated[
        bool, typer.Option("--from-last-active", help="Begin at each player's last active period.")
    ] = False,
    at: At = None,
    active: Active = None,
    top: Top = 20,
    history: HistoryFile = None,
    html: Html = None,
    columns: Columns = None,
    drop_duplicates: DropDuplicates = False,
    as_json: Json = False,
) -> None:
    """Tell the past anew with what came later: smoothed ratings, and everybody's peak."""
    from skilloscope.cli.console import run

    def work() -> int:
        from skilloscope.studies.rating_runs import smoothed

        _check_files(history, html)
        rated = _rated(files, period, sigma0, nu, None, None, columns, drop_duplicates)
        rated = smoothed(rated, method, from_last_active=from_last_active)
        return _show(rated, at=at, active=active, top=top, history=history, html=html, as_json=as_json)

    raise typer.Exit(run(work))


@group.command(epilog="Example: skilloscope results predict results.csv --pairs pairs.csv --out predicted.csv")
def predict(
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
        int | None, typer.Option(help="Predict the last so many periods of the results, and say how well.", min=1)
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="With --holdout: write a page with the calibration curve.", metavar="FILE")
    ] = None,
    period: Period = None,
    sigma0: Sigma0 = None,
    nu: Nu = None,
    at: At = None,
    state: StateFile = None,
    columns: Columns = None,
    drop_duplicates: DropDuplicates = False,
    as_json: Json = False,
) -> None:
    """Predict games: the probability that the first player wins, or how well past periods were foretold."""
    from skilloscope.cli import results_predict as work
    from skilloscope.cli.console import run

    if (pairs is None) == (holdout is None):
        raise typer.BadParameter("give --pairs or --holdout, one of the two")
    if html is not None and holdout is None:
        raise typer.BadParameter("--html goes with --holdout")
    if holdout is not None:
        given = {"sigma0": sigma0, "nu": nu}

        def read() -> Results:
            return _read(files or [], columns, drop_duplicates)

        raise typer.Exit(run(lambda: work.holdout(read, holdout, period, given, html, as_json)))

    def rated() -> Rated:
        if not files and state is not None:
            return work.kept(state)
        return _rated(files or [], period, sigma0, nu, state, None, columns, drop_duplicates, save=False)

    assert pairs is not None
    raise typer.Exit(run(lambda: work.pairs(rated, pairs, at, out, as_json)))


@group.command(epilog="Example: skilloscope results simulate --players 100 --games 5000 --out results.csv")
def simulate(
    out: Annotated[Path, typer.Option("--out", help="Results to write: .csv or .parquet.", metavar="FILE")],
    players: Annotated[int, typer.Option(help="How many players.", min=2)] = 100,
    games: Annotated[int, typer.Option(help="How many games in all.", min=1)] = 5000,
    periods: Annotated[int, typer.Option(help="How many rating periods.", min=1)] = 12,
    sigma0: Annotated[float, typer.Option("--sigma0", help="Standard deviation of first strengths.", min=0.0)] = 300.0,
    nu: Annotated[float, typer.Option("--nu", help="Standard deviation of their change.", min=0.0)] = 40.0,
    period: Annotated[str, typer.Option(help="Length of a period; dates are drawn in it.", metavar="LENGTH")] = "1M",
    start: Annotated[str, typer.Option(help="A date in the first period.", metavar="DATE")] = "2020-01-01",
    truth: Annotated[
        Path | None, typer.Option(help="Write the true strengths by period: .csv or .parquet.", metavar="FILE")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the draws.", min=0)] = 1,
    as_json: Json = False,
) -> None:
    """Simulate a population whose strengths wander: results, and the truth to compare ratings with."""
    from skilloscope.cli.console import run
    from skilloscope.cli.results_simulate import simulated

    sizes = {"players": players, "periods": periods, "games": games, "sigma0": sigma0, "nu": nu}
    raise typer.Exit(run(lambda: simulated(sizes, period, start, seed, out, truth, as_json)))


def _read(files: list[Path], columns: list[str] | None, drop_duplicates: bool) -> Results:
    from skilloscope.cli.console import report_faults
    from skilloscope.errors import InputError
    from skilloscope.studies.result_files import pair_columns, read_files

    if not files:
        raise InputError("no results given", hint="name a table or PGN files")
    table = read_files(files, columns=pair_columns(columns or []), drop_duplicates=drop_duplicates)
    report_faults(table.tally)
    return table


def _rated(
    files: list[Path],
    period: str | None,
    sigma0: float | None,
    nu: float | None,
    state: Path | None,
    rewind: str | None,
    columns: list[str] | None,
    drop_duplicates: bool,
    *,
    save: bool = True,
) -> Rated:
    from skilloscope.cli.console import err
    from skilloscope.studies.continued import Kept, load_kept, save_kept
    from skilloscope.studies.rating_runs import rate_results

    kept: Kept | None = load_kept(state) if state is not None and state.is_file() else None
    table = _read(files, columns, drop_duplicates)
    rated = rate_results(table, period, sigma0=sigma0, nu=nu, kept=kept, rewind=rewind)
    if state is not None and save:
        save_kept(Kept(rated.state, rated.history), state)
        err().print(f"ratings up to {rated.calendar.label(rated.latest)} kept in {state}")
    return rated


def _streamed(
    files: list[Path], period: str | None, sigma0: float | None, nu: float | None, columns: list[str] | None
) -> Rated:
    from skilloscope.cli.console import report_faults
    from skilloscope.studies.rating_runs import rate_stream
    from skilloscope.studies.result_files import pair_columns

    rated = rate_stream(files, period, sigma0=sigma0, nu=nu, columns=pair_columns(columns or []))
    report_faults(rated.results.tally)
    return rated


def _show(
    rated: Rated,
    *,
    at: str | None,
    active: int | None,
    top: int,
    history: Path | None,
    html: Path | None,
    as_json: bool,
) -> int:
    from skilloscope.cli.console import err, exit_code, out, print_json, write_page
    from skilloscope.cli.results_predict import remark
    from skilloscope.reports.tables.results import leaderboard
    from skilloscope.studies.results import history_table, ratings_report

    report = ratings_report(rated, at=at, active=active)
    remark(report)
    if as_json:
        print_json(report)
    else:
        out().print(leaderboard(report, top))
    if history:
        from skilloscope.results.writing import write_table

        write_table(history_table(rated), history)
        err().print(f"history written to {history}")
    if html:
        from skilloscope.reports.results_page import results_page

        write_page(html, results_page(rated, report))
    return exit_code(rated.results.tally)


def _check_files(history: Path | None, html: Path | None, state: Path | None = None) -> None:
    """Refuse what cannot be written before anything is computed."""
    from skilloscope.errors import check_writable
    from skilloscope.results.writing import check_table_format

    if history:
        check_table_format(history)
    for path in (html, state):
        if path:
            check_writable(path)
