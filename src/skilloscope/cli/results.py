"""`skilloscope results`: ratings from results, for populations of any size."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from skilloscope.cli.options import IntervalOutput, Json, Options, command
from skilloscope.cli.results_options import (
    AddingOptions,
    BoardOptions,
    ClusterAddress,
    ResultFiles,
    ResultsOptions,
    StateFile,
)
from skilloscope.cli.results_predict import results_predict
from skilloscope.cli.results_report import results_report

group = typer.Typer(help="Ratings from results: who played whom, when, and how it ended.", no_args_is_help=True)


@dataclass(frozen=True)
class PopulationOptions(Options):
    """A population to simulate."""

    players: Annotated[int, typer.Option(help="How many players.", min=2)] = 100
    games: Annotated[int, typer.Option(help="How many games in all.", min=1)] = 5000
    periods: Annotated[int, typer.Option(help="How many rating periods.", min=1)] = 12
    sigma0: Annotated[float, typer.Option("--sigma0", help="Standard deviation of first strengths.", min=0.0)] = 300.0
    nu: Annotated[float, typer.Option("--nu", help="Standard deviation of their change.", min=0.0)] = 40.0


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    for name, function, example in (
        ("fit", results_fit, "fit results.csv --period 2M"),
        ("rate", results_rate, "rate results.csv --at 2024-12-31 --active 4 --html ratings.html"),
        ("smooth", results_smooth, "smooth results.csv --period 1Y --history history.csv"),
        ("predict", results_predict, "predict results.csv --pairs pairs.csv --out predicted.csv"),
        ("report", results_report, "report --state ratings.state --since 2024-03"),
        ("simulate", results_simulate, "simulate --players 100 --games 5000 --out results.csv"),
    ):
        group.command(name, epilog=f"Example: skilloscope results {example}")(command(function))
    app.add_typer(group, name="results")


@group.callback()
def results() -> None:
    """Ratings from results: who played whom, when, and how it ended."""


def results_fit(
    files: ResultFiles,
    *,
    how: ResultsOptions,
    method: Annotated[str, typer.Option(help="quick, or nelder-mead as in the paper; the same optimum.")] = "quick",
    intervals: Annotated[
        bool, typer.Option("--intervals", help="Say where the truth may lie, by games played again.")
    ] = False,
    lengths: Annotated[
        str | None, typer.Option(help="Compare how well periods of these lengths foretell: 1M,2M,1Y.", metavar="LIST")
    ] = None,
    scheduler: ClusterAddress = None,
    output: IntervalOutput,
) -> int:
    """Fit how much new players differ (sigma0) and how fast strength changes (nu), by what they foretell."""
    from skilloscope.cli.console import exit_code, show_report, write_outputs
    from skilloscope.cli.results_work import remark, workers
    from skilloscope.studies.results.results import fit_posterior, fit_report
    from skilloscope.studies.results.tables import fit_sheets

    posterior = None
    if (intervals or output.wanted) and not (how.sigma0 is None and how.nu is None):
        raise typer.BadParameter("intervals are of both parameters: leave --sigma0 and --nu out")
    if scheduler and not intervals:
        raise typer.BadParameter("a cluster fits games played again: give --intervals too", param_hint="--scheduler")
    table, enter = how.read(files)
    period, first, later = how.length(table), how.advantage or "auto", how.drift or "auto"
    if output.wanted:
        posterior = fit_posterior(table, period, advantage=first, drift=later, entry=enter)
    with workers(scheduler) as cluster:
        report = fit_report(
            table,
            period,
            sigma0=how.sigma0,
            nu=how.nu,
            advantage=first,
            drift=later,
            entry=enter,
            method=method,
            intervals=intervals,
            lengths=[length.strip() for length in (lengths or "").split(",") if length.strip()],
            mass=output.mass,
            each=cluster.each if cluster else map,
        )
    remark(report)
    show_report(report, *fit_sheets(report), as_json=output.as_json)
    if posterior is not None:
        from skilloscope.studies.results.page import fit_page

        write_outputs(output, lambda: fit_page(report, posterior))
    return exit_code(table.tally)


def results_rate(
    files: ResultFiles,
    *,
    how: ResultsOptions,
    state: StateFile = None,
    rewind: Annotated[
        str | None,
        typer.Option(
            "--from", help="Rewind kept ratings to before this period, and play all from there.", metavar="PERIOD"
        ),
    ] = None,
    stream: Annotated[
        bool, typer.Option("--stream", help="Read sorted Parquet period by period, in little memory.")
    ] = False,
    scheduler: ClusterAddress = None,
    adding: AddingOptions,
    board: BoardOptions,
) -> int:
    """Rate everybody from results: a rating with its standard deviation, period by period."""
    from skilloscope.cli.results_work import rated, show_board, streamed
    from skilloscope.core.outputs import check_outputs, check_writable
    from skilloscope.ratings.periods.kept import games_file, history_file

    check_writable(state)
    if state:
        check_outputs(
            [state, history_file(state), games_file(state), *filter(None, (board.history, board.html))], files
        )
    if stream and (board.history or board.wanted or state or rewind):
        raise typer.BadParameter("a stream keeps no history: leave out --history, --html, --state and --from")
    if scheduler and not stream:
        raise typer.BadParameter("a cluster reads sorted Parquet: give --stream too", param_hint="--scheduler")
    return show_board(
        streamed(files, how, scheduler) if stream else rated(files, how, state, rewind, adding=adding), board
    )


def results_smooth(
    files: ResultFiles,
    *,
    how: ResultsOptions,
    method: Annotated[
        str, typer.Option(help="rts; eq14 as printed in the paper, which counts the past twice; whole.")
    ] = "rts",
    from_last_active: Annotated[
        bool, typer.Option("--from-last-active", help="Begin at each player's last active period.")
    ] = False,
    board: BoardOptions,
) -> int:
    """Tell the past anew with what came later: smoothed ratings, and everybody's peak."""
    from skilloscope.cli.results_work import rated, show_board
    from skilloscope.studies.results.runs import smoothed

    return show_board(smoothed(rated(files, how), method, from_last_active=from_last_active), board)


