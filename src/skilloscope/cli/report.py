"""`skilloscope report`: one player or a whole event, as a page to read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from skilloscope.cli.options import AxisOptions, EngineOptions, IntervalOutput, Options, command

PgnFiles = Annotated[list[Path], typer.Argument(help="PGN files.", metavar="GAMES…")]


@dataclass(frozen=True)
class ReportOptions(Options):
    """Of whom the report is, and how the games are rated."""

    player: Annotated[
        str | None, typer.Option(help="Whose report; a part of the name will do. Without: the event.", metavar="NAME")
    ] = None
    effort: Annotated[str | None, typer.Option(help="instant (no engine), quick or full (default with an engine).")] = (
        None
    )
    prior: Annotated[str | None, typer.Option(help="Prior of Elo: population (default), flat or header.")] = None
    budget: Annotated[
        float | None, typer.Option(help="Let the engine search so long, a fair share of games.", metavar="MINUTES")
    ] = None


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(epilog="Example: skilloscope report games.pgn --player Ann --html ann.html")(command(report))


def report(
    games: PgnFiles, *, asked: ReportOptions, axis: AxisOptions, output: IntervalOutput, engine: EngineOptions
) -> int:
    """Tell what the games say of a player, or of an event: Elo, where it lies, the decisions that cost most."""
    from skilloscope.chess.duplicates import read_distinct
    from skilloscope.cli.console import exit_code, progress_bar, report_faults, show_report, write_outputs
    from skilloscope.cli.work import work_of
    from skilloscope.core.configuration import effective_settings
    from skilloscope.ratings.elo_axis.axis import elo_axis
    from skilloscope.sources.judge import check_games, found_name, players
    from skilloscope.studies.rate.games import AxisRating
    from skilloscope.studies.report.event import EventReport, event_report
    from skilloscope.studies.report.page import event_page, player_page
    from skilloscope.studies.report.player import PlayerReport, player_report
    from skilloscope.studies.report.tables import event_sheets, player_sheets

    found = effective_settings({"prior": asked.prior, "effort": asked.effort, "scale": axis.scale})
    prior, effort, scale = (found[key].value for key in ("prior", "effort", "scale"))
    rating = AxisRating.of(elo_axis(scale), None, effort, prior=prior, mass=output.mass)
    played = read_distinct(list(games))
    check_games(played)
    name = None if asked.player is None else found_name(asked.player, players(played))
    with progress_bar("rating") as show:
        work = work_of(engine, show, otherwise=rating.effort.settings)
        rating = replace(
            rating,
            workers=work.workers or 1,
            progress=lambda done, total: show(done, total, "games, what people play"),
        )
        strict = asked.effort is not None
        told: PlayerReport | EventReport
        if name is None:
            told, judged = event_report(played, rating, work, budget=asked.budget, strict=strict)
        else:
            told, judged = player_report(played, name, rating, work, budget=asked.budget, strict=strict)
    sheets = (event_sheets if name is None else player_sheets)(told.as_dict())
    report_faults(played.tally)
    head = "" if judged is None else str(judged)
    show_report(told.as_dict(), *sheets, as_json=output.as_json, head=head, notes=told.ratings.warnings)
    source = ", ".join(path.name for path in games)
    if output.wanted:
        write_outputs(
            output,
            lambda: player_page(told, source) if isinstance(told, PlayerReport) else event_page(told, source),
        )
    return exit_code(played.tally)
