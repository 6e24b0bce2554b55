"""`skilloscope game`: one game move by move."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skilloscope.cli.gain_options import EngineGainOptions
from skilloscope.cli.options import EngineOptions, IntervalOutput, command


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(epilog="Example: skilloscope game games.pgn --index 3 --html game.html")(command(game))


def game(
    games: Annotated[Path, typer.Argument(help="A PGN file, or evaluated games (.ndjson).", metavar="GAMES")],
    index: Annotated[
        int, typer.Option(help="Which game of the file: the number in its id, counted from 1.", min=1)
    ] = 1,
    *,
    gain: EngineGainOptions,
    output: IntervalOutput,
    engine: EngineOptions,
) -> int:
    """Follow one game: evaluation, gain, strength against the engine, and how likely people find each move."""
    from skilloscope.cli.console import exit_code, report_faults, show_report, write_outputs
    from skilloscope.cli.gain_options import gain_search
    from skilloscope.cli.work import working
    from skilloscope.sources.gains import engine_gains, gains_of_one
    from skilloscope.studies.game.game import game_study
    from skilloscope.studies.game.people import game_people
    from skilloscope.studies.game.tables import game_sheets

    curve = gain.elo_curve()
    with working(gain_search(engine)) as work:
        gained = gains_of_one(games, index, work, values=gain.values, mate_cap=gain.mate_cap)
        own = engine_gains(gained, gain.engine_gains, work)
    study = game_study(
        gained,
        engine=own,
        engine_elo=gain.engine_elo,
        curve=curve,
        people=game_people(gained.games, analyses=gained.analyses, mass=output.mass),
        mass=output.mass,
    )
    report_faults(gained.games.tally)
    report = {**study.as_dict(), "positions": gained.positions()}
    show_report(report, *game_sheets(report), as_json=output.as_json)
    if output.wanted:
        from skilloscope.studies.game.page import game_page

        write_outputs(output, lambda: game_page(study, games.name))
    return exit_code(gained.games.tally)
