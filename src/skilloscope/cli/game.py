"""`skilloscope game`: one game move by move."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from skilloscope.cli.gain_options import CurveName, EngineElo, EngineGainsName, MateCap, ValuesName
from skilloscope.cli.options import EngineOptions, Json, command


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(epilog="Example: skilloscope game games.pgn --index 3 --html game.html")(command(game))


def game(
    games: Annotated[Path, typer.Argument(help="A PGN file, or evaluated games (.ndjson).", metavar="GAMES")],
    index: Annotated[int, typer.Option(help="Which game of the file, counted from 1.", min=1)] = 1,
    values: ValuesName = "auto",
    mate_cap: MateCap = 39.0,
    curve: CurveName = "normal",
    engine_elo: EngineElo = None,
    engine_gains: EngineGainsName = "peak",
    html: Annotated[Path | None, typer.Option(help="Write a page with the chart.", metavar="FILE")] = None,
    *,
    engine: EngineOptions,
    as_json: Json = False,
) -> None:
    """Follow one game: evaluation, gain, and both players' strength against the engine after every move."""
    from skilloscope.cli.console import run

    options = {"values": values, "mate_cap": mate_cap, "curve": curve, "engine_elo": engine_elo, "kind": engine_gains}
    raise typer.Exit(run(lambda: _game(games, index, options, html, engine, as_json)))


def _game(
    path: Path, index: int, options: dict[str, Any], html: Path | None, engine: EngineOptions, as_json: bool
) -> int:
    from skilloscope.cli.console import err, exit_code, out, print_json, report_faults
    from skilloscope.cli.gain_options import gain_search
    from skilloscope.cli.work import working
    from skilloscope.core.checks import check_writable
    from skilloscope.models.gain import elo_difference
    from skilloscope.sources.gains import engine_gains, gains_of_one
    from skilloscope.studies.game.game import game_study
    from skilloscope.studies.game.tables import game_table

    check_writable(html)
    elo_difference(0.5, options["curve"])  # what is no curve is refused before the engine is asked
    with working(gain_search(engine)) as work:
        gained = gains_of_one(path, index, work, values=options["values"], mate_cap=options["mate_cap"])
        own = engine_gains(gained, options["kind"], work)
    study = game_study(
        gained,
        engine=own,
        engine_gains=options["kind"],
        engine_elo=options["engine_elo"],
        curve=options["curve"],
    )
    report_faults(gained.games.tally)
    if as_json:
        print_json({**study.as_dict(), "positions": gained.positions()})
    else:
        out().print(game_table(study.as_dict()))
    if html:
        from skilloscope.studies.game.page import game_page

        html.write_text(game_page(study, path.name), encoding="utf-8")
        err().print(f"page written to {html}")
    return exit_code(gained.games.tally)
