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
    """What is one event, how a player's gains are pooled, and how the intervals are drawn."""

    pool: Annotated[str, typer.Option(help="Pool a player's gains by event, or by match (each opponent apart).")] = (
        "event"
    )
    events: Annotated[str, typer.Option(help="What makes games one event: file, event (the header) or all.")] = "file"
    surnames: Annotated[
        bool, typer.Option("--surnames", help="Call players by surname, so that several spellings are one person.")
    ] = False
    replicates: Annotated[int, typer.Option(help="How often the games are weighed anew.", min=20)] = 400
    seed: Annotated[int, typer.Option(help="Seed of the weights.", min=0)] = 1


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
    """Compare the players of an event by gain: expected scores, perceived Elo, the engine's strength, intervals."""
    from dataclasses import replace

    from skilloscope.cli.console import exit_code, report_faults, show_report, write_page
    from skilloscope.cli.gain_options import gain_search
    from skilloscope.cli.work import working
    from skilloscope.sources.gains import engine_gains, gains_of_files
    from skilloscope.studies.tournament.report import tournament_report
    from skilloscope.studies.tournament.tables import closing_sheet, tournament_sheets
    from skilloscope.studies.tournament.tournament import TournamentOptions, with_surnames
    from skilloscope.studies.tournament.tournament import tournament as study_of

    options = TournamentOptions(
        pool=event.pool,
        events=event.events,
        curve=gain.elo_curve(),
        engine_gains=gain.engine_gains,
        engine_elo=gain.engine_elo,
        mass=output.mass,
        replicates=event.replicates,
        seed=event.seed,
    )
    with working(gain_search(engine)) as work:
        gained = gains_of_files(games, work, values=gain.values, mate_cap=gain.mate_cap)
        options = replace(options, engine=engine_gains(gained, gain.engine_gains, work))
    report_faults(gained.games.tally)
    study = study_of(with_surnames(gained) if event.surnames else gained, options)
    report = {**tournament_report(study), "positions": gained.positions()}
    show_report(report, *tournament_sheets(report), closing_sheet(report), as_json=output.as_json)
    if output.html:
        from skilloscope.studies.tournament.page import tournament_page

        write_page(output.html, tournament_page(study, ", ".join(path.name for path in games)))
    return exit_code(gained.games.tally)
