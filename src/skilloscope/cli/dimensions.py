"""`skilloscope dimensions`: players' competence by phase, colour, clock or complexity."""

from __future__ import annotations

from typing import Annotated

import typer

from skilloscope.cli.options import EngineOptions, GameFiles, IntervalOutput, command


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    example = "Example: skilloscope dimensions games.pgn --by phase --html dimensions.html"
    app.command(epilog=example)(command(dimensions))


def dimensions(
    games: GameFiles,
    player: Annotated[
        list[str] | None, typer.Option(help="A player; may be repeated. Without it everybody together.", metavar="NAME")
    ] = None,
    by: Annotated[str, typer.Option(help="phase, colour, clock, complexity, or any context column.")] = "phase",
    dispersion: Annotated[
        float | None, typer.Option(help="Divide all evidence by this (default: the scale's); 1 believes it in full.")
    ] = None,
    *,
    output: IntervalOutput,
    engine: EngineOptions,
) -> int:
    """Tell in what players are strong: competence by phase, colour, clock or complexity, with partial pooling."""
    from skilloscope.cli.console import exit_code, show_report, write_page
    from skilloscope.cli.judged import check_column, judge_line, scale_of, source_line
    from skilloscope.cli.work import judge_files
    from skilloscope.models.agent import Agent
    from skilloscope.studies.dimensions.dimensions import DIMENSIONS
    from skilloscope.studies.dimensions.dimensions import dimensions as by_dimension
    from skilloscope.studies.dimensions.tables import dimensions_sheet

    check_column(by, games, DIMENSIONS, what="dimension")
    scale = scale_of()
    allowed = scale.dispersion if dispersion is None else dispersion
    judged = judge_files(games, engine, player=player)
    batch, model = judged.decisions, Agent.from_about(scale.model)
    study = by_dimension(batch, model, by=by, players=judged.players, dispersion=allowed, mass=output.mass)
    report = {**study.as_dict(), "positions": judged.as_dict()}
    show_report(report, dimensions_sheet(report), as_json=output.as_json, head=judge_line(judged))
    if output.html:
        from skilloscope.studies.dimensions.page import dimensions_page

        source = source_line(games, judged)
        write_page(output.html, dimensions_page(study, title=f"Competence by {by}", source=source))
    return exit_code(batch.tally)
