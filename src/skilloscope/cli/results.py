"""`skilloscope results`: ratings from results, for populations of any size."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from skilloscope.studies.results.runs import Rated

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
Advantage = Annotated[
    str | None,
    typer.Option(help="Beyond the paper: Elo that the first player has more, or fit. None without.", metavar="ELO|fit"),
]
Entry = Annotated[
    Path | None,
    typer.Option(help="Beyond the paper: table player,rating of where new players enter.", metavar="FILE"),
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
    advantage: Advantage = None,
    entry: Entry = None,
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
        from skilloscope.cli.results_work import Asked, check_files, remark
        from skilloscope.studies.results.results import fit_posterior, fit_report
        from skilloscope.studies.results.tables import fit_table

        check_files(None, html)
        if (intervals or html) and not (sigma0 is None and nu is None):
            raise typer.BadParameter("intervals are of both parameters: leave --sigma0 and --nu out")
        asked = Asked(files, period, sigma0, nu, advantage, entry, columns, drop_duplicates)
        table, enter = asked.read()
        posterior = fit_posterior(table, period, advantage=advantage, entry=enter) if intervals or html else None
        tried = [length.strip() for length in (lengths or "").split(",") if length.strip()]
        report = fit_report(
            table,
            period,
            sigma0=sigma0,
            nu=nu,
            advantage=advantage,
            entry=enter,
            method=method,
            posterior=posterior,
            lengths=tried,
        )
        remark(report)
        if as_json:
            print_json(report)
        else:
            out().print(fit_table(report))
        if html and posterior is not None:
            from skilloscope.studies.results.page import fit_page

            write_page(html, fit_page(report, posterior))
        return exit_code(table.tally)

    raise typer.Exit(run(work))


@group.command(epilog="Example: skilloscope results rate results.csv --at 2024-12-31 --active 4 --html ratings.html")
def rate(
    files: Files,
    period: Period = None,
    sigma0: Sigma0 = None,
    nu: Nu = None,
    advantage: Advantage = None,
    entry: Entry = None,
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
        from skilloscope.cli.results_work import Asked, check_files, rated, show, streamed

        check_files(history, html, state)
        if stream and (history or html or state or rewind):
            raise typer.BadParameter("a stream keeps no history: leave out --history, --html, --state and --from")
        asked = Asked(files, period, sigma0, nu, advantage, entry, columns, drop_duplicates)
        found = streamed(asked) if stream else rated(asked, state, rewind)
        return show(found, at=at, active=active, top=top, history=history, html=html, as_json=as_json)

    raise typer.Exit(run(work))


@group.command(epilog="Example: skilloscope results smooth results.csv --period 1Y --history history.csv")
def smooth(
    files: Files,
    period: Period = None,
    sigma0: Sigma0 = None,
    nu: Nu = None,
    advantage: Advantage = None,
    entry: Entry = None,
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
        from skilloscope.cli.results_work import Asked, check_files, rated, show
        from skilloscope.studies.results.runs import smoothed

        check_files(history, html)
        found = rated(Asked(files, period, sigma0, nu, advantage, entry, columns, drop_duplicates))
        found = smoothed(found, method, from_last_active=from_last_active)
        return show(found, at=at, active=active, top=top, history=history, html=html, as_json=as_json)

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
    advantage: Advantage = None,
    entry: Entry = None,
    draws: Annotated[
        bool, typer.Option("--draws", help="Beyond the paper: win, draw and loss, each with its own probability.")
    ] = False,
    at: At = None,
    state: StateFile = None,
    columns: Columns = None,
    drop_duplicates: DropDuplicates = False,
    as_json: Json = False,
) -> None:
    """Predict games: the probability that the first player wins, or how well past periods were foretold."""
    from skilloscope.cli import results_predict as work
    from skilloscope.cli.console import run
    from skilloscope.cli.results_work import Asked, rated

    if (pairs is None) == (holdout is None):
        raise typer.BadParameter("give --pairs or --holdout, one of the two")
    if html is not None and holdout is None:
        raise typer.BadParameter("--html goes with --holdout")
    asked = Asked(files or [], period, sigma0, nu, advantage, entry, columns, drop_duplicates)
    if holdout is not None:
        raise typer.Exit(run(lambda: work.holdout(asked, holdout, draws, html, as_json)))

    def found() -> Rated:
        return work.kept(state, asked) if not files and state is not None else rated(asked, state, save=False)

    assert pairs is not None
    raise typer.Exit(run(lambda: work.pairs(found, pairs, at, out, draws, as_json)))


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
