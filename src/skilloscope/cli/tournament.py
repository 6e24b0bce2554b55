"""`skilloscope tournament`: crosstable, perceived Elo and the engine's strength from gain."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from skilloscope.cli.gain_options import CurveName, EngineElo, EngineGainsName, MateCap, ValuesName
from skilloscope.cli.options import EngineOptions, Json, command


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(epilog="Example: skilloscope tournament event.pgn --pool match --html event.html")(command(tournament))


def tournament(
    games: Annotated[list[Path], typer.Argument(help="PGN files, or evaluated games (.ndjson).", metavar="GAMES…")],
    pool: Annotated[
        str, typer.Option(help="Pool a player's gains by event, or by match (each opponent apart).")
    ] = "event",
    events: Annotated[str, typer.Option(help="What makes games one event: file, event (the header) or all.")] = "file",
    surnames: Annotated[
        bool, typer.Option("--surnames", help="Call players by surname, so that several spellings are one person.")
    ] = False,
    values: ValuesName = "auto",
    mate_cap: MateCap = 39.0,
    curve: CurveName = "normal",
    engine_elo: EngineElo = None,
    engine_gains: EngineGainsName = "peak",
    mass: Annotated[float, typer.Option(help="Mass of the intervals.")] = 0.95,
    replicates: Annotated[int, typer.Option(help="How often the games are weighed anew.", min=20)] = 400,
    seed: Annotated[int, typer.Option(help="Seed of the weights.", min=0)] = 1,
    html: Annotated[Path | None, typer.Option(help="Write a page with the figures.", metavar="FILE")] = None,
    *,
    engine: EngineOptions,
    as_json: Json = False,
) -> None:
    """Compare the players of an event by gain: expected scores, perceived Elo, the engine's strength, intervals."""
    from skilloscope.cli.console import run

    how = {"pool": pool, "events": events, "curve": curve, "engine_elo": engine_elo, "mass": mass}
    how |= {"replicates": replicates, "seed": seed, "engine_gains": engine_gains}
    whose = {"values": values, "mate_cap": mate_cap}
    raise typer.Exit(run(lambda: _tournament(games, how, whose, surnames, html, engine, as_json)))


def _tournament(
    paths: list[Path],
    how: dict[str, Any],
    whose: dict[str, Any],
    surnames: bool,
    html: Path | None,
    engine: EngineOptions,
    as_json: bool,
) -> int:
    from dataclasses import replace

    from skilloscope.cli.console import err, exit_code, out, print_json, report_faults
    from skilloscope.cli.gain_options import gain_search
    from skilloscope.cli.work import working
    from skilloscope.core.checks import check_writable
    from skilloscope.models.gain import elo_difference
    from skilloscope.sources.gains import engine_gains, gains_of_files
    from skilloscope.studies.tournament.report import tournament_report
    from skilloscope.studies.tournament.tables import tournament_tables
    from skilloscope.studies.tournament.tournament import Options, tournament, with_surnames

    check_writable(html)
    options = Options(**how)
    elo_difference(0.5, options.curve)  # what is no curve is refused before the engine is asked
    with working(gain_search(engine)) as work:
        gained = gains_of_files(paths, work, **whose)
        options = replace(options, engine=engine_gains(gained, how["engine_gains"], work))
    report_faults(gained.games.tally)
    study = tournament(with_surnames(gained) if surnames else gained, options)
    report = {**tournament_report(study), "positions": gained.positions()}
    if as_json:
        print_json(report)
    else:
        for table in tournament_tables(report):
            out().print(table)
    if html:
        from skilloscope.studies.game.page import tournament_page

        html.write_text(tournament_page(study, ", ".join(path.name for path in paths)), encoding="utf-8")
        err().print(f"page written to {html}")
    return exit_code(gained.games.tally)
