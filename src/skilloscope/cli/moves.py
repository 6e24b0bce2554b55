"""`skilloscope moves`: what people of each strength play in a position."""

from __future__ import annotations

from typing import Annotated

import typer

from skilloscope.cli.options import EngineOptions, Output, command
from skilloscope.core.errors import OptionError


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    example = "skilloscope moves 'r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 3 3' --elo 1200,2000"
    app.command(epilog=f"Example: {example}")(command(moves))


def moves(
    fen: Annotated[str, typer.Argument(help="A position as FEN, in quotation marks.", metavar="FEN")],
    elo: Annotated[str, typer.Option(help="Levels of Elo, with commas between them.")] = "1200,1600,2000,2400",
    top: Annotated[int, typer.Option(help="How many moves the table shows.", min=1)] = 10,
    no_engine: Annotated[bool, typer.Option("--no-engine", help="Ask no engine.")] = False,
    *,
    output: Output,
    engine: EngineOptions,
) -> int:
    """Show what people of each strength play in a position, and at which strength half find the best move."""
    from skilloscope.cli.console import show_report, write_outputs
    from skilloscope.cli.work import working
    from skilloscope.studies.moves.moves import moves_study
    from skilloscope.studies.moves.tables import moves_table

    levels = _levels(elo)
    if no_engine:
        study = moves_study(fen, levels)
    else:
        with working(engine) as work:
            study = moves_study(fen, levels, work=work)
    report = study.as_dict()
    show_report(report, moves_table(report, top), as_json=output.as_json, notes=report["notes"])
    if output.wanted:
        from skilloscope.studies.moves.page import moves_page

        write_outputs(output, lambda: moves_page(study))
    return 0


def _levels(text: str) -> list[float]:
    """Return the levels that a text lists."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError as error:
        raise OptionError(f"--elo lists numbers, got {text!r}", hint="for instance --elo 1200,1600,2000") from error