def results_simulate(
    out: Annotated[Path, typer.Option("--out", help="Results to write: .csv or .parquet.", metavar="FILE")],
    *,
    sizes: PopulationOptions,
    period: Annotated[str, typer.Option(help="Length of a period; dates are drawn in it.", metavar="LENGTH")] = "1M",
    start: Annotated[str, typer.Option(help="A date in the first period.", metavar="DATE")] = "2020-01-01",
    truth: Annotated[
        Path | None, typer.Option(help="Write the true strengths by period: .csv or .parquet.", metavar="FILE")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the draws.", min=0)] = 1,
    as_json: Json = False,
) -> int:
    """Simulate a population whose strengths wander: results, and the truth to compare ratings with."""
    import numpy as np

    from skilloscope.cli.console import err, print_json
    from skilloscope.reports.words import plural
    from skilloscope.results.writing import check_table_format, results_to_arrow, write_table
    from skilloscope.simulate.populations import Population, simulate_results, truth_table

    for file in filter(None, (out, truth)):
        check_table_format(file)
    population = Population(sizes.players, sizes.periods, sizes.games, sizes.sigma0, sizes.nu)
    made = simulate_results(population, rng=np.random.default_rng(seed), period=period, start=start)
    write_table(results_to_arrow(made.results), out)
    if truth:
        write_table(truth_table(population, made), truth)
    if as_json:
        names = ("players", "periods", "games", "sigma0", "nu")
        known = {name: getattr(sizes, name) for name in names}
        print_json({"schema": 1, **known, "period": period, "seed": seed})
    else:
        counts = f"{plural(sizes.games, 'game')} of {sizes.players:,} players in {sizes.periods:,} periods of {period}"
        err().print(f"{counts} (σ0 = {sizes.sigma0:g}, ν = {sizes.nu:g}, seed {seed}) written to {out}")
    return 0
