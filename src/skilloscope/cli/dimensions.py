"""`skilloscope dimensions`: players' competence by phase, colour, clock or complexity."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skilloscope.cli.work import EngineFlags, Json, with_engine_options

if TYPE_CHECKING:
    from skilloscope.studies.dimensions import Dimensions
    from skilloscope.studies.judging import Judged

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(epilog="Example: skilloscope dimensions games.pgn --by phase --html dimensions.html")(
        with_engine_options(dimensions)
    )


def dimensions(
    games: Annotated[
        list[Path],
        typer.Argument(help="PGN files, or decisions that `analyse --out` wrote (.parquet).", metavar="GAMES…"),
    ],
    player: Annotated[
        list[str] | None, typer.Option(help="A player; may be repeated. Without it everybody together.", metavar="NAME")
    ] = None,
    by: Annotated[str, typer.Option(help="phase, colour, clock, complexity, or any context column.")] = "phase",
    dispersion: Annotated[
        float | None, typer.Option(help="Divide all evidence by this (default: the scale's); 1 believes it in full.")
    ] = None,
    mass: Annotated[float, typer.Option(help="Mass of the intervals.")] = 0.95,
    html: Annotated[Path | None, typer.Option(help="Write a self-contained HTML page.", metavar="FILE")] = None,
    *,
    engine_flags: EngineFlags,
    as_json: Json = False,
) -> None:
    """Tell in what players are strong: competence by phase, colour, clock or complexity, with partial pooling."""
    from skilloscope.cli.console import run

    raise typer.Exit(run(lambda: _dimensions(games, player or [], by, dispersion, mass, html, engine_flags, as_json)))


def _dimensions(
    paths: list[Path],
    players: list[str],
    by: str,
    dispersion: float | None,
    mass: float,
    html: Path | None,
    engine_flags: EngineFlags,
    as_json: bool,
) -> int:
    from skilloscope.chess.joining import CONTEXT
    from skilloscope.cli.console import exit_code, report_faults
    from skilloscope.cli.work import working
    from skilloscope.decision.text import table_kind
    from skilloscope.errors import InputError, check_writable
    from skilloscope.models.agent import Agent
    from skilloscope.ratings.scale import scale as load_scale
    from skilloscope.studies.dimensions import DIMENSIONS
    from skilloscope.studies.dimensions import dimensions as by_dimension
    from skilloscope.studies.judging import judge

    if html:
        check_writable(html)
    if not 0 < mass < 1:
        raise InputError(f"--mass lies between 0 and 1, got {mass}")
    if by not in (*DIMENSIONS, *CONTEXT) and not any(table_kind(path) for path in paths):
        raise InputError(f"no dimension {by!r}", hint=f"the dimensions: {', '.join((*DIMENSIONS, *CONTEXT))}")
    scale = load_scale()
    with working(engine_flags) as work:
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
        _write_page(html, study, paths)
    return exit_code(judged.decisions.tally)


def _show(study: Dimensions, judged: Judged, as_json: bool) -> None:
    from skilloscope.cli.console import out, print_json
    from skilloscope.reports.tables.dimensions import dimensions_table
    from skilloscope.reports.words import engine_line

    report = study.as_dict()
    if as_json:
        print_json({**report, "positions": judged.as_dict()})
        return
    out().print(f"{judged}; {engine_line(study.settings)}", highlight=False)
    out().print(dimensions_table(report))


def _write_page(path: Path, study: Dimensions, paths: list[Path]) -> None:
    from skilloscope.cli.console import err
    from skilloscope.reports.dimensions import dimensions_page

    source = ", ".join(p.name for p in paths[:5]) + (f" and {len(paths) - 5} more files" if len(paths) > 5 else "")
    path.write_text(dimensions_page(study, title=f"Competence by {study.by}", source=source), encoding="utf-8")
    err().print(f"page written to {path}")
