"""`skilloscope dimensions`: players' competence by phase, colour, clock or complexity."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skilloscope.cli.options import EngineOptions, GameFiles, Html, Json, Mass, command

if TYPE_CHECKING:
    from skilloscope.sources.judge import Judged
    from skilloscope.studies.dimensions.dimensions import Dimensions


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(epilog="Example: skilloscope dimensions games.pgn --by phase --html dimensions.html")(
        command(dimensions)
    )


def dimensions(
    games: GameFiles,
    player: Annotated[
        list[str] | None, typer.Option(help="A player; may be repeated. Without it everybody together.", metavar="NAME")
    ] = None,
    by: Annotated[str, typer.Option(help="phase, colour, clock, complexity, or any context column.")] = "phase",
    dispersion: Annotated[
        float | None, typer.Option(help="Divide all evidence by this (default: the scale's); 1 believes it in full.")
    ] = None,
    mass: Mass = 0.95,
    html: Html = None,
    *,
    engine: EngineOptions,
    as_json: Json = False,
) -> None:
    """Tell in what players are strong: competence by phase, colour, clock or complexity, with partial pooling."""
    from skilloscope.cli.console import run

    raise typer.Exit(run(lambda: _dimensions(games, player or [], by, dispersion, mass, html, engine, as_json)))


def _dimensions(
    paths: list[Path],
    players: list[str],
    by: str,
    dispersion: float | None,
    mass: float,
    html: Path | None,
    engine: EngineOptions,
    as_json: bool,
) -> int:
    from skilloscope.chess.joining import CONTEXT
    from skilloscope.cli.console import exit_code, report_faults, write_page
    from skilloscope.cli.judged import source_line
    from skilloscope.cli.work import working
    from skilloscope.core.configuration import effective_settings
    from skilloscope.core.errors import InputError, check_mass, check_writable
    from skilloscope.decision.text import table_kind
    from skilloscope.models.agent import Agent
    from skilloscope.ratings.scale import scale as load_scale
    from skilloscope.sources.judge import judge
    from skilloscope.studies.dimensions.dimensions import DIMENSIONS
    from skilloscope.studies.dimensions.dimensions import dimensions as by_dimension
    from skilloscope.studies.dimensions.page import dimensions_page

    if html:
        check_writable(html)
    check_mass(mass)
    if by not in (*DIMENSIONS, *CONTEXT) and not any(table_kind(path) for path in paths):
        raise InputError(f"no dimension {by!r}", hint=f"the dimensions: {', '.join((*DIMENSIONS, *CONTEXT))}")
    scale = load_scale(effective_settings({})["scale"].value)
    with working(engine) as work:
        judged = judge(paths, work, player=players)
    report_faults(judged.decisions.tally)
    study = by_dimension(
        judged.decisions,
        Agent.from_about(scale.model),
        by=by,
        players=players,
        dispersion=scale.dispersion if dispersion is None else dispersion,
        mass=mass,
    )
    _show(study, judged, as_json)
    if html:
        write_page(html, dimensions_page(study, title=f"Competence by {study.by}", source=source_line(paths, judged)))
    return exit_code(judged.decisions.tally)


def _show(study: Dimensions, judged: Judged, as_json: bool) -> None:
    from skilloscope.cli.console import out, print_json
    from skilloscope.cli.judged import judge_line
    from skilloscope.studies.dimensions.tables import dimensions_table

    report = study.as_dict()
    if as_json:
        print_json({**report, "positions": judged.as_dict()})
        return
    out().print(judge_line(judged))
    out().print(dimensions_table(report))
