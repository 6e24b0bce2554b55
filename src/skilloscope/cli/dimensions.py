"""`skilloscope dimensions`: players' Elo by phase, colour, opening, clock or opponents; by the agent as c."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skilloscope.cli.elo import asked_elo, judged_for_elo, refuse_agents
from skilloscope.cli.options import EffortOptions, EngineOptions, GameFiles, IntervalOutput, command


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    example = "Example: skilloscope dimensions games.pgn --by phase --html dimensions.html"
    app.command(epilog=example)(command(dimensions))


def dimensions(
    games: GameFiles,
    player: Annotated[
        list[str] | None, typer.Option(help="A player; may be repeated. Without it everybody together.", metavar="NAME")
    ] = None,
    by: Annotated[
        str, typer.Option(help="phase, colour, eco, clock, spent, opposition, year, event or another column.")
    ] = "phase",
    dispersion: Annotated[
        float | None, typer.Option(help="With --method agent: divide all evidence by this (default: the scale's).")
    ] = None,
    *,
    effort: EffortOptions,
    output: IntervalOutput,
    engine: EngineOptions,
) -> int:
    """Tell in what players are strong: Elo by phase, colour, opening, clock or opponents."""
    from skilloscope.cli.console import exit_code, show_report, write_outputs
    from skilloscope.cli.judged import source_line
    from skilloscope.studies.dimensions.elo import elo_dimensions
    from skilloscope.studies.dimensions.tables import elo_dimensions_sheet

    asked = asked_elo(games, effort)
    if asked.by_agent:
        return _by_agent(games, player, by, dispersion, output, engine)
    _check_axis(by, dispersion)
    found, names = judged_for_elo(games, asked, effort, engine, by=by, mass=output.mass, players=player or ())
    study = elo_dimensions(found, by, names)
    report = {**study.as_dict("group"), **({"positions": found.judged.as_dict()} if found.judged else {})}
    head = str(found.judged or "")
    show_report(report, elo_dimensions_sheet(report), as_json=output.as_json, head=head, notes=study.warnings)
    if output.wanted:
        from skilloscope.studies.dimensions.page import elo_dimensions_page

        source = source_line(games, found.judged)
        write_outputs(output, lambda: elo_dimensions_page(study, title=f"Elo by {by}", source=source))
    return exit_code(study.tally)


def _check_axis(by: str, dispersion: float | None) -> None:
    """Refuse what only the agent knows."""
    from skilloscope.core.errors import OptionError

    if by == "complexity":
        raise OptionError("complexity is that of the agent's choices", hint="--method agent")
    refuse_agents(dispersion=dispersion)


def _by_agent(
    games: list[Path],
    player: list[str] | None,
    by: str,
    dispersion: float | None,
    output: IntervalOutput,
    engine: EngineOptions,
) -> int:
    """Tell the agent's competence by dimension, as c."""
    from skilloscope.cli.console import exit_code, show_report, write_outputs
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
    if output.wanted:
        from skilloscope.studies.dimensions.page import dimensions_page

        source = source_line(games, judged)
        write_outputs(output, lambda: dimensions_page(study, title=f"Competence by {by}", source=source))
    return exit_code(batch.tally)
