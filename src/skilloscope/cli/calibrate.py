"""`skilloscope calibrate`: an Elo axis for another pool."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from skilloscope.cli.options import Json, Options, command
from skilloscope.core.outputs import check_writable, write_whole


@dataclass(frozen=True)
class PoolOptions(Options):
    """Which pool, how many of its games, and where the axis goes."""

    name: Annotated[str, typer.Option(help="What the pool is called.", metavar="NAME")]
    out: Annotated[Path | None, typer.Option(help="Where the axis goes (default: NAME.json).", metavar="FILE")] = None
    sample: Annotated[int, typer.Option(help="So many games are drawn where there are more.", min=1)] = 2000
    seed: Annotated[int, typer.Option(help="Decides which games are drawn.")] = 1
    check: Annotated[bool, typer.Option("--check", help="Only count who is rated; fit and write nothing.")] = False

    @property
    def file(self) -> Path:
        """Where the axis goes."""
        return self.out or Path(f"{self.name}.json")


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(epilog="Example: skilloscope calibrate games.pgn --name my-pool")(command(calibrate))


def calibrate(
    games: Annotated[list[Path], typer.Argument(help="PGN files with ratings in the headers.", metavar="GAMES…")],
    *,
    pool: PoolOptions,
    as_json: Json = False,
) -> int:
    """Fit an Elo axis to the ratings of another pool or speed, for `--scale FILE.json`. No engine is needed."""
    from skilloscope.chess.duplicates import read_distinct
    from skilloscope.cli.console import exit_code, progress_bar, report_faults, show_report
    from skilloscope.studies.calibrate.calibrate import PoolCalibration, pool_census
    from skilloscope.studies.calibrate.calibrate import calibrate as fit_axis
    from skilloscope.studies.calibrate.tables import calibration_sheets

    if not pool.check:
        _check_target(pool.file)
    batch = read_distinct(list(games))
    report_faults(batch.tally)
    if pool.check:
        found = PoolCalibration(pool.name, pool_census(batch), batch.tally)
    else:
        with progress_bar("reading moves") as show:
            found = fit_axis(batch, pool.name, most=pool.sample, seed=pool.seed, progress=show)
    notes = []
    if found.axis:
        write_whole(pool.file, found.axis.to_json())
        notes.append(f"axis written to {pool.file}; use it with --scale {pool.file}")
    report = found.as_dict()
    show_report(report, *calibration_sheets(report), as_json=as_json, notes=notes)
    return exit_code(batch.tally)


def _check_target(file: Path) -> None:
    from skilloscope.core.errors import OptionError

    if file.suffix != ".json":
        raise OptionError(f"{file}: an axis is a JSON file", hint="let its name end in .json")
    check_writable(file)
