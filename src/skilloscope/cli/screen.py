"""`skilloscope screen`: what was played beside what is expected at a player's rating."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from skilloscope.cli.options import EngineOptions, Options, Output, command


@dataclass(frozen=True)
class ScreenOptions(Options):
    """At which rating, in which groups, and how rare help is taken to be."""

    elo: Annotated[str, typer.Option(help="Ratings: header (the games'), a number, or a CSV file player,elo[,sd].")] = (
        "header"
    )
    event: Annotated[bool, typer.Option("--event", help="Screen each player in each event apart.")] = False
    prevalence: Annotated[
        float, typer.Option(help="The share of players taken to have had help; posterior odds follow from it.")
    ] = 0.001
    effort: Annotated[str | None, typer.Option(help="instant (no engine), quick or full (default with an engine).")] = (
        None
    )


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(epilog="Example: skilloscope screen event.pgn --prevalence 0.001 --html report.html")(command(screen))


def screen(
    games: Annotated[list[Path], typer.Argument(help="PGN files.", metavar="GAMES…")],
    *,
    screening: ScreenOptions,
    output: Output,
    engine: EngineOptions,
) -> int:
    """Compare match, loss and blunders with what is expected at each player's rating: z, p, odds; never a verdict."""
    from skilloscope.cli.console import err, exit_code, progress_bar, report_faults, show_report, write_outputs
    from skilloscope.cli.work import asked_depth, work_of
    from skilloscope.ratings.elo_axis.axis import elo_axis
    from skilloscope.studies.rate.methods import effort_for
    from skilloscope.studies.screen.front import ScreenRequest, check_prevalence, screen_files
    from skilloscope.studies.screen.moves import GivenRatings
    from skilloscope.studies.screen.tables import screen_sheets

    check_prevalence(screening.prevalence)  # before the engine is asked
    ratings = GivenRatings.from_text(screening.elo)
    axis = elo_axis()
    effort = effort_for(axis, None, screening.effort, asked_depth(engine))
    with progress_bar("screening") as show:
        work = work_of(engine, show, otherwise=effort.settings)
        asked = ScreenRequest(
            axis,
            effort,
            ratings,
            screening.event,
            screening.prevalence,
            strict=screening.effort is not None,
            workers=work.workers or 1,
            progress=lambda done, total: show(done, total, "games, what people play"),
        )
        found, judged = screen_files(games, asked, work)
    report_faults(found.tally)
    if judged is not None:
        err().print(str(judged))  # not in the report: the next run takes them from the store
    report = found.as_dict()
    show_report(report, *screen_sheets(report), as_json=output.as_json, notes=found.warnings)
    if output.wanted:
        from skilloscope.studies.screen.page import screen_page

        write_outputs(output, lambda: screen_page(report))
    return exit_code(found.tally)
