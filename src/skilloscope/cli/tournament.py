"""`skilloscope tournament`: crosstable, perceived Elo and the engine's strength from gain."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from skilloscope.cli.gain_options import EngineGainOptions
from skilloscope.cli.options import EngineOptions, IntervalOutput, Options, command


@dataclass(frozen=True)
class EventOptions(Options):
    """What is one event, and how a player's gains are pooled."""

    pool: Annotated[str, typer.Option(help="Pool a player's gains by event, or by match (each opponent apart).")] = (
        "event"
    )
    events: Annotated[str, typer.Option(help="What makes games one event: file, event (the header) or all.")] = "file"
    surnames: Annotated[
        bool, typer.Option("--surnames", help="Call players by surname, so that several spellings are one person.")
    ] = False


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(epilog="Example: skilloscope tournament event.pgn --pool match --html event.html")(command(tournament))


def tournament(
    games: Annotated[list[Path], typer.Argument(help="PGN files, or evaluated games (.ndjson).", metavar="GAMES…")],
    *,
    event: EventOptions,
    gain: EngineGainOptions,
    output: IntervalOutput,
    engine: EngineOptions,
) -> int:
    """Compare the players of an event by gain: expected scores and differences, beside Elo on the one axis."""
    from dataclasses import replace

    from skilloscope.cli.console import exit_code, report_faults, show_report, write_outputs
    from skilloscope.cli.gain_options import gain_search
    from skilloscope.cli.work import working
    from skilloscope.sources.gains import engine_gains, gains_of_files
    from skilloscope.studies.tournament.field import Field
    from skilloscope.studies.tournament.one_axis import axis_elo
    from skilloscope.studies.tournament.report import tournament_report
    from skilloscope.studies.tournament.tables import closing_sheet, tournament_sheets
    from skilloscope.studies.tournament.tournament import TournamentOptions, with_surnames
    from skilloscope.studies.tournament.tournament import tournament as study_of

    options = TournamentOptions(
        pool=event.pool,
        events=event.events,
        curve=gain.elo_curve(),
        engine_elo=gain.engine_elo,
        mass=output.mass,
    )
    with working(gain_search(engine)) as work:
        gained = gains_of_files(games, work, values=gain.values, mate_cap=gain.mate_cap)
        options = replace(options, engine=engine_gains(gained, gain.engine_gains, work))
    report_faults(gained.games.tally)
    gained = with_surnames(gained) if event.surnames else gained
    axis = axis_elo(gained.games, Field.of(gained.games, event.events).event_of_game, mass=output.mass)
    study = study_of(gained, options, axis=axis)
    report = {**tournament_report(study), "positions": gained.positions()}
    asked = gain.engine_gains != "auto" or gain.engine_elo is not None
    show_report(report, *tournament_sheets(report, engine=asked), closing_sheet(report), as_json=output.as_json)
    if output.wanted:
        from skilloscope.studies.tournament.page import tournament_page

        write_outputs(output, lambda: tournament_page(study, ", ".join(path.name for path in games), engine=asked))
    return exit_code(gained.games.tally)
