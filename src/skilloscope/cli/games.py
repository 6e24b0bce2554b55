"""`skilloscope games`: games as a table for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skilloscope.cli.options import Json, command


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(epilog="Example: skilloscope games archive.pgn.zst --out games.parquet")(command(games))


def games(
    files: Annotated[list[Path], typer.Argument(help="PGN files, or folders of them.", metavar="GAMES…")],
    out: Annotated[Path, typer.Option(help="Write one row a game: .parquet or .arrow.", metavar="FILE")],
    positions_out: Annotated[
        Path | None,
        typer.Option("--positions", help="Write one row a position, too: .parquet or .arrow.", metavar="FILE"),
    ] = None,
    comments: Annotated[
        bool, typer.Option("--comments", help="Keep the texts of comments, too; reading takes fifty times as long.")
    ] = False,
    *,
    as_json: Json = False,
) -> int:
    """Write games as a table: headers, opening, speed and moves; a game that comes again is left out."""
    from skilloscope.chess.game_tables import check_table, write_games
    from skilloscope.cli.console import exit_code, print_json, report_faults
    from skilloscope.cli.console import out as console
    from skilloscope.reports.words import plural

    for path in (out, positions_out):
        if path:
            check_table(path)
    done = write_games(files, out, positions_out, comments=comments)
    report_faults(done.tally)
    if as_json:
        print_json(done.as_dict())
    else:
        noted = f", {positions_out}: {plural(done.positions, 'position')}" if positions_out else ""
        told = f"{out}: {plural(done.games, 'game')}, {plural(done.moves, 'move')}{noted}; skipped: {done.tally}"
        console().print(told, soft_wrap=True)
    return exit_code(done.tally)
