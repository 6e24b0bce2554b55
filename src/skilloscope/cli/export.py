"""`skilloscope export`: games as a table for other programs."""

from pathlib import Path
from typing import Annotated

from skilloscope.cli.console import show_done
from skilloscope.cli.options import Json, argument, option
from skilloscope.report.table import plural


def export(
    files: Annotated[list[Path], argument("PGN files, or folders of them.", metavar="GAMES…")],
    out: Annotated[Path, option("Write one row a game: .parquet or .arrow.")],
    positions_out: Annotated[
        Path | None, option("Write one row a position, too: .parquet or .arrow.", "--positions")
    ] = None,
    comments: Annotated[bool, option("Keep the texts of comments too; reading takes fifty times as long.")] = False,
    *,
    as_json: Json = False,
) -> int:
    """Export games as a table: headers, opening, speed and moves; duplicates are left out."""
    from skilloscope.chess.pgn.game_tables import check_table, write_games

    for path in (out, positions_out):
        if path:
            check_table(path)
    done = write_games(files, out, positions_out, comments=comments)
    noted = f", {positions_out}: {plural(done.positions, 'position')}" if positions_out else ""
    line = f"{out}: {plural(done.games, 'game')}, {plural(done.moves, 'move')}{noted}; skipped: {done.tally}"
    return show_done(done.as_dict(), line, done.tally, as_json=as_json)
